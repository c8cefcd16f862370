// Numbers and conditions in words.

function formatNumber(value) {
  if (Number.isInteger(value)) return String(value);
  return String(Number(value.toPrecision(6)));
}

function formatValue(measure, value) {
  if (value === null || value === undefined) return '–';
  if (measureOf(measure).share) return (100 * value).toFixed(1);
  return value >= 100 ? value.toFixed(0) : value.toFixed(1);
}

function unitOf(measure) {
  return measureOf(measure).share ? ' %' : '';
}

function formatPhi(phi) {
  return `${formatNumber(Math.round(study.phis[phi] * 1000) / 10)} %`;
}

function formatCell(p, phi) {
  const family = familyOf(state.family);
  return `${family.symbol} = ${family.parameters[p]}, φ = ${formatPhi(phi)}`;
}

function count(number, noun) {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}

const SAYS_YES = ['1', 'yes', 'True', 'true', 'y', 't'];

// A condition in words: [words before the name, the name, words after it].
function conditionInWords({ low, high, includesHigh, categories }, feature) {
  if (categories) {
    const names = categories.map((code) => feature.categories[code] ?? '?');
    if (feature.binary === 2) return [SAYS_YES.includes(names[0]) ? '' : 'not ', feature.name, ''];
    return ['', feature.name, ` is ${names.join(' or ')}`];
  }
  if (feature.binary === 1) return [low !== null ? '' : 'not ', feature.name, ''];
  if (high === null) return ['', feature.name, ` at least ${formatNumber(low)}`];
  const upper = `${includesHigh ? 'at most' : 'below'} ${formatNumber(high)}`;
  return ['', feature.name, low === null ? ` ${upper}` : ` from ${formatNumber(low)} to ${upper}`];
}

// Several absent words are listed together; a button shows the rest of a long list.
const LISTED_FROM = 2;
const LISTED_AT_ONCE = 8;
// A printed page has no buttons, so it shows everything.
let isPrinting = false;

function isAbsence(words) {
  return words[0] === 'not ';
}

function conditionNodes(theories, conditions, classOf = () => null) {
  if (!conditions.length) return [el('span', {}, 'always')];
  const all = conditions.map((condition) => ({
    words: conditionInWords(condition, theories.features[condition.feature]), kind: classOf(condition) || '',
  }));
  const absent = all.filter(({ words }) => isAbsence(words));
  const isListed = absent.length >= LISTED_FROM;
  const plain = isListed ? all.filter(({ words }) => !isAbsence(words)) : all;
  const nodes = plain.flatMap(({ words: [before, name, after], kind }, i) => {
    const node = el('span', { class: `condition ${kind}` }, before, el('b', {}, name), after);
    return i ? [el('span', { class: 'and' }, ' and '), node] : [node];
  });
  return isListed ? [...nodes, ...absenceNodes(absent, nodes.length > 0)] : nodes;
}

// "none of a, b, c": failing words come first, and a button shows the rest of a long list.
function absenceNodes(absent, follows) {
  const order = [...absent].sort((a, b) => (b.kind === 'fails') - (a.kind === 'fails'));
  const item = ({ words: [, name], kind }, i) => [i ? ', ' : '', kind ? el('span', { class: `condition ${kind}` }, name) : name];
  const start = el('span', { class: 'and' }, follows ? ' and none of ' : 'none of ');
  const isLong = order.length > LISTED_AT_ONCE + 1 && !isPrinting;
  if (!isLong) return [start, ...order.flatMap(item)];
  const rest = order.slice(LISTED_AT_ONCE);
  const more = el('button', {
    type: 'button', class: 'link more', onclick: () => more.replaceWith(...rest.flatMap((other) => item(other, 1))),
  }, `and ${rest.length} more`);
  return [start, ...order.slice(0, LISTED_AT_ONCE).flatMap(item), ' ', more];
}

function conditionText(theories, conditions) {
  return conditions
    .map((condition) => conditionInWords(condition, theories.features[condition.feature]).join(''))
    .join(' and ') || 'always';
}

function valueInWords(feature, value) {
  if (value === null || value === undefined) return 'missing';
  if (feature.binary) {
    const isPresent = feature.binary === 1 ? value > 0.5 : SAYS_YES.includes(feature.categories[value]);
    return isPresent ? 'present' : 'absent';
  }
  return feature.categories ? feature.categories[value] : formatNumber(value);
}

function headOf(label) {
  return label.target ? label.name : `not ${label.name}`;
}

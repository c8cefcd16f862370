// Numbers and conditions as people say them.

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
const BOUNDS = { '≥': 'at least', '<': 'below', '≤': 'at most' };

// What a rule asks of one attribute: [words before the name, the name, words after it].
function requirementInWords(feature, conditions) {
  const [first] = conditions;
  if (first.operator === '=') {
    const category = feature.categories[first.value] ?? '?';
    if (feature.binary === 2) return [SAYS_YES.includes(category) ? '' : 'not ', feature.name, ''];
    return ['', feature.name, ` is ${category}`];
  }
  if (feature.binary === 1) return [first.operator === '≥' ? '' : 'not ', feature.name, ''];
  const lower = conditions.find((condition) => condition.operator === '≥');
  const upper = conditions.find((condition) => condition.operator !== '≥');
  if (!lower || !upper) return ['', feature.name, ` ${BOUNDS[first.operator]} ${formatNumber(first.value)}`];
  const end = upper.operator === '<' ? 'below' : 'at most';
  return ['', feature.name, ` from ${formatNumber(lower.value)} to ${end} ${formatNumber(upper.value)}`];
}

function groupByFeature(conditions) {
  const groups = new Map();
  for (const condition of conditions) {
    if (!groups.has(condition.feature)) groups.set(condition.feature, []);
    groups.get(condition.feature).push(condition);
  }
  return [...groups];
}

// From so many absent words on, they are listed together; so many are shown before the rest is asked for.
const LISTED_FROM = 2;
const LISTED_AT_ONCE = 8;
// Paper has no buttons, so it gets everything.
let isPrinting = false;

function isAbsence(words) {
  return words[0] === 'not ';
}

function conditionNodes(theories, conditions, classOf = () => null) {
  if (!conditions.length) return [el('span', {}, 'always')];
  const all = groupByFeature(conditions).map(([f, group]) => ({
    words: requirementInWords(theories.features[f], group), kind: classOf(group) || '',
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

// "none of a, b, c": what fails is named first, and the end of a long list waits behind a button.
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
  return groupByFeature(conditions)
    .map(([f, group]) => requirementInWords(theories.features[f], group).join(''))
    .join(' and ') || 'always';
}

function valueInWords(feature, value) {
  if (value === null || value === undefined) return 'missing';
  if (feature.binary) {
    const isThere = feature.binary === 1 ? value > 0.5 : SAYS_YES.includes(feature.categories[value]);
    return isThere ? 'there' : 'not there';
  }
  return feature.categories ? feature.categories[value] : formatNumber(value);
}

function headOf(label) {
  return label.target ? label.name : `not ${label.name}`;
}

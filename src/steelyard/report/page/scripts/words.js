// Numbers, values and conditions in words.

function formatNumber(value) {
  if (Number.isInteger(value)) return String(value);
  return String(Number(value.toPrecision(6)));
}

function formatValue(measure, value) {
  if (value === null || value === undefined) return '–';
  const { share, size } = measureOf(measure);
  if (share) return (100 * value).toFixed(1);
  if (!size) return value.toFixed(3);
  return value >= 100 ? value.toFixed(0) : value.toFixed(1);
}

function unitOf(measure) {
  return measureOf(measure).share ? ' %' : '';
}

function formatShare(share) {
  return `${formatNumber(Math.round(share * 1000) / 10)} %`;
}

function formatPhi(phi) {
  return formatShare(study.phis[phi]);
}

function formatCell(p, phi) {
  const family = familyOf(state.family);
  return `${family.symbol ? `${family.symbol} = ${family.parameters[p]}, ` : ''}φ = ${formatPhi(phi)}`;
}

function count(number, noun) {
  return `${number.toLocaleString('en')} ${noun}${number === 1 ? '' : 's'}`;
}

const WORD_KINDS = ['presence', 'word'];

function times(n) {
  return n === 1 ? 'once' : `${n} times`;
}

// The smallest and the largest count that satisfies a condition; null if it does not read as words.
function countRange({ low, high, includesHigh, categories }, feature) {
  if (!WORD_KINDS.includes(feature.reading)) return null;
  if (categories) {
    const present = categories.map((code) => PRESENT_CATEGORIES.includes(feature.categories[code]));
    if (new Set(present).size !== 1) return null;
    return present[0] ? [1, Infinity] : [0, 0];
  }
  const first = low === null ? 0 : Math.max(Math.ceil(low), 0);
  let last = high === null ? Infinity : (includesHigh ? Math.floor(high) : Math.ceil(high) - 1);
  if (feature.reading === 'presence' && last >= 1) last = Infinity;
  return last < first || (first === 0 && last === Infinity) ? null : [first, last];
}

// A condition in words: [words before the name, the name, words after it].
function conditionInWords(condition, feature) {
  const { low, high, includesHigh, categories } = condition;
  const range = countRange(condition, feature);
  if (range) return countsInWords(range, feature.name);
  if (categories) {
    const names = categories.map((code) => nameText(feature.categories[code] ?? '?'));
    return ['', feature.name, ` is ${names.join(' or ')}`];
  }
  const bound = (value) => formatAttribute(feature, value);
  const [atLeast, below] = MOMENT_KINDS.includes(feature.kind) ? ['from', 'before'] : ['at least', 'below'];
  const upper = high === null ? '' : `${includesHigh ? 'at most' : below} ${bound(high)}`;
  if (high === null) return ['', feature.name, low === null ? ' has a value' : ` ${atLeast} ${bound(low)}`];
  return ['', feature.name, low === null ? ` ${upper}` : ` from ${bound(low)} to ${upper}`];
}

/** @param {number[]} range @param {string} name */
function countsInWords([first, last], name) {
  if (last === 0) return ['no ', name, ''];
  if (last === Infinity) return first === 1 ? ['has ', name, ''] : ['', name, ` at least ${times(first)}`];
  if (first === 0) return ['', name, ` at most ${times(last)}`];
  return ['', name, first === last ? ` exactly ${times(first)}` : ` ${first} to ${times(last)}`];
}

// A number of an attribute: dates and times as text.
function formatAttribute(feature, value) {
  return isTemporal(feature) ? secondsToText(value, feature.kind) : formatNumber(value);
}

// Several absent words are listed together; a button shows the rest of a long list.
const LISTED_FROM = 2;
const LISTED_AT_ONCE = 8;
// A printed page has no buttons, so it shows everything.
let isPrinting = false;

function setPrinting(value) {
  isPrinting = value;
}

function isAbsence(words) {
  return words[0] === 'no ';
}

function conditionNodes(theory, conditions, classOf = (_condition) => null) {
  if (!conditions.length) return [el('span', {}, 'always')];
  const all = conditions.map((condition) => ({
    words: conditionInWords(condition, theory.features[condition.feature]), kind: classOf(condition) || '',
  }));
  const absent = all.filter(({ words }) => isAbsence(words));
  const isListed = absent.length >= LISTED_FROM;
  const plain = isListed ? all.filter(({ words }) => !isAbsence(words)) : all;
  const nodes = plain.flatMap(({ words: [before, name, after], kind }, i) => {
    const node = el('span', { class: `condition ${kind}` }, before, nameNode(name, 'b'), after);
    return i ? [el('span', { class: 'and' }, ' and '), node] : [node];
  });
  return isListed ? [...nodes, ...absenceNodes(absent, nodes.length > 0)] : nodes;
}

// "none of a, b, c": failing words come first, and a button shows the rest of a long list.
function absenceNodes(absent, follows) {
  const order = [...absent].sort((a, b) => Number(b.kind === 'fails') - Number(a.kind === 'fails'));
  const item = ({ words: [, name], kind }, i) => [i ? ', ' : '', kind ? el('span', { class: `condition ${kind}` }, nameNode(name)) : nameNode(name)];
  const start = el('span', { class: 'and' }, follows ? ' and none of ' : 'none of ');
  const isLong = order.length > LISTED_AT_ONCE + 1 && !isPrinting;
  if (!isLong) return [start, ...order.flatMap(item)];
  const rest = order.slice(LISTED_AT_ONCE);
  const more = button(`and ${rest.length} more`, () => more.replaceWith(...rest.flatMap((other) => item(other, 1))), { class: 'link more' });
  return [start, ...order.slice(0, LISTED_AT_ONCE).flatMap(item), ' ', more];
}

function conditionText(theory, conditions) {
  return conditions
    .map((condition) => {
      const [before, name, after] = conditionInWords(condition, theory.features[condition.feature]);
      return `${before}${name}${after}`;
    })
    .join(' and ') || 'always';
}

function valueInWords(feature, value) {
  if (value === null || value === undefined) return 'missing';
  if (feature.categories) {
    if (value === UNKNOWN) return 'another category';
    if (feature.reading === 'presence') return PRESENT_CATEGORIES.includes(feature.categories[value]) ? 'present' : 'absent';
    return nameText(feature.categories[value]);
  }
  if (feature.reading === 'presence') return value >= 0.5 ? 'present' : 'absent';
  return formatAttribute(feature, value);
}

// The head of a rule: "not" is not part of the name.
function headNodes(name, head) {
  return head ? nameNode(name) : ['not ', nameNode(name)];
}

function headOf(label, head = label.target) {
  return head ? label.name : `not ${label.name}`;
}

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

function conditionNodes(theories, conditions, classOf = () => null) {
  if (!conditions.length) return [el('span', {}, 'always')];
  return groupByFeature(conditions).flatMap(([f, group], i) => {
    const [before, name, after] = requirementInWords(theories.features[f], group);
    const words = el('span', { class: `condition ${classOf(group) || ''}` }, before, el('b', {}, name), after);
    return i ? [el('span', { class: 'and' }, ' and '), words] : [words];
  });
}

function conditionText(theories, conditions) {
  return groupByFeature(conditions)
    .map(([f, group]) => requirementInWords(theories.features[f], group).join(''))
    .join(' and ') || 'always';
}

function valueInWords(feature, value) {
  if (value === null || value === undefined) return 'missing';
  return feature.categories ? feature.categories[value] : formatNumber(value);
}

function headOf(label) {
  return label.target ? label.name : `not ${label.name}`;
}

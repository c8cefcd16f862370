// The data of the page: values of cells, ranks, and the theories of a data set.

const study = JSON.parse(byId('study').textContent);
const loadedTheories = new Map();

function measureOf(id) {
  return study.measures.find((measure) => measure.id === id);
}

function familyOf(id) {
  return study.families.find((family) => family.id === id);
}

function cellOf(p, phi) {
  return p * study.phis.length + phi;
}

function valuesOf(dataset, family, measure, statistic = 'mean') {
  return study.datasets[dataset][statistic][family][measure];
}

// Ranks of cells: 1 is the best; equal values share their average rank.
function ranksOf(values, better) {
  const order = values.map((_, i) => i).filter((i) => values[i] !== null);
  order.sort((a, b) => better * (values[b] - values[a]));
  const ranks = values.map(() => null);
  for (let start = 0; start < order.length;) {
    let end = start;
    while (end < order.length && values[order[end]] === values[order[start]]) end += 1;
    for (let i = start; i < end; i += 1) ranks[order[i]] = (start + 1 + end) / 2;
    start = end;
  }
  return ranks;
}

function averageRanks(family, measure) {
  const { better } = measureOf(measure);
  const ranks = study.datasets.map((_, d) => ranksOf(valuesOf(d, family, measure), better));
  return ranks[0].map((_, i) => {
    const known = ranks.map((r) => r[i]).filter((rank) => rank !== null);
    return known.length ? known.reduce((a, b) => a + b, 0) / known.length : null;
  });
}

function bestCell(values, better) {
  let best = -1;
  values.forEach((value, i) => {
    if (value !== null && (best < 0 || better * (value - values[best]) > 0)) best = i;
  });
  return best;
}

// -- theories ---------------------------------------------------------------------------------------

async function unpack(element) {
  if (element.type !== 'application/gzip') return JSON.parse(element.textContent);
  const bytes = Uint8Array.from(atob(element.textContent), (character) => character.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
  return JSON.parse(await new Response(stream).text());
}

// The theories of a data set, or null if the page does not contain them.
async function loadTheories(dataset) {
  if (!loadedTheories.has(dataset)) {
    const element = byId(`theories-${dataset}`);
    loadedTheories.set(dataset, element ? decodeTheories(await unpack(element)) : null);
  }
  return loadedTheories.get(dataset);
}

function decodeTheories(packed) {
  const labels = packed.labels.map(([name, target, positives, negatives]) => ({ name, target, positives, negatives }));
  const features = packed.features.map(([name, categories], i) => ({ name, categories, binary: packed.binary[i] }));
  const rules = packed.rules.map(([label, tp, fp, ...body], index) => (
    { index, label, tp, fp, conditions: body.map(decodeCondition), origin: packed.origins[index] ?? '' }));
  const rankings = new Map(packed.rankings.map((r) => [`${r.family} ${r.parameter}`, r]));
  return { fold: packed.fold, labels, features, rules, rankings, examples: decodeExamples(packed.examples) };
}

// One condition per feature: an interval whose ends may be null, or a list of category codes.
function decodeCondition([feature, low, high, includesHigh]) {
  if (Array.isArray(low)) return { feature, categories: low };
  return { feature, low, high, includesHigh: Boolean(includesHigh) };
}

// An interval with two ends counts as two conditions.
function countConditions(rule) {
  const ends = ({ low, high }) => (low !== null) + (high !== null);
  return rule.conditions.reduce((sum, condition) => sum + (condition.categories ? 1 : ends(condition)), 0);
}

function decodeExamples(packed) {
  if (!packed) return [];
  return packed.rows.map((differences, i) => {
    const values = [...packed.usual];
    for (let j = 0; j < differences.length; j += 2) values[differences[j]] = differences[j + 1];
    return { values, truth: packed.truth[i] };
  });
}

// The theory of a cell: its rules, and the training examples that they cover together.
function theoryAt(theories, family, p, phi) {
  const ranking = theories.rankings.get(`${family} ${familyOf(family).parameters[p]}`);
  if (!ranking) return { rules: [], covered: theories.labels.map(() => ({ tp: 0, fp: 0 })) };
  const kept = ranking.kept.find(([share]) => share === study.phis[phi]);
  const count = kept ? kept[1] : 0;
  const covered = theories.labels.map(() => ({ tp: 0, fp: 0 }));
  const rules = ranking.rules.slice(0, count).map((index) => theories.rules[index]);
  rules.forEach((rule, i) => {
    covered[rule.label].tp += ranking.new_tp[i];
    covered[rule.label].fp += ranking.new_fp[i];
  });
  return { rules, covered };
}

function precisionOf({ tp, fp }) {
  return tp + fp ? tp / (tp + fp) : 0;
}

function smoothedPrecision({ tp, fp }) {
  return (tp + 1) / (tp + fp + 2);
}

// -- firing -----------------------------------------------------------------------------------------

// A missing value (null) satisfies no condition.
function isMet({ feature, low, high, includesHigh, categories }, values) {
  const value = values[feature];
  if (value === null || value === undefined) return false;
  if (categories) return categories.includes(value);
  const isBelow = high === null || (includesHigh ? value <= high : value < high);
  return isBelow && (low === null || value >= low);
}

// A condition without the end of its interval that a value satisfies.
function failingPart(condition, values) {
  const value = values[condition.feature];
  if (condition.categories || value === null || value === undefined) return condition;
  const isTooLow = condition.low !== null && value < condition.low;
  return isTooLow ? { ...condition, high: null } : { ...condition, low: null };
}

function fires(rule, values) {
  return rule.conditions.every((condition) => isMet(condition, values));
}

// The rule with the fewest failing conditions; the most precise one of several.
function nearestRule(rules, values) {
  let best = null;
  for (const rule of rules) {
    const failing = rule.conditions.filter((condition) => !isMet(condition, values));
    const isBetter = !best || failing.length < best.failing.length
      || (failing.length === best.failing.length && smoothedPrecision(rule) > smoothedPrecision(best.rule));
    if (isBetter) best = { rule, failing };
  }
  return best;
}

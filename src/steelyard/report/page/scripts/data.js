// The study as the page sees it: values of cells, ranks, and the theories of a data set.

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

// Ranks of cells: 1 is the best, equals share the average of their places.
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

// The theories of a data set, or null if the page does not hold them.
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
  const rules = packed.rules.map(([label, tp, fp, ...flat], index) => {
    const conditions = [];
    for (let i = 0; i < flat.length; i += 3) {
      conditions.push({ feature: flat[i], operator: OPERATORS[flat[i + 1]], value: flat[i + 2] });
    }
    return { index, label, tp, fp, conditions };
  });
  const rankings = new Map(packed.rankings.map((r) => [`${r.family} ${r.parameter}`, r]));
  return { fold: packed.fold, labels, features, rules, rankings, examples: decodeExamples(packed.examples) };
}

const OPERATORS = ['<', '≥', '=', '≤'];

function decodeExamples(packed) {
  if (!packed) return [];
  return packed.rows.map((differences, i) => {
    const values = [...packed.usual];
    for (let j = 0; j < differences.length; j += 2) values[differences[j]] = differences[j + 1];
    return { values, truth: packed.truth[i] };
  });
}

// The theory of a cell: its rules, and what they cover together in the training examples.
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

// A missing value (null) meets no condition.
function isMet(condition, values) {
  const value = values[condition.feature];
  if (value === null || value === undefined) return false;
  switch (condition.operator) {
    case '<': return value < condition.value;
    case '≤': return value <= condition.value;
    case '≥': return value >= condition.value;
    default: return value === condition.value;
  }
}

function fires(rule, values) {
  return rule.conditions.every((condition) => isMet(condition, values));
}

// The rule for which the fewest attributes would have to change; of those the most precise one.
function nearestRule(rules, values) {
  let best = null;
  for (const rule of rules) {
    const failing = rule.conditions.filter((condition) => !isMet(condition, values));
    const distance = new Set(failing.map((condition) => condition.feature)).size;
    const isBetter = !best || distance < best.distance
      || (distance === best.distance && smoothedPrecision(rule) > smoothedPrecision(best.rule));
    if (isBetter) best = { rule, failing, distance };
  }
  return best;
}

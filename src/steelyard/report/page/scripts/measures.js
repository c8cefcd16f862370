// Measures of predictions: counts of cells → values, grouped over all cells, per label or per example.

const ratio = (numerator, denominator) => (denominator ? numerator / denominator : 0);
const FORMULAS = {
  f1: ({ tp, fp, fn }) => ratio(2 * tp, 2 * tp + fp + fn),
  precision: ({ tp, fp }) => ratio(tp, tp + fp),
  recall: ({ tp, fn }) => ratio(tp, tp + fn),
  jaccard: ({ tp, fp, fn }) => ratio(tp, tp + fp + fn),
  accuracy: ({ tp, fp, fn, tn }) => ratio(tp + tn, tp + fp + fn + tn),
  exact: ({ fp, fn }) => Number(fp + fn === 0),
};

// Measure → [formula, group].
const MEASURES = { hamming: ['accuracy', 'micro'], subset: ['exact', 'examples'] };
for (const formula of ['f1', 'precision', 'recall', 'jaccard']) {
  for (const group of ['micro', 'macro', 'examples']) MEASURES[`${formula}_${group}`] = [formula, group];
}

function emptyCounts() {
  return { tp: 0, fp: 0, fn: 0, tn: 0 };
}

function countCell(counts, isTrue, isPredicted) {
  counts[isPredicted ? (isTrue ? 'tp' : 'fp') : (isTrue ? 'fn' : 'tn')] += 1;
}

// All measures and the counts per label; `truth` and `present` have one array per label, `rows` chooses rows.
function judge(truth, present, rows) {
  const byLabel = truth.map(emptyCounts);
  const byExample = rows.map(emptyCounts);
  rows.forEach((row, e) => truth.forEach((ofLabel, j) => {
    countCell(byLabel[j], ofLabel[row], present[j][row]);
    countCell(byExample[e], ofLabel[row], present[j][row]);
  }));
  const all = emptyCounts();
  for (const counts of byLabel) for (const name of Object.keys(all)) all[name] += counts[name];
  const values = {};
  for (const [id, [formula, group]] of Object.entries(MEASURES)) {
    values[id] = averageOf(FORMULAS[formula], group, { micro: [all], macro: byLabel, examples: byExample }[group]);
  }
  return { n: rows.length, values, byLabel };
}

function averageOf(formula, group, groups) {
  if (!groups.length) return null;
  // An example without true and predicted labels is a perfect match.
  const isEmpty = ({ tp, fp, fn }) => group === 'examples' && tp + fp + fn === 0;
  return groups.reduce((sum, counts) => sum + (isEmpty(counts) ? 1 : formula(counts)), 0) / groups.length;
}

// Classes as labels: each class that is true or predicted somewhere is one.
function classesAsLabels(theory, truth, present, rows) {
  if (!theory.classes.length) return [truth, present];
  const flip = (ofLabel) => ofLabel.map((value) => 1 - value);
  const [trueClasses, predicted] = [truth, present].map((of) => (of.length === 1 ? [flip(of[0]), of[0]] : of));
  const occurs = trueClasses.map((ofClass, j) => rows.some((row) => ofClass[row] || predicted[j][row]));
  return [trueClasses, predicted].map((of) => of.filter((_, j) => occurs[j]));
}

// True labels of a table in the order of the labels of a theory; null if one is not known.
function truthFor(theory, table) {
  if (!table?.truth) return null;
  const found = theory.labels.map((label) => table.truth[table.names.indexOf(label.name)]);
  return found.every(Boolean) ? found : null;
}

// What a theory is worth on some rows of a table.
function judgeTheory(theory, table, rows) {
  const truth = truthFor(theory, table);
  if (!truth || !rows.length) return null;
  const { present } = evaluate(theory, table);
  const judged = judge(...classesAsLabels(theory, truth, present, rows), rows);
  return theory.classes.length ? { ...judged, byLabel: judge(truth, present, rows).byLabel } : judged;
}

// Right and wrong examples of a rule among some rows.
function countRule(theory, rule, table, rows) {
  const truth = truthFor(theory, table);
  if (!truth) return null;
  const fires = coverage(table, theory, rule.conditions);
  let [tp, fp] = [0, 0];
  for (const row of rows) {
    if (!fires[row]) continue;
    if (truth[rule.label][row] === rule.head) tp += 1;
    else fp += 1;
  }
  return { tp, fp };
}

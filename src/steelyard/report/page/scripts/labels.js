// Per label: precision, recall and F1 in training and on held-out examples, and the rules in coverage space.

// Counts of presence of a label, in training and held out; null if they are not known.
function labelRows() {
  const { theory, base, isEdited } = context;
  const counts = theory.labels.map(() => 0);
  theory.rules.forEach((rule) => { counts[rule.label] += 1; });
  const sets = exampleSets(context);
  const judgeOn = (set) => (set ? judgeTheory(theory, set.table, set.rows)?.byLabel : null);
  const unseen = base.confusion && !isEdited
    ? base.confusion.map(([tp, fp, fn, tn]) => ({ tp, fp, fn, tn }))
    : judgeOn(sets.find((set) => !set.isSeen));
  const seen = judgeOn(sets.find((set) => set.isSeen && set.isWhole));
  const rows = theory.labels.map((label, j) => ({
    label, j, n: counts[j], training: seen?.[j] ?? trainingCounts(theory, label), unseen: unseen?.[j] ?? null,
  }));
  return { rows, where: describeUnseen(sets) };
}

// Which examples the held-out columns are about.
function describeUnseen(sets) {
  const { base, isEdited } = context;
  if (base.confusion && !isEdited) {
    const folds = study.datasets[state.dataset].n_folds;
    return `held out: the ${count(folds, 'test fold')}, with theories learned in the same way without the fold (${formatShare(base.phi)} of the rules, ${familyOf(base.method)?.symbol ?? 'parameter'} = ${base.parameter})`;
  }
  const set = sets.find((one) => !one.isSeen);
  if (!set) return 'no held-out values: the theory has seen all examples of this page';
  return `held out: ${count(set.rows.length, 'example')}, ${set.title}`;
}

// What the rules of a label cover, where any firing rule decides.
function trainingCounts(theory, { target, positives, negatives, uncovered }) {
  if (uncovered[0] === null || !firingDecides(theory)) return null;
  const [hits, errors] = [positives - uncovered[0], negatives - uncovered[1]];
  return target
    ? { tp: hits, fp: errors, fn: uncovered[0], tn: uncovered[1] }
    : { tp: uncovered[1], fp: uncovered[0], fn: errors, tn: hits };
}

function renderLabels() {
  if (!context) {
    show(byId('labels'), noTheories());
    return;
  }
  const { rows, where } = labelRows();
  const f1 = ({ unseen, training }) => { const counts = unseen ?? training; return counts ? FORMULAS.f1(counts) : 2; };
  rows.sort((a, b) => f1(a) - f1(b) || a.j - b.j);
  const chosen = rows.find(({ label }) => label.name === state.label) ?? rows.find(({ n }) => n) ?? rows[0];
  const drawing = coverageSpace(chosen);
  show(byId('labels'),
    el('p', { class: 'headline' }, el('b', {}, 'Labels with the lowest F1 first.'), el('span', { class: 'screen-only' }, ' Choose a label to see its rules in coverage space.')),
    where ? el('p', { class: 'hint' }, `${where[0].toUpperCase()}${where.slice(1)}.`) : null,
    el('div', { class: 'label-view' },
      el('figure', {}, el('h3', {}, headNodes(chosen.label.name, chosen.label.target)), drawing,
        el('figcaption', { class: 'hint' }, `Each point is a rule (${count(chosen.n, 'rule')}), counted on the training examples. Up and to the left is better; the dashed line is random guessing.`),
        el('div', { class: 'downloads' }, ...drawingButtons(() => drawing, 'coverage-space'))),
      scroller('Table of labels', labelTable(rows, chosen))));
}

function labelTable(rows, chosen) {
  const hasUnseen = rows.some(({ unseen }) => unseen);
  const percent = (counts, name) => (counts ? (100 * FORMULAS[name](counts)).toFixed(0) : '–');
  const meter = (counts, name) => el('td', { class: 'meter' },
    counts ? el('span', { class: 'meter-bar', 'width%': 100 * FORMULAS[name](counts) }) : null, el('span', {}, percent(counts, name)));
  const plain = (counts, name) => el('td', {}, percent(counts, name));
  const names = ['precision', 'recall', 'f1'];
  const titles = { precision: 'prec.', recall: 'recall', f1: 'F1' };
  return el('table', { class: 'label-table' },
    el('thead', {},
      el('tr', {}, el('td', { colspan: 3 }), el('th', { colspan: 3, scope: 'colgroup' }, 'training, %'), hasUnseen ? el('th', { colspan: 3, scope: 'colgroup' }, 'held out, %') : null),
      el('tr', {}, ['label', 'examples', 'rules'].map((name) => el('th', { scope: 'col' }, name)),
        names.map((name) => el('th', { scope: 'col' }, titles[name])), hasUnseen ? names.map((name) => el('th', { scope: 'col' }, titles[name])) : null)),
    el('tbody', {}, rows.map((row) => el('tr', { class: row === chosen ? 'chosen' : null },
      el('th', { scope: 'row' }, button([nameNode(row.label.name), row.n ? '' : el('small', {}, ` ${describeSilence(context.theory, row.j)}`)], () => update({ label: row.label.name }), { class: 'link', 'aria-pressed': String(row === chosen) })),
      el('td', {}, String(row.label.target ? row.label.positives : row.label.negatives)), el('td', {}, String(row.n)),
      names.map((name) => (hasUnseen ? plain : meter)(row.training, name)), hasUnseen ? names.map((name) => meter(row.unseen, name)) : null))));
}

function coverageSpace({ label, j }) {
  const { theory } = context;
  const rules = theory.rules.filter((rule) => rule.label === j)
    .map((rule) => ({ rule, counts: ruleCounts(theory, rule).training })).filter(({ counts }) => counts);
  const area = chartArea();
  const most = (key) => Math.max(...rules.map(({ counts }) => counts[key]), 1) * 1.08;
  const [xMost, yMost] = [most('fp'), most('tp')];
  const x = linear([0, xMost], area.x);
  const y = linear([0, yMost], area.y);
  for (const scale of [x, y]) scale.ticks = scale.ticks.filter(Number.isInteger);
  // Random guessing covers positives and negatives in the ratio of the training set.
  const slope = label.positives / Math.max(label.negatives, 1);
  const end = Math.min(xMost, yMost / Math.max(slope, 1e-9));
  return chart({
    label: `Coverage space of ${nameText(headOf(label))}: ${count(rules.length, 'rule')}`,
    x, y, xTitle: 'wrong (false positives)', yTitle: 'right (true positives)',
  },
  svg('path', { class: 'guess', d: `M${x(0)} ${y(0)}L${x(end)} ${y(end * slope)}` }),
  ...rules.map(({ rule, counts }) => svg('circle', { class: 'rule-dot', cx: x(counts.fp), cy: y(counts.tp), r: 4, 'data-rule': rule.key })));
}

function listenToLabels() {
  const view = byId('labels');
  view.addEventListener('pointermove', (event) => {
    const key = event.target.classList.contains('rule-dot') ? event.target.dataset.rule : undefined;
    const rule = key !== undefined && context?.theory.rules.find((one) => one.key === key);
    if (!rule || event.pointerType !== 'mouse') {
      hideTooltip();
      return;
    }
    const { training } = ruleCounts(context.theory, rule);
    showTooltip(event, [nameText(conditionText(context.theory, rule.conditions)), `${training.tp} right, ${training.fp} wrong`]);
  });
  view.addEventListener('pointerleave', hideTooltip);
}

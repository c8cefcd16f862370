// Per label: precision, recall and F1 of its rules on the training examples, and their coverage space.

function labelRows(theories) {
  const { rules, covered } = theoryAt(theories, state.family, state.p, state.phi);
  const counts = theories.labels.map(() => 0);
  rules.forEach((rule) => { counts[rule.label] += 1; });
  return theories.labels.map((label, i) => {
    const precision = precisionOf(covered[i]);
    const recall = label.positives ? covered[i].tp / label.positives : 0;
    const f1 = precision + recall ? (2 * precision * recall) / (precision + recall) : 0;
    return { label, i, n: counts[i], precision, recall, f1, covered: covered[i] };
  });
}

function renderLabels(theories) {
  if (!theories) {
    show(byId('labels'), noTheories());
    return;
  }
  const rows = labelRows(theories).sort((a, b) => a.f1 - b.f1 || a.i - b.i);
  const chosen = rows.find(({ label }) => label.name === state.label) ?? rows.find(({ n }) => n) ?? rows[0];
  const drawing = coverageSpace(theories, chosen);
  show(byId('labels'),
    el('p', { class: 'headline' }, el('b', {}, 'Labels with the lowest F1 first'), ', on the training examples. Choose a label to see its rules in coverage space.'),
    el('div', { class: 'label-view' },
      el('figure', {}, el('h3', {}, headOf(chosen.label)), drawing,
        el('figcaption', { class: 'hint' }, `Each point is a rule; the ring is all rules together (${count(chosen.n, 'rule')}). Up and to the left is better; the dashed line is random guessing.`),
        el('div', { class: 'downloads' }, ...drawingButtons(() => drawing, 'coverage-space'))),
      el('div', { class: 'scroll' }, labelTable(rows, chosen))));
}

function labelTable(rows, chosen) {
  const percent = (share) => `${(100 * share).toFixed(0)}`;
  const meter = (share) => el('td', { class: 'meter' }, el('span', { class: 'meter-bar', 'width%': 100 * share }), el('span', {}, percent(share)));
  return el('table', { class: 'label-table' },
    el('thead', {}, el('tr', {}, ['label', 'examples', 'rules', 'prec. %', 'recall %', 'F1 %'].map((name) => el('th', { scope: 'col' }, name)))),
    el('tbody', {}, rows.map((row) => el('tr', { class: row === chosen ? 'chosen' : null },
      el('th', { scope: 'row' }, el('button', {
        type: 'button', class: 'link', 'aria-pressed': String(row === chosen), onclick: () => update({ label: row.label.name }),
      }, headOf(row.label))),
      el('td', {}, String(row.label.positives)), el('td', {}, String(row.n)),
      meter(row.precision), meter(row.recall), meter(row.f1)))));
}

function coverageSpace(theories, { label, i, covered }) {
  const rules = theoryAt(theories, state.family, state.p, state.phi).rules.filter((rule) => rule.label === i);
  const area = chartArea();
  const most = (key) => Math.max(covered[key], ...rules.map((rule) => rule[key]), 1) * 1.08;
  const [xMost, yMost] = [most('fp'), most('tp')];
  const x = linear([0, xMost], area.x);
  const y = linear([0, yMost], area.y);
  for (const scale of [x, y]) scale.ticks = scale.ticks.filter(Number.isInteger);
  // Random guessing covers positives and negatives in the ratio of the training set.
  const rate = label.positives / Math.max(label.negatives, 1);
  const end = Math.min(xMost, yMost / (rate || 1));
  return chart({
    label: `Coverage space of ${headOf(label)}`, x, y, xTitle: 'wrong (FP)', yTitle: 'right (TP)',
  },
  svg('path', { class: 'guess', d: `M${x(0)} ${y(0)}L${x(end)} ${y(end * rate)}` }),
  ...rules.map((rule) => svg('circle', { class: 'rule-dot', cx: x(rule.fp), cy: y(rule.tp), r: 4.5, 'data-rule': rule.index })),
  ...(rules.length ? outlined('circle', { cx: x(covered.fp), cy: y(covered.tp), r: 8 }) : []));
}

function listenToLabels() {
  const view = byId('labels');
  view.addEventListener('pointermove', async (event) => {
    const index = event.target.dataset?.rule;
    const theories = await loadTheories(state.dataset);
    if (index === undefined || !theories || event.pointerType !== 'mouse') {
      hideTooltip();
      return;
    }
    const rule = theories.rules[Number(index)];
    showTooltip(event, [conditionText(theories, rule.conditions), `${rule.tp} right, ${rule.fp} wrong`]);
  });
  view.addEventListener('pointerleave', hideTooltip);
}

// Below the map: links to theories, the chosen cell, and its values next to the best and the baselines.

const SHORT = {
  f1_micro: 'F1', hamming: 'Hamming', subset: 'subset', precision_micro: 'precision', recall_micro: 'recall',
};

function shortTitle(measure) {
  return SHORT[measure] ?? measureOf(measure)?.title ?? measure;
}

function renderJumps() {
  if (!hasMap) return;
  const used = usedOf().filter((one) => one.tuned_for);
  const best = [...new Set([...Object.keys(SHORT), ...used.map((one) => one.tuned_for)])].filter((id) => study.measures.some((one) => one.id === id));
  show(byId('jumps'),
    used.length ? el('div', {}, el('span', { class: 'what' }, el('i', { class: 'sign diamond' }), 'Use this, tuned for '),
      used.map((one) => button(shortTitle(one.tuned_for), () => update(chooseUsed(one.id)), {
        'data-tuned': one.tuned_for, 'aria-pressed': String(state.theory === one.id), title: 'learned on all examples',
      }))) : null,
    el('div', {}, el('span', { class: 'what' }, el('i', { class: 'sign circle' }), 'Best cell (hindsight) for '),
      best.map((id) => button(shortTitle(id), () => update({ theory: CELL, measure: id, ...chooseBest(id) }), { 'data-best': id }))));
}

function stepper(text, less, back, forth) {
  const part = (sign, change, name) => button(sign, () => step(change), { 'aria-label': name });
  return el('span', { class: 'stepper' }, part('−', back, less[0]), el('b', {}, text), part('+', forth, less[1]));
}

function renderHere() {
  if (!hasMap) return;
  const family = familyOf(state.family);
  const rules = valuesOf(state.dataset, state.family, 'n_rules')[cellOf(state.p, state.phi)];
  const value = valuesOf(state.dataset, state.family, state.measure)[cellOf(state.p, state.phi)];
  show(byId('here'),
    stepper(`${DIRECTED_FAMILIES.includes(family.id) ? `strict ↔ broad (${family.symbol})` : family.symbol || 'parameter'}: ${family.parameters[state.p]}`,
      ['the cell to the left', 'the cell to the right'], [-1, 0], [1, 0]),
    // Up on the map is a larger φ.
    stepper(`rules kept (φ): ${formatPhi(state.phi)}`, ['keep fewer rules', 'keep more rules'], [0, 1], [0, -1]));
  show(byId('cell-bar'),
    el('span', { id: 'cell-bar-text', role: 'status' }, state.theory === CELL
      ? `${formatCell(state.p, state.phi)}: ${shortTitle(state.measure)} ${formatValue(state.measure, value)}${unitOf(state.measure)}, ${formatValue('n_rules', rules)} rules`
      : usedTitle(usedOf().find(({ id }) => id === state.theory))),
    button('To its rules', () => byId('theory-head').scrollIntoView({ block: 'start' }), { class: 'primary' }));
}

// Columns of the table: name and value of a measure.
function summaryColumns() {
  const dataset = study.datasets[state.dataset];
  const cell = cellOf(state.p, state.phi);
  const columns = [
    { name: 'here', valueOf: (id) => valuesOf(state.dataset, state.family, id)[cell] },
    { name: 'best cell (hindsight)', valueOf: (id) => {
      const values = valuesOf(state.dataset, state.family, id);
      return values[bestCell(values, measureOf(id).better)] ?? null;
    } },
  ];
  for (const tuned of dataset.tuned.filter((t) => t.family === state.family)) {
    columns.push({ name: `tuned for ${shortTitle(tuned.for)}`, valueOf: (id) => tuned.values[id] ?? null });
  }
  for (const baseline of dataset.baselines) columns.push({ name: baseline.name, valueOf: (id) => baseline.values[id] ?? null });
  return columns;
}

function renderSummary() {
  if (!hasMap) return;
  const columns = summaryColumns();
  const { n_folds: folds, differences } = study.datasets[state.dataset];
  const head = el('tr', {}, el('th', { scope: 'col' }, 'measure'), columns.map(({ name }) => el('th', { scope: 'col' }, name)));
  const rows = study.measures.map(({ id, title }) => el('tr', { class: id === state.measure ? 'chosen' : null },
    el('th', { scope: 'row' }, button(title, () => update({ measure: id }), { class: 'link' })),
    columns.map(({ valueOf }, i) => el('td', { class: i ? null : 'here' }, formatValue(id, valueOf(id))))));
  show(byId('summary'),
    scroller('Values of this cell, the best cell, tuned theories and baselines', el('table', {}, el('thead', {}, head), el('tbody', {}, rows))),
    el('p', { class: 'hint' }, `Percent, except for sizes; mean over ${count(folds, 'test fold')}. The best cell is chosen by these values, so it is too good.`),
    differences ? el('p', { class: 'hint', id: 'differences' }, differences) : null);
}

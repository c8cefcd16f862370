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
  showOnce(byId('jumps'), String(state.dataset), () => [
    used.length ? el('div', {}, el('span', { class: 'what' }, el('i', { class: 'sign diamond' }), 'Use this, tuned for '),
      used.map((one) => button(shortTitle(one.tuned_for), () => update(chooseUsed(one.id)), {
        'data-tuned': one.tuned_for, 'data-theory': one.id, title: 'learned on all examples',
      }))) : null,
    el('div', {}, el('span', { class: 'what' }, el('i', { class: 'sign circle' }), 'Best cell (hindsight) for '),
      best.map((id) => button(shortTitle(id), () => update({ theory: CELL, measure: id, ...chooseBest(id) }), { 'data-best': id }))),
  ]);
  for (const link of byId('jumps').querySelectorAll('[data-theory]')) link.setAttribute('aria-pressed', String(state.theory === link.dataset.theory));
}

// A text between two buttons that go one cell back and forth.
function stepper(id, [less, more], [back, forth]) {
  const part = (sign, change, name) => button(sign, () => step(change), { 'aria-label': name });
  return el('span', { class: 'stepper' }, part('−', back, less), el('b', { id }), part('+', forth, more));
}

function renderHere() {
  if (!hasMap) return;
  showOnce(byId('here'), 'steppers', () => [
    stepper('here-parameter', ['the cell to the left', 'the cell to the right'], [[-1, 0], [1, 0]]),
    // Up on the map is a larger φ.
    stepper('here-phi', ['keep fewer rules', 'keep more rules'], [[0, 1], [0, -1]]),
  ]);
  const family = familyOf(state.family);
  const name = DIRECTED_FAMILIES.includes(family.id) ? `strict ↔ broad (${family.symbol})` : family.symbol || 'parameter';
  byId('here-parameter').textContent = `${name}: ${family.parameters[state.p]}`;
  byId('here-phi').textContent = `rules kept (φ): ${formatPhi(state.phi)}`;
  showOnce(byId('cell-bar'), 'bar', () => [
    el('span', { id: 'cell-bar-text', role: 'status' }),
    button('To its rules', () => byId('theory-head').scrollIntoView({ block: 'start' }), { class: 'primary' }),
  ]);
  byId('cell-bar-text').textContent = describeHere();
}

// The chosen theory in one line.
function describeHere() {
  if (state.theory !== CELL) return usedTitle(usedOf().find(({ id }) => id === state.theory));
  const valueOf = (measure) => formatValue(measure, valuesOf(state.dataset, state.family, measure)[cellOf(state.p, state.phi)]);
  return `${formatCell(state.p, state.phi)}: ${shortTitle(state.measure)} ${valueOf(state.measure)}${unitOf(state.measure)}, ${valueOf('n_rules')} rules`;
}

// Columns of the table: name and value of a measure.
function summaryColumns() {
  const dataset = study.datasets[state.dataset];
  const columns = [
    { name: 'here', valueOf: valueHere },
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

function valueHere(measure) {
  return valuesOf(state.dataset, state.family, measure)[cellOf(state.p, state.phi)];
}

function renderSummary() {
  if (!hasMap) return;
  showOnce(byId('summary'), [state.dataset, state.family, state.measure].join(' '), makeSummary);
  // Only this column depends on the chosen cell.
  for (const cell of byId('summary').querySelectorAll('[data-here]')) cell.textContent = formatValue(cell.dataset.here, valueHere(cell.dataset.here));
}

function makeSummary() {
  const columns = summaryColumns();
  const { n_folds: folds, differences } = study.datasets[state.dataset];
  const head = el('tr', {}, el('th', { scope: 'col' }, 'measure'), columns.map(({ name }) => el('th', { scope: 'col' }, name)));
  const rows = study.measures.map(({ id, title }) => el('tr', { class: id === state.measure ? 'chosen' : null },
    el('th', { scope: 'row' }, button(title, () => update({ measure: id }), { class: 'link' })),
    columns.map(({ valueOf }, i) => (i ? el('td', {}, formatValue(id, valueOf(id))) : el('td', { class: 'here', 'data-here': id })))));
  return [
    scroller('Values of this cell, the best cell, tuned theories and baselines', el('table', {}, el('thead', {}, head), el('tbody', {}, rows))),
    el('p', { class: 'hint' }, `${study.measures.every(({ share, size }) => share || size) ? 'Percent, except for sizes' : 'Accuracies, precision, recall and F1 in percent'}; mean over ${count(folds, 'test fold')}. The best cell is chosen by these values, so it is too good.`),
    differences ? el('p', { class: 'hint', id: 'differences' }, differences) : null,
  ];
}

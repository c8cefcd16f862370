// Below the map: links to cells, the chosen cell, and its values next to the best and the baselines.

const SHORT = {
  f1_micro: 'F1', hamming: 'Hamming', subset: 'subset', precision_micro: 'precision', recall_micro: 'recall',
};

function shortTitle(measure) {
  return SHORT[measure] ?? measureOf(measure)?.title ?? measure;
}

function renderJumps() {
  const tunedFor = tunedPoints().map((point) => point.for);
  const best = [...new Set([...Object.keys(SHORT), ...tunedFor])].filter((id) => measureOf(id)).map((id) => el('button', {
    type: 'button', 'data-best': id, onclick: () => update({ measure: id, ...chooseBest(id) }),
  }, shortTitle(id)));
  const tuned = tunedPoints().map((point) => el('button', {
    type: 'button', 'data-tuned': point.for, title: `Chosen on the training set of fold ${point.folds[0][0]}`,
    onclick: () => update({ p: point.p, phi: point.phi, ...(measureOf(point.for) ? { measure: point.for } : {}) }),
  }, shortTitle(point.for)));
  show(byId('jumps'),
    el('div', {}, el('span', { class: 'what' }, el('i', { class: 'sign circle' }), 'Best for '), best),
    tuned.length ? el('div', {}, el('span', { class: 'what' }, el('i', { class: 'sign diamond' }), 'Tuned for '), tuned) : null);
}

function stepper(text, back, forth) {
  const button = (sign, change, name) => el('button', { type: 'button', 'aria-label': name, onclick: () => step(change) }, sign);
  return el('span', { class: 'stepper' }, button('−', back, `smaller ${text[0]}`), el('b', {}, text), button('+', forth, `larger ${text[0]}`));
}

function renderHere() {
  const family = familyOf(state.family);
  show(byId('here'),
    stepper(`${family.symbol} = ${family.parameters[state.p]}`, [-1, 0], [1, 0]),
    // Up on the map is a larger φ.
    stepper(`φ = ${formatPhi(state.phi)}`, [0, 1], [0, -1]));
}

// Columns of the table: name and value of a measure.
function summaryColumns() {
  const dataset = study.datasets[state.dataset];
  const cell = cellOf(state.p, state.phi);
  const columns = [
    ['here', (id) => valuesOf(state.dataset, state.family, id)[cell]],
    ['best', (id) => {
      const values = valuesOf(state.dataset, state.family, id);
      return values[bestCell(values, measureOf(id).better)] ?? null;
    }],
  ];
  for (const tuned of dataset.tuned.filter((t) => t.family === state.family)) {
    columns.push([`tuned ${shortTitle(tuned.for)}`, (id) => tuned.values[id] ?? null]);
  }
  for (const baseline of dataset.baselines) columns.push([baseline.name, (id) => baseline.values[id] ?? null]);
  return columns;
}

function renderSummary() {
  const columns = summaryColumns();
  const { n_folds: folds, differences } = study.datasets[state.dataset];
  const head = el('tr', {}, el('th', {}), columns.map(([name]) => el('th', { scope: 'col' }, name)));
  const rows = study.measures.map(({ id, title }) => el('tr', { class: id === state.measure ? 'chosen' : null },
    el('th', { scope: 'row' }, el('button', { type: 'button', class: 'link', onclick: () => update({ measure: id }) }, title)),
    columns.map(([, valueOf], i) => el('td', { class: i ? null : 'here' }, formatValue(id, valueOf(id))))));
  show(byId('summary'),
    el('div', { class: 'scroll' }, el('table', {}, el('thead', {}, head), el('tbody', {}, rows))),
    el('p', { class: 'hint' }, `Percent, except for sizes; mean over ${count(folds, 'fold')}.`),
    differences ? el('p', { class: 'hint', id: 'differences' }, differences) : null);
}

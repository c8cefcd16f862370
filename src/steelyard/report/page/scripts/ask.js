// Ask: a case with values that the reader can change; labels and rules follow at once.

// The case: { theory key and example that it started from, values by attribute position, truth or null }.
let asked = null;

function renderAsk() {
  if (!context) {
    show(byId('ask-start'), noTheories());
    for (const id of ['answer-chips', 'ask-case', 'answers', 'batch']) show(byId(id));
    return;
  }
  const origin = `${state.dataset} ${state.example}`;
  if (!asked || asked.origin !== origin) startFrom(state.example, origin);
  renderCase();
  renderAsked();
  renderBatch();
}

function renderCase() {
  show(byId('ask-start'), askControls());
  show(byId('ask-case'), attributeForm());
}

function startFrom(example, origin) {
  const { core, examples } = context;
  const n = examples?.table.n ?? 0;
  if (!n) {
    asked = { origin, values: core.features.map(() => null), truth: null, isChanged: true };
    return;
  }
  const row = Math.min(example, n - 1);
  asked = { origin, row, values: core.features.map((feature) => valueAt(examples.table, feature, row)), truth: truthOf(row), isChanged: false };
}

// The true labels of an example, in the order of the labels of the theory.
function truthOf(row) {
  const truth = truthFor(context.theory, context.examples.table);
  return truth ? truth.map((ofLabel) => ofLabel[row]) : null;
}

function renderAsked() {
  const truth = asked.isChanged || asked.row === undefined ? null : truthOf(asked.row);
  renderAnswers(byId('answer-chips'), byId('answers'), context.theory, asked.values, truth, applyChanges);
}

function applyChanges(changes) {
  for (const [feature, value] of changes) asked.values[feature] = value;
  asked.isChanged = true;
  announce('changed the case');
  renderCase();
  renderAsked();
}

function setValue(feature, value) {
  asked.values[feature.index] = value;
  asked.isChanged = true;
  byId('case-state').textContent = describeCase();
  renderAsked();
}

// -- where to start ---------------------------------------------------------------------------------

function describeCase() {
  const { core, base, examples } = context;
  if (asked.isChanged) return 'your own case';
  const isHeldOut = asked.row < examples.n_held_out && (base.kind === 'cell' || !examples.n_training);
  if (isHeldOut) return core.fold === null ? 'not a training example' : `held out in fold ${core.fold}; the rules were not learned from it`;
  return 'a training example; the rules were learned from it';
}

function askControls() {
  const { examples, theory } = context;
  const n = examples?.table.n ?? 0;
  const chosen = Math.min(state.example, Math.max(n - 1, 0));
  const go = (change) => update({ example: (chosen + change + n) % n });
  return el('div', { class: 'controls spread' },
    n ? el('label', { class: 'grow' }, 'Example ', exampleSelect(theory, n, chosen)) : null,
    n ? el('span', { class: 'stepper' },
      button('←', () => go(-1), { 'aria-label': 'previous example' }),
      el('b', {}, `${chosen + 1} of ${n}`),
      button('→', () => go(1), { 'aria-label': 'next example' })) : null,
    asked.isChanged && n ? button('Back to the example', () => { asked = null; renderAsk(); }, { id: 'back-to-example' }) : null,
    button('Blank case', () => startOwn((_feature) => null), { id: 'blank-case' }),
    n ? button('Random case', () => startOwn(drawValue), { id: 'random-case' }) : null,
    el('span', { class: 'hint', id: 'case-state', role: 'status' }, describeCase()));
}

// Options are few at first: a data set may have thousands of examples.
function exampleSelect(theory, n, chosen) {
  const truth = truthFor(theory, context.examples.table);
  const title = (row) => {
    const names = truth ? theory.labels.filter((_, j) => truth[j][row]).map((label) => label.name) : [];
    const text = names.join(', ') || (truth ? 'no label' : 'labels unknown');
    return `${row + 1}: ${nameText(text.length > 60 ? `${text.slice(0, 58)}…` : text)}`;
  };
  const rows = [...new Set([...range(Math.min(n, 500)), chosen])];
  const select = el('select', { id: 'example', onchange: (event) => update({ example: Number(event.target.value) }) });
  fillSelect(select, rows.map((row) => [String(row), title(row)]), String(chosen));
  return select;
}

function startOwn(valueOf) {
  asked = { ...asked, values: context.core.features.map(valueOf), isChanged: true };
  renderCase();
  renderAsked();
}

// The value of a random example.
function drawValue(feature) {
  const { table } = context.examples;
  return valueAt(table, feature, Math.floor(Math.random() * table.n));
}

// -- attributes -------------------------------------------------------------------------------------

const FIELDS_AT_ONCE = 12;
let fieldFilter = '';

// Attributes that rules test, those of the most rules first.
function testedFeatures(theory) {
  const uses = new Map();
  for (const rule of theory.rules) for (const { feature } of rule.conditions) uses.set(feature, (uses.get(feature) ?? 0) + 1);
  return [...uses].sort((a, b) => b[1] - a[1] || a[0] - b[0]).map(([feature]) => theory.features[feature]);
}

function attributeForm() {
  const { theory } = context;
  const tested = testedFeatures(theory);
  const fields = el('div', { class: 'fields' });
  const draw = () => {
    const matching = tested.filter(({ name }) => name.toLowerCase().includes(fieldFilter.toLowerCase()));
    const shown = openDetails.has('fields') ? matching : matching.slice(0, FIELDS_AT_ONCE);
    show(fields, shown.map(attributeField),
      shown.length < matching.length ? button(`Show ${matching.length - shown.length} more attributes`, () => { openDetails.add('fields'); draw(); }, { class: 'quiet' }) : null);
  };
  const filter = el('input', {
    type: 'search', id: 'field-filter', placeholder: 'Find an attribute', 'aria-label': 'find an attribute', value: fieldFilter, autocomplete: 'off',
    oninput: (event) => { fieldFilter = event.target.value; draw(); },
  });
  draw();
  return el('section', { class: 'case', 'aria-label': 'Values of the case' },
    el('p', { class: 'controls' }, el('span', { class: 'hint' }, `${count(tested.length, 'attribute')} that the rules test, the most used first`), tested.length > 8 ? filter : null),
    fields);
}

function attributeField(feature) {
  const value = asked.values[feature.index];
  const id = `field-${feature.index}`;
  const missing = el('label', { class: 'missing' }, el('input', {
    type: 'checkbox', checked: value === null, 'aria-label': `${feature.name} is missing`,
    onchange: (event) => {
      const start = feature.categories ? 0 : feature.least ?? 0;
      setValue(feature, event.target.checked ? null : start);
      event.target.closest('.field').replaceWith(attributeField(feature));
    },
  }), 'missing');
  const control = feature.categories ? choiceControl(feature, value, id) : numberControl(feature, value, id);
  return el('div', { class: `field ${value === null ? 'is-missing' : ''}`, 'data-attribute': feature.name },
    el('label', { for: id, class: 'field-name' }, nameNode(feature.name)), control, missing);
}

function refreshField(feature, node) {
  const old = node.closest('.field');
  old.classList.toggle('is-missing', asked.values[feature.index] === null);
  old.querySelector('.missing input').checked = asked.values[feature.index] === null;
}

function choiceControl(feature, value, id) {
  const select = el('select', { id, onchange: (event) => {
    setValue(feature, event.target.value === '' ? null : Number(event.target.value));
    refreshField(feature, event.target);
  } });
  fillSelect(select, [['', 'missing'], ...feature.categories.map((text, code) => [String(code), nameText(text)]), [String(UNKNOWN), 'another category']],
    value === null ? '' : String(value));
  return select;
}

// A slider over the range of the training values, and a field for any other value.
function numberControl(feature, value, id) {
  const hasRange = feature.least !== null && feature.most > feature.least;
  const slider = hasRange ? el('input', {
    type: 'range', min: feature.least, max: feature.most, step: isIntegerAttribute(feature) ? 1 : 'any', value: value ?? feature.least,
    'aria-label': `${feature.name}, slider`, tabindex: -1,
  }) : null;
  const field = el('input', {
    id, type: isTemporal(feature) ? 'text' : 'number', step: 'any', value: value === null ? '' : exactText(feature, value), placeholder: '–',
  });
  field.addEventListener('input', () => {
    const number = readBound(feature, field);
    if (Number.isNaN(number)) return;
    if (slider && number !== null) slider.value = String(number);
    setValue(feature, number);
    refreshField(feature, field);
  });
  slider?.addEventListener('input', () => {
    const number = Number(slider.value);
    const rounded = isIntegerAttribute(feature) ? number : Number(number.toPrecision(6));
    field.value = exactText(feature, rounded);
    setValue(feature, rounded);
    refreshField(feature, field);
  });
  return el('span', { class: 'number' }, slider, field);
}

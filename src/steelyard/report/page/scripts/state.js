// The current choice and its form in the address, so that a link shows the same view.

const VIEWS = ['rules', 'ask', 'labels', 'compare', 'tradeoff'];
const CELL = 'cell';

const state = {
  dataset: 0,
  theory: '',
  family: study.families[0]?.id ?? '',
  measure: study.measures[0].id,
  scale: 'values',
  p: 0,
  phi: 0,
  view: 'rules',
  label: '',
  query: '',
  example: 0,
  other: '',
  slice: '',
};

function shownViews() {
  return hasMap ? VIEWS : VIEWS.filter((view) => view !== 'tradeoff');
}

function chooseBest(measure = state.measure) {
  if (!hasMap) return {};
  const cell = bestCell(valuesOf(state.dataset, state.family, measure), measureOf(measure).better);
  return { p: Math.floor(Math.max(cell, 0) / study.phis.length), phi: Math.max(cell, 0) % study.phis.length };
}

// The theories to use of a data set; without any, the page opens on a cell of the map.
function usedOf(dataset = state.dataset) {
  return study.datasets[dataset].embedded.includes('theories') ? study.datasets[dataset].use : [];
}

// The choice of a theory to use, with its cell of the map if it has one.
function chooseUsed(id) {
  const used = usedOf().find((one) => one.id === id);
  const family = familyOf(used?.method);
  if (!family) return { theory: id };
  const [p, phi] = [family.parameters.indexOf(used.parameter), study.phis.indexOf(used.phi)];
  const measure = study.measures.some((one) => one.id === used.tuned_for) ? { measure: used.tuned_for } : {};
  return p < 0 || phi < 0 ? { theory: id } : { theory: id, family: family.id, p, phi, ...measure };
}

// Where a data set opens: on the first theory to use, else on the best cell in hindsight.
function chooseFirst() {
  const [first] = usedOf();
  return first ? chooseUsed(first.id) : { theory: CELL, ...chooseBest() };
}

function stateToHash() {
  const hash = new URLSearchParams();
  if (study.datasets.length > 1 || hasMap) hash.set('data', study.datasets[state.dataset].name);
  hash.set('theory', state.theory);
  if (hasMap) {
    hash.set('heuristic', state.family);
    hash.set('parameter', familyOf(state.family).parameters[state.p]);
    hash.set('phi', study.phis[state.phi]);
  }
  hash.set('measure', state.measure);
  hash.set('view', state.view);
  if (state.scale !== 'values') hash.set('scale', state.scale);
  if (state.label) hash.set('label', state.label);
  if (state.query) hash.set('search', state.query);
  if (state.view === 'ask') hash.set('example', String(state.example + 1));
  if (state.other) hash.set('with', state.other);
  if (state.slice) hash.set('by', state.slice);
  const edits = editsToText();
  if (edits) hash.set('edits', edits);
  return `#${hash}`;
}

function find(list, value, fallback) {
  const position = list.indexOf(value);
  return position < 0 ? fallback : position;
}

// Ignore parts of a link that this study does not have.
function readHash() {
  const hash = new URLSearchParams(window.location.hash.slice(1));
  state.dataset = find(study.datasets.map((d) => d.name), hash.get('data'), state.dataset);
  if (familyOf(hash.get('heuristic'))) state.family = hash.get('heuristic');
  if (study.measures.some(({ id }) => id === hash.get('measure'))) state.measure = hash.get('measure');
  const { measure } = state;
  Object.assign(state, chooseFirst());
  if (hash.has('measure')) state.measure = measure;
  readCell(hash);
  state.view = shownViews().includes(hash.get('view')) ? hash.get('view') : 'rules';
  state.scale = hash.get('scale') === 'rank' && study.datasets.length > 1 ? 'rank' : 'values';
  state.label = hash.get('label') || '';
  state.query = hash.get('search') || '';
  state.other = hash.get('with') || '';
  state.slice = hash.get('by') || '';
  const example = Number.parseInt(hash.get('example'), 10);
  state.example = example > 0 ? example - 1 : 0;
  if (hash.has('edits')) textToEdits(hash.get('edits'));
}

// The cell and the theory of a link; a link with a cell alone means the theory of this cell.
function readCell(hash) {
  const used = usedOf().some(({ id }) => id === hash.get('theory'));
  if (used) Object.assign(state, { ...chooseUsed(hash.get('theory')), measure: state.measure });
  else if (hasMap && (hash.get('theory') === CELL || hash.has('parameter') || hash.has('phi'))) state.theory = CELL;
  if (!hasMap) return;
  if (familyOf(hash.get('heuristic'))) state.family = hash.get('heuristic');
  state.p = find(familyOf(state.family).parameters, hash.get('parameter'), state.p);
  state.p = Math.min(state.p, familyOf(state.family).parameters.length - 1);
  state.phi = find(study.phis, Number(hash.get('phi')), state.phi);
}

function writeHash() {
  const hash = stateToHash();
  if (hash !== window.location.hash) window.history.replaceState(null, '', hash);
}

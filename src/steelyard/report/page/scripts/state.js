// The current choice and its form in the address, so that a link shows the same view.

const VIEWS = ['rules', 'tradeoff', 'labels', 'ask'];
const COMPARISONS = ['left', 'right', 'up', 'down', 'none'];

const state = {
  dataset: 0,
  family: study.families[0].id,
  measure: study.measures[0].id,
  scale: 'values',
  p: 0,
  phi: 0,
  view: 'rules',
  compare: 'left',
  label: '',
  query: '',
  example: 0,
};

function chooseBest(measure = state.measure) {
  const cell = bestCell(valuesOf(state.dataset, state.family, measure), measureOf(measure).better);
  return { p: Math.floor(Math.max(cell, 0) / study.phis.length), phi: Math.max(cell, 0) % study.phis.length };
}

function stateToHash() {
  const hash = new URLSearchParams();
  hash.set('data', study.datasets[state.dataset].name);
  hash.set('heuristic', state.family);
  hash.set('parameter', familyOf(state.family).parameters[state.p]);
  hash.set('phi', study.phis[state.phi]);
  hash.set('measure', state.measure);
  hash.set('view', state.view);
  if (state.scale !== 'values') hash.set('scale', state.scale);
  if (state.compare !== 'left') hash.set('from', state.compare);
  if (state.label) hash.set('label', state.label);
  if (state.query) hash.set('search', state.query);
  if (state.view === 'ask') hash.set('example', state.example + 1);
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
  if (measureOf(hash.get('measure'))) state.measure = hash.get('measure');
  Object.assign(state, chooseBest());
  state.p = find(familyOf(state.family).parameters, hash.get('parameter'), state.p);
  state.phi = find(study.phis, Number(hash.get('phi')), state.phi);
  if (VIEWS.includes(hash.get('view'))) state.view = hash.get('view');
  state.scale = hash.get('scale') === 'rank' && study.datasets.length > 1 ? 'rank' : 'values';
  state.compare = COMPARISONS.includes(hash.get('from')) ? hash.get('from') : 'left';
  state.label = hash.get('label') || '';
  state.query = hash.get('search') || '';
  const example = Number.parseInt(hash.get('example'), 10);
  state.example = example > 0 ? example - 1 : 0;
}

function writeHash() {
  const hash = stateToHash();
  if (hash !== window.location.hash) window.history.replaceState(null, '', hash);
}

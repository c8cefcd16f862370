// The page as a whole: one state, one render function, events that change the state.

const RENDERERS = { rules: renderRules, tradeoff: renderTradeoff, labels: renderLabels, ask: renderAsk };

function update(change) {
  Object.assign(state, change);
  writeHash();
  render();
}

// Rendering waits for the theories of a data set; an earlier choice must not replace a later one.
let latest = 0;

async function render() {
  latest += 1;
  const mine = latest;
  renderFrame();
  const theories = await loadTheories(state.dataset);
  if (mine === latest) RENDERERS[state.view](theories);
}

function renderFrame() {
  hideTooltip();
  byId('dataset').value = String(state.dataset);
  byId('family').value = state.family;
  byId('measure').value = state.measure;
  byId('scale').value = state.scale;
  renderSubtitle();
  renderJumps();
  renderMap();
  renderHere();
  renderSummary();
  for (const view of VIEWS) {
    const chosen = view === state.view;
    byId(`tab-${view}`).setAttribute('aria-selected', String(chosen));
    byId(`tab-${view}`).tabIndex = chosen ? 0 : -1;
    byId(`view-${view}`).classList.toggle('off', !chosen);
  }
}

function renderSubtitle() {
  const { about, n_folds: folds, name } = study.datasets[state.dataset];
  const parts = [
    about.n_examples && count(about.n_examples, 'example'),
    about.n_features && count(about.n_features, 'attribute'),
    about.n_labels && count(about.n_labels, 'label'),
    count(folds, 'fold'),
  ].filter(Boolean);
  show(byId('subtitle'), el('b', {}, name), `: ${parts.join(', ')}`);
}

function renderFooter() {
  const { version, finished, n_candidates: candidates, seed } = study.run;
  const facts = [
    candidates && `${Number(candidates).toLocaleString('en')} candidate rules`,
    seed !== null && seed !== undefined && `seed ${seed}`,
    finished && `finished ${finished}`,
    version && `Steelyard ${version}`,
  ].filter(Boolean);
  const { symbol } = study.families[0];
  show(byId('footer'),
    el('p', {}, `A larger ${symbol} trades consistency for coverage: fewer rules that cover more examples. φ is the share of the rules that is kept, best first. `,
      'A label is predicted if any of its rules fires.'),
    el('p', {}, 'Keys: arrows on the map, ', el('kbd', {}, 'm'), ' to the map, ', el('kbd', {}, '1'), '–', el('kbd', {}, '4'), ' for the tabs, ', el('kbd', {}, '/'), ' to search. The address of the page links to the current view.'),
    el('p', {}, facts.join(' · ')));
}

function fillControls() {
  fillSelect(byId('dataset'), study.datasets.map(({ name }, i) => [String(i), name]), String(state.dataset));
  fillSelect(byId('family'), study.families.map(({ id, symbol }) => [id, `${id} (${symbol})`]), state.family);
  fillSelect(byId('measure'), study.measures.map(({ id, title }) => [id, title]), state.measure);
  byId('dataset-label').hidden = study.datasets.length < 2;
  byId('family-label').hidden = study.families.length < 2;
  byId('scale-label').hidden = study.datasets.length < 2;
}

// Another heuristic has other parameters; choose the same relative position.
function changeFamily(family) {
  const share = state.p / Math.max(familyOf(state.family).parameters.length - 1, 1);
  update({ family, p: Math.round(share * (familyOf(family).parameters.length - 1)) });
}

function listen() {
  byId('dataset').addEventListener('change', (event) => update({ dataset: Number(event.target.value), label: '', example: 0 }));
  byId('family').addEventListener('change', (event) => changeFamily(event.target.value));
  byId('measure').addEventListener('change', (event) => update({ measure: event.target.value }));
  byId('scale').addEventListener('change', (event) => update({ scale: event.target.value }));
  byId('tabs').addEventListener('click', (event) => {
    if (event.target.dataset.view) update({ view: event.target.dataset.view });
  });
  byId('tabs').addEventListener('keydown', moveBetweenTabs);
  document.addEventListener('keydown', useShortcut);
  window.addEventListener('hashchange', () => { readHash(); render(); });
  window.addEventListener('beforeprint', renderForPrint);
  window.addEventListener('afterprint', render);
  listenToMap();
  listenToRules();
  listenToTradeoff();
  listenToLabels();
  listenToTheme();
}

function moveBetweenTabs(event) {
  const change = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  if (!change) return;
  event.preventDefault();
  const view = VIEWS[(VIEWS.indexOf(state.view) + change + VIEWS.length) % VIEWS.length];
  update({ view });
  byId(`tab-${view}`).focus();
}

function useShortcut(event) {
  if (event.ctrlKey || event.altKey || event.metaKey || /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) return;
  if (event.key === 'm') byId('map').focus();
  else if (VIEWS[Number(event.key) - 1]) update({ view: VIEWS[Number(event.key) - 1] });
  else if (event.key === '/') {
    event.preventDefault();
    update({ view: 'rules' });
    byId('query').focus();
  }
}

// A printed page shows all tabs. The theories are loaded already, because one tab shows them.
function renderForPrint() {
  const theories = loadedTheories.get(state.dataset);
  if (theories === undefined) return;
  isPrinting = true;
  for (const view of VIEWS) RENDERERS[view](theories);
  isPrinting = false;
}

// -- light and dark ---------------------------------------------------------------------------------

function storedTheme() {
  try {
    return window.localStorage.getItem('steelyard-theme');
  } catch {
    return null; // some browsers store nothing for local files
  }
}

function applyTheme(theme) {
  document.documentElement.dataset.theme = theme;
  byId('theme').textContent = theme === 'dark' ? 'Light' : 'Dark';
}

function listenToTheme() {
  const system = window.matchMedia('(prefers-color-scheme: dark)');
  applyTheme(storedTheme() ?? (system.matches ? 'dark' : 'light'));
  system.addEventListener('change', () => { if (!storedTheme()) applyTheme(system.matches ? 'dark' : 'light'); });
  byId('theme').addEventListener('click', () => {
    const theme = document.documentElement.dataset.theme === 'dark' ? 'light' : 'dark';
    applyTheme(theme);
    try {
      window.localStorage.setItem('steelyard-theme', theme);
    } catch { /* the choice lasts until the page is closed */ }
  });
}

readHash();
fillControls();
renderDownloads();
renderFooter();
listen();
render();

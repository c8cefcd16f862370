// The page as a whole: one state, one render function, events that change the state.

const RENDERERS = { rules: renderRules, ask: renderAsk, labels: renderLabels, compare: renderCompare, tradeoff: renderTradeoff };

function update(change) {
  Object.assign(state, change);
  writeHash();
  render();
}

// Rendering waits for theories and for the browser; an earlier choice must not replace a later one.
let latest = 0;

async function render() {
  latest += 1;
  const mine = latest;
  delete document.body.dataset.rendered;
  // The marks on the map move at once; the rules follow when the browser has time to draw.
  keepFocus(renderFrame);
  await afterPaint();
  if (mine !== latest) return;
  const found = await loadContext();
  if (mine !== latest) return;
  setContext(found);
  keepFocus(() => { renderHead(); RENDERERS[state.view](); });
  document.body.dataset.rendered = String(mine);
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
  renderFilterNote();
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
    folds && count(folds, 'fold'),
  ].filter(Boolean);
  showOnce(byId('subtitle'), name, () => [nameNode(name, 'b'), `: ${parts.join(', ')}`]);
}

function fillControls() {
  fillSelect(byId('dataset'), study.datasets.map(({ name }, i) => [String(i), nameText(name)]), String(state.dataset));
  fillSelect(byId('family'), study.families.map(({ id, symbol }) => [id, `${id} (${symbol})`]), state.family);
  fillSelect(byId('measure'), study.measures.map(({ id, title }) => [id, title]), state.measure);
  byId('dataset-label').hidden = study.datasets.length < 2;
  byId('family-label').hidden = study.families.length < 2;
  byId('scale-label').hidden = study.datasets.length < 2;
  byId('map-section').hidden = !hasMap;
  byId('tab-tradeoff').hidden = !hasMap;
  byId('cell-bar').hidden = !hasMap;
  document.body.classList.toggle('no-map', !hasMap);
}

// Another heuristic has other parameters; choose the same relative position.
function changeFamily(family) {
  const share = state.p / Math.max(familyOf(state.family).parameters.length - 1, 1);
  update({ theory: CELL, family, p: Math.round(share * (familyOf(family).parameters.length - 1)) });
}

function changeDataset(dataset) {
  Object.assign(state, { dataset, label: '', example: 0, other: '', slice: '' });
  if (hasMap) clearFilter();
  const { measure } = state;
  const keepsCell = state.theory === CELL;
  update({ ...(keepsCell ? {} : chooseFirst()), measure });
}

function listen() {
  byId('dataset').addEventListener('change', (event) => changeDataset(Number(event.target.value)));
  byId('family').addEventListener('change', (event) => changeFamily(event.target.value));
  byId('measure').addEventListener('change', (event) => update({ measure: event.target.value }));
  byId('scale').addEventListener('change', (event) => update({ scale: event.target.value }));
  byId('theory').addEventListener('change', (event) => update(event.target.value === CELL ? { theory: CELL } : chooseUsed(event.target.value)));
  byId('tabs').addEventListener('click', (event) => {
    if (event.target.dataset.view) update({ view: event.target.dataset.view });
  });
  byId('tabs').addEventListener('keydown', moveBetweenTabs);
  document.addEventListener('keydown', useShortcut);
  window.addEventListener('hashchange', () => { allEdits.clear(); readEmbeddedEdits(); readHash(); render(); });
  window.addEventListener('beforeprint', renderForPrint);
  window.addEventListener('afterprint', render);
  listenToMap();
  listenToFilters();
  listenToRules();
  listenToTradeoff();
  listenToLabels();
  listenToFiles();
  listenToTheme();
}

function moveBetweenTabs(event) {
  const change = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  if (!change) return;
  event.preventDefault();
  const views = shownViews();
  const view = views[(views.indexOf(state.view) + change + views.length) % views.length];
  update({ view });
  byId(`tab-${view}`).focus();
}

function useShortcut(event) {
  if (byId('editor').open || /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) return;
  if (event.ctrlKey || event.metaKey) {
    const change = { z: -1, y: 1 }[event.key.toLowerCase()];
    if (change && context && editsOf(context.base.key).list.length) {
      event.preventDefault();
      moveInHistory(event.shiftKey ? 1 : change);
    }
    return;
  }
  if (event.altKey) return;
  if (event.key === 'm' && hasMap) byId('map').focus();
  else if (shownViews()[Number(event.key) - 1]) update({ view: shownViews()[Number(event.key) - 1] });
  else if (event.key === '/') {
    event.preventDefault();
    update({ view: 'rules' });
    byId('query').focus();
  }
}

// A printed page shows the theory: what it is, all its rules, and its labels.
function renderForPrint() {
  if (!context) return;
  setPrinting(true);
  renderRules();
  renderPrintedHistory();
  renderLabels();
  setPrinting(false);
}

readEmbeddedEdits();
readHash();
fillControls();
renderMapDownloads();
renderHelp();
renderFooter();
listen();
render();

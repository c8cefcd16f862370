// Filters of the map: by size, by a measure, by an attribute, and by a region. Other cells are dimmed.

// attribute: a name with "uses" or "avoids"; region: the corners of a rectangle of cells.
const filter = { mostRules: null, least: null, attribute: '', uses: true, region: null };
// Cells of the shown family whose theory tests the attribute; filled when the theories are loaded.
let cellsWithAttribute = null;

function filterKey() {
  return JSON.stringify(filter) + Number(Boolean(cellsWithAttribute));
}

function isFiltered() {
  return filter.mostRules !== null || filter.least !== null || filter.attribute !== '' || filter.region !== null;
}

// Whether each cell passes.
function filterCells() {
  const { parameters } = familyOf(state.family);
  const rules = valuesOf(state.dataset, state.family, 'n_rules');
  const values = valuesOf(state.dataset, state.family, state.measure);
  const { better, share } = measureOf(state.measure);
  return parameters.flatMap((_, p) => study.phis.map((__, phi) => {
    const i = cellOf(p, phi);
    if (filter.mostRules !== null && rules[i] > filter.mostRules) return false;
    if (filter.least !== null && better * values[i] < better * (share ? filter.least / 100 : filter.least)) return false;
    if (filter.attribute && cellsWithAttribute && cellsWithAttribute[i] !== filter.uses) return false;
    return !filter.region || isInside(filter.region, p, phi);
  }));
}

function isInside([a, b], p, phi) {
  return p >= Math.min(a.p, b.p) && p <= Math.max(a.p, b.p) && phi >= Math.min(a.phi, b.phi) && phi <= Math.max(a.phi, b.phi);
}

// Per cell, whether its theory tests an attribute.
function findUses(cells, name) {
  const feature = cells.core.positions.get(name);
  const tests = cells.rules.map((rule) => rule.conditions.some((condition) => condition.feature === feature));
  return familyOf(state.family).parameters.flatMap((_, p) => study.phis.map((__, phi) => {
    const { ranking, count: n } = rulesAt(cells, state.family, p, phi);
    const first = ranking ? ranking.rules.findIndex((rule) => tests[rule]) : -1;
    return first >= 0 && first < n;
  }));
}

async function setFilter(change) {
  Object.assign(filter, change);
  cellsWithAttribute = null;
  const cells = filter.attribute ? await loadCells(state.dataset) : null;
  if (cells) cellsWithAttribute = findUses(cells, filter.attribute);
  renderMap();
  renderFilterNote();
}

function renderFilterNote() {
  if (!hasMap) return;
  if (!isFiltered()) {
    show(byId('filter-note'));
    return;
  }
  const passes = filterCells();
  const values = valuesOf(state.dataset, state.family, state.measure);
  const rules = valuesOf(state.dataset, state.family, 'n_rules');
  const kept = passes.map((does, i) => (does ? i : -1)).filter((i) => i >= 0);
  const span = (of, id) => { const [low, high] = extent(kept.map((i) => of[i])); return `${formatValue(id, low)} to ${formatValue(id, high)}${unitOf(id)}`; };
  const best = kept.reduce((top, i) => (top < 0 || measureOf(state.measure).better * (values[i] - values[top]) > 0 ? i : top), -1);
  show(byId('filter-note'),
    el('span', {}, `${kept.length} of ${count(passes.length, 'theory').replace('theorys', 'theories')}`,
      kept.length ? `: ${measureOf(state.measure).title} ${span(values, state.measure)}, ${span(rules, 'n_rules')} rules. ` : '. '),
    best >= 0 ? button('The best of them (hindsight)', () => update({ theory: CELL, p: Math.floor(best / study.phis.length), phi: best % study.phis.length }), { class: 'quiet' }) : null,
    button('Clear', () => { clearFilter(); setFilter({}); }, { class: 'quiet', id: 'clear-filter' }));
}

function clearFilter() {
  Object.assign(filter, { mostRules: null, least: null, attribute: '', region: null });
  for (const id of ['filter-rules', 'filter-least', 'filter-attribute']) byId(id).value = '';
}

function listenToFilters() {
  if (!hasMap) return;
  const number = (event) => (event.target.value === '' ? null : Number(event.target.value));
  byId('filter-rules').addEventListener('input', (event) => setFilter({ mostRules: number(event) }));
  byId('filter-least').addEventListener('input', (event) => setFilter({ least: number(event) }));
  byId('filter-uses').addEventListener('change', (event) => setFilter({ uses: event.target.value === 'uses' }));
  byId('filter-attribute').addEventListener('change', async (event) => {
    const core = await loadCore(state.dataset);
    setFilter({ attribute: core?.positions.has(event.target.value) ? event.target.value : '' });
  });
  byId('filters').addEventListener('toggle', async () => {
    const core = await loadCore(state.dataset);
    show(byId('filter-attributes'), (core?.features ?? []).slice(0, 3000).map(({ name }) => el('option', { value: name })));
  });
}

// -- a region ---------------------------------------------------------------------------------------

let dragStart = null;
let selectedAt = -Infinity;

// A click ends every drag; it is not meant for a cell then.
function justSelected() {
  return performance.now() - selectedAt < 100;
}

// With keys, a region grows from the chosen cell.
function extendRegion([dp, dphi]) {
  const here = { p: state.p, phi: state.phi };
  const [start, end] = filter.region ?? [here, here];
  const last = familyOf(state.family).parameters.length - 1;
  setFilter({ region: [start, {
    p: Math.min(Math.max(end.p + dp, 0), last),
    phi: Math.min(Math.max(end.phi + dphi, 0), study.phis.length - 1),
  }] });
}

function listenToRegion(map) {
  map.addEventListener('pointerdown', (event) => { dragStart = event.button === 0 ? cellUnder(event) : null; });
  map.addEventListener('pointerup', (event) => {
    const end = cellUnder(event);
    if (dragStart && end && (end.p !== dragStart.p || end.phi !== dragStart.phi)) {
      selectedAt = performance.now();
      setFilter({ region: [dragStart, end] });
    }
    dragStart = null;
  });
}

// The map: one cell per theory, parameter across and φ down.

// The drawing has the same width for every grid, so texts and marks have the same size. Cells share the
// area between the axes; a grid with few rows is less high.
const MAP = { left: 64, top: 8, right: 4, bottom: 46, across: 400, down: [180, 400], row: 40, mark: 12 };

// Families whose rules get broader from left to right.
const DIRECTED_FAMILIES = ['m-estimate', 'f-measure'];

// Width and height of a cell.
function cellSize() {
  const [least, most] = MAP.down;
  const rows = study.phis.length;
  const height = Math.min(Math.max(rows * MAP.row, least), most);
  return [MAP.across / familyOf(state.family).parameters.length, height / rows];
}

function mapValues() {
  if (state.scale === 'rank') return averageRanks(state.family, state.measure);
  return valuesOf(state.dataset, state.family, state.measure);
}

function mapBetter() {
  const { better } = measureOf(state.measure);
  // The largest value has rank 1; for sizes that is the worst.
  return state.scale === 'rank' ? -better : better;
}

function formatMapValue(value) {
  if (state.scale === 'rank') return value === null ? '–' : value.toFixed(1);
  return formatValue(state.measure, value) + unitOf(state.measure);
}

// Where a value is between the worst (0) and the best (1) of the map. Numbers of rules differ by orders
// of magnitude, so their logarithms are compared.
function goodness(values) {
  const isSize = state.scale !== 'rank' && measureOf(state.measure).size;
  const transform = isSize ? (value) => Math.log(1 + value) : (value) => value;
  const [low, high] = extent(values).map(transform);
  return (value) => {
    const share = high > low ? (transform(value) - low) / (high - low) : 0.5;
    return mapBetter() > 0 ? share : 1 - share;
  };
}

// What the drawing shows; if only the chosen cell changes, only the marks are drawn again.
let drawnMap = '';

function renderMap() {
  if (!hasMap) return;
  const values = mapValues();
  const { parameters } = familyOf(state.family);
  const shown = [state.dataset, state.family, state.measure, state.scale, filterKey()].join(' ');
  if (drawnMap !== shown) {
    drawnMap = shown;
    const colours = cellColours(values);
    const width = MAP.left + MAP.across + MAP.right;
    const height = MAP.top + cellSize()[1] * study.phis.length + MAP.bottom;
    const passes = filterCells();
    const cells = parameters.flatMap((_, p) => study.phis.map((__, phi) => mapCell(p, phi, colours, passes)));
    show(byId('map'), svg('svg', { id: 'map-drawing', viewBox: `0 0 ${width} ${height}`, role: 'img' },
      ...cells, ...mapAxes(parameters, height), svg('g', { id: 'map-marks' })));
    renderLegend(values);
  }
  byId('map-drawing').setAttribute('aria-label', describeMap(values));
  show(byId('map-marks'), mapMarks(values));
  byId('map-note').textContent = state.scale === 'rank' ? `Average rank over ${count(study.datasets.length, 'data set')}; 1 is the largest value.` : '';
}

function describeMap(values) {
  const value = formatMapValue(values[cellOf(state.p, state.phi)]);
  const what = `${state.scale === 'rank' ? 'Average rank by ' : ''}${measureOf(state.measure).title}`;
  return `${what} of ${formatCell(state.p, state.phi)}: ${value}`;
}

// The colour of each cell: the same on the map and in the scatter plots.
function cellColours(values) {
  const good = goodness(values);
  return values.map((value) => (value === null ? 'none' : colourAt(good(value))));
}

function cellPosition(p, phi) {
  const [width, height] = cellSize();
  return [MAP.left + p * width, MAP.top + phi * height];
}

function mapCell(p, phi, colours, passes) {
  const [x, y] = cellPosition(p, phi);
  const [width, height] = cellSize();
  return svg('rect', {
    class: passes[cellOf(p, phi)] ? 'cell' : 'cell dim', x, y, width, height, 'shape-rendering': 'crispEdges', fill: colours[cellOf(p, phi)], 'data-p': p, 'data-phi': phi,
  });
}

function mapAxes(parameters, height) {
  const step = Math.ceil(parameters.length / 7);
  const [cellWidth, cellHeight] = cellSize();
  const across = parameters.map((text, p) => (p % step ? null : svg('text', {
    class: 'tick', x: cellPosition(p, 0)[0] + cellWidth / 2, y: height - MAP.bottom + 16, 'text-anchor': 'middle',
  }, text)));
  const down = study.phis.map((_, phi) => (phi % Math.ceil(study.phis.length / 10) ? null : svg('text', {
    class: 'tick', x: MAP.left - 6, y: cellPosition(0, phi)[1] + cellHeight / 2 + 4, 'text-anchor': 'end',
  }, formatPhi(phi))));
  const { symbol } = familyOf(state.family);
  const title = svg('text', {
    class: 'title', x: MAP.left + MAP.across / 2, y: height - 8, 'text-anchor': 'middle',
  }, DIRECTED_FAMILIES.includes(state.family) ? `strict  ←  ${symbol}  →  broad` : symbol || 'no parameter');
  const side = svg('text', {
    class: 'title', 'text-anchor': 'middle',
    transform: `translate(12 ${MAP.top + (cellHeight * study.phis.length) / 2}) rotate(-90)`,
  }, 'share of rules kept (φ)');
  return [...across, ...down, title, side].filter(Boolean);
}

// A black mark on a white rim is visible on every colour.
function outlined(tag, attributes) {
  return [svg(tag, { ...attributes, class: 'mark-back' }), svg(tag, { ...attributes, class: 'mark' })];
}

function mapMarks(values) {
  const marks = [];
  const [width, height] = cellSize();
  const centre = (p, phi) => cellPosition(p, phi).map((start, axis) => start + [width, height][axis] / 2);
  // Half the width of a diamond; narrow cells have smaller ones.
  const size = Math.min(MAP.mark, Math.max(Math.min(width, height) / 2 - 3, 3));
  const best = bestCell(values, mapBetter());
  const tuned = tunedPoints();
  for (const { p, phi, titles } of tuned) {
    const [x, y] = centre(p, phi);
    marks.push(...outlined('path', { d: `M${x} ${y - size}L${x + size} ${y}L${x} ${y + size}L${x - size} ${y}Z` }));
    const isRight = x > MAP.left + 0.75 * MAP.across;
    marks.push(svg('text', { class: 'mark-name', x: x + (isRight ? -1 : 1) * (Math.max(size, width / 2 + 2) + 3), y: y + 4, 'text-anchor': isRight ? 'end' : 'start' }, titles.join(', ')));
  }
  if (best >= 0) {
    const [cx, cy] = centre(Math.floor(best / study.phis.length), best % study.phis.length);
    // Inside a diamond there is room for a small circle only.
    const isShared = tuned.some(({ p, phi }) => cellOf(p, phi) === best);
    marks.push(...(isShared ? [svg('circle', { class: 'mark', cx, cy, r: Math.min(size / 3, 2.5) })] : outlined('circle', { cx, cy, r: Math.min(size - 2, 5) })));
  }
  const [x, y] = cellPosition(state.p, state.phi);
  marks.push(...outlined('rect', { x: x - 1, y: y - 1, width: width + 2, height: height + 2, rx: 3 }));
  return marks;
}

// The cells of the theories to use, each with the measures that it was tuned for.
function tunedPoints() {
  const { id, parameters } = familyOf(state.family);
  const points = new Map();
  for (const { method, parameter, phi, tuned_for: measure } of study.datasets[state.dataset].use) {
    const cell = [parameters.indexOf(parameter), study.phis.indexOf(phi)];
    if (method !== id || cell.includes(-1)) continue;
    const key = cell.join(' ');
    if (!points.has(key)) points.set(key, { p: cell[0], phi: cell[1], titles: [] });
    points.get(key).titles.push(shortTitle(measure));
  }
  return [...points.values()];
}

// The colours of the cells, and the baselines on the same scale, which may lie beyond the colours.
function renderLegend(values) {
  const [low, high] = extent(values);
  const ends = mapBetter() > 0 ? [low, high] : [high, low];
  const good = goodness(values);
  const references = state.scale === 'rank' ? [] : study.datasets[state.dataset].baselines
    .map(({ name, values: of }) => ({ name, value: of[state.measure] }))
    .filter(({ value }) => value !== null && value !== undefined);
  const stops = Array.from({ length: 11 }, (_, i) => svg('stop', { offset: `${i * 10}%`, 'stop-color': colourAt(i / 10) }));
  const [start, end] = [MAP.left, MAP.left + MAP.across];
  const goods = [0, 1, ...references.map(({ value }) => good(value))];
  const place = linear([Math.min(...goods), Math.max(...goods)], [start, end]);
  const [first, last] = [place(0), place(1)];
  const drawing = svg('svg', { class: 'legend', viewBox: `0 0 ${end + MAP.right} ${references.length ? 48 : 30}`, 'aria-hidden': 'true' },
    svg('defs', {}, svg('linearGradient', { id: 'ramp' }, ...stops)),
    svg('text', { class: 'tick', x: first, y: 11 }, formatMapValue(ends[0])),
    svg('text', { class: 'tick', x: last, y: 11, 'text-anchor': 'end' }, formatMapValue(ends[1])),
    references.length ? svg('path', { class: 'grid', d: `M${start} 21.5H${end}` }) : null,
    svg('rect', { id: 'legend-ramp', x: first, y: 17, width: last - first, height: 9, fill: 'url(#ramp)' }),
    ...spread(references.map(({ name, value }) => ({ name, value, at: place(good(value)) })), start, end, 30)
      .map(({ name, at, text, value }) => svg('g', { 'data-reference': name, 'data-at': at.toFixed(2) },
        svg('path', { class: 'reference', d: `M${at} 17V27L${text} 33` }),
        svg('title', {}, `${name}: ${formatMapValue(value)}`),
        svg('text', { class: 'tick', x: text, y: 45, 'text-anchor': 'middle' }, name))));
  show(byId('legend'), drawing);
}

// Move texts apart that would overlap.
function spread(items, start, end, gap = 24) {
  const sorted = [...items].sort((a, b) => a.at - b.at);
  let last = start - gap + 8;
  for (const item of sorted) {
    item.text = Math.max(item.at, last + gap);
    last = item.text;
  }
  let next = end + gap - 8;
  for (const item of [...sorted].reverse()) {
    item.text = Math.min(item.text, next - gap);
    next = item.text;
  }
  return sorted;
}

function tooltipOf(p, phi) {
  const cell = cellOf(p, phi);
  const lines = [formatCell(p, phi)];
  if (state.scale === 'rank') lines.push(`average rank ${formatMapValue(mapValues()[cell])}`);
  for (const { id, title } of study.measures) {
    const value = valuesOf(state.dataset, state.family, id)[cell];
    const sd = valuesOf(state.dataset, state.family, id, 'sd')[cell];
    const spreadText = sd ? ` ± ${formatValue(id, sd)}` : '';
    lines.push(`${title} ${formatValue(id, value)}${spreadText}`);
  }
  return lines;
}

function cellUnder(event) {
  const { p, phi } = event.target.dataset ?? {};
  return p === undefined ? null : { p: Number(p), phi: Number(phi) };
}

const STEPS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

function step([dp, dphi]) {
  const last = familyOf(state.family).parameters.length - 1;
  update({
    theory: CELL,
    p: Math.min(Math.max(state.p + dp, 0), last),
    phi: Math.min(Math.max(state.phi + dphi, 0), study.phis.length - 1),
  });
}

function listenToMap() {
  if (!hasMap) return;
  const map = byId('map');
  map.addEventListener('click', (event) => {
    const cell = cellUnder(event);
    if (cell && !justSelected()) update({ theory: CELL, ...cell });
  });
  listenToRegion(map);
  map.addEventListener('pointermove', (event) => {
    const cell = cellUnder(event);
    if (cell && event.pointerType === 'mouse') showTooltip(event, tooltipOf(cell.p, cell.phi));
    else hideTooltip();
  });
  map.addEventListener('pointerleave', hideTooltip);
  map.addEventListener('keydown', (event) => {
    if (event.key === 'Escape' && filter.region) setFilter({ region: null });
    if (!STEPS[event.key] || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    if (event.shiftKey) extendRegion(STEPS[event.key]);
    else step(STEPS[event.key]);
  });
}

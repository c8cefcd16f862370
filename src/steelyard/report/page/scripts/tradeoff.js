// Scatter plots of all theories of the grid: quality against size, precision against recall.

// The Pareto front from left to right: no other point is better in both directions.
function paretoFront(points, smallerX) {
  const known = points.filter(({ x, y }) => x !== null && y !== null);
  const order = [...known].sort((a, b) => (smallerX ? a.x - b.x : b.x - a.x) || b.y - a.y);
  const front = [];
  for (const point of order) {
    if (!front.length || point.y > front[front.length - 1].y) front.push(point);
  }
  return smallerX ? front : front.reverse();
}

function cellPoints(xMeasure, yMeasure) {
  const [xs, ys] = [xMeasure, yMeasure].map((id) => valuesOf(state.dataset, state.family, id));
  return xs.map((x, i) => ({ x, y: ys[i], p: Math.floor(i / study.phis.length), phi: i % study.phis.length }));
}

function baselinePoints(xMeasure, yMeasure) {
  return study.datasets[state.dataset].baselines
    .map(({ name, values }) => ({ name, x: values[xMeasure], y: values[yMeasure] }))
    .filter(({ x, y }) => Number.isFinite(x) && Number.isFinite(y));
}

/** @param {number[]} domain */
function padded([low, high], share = 0.06) {
  const pad = (high - low || 1) * share;
  return [low - pad, high + pad];
}

function scatter(xMeasure, yMeasure, smallerX) {
  const points = cellPoints(xMeasure, yMeasure).filter(({ x, y }) => x !== null && y !== null);
  const references = baselinePoints(xMeasure, yMeasure);
  const both = [...points, ...references];
  const area = chartArea();
  const xDomain = extent(both.map(({ x }) => x));
  const x = smallerX
    ? logarithmic([Math.max(xDomain[0], 1) / 1.15, Math.max(xDomain[1], 2) * 1.15], area.x)
    : linear(padded(xDomain), area.x);
  const y = linear(padded(extent(both.map((point) => point.y))), area.y);
  const front = paretoFront(points, smallerX);
  const onFront = new Set(front);
  const colours = cellColours(mapValues());
  const dots = points.map((point) => svg('circle', {
    class: `dot ${onFront.has(point) ? 'on-front' : ''}`, cx: x(point.x), cy: y(point.y), r: onFront.has(point) ? 4 : 3,
    fill: colours[cellOf(point.p, point.phi)], 'data-p': point.p, 'data-phi': point.phi,
  }));
  const here = points.find((point) => point.p === state.p && point.phi === state.phi);
  const percent = (measure) => (tick) => (measureOf(measure).share ? String(Math.round(tick * 1000) / 10) : formatNumber(tick));
  const title = (measure) => measureOf(measure).title + unitOf(measure);
  return chart({
    label: `${measureOf(yMeasure).title} against ${measureOf(xMeasure).title} of ${points.length} theories`,
    x, y, xTitle: title(xMeasure), yTitle: title(yMeasure), xFormat: percent(xMeasure), yFormat: percent(yMeasure),
  },
  svg('path', { class: 'front', d: frontPath(front, x, y, smallerX) }),
  ...dots,
  ...baselineMarks(references, x, y),
  ...(here ? outlined('circle', { cx: x(here.x), cy: y(here.y), r: 7 }) : []));
}

function baselineMarks(references, x, y) {
  const [bottom, top] = chartArea().y;
  const placed = spread(references.map((point) => ({ ...point, at: y(point.y) })), top, bottom, 15);
  const right = chartArea().x[1];
  return placed.map((point) => {
    // Near the right edge the name is to the left of its mark.
    const side = x(point.x) > right - 40 ? -1 : 1;
    const end = x(point.x) + 14 * side;
    return svg('g', { class: 'baseline' },
      svg('path', { d: `M${x(point.x)} ${y(point.y)}L${end} ${point.text}` }),
      svg('rect', { x: x(point.x) - 4, y: y(point.y) - 4, width: 8, height: 8 }),
      svg('text', { x: end + 2 * side, y: point.text + 4, 'text-anchor': side < 0 ? 'end' : 'start' }, point.name));
  });
}

// A theory on the front is the best one up to the size of the next.
function frontPath(front, x, y, smallerX) {
  return front.map((point, i) => {
    if (!i) return `M${x(point.x)} ${y(point.y)}`;
    return smallerX ? `H${x(point.x)}V${y(point.y)}` : `V${y(point.y)}H${x(point.x)}`;
  }).join('');
}

function renderTradeoff() {
  const quality = measureOf(state.measure).share ? state.measure : study.measures[0].id;
  const figures = [];
  if (measureOf('n_rules')) {
    figures.push(figure('size', `${measureOf(quality).title} against size`,
      'Up and to the left is better. The line joins the theories that are better than all smaller ones.', scatter('n_rules', quality, true)));
  }
  if (measureOf('precision_micro') && measureOf('recall_micro')) {
    figures.push(figure('precision-recall', 'Precision against recall',
      'Up and to the right is better. The line joins the theories that no other theory exceeds in both.', scatter('recall_micro', 'precision_micro', false)));
  }
  show(byId('tradeoff'),
    el('p', { class: 'headline' }, el('b', {}, `${valuesOf(state.dataset, state.family, quality).length} theories`),
      ', each with the colour of its cell on the map. Click a point to choose its theory.'),
    el('div', { class: 'figures' }, figures));
}

function figure(name, title, caption, drawing) {
  return el('figure', { id: `figure-${name}` }, el('h3', {}, title), drawing, el('figcaption', { class: 'hint' }, caption),
    el('div', { class: 'downloads' }, ...drawingButtons(() => drawing, name)));
}

function listenToTradeoff() {
  const view = byId('tradeoff');
  view.addEventListener('click', (event) => {
    const cell = cellUnder(event);
    if (cell) update({ theory: CELL, ...cell });
  });
  view.addEventListener('pointermove', (event) => {
    const cell = cellUnder(event);
    if (cell && event.pointerType === 'mouse') showTooltip(event, tooltipOf(cell.p, cell.phi));
    else hideTooltip();
  });
  view.addEventListener('pointerleave', hideTooltip);
}

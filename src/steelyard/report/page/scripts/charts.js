// Scales, axes and colours of all drawings.

// Dark blue to yellow with uniform lightness: readable with every kind of colour vision and in grey.
const RAMP = [[0, 34, 78], [53, 69, 108], [102, 105, 112], [148, 142, 119], [200, 184, 102], [254, 232, 56]];

function colourAt(share) {
  const position = Math.min(Math.max(share, 0), 1) * (RAMP.length - 1);
  const i = Math.min(Math.floor(position), RAMP.length - 2);
  const mix = RAMP[i].map((c, k) => Math.round(c + (RAMP[i + 1][k] - c) * (position - i)));
  return `rgb(${mix.join(',')})`;
}

function extent(values) {
  const known = values.filter((value) => value !== null);
  return known.length ? [Math.min(...known), Math.max(...known)] : [0, 1];
}

/** @param {number[]} domain @param {number[]} ends */
function linear([low, high], [start, end]) {
  const span = high - low || 1;
  const scale = (value) => start + ((value - low) / span) * (end - start);
  scale.ticks = roundTicks(low, high);
  return scale;
}

/** @param {number[]} domain @param {number[]} range */
function logarithmic([low, high], range) {
  const inner = linear([Math.log10(low), Math.log10(high)], range);
  const scale = (value) => inner(Math.log10(Math.max(value, low)));
  scale.ticks = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); power += 1) {
    const digits = Math.log10(high / low) > 2 ? [1] : [1, 2, 5];
    scale.ticks.push(...digits.map((digit) => digit * 10 ** power).filter((tick) => tick >= low && tick <= high));
  }
  return scale;
}

function roundTicks(low, high, wanted = 5) {
  const raw = (high - low) / wanted;
  if (!(raw > 0)) return [low];
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((digit) => digit * power).find((candidate) => candidate >= raw);
  const ticks = [];
  for (let i = Math.ceil(low / step); i * step <= high + step * 1e-9; i += 1) ticks.push(Number((i * step).toPrecision(12)));
  return ticks;
}

const CHART = { width: 360, height: 290, left: 50, right: 12, top: 12, bottom: 44 };

function chartArea() {
  return {
    x: [CHART.left, CHART.width - CHART.right],
    y: [CHART.height - CHART.bottom, CHART.top],
  };
}

// A drawing with axes; `xFormat` and `yFormat` format the ticks, `marks` are the nodes inside.
function chart({ label, x, y, xTitle, yTitle, xFormat = formatNumber, yFormat = formatNumber }, ...marks) {
  const { x: [x0, x1], y: [y0, y1] } = chartArea();
  const axis = [
    svg('path', { class: 'axis', d: `M${x0} ${y1}V${y0}H${x1}` }),
    ...x.ticks.map((tick) => svg('g', {},
      svg('path', { class: 'grid', d: `M${x(tick)} ${y0}V${y1}` }),
      svg('text', { class: 'tick', x: x(tick), y: y0 + 16, 'text-anchor': 'middle' }, xFormat(tick)))),
    ...y.ticks.map((tick) => svg('g', {},
      svg('path', { class: 'grid', d: `M${x0} ${y(tick)}H${x1}` }),
      svg('text', { class: 'tick', x: x0 - 7, y: y(tick) + 4, 'text-anchor': 'end' }, yFormat(tick)))),
    svg('text', { class: 'title', x: (x0 + x1) / 2, y: CHART.height - 8, 'text-anchor': 'middle' }, xTitle),
    svg('text', { class: 'title', transform: `translate(14 ${(y0 + y1) / 2}) rotate(-90)`, 'text-anchor': 'middle' }, yTitle),
  ];
  return svg('svg', { class: 'chart', viewBox: `0 0 ${CHART.width} ${CHART.height}`, role: 'img', 'aria-label': label }, ...axis, ...marks);
}

// Right and wrong examples of a rule side by side, relative to the number of examples with its head.
function evidenceBar(counts, positives) {
  const unit = 100 / Math.max(positives, 1);
  const right = Math.max(counts.tp * unit, 1);
  const wrong = counts.fp ? Math.max(Math.min(counts.fp * unit, 100), 1) : 0;
  return svg('svg', { class: 'bar', viewBox: '0 0 200 8', preserveAspectRatio: 'none', 'aria-hidden': 'true' },
    svg('rect', { class: 'track', width: 100, height: 8 }),
    svg('rect', { class: 'right-part', width: right, height: 8 }),
    svg('rect', { class: 'wrong-part', x: right + 1.5, width: wrong, height: 8 }));
}

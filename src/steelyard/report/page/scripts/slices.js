// Groups of examples by the value of an attribute, with measures for each group.

const SLICE_MEASURES = ['f1_micro', 'hamming', 'subset'];
const MOST_GROUPS = 12;

// The groups of an attribute: its categories, or thirds of its values; missing values are a group.
function sliceBy(feature, table, rows) {
  const column = columnOf(table, feature);
  const missing = rows.filter((row) => (feature.categories ? column[row] < 0 : Number.isNaN(column[row])));
  const known = rows.filter((row) => !missing.includes(row));
  const groups = feature.categories
    ? feature.categories.map((text, code) => ({ title: nameText(text), rows: known.filter((row) => column[row] === code) }))
    : sliceNumbers(feature, column, known);
  return [...groups, { title: 'missing', rows: missing }].filter((group) => group.rows.length);
}

function sliceNumbers(feature, column, rows) {
  const sorted = rows.map((row) => column[row]).sort((a, b) => a - b);
  const distinct = [...new Set(sorted)];
  if (distinct.length <= 4) {
    return distinct.map((value) => ({ title: formatAttribute(feature, value), rows: rows.filter((row) => column[row] === value) }));
  }
  const cuts = [...new Set([1, 2].map((third) => sorted[Math.floor((third * sorted.length) / 3)]))].filter((cut) => cut > sorted[0]);
  const bounds = [-Infinity, ...cuts, Infinity];
  return bounds.slice(1).map((high, i) => ({
    title: sliceTitle(feature, bounds[i], high),
    rows: rows.filter((row) => column[row] >= bounds[i] && column[row] < high),
  }));
}

function sliceTitle(feature, low, high) {
  const text = (value) => formatAttribute(feature, value);
  if (low === -Infinity) return `below ${text(high)}`;
  return high === Infinity ? `at least ${text(low)}` : `${text(low)} to below ${text(high)}`;
}

// A table of groups for the theory and, if there is one, for another theory of the same data set.
function sliceSection(other) {
  const [set] = exampleSets(context);
  if (!set) return null;
  const features = context.theory.features.filter(({ index }) => set.table.columns.has(index));
  const select = el('select', { id: 'slice', onchange: (event) => update({ slice: event.target.value }) });
  fillSelect(select, [['', 'no attribute'], ...features.map(({ name }) => [name, nameText(name)])], features.some(({ name }) => name === state.slice) ? state.slice : '');
  const feature = features.find(({ name }) => name === state.slice);
  return el('section', { class: 'slices' }, el('h3', {}, 'Groups of examples'),
    el('p', { class: 'controls' }, el('label', { class: 'grow' }, 'By the value of ', select)),
    feature ? sliceTable(feature, set, other) : null);
}

function sliceTable(feature, set, other) {
  const theories = other ? [context.theory, other] : [context.theory];
  const groups = sliceBy(feature, set.table, set.rows).slice(0, MOST_GROUPS);
  const heads = theories.flatMap((_, t) => SLICE_MEASURES.map((id) => `${shortTitle(id)}${other ? (t ? ' there' : ' here') : ''}, %`));
  return [
    scroller('Measures per group', el('table', { class: 'changes', id: 'slice-table' },
      el('thead', {}, el('tr', {}, ['group', 'examples', ...heads].map((name) => el('th', { scope: 'col' }, name)))),
      el('tbody', {}, groups.map(({ title, rows }) => el('tr', {}, el('th', { scope: 'row' }, title), el('td', {}, String(rows.length)),
        theories.map((theory) => judgeTheory(theory, set.table, rows)).flatMap((judged) => SLICE_MEASURES.map((id) => el('td', {}, (100 * judged.values[id]).toFixed(1))))))))),
    el('p', { class: 'hint' }, `On the ${set.title}. A small group says little.`),
  ];
}

// Tables of examples: columns of numbers (NaN is missing) or of category codes (-1 is unknown, -2 is missing).

const UNKNOWN = -1;
const MISSING = -2;

function decodeExamples(packed, core) {
  const n = packed.n_rows;
  const columns = new Map(packed.columns.map(([feature, ...column]) => (
    [feature, makeColumn(core.features[feature], unpackColumn(column, n))])));
  const truth = core.labels.map(() => new Uint8Array(n));
  packed.truth.forEach((labels, row) => labels.forEach((j) => { truth[j][row] = 1; }));
  const table = { n, columns, truth, names: core.labels, heldOut: packed.n_held_out, covered: new WeakMap() };
  return { ...packed, table };
}

// [values], or [usual value, rows, other values].
function unpackColumn(column, n) {
  if (column.length === 1) return column[0];
  const [usual, rows, others] = column;
  const values = new Array(n).fill(usual);
  rows.forEach((row, i) => { values[row] = others[i]; });
  return values;
}

function makeColumn(feature, values) {
  return feature.categories
    ? Int32Array.from(values, (value) => value ?? MISSING)
    : Float64Array.from(values, (value) => value ?? NaN);
}

function emptyColumn(feature, n) {
  return makeColumn(feature, new Array(n).fill(null));
}

function columnOf(table, feature) {
  if (!table.columns.has(feature.index)) table.columns.set(feature.index, emptyColumn(feature, table.n));
  return table.columns.get(feature.index);
}

// The value of one example: a number, a category code or null.
function valueAt(table, feature, row) {
  const value = columnOf(table, feature)[row];
  if (feature.categories) return value === MISSING ? null : value;
  return Number.isNaN(value) ? null : value;
}

// A table with one example; `values` has a value per attribute position.
function singleTable(theory, values) {
  const columns = new Map(theory.features.map((feature) => [feature.index, makeColumn(feature, [values[feature.index] ?? null])]));
  return { n: 1, columns, truth: null, names: [], heldOut: 0, covered: new WeakMap() };
}

// Some rows of a table, as a table of their own.
function takeRows(table, rows) {
  const pick = (column) => column.constructor.from(rows, (row) => column[row]);
  return {
    n: rows.length,
    columns: new Map([...table.columns].map(([feature, column]) => [feature, pick(column)])),
    truth: table.truth && table.truth.map(pick),
    names: table.names,
    heldOut: 0,
    covered: new WeakMap(),
    rows,
  };
}

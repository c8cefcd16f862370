// CSV text → rows of texts → a table, with values read as the library reads them.

// Rows of fields; quotes may enclose separators, line breaks and doubled quotes.
function parseCsv(text) {
  const body = text.replace(/^\ufeff/, '');
  const separator = /^[^\r\n]*\t/.test(body) ? '\t' : ',';
  const rows = [];
  let row = [];
  let at = 0;
  while (at < body.length) {
    const [field, end] = body[at] === '"' ? readQuoted(body, at, separator) : readPlain(body, at, separator);
    row.push(field);
    at = end + 1;
    if (body[end] === separator) {
      if (at === body.length) row.push('');
      continue;
    }
    if (body[end] === '\r' && body[at] === '\n') at += 1;
    // An empty line is no row.
    if (row.length > 1 || row[0] !== '') rows.push(row);
    row = [];
  }
  if (row.length) rows.push(row);
  return rows;
}

// A field without quotes, and where it ends.
function readPlain(text, start, separator) {
  let end = start;
  while (end < text.length && text[end] !== separator && text[end] !== '\n' && text[end] !== '\r') end += 1;
  return [text.slice(start, end), end];
}

function readQuoted(text, start, separator) {
  let field = '';
  let at = start + 1;
  for (;;) {
    const quote = text.indexOf('"', at);
    if (quote < 0) return [field + text.slice(at), text.length];
    field += text.slice(at, quote);
    if (text[quote + 1] !== '"') {
      const [rest, end] = readPlain(text, quote + 1, separator);
      return [field + rest, end];
    }
    field += '"';
    at = quote + 2;
  }
}

// How tables write a missing value, as pandas reads them.
const MISSING_TEXTS = new Set(['', '?', '#N/A', '#N/A N/A', '#NA', '-1.#IND', '-1.#QNAN', '-NaN', '-nan', '1.#IND', '1.#QNAN', '<NA>', 'N/A', 'NA', 'NULL', 'NaN', 'None', 'n/a', 'nan', 'null']);
const NUMBER = /^\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*$/;
const BOOLEANS = { True: 'True', TRUE: 'True', true: 'True', False: 'False', FALSE: 'False', false: 'False' };

// A number as Python writes it, since categories are compared as text.
function pythonNumber(value) {
  const [digits, exponent] = value.toExponential().split('e');
  const power = Number(exponent);
  if (power >= -4 && power < 16) return String(value);
  return `${digits}e${power < 0 ? '-' : '+'}${String(Math.abs(power)).padStart(2, '0')}`;
}

// The texts of categories: a column of numbers or booleans is written in one way.
function categoryTexts(texts) {
  const known = texts.filter((text) => !MISSING_TEXTS.has(text));
  if (known.every((text) => NUMBER.test(text))) {
    return texts.map((text) => {
      if (MISSING_TEXTS.has(text)) return null;
      const integer = /^\s*\+?(-?)0*(\d+)\s*$/.exec(text);
      if (integer) return `${integer[2] === '0' ? '' : integer[1]}${integer[2]}`;
      const value = Number(text);
      return Number.isInteger(value) ? BigInt(value).toString() : pythonNumber(value);
    });
  }
  const areBooleans = known.every((text) => text in BOOLEANS);
  return texts.map((text) => (MISSING_TEXTS.has(text) ? null : areBooleans ? BOOLEANS[text] : text));
}

// The category that a text stands for: "1" is True for a boolean attribute.
function readCategory(feature, text) {
  if (feature.isBoolean) {
    for (const [category, words] of Object.entries(BOOLEAN_WORDS)) if (words.includes(text.toLowerCase())) return category;
  }
  return text;
}

function readColumn(feature, texts) {
  if (feature.categories) {
    const codes = new Map(feature.categories.map((text, code) => [text, code]));
    return categoryTexts(texts).map((text) => (text === null ? null : codes.get(readCategory(feature, text)) ?? UNKNOWN));
  }
  return texts.map((text) => {
    if (MISSING_TEXTS.has(text)) return null;
    const value = isTemporal(feature) ? textToSeconds(text.trim(), feature.kind) : NUMBER.test(text) ? Number(text) : null;
    if (value === null || !Number.isFinite(value)) {
      throw new Error(`The attribute ${feature.name} is ${isTemporal(feature) ? `a ${feature.kind}` : 'numeric'}, but one of its values is ${text.slice(0, 40)}.`);
    }
    return value;
  });
}

// Labels are 0 and 1, or words for them; null if a column is something else.
const TRUTHS = { 0: 0, 1: 1, '0.0': 0, '1.0': 1, false: 0, true: 1, no: 0, yes: 1 };

function readTruth(texts) {
  const values = texts.map((text) => TRUTHS[text.trim().toLowerCase()]);
  return values.every((value) => value !== undefined) ? Uint8Array.from(values) : null;
}

function lackingText(feature) {
  return `The file has no column ${feature.name}, which a rule tests.`;
}

// The table of a CSV text for a theory. It must have every attribute that a rule tests.
function csvToTable(text, theory) {
  const [header, ...rows] = parseCsv(text);
  if (!header || !rows.length) throw new Error('The file has no rows.');
  const wrong = rows.findIndex((row) => row.length !== header.length);
  if (wrong >= 0) throw new Error(`Row ${wrong + 1} has ${rows[wrong].length} values instead of ${header.length}.`);
  const positions = new Map(header.map((name, i) => [name, i]).reverse());
  const tested = new Set(theory.rules.flatMap((rule) => rule.conditions.map((condition) => condition.feature)));
  const columns = new Map();
  for (const feature of theory.features) {
    const at = positions.get(feature.name);
    if (at === undefined) {
      if (tested.has(feature.index)) throw new Error(lackingText(feature));
      continue;
    }
    columns.set(feature.index, makeColumn(feature, readColumn(feature, rows.map((row) => row[at]))));
  }
  const names = theory.labels.map(({ name }) => name);
  const truth = names.map((name) => (positions.has(name) ? readTruth(rows.map((row) => row[positions.get(name)])) : null));
  return { n: rows.length, columns, names, truth: truth.every(Boolean) ? truth : null, heldOut: 0, covered: new WeakMap() };
}

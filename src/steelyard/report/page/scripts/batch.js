// The reader's own examples: a CSV file on the page, predicted in the page. A curated theory can be dropped too.

// The file: { dataset, name, table, columns }.
let ownFile = null;
const ROWS_SHOWN = 50;

function listenToFiles() {
  byId('own-file').addEventListener('change', (event) => { if (event.target.files[0]) readFile(event.target.files[0]); });
  document.addEventListener('dragover', (event) => {
    event.preventDefault();
    document.body.classList.add('dropping');
  });
  document.addEventListener('dragleave', (event) => { if (!event.relatedTarget) document.body.classList.remove('dropping'); });
  document.addEventListener('drop', (event) => {
    event.preventDefault();
    document.body.classList.remove('dropping');
    if (event.dataTransfer?.files[0]) readFile(event.dataTransfer.files[0]);
  });
}

async function readFile(file) {
  const text = await file.text();
  if (!context) return;
  if (/^\s*\{/.test(text)) readCurated(text);
  else readExamples(file.name, text);
}

function readExamples(name, text) {
  try {
    const table = csvToTable(text, context.theory);
    // Columns that the file has; others are added as missing when a rule asks for them.
    ownFile = { dataset: state.dataset, name, table, columns: new Set(table.columns.keys()) };
    update({ view: state.view === 'rules' ? 'rules' : 'ask' });
    if (state.view === 'rules') announce(`read ${count(ownFile.table.n, 'example')}`);
  } catch (error) {
    ownFile = null;
    batchFault = error.message;
    update({ view: 'ask' });
  }
}

let batchFault = '';

// A curated theory that was made of one of this page: its edits are in force again.
async function readCurated(text) {
  const plain = parseTheory(text);
  const found = plain && await findBase(plain);
  if (!found) {
    batchFault = plain?.history
      ? 'The edits of this file were made on a theory that this page does not have. Make its own page: steelyard report FILE.json DATA'
      : 'The file is neither a CSV file nor a theory that was curated on this page.';
    update({ view: 'ask' });
    return;
  }
  setEdits(found.base.key, found.edits, found.edits.length);
  update({ ...found.choice, view: 'rules' });
}

function parseTheory(text) {
  try {
    const plain = JSON.parse(text);
    const isList = (list) => Array.isArray(list) && list.every((item) => item instanceof Object);
    const isCurated = isList(plain.history) && plain.history.length > 0 && isList(plain.rules);
    return plain.format === 'steelyard theory' && isCurated ? plain : null;
  } catch {
    return null;
  }
}

// The theory of this page that a file was made of: the current one, one to use, or a cell of the map.
async function findBase(plain) {
  const { base: current, core } = context;
  for (const base of [current, ...core.use]) {
    const edits = historyToEdits(base, core, plain);
    if (edits) return { base, edits, choice: base === current ? {} : chooseUsed(base.id) };
  }
  const cells = hasMap ? await loadCells(state.dataset) : null;
  for (const choice of cells ? cellsOf(cells, plain.heuristic, plain.phi) : []) {
    const base = cellTheory(cells, choice.family, choice.p, choice.phi);
    const edits = historyToEdits(base, core, plain);
    if (edits) return { base, edits, choice };
  }
  return null;
}

// The cells whose theories were learned with a heuristic and φ.
function cellsOf(cells, heuristic, share) {
  return study.families.flatMap(({ id, parameters }) => parameters.map((_, p) => ({ theory: CELL, family: id, p, phi: study.phis.indexOf(share) })))
    .filter(({ family, p, phi }) => phi >= 0 && rulesAt(cells, family, p, phi).ranking?.heuristic === heuristic);
}

function renderBatch() {
  const place = byId('batch');
  const own = context.own;
  if (!own) {
    show(place, batchFault ? el('p', { class: 'fault', role: 'alert' }, nameNode(batchFault)) : null);
    batchFault = '';
    return;
  }
  const { table } = own;
  const lacking = testedFeatures(context.theory).find(({ index }) => !own.columns.has(index));
  if (lacking) {
    show(place, el('p', { class: 'fault', role: 'alert' }, nameNode(lackingText(lacking))));
    return;
  }
  const { present } = evaluate(context.theory, table);
  const judged = table.truth ? judgeTheory(context.theory, table, range(table.n)) : null;
  show(place,
    el('p', { class: 'controls' }, el('b', {}, count(table.n, 'example')), ' of ', nameNode(own.name),
      button('Download the predictions', () => savePredictions(table), { id: 'save-predictions', class: 'primary' }),
      button('Remove the file', () => { ownFile = null; update({}); }, { class: 'quiet' })),
    judged ? el('p', { id: 'own-measures' }, 'The file has the labels: ',
      ['f1_micro', 'hamming', 'subset'].map((id) => `${measureOf(id).title} ${formatValue(id, judged.values[id])} %`).join(', '), '. Edits are judged on it, too.') : null,
    scroller('Predictions', predictionTable(table, present), 'tall'),
    table.n > ROWS_SHOWN ? el('p', { class: 'hint' }, `The first ${ROWS_SHOWN} rows; the download has all.`) : null);
}

function predictionTable(table, present) {
  const { theory } = context;
  const isClass = theory.classes.length > 0;
  const head = isClass ? ['class'] : theory.labels.map(({ name }) => name);
  return el('table', { class: 'predictions' },
    el('thead', {}, el('tr', {}, el('th', { scope: 'col' }, 'row'), head.map((name) => el('th', { scope: 'col' }, nameNode(name))))),
    el('tbody', {}, range(Math.min(table.n, ROWS_SHOWN)).map((row) => {
      const answer = answerOf(theory, present, row);
      const cells = Array.isArray(answer) ? answer.map((value) => el('td', { class: value ? 'yes' : 'no' }, String(value))) : el('td', {}, nameNode(String(answer)));
      return el('tr', {}, el('th', { scope: 'row' }, String(row + 1)), cells);
    })));
}

// One row per example, in the order of the file, with the predictions only.
function savePredictions(table) {
  const { theory } = context;
  const { present } = evaluate(theory, table);
  const isClass = theory.classes.length > 0;
  const rows = range(table.n).map((row) => {
    const answer = answerOf(theory, present, row);
    return Array.isArray(answer) ? answer : [answer];
  });
  saveCsv([isClass ? ['class'] : theory.labels.map(({ name }) => name), ...rows], fileName('predictions', 'csv'));
}

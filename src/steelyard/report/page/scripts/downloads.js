// Files that are created in the browser: theories, tables, drawings, and the page itself.

function save(blob, name) {
  const url = URL.createObjectURL(blob);
  const link = el('a', { href: url, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}

function saveText(text, name, type = 'text/plain') {
  save(new Blob([text], { type: `${type};charset=utf-8` }), name);
}

// The quote stops spreadsheets from reading a text as a formula.
function csvField(value) {
  if (value === null || value === undefined) return '';
  if (typeof value === 'number') return String(value);
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : String(value);
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function saveCsv(rows, name) {
  saveText(`${rows.map((row) => row.map(csvField).join(',')).join('\n')}\n`, name, 'text/csv');
}

function fileName(part, suffix) {
  const data = study.datasets[state.dataset].name.replace(/[^\w.-]+/g, '_').replace(/^-+/, '');
  return `${data}-${part}.${suffix}`;
}

function saveMapCsv() {
  const { id, parameters } = familyOf(state.family);
  const ids = study.measures.map((measure) => measure.id);
  const rows = parameters.flatMap((parameter, p) => study.phis.map((share, phi) => [
    study.datasets[state.dataset].name, id, parameter, share,
    ...ids.map((measure) => valuesOf(state.dataset, id, measure)[cellOf(p, phi)]),
  ]));
  saveCsv([['dataset', 'heuristic', 'parameter', 'phi', ...ids], ...rows], fileName('map', 'csv'));
}

// -- the theory -------------------------------------------------------------------------------------

function theoryName() {
  return context.base.kind === 'cell' ? `theory-${context.base.key.replace(/^cell /, '').replace(/[^\w.-]+/g, '_')}` : context.base.id;
}

function saveTheoryJson() {
  if (context) saveText(plainToText(theoryToPlain(context.base)), fileName(theoryName(), 'json'), 'application/json');
}

// The edited theory with its history, which the page and the library read.
function saveCurated() {
  const { base, core, theory } = context;
  saveText(plainToText(theoryToPlain(theory, historyOf(base, core))), fileName(`${theoryName()}-curated`, 'json'), 'application/json');
}

function saveRulesCsv() {
  if (!context) return;
  const { theory } = context;
  const hasVotes = votes(theory);
  const rows = theory.rules.map((rule) => {
    const { training, unseen } = ruleCounts(theory, rule);
    return [
      theory.labels[rule.label].name, rule.head, conditionText(theory, rule.conditions), training?.tp, training?.fp,
      training && Number(precisionOf(training).toFixed(4)), unseen?.tp, unseen?.fp, ...(hasVotes ? [rule.points] : []), describeOrigin(rule),
    ];
  });
  const head = ['label', 'target_class', 'rule', 'tp', 'fp', 'precision', 'unseen_tp', 'unseen_fp', ...(hasVotes ? ['points'] : []), 'origin'];
  saveCsv([head, ...rows], fileName(`${theoryName()}-rules`, 'csv'));
}

// Formats that the library writes: when it writes the page, or from the JSON of a theory.
const EXPORTS = { sql: ['SQL', 'sql'], python: ['Python', 'py'], markdown: ['Markdown', 'md'] };

async function saveExport(format) {
  const isLearned = !context.isEdited && context.base.kind === 'use';
  const exports = isLearned ? await loadPart('exports', state.dataset) : null;
  const found = exports?.[context.base.id]?.[format];
  if (typeof found === 'string') saveText(found, fileName(theoryName(), EXPORTS[format][1]));
  else if (found) show(byId('download-note'), nameNode(found.reason));
  else sayCommand(format);
}

// What is not in the page, such as the SQL of an edited theory, is one command away.
function sayCommand(format) {
  const [title, suffix] = EXPORTS[format];
  const name = context.isEdited ? `${theoryName()}-curated` : theoryName();
  const command = `steelyard export ${fileName(name, 'json')} --to ${format} -o ${fileName(name, suffix)}`;
  const code = el('code', { id: 'export-command' }, command);
  show(byId('download-note'), `The page has no ${title} of this theory. Download its JSON, then run `, code, ' ',
    button('Copy', () => copyText(code), { id: 'copy-command', class: 'quiet' }));
}

// Not every browser lets a file use its clipboard, so the text is also selected.
async function copyText(node) {
  window.getSelection()?.selectAllChildren(node);
  try {
    await navigator.clipboard.writeText(node.textContent);
    announce('copied');
  } catch {
    announce(document.execCommand('copy') ? 'copied' : 'the command is selected: press Ctrl+C');
  }
}

function renderTheoryDownloads() {
  show(byId('theory-downloads'), 'Download ', context ? [
    button('JSON', context.isEdited ? saveCurated : saveTheoryJson, { class: 'quiet', id: 'save-json' }),
    Object.entries(EXPORTS).map(([format, [title]]) => button(title, () => saveExport(format), { class: 'quiet', 'data-export': format })),
    button('CSV', saveRulesCsv, { class: 'quiet', id: 'save-rules-csv' }),
  ] : null, el('span', { id: 'download-note', class: 'hint', role: 'status' }));
}

// -- the page ---------------------------------------------------------------------------------------

// The page before anything was drawn, as its file has it.
const pristine = `<!DOCTYPE html>\n${document.documentElement.outerHTML}\n`;

const SCRIPT = '\x3cscript type="application/json" id=';

function saveEditedPage() {
  const text = editsToText().replace(/[<>&\u2028\u2029]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
  const earlier = new RegExp(`${SCRIPT}"edits">[^<]*\x3c/script>\n?`);
  const without = pristine.replace(earlier, '');
  const at = without.indexOf(`${SCRIPT}"study">`);
  const element = `${SCRIPT}"edits">${text}\x3c/script>\n`;
  saveText(without.slice(0, at) + element + without.slice(at), fileName('curated', 'html'), 'text/html');
}

// -- drawings ---------------------------------------------------------------------------------------

const DRAWN = ['fill', 'stroke', 'stroke-width', 'stroke-dasharray', 'opacity', 'font-size', 'font-family', 'font-weight', 'paint-order', 'text-anchor'];

// A copy of a drawing that needs no style sheet.
function standalone(drawing) {
  const copy = drawing.cloneNode(true);
  const originals = [drawing, ...drawing.querySelectorAll('*')];
  [copy, ...copy.querySelectorAll('*')].forEach((node, i) => {
    const style = getComputedStyle(originals[i]);
    for (const name of DRAWN) node.setAttribute(name, style.getPropertyValue(name));
    node.removeAttribute('class');
  });
  const [, , width, height] = drawing.getAttribute('viewBox').split(' ').map(Number);
  fill(copy, { xmlns: SVG_NAMESPACE, width, height }, []);
  copy.prepend(svg('rect', { width, height, fill: getComputedStyle(document.body).backgroundColor }));
  return { text: new XMLSerializer().serializeToString(copy), width, height };
}

function saveSvg(drawing, part) {
  saveText(standalone(drawing).text, fileName(part, 'svg'), 'image/svg+xml');
}

function savePng(drawing, part, scale = 3) {
  const { text, width, height } = standalone(drawing);
  const image = new Image();
  image.onload = () => {
    const canvas = el('canvas', { width: width * scale, height: height * scale });
    canvas.getContext('2d').drawImage(image, 0, 0, width * scale, height * scale);
    canvas.toBlob((blob) => save(blob, fileName(part, 'png')));
  };
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
}

function drawingButtons(drawingOf, part) {
  return [
    button('SVG', () => saveSvg(drawingOf(), part), { class: 'quiet' }),
    button('PNG', () => savePng(drawingOf(), part), { class: 'quiet' }),
  ];
}

function renderMapDownloads() {
  if (!hasMap) return;
  show(byId('map-downloads'), 'Download the map ',
    button('CSV', saveMapCsv, { class: 'quiet', id: 'save-map-csv' }),
    ...drawingButtons(() => byId('map-drawing'), 'map'));
}

// CSV of values and rules, SVG and PNG of drawings; they are created in the browser.

function save(blob, name) {
  const url = URL.createObjectURL(blob);
  const link = el('a', { href: url, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}

// The quote stops spreadsheets from reading a text as a formula.
function csvField(value) {
  if (value === null || value === undefined) return '';
  if (typeof value === 'number') return String(value);
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function saveCsv(rows, name) {
  const text = rows.map((row) => row.map(csvField).join(',')).join('\n');
  save(new Blob([`${text}\n`], { type: 'text/csv' }), name);
}

function fileName(part, suffix) {
  const data = study.datasets[state.dataset].name.replace(/[^\w.-]+/g, '_');
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

async function saveRulesCsv() {
  const theories = await loadTheories(state.dataset);
  if (!theories) return;
  const rows = theoryAt(theories, state.family, state.p, state.phi).rules.map((rule) => [
    theories.labels[rule.label].name, theories.labels[rule.label].target,
    conditionText(theories, rule.conditions), rule.tp, rule.fp, Number(precisionOf(rule).toFixed(4)), rule.origin,
  ]);
  saveCsv([['label', 'target_class', 'rule', 'tp', 'fp', 'precision', 'origin'], ...rows], fileName('rules', 'csv'));
}

const DRAWN = ['fill', 'stroke', 'stroke-width', 'stroke-dasharray', 'opacity', 'font-size', 'font-family', 'font-weight', 'paint-order', 'text-anchor'];

// A copy of a drawing that does not need the style sheet of the page.
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
  save(new Blob([standalone(drawing).text], { type: 'image/svg+xml' }), fileName(part, 'svg'));
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
    el('button', { type: 'button', class: 'quiet', onclick: () => saveSvg(drawingOf(), part) }, 'SVG'),
    el('button', { type: 'button', class: 'quiet', onclick: () => savePng(drawingOf(), part) }, 'PNG'),
  ];
}

function renderDownloads() {
  show(byId('map-downloads'), 'Download ',
    el('button', { type: 'button', class: 'quiet', id: 'save-map-csv', onclick: saveMapCsv }, 'CSV'),
    ...drawingButtons(() => byId('map-drawing'), 'map'));
  show(byId('rules-downloads'), 'Download ', el('button', { type: 'button', class: 'quiet', onclick: saveRulesCsv }, 'CSV'));
}

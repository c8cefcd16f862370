// The data of the page: values of cells, and the parts of a data set, which are unpacked when needed.

const study = JSON.parse(byId('study').textContent);
// A page of a single theory has no map.
const hasMap = study.families.length > 0;

const measuresById = new Map([...study.all_measures, ...study.measures].map((measure) => [measure.id, measure]));
const familiesById = new Map(study.families.map((family) => [family.id, family]));

function measureOf(id) {
  return measuresById.get(id);
}

function familyOf(id) {
  return familiesById.get(id);
}

function cellOf(p, phi) {
  return p * study.phis.length + phi;
}

function valuesOf(dataset, family, measure, statistic = 'mean') {
  return study.datasets[dataset][statistic][family]?.[measure] ?? [];
}

// Average ranks over all data sets, as the tables and figures of the study have them.
function averageRanks(family, measure) {
  return study.ranks[family][measure];
}

function bestCell(values, better) {
  let best = -1;
  values.forEach((value, i) => {
    if (value !== null && (best < 0 || better * (value - values[best]) > 0)) best = i;
  });
  return best;
}

// -- parts of a data set ----------------------------------------------------------------------------

const loadedParts = new Map();

async function unpack(element) {
  if (element.type !== 'application/gzip') return JSON.parse(element.textContent);
  const bytes = Uint8Array.from(atob(element.textContent), (character) => character.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
  return JSON.parse(await new Response(stream).text());
}

// A part of a data set, decoded once; null if the page does not contain it.
async function loadPart(part, dataset, decode = (packed) => packed) {
  const id = `${part}-${dataset}`;
  if (!loadedParts.has(id)) {
    const element = byId(id);
    loadedParts.set(id, element ? unpack(element).then(decode) : Promise.resolve(null));
  }
  return loadedParts.get(id);
}

// Attributes, theories to use and examples of a data set.
function loadCore(dataset) {
  return loadPart('theories', dataset, decodeCore);
}

// The theories of the map, which need the attributes.
async function loadCells(dataset) {
  const core = await loadCore(dataset);
  return core && loadPart('cells', dataset, (packed) => decodeCells(packed, core));
}

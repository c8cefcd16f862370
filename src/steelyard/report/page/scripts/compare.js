// Two theories side by side: rules in both and in one, measures, and the examples where predictions differ.

const NEIGHBOURS = {
  left: { dp: -1, dphi: 0, title: 'the cell to the left' },
  right: { dp: 1, dphi: 0, title: 'the cell to the right' },
  up: { dp: 0, dphi: -1, title: 'the cell above' },
  down: { dp: 0, dphi: 1, title: 'the cell below' },
};

// What can be compared with: [id, title]; ids of other data sets start with their number.
function listOthers() {
  const others = [];
  if (context.isEdited) others.push(['learned', 'as it was learned, without your edits']);
  for (const used of usedOf()) if (used.id !== context.base.id) others.push([used.id, usedTitle(used)]);
  if (hasMap) {
    for (const [side, { dp, dphi, title }] of Object.entries(NEIGHBOURS)) {
      if (isCell(state.p + dp, state.phi + dphi)) others.push([side, `${title}: ${formatCell(state.p + dp, state.phi + dphi)}`]);
    }
    if (context.base.kind === 'use') others.push(['here', `the cell ${formatCell(state.p, state.phi)}, learned without a fold`]);
    for (const [id, title] of pinnedCells()) others.push([id, title]);
  }
  study.datasets.forEach(({ name }, d) => {
    if (d !== state.dataset) others.push(...usedOf(d).map((used) => [`${d}/${used.id}`, `${name}: ${usedTitle(used)}`]));
  });
  return others;
}

function isCell(p, phi) {
  return p >= 0 && p < familyOf(state.family).parameters.length && phi >= 0 && phi < study.phis.length;
}

// Cells that the reader pinned to compare with later.
const pinned = [];

function pinCell() {
  const cell = { dataset: state.dataset, family: state.family, p: state.p, phi: state.phi };
  const id = pinId(cell);
  if (!pinned.some((one) => pinId(one) === id)) pinned.push(cell);
  update({ other: id, view: 'compare' });
}

function pinId({ family, p, phi }) {
  return `pin ${family} ${familyOf(family).parameters[p]} ${study.phis[phi]}`;
}

function pinnedCells() {
  const ids = pinned.filter(({ dataset }) => dataset === state.dataset).map(pinId);
  if (state.other.startsWith('pin ') && !ids.includes(state.other)) ids.push(state.other);
  return ids.map((id) => [id, `pinned cell ${id.split(' ').slice(2, 3)}, φ = ${formatShare(Number(id.split(' ')[3]))}`]);
}

// The other theory, its data set and its title.
async function findOther(id) {
  if (id === 'learned') return { theory: context.base, core: context.core, isSame: true };
  const [d, name] = id.includes('/') ? [Number(id.split('/')[0]), id.slice(id.indexOf('/') + 1)] : [state.dataset, id];
  const core = await loadCore(d);
  const used = core?.use.find((one) => one.id === name);
  if (used) return { theory: used, core, isSame: d === state.dataset };
  const cell = cellOfOther(id);
  const cells = cell && await loadCells(state.dataset);
  return cells ? { theory: cellTheory(cells, cell.family, cell.p, cell.phi), core: context.core, isSame: true } : null;
}

function cellOfOther(id) {
  if (id === 'here') return state;
  if (NEIGHBOURS[id]) return { family: state.family, p: state.p + NEIGHBOURS[id].dp, phi: state.phi + NEIGHBOURS[id].dphi };
  const [kind, family, parameter, share] = id.split(' ');
  if (kind !== 'pin' || !familyOf(family)) return null;
  const [p, phi] = [familyOf(family).parameters.indexOf(parameter), study.phis.indexOf(Number(share))];
  return p < 0 || phi < 0 ? null : { family, p, phi };
}

async function renderCompare() {
  if (!context) {
    show(byId('compare'), noTheories());
    return;
  }
  const others = listOthers();
  const chosen = others.some(([id]) => id === state.other) ? state.other : '';
  const select = el('select', { id: 'other', onchange: (event) => update({ other: event.target.value }) });
  fillSelect(select, [['', 'choose a theory'], ...others.map(([id, title]) => [id, nameText(title)])], chosen);
  const controls = el('p', { class: 'controls' }, el('label', { class: 'grow' }, 'Compare with ', select),
    hasMap && state.theory === CELL ? button('Pin this cell', pinCell, { id: 'pin-cell', class: 'quiet' }) : null);
  if (!chosen) {
    show(byId('compare'), controls, el('p', { class: 'hint' }, 'Choose a second theory to see which rules both have, which measures differ, and for which examples the predictions differ.'), sliceSection(null));
    return;
  }
  const mine = latest;
  const other = await findOther(chosen);
  if (mine !== latest || !other) return;
  show(byId('compare'), controls, comparison(other), sliceSection(other.isSame ? other.theory : null));
}

function ruleText(theory, rule) {
  return `${headOf(theory.labels[rule.label], rule.head)} if ${conditionText(theory, rule.conditions)}`;
}

function comparison({ theory: other, core, isSame }) {
  const { theory } = context;
  const texts = (of) => new Map(of.rules.map((rule) => [ruleText(of, rule), rule]));
  const [here, there] = [texts(theory), texts(other)];
  const onlyHere = [...here].filter(([text]) => !there.has(text)).map(([, rule]) => rule);
  const onlyThere = [...there].filter(([text]) => !here.has(text)).map(([, rule]) => rule);
  const both = here.size - onlyHere.length;
  return [
    el('p', { class: 'headline', id: 'compare-headline' }, el('b', {}, `${both} rules in both`), `, ${onlyHere.length} only here, ${onlyThere.length} only there`),
    comparedMeasures(other, core, isSame),
    isSame ? differingExamples(other) : null,
    ruleDetails('Only here', theory, onlyHere, 'only-here'),
    ruleDetails('Only there', other, onlyThere, 'only-there'),
  ];
}

const COMPARED_AT_ONCE = 100;

function ruleDetails(title, theory, rules, id) {
  return el('details', { id, open: rules.length > 0 && rules.length <= 12 },
    el('summary', {}, `${title}: ${count(rules.length, 'rule')}`),
    el('ul', {}, rules.slice(0, COMPARED_AT_ONCE).map((rule) => el('li', { class: 'compared' },
      el('p', {}, headNodes(theory.labels[rule.label].name, rule.head), ' if ', conditionNodes(theory, rule.conditions)), evidence(theory, rule)))),
    rules.length > COMPARED_AT_ONCE ? el('p', { class: 'hint' }, `and ${rules.length - COMPARED_AT_ONCE} more`) : null);
}

// On the same examples, if both theories are of one data set; else the sizes only.
function comparedMeasures(other, core, isSame) {
  const { theory } = context;
  const size = (of) => (of.rules.length ? of.rules.reduce((sum, rule) => sum + countConditions(rule), 0) / of.rules.length : 0);
  const rows = [
    ['Number of rules', String(theory.rules.length), String(other.rules.length)],
    ['Conditions per rule', size(theory).toFixed(1), size(other).toFixed(1)],
  ];
  const [set] = isSame ? exampleSets(context) : [];
  const judged = set && [theory, other].map((of) => judgeTheory(of, set.table, set.rows));
  if (judged?.every(Boolean)) {
    rows.push(...study.all_measures.map(({ id, title }) => [`${title}, %`, ...judged.map(({ values }) => (100 * values[id]).toFixed(1))]));
  }
  const seen = set && [context.base, other].some((of) => of.kind === 'use') && context.examples?.n_training ? '; theories that were learned on all examples have seen them' : '';
  return [
    scroller('Measures of both theories', el('table', { class: 'changes', id: 'compare-measures' },
      el('thead', {}, el('tr', {}, ['measure', 'here', 'there'].map((name) => el('th', { scope: 'col' }, name)))),
      el('tbody', {}, rows.map(([title, ...cells]) => el('tr', {}, el('th', { scope: 'row' }, title), cells.map((cell) => el('td', {}, cell))))))),
    set ? el('p', { class: 'hint' }, `Measures on ${count(set.rows.length, 'example')}: ${set.title}${seen}.`) : null,
  ];
}

const DIFFERING_AT_ONCE = 30;

function differingExamples(other) {
  const [set] = exampleSets(context);
  if (!set) return null;
  const [here, there] = [context.theory, other].map((of) => evaluate(of, set.table).present);
  const positions = context.theory.labels.map((label) => other.labels.findIndex(({ name }) => name === label.name));
  const labelsOf = (row) => context.theory.labels.filter((_, j) => positions[j] >= 0 && here[j][row] !== there[positions[j]][row]);
  const rows = set.rows.map((row) => ({ row, labels: labelsOf(row) })).filter(({ labels }) => labels.length);
  return el('details', { id: 'differing', open: rows.length > 0 && rows.length <= DIFFERING_AT_ONCE },
    el('summary', {}, `Predictions differ for ${rows.length.toLocaleString('en')} of ${count(set.rows.length, 'example')}`),
    el('ul', { class: 'differing' }, rows.slice(0, DIFFERING_AT_ONCE).map(({ row, labels }) => el('li', {},
      set.id === 'own' ? `row ${row + 1}: ` : [button(`Example ${row + 1}`, () => update({ view: 'ask', example: row }), { class: 'link' }), ': '],
      labels.map((label, i) => [i ? ', ' : '', nameNode(label.name), ` ${here[context.theory.labels.indexOf(label)][row] ? 'only here' : 'only there'}`])))),
    rows.length > DIFFERING_AT_ONCE ? el('p', { class: 'hint' }, `and ${rows.length - DIFFERING_AT_ONCE} more`) : null);
}

// Above the tabs: which theory is shown, what it was learned from, and what to expect of it.

function renderHead() {
  renderTheorySelect();
  if (!context) {
    show(byId('theory-about'));
    renderTheoryDownloads();
    return;
  }
  const { theory, base, isEdited } = context;
  const conditions = theory.rules.reduce((sum, rule) => sum + countConditions(rule), 0);
  const labels = new Set(theory.rules.map((rule) => rule.label)).size;
  const cell = base.kind === 'cell' ? `; ${formatCell(state.p, state.phi)}` : base.parameter === null ? '' : `; ${familyOf(base.method).symbol} = ${base.parameter}, φ = ${formatShare(base.phi)}`;
  show(byId('theory-about'),
    el('p', { class: 'print-only print-title' }, nameNode(theoryTitle(base))),
    el('p', { class: 'headline', id: 'rules-headline' },
      el('b', {}, count(theory.rules.length, 'rule')),
      ` for ${labels} of ${count(theory.labels.length, 'label')}, ${theory.rules.length ? (conditions / theory.rules.length).toFixed(1) : 0} conditions per rule; `,
      el('span', { class: 'muted' }, `${describeLearning(context)}${cell}${isEdited ? '; with your edits' : ''}`)),
    expectation(base),
    judgedWhere());
  renderTheoryDownloads();
}

// On which examples edits of the theory can be judged.
function judgedWhere() {
  const twin = unseenTwin(context);
  if (twin) {
    return el('p', { class: 'hint screen-only' }, 'It has seen all examples. To edit with a fair judge, take ',
      button(`the same choice, learned without fold ${context.core.fold}`, () => editTwin(twin), { class: 'link accent', id: 'to-twin' }), '.');
  }
  const [set] = exampleSets(context);
  const used = context.base.kind === 'cell' ? usedAt(state.family, state.p, state.phi) : [];
  if (!used.length || !set || set.isSeen) return null;
  return el('p', { class: 'hint', id: 'is-twin' },
    `The same choice as ${used.map((one) => `“${usedTitle(one)}”`).join(' and ')}. Your edits are judged on ${count(set.rows.length, 'example')} from which its rules were not learned.`);
}

function renderTheorySelect() {
  const used = usedOf();
  const options = used.map((one) => [one.id, nameText(`${one.tuned_for || !hasMap ? 'Use this: ' : ''}${usedTitle(one)}`)]);
  if (hasMap) options.push([CELL, `The cell of the map: ${formatCell(state.p, state.phi)}`]);
  const select = byId('theory');
  fillSelect(select, options, state.theory);
  byId('theory-label').hidden = options.length < 2;
}

// What the folds of the study promise for new examples.
function expectation(base) {
  const { n_folds: folds, tuned, baselines } = study.datasets[state.dataset];
  const own = base.kind === 'use' && (base.tuned_for
    ? tuned.find((one) => one.for === base.tuned_for && one.family === base.method)
    : baselines.find(({ name }) => name === base.method));
  if (!own) return base.kind === 'cell' && folds ? el('p', { class: 'hint' }, hindsight()) : null;
  const ids = [...new Set([base.tuned_for, 'f1_micro', 'hamming', 'subset'])].filter((id) => Number.isFinite(own.values[id]));
  const spread = (id) => (own.sd?.[id] ? ` ± ${formatValue(id, own.sd[id])}` : '');
  return el('p', { class: 'hint', id: 'expectation' }, isEdited(base.key) ? 'To be expected on new examples before your edits: ' : 'Expect on new examples: ',
    ids.map((id, i) => [i ? ', ' : '', `${measureOf(id).title} `, el('b', {}, `${formatValue(id, own.values[id])}${spread(id)} %`)]),
    ` (${folds === 1 ? 'one test fold' : `mean${own.sd ? ' ± deviation' : ''} over ${folds} test folds`}${base.tuned_for ? '; each chose its own parameters without its test fold' : ''}).`);
}

function hindsight() {
  const values = valuesOf(state.dataset, state.family, state.measure);
  const isBest = bestCell(values, measureOf(state.measure).better) === cellOf(state.p, state.phi);
  return isBest ? `The best cell in hindsight for ${measureOf(state.measure).title}: chosen by its values on the test folds, so they are too good.` : 'To look at. The theories under "Use this" are learned on all examples.';
}

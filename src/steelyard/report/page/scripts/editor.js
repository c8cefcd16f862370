// Editing in the list of rules: keep, reject, note, and a form that changes a rule or makes a new one.

function ruleActions(rule, status) {
  const action = (text, name, onclick) => button(text, onclick, { class: 'quiet small', 'data-action': name, 'aria-label': `${text} this rule` });
  if (status === 'rejected') {
    return el('p', { class: 'actions' }, action('Take back', 'restore', () => restore(rule)));
  }
  return el('p', { class: 'actions' },
    status === 'kept' ? null : action('Keep', 'keep', () => edit({ op: 'keep', rule: rule.key })),
    action('Reject', 'drop', () => edit({ op: 'drop', rule: rule.key })),
    action('Change', 'change', () => openEditor(rule)),
    action('Note', 'note', (event) => openNote(rule, event.target)));
}

// Without the operation that rejected the rule; later operations stay.
function restore(rule) {
  const { key } = context.base;
  const { list, at } = editsOf(key);
  const kept = list.slice(0, at).filter(({ op, rule: of }) => !(op === 'drop' && of === rule.key));
  setEdits(key, kept, kept.length);
  announce('took the rule back');
  update({});
}

function openNote(rule, place) {
  const input = el('input', { type: 'text', value: rule.note === 'kept' ? '' : rule.note, 'aria-label': 'note on this rule', maxlength: 500 });
  const form = el('form', { class: 'note-form' }, input, el('button', { type: 'submit' }, 'Save note'));
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    edit({ op: 'note', rule: rule.key, note: input.value.trim() });
  });
  place.closest('.actions').replaceWith(form);
  input.focus();
}

// -- the form ---------------------------------------------------------------------------------------

// What is being edited: the rule (null for a new one), its label, head, conditions and note.
let draft = null;

function openEditor(rule) {
  if (!context) return;
  const label = rule ? rule.label : Math.max(context.theory.labels.findIndex(({ name }) => name === state.label), 0);
  draft = {
    rule,
    label,
    head: rule ? rule.head : context.theory.labels[label].target,
    conditions: rule ? rule.conditions.map((condition) => ({ ...condition })) : [],
    note: '',
    points: rule?.points ?? null,
  };
  const dialog = byId('editor');
  renderEditor();
  dialog.showModal();
}

function closeEditor() {
  byId('editor').close();
  draft = null;
}

function renderEditor() {
  const { theory } = context;
  const { rule } = draft;
  show(byId('editor'),
    el('h2', { id: 'editor-title' }, rule ? 'Change a rule' : 'Add a rule'),
    el('form', { method: 'dialog', id: 'editor-form' },
      el('p', { class: 'controls' }, headControls(theory)),
      el('ul', { class: 'draft' }, draft.conditions.map((condition, i) => conditionControls(theory, condition, i))),
      el('p', { class: 'controls' }, addControls(theory)),
      votes(theory) ? voteControls() : null,
      el('p', {}, el('label', { class: 'wide' }, 'Why ', el('input', {
        id: 'editor-note', type: 'text', maxlength: 500, value: draft.note, oninput: (event) => { draft.note = event.target.value; },
      }))),
      el('div', { id: 'editor-preview', 'aria-live': 'polite' }),
      el('p', { class: 'controls' },
        button(rule ? 'Use the changed rule' : 'Add the rule', saveDraft, { id: 'editor-save', class: 'primary' }),
        button('Cancel', closeEditor, { id: 'editor-cancel' }))));
  previewDraft();
}

function headControls(theory) {
  if (draft.rule) return ['Predict ', el('b', {}, headNodes(theory.labels[draft.label].name, draft.head))];
  const select = el('select', { id: 'editor-label', onchange: (event) => {
    draft.label = Number(event.target.value);
    draft.head = theory.labels[draft.label].target;
    renderEditor();
  } });
  fillSelect(select, theory.labels.map((label, j) => [String(j), nameText(headOf(label, votes(theory) ? 1 : label.target))]), String(draft.label));
  const head = el('select', { id: 'editor-head', 'aria-label': 'presence or absence', onchange: (event) => { draft.head = Number(event.target.value); previewDraft(); } });
  fillSelect(head, [['1', 'for'], ['0', 'against']], String(draft.head));
  return [el('label', {}, 'Predict ', select), addsVotes(theory) ? head : null];
}

function addControls(theory) {
  const used = new Set(draft.conditions.map((condition) => condition.feature));
  const free = editableFeatures(theory).filter(({ index }) => !used.has(index));
  const list = el('datalist', { id: 'editor-attributes' }, free.map(({ name }) => el('option', { value: name })));
  const input = el('input', { id: 'editor-attribute', list: 'editor-attributes', 'aria-label': 'attribute to test', placeholder: 'attribute', autocomplete: 'off' });
  const add = () => {
    const feature = free.find(({ name }) => name === input.value);
    if (!feature) {
      input.setCustomValidity('There is no such attribute.');
      input.reportValidity();
      return;
    }
    draft.conditions.push(firstCondition(feature));
    renderEditor();
  };
  input.addEventListener('input', () => input.setCustomValidity(''));
  input.addEventListener('keydown', (event) => { if (event.key === 'Enter') { event.preventDefault(); add(); } });
  return [input, list, button('Add a condition', add, { id: 'editor-add' })];
}

// Attributes whose values the page has come first: only these can be counted.
function editableFeatures(theory) {
  const known = context.examples?.table.columns;
  return known ? [...theory.features].sort((a, b) => Number(known.has(b.index)) - Number(known.has(a.index))) : theory.features;
}

function firstCondition(feature) {
  if (feature.categories) return { feature: feature.index, categories: [0] };
  const middle = feature.least === null ? 0 : (feature.least + feature.most) / 2;
  return { feature: feature.index, low: WORD_KINDS.includes(feature.reading) ? 0.5 : middle, high: null, includesHigh: false };
}

function conditionControls(theory, condition, i) {
  const feature = theory.features[condition.feature];
  const remove = button('Remove', () => { draft.conditions.splice(i, 1); renderEditor(); }, { class: 'quiet small', 'data-remove': i, 'aria-label': `remove the condition on ${feature.name}` });
  const controls = feature.categories ? categoryControls(feature, condition) : boundControls(feature, condition);
  return el('li', { 'data-condition': feature.name }, el('span', { class: 'draft-name' }, nameNode(feature.name, 'b')), controls, remove);
}

function categoryControls(feature, condition) {
  return el('span', { class: 'choices' }, feature.categories.map((text, code) => el('label', {},
    el('input', {
      type: 'checkbox', checked: condition.categories.includes(code), onchange: (event) => {
        const chosen = new Set(condition.categories);
        if (event.target.checked) chosen.add(code);
        else chosen.delete(code);
        condition.categories = [...chosen].sort((a, b) => a - b);
        previewDraft();
      },
    }), nameNode(text))));
}

function boundControls(feature, condition) {
  const input = (end, name) => el('input', {
    type: isTemporal(feature) ? 'text' : 'number', step: 'any', value: condition[end] === null ? '' : exactText(feature, condition[end]),
    'aria-label': `${name} of ${feature.name}`, 'data-end': end, placeholder: 'none',
    oninput: (event) => { condition[end] = readBound(feature, event.target); previewDraft(); },
  });
  const includes = el('select', { 'aria-label': `below or at most, of ${feature.name}`, onchange: (event) => { condition.includesHigh = event.target.value === '1'; previewDraft(); } });
  fillSelect(includes, [['0', 'below'], ['1', 'at most']], condition.includesHigh ? '1' : '0');
  return el('span', { class: 'bounds' }, el('span', {}, 'at least'), input('low', 'least value'), includes, input('high', 'upper bound'));
}

function exactText(feature, value) {
  return isTemporal(feature) ? secondsToText(value, feature.kind) : String(value);
}

// The number in a field; null if it is empty. Any other text is marked as wrong.
function readBound(feature, input) {
  const text = input.value.trim();
  const value = text === '' ? null : isTemporal(feature) ? textToSeconds(text, feature.kind) : Number(text);
  const isWrong = input.validity.badInput || (text !== '' && (value === null || !Number.isFinite(value)));
  input.setCustomValidity(isWrong ? 'This is not a value of the attribute.' : '');
  return isWrong ? NaN : value;
}

function voteControls() {
  return el('p', {}, el('label', {}, 'Vote, in log-odds ', el('input', {
    id: 'editor-vote', type: 'number', step: '0.01', value: draft.points === null ? '' : draft.points / POINTS_PER_LOG_ODD,
    oninput: (event) => { draft.points = event.target.value === '' ? null : Math.round(POINTS_PER_LOG_ODD * Number(event.target.value)); previewDraft(); },
  })), button('Fit to the examples', () => { draft.points = suggestPoints(); renderEditor(); }, { id: 'editor-fit', class: 'quiet' }));
}

// -- checking and counting --------------------------------------------------------------------------

// What is wrong with the draft, in one sentence; empty if nothing is.
function findFault(theory) {
  for (const condition of draft.conditions) {
    const { name } = theory.features[condition.feature];
    if (condition.categories ? !condition.categories.length : isEmptyCondition(condition)) return `No value satisfies the condition on ${name}.`;
    if (Number.isNaN(condition.low) || Number.isNaN(condition.high)) return `A bound of ${name} is not a number.`;
    if (!condition.categories && condition.low === null && condition.high === null) return `The condition on ${name} needs a bound.`;
  }
  if (votes(theory) && !Number.isInteger(draft.points)) return 'A rule that votes needs a vote.';
  const same = (rule) => rule !== draft.rule && rule.label === draft.label && rule.head === draft.head
    && JSON.stringify(bodyOf(theory, rule.conditions)) === JSON.stringify(bodyOf(theory, draft.conditions));
  return theory.rules.some(same) ? 'The theory has this rule already.' : '';
}

function bodyOf(theory, conditions) {
  return conditionsToPlain(conditions, theory.features);
}

function previewDraft() {
  const { theory } = context;
  const fault = findFault(theory);
  byId('editor-save').disabled = Boolean(fault);
  if (fault) {
    show(byId('editor-preview'), el('p', { class: 'fault' }, nameNode(fault)));
    return;
  }
  const made = { ...draft, conditions: draft.conditions.map((condition) => ({ ...condition })), head: draft.head };
  const lines = exampleSets(context).map((set) => {
    const [before, after] = [draft.rule, made].map((rule) => rule && countRule(theory, rule, set.table, set.rows));
    return after && el('li', {}, `${set.title}: `, before ? [countNodes(before), ' → '] : '', countNodes(after));
  });
  show(byId('editor-preview'),
    el('p', { class: 'body' }, headNodes(theory.labels[draft.label].name, draft.head), ' if ', conditionNodes(theory, made.conditions)),
    el('ul', {}, lines));
}

// The vote with the smallest logistic loss on the examples that the rule covers, as the library fits it.
function suggestPoints() {
  const { theory } = context;
  const [set] = exampleSets(context);
  const truth = set && truthFor(theory, set.table);
  if (!truth) return draft.points;
  const without = { ...theory, rules: theory.rules.filter((rule) => rule !== draft.rule) };
  const fires = coverage(set.table, theory, draft.conditions.map((condition) => condition));
  const covered = set.rows.filter((row) => fires[row]);
  const scores = evaluate(without, set.table).scores[draft.label];
  const present = covered.filter((row) => truth[draft.label][row]).length;
  let [low, high] = [-covered.length, covered.length];
  while (high - low > 1e-5) {
    const vote = (low + high) / 2;
    const expected = covered.reduce((sum, row) => sum + 1 / (1 + Math.exp(-(scores[row] / POINTS_PER_LOG_ODD + vote))), 0);
    if (expected + vote < present) low = vote;
    else high = vote;
  }
  const points = Math.round((POINTS_PER_LOG_ODD * (low + high)) / 2);
  return draft.head ? points : -points;
}

function saveDraft() {
  const { theory } = context;
  if (findFault(theory)) return;
  const { rule, label, head, conditions, note, points } = draft;
  const body = bodyOf(theory, conditions);
  const more = { note: note.trim(), ...(votes(theory) ? { points } : {}) };
  closeEditor();
  if (rule) edit({ op: 'replace', rule: rule.key, body, ...more });
  else edit({ op: 'add', rule: newRuleKey(), label: theory.labels[label].name, target_class: head, body, ...more });
}

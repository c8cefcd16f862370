// Edits of theories: a list of operations per theory, with undo and redo. They give the theory that the
// library's own operations (drop, replace, add) give, and survive in the address and in files.

// Place of a theory → { list, at }: the first `at` operations of the list are in force, the others can be redone.
const allEdits = new Map();

// Lists of operations from links that do not fit the theory that is shown; they are not in force.
const unfitEdits = new WeakSet();

// Theories of several data sets may have the same key.
function placeOf(key) {
  return study.datasets.length > 1 ? `${study.datasets[state.dataset].name}: ${key}` : key;
}

function setEdits(key, list, at) {
  allEdits.set(placeOf(key), { list, at });
}

function editsOf(key) {
  const found = allEdits.get(placeOf(key));
  return found && !unfitEdits.has(found.list) ? found : { list: [], at: 0 };
}

function isEdited(key) {
  return editsOf(key).at > 0;
}

function today() {
  const now = new Date();
  const two = (number) => String(number).padStart(2, '0');
  return `${now.getFullYear()}-${two(now.getMonth() + 1)}-${two(now.getDate())}`;
}

// Add an operation; what could be redone is gone.
function edit(operation) {
  const { key } = context.base;
  const { list, at } = editsOf(key);
  const kept = list.slice(0, at);
  setEdits(key, [...kept, { ...operation, when: today() }], at + 1);
  announce(describeEdit(operation));
  update({});
}

function moveInHistory(change) {
  const { key } = context.base;
  const { list, at } = editsOf(key);
  const next = Math.min(Math.max(at + change, 0), list.length);
  if (next === at) return;
  setEdits(key, list, next);
  announce(change < 0 ? 'undone' : 'done again');
  update({});
}

function newRuleKey() {
  const used = editsOf(context.base.key).list.filter(({ op }) => op === 'add').length;
  return `new${used + 1}`;
}

const EDIT_NAMES = {
  drop: 'rejected a rule', replace: 'changed a rule', add: 'added a rule', keep: 'kept a rule', note: 'wrote a note',
};

function describeEdit({ op }) {
  return EDIT_NAMES[op];
}

// -- applying ---------------------------------------------------------------------------------------

const appliedEdits = new WeakMap();

// The theory after the edits that are in force; computed once per state of the history.
function applyEdits(base, core) {
  checkEdits(base, core);
  const { list, at } = editsOf(base.key);
  if (!at) return base;
  const known = appliedEdits.get(base);
  if (known && known.list === list && known.at === at) return known.theory;
  const theory = list.slice(0, at).reduce((made, operation) => OPERATIONS[operation.op](made, operation, core), base);
  appliedEdits.set(base, { list, at, theory });
  return theory;
}

// A link can have operations of another theory, so that its list is checked as a whole.
function checkEdits(base, core) {
  const list = allEdits.get(placeOf(base.key))?.list;
  if (!list) return;
  let theory = base;
  const isFit = list.every((operation) => {
    if (!fitsTheory(operation, theory, core)) return false;
    theory = OPERATIONS[operation.op](theory, operation, core);
    return true;
  });
  if (isFit) unfitEdits.delete(list);
  else unfitEdits.add(list);
}

function replaceRule(theory, key, change) {
  return { ...theory, rules: theory.rules.map((rule) => (rule.key === key ? change(rule) : rule)) };
}

// What a touched label leaves uncovered is not known any more; predictions stay as they are.
function touch(theory, label) {
  const labels = theory.labels.map((one, j) => (j === label ? { ...one, uncovered: [null, null], silent: silentScore(one) } : one));
  return { ...theory, labels, evidenceFrom: { kind: 'stale' } };
}

const OPERATIONS = {
  drop: (theory, { rule: key, note = '', when }) => {
    const rule = theory.rules.find((one) => one.key === key);
    if (!rule) return theory;
    const rules = theory.rules.filter((one) => one !== rule);
    const rejected = [...theory.rejected, { ...rule, note: note || rule.note, when }];
    return touch({ ...theory, rules, rejected }, rule.label);
  },

  replace: (theory, { rule: key, body, points, note = '', when }, core) => {
    const before = theory.rules.find((one) => one.key === key);
    if (!before) return theory;
    const isVote = votes(theory);
    return touch(replaceRule(theory, key, (rule) => ({
      ...rule,
      conditions: conditionsFromPlain(body, core),
      tp: null, fp: null, only: null, heldOut: null, value: null,
      points: isVote ? points ?? rule.points : null,
      confidence: isVote ? null : strengthOf(rule),
      source: 'edited', when, note,
    })), before.label);
  },

  add: (theory, { rule: key, label, target_class: head, body, points, note = '', when }, core) => {
    const j = theory.labels.findIndex(({ name }) => name === label);
    if (j < 0) return theory;
    const rule = {
      key, label: j, head, conditions: conditionsFromPlain(body, core), tp: null, fp: null, only: null, heldOut: null,
      points: votes(theory) ? points : null, value: null, confidence: null, source: 'given', when, note,
    };
    const rules = [...theory.rules, rule].sort((a, b) => a.label - b.label);
    return touch({ ...theory, rules }, j);
  },

  keep: (theory, { rule: key, when }) => replaceRule(theory, key, (rule) => ({ ...rule, isKept: true, when, note: rule.note || 'kept' })),

  note: (theory, { rule: key, note = '', when }) => replaceRule(theory, key, (rule) => ({ ...rule, when, note })),
};

// The history of the theory as its file has it, with the rules before and after each edit.
function historyOf(base, core) {
  const { list, at } = editsOf(base.key);
  let theory = base;
  const made = list.slice(0, at).map((operation) => {
    const before = theory.rules.find((rule) => rule.key === operation.rule);
    theory = OPERATIONS[operation.op](theory, operation, core);
    const after = theory.rules.find((rule) => rule.key === operation.rule);
    const plain = (rule) => rule && {
      label: theory.labels[rule.label].name, target_class: rule.head, body: conditionsToPlain(rule.conditions, theory.features),
    };
    const isNew = after && ['replace', 'add'].includes(operation.op);
    return {
      action: operation.op,
      ...(before ? { rule: plain(before) } : {}),
      ...(isNew ? { new: plain(after) } : {}),
      when: operation.when,
      ...(operation.note ? { note: operation.note } : {}),
      ...(isNew && after.points !== null ? { points: after.points } : {}),
    };
  });
  return [...base.history, ...made];
}

// What was done → whether there was a rule before, and whether there is a new one.
const ACTIONS = { drop: [true, false], replace: [true, true], add: [false, true], keep: [true, false], note: [true, false] };

// The operations that made a theory file of a theory of this page; null if the file was not made of this theory.
function historyToEdits(base, core, { history, rules, heuristic, phi }) {
  if (base.heuristic !== heuristic || base.share !== phi) return null;
  if (JSON.stringify(history.slice(0, base.history.length)) !== JSON.stringify(base.history)) return null;
  const list = [];
  let theory = base;
  for (const step of history.slice(base.history.length)) {
    const operation = stepToOperation(step, theory, list.filter(({ op }) => op === 'add').length);
    if (!isOperation(operation) || !fitsTheory(operation, theory, core)) return null;
    list.push(operation);
    theory = OPERATIONS[operation.op](theory, operation, core);
  }
  return hasRules(theory, rules) ? list : null;
}

// A step of a history as an operation; null if it lacks a rule, has one too many, or the theory has no such rule.
function stepToOperation({ action, rule, new: made, when, note, points }, theory, added) {
  const [needsRule, needsNew] = Object.hasOwn(ACTIONS, action) ? ACTIONS[action] : [];
  if ((rule !== undefined) !== needsRule || (made !== undefined) !== needsNew) return null;
  const key = needsRule ? theory.rules.find((one) => isSameRule(theory, one, rule))?.key : `new${added + 1}`;
  return { op: action, rule: key, when, note, points, label: made?.label, target_class: made?.target_class, body: made?.body };
}

// Whether a theory has the rules of a file, in any order.
function hasRules(theory, rules) {
  const texts = (list) => JSON.stringify(list.map(({ label, target_class: head, body }) => JSON.stringify([label, head, body])).sort());
  return texts(theory.rules.map((rule) => ruleToPlain(theory, rule))) === texts(rules);
}

function isSameRule(theory, rule, plain) {
  return theory.labels[rule.label].name === plain?.label && rule.head === plain.target_class
    && JSON.stringify(conditionsToPlain(rule.conditions, theory.features)) === JSON.stringify(plain.body);
}

// Go to the cell with the same parameters; rules that the reader added are added there, too.
async function editTwin(twin) {
  const cells = await loadCells(state.dataset);
  const base = cells && cellTheory(cells, twin.family, twin.p, twin.phi);
  if (base && !editsOf(base.key).list.length) {
    const { theory } = context;
    const added = theory.rules.filter(({ key }) => key.startsWith('new')).map((rule) => ({
      op: 'add', label: theory.labels[rule.label].name, target_class: rule.head,
      body: conditionsToPlain(rule.conditions, theory.features), note: rule.note, when: rule.when,
    })).filter((plain) => !base.rules.some((rule) => isSameRule(base, rule, plain)));
    setEdits(base.key, added.map((plain, i) => ({ ...plain, rule: `new${i + 1}` })), added.length);
  }
  update({ ...twin, view: 'rules' });
}

// -- keeping ----------------------------------------------------------------------------------------

function editsToText() {
  const kept = [...allEdits].filter(([, { list }]) => list.length);
  return kept.length ? JSON.stringify(Object.fromEntries(kept)) : '';
}

// Edits from a link or a file; anything that is not a list of operations is ignored as a whole.
function textToEdits(text) {
  let found;
  try {
    found = JSON.parse(text);
  } catch {
    return;
  }
  if (!found || typeof found !== 'object') return;
  for (const [key, value] of Object.entries(found)) {
    const list = Array.isArray(value?.list) && value.list.every(isOperation) ? value.list : [];
    const at = Number.isInteger(value?.at) ? Math.min(Math.max(value.at, 0), list.length) : list.length;
    if (list.length) allEdits.set(key, { list, at });
  }
}

function isOperation(operation) {
  const { op, rule, body, note, when, points } = operation ?? {};
  if (typeof op !== 'string' || !Object.hasOwn(ACTIONS, op) || typeof rule !== 'string') return false;
  const isText = [note, when].every((text) => text === undefined || typeof text === 'string');
  const isBody = ACTIONS[op][1] ? Array.isArray(body) && body.every(isPlainCondition) : body === undefined;
  return isText && isBody && (points === undefined || Number.isInteger(points));
}

// Whether a theory has what an operation names: the rule or, for a new one, the label, and the attributes.
function fitsTheory({ op, rule: key, label, target_class: head, body = [], points }, theory, core) {
  const isHead = theory.labels.some(({ name }) => name === label) && [0, 1].includes(head);
  const isKnown = op === 'add' ? isHead && (!votes(theory) || points !== undefined) : theory.rules.some((rule) => rule.key === key);
  return isKnown && body.every((condition) => isKnownCondition(condition, core));
}

function isKnownCondition([name, operator, value], core) {
  const feature = core.features[core.positions.get(name)];
  if (!feature) return false;
  if (operator !== '=' && operator !== 'in') return !feature.categories;
  const texts = [value].flat();
  return texts.length > 0 && texts.every((text) => feature.categories?.includes(text));
}

function isPlainCondition(condition) {
  if (!Array.isArray(condition) || condition.length !== 3) return false;
  const [name, operator, value] = condition;
  if (typeof name !== 'string') return false;
  if (operator === 'in') return Array.isArray(value) && value.every((text) => typeof text === 'string');
  return operator === '=' ? typeof value === 'string' : ['≥', '≤', '<'].includes(operator) && Number.isFinite(value);
}

// Edits inside the file of the page, which somebody mailed on.
function readEmbeddedEdits() {
  const element = byId('edits');
  if (element) textToEdits(element.textContent);
}

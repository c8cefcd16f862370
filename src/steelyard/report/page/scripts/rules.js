// The list of rules of the theory, grouped by label. Only as many as the reader scrolls to are drawn.

// The first ones fill a window; the rest of the window's surroundings follows in a later frame.
const FIRST_RULES = 8;
const RULES_AT_ONCE = 30;
let pendingRules = null;
let ruleObserver = null;

function matches(theory, rule) {
  if (state.label && theory.labels[rule.label].name !== state.label) return false;
  if (!state.query) return true;
  const text = `${headOf(theory.labels[rule.label], rule.head)} ${conditionText(theory, rule.conditions)} ${describeOrigin(rule)}`;
  return text.toLowerCase().includes(state.query.toLowerCase());
}

function renderRules() {
  renderLabelFilter();
  if (byId('query').value !== state.query) byId('query').value = state.query;
  renderScores();
  if (!context) {
    show(byId('rules'), noTheories());
    show(byId('silent-labels'));
    return;
  }
  drawRules(listEntries(context.theory));
  renderSilentLabels(context.theory);
}

// Options are replaced only if there are other labels: some data sets have hundreds.
function renderLabelFilter() {
  const select = byId('label-filter');
  const names = context ? context.theory.labels.map((label) => label.name) : [];
  if (select.dataset.names !== JSON.stringify(names)) {
    fillSelect(select, [['', 'all'], ...names.map((name) => [name, nameText(name)])], '');
    select.dataset.names = JSON.stringify(names);
  }
  select.value = names.includes(state.label) ? state.label : '';
}

// Rules with their status, those that the reader rejected too.
function listEntries(theory) {
  const entries = theory.rules.map((rule) => ({ rule, status: rule.source !== 'learned' ? rule.source : rule.isKept ? 'kept' : '' }));
  entries.push(...theory.rejected.map((rule) => ({ rule, status: 'rejected' })));
  return entries.filter(({ rule }) => matches(theory, rule)).sort((a, b) => a.rule.label - b.rule.label);
}

function drawRules(entries) {
  ruleObserver?.disconnect();
  const place = byId('rules');
  if (!entries.length) {
    pendingRules = null;
    show(place, emptyNote());
    return;
  }
  const counts = new Map();
  for (const { rule, status } of entries) if (status !== 'rejected') counts.set(rule.label, (counts.get(rule.label) ?? 0) + 1);
  show(place);
  pendingRules = { entries, counts, drawn: 0, list: null, label: null };
  drawMoreRules(isPrinting ? entries.length : FIRST_RULES);
}

function drawMoreRules(n) {
  const pending = pendingRules;
  const { entries, counts } = pending;
  byId('more-rules')?.remove();
  const end = Math.min(pending.drawn + n, entries.length);
  for (; pending.drawn < end; pending.drawn += 1) {
    const entry = entries[pending.drawn];
    if (entry.rule.label !== pending.label) {
      pending.label = entry.rule.label;
      pending.list = el('ul', {});
      byId('rules').append(el('section', { class: 'group' }, groupHeading(context.theory, entry.rule.label, counts.get(entry.rule.label) ?? 0), pending.list));
    }
    pending.list.append(ruleItem(context.theory, entry.rule, { status: entry.status, isEditable: true }));
  }
  if (end < entries.length) {
    const more = el('p', { id: 'more-rules', class: 'hint' }, `${end} of ${count(entries.length, 'rule')}; the others follow as you scroll. `,
      button('Show more', () => drawMoreRules(RULES_AT_ONCE), { class: 'quiet' }));
    byId('rules').append(more);
    ruleObserver = new IntersectionObserver((seen) => {
      if (seen.some(({ isIntersecting }) => isIntersecting)) drawMoreRules(RULES_AT_ONCE);
    }, { rootMargin: '800px' });
    ruleObserver.observe(more);
  }
}

function emptyNote() {
  return el('p', { class: 'note' }, context.theory.rules.length
    ? 'No rule matches the search.'
    : 'No rules: every label gets its more frequent value.');
}

function noTheories() {
  const { has_theories: exist, name } = study.datasets[state.dataset];
  const why = exist
    ? ['The rules of ', nameNode(name), ' are omitted to keep this page small; the folder theories of the study contains them.']
    : 'This study has no saved rules.';
  return el('p', { class: 'note' }, why);
}

function groupHeading(theory, j, n) {
  const label = theory.labels[j];
  const total = label.positives + label.negatives;
  const own = label.target ? label.positives : label.negatives;
  const start = votes(theory) ? `; starts at ${formatPoints(theory.combiner.start[j])}` : '';
  return el('h3', {}, headNodes(label.name, votes(theory) ? 1 : label.target),
    el('small', {}, `${count(n, 'rule')}; ${label.target ? '' : 'present in '}${own} of ${count(total, 'training example')}${start}`));
}

function formatPoints(points) {
  return `${points < 0 ? '−' : '+'}${(Math.abs(points) / POINTS_PER_LOG_ODD).toFixed(2)}`;
}

// Labels without a rule, with what is predicted for them.
function renderSilentLabels(theory) {
  const known = new Set(theory.rules.map((rule) => rule.label));
  const silent = theory.labels.map((label, j) => ({ label, j })).filter(({ j }) => !known.has(j));
  show(byId('silent-labels'), silent.length ? [
    el('h3', {}, `${count(silent.length, 'label')} without a rule`),
    el('ul', {}, silent.map(({ label, j }) => el('li', {}, nameNode(label.name, 'b'), `: ${describeSilence(theory, j)}`,
      el('span', { class: 'muted' }, ` (in ${label.target ? label.positives : label.negatives} of ${label.positives + label.negatives} training examples)`)))),
  ] : null);
}

// -- one rule ---------------------------------------------------------------------------------------

const STATUS_SIGNS = { given: '+', imported: '+', edited: '✎', rejected: '✗', kept: '✓' };

function ruleItem(theory, rule, { status = '', classOf = undefined, isEditable = false } = {}) {
  const sign = STATUS_SIGNS[status];
  const origin = describeOrigin(rule, status);
  return el('li', { class: `rule ${status}`, 'data-rule': rule.key },
    el('span', { class: 'sign-cell' }, sign ? [el('span', { 'aria-hidden': 'true' }, sign), el('span', { class: 'sr' }, `${status}: `)] : ''),
    el('div', {},
      el('p', { class: 'body' }, votes(theory) && !rule.head ? el('span', { class: 'against' }, 'against: ') : null, conditionNodes(theory, rule.conditions, classOf)),
      origin ? el('p', { class: 'origin' }, nameNode(origin)) : null,
      isEditable ? ruleActions(rule, status) : null),
    evidence(theory, rule));
}

// Who made a rule that was not learned, when and why.
function describeOrigin(rule, status = '') {
  const made = status || (rule.source === 'learned' ? '' : rule.source);
  return [made && `${made}${rule.when ? ` ${rule.when}` : ''}`, rule.note !== 'kept' && rule.note].filter(Boolean).join(': ');
}

// Right and wrong on the training examples, and on examples that did not make the rule.
function evidence(theory, rule) {
  const label = theory.labels[rule.label];
  const positives = rule.head === label.target ? label.positives : label.negatives;
  const { training, unseen } = ruleCounts(theory, rule);
  const points = rule.points === null ? null : el('span', { class: 'vote' }, `vote ${formatPoints(rule.points)} for ${rule.head ? 'its presence' : 'its absence'}`);
  return el('div', { class: 'evidence' },
    training ? evidenceBar(training, positives) : null,
    training
      ? el('span', {}, 'training: ', el('span', { class: 'counts' }, countNodes(training)))
      : el('span', { class: 'counts' }, 'not counted since the edit'),
    el('span', {}, `${unseen?.where ?? 'unseen'}: `, unseen ? el('span', { class: 'unseen' }, countNodes(unseen)) : 'not counted'),
    training ? el('span', { class: 'numbers' }, `precision ${unseen ? percentOf(unseen) : percentOf(training)}${unseen ? ` (training ${percentOf(training)})` : ''}, covers ${((100 * training.tp) / Math.max(positives, 1)).toFixed(0)} %`) : null,
    points);
}

function percentOf(counts) {
  return counts.tp + counts.fp ? `${(100 * precisionOf(counts)).toFixed(0)} %` : '–';
}

function countNodes({ tp, fp }) {
  return [el('span', { class: 'tp' }, `${tp} right`), ' ', el('span', { class: 'fp' }, `${fp} wrong`)];
}

// Counts of a rule. What it does not bring along, as after an edit, is counted on the examples of the page.
function ruleCounts(theory, rule) {
  const where = theory.kind === 'cell' && context?.core.fold ? `held-out fold ${context.core.fold}` : 'unseen';
  const training = rule.tp === null ? countOn(theory, rule, (set) => set.isSeen && set.isWhole) : { tp: rule.tp, fp: rule.fp };
  // Examples that no rule has seen tell more than counts of another rule in its place.
  const fresh = countOn(theory, rule, (set) => set.id === 'unseen');
  if (fresh) return { training, unseen: { ...fresh, where } };
  if (rule.heldOut) return { training, unseen: { ...rule.heldOut, where } };
  const counted = countOn(theory, rule, (set) => !set.isSeen);
  return { training, unseen: counted && { ...counted, where: counted.id === 'own' ? 'your file' : where } };
}

// Counts on the first set of examples of a kind; null if there is none.
function countOn(theory, rule, isWanted) {
  const set = context && exampleSets(context).find(isWanted);
  const counts = set ? countRule(theory, rule, set.table, set.rows) : null;
  return counts && { ...counts, id: set.id };
}

function listenToRules() {
  byId('query').addEventListener('input', (event) => update({ query: event.target.value }));
  byId('label-filter').addEventListener('change', (event) => update({ label: event.target.value }));
  byId('add-rule').addEventListener('click', () => openEditor(null));
}

// The chosen theory: its rules grouped by label, and the changes from a neighbouring cell.

// Show at most this many rules at first, so that the page stays fast.
const MANY_RULES = 100;
const NEIGHBOURS = { left: [-1, 0], right: [1, 0], up: [0, -1], down: [0, 1] };
let showAllOf = null;

function neighbour() {
  if (!NEIGHBOURS[state.compare]) return null;
  const [dp, dphi] = NEIGHBOURS[state.compare];
  const [p, phi] = [state.p + dp, state.phi + dphi];
  const inside = p >= 0 && p < familyOf(state.family).parameters.length && phi >= 0 && phi < study.phis.length;
  return inside ? { p, phi } : null;
}

function compareRules(theories, rules) {
  const other = neighbour();
  if (!other) return { other, added: new Set(), removed: [] };
  const before = theoryAt(theories, state.family, other.p, other.phi).rules;
  const [now, then] = [new Set(rules), new Set(before)];
  return { other, added: new Set(rules.filter((rule) => !then.has(rule))), removed: before.filter((rule) => !now.has(rule)) };
}

function matches(theories, rule) {
  if (state.label && theories.labels[rule.label].name !== state.label) return false;
  if (!state.query) return true;
  const text = `${headOf(theories.labels[rule.label])} ${conditionText(theories, rule.conditions)} ${rule.origin}`;
  return text.toLowerCase().includes(state.query.toLowerCase());
}

function renderRules(theories) {
  const names = theories ? theories.labels.map((label) => label.name) : [];
  fillSelect(byId('label-filter'), [['', 'all'], ...names.map((name) => [name, name])], names.includes(state.label) ? state.label : '');
  byId('compare').value = state.compare;
  if (byId('query').value !== state.query) byId('query').value = state.query;
  if (!theories) {
    show(byId('rules-headline'), '');
    show(byId('changes'), '');
    show(byId('rules'), noTheories());
    return;
  }
  const { rules } = theoryAt(theories, state.family, state.p, state.phi);
  const comparison = compareRules(theories, rules);
  renderHeadline(theories, rules);
  renderChanges(comparison);
  renderGroups(theories, rules, comparison);
}

function noTheories() {
  const { has_theories: exist, name } = study.datasets[state.dataset];
  const why = exist
    ? `The rules of ${name} are omitted to keep this page small; the folder theories of the study contains them.`
    : 'This study has no saved rules.';
  return el('p', { class: 'note' }, why);
}

function renderHeadline(theories, rules) {
  const conditions = rules.reduce((sum, rule) => sum + countConditions(rule), 0);
  const labels = new Set(rules.map((rule) => rule.label)).size;
  show(byId('rules-headline'),
    el('b', {}, count(rules.length, 'rule')),
    ` for ${labels} of ${count(theories.labels.length, 'label')}, `,
    `${rules.length ? (conditions / rules.length).toFixed(1) : 0} conditions per rule; `,
    el('span', { class: 'muted' }, `${formatCell(state.p, state.phi)}; learned without fold ${theories.fold}, counts are on the training examples`));
}

function renderChanges({ other, added, removed }) {
  if (!other) {
    show(byId('changes'), state.compare === 'none' ? '' : 'There is no cell on that side.');
    return;
  }
  const sameText = added.size + removed.length ? '' : ': the same rules';
  show(byId('changes'), `From ${formatCell(other.p, other.phi)}${sameText}`,
    added.size + removed.length ? [
      ': ', el('span', { class: 'added' }, `+ ${count(added.size, 'rule')} added`),
      ', ', el('span', { class: 'removed' }, `− ${count(removed.length, 'rule')} removed`),
    ] : '');
}

function renderGroups(theories, rules, { added, removed }) {
  const entries = [
    ...rules.map((rule) => ({ rule, change: added.has(rule) ? 'added' : '' })),
    ...removed.map((rule) => ({ rule, change: 'removed' })),
  ].filter(({ rule }) => matches(theories, rule));
  entries.sort((a, b) => a.rule.label - b.rule.label);
  const key = `${state.dataset} ${state.family} ${state.p} ${state.phi}`;
  const shown = showAllOf === key || isPrinting ? entries : entries.slice(0, MANY_RULES);
  const groups = new Map();
  for (const entry of shown) {
    if (!groups.has(entry.rule.label)) groups.set(entry.rule.label, []);
    groups.get(entry.rule.label).push(entry);
  }
  const sections = [...groups].map(([label, of]) => ruleGroup(theories, theories.labels[label], of));
  const rest = entries.length - shown.length;
  const more = rest ? el('button', {
    type: 'button', id: 'show-all', onclick: () => { showAllOf = key; render(); },
  }, `Show ${rest} more rules`) : null;
  show(byId('rules'), sections.length ? sections : emptyNote(rules), more);
}

function emptyNote(rules) {
  return el('p', { class: 'note' }, rules.length
    ? 'No rule matches the search.'
    : 'No rules: every label gets its more frequent value.');
}

function ruleGroup(theories, label, entries) {
  const total = label.positives + label.negatives;
  const here = entries.filter(({ change }) => change !== 'removed').length;
  return el('section', { class: 'group' },
    el('h3', {}, headOf(label), el('small', {}, `${count(here, 'rule')}; ${label.positives} of ${total} training examples`)),
    el('ul', {}, entries.map(({ rule, change }) => ruleItem(theories, label, rule, change))));
}

function ruleItem(theories, label, rule, change = '', classOf = undefined) {
  const sign = { added: '+', removed: '−' }[change];
  return el('li', { class: `rule ${change}`, 'data-rule': rule.index },
    el('span', { class: 'sign-cell' }, sign ? [el('span', { 'aria-hidden': 'true' }, sign), el('span', { class: 'sr' }, `${change}: `)] : ''),
    el('p', { class: 'body' }, conditionNodes(theories, rule.conditions, classOf), originNode(rule)),
    evidence(rule, label));
}

// Who made a rule that was not learned, when and why.
function originNode(rule) {
  return rule.origin ? el('small', { class: 'origin' }, rule.origin) : null;
}

function evidence(rule, label) {
  const coverage = (100 * rule.tp) / Math.max(label.positives, 1);
  return el('p', { class: 'evidence', title: `${rule.tp} right, ${rule.fp} wrong; ${coverage.toFixed(0)} % of ${headOf(label)}` },
    evidenceBar(rule, label),
    el('span', { class: 'counts' }, el('span', { class: 'tp' }, `${rule.tp} right`), ' ', el('span', { class: 'fp' }, `${rule.fp} wrong`)),
    el('span', { class: 'numbers' }, `precision ${(100 * precisionOf(rule)).toFixed(0)} %, covers ${coverage.toFixed(0)} %`));
}

function listenToRules() {
  byId('query').addEventListener('input', (event) => update({ query: event.target.value }));
  byId('label-filter').addEventListener('change', (event) => update({ label: event.target.value }));
  byId('compare').addEventListener('change', (event) => update({ compare: event.target.value }));
}

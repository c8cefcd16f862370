// What the edits do: all measures before and after, per label, on the examples of the page.

function renderScores() {
  const place = byId('scores');
  if (!context || !(editsOf(context.base.key).list.length || context.base.history.length)) {
    show(place);
    return;
  }
  const { list, at } = editsOf(context.base.key);
  if (!list.length) {
    show(place, el('section', { class: 'edits-panel', 'aria-label': 'Earlier edits' },
      el('p', {}, `This theory was edited before: ${count(context.base.history.length, 'edit')}.`), historyList()));
    return;
  }
  const sets = exampleSets(context);
  const chosen = sets.find(({ id }) => id === scoredOn) ?? sets[0];
  show(place, el('section', { class: 'edits-panel', 'aria-label': 'Your edits' },
    el('p', { class: 'controls' },
      el('b', {}, count(at, 'edit')),
      button('Undo', () => moveInHistory(-1), { id: 'undo', disabled: at === 0 }),
      button('Redo', () => moveInHistory(1), { id: 'redo', disabled: at === list.length }),
      button('Download the curated theory', saveCurated, { id: 'save-curated', class: 'primary' }),
      button('Download this page with the edits', saveEditedPage, { id: 'save-page' }),
      sets.length > 1 ? setChooser(sets, chosen) : null),
    chosen ? scoreTables(chosen) : el('p', { class: 'hint' }, 'This page has no examples to judge the edits on: drop a CSV file with labels on it.'),
    historyList()));
}

// The set of examples that the reader chose.
let scoredOn = '';

function setChooser(sets, chosen) {
  const select = el('select', { id: 'scored-on', onchange: (event) => { scoredOn = event.target.value; renderScores(); } });
  fillSelect(select, sets.map(({ id, title }) => [id, title]), chosen.id);
  return el('label', {}, 'Judged on ', select);
}

function scoreTables(set) {
  const [before, after] = [context.base, context.theory].map((theory) => judgeTheory(theory, set.table, set.rows));
  if (!before || !after) return null;
  return [
    el('p', { class: 'hint' }, `On ${count(set.rows.length, 'example')}: ${set.title}.`),
    set.isSeen ? seenNote() : null,
    scroller('Measures before and after', changeTable('measure', study.all_measures.map(({ id, title }) => [title, before.values[id], after.values[id]]))),
    el('details', { open: openDetails.has('labels') || null, ontoggle: (event) => remember('labels', event.target) },
      el('summary', {}, 'Per label'),
      scroller('Labels before and after', labelChanges(before, after))),
  ];
}

// Why examples that a theory was learned from are no fair judge, and what to do about it.
function seenNote() {
  const twin = unseenTwin(context);
  return el('p', { class: 'note', id: 'seen-note' },
    'The learned rules have seen these examples: they look better here than on new ones, so a rejected rule seems a larger loss than it is. ',
    twin ? [
      'To judge fairly, ', button(`edit the same choice learned without fold ${context.core.fold}`, () => editTwin(twin), { class: 'link accent', id: 'judge-fairly' }),
      `, whose rules were not learned from ${count(context.examples.n_held_out, 'example')}; rules that you added come along. Or `,
    ] : 'To judge fairly, ',
    'drop a CSV file with new labelled examples on the page.');
}

const openDetails = new Set();

function remember(name, details) {
  if (details.open) openDetails.add(name);
  else openDetails.delete(name);
}

function changeTable(what, rows) {
  return el('table', { class: 'changes' },
    el('thead', {}, el('tr', {}, [what, 'before', 'after', 'change'].map((name) => el('th', { scope: 'col' }, name)))),
    el('tbody', {}, rows.map(([title, before, after]) => el('tr', {},
      el('th', { scope: 'row' }, title),
      el('td', {}, `${(100 * before).toFixed(1)} %`), el('td', {}, `${(100 * after).toFixed(1)} %`), changeCell(after - before)))));
}

function changeCell(change) {
  const text = (100 * change).toFixed(1);
  const isNothing = Number(text) === 0;
  return el('td', { class: isNothing ? 'muted' : change > 0 ? 'gain' : 'loss' }, isNothing ? '0' : `${change > 0 ? '+' : '−'}${text.replace('-', '')}`);
}

function labelChanges(before, after) {
  const changed = context.theory.labels.map((label, j) => ({ label, j, old: before.byLabel[j], now: after.byLabel[j] }));
  const isSame = ({ old, now }) => ['tp', 'fp', 'fn'].every((name) => old[name] === now[name]);
  const order = [...changed].sort((a, b) => Number(isSame(a)) - Number(isSame(b)) || a.j - b.j);
  const pair = (row, name) => el('td', {}, row.old[name] === row.now[name] ? String(row.now[name]) : `${row.old[name]} → ${row.now[name]}`);
  return el('table', { class: 'changes' },
    el('thead', {}, el('tr', {}, ['label', 'right', 'wrong', 'missed', 'F1 before', 'F1 after', 'change'].map((name) => el('th', { scope: 'col' }, name)))),
    el('tbody', {}, order.map((row) => {
      const [f1Before, f1After] = [row.old, row.now].map(FORMULAS.f1);
      return el('tr', {}, el('th', { scope: 'row' }, nameNode(row.label.name)), pair(row, 'tp'), pair(row, 'fp'), pair(row, 'fn'),
        el('td', {}, `${(100 * f1Before).toFixed(1)} %`), el('td', {}, `${(100 * f1After).toFixed(1)} %`), changeCell(f1After - f1Before));
    })));
}

function historyList() {
  const items = historyItems();
  return items.length ? el('details', { open: openDetails.has('history') || null, ontoggle: (event) => remember('history', event.target) },
    el('summary', {}, 'History'), el('ol', { class: 'history' }, items)) : null;
}

// On paper the history stands below the rules.
function renderPrintedHistory() {
  const items = historyItems();
  show(byId('printed-history'), items.length ? [el('h2', {}, 'History of edits'), el('ol', { class: 'history' }, items)] : null);
}

function historyItems() {
  const history = historyOf(context.base, context.core);
  const text = (rule) => (rule ? `${rule.target_class ? '' : 'not '}${rule.label} if ${conditionText(context.theory, conditionsFromPlain(rule.body, context.core))}` : '');
  return history.map(({ action, when, note, rule, new: made }) => el('li', {},
      `${when ? `${when}: ` : ''}${EDIT_NAMES[action]}`, note ? [': ', nameNode(note)] : '', el('br'), el('span', { class: 'muted' }, nameNode(text(rule))),
      made ? [rule ? ' → ' : '', nameNode(text(made))] : ''));
}

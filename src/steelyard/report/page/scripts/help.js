// How to read this: a few sentences for a first-time reader, and the facts of the run.

function renderHelp() {
  const { symbol = 'm' } = study.families[0] ?? {};
  const { n_folds: folds } = study.datasets[0];
  show(byId('help-text'),
    el('p', {}, 'A theory is a list of rules. A rule says for which cases a label holds: ', el('em', {}, 'flu if fever is at least 38.5'), '. ',
      'Beside each rule stands how often it was right and wrong: on the examples it was learned from, and on examples that had no part in learning it. Trust the second.'),
    hasMap ? el('p', {}, `On the map, each cell is a theory. To the left rules are strict: seldom wrong, but they cover few cases; to the right they are broad (larger ${symbol}). `,
      'From top to bottom fewer of the rules are kept, the best ones (smaller φ). A diamond marks the cell that tuning chose for a measure; a circle marks the best cell in hindsight, which nobody could have known. ',
      `A value in the table is the mean over ${count(folds, 'fold')}: each fold was predicted by a theory that was learned without it.`) : null,
    hasMap && study.datasets.some(({ baselines }) => baselines.length)
      ? el('p', {}, 'R1, R2 and R3 are Ripper, an older rule learner, for comparison: R1 grows rules, R2 also prunes them, R3 also optimizes them.') : null,
    el('p', {}, el('b', {}, 'Rules'), ' lists them; keep, reject, change or add rules and see at once what that does. ',
      el('b', {}, 'Ask'), ' predicts a case that you type in, or a whole CSV file that you drop on the page. ',
      el('b', {}, 'Labels'), ' shows how good the rules of each label are. ',
      el('b', {}, 'Compare'), ' puts two theories side by side', hasMap ? [', and ', el('b', {}, 'Trade-off'), ' plots all of them'] : '', '. ',
      'Nothing leaves this page. Your edits are in its address; download the curated theory or the page to keep them.'),
    el('p', {}, 'Green with ✓ or "right" is right, orange with ✗ or "wrong" is wrong; blue is for what you can press.'));
}

function renderFooter() {
  const { version, finished, n_candidates: candidates, seed } = study.run;
  const facts = [
    candidates && `${Number(candidates).toLocaleString('en')} candidate rules`,
    seed !== null && seed !== undefined && `seed ${seed}`,
    finished && `finished ${finished}`,
    version && `Steelyard ${version}`,
  ].filter(Boolean);
  show(byId('footer'),
    el('p', { class: 'screen-only' }, 'Keys: ', hasMap ? ['arrows on the map, ', el('kbd', {}, 'm'), ' to the map, '] : '', el('kbd', {}, '1'), '–', el('kbd', {}, String(shownViews().length)), ' for the tabs, ',
      el('kbd', {}, '/'), ' to search, ', el('kbd', {}, 'Ctrl'), '+', el('kbd', {}, 'Z'), ' and ', el('kbd', {}, 'Y'), ' to undo and redo. The address of the page links to the current view.'),
    renderFindings(),
    el('p', {}, facts.join(' · ')));
}

// The statements of the paper, with the number of data sets that they were checked on.
function renderFindings() {
  if (!study.findings?.length) return null;
  const n = study.datasets.length;
  return el('details', { id: 'findings' },
    el('summary', {}, `Findings of the paper, checked on ${count(n, 'data set')}`),
    n < 3 ? el('p', { class: 'hint' }, 'So few data sets neither prove nor refute a statement about learning in general.') : null,
    el('ul', {}, study.findings.map(({ statement, verdict: found, numbers }) => el('li', {},
      el('b', {}, `${found} on ${n === 1 ? 'this data set' : `${n} data sets`}`), `: ${statement} `, el('span', { class: 'muted' }, numbers)))));
}

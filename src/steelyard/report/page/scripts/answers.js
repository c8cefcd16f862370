// The answer for one case: every label with its prediction, the rules that fired, and the nearest rule.

// Labels with what is predicted and why; `truth` has 0 or 1 per label, or is null.
function answersFor(theory, values, truth = null) {
  const { fired, scores, present } = evaluate(theory, singleTable(theory, values));
  return theory.labels.map((label, j) => {
    const own = [];
    const firing = [];
    theory.rules.forEach((rule, r) => {
      if (rule.label !== j) return;
      own.push(rule);
      if (fired[r][0]) firing.push(rule);
    });
    return { label, j, own, fired: firing, score: scores[j][0], predicted: present[j][0], truth: truth ? truth[j] : null };
  });
}

function verdict({ predicted, truth }) {
  if (truth === null) return predicted ? 'predicted' : 'not predicted';
  if (predicted) return truth ? 'correct' : 'false positive';
  return truth ? 'missed' : 'correctly absent';
}

const VERDICT_SIGNS = { correct: '✓', predicted: '✓', 'false positive': '!', missed: '✗' };

function chip(answer) {
  const kind = verdict(answer);
  return el('span', { class: `chip ${kind.replace(' ', '-')}` },
    el('span', { 'aria-hidden': 'true' }, `${VERDICT_SIGNS[kind] ?? ''} `), nameNode(answer.label.name), el('small', {}, ` ${kind}`));
}

// `apply(changes)` sets attributes of the case.
function renderAnswers(chips, place, theory, values, truth, apply) {
  const all = answersFor(theory, values, truth);
  // Labels that are predicted, true or have a firing rule come first.
  const isSilent = (answer) => !answer.predicted && !answer.truth && !answer.fired.length;
  const talking = all.filter((answer) => !isSilent(answer));
  const silent = all.filter(isSilent);
  const said = all.filter(({ predicted, truth: isTrue }) => predicted || isTrue);
  show(chips, said.map(chip),
    said.length ? null : el('span', { class: 'muted' }, truth ? 'No label is predicted, and no label is true.' : 'No label is predicted.'));
  show(place,
    talking.map((answer) => answerSection(theory, answer, values, apply)),
    silent.length ? silentAnswers(theory, silent, values, truth, apply) : null);
}

function answerSection(theory, answer, values, apply) {
  const { label, fired, predicted, truth } = answer;
  const says = `${predicted ? 'predicted' : 'not predicted'}${truth === null ? '' : truth ? ', true' : ', not true'}`;
  const why = votes(theory) ? voteSum(theory, answer) : null;
  return el('section', { class: 'group', 'data-label': label.name },
    el('h3', {}, nameNode(label.name), el('small', {}, says)),
    why,
    fired.length
      ? [el('p', { class: 'why' }, count(fired.length, 'rule'), votes(theory) ? ' about ' : ' for ', headNodes(label.name, votes(theory) ? 1 : label.target), ' fired:'), el('ul', {}, fired.map((rule) => ruleItem(theory, rule)))]
      : nearestNode(theory, answer, values, apply));
}

function voteSum(theory, { j, fired, score }) {
  const start = theory.combiner.start[j];
  const parts = [`start ${formatPoints(start)}`, ...fired.map((rule) => formatPoints(voteOf(rule)))];
  return el('p', { class: 'why' }, addsVotes(theory) || !fired.length ? parts.join(', ') : `strongest of ${fired.map((rule) => formatPoints(voteOf(rule))).join(', ')}`,
    `: score ${formatPoints(score)}`);
}

// The nearest rule whose firing would change the prediction, with the smallest change.
function nearestNode(theory, { label, own, predicted }, values, apply) {
  const wanted = own.filter((rule) => (votes(theory) ? rule.head !== predicted : true));
  const [nearest] = nearestRules(wanted, values);
  const head = headNodes(label.name, predicted ? 0 : 1);
  if (!nearest) return el('p', { class: 'why' }, 'This theory has no rule for ', votes(theory) ? head : headNodes(label.name, label.target), '.');
  const failing = new Set(nearest.failing);
  const classOf = (condition) => (failing.has(condition) ? 'fails' : 'holds');
  const changes = nearest.failing.map((condition) => changeFor(theory, condition, values));
  return [
    el('p', { class: 'why' }, 'No rule for ', headNodes(label.name, nearest.rule.head), ' fired. The nearest rule:'),
    el('ul', {}, ruleItem(theory, nearest.rule, { classOf })),
    el('ul', { class: 'failing' }, nearest.failing.map((condition) => {
      const feature = theory.features[condition.feature];
      const value = values[condition.feature];
      const [before, name, after] = conditionInWords(failingPart(condition, value), feature);
      return el('li', {}, el('span', { 'aria-hidden': 'true' }, '✗ '), `requires ${before}`, nameNode(name, 'b'), after,
        `; the value is ${valueInWords(feature, value)}`);
    })),
    apply ? el('p', {}, button('Apply this change', () => apply(changes), { class: 'quiet', 'data-apply': label.name })) : null,
  ];
}

// [attribute, value]: the smallest change after which a condition holds.
function changeFor(theory, condition, values) {
  const feature = theory.features[condition.feature];
  return [feature.index, nearestValue(condition, values[feature.index], isIntegerAttribute(feature))];
}

// Whether all known values of an attribute are integers.
function isIntegerAttribute(feature) {
  if (feature.categories) return false;
  if (WORD_KINDS.includes(feature.reading) || feature.kind === 'date') return feature.kind !== 'date';
  if (feature.isInteger === undefined) {
    const column = context.examples?.table.columns.get(feature.index);
    feature.isInteger = Boolean(column?.length) && column.every((value) => Number.isNaN(value) || Number.isInteger(value));
  }
  return feature.isInteger;
}

// The explanations of these labels are created when a reader opens them.
function silentAnswers(theory, silent, values, truth, apply) {
  const details = el('details', { class: 'silent', open: openDetails.has('silent') || null },
    el('summary', {}, `${count(silent.length, 'label')} ${truth ? 'correctly ' : ''}not predicted`));
  const fillIn = () => {
    remember('silent', details);
    if (details.open && details.childElementCount === 1) {
      details.append(...silent.map((answer) => answerSection(theory, answer, values, apply)));
    }
  };
  details.addEventListener('toggle', fillIn);
  if (details.open) fillIn();
  return details;
}

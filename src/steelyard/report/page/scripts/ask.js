// Explain: the predictions for a held-out example, the rules that fired, and the nearest rule otherwise.

function answers(theories, example) {
  const { rules } = theoryAt(theories, state.family, state.p, state.phi);
  return theories.labels.map((label, i) => {
    const own = rules.filter((rule) => rule.label === i);
    const fired = own.filter((rule) => fires(rule, example.values));
    const predicted = fired.length ? label.target : 1 - label.target;
    return { label, own, fired, predicted, truth: example.truth[i] };
  });
}

function verdict({ predicted, truth }) {
  if (truth === null) return predicted ? 'predicted' : 'not predicted';
  if (predicted) return truth ? 'correct' : 'false positive';
  return truth ? 'missed' : 'correctly absent';
}

const VERDICT_SIGNS = { correct: '✓', predicted: '✓', 'false positive': '!', missed: '✗' };

function renderAsk(theories) {
  if (!theories) {
    show(byId('ask'), noTheories());
    return;
  }
  const { examples } = theories;
  if (!examples.length) {
    show(byId('ask'), el('p', { class: 'note' }, 'This study has no saved examples.'));
    return;
  }
  const chosen = Math.min(state.example, examples.length - 1);
  const all = answers(theories, examples[chosen]);
  // Labels that are predicted, true or have a firing rule come first.
  const silent = all.filter((answer) => verdict(answer) === 'correctly absent' && !answer.fired.length);
  const talking = all.filter((answer) => !silent.includes(answer));
  show(byId('ask'),
    askControls(theories, chosen),
    el('div', { class: 'chips' }, all.filter(({ predicted, truth }) => predicted || truth).map(chip),
      all.some(({ predicted, truth }) => predicted || truth) ? null : el('span', { class: 'muted' }, 'No label is predicted, and no label is true.')),
    talking.map((answer) => answerSection(theories, answer, examples[chosen])),
    silent.length ? silentLabels(theories, silent, examples[chosen]) : null);
}

function askControls(theories, chosen) {
  const { examples } = theories;
  const options = examples.map((example, i) => {
    const names = theories.labels.filter((_, j) => example.truth[j]).map((label) => label.name);
    const text = names.join(', ') || 'no label';
    return [String(i), `${i + 1}: ${text.length > 60 ? `${text.slice(0, 58)}…` : text}`];
  });
  const select = el('select', { id: 'example', onchange: (event) => update({ example: Number(event.target.value) }) });
  fillSelect(select, options, String(chosen));
  const go = (change) => update({ example: (chosen + change + examples.length) % examples.length });
  return el('div', { class: 'controls spread' },
    el('label', { class: 'grow' }, 'Example ', select),
    el('span', { class: 'stepper' },
      el('button', { type: 'button', 'aria-label': 'previous example', onclick: () => go(-1) }, '←'),
      el('b', {}, `${chosen + 1} of ${examples.length}`),
      el('button', { type: 'button', 'aria-label': 'next example', onclick: () => go(1) }, '→')),
    el('span', { class: 'hint' }, `held out in fold ${theories.fold}; the rules were not learned from it`));
}

function chip(answer) {
  const kind = verdict(answer);
  return el('span', { class: `chip ${kind.replace(' ', '-')}` },
    el('span', { 'aria-hidden': 'true' }, `${VERDICT_SIGNS[kind] ?? ''} `), answer.label.name, el('small', {}, ` ${kind}`));
}

function answerSection(theories, answer, example) {
  const { label, own, fired } = answer;
  const says = answer.predicted ? 'predicted' : 'not predicted';
  return el('section', { class: 'group' },
    el('h3', {}, label.name, el('small', {}, `${says}${answer.truth === null ? '' : `, ${answer.truth ? 'true' : 'not true'}`}`)),
    fired.length
      ? [el('p', { class: 'why' }, `${count(fired.length, 'rule')} for ${headOf(label)} fired:`), el('ul', {}, fired.map((rule) => ruleItem(theories, label, rule)))]
      : nearestNode(theories, label, own, example));
}

function nearestNode(theories, label, own, example) {
  const nearest = nearestRule(own, example.values);
  if (!nearest) return el('p', { class: 'why' }, `This theory has no rule for ${headOf(label)}.`);
  const failing = new Set(nearest.failing);
  const classOf = (condition) => (failing.has(condition) ? 'fails' : 'holds');
  return [
    el('p', { class: 'why' }, `No rule for ${headOf(label)} fired. The nearest rule:`),
    el('ul', {}, ruleItem(theories, label, nearest.rule, '', classOf)),
    el('ul', { class: 'failing' }, nearest.failing.map((condition) => {
      const feature = theories.features[condition.feature];
      const [before, name, after] = conditionInWords(failingPart(condition, example.values), feature);
      return el('li', {}, el('span', { 'aria-hidden': 'true' }, '✗ '), `requires ${before}`, el('b', {}, name), after,
        `; the value is ${valueInWords(feature, example.values[condition.feature])}`);
    })),
  ];
}

// The explanations of these labels are created when a reader opens them.
function silentLabels(theories, silent, example) {
  const details = el('details', {}, el('summary', {}, `${count(silent.length, 'label')} correctly not predicted`));
  const fillIn = () => {
    if (details.open && details.childElementCount === 1) {
      details.append(...silent.map((answer) => answerSection(theories, answer, example)));
    }
  };
  details.addEventListener('toggle', fillIn);
  return details;
}

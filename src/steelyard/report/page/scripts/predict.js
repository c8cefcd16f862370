// Predictions: which rules fire → scores of labels (combiner) → labels (decoder), as the library does it.
//
// Scores of rules that vote are integers, so that all sums are exact. `theory.numbers` holds what needs
// logarithms; the library has computed it.

// Which rows satisfy all conditions; computed once per table.
function coverage(table, theory, conditions) {
  let fires = table.covered.get(conditions);
  if (!fires) {
    fires = new Uint8Array(table.n).fill(1);
    for (const condition of conditions) narrow(fires, condition, columnOf(table, theory.features[condition.feature]));
    table.covered.set(conditions, fires);
  }
  return fires;
}

function narrow(fires, { low, high, includesHigh, categories }, column) {
  if (categories) {
    const allowed = new Set(categories.filter((code) => code >= 0));
    for (let i = 0; i < fires.length; i += 1) if (!allowed.has(column[i])) fires[i] = 0;
    return;
  }
  const [least, most] = [low ?? -Infinity, high ?? Infinity];
  for (let i = 0; i < fires.length; i += 1) {
    const value = column[i];
    // NaN, which is missing, satisfies none of these.
    if (!(value >= least && (includesHigh ? value <= most : value < most))) fires[i] = 0;
  }
}

// -- combiners: scores of labels, one array per label -------------------------------------------------

function raise(theory, fired, n, strength) {
  const scores = theory.labels.map(() => new Float64Array(n).fill(-Infinity));
  theory.rules.forEach((rule, r) => {
    const [scoresOfLabel, points] = [scores[rule.label], strength(rule)];
    for (let i = 0; i < n; i += 1) if (fired[r][i] && points > scoresOfLabel[i]) scoresOfLabel[i] = points;
  });
  return scores;
}

function scoreAnyRule(theory, fired, n) {
  const scores = raise(theory, fired, n, strengthOf);
  theory.labels.forEach((label, j) => {
    const [silent, sign] = [silentScore(label), label.target ? 1 : -1];
    scores[j] = scores[j].map((score) => (score === -Infinity ? silent : score) * sign);
  });
  return scores;
}

const COMBINERS = {
  'any-rule': scoreAnyRule,

  // Labels are asked in turn; the last one is right if no rule fires.
  'first-rule': (theory, fired, n) => {
    const scores = scoreAnyRule(theory, fired, n);
    const { order } = theory.combiner;
    for (let i = 0; i < n; i += 1) {
      let undecided = true;
      for (const j of order) {
        if (scores[j][i] > 0) {
          if (!undecided) scores[j][i] *= -1;
          undecided = false;
        }
      }
      if (undecided) scores[order[order.length - 1]][i] += 1;
    }
    return scores;
  },

  'strongest-vote': (theory, fired, n) => {
    const scores = raise(theory, fired, n, (rule) => rule.points);
    return scores.map((ofLabel, j) => {
      const [start, sign] = [theory.combiner.start[j], theory.labels[j].target ? 1 : -1];
      return ofLabel.map((score) => (score === -Infinity ? start : score * sign));
    });
  },

  'sum-of-votes': (theory, fired, n) => {
    const scores = theory.labels.map((_, j) => new Float64Array(n).fill(theory.combiner.start[j]));
    theory.rules.forEach((rule, r) => {
      const [ofLabel, vote] = [scores[rule.label], voteOf(rule)];
      for (let i = 0; i < n; i += 1) if (fired[r][i]) ofLabel[i] += vote;
    });
    return scores;
  },
};

// Points for the presence of the label.
function voteOf(rule) {
  return rule.head ? rule.points : -rule.points;
}

// -- decoders: predicted labels, one array per label --------------------------------------------------

const BEST_WEIGHT = 1000000;
const POINTS_PER_LOG_ODD = 100;
const SHARES = 1000;

// Scores of the known label sets and of the new one, the set of the labels with positive scores.
function scoreSets(theory, scores, row) {
  const { set_points: points, unseen_points: unseen } = theory.numbers;
  const known = theory.labelSets.map(({ labels }, k) => labels.reduce((sum, j) => sum + scores[j][row], 0) + points[k]);
  const alone = scores.reduce((sum, ofLabel) => sum + Math.max(ofLabel[row], 0), 0);
  return { known, fresh: unseen === null ? -Infinity : alone + unseen };
}

const DECODERS = {
  'each-label': (theory, scores) => scores.map((ofLabel, j) => Uint8Array.from(ofLabel, (score) => Number(score > theory.numbers.cuts[j]))),

  'best-label': (theory, scores, n) => {
    const present = scores.map(() => new Uint8Array(n));
    for (let i = 0; i < n; i += 1) {
      let best = 0;
      scores.forEach((ofLabel, j) => { if (ofLabel[i] > scores[best][i]) best = j; });
      present[best][i] = 1;
    }
    return present;
  },

  'best-label-set': (theory, scores, n) => {
    const present = scores.map(() => new Uint8Array(n));
    for (let i = 0; i < n; i += 1) {
      const { known, fresh } = scoreSets(theory, scores, i);
      let best = 0;
      known.forEach((score, k) => { if (score > known[best]) best = k; });
      if (fresh > known[best]) scores.forEach((ofLabel, j) => { present[j][i] = Number(ofLabel[i] > 0); });
      else theory.labelSets[best].labels.forEach((j) => { present[j][i] = 1; });
    }
    return present;
  },

  'label-set-votes': (theory, scores, n) => {
    const present = scores.map(() => new Uint8Array(n));
    for (let i = 0; i < n; i += 1) {
      const { of, all } = shareVotes(theory, scores, i);
      of.forEach((votesOfLabel, j) => { present[j][i] = Number(SHARES * votesOfLabel > theory.numbers.min_share * all); });
    }
    return present;
  },

  'best-f1': (theory, scores, n) => {
    const present = scores.map(() => new Uint8Array(n));
    for (let i = 0; i < n; i += 1) maximiseF1(theory, scores, i).forEach((j) => { present[j][i] = 1; });
    return present;
  },
};

// The votes of the label sets that have any: which labels, how many votes. The new set comes last.
function votingSets(theory, scores, row) {
  const { known, fresh } = scoreSets(theory, scores, row);
  const best = known.reduce((most, score) => Math.max(most, score), fresh);
  const toVotes = (score) => Math.round(BEST_WEIGHT * Math.exp((score - best) / POINTS_PER_LOG_ODD));
  const sets = known.map((score, k) => ({ labels: theory.labelSets[k].labels, votes: toVotes(score) }));
  if (fresh === -Infinity) return sets;
  const positive = scores.map((_, j) => j).filter((j) => scores[j][row] > 0);
  return [...sets, { labels: positive, votes: toVotes(fresh) }];
}

// Votes for each label and of all label sets.
function shareVotes(theory, scores, row) {
  const of = scores.map(() => 0);
  let all = 0;
  for (const { labels, votes: own } of votingSets(theory, scores, row)) {
    all += own;
    labels.forEach((j) => { of[j] += own; });
  }
  return { of, all };
}

// The labels with the largest expected F1. Fractions are added in the order in which the library adds them.
function maximiseF1(theory, scores, row) {
  const sets = votingSets(theory, scores, row);
  const most = sets.reduce((size, { labels }) => Math.max(size, labels.length), 0);
  const bySize = scores.map(() => new Float64Array(most + 1));
  let [best, chosen] = [0, []];
  for (const { labels, votes: own } of sets) {
    if (!labels.length) best += own;
    labels.forEach((j) => { bySize[j][labels.length] += own; });
  }
  for (let k = 1; k <= scores.length; k += 1) {
    const gains = bySize.map((ofLabel) => ofLabel.reduce((sum, own, size) => sum + own / (size + k), 0));
    const top = scores.map((_, j) => j).sort((a, b) => gains[b] - gains[a] || a - b).slice(0, k);
    const total = 2 * top.reduce((sum, j) => sum + gains[j], 0);
    if (total > best) [best, chosen] = [total, top];
  }
  return chosen;
}

// -- together -----------------------------------------------------------------------------------------

// Firing rules, scores and predicted labels of all rows.
function evaluate(theory, table) {
  const fired = theory.rules.map((rule) => coverage(table, theory, rule.conditions));
  const scores = COMBINERS[theory.combiner.name](theory, fired, table.n);
  return { fired, scores, present: decode(theory, fired, scores, table.n) };
}

// What other scripts ask: no other one knows the names of combiners and decoders.
function votes({ combiner }) {
  return addsVotes({ combiner }) || combiner.name === 'strongest-vote';
}

// Whether all votes count, also those against a label.
function addsVotes({ combiner }) {
  return combiner.name === 'sum-of-votes';
}

// Whether a label is predicted exactly where one of its rules fires.
function firingDecides({ combiner, decoder }) {
  return combiner.name === 'any-rule' && decoder.name === 'each-label';
}

function decode(theory, fired, scores, n) {
  if (!firingDecides(theory)) return DECODERS[theory.decoder.name](theory, scores, n);
  // Any firing rule decides, whatever its score.
  const present = theory.labels.map((label) => new Uint8Array(n).fill(1 - label.target));
  theory.rules.forEach((rule, r) => {
    const { target } = theory.labels[rule.label];
    for (let i = 0; i < n; i += 1) if (fired[r][i]) present[rule.label][i] = target;
  });
  return present;
}

// The predictions of an evaluation for one row: labels as 0 and 1, or the class.
function answerOf(theory, present, row) {
  if (!theory.classes.length) return present.map((ofLabel) => ofLabel[row]);
  if (theory.labels.length === 1) return theory.classes[present[0][row]];
  return theory.classes[present.findIndex((ofLabel) => ofLabel[row])];
}

const silences = new WeakMap();

// What is predicted where no rule fires; computed once per theory.
function predictSilence(theory) {
  if (!silences.has(theory)) {
    const none = theory.rules.map(() => new Uint8Array(1));
    silences.set(theory, decode(theory, none, COMBINERS[theory.combiner.name](theory, none, 1), 1));
  }
  return silences.get(theory);
}

// What is predicted for a label where none of its rules fires, in words.
function describeSilence(theory, j) {
  if (['best-label-set', 'label-set-votes', 'best-f1'].includes(theory.decoder.name)) return 'predicted only with label sets that contain it';
  const isPresent = predictSilence(theory)[j][0];
  if (theory.decoder.name === 'best-label') {
    if (isPresent) return 'predicted where no rule fires';
    return votes(theory) ? 'predicted only where all other classes have fewer votes' : 'never predicted';
  }
  return isPresent ? 'always predicted' : 'never predicted';
}

// Theories: attributes, labels, rules, a combiner and a decoder. From the data of the page, and to JSON.
//
// A condition is { feature, low, high, includesHigh } with null for no bound, or { feature, categories } with
// codes. A rule is { key, label, head, conditions, tp, fp, heldOut, points, value, confidence, source, when, note }.

const BOOLEAN_WORDS = { True: ['true', '1', '1.0'], False: ['false', '0', '0.0'] };
const PRESENT_CATEGORIES = ['1', 'True'];

function decodeFeature([name, categories = null, kind = null, least = null, most = null], index) {
  const isBoolean = Boolean(categories?.length) && categories.every((text) => text in BOOLEAN_WORDS);
  const isPresence = categories?.length === 2 && (categories.includes('0') ? categories.includes('1') : isBoolean);
  return { index, name, categories, kind, least, most, isBoolean, reading: isPresence ? 'presence' : kind };
}

function decodeCore(packed) {
  const features = packed.features.map(decodeFeature);
  const positions = new Map(features.map((feature) => [feature.name, feature.index]));
  const core = { ...packed, features, positions };
  core.examples = packed.examples && decodeExamples(packed.examples, core);
  core.use = packed.use.map((used) => decodeUsed(used, core));
  return core;
}

function decodeLabel(plain) {
  return {
    name: plain.name,
    target: plain.target_class,
    positives: plain.n_positives,
    negatives: plain.n_negatives,
    uncovered: [plain.uncovered_positives, plain.uncovered_negatives],
    silent: plain.silent ?? null,
  };
}

function decodeUsed(used, core) {
  const { plain } = used;
  const labels = plain.labels.map(decodeLabel);
  const labelIndex = new Map(labels.map((label, i) => [label.name, i]));
  return {
    ...used,
    key: used.id,
    kind: 'use',
    features: core.features,
    labels,
    rules: plain.rules.map((rule, i) => decodeRule(rule, i, labelIndex, core)),
    rejected: [],
    combiner: plain.combiner,
    decoder: plain.decoder,
    labelSets: plain.label_sets,
    classes: plain.classes,
    heuristic: plain.heuristic,
    share: plain.phi,
    evidenceFrom: plain.evidence_from,
    history: plain.history ?? [],
  };
}

function decodeRule(plain, i, labelIndex, core) {
  const provenance = plain.provenance ?? {};
  return {
    key: String(i),
    label: labelIndex.get(plain.label),
    head: plain.target_class,
    conditions: conditionsFromPlain(plain.body, core),
    tp: plain.tp,
    fp: plain.fp,
    only: plain.only ?? null,
    heldOut: plain.held_out ?? null,
    points: plain.points ?? null,
    value: plain.value,
    confidence: plain.confidence ?? null,
    source: provenance.source ?? 'learned',
    when: provenance.when ?? null,
    note: provenance.note ?? '',
  };
}

// [attribute, operator, value] → conditions, one per attribute; the attributes and categories are known.
function conditionsFromPlain(body, core) {
  const found = new Map();
  for (const [name, operator, value] of body) {
    const feature = core.positions.get(name);
    const condition = found.get(feature) ?? { feature, low: null, high: null, includesHigh: false };
    if (operator === '=' || operator === 'in') {
      const texts = operator === '=' ? [value] : value;
      const { categories } = core.features[feature];
      found.set(feature, { feature, categories: texts.map((text) => categories.indexOf(text)) });
      continue;
    }
    if (operator === '≥') condition.low = value;
    else Object.assign(condition, { high: value, includesHigh: operator === '≤' });
    found.set(feature, condition);
  }
  return [...found.values()];
}

function conditionsToPlain(conditions, features) {
  return conditions.flatMap(({ feature, low, high, includesHigh, categories }) => {
    const { name, categories: texts } = features[feature];
    if (categories) {
      const chosen = categories.map((code) => texts[code]);
      return [chosen.length === 1 ? [name, '=', chosen[0]] : [name, 'in', [...chosen].sort()]];
    }
    const lower = low === null ? [] : [[name, '≥', low]];
    return high === null ? lower : [...lower, [name, includesHigh ? '≤' : '<', high]];
  });
}

// An interval with two ends counts as two conditions.
function countConditions(rule) {
  const ends = ({ low, high }) => Number(low !== null) + Number(high !== null);
  return rule.conditions.reduce((sum, condition) => sum + (condition.categories ? 1 : ends(condition)), 0);
}

// -- theories of the map ----------------------------------------------------------------------------

function decodeCells(packed, core) {
  const labels = packed.labels.map(([name, target, positives, negatives]) => ({ name, target, positives, negatives }));
  const rules = packed.rules.map(([label, tp, fp, ...body], i) => ({
    key: String(i), label, head: labels[label].target, conditions: body.map(decodeCondition), tp, fp, only: null,
    heldOut: packed.counts ? { tp: packed.counts[0][i], fp: packed.counts[1][i] } : null,
    points: null, value: null, confidence: null,
    source: packed.origins[i]?.source ?? 'learned', when: packed.origins[i]?.when ?? null, note: packed.origins[i]?.note ?? '',
  }));
  const rankings = new Map(packed.rankings.map((r) => [`${r.family} ${r.parameter}`, r]));
  return { core, labels, rules, rankings, made: new Map() };
}

function decodeCondition([feature, low, high, includesHigh]) {
  if (Array.isArray(low)) return { feature, categories: low };
  return { feature, low, high, includesHigh: Boolean(includesHigh) };
}

// The rules of a cell, best first; they are shared by all cells.
function rulesAt(cells, family, p, phi) {
  const ranking = cells.rankings.get(`${family} ${familyOf(family).parameters[p]}`);
  const kept = ranking?.kept.find(([share]) => share === study.phis[phi]);
  return { ranking, count: kept ? kept[1] : 0 };
}

// The theory of a cell.
function cellTheory(cells, family, p, phi) {
  const key = `cell ${family} ${familyOf(family).parameters[p]} ${study.phis[phi]}`;
  if (cells.made.has(key)) return cells.made.get(key);
  const { ranking, count: n } = rulesAt(cells, family, p, phi);
  const covered = cells.labels.map(() => [0, 0]);
  const rules = [];
  for (let i = 0; i < n; i += 1) {
    const rule = cells.rules[ranking.rules[i]];
    covered[rule.label][0] += ranking.new_tp[i];
    covered[rule.label][1] += ranking.new_fp[i];
    rules.push(rule);
  }
  const theory = {
    key,
    kind: 'cell',
    features: cells.core.features,
    labels: cells.labels.map((label, j) => ({
      ...label, uncovered: [label.positives - covered[j][0], label.negatives - covered[j][1]], silent: null,
    })),
    rules: rules.sort((a, b) => a.label - b.label),
    rejected: [],
    combiner: { name: 'any-rule' },
    decoder: { name: 'each-label', threshold: 0.5 },
    numbers: { cuts: cells.labels.map(() => 0) },
    labelSets: [],
    classes: [],
    family,
    parameter: familyOf(family).values[p],
    heuristic: ranking?.heuristic ?? '',
    values: ranking?.values && new Map(ranking.values.slice(0, n).map((value, i) => [cells.rules[ranking.rules[i]].key, value])),
    share: study.phis[phi],
    evidenceFrom: { kind: 'training' },
    history: [],
  };
  cells.made.set(key, theory);
  return theory;
}

// The heuristic value of a rule of a cell, which the cells do not contain.
function heuristicValue(theory, rule) {
  if (theory.values) return theory.values.get(rule.key);
  const { positives, negatives } = theory.labels[rule.label];
  const [covered, m] = [rule.tp + rule.fp, theory.parameter];
  if (theory.family === 'm-estimate') {
    const prior = positives / Math.max(positives + negatives, 1);
    if (m === null) return prior;
    return covered + m ? (rule.tp + m * prior) / (covered + m) : 0;
  }
  const recall = rule.tp / Math.max(positives, 1);
  if (m === null) return recall;
  const precision = covered ? rule.tp / covered : 0;
  return precision + recall ? ((1 + m * m) * precision * recall) / (m * m * precision + recall) : 0;
}

// -- what a theory says of itself -------------------------------------------------------------------

function smoothed(tp, fp) {
  return (tp + 1) / (tp + fp + 2);
}

// The confidence of a rule or, without one, its smoothed precision.
function strengthOf(rule) {
  return rule.confidence ?? smoothed(rule.tp ?? 0, rule.fp ?? 0);
}

function silentScore(label) {
  return label.silent ?? smoothed(label.uncovered[0] ?? 0, label.uncovered[1] ?? 0) - 1;
}

function precisionOf({ tp, fp }) {
  return tp + fp ? tp / (tp + fp) : 0;
}

// -- JSON -------------------------------------------------------------------------------------------

// The content of a file that `Theory.from_json` reads.
function theoryToPlain(theory, history = theory.history) {
  return {
    format: 'steelyard theory',
    schema_version: 4,
    heuristic: theory.heuristic,
    phi: theory.share,
    decoder: theory.decoder,
    classes: theory.classes,
    combiner: theory.combiner,
    features: theory.features.map(({ name, categories, kind }) => ({
      name, ...(categories ? { categories } : {}), ...(kind ? { kind } : {}),
    })),
    labels: theory.labels.map(labelToPlain),
    evidence_from: theory.evidenceFrom,
    rules: theory.rules.map((rule) => ruleToPlain(theory, rule)),
    label_sets: theory.labelSets,
    ...(history.length ? { history } : {}),
  };
}

function labelToPlain({ name, target, positives, negatives, uncovered, silent }) {
  return {
    name,
    target_class: target,
    n_positives: positives,
    n_negatives: negatives,
    uncovered_positives: uncovered[0],
    uncovered_negatives: uncovered[1],
    ...(silent === null ? {} : { silent }),
  };
}

function ruleToPlain(theory, rule) {
  const isByHand = rule.source !== 'learned';
  const value = rule.value ?? (isByHand || !theory.family ? null : heuristicValue(theory, rule));
  const provenance = { source: rule.source, ...(rule.when ? { when: rule.when } : {}), note: rule.note };
  return {
    label: theory.labels[rule.label].name,
    target_class: rule.head,
    body: conditionsToPlain(rule.conditions, theory.features),
    tp: rule.tp,
    fp: rule.fp,
    ...(rule.only === null ? {} : { only: rule.only }),
    value,
    ...(rule.points === null ? {} : { points: rule.points }),
    ...(rule.confidence === null ? {} : { confidence: rule.confidence }),
    ...(rule.heldOut && theory.kind === 'use' ? { held_out: rule.heldOut } : {}),
    ...(isByHand || rule.when || rule.note ? { provenance } : {}),
  };
}

// One line per field and per item of a list, as the library writes it.
function plainToText(plain) {
  const lines = Object.entries(plain).map(([key, value]) => {
    const isList = Array.isArray(value) && value.length > 0;
    const text = isList ? `[\n${value.map((item) => `  ${JSON.stringify(item)}`).join(',\n')}\n ]` : JSON.stringify(value);
    return ` "${key}": ${text}`;
  });
  return `{\n${lines.join(',\n')}\n}\n`;
}

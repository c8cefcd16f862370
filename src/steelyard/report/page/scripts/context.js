// What is shown: the data set, the theory as it was learned, the theory with the reader's edits, and examples.

// The latest context; event handlers of the views use it.
let context = null;

function setContext(found) {
  context = found;
}

async function loadContext() {
  const core = await loadCore(state.dataset);
  const needsCells = state.theory === CELL;
  const cells = needsCells ? await loadCells(state.dataset) : null;
  return core ? makeContext(core, cells) : null;
}

function makeContext(core, cells) {
  const base = findTheory(core, cells, state.theory);
  if (!base) return null;
  const own = ownFile?.dataset === state.dataset ? ownFile : null;
  const theory = applyEdits(base, core);
  return { core, cells, base, theory, isEdited: theory !== base, examples: core.examples, own };
}

// A theory by its name in the state: one to use, or the cell of the map.
function findTheory(core, cells, id) {
  const used = core.use.find((one) => one.id === id);
  if (used) return used;
  return cells ? cellTheory(cells, state.family, state.p, state.phi) : null;
}

// Sets of examples to judge theories on: { id, title, table, rows, isSeen }, the most honest one first.
// A set is seen if the theory was learned from it.
function exampleSets({ core, base, examples, own }) {
  const sets = [];
  if (own?.table.truth) sets.push({ id: 'own', title: `your file ${own.name}`, table: own.table, rows: range(own.table.n), isSeen: false });
  if (!examples) return sets;
  const { table, n_training: training } = examples;
  if (base.kind === 'cell' && core.fold !== null) {
    sets.push({ id: 'held-out', title: describeHeldOut(core, examples), table, rows: range(examples.n_held_out), isSeen: false });
    if (table.n > examples.n_held_out) {
      sets.push({ id: 'training', title: 'training examples', table, rows: range(table.n, examples.n_held_out), isSeen: true, isWhole: true });
    }
  } else if (examples.n_held_out === table.n && !training) {
    sets.push({ id: 'unseen', title: 'unseen examples', table, rows: range(table.n), isSeen: false });
  } else {
    const isWhole = table.n >= core.n_examples;
    const title = isWhole ? 'training examples' : `${table.n} of ${core.n_examples} training examples`;
    sets.push({ id: 'training', title, table, rows: range(table.n), isSeen: true, isWhole });
  }
  return sets.filter((set) => set.rows.length);
}

function describeHeldOut(core, { n_held_out: shown, n_test: all }) {
  const which = shown < all ? `${shown} of ${all} held-out examples` : 'held-out examples';
  return `${which} of fold ${core.fold}`;
}

// A theory to use has seen all examples. The cell of the map with the same parameters was learned without one
// fold, so edits of it can be judged on this fold. Null if the page lacks the cell or the examples.
function unseenTwin({ core, base, examples }) {
  const hasExamples = core.fold !== null && examples?.n_held_out > 0;
  if (base.kind !== 'use' || !hasExamples || !study.datasets[state.dataset].embedded.includes('cells')) return null;
  const { family, p, phi } = /** @type {any} */ (chooseUsed(base.id));
  return family === undefined ? null : { theory: CELL, family, p, phi };
}

// The theories to use with the parameters of a cell.
function usedAt(family, p, phi) {
  return usedOf().filter(({ id }) => {
    const choice = /** @type {any} */ (chooseUsed(id));
    return choice.family === family && choice.p === p && choice.phi === phi;
  });
}

function range(end, start = 0) {
  return Array.from({ length: end - start }, (_, i) => start + i);
}

// -- titles -----------------------------------------------------------------------------------------

const RIPPER = {
  R1: 'Ripper R1 (grows rules only)',
  R2: 'Ripper R2 (grows and prunes)',
  R3: 'Ripper R3 (grows, prunes, optimizes)',
};

function usedTitle({ id, method, tuned_for: measure }) {
  if (measure) {
    const families = new Set(usedOf().filter((used) => used.tuned_for).map((used) => used.method));
    const family = families.size > 1 ? ` (${method})` : '';
    return `tuned for ${measureOf(measure)?.title ?? measure}${family}`;
  }
  return RIPPER[id] ?? method;
}

function theoryTitle(theory) {
  if (theory.kind === 'use') return usedTitle(theory);
  const [, family, parameter, phi] = theory.key.split(' ');
  return `cell ${familyOf(family).symbol} = ${parameter}, φ = ${formatShare(Number(phi))}`;
}

// On which examples a theory was learned.
function describeLearning({ core, base, examples }) {
  if (base.kind === 'cell' && core.fold !== null) return `learned without fold ${core.fold}`;
  if (examples && !examples.n_training && examples.n_held_out) return 'learned on other examples';
  return `learned on all ${count(core.n_examples, 'example')}`;
}

// Conditions and single values: does a condition hold, which part fails, and what would have to change?
// A value is a number, a category code or null, which is missing.

function isMet({ low, high, includesHigh, categories }, value) {
  if (value === null || value === undefined) return false;
  if (categories) return value >= 0 && categories.includes(value);
  const isBelow = high === null || (includesHigh ? value <= high : value < high);
  return isBelow && (low === null || value >= low);
}

// A condition without the end of its interval that a value satisfies.
function failingPart(condition, value) {
  if (condition.categories || value === null || value === undefined) return condition;
  const isTooLow = condition.low !== null && value < condition.low;
  return isTooLow ? { ...condition, high: null } : { ...condition, low: null };
}

// Whether no value satisfies it.
function isEmptyCondition({ low, high, includesHigh, categories }) {
  if (categories) return !categories.some((code) => code >= 0);
  return low !== null && high !== null && (includesHigh ? low > high : low >= high);
}

// The next number below.
function nextBelow(value) {
  if (value === 0) return -Number.MIN_VALUE;
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, value);
  view.setBigInt64(0, view.getBigInt64(0) + (value > 0 ? -1n : 1n));
  return view.getFloat64(0);
}

// The largest value that an interval allows; integers stay integers.
function largestAllowed({ high, includesHigh }, isInteger) {
  if (includesHigh) return isInteger ? Math.floor(high) : high;
  return isInteger ? Math.ceil(high) - 1 : nextBelow(high);
}

// The value closest to `value` that satisfies a condition.
function nearestValue(condition, value, isInteger = false) {
  const { low, high, categories } = condition;
  if (categories) return isMet(condition, value) ? value : categories.find((code) => code >= 0);
  const least = low !== null && isInteger ? Math.ceil(low) : low;
  if (value === null || value === undefined) return least ?? largestAllowed(condition, isInteger);
  if (least !== null && value < least) return least;
  return high === null || isMet(condition, value) ? value : largestAllowed(condition, isInteger);
}

// The rules that need the fewest attributes changed, of those the most precise ones.
function nearestRules(rules, values, most = 1) {
  const near = [];
  for (const rule of rules) {
    const failing = rule.conditions.filter((condition) => !isMet(condition, values[condition.feature]));
    if (failing.length && !failing.some(isEmptyCondition)) near.push({ rule, failing });
  }
  near.sort((a, b) => a.failing.length - b.failing.length || strengthOf(b.rule) - strengthOf(a.rule));
  return near.slice(0, most);
}

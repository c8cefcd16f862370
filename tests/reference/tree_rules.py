"""Oracle: the rules of a decision tree, one for each leaf that predicts the target class.

A tree is a nested dictionary of one of three shapes::

    {"counts": [n_0, n_1]}                                          a leaf
    {"feature": 3, "value": 0.5, "<": tree, ">=": tree}             a numeric split
    {"feature": 1, "branches": {"red": tree, "blue": tree}}         a nominal split
"""

from reference.rules import is_missing


def extract_rules(tree, target):
    """Bodies of all leaves whose strict majority is ``target``, from left to right.

    A tree that is a single leaf has no condition to offer and gives no rule.
    """
    return [
        merge(path)
        for path, counts in leaf_paths(tree)
        if path and counts[target] > counts[1 - target]
    ]


def leaf_paths(tree, path=()):
    """Every leaf as ``(conditions from the root, class counts)``."""
    if "counts" in tree:
        return [(list(path), tree["counts"])]
    feature = tree["feature"]
    if "branches" in tree:
        children = [((feature, "=", value), child) for value, child in tree["branches"].items()]
    else:
        children = [((feature, op, tree["value"]), tree[op]) for op in ("<", ">=")]
    return [leaf for condition, child in children for leaf in leaf_paths(child, (*path, condition))]


def merge(path):
    """Merge the conditions on one attribute: the tightest interval, or one equality.

    Attributes keep the order in which they first occur on the path; of an interval the lower
    bound comes first.
    """
    lower, upper, equal = {}, {}, {}
    features = []
    for feature, operator, value in path:
        if feature not in features:
            features.append(feature)
        if operator == ">=":
            lower[feature] = max(value, lower.get(feature, value))
        elif operator == "<":
            upper[feature] = min(value, upper.get(feature, value))
        else:
            assert equal.setdefault(feature, value) == value, "no row has two values at once"
    body = []
    for feature in features:
        if feature in equal:
            body.append((feature, "=", equal[feature]))
        if feature in lower:
            body.append((feature, ">=", lower[feature]))
        if feature in upper:
            body.append((feature, "<", upper[feature]))
    return body


def leaf_of(tree, row):
    """Index, among ``leaf_paths(tree)``, of the leaf that the row reaches.

    None if the row lacks the value of an attribute on its way or has one without a branch.
    """
    n_leaves_to_the_left = 0
    while "counts" not in tree:
        value = row[tree["feature"]]
        if is_missing(value):
            return None
        if "branches" in tree:
            branches = list(tree["branches"].items())
            taken = [i for i, (branch_value, _) in enumerate(branches) if branch_value == value]
            if not taken:
                return None
            taken = taken[0]
            children = [child for _, child in branches]
        else:
            taken = 0 if value < tree["value"] else 1
            children = [tree["<"], tree[">="]]
        n_leaves_to_the_left += sum(len(leaf_paths(child)) for child in children[:taken])
        tree = children[taken]
    return n_leaves_to_the_left

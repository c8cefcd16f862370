"""What a rule violates, straight from the definitions of `Constraints`, one clause after the other."""

import math


def applicable(constraints, label):
    """The constraints on a label's rules: those on all labels, and its own."""
    own = constraints.for_label.get(label)
    return [constraints] if own is None else [constraints, own]


def violates(constraints, scored):
    """Whether a rule with its evidence violates a constraint."""
    return any(
        _breaks(each, scored, scored.rule in constraints.given)
        for each in applicable(constraints, scored.head.label)
    )


def _breaks(constraints, scored, is_given):
    tested = {condition.feature for condition in scored.body}
    n_bounds = sum(_count_bounds(condition) for condition in scored.body)
    is_small = scored.tp + scored.fp < constraints.min_covered or scored.tp < constraints.min_tp
    return (
        bool(tested & set(constraints.forbidden))
        or any(len(tested & set(group)) > 1 for group in constraints.apart)
        or any(_is_wrong_way(constraints, scored, condition) for condition in scored.body)
        or any(
            _lies_in(condition, banned)
            for condition in scored.body
            for banned in constraints.forbidden_conditions
        )
        or (constraints.max_conditions is not None and n_bounds > constraints.max_conditions)
        or (is_small and not is_given)
    )


def _count_bounds(condition):
    if condition.categories is not None:
        return 1
    return int(condition.low != -math.inf) + int(condition.high != math.inf)


def _is_wrong_way(constraints, scored, condition):
    """A bound on the side on which the attribute speaks against the head of the rule."""
    speaks_for = scored.head.target_class == 1
    if condition.feature in constraints.decreasing:
        speaks_for = not speaks_for
    elif condition.feature not in constraints.increasing:
        return False
    return condition.high != math.inf if speaks_for else condition.low != -math.inf


def _lies_in(condition, banned):
    if condition.feature != banned.feature:
        return False
    if banned.categories is not None:
        return all(text in banned.categories for text in condition.categories)
    below = condition.high < banned.high or (
        condition.high == banned.high and (banned.includes_high or not condition.includes_high)
    )
    return condition.low >= banned.low and below

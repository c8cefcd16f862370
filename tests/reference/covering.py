"""Oracle: separate-and-conquer for one label, recounting everything in every round."""

from reference.rules import confusion


def cover(coverages, n_conditions, is_positive, heuristic, revalidate=True, shares=None):
    """Select rules until every positive that a candidate covers is covered.

    Parameters
    ----------
    coverages : list of list of bool
        ``coverages[rule][example]``, candidates of one label.
    n_conditions : list of int
        Length of each candidate's body.
    is_positive : list of bool
        Whether the example has the label's target class.
    heuristic : callable
        ``heuristic(tp, fp, fn, tn)`` → anything that can be ordered; best pass a function that
        returns a Fraction, since ties decide.
    revalidate : bool
        True: a candidate is judged on the examples that no selected rule covers yet. False: it is
        judged once, value and true positives both, on all examples.
    shares : list of float, optional
        A rule competes with its value less the share ``1 - shares[rule]`` of the value's size.

    Returns
    -------
    list of int
        Selected candidates, in order of selection.
    """
    n_examples = len(is_positive)
    uncovered = set(range(n_examples))
    selected = []
    while True:
        best = None
        for rule, covered in enumerate(coverages):
            if not any(covered[j] and is_positive[j] for j in uncovered):
                continue  # it would add no positive, whatever its value
            judged_on = uncovered if revalidate else range(n_examples)
            tp, fp, fn, tn = confusion(
                [covered[j] for j in judged_on], [is_positive[j] for j in judged_on], True
            )
            value = heuristic(tp, fp, fn, tn)
            if shares is not None:
                value = float(value) - (1 - shares[rule]) * abs(float(value))
            key = (value, tp, -n_conditions[rule], -rule)
            if best is None or key > best:
                best = key
        if best is None:
            return selected
        rule = -best[-1]
        selected.append(rule)
        uncovered -= {j for j in range(n_examples) if coverages[rule][j]}

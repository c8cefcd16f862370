"""Oracle: what a rule covers, row by row, and the confusion matrix that follows.

A body is a list of conditions ``(feature index, operator, value)`` with an operator among
``"<"``, ``"<="``, ``">="`` (numeric), ``"="`` and ``"in"`` (nominal). A row is a list of values.
"""


def is_missing(value):
    """None and NaN (the only value that differs from itself) stand for a missing value."""
    return value is None or value != value


def satisfies(condition, row):
    """Whether the row satisfies one condition; a missing value satisfies none."""
    feature, operator, constant = condition
    value = row[feature]
    if is_missing(value):
        return False
    if operator == "<":
        return value < constant
    if operator == "<=":
        return value <= constant
    if operator == ">=":
        return value >= constant
    if operator == "=":
        return value == constant
    if operator == "in":
        return value in constant
    raise ValueError(f"unknown operator {operator!r}")


def covers(body, row):
    """A rule covers a row that satisfies all of its conditions; an empty body covers every row."""
    return all(satisfies(condition, row) for condition in body)


def coverage(bodies, rows):
    """One list of booleans per rule: ``coverage(bodies, rows)[rule][row]``."""
    return [[covers(body, row) for row in rows] for body in bodies]


def confusion(covered, y, target):
    """``(tp, fp, fn, tn)`` of a rule that predicts ``target`` for the rows it covers."""
    tp = fp = fn = tn = 0
    for is_covered, label in zip(covered, y, strict=True):
        if is_covered and label == target:
            tp += 1
        elif is_covered:
            fp += 1
        elif label == target:
            fn += 1
        else:
            tn += 1
    return tp, fp, fn, tn

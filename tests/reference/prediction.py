"""Oracle: the labels a theory predicts."""

from reference.rules import covers


def predict(rows, rules, targets):
    """Predict a 0/1 label vector for every row.

    ``rules`` is a list of ``(label index, body)``, the kept rules in any order; ``targets[i]`` is
    the target class of label i. A label gets its target class if any of its rules covers the row,
    else the other class.
    """
    predictions = []
    for row in rows:
        prediction = [1 - target for target in targets]
        for label, body in rules:
            if covers(body, row):
                prediction[label] = targets[label]
        predictions.append(prediction)
    return predictions

"""Oracle: iterative stratification, one example at a time (Sechidis et al. 2011, Algorithm 1).

Where the paper breaks a tie at random, the lowest index is taken.
"""

from fractions import Fraction


def assign_folds(label_sets, n_folds):
    """Fold of every example, whose labels are given as a set."""
    n_examples = len(label_sets)
    labels = sorted(set().union(*label_sets))
    folds = range(n_folds)
    desired = [Fraction(n_examples, n_folds) for _ in folds]
    desired_of_label = {
        i: [Fraction(sum(i in s for s in label_sets), n_folds) for _ in folds] for i in labels
    }
    fold_of = [None] * n_examples

    def put(example, fold):
        fold_of[example] = fold
        desired[fold] -= 1
        for i in label_sets[example]:
            desired_of_label[i][fold] -= 1

    def examples_left(label):
        return [j for j in range(n_examples) if fold_of[j] is None and label in label_sets[j]]

    while any(examples_left(i) for i in labels):
        rarest = min((i for i in labels if examples_left(i)), key=lambda i: len(examples_left(i)))
        for j in examples_left(rarest):
            # max takes the first of equals, which is the lowest index.
            put(j, max(folds, key=lambda f: (desired_of_label[rarest][f], desired[f])))
    for j in range(n_examples):
        if fold_of[j] is None:
            put(j, max(folds, key=lambda f: desired[f]))
    return fold_of

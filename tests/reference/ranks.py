"""Oracle: ranks of competing methods, ties sharing the average of their places."""


def average_ranks(values, greater_is_better=True):
    """Rank 1 is best; a value's rank is the mean of the places its equals take together."""
    ranks = []
    for value in values:
        better = sum(v > value if greater_is_better else v < value for v in values)
        equal = sum(v == value for v in values)
        # The equals take the places better + 1, ..., better + equal.
        ranks.append(better + (1 + equal) / 2)
    return ranks

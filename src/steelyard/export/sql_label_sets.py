"""Points of labels in SQL → SQL that finds the known label set that fits them best, or lets all vote.

The search is done once for all label columns, with the table's own columns left as they are. Votes are
exponentials, rounded to whole numbers: a SQLite that is built without mathematical functions, or older
than 3.35, has no EXP and cannot run them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from steelyard.model.decoding import BEST_WEIGHT, POINTS_PER_LOG_ODD, POINTS_WITHOUT_VOTE, SHARES

from .sql_text import Dialect, chain, quote_name

if TYPE_CHECKING:
    from steelyard.model.decoding import KnownLabelSets


def label_sets_to_query(
    names: Sequence[str], known: KnownLabelSets, points: Sequence[str], dialect: Dialect
) -> tuple[list[str], str]:
    """Columns of the labels, and what FROM needs besides the table: the predicted set of each row.

    Parameters
    ----------
    names : the labels
    known : KnownLabelSets
    points : expressions for the points of each label, on the table ``t``
    dialect : Dialect
    """
    is_vote = known.min_share is not None
    if dialect.has_lists:
        query = _share_lists(known, points) if is_vote else _fit_lists(known, points)
        test = "list_contains(best.labels, {})"
    else:
        query, test = _fit_values(known, points, dialect), "best.labels LIKE '% {} %'"
    if dialect.has_lateral:
        more = f"CROSS JOIN LATERAL (\n{query}) AS best\n"
    else:
        # SQLite has no LATERAL but for functions, of which this one gives back its argument.
        test = test.replace("best.labels", "best.value")
        more = f"CROSS JOIN json_each(json_array((\n{query}))) AS best\n"
    columns = [
        f"CASE WHEN {test.format(j)} THEN 1 ELSE 0 END AS {quote_name(name)}"
        for j, name in enumerate(names, start=1)
    ]
    return columns, more


def _fit_values(known: KnownLabelSets, points: Sequence[str], dialect: Dialect) -> str:
    """A query for the predicted set as text, ``' 1 3 '`` for the first and third label.

    Each set is a row of sums, which SQLite counts faster than it joins sets with their labels: 1,000
    sets of 100 labels take 0.25 ms a row of the table, joined they take 180 ms.
    """
    labels = [f"p.p{j}" for j in range(1, len(points) + 1)]
    rows = [
        f"({chain([str(count), *(labels[i] for i in members)], '+')}, {place}, {_text(members)})"
        for place, (members, count) in enumerate(_sets_with_points(known), start=1)
    ]
    if known.unseen_points is not None:
        # A new set, of the labels with positive points, comes last: it has to fit better than all.
        score = [f"CASE WHEN {p} > 0 THEN {p} ELSE 0 END" for p in labels]
        members = [f"CASE WHEN {p} > 0 THEN '{j} ' ELSE '' END" for j, p in enumerate(labels, 1)]
        text = chain(["' '", *members], "||")
        rows.append(f"({chain([str(known.unseen_points), *score], '+')}, {len(rows) + 1}, {text})")
    columns = ", ".join(f"p{j}" for j in range(1, len(points) + 1))
    if known.min_share is None:
        found = f"\n    SELECT labels FROM fit ORDER BY score DESC, place {dialect.first_row}\n"
    else:
        found = _share_values(known, len(points), dialect)
    return (
        f"  WITH p ({columns}) AS (VALUES (\n    "
        + ",\n    ".join(points)
        + "\n  ))\n  SELECT (\n    WITH fit (score, place, labels) AS (VALUES\n      "
        + ",\n      ".join(rows)
        + f"\n    ){found}  ) AS labels\n  FROM p\n"
    )


def _share_values(known: KnownLabelSets, n_labels: int, dialect: Dialect) -> str:
    """What follows the table ``fit`` of scores: votes of all sets → the labels with enough of them.

    The best score is that of a window and the votes are sums over equal sets, though all but the new
    one are different, because a data base then computes both just once: SQLite would look for the best
    score again for each set, which takes 250 ms a row of the table for 1,000 sets of 100 labels, and
    take an exponential for each label of a set.
    """
    # PostgreSQL refuses exponentials that are 0 to a double.
    voting = (
        ", lacking (points, labels) AS (\n"
        "      SELECT CAST(score - MAX(score) OVER () AS DOUBLE PRECISION), labels FROM fit\n"
        "    ), voting (votes, labels) AS (\n"
        f"      SELECT SUM(ROUND({BEST_WEIGHT} * EXP(points / {POINTS_PER_LOG_ODD}))), labels\n"
        f"      FROM lacking WHERE points > -{POINTS_WITHOUT_VOTE} GROUP BY labels\n    ), "
    )
    needed = f"{known.min_share_in_thousandths} * n_votes"
    return voting + (_sum_texts(n_labels, needed) if dialect.has_lateral else _sum_members(needed))


def _sum_texts(n_labels: int, needed: str) -> str:
    """Votes of the sets in whose text a label is found: standard SQL."""
    numbers = range(1, n_labels + 1)
    sums = [f"SUM(CASE WHEN labels LIKE '% {j} %' THEN votes ELSE 0 END)" for j in numbers]
    members = [f"CASE WHEN {SHARES} * v{j} > {needed} THEN '{j} ' ELSE '' END" for j in numbers]
    return (
        f"shared (n_votes, {', '.join(f'v{j}' for j in numbers)}) AS (\n"
        "      SELECT SUM(votes),\n        "
        + ",\n        ".join(sums)
        + "\n      FROM voting\n    )\n    SELECT "
        + chain(["' '", *members], "||", "\n      ")
        + "\n    FROM shared\n"
    )


def _sum_members(needed: str) -> str:
    """Votes by the labels of each set, which SQLite reads as JSON: 4 ms a row instead of 18.

    All sets vote for a label 0 as well, so that the most votes that a label has are those of all.
    """
    members = "json_each('[0' || REPLACE(RTRIM(labels), ' ', ',') || ']')"
    return (
        "shared (label, votes) AS (\n      SELECT member.value, SUM(votes)\n"
        f"      FROM voting CROSS JOIN {members} AS member\n      GROUP BY member.value\n"
        "    ), counted (label, votes, n_votes) AS (\n"
        "      SELECT label, votes, MAX(votes) OVER () FROM shared\n    )\n"
        "    SELECT ' ' || GROUP_CONCAT(label, ' ') || ' '\n"
        f"    FROM counted WHERE {SHARES} * votes > {needed}\n"
    )


def _fit_lists(known: KnownLabelSets, points: Sequence[str]) -> str:
    """A query for the best set as a list of the numbers of its labels.

    DuckDB turns a query for each row into joins. There 1,000 rows of sums as in `_fit_values` take 6 ms
    a row of the table, lists take 0.3 ms.
    """
    rows = [
        f"({place}, {count}, {_numbers(members)})"
        for place, (members, count) in enumerate(_sets_with_points(known), start=1)
    ]
    if known.unseen_points is not None:
        # A new set, of the labels with positive points, comes last: it has to fit better than all.
        rows.append(f"({len(rows) + 1}, {known.unseen_points}, NULL)")
    members = "COALESCE(known.labels, p.positive)"
    score = f"known.points + COALESCE(list_sum(list_select(p.points, {members})), 0)"
    return (
        "  WITH known (place, points, labels) AS (VALUES\n    "
        + ",\n    ".join(rows)
        + "\n  ), counted (points) AS (VALUES ([\n    "
        + ",\n    ".join(points)
        + "\n  ])), p AS (\n    SELECT points, "
        + f"[j FOR j IN range(1, {len(points) + 1}) IF points[j] > 0] AS positive\n"
        + "    FROM counted\n  )\n  SELECT (\n"
        + f"    SELECT arg_max({members},\n      ({score}) * {len(rows) + 1} - known.place)\n"
        + "    FROM known\n  ) AS labels\n  FROM p\n"
    )


def _share_lists(known: KnownLabelSets, points: Sequence[str]) -> str:
    """A query for the labels with enough of the votes of all sets as a list of their numbers.

    Scores and votes are lists of all sets, so that DuckDB joins nothing; each label picks the votes of
    the sets that have it. For 1,000 sets of 100 labels that takes 0.4 s, and 3 ms more a row.
    """
    known_sets = ",\n      ".join(
        f"{{'points': {more}, 'labels': {_numbers(members)}}}"
        for members, more in _sets_with_points(known)
    )
    scores = (
        "[s.points + COALESCE(list_sum(list_select(points, s.labels)), 0) FOR s IN [\n      "
        f"{known_sets}\n    ]]"
    )
    owners: list[list[int]] = [[] for _ in points]
    for place, members in enumerate(known.sets):
        for i in members:
            owners[i].append(place)
    new = ""
    if known.unseen_points is not None:
        # A new set, of the labels with positive points, comes last.
        positive = "list_sum([CASE WHEN x > 0 THEN x ELSE 0 END FOR x IN points])"
        scores = f"list_append({scores},\n      {known.unseen_points} + {positive})"
        new = f" + CASE WHEN points[{{}}] > 0 THEN votes[{len(known.sets) + 1}] ELSE 0 END"
    for_label = ",\n    ".join(
        f"COALESCE(list_sum(list_select(votes, {_numbers(places)})), 0)" + new.format(j)
        for j, places in enumerate(owners, start=1)
    )
    vote = f"ROUND({BEST_WEIGHT} * EXP((s - best) / CAST({POINTS_PER_LOG_ODD} AS DOUBLE)))"
    needed = f"{known.min_share_in_thousandths} * n_votes"
    return (
        "  WITH counted (points) AS (VALUES ([\n    "
        + ",\n    ".join(points)
        + f"\n  ])), fit AS (\n    SELECT points, {scores} AS scores FROM counted\n"
        + "  ), lacking AS (\n    SELECT points, scores, list_max(scores) AS best FROM fit\n"
        + f"  ), voting AS (\n    SELECT points, [{vote} FOR s IN scores] AS votes FROM lacking\n"
        + "  ), shared AS (\n    SELECT list_sum(votes) AS n_votes, [\n    "
        + f"{for_label}\n    ] AS of_label FROM voting\n  )\n"
        + f"  SELECT [j FOR j IN range(1, {len(points) + 1}) IF {SHARES} * of_label[j] > {needed}]"
        + " AS labels\n  FROM shared\n"
    )


def _numbers(positions: Sequence[int]) -> str:
    """Positions as a list that counts from 1."""
    return str([i + 1 for i in positions] or "CAST([] AS INTEGER[])")


def _sets_with_points(known: KnownLabelSets) -> zip[tuple[tuple[int, ...], int]]:
    return zip(known.sets, known.points.tolist(), strict=True)


def _text(members: Sequence[int]) -> str:
    return "' " + "".join(f"{i + 1} " for i in members) + "'"

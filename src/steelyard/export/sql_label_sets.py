"""Points of labels in SQL → SQL that finds the known label set that fits them best.

The search is done once for all label columns, with the table's own columns left as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .sql_text import Dialect, chain, quote_name

if TYPE_CHECKING:
    from ..decoding import KnownLabelSets


def label_sets_to_query(
    names: Sequence[str], known: KnownLabelSets, points: Sequence[str], dialect: Dialect
) -> tuple[list[str], str]:
    """Columns of the labels, and what FROM needs besides the table: the best set of each row.

    Parameters
    ----------
    names : the labels
    known : KnownLabelSets
    points : expressions for the points of each label, on the table ``t``
    dialect : Dialect
    """
    if dialect.has_lists:
        query, test = _fit_lists(known, points), "list_contains(best.labels, {})"
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
    """A query for the best set as text, ``' 1 3 '`` for the first and third label.

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
    return (
        f"  WITH p ({columns}) AS (VALUES (\n    "
        + ",\n    ".join(points)
        + "\n  ))\n  SELECT (\n    WITH fit (score, place, labels) AS (VALUES\n      "
        + ",\n      ".join(rows)
        + f"\n    )\n    SELECT labels FROM fit ORDER BY score DESC, place {dialect.first_row}\n"
        + "  ) AS labels\n  FROM p\n"
    )


def _fit_lists(known: KnownLabelSets, points: Sequence[str]) -> str:
    """A query for the best set as a list of the numbers of its labels.

    DuckDB turns a query for each row into joins. There 1,000 rows of sums as in `_fit_values` take 6 ms
    a row of the table, lists take 0.3 ms.
    """
    rows = [
        f"({place}, {count}, {[i + 1 for i in members] or 'CAST([] AS INTEGER[])'})"
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


def _sets_with_points(known: KnownLabelSets) -> zip[tuple[tuple[int, ...], int]]:
    return zip(known.sets, known.points.tolist(), strict=True)


def _text(members: Sequence[int]) -> str:
    return "' " + "".join(f"{i + 1} " for i in members) + "'"

"""``steelyard edit``: a theory → its rules in an editor → a new theory, with what the edit does."""

import os
import shlex
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import steelyard

from .consoles import make_table, print_message, print_result
from .inputs import load_examples, with_theory
from .options import Json, Labels, TheoryOutFile, keep_inputs, option


@with_theory
def edit(
    theory: "steelyard.Theory",
    out: TheoryOutFile,
    file: Annotated[
        Path | None,
        option("Read the rules from this file instead of $EDITOR.", exists=True, dir_okay=False),
    ] = None,
    data: Annotated[
        str | None,
        option("Data with labels: to fit votes, to recount, and to compare.", metavar="DATA"),
    ] = None,
    labels: Labels = None,
    note: Annotated[str, option("Why; kept with every rule that changes.")] = "",
    as_json: Json = False,
) -> None:
    """Edit the rules of a theory as text and write a new theory.

    The edited rules are checked, and the difference is shown.

    Example: steelyard edit theory.json --data patients.csv -o edited.json
    """
    from steelyard._files import read_text
    from steelyard.model.rule_lists import apply_text, write_rules

    keep_inputs(out, *([file] if file else []), *([data] if data else []))
    loaded = None if data is None else load_examples(theory, data, labels)
    X, Y = (None, None) if loaded is None else (loaded.X, loaded.Y)
    text = _open_editor(write_rules(theory)) if file is None else read_text(file)
    if not text.strip():
        raise ValueError(
            "the text is empty, so nothing was changed; to drop all rules, leave a comment (#) in it"
        )
    try:
        edited = apply_text(theory, text, X=X, Y=Y, note=note)
    except ValueError as error:
        raise ValueError(f"{error}{_keep_text(text, out) if file is None else ''}") from None
    if edited is theory:
        print_message("note", f"nothing changed, so {out} is not written")
        return
    edited.to_json(out)
    if data is not None:
        print_message("note", f"the counts of all rules are now those of the examples in {data}")
    comparison = theory.compare(edited, X)
    content: dict[str, Any] = {"theory": str(out), "rules": comparison.to_frame()}
    views: list[Any] = [str(comparison)]
    if loaded is not None:
        pairs = _compare_measures(theory, edited, X, Y)
        content["measures"] = pairs
        views.append(_tabulate(pairs, len(loaded.X)))
    print_result(as_json, content, *views, f"{edited.summary} → {out}")


def _open_editor(text: str) -> str:
    """Return what a person makes of a text in the editor that $VISUAL or $EDITOR names."""
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR")
    if not editor:
        raise ValueError("set $EDITOR to the editor to open, or give the rules with --file")
    with TemporaryDirectory() as folder:
        file = Path(folder) / "theory.rules"
        file.write_text(text, encoding="utf-8")
        code = subprocess.run([*shlex.split(editor), str(file)], check=False).returncode
        if code:
            raise ValueError(f"the editor {editor!r} failed with exit code {code}")
        return file.read_text(encoding="utf-8")


def _keep_text(text: str, out: Path) -> str:
    """Save what was typed, and say where."""
    kept = out.with_name(f"{out.name}.rules")
    kept.write_text(text, encoding="utf-8")
    return f"; your text is kept in {kept}: correct it and use --file {kept}"


def _compare_measures(
    before: "steelyard.Theory", after: "steelyard.Theory", X: Any, Y: Any
) -> dict[str, dict[str, float]]:
    old, new = (theory.evaluate(X, Y).measures for theory in (before, after))
    return {name: {"before": old[name], "after": new[name]} for name in old}


def _tabulate(pairs: dict[str, dict[str, float]], n_examples: int) -> Any:
    from steelyard.measures import MEASURES

    rows = [
        {
            "measure": MEASURES[name].title,
            **{which: f"{100 * value:.2f} %" for which, value in pair.items()},
            "change": f"{100 * (pair['after'] - pair['before']):+.2f}",
        }
        for name, pair in pairs.items()
    ]
    return make_table(rows, "before", "after", "change", title=f"on {n_examples} examples")

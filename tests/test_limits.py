"""`docs/limits.md` says what is accepted and what is refused, from the tests of both; `--update-golden` writes it."""

from __future__ import annotations

import re
from itertools import groupby
from pathlib import Path

import nouns
from nouns.pending import PENDING

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "limits.md"
ERRORS = ROOT / "tests" / "errors"

HEAD = """# Limits

Made from the tests by `pytest tests/test_limits.py --update-golden`. What is accepted has a program that is compared
with CPython in value, and with dual numbers in gradient and second derivative; what is refused is refused before
anything runs, with the line and with what to write instead.

## Accepted
"""
REFUSED = """## Refused

Each has a program in `tests/errors` and its whole message beside it.
"""
TOPICS = {
    "syntax": "Syntax", "names": "Names", "calls": "Calls", "types": "Types", "shapes": "Shapes",
    "mutation": "Mutation", "arguments": "Arguments", "static": "Numbers that must be known while compiling",
    "grad": "Derivatives", "rules": "Derivative rules", "parallel": "Parallel loops",
    "source": "Source text",
}  # fmt: skip


def accepted() -> list[str]:
    """A heading per paragraph, and its nouns with links to their programs."""
    programs = {row.noun: row.name for row in nouns.load()}
    parts = []
    for paragraph, rows in groupby(nouns.listed(), key=lambda row: row[0]):
        links = []
        for _, noun in rows:
            file = programs[noun].partition(".")[0]
            missing = " (not yet)" if noun in PENDING else ""
            links.append(f"[{cell(noun)}](../tests/nouns/{file}.py){missing}")
        parts.append(f"**{paragraph}.**\n" + ",\n".join(links) + ".\n")
    return parts


def refused() -> list[str]:
    """A table per topic: the case, the reason, what to write instead."""
    parts = []
    folders = sorted({path.parent.name for path in ERRORS.glob("*/*.err")}, key=order)
    for folder in folders:
        rows = [refusal(path) for path in sorted((ERRORS / folder).glob("*.err"))]
        table = ["| case | reason | instead |", "|---|---|---|", *rows]
        parts.append(f"### {TOPICS.get(folder, folder.capitalize())}\n\n" + "\n".join(table) + "\n")
    return parts


def order(folder: str) -> tuple[int, str]:
    known = list(TOPICS)
    return known.index(folder) if folder in known else len(known), folder


def refusal(path: Path) -> str:
    text = path.read_text()
    reason = re.sub(r"^\w+: ", "", text.splitlines()[0])
    caret = re.search(r"\| *\^+ (.+)", text)
    if caret and caret[1] not in reason:
        reason += f" ({caret[1]})"
    help_ = re.search(r"^ *help: (.+)", text, re.MULTILINE)
    case = path.stem.replace("_", " ")
    link = f"[{case}](../tests/errors/{path.parent.name}/{path.stem}.py)"
    return f"| {link} | {cell(reason)} | {cell(help_[1]) if help_ else ''} |"


def cell(text: str) -> str:
    """Text that Markdown shows as it stands, in a table too."""
    pieces = text.replace("|", "\\|").split("`")
    return "`".join(
        piece if place % 2 else re.sub(r"([<>*_\[\]])", r"\\\1", piece) for place, piece in enumerate(pieces)
    )


def page() -> str:
    return "\n".join([HEAD, *accepted(), REFUSED, *refused()])


def test_the_page_of_limits_is_up_to_date(update_golden: bool) -> None:
    if update_golden:
        PAGE.write_text(page())
    assert PAGE.read_text() == page()


def test_every_refusal_of_a_construct_has_a_reason() -> None:
    rows = [refusal(path) for path in ERRORS.glob("*/*.err")]
    assert len(rows) >= 120
    assert all(row.split(" | ")[1].strip() for row in rows)


def test_links_lead_to_files() -> None:
    for link in re.findall(r"\]\(([^)]+)\)", page()):
        assert (PAGE.parent / link).exists(), link

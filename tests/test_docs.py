"""`docs/functions.md` lists every function that compiled code knows; `--update-golden` writes it anew."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path

from pullback.infer import public_names

PAGE = Path(__file__).resolve().parents[1] / "docs" / "functions.md"

HEAD = """# Functions that compiled code knows

Made from the registry by `pytest tests/test_docs.py --update-golden`. Names under which Python reaches them; methods of
arrays (`a.sum()`) are the functions of the same name with the array first. Plain Python functions of your own are
followed and compiled along.
"""
TITLES = {
    "builtins": "Builtins", "math": "math", "numpy": "NumPy", "ndarray": "Methods of arrays",
    "dict": "Methods of dicts",
}  # fmt: skip
REFUSED = {"builtins.print"}  # known only for a better message


def module_of(name: str) -> str:
    return name.partition(".")[0]


def page() -> str:
    """The text of the page."""
    parts = [HEAD]
    names = [name for name in public_names() if module_of(name) in TITLES and name not in REFUSED]
    order = list(TITLES)
    for module, group in groupby(sorted(names, key=lambda n: (order.index(module_of(n)), n)), module_of):
        found = ", ".join(f"`{name.partition('.')[2]}`" for name in group)
        parts.append(f"## {TITLES[module]}\n\n{found}\n")
    return "\n".join(parts)


def test_the_page_of_functions_is_up_to_date(update_golden: bool) -> None:
    if update_golden:
        PAGE.write_text(page())
    assert PAGE.read_text() == page()

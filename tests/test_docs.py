"""`docs/functions.md` lists every function that compiled code knows; `--update-golden` writes it anew."""

from __future__ import annotations

import builtins
import collections
import importlib
from itertools import groupby
from pathlib import Path

import numpy as np

from pullback.infer import public_names

PAGE = Path(__file__).resolve().parents[1] / "docs" / "functions.md"

HEAD = """# Functions that compiled code knows

Made from the registry by `pytest tests/test_docs.py --update-golden`. Names under which Python reaches them; methods of
arrays (`a.sum()`) are the functions of the same name with the array first. Plain Python functions of your own are
followed and compiled along.
"""
TITLES = {
    "builtins": "Builtins", "math": "math", "cmath": "cmath", "numpy": "NumPy", "scipy": "SciPy",
    "ndarray": "Methods of arrays", "str": "Methods of strings", "list": "Methods of lists",
    "dict": "Methods of dicts", "set": "Methods of sets", "frozenset": "Methods of frozensets",
    "deque": "Methods of deques", "Counter": "Methods of Counters", "defaultdict": "Methods of defaultdicts",
    "OrderedDict": "Methods of OrderedDicts", "collections": "collections", "itertools": "itertools",
    "functools": "functools", "operator": "operator", "heapq": "heapq", "bisect": "bisect", "statistics": "statistics",
    "copy": "copy", "dataclasses": "dataclasses", "contextlib": "contextlib", "int": "Methods of ints",
    "float": "Methods of floats",
}  # fmt: skip


def module_of(name: str) -> str:
    return name.partition(".")[0]


def owner(module: str) -> object:
    """What has the names: a module of Python's, or a class."""
    if module == "ndarray":
        return np.ndarray
    for place in (builtins, collections):
        if isinstance(found := getattr(place, module, None), type):
            return found
    return importlib.import_module(module)


def is_public(name: str) -> bool:
    """Does Python know the name too: the registry also has rules of our own, and those of operators."""
    module, _, attribute = name.partition(".")
    first = attribute.partition(".")[0]
    return module in TITLES and not first.startswith("_") and hasattr(owner(module), first)


def page() -> str:
    """The text of the page."""
    parts = [HEAD]
    names = [name for name in public_names() if is_public(name)]
    order = list(TITLES)
    for module, group in groupby(sorted(names, key=lambda n: (order.index(module_of(n)), n)), module_of):
        found = ", ".join(f"`{name.partition('.')[2]}`" for name in group)
        parts.append(f"## {TITLES[module]}\n\n{found}\n")
    return "\n".join(parts)


def test_the_page_of_functions_is_up_to_date(update_golden: bool) -> None:
    if update_golden:
        PAGE.write_text(page())
    assert PAGE.read_text() == page()

"""Every noun of the language that must work, each with a small program: value, gradient and second order are checked.

    @noun("nonlocal", args=[(1.5,)])
    def counter(x):
        ...

`nouns.txt` lists the nouns in order; a noun without a program, or a program for no noun, fails the tests. CPython says
what the value is, dual numbers what the derivatives are; ``differences`` marks what dual numbers cannot run, where
central differences stand in for them.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

LIST = Path(__file__).with_name("nouns.txt")


@dataclass(frozen=True, slots=True)
class Noun:
    """One program for a noun. ``given`` makes the arguments anew, since a program may change them.

    ``interpreter``: the interpreter can run it; native code alone imports objects and prints.
    """

    noun: str
    name: str
    function: Callable[..., Any]
    given: Callable[[], list[tuple[Any, ...]]]
    argnums: tuple[int, ...]
    differences: bool
    interpreter: bool


REGISTRY: list[Noun] = []


def noun(
    *nouns: str,
    args: Sequence[tuple[Any, ...]] | Callable[[], list[tuple[Any, ...]]],
    argnums: tuple[int, ...] = (0,),
    differences: bool = False,
    interpreter: bool = True,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register the decorated function under each noun and return it unchanged."""
    given = args if callable(args) else lambda: list(args)

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        name = f"{function.__module__.rpartition('.')[2]}.{function.__name__}"
        for each in nouns:
            REGISTRY.append(Noun(each, name, function, given, argnums, differences, interpreter))
        return function

    return register


def listed() -> list[tuple[str, str]]:
    """(paragraph, noun) in the order of the list."""
    rows, paragraph = [], ""
    for line in LIST.read_text().splitlines():
        if line.startswith("# "):
            paragraph = line[2:]
        elif line:
            rows.append((paragraph, line))
    return rows


def load() -> list[Noun]:
    """Import every file of programs and return all, in the order of the list."""
    for module in sorted(pkgutil.iter_modules(__path__), key=lambda module: module.name):
        importlib.import_module(f"{__name__}.{module.name}")
    order = {name: position for position, (_, name) in enumerate(listed())}
    return sorted(REGISTRY, key=lambda row: (order.get(row.noun, len(order)), row.name))

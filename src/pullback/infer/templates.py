"""Classes that compiled functions make: a Python class that stands for them, and where the parts of it are.

    def f(x):
        class P:                         template P: a class of Python with stand-ins for scale and area
            scale = 2.0 * x       ->     scale and area are parts: fields of a row, made when the statement runs
            def area(self): ...

Inference looks at the template as it looks at any class of the user.  Where it meets a stand-in, it takes the part
instead: of a class whose parts have no values of the run (`static`) by its type, else from the row, which an object of
the class refers to by a field of its own.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from types import CellType, FunctionType
from typing import Any

from pullback.types import Type

__all__ = [
    "CLASS", "Local", "OwnClass", "Part", "is_dynamic", "local_of", "mark", "part_behind", "stand_in", "stays_inside",
]  # fmt: skip

CLASS = " class"  # the field of an object that refers to its class; no name of Python begins with a space
_MARK = "__pullback_local__"
_PART = "__pullback_part__"


@dataclass(eq=False)
class Local:
    """What is known of such a class.

    key: the statement.  static: parts by name, where none has values.  kinds: the types of parts when it was made.
    bases: those of its bases that have rows, with the field that holds each.  cell: of Python, for functions of the
    template that know the class.  partial: some of these functions only stand for what compiled code has.
    """

    key: Hashable
    template: type | None = None
    dynamic: bool = False
    static: dict[str, tuple[Type, tuple[Any, ...]]] = field(default_factory=dict)  # with the numbers in them
    kinds: dict[str, Type] = field(default_factory=dict)
    bases: dict[type, str] = field(default_factory=dict)
    cell: CellType = field(default_factory=CellType)
    partial: bool = False


@dataclass(frozen=True, eq=False)
class Part:
    """Stands in a template for what is no function."""

    local: Local
    name: str


@dataclass(frozen=True, slots=True)
class OwnClass:
    """The code of what stands, in a function of a class body, for the class: it is known when the function is looked up
    there."""

    key: Hashable


def local_of(python: type) -> Local | None:
    """What is known of a class, if it is a template."""
    found = vars(python).get(_MARK)
    return found if isinstance(found, Local) else None


def mark(template: type, local: Local) -> None:
    """Let a class be a template."""
    type.__setattr__(template, _MARK, local)


def stand_in(function: FunctionType, local: Local, name: str) -> FunctionType:
    """Let a function stand for a part."""
    function.__dict__[_PART] = Part(local, name)
    return function


def part_behind(value: object) -> Part | None:
    """The part that something in a template stands for."""
    if isinstance(value, Part):
        return value
    found = value.__dict__.get(_PART) if isinstance(value, FunctionType) else None
    return found if isinstance(found, Part) else None


def stays_inside(python: type) -> bool:
    """Can Python not have the class, or objects of it: its methods need what only compiled code has."""
    found = [local for base in python.__mro__ if (local := local_of(base)) is not None]
    return any(local.dynamic or local.partial for local in found)


def is_dynamic(python: type) -> bool:
    """Do objects of the class refer to a row with its parts."""
    return any((local := local_of(base)) is not None and local.dynamic for base in python.__mro__)

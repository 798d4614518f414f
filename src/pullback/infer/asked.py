"""What inference asked for: numbers that must be known while compiling, and where they are to come from.

    Demanded({parameter 1 of norm})     raised where an axis is needed; `infer_entry` notes it and infers anew

An `Ask` names a place: a parameter of a function, what a global or a default holds, a field of the objects of a class,
the count of a loop (which is then written out), a comprehension (whose list is then of fixed structure).
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from pullback.diagnostic import UNKNOWN, Span
from pullback.ir.node import Op, Value
from pullback.runtime.fixed import Path
from pullback.types import Closure, Dict, Iterator, List, Ref, Tuple, Union

if TYPE_CHECKING:
    from pullback.infer.engine import Frame

__all__ = ["Ask", "Asked", "Demanded", "Reason", "mentions", "note"]


@dataclass(frozen=True, slots=True)
class Ask:
    """kind and key: "parameter" (code, position), "place" (of a hidden value), "field" (class, name), "loop" or "made"
    (op of untyped IR)."""

    kind: Literal["parameter", "place", "field", "loop", "made"]
    key: Hashable
    path: Path = ()


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a number is not known while compiling, and where it comes from; kept: from an object or a list."""

    text: str
    span: Span = UNKNOWN
    kept: bool = False


class Demanded(Exception):
    """These numbers must be known: inference starts again, with calls that pass them on as part of the types."""

    def __init__(self, asks: Iterable[Ask]) -> None:
        super().__init__()
        self.asks = frozenset(asks)


def note(cx: Frame, ask: Ask, value: Value) -> None:
    """Ask for what a number depends on, or note why it cannot be known."""
    found: set[Ask] = set()
    reason = cx.definitions.trace(value, found)
    if reason is None and not found <= cx.session.asked.asks:
        raise Demanded(found)
    if reason is not None:
        span = reason.span if reason.span.line else cx.span
        cx.session.asked.reasons.setdefault(ask, Reason(reason.text, span))


def mentions(place: object, parts: Collection[object]) -> bool:
    """Is one of the parts in the key of a heap, or do references in a type lead to one."""
    match place:
        case tuple():
            return any(mentions(part, parts) for part in place)
        case Ref(heap):
            return heap in parts
        case Tuple(items) | List(items) | Dict(_, items) | Union(items) | Iterator(_, items) | Closure(_, items):
            return mentions(items, parts)
    return isinstance(place, Op) and place in parts


@dataclass(eq=False, slots=True)
class Asked:
    """All that was asked for in one compilation.

    reasons: why what was asked for was not known at some call.  moved: comprehensions, and lists and tuples of ranges,
    that are of run-time length.
    """

    asks: set[Ask] = field(default_factory=set)
    paths: dict[tuple[str, Hashable], set[Path]] = field(default_factory=dict)
    parameters: dict[Hashable, set[int]] = field(default_factory=dict)  # by code
    fields: dict[type, set[str]] = field(default_factory=dict)  # by class
    reasons: dict[Ask, Reason] = field(default_factory=dict)
    moved: set[Op] = field(default_factory=set)

    def add(self, asks: Iterable[Ask]) -> None:
        """Note what is asked for."""
        for ask in asks:
            self.asks.add(ask)
            self.paths.setdefault((ask.kind, ask.key), set()).add(ask.path)
            if ask.kind == "parameter":
                assert isinstance(ask.key, tuple)
                code, position = ask.key
                self.parameters.setdefault(code, set()).add(position)
            if ask.kind == "field":
                assert isinstance(ask.key, tuple)
                cls, name = ask.key
                self.fields.setdefault(cls, set()).add(name)

    def paths_of(self, kind: str, key: Hashable) -> set[Path]:
        """Which parts of a parameter or place."""
        return self.paths.get((kind, key), set())

    def has(self, kind: str, key: Hashable) -> bool:
        """Was a loop or comprehension asked for."""
        return (kind, key) in self.paths

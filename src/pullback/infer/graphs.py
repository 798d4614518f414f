"""Trees and lists of objects in gradients by closures: the ops around the call of a function, of untyped IR.

    w = py.walked(x); c = py.templates(w)          begin: before the call, while x is as it was given
    py.carried{(0,), ()}(w, c)                     gradients: after the backpropagator has run

What moves floats is in functions of its own, for a function that makes twins of tables does not know them itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pullback.infer.engine import Code, Frame
from pullback.infer.made import function
from pullback.ir.build import Builder
from pullback.ir.node import Block, Value
from pullback.prims.base import get

__all__ = ["Cotangents", "Graph"]

_TWIN, _BASE = (0,), ()


def _one(builder: Builder, name: str, operands: Sequence[Value], **attrs: object) -> Value:
    return builder.append_untyped(get(f"py.{name}"), operands, attrs=attrs).result


def _act(cx: Frame, builder: Builder, name: str, walks: Sequence[Value], **attrs: object) -> None:
    """A call of a function that only does this op."""
    key = (name, tuple(attrs.items()))
    if key not in cx.session.codes:
        params = [Value(None, f"w{i}") for i in range(len(walks))]
        inner = Builder(Block(params))
        inner.append_untyped(get(f"py.{name}"), params, attrs=attrs, results=0)
        cx.session.codes[key] = Code(function(name, params, inner, [_one(inner, "tuple", [])]), {})
    _one(builder, "apply", walks, code=cx.session.codes[key])


@dataclass(frozen=True, slots=True)
class Graph:
    """The objects of some arguments, and blank copies of them.  In a pullback they are what it captured."""

    walk: Value
    copies: Value

    @classmethod
    def begin(cls, cx: Frame, builder: Builder, given: Sequence[Value], places: Sequence[int]) -> Graph | None:
        """Of the arguments at these places among what is given: the function, then its arguments.  None of none."""
        if not places:
            return None
        walk = _one(builder, "walked", [given[1 + place] for place in places])
        copies = _one(builder, "templates", [walk])
        if cx.session.shadowed:
            builder.append_untyped(get("py.apart"), [walk, *given], results=0)
            _act(cx, builder, "shares", [walk, copies], source=_BASE, target=_TWIN, back=True)
        return cls(walk, copies)

    @property
    def values(self) -> list[Value]:
        """What a pullback captures."""
        return [self.walk, self.copies]

    def clear(self, cx: Frame, builder: Builder) -> None:
        """What an earlier call of a pullback left in the arrays."""
        if cx.session.shadowed:
            builder.append_untyped(get("py.emptied"), [self.copies], attrs={"path": _BASE}, results=0)

    def gradients(
        self, cx: Frame, builder: Builder, places: Sequence[int], direct: Mapping[int, Value]
    ) -> dict[int, Value]:
        """The gradients by the arguments at these places; direct: those by what they hold outside of objects."""
        _act(cx, builder, "carried", [self.walk, self.copies], source=_TWIN, target=_BASE, back=False, taken=False)
        return self._merged(builder, self.copies, places, direct)

    def gradients_again(
        self, cx: Frame, builder: Builder, places: Sequence[int], direct: Mapping[int, Value]
    ) -> dict[int, Value]:
        """The same for a pullback, which may be called more than once: each call makes objects of its own."""
        copies = _one(builder, "part", [self.copies], index=0)
        walk = _one(builder, "walked", [_one(builder, "part", [copies], index=i) for i in range(len(places))])
        made = _one(builder, "templates", [walk])
        _act(cx, builder, "carried", [self.walk, made], source=_TWIN, target=_BASE, back=False, taken=False)
        if cx.session.shadowed:
            _act(cx, builder, "added", [walk, made], source=_BASE, target=_BASE, back=False)
        return self._merged(builder, made, places, direct)

    def _merged(
        self, builder: Builder, copies: Value, places: Sequence[int], direct: Mapping[int, Value]
    ) -> dict[int, Value]:
        values, found = _one(builder, "part", [copies], index=0), dict[int, Value]()
        for index, place in enumerate(places):
            found[place] = copy = _one(builder, "part", [values], index=index)
            if place in direct:
                found[place] = _one(builder, "merged", [copy, direct[place]])
        return found


@dataclass(frozen=True, slots=True)
class Cotangents:
    """The objects of a result, and copies of them with the shadows of its arrays."""

    walk: Value
    shadows: Value

    @classmethod
    def begin(cls, cx: Frame, builder: Builder, result: Value) -> Cotangents:
        walk = _one(builder, "walked", [result])
        shadows = _one(builder, "templates", [walk])
        if cx.session.shadowed:
            _act(cx, builder, "shares", [walk, shadows], source=_TWIN, target=_BASE, back=False)
        return cls(walk, shadows)

    @property
    def values(self) -> list[Value]:
        """What a pullback captures."""
        return [self.walk, self.shadows]

    def give(self, cx: Frame, builder: Builder, result: Value, cotangent: Value) -> Value:
        """The cotangent in the types of the result, whose objects get its floats as sensitivities."""
        given = _one(builder, "likened", [result, cotangent])
        walk = _one(builder, "walked", [given])
        builder.append_untyped(get("py.alike"), [self.walk, walk], results=0)
        _act(cx, builder, "carried", [self.walk, walk], source=_BASE, target=_TWIN, back=True, taken=False)
        if cx.session.shadowed:
            _act(cx, builder, "added", [walk, self.shadows], source=_BASE, target=_BASE, back=False)
        return given

"""Exceptions that are caught: what inference makes of `try`, until `passes.catch` makes flags of it.

    r... = try{guard, kinds}(x...) {body: () -> r...} {handler: (exception, x...) -> r...}
    mark{guard, before}(v...)                 in the body: of the handler's x... those after the ones of the types
                                              `before` are v... from here on
    b = caught_is{kinds}(exception)           is its class one of these, or made from one
    k = caught_member{members}(exception)     which of these failures (types.Failure) it is, i64
    v... = caught_values{member, types}(exception)    what it carries, where it is that one
    reraise{members}(exception)               raises it again, as from where it was raised

`kinds` are names of classes (prims.exceptions).  An exception value has the type EXCEPTION.  The body raises by
`check`, whose attribute `failure` tells the structure of what it carries, if that is not just a text with numbers; an
attribute `cause`, a type as well, says that the last operands are those of what it is raised from.
"""

from __future__ import annotations

from collections.abc import Sequence

from pullback.prims.base import Attrs, Prim, register
from pullback.types import BOOL, EXCEPTION, I64, Machine

__all__ = ["PRIMS"]


def _stated(operands: Sequence[Machine], attrs: Attrs) -> tuple[Machine, ...]:
    raise TypeError("the result types of a structured op are given where it is built")


def _nothing(operands: Sequence[Machine], attrs: Attrs) -> tuple[Machine, ...]:
    return ()


def _exception(operands: Sequence[Machine]) -> None:
    if list(operands) != [EXCEPTION]:
        raise TypeError("an exception is needed")


def _is(operands: Sequence[Machine], attrs: Attrs) -> tuple[Machine, ...]:
    _exception(operands)
    return (BOOL,)


def _member(operands: Sequence[Machine], attrs: Attrs) -> tuple[Machine, ...]:
    _exception(operands)
    return (I64,)


def _values(operands: Sequence[Machine], attrs: Attrs) -> tuple[Machine, ...]:
    _exception(operands)
    types = attrs["types"]
    assert isinstance(types, tuple)
    return types


def _reraise(operands: Sequence[Machine], attrs: Attrs) -> tuple[Machine, ...]:
    _exception(operands)
    return ()


_RAISE = frozenset({"raise"})

PRIMS = tuple(
    register(p)
    for p in (
        Prim(name="try", doc="a block, and another for what it raises", infer=_stated, derivative="structural"),
        Prim(name="mark", doc="what a handler sees from here on", infer=_nothing, derivative="structural",
             effects=frozenset({"write"})),
        Prim(name="caught_is", doc="is an exception of some classes", infer=_is),
        Prim(name="caught_member", doc="which failure an exception is", infer=_member),
        Prim(name="caught_values", doc="what an exception carries", infer=_values, derivative="structural"),
        Prim(name="reraise", doc="raise an exception again", infer=_reraise, derivative="structural", effects=_RAISE),
    )
)  # fmt: skip

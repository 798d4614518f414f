"""Strings at run time.  A string is an i64: the address of a Python str that the running call keeps alive.

    t = text_call{function, kinds, type, constant}(operands...)      see `runtime.texts`; never raises, no effects
    r = text_effect{function, kinds, type, constant}(operands...)    the same for what prints or may raise

kinds: how each operand is seen, one letter each (runtime.texts.KINDS), an array as "a" + dtype + rank.  type: of the
result, None if there is none.  constant: a string known while compiling, the function's first argument.
Equal strings of a call are one object: they are compared by address.
"""

from __future__ import annotations

from collections.abc import Sequence

from pullback.prims.base import Attrs, Prim, register
from pullback.types import Machine

__all__ = ["MOST_CELLS", "PRIMS"]

MOST_CELLS = 16  # machine words that the operands of one op may take


def _result(operands: Sequence[Machine], attrs: Attrs) -> tuple[Machine, ...]:
    kinds, type_ = attrs["kinds"], attrs["type"]
    if not isinstance(kinds, tuple) or len(kinds) != len(operands):
        raise TypeError("a text op needs a kind for each operand")
    if type_ is None:
        return ()
    assert isinstance(type_, Machine)
    return (type_,)


PRIMS = tuple(
    register(p)
    for p in (
        Prim(name="text_call", doc="a function of strings and numbers", infer=_result),
        Prim(name="text_effect", doc="a function of strings and numbers that prints or may raise", infer=_result,
             effects=frozenset({"write", "raise"})),
    )
)  # fmt: skip

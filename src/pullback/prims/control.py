"""Control: structured ops, calls, checks, and the requests for derivatives that `ad` expands.

`if`, `while`, `for` are described in ir.node.  In addition

    r... = for{parallel}(n, init...) {...}       over prange: its trips are independent (see passes.parallel)
    for{threads}(n) {...}                        blocks of such trips: they touch different memory
    r... = call{callee}(args...)                 a function of the same Program
    r... = hidden{key}()                         a value read at call time; inference turns it into a parameter
    twins{path, zero}()                          twins of tables begin here, or are cleared; inference makes ops of it
    check{exception, message}(ok, payload...)    raises unless `ok`; the only way compiled code raises.  In the message
                                                 {0}, {1}, ... stand for the payload: at most MOST_PAYLOAD numbers;
                                                 with a `failure` see prims.raising
    r..., g... = value_and_grad{callee, wrt, outputs}(args...)
    r..., t... = jvp{callee, wrt}(args..., tangents...)
    r..., record = vjp{callee, wrt, box}(args...)
    g... = pullback{callee, wrt, box}(record, cotangents...)

For the last four, `wrt` is the tuple of argument slots that are differentiated (float scalars and float arrays only).
value_and_grad seeds the cotangent 1 at each of the callee's results in `outputs` (float scalars) and returns all
results, then a gradient per slot of `wrt`, of the slot's own type (arrays: contiguous).  With seeded=True the
cotangents of `outputs` (which may be arrays) are given after the arguments.  jvp returns all results, then
a tangent per float result (types.is_float), zero-filled where it does not depend.  vjp returns all results and a
residual record; pullback takes it with a cotangent per float result and returns a gradient per slot of `wrt`.
"""

from __future__ import annotations

from collections.abc import Sequence

from pullback.prims.base import Attrs, Prim, register
from pullback.types import BOOL, Machine

__all__ = ["MOST_PAYLOAD", "PRIMS"]

MOST_PAYLOAD = 16


def _stated(operands: Sequence[Machine], attrs: Attrs) -> tuple[Machine, ...]:
    raise TypeError("the result types of a structured op are given where it is built")


def _check(operands: Sequence[Machine], attrs: Attrs) -> tuple[Machine, ...]:
    if not operands or operands[0] != BOOL:
        raise TypeError("check takes a bool first")
    if len(operands) > 1 + MOST_PAYLOAD and "failure" not in attrs:
        raise TypeError(f"check carries at most {MOST_PAYLOAD} numbers")
    return ()


_EVERYTHING = frozenset({"read", "write", "raise", "allocate", "call"})

PRIMS = tuple(
    register(p)
    for p in (
        Prim(name="if", doc="one of two blocks", infer=_stated, derivative="structural"),
        Prim(name="while", doc="repeat body while cond", infer=_stated, derivative="structural"),
        Prim(name="for", doc="repeat body for k = 0 .. n-1", infer=_stated, derivative="structural"),
        Prim(name="call", doc="call of a compiled function", infer=_stated, derivative="structural",
             effects=_EVERYTHING),
        Prim(name="hidden", doc="a value of a global, cell or default", infer=_stated),
        Prim(name="twins", doc="where twins of tables begin; inference makes tables of it", infer=_stated,
             effects=_EVERYTHING),
        Prim(name="check", doc="raise attrs[exception](attrs[message]) unless the operand holds", infer=_check,
             effects=frozenset({"raise"})),
        Prim(name="value_and_grad", doc="reverse mode, scalar output", infer=_stated, derivative="structural",
             effects=_EVERYTHING),
        Prim(name="jvp", doc="forward mode", infer=_stated, derivative="structural", effects=_EVERYTHING),
        Prim(name="vjp", doc="reverse mode, first half", infer=_stated, derivative="structural", effects=_EVERYTHING),
        Prim(name="pullback", doc="reverse mode, second half", infer=_stated, derivative="structural",
             effects=_EVERYTHING),
    )
)  # fmt: skip

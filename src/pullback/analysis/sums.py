"""Which additions a loop does nothing with but carry them on.

    for n, s:  body (k, a):  b = add a, x;  c = sub b, y;  yield c         the two ops: s is a sum
"""

from __future__ import annotations

from pullback.ir.node import Block, Op
from pullback.ir.walk import uses
from pullback.types import Scalar

__all__ = ["carried_sums"]


def carried_sums(body: Block) -> list[Op] | None:
    """The additions of a `for` that lead from carried values to their next ones; None if one of these is no sum."""
    count = uses(body)
    reader = {value: op for op in body.ops for value in op.operands}
    found: list[Op] = []
    for param, result in zip(body.params[1:], body.results, strict=True):
        value = param
        while value is not result:
            op = reader.get(value)
            if count.get(value) != 1 or op is None or not isinstance(value.type, Scalar):
                return None
            if op.name != "add" and not (op.name == "sub" and op.operands[0] is value):
                return None
            found.append(op)
            value = op.result
        if value is not param and count[value] != 1:
            return None
    return found

"""The scalar rules of both modes, from the partials that each primitive states.

    y = sin x      push: dy = cos x * dx            pull: x gets cos x * c
    y = sqrt x     push: zmul(0.5 / y, dx)          pull: x gets zmul(0.5 / y, c)      the partial may be infinite
    y = sub x, z   push: dx - dz                    pull: x gets c, z gets -c
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pullback.diagnostic import InternalError
from pullback.ir.node import Op, Value
from pullback.prims.base import NOT_DIFFERENTIABLE, Emitter, Linear, Partial, Prim

__all__ = ["pull_scalar", "push_scalar"]


def _one(e: Emitter, value: Value) -> bool:
    """Is the value the constant 1 of this emitter."""
    return value.type is not None and e._constants.get(("float", "1.0", value.type)) is value


def _scale(e: Emitter, partial: Partial | float, factor: Value) -> Value | None:
    """partial * factor; None for zero."""
    strong = isinstance(partial, Partial) and partial.strong
    slope = partial.value if isinstance(partial, Partial) else partial
    if isinstance(slope, Value):
        if _one(e, factor):
            return slope
        return e("zmul" if strong else "mul", slope, factor)
    if slope == 0.0:
        return None
    if slope == 1.0:
        return factor
    if slope == -1.0:
        return e("neg", factor)
    return e("mul", e.like(slope, factor), factor)


def _derivative(op: Op) -> object:
    if not isinstance(op.prim, Prim) or op.prim.derivative == "structural":
        raise InternalError(f"no rule of differentiation for {op.name}")
    return op.prim.derivative


def pull_scalar(e: Emitter, op: Op, cotangent: Value, wanted: Sequence[bool]) -> Iterator[tuple[Value, Value]]:
    """Operands with their contributions.  `wanted` tells which operands are active."""
    rule = _derivative(op)
    if rule == NOT_DIFFERENTIABLE:
        return
    if isinstance(rule, Linear):
        for operand, want, part in zip(op.operands, wanted, rule.transpose(e, op, cotangent), strict=True):
            if want and part is not None:
                yield operand, part
        return
    assert callable(rule)
    for operand, want, partial in zip(op.operands, wanted, rule(e, op), strict=True):
        if want and partial is not None:
            part = _scale(e, partial, cotangent)
            if part is not None:
                yield operand, part


def push_scalar(e: Emitter, op: Op, tangents: Sequence[Value | None]) -> Value | None:
    """The tangent of the only result; None where it is zero.  The op itself is already emitted."""
    rule = _derivative(op)
    if rule == NOT_DIFFERENTIABLE or all(t is None for t in tangents):
        return None
    if isinstance(rule, Linear):
        return rule.pushforward(e, op, tangents)
    assert callable(rule)
    total: Value | None = None
    for tangent, partial in zip(tangents, rule(e, op), strict=True):
        if tangent is None or partial is None:
            continue
        negative = partial == -1.0 and total is not None
        part = tangent if negative else _scale(e, partial, tangent)
        if part is not None:
            total = part if total is None else e("sub" if negative else "add", total, part)
    return total

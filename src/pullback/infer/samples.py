"""What Python itself says of an operation that has no meaning for its operands, found by trying it on samples.

    t = (x, x) if x < 0.0 else x
    t * 2.0            only the tuple is unsuitable: that path raises what  (1.0, 1.0) * 2.0  raises
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from pullback.types import Constant, Dict, DType, List, NoneType, Number, Ref, Str, Text, Tuple, Type

__all__ = ["BINARY", "COMPARE", "UNARY", "python_error", "python_message"]

BINARY: dict[str, Callable[..., object]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "//": operator.floordiv,
    "%": operator.mod, "**": operator.pow, "@": operator.matmul, "&": operator.and_, "|": operator.or_,
    "^": operator.xor, "<<": operator.lshift, ">>": operator.rshift,
}  # fmt: skip
UNARY: dict[str, Callable[..., object]] = {"-": operator.neg, "+": operator.pos, "~": operator.invert}
COMPARE: dict[str, Callable[..., object]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip


def python_error(operation: Callable[..., Any], *types: Type) -> tuple[str, str] | None:
    """Exception and message of `operation` on values of these types; None if there are no samples or it succeeds."""
    try:
        samples = [_sample(type_) for type_ in types]
    except LookupError:
        return None
    try:
        operation(*samples)
    except Exception as error:
        return type(error).__name__, str(error)
    return None


def _sample(type_: Type) -> Any:
    match type_:
        case NoneType():
            return None
        case Constant(value) | Str(value):
            return value
        case Text():
            return ""
        case Number(dtype, True):
            return {DType.BOOL: True, DType.I64: 1, DType.F64: 1.0}[dtype]
        case Tuple(items):
            return tuple(map(_sample, items))
        case List(items):
            return list(map(_sample, items))
        case Dict(keys, items):
            return dict(zip(keys, map(_sample, items), strict=True))
        case Ref(heap):
            kind = {"list": list, "dict": dict, "set": set, "tuple": tuple}.get(heap.title)
            return kind() if kind is not None else type(heap.title, (), {})()
    raise LookupError(type_)


def python_message(operation: Callable[[], object]) -> str:
    """The message of the running Python for an error, so that ours is the same."""
    try:
        operation()
    except (ArithmeticError, ValueError) as error:
        return str(error)
    raise AssertionError("the operation did not fail")

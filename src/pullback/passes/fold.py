"""Constant folding and algebra on scalars, exact in IEEE and in wrapping integers.

    two: f64 = const 2.0
    a = add two, two            ->  const 4.0
    b = mul x, one              ->  x
    c = pow x, two              ->  powi n=2 x
    d = sub y, (neg x)          ->  add y, x
    e = not_ (lt i, j)          ->  ge i, j            (ints; of floats only == and != have an exact opposite)
    f = isinf (sin x)           ->  false

What is *not* done because it changes a number: x * 0, x + 0.0 where x may be -0.0, reassociation, x / c as x * (1/c)
unless c is a power of two.
Three rules give up the sign of a zero: `zmul` and `accumulate` of derivatives have no sign of zero of their own, so
with a factor known to be finite and not 0 `zmul` becomes `mul`, and zeros are not accumulated.  Elementary functions
are not folded: at run time they are pullback's own, at compile time they would be the C library's.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from pullback.ir.node import Function, Op, Program, Value
from pullback.passes.signs import (
    has_no_negative_zero,
    is_finite,
    is_finite_cast,
    is_nonnegative,
    is_positive,
)
from pullback.passes.walker import Constant, Rule, Walker
from pullback.prims import REGISTRY, Prim
from pullback.prims.base import Elementary
from pullback.prims.scalar import NUMPY_DTYPES
from pullback.types import BOOL, DType, Scalar

__all__ = ["SCALAR_RULES", "run"]


def run(function: Function, program: Program) -> None:
    """Fold and simplify the scalar ops of the function."""
    Walker(SCALAR_RULES).function(function)


# -------------------------------------------------------------------------------------------------- constants

# Lowered to a library function, but with one right answer, so that it does not matter who computes it.
_EXACT = frozenset({"remainder", "nextafter"})
_NOT_FOLDED = frozenset({"fma", "powi"})  # `powi` by its rule; the interpreter's fma rounds twice


def _foldable(prim: Prim) -> bool:
    if prim.impl is None or prim.effects or prim.name in _NOT_FOLDED or prim.name == "select":
        return False
    library = prim.lower is not None and any(isinstance(code, Elementary) for code in prim.lower.values())
    return not library or prim.name in _EXACT


def _fold(walker: Walker, op: Op, prim: Prim) -> Value | None:
    """The op computed now, when all operands are constants."""
    numbers: list[np.generic] = []
    for value in op.operands:
        number = walker.constant_of(value)
        if number is None:
            return None
        assert isinstance(value.type, Scalar)
        numbers.append(NUMPY_DTYPES[value.type.dtype](number))
    result = op.results[0].type
    assert isinstance(result, Scalar) and prim.impl is not None
    with np.errstate(all="ignore"):
        answer = NUMPY_DTYPES[result.dtype](prim.impl(*numbers, **op.attrs))
    return walker.constant(answer.item(), result)


# -------------------------------------------------------------------------------------------------- arithmetic


def _is_float(value: Value) -> bool:
    return isinstance(value.type, Scalar) and value.type.dtype.is_float


def _wrapped(number: int, type_: object) -> int:
    """The int as the dtype holds it."""
    assert isinstance(type_, Scalar)
    low, high = type_.dtype.limits
    return (number - low) % (high - low + 1) + low


def _constant_last(walker: Walker, op: Op) -> Constant | None:
    """Bring a constant operand of a commutative op to the right; the constant."""
    number = walker.constant_of(op.operands[1])
    if number is None:
        number = walker.constant_of(op.operands[0])
        if number is not None:
            op.operands.reverse()
    return number


def _plus_zero(walker: Walker, x: Value, zero: float) -> Value | None:
    """x + zero: always x for -0.0; for 0.0 only if x is not -0.0."""
    return x if math.copysign(1.0, zero) < 0 or has_no_negative_zero(walker, x) else None


def _add(walker: Walker, op: Op) -> Value | None:
    number = _constant_last(walker, op)
    x, y = op.operands
    if _is_float(x):
        if number is not None and number == 0:
            return _plus_zero(walker, x, float(number))
        if (minus := walker.definition(y, "neg")) is not None:
            return walker.emit("sub", (x, minus.operands[0]), x.type)
        if (minus := walker.definition(x, "neg")) is not None:
            return walker.emit("sub", (y, minus.operands[0]), x.type)
        return _times(walker, x, 2) if x is y and walker.definition(x, "mul") is not None else None
    if number is not None:
        return _add_int(walker, op, int(number))
    for one, other in ((x, y), (y, x)):
        if (minus := walker.definition(one, "neg")) is not None:
            return walker.emit("sub", (other, minus.operands[0]), x.type)
        if (difference := walker.definition(one, "sub")) is not None and difference.operands[1] is other:
            return difference.operands[0]
    return None


def _add_int(walker: Walker, op: Op, number: int) -> Value | None:
    x = op.operands[0]
    if number == 0:
        return x
    inner = walker.definition(x, "add")
    if inner is not None and (more := walker.constant_of(inner.operands[1])) is not None:
        total = walker.constant(_wrapped(number + int(more), x.type), x.type)
        return walker.emit("add", (inner.operands[0], total), x.type)
    return None


def _sub(walker: Walker, op: Op) -> Value | None:
    x, y = op.operands
    number, left = walker.constant_of(y), walker.constant_of(x)
    if _is_float(x):
        if number == 0:
            assert number is not None
            return _plus_zero(walker, x, -float(number))
        if left == 0 and left is not None and math.copysign(1.0, left) < 0:
            return walker.emit("neg", (y,), x.type)
        if (minus := walker.definition(y, "neg")) is not None:
            return walker.emit("add", (x, minus.operands[0]), x.type)
        return None
    if number is not None:
        return walker.emit("add", (x, walker.constant(_wrapped(-int(number), x.type), x.type)), x.type)
    if x is y:
        return walker.constant(0, x.type)
    if left == 0:
        return walker.emit("neg", (y,), x.type)
    if (total := walker.definition(x, "add")) is not None and y in total.operands:
        return total.operands[1] if y is total.operands[0] else total.operands[0]
    if (inner := walker.definition(y, "sub")) is not None and inner.operands[0] is x:
        return inner.operands[1]
    if (minus := walker.definition(y, "neg")) is not None:
        return walker.emit("add", (x, minus.operands[0]), x.type)
    return None


_LARGE = {DType.F64: 1e308, DType.F32: 1e38, DType.F16: 3e4}  # no number below overflows
_EXPONENTS = {DType.F64: 1000, DType.F32: 100, DType.F16: 10}


def _is_scale(number: Constant) -> bool:
    """A power of two that does not make numbers smaller: multiplying by it rounds nothing."""
    return math.isfinite(number) and abs(number) >= 1 and math.frexp(abs(number))[0] == 0.5


def _mul(walker: Walker, op: Op) -> Value | None:
    number = _constant_last(walker, op)
    x, y = op.operands
    if number is None:
        one, other = walker.definition(x, "neg"), walker.definition(y, "neg")
        if one is not None and other is not None:
            return walker.emit("mul", (one.operands[0], other.operands[0]), x.type)
        return None
    if number == 1:
        return x
    if number == -1:
        return walker.emit("neg", (x,), x.type)
    if (minus := walker.definition(x, "neg")) is not None:
        opposite = -number if _is_float(x) else _wrapped(-int(number), x.type)
        return walker.emit("mul", (minus.operands[0], walker.constant(opposite, x.type)), x.type)
    if not _is_float(x) and number == 0:
        return y
    return _times(walker, x, number)


def _times(walker: Walker, x: Value, number: Constant) -> Value | None:
    """(y * more) * number and (y + y) * number with one product."""
    inner = walker.definition(x, "mul")
    if inner is not None and (more := walker.constant_of(inner.operands[1])) is not None:
        return _scale_twice(walker, inner.operands[0], more, number)
    inner = walker.definition(x, "add")
    if inner is not None and inner.operands[0] is inner.operands[1]:
        return _scale_twice(walker, inner.operands[0], 2, number)
    return None


def _scale_twice(walker: Walker, x: Value, first: Constant, second: Constant) -> Value | None:
    """(x * first) * second as x * (first * second), where that is exact: whole multiples of subnormals are."""
    if not _is_float(x):
        return walker.emit("mul", (x, walker.constant(_wrapped(int(first) * int(second), x.type), x.type)), x.type)
    assert isinstance(x.type, Scalar)
    product = float(first) * float(second)
    exact = (_is_scale(first) and abs(second) >= 1) or (_is_scale(second) and float(first).is_integer())
    if exact and abs(product) < _LARGE[x.type.dtype]:
        return walker.emit("mul", (x, walker.constant(product, x.type)), x.type)
    return None


def _zmul(walker: Walker, op: Op) -> Value | None:
    number = _constant_last(walker, op)
    x, y = op.operands
    if number is not None:
        if number == 0:
            return walker.constant(0.0, x.type)
        return walker.emit("mul", (x, y), x.type) if math.isfinite(number) else None
    if all(is_finite(walker, v) for v in (x, y)):
        return walker.emit("mul", (x, y), x.type)
    return None


def _has_exact_reciprocal(number: Constant, model: Value) -> bool:
    """A power of two whose reciprocal the dtype holds in full: dividing and multiplying round the same number."""
    assert isinstance(model.type, Scalar)
    fraction, exponent = math.frexp(abs(number))
    return fraction == 0.5 and abs(exponent) < _EXPONENTS[model.type.dtype]


def _div(walker: Walker, op: Op) -> Value | None:
    x, y = op.operands
    number = walker.constant_of(y)
    if number == 1:
        return x
    if number == -1:
        return walker.emit("neg", (x,), x.type)
    if number and _has_exact_reciprocal(number, x):
        return walker.emit("mul", (x, walker.constant(1.0 / number, x.type)), x.type)
    minus = walker.definition(x, "neg")
    if minus is None:
        return None
    if number is not None:
        return walker.emit("div", (minus.operands[0], walker.constant(-number, x.type)), x.type)
    if (below := walker.definition(y, "neg")) is not None:
        return walker.emit("div", (minus.operands[0], below.operands[0]), x.type)
    return None


def _neg(walker: Walker, op: Op) -> Value | None:
    (x,) = op.operands
    if (inner := walker.definition(x, "neg")) is not None:
        return inner.operands[0]
    if not _is_float(x) and (difference := walker.definition(x, "sub")) is not None:
        return walker.emit("sub", (difference.operands[1], difference.operands[0]), x.type)
    product = walker.definition(x, "mul")
    if product is not None and (number := walker.constant_of(product.operands[1])) is not None:
        opposite = -number if _is_float(x) else _wrapped(-int(number), x.type)
        return walker.emit("mul", (product.operands[0], walker.constant(opposite, x.type)), x.type)
    return None


def _abs(walker: Walker, op: Op) -> Value | None:
    (x,) = op.operands
    assert isinstance(x.type, Scalar)
    if x.type.dtype.is_unsigned or (walker.definition(x, "abs") is not None and _is_float(x)):
        return x
    if (minus := walker.definition(x, "neg")) is not None:
        return walker.emit("abs", (minus.operands[0],), x.type)
    return None


def _pow(walker: Walker, op: Op) -> Value | None:
    """x ** 2.0 as x * x: at most a rounding apart, and only where nothing can over- or underflow early."""
    x, y = op.operands
    number = walker.constant_of(y)
    if walker.constant_of(x) == 1:
        return x
    if number is None or number not in (0, 1, 2, 3, 4):
        return None
    return walker.emit("powi", (x,), x.type, n=int(number))


def _powi(walker: Walker, op: Op) -> Value | None:
    (x,), n = op.operands, int(str(op.attrs["n"]))
    if n == 0:
        return walker.constant(1.0, x.type)
    if n == 1:
        return x
    if walker.constant_of(x) is not None and 0 < n <= 3:
        square = walker.emit("mul", (x, x), x.type)
        return square if n == 2 else walker.emit("mul", (square, x), x.type)
    minus = walker.definition(x, "neg")
    if minus is not None and n % 2 == 0:
        return walker.emit("powi", (minus.operands[0],), x.type, n=n)
    return None


def _ipow(walker: Walker, op: Op) -> Value | None:
    x, n = op.operands
    number = walker.constant_of(n)
    if number == 0:
        return walker.constant(1, x.type)
    if number == 1:
        return x
    return walker.emit("mul", (x, x), x.type) if number == 2 else None


def _same_operand(walker: Walker, op: Op) -> Value | None:
    x, y = op.operands
    literal = op.attrs.get("literal", ())
    assert isinstance(literal, tuple)
    return x if x is y and not any(literal) else None


def _by_one(zero: bool) -> Rule:
    """floordiv and mod of ints by 1."""

    def rule(walker: Walker, op: Op) -> Value | None:
        x, y = op.operands
        if _is_float(x) or walker.constant_of(y) != 1:
            return None
        return walker.constant(0, x.type) if zero else x

    return rule


def _shift(walker: Walker, op: Op) -> Value | None:
    return op.operands[0] if walker.constant_of(op.operands[1]) == 0 else None


# ------------------------------------------------------------------------------------------ comparisons, logic

_SWAPPED = {"eq": "eq", "ne": "ne", "lt": "gt", "gt": "lt", "le": "ge", "ge": "le"}
_OPPOSITE = {"eq": "ne", "ne": "eq", "lt": "ge", "ge": "lt", "le": "gt", "gt": "le"}
_REFLEXIVE = frozenset({"eq", "le", "ge"})


def _compare(walker: Walker, op: Op) -> Value | None:
    x, y = op.operands
    name = op.prim.name
    if walker.constant_of(x) is not None and walker.constant_of(y) is None:
        return walker.emit(_SWAPPED[name], (y, x), BOOL)
    if x is y and (not _is_float(x) or name in ("lt", "gt")):  # also of nan
        return walker.boolean(name in _REFLEXIVE)
    number = walker.constant_of(y)
    if number is None:
        return None
    if x.type == BOOL and name in ("eq", "ne"):
        return x if (name == "eq") == number else walker.emit("not_", (x,), BOOL)
    if _is_float(x):
        return _compare_sign(walker, name, x, number)
    return _compare_cast(walker, name, x, number)


def _compare_sign(walker: Walker, name: str, x: Value, number: Constant) -> Value | None:
    """Comparisons with 0 that a known sign decides; with nan every one but != is false."""
    if number != 0:
        return None
    if name == "lt" and is_nonnegative(walker, x):
        return walker.boolean(False)
    if name in ("le", "eq", "ne") and is_positive(walker, x):
        return walker.boolean(name == "ne")
    return _compare_cast(walker, name, x, number)


def _compare_cast(walker: Walker, name: str, x: Value, number: Constant) -> Value | None:
    """The truth of a bool that became a number."""
    cast = walker.definition(x, "cast")
    if cast is None or cast.operands[0].type != BOOL or name not in ("eq", "ne") or number != 0:
        return None
    condition = cast.operands[0]
    return condition if name == "ne" else walker.emit("not_", (condition,), BOOL)


def _not(walker: Walker, op: Op) -> Value | None:
    (x,) = op.operands
    inner = walker.definitions.get(x)
    if inner is None:
        return None
    if inner.prim.name == "not_":
        return inner.operands[0]
    if inner.prim.name in _OPPOSITE and (not _is_float(inner.operands[0]) or inner.prim.name in ("eq", "ne")):
        return walker.emit(_OPPOSITE[inner.prim.name], inner.operands, BOOL)
    return None


def _is_opposite(walker: Walker, x: Value, y: Value) -> bool:
    one, other = walker.definition(x, "not_"), walker.definition(y, "not_")
    return (one is not None and one.operands[0] is y) or (other is not None and other.operands[0] is x)


def _and(walker: Walker, op: Op) -> Value | None:
    return _lattice(walker, op, unit=True)


def _or(walker: Walker, op: Op) -> Value | None:
    return _lattice(walker, op, unit=False)


def _lattice(walker: Walker, op: Op, *, unit: bool) -> Value | None:
    """and_ (unit true) and or_ (unit false)."""
    number = _constant_last(walker, op)
    x, y = op.operands
    if x is y:
        return x
    if x.type != BOOL:
        if number is None:
            return None
        return x if number == (-1 if unit else 0) else y if number == (0 if unit else -1) else None
    if number is not None:
        return x if bool(number) is unit else y
    if _is_opposite(walker, x, y):
        return walker.boolean(not unit)
    if not unit and (found := _not_infinite(walker, x, y) or _not_infinite(walker, y, x)) is not None:
        return found
    for one, other in ((x, y), (y, x)):
        inner = walker.definition(one, op.prim.name)
        if inner is not None and other in inner.operands:
            return one
    return None


def _xor(walker: Walker, op: Op) -> Value | None:
    number = _constant_last(walker, op)
    x, y = op.operands
    if x is y:
        return walker.constant(0, x.type)
    if number is None:
        return None
    if number == 0:
        return x
    return walker.emit("not_", (x,), x.type) if number == (1 if x.type == BOOL else -1) else None


def _select(walker: Walker, op: Op) -> Value | None:
    condition, x, y = op.operands
    known = walker.constant_of(condition)
    if known is not None:
        return x if known else y
    if x is y:
        return x
    if (inverse := walker.definition(condition, "not_")) is not None:
        return walker.emit("select", (inverse.operands[0], y, x), x.type)
    if x.type == BOOL and (answer := _select_bool(walker, condition, x, y)) is not None:
        return answer
    if (inner := walker.definition(x, "select")) is not None and inner.operands[0] is condition:
        return walker.emit("select", (condition, inner.operands[1], y), x.type)
    if (inner := walker.definition(y, "select")) is not None and inner.operands[0] is condition:
        return walker.emit("select", (condition, x, inner.operands[2]), x.type)
    return None


def _select_bool(walker: Walker, condition: Value, x: Value, y: Value) -> Value | None:
    then, otherwise = walker.constant_of(x), walker.constant_of(y)
    if then is True:
        return walker.emit("or_", (condition, y), BOOL)
    if otherwise is False:
        return walker.emit("and_", (condition, x), BOOL)
    if then is False:
        return walker.emit("and_", (walker.emit("not_", (condition,), BOOL), y), BOOL)
    if otherwise is True:
        return walker.emit("or_", (walker.emit("not_", (condition,), BOOL), x), BOOL)
    return None


# What a chain source -> middle keeps of every source value.
_WIDENING = {
    (source, middle) for source in DType for middle in DType
    if source is not middle and middle is not DType.BOOL and np.can_cast(NUMPY_DTYPES[source], NUMPY_DTYPES[middle])
    and (source.is_float or not middle.is_float or source.bytes < middle.bytes)
    and (source, middle) != (DType.U32, DType.F64)  # shorter ints are made of a float by way of int32
}  # fmt: skip


def _cast(walker: Walker, op: Op) -> Value | None:
    (x,), to = op.operands, op.attrs["to"]
    assert isinstance(x.type, Scalar)
    if x.type.dtype is to:
        return x
    inner = walker.definition(x, "cast")
    if inner is None:
        return None
    source = inner.operands[0]
    assert isinstance(source.type, Scalar)
    if (source.type.dtype, x.type.dtype) not in _WIDENING:
        return None
    return source if source.type.dtype is to else walker.emit("cast", (source,), op.results[0].type, to=to)


# ------------------------------------------------------------------------------------------------ nan, infinity

_SAME_CLASS = frozenset({"neg", "abs"})  # finite, infinite or nan as the operand is
_NEVER_INFINITE = frozenset({"sin", "cos", "tan", "tanh", "erf", "erfc", "atan", "asin", "acos", "atan2", "sign"})
_PERIODIC = frozenset({"sin", "cos", "tan"})  # nan for an infinite operand
_NAN_FOR_NAN_ONLY = frozenset({
    "exp", "exp2", "expm1", "tanh", "erf", "erfc", "atan", "sign", "sinh", "cosh", "asinh", "cbrt", "floor", "ceil",
    "trunc", "rint",
})  # fmt: skip


def _classify(walker: Walker, op: Op) -> Value | None:
    """isnan, isinf, isfinite of a result, asked of the operand instead."""
    (x,), name = op.operands, op.prim.name
    inner = walker.definitions.get(x)
    if inner is None or not inner.operands:
        return None
    maker, source = inner.prim.name, inner.operands[0]
    if maker in _SAME_CLASS:
        return walker.emit(name, (source,), BOOL)
    if maker == "cast" and is_finite_cast(inner):
        return walker.boolean(name == "isfinite")
    if maker in _NEVER_INFINITE and name == "isinf":
        return walker.boolean(False)
    if maker in _NEVER_INFINITE and name == "isfinite":
        return walker.emit("not_", (walker.emit("isnan", (x,), BOOL),), BOOL)
    if name == "isnan" and maker in _PERIODIC:
        return walker.emit("not_", (walker.emit("isfinite", (source,), BOOL),), BOOL)
    if name == "isnan" and maker in _NAN_FOR_NAN_ONLY:
        return walker.emit("isnan", (source,), BOOL)
    return None


def _not_infinite(walker: Walker, x: Value, y: Value) -> Value | None:
    """Finite or nan: not infinite."""
    one, other = walker.definition(x, "isfinite"), walker.definition(y, "isnan")
    if one is None or other is None or one.operands[0] is not other.operands[0]:
        return None
    return walker.emit("not_", (walker.emit("isinf", one.operands, BOOL),), BOOL)


# -------------------------------------------------------------------------------------------- checks of integers


def _overflows(walker: Walker, op: Op) -> Value | None:
    """add_overflows, mul_overflows with the constant last; sub_overflows of a constant as add_overflows."""
    name = op.prim.name
    number = walker.constant_of(op.operands[1]) if name == "sub_overflows" else _constant_last(walker, op)
    if number is None:
        return None
    x, y = op.operands
    if number == (1 if name == "mul_overflows" else 0) or (name == "mul_overflows" and number == 0):
        return walker.boolean(False)
    opposite = _wrapped(-int(number), y.type)
    if name == "sub_overflows" and opposite == -number:
        return walker.emit("add_overflows", (x, walker.constant(opposite, y.type)), BOOL)
    return None


def _pow_overflows(walker: Walker, op: Op) -> Value | None:
    x, n = op.operands
    number = walker.constant_of(n)
    if number in (0, 1):
        return walker.boolean(False)
    return walker.emit("mul_overflows", (x, x), BOOL) if number == 2 else None


def _wrap_index(walker: Walker, op: Op) -> Value | None:
    i, n = op.operands
    number = walker.constant_of(i)
    if number is None:
        return None
    return i if number >= 0 else walker.emit("add", (n, i), n.type)


_ALGEBRA: dict[str, Rule] = {
    "add": _add, "sub": _sub, "mul": _mul, "zmul": _zmul, "div": _div, "neg": _neg, "abs": _abs, "pow": _pow,
    "accumulate": lambda walker, op: op.operands[0] if _constant_last(walker, op) == 0 else None,
    "powi": _powi, "ipow": _ipow, "maximum": _same_operand, "minimum": _same_operand, "python_max": _same_operand,
    "python_min": _same_operand, "floordiv": _by_one(False), "mod": _by_one(True), "shl": _shift, "shr": _shift,
    **dict.fromkeys(_SWAPPED, _compare), "not_": _not, "and_": _and, "or_": _or, "xor_": _xor, "select": _select,
    "cast": _cast, "add_overflows": _overflows, "sub_overflows": _overflows, "mul_overflows": _overflows,
    "isnan": _classify, "isinf": _classify, "isfinite": _classify, "pow_overflows": _pow_overflows,
    "wrap_index": _wrap_index,
}  # fmt: skip


def _with_folding(prim: Prim, algebra: Rule | None) -> Rule:
    if algebra is None:
        return lambda walker, op: _fold(walker, op, prim)
    identity: Callable[[Walker, Op], Value | None] = algebra

    def rule(walker: Walker, op: Op) -> Value | None:
        found = _fold(walker, op, prim)
        return found if found is not None else identity(walker, op)

    return rule


SCALAR_RULES: dict[str, Rule] = {
    prim.name: _with_folding(prim, _ALGEBRA.get(prim.name)) if _foldable(prim) else _ALGEBRA[prim.name]
    for prim in REGISTRY.values()
    if _foldable(prim) or prim.name in _ALGEBRA
}

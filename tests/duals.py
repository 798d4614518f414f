"""Dual numbers that nest: the arithmetic behind the oracle of every derivative test.

A ``Dual`` is ``primal + tangent * epsilon(tag)``. The primal lane computes exactly what CPython or NumPy would (same
type, same exceptions); the tangent lane is unchecked float64 arithmetic in which zero times anything is zero.

    >>> x = Dual(1, 3.0, np.float64(1.0))
    >>> (x * x).primal, float((x * x).tangent)
    (9.0, 6.0)

Both lanes may themselves hold duals of a smaller tag, which gives derivatives of any order; tags keep them apart.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.special

Number = Any  # int, float, NumPy scalar or Dual


class Literal(float):
    """A float that was written as a literal in the program: at a tie of max or min it takes no share."""

    __slots__ = ()
    __array_ufunc__ = None


def _literal_operator(name: str, function: Callable[[Any, Any], Any]) -> None:
    setattr(Literal, f"__{name}__", lambda self, other: function(float(self), plain_literal(other)))
    setattr(Literal, f"__r{name}__", lambda self, other: function(plain_literal(other), float(self)))


def plain_literal(value: Any) -> Any:
    return float(value) if type(value) is Literal else value


for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow"):
    _literal_operator(_name, getattr(operator, _name))
for _name in ("lt", "le", "gt", "ge", "eq", "ne"):
    setattr(Literal, f"__{_name}__", lambda a, b, f=getattr(operator, _name): f(float(a), plain_literal(b)))
Literal.__hash__ = float.__hash__  # type: ignore[method-assign]


@dataclass(frozen=True, slots=True)
class Primitive:
    """One scalar operation: what it computes, and its partial derivative for each operand (None: zero everywhere)."""

    name: str
    compute: Callable[..., Any]
    partials: tuple[Callable[..., Number] | None, ...] = ()


class Counter:
    """Counts scalar operations, so that a comparison of values can be allowed a few ulps for each."""

    operations = 0


def apply(primitive: Primitive, *operands: Number) -> Number:
    """Value and tangent of one primitive; the greatest tag among the operands is differentiated first."""
    tag = max((operand.tag for operand in operands if type(operand) is Dual), default=0)
    if tag == 0:
        Counter.operations += 1
        return primitive.compute(*[plain_literal(operand) for operand in operands])
    below = [operand.primal if type(operand) is Dual and operand.tag == tag else operand for operand in operands]
    result = apply(primitive, *below)
    if not any(primitive.partials):
        return result
    tangent: Number = np.float64(0.0)
    operations = Counter.operations
    strong = [strengthen(operand) for operand in below]
    for operand, partial in zip(operands, primitive.partials, strict=True):
        if partial is not None and type(operand) is Dual and operand.tag == tag:
            tangent = tangent + zmul(partial(*strong), operand.tangent)
    Counter.operations = operations
    return Dual(tag, result, tangent)


def strengthen(value: Number) -> Number:
    """The same number with float64 inside, whose operations are never checked."""
    if type(value) is Dual:
        return Dual(value.tag, strengthen(value.primal), value.tangent)
    return np.float64(value)


def base(value: Any) -> Any:
    """The plain number under all tags."""
    while type(value) is Dual:
        value = value.primal
    return plain_literal(value)


def zmul(left: Number, right: Number) -> Number:
    return right.map(lambda one: zmul(left, one)) if type(right) is Bundle else apply(ZMUL, left, right)


def _zmul(left: Any, right: Any) -> Any:
    return np.float64(0.0) if left == 0 or right == 0 else left * right


class Dual:
    """One number with a perturbation. Refuses ``float()``: that would lose the tangent without a word."""

    __slots__ = ("primal", "tag", "tangent")
    __array_ufunc__ = None

    def __init__(self, tag: int, primal: Number, tangent: Number) -> None:
        self.tag, self.primal, self.tangent = tag, primal, tangent

    def __float__(self) -> float:
        raise TypeError("a dual number cannot become a float without losing its tangent")

    def __bool__(self) -> bool:
        return bool(base(self))

    def __int__(self) -> int:
        return int(base(self))

    def __hash__(self) -> int:
        return hash(base(self))

    def __floor__(self) -> int:
        return math.floor(base(self))

    def __ceil__(self) -> int:
        return math.ceil(base(self))

    def __trunc__(self) -> int:
        return math.trunc(base(self))

    def __round__(self, digits: int | None = None) -> Any:
        return round(base(self)) if digits is None else round(base(self), digits)

    def __repr__(self) -> str:
        return f"Dual({self.tag}, {self.primal!r}, {self.tangent!r})"

    def __format__(self, specification: str) -> str:
        return format(base(self), specification)

    def is_integer(self) -> bool:
        return bool(base(self).is_integer())


class Bundle:
    """The tangents of several directions at once, so that a function with side effects runs once for all of them."""

    __slots__ = ("parts",)
    __array_ufunc__ = None

    def __init__(self, parts: list[Number]) -> None:
        self.parts = parts

    def map(self, function: Callable[[Number], Number]) -> Bundle:
        return Bundle([function(part) for part in self.parts])

    def __add__(self, other: Any) -> Bundle:
        others = other.parts if type(other) is Bundle else [other] * len(self.parts)
        return Bundle([part + added for part, added in zip(self.parts, others, strict=True)])

    __radd__ = __add__

    def __mul__(self, factor: Number) -> Bundle:
        return self.map(lambda part: part * factor)

    def __repr__(self) -> str:
        return f"Bundle({self.parts!r})"


# --- ties -----------------------------------------------------------------------------------------------------------


def extremum(candidates: list[Number], compute: Callable[..., Any], best: Any) -> Number:
    """max or min with evenly shared ties; a literal or an int that ties takes no share and leaves none."""
    bases = [base(candidate) for candidate in candidates]
    if best != best:
        return next(candidate for candidate, value in zip(candidates, bases, strict=True) if value != value)
    tied = [candidate for candidate, value in zip(candidates, bases, strict=True) if value == best]
    silent = any(type(candidate) is Literal or not is_float(candidate) for candidate in tied)
    weight = np.float64(0.0) if silent and len(tied) > 1 else np.float64(1.0) / len(tied)
    primitive = Primitive("extremum", lambda *values: best, tuple((lambda *values: weight) for _ in tied))
    return apply(primitive, *tied)


def is_float(value: Any) -> bool:
    return type(value) is Dual or isinstance(value, (float, np.floating))


def python_extremum(compute: Callable[..., Any]) -> Callable[..., Any]:
    def call(*operands: Any, **options: Any) -> Any:
        candidates = list(operands[0]) if len(operands) == 1 else list(operands)
        if "key" in options or not candidates:
            return compute(candidates, **options)
        if not any(type(candidate) is Dual for candidate in candidates):
            return compute(candidates)
        return extremum(candidates, compute, compute([base(candidate) for candidate in candidates]))

    return call


def numpy_extremum(ufunc: Any) -> Callable[[Any, Any], Any]:
    """maximum, minimum and their like of two numbers."""

    def pair(left: Any, right: Any) -> Any:
        if type(left) is not Dual and type(right) is not Dual:
            return ufunc(plain_literal(left), plain_literal(right))
        return extremum([left, right], ufunc, ufunc(base(left), base(right)))

    return pair


# --- derivatives ----------------------------------------------------------------------------------------------------
# Partials see strong (float64) operands, so operators inside them are IEEE arithmetic and never raise.


def _function(name: str) -> Callable[..., Number]:
    return lambda *operands: apply(UNCHECKED[name], *operands)


sin, cos, tan = _function("sin"), _function("cos"), _function("tan")
exp, exp2, log = _function("exp"), _function("exp2"), _function("log")
sqrt, cbrt, power = _function("sqrt"), _function("cbrt"), _function("power")
sinh, cosh, tanh = _function("sinh"), _function("cosh"), _function("tanh")
sign = _function("sign")
hypot2 = _function("hypot")
gamma, digamma, polygamma = _function("gamma"), _function("digamma"), _function("polygamma")
LOG2, LOG10 = math.log(2.0), math.log(10.0)

Partials = tuple[Callable[..., Number] | None, ...]


def one(*operands: Number) -> Number:
    return np.float64(1.0)


def minus_one(*operands: Number) -> Number:
    return np.float64(-1.0)


class Rounding:
    """By how much, relative, the result of a function is off where its derivative is computed from that result.

    Of a tanh that is nearly 1 its square leaves few digits of 1, whichever library computes it: a comparison that
    shakes the arguments to see what roundings do shakes this too.
    """

    amount = 0.0


@contextmanager
def rounded(amount: float) -> Iterator[None]:
    before, Rounding.amount = Rounding.amount, amount
    try:
        yield
    finally:
        Rounding.amount = before


def _one_minus_square(result: Number) -> Number:
    result = result * (1.0 + Rounding.amount)
    return 1.0 - result * result


def _at_origin(partial: Callable[[Number, Number], Number]) -> Callable[[Number, Number], Number]:
    return lambda a, b: np.float64(0.0) if base(a) == 0 and base(b) == 0 else partial(a, b)


PARTIALS: dict[str, Partials] = {
    "add": (one, one),
    "subtract": (one, minus_one),
    "multiply": (lambda a, b: b, lambda a, b: a),
    "divide": (lambda a, b: 1.0 / b, lambda a, b: -(a / b) / b),
    "floor_divide": (None, None),
    "remainder": (one, lambda a, b: -np.floor(base(a) / base(b))),
    "fmod": (one, lambda a, b: -np.trunc(base(a) / base(b))),
    "power": (lambda a, b: zmul(b, power(a, b - 1.0)), lambda a, b: zmul(power(a, b), log(a))),
    "negative": (minus_one,),
    "positive": (one,),
    "absolute": (sign,),
    "sign": (None,),
    "sin": (cos,),
    "cos": (lambda a: -sin(a),),
    "tan": (lambda a: 1.0 + tan(a) * tan(a),),
    "arcsin": (lambda a: 1.0 / sqrt(1.0 - a * a),),
    "arccos": (lambda a: -1.0 / sqrt(1.0 - a * a),),
    "arctan": (lambda a: 1.0 / (1.0 + a * a),),
    "sinh": (cosh,),
    "cosh": (sinh,),
    "tanh": (lambda a: _one_minus_square(tanh(a)),),
    "arcsinh": (lambda a: 1.0 / sqrt(a * a + 1.0),),
    "arccosh": (lambda a: 1.0 / (sqrt(a - 1.0) * sqrt(a + 1.0)),),
    "arctanh": (lambda a: 1.0 / (1.0 - a * a),),
    "exp": (exp,),
    "exp2": (lambda a: exp2(a) * LOG2,),
    "expm1": (exp,),
    "log": (lambda a: 1.0 / a,),
    "log2": (lambda a: 1.0 / (a * LOG2),),
    "log10": (lambda a: 1.0 / (a * LOG10),),
    "log1p": (lambda a: 1.0 / (1.0 + a),),
    "sqrt": (lambda a: 0.5 / sqrt(a),),
    "cbrt": (lambda a: 1.0 / (3.0 * cbrt(a) * cbrt(a)),),
    "square": (lambda a: 2.0 * a,),
    "reciprocal": (lambda a: -1.0 / (a * a),),
    "degrees": (lambda a: np.float64(180.0 / math.pi),),
    "radians": (lambda a: np.float64(math.pi / 180.0),),
    "arctan2": (
        _at_origin(lambda a, b: b / (a * a + b * b)),
        _at_origin(lambda a, b: -a / (a * a + b * b)),
    ),
    "hypot": (_at_origin(lambda a, b: a / hypot2(a, b)), _at_origin(lambda a, b: b / hypot2(a, b))),
    "copysign": (lambda a, b: sign(a) * np.copysign(1.0, base(b)), None),
    "erf": (lambda a: (2.0 / math.sqrt(math.pi)) * exp(-(a * a)),),
    "erfc": (lambda a: (-2.0 / math.sqrt(math.pi)) * exp(-(a * a)),),
    "gamma": (lambda a: gamma(a) * digamma(a),),
    "lgamma": (digamma,),
    "digamma": (lambda a: polygamma(1.0, a),),
    "polygamma": (None, lambda n, a: polygamma(n + 1.0, a)),
    "ldexp": (lambda a, n: np.exp2(base(n)), None),
    "math_remainder": (one, lambda a, b: -np.round(base(a) / base(b))),
    "logaddexp": (lambda a, b: 1.0 / (1.0 + exp(b - a)), lambda a, b: 1.0 / (1.0 + exp(a - b))),
    "floor": (None,),
    "ceil": (None,),
    "trunc": (None,),
    "rint": (None,),
    "identity": (one,),
    "fma": (lambda a, b, c: b, lambda a, b, c: a, one),
}

_SPECIAL = {
    "gamma": scipy.special.gamma,
    "digamma": scipy.special.digamma,
    "polygamma": lambda n, a: np.float64(scipy.special.polygamma(int(n), a)),
}
UNCHECKED = {
    name: Primitive(name, _SPECIAL.get(name) or getattr(np, name), partials)
    for name, partials in PARTIALS.items()
    if name in _SPECIAL or hasattr(np, name)
}
ZMUL = Primitive("zmul", _zmul, (lambda a, b: b, lambda a, b: a))


OPERATORS: dict[str, Primitive] = {
    name: Primitive(name, getattr(operator, name), PARTIALS[row])
    for name, row in {
        "add": "add",
        "sub": "subtract",
        "mul": "multiply",
        "truediv": "divide",
        "floordiv": "floor_divide",
        "mod": "remainder",
        "pow": "power",
    }.items()
}
SIGNS: dict[str, Primitive] = {
    name: Primitive(name, getattr(operator, name), PARTIALS[row])
    for name, row in {"neg": "negative", "pos": "positive", "abs": "absolute"}.items()
}
COMPARISONS: dict[str, Primitive] = {
    name: Primitive(name, getattr(operator, name)) for name in ("lt", "le", "gt", "ge", "eq", "ne")
}
_NUMBERS = (int, float, np.number, np.bool_, Dual)


def _install_operators() -> None:
    for name, primitive in (OPERATORS | COMPARISONS).items():
        setattr(Dual, f"__{name}__", _operator(primitive))
    for name, primitive in OPERATORS.items():
        setattr(Dual, f"__r{name}__", lambda self, other, primitive=primitive: apply(primitive, other, self))
    for name, primitive in SIGNS.items():
        setattr(Dual, f"__{name}__", lambda self, primitive=primitive: apply(primitive, self))
    Dual.__divmod__ = lambda self, other: (self // other, self % other)  # type: ignore[attr-defined]
    Dual.__rdivmod__ = lambda self, other: (other // self, other % self)  # type: ignore[attr-defined]


def _operator(primitive: Primitive) -> Callable[[Any, Any], Any]:
    def method(self: Any, other: Any) -> Any:
        return apply(primitive, self, other) if isinstance(other, _NUMBERS) else NotImplemented

    return method


_install_operators()
Dual.__hash__ = lambda self: hash(base(self))  # type: ignore[method-assign]

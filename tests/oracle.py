"""The same source run on dual numbers in CPython: exact derivatives to compare every compiled one with.

``rebind(f)`` copies a plain function, and all plain functions it reaches, so that ``math``, ``np`` and some builtins
accept duals; nothing of the program is parsed or rewritten except that float constants become ``Literal``.

    >>> gradient(lambda x: x * math.sin(x), (0.0,))
    [0.0]
    >>> hessian(lambda x: (x**2 - 1.0) ** 2, (1.0,))
    [[8.0]]
"""

from __future__ import annotations

import builtins
import math
import types
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

import pullback as pb
from dual_arrays import DualArray, dual_array, is_array, plain_array
from dual_numpy import NUMPY, differentiable, on_base
from dual_transforms import TAGS, TRANSFORMS, flatten, perturb, tangent_of
from duals import PARTIALS, Counter, Dual, Literal, Primitive, apply, base, plain_literal, python_extremum
from rebinding import Rebinder, World, names_read
from structures import leaf_count, mapped

__all__ = [
    "DUALS", "MATH", "Rebinder", "World", "along_all", "directional", "flatten", "fresh", "gradient", "hessian",
    "leaf_count", "names_read", "operation_count", "plain", "rebind", "second",
]  # fmt: skip

# --- math -----------------------------------------------------------------------------------------------------------

_MATH_ROWS = {
    name: name
    for name in (
        "sin cos tan sinh cosh tanh exp exp2 expm1 log2 log10 log1p sqrt cbrt degrees radians erf erfc gamma lgamma "
        "fmod copysign ldexp fma"
    ).split()
} | {
    "asin": "arcsin",
    "acos": "arccos",
    "atan": "arctan",
    "asinh": "arcsinh",
    "acosh": "arccosh",
    "atanh": "arctanh",
    "atan2": "arctan2",
    "pow": "power",
    "fabs": "absolute",
    "remainder": "math_remainder",
}


def _math_log(value: Any, *bases: Any) -> Any:
    log = Primitive("log", math.log, PARTIALS["log"])
    if not bases:
        return apply(log, value)
    return apply(log, value) / apply(log, bases[0])


def _math_hypot(*coordinates: Any) -> Any:
    length = math.hypot(*[base(value) for value in coordinates])
    if not any(type(value) is Dual for value in coordinates):
        return length

    def direction(position: int) -> Callable[..., Any]:
        def partial(*values: Any) -> Any:
            if all(base(value) == 0 for value in values):
                return np.float64(0.0)
            squares: Any = np.float64(0.0)
            for value in values:
                squares = squares + value * value
            return values[position] / apply(Primitive("sqrt", np.sqrt, PARTIALS["sqrt"]), squares)

        return partial

    partials = tuple(direction(position) for position in range(len(coordinates)))
    return apply(Primitive("hypot", math.hypot, partials), *coordinates)


def _math_dist(left: Sequence[Any], right: Sequence[Any]) -> Any:
    return _math_hypot(*[a - b for a, b in zip(left, right, strict=True)])


def _math_prod(values: Iterable[Any], *, start: Any = 1) -> Any:
    for value in values:
        start = start * value
    return start


def _math_fsum(values: Iterable[Any]) -> Any:
    items = list(values)
    primitive = Primitive(
        "fsum", lambda *numbers: math.fsum(numbers), tuple((lambda *_: np.float64(1.0)) for _ in items)
    )
    return apply(primitive, *items)


def _math_sumprod(left: Iterable[Any], right: Iterable[Any]) -> Any:
    total: Any = 0
    for a, b in zip(left, right, strict=True):
        total = total + a * b
    return total


def _math_modf(value: Any) -> Any:
    whole = math.modf(base(value))[1]
    return apply(Primitive("modf", lambda number: math.modf(number)[0], PARTIALS["identity"]), value), whole


def _math_frexp(value: Any) -> Any:
    exponent = math.frexp(base(value))[1]
    scale = np.ldexp(1.0, -exponent)
    return apply(Primitive("frexp", lambda number: math.frexp(number)[0], (lambda a: scale,)), value), exponent


def _math_module() -> types.SimpleNamespace:
    table: dict[str, Any] = {}
    for name in dir(math):
        value = getattr(math, name)
        if not callable(value):
            table[name] = value
        elif name in _MATH_ROWS:
            table[name] = differentiable(Primitive(f"math.{name}", value, PARTIALS[_MATH_ROWS[name]]))
        else:
            table[name] = on_base(value)
    table |= {"log": _math_log, "hypot": _math_hypot, "dist": _math_dist, "prod": _math_prod, "fsum": _math_fsum}
    table |= {"modf": _math_modf, "frexp": _math_frexp, "sumprod": _math_sumprod}
    return types.SimpleNamespace(**table)


MATH = _math_module()


class _FloatType(type):
    """``float`` is a conversion that keeps duals, a class that they belong to, and a dtype where NumPy wants one."""

    dtype = property(lambda cls: np.dtype(float))
    primitive = Primitive("float", float, PARTIALS["identity"])

    def __instancecheck__(cls, value: Any) -> bool:
        return isinstance(base(value), float)

    def __call__(cls, value: Any = 0.0) -> Any:
        if isinstance(value, str):
            return float(value)
        return apply(cls.primitive, value.cells.item() if is_array(value) else value)


class Float(float, metaclass=_FloatType):
    """What a rebound program calls ``float``; the base class lets it stand in a pattern of ``match``."""


BUILTINS = dict(vars(builtins)) | {
    "max": python_extremum(max),
    "min": python_extremum(min),
    "float": Float,
    "print": lambda *values, **options: None,  # the oracle runs a program many times
}


def _substitutes() -> dict[int, Any]:
    table: dict[int, Any] = {id(math): MATH, id(np): NUMPY, id(pb): types.SimpleNamespace(**TRANSFORMS)}
    for module, proxy in ((math, MATH), (np, NUMPY)):
        for name, value in vars(proxy).items():
            original = getattr(module, name, None)
            if callable(original):
                table[id(original)] = value
    table |= {id(getattr(pb, name)): value for name, value in TRANSFORMS.items() if hasattr(pb, name)}
    return table | {id(getattr(builtins, name)): BUILTINS[name] for name in ("max", "min", "float", "print")}


DUALS = World(_substitutes(), BUILTINS, Literal, lambda array, buffers: dual_array(array, buffers=buffers), TRANSFORMS)


# --- functions ------------------------------------------------------------------------------------------------------


def rebind(function: Callable[..., Any]) -> Callable[..., Any]:
    """A copy of ``function`` that accepts duals."""
    copy = Rebinder(DUALS).value(function)
    return copy  # type: ignore[no-any-return]


def fresh(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function on duals, with its own copy of every array that it captures or is given, at each call."""

    def run(*arguments: Any) -> Any:
        rebinder = Rebinder(DUALS)
        return rebinder.value(function)(*[rebinder.value(argument) for argument in arguments])

    return run


# --- derivatives ----------------------------------------------------------------------------------------------------

Weights = Sequence[float] | None


def _directional(
    function: Callable[..., Any],
    arguments: tuple[Any, ...],
    argnums: Sequence[int],
    directions: list[float],
    weights: Weights,
) -> Any:
    """Derivative along one direction; arguments may already be dual, which gives the next order."""
    tag = next(TAGS)
    remaining = list(directions)
    moved = list(arguments)
    for position in argnums:
        moved[position] = perturb(moved[position], tag, remaining)
    return tangent_of(function(*moved), tag, weights)


def _unit(count: int, position: int) -> list[float]:
    return [1.0 if index == position else 0.0 for index in range(count)]


def _count(arguments: tuple[Any, ...], argnums: Sequence[int]) -> int:
    return sum(leaf_count(arguments[position]) for position in argnums)


def gradient(
    function: Callable[..., Any], arguments: tuple[Any, ...], argnums: Sequence[int] = (0,), weights: Weights = None
) -> list[float]:
    """Gradient by the float leaves of the chosen arguments, in order; ``weights``: cotangents of several results."""
    rebound, count = fresh(function), _count(arguments, argnums)
    with np.errstate(all="ignore"):
        return [
            float(base(_directional(rebound, arguments, argnums, _unit(count, position), weights)))
            for position in range(count)
        ]


def directional(
    function: Callable[..., Any],
    arguments: tuple[Any, ...],
    argnums: Sequence[int],
    directions: Sequence[float],
    weights: Weights = None,
) -> float:
    """First derivative along one direction."""
    with np.errstate(all="ignore"):
        return float(base(_directional(fresh(function), arguments, argnums, list(directions), weights)))


def second(
    function: Callable[..., Any],
    arguments: tuple[Any, ...],
    argnums: Sequence[int],
    directions: Sequence[float],
    weights: Weights = None,
) -> list[float]:
    """Hessian times a direction: the gradient of the directional derivative, by duals of duals."""
    return along_all(function, arguments, argnums, [directions], weights)


def along_all(
    function: Callable[..., Any],
    arguments: tuple[Any, ...],
    argnums: Sequence[int],
    directions: Sequence[Sequence[float]],
    weights: Weights = None,
) -> list[float]:
    """The gradient of the derivative along each direction in turn: two directions give third derivatives."""
    count = _count(arguments, argnums)

    def nest(inner: Callable[..., Any], direction: Sequence[float], inner_weights: Weights) -> Callable[..., Any]:
        return lambda *moved: _directional(inner, moved, argnums, list(direction), inner_weights)

    along = fresh(function)
    for depth, direction in enumerate(directions):
        along = nest(along, direction, weights if depth == 0 else None)
    with np.errstate(all="ignore"):
        return [
            float(base(_directional(along, arguments, argnums, _unit(count, position), None)))
            for position in range(count)
        ]


def hessian(
    function: Callable[..., Any], arguments: tuple[Any, ...], argnums: Sequence[int] = (0,)
) -> list[list[float]]:
    count = _count(arguments, argnums)
    return [second(function, arguments, argnums, _unit(count, position)) for position in range(count)]


def operation_count(function: Callable[..., Any], arguments: tuple[Any, ...]) -> int:
    """How many floating-point operations one run of the function makes, at least one."""
    rebound = fresh(function)
    tag = next(TAGS)
    Counter.operations = 0
    with np.errstate(all="ignore"):
        rebound(*[perturb(argument, tag, [0.0] * leaf_count(argument)) for argument in arguments])
    return max(1, Counter.operations)


def plain(result: Any) -> Any:
    """A result of a rebound function without duals, for comparing its value with CPython's."""
    return mapped(lambda leaf: plain_array(leaf) if isinstance(leaf, DualArray) else plain_literal(base(leaf)), result)

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
import itertools
import math
import types
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from dual_arrays import DualArray, cells_of, dual_array, is_array, laid_out_as, plain_array
from dual_numpy import NUMPY, differentiable, on_base
from duals import PARTIALS, Counter, Dual, Literal, Primitive, apply, base, plain_literal, python_extremum

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


class _Float:
    """``float``: a conversion that keeps duals, and a dtype where NumPy wants one."""

    dtype = np.dtype(float)
    primitive = Primitive("float", float, PARTIALS["identity"])

    def __call__(self, value: Any = 0.0) -> Any:
        if isinstance(value, str):
            return float(value)
        return apply(self.primitive, value.cells.item() if is_array(value) else value)


BUILTINS = dict(vars(builtins)) | {
    "max": python_extremum(max),
    "min": python_extremum(min),
    "float": _Float(),
}


def _substitutes() -> dict[int, Any]:
    table: dict[int, Any] = {id(math): MATH, id(np): NUMPY}
    for module, proxy in ((math, MATH), (np, NUMPY)):
        for name, value in vars(proxy).items():
            original = getattr(module, name, None)
            if callable(original):
                table[id(original)] = value
    return table | {id(max): BUILTINS["max"], id(min): BUILTINS["min"], id(float): BUILTINS["float"]}


SUBSTITUTES = _substitutes()


# --- functions ------------------------------------------------------------------------------------------------------


class Rebinder:
    """Copies functions so that everything they reach accepts duals; one copy per function, so recursion ends."""

    def __init__(self) -> None:
        self.functions: dict[int, types.FunctionType] = {}
        self.namespaces: dict[int, dict[str, Any]] = {}
        self.cells: dict[int, types.CellType] = {}
        self.buffers: dict[int, Any] = {}
        self.containers: dict[int, Any] = {}

    def value(self, value: Any) -> Any:
        if id(value) in SUBSTITUTES:
            return SUBSTITUTES[id(value)]
        if isinstance(value, types.FunctionType):
            return self.function(value)
        if isinstance(value, np.ndarray) and value.dtype.kind in "fib":
            return self.shared(value, lambda: dual_array(value, buffers=self.buffers))
        if type(value) in (tuple, list):
            return self.shared(value, lambda: type(value)(self.value(item) for item in value))
        if type(value) is dict:
            return self.shared(value, lambda: {key: self.value(item) for key, item in value.items()})
        return value

    def shared(self, value: Any, copy: Callable[[], Any]) -> Any:
        """One copy per object, so that what the program changes through one name it sees through the others."""
        if id(value) not in self.containers:
            self.containers[id(value)] = value, copy()
        return self.containers[id(value)][1]

    def function(self, function: types.FunctionType) -> types.FunctionType:
        if id(function) in self.functions:
            return self.functions[id(function)]
        namespace = self.namespaces.setdefault(id(function.__globals__), {"__builtins__": BUILTINS})
        closure = tuple(self.cell(cell) for cell in function.__closure__ or ())
        code = mark_literals(function.__code__)
        copy = types.FunctionType(code, namespace, function.__name__, None, closure)
        self.functions[id(function)] = copy
        copy.__defaults__ = self.value(function.__defaults__)
        copy.__kwdefaults__ = {name: self.value(item) for name, item in (function.__kwdefaults__ or {}).items()}
        for cell, original in zip(closure, function.__closure__ or (), strict=True):
            try:
                cell.cell_contents = self.value(original.cell_contents)
            except ValueError:  # the original cell is empty as well
                continue
        for name in names_read(code):
            if name in function.__globals__ and name not in namespace:
                namespace[name] = self.value(function.__globals__[name])
        return copy

    def cell(self, cell: types.CellType) -> types.CellType:
        return self.cells.setdefault(id(cell), types.CellType())


def mark_literals(code: types.CodeType) -> types.CodeType:
    def mark(constant: Any) -> Any:
        if type(constant) is float:
            return Literal(constant)
        return mark_literals(constant) if isinstance(constant, types.CodeType) else constant

    return code.replace(co_consts=tuple(mark(constant) for constant in code.co_consts))


def names_read(code: types.CodeType) -> set[str]:
    inner = [names_read(constant) for constant in code.co_consts if isinstance(constant, types.CodeType)]
    return set(code.co_names).union(*inner)


def rebind(function: Callable[..., Any]) -> Callable[..., Any]:
    """A copy of ``function`` that accepts duals."""
    copy = Rebinder().value(function)
    return copy  # type: ignore[no-any-return]


def fresh(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function on duals, with its own copy of every array that it captures or is given, at each call."""

    def run(*arguments: Any) -> Any:
        rebinder = Rebinder()
        return rebinder.value(function)(*[rebinder.value(argument) for argument in arguments])

    return run


# --- derivatives ----------------------------------------------------------------------------------------------------

_tags = itertools.count(1)


def leaf_count(value: Any) -> int:
    """How many float numbers a structure holds: those are what is differentiated."""
    if isinstance(value, dict):
        return sum(leaf_count(item) for item in value.values())
    if isinstance(value, (tuple, list)):
        return sum(leaf_count(item) for item in value)
    if isinstance(value, np.ndarray):
        return value.size if value.dtype.kind == "f" else 0
    return 1 if isinstance(value, (float, np.floating)) else 0


def flatten(value: Any, like: Any = None) -> list[Any]:
    """The float leaves in order; ``like`` says which leaves are floats when ``value`` is a gradient."""
    like = value if like is None else like
    if isinstance(like, dict):
        return [leaf for key in like for leaf in flatten(value[key], like[key])]
    if isinstance(like, (tuple, list)):
        return [leaf for item, model in zip(value, like, strict=True) for leaf in flatten(item, model)]
    if is_array(like):
        if like.dtype.kind != "f":
            return []
        return list((value.cells if isinstance(value, DualArray) else value).ravel())
    return [value] if isinstance(like, (float, np.floating, Dual)) else []


def perturb(value: Any, tag: int, directions: list[Any]) -> Any:
    """The structure with every float leaf made dual; consumes one direction per leaf."""
    if isinstance(value, dict):
        return {key: perturb(item, tag, directions) for key, item in value.items()}
    if isinstance(value, (tuple, list)):
        return type(value)(perturb(item, tag, directions) for item in value)
    if is_array(value) and value.dtype.kind == "f":
        old = cells_of(value)
        cells = laid_out_as(old)
        for index in np.ndindex(cells.shape):
            cells[index] = perturb(old[index], tag, directions)
        if not old.flags.writeable:
            cells.flags.writeable = False
        return DualArray(cells, value.dtype)
    if isinstance(value, (float, np.floating, Dual)):
        return Dual(tag, value, np.float64(directions.pop(0)))
    return value


def tangent_of(result: Any, tag: int, weights: Sequence[float] | None) -> Any:
    """The tangent of a scalar result, or the weighted sum of the tangents of all float leaves."""
    leaves = flatten(result)
    total: Any = np.float64(0.0)
    for position, leaf in enumerate(leaves):
        if type(leaf) is Dual and leaf.tag == tag:
            total = total + leaf.tangent * (1.0 if weights is None else weights[position])
    return total


Weights = Sequence[float] | None


def _directional(
    function: Callable[..., Any],
    arguments: tuple[Any, ...],
    argnums: Sequence[int],
    directions: list[float],
    weights: Weights,
) -> Any:
    """Derivative along one direction; arguments may already be dual, which gives the next order."""
    tag = next(_tags)
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
    tag = next(_tags)
    Counter.operations = 0
    with np.errstate(all="ignore"):
        rebound(*[perturb(argument, tag, [0.0] * leaf_count(argument)) for argument in arguments])
    return max(1, Counter.operations)


def plain(result: Any) -> Any:
    """A result of a rebound function without duals, for comparing its value with CPython's."""
    if isinstance(result, dict):
        return {key: plain(item) for key, item in result.items()}
    if isinstance(result, (tuple, list)):
        return type(result)(plain(item) for item in result)
    return plain_array(result) if isinstance(result, DualArray) else plain_literal(base(result))

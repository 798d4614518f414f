"""What `pb.grad` and its like are in a program that runs on dual numbers: nested perturbations, kept apart by tags.

    TRANSFORMS["grad"](f)(2.0)        f has been rebound already; 2.0 may be a dual of an enclosing derivative

A function runs once, on copies of its arguments, whatever the number of float leaves: it may have side effects.
"""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dual_arrays import DualArray, cells_of, is_array, laid_out_as
from duals import Bundle, Dual, base
from structures import is_float, leaf_count, mapped, paired

TAGS = itertools.count(1)
Function = Callable[..., Any]


def flatten(value: Any, like: Any = None) -> list[Any]:
    """The float leaves in order; ``like`` says which leaves are floats when ``value`` is a gradient."""
    found: list[Any] = []
    for leaf, model in paired(value, value if like is None else like):
        if is_float(model):
            found += list(cells_of(leaf).ravel()) if is_array(model) else [leaf]
    return found


def perturb(value: Any, tag: int, directions: list[Any]) -> Any:
    """The structure with every float leaf made dual; consumes one direction per leaf."""

    def moved(leaf: Any) -> Any:
        if not is_float(leaf):
            return leaf
        if not is_array(leaf):
            direction = directions.pop(0)
            return Dual(tag, leaf, direction if type(direction) in (Dual, Bundle) else np.float64(direction))
        old = cells_of(leaf)
        cells = laid_out_as(old)
        for index in np.ndindex(cells.shape):
            cells[index] = moved(old[index])
        if not old.flags.writeable:
            cells.flags.writeable = False
        return DualArray(cells, leaf.dtype)

    return mapped(moved, value)


def copied(value: Any) -> Any:
    """The structure with arrays of its own."""
    return mapped(lambda leaf: DualArray(leaf.cells.copy(), leaf.dtype) if isinstance(leaf, DualArray) else leaf, value)


def tangent_of(result: Any, tag: int, weights: Sequence[Any] | None) -> Any:
    """The tangent of a scalar result, or the weighted sum of the tangents of all float leaves."""
    total: Any = np.float64(0.0)
    for position, found in enumerate(flatten(result)):
        leaf = settled(found, tag)
        if type(leaf) is Dual and leaf.tag == tag:
            total = total + leaf.tangent * (1.0 if weights is None else weights[position])
    return total


def settled(number: Any, tag: int) -> Any:
    """A number without the perturbations of derivatives that have ended, which a program may keep by a write."""
    while type(number) is Dual and number.tag > tag:
        number = number.primal
    return number


def lane(result: Any, tag: int, which: str) -> Any:
    """The primal or the tangent lane of a result; what is not float has a tangent of zero."""

    def number(found: Any) -> Any:
        leaf = settled(found, tag)
        if type(leaf) is Dual and leaf.tag == tag:
            return as_given(leaf.primal, leaf.tangent) if which == "tangent" else leaf.primal
        return type(base(leaf))(0) if which == "tangent" and isinstance(base(leaf), (int, float, np.generic)) else leaf

    def one(leaf: Any) -> Any:
        if not isinstance(leaf, DualArray):
            return number(leaf)
        cells = np.empty(leaf.shape, object)
        for index in np.ndindex(leaf.shape):
            cells[index] = number(leaf.cells[index])
        return DualArray(cells, leaf.dtype)

    return mapped(one, result)


def as_given(model: Any, derivative: Any) -> Any:
    """A derivative by a Python float is a Python float."""
    plain = type(base(model)) is float and type(derivative) not in (Dual, Bundle)
    return float(derivative) if plain else derivative


def structured(model: Any, numbers: list[Any]) -> Any:
    """A gradient of the structure of ``model``."""

    def one(leaf: Any) -> Any:
        if not is_float(leaf):
            return type(leaf)(0) if isinstance(leaf, (int, np.generic)) else leaf
        if not is_array(leaf):
            return as_given(leaf, numbers.pop(0))
        cells = np.empty(leaf.shape, object)
        for index in np.ndindex(leaf.shape):
            cells[index] = numbers.pop(0)
        return DualArray(cells, leaf.dtype)

    return mapped(one, model)


def _unit(count: int, position: int) -> list[float]:
    return [1.0 if index == position else 0.0 for index in range(count)]


def _run(function: Function, arguments: tuple[Any, ...], argnums: Sequence[int], named: dict[str, Any]) -> Any:
    """(number of float leaves of the chosen arguments, tag, result): a direction for each leaf."""
    count = sum(leaf_count(arguments[position]) for position in argnums)
    tag, units = next(TAGS), [_unit(count, leaf) for leaf in range(count)]
    directions: list[Any] = [1.0] if count == 1 else [Bundle(list(map(np.float64, unit))) for unit in units]
    moved = list(arguments if count == 1 else map(copied, arguments))
    for position in argnums:
        moved[position] = perturb(moved[position], tag, directions)
    return count, tag, function(*moved, **named)


def _parts(tangent: Any, count: int) -> list[Any]:
    """The tangent of each direction."""
    return tangent.parts if type(tangent) is Bundle else [tangent] * count


def _gradients(function: Function, arguments: Any, argnums: Any, weigh: Any, named: Any) -> tuple[Any, list[Any]]:
    """The result with its tag removed, and one gradient per argnum; ``weigh`` sums up a result's tangent."""
    count, tag, result = _run(function, arguments, argnums, named)
    numbers = list(_parts(weigh(result, tag), count))
    return lane(result, tag, "primal"), [structured(arguments[position], numbers) for position in argnums]


def _positions(function: Function, argnums: Any, argnames: Any) -> Any:
    if argnames is None:
        return argnums
    names = list(inspect.signature(function).parameters)
    return names.index(argnames) if isinstance(argnames, str) else tuple(names.index(name) for name in argnames)


def value_and_grad(function: Function, argnums: Any = 0, has_aux: bool = False, argnames: Any = None) -> Function:
    def call(*arguments: Any, **named: Any) -> Any:
        positions = _positions(function, argnums, argnames)
        chosen = positions if isinstance(positions, (tuple, list)) else (positions,)
        weigh = (lambda result, tag: tangent_of(result[0], tag, None)) if has_aux else (
            lambda result, tag: tangent_of(result, tag, None)
        )  # fmt: skip
        value, gradients = _gradients(function, arguments, chosen, weigh, named)
        return value, gradients[0] if isinstance(positions, int) else tuple(gradients)

    return call


def grad(function: Function, argnums: Any = 0, has_aux: bool = False, argnames: Any = None) -> Function:
    both = value_and_grad(function, argnums, has_aux, argnames)

    def call(*arguments: Any, **named: Any) -> Any:
        value, gradient = both(*arguments, **named)
        return (gradient, value[1]) if has_aux else gradient

    return call


def jvp(function: Function, primals: Any, tangents: Any) -> Any:
    tag = next(TAGS)
    directions = [leaf for tangent, primal in zip(tangents, primals) for leaf in flatten(tangent, primal)]
    result = function(*[perturb(primal, tag, directions) for primal in primals])
    return lane(result, tag, "primal"), lane(result, tag, "tangent")


def vjp(function: Function, *primals: Any) -> Any:
    count, tag, result = _run(function, primals, range(len(primals)), {})
    value = lane(result, tag, "primal")

    def pullback(cotangent: Any) -> Any:
        numbers = list(_parts(tangent_of(result, tag, flatten(cotangent, value)), count))
        return tuple(structured(primal, numbers) for primal in primals)

    return value, pullback


def hvp(function: Function, primals: Any, tangents: Any) -> Any:
    gradient = grad(function, tuple(range(len(primals))))
    moved = jvp(gradient, primals, tangents)[1]
    return moved if len(primals) > 1 else moved[0]


def jacobian(function: Function, argnums: int = 0) -> Function:
    """One row per float leaf of the result, stacked in the shape of result times argument."""

    def call(*arguments: Any) -> Any:
        count, tag, result = _run(function, arguments, (argnums,), {})
        shape = getattr(result, "shape", ())
        rows = [_parts(entry, count) for entry in flatten(lane(result, tag, "tangent"), result)]
        argument = arguments[argnums]
        inner = getattr(argument, "shape", ())
        cells = np.empty((len(rows), count), object)
        for row, entries in enumerate(rows):
            for column, entry in enumerate(entries):
                cells[row, column] = entry
        return DualArray(cells.reshape(*shape, *inner), float) if shape or inner else cells[0, 0]

    return call


def hessian(function: Function, argnums: int = 0) -> Function:
    return jacobian(grad(function, argnums), argnums)


def linearize(function: Function, *primals: Any) -> Any:
    return function(*map(copied, primals)), lambda *tangents: jvp(function, primals, tangents)[1]


def stop_gradient(value: Any) -> Any:
    def one(leaf: Any) -> Any:
        if not isinstance(leaf, DualArray):
            return base(leaf)
        cells = np.empty(leaf.shape, object)
        for index in np.ndindex(leaf.shape):
            cells[index] = base(leaf.cells[index])
        return DualArray(cells, leaf.dtype)

    return mapped(one, value)


def jit(function: Function, **options: Any) -> Function:
    return function


def pack(value: Any) -> Any:
    return value


TRANSFORMS: dict[str, Function] = {
    function.__name__: function
    for function in (grad, value_and_grad, jvp, vjp, hvp, jacobian, hessian, linearize, stop_gradient, jit, pack)
}
__all__ = ["TAGS", "TRANSFORMS", "flatten", "perturb", "tangent_of"]

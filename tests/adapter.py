"""How the tests reach the compiler: the public `pb` for what users get, `pullback.testing` for the other engines.

    value(f, (2.0,), "compiled")                      what pb.jit(f)(2.0) returns
    derivative(f, (2.0,), (0,), "rf", [1.0], "plain") Hessian times [1.0], reverse over forward, no passes; flat floats

Engines: ``compiled`` (native, all passes, through the public api), ``plain`` (native, no passes), ``interpreter``.
Modes: ``r`` and ``f`` give the gradient by reverse and by forward mode; two letters give the Hessian times a direction,
the left letter being the outer derivative.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import pullback as pb
from oracle import flatten, leaf_count
from structures import mapped

ENGINES = ("compiled", "plain", "interpreter")
FIRST_ORDER = ("r", "f")
SECOND_ORDER = ("rr", "fr", "rf", "ff")
_HOOKS = {"plain": {"engine": "native", "passes": False}, "interpreter": {"engine": "interp", "passes": True}}

Function = Callable[..., Any]


def value(function: Function, arguments: tuple[Any, ...], engine: str) -> Any:
    """The result of the function."""
    if engine == "compiled":
        return pb.jit(function)(*arguments)
    from pullback import testing

    return testing.run(function, arguments, **_HOOKS[engine])


def gradient_structure(function: Function, arguments: tuple[Any, ...], argnums: Any) -> Any:
    """What `pb.grad` returns, untouched."""
    return pb.grad(function, argnums=argnums)(*arguments)


def derivative(
    function: Function,
    arguments: tuple[Any, ...],
    argnums: tuple[int, ...],
    mode: str,
    direction: Sequence[float],
    engine: str,
    cotangent: Any = None,
) -> list[Any]:
    """First derivative, or Hessian times ``direction``, as the float leaves of the chosen arguments in order.

    ``cotangent`` has the structure of the result; it is given when the result is not one number.
    """
    if engine != "compiled":
        from pullback import testing

        result = testing.gradient(
            function, given(arguments), argnums, mode=mode, direction=direction, cotangent=cotangent, **_HOOKS[engine]
        )
        return leaves(result, arguments, argnums)
    return _COMPILED[mode](function, arguments, argnums, direction, cotangent)


def leaves(gradients: Sequence[Any], arguments: tuple[Any, ...], argnums: tuple[int, ...]) -> list[Any]:
    """The float leaves of one gradient per argnum."""
    return [
        leaf
        for gradient, position in zip(gradients, argnums, strict=True)
        for leaf in flatten(gradient, arguments[position])
    ]


# --- structures -----------------------------------------------------------------------------------------------------


def fill(model: Any, numbers: list[float], known: dict[int, Any] | None = None) -> Any:
    """A tangent or cotangent of the structure of ``model``: float leaves from ``numbers``, others zero.

    ``known``: what objects have become already, for structures that share some.
    """

    def one(leaf: Any) -> Any:
        if isinstance(leaf, np.ndarray):
            if leaf.dtype.kind != "f":
                return np.zeros_like(leaf)
            taken = [numbers.pop(0) for _ in range(leaf.size)]
            return np.array(taken, dtype=leaf.dtype).reshape(leaf.shape)
        if isinstance(leaf, (float, np.floating)):
            return type(leaf)(numbers.pop(0))
        return type(leaf)(0) if isinstance(leaf, (int, np.generic)) and not isinstance(leaf, enum.Enum) else leaf

    return mapped(one, model, known)


def given(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """Arguments for one call, which may write into them; arrays that are views stay the caller's."""
    known: dict[int, Any] = {}

    def own(leaf: Any) -> Any:
        if not isinstance(leaf, np.ndarray) or leaf.base is not None or not leaf.flags.writeable:
            return leaf
        return known.setdefault(id(leaf), leaf.copy(order="K"))

    return mapped(own, arguments)


def tangents(arguments: tuple[Any, ...], argnums: tuple[int, ...], direction: Sequence[float]) -> tuple[Any, ...]:
    """One tangent per argument: ``direction`` over the chosen ones, zero for the rest."""
    numbers = list(direction)
    zeros = [0.0] * sum(leaf_count(argument) for argument in arguments)
    known: dict[int, Any] = {}
    chosen = {position: fill(arguments[position], numbers, known) for position in argnums}
    return tuple(
        chosen[position] if position in chosen else fill(argument, list(zeros), known)
        for position, argument in enumerate(arguments)
    )


def units(arguments: tuple[Any, ...], argnums: tuple[int, ...]) -> list[tuple[Any, ...]]:
    """The tangents along each float leaf of the chosen arguments."""
    count = sum(leaf_count(arguments[position]) for position in argnums)
    return [tangents(arguments, argnums, row) for row in np.eye(count).tolist()]


# --- modes through the public api -----------------------------------------------------------------------------------


def _reverse(function: Function, arguments: Any, argnums: Any, direction: Any, cotangent: Any) -> list[Any]:
    if cotangent is None:
        return leaves(pb.grad(function, argnums=argnums)(*given(arguments)), arguments, argnums)
    _, pullback = pb.vjp(function, *given(arguments))
    return _chosen(pullback(cotangent), arguments, argnums)


def _chosen(cotangents: Any, arguments: Any, argnums: Any) -> list[Any]:
    return leaves([cotangents[position] for position in argnums], arguments, argnums)


def _forward(function: Function, arguments: Any, argnums: Any, direction: Any, cotangent: Any) -> list[Any]:
    results = []
    for unit in units(arguments, argnums):
        result, tangent = pb.jvp(function, given(arguments), unit)
        weights = [1.0] if cotangent is None else flatten(cotangent, result)
        moved = flatten(tangent, result) or [0.0]
        results.append(sum(float(weight) * float(leaf) for weight, leaf in zip(weights, moved)))
    return results


def _forward_reverse(function: Function, arguments: Any, argnums: Any, direction: Any, cotangent: Any) -> list[Any]:
    gradient = pb.grad(function, argnums=argnums)
    _, tangent = pb.jvp(gradient, given(arguments), tangents(arguments, argnums, direction))
    return leaves(tangent, arguments, argnums)


def _reverse_reverse(function: Function, arguments: Any, argnums: Any, direction: Any, cotangent: Any) -> list[Any]:
    _, pullback = pb.vjp(pb.grad(function, argnums=argnums), *given(arguments))
    moved = tangents(arguments, argnums, direction)
    return _chosen(pullback(tuple(moved[position] for position in argnums)), arguments, argnums)


def _reverse_forward(function: Function, arguments: Any, argnums: Any, direction: Any, cotangent: Any) -> list[Any]:
    along = directional(function, tangents(arguments, argnums, direction), len(arguments))
    return leaves(pb.grad(along, argnums=argnums)(*given(arguments)), arguments, argnums)


def _forward_forward(function: Function, arguments: Any, argnums: Any, direction: Any, cotangent: Any) -> list[Any]:
    along = directional(function, tangents(arguments, argnums, direction), len(arguments))
    return [pb.jvp(along, given(arguments), unit)[1] for unit in units(arguments, argnums)]


_COMPILED = {
    "r": _reverse,
    "f": _forward,
    "rr": _reverse_reverse,
    "fr": _forward_reverse,
    "rf": _reverse_forward,
    "ff": _forward_forward,
}


def directional(f: Function, t: tuple[Any, ...], arity: int) -> Function:
    """A plain function of ``arity`` arguments: the derivative of ``f`` along ``t`` (the language has no `*args`)."""
    if arity == 1:
        return lambda a: pb.jvp(f, (a,), t)[1]
    if arity == 2:
        return lambda a, b: pb.jvp(f, (a, b), t)[1]
    if arity == 3:
        return lambda a, b, c: pb.jvp(f, (a, b, c), t)[1]
    if arity == 4:
        return lambda a, b, c, d: pb.jvp(f, (a, b, c, d), t)[1]
    if arity == 5:
        return lambda a, b, c, d, e: pb.jvp(f, (a, b, c, d, e), t)[1]
    raise ValueError(f"no program has {arity} arguments")


def compilations() -> int:
    """How many specializations this process has compiled so far."""
    from pullback import testing

    return int(testing.compilations())

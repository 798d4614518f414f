"""J of gradients by trees and lists of objects, of lists of unlike functions, of nested tuples, of Jacobians inside.

Each in first and second order, against dual numbers and against the SSA adjoint.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import oracle
import pullback as pb
from adapter import leaves
from closures_graphs import GRAPHS, ORDERS, Layer, Node, Part, a_list, array, layers, parts, total
from closures_tuples import TUPLES
from compare import assert_gradient
from pullback import testing
from surface_turn import in_turn

PROGRAMS = {**GRAPHS, **TUPLES, **ORDERS}
WRITTEN = {"arrays_written"}  # the SSA adjoint refuses these
MODES = ("r", "rr", "fr")


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield


def derivative(name: str, mode: str, formulation: str, *, passes: bool = True) -> list[Any]:
    """Native: the interpreter takes no objects."""
    function, given, argnums = PROGRAMS[name]
    found = testing.gradient(function, given(), argnums, mode=mode, direction=direction(name), engine="native",
                             passes=passes, formulation=formulation)  # fmt: skip
    return leaves(found, given(), argnums)


def direction(name: str) -> list[float]:
    _, given, argnums = PROGRAMS[name]
    count = sum(oracle.leaf_count(given()[place]) for place in argnums)
    return [1.0 - 0.375 * (place % 4) for place in range(count)]


def check(name: str, mode: str, *, passes: bool = True) -> None:
    function, given, argnums = PROGRAMS[name]
    actual = derivative(name, mode, "closures", passes=passes)
    if name in ORDERS:
        expected = derivative(name, "r" if mode == "r" else "fr", "ssa")
    elif mode == "r":
        expected = oracle.gradient(function, given(), argnums)
    else:
        expected = oracle.second(function, given(), argnums, direction(name))
    assert_gradient(actual, expected, relative=1e-9, where=f"{mode} of {name}")
    if name not in ORDERS and name not in WRITTEN and mode == "r":
        assert_gradient(actual, derivative(name, mode, "ssa"), relative=1e-9, where=f"{mode} of {name}")


@pytest.mark.parametrize("name", in_turn(PROGRAMS, 2))
def test_gradient(name: str) -> None:
    check(name, "r")


@pytest.mark.parametrize("name", in_turn(list(PROGRAMS)[::3], 2))
def test_second_derivative(name: str) -> None:
    check(name, "rr")


@pytest.mark.slow
@pytest.mark.parametrize("passes", [True, False])
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", PROGRAMS)
def test_all(name: str, mode: str, passes: bool) -> None:
    check(name, mode, passes=passes)


def by_closures(kind: str, function: Any, *arguments: Any) -> Any:
    return testing.call(kind, function, arguments, engine="native", passes=True, formulation="closures")


def test_the_gradient_has_the_structure_of_the_argument() -> None:
    """An object met twice is one in the gradient too; what the function changes shows in the argument alone."""
    leaf = Node(0.6)
    found = by_closures("call", pb.grad(total), Node(1.1, leaf, leaf))
    assert found.left is found.right and found.left.left is None
    given = parts()[0]
    found = by_closures("call", pb.grad(a_list), given)
    assert [type(part) for part in found] == [Part] * 3
    assert [part.count for part in found] == [0, 0, 0]


def test_cotangents_of_objects() -> None:
    found = by_closures("pullback", lambda a: [Part(a * a, 1), Part(3.0 * a, 2)], 0.7, [Part(1.0, 0), Part(2.0, 0)])
    assert found[0] == pytest.approx(2 * 0.7 + 6.0)
    with pytest.raises(ValueError, match="structure of its value"):
        grown = lambda a, n: [Part(a * k, k) for k in range(n)]  # noqa: E731
        by_closures("pullback", grown, 0.7, 3, [Part(1.0, 0), Part(2.0, 0)])


def test_arrays_that_are_one_memory() -> None:
    """Each has a shadow of its own: where one is written, that would be a wrong number."""

    def writes(given: Any) -> Any:
        given[0].w[0] = given[1].b[1] ** 2
        return np.sum(given[0].w * given[1].b)

    def reads(given: Any) -> Any:
        return np.sum(given[0].w * given[1].b)

    same = array(0.3, 0.7)
    for shared in ([Layer(same, array(1.0, 2.0)), Layer(array(2.0, 3.0), same)],):
        with pytest.raises(ValueError, match="share memory"):
            by_closures("call", pb.grad(writes), shared)
        found = by_closures("call", pb.grad(reads), shared)
        assert found[0].w.tolist() == [0.3, 0.7] and found[1].b.tolist() == [0.3, 0.7]


def test_single_precision_stays() -> None:
    given = Node(np.float32(1.5), Node(np.float32(0.5)))
    found = by_closures("call", pb.grad(total), given)
    assert type(found.value) is np.float32 and type(found.left.value) is np.float32
    assert found.value == pytest.approx(3 * 1.5**2 + 0.5**3) and found.left.value == pytest.approx(3 * 0.25 * 1.5)


def test_tangents_of_fixed_lists_of_objects() -> None:
    """Lists from two places are of one structure, in the default formulation as well."""
    given, moved = parts()[0], [Part(1.0, 0), Part(2.0, 0), Part(0.0, 0)]
    value, tangent = pb.jvp(a_list, (given,), (moved,))
    gradient = pb.grad(a_list)(given)
    assert value == pytest.approx(a_list(given))
    assert tangent == pytest.approx(gradient[0].weight + 2.0 * gradient[1].weight)
    _, second = pb.jvp(pb.grad(a_list), (given,), (moved,))
    assert second[0].weight == pytest.approx(0.25 * 6 * 0.5 * 2)


def test_an_object_keeps_a_function_of_what_it_kept() -> None:
    class Holder:
        def __init__(self, function: Any) -> None:
            self.function = function

    def composed(x: float, n: int) -> float:
        holder = Holder(lambda a: a * x)
        if n > 1:
            holder.function = lambda a: np.sin(a) * x * x
        before = holder.function
        holder.function = lambda a: before(a) * a * x
        return holder.function(x) * before(x)

    for n in (1, 3):
        assert_gradient([pb.grad(composed)(0.7, n)], oracle.gradient(composed, (0.7, n), (0,)), relative=1e-9)


def test_layers_are_what_they_were() -> None:
    given = layers()
    before = [layer.w.copy() for layer in given[0]]
    by_closures("call", pb.grad(PROGRAMS["a_network"][0], (0, 1)), *given)
    assert all((layer.w == old).all() for layer, old in zip(given[0], before, strict=True))

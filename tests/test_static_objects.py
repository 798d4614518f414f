"""Numbers that objects hold and that must be known while compiling: axes, ranks, keepdims in fields.

Compiled, against Python: of arguments, nested, in closures and globals, made inside; one version for each number, and
none for what is only data; in derivatives too, where a gradient has zeros for ints as always.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import pullback as pb
from pullback import testing


@dataclass
class Layer:
    axis: Any
    weight: float
    keep: bool = False

    def __call__(self, x: Any) -> Any:
        return self.weight * np.sum(x, axis=self.axis, keepdims=self.keep)


class Model:
    def __init__(self, first: Any, second: Any) -> None:
        self.first, self.second = Layer(first, 2.0), Layer(second, 3.0)

    def loss(self, x: Any) -> Any:
        return np.sum(self.first(x) ** 2) + np.sum(self.second(x) ** 2)


@dataclass(frozen=True)
class Shape:
    axes: tuple[int, ...]
    rank: int


@dataclass
class Holder:
    inner: Any


@dataclass
class Outer:
    holder: Holder


X = np.arange(6.0).reshape(2, 3)


def made_inside(x: Any, axis: Any) -> Any:
    first, second = Layer(axis, 2.0), Layer(1 - axis, 3.0)
    return first(x).sum() + np.sum(second(x) ** 2)


def made_in_a_list(x: Any) -> Any:
    total = 0.0
    for layer in [Layer(0, 1.0), Layer(1, 2.0, True)]:
        total += np.sum(layer(x) ** 2)
    return total


def in_a_list(x: Any, layers: Any) -> Any:
    total = 0.0
    for layer in layers:
        total += np.sum(layer(x) ** 2)
    return total


def as_data_too(x: Any, layer: Any) -> Any:
    return layer.axis * 3 + layer(x).sum()


def through_recursion(x: Any, model: Any, n: Any) -> Any:
    return model.loss(x) if n == 0 else through_recursion(x, model, n - 1) + 1


def axes(x: Any, shape: Any) -> Any:
    return np.sum(x, axis=shape.axes) * shape.rank, np.zeros((2,) * shape.rank).shape


ROWS: list[tuple[Callable[..., Any], list[tuple[Any, ...]]]] = [
    (lambda x, layer: layer(x),
     [(Layer(0, 2.0),), (Layer(1, 2.0),), (Layer(-1, 3.0, True),), (Layer(np.int64(1), 2.0),), (Layer(0, 5.0),),
      (Layer(None, 1.0),), (Layer((0, 1), 1.0),)]),
    (lambda x, model: model.loss(x), [(Model(0, 1),), (Model(1, 0),), (Model(1, 1),), (Model(0, 1),)]),
    (lambda x, a, b: (a(x).sum(), b(x)), [(Layer(0, 1.0), Layer(1, 2.0)), (Layer(1, 1.0), Layer(1, 2.0))]),
    (in_a_list, [([Layer(0, 1.0), Layer(1, 2.0)],), ([Layer(1, 1.0)] * 30,), ([Layer(0, 1.0)] * 30,)]),
    (made_inside, [(0,), (1,)]), (made_in_a_list, [()]), (as_data_too, [(Layer(1, 2.0),), (Layer(0, 2.0),)]),
    (through_recursion, [(Model(1, 0), 3)]), (axes, [(Shape((0, 1), 2),), (Shape((1,), 3),)]),
    (lambda x, h: np.linalg.norm(x, ord=h.inner), [(Holder(1),), (Holder(2),), (Holder(-1),), (Holder("fro"),)]),
    (lambda x, h: np.pad(x, 1, mode=h.inner), [(Holder("edge"),), (Holder("reflect"),)]),
    (lambda x, o: np.sum(x, axis=o.holder.inner), [(Outer(Holder(k)),) for k in (0, 1, None, 0)]),
]  # fmt: skip


@pytest.mark.parametrize(("program", "runs"), ROWS)
def test_values(program: Callable[..., Any], runs: list[tuple[Any, ...]]) -> None:
    compiled = pb.jit(program)
    for given in (*runs, *runs[::-1]):
        found, wanted = compiled(X, *given), program(X, *given)
        pairs = zip(found, wanted, strict=True) if isinstance(wanted, tuple) else [(found, wanted)]
        for one, other in pairs:
            assert type(one) is type(other) and np.shape(one) == np.shape(other) and np.allclose(one, other)


def test_one_version_for_each_number() -> None:
    compiled = pb.jit(lambda layer, x: layer(x))
    for layer in (Layer(0, 2.0), Layer(1, 2.0), Layer(0, 7.0), Layer(1, 0.5)):
        compiled(layer, X)
    assert compiled.specializations == (
        "Layer(axis=int 0, keep=bool False), float64[:, :]", "Layer(axis=int 1, keep=bool False), float64[:, :]",
    )  # fmt: skip
    before = testing.compilations()
    for layer in (Layer(0, 3.0), Layer(1, 4.0)):
        compiled(layer, X)
    assert testing.compilations() == before
    data = pb.jit(lambda layer: layer.axis * 2.0)
    assert [data(Layer(k, 1.0)) for k in range(20)] == [2.0 * k for k in range(20)]
    assert len(data.specializations) == 1


def test_objects_of_closures_are_read_at_every_call() -> None:
    layer = Layer(0, 2.0)
    compiled = pb.jit(lambda x: layer(x))
    for axis in (0, 1, 0):
        layer.axis = axis
        assert np.array_equal(compiled(X), layer(X))


def test_derivatives() -> None:
    model = Model(0, 1)
    slopes = pb.grad(lambda model, x: model.loss(x))(model, X)
    h = 1e-6
    for name in ("first", "second"):
        layer, slope = getattr(model, name), getattr(slopes, name)
        old, found = layer.weight, []
        for layer.weight in (old + h, old - h):
            found.append(model.loss(X))
        layer.weight = old
        assert np.isclose(slope.weight, (found[0] - found[1]) / (2 * h)) and (slope.axis, slope.keep) == (0, 0)

    def squares(layer: Any, x: Any) -> Any:
        return np.sum(layer(x) ** 2)

    layer = Layer(1, 2.0)
    assert np.isclose(pb.jvp(squares, (layer, X), (Layer(1, 1.0), 0 * X))[1], 2 * 2.0 * np.sum(X.sum(axis=1) ** 2))
    second = pb.grad(lambda layer, x: pb.grad(squares)(layer, x).weight)(layer, X)
    assert np.isclose(second.weight, 2 * np.sum(X.sum(axis=1) ** 2))
    assert np.allclose(pb.hessian(lambda x, layer: squares(layer, x))(X, layer)[0, :, 0], 8 * np.ones(3))


def test_a_gradient_is_no_object_of_that_number() -> None:
    """Its axis is 0, not what the code is made for: that shows, and gives no wrong number."""
    compiled = pb.jit(lambda layer, x: pb.grad(lambda layer: np.sum(layer(x) ** 2))(layer).axis)
    with pytest.raises(ValueError, match="the field 'axis' of Layer is not 1"):
        compiled(Layer(1, 2.0), X)


def test_functions_behind_references_are_looked_at() -> None:
    """What code knows as a constant is checked however far away it is."""
    compiled = pb.jit(lambda outer, x: outer.holder.inner(x))
    listed = pb.jit(lambda holders, x: sum(h.inner(x) for h in holders))
    for function in (np.sin, np.cos, np.sin):
        assert compiled(Outer(Holder(function)), 1.0) == function(1.0)
        assert np.isclose(listed([Holder(function)] * 20, 1.0), 20 * function(1.0))

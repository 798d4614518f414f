"""Gradients by arrays in lists, objects and trees, of functions that put other arrays there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

import pullback as pb


class Node:
    def __init__(self, w: Any, next: Any = None) -> None:
        self.w, self.next = w, next


@dataclass
class Layer:
    weights: Any
    bias: Any = None
    seen: list[Any] = field(default_factory=list)


def every_array_replaced(ws: Any) -> Any:
    for k in range(len(ws)):
        ws[k] = np.sin(ws[k]) * ws[k]
    total = 0.0
    for w in ws:
        total += np.sum(w * w)
    return total


def replaced_again_and_again(ws: Any) -> Any:
    for _ in range(4):
        for k in range(len(ws)):
            ws[k] = ws[k] * 0.7 + 0.1 * ws[k] ** 2
    return np.sum(ws[0] * ws[1])


def written_in_place_and_replaced(ws: Any) -> Any:
    ws[0] *= ws[1]
    ws[1] = ws[0] + ws[1]
    ws[1] *= ws[0]
    return np.sum(ws[1])


def grown_and_cut(ws: Any) -> Any:
    ws.append(ws[0] * ws[1])
    ws[0] = ws[2] * 2.0
    ws.pop(1)
    return np.sum(ws[0] * ws[1])


def swapped(ws: Any) -> Any:
    ws[0], ws[1] = ws[1], ws[0]
    return np.sum(ws[0] ** 2 * ws[1])


def on_one_path(ws: Any) -> Any:
    if np.sum(ws[0]) > 0.0:
        ws[0] = np.exp(ws[1])
    return np.sum(ws[0] * ws[1])



def in_a_chain(node: Any) -> Any:
    node.w = node.w * np.sin(node.w)
    return np.sum(node.w) + (0.0 if node.next is None else 2.0 * in_a_chain(node.next))


def in_an_object(layer: Any) -> Any:
    h = np.tanh(layer.weights) * 2.0
    layer.seen.append(h)
    layer.weights = layer.weights * h
    if layer.bias is not None:
        layer.bias = layer.bias + h
        h = h * layer.bias
    return np.sum(layer.weights * h) + np.sum(layer.seen[0])


def chain(parts: list[Any]) -> Node:
    return Node(parts[0], Node(parts[1]))


def layer(parts: list[Any]) -> Layer:
    return Layer(parts[0], parts[1])


LISTS = (
    every_array_replaced, replaced_again_and_again, written_in_place_and_replaced, grown_and_cut, swapped, on_one_path,
)  # fmt: skip
CASES: list[Any] = [pytest.param(f, list, id=f.__name__) for f in LISTS]
CASES += [pytest.param(in_a_chain, chain, id="chain"), pytest.param(in_an_object, layer, id="object")]


def parts_of(made: Any) -> list[Any]:
    if isinstance(made, Node):
        return [made.w, made.next.w]
    return [made.weights, made.bias] if isinstance(made, Layer) else list(made)


def drawn(seed: int, dtype: Any = np.float64) -> list[Any]:
    rng = np.random.default_rng(seed)
    return [rng.uniform(0.2, 1.0, 3).astype(dtype) for _ in range(2)]


def slope(f: Callable[[list[Any]], Any], parts: list[Any], direction: list[Any], h: float = 1e-6) -> Any:
    """The derivative of f along a direction, by central differences."""
    up, down = ([p + s * h * d for p, d in zip(parts, direction, strict=True)] for s in (1, -1))
    return (f(up) - f(down)) / (2 * h)


@pytest.mark.parametrize(("f", "build"), CASES)
def test_gradient_belongs_to_the_arrays_that_came_in(f: Any, build: Any) -> None:
    parts, direction = drawn(1), drawn(2)
    given = build([p.copy() for p in parts])
    found = parts_of(pb.grad(f)(given))
    wanted = slope(lambda q: f(build(q)), parts, direction)
    got = sum(np.sum(g * d) for g, d in zip(found, direction, strict=True))
    assert got == pytest.approx(wanted, rel=1e-6)
    seen = build([p.copy() for p in parts])
    f(seen)
    for mine, python in zip(parts_of(given), parts_of(seen), strict=True):
        np.testing.assert_allclose(mine, python, rtol=1e-14)  # the caller's objects end as Python leaves them


@pytest.mark.parametrize(("f", "build"), CASES)
def test_second_order(f: Any, build: Any) -> None:
    parts, direction = drawn(3), drawn(4)

    def gradient(q: list[Any]) -> Any:
        return np.concatenate(parts_of(pb.grad(f)(build([p.copy() for p in q]))))

    wanted = slope(gradient, parts, direction, 1e-5)
    _, tangent = pb.jvp(pb.grad(f), (build([p.copy() for p in parts]),), (build(direction),))
    np.testing.assert_allclose(np.concatenate(parts_of(tangent)), wanted, rtol=1e-5, atol=1e-8)


def test_reverse_over_reverse() -> None:
    parts, direction = drawn(5), drawn(6)

    def along(ws: Any) -> Any:
        g = pb.grad(every_array_replaced)(ws)
        return np.sum(g[0] * direction[0]) + np.sum(g[1] * direction[1])

    found = pb.grad(along)([p.copy() for p in parts])
    wanted = slope(lambda q: np.concatenate(pb.grad(every_array_replaced)(q)), parts, direction, 1e-5)
    np.testing.assert_allclose(np.concatenate(found), wanted, rtol=1e-5)


def test_float32_and_an_array_that_stands_twice() -> None:
    (a, b) = drawn(7, np.float32)
    found = pb.grad(every_array_replaced)([a, b, a])
    wanted = pb.grad(every_array_replaced)([a.copy(), b.copy(), a.copy()])
    assert [g.dtype for g in found] == [np.float32] * 3
    for mine, apart in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(mine, apart)

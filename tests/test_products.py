"""Products that loops and recursions add to a matrix: delayed until many can be added at once, and never seen late.

Each gradient is compared with forward mode, which delays nothing, in a random direction.
"""

import re
from dataclasses import dataclass

import numpy as np
import pytest

import pullback as pb


def along(function, arguments, argnums=(0,), tolerance=1e-9):
    """Gradients times directions against the derivative along them."""
    random = np.random.default_rng(1)
    directions = [(random.standard_normal if i in argnums else np.zeros)(np.shape(a)) for i, a in enumerate(arguments)]
    slopes = pb.grad(function, argnums)(*arguments)
    tangent = pb.jvp(function, tuple(arguments), tuple(directions))[1]
    wanted = sum(float(np.sum(s * directions[i])) for s, i in zip(slopes, argnums, strict=True))
    assert wanted == pytest.approx(float(tangent), rel=tolerance)


def queues(function, arguments, argnums=(0,)):
    """How often the last stage of the gradient's program puts products off."""
    text = str(pb.explain(pb.grad(function, argnums))(*arguments))
    last = text[text.index("passes again") :]
    body = re.split(r"\ndef pb\.add_", last)[0]
    return body.count("pb.add_later")


def weights(*shape):
    return np.random.default_rng(sum(shape)).standard_normal(shape) / np.sqrt(shape[0])


# ------------------------------------------------------------------------------------------------------- programs


def recurrent(w, xs):
    h = np.zeros(len(w))
    total = 0.0
    for x in xs:
        h = np.tanh(w @ h + x)
        total += np.sum(h * h)
    return total


def two_layers(w, v, xs):
    h = np.zeros(len(w))
    total = 0.0
    for x in xs:
        h = np.tanh(w @ h + x)
        if np.sum(h) > 0.0:
            h = np.tanh(v @ h)
        for _ in range(2):
            h = h + 0.1 * (w @ h)
        total += np.sum(h * h)
    return total


def same_twice(w, xs):
    return two_layers(w, w, xs)


def changing(w, xs):
    """The matrix is another one in each trip: the cotangent of each is read in the next trip of the reverse."""
    total = 0.0
    for x in xs:
        total += np.sum(np.tanh(w @ x))
        w = w * 0.9
    return total


def elements_too(w, xs):
    """Additions to elements and rows stand among the products."""
    h = np.zeros(len(w))
    total = 0.0
    for x in xs:
        h = np.tanh(w @ h + x + w[0]) * w[1, 1]
        total += np.sum(h * w[:, 2])
    return total


def blocks(w, xs):
    """Products of several columns, of more than fit, and views of the matrix."""
    total = 0.0
    for k in range(len(xs)):
        total += np.sum(np.tanh(xs[: k + 1] @ w)) + np.sum(xs[: k % 3] @ w.T) + np.sum(w[1:] @ xs[k])
    return total


@dataclass
class Node:
    word: np.ndarray
    left: "Node | None" = None
    right: "Node | None" = None


def encode(node, w, v):
    if node is None:
        return np.zeros(len(w))
    left, right = encode(node.left, w, v), encode(node.right, w, v)
    return np.tanh(w @ (left + right) + v @ node.word)


def tree_sum(w, v, tree):
    return np.sum(encode(tree, w, v))


def tree_twice(w, tree):
    return np.sum(encode(tree, w, w)) + np.sum(w @ tree.word)


def grown(depth, size):
    word = np.cos(np.arange(size) + depth)
    return Node(word) if depth == 0 else Node(word, grown(depth - 1, size), grown(depth - 1 if depth % 2 else 0, size))


def rows(n, size):
    return np.cos(np.arange(n * size)).reshape(n, size)


# ---------------------------------------------------------------------------------------------------------- values


@pytest.mark.parametrize("size", [7, 60])  # without and with room for a queue
@pytest.mark.parametrize("count", [0, 1, 300])
def test_a_loop(size, count):
    along(recurrent, (weights(size, size), rows(count, size)))


@pytest.mark.parametrize("function", [same_twice, changing, elements_too, blocks], ids=lambda f: f.__name__)
def test_what_stands_between(function):
    along(function, (weights(50, 50), rows(40, 50)))


def test_two_matrices():
    along(two_layers, (weights(50, 50), weights(50, 51)[:, :50], rows(30, 50)), (0, 1))


@pytest.mark.parametrize("depth", [0, 1, 9])
def test_recursion(depth):
    tree = grown(depth, 48)
    slopes = pb.grad(tree_sum, (0, 1))(weights(48, 48), weights(48, 49)[:, :48], tree)
    h = 1e-6
    for place in (0, 1):
        given = [weights(48, 48), weights(48, 49)[:, :48].copy()]
        direction = np.sin(np.arange(48 * 48)).reshape(48, 48)
        ends = []
        for sign in (1, -1):
            moved = list(given)
            moved[place] = given[place] + sign * h * direction
            ends.append(tree_sum(*moved, tree))
        assert np.sum(slopes[place] * direction) == pytest.approx((ends[0] - ends[1]) / (2 * h), rel=1e-6, abs=1e-7)


def test_recursion_with_one_matrix_as_both():
    tree, w = grown(5, 48), weights(48, 48)
    direction, h = np.sin(np.arange(48 * 48)).reshape(48, 48), 1e-6
    slope = pb.grad(tree_twice)(w, tree)
    ends = [tree_twice(w + sign * h * direction, tree) for sign in (1, -1)]
    assert np.sum(slope * direction) == pytest.approx((ends[0] - ends[1]) / (2 * h), rel=1e-6)


def test_training_in_compiled_code():
    """The matrix of cotangents is made anew in every trip of an outer loop."""

    def trained(w, xs):
        for _ in range(3):
            w = w - 0.01 * pb.grad(recurrent)(w, xs)
        return w

    w, xs = weights(60, 60), rows(20, 60)
    plain = w
    for _ in range(3):
        plain = plain - 0.01 * pb.grad(recurrent)(plain, xs)
    assert np.allclose(pb.jit(trained)(w, xs), plain, rtol=1e-12, atol=0)


def test_second_order():
    w, xs = weights(60, 60), rows(12, 60)
    d = weights(60, 60)[::-1]
    curved = pb.jvp(lambda w: pb.grad(recurrent)(w, xs), (w,), (d,))[1]
    h = 1e-5
    wanted = (pb.grad(recurrent)(w + h * d, xs) - pb.grad(recurrent)(w - h * d, xs)) / (2 * h)
    assert np.allclose(curved, wanted, rtol=1e-5, atol=1e-5)


def test_single_precision():
    w, xs = weights(60, 60).astype(np.float32), rows(200, 60).astype(np.float32)
    slope = pb.grad(recurrent)(w, xs)
    assert slope.dtype == np.float32
    assert np.allclose(slope, pb.grad(recurrent)(w.astype(float), xs.astype(float)), rtol=1e-3, atol=1e-3)


def test_no_memory_stays():
    w, xs = weights(60, 60), rows(50, 60)
    slope = pb.grad(recurrent)
    slope(w, xs)
    before = pb.stats().live_bytes
    for _ in range(3):
        slope(w, xs)
    assert pb.stats().live_bytes == before


# -------------------------------------------------------------------------------------------------------- programs


def test_where_products_are_put_off():
    w, xs = weights(60, 60), rows(5, 60)
    assert queues(recurrent, (w, xs)) == 1
    assert queues(tree_sum, (w, w.copy(), grown(2, 60)), (0, 1)) >= 2
    assert queues(changing, (w, xs)) == 0  # read in every trip


def test_one_product_is_added_at_once():
    assert queues(lambda w, x: np.sum(np.tanh(w @ x)), (weights(60, 60), rows(1, 60)[0])) == 0


# ------------------------------------------------------------------------------------- what the reverse does not redo


def gated(w, xs):
    h = np.zeros(len(w))
    for x in xs:
        h = np.tanh(1 / (1 + np.exp(-(w @ h + x))))
    return np.sum(h)


def test_elementary_functions_of_a_loop_are_kept_for_the_reverse():
    arguments = weights(20, 20), rows(9, 20)
    text = str(pb.explain(pb.grad(gated))(*arguments))
    last = text[text.index("passes again") :]
    assert (last.count("= exp "), last.count("= tanh ")) == (1, 1)
    along(gated, arguments)


def table(e, numbers):
    total = 0.0
    for k in range(len(numbers)):
        total += np.sum(np.tanh(e[numbers[k]] * (k + 1.0)))
    return total


def test_rows_picked_by_numbers_are_apart_from_the_copy():
    e, numbers = weights(6, 5), np.array([[0, 1, 5, 1], [2, 2, 0, 5]])
    assert "array_overlap" not in str(pb.explain(pb.grad(table))(e, numbers)).partition(" passes =")[2]
    along(lambda e: table(e, numbers), (e,))

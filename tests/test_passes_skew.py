"""Rows of cells that need their neighbours run side by side: the same numbers and exceptions, at all sizes."""

import math

import numpy as np
import pytest

import pullback as pb
from pullback import pipeline
from pullback.passes import skew

RNG = np.random.default_rng(5)
# Around the numbers of rows and columns from which rows run side by side, and of what is left over.
SIZES = ((8, 21), (9, 20), (16, 33), (3, 40), (23, 26), (30, 12))


def seidel(u, omega):
    for i in range(1, u.shape[0] - 1):
        for j in range(1, u.shape[1] - 1):
            u[i, j] += omega * (0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1]) - u[i, j])
    return np.sum(u * u)


def warped(x, y):
    t = np.full((len(x) + 1, len(y) + 1), 1e10)
    t[0, 0] = 0.0
    for i in range(1, len(x) + 1):
        for j in range(1, len(y) + 1):
            m = min(t[i - 1, j], t[i, j - 1], t[i - 1, j - 1])
            soft = math.exp(m - t[i - 1, j]) + math.exp(m - t[i, j - 1]) + math.exp(m - t[i - 1, j - 1])
            t[i, j] = (x[i - 1] - y[j - 1]) ** 2 + m - math.log(soft)
    return t[len(x), len(y)]


def edits(a, b):
    t = np.zeros((len(a) + 1, len(b) + 1), dtype=np.int64)
    t[:, 0] = np.arange(len(a) + 1)
    t[0] = np.arange(len(b) + 1)
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            t[i, j] = min(t[i - 1, j] + 1, t[i, j - 1] + 1, t[i - 1, j - 1] + (a[i - 1] != b[j - 1]))
    return t[len(a), len(b)]


def above_right(u):
    """The last of the neighbours that a row may need of the one above."""
    t, total, weights = u.copy(), 0.0, np.sum(u, axis=1)
    for i in range(2, u.shape[0]):
        row = 0.0
        for j in range(1, u.shape[1] - 2):
            t[i, j] = 0.4 * t[i, j - 1] + 0.3 * t[i - 1, j + 1] - 0.2 * t[i - 2, j + 2] + weights[i]
            row += t[i, j] * u[i, j]
        total += row * t[i, 1]
    return total + np.sum(t)


def too_far(u):
    """A row that needs more of the one above, which may not run side by side with it."""
    t = u.copy()
    for i in range(1, u.shape[0]):
        for j in range(1, u.shape[1] - 2):
            t[i, j] = 0.4 * t[i, j - 1] + 0.3 * t[i - 1, j + 2]
    return np.sum(t * t)


def below_left(u):
    """What the row below has not changed yet, but would have."""
    t = u.copy()
    for i in range(u.shape[0] - 1):
        for j in range(2, u.shape[1]):
            t[i, j] = 0.4 * t[i, j - 1] + 0.3 * t[i + 1, j - 2]
    return np.sum(t * t)


def joined(monkeypatch, function, arguments):
    """Are there nests whose rows run side by side."""
    found = []
    ask = skew.may_run_together
    monkeypatch.setattr(skew, "may_run_together", lambda *given: found.append(ask(*given)) or found[-1])
    pb.explain(function)(*arguments)
    return any(found)


def matrix(n, m):
    return RNG.random((n, m))


MATRICES = [(seidel, (1.3,)), (above_right, ()), (too_far, ()), (below_left, ())]


@pytest.mark.parametrize("function, more", MATRICES, ids=[f.__name__ for f, _ in MATRICES])
def test_values_are_those_of_python(function, more):
    compiled = pb.jit(function)
    for n, m in SIZES:
        u = matrix(n, m)
        mine, theirs = u.copy(), u.copy()
        assert compiled(mine, *more) == pytest.approx(function(theirs, *more), rel=1e-14)
        assert np.array_equal(mine, theirs)


def test_which_nests_are_joined(monkeypatch):
    u = matrix(9, 30)
    assert joined(monkeypatch, seidel, (u, 1.3)) and joined(monkeypatch, above_right, (u,))
    assert joined(monkeypatch, warped, (u[0], u[1])) and joined(monkeypatch, pb.grad(warped), (u[0], u[1]))
    assert not joined(monkeypatch, too_far, (u,)) and not joined(monkeypatch, below_left, (u,))


def test_series():
    soft, hard = pb.jit(warped), pb.jit(edits)
    for n, m in SIZES:
        x, y = RNG.random(n), RNG.random(m)
        assert soft(x, y) == pytest.approx(warped(x, y), rel=1e-13)
        a, b = RNG.integers(0, 3, n), RNG.integers(0, 3, m)
        assert hard(a, b) == edits(a, b)


DERIVED = [(seidel, (1.3,)), (above_right, ()), (too_far, ())]


@pytest.mark.parametrize("function, more", DERIVED, ids=[f.__name__ for f, _ in DERIVED])
def test_gradients_and_second_order(function, more, monkeypatch):
    def loss(u, *more):
        return function(u.copy(), *more)

    u, v = matrix(14, 25), matrix(14, 25)
    numbers = tuple(range(1 + len(more)))
    slopes = pb.grad(loss, argnums=numbers)(u, *more)
    curved = pb.hvp(loss, (u, *more), (v, *(0.5 for _ in more)))
    curved = curved[0] if more else curved
    step, up, down = 1e-6, u + 1e-6 * v, u - 1e-6 * v
    slope = np.sum(slopes[0] * v)
    assert slope == pytest.approx((loss(up, *more) - loss(down, *more)) / (2 * step), rel=1e-6)
    gradient = pb.grad(loss, argnums=numbers)
    ahead = tuple(x + 0.5 * step for x in more), tuple(x - 0.5 * step for x in more)
    difference = (gradient(up, *ahead[0])[0] - gradient(down, *ahead[1])[0]) / (2 * step)
    np.testing.assert_allclose(curved, difference, rtol=1e-5, atol=1e-6)
    # Row after row, the numbers are the same to the last bit.
    monkeypatch.setattr(pipeline, "_LAST", tuple(run for run in pipeline._LAST if run is not skew.run))
    for found, plain in zip(slopes, pb.grad(lambda *given: loss(*given), argnums=numbers)(u, *more), strict=True):
        assert np.array_equal(found, plain)


def test_gradient_of_series():
    x, y = RNG.random(13), RNG.random(20)
    slopes, step = pb.grad(warped, argnums=(0, 1))(x, y), 1e-6
    for number, given in enumerate((x, y)):
        for i in (0, 5, len(given) - 1):
            moved = []
            for sign in (1, -1):
                arguments = [x.copy(), y.copy()]
                arguments[number][i] += sign * step
                moved.append(warped(*arguments))
            assert slopes[number][i] == pytest.approx((moved[0] - moved[1]) / (2 * step), rel=1e-6, abs=1e-8)


def roots(u):
    """A cell raises where the sum of its neighbours is negative; its number is told."""
    t = u.copy()
    for i in range(1, u.shape[0]):
        for j in range(1, u.shape[1]):
            t[i, j] = math.log(t[i - 1, j] + t[i, j - 1] + u[i, j]) + 0.9
    return np.sum(t)


def roots_in_place(u):
    for i in range(1, u.shape[0]):
        for j in range(1, u.shape[1]):
            u[i, j] = math.log(u[i - 1, j] + u[i, j - 1] + u[i, j]) + 0.9
    return np.sum(u)


def caught(u):
    try:
        return roots(u)
    except ValueError:
        return -1.0


def outcome(function, u):
    try:
        return function(u)
    except ValueError as error:
        return str(error)


@pytest.mark.parametrize("function", [roots, roots_in_place, caught], ids=lambda f: f.__name__)
def test_the_first_cell_that_fails_raises(function):
    """In the order of Python, wherever it lies in the rows that run side by side, and with what was written before."""
    compiled = pb.jit(function)
    places = [[(2, 25)], [(5, 3)], [(1, 1)], [(3, 2), (2, 28)], [(2, 30), (4, 1)], [(9, 29)], [(4, 17), (1, 29)], []]
    for cells in places:
        u = matrix(13, 31) + 0.5
        for i, j in cells:
            u[i, j] = -50.0 - i - 0.01 * j
        mine, theirs = u.copy(), u.copy()
        found, wanted = outcome(compiled, mine), outcome(function, theirs)
        assert found == wanted if isinstance(wanted, str) else found == pytest.approx(wanted, rel=1e-13)
        assert np.array_equal(np.isnan(mine), np.isnan(theirs))
        np.testing.assert_allclose(mine, theirs, rtol=1e-13)


def test_checked_cells_of_own_memory_are_joined(monkeypatch):
    u = matrix(9, 30) + 0.5
    assert joined(monkeypatch, roots, (u,))
    assert not joined(monkeypatch, roots_in_place, (u,))  # the caller would see what later rows have written

"""Inner loops of neighbouring trips that run together: the same bits as Python, and only where that is safe."""

import math

import numpy as np
import pytest

import pullback as pb

RNG = np.random.default_rng(20261201)
N = 150  # so long that loops of different lengths are jammed too


def bits(*values):
    return [np.asarray(v).tobytes() for v in values]


def square(n=N):
    return RNG.random((n, n)) + n * np.eye(n)


def is_jammed(function, *arguments):
    """Does a loop carry four chains at once, or twice as many."""
    text = str(pb.explain(function)(*arguments)).split("passes again")[-1]
    loops = [line.split(" = for ")[0] for line in text.splitlines() if " = for " in line]
    return any(results.count(":") in (4, 8) for results in loops)


# ------------------------------------------------------------------------------------------------ nests that are jammed


def product(a, x):
    y = np.zeros(len(a))
    for i in range(len(a)):
        s = 0.0
        for k in range(len(x)):
            s += a[i, k] * x[k]
        y[i] = s
    return y


def single(a, x):
    y = np.zeros(len(a), dtype=np.float32)
    for i in range(len(a)):
        s = a[i, 0]
        for k in range(len(x)):
            s = s * a[0, k] - a[i, k] * x[k]
        y[i] = s
    return y


def rows(a, x):
    y = np.zeros(len(a))
    for i in range(len(a)):
        row, s = a[i], 1.0
        for k in range(len(x)):
            s -= row[k] * x[k]
        y[i] += s * s
    return y


def products(a, b):
    c = np.zeros((len(a), len(a)))
    for i in range(len(a)):
        for j in range(len(a)):
            s = 0.0
            for k in range(len(a)):
                s += a[i, k] * b[k, j]
            c[i, j] = s
    return c


def cholesky(a):
    n = len(a)
    factor, total = np.zeros((n, n)), 0.0
    for i in range(n):
        for j in range(i + 1):
            s = a[i, j]
            for k in range(j):
                s -= factor[i, k] * factor[j, k]
            if i == j:
                factor[i, i] = math.sqrt(s)
                total += factor[i, i]
            else:
                factor[i, j] = s / factor[j, j]
    return factor * total


def forward(a, b):
    x = np.zeros(len(b))
    for i in range(len(b)):
        s = b[i]
        for k in range(i):
            s -= a[i, k] * x[k]
        x[i] = s / a[i, i]
    return x


def decomposition(a):
    """In place; rows and columns by turns."""
    a, n = a.copy(), len(a)
    for i in range(n):
        for j in range(i, n):
            s = a[i, j]
            for k in range(i):
                s -= a[i, k] * a[k, j]
            a[i, j] = s
        for j in range(i + 1, n):
            s = a[j, i]
            for k in range(i):
                s -= a[j, k] * a[k, i]
            a[j, i] = s / a[i, i]
    return a


def filtered(x, w):
    y, total = np.zeros(len(x) - len(w) + 1), 0.0
    for i in range(len(y)):
        s, t = 0.0, x[i]
        for k in range(len(w)):
            s += x[i + k] * w[k]
            t -= w[k]
        y[i] = s * t
        total += s
    return y * total


def far_down(a, x):
    """What is written is read by the first of the next four trips only."""
    a = a.copy()
    for i in range(len(a) - 4):
        s = 0.0
        for k in range(len(x)):
            s -= a[i, k] * x[k]
        a[i + 4, 0] = s
    return a


def complex_product(a, x):
    y = np.zeros(len(a), dtype=complex)
    for i in range(len(a)):
        s = 0j
        for k in range(len(x)):
            s += a[i, k] * x[k]
        y[i] = s
    return y


JAMMED = [
    (product, (square(), RNG.random(N))),
    (single, (RNG.random((37, 40)).astype(np.float32), RNG.random(40).astype(np.float32))),
    (product, (np.asfortranarray(square(41))[::-1], RNG.random(82)[::2])),
    (rows, (square(41), RNG.random(41))),
    (products, (square(21), square(21))),
    (cholesky, (square(N) @ square(N).T,)),
    (forward, (square(), RNG.random(N))),
    (decomposition, (square(),)),
    (filtered, (RNG.random(200), RNG.random(33))),
    (far_down, (square(41) / 41, RNG.random(41))),
    (complex_product, (square(41) * (1 + 2j), RNG.random(41) * 1j)),
]


@pytest.mark.parametrize(("function", "arguments"), JAMMED)
def test_bits_are_python_s(function, arguments):
    assert is_jammed(function, *arguments)
    assert bits(pb.jit(function)(*arguments)) == bits(function(*arguments))


def test_lengths_and_remainders():
    compiled = pb.jit(product)
    for rows_, columns in [(0, 40), (3, 40), (7, 40), (8, 0), (8, 31), (8, 32), (9, 33), (11, 100), (12, 64)]:
        a, x = RNG.random((rows_, columns)), RNG.random(columns)
        assert bits(compiled(a, x)) == bits(product(a, x))


def test_special_numbers_stay():
    a, x = square(40), RNG.random(40)
    a[3, 5], a[6, 7], a[7, 0], x[39] = np.inf, np.nan, -np.inf, -0.0
    assert bits(pb.jit(product)(a, x)) == bits(product(a, x))


# ---------------------------------------------------------------------------------------- nests that must stay in order


def in_place(a, x):
    """Every row reads all of `x`, with what the rows before wrote."""
    x = x.copy()
    for i in range(len(x)):
        s = 0.0
        for k in range(len(x)):
            s += a[i, k] * x[k]
        x[i] = s / len(x)
    return x


def neighbours(a, x):
    a = a.copy()
    for i in range(len(a) - 1):
        s = 0.0
        for k in range(len(x)):
            s += a[i, k] * x[k]
        a[i + 1, 3] = s
    return a


def further_down(a, x):
    """Three trips later the element is read."""
    a = a.copy()
    for i in range(len(a) - 3):
        s = a[i, 5]
        for k in range(len(x)):
            s -= a[i, k] * x[k]
        a[i + 3, 0] = s
    return a


def behind_a_view(a, x):
    a = a.copy()
    below = a[1:]
    for i in range(len(below)):
        s = 0.0
        for k in range(len(x)):
            s += a[i, k] * x[k]
        below[i, 2] = s
    return a


def first_element(a, x):
    """The length is that of all trips, and what is written is among the first ones."""
    x = x.copy()
    for i in range(len(a)):
        s = 0.0
        for k in range(i):
            s += a[i, k] * x[k]
        x[i // 2] = s / N
    return x


def by_index(a, places):
    a = a.copy()
    for i in range(len(a)):
        s = 0.0
        for k in range(len(a)):
            s += a[i, k] * a[k, i]
        a[places[i], 1] = s / N
    return a


def through_an_argument(a, x, y):
    for i in range(len(a)):
        s = 0.0
        for k in range(len(x)):
            s += a[i, k] * x[k]
        y[i] = s / N
    return y


def before_the_loop(a, x):
    x = x.copy()
    for i in range(len(a)):
        x[i] = 2.0 * x[i]
        s = 0.0
        for k in range(len(x)):
            s += a[i, k] * x[k]
        x[0] += s
    return x


ORDERED = [in_place, neighbours, further_down, behind_a_view, first_element, before_the_loop]


@pytest.mark.parametrize("function", ORDERED)
def test_what_is_written_is_read(function):
    a, x = square() / N, RNG.random(N)
    assert not is_jammed(function, a, x)
    assert bits(pb.jit(function)(a, x)) == bits(function(a, x))


def test_arguments_that_may_be_one():
    a, x = square(), RNG.random(N)
    assert not is_jammed(through_an_argument, a, x, x.copy())
    y, z = x.copy(), x.copy()
    assert bits(pb.jit(through_an_argument)(a, y, y)) == bits(through_an_argument(a, z, z))
    places = RNG.integers(0, N, N)
    assert bits(pb.jit(by_index)(a / N, places)) == bits(by_index(a / N, places))


# --------------------------------------------------------------------------------------------------------- exceptions


def checked(a, x, limit):
    y = np.zeros(len(a))
    for i in range(len(a)):
        s = 0.0
        for k in range(len(x)):
            s += a[i, k] * x[k]
        if s > limit:
            raise OverflowError("row too large")
        y[i] = math.sqrt(s)
    return y


@pytest.mark.parametrize("row", [0, 1, 5, 38])
def test_the_first_row_that_fails_counts(row):
    a, x = np.ones((40, 40)), np.ones(40)
    assert is_jammed(checked, a, x, 1e9)
    a[row] = -1.0
    with pytest.raises(ValueError, match="math domain error"):
        pb.jit(checked)(a, x, 41.0)
    a[row] = 2.0
    a[39] = -1.0
    with pytest.raises(OverflowError, match="row too large"):
        pb.jit(checked)(a, x, 41.0)


def test_an_index_that_fails_in_a_later_row():
    compiled, a = pb.jit(product), np.ones((40, 50))
    with pytest.raises(IndexError, match="index 40 is out of bounds for axis 1 with size 40"):
        pb.jit(forward)(np.ones((N, 40)), np.ones(N))
    assert bits(compiled(a, np.ones(50))) == bits(product(a, np.ones(50)))
    with pytest.raises(IndexError):
        compiled(a, np.ones(51))


def test_early_exits():
    def until(a, x, limit):
        total = 0.0
        for i in range(len(a)):
            s = 0.0
            for k in range(len(x)):
                s += a[i, k] * x[k]
            if s > limit:
                break
            total += s
        return total

    a, x = np.ones((N, N)), np.ones(N)
    a[77, 3] = 2.0
    assert pb.jit(until)(a, x, N + 0.5) == until(a, x, N + 0.5) == 77.0 * N


# -------------------------------------------------------------------------------------------------------- derivatives


def test_derivatives_of_both_orders():
    a, b = square(140), RNG.random(140)

    def energy(b, a):
        x = forward(a, b)
        return np.sum(x * x) * x[3]

    inverse = np.linalg.inv(np.tril(a))
    x = inverse @ b
    slope = inverse.T @ (2.0 * x * x[3]) + np.sum(x * x) * inverse[3]
    assert pb.grad(energy)(b, a) == pytest.approx(slope, rel=1e-9)
    v = RNG.random(140)
    dx = inverse @ v
    curved = inverse.T @ (2.0 * dx * x[3] + 2.0 * x * dx[3]) + 2.0 * (x @ dx) * inverse[3]
    assert pb.hvp(lambda b: energy(b, a), (b,), (v,)) == pytest.approx(curved, rel=1e-9)

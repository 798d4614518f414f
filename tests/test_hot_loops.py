"""Typical loops over rows and small arrays allocate nothing in their trips, counted by `pb.stats`.

Each program is run with few and with many trips: a value allocates nothing at all, a gradient the same number of
blocks (its results, and one per kind of residual) whatever the number of trips.
"""

import math

import numpy as np
import pytest

import pullback as pb


def rows(n):
    return np.linspace(0.1, 1.0, 3 * n).reshape(n, 3)


PROGRAMS = []


def program(arguments):
    """`arguments(n)`: for about n trips."""

    def register(function):
        PROGRAMS.append(pytest.param(function, arguments, id=function.__name__))
        return function

    return register


def with_number(n):
    return 0.4, n


# ------------------------------------------------------------------------------------------- vectors and matrices


@program(with_number)
def dot(x, n):
    v, s = np.array([x, 0.5, -0.2]), 0.0
    for i in range(n):
        s += np.array([0.1 * i, x, 0.3]) @ v
    return s


def cross(u, v):
    return np.array([u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]])


@program(with_number)
def cross_and_norm(x, n):
    u, v = np.array([x, 0.5, -0.2]), np.array([0.1, x, 0.3])
    for _ in range(n):
        w = cross(u, v)
        u, v = v, w / np.sqrt(w @ w + 1.0)
    return u @ v


@program(with_number)
def product_of_matrices(x, n):
    a, b = np.array([[x, 0.1], [0.2, 0.9]]), np.eye(2)
    for _ in range(n):
        b = a @ b
    return b[0, 1] + b[1, 1]


@program(with_number)
def covariance(x, n):
    a, p, v = np.array([[x, 0.1], [0.2, 0.9]]), np.eye(2), np.array([1.0, x])
    for _ in range(n):
        p = a @ p @ a.T + 0.1 * np.eye(2)
        v = a @ v
        p -= 0.1 * np.outer(v, v)
    return p[0, 0] + p[0, 1] * v[0]


@program(with_number)
def inverse(x, n):
    s = 0.0
    for i in range(n):
        m = np.array([[x, 1.0], [0.5, 2.0 + i]])
        d = m[0, 0] * m[1, 1] - m[0, 1] * m[1, 0]
        s += np.sum(np.array([[m[1, 1], -m[0, 1]], [-m[1, 0], m[0, 0]]]) @ np.array([1.0, x])) / d
    return s


@program(with_number)
def quaternion(x, n):
    q = np.array([1.0, x, 0.0, 0.2])
    for _ in range(n):
        q = np.array([q[0] - q[1] * 0.1, q[1] + q[0] * 0.1, q[2] - q[3] * 0.1, q[3]])
        q /= np.sqrt(np.sum(q**2))
    return q[0] + q[2]


# ------------------------------------------------------------------------------------------- filled by elements


@program(with_number)
def filled_by_a_loop(x, n):
    s = 0.0
    for i in range(n):
        t = np.zeros(4)
        for k in range(4):
            t[k] = x * k + i
        s += np.sum(t) + np.max(t)
    return s


@program(with_number)
def filled_by_hand(x, n):
    s = 0.0
    for i in range(n):
        t = np.empty(3)
        t[0], t[1], t[2] = x, x * x, i
        s += t @ t
    return s


@program(with_number)
def read_by_a_loop(x, n):
    s = 0.0
    for i in range(n):
        c, p = np.array([1.0, x, 0.5, 0.25 * i]), 0.0
        for k in range(len(c)):
            p = p * 0.3 + c[k]
        s += p
    return s


@program(with_number)
def slices(x, n):
    v = np.array([x, 1.0, 2.0, 3.0])
    for _ in range(n):
        v[1:] = 0.5 * (v[1:] + v[:-1])
    return np.sum(v)


@program(with_number)
def kept_under_a_condition(x, n):
    best, u = np.zeros(2), np.array([x, 1.0])
    for i in range(n):
        u = np.array([math.sin(u[0] + i), u[0] * x])
        if u[0] > best[0]:
            best = u
    return best[0] * best[1]


# ------------------------------------------------------------------------------------------------ rows of arrays


@program(lambda n: (rows(n),))
def rows_by_index(a):
    s = 0.0
    for i in range(len(a)):
        row = a[i]
        s += row @ row + row[0]
    return s


@program(lambda n: (rows(n),))
def rows_by_iteration(a):
    s = 0.0
    for row in a:
        s += np.sum(row * row)
    return s


@program(lambda n: (rows(n),))
def rows_unpacked(a):
    s = 0.0
    for x, y, z in a:
        s += x * y - z
    return s


@program(lambda n: (rows(n), rows(n)))
def rows_added_to(a, b):
    for i in range(len(a)):
        a[i] += b[i] * 0.5
    return np.sum(a * a)


@program(lambda n: (rows(n), 0.3))
def rows_added_to_the_next(a, x):
    for i in range(1, len(a)):
        a[i] += x * a[i - 1]
    return np.sum(a * a)


@program(lambda n: (rows(n), 0.3))
def rows_written_under_a_name(a, x):
    for i in range(len(a)):
        row = a[i]
        row *= x
        row += 1.0
    return np.sum(a * a)


@program(lambda n: (rows(n)[:, :2].copy(), 0.3))
def rows_turned(a, t):
    turn, s = np.array([[math.cos(t), -math.sin(t)], [math.sin(t), math.cos(t)]]), 0.0
    for i in range(len(a)):
        q = turn @ a[i]
        s += q[0] * q[0] - q[1]
    return s


@program(lambda n: (rows(n), rows(n), 2))
def bodies(p, v, steps):
    for _ in range(steps):
        for i in range(len(p)):
            f = np.zeros(3)
            for j in range(len(p)):
                d = p[j] - p[i]
                f += d / (d @ d + 0.1)
            v[i] += 0.01 * f
        p += 0.01 * v
    return np.sum(p * p)


def allocations(function, arguments):
    function(*arguments)
    arguments = [a.copy() if isinstance(a, np.ndarray) else a for a in arguments]
    pb.stats(reset=True)
    function(*arguments)
    return pb.stats().allocations


@pytest.mark.parametrize(("function", "arguments"), PROGRAMS)
def test_values_allocate_nothing(function, arguments):
    compiled = pb.jit(function)
    assert compiled(*arguments(7)) == pytest.approx(function(*arguments(7)), rel=1e-12)
    assert [allocations(compiled, arguments(n)) for n in (10, 40)] == [0, 0]


@pytest.mark.parametrize(("function", "arguments"), PROGRAMS)
def test_gradients_allocate_no_more_for_more_trips(function, arguments):
    pb.check_grads(function, arguments(6), modes=("rev",))
    gradient = pb.grad(function)
    few, many = (allocations(gradient, arguments(n)) for n in (10, 40))
    assert few == many


def test_rows_that_overlap_are_not_written_too_early():
    """Where the target and what is read share memory, the expression is computed first."""

    def shifted(a, b, x):
        for i in range(len(a)):
            a[i] += x * b[i]
        return np.sum(a * a)

    for low, high in ((0, 3), (1, 4), (2, 5), (4, 7)):
        ours, theirs = np.arange(24.0), np.arange(24.0)
        views = [(m[:12].reshape(4, 3), m[low : low + 12].reshape(4, 3)) for m in (ours, theirs)]
        assert pb.jit(shifted)(*views[0], 0.5) == shifted(*views[1], 0.5), (low, high)
        np.testing.assert_array_equal(ours, theirs)

"""Programs that change arrays in place, for tests of differentiation: f(x, ...) -> float, the first one a float."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

import pullback as pb

PROGRAMS: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {}
A = np.array([0.3, -1.2, 0.8, 0.5])
B = np.array([0.7, 0.2, -0.4, 1.1])
M = np.array([[0.3, -0.2, 0.5], [0.1, 0.4, -0.6], [0.2, 0.7, 0.9]])


def program(*arguments: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        PROGRAMS[function.__name__] = function, arguments
        return function

    return register


@program(0.7, A)
def element(x, a):
    a[1] = x * x
    s = a[1] * a[0]
    a[1] = a[1] * s + x
    return a[1] * s


@program(0.7, A)
def in_place_recurrence(x, a):
    """Gauss-Seidel: reads what the same sweep has written."""
    for _ in range(3):
        for i in range(1, len(a) - 1):
            a[i] = x * a[i] + 0.3 * (a[i - 1] * a[i - 1] + math.sin(a[i + 1]))
    return np.sum(a * a)


@program(0.7, A, B)
def two_buffers(x, u, v):
    """Heat-like: the names of the buffers change places."""
    for _ in range(3):
        for i in range(1, len(u) - 1):
            v[i] = u[i] + x * (u[i - 1] - 2.0 * u[i] * u[i] + u[i + 1])
        u, v = v, u
    return np.sum(u * u) + u[1] * v[2]


@program(0.7, A, B)
def buffers_with_names(x, u, v):
    """As before, but the first names are used afterwards."""
    p, q = u, v
    for _ in range(3):
        for i in range(1, len(u)):
            q[i] = q[i] * 0.5 + p[i - 1] * p[i] * x
        p, q = q, p
    u[0] = u[1] * v[1]
    return np.sum(u * v) + p[0] * q[2]


@program(0.7, A)
def slices_overlap(x, a):
    a[1:] = a[:-1] * x
    a[:-1] = a[1:]
    a[::2] = a[::-2] * a[1::2] * x
    return np.sum(a * a) + a[0]


@program(0.7, A, B)
def augmented(x, a, b):
    a *= b
    a += x
    b -= a * a
    a[1:3] *= x
    a[2] += a[1] * b[0]
    a /= 2.0 + b * b
    return np.sum(a * b)


@program(0.7, M)
def rows(x, m):
    """Rows kept in variables and changed."""
    r, s = m[0], m[1]
    r[1] = x * s[2]
    s *= r
    m[2] = r + s * x
    c = m[:, 1]
    c[0] = c[1] * c[2]
    m[:, 2] = m[:, 0] * c
    return np.sum(m * m) + r[2] * s[0]


@program(0.7, M)
def transposed(x, m):
    t = m.T
    t[0] = t[1] * x
    m[1:, 1:] = m[:2, :2] * x
    t[2, 0] = m[1, 0] * t[1, 1]
    return np.sum(m @ t)


@program(0.7, M)
def shapes(x, m):
    """Reshape, ravel and the diagonal are views."""
    flat = m.reshape(9)
    flat[2] = x * flat[5]
    d = np.diagonal(m)
    m.ravel()[4] = math.sin(x)
    wide = m.reshape((1, 9))
    wide[0, 1:4] = wide[0, 5:8] * x
    return np.sum(d * d * d) + np.sum(flat * flat)


@program(0.7, A, B)
def choice(x, a, b):
    """One of two arrays, known by a new name; the old ones are used as well."""
    c = a if x > 0.5 else b
    c[1] = x * c[0]
    a[0] = a[1] * a[2]
    b[1] = b[1] * c[0]
    return np.sum(a * c) + np.sum(b)


@program(0.7, A, B)
def choice_in_loop(x, a, b):
    s = 0.0
    for i in range(len(a)):
        c = a if i % 2 == 0 else b
        c[i] = c[i] * x + s
        s = s + c[i] * a[3 - i]
    return s + np.sum(a * b)


@program(0.7, A)
def copied_or_not(x, a):
    b = a.copy() if x < 0.5 else a
    b[0] = x * b[1]
    b *= x
    c = a if x < 0.5 else a.copy()
    c[2] = b[0] * c[1]
    return np.sum(a * b) + c[2] * a[2]


@program(0.7, A)
def local_history(x, a):
    """A fresh array per trip, carried; the one before is still read."""
    n = len(a)
    h = a.copy()
    total = 0.0
    for t in range(3):
        new = np.zeros(n)
        for i in range(n):
            new[i] = math.tanh(x * h[i] + 0.5 * h[(i + 1) % n])
        new[0] = new[0] * new[1]
        total += new[t] * h[0]
        h = new
    return total + h[1]


@program(0.7, A)
def while_and_break(x, a):
    i = 0
    while i < 10:
        a[i % 4] = a[i % 4] * x + a[(i + 1) % 4]
        if a[i % 4] > 1.5:
            break
        i += 1
    return np.sum(a * a) * x


def _scale(b, s):
    for i in range(len(b)):
        b[i] = b[i] * b[i] * s
    return b[0]


def _same(b):
    return b


def _pick(b, c, p):
    return b if p else c


@program(0.7, A)
def callee_writes(x, a):
    s = _scale(a, x)
    s += _scale(a[1:], s)
    b = _same(a)
    b[2] = s * b[1]
    return np.sum(a * a) + s


@program(0.7, A, B)
def callee_returns_one(x, a, b):
    c = _pick(a, b, x > 0.5)
    d = _pick(a, b, x < 0.5)
    c[0] = d[0] * x
    d[1] = c[0] * c[1]
    a[2] = b[1] * x
    return np.sum(a * b) + c[0] * d[1]


def _twice(b, c, x):
    b[0] = c[1] * x
    c[1] = b[0] * c[0]
    return b[0] + c[1]


@program(0.7, A)
def callee_with_overlap(x, a):
    """The same memory under two names in the callee."""
    s = _twice(a, a, x)
    s += _twice(a[1:], a[:-1], x * s)
    return s * np.sum(a * a)


def _halves(b, x):
    n = len(b)
    if n == 1:
        b[0] = b[0] * x
    else:
        _halves(b[: n // 2], x)
        _halves(b[n // 2 :], x * b[0])
        for i in range(n - 1):
            b[i + 1] = b[i + 1] + b[i] * b[i + 1]


@program(0.7, A)
def recursion(x, a):
    _halves(a, x)
    return np.sum(a * a)


def _down(b, x, n):
    if n == 0:
        return b
    b[n] = b[n - 1] * x
    c = _down(b, x * b[n], n - 1)
    c[0] = c[0] * c[n]
    return c


@program(0.7, A)
def recursion_returns_it(x, a):
    b = _down(a, x, 3)
    b[1] = a[0] * x
    return np.sum(a * b)


@program(0.7, A)
def constants_into_active(x, a):
    """Writing constants removes what was there."""
    b = np.ones(4)
    b[1] = x
    c = b * b
    b[1] = 5.0
    b[2:] = 3.0
    a[:] = 0.0
    b[0] = x
    a[1] = c[1]
    return np.sum(b * c) + np.sum(a)


@program(0.7, A)
def read_before_overwriting(x, a):
    """What the reverse half needs is gone by then."""
    y = np.exp(a * x)
    s = np.sum(y * y)
    y[:] = a
    y *= y
    p = a * x
    q = p * p
    p[1] = 7.0
    a[0] = 2.0
    return s + np.sum(y * q) + np.dot(p, q)


@program(0.7, M)
def matrix_products(x, m):
    b = m * x
    c = b @ m
    b[0, 1] = 4.0
    m[1] = c[2] * x
    d = c @ b
    c *= 0.0
    c[1, 1] = x
    return np.sum(d) + np.sum(m @ c)


@program(0.7, A, B)
def sums_read_and_write(x, a, b):
    for i in range(3):
        a[i] = np.sum(a * b) * x
        b[i:] = a[i:] * 0.5
        b[i] = b[i] + np.dot(a, a) * 0.1
    return np.sum(a * b)


@program(0.7, A)
def prefix_sums(x, a):
    total = np.zeros(5)
    for i in range(4):
        total[i + 1] = total[i] + a[i] * x
    for i in range(4):
        a[i] = total[i + 1] * total[4 - i]
    return np.sum(a) * total[2]


@program(0.7, M)
def cholesky(x, m):
    n = len(m)
    s = m @ m.T
    for i in range(n):
        s[i, i] += x + 1.0
    low = np.zeros((n, n))
    for i in range(n):
        for j in range(i + 1):
            t = s[i, j]
            for k in range(j):
                t -= low[i, k] * low[j, k]
            low[i, j] = math.sqrt(t) if i == j else t / low[j, j]
    return np.sum(low) + low[2, 1] * x


@program(0.7, A)
def swapped_elements(x, a):
    a *= x
    for i in range(3):
        for j in range(3 - i):
            if a[j] > a[j + 1]:
                a[j], a[j + 1] = a[j + 1], a[j]
    return a[0] * a[1] - a[2] * a[3] * x


def _loss(w, x):
    return np.sum((w * w - x) * (w - 0.5))


@program(0.7, A)
def training(x, w):
    """Parameters changed in place by their own gradient, and differentiated through."""
    total = 0.0
    for _ in range(3):
        value, gradient = pb.value_and_grad(_loss)(w, x)
        w -= 0.1 * gradient
        total += value
    return total + np.sum(w * w)


def _writes(w, x):
    w[0] = w[1] * x
    w *= w
    return np.sum(w) * w[0]


@program(0.7, A)
def gradient_of_writer(x, w):
    """The inner function changes its argument, once."""
    value, gradient = pb.value_and_grad(_writes)(w, x)
    gradient[1] = gradient[1] * w[0]
    again, slope = pb.value_and_grad(_writes, 1)(w, value * x)
    return np.sum(gradient * w) + again * slope


@program(0.7, A)
def tangents_are_kept(x, w):
    v = w * x
    out, tangent = pb.jvp(_writes, (w, x), (v, 1.0))
    return out * tangent + np.sum(v * w)


@program(0.7, A)
def pullback_twice(x, w):
    out, pull = pb.vjp(_writes, w, x)
    w[2] = out
    first, slope = pull(1.0)
    first[0] = first[0] * w[2]
    second, again = pull(x)
    return np.sum(first * second * w) + slope * again


@program(0.7, A)
def carried_view(x, a):
    """A view that shrinks from trip to trip."""
    v = a
    s = 0.0
    for _ in range(3):
        v[0] = v[0] * v[1] * x
        s += v[0]
        v = v[1:]
    v[0] = s
    return np.sum(a * a)


@program(0.7, A)
def passed_through_ifs(x, a):
    b = a * x
    for i in range(4):
        if i % 2 == 0:
            if x > 0.1:
                b = b * b[i]
            b[i] = x
        else:
            b[i] = b[i - 1] * b[i]
    return np.sum(b)


@program(0.7, A)
def alias_written_in_branch(x, a):
    b = a[1:]
    if x > 0.0:
        b[0] = a[0] * x
        b = b * 2.0
    b[1] = b[0] * a[1]
    return np.sum(a) * np.sum(b)

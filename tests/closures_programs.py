"""Programs for J (the formulation by closures) that write to arrays, and that catch exceptions: f(x, ...) -> float."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import pullback as pb

WRITES: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {}
CATCHES: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {}
A = np.array([0.3, -1.2, 0.8, 0.5])
WEIGHTS = np.array([1.0, 2.0, 3.0])


def into(table: dict[str, Any], *arguments: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        table[function.__name__] = function, arguments
        return function

    return register


# ----------------------------------------------------------------------------------------------------------- arrays


@into(WRITES, 0.7)
def elements(x):
    a = np.array([x, 1.0, x * x])
    for k in range(4):
        a[k % 3] = math.sin(a[(k + 1) % 3]) * x + k * 0.25
    return float(math.sin(a[0]) * a[1] + a[2])


@into(WRITES, 0.7)
def views(x):
    a = np.array([1.0, x, 2.0, x * x])
    v = a[1:]
    for k in range(2):
        v[:] = v * x + a[k % 4] * 0.5
        a[::2] += x
    return float(np.sum(a * v[0]))


@into(WRITES, A)
def overlapping(a):
    a[1:] = a[:-1] * a[1:]
    a[:2], a[2:] = a[2:].copy(), a[:2] * 1.5
    a *= a
    return np.sum(a * a) + a[0]


def changes_both(a, b):
    a[0] = b[1] * a[0]
    b[1] = a[0] * a[0]
    return np.sum(a * b)


@into(WRITES, A)
def through_aliases(a):
    """One array under two names, and two views that overlap, in a callee that writes to both."""
    return changes_both(a, a) * changes_both(a[1:], a[:-1])


@into(WRITES, -0.7, A)
def merged_names(x, a):
    b = a if x > 0 else a.copy()
    b[0] = x * b[1]
    return a[0] * b[0] + np.sum(a)


class Pair(NamedTuple):
    u: Any
    v: float


@into(WRITES, A)
def in_structures(a):
    p, held = Pair(a[1:], a[0]), {"p": a, "q": (a[2:], 2.0)}
    p.u[0] = p.v * p.u[1]
    held["q"][0][0] *= held["p"][1] * held["q"][1]
    return np.sum(p.u) * p.v + np.sum(a * a)


@into(WRITES, A)
def by_closures(a):
    def put(i, v):
        a[i] = v * a[i]

    calls = [put, lambda i, v: put(i, v * v)]
    calls[0](0, a[1])
    calls[1](1, a[0])
    return a[0] * a[1]


@into(WRITES, A.astype(np.float32))
def single_precision(a):
    a[1] *= a[0]
    a += np.float32(0.5)
    return np.sum(a * a)


@into(WRITES, A)
def nothing_in_it(a):
    b, c = a[4:], np.zeros(0)
    b[:] = 1.0
    c += 2.0
    return np.sum(a * a) + np.sum(b) + np.sum(c)


@into(WRITES, 0.7)
def without_axes(x):
    z = np.array(x)
    z[...] = z * x
    z += 1.0
    w = z.reshape(1)
    w[0] *= x
    return float(z) * x


@into(WRITES, A)
def products(a):
    m = np.outer(a, a)
    m[0] = m[1] @ m
    m[:, 1] += a
    return np.sum(m @ m.T)


@into(WRITES, A)
def reshaped(a):
    m = a.reshape(2, 2)
    m.T[0, 1] = m[0, 0] * m[1, 1]
    r = m.ravel()
    r[0] = r[1] * r[2]
    return np.sum(m * m) + np.sum(m.T.ravel() * a)


@into(WRITES, A)
def index_arrays(a):
    i = np.array([0, 2])
    a[i] = a[i] * a[1]
    a[a < 0.4] = a[2]
    b = a[np.array([3, 0, 3])]
    b[0] *= b[2]
    return np.sum(a * a) + np.sum(b * b)


@into(WRITES, A)
def stepped_through(a):
    m, total = np.outer(a, a), 0.0
    for row in m:
        row[0] *= 2.0
        total += np.sum(row * row)
    for i, (row, e) in enumerate(zip(m, reversed(a))):  # noqa: B905
        total += row[1] * e * i
    k = 0
    while a[k] < 0.6 and k < 3:
        a[k] = a[k] * a[k + 1]
        k += 1
    return total * a[1]


@into(WRITES, 0.7, A)
def gradient_of_writer(x, w):
    """A derivative inside of a function that keeps on writing what it captured."""

    def loss(y):
        w[0] = w[1] * y
        return np.sum(w * w) * y

    first = pb.grad(loss)(x)
    w[1] = first
    out, pull = pb.vjp(lambda v: v * w, w * 2.0)
    (second,) = pull(out)
    return pb.grad(loss)(x * first) + np.sum(second * w) + np.sum(w[1:])


@into(WRITES, A)
def constants_from_outside(a):
    b = WEIGHTS * 1.0
    b[0] = a[0]
    b[1:] = WEIGHTS[1:] * a[1]
    return np.sum(b * b * WEIGHTS)


# ------------------------------------------------------------------------------------------------------- exceptions


@into(CATCHES, -0.4)
def domain(x):
    try:
        return math.sqrt(x) * x
    except ValueError:
        return x * x * 3.0


@into(CATCHES, 0.7)
def in_a_loop(x):
    s = x
    for k in range(3):
        try:
            s = math.sin(s) * x + k
            if k % 2 == 1:
                raise ValueError(k)
            s = s * x
        except ValueError:
            s = s * s
    return s


@into(CATCHES, 0.7)
def callee_in_the_middle(x):
    """What a function stored before it raised has its sensitivity."""
    c = x

    def bump(k):
        nonlocal c
        c = math.sin(c) * x + k * 0.5
        if k == 2:
            raise ValueError
        c = c * c

    total = 0.0
    for k in range(4):
        try:
            bump(k)
        except ValueError:
            total += c
    return c * total


@into(CATCHES, 0.7)
def at_the_end(x):
    s, total = x, 0.0
    for k in range(4):
        try:
            s = s * x
            if k == 2:
                continue
            s = math.sin(s)
        finally:
            total += s * s
    return total * s


@into(CATCHES, 0.7)
def index_of_array(x):
    a = np.array([x, 1.0, x * x])
    for k in range(5):
        try:
            a[k] = a[k - 1] * x + a[0]
        except IndexError:
            a[0] = a[0] * a[1]
    return a[0] * a[2] + a[1]


@into(CATCHES, 0.7)
def nested(x):
    items = [x]
    for k in range(4):
        try:
            try:
                items.append(items[-1] * x / (k - 1))
            except ZeroDivisionError as error:
                items[0] *= x
                raise KeyError(k) from error
            else:
                items[0] += 1.0
        except KeyError:
            items.append(items[0] * 0.5)
    return sum(items) * items[0]


@into(CATCHES, 0.7)
def of_a_recursion(x):
    total = 0.0
    try:
        total = total_of(x, 3)
    except ValueError:
        total = x
    return total * x


def total_of(x, n):
    if n == 0:
        raise ValueError
    return x if x < 0.2 else math.sin(total_of(x * 0.4, n - 1)) * x

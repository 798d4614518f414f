"""Programs for J that keep arrays in lists, dicts, objects and cells: f(a, ...) -> float, a an array of three.

UNKNOWN are programs that dual numbers do not know: linear algebra, complex numbers.
"""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable
from typing import Any

import numpy as np

import pullback as pb

STORED: dict[str, Callable[..., Any]] = {}
UNKNOWN: dict[str, Callable[..., Any]] = {}
A = np.array([0.3, -1.2, 0.8])
M = np.array([[2.0, 0.3, 0.1], [0.2, 3.0, 0.4], [0.1, 0.5, 2.5]])


def into(table: dict[str, Callable[..., Any]]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        table[function.__name__] = function
        return function

    return register


class Box:
    def __init__(self, a):
        self.a = a


class Link:
    def __init__(self, weights, following):
        self.weights = weights
        self.following = following


class Net:
    def __init__(self, a):
        self.layers = []
        for k in range(2):
            self.layers.append((np.outer(a, a) * (k + 1), a * 0.1))

    def __call__(self, x):
        for w, b in self.layers:
            x = np.tanh(w @ x + b)
        return x


def collected(first, second, *others):
    total = first
    for other in others:
        total = total * second + other
    return total * len(others)


@into(STORED)
def stars_of_any_length(a):
    numbers = []
    for x in a:
        numbers.append(x * x)
    return collected(a[0], *numbers) + collected(*numbers) * a[1]


# ------------------------------------------------------------------------------------------------- lists and dicts


@into(STORED)
def list_of_arrays(a):
    rows = []
    for i in range(3):
        rows.append(a * i)
    rows[0] = rows[1] * rows[2]
    return np.sum(rows[2] * rows[1] * rows[0])


@into(STORED)
def looped_over(a):
    rows = []
    for i in range(3):
        rows.append(np.sin(a * i))
    total = 0.0
    for row in rows:
        total = total * a[0] + np.sum(row * row)
    for k, row in enumerate(rows):
        total += k * row[0]
    return total


@into(STORED)
def zipped(a):
    rows, numbers = [], []
    for k in range(3):
        rows.append(a * k + a * a)
        numbers.append(a[k])
    total = 0.0
    for i, (row, number) in enumerate(zip(rows, numbers)):
        total += i * np.sum(row) * number
    for row, x in zip(rows, a):
        total += row[1] * x * x
    for x, k, y in zip(numbers, range(5), (a[0], a[1], a[2])):
        total += x * k * y
    return total


@into(STORED)
def inserted_and_popped(a):
    rows = []
    for k in range(3):
        rows.append(a * k)
    rows[1][0] = a[1] * rows[2][2]
    last = rows.pop()
    rows.insert(0, last * last)
    total = 0.0
    for row in rows:
        total += np.sum(row * row * row)
    return total


@into(STORED)
def one_array_in_many_places(a):
    rows = []
    for _ in range(3):
        rows.append(a)
    box = Box(rows[0])
    rows[1][1] = a[0] * a[2]
    box.a[0] *= 3.0
    return np.sum(rows[2] * rows[2]) + box.a[1]


@into(STORED)
def views_kept(a):
    matrix = np.outer(a, a)
    rows = []
    for k in range(3):
        rows.append(matrix[k])
    rows.append(matrix[:, 1])
    matrix[0, 1] = a[2] * 2.0
    rows[1] *= 1.5
    rows[3][2] = rows[0][1] * a[0]
    return np.sum(matrix * matrix) + rows[2][1]


@into(STORED)
def dict_of_arrays(a):
    table = {}
    for k in range(3):
        table[k] = a * k
    table[1] = table[2] * table[1]
    table[2] += a
    total = 0.0
    for k, row in table.items():
        total += np.sum(row * row) * (k + 1)
    return total


@into(STORED)
def accumulated(a):
    table = {}
    for k in range(4):
        if k % 2 not in table:
            table[k % 2] = np.zeros(3)
        table[k % 2] += a * k
    return np.sum(table[0] * table[1])


@into(STORED)
def tuples_with_arrays(a):
    rows = []
    for k in range(3):
        rows.append((a * k, a[k], k))
    total = 0.0
    for row, number, k in rows:
        total += np.sum(row * row) * number * k
    row, number, _ = rows[-1]
    return total + np.sum(row) * number


@into(STORED)
def nested_lists(a):
    groups = []
    for k in range(2):
        group = []
        for m in range(2):
            group.append(a * (k + m))
        groups.append(group)
    groups[0].append(groups[1][1] * a)
    return np.sum(groups[0][2] * groups[1][0]) + np.sum(groups[0][1])


@into(STORED)
def stacked(a):
    rows = []
    for k in range(3):
        rows.append(a * k + a * a)
    return np.sum(np.array(rows) @ np.stack(rows)) + np.sum(np.concatenate(rows) ** 3) + np.sum(sum(rows) * a)


@into(STORED)
def two_shapes(a):
    rows = []
    for k in range(3):
        rows.append(a[: k + 1] * 2.0)
    rows[2][:2] = rows[1]
    total = 0.0
    for row in rows:
        total += np.sum(row**3)
    return total


# --------------------------------------------------------------------------------------------- objects, cells, calls


@into(STORED)
def fields(a):
    box = Box(a * a)
    other = box
    box.a = box.a * a
    box.a[0] = other.a[1] * a[0]
    other.a[1:] *= 2.0
    part = box.a
    part[2] = part[0]
    return np.sum(other.a * a)


@into(STORED)
def cell(a):
    h = a * 2.0

    def step():
        nonlocal h
        h = np.sin(h) * a

    for _ in range(3):
        step()
    return np.sum(h)


@into(STORED)
def chain(a):
    node = None
    for k in range(3):
        node = Link(a * (k + 1), node)

    def go(node):
        return 1.0 if node is None else np.sum(np.sin(node.weights)) * go(node.following)

    return go(node)


@into(STORED)
def layers(a):
    return np.sum(Net(a)(a) ** 2)


@into(STORED)
def perhaps_none(a):
    link = Link(None, None)
    best = None
    for k in range(3):
        if best is None or a[k] > best[0]:
            best = a * (k + 1)
            link.weights = best
    best[1] *= a[0]
    return np.sum(best * best) + np.sum(link.weights)


@into(STORED)
def caught(a):
    rows = []
    for k in range(4):
        try:
            rows.append(a * k)
            if k % 2:
                raise ValueError
            rows[-1][0] = a[1]
        except ValueError:
            rows.pop()
    return np.sum(rows[0] * rows[1])


@into(STORED)
def constants(a):
    kept = [M[0]]
    kept.append(a * 2.0)
    kept.append(M[1])
    total = 0.0
    for row in kept:
        total += np.sum(row * a)
    return total


@into(STORED)
def inner_gradient(a):
    box = Box(a * a)
    rows = []

    def loss(y):
        rows.append(y * box.a)
        return np.sum(rows[-1] * rows[-1] * y)

    return np.sum(pb.grad(loss)(a * 2.0) * box.a)


@into(STORED)
def pullback_twice(a):
    def spread(v):
        rows = []
        for k in range(2):
            rows.append(v * v * (k + 1))
        rows[0][1] = rows[1][0] * v[2]
        return rows[0] * rows[1]

    out, pull = pb.vjp(spread, a)
    (first,), (second,) = pull(out), pull(a)
    return np.sum(first * second)


@into(UNKNOWN)
def solved(a):
    history = []
    x, m = a * 1.0, M.copy()
    for k in range(2):
        m[k] *= a[k]
        x = np.linalg.solve(m, x)
        history.append(x)
    return np.sum(history[0] * history[1])


@into(UNKNOWN)
def factored(a):
    m = M @ M.T
    for k in range(3):
        m[k, k] += a[k] * a[k]
    lower = np.linalg.cholesky(m)
    lower[0, 0] = lower[1, 1] * a[0]
    return np.sum(lower * lower * lower)


@into(UNKNOWN)
def inverted(a):
    m = M.copy()
    m[0, 1] = a[0]
    return np.sum(np.linalg.inv(m) ** 2) * a[1] + np.linalg.det(m)


# ------------------------------------------------------------------------------------------------------------- stars


@into(STORED)
def starred(a):
    def scaled(x, *rest, **named):
        return x * named.get("b", 2.0) + sum(rest) * named["c"]

    def passed(*rest, c):
        return scaled(*rest, c=c)

    named = {"c": a[1], "b": a[0] * a[2]}
    return scaled(*(a[0], a[1]), a[2], **named) + passed(*(a[0], a[2]), c=a[1])


@into(STORED)
def starred_by_branch(a):
    items = (a[0], a[1]) if a[2] > 0 else (a[1], a[0], a[2])

    def product(*rest):
        return rest[0] * rest[1] * len(rest)

    return product(*items)


@into(STORED)
def starred_list(a):
    items, pairs = [], []
    for k in range(2):
        items.append(a[k] * a[2])
        pairs.append((a[k], a[k + 1] * a[0]))

    def f(x, y):
        return x * y + x

    total = f(*items)
    for row in zip(*pairs):
        total += row[0] * row[1]
    return total


@into(STORED)
def starred_builtins(a):
    items = []
    for k in range(2):
        items.append(a[k] * a[2])
    return math.atan2(*items) * math.hypot(*items) + np.hypot(items[0], *items[1:]) * max(*items)


@into(STORED)
def starred_arrays(a):
    def f(*arrays):
        arrays[0][0] = arrays[1][1] * 2.0
        return np.sum(arrays[0] * arrays[1])

    return f(*(a * 1.0, a * a))


# ----------------------------------------------------------------------------------------------------------- complex


@into(UNKNOWN)
def complex_array(a):
    z = np.array([1 + 2j, 0.5 - 1j, 2j]) * a
    if a[0] > 0:
        z = z * z
    return np.sum(z * np.conj(z)).real + abs(z[1]) ** 2


@into(UNKNOWN)
def complex_written(a):
    z = a * (1 + 2j)
    z[0] = z[1] * z[2]
    z[1:] *= 2j
    return np.sum(np.abs(z) ** 2)


@into(UNKNOWN)
def complex_loop(a):
    z = complex(a[0], a[1])
    for _ in range(4):
        z = z * z * 0.3 + cmath.exp(1j * a[2])
        if abs(z) > 3:
            break
    return abs(z) ** 2 + z.real


@into(UNKNOWN)
def complex_list(a):
    kept = []
    z = complex(a[0], a[1])
    for _ in range(3):
        z = z * (1 + 0.5j) + a[2]
        kept.append(z)
    total = 0j
    for z in kept:
        total += z * z
    return total.real * total.imag


@into(UNKNOWN)
def complex_arrays_in_a_list(a):
    rows = []
    for k in range(3):
        rows.append(a * (1j + k))
    rows[1] = rows[0] * rows[2]
    return np.sum(np.abs(rows[1]) ** 2) * math.cos(a[0])

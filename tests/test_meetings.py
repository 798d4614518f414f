"""Features that meet: parallel loops, checkpoints, budgets, shelved arrays; closures, recursion, views, exceptions.

Values are plain Python's, derivatives those of central differences.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import pullback as pb

STEP = 1e-6


@pytest.fixture
def small_budget() -> Iterator[None]:
    pb.set_memory_budget(4096)
    yield
    pb.set_memory_budget(None)


def parallel_with_recursive_closure(x: Any) -> Any:
    def folded(k: Any, y: Any) -> Any:
        return y if k == 0 else math.sin(folded(k - 1, y) * x) + 0.1

    total = 0.0
    for i in pb.prange(40):
        total += folded(i % 4, x + i * 0.1)
    return total


def parallel_in_checkpoint(x: Any) -> Any:
    def scaled(b: Any, y: Any) -> Any:
        total = 0.0
        for i in pb.prange(len(b)):
            b[i] = b[i] * y + math.sin(y * i)
            total += b[i] * b[i]
        return total

    b, total = np.array([0.3, 0.5, 0.9]), 0.0
    for k in range(3):
        total += pb.checkpoint(scaled)(b, x * (k + 1))
    return total


def checkpoint_that_raises(x: Any) -> Any:
    def limited(y: Any) -> Any:
        if y > 0.5:
            raise ValueError("big")
        return math.sin(y) * y

    total = 0.0
    for k in range(5):
        try:
            total += pb.checkpoint(limited)(x * k) * x
        except ValueError:
            total += x * x
    return total


def budget_with_nonlocal(x: Any) -> Any:
    s, u = x, np.ones(30) * x

    def bump(z: Any) -> Any:
        nonlocal s
        s = math.sin(s * z) + 0.3
        return s

    for _ in range(300):
        u = u * np.cos(0.05 * u) + 0.01 * bump(x)
    return float(np.sum(u)) * s


def budget_with_views(x: Any) -> Any:
    u = np.linspace(0.1, 1.0, 10) * x
    left, right = u[:5], u[5:]
    for _ in range(400):
        left += 0.01 * np.sin(right)
        right *= 0.999
    return float(np.sum(u * u))


def shelves_with_closure_and_exception(x: Any) -> Any:
    kept = np.zeros(3)

    def add(v: Any) -> None:
        nonlocal kept
        kept = kept * 0.5 + v

    total = 0.0
    for i in range(7):
        v = np.array([x, x * i, 1.0])
        try:
            if i == 3:
                raise KeyError("k")
            add(v * v)
        except KeyError:
            add(v)
        total += float(kept[i % 3])
    return total + float(np.sum(kept * kept))


def extrema_of_written_views(x: Any) -> Any:
    m = np.array([[0.3, -1.2, 0.8], [2.0, 0.4, -0.5]]) * x
    m[1] *= x
    high, low = np.max(m, axis=1), np.min(m.T, axis=0)
    return float(np.sum(high * high * high) + np.sum(low * low * low))


PROGRAMS = (
    parallel_with_recursive_closure, parallel_in_checkpoint, checkpoint_that_raises, budget_with_nonlocal,
    budget_with_views, shelves_with_closure_and_exception, extrema_of_written_views,
)  # fmt: skip


def slope(f: Any, x: float) -> float:
    return (f(x + STEP) - f(x - STEP)) / (2 * STEP)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_value_and_gradient(program: Any, small_budget: None) -> None:
    value, gradient = pb.value_and_grad(program)(0.2)
    assert value == pytest.approx(program(0.2), rel=1e-12)
    assert gradient == pytest.approx(slope(program, 0.2), rel=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_second_order(program: Any, small_budget: None) -> None:
    gradient = pb.grad(program)
    assert pb.grad(gradient)(0.2) == pytest.approx(slope(gradient, 0.2), rel=1e-6)
    assert pb.jvp(gradient, (0.2,), (1.0,))[1] == pytest.approx(slope(gradient, 0.2), rel=1e-6)


def beside_an_array_that_is_written(x, n):
    """The first of the carried arrays has another name, and both are written to in the reverse half."""
    s = np.zeros(2) + x
    t = s
    for _ in range(n):
        s[0] = s[0] + 1.0
        t = t * s
    return np.sum(t) + np.sum(s)


def what_a_loop_ends_with_is_used_twice(x, n):
    u = np.zeros(3) + x
    for k in range(n):
        u = u * u * 0.5 + k
    v = u
    v *= x
    return np.sum(u * v)


@pytest.mark.parametrize("n", [0, 1, 2, 5])
@pytest.mark.parametrize("program", [beside_an_array_that_is_written, what_a_loop_ends_with_is_used_twice])
def test_rows_of_a_loop_that_have_another_name(program, n):
    h = 1e-6
    slope = (program(0.7 + h, n) - program(0.7 - h, n)) / (2 * h)
    assert pb.grad(program)(0.7, n) == pytest.approx(slope, rel=1e-7)
    second = (pb.grad(program)(0.7 + h, n) - pb.grad(program)(0.7 - h, n)) / (2 * h)
    assert pb.grad(pb.grad(program))(0.7, n) == pytest.approx(second, rel=1e-6)


def left_out_by_where(x):
    return np.sum(np.where(x > 0.5, np.sqrt(x - 0.5), 0.0))


def left_out_by_a_branch(x):
    total = 0.0
    for v in x:
        s = (v - 0.3) ** 0.5
        total += s if v > 0.5 else 0.0
    return total


def far_apart(x):
    d = x[:, None] - x[None, :]
    return np.sum((d * d + 0.1) ** -1.5)


@pytest.mark.parametrize("program", [left_out_by_where, left_out_by_a_branch, far_apart])
def test_fastmath_keeps_what_is_left_out_at_zero(program):
    """Slopes are infinite, or not numbers, where the program does not go."""
    exact, fast = pb.grad(program), pb.grad(pb.jit(program, fastmath=True))
    for x in (np.array([0.3, 0.5, 0.7, 0.9]), np.array([0.5, 0.3, 0.95, 0.31])):
        assert np.all(np.isfinite(exact(x)))
        np.testing.assert_allclose(fast(x), exact(x), rtol=1e-12, atol=1e-14)


def picked_by_a_list(x):
    y = x.copy()
    y[[0, 3]] = x[1] * 2.0, np.sin(x[2])
    y[np.array([1, 1])] = (x[0], x[3] ** 2)
    return np.sum(y * y * x)


def solved_or_not(x):
    """Every second matrix is singular."""
    total = 0.0
    for k in range(3):
        try:
            total += np.sum(np.linalg.solve((k % 2) * (np.outer(x, x) + np.eye(4)), x))
        except np.linalg.LinAlgError:
            total += np.sum(x**3)
    return total


RECORD = np.dtype([("x", "f8"), ("n", "i4")])


def records(x):
    made = np.zeros(4, RECORD)
    made["x"], made["n"] = x, [0, 1, 2, 3]
    return made


def records_and_exceptions(x):
    a, total = records(x), 0.0
    for i in range(6):
        try:
            a[i]["x"] *= a["x"][0]
            if a[i]["n"] == 2:
                raise ValueError("two")
            total += a[i]["x"] ** 2
        except (IndexError, ValueError):
            total += a["x"][1] ** 3
    return total


def records_and_recursion(x):
    a = records(x)

    def go(b, n):
        if n == 0:
            return np.sum(b["x"] ** 2)
        b[n]["x"] += b[n - 1]["x"] * x[0]
        return go(b, n - 1) * 0.5 + b["x"][n]

    return go(a, 3)


def records_and_views(x):
    a = records(x)
    back, later = a["x"][::-1], a[1:]
    back[:2] *= x[3]
    later["x"][:] = a["x"][:-1]
    return np.sum(a["x"] * back) + later[0]["x"]


def turned_in_branches(x):
    """A new array is written to views of itself, on one path or the other."""
    w = x * 1.0
    for k in range(3):
        if k % 2:
            w[::-1] = w
        else:
            w[1:] = w[:-1] * x[0]
        w = w + 0.1
    return np.sum(w**2)


def replaced_then_raised(x):
    ws = [x * 1.0, x * 2.0]
    view = ws[0][1:]
    try:
        ws[0] = np.sin(ws[0])
        view *= 3.0
        if ws[0][0] > 0.0:
            raise ValueError("enough")
        ws[0] = ws[0] * 9.0
    except ValueError:
        ws[1] = ws[1] + ws[0]
    return np.sum(ws[1] * ws[0]) + np.sum(view)


MEET = [
    picked_by_a_list, solved_or_not, replaced_then_raised, records_and_exceptions, records_and_recursion,
    records_and_views, turned_in_branches,
]  # fmt: skip


@pytest.mark.parametrize("program", MEET)
def test_writes_and_exceptions_to_second_order(program):
    rng = np.random.default_rng(4)
    x, d, h = rng.uniform(0.3, 1.0, 4), rng.normal(size=4), 1e-6
    assert pb.jit(program)(x) == pytest.approx(program(x), rel=1e-12)
    slope = (program(x + h * d) - program(x - h * d)) / (2 * h)
    assert np.sum(pb.grad(program)(x) * d) == pytest.approx(slope, rel=1e-6)
    second = (pb.grad(program)(x + h * d) - pb.grad(program)(x - h * d)) / (2 * h)
    np.testing.assert_allclose(pb.hvp(program, (x,), (d,)), second, rtol=1e-5, atol=1e-6)


def kept_generator_of_views(x):
    def rows(m):
        for i in range(2):
            m[i, 0] *= 1.5
            yield m[i, ::-1]

    b = x.reshape(2, 2) * 1.0
    steps = rows(b)
    first = next(steps)
    first[0] = math.sin(x[3])
    total = sum(float(np.sum(r * r * r)) for r in steps)
    return total + float(np.sum(first * b[0]))


def kept_generator_that_raises(x):
    def steps(y):
        yield y * y
        if y > 0.1:
            raise ValueError("too large")
        yield y

    found = steps(x[0])
    total = next(found)
    try:
        total += next(found)
    except ValueError:
        total *= math.sin(x[1])
    return total * total


def cache_of_a_closure(x):
    k, u = float(x[0]), float(x[1])

    @functools.cache
    def f(t):
        return math.exp(t * k) * u

    return f(k) + f(u) + f(k * 1.0) * f(2.0)


def jammed_sums_beside_exceptions(x):
    a, total = np.concatenate((x, np.sin(np.arange(80.0) * x[0]))), 0.0
    for i in range(len(a)):
        s = 0.0
        for k in range(i):
            s += a[i] * a[k]
        try:
            if s > 1.0:
                raise ValueError
            a[i] = s * 0.1 + a[i]
        except ValueError:
            total += 0.01 * s * s
    return total + float(np.sum(a * a))


def vectors_ahead_of_views(x):
    y, total = np.concatenate([x * (1.0 + k) for k in range(30)])[::-2], 0.0
    for k in range(len(y)):
        total += math.exp(-y[k]) / math.sqrt(1.0 + y[k] * y[k])
        if total > 9.0:
            total = total * 0.5
    return total


def products_into_an_operand(x):
    a = x.reshape(2, 2)
    c = a * 1.0
    for _ in range(3):
        np.matmul(c, a, out=c)
        np.einsum("ij,jk->ik", c, a, out=c)
    return float(np.sum(np.sin(c[:, ::-1])))


@pytest.mark.parametrize("program", [
    kept_generator_of_views, kept_generator_that_raises, cache_of_a_closure, jammed_sums_beside_exceptions,
    vectors_ahead_of_views, products_into_an_operand,
])  # fmt: skip
def test_generators_caches_and_loops_to_second_order(program):
    test_writes_and_exceptions_to_second_order(program)


assigned = 0.0


def assigned_global_beside_rows_side_by_side(x):
    global assigned
    assigned = 0.25
    t = np.outer(np.concatenate([x] * 4), np.ones(22)) * 0.3
    for i in range(1, 15):
        for j in range(1, 21):
            t[i, j] = 0.3 * (t[i - 1, j] + t[i, j - 1]) + 0.1 * math.sqrt(2.0 + t[i, j + 1])
        assigned = assigned + t[i, 3] * t[i, 3]
    return assigned + float(np.sum(t))


def local_tree_of_views_that_are_written(x):
    class Tree:
        def __init__(self, depth, part):
            self.part = part
            self.children = [Tree(depth - 1, part[::2] * x[k]) for k in range(2)] if depth > 0 else []

        def fold(self):
            self.part[0] += x[1]
            return float(np.sum(np.sin(self.part))) + sum(child.fold() for child in self.children)

    return Tree(2, x * 1.0).fold()


def local_exception_through_a_view_in_a_generator(x):
    class Bad(Exception):
        pass

    row = (x * 1.0).reshape(-1)

    def steps():
        try:
            for k in range(len(row)):
                row[k] = row[k] * x[0]
                if k == 2:
                    raise Bad(row[k])
                yield row[k]
        finally:
            row[0] += 1.0

    total = 0.0
    try:
        for v in steps():
            total += v * v
    except Bad as error:
        total += error.args[0] * 2.0
    return total + float(np.sum(np.cos(row)))


@pytest.mark.parametrize("program", [
    assigned_global_beside_rows_side_by_side, local_tree_of_views_that_are_written,
    local_exception_through_a_view_in_a_generator,
])  # fmt: skip
def test_classes_and_globals_to_second_order(program):
    test_writes_and_exceptions_to_second_order(program)

"""functools.cache and lru_cache: derivatives are those of the functions without a cache, also of equal arguments."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import Any

import pytest

import oracle
import pullback as pb
from pullback import testing
from surface_turn import in_turn


@functools.cache
def fibonacci(n):
    return 1.0 if n < 2 else fibonacci(n - 1) + 0.5 * fibonacci(n - 2)


@functools.lru_cache(maxsize=None)
def tree(value, steps, strike):
    if steps == 0:
        return max(value - strike, 0.0)
    return 0.5 * (tree(value * 1.1, steps - 1, strike) + tree(value / 1.1, steps - 1, strike))


@functools.lru_cache(maxsize=2)
def horner(items):
    total = 0.0
    for item in items:
        total = total * 0.5 + item * item
    return total


@dataclass(frozen=True)
class Sides:
    a: float
    b: float


@functools.cache
def area(sides):
    return sides.a * sides.b * sides.b


class Recurrence:
    def __init__(self, w):
        self.w = w

    @functools.cache  # noqa: B019
    def term(self, n):
        return self.w if n == 0 else self.term(n - 1) * self.w + n

    @functools.lru_cache(2)  # noqa: B019
    def scaled(self, n, scale=1.0):
        return n * scale * self.w


def numbers(x, y):
    @functools.cache
    def square(a):
        return a * a * 3.0

    return square(x) + 10.0 * square(y) + square(a=x * 1.0)


def kept_by_ints(x, y):
    return fibonacci(12) * x * x + fibonacci(9) * y


def of_a_tree(x, y):
    return tree(x, 5, 1.0) * tree(y, 4, 1.0)


def objects(x, y):
    return area(Sides(x, y)) + 5.0 * area(Sides(y, x))


def tuples(x, y):
    return horner(tuple([x * i for i in range(4)])) + 7.0 * horner(tuple([y * i for i in range(4)]))


def pairs(x, y):
    @functools.lru_cache
    def product(pair, power=2):
        return pair[0] * pair[1] ** power

    return product((x, y)) + 3.0 * product((y, x)) + 5.0 * product((x, x), power=3)


def methods(x, y):
    a, b = Recurrence(x), Recurrence(2.0 * y)
    return a.term(5) + b.term(4) + a.term(3) + a.scaled(3) + a.scaled(3, scale=y) + b.scaled(n=4)


def inner_derivative(x, y):
    return pb.grad(lambda z: tree(z, 3, 1.0) ** 2 * tree(x, 3, 1.0))(y)


PROGRAMS = [numbers, kept_by_ints, of_a_tree, objects, tuples, pairs, methods]


def uncached(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the functions of this file be themselves."""
    for name, value in list(globals().items()):
        if isinstance(value, functools._lru_cache_wrapper):
            monkeypatch.setitem(globals(), name, value.__wrapped__)
    for name in ("term", "scaled"):
        monkeypatch.setattr(Recurrence, name, vars(Recurrence)[name].__wrapped__)
    monkeypatch.setattr(functools, "cache", lambda f: f)
    monkeypatch.setattr(functools, "lru_cache", lambda f: f)


@pytest.mark.parametrize("function", in_turn(PROGRAMS, 3))
def test_derivatives_are_those_without_a_cache(function: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    arguments, both = (1.5, 1.5), (0, 1)
    value, gradient = pb.value_and_grad(function, both)(*arguments)
    forward = pb.jvp(function, arguments, (1.0, 0.0))[1]
    second = pb.hvp(lambda x, y: function(x, y), arguments, (1.0, 0.0))
    assert math.isclose(value, function(*arguments), rel_tol=1e-13)
    uncached(monkeypatch)
    expected = oracle.gradient(function, arguments, both)
    assert gradient == pytest.approx(expected, rel=1e-12)
    assert forward == pytest.approx(expected[0], rel=1e-12)
    assert second == pytest.approx(oracle.second(function, arguments, both, [1.0, 0.0]), rel=1e-12, abs=1e-12)


def test_a_derivative_inside_compiled_code(monkeypatch: pytest.MonkeyPatch) -> None:
    found = pb.grad(inner_derivative, (0, 1))(1.5, 1.5)
    uncached(monkeypatch)
    assert found == pytest.approx(pb.grad(inner_derivative, (0, 1))(1.5, 1.5), rel=1e-12)


def test_closures_know_no_cache_by_numbers() -> None:
    found = testing.gradient(
        numbers, (1.5, 1.5), (0, 1), mode="r", engine="interp", passes=True, formulation="closures"
    )
    assert found == pytest.approx([18.0, 90.0])


def counted(x, y):
    asked = []

    @functools.cache
    def square(a):
        asked.append(a)
        return a * a

    return square(x) + square(y) + len(asked)


def printed(x, y):
    @functools.cache
    def square(a):
        print("asked")
        return a * a

    return square(x) + square(y)


def kept_lists(x, y):
    """What it makes for itself is nobody else's."""

    @functools.cache
    def total(a):
        items = []
        for i in range(3):
            items.append(a * i)
        return sum(items)

    return total(x) + 2.0 * total(y)


@pytest.mark.parametrize("function", [counted, printed])
def test_what_a_cached_function_does_is_not_repeated(function: Any) -> None:
    assert pb.jit(function)(1.5, 1.5) == function(1.5, 1.5)
    with pytest.raises(pb.CompileError, match="differentiated by its arguments"):
        pb.grad(function)(1.5, 1.5)


def test_what_a_cached_function_makes_for_itself() -> None:
    assert pb.grad(kept_lists, (0, 1))(1.5, 1.5) == (3.0, 6.0)


def test_each_call_begins_without_results() -> None:
    compiled = pb.jit(kept_by_ints)
    before = fibonacci.cache_info()
    assert compiled(1.0, 2.0) == compiled(1.0, 2.0)
    assert fibonacci.cache_info() == before

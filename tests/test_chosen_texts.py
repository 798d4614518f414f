"""Strings that the run picks among some that are known: functions that mean something else for each of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pullback as pb

ENTRIES = ("first", "second")
SEASONS = ("winter", "spring", "summer", "autumn")


def meshgrid(x: Any, n: int, words: Any) -> Any:
    a, b = np.meshgrid(x, x[:2], indexing=words[n])
    return np.sum(a[0] * b[0] ** 2)


def quantile(x: Any, n: int, words: Any) -> Any:
    try:
        return np.quantile(x * x, 0.3, method=words[n])
    except ValueError:
        return -1.0


def order(x: Any, n: int, words: Any) -> Any:
    return np.sum(np.reshape(x * x, (2, 2), order=words[n])[0] * x[:2])


def method(x: Any, n: int, words: Any) -> Any:
    return np.sum((x * x).reshape(2, 2).flatten(words[n])[:2] * x[:2])


def places(x: Any, n: int, words: Any) -> Any:
    return x[np.ravel_multi_index(([5], [0]), (3, 1), mode=words[n])[0]] ** 3


def unravelled(x: Any, n: int, words: Any) -> Any:
    return x[np.unravel_index(1, (2, 2), order=words[n])[0]] ** 3


CASES = [
    (meshgrid, ["ij", "xy"]), (quantile, ["lower", "higher"]), (order, ["F", "C"]), (method, ["F", "C"]),
    (places, ["clip", "wrap"]), (unravelled, ["F", "C"]),
]  # fmt: skip


@pytest.mark.parametrize(("function", "words"), CASES, ids=lambda value: getattr(value, "__name__", ""))
@pytest.mark.parametrize("n", [0, 1])
def test_each_string_has_its_own_meaning(function: Callable[..., Any], words: list[str], n: int) -> None:
    x = np.array([1.5, 2.0, 5.0, 7.0])
    assert pb.jit(function)(x, n, words) == pytest.approx(function(x, n, words), rel=1e-14)
    step = 1e-6
    moved = [function(x + step * e, n, words) - function(x - step * e, n, words) for e in np.eye(4)]
    slopes = pb.grad(function)
    assert slopes(x, n, words) == pytest.approx(np.array(moved) / (2 * step), rel=1e-6, abs=1e-8)
    columns = [(slopes(x + step * e, n, words) - slopes(x - step * e, n, words)) / (2 * step) for e in np.eye(4)]
    assert pb.hessian(function)(x, n, words) == pytest.approx(np.array(columns), rel=1e-6, abs=1e-6)


def test_a_string_that_only_the_run_knows_is_refused() -> None:
    def built(x: Any, n: int) -> Any:
        a, b = np.meshgrid(x, x, indexing="i" + "xj"[n])
        return np.sum(a[0] * b[0])

    def caught(x: Any, n: int) -> Any:
        try:
            return np.quantile(x, 0.3, method=str(n))
        except ValueError:
            return -1.0

    for function in (built, caught):
        with pytest.raises(pb.CompileError, match="needs strings that are known while compiling"):
            pb.jit(function)(np.ones(3), 1)


class Pair:
    def __init__(self, x: Any) -> None:
        self.first, self.second = x, x * x


def attributes(x: Any, n: int) -> Any:
    pair, total = Pair(x), 0.0
    for i in range(n):
        total += getattr(pair, ENTRIES[i % 2]) * (i + 1)
    return total


def test_attributes_by_the_strings_of_a_tuple() -> None:
    assert pb.jit(attributes)(3.0, 5) == attributes(3.0, 5)
    slopes = pb.grad(attributes)
    assert slopes(3.0, 5) == 9.0 + 6.0 * 3.0 * 2.0
    assert pb.grad(slopes)(3.0, 5) == 12.0


def winters(x: Any, days: int) -> Any:
    total = 0.0
    for day in range(days):
        if SEASONS[day // 10 % 4] == "winter":
            total += x * x
    return total


def test_strings_of_a_tuple_write_no_loop_out() -> None:
    compiled = pb.jit(winters)
    for days in (7, 30, 45, 100):
        assert compiled(1.5, days) == winters(1.5, days)
        assert pb.grad(winters)(1.5, days) == pytest.approx(2.0 * winters(1.5, days) / 1.5, rel=1e-14)
    assert len(compiled.specializations) == 1

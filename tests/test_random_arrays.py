"""Random programs over arrays: the value, what they leave in their arguments, and derivatives against dual numbers."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest

import oracle
from mutating import ENGINES, derivative, fresh
from pullback import api
from random_arrays import source

ARGUMENTS = (
    0.7,
    np.array([0.3, -1.2, 0.8, 0.5]),
    np.array([[0.3, -0.2, 0.5, 1.1], [0.1, 0.4, -0.6, -0.9], [0.2, 0.7, 0.9, -0.35]]),
)
ARGNUMS = (0, 1, 2)
ALONG = [1.0 - 0.375 * (place % 4) for place in range(17)]
FAST, ALL = 40, 240


def seeds(step: int = 1) -> list[Any]:
    """Every `step`-th of the fast ones, and all in the slow suite."""
    fast = range(0, FAST, step)
    return [pytest.param(n, marks=[] if n in fast else pytest.mark.slow) for n in range(ALL)]


@functools.cache
def program(seed: int) -> tuple[Any, Any, tuple[Any, ...]]:
    """The function, its value, and what it leaves in its arguments; skipped if NumPy refuses the program."""
    function, left = api.from_source(source(seed), "f"), fresh(ARGUMENTS)
    try:
        value = function(*left)
    except ValueError as error:
        pytest.skip(f"seed {seed}: {error}")
    assert np.isfinite(value) and abs(value) < 1e6
    return function, value, left


def assert_close(actual: Any, expected: Any, seed: int, what: str) -> None:
    actual, expected = np.asarray(actual, float), np.asarray(expected, float)
    allowed = 1e-9 * max(1.0, float(np.max(np.abs(expected))))
    assert np.all(np.abs(actual - expected) <= allowed), f"seed {seed}, {what}:\n{source(seed)}\n{actual}\n{expected}"


def check_value(seed: int, engine: str) -> None:
    function, value, left = program(seed)
    given = fresh(ARGUMENTS)
    actual = ENGINES[engine].call(function, given)
    assert type(actual) is type(value)
    assert_close(actual, value, seed, f"value, {engine}")
    for now, then in zip(given[1:], left[1:], strict=True):
        assert_close(now, then, seed, f"arguments after the call, {engine}")


def check_derivative(seed: int, mode: str, engine: str) -> None:
    function, _, left = program(seed)
    if len(mode) == 1:
        directions, expected = [], oracle.gradient(function, ARGUMENTS, ARGNUMS)
    else:
        directions, expected = [ALONG], oracle.along_all(function, ARGUMENTS, ARGNUMS, [ALONG])
    actual, runs = derivative(function, ARGUMENTS, ARGNUMS, mode, directions, engine)
    assert_close(actual, expected, seed, f"{mode}, {engine}")
    for given in runs:
        for now, then in zip(given[1:], left[1:], strict=True):
            assert_close(now, then, seed, f"arguments after {mode}, {engine}")


@pytest.mark.parametrize("seed", seeds())
def test_value_and_gradient(seed: int) -> None:
    check_value(seed, "compiled")
    check_derivative(seed, "r", "compiled")


@pytest.mark.parametrize("seed", seeds(step=5))
def test_other_modes(seed: int) -> None:
    for mode in ("f", "rr", "fr"):
        check_derivative(seed, mode, "interpreter")


@pytest.mark.parametrize("seed", seeds(step=8))
def test_without_passes(seed: int) -> None:
    check_value(seed, "plain")
    check_derivative(seed, "r", "plain")


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["f", "rr", "fr", "rf", "ff"])
@pytest.mark.parametrize("seed", range(FAST))
def test_all_modes_compiled(seed: int, mode: str) -> None:
    check_derivative(seed, mode, "compiled")


def test_most_programs_run_and_change_their_arguments() -> None:
    ran = changed = 0
    for seed in range(FAST):
        function, left = api.from_source(source(seed), "f"), fresh(ARGUMENTS)
        try:
            function(*left)
        except ValueError:
            continue
        ran += 1
        changed += not all(map(np.array_equal, left[1:], ARGUMENTS[1:]))
    assert ran >= 0.9 * FAST
    assert changed >= 0.8 * FAST

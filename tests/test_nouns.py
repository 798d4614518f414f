"""Every noun of the language: CPython's value, the gradient and the second order of dual numbers, through every engine.

The quick test runs a noun compiled; the slow ones run it in the interpreter and without passes, in every mode.
"""

from __future__ import annotations

import functools
import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adapter
import nouns
import oracle
from compare import assert_gradient, assert_same
from nouns import Noun
from nouns.pending import PENDING
from pullback import testing
from structures import sharing

NOUNS = {row.noun: row for row in nouns.load()}
DIFFERENTIABLE = [name for name, row in NOUNS.items() if row.argnums]
COMPILED = [name for name, row in NOUNS.items() if row.argnums or row.interpreter]
STEP = 1e-4  # of central differences


@pytest.fixture(autouse=True)
def quiet() -> Any:
    depth = sys.getrecursionlimit()
    sys.setrecursionlimit(40_000)  # dual numbers follow a program as deep as it goes
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield
    sys.setrecursionlimit(depth)


def nouns_of(names: list[str], *, strict: bool) -> Any:
    """Parameters; what is pending is expected to fail, and must leave the list once it works."""
    marks = {name: pytest.mark.xfail(reason=reason, strict=strict) for name, reason in PENDING.items()}
    return pytest.mark.parametrize("name", [pytest.param(n, marks=marks[n] if n in marks else ()) for n in names])


def test_every_noun_has_its_program_and_every_program_its_noun() -> None:
    listed = [name for _, name in nouns.listed()]
    assert len(set(listed)) == len(listed)
    assert set(listed) == set(NOUNS)
    assert len(listed) >= 150
    assert len(NOUNS) == len(nouns.REGISTRY), "two programs for one noun"
    assert set(PENDING) <= set(NOUNS)


def transforms(row: Noun) -> bool:
    """Does the program itself differentiate? Then dual numbers say its value as well."""
    return "pb" in oracle.names_read(row.function.__code__)


def reference(row: Noun, arguments: tuple[Any, ...]) -> Any:
    return oracle.plain(oracle.fresh(row.function)(*arguments)) if transforms(row) else row.function(*arguments)


def call(row: Noun, arguments: tuple[Any, ...], engine: str) -> Any:
    """A noun of the boundary that differentiates is a program of Python, not of compiled code."""
    plain = not row.argnums and transforms(row)
    return row.function(*arguments) if plain else adapter.value(row.function, arguments, engine)


def check_value(row: Noun, engine: str, output: Callable[[], str]) -> None:
    """The result, what is left of the arguments, which of all that is the same object, and what was printed."""
    for position in range(len(row.given())):
        given, own = row.given()[position], row.given()[position]
        output()
        expected, printed = reference(row, given), output()
        actual, told = call(row, own, engine), output()
        operations = 40 if transforms(row) else 16
        where = f"{row.name}{given}"
        assert_same(actual, type(actual)(expected) if transforms(row) else expected, operations=operations, scale=1.0)
        if engine == "compiled":
            assert_same(own, given, operations=operations, scale=1.0, where=f"arguments of {where}")
            assert sharing((own, actual)) == sharing((given, expected)), where
            assert told == printed, where


@functools.cache
def expected_derivatives(name: str) -> list[tuple[list[float], list[float], list[float]]]:
    """Direction, gradient and Hessian times the direction, for each tuple of arguments."""
    row, rows = NOUNS[name], []
    for position, arguments in enumerate(row.given()):
        again = lambda position=position: row.given()[position]  # noqa: B023
        if row.differences:
            rows.append(differences(row, arguments))
            continue
        count = sum(oracle.leaf_count(arguments[place]) for place in row.argnums)
        direction = [1.0 - 0.375 * (place % 4) for place in range(count)]
        first = oracle.gradient(row.function, again(), row.argnums)
        rows.append((direction, first, oracle.second(row.function, again(), row.argnums, direction)))
    return rows


def differences(row: Noun, arguments: tuple[Any, ...]) -> tuple[list[float], list[float], list[float]]:
    x, *rest = arguments
    low, middle, high = (row.function(x + h, *rest) for h in (-STEP, 0.0, STEP))
    return [1.0], [(high - low) / (2 * STEP)], [(high - 2 * middle + low) / STEP**2]


def check_derivative(row: Noun, mode: str, engine: str) -> None:
    relative = {False: 1e-9, True: 1e-5}[row.differences]
    for position, (direction, first, second) in enumerate(expected_derivatives(row.noun)):
        arguments, expected = row.given()[position], first if len(mode) == 1 else second
        actual = adapter.derivative(row.function, arguments, row.argnums, mode, direction, engine)
        assert_gradient(actual, expected, relative=relative, where=f"{mode} of {row.name}{arguments}")


@nouns_of(list(NOUNS), strict=True)
def test_noun(name: str, capfd: Any) -> None:
    row = NOUNS[name]
    check_value(row, "compiled", lambda: capfd.readouterr().out)
    if row.argnums:
        check_derivative(row, "r", "compiled")
        check_derivative(row, "fr", "compiled")


@pytest.mark.slow
@nouns_of(COMPILED, strict=False)
def test_noun_without_passes(name: str, capfd: Any) -> None:
    check_value(NOUNS[name], "plain", lambda: capfd.readouterr().out)


@pytest.mark.slow
@nouns_of([name for name in COMPILED if NOUNS[name].interpreter], strict=False)
def test_noun_in_the_interpreter(name: str, capfd: Any) -> None:
    check_value(NOUNS[name], "interpreter", lambda: capfd.readouterr().out)


@pytest.mark.slow
@nouns_of(DIFFERENTIABLE, strict=False)
@pytest.mark.parametrize("mode", ["f", "rr", "rf", "ff"])
def test_noun_in_the_other_modes(name: str, mode: str) -> None:
    check_derivative(NOUNS[name], mode, "compiled")


@pytest.mark.slow
@nouns_of(DIFFERENTIABLE, strict=False)
@pytest.mark.parametrize("mode", ["r", "rr"])
def test_noun_in_modes_without_passes(name: str, mode: str) -> None:
    check_derivative(NOUNS[name], mode, "plain")


@pytest.mark.slow
@nouns_of([name for name in DIFFERENTIABLE if NOUNS[name].interpreter], strict=False)
@pytest.mark.parametrize("mode", ["r", "rr"])
def test_noun_in_modes_in_the_interpreter(name: str, mode: str) -> None:
    check_derivative(NOUNS[name], mode, "interpreter")


@pytest.mark.slow
@nouns_of(DIFFERENTIABLE, strict=False)
@pytest.mark.parametrize("mode", ["r", "rr"])
def test_noun_by_closures(name: str, mode: str) -> None:
    """The second formulation."""
    row = NOUNS[name]
    how: dict[str, Any] = {"engine": "interp" if row.interpreter else "native", "formulation": "closures"}
    for position, (direction, first, second) in enumerate(expected_derivatives(row.noun)):
        arguments, expected = row.given()[position], first if mode == "r" else second
        found = testing.gradient(row.function, adapter.given(arguments), row.argnums, mode=mode, direction=direction,
                                 passes=True, **how)  # fmt: skip
        actual = adapter.leaves(found, arguments, row.argnums)
        relative = 1e-5 if row.differences else 1e-9
        assert_gradient(actual, expected, relative=relative, where=f"{mode} of {row.name}{arguments}")

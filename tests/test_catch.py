"""Exceptions that are caught: values, exceptions that leave, and derivatives, against CPython and dual numbers."""

from __future__ import annotations

import contextlib
import gc
import sys
import traceback
import warnings
from typing import Any

import numpy as np
import pytest

import adapter
import oracle
import pullback as pb
from catch_programs import CASES, LEAVING, Case, asserted, raised_from_twice
from compare import assert_gradient, assert_same, failure

PROGRAM = pytest.mark.parametrize("name", CASES)


@pytest.fixture(autouse=True)
def quiet() -> Any:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield


def outcome(case: Case, arguments: tuple[Any, ...], engine: str | None) -> tuple[str, Any]:
    """The value, or type, text and line of the exception."""
    file = case.function.__code__.co_filename

    def call() -> Any:
        return case.function(*arguments) if engine is None else adapter.value(case.function, arguments, engine)

    try:
        return "value", call()
    except Exception as error:
        if type(error).__module__.startswith("pullback"):
            raise
    return "exception", failure(call, file)


def runs(case: Case) -> list[tuple[Any, ...]]:
    """The arguments that CPython runs to the end."""
    return [arguments for arguments in case.arguments if outcome(case, arguments, None)[0] == "value"]


@PROGRAM
@pytest.mark.parametrize("engine", ["compiled", "interpreter", pytest.param("plain", marks=pytest.mark.slow)])
def test_outcome(name: str, engine: str) -> None:
    case = CASES[name]
    for arguments in case.arguments:
        kind, expected = outcome(case, arguments, None)
        found, actual = outcome(case, arguments, engine)
        assert found == kind, f"{name}{arguments}: {actual!r} for {expected!r}"
        if kind == "value":
            assert_same(actual, expected, operations=64, scale=4.0, where=f"{name}{arguments}")
        else:
            places = 3 if engine == "compiled" else 2  # only compiled code builds a traceback of the user's lines
            assert actual[:places] == expected[:places], f"{name}{arguments}"


@PROGRAM
@pytest.mark.parametrize("mode", ["r", pytest.param("f", marks=pytest.mark.slow)])
def test_gradient(name: str, mode: str) -> None:
    case = CASES[name]
    relative = 1e-5 if any(isinstance(x, np.float32) for row in case.arguments for x in row) else 1e-10
    for arguments in runs(case):
        expected = oracle.gradient(case.function, arguments, case.argnums)
        actual = adapter.derivative(case.function, arguments, case.argnums, mode, (), "compiled")
        assert_gradient(actual, expected, relative=relative, where=f"{mode} of {name}{arguments}")


@pytest.mark.parametrize("mode", ["fr", pytest.param("rr", marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.second])
def test_second_derivative(name: str, mode: str) -> None:
    case = CASES[name]
    relative = 1e-4 if any(isinstance(x, np.float32) for row in case.arguments for x in row) else 1e-9
    for arguments in runs(case):
        count = sum(oracle.leaf_count(arguments[position]) for position in case.argnums)
        direction = [1.0 - 0.375 * (position % 4) for position in range(count)]
        expected = oracle.second(case.function, arguments, case.argnums, direction)
        actual = adapter.derivative(case.function, arguments, case.argnums, mode, direction, "compiled")
        assert_gradient(actual, expected, relative=relative, where=f"{mode} of {name}{arguments}")


# --------------------------------------------------------------------------------------- exceptions that Python gets


def described(error: BaseException | None, file: str) -> Any:
    """All that a user sees of an exception and of what it was raised from."""
    if error is None:
        return None
    frames = traceback.extract_tb(error.__traceback__)
    places = [(frame.name, frame.lineno) for frame in frames if frame.filename == file]
    facts = (type(error), error.args, error.__dict__, places[-1:], error.__suppress_context__)
    return (*facts, described(error.__cause__, file))


@pytest.mark.parametrize("function", LEAVING, ids=lambda function: function.__name__)
@pytest.mark.parametrize("transform", [pb.jit, pb.grad])
def test_what_leaves_is_what_python_raises(function: Any, transform: Any) -> None:
    seen = []
    for call in (function, transform(function)):
        with pytest.raises(BaseException) as caught:  # noqa: PT011
            call(-1.0)
        seen.append(described(caught.value, function.__code__.co_filename))
    assert seen[0] == seen[1]


def test_exceptions_are_freed() -> None:
    compiled = pb.jit(raised_from_twice)

    def fail(count: int) -> tuple[int, int]:
        """How many objects were in cycles, and how many blocks of memory stay."""
        gc.collect()
        gc.disable()
        before = sys.getallocatedblocks()
        for _ in range(count):
            with contextlib.suppress(KeyError):
                compiled(-1.0)
        cycles = gc.collect()
        gc.enable()
        return cycles, sys.getallocatedblocks() - before

    fail(100)
    cycles, blocks = fail(2000)
    assert cycles == 0
    assert blocks < 1000


def scaled_until_it_fails(a: Any, n: int) -> float:
    total = 0.0
    for i in range(n):
        try:
            b = a * (i + 1.0)
            c = b[i % 1000] * b
            total += float(np.sum(c)) / (i % 7 - 3)
        except ZeroDivisionError:
            total += float(np.sum(b))
        except IndexError:
            b = a + 1.0
    return total


def test_arrays_of_bodies_that_fail_are_freed() -> None:
    a = np.ones(500)
    compiled = pb.jit(scaled_until_it_fails)
    assert compiled(a, 50) == pytest.approx(scaled_until_it_fails(a, 50))
    before = pb.stats().peak_bytes
    compiled(a, 20_000)
    assert pb.stats().peak_bytes - before < 100_000


def test_programs_without_try_are_left_alone() -> None:
    text = str(pb.explain(asserted)(1.0))
    assert " try " not in text
    assert text.count("check exception=AssertionError") >= 1


def test_a_handler_where_one_check_raises_is_a_branch() -> None:
    def lookup(a: Any, n: int) -> float:
        total = 0.0
        for i in range(n):
            try:
                total += a[i]
            except IndexError:
                total -= 1.0
        return total

    text = str(pb.explain(lookup)(np.ones(3), 5))
    last = text[text.rindex("==========") :]
    assert "while" not in last
    assert "check" not in last
    assert pb.jit(lookup)(np.ones(3), 5) == 1.0

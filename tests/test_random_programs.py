"""Random programs: CPython's value or exception, and the gradients and Hessian products of dual numbers."""

from __future__ import annotations

import math
import random
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import adapter
import oracle
from compare import assert_same, failure
from random_programs import Sample, random_program

Numbers = Sequence[Any]


@pytest.fixture(autouse=True)
def quiet() -> Any:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield


def outcome(call: Callable[[], Any], file: str) -> Any:
    """The result, or type, message and line of the exception."""
    try:
        return "value", call()
    except Exception:
        return "failure", failure(call, file)


def nudged(arguments: tuple[Any, ...], size: float) -> tuple[Any, ...]:
    """The arguments a few units in the last place away: what they change is not a compiler's fault."""
    return tuple(
        type(a)(a * (1 + size)) if isinstance(a, (float, np.floating))
        else (a * (1 + size)).astype(a.dtype) if isinstance(a, np.ndarray) else a
        for a in arguments
    )  # fmt: skip


def is_single(sample: Sample, arguments: tuple[Any, ...]) -> bool:
    return "float32" in sample.source or any(getattr(a, "dtype", None) == np.float32 for a in arguments)


def close(actual: Numbers, expected: Numbers, others: Sequence[Numbers], single: bool) -> bool:
    """Equal but for rounding, where ``others`` are what CPython says of arguments a few roundings away."""
    scale = max([1e-3, *[abs(float(e)) for e in expected if math.isfinite(e)]])
    for position, (a, e) in enumerate(zip(actual, expected, strict=True)):
        if a == e or (math.isnan(a) and math.isnan(e)):
            continue
        moved = max(abs(float(other[position]) - float(e)) for other in others)
        if not moved < 1e-3 * scale:  # too sensitive to say anything, or not finite
            continue
        if not abs(float(a) - float(e)) <= (1e-4 if single else 1e-10) * scale + 30 * moved:
            return False
    return True


class Check:
    """One program with one tuple of arguments, against every engine and mode."""

    def __init__(self, sample: Sample, arguments: tuple[Any, ...]) -> None:
        self.sample, self.arguments, self.function = sample, arguments, sample.function
        self.file = sample.function.__code__.co_filename
        self.single = is_single(sample, arguments)
        size = 1e-6 if self.single else 1e-14
        self.moved = [nudged(arguments, size), nudged(arguments, -size)]
        self.expected = outcome(lambda: self.function(*arguments), self.file)

    def value(self, engine: str) -> str | None:
        actual = outcome(lambda: adapter.value(self.function, self.arguments, engine), self.file)
        if self.expected[0] == "failure" or actual[0] == "failure":
            return self.same_failure(actual, engine)
        try:
            assert_same(shape(actual[1]), shape(self.expected[1]))
        except AssertionError as error:
            return f"value in {engine}: {error}"
        if not self.stable():
            return None
        others = [numbers(self.function(*arguments)) for arguments in self.moved]
        if not close(numbers(actual[1]), numbers(self.expected[1]), others, self.single):
            return f"value in {engine}: {actual[1]!r} for {self.expected[1]!r}"
        return None

    def same_failure(self, actual: Any, engine: str) -> str | None:
        expected = self.expected
        if engine != "compiled" and expected[0] == actual[0] == "failure":  # it builds no traceback of the user's lines
            expected, actual = ("failure", expected[1][:2]), ("failure", actual[1][:2])
        return None if actual == expected else f"{engine}: {actual!r} for {expected!r}"

    def stable(self) -> bool:
        """The same path and types for arguments a few roundings away."""
        for arguments in self.moved:
            kind, value = outcome(lambda given=arguments: self.function(*given), self.file)  # type: ignore[misc]
            if kind != self.expected[0] or (kind == "value" and repr(shape(value)) != repr(shape(self.expected[1]))):
                return False
        return True

    def derivative(self, mode: str, engine: str) -> str | None:
        if self.expected[0] == "failure" or not isinstance(self.expected[1], (float, np.floating)):
            return None
        if not self.stable() or not self.sample.argnums:
            return None
        direction = [1.0 - 0.375 * (position % 4) for position in range(count(self.arguments))]
        try:
            expected, *others = (self.reference(given, mode, direction) for given in [self.arguments, *self.moved])
        except (OverflowError, ZeroDivisionError):  # a derivative that only the oracle's checked arithmetic refuses
            return None
        actual = outcome(
            lambda: adapter.derivative(self.function, self.arguments, self.sample.argnums, mode, direction, engine),
            self.file,
        )
        if actual[0] == "failure":
            return f"{mode} in {engine}: {actual[1]!r} for {expected}"
        if not close(actual[1], expected, others, self.single):
            return f"{mode} in {engine}: {list(map(float, actual[1]))} for {expected}"
        return None

    def reference(self, arguments: tuple[Any, ...], mode: str, direction: list[float]) -> list[float]:
        if len(mode) == 1:
            return oracle.gradient(self.function, arguments, self.sample.argnums)
        return oracle.second(self.function, arguments, self.sample.argnums, direction)


def count(arguments: tuple[Any, ...]) -> int:
    return sum(oracle.leaf_count(a) for a in arguments)


def numbers(value: Any) -> list[Any]:
    return [n for item in value for n in numbers(item)] if isinstance(value, tuple) else [value]


def shape(value: Any) -> Any:
    """Types and exact parts of a result, floats replaced by zero."""
    if isinstance(value, tuple):
        return tuple(shape(item) for item in value)
    return type(value)(0) if isinstance(value, (float, np.floating)) else value


def complaints(seed: int, *, thorough: bool = True) -> list[str]:
    """Everything wrong with the program of a seed."""
    sample = random_program(seed)
    first, second = random.Random(seed).sample(["r", "f", "rr", "fr"], 2)
    found: list[str | None] = []
    for position, arguments in enumerate(sample.arguments):
        check = Check(sample, arguments)
        found += [check.value("compiled"), check.derivative(first, "compiled")]
        if position == 0:
            found += [check.derivative(second, "interpreter")]
        if thorough:
            found += [check.value("interpreter")]
            found += [check.derivative(mode, "compiled") for mode in ("r", "f", "rr", "fr")]
            found += [check.derivative(mode, "interpreter") for mode in ("r", "fr")]
    return [text for text in found if text is not None]


def explain(seed: int, *, thorough: bool) -> str:
    """The program with its complaints, empty where there are none."""
    found = complaints(seed, thorough=thorough)
    sample = random_program(seed)
    return "" if not found else "\n".join([f"seed {seed}, arguments {sample.arguments}", sample.source, *found])


@pytest.mark.parametrize("seed", range(60))
def test_random_program(seed: int) -> None:
    problem = explain(seed, thorough=False)
    assert not problem, problem


@pytest.mark.slow
@pytest.mark.parametrize("block", range(40))
def test_many_random_programs(block: int) -> None:
    for seed in range(10_000 + 25 * block, 10_025 + 25 * block):
        problem = explain(seed, thorough=True)
        assert not problem, problem


@pytest.mark.parametrize("wrong", [lambda v: v + 1e-6, np.float64, lambda v: 1 / 0])
def test_the_comparison_can_fail(wrong: Any, monkeypatch: Any) -> None:
    sample = random_program(2)
    sound = sample.function(*sample.arguments[0])
    assert type(sound) is float
    monkeypatch.setattr(adapter, "value", lambda *given: wrong(sound))
    assert Check(sample, sample.arguments[0]).value("compiled")


def test_the_comparison_of_derivatives_can_fail(monkeypatch: Any) -> None:
    gradient = oracle.gradient
    monkeypatch.setattr(oracle, "gradient", lambda *given: [1.000001 * g + 1e-6 for g in gradient(*given)])
    sample = random_program(2)
    assert Check(sample, sample.arguments[0]).derivative("r", "compiled")

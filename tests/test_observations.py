"""The module `statistics`, and what Python's own numbers have, against Python."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Sequence
from typing import Any

import pytest

import pullback as pb

DATA = [1.5, 2.25, 0.3, 7.1, 2.0]
OTHER = [1.0, 2.0, 0.5, 9.0, -1.0]
FUNCTIONS: dict[str, Callable[[Sequence[float]], float]] = {
    "mean": lambda d: statistics.mean(d),
    "fmean": lambda d: statistics.fmean(d),
    "fmean, weights": lambda d: statistics.fmean(d, OTHER),
    "geometric_mean": lambda d: statistics.geometric_mean(d),
    "harmonic_mean": lambda d: statistics.harmonic_mean(d),
    "harmonic_mean, weights": lambda d: statistics.harmonic_mean(d, [1.0, 2.0, 3.0, 1.0, 2.0]),
    "median": lambda d: statistics.median(d),
    "median_low": lambda d: statistics.median_low(d),
    "median_high": lambda d: statistics.median_high(d),
    "variance": lambda d: statistics.variance(d),
    "variance, mean": lambda d: statistics.variance(d, 2.0),
    "pvariance": lambda d: statistics.pvariance(d),
    "stdev": lambda d: statistics.stdev(d),
    "pstdev": lambda d: statistics.pstdev(d),
    "covariance": lambda d: statistics.covariance(d, OTHER),
    "correlation": lambda d: statistics.correlation(d, OTHER),
}


def outcome(call: Callable[..., Any], *arguments: Any) -> Any:
    try:
        return call(*arguments)
    except Exception as error:
        return type(error).__name__, str(error)


def moved(data: Sequence[float], k: int, step: float) -> list[float]:
    return [x + step * (i == k) for i, x in enumerate(data)]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_values_and_slopes(name: str) -> None:
    f, step = FUNCTIONS[name], 1e-6
    compiled, slopes = pb.jit(f), pb.grad(f)
    assert compiled(DATA) == pytest.approx(f(DATA), rel=1e-14)
    wanted = [(f(moved(DATA, k, step)) - f(moved(DATA, k, -step))) / (2 * step) for k in range(5)]
    assert list(slopes(DATA)) == pytest.approx(wanted, abs=1e-7)
    bend = pb.hvp(f, (DATA,), ([1.0, 0.0, 0.0, 0.0, 0.0],))
    ahead, behind = slopes(moved(DATA, 0, step)), slopes(moved(DATA, 0, -step))
    assert list(bend) == pytest.approx([(p - q) / (2 * step) for p, q in zip(ahead, behind, strict=True)], abs=1e-6)


@pytest.mark.parametrize("data", [[], [1.0], [1.0, -2.0], [1.0, 0.0, 3.0]])
@pytest.mark.parametrize("name", [name for name in FUNCTIONS if "," not in name])
def test_what_is_refused(name: str, data: list[float]) -> None:
    def call(given: list[float]) -> float:
        return FUNCTIONS[name](given[1:])

    wanted = outcome(call, [0.5, *data])
    found = outcome(pb.jit(call), [0.5, *data])
    assert found == (wanted if isinstance(wanted, tuple) else pytest.approx(wanted, rel=1e-14, abs=1e-300))


@pytest.mark.parametrize("n", [0, 5, -8, 2**62, 1 - 2**63, 255])
@pytest.mark.parametrize("x", [0.5, 3.0, math.inf, math.nan, -2.0, 1e300])
def test_what_numbers_have(n: int, x: float) -> None:
    def f(n: int, x: float) -> tuple[Any, ...]:
        known = (n > 3).real, (n > 3).bit_length(), True.real
        of_int = n.bit_length(), n.bit_count(), n.conjugate(), n.real, n.imag, n.numerator, n.denominator
        return *of_int, *known, x.is_integer(), x.conjugate(), x.imag

    assert repr(pb.jit(f)(n, x)) == repr(f(n, x))


def test_the_smallest_int_has_bits() -> None:
    assert pb.jit(lambda n: (n.bit_length(), n.bit_count()))(-(2**63)) == (64, 1)

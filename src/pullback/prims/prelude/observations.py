"""The module `statistics` of Python's library, in the accepted Python: what it says of floats, by exact sums.

Python computes with fractions; here sums are correctly rounded (`math.fsum`) and squares are of distances from the
mean, so results agree to a few units in the last place.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable
from typing import Any

__all__ = ["FUNCTIONS"]


def floats(data: Iterable[Any]) -> list[float]:
    return [float(item) for item in data]


def mean(data: Any) -> float:
    items = floats(data)
    if len(items) < 1:
        raise statistics.StatisticsError("mean requires at least one data point")
    return math.fsum(items) / len(items)


def fmean(data: Any, weights: Any = None) -> float:
    items = floats(data)
    if weights is None:
        if len(items) < 1:
            raise statistics.StatisticsError("fmean requires at least one data point")
        return math.fsum(items) / len(items)
    shares = floats(weights)
    if len(items) != len(shares):
        raise statistics.StatisticsError("data and weights must be the same length")
    total = math.fsum(shares)
    if total == 0.0:
        raise statistics.StatisticsError("sum of weights must be non-zero")
    return math.fsum([x * w for x, w in zip(items, shares, strict=True)]) / total


def _said_of(data: list[float]) -> str:
    """What this Python's geometric_mean says of data that it may not take; "" where it takes them."""
    try:
        statistics.geometric_mean(data)
    except statistics.StatisticsError as error:
        return str(error)
    return ""


EMPTY, ZERO, NEGATIVE = _said_of([]), _said_of([0.0]), _said_of([-1.0])


def geometric_mean(data: Any) -> float:
    items = floats(data)
    if len(items) < 1:
        raise statistics.StatisticsError(EMPTY)
    zeros = 0
    for item in items:
        if item < 0.0:
            raise statistics.StatisticsError(NEGATIVE)
        if item == 0.0:
            if ZERO:
                raise statistics.StatisticsError(ZERO)
            zeros += 1
    return 0.0 if zeros > 0 else math.exp(math.fsum([math.log(item) for item in items]) / len(items))


def harmonic_mean(data: Any, weights: Any = None) -> float:
    items = floats(data)
    if len(items) < 1:
        raise statistics.StatisticsError("harmonic_mean requires at least one data point")
    for item in items:
        if item < 0.0:
            raise statistics.StatisticsError("harmonic mean does not support negative values")
    shares = [1.0 for _ in items] if weights is None else floats(weights)
    if len(items) != len(shares):
        raise statistics.StatisticsError("Number of weights does not match data size")
    for item in items:
        if item == 0.0:
            return 0.0
    return math.fsum(shares) / math.fsum([w / x for x, w in zip(items, shares, strict=True)])


def median(data: Any) -> Any:
    items = sorted(data)
    n = len(items)
    if n == 0:
        raise statistics.StatisticsError("no median for empty data")
    return items[n // 2] if n % 2 == 1 else (items[n // 2 - 1] + items[n // 2]) / 2


def median_low(data: Any) -> Any:
    items = sorted(data)
    if len(items) == 0:
        raise statistics.StatisticsError("no median for empty data")
    return items[(len(items) - 1) // 2]


def median_high(data: Any) -> Any:
    items = sorted(data)
    if len(items) == 0:
        raise statistics.StatisticsError("no median for empty data")
    return items[len(items) // 2]


def squares(items: list[float], middle: float) -> float:
    """The sum of squared distances from the mean, which rounding may have moved."""
    rest = [x - middle for x in items]
    return math.fsum([r * r for r in rest]) - math.fsum(rest) ** 2 / len(items)


def variance(data: Any, xbar: Any = None) -> float:
    items = floats(data)
    if len(items) < 2:
        raise statistics.StatisticsError("variance requires at least two data points")
    if xbar is not None:
        return math.fsum([(x - xbar) ** 2 for x in items]) / (len(items) - 1)
    return squares(items, math.fsum(items) / len(items)) / (len(items) - 1)


def pvariance(data: Any, mu: Any = None) -> float:
    items = floats(data)
    if len(items) < 1:
        raise statistics.StatisticsError("pvariance requires at least one data point")
    if mu is not None:
        return math.fsum([(x - mu) ** 2 for x in items]) / len(items)
    return squares(items, math.fsum(items) / len(items)) / len(items)


def stdev(data: Any, xbar: Any = None) -> float:
    items = floats(data)
    if len(items) < 2:
        raise statistics.StatisticsError("stdev requires at least two data points")
    return math.sqrt(variance(items, xbar))


def pstdev(data: Any, mu: Any = None) -> float:
    items = floats(data)
    if len(items) < 1:
        raise statistics.StatisticsError("pstdev requires at least one data point")
    return math.sqrt(pvariance(items, mu))


def products(x: list[float], y: list[float]) -> float:
    """The sum of products of distances from the means."""
    a, b = math.fsum(x) / len(x), math.fsum(y) / len(y)
    return math.fsum([(p - a) * (q - b) for p, q in zip(x, y, strict=True)])


def covariance(x: Any, y: Any, /) -> float:
    first, second = floats(x), floats(y)
    if len(second) != len(first):
        raise statistics.StatisticsError("covariance requires that both inputs have same number of data points")
    if len(first) < 2:
        raise statistics.StatisticsError("covariance requires at least two data points")
    return products(first, second) / (len(first) - 1)


def correlation(x: Any, y: Any, /) -> float:
    first, second = floats(x), floats(y)
    if len(second) != len(first):
        raise statistics.StatisticsError("correlation requires that both inputs have same number of data points")
    if len(first) < 2:
        raise statistics.StatisticsError("correlation requires at least two data points")
    scale = products(first, first) * products(second, second)
    if scale == 0.0:
        raise statistics.StatisticsError("at least one of the inputs is constant")
    return products(first, second) / math.sqrt(scale)


FUNCTIONS: dict[str, Any] = {
    f"statistics.{f.__name__}": f
    for f in (mean, fmean, geometric_mean, harmonic_mean, median, median_low, median_high, variance, pvariance, stdev,
              pstdev, covariance, correlation)
}  # fmt: skip

"""Python's builtins over iterables, in the accepted Python."""

from __future__ import annotations

import math
from typing import Any

from pullback.prims.prelude.intrinsics import attach, fma, rint, stop

__all__ = ["FUNCTIONS", "MAX_EMPTY", "MIN_EMPTY"]


def _message(function: Any) -> str:
    """What the running Python says of nothing to compare."""
    try:
        function(())
    except ValueError as error:
        return str(error)
    raise AssertionError("the largest of nothing")


MAX_EMPTY, MIN_EMPTY = _message(max), _message(min)


def sum_(iterable: Any, start: Any = 0) -> Any:
    total = start
    for item in iterable:
        total = total + item
    return total


def any_(iterable: Any) -> Any:
    for item in iterable:
        if item:
            return True
    return False


def all_(iterable: Any) -> Any:
    for item in iterable:
        if not item:
            return False
    return True


def max_float(values: Any) -> Any:
    """The largest of an indexable of floats; ties share the derivative evenly."""
    if len(values) == 0:
        raise ValueError(MAX_EMPTY)
    best = stop(values[0])
    for value in values:
        best = stop(value) if value > best else best
    ties = 0
    for value in values:
        ties += 1 if value == best else 0
    result = best
    for value in values:
        if value == best:
            result = attach(result, value, 1.0 / ties)
    return result


def min_float(values: Any) -> Any:
    """The smallest of an indexable of floats; ties share the derivative evenly."""
    if len(values) == 0:
        raise ValueError(MIN_EMPTY)
    best = stop(values[0])
    for value in values:
        best = stop(value) if value < best else best
    ties = 0
    for value in values:
        ties += 1 if value == best else 0
    result = best
    for value in values:
        if value == best:
            result = attach(result, value, 1.0 / ties)
    return result


def max_other(iterable: Any) -> Any:
    empty = True
    best = 0
    for value in iterable:
        if empty or value > best:
            best = value
        empty = False
    if empty:
        raise ValueError(MAX_EMPTY)
    return best


def min_other(iterable: Any) -> Any:
    empty = True
    best = 0
    for value in iterable:
        if empty or value < best:
            best = value
        empty = False
    if empty:
        raise ValueError(MIN_EMPTY)
    return best


def max_of(items: Any) -> Any:
    """max(*items), of numbers."""
    if len(items) == 0:
        raise TypeError("max expected at least 1 argument, got 0")
    if len(items) == 1:
        raise TypeError("'float' object is not iterable")
    return max(items)


def min_of(items: Any) -> Any:
    """min(*items), of numbers."""
    if len(items) == 0:
        raise TypeError("min expected at least 1 argument, got 0")
    if len(items) == 1:
        raise TypeError("'float' object is not iterable")
    return min(items)


def hypot_of(coordinates: Any) -> Any:
    """math.hypot(*coordinates)."""
    size = 0.0
    for x in coordinates:
        size = math.hypot(size, x)
    return size


def round_digits(x: float, scale: float) -> Any:
    """x to a number of decimals (scale = 10**digits), correctly: the exact product decides, ties go to even."""
    product = x * scale
    if not abs(product) < 4503599627370496.0:
        return x
    error = fma(x, scale, -product)
    nearest = rint(product)
    rest = (product - nearest) + error
    if rest > 0.5:
        nearest = nearest + 1.0
    elif rest < -0.5:
        nearest = nearest - 1.0
    elif abs(rest) == 0.5 and nearest % 2.0 != 0.0:
        nearest = nearest + (1.0 if rest > 0.0 else -1.0)
    return nearest / scale


FUNCTIONS: dict[str, Any] = {
    "builtins.sum": sum_, "builtins.any": any_, "builtins.all": all_,
    "pullback.max_float": max_float, "pullback.min_float": min_float,
    "pullback.max_other": max_other, "pullback.min_other": min_other, "pullback.max_of": max_of,
    "pullback.min_of": min_of, "pullback.hypot_of": hypot_of, "pullback.round_digits": round_digits,
}  # fmt: skip

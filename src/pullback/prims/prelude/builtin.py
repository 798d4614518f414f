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


def gcd_of(numbers: Any) -> int:
    """math.gcd(*numbers)."""
    found = 0
    for x in numbers:
        found = math.gcd(found, x)
    return found


def lcm_of(numbers: Any) -> int:
    """math.lcm(*numbers)."""
    found = 1
    for x in numbers:
        found = math.lcm(found, x)
    return found


def power_modulo(base: int, exponent: int, modulus: int) -> int:
    """pow(base, exponent, modulus), by squarings."""
    if modulus == 0:
        raise ValueError("pow() 3rd argument cannot be 0")
    size = abs(modulus)
    square = base % size
    if exponent < 0:
        square, exponent = inverse_modulo(square, size), -exponent
    result = 1 % size
    while exponent > 0:
        if exponent % 2 == 1:
            result = product_modulo(result, square, size)
        square, exponent = product_modulo(square, square, size), exponent // 2
    return result % modulus


def inverse_modulo(x: int, size: int) -> int:
    """What x, of 0 to size, is to be multiplied by for 1 (Euclid's algorithm)."""
    first, second, factor, other = x, size, 1, 0
    while second != 0:
        times = first // second
        first, second = second, first - times * second
        factor, other = other, factor - times * other
    if first != 1:
        raise ValueError("base is not invertible for the given modulus")
    return factor % size


def product_modulo(x: int, y: int, size: int) -> int:
    """x * y % size, of numbers below size; by doubling where the product is too large."""
    if size < 3037000500:
        return x * y % size
    total = 0
    while y > 0:
        if y % 2 == 1:
            total = sum_modulo(total, x, size)
        x, y = sum_modulo(x, x, size), y // 2
    return total


def sum_modulo(x: int, y: int, size: int) -> int:
    return x - (size - y) if x >= size - y else x + y


def round_digits(x: float, scale: float) -> Any:
    """x to a number of decimals (scale = 10**digits), correctly: the exact product decides, ties go to even."""
    product = x * scale
    if not abs(product) < 9007199254740992.0:  # neighbours of x lie at least a unit apart
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


def round_float(x: float, digits: int) -> Any:
    """round(x, digits), of digits that the run decides."""
    if digits < 0:
        return round_tens(x, -digits)
    if digits > 22:  # powers of ten up to this one are floats
        if 0.0 < abs(x) < 9.1e-7:
            raise ValueError("round(x, n) of more than 22 digits")
        return x
    return round_digits(x, power_of_ten(digits))


def power_of_ten(exponent: int) -> float:
    """Exact up to 10**22."""
    scale = 1.0
    for _ in range(exponent):
        scale *= 10.0
    return scale


def round_tens(x: float, digits: int) -> Any:
    """x to a multiple of 10**digits, correctly: the exact remainder decides, ties go to even."""
    if not abs(x) < math.inf:
        return x
    if digits > 22:
        if abs(x) > 4e22:
            raise ValueError("round(x, n) of fewer than -22 digits")
        return math.copysign(0.0, x)
    scale = power_of_ten(digits)
    nearest = rint(x / scale)
    if not abs(nearest) < 9007199254740992.0:  # neighbours of x lie further apart
        return x
    rest = fma(-nearest, scale, x)
    if rest > 0.5 * scale or (rest == 0.5 * scale and nearest % 2.0 != 0.0):
        nearest += 1.0
    elif rest < -0.5 * scale or (rest == -0.5 * scale and nearest % 2.0 != 0.0):
        nearest -= 1.0
    return math.copysign(nearest * scale, x)


def round_int(n: int, digits: int) -> int:
    """round(n, digits) of an int."""
    if digits >= 0:
        return n
    if digits < -18:
        return 0
    scale = int(10 ** (-digits))
    count, rest = n // scale, n % scale
    if rest > scale - rest or (rest == scale - rest and count % 2 == 1):
        count += 1
    return count * scale


FUNCTIONS: dict[str, Any] = {
    "builtins.sum": sum_, "builtins.any": any_, "builtins.all": all_,
    "pullback.max_float": max_float, "pullback.min_float": min_float,
    "pullback.max_other": max_other, "pullback.min_other": min_other, "pullback.max_of": max_of,
    "pullback.min_of": min_of, "pullback.hypot_of": hypot_of, "pullback.gcd_of": gcd_of,
    "pullback.lcm_of": lcm_of, "pullback.power_modulo": power_modulo, "pullback.round_digits": round_digits,
    "pullback.round_float": round_float, "pullback.round_int": round_int,
}  # fmt: skip

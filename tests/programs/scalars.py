"""Scalars: weak and strong numbers, arithmetic, conversion, comparison."""

import numpy as np

from programs import program


@program(args=[(3.0,), (-2.5,), (0.0,)])
def cubic(x):
    return 2.0 * x**3 - x**2 + 4.0 * x - 7.0


@program(args=[(2.0, 3.0), (-1.5, 0.25), (0.0, 1.0)], argnums=(0, 1))
def mixed_polynomial(x, y):
    return x * x * y - 3.0 * x * y * y + y


@program(args=[(2.0, 4.0), (-3.0, 0.5)], argnums=(0, 1), failing=[((1.0, 0.0), ZeroDivisionError)])
def quotient(x, y):
    return (x + 1.0) / y - x / (y * y)


@program(args=[(7, 2), (-7, 2), (7, -2), (-7, -2), (0, 3)], argnums=(), failing=[((1, 0), ZeroDivisionError)])
def integer_division(a, b):
    return a // b, a % b, a / b


@program(args=[(7.5, 2.0), (-7.5, 2.0), (7.5, -2.0), (-7.5, -2.0)], argnums=(0, 1), orders=1)
def float_floor_division(a, b):
    return a // b, a % b


@program(args=[(7.5, 0.0)], argnums=(), failing=[((7.5, 0.0), ZeroDivisionError)])
def float_modulo_zero(a, b):
    return a % b if b != 0.0 else a % b


@program(args=[(5.75,), (-5.75,), (0.25,)])
def modulo_one(x):
    return (x % 1) * (x % 1) + x % 1


@program(args=[(17, 5), (-17, 5), (17, -5)], argnums=(), failing=[((3, 0), ZeroDivisionError)])
def divmod_integers(a, b):
    quotient, remainder = divmod(a, b)
    return quotient * 100 + remainder


@program(args=[(7.25, 2.0), (-7.25, 2.0)], argnums=(0, 1))
def divmod_floats(a, b):
    quotient, remainder = divmod(a, b)
    return quotient * b * b + remainder * a


@program(args=[(3, 4), (-2, 3), (0, 0), (2, 62), (-2, 63)], argnums=())
def integer_power(a, n):
    return a**n


@program(args=[(1.5, 3), (-2.0, 2), (0.0, 0), (2.0, -3), (0.5, 1)], failing=[((0.0, -1), ZeroDivisionError)])
def float_power_integer(x, n):
    return x**n


@program(args=[(1.5, 2.5), (4.0, 0.5), (2.0, -1.5)], argnums=(0, 1))
def float_power_float(x, y):
    return x**y


@program(args=[(2.0, 3.0), (1.5, -0.5)], argnums=(0, 1))
def builtin_pow(x, y):
    return pow(x, y) + pow(y, 2)


@program(args=[(2.0,), (-1.0,)])
def constant_to_the_x(x):
    return 2.0**x + 2**x


@program(args=[(4,), (-9,), (0,)], argnums=())
def integer_arithmetic(n):
    return (n * 3 - 2) * n + (n - 1) // 2 - (-n) % 7 + abs(n)


@program(args=[(0b1101, 3), (-5, 1)], argnums=())
def integer_bits(a, s):
    return ((a << s) | 5) ^ (a & 6) ^ (a >> 1) ^ ~a


@program(args=[(True, False), (False, False), (True, True)], argnums=())
def boolean_arithmetic(a, b):
    return a + b + 2 * a, a and b, a or b, not a, a & b, a | b, a ^ b


@program(args=[(3, 2.5), (-1, 0.5)], argnums=(1,))
def int_times_float(n, x):
    return n * x + n - x * 2 + n / 4


@program(args=[(True, 2.5), (False, 2.5)], argnums=(1,))
def bool_times_float(flag, x):
    return flag * x * x + x


@program(args=[(np.float64(3.0),), (np.float64(-0.5),)])
def strong_scalar(x):
    return x * x / 3 + 2 * x


@program(args=[(np.float64(3.0), 2.0), (np.float64(1.5), -1.0)], argnums=(0, 1))
def strong_and_weak(x, y):
    return x * y + y


@program(args=[(np.float64(1.0),), (np.float64(0.0),), (np.float64(-2.0),)], argnums=())
def strong_division_by_zero(x):
    return 1.0 / (x * 0.0) if x > 0.0 else x / 4.0


@program(args=[(np.int64(7), 2), (np.int64(-7), 2)], argnums=())
def strong_integers(a, b):
    return a + b, a * b, a // b, a % b, a / b


@program(args=[(np.bool_(True), 2), (np.bool_(False), 3)], argnums=())
def strong_boolean(a, n):
    return n if a else -n


@program(args=[(np.float32(1.5), np.float32(0.25)), (np.float32(-2.0), np.float32(3.0))], argnums=(0, 1))
def single_precision(x, y):
    return x * y + x / y - y


@program(args=[(np.float32(1.5),), (np.float32(-0.1),)])
def single_with_weak(x):
    return 2.0 * x * x + 0.1 * x + 1


@program(args=[(np.float32(1.5), np.float64(0.1))], argnums=(0, 1))
def single_with_double(x, y):
    return x * y + x


@program(args=[(2.7,), (-2.7,), (0.0,), (3.0,)], argnums=(), failing=[((float("nan"),), ValueError)])
def to_int(x):
    return int(x) * 2 + int(x > 1.0)


@program(args=[(float("inf"),)], argnums=(), failing=[((float("inf"),), OverflowError)])
def infinite_to_int(x):
    return int(x)


@program(args=[(3,), (-4,)], argnums=())
def to_float(n):
    return float(n) / 2, float(True), bool(n), bool(0.0)


@program(args=[(np.float64(1.25),), (np.float32(1.25),)])
def strong_to_python_float(x):
    return float(x) * float(x) + 1.0


@program(args=[(1.25,), (-3.5,)], kink=True)
def to_single(x):
    return float(np.float32(x)) * x


@program(args=[(1.25,), (-3.5,)])
def to_double(x):
    return np.float64(x) * x + 1


@program(args=[(2.5,), (3.5,), (-2.5,), (2.4,), (-0.6,)], argnums=())
def round_half_even(x):
    return round(x), round(x) + 1


@program(args=[(2.675,), (-1.005,), (0.125,), (1234.5678,)], argnums=())
def round_digits(x):
    return round(x, 2)


@program(args=[(2.3,), (-2.3,)])
def rounding_in_gradient(x):
    return x * round(x) + x * int(x)


@program(args=[(3.0,), (-3.0,), (0.5,)])
def absolute_value(x):
    return abs(x) * x + abs(x - 1.0)


@program(args=[(3.0, 5.0), (5.0, 3.0), (-1.0, -2.0)], argnums=(0, 1))
def smallest_largest(x, y):
    return max(x, y) * 2.0 + min(x, y) * x


@program(args=[(3.0, 5.0, 4.0), (5.0, 3.0, -1.0)], argnums=(0, 1, 2))
def three_way_extremes(x, y, z):
    return max(x, y, z) * min(x, y, z)


@program(args=[(3, 5), (5, 3), (-1, -1)], argnums=())
def integer_extremes(a, b):
    return max(a, b, 2), min(a, b, 0)


@program(args=[(0.5,), (1.5,), (2.5,), (1.0,), (2.0,)], kink=True)
def chained_comparison(x):
    if 1.0 <= x < 2.0:
        return x * x
    if 0 < x <= 1:
        return 3.0 * x
    return -x


@program(args=[(1, 2, 3), (3, 2, 1), (2, 2, 2), (1, 3, 2)], argnums=())
def long_chain(a, b, c):
    return a < b < c, a <= b <= c, a == b == c, a < b > c, a != b != c


@program(args=[(0.0,), (-0.0,)], argnums=())
def signed_zero(x):
    return x + 0.0, -x, x * -1.0, 0.0 - x


@program(args=[(2.0,), (-3.0,)])
def unary(x):
    return -x * +x - (-(-x)) ** 3


@program(args=[(1e308, 10.0), (1e308, 1.0)], argnums=())
def float_overflow_is_infinite(x, y):
    return x * y


@program(args=[(10.0, 2.0)], argnums=(0,), failing=[((10.0, 400.0), OverflowError)])
def power_overflow(x, y):
    return x**y


@program(args=[(1e-300,), (5e-324,)], argnums=())
def denormal(x):
    return x * 1e-10, x / 2.0


@program(args=[(1.0,), (0.1,)], scale=10.0)
def literal_forms(x):
    return 1_000.5e-3 * x + 0x10 * x - 1e1 * x + 0b11


@program(args=[(2.0, 5.0)], argnums=(0, 1))
def augmented(x, y):
    x += y
    x *= x
    y -= x / 7.0
    y /= 3
    x **= 2
    x %= 100.0
    return x + y


@program(args=[(20, 6)], argnums=())
def augmented_integers(a, b):
    a //= b
    a **= 2
    b %= 4
    a -= b
    a <<= 2
    a |= 1
    a &= 0xFF
    a ^= 5
    a >>= 1
    return a


@program(args=[(1,), (-1,), (0,)], argnums=())
def result_int_or_float(n):
    if n > 0:
        return n
    return n / 2


@program(args=[(2.0,), (-2.0,)])
def result_float_or_int(x):
    if x > 0.0:
        return x * x
    return 0


@program(args=[(0, 2.0), (3, 2.0)], argnums=(1,))
def total_begins_as_int(n, x):
    total = 0
    for _ in range(n):
        total += x * x
    return total


@program(args=[(9007199254740993,), (-9223372036854775807,)], argnums=(), failing=[])
def large_integers(n):
    return n + 0, n // 3, n % 1000, float(n)


@program(args=[(1.0, 1.0), (float("nan"), 1.0), (float("inf"), float("inf"))], argnums=())
def comparisons(x, y):
    return x == y, x != y, x < y, x <= y, x > y, x >= y, not x < y


@program(args=[(3, 3.0), (3, 3.5), (0, -0.0)], argnums=())
def mixed_comparisons(n, x):
    return n == x, n < x, n >= x, True == (n < 4)


@program(args=[(0.3,), (1.7,)])
def nested_ternary(x):
    return x * x if x < 0.5 else (2.0 * x if x < 1.0 else x**3)


@program(args=[(2.0,), (-2.0,)])
def walrus(x):
    if (y := x * x + 1.0) > 4.0:
        return y * x
    return y


@program(args=[(1.5,), (0.5,)])
def annotated(x: float) -> float:
    """Annotations and docstrings mean nothing."""
    y: float = x * 2.0
    pass
    return y * y

"""Points where a derivative is chosen by convention: ties, zeros, bounds; branches that are not selected."""

import math

import numpy as np

from programs import program

Z = np.array([0.0, 1.0, -1.0])


@program(args=[(0.0,), (2.0,), (-2.0,)], kink=True)
def absolute_at_zero(x):
    return abs(x) + 3.0 * x


@program(args=[(0.0,), (np.float64(0.0),)], kink=True)
def absolute_times_x(x):
    return np.abs(x) * x + math.fabs(x)


@program(args=[(Z,)], kink=True)
def absolute_of_array(a):
    return np.sum(np.abs(a) * a + np.abs(a))


@program(args=[(1.0, 1.0), (0.0, 0.0)], argnums=(0, 1), kink=True)
def tie_of_builtin(x, y):
    return max(x, y) * 3.0 + min(x, y)


@program(args=[(1.0, 1.0), (0.0, 0.0)], argnums=(0, 1), kink=True)
def tie_of_numpy(x, y):
    return np.maximum(x, y) * 3.0 + np.minimum(x, y)


@program(args=[(1.0, 1.0, 0.0), (0.0, 1.0, 1.0), (2.0, 2.0, 2.0)], argnums=(0, 1, 2), kink=True)
def tie_of_three(x, y, z):
    return max(x, y, z) * 2.0 + min(x, y, z)


@program(args=[((1.0, 1.0, 0.0),), ((0.0, 0.0, 0.0),)], kink=True)
def tie_in_tuple(t):
    return max(t) + 2.0 * min(t)


@program(args=[(0.0,), (1.0,), (-1.0,)], kink=True)
def relu_by_max(x):
    return max(x, 0.0) + max(0.0, x) * 2.0 + max(x, 0)


@program(args=[(0.0,), (1.0,), (-1.0,)], kink=True)
def relu_by_maximum(x):
    return np.maximum(x, 0.0) + np.maximum(0, x)


@program(args=[(Z,)], kink=True)
def relu_of_array(a):
    return np.sum(np.maximum(a, 0.0) * 2.0 + np.maximum(a, 0) + np.minimum(a, 1.0))


@program(args=[(0.0, 0.0), (1.0, 0.0), (-1.0, 0.0)], kink=True)
def relu_by_variable(x, zero):
    return max(x, zero) * 2.0


@program(args=[(0.0,), (2.0,), (1.0,)], kink=True)
def clamp(x):
    return min(max(x, 0.0), 1.0) * 5.0


@program(args=[(2.0,)], kink=True)
def tie_with_itself(x):
    return max(x, x) * x + min(x, x)


@program(args=[(1.0, 1), (2.0, 1)], kink=True)
def tie_with_int(x, n):
    return max(x, n) * 2.0


@program(args=[(0.0,), (-1.0,), (4.0,)], kink=True)
def where_selects_root(x):
    return np.where(x > 0.0, np.sqrt(x), 0.0) + x


@program(args=[(np.array([0.0, -1.0, 4.0]),)], kink=True)
def where_selects_root_of_array(a):
    return np.sum(np.where(a > 0.0, np.sqrt(a), 0.0) + np.where(a != 0.0, 1.0 / a, 0.0))


@program(args=[(np.array([0.0, -1.0, 4.0]),)], kink=True)
def where_selects_logarithm(a):
    return np.sum(np.where(a > 0.0, np.log(a) * a, a))


@program(args=[(0.0,), (4.0,)], orders=1, kink=True)
def root_times_zero(x):
    return math.sqrt(x) * 0.0 + x


@program(args=[(0.0,), (1.0,)], orders=1, kink=True)
def root_at_zero(x):
    return math.sqrt(x)


@program(args=[(0.0,), (1.0,)], orders=1, kink=True)
def half_power_at_zero(x):
    return x**0.5


@program(args=[(0.0,)], orders=1, kink=True)
def numpy_root_at_zero(x):
    return np.sqrt(x) + np.cbrt(x)


@program(args=[(0.0,), (-1.5,)])
def power_zero(x):
    return x**0 + x**0.0


@program(args=[(0.0,), (-1.5,)])
def small_powers_at_zero(x):
    return x**1 + x**2 + x**2.0 + x**3


@program(args=[(0.0, 0), (0.0, 1), (0.0, 2), (0.0, 3)])
def runtime_power_at_zero(x, n):
    return x**n


@program(args=[(np.array([0.0, -1.0, 2.0]),)])
def array_powers_at_zero(a):
    return np.sum(a**0 + a**1 + a**2 + a**2.0)


@program(args=[(0.0, 0.0)], argnums=(0, 1), kink=True)
def origin(x, y):
    return math.hypot(x, y) + math.atan2(y, x) + np.hypot(x, y) + np.arctan2(x, y)


@program(args=[(0.0, 0.0), (3.0, 4.0)], argnums=(0, 1), kink=True)
def squared_hypotenuse(x, y):
    return math.hypot(x, y) ** 2


@program(args=[(0.0,), (2.0,), (-2.0,)], kink=True)
def signs(x):
    return np.sign(x) * x + np.sign(x)


@program(args=[(2.0,), (-1.0,), (0.0,)], kink=True)
def floor_at_integer(x):
    return math.floor(x) * x + np.floor(x) + x // 1 + x % 1


@program(args=[(0.0,), (1.0,), (0.5,)], kink=True)
def branch_at_boundary(x):
    if x <= 0.0:
        return x * x
    if x >= 1.0:
        return 3.0 * x
    return math.sin(x)


@program(args=[(1.0,), (-1.0,), (2.0,), (0.0,)])
def double_well(x):
    return (x**2 - 1.0) ** 2


@program(args=[((0.0, 2.0, 3.0),), ((0.0, 0.0, 3.0),), ((1.0, 2.0, 3.0),)])
def product_with_zeros(t):
    result = 1.0
    for v in t:
        result *= v
    return result


@program(args=[(np.array([2.0, 0.0, -3.0]),), (np.array([0.0, 0.0, 1.0]),)])
def array_product_with_zeros(a):
    result = 1.0
    for v in a:
        result = result * v
    return result


@program(args=[(2.0, 3.0), (0.0, 3.0)], argnums=(0, 1))
def zero_factor(x, y):
    return x * y * 0.0 + 0.0 * x + y


@program(args=[(0.0,), (0.7,)])
def safe_sinc(x):
    return math.sin(x) / x if x != 0.0 else 1.0 - x * x / 6.0


@program(args=[(np.array([0.0, 0.0]),), (np.array([3.0, -4.0]),)], kink=True)
def norm_squared(a):
    return np.sum(a * a) + np.sum(np.abs(a))


@program(args=[(2.0, 3.0), (2.0, 0.0)])
def unused_argument(x, y):
    return x * x


@program(args=[(2.0, 3.0)], argnums=(0, 1))
def cancelled_argument(x, y):
    return x * x + (y - y) + 0.0 * y


@program(args=[(2.0,)])
def constant_result(x):
    return 5.0


@program(args=[(2.0,)], kink=True)
def result_through_comparison(x):
    return float(x > 1.0) + int(x) + x


@program(args=[(1e200,), (1e-200,)], orders=1)
def extreme_magnitudes(x):
    return math.log(x) + math.sqrt(x) / math.sqrt(x + 1.0)


@program(args=[(-3.0, 2.0), (3.0, 2.0)])
def power_of_negative_base(x, n):
    return x**n

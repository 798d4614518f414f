"""Every function of `math`."""

import math

from programs import program


@program(args=[(0.7,), (-2.0,), (0.0,)])
def circular(x):
    return math.sin(x) * math.cos(x) + math.tan(x)


@program(args=[(0.7,), (-0.3,)], failing=[((1.5,), ValueError)])
def inverse_circular(x):
    return math.asin(x) * math.acos(x) + math.atan(x)


@program(args=[(1.0, 2.0), (-1.0, -2.0), (0.0, -1.0)], argnums=(0, 1), kink=True)
def angle(y, x):
    return math.atan2(y, x) * y + math.atan2(y, x)


@program(args=[(0.7,), (-2.0,)], failing=[((1000.0,), OverflowError)])
def hyperbolic(x):
    return math.sinh(x) * math.tanh(x) + math.cosh(x)


@program(args=[(0.7,), (-0.3,)], failing=[((1.0,), ValueError)])
def inverse_hyperbolic(x):
    return math.asinh(x) + math.acosh(x + 2.0) * math.atanh(x)


@program(args=[(0.7,), (-2.0,), (0.0,)], failing=[((800.0,), OverflowError)])
def exponential(x):
    return math.exp(x) + math.expm1(x) * math.exp2(x)


@program(args=[(0.7,), (2.0,)], failing=[((0.0,), ValueError), ((-1.0,), ValueError)])
def logarithm(x):
    return math.log(x) + math.log2(x) * math.log10(x) + math.log1p(x)


@program(args=[(0.7, 3.0), (8.0, 2.0)], argnums=(0, 1))
def logarithm_with_base(x, b):
    return math.log(x, b) + math.log(x, 10)


@program(args=[(0.7,), (2.0,)], failing=[((-1.0,), ValueError)])
def roots(x):
    return math.sqrt(x) * math.cbrt(x) + math.cbrt(-x)


@program(args=[(0.7, 3.0), (-2.0, 2.0)], argnums=(0,), failing=[((-2.0, 0.5), ValueError), ((0.0, -1.0), ValueError)])
def power(x, y):
    return math.pow(x, y) + math.pow(x, 3)


@program(args=[(0.7,), (-1.5,), (3.0,)])
def error_functions(x):
    return math.erf(x) + math.erfc(x) * x


@program(
    args=[(2.5,), (0.5,), (-1.5,), (5.0,)],
    failing=[((0.0,), ValueError), ((-2.0,), ValueError), ((200.0,), OverflowError)],
)
def gamma_function(x):
    return math.gamma(x)


@program(args=[(2.5,), (0.5,), (-1.5,), (30.0,)], failing=[((0.0,), ValueError)])
def log_gamma(x):
    return math.lgamma(x) * 2.0


@program(args=[(7.5, 2.0), (-7.5, 2.0), (7.5, -2.0)], argnums=(0, 1), failing=[((1.0, 0.0), ValueError)])
def float_modulo(x, y):
    return math.fmod(x, y) * x


@program(args=[(7.25, 2.0), (-7.25, 2.0), (5.5, 1.5)], argnums=(0, 1))
def ieee_remainder(x, y):
    return math.remainder(x, y) * x


@program(args=[(2.0, -1.0), (-2.0, 3.0), (2.0, -0.0)])
def copy_sign(x, y):
    return math.copysign(x, y) * x + math.copysign(1.0, x)


@program(args=[(2.5,), (-2.5,)])
def absolute(x):
    return math.fabs(x) * x


@program(
    args=[(2.5,), (-2.5,), (3.0,)],
    argnums=(),
    failing=[((float("inf"),), OverflowError), ((float("nan"),), ValueError)],
)
def to_integers(x):
    return math.floor(x), math.ceil(x), math.trunc(x)


@program(args=[(2.5,), (-2.5,)])
def floor_in_gradient(x):
    return x * math.floor(x) + math.ceil(x) - x * math.trunc(x)


@program(args=[(3.0, 4.0), (-1.0, 0.5)], argnums=(0, 1))
def hypotenuse(x, y):
    return math.hypot(x, y) * x + math.hypot(x, y, 2.0) + math.hypot(x)


@program(args=[((1.0, 2.0), (3.0, -1.0)), ((1.0, 2.0, 3.0), (3.0, -1.0, 0.5))], argnums=(0, 1))
def distance(p, q):
    return math.dist(p, q) * p[0]


@program(args=[(2.5, -1.5)], argnums=(0, 1))
def sums_and_products(x, y):
    return math.fsum((x, y, x * y)) * math.prod((x, y, 2.0)) + math.prod((x, x), start=3.0)


@program(args=[(2.5,), (-2.5,), (4.0,)], orders=1, kink=True)
def split(x):
    fraction, whole = math.modf(x)
    return fraction * x, whole


@program(args=[(2.5,), (-0.3,), (1024.0,)], orders=1, kink=True)
def mantissa(x):
    m, e = math.frexp(x)
    return m * x, e


@program(args=[(0.75, 3), (0.75, -2)])
def load_exponent(x, n):
    return math.ldexp(x, n) * x


@program(args=[(90.0,), (-30.0,)], scale=100.0)
def degrees_radians(x):
    return math.sin(math.radians(x)) + math.degrees(x) * x


@program(args=[(1.0,), (float("inf"),), (float("nan"),)], argnums=())
def classification(x):
    return math.isnan(x), math.isinf(x), math.isfinite(x)


@program(args=[(1.0, 1.0 + 1e-10), (1.0, 1.1), (0.0, 1e-12)], argnums=())
def close(x, y):
    return math.isclose(x, y), math.isclose(x, y, rel_tol=0.5), math.isclose(x, y, abs_tol=1e-9)


@program(args=[(12, 18), (0, 5), (-4, 6), (0, 0)], argnums=())
def divisors(a, b):
    return math.gcd(a, b), math.lcm(a, b)


@program(args=[(5, 2), (10, 0), (10, 10), (3, 5)], argnums=(), failing=[((-1, 2), ValueError)])
def combinatorics(n, k):
    return math.factorial(n), math.comb(n, k), math.perm(n, k)


@program(args=[(17,), (0,), (1000000007,)], argnums=(), failing=[((-1,), ValueError)])
def integer_root(n):
    return math.isqrt(n)


@program(args=[(1.5, 2.0), (0.0, -1.0)], argnums=())
def neighbours(x, y):
    return math.nextafter(x, y), math.ulp(x)


@program(args=[(0.5,)])
def constants(x):
    return math.pi * x + math.e * x * x + math.tau + (1.0 if x < math.inf else math.nan)


@program(args=[(3,), (-2,)], argnums=())
def of_integers(n):
    return math.sqrt(n * n), math.exp(n), math.floor(n), math.fabs(n), math.sin(True)


@program(args=[(0.25,)], scale=2.0)
def deep_composition(x):
    return math.exp(math.sin(math.log(math.cosh(math.sqrt(x) + math.atan(x)) + 1.0)))


@program(args=[(4.0,), (0.25,)])
def root_of_root(x):
    return math.sqrt(math.sqrt(x) + x) / math.log1p(x)

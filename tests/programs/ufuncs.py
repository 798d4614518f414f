"""Elementwise functions of NumPy, on arrays and on scalars."""

import numpy as np

from programs import program

A = np.array([0.5, -1.5, 2.0, 3.25])
P = np.array([0.5, 1.5, 2.0, 3.25])
U = np.array([0.5, -0.25, 0.125, 0.9])
M = np.array([[1.0, 2.0, -1.0], [0.5, -0.25, 4.0]])


@program(args=[(A,), (M,), (0.7,), (np.float64(0.7),)])
def trigonometric(x):
    return np.sum(np.sin(x) * np.cos(x) + np.tan(x))


@program(args=[(U,), (0.3,)])
def inverse_trigonometric(x):
    return np.sum(np.arcsin(x) + np.arccos(x) * x + np.arctan(x))


@program(args=[(A,), (0.3,)])
def hyperbolic(x):
    return np.sum(np.sinh(x) + np.cosh(x) * np.tanh(x))


@program(args=[(U,), (0.3,)])
def inverse_hyperbolic(x):
    return np.sum(np.arcsinh(x) + np.arccosh(x + 2.0) + np.arctanh(x))


@program(args=[(U,), (0.3,), (-2.0,)])
def exponentials(x):
    return np.sum(np.exp(x) + np.expm1(x) * 2.0 + np.exp2(x))


@program(args=[(P,), (0.3,)])
def logarithms(x):
    return np.sum(np.log(x) + np.log2(x) * np.log10(x) + np.log1p(x))


@program(args=[(P,), (0.3,)])
def roots(x):
    return np.sum(np.sqrt(x) + np.cbrt(x) * np.square(x) + np.reciprocal(x))


@program(args=[(A,), (-0.3,)])
def absolute_and_sign(x):
    return np.sum(np.abs(x) * x + np.sign(x) * x + np.absolute(x))


@program(args=[(A, np.array([1.0, 2.0, -3.0, 0.5])), (0.3, 2.0)], argnums=(0, 1))
def maximum_minimum(x, y):
    return np.sum(np.maximum(x, y) * x + np.minimum(x, y) * y)


@program(args=[(A, np.array([1.0, 2.0, -3.0, 0.5])), (0.3, 2.0)], argnums=(0, 1))
def arctan2_hypot(x, y):
    return np.sum(np.arctan2(x, y) * np.hypot(x, y))


@program(args=[(A, P), (-0.3, 2.0)], argnums=(0, 1), orders=1, kink=True)
def remainders(x, y):
    return np.sum(np.mod(x, y) * x + np.fmod(x, y)), np.remainder(x, y)


@program(args=[(A,), (2.5,), (-2.5,)], orders=1, kink=True)
def roundings(x):
    return np.floor(x) * x + np.ceil(x) + np.trunc(x) * x + np.rint(x)


@program(args=[(A, 0.5)], argnums=(0, 1))
def where_array(a, x):
    return np.sum(np.where(a > 0.0, a * x, a * a))


@program(args=[(np.array([4.0, 1.0, -1.0]),)])
def where_guards_root(a):
    return np.sum(np.where(a > 0.0, np.sqrt(np.abs(a)), 0.0))


@program(args=[(U, A)], argnums=(0, 1))
def power_of_exp(u, a):
    return np.sum(np.power(np.exp(u), a))


@program(args=[(A,)])
def named_operators(a):
    return np.sum(np.add(a, 1.0) * np.subtract(a, 2.0) + np.multiply(a, a) - np.divide(a, 3.0) + np.negative(a))


@program(args=[(np.array([0.5, -1.5], np.float32),), (np.float32(0.5),)])
def single_ufuncs(x):
    return np.sum(np.tanh(x) * np.exp(x) + np.sin(x))


@program(args=[(A,), (M,)])
def sigmoid_cross_entropy(x):
    p = 1.0 / (1.0 + np.exp(-x))
    return -np.sum(np.log(p) * 0.25 + np.log(1.0 - p) * 0.75)


@program(args=[(A,)])
def softmax_entropy(x):
    e = np.exp(x - x[3])
    p = e / np.sum(e)
    return -np.sum(p * np.log(p))


@program(args=[(A, np.array([1.0, 2.0, -3.0, 0.5]), 0.1)], argnums=(0, 1, 2))
def gaussian_kernel(x, y, width):
    d = x - y
    return np.exp(-width * np.sum(d * d))


@program(args=[(M, np.array([0.1, -0.2, 0.3]), np.array([0.5, -0.5]))], argnums=(0, 1, 2))
def two_layers(w, x, v):
    h = np.tanh(w @ x)
    return np.dot(v, h) ** 2


@program(args=[(A, 0.3)], argnums=(0, 1))
def fused_chain(a, x):
    return np.sum(np.sin(a * x) * np.exp(-a * a) + np.sqrt(a * a + x) / (1.0 + np.cosh(a)))


@program(args=[(A,)], argnums=())
def predicates(a):
    return np.isfinite(a), np.isnan(a), np.isinf(a / 0.5)


@program(args=[(np.array([0.0, 1.0, -1.0]),)], argnums=())
def ieee_without_exceptions(a):
    return 1.0 / a, np.log(a), np.sqrt(a), a / 0.0


@program(args=[(0.0,), (-1.0,)], argnums=())
def ieee_scalars(x):
    return np.log(x), np.sqrt(x), np.float64(1.0) / x


@program(args=[(A, np.array([1.0, 2.0, -3.0, 0.5]))], argnums=(0, 1))
def log_add_exp(x, y):
    return np.sum(np.logaddexp(x, y) * x)


@program(args=[(A,)])
def degrees_radians(x):
    return np.sum(np.sin(np.deg2rad(x * 90.0)) + np.rad2deg(x) * x)


@program(args=[(A,)], argnums=())
def integer_results(a):
    n = np.sum(a > 0.0)
    return n, n * 2, n / 2


@program(args=[(np.array([1, -2, 3]),)], argnums=())
def ufuncs_of_integers(n):
    return np.abs(n), np.sqrt(np.abs(n)), np.exp(n), np.maximum(n, 0), np.sign(n)


@program(args=[(A,)])
def numpy_constants(a):
    return np.sum(np.sin(np.pi * a) + np.e * a) * np.float64(2.0)

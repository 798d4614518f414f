"""Elementwise functions: arithmetic, powers, logarithms, angles, rounding, comparisons, bits; plain creation."""

from __future__ import annotations

import numpy as np

from surface import ALL, COMPLEX, FLOATS, INTS, NUMBERS, P, Row, S, X

ONE = [X(5), X(2, 3), X(2, 1, 3), X(0), X(), S()]
TWO = [(X(5), X(5)), (X(2, 3), X(3)), (X(2, 1), X(1, 3)), (X(2, 3), S()), (S(), S()), (X(3, 0), X(1))]
POSITIVE = [P(5), P(2, 3), P(), S(0.3, 3.0)]
SPECIAL = ("nan", "inf", "zero")


def unit(*shape):
    return X(*shape, low=-0.9, high=0.9)


def circle(a):
    a = a * 0.6
    return np.sin(a), np.cos(a), np.tan(a), np.sinh(a), np.cosh(a), np.tanh(a)


def arcs(a):
    return np.arcsin(a), np.arccos(a), np.arctan(a), np.arcsinh(a), np.arctanh(a), np.arccosh(a + 2.0)


def array_api_arcs(a):
    return np.asin(a), np.acos(a), np.atan(a), np.asinh(a), np.atanh(a), np.acosh(a + 2.0)


def logarithms(a):
    return np.log(a), np.log2(a), np.log10(a), np.log1p(a), np.sqrt(a), np.cbrt(a)


def exponentials(a):
    return np.exp(a), np.exp2(a), np.expm1(a), np.square(a), np.positive(a), np.negative(a)


def signs(a):
    return np.abs(a), np.absolute(a), np.fabs(a), np.sign(a)


def whole(a):
    return np.floor(a), np.ceil(a), np.trunc(a), np.rint(a)


def degrees(a):
    return np.deg2rad(a), np.rad2deg(a), np.degrees(a), np.radians(a)


def arithmetic(a, b):
    return np.add(a, b), np.subtract(a, b), np.multiply(a, b), np.maximum(a, b), np.minimum(a, b)


def quotients(a, b):
    return np.divide(a, b), np.true_divide(a, b), np.reciprocal(b * 1.0)


def remainders(a, b):
    return np.mod(a, b), np.remainder(a, b), np.fmod(a, b), np.floor_divide(a, b)


def powers(a, b):
    return np.power(a, b), np.pow(a, b), np.float_power(a, b)


def pairs(a, b):
    return np.arctan2(a, b), np.atan2(b, a), np.hypot(a, b), np.copysign(a, b), np.logaddexp(a, b)


def clipped_into(a):
    out = np.zeros_like(a)
    first = np.clip(a, -0.5, 0.5, out=out) * a
    out *= 2.0
    return first, a.clip(None, 0.25, out=out, where=a > -0.25), out


def comparisons(a, b):
    return (np.equal(a, b), np.not_equal(a, b), np.less(a, b), np.less_equal(a, b), np.greater(a, b),
            np.greater_equal(a, b))  # fmt: skip


def logic(a, b):
    return np.logical_and(a, b), np.logical_or(a, b), np.logical_xor(a, b), np.logical_not(a)


def bits(a, b):
    return (np.bitwise_and(a, b), np.bitwise_or(a, b), np.bitwise_xor(a, b), np.bitwise_not(a), np.invert(b),
            np.bitwise_invert(a))  # fmt: skip


def shifts(a):
    return np.left_shift(a, 2), np.right_shift(a, 1), np.bitwise_left_shift(a, 1), np.bitwise_right_shift(a, 2)


def made(a):
    return (np.zeros(3), np.ones((2, 2)), np.zeros_like(a), np.ones_like(a), np.arange(4), np.arange(1.0, 2.0, 0.25),
            np.empty((2, 0)), np.empty_like(a).shape)  # fmt: skip


ROWS = [
    Row("numpy.sin numpy.cos numpy.tan numpy.sinh numpy.cosh numpy.tanh", circle, ONE, FLOATS, specials=SPECIAL),
    Row("numpy.sin numpy.cos numpy.tanh", circle, ONE[:2], INTS, order=0),
    Row(
        "numpy.arcsin numpy.arccos numpy.arctan numpy.arcsinh numpy.arctanh numpy.arccosh",
        arcs,
        [unit(5), unit(2, 3), unit()],
        FLOATS,
        specials=SPECIAL,
    ),
    Row("numpy.asin numpy.acos numpy.atan numpy.asinh numpy.atanh numpy.acosh", array_api_arcs, [unit(5)], FLOATS),
    Row(
        "numpy.log numpy.log2 numpy.log10 numpy.log1p numpy.sqrt numpy.cbrt",
        logarithms,
        POSITIVE,
        NUMBERS,
        specials=SPECIAL,
    ),
    Row(
        "numpy.exp numpy.exp2 numpy.expm1 numpy.square numpy.positive numpy.negative",
        exponentials,
        ONE,
        NUMBERS,
        specials=SPECIAL,
    ),
    Row("numpy.abs numpy.absolute numpy.fabs numpy.sign", signs, ONE, NUMBERS, specials=SPECIAL),
    Row("numpy.floor numpy.ceil numpy.trunc numpy.rint", whole, ONE, FLOATS, specials=SPECIAL),
    Row("numpy.deg2rad numpy.rad2deg numpy.degrees numpy.radians", degrees, ONE, FLOATS, specials=SPECIAL),
    Row(
        "numpy.add numpy.subtract numpy.multiply numpy.maximum numpy.minimum",
        arithmetic,
        TWO,
        NUMBERS,
        specials=SPECIAL,
    ),
    Row("numpy.add numpy.multiply", lambda a, b: (np.add(a, b), np.multiply(a, b), np.maximum(a, b)), TWO[:2], ALL),
    Row(
        "numpy.divide numpy.true_divide numpy.reciprocal",
        quotients,
        [(X(5), P(5)), (X(2, 3), P(3)), (S(), S(0.5, 2.0))],
        FLOATS,
        specials=SPECIAL,
    ),
    Row(
        "numpy.mod numpy.remainder numpy.fmod numpy.floor_divide",
        remainders,
        [(X(5, low=-4, high=4), P(5, low=1, high=3)), (X(2, 3), P(3, low=1, high=2))],
        NUMBERS,
    ),
    Row("numpy.power numpy.pow numpy.float_power", powers, [(P(5), X(5)), (P(2, 3), X(3)), (P(3), S())], FLOATS),
    Row("numpy.power", lambda a: np.power(a, 3), [X(5)], NUMBERS),
    Row("numpy.arctan2 numpy.atan2 numpy.hypot numpy.copysign numpy.logaddexp", pairs, TWO, FLOATS, specials=SPECIAL),
    Row(
        "numpy.clip ndarray.clip",
        lambda a: (np.clip(a, -0.5, 1.25), a.clip(0.1, 1.0)),
        [X(5), X(2, 3)],
        FLOATS,
        specials=SPECIAL,
    ),
    Row(
        "numpy.clip ndarray.clip",
        lambda a: (np.clip(a, 0.25, None), np.clip(a, None, 0.5), a.clip(max=0.75), a.clip(-0.5),
                   np.clip(a, None, None)),
        [X(5), X(2, 3)],
        FLOATS,
        specials=SPECIAL,
    ),
    Row("numpy.clip ndarray.clip", clipped_into, [X(5), X(2, 3)], FLOATS),
    Row(
        "numpy.clip",
        lambda a, low, high: np.clip(a, low, high),
        [(X(2, 3), X(3, low=-2, high=-0.5), S(0.5, 2.0))],
        FLOATS,
    ),
    Row(
        "numpy.equal numpy.not_equal numpy.less numpy.less_equal numpy.greater numpy.greater_equal",
        comparisons,
        TWO,
        ALL,
        order=0,
        specials=("nan", "inf", "ties"),
    ),
    Row(
        "numpy.logical_and numpy.logical_or numpy.logical_xor numpy.logical_not",
        logic,
        TWO,
        ALL,
        order=0,
        specials=SPECIAL,
    ),
    Row(
        "numpy.bitwise_and numpy.bitwise_or numpy.bitwise_xor numpy.bitwise_not numpy.invert numpy.bitwise_invert",
        bits,
        TWO[:3],
        f"{INTS} bool",
        order=0,
    ),
    Row(
        "numpy.left_shift numpy.right_shift numpy.bitwise_left_shift numpy.bitwise_right_shift",
        shifts,
        ONE[:3],
        INTS,
        order=0,
    ),
    Row(
        "numpy.isfinite numpy.isinf numpy.isnan",
        lambda a: (np.isfinite(a), np.isinf(a), np.isnan(a)),
        ONE,
        NUMBERS,
        order=0,
        specials=SPECIAL,
    ),
    Row(
        "numpy.nextafter",
        lambda a, b: np.nextafter(a, b),
        TWO[:2],
        FLOATS,
        order=0,
        tolerance=0.0,
        specials=("inf", "zero"),
    ),
    Row(
        "numpy.conj numpy.conjugate numpy.angle numpy.abs",
        lambda a: (np.conj(a), np.conjugate(a), np.angle(a), np.abs(a)),
        [X(4), X(2, 3)],
        COMPLEX,
    ),
    Row(
        "numpy.zeros numpy.ones numpy.zeros_like numpy.ones_like numpy.arange numpy.empty numpy.empty_like",
        made,
        [X(2, 3)],
        ALL,
        order=0,
    ),
    Row(
        "numpy.iterable",
        lambda a: (np.iterable(a), np.iterable(a.shape), np.iterable([a]), np.iterable(3.0), np.iterable("ab")),
        [X(3), X()],
        order=0,
    ),
    Row(
        "numpy.real numpy.imag numpy.copy",
        lambda a: (np.real(a), np.imag(a), np.copy(a)),
        [X(3), X(2, 3)],
        f"float64 {COMPLEX}",
    ),
]

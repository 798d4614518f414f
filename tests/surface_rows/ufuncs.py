"""Ufuncs: out, where, dtype, casting; reduce, accumulate, outer, at, reduceat; functions of single numbers."""

from __future__ import annotations

import numpy as np

from surface import ALL, COMPLEX, FLOATS, INTS, NUMBERS, B, N, P, Row, S, X

PAIR = [(X(2, 3), X(2, 3)), (X(2, 3), X(3)), (X(2, 1), X(3)), (X(0, 3), X(1, 3))]
ODD = ("nan", "inf", "ties", "zero")


def into(a, b, c):
    r = np.add(a, b, out=c)
    np.multiply(c, a, c)
    np.subtract(c, 1, out=(c,))
    return r * 3, c * 2


def into_itself(a):
    np.multiply(a, 2, a)
    np.sqrt(a, out=a)
    np.add(a[0], a[1], out=a[1])
    np.exp(a[:, 1:], out=a[:, :-1])
    return a


def into_overlap(a):
    np.add(a[1:], a[:-1], out=a[1:])
    return a


def into_masked(a, m, c):
    np.sqrt(a, out=c, where=m)
    np.negative(c, out=c, where=[True, False, True])
    return c


def masked_alone(a, m):
    return np.add(a, 1, where=m) * m


def in_dtype(a):
    return np.add(a, 1, dtype=np.float32), np.sqrt(np.arange(4), dtype=np.float32), np.multiply(a, a, dtype=float)


def into_ints(a, n):
    np.add(a, 1.5, out=n, casting="unsafe")
    return n


def tested_into(a, m, f):
    return np.isnan(a, out=m), np.greater(a, 0, out=f)


def at_indices(a, i):
    np.add.at(a, i, 2)
    np.multiply.at(a, (i, 2), a[0, :3])
    np.negative.at(a, [0, 0, 1])
    np.maximum.at(a, (0, i), 1)
    np.add.at(a, (slice(None), [0, 0]), a[:, :2])
    return a


def at_others(a, i, b):
    np.subtract.at(a, (Ellipsis, i), b)
    np.add.at(a, a > 0, 1)
    np.add.at(a, 1, 2)
    np.square.at(a, (0, 0))
    return a


def reduced_into(a, c):
    np.add.reduce(a, out=c)
    np.hypot.reduce(a, initial=2.0, out=c)
    return c * 2


def quiet(a):
    with np.errstate(divide="ignore", all="ignore"):
        b = 1.0 / a
    return b


@np.vectorize
def leaky(x):
    return x if x > 0 else 0.5 * x


def folded(x, y):
    if x > y:
        return x - y
    return x * y


def vectorized(a, b):
    return leaky(a), np.vectorize(folded)(a, b), np.vectorize(lambda x: x**2)(a), np.vectorize(folded)(a[0], 2.0)


def along(a):
    return (np.apply_along_axis(lambda r: r.sum(), 1, a), np.apply_along_axis(lambda r: r * r[0], 0, a),
            np.apply_along_axis(np.sum, -1, a),
        np.apply_along_axis(lambda r, k: np.outer(r, r) * k, 1, a, 2.0))  # fmt: skip




def N8(*shape):
    """Bytes."""
    return X(*shape, low=0, high=255, dtype="uint8")


KEYWORDS = [
    Row("numpy.add numpy.multiply numpy.subtract", into,
        [(X(2, 3), X(3), X(2, 3)), (X(2), X(2), X(3)), (X(2), X(2), X(1))],
        NUMBERS, wrt=(0, 1), layouts=(), message=False),
    Row("numpy.multiply numpy.sqrt numpy.exp", into_itself, [P(3, 4)], FLOATS),
    Row("numpy.add", into_overlap, [X(5), X(3, 2)], NUMBERS),
    Row("numpy.sqrt numpy.negative", into_masked, [(P(2, 3), B(2, 3), X(2, 3)), (P(2, 3), B(3), X(2, 3))], FLOATS,
        layouts=()),
    Row("numpy.add", masked_alone, [(X(2, 3), B(2, 3)), (X(2, 3), B(2, 1))], FLOATS),
    Row("numpy.add numpy.sqrt numpy.multiply", in_dtype, [X(3)], "float64 float32 int64", slope=1e-2),
    Row("numpy.add", into_ints, [(X(3), N(3))], FLOATS, order=0, layouts=()),
    Row("numpy.add", lambda a, n: np.add(a, 1.5, out=n), [(X(3), N(3))], order=0, layouts=()),
    Row("numpy.add", lambda a: np.add(a, 1, dtype=np.float32, casting="no"), [X(3)], "float64", order=0),
    Row("numpy.isnan numpy.greater", tested_into, [(X(3), B(3), X(3))], FLOATS, order=0, layouts=(), specials=("nan",)),
    Row("numpy.errstate", quiet, [P(3)], FLOATS),
]  # fmt: skip

METHODS = [
    Row("numpy.add.reduce numpy.multiply.reduce numpy.maximum.reduce numpy.minimum.reduce",
        lambda a: (np.add.reduce(a), np.multiply.reduce(a, axis=-1), np.maximum.reduce(a, axis=None),
                   np.minimum.reduce(a, axis=(0, 1)), np.add.reduce(a, keepdims=True)), [X(2, 3), X(2, 3, 2)], NUMBERS),
    Row("numpy.hypot.reduce numpy.subtract.reduce numpy.logaddexp.reduce numpy.divide.reduce",
        lambda a: (np.hypot.reduce(a), np.subtract.reduce(a, axis=-1), np.logaddexp.reduce(a, axis=None),
                   np.divide.reduce(a, 0, keepdims=True)), [P(2, 3), P(2, 3, 2), P(3, 1)], FLOATS),
    Row("numpy.fmax.reduce numpy.fmin.reduce numpy.power.reduce",
        lambda a: (np.fmax.reduce(a), np.fmin.reduce(a, None), np.power.reduce(a[:2])), [P(3, 2)], FLOATS),
    Row("numpy.bitwise_xor.reduce numpy.bitwise_and.reduce numpy.bitwise_or.reduce numpy.logical_xor.reduce",
        lambda n: (np.bitwise_xor.reduce(n), np.bitwise_and.reduce(n, 1), np.bitwise_or.reduce(n, None),
                   np.logical_xor.reduce(n > 2), np.logical_and.reduce(n, 1), np.logical_or.reduce(n)),
        [N(2, 3, high=9), N(0, 3), N(3, 0)], order=0),
    Row("numpy.subtract.reduce numpy.logaddexp.reduce", lambda a: (np.logaddexp.reduce(a), np.subtract.reduce(a)),
        [X(0), X(0, 2)],
        order=0),
    Row("numpy.subtract.reduce", lambda a: np.subtract.reduce(a, axis=(0, 1)), [X(2, 2)], order=0),
    Row("numpy.add.reduce numpy.hypot.reduce", reduced_into, [(P(2, 3), X(3))], FLOATS, wrt=(0,), layouts=()),
    Row("numpy.add.accumulate numpy.multiply.accumulate numpy.maximum.accumulate",
        lambda a: (np.add.accumulate(a), np.multiply.accumulate(a, 1), np.maximum.accumulate(a, axis=-1)),
        [X(2, 3), X(2, 3, 2), X(0, 2)], ALL),
    Row("numpy.hypot.accumulate numpy.subtract.accumulate numpy.minimum.accumulate",
        lambda a: (np.hypot.accumulate(a, -1), np.subtract.accumulate(a), np.minimum.accumulate(a)), [P(4), P(2, 3)],
        FLOATS),
    Row("numpy.add.outer numpy.multiply.outer numpy.hypot.outer numpy.less.outer",
        lambda a, b: (np.add.outer(a, b), np.multiply.outer(b, b), np.less.outer(b, a), np.hypot.outer(b, a)),
        [(P(2, 3), P(2)), (P(2), P(0)), (S(), P(2))], NUMBERS),
    Row("numpy.add.at numpy.multiply.at numpy.negative.at numpy.maximum.at", at_indices, [(X(3, 4), N(3))], NUMBERS,
        layouts=()),
    Row("numpy.add.at numpy.subtract.at numpy.square.at", at_others, [(X(3, 4), N(3), X(3))], NUMBERS, layouts=()),
    Row("numpy.add.at", lambda a, i: np.add.at(a, i, 1), [(X(3), np.array([1, 3]))], order=0, layouts=()),
    Row("numpy.add.reduceat numpy.multiply.reduceat numpy.maximum.reduceat",
        lambda a: (np.add.reduceat(a, [0, 2, 1]), np.multiply.reduceat(a, [0, 1, 3], axis=1),
        np.maximum.reduceat(a[0], [1, 0])),
        [X(3, 4)], NUMBERS),
    Row("numpy.add.reduceat", lambda a: np.add.reduceat(a, [0, 5]), [X(3)], order=0),
    Row("numpy.vectorize", vectorized, [(X(2, 3), X(3)), (X(2), S())], "float64", specials=("zero",)),
    Row("numpy.vectorize", lambda a: np.vectorize(folded)(a, 1.0), [X(0)], order=0),
    Row("numpy.apply_along_axis", along, [X(2, 3)], FLOATS),
    Row("numpy.apply_over_axes", lambda a: (np.apply_over_axes(np.sum, a, [0, 2]), np.apply_over_axes(np.max, a, (1,))),
        [X(2, 3, 2)], NUMBERS),
]  # fmt: skip

SINGLE = [
    Row("numpy.fmax numpy.fmin", lambda a, b: (np.fmax(a, b), np.fmin(a, b), np.fmax(a, 1), np.fmin(0, b)), PAIR,
        ALL, specials=ODD),
    Row("numpy.heaviside", lambda a, b: (np.heaviside(a, b), np.heaviside(a, 0.5)), PAIR, NUMBERS, specials=ODD),
    Row("numpy.signbit numpy.fix numpy.spacing", lambda a: (np.signbit(a), np.fix(a), np.spacing(a)),
        [X(5), X(2, 3), S()], FLOATS,
        specials=ODD, order=1),
    Row("numpy.signbit numpy.fix numpy.bitwise_count", lambda a: (np.signbit(a), np.fix(a), np.bitwise_count(a)),
        [X(5), S()], INTS,
        order=0),
    Row("numpy.modf", lambda a: np.modf(a), [X(5), X(2, 3), X(0), S()], FLOATS, specials=ODD),
    Row("numpy.frexp", lambda a: np.frexp(a), [X(5), X(2, 3), S()], FLOATS, specials=ODD, order=0),
    Row("numpy.frexp", lambda a: np.frexp(a)[0] * 2, [X(5)], "float64"),
    Row("numpy.ldexp", lambda a, n: (np.ldexp(a, n), np.ldexp(a, 3), np.ldexp(a, -1070)),
        [(X(5), N(5, low=-3, high=9)), (S(), N())],
        FLOATS, specials=ODD),
    Row("numpy.gcd numpy.lcm", lambda a, b: (np.gcd(a, b), np.lcm(a, b), np.gcd(a, 12)),
        [(X(2, 3, low=-30, high=30), X(3, low=-9, high=9)), (X(3), X(3))], INTS, order=0),
    Row("numpy.divmod", lambda a, b: np.divmod(a, b), [(X(5), P(5)), (X(2, 3), P(3))], NUMBERS),
    Row("numpy.logaddexp2", lambda a, b: np.logaddexp2(a, b), PAIR, NUMBERS, specials=("inf", "nan", "ties")),
    Row("numpy.round ndarray.round numpy.around", lambda a: (np.round(a, 1), a.round(2), np.around(a), np.round(a, -1)),
        [X(5), X(2, 3)], f"{NUMBERS} complex128", specials=("nan", "inf"), order=0),
    Row("numpy.round", lambda a: np.round(a * 9, -1), [X(9)], INTS, order=0),
    Row("numpy.nan_to_num",
        lambda a: (np.nan_to_num(a), np.nan_to_num(a, nan=1.0, posinf=5.0), np.nan_to_num(a, copy=True)),
        [X(5), X(2, 3), S()], f"{NUMBERS} complex128", specials=ODD),
    Row("numpy.isposinf numpy.isneginf", lambda a: (np.isposinf(a), np.isneginf(a)), [X(5), S()], FLOATS,
        specials=ODD, order=0),
    Row("numpy.isclose numpy.allclose",
        lambda a, b: (np.isclose(a, b), np.isclose(a, a + 1e-9), np.allclose(a, b, rtol=9, atol=1)),
        PAIR, f"{ALL} complex128", specials=ODD, order=0),
    Row("numpy.isclose numpy.allclose",
        lambda a: (np.isclose(a, a, equal_nan=True), np.allclose(a, a), np.isclose(a, [0, 1])),
        [X(2)], FLOATS, specials=ODD, order=0),
    Row("numpy.array_equal numpy.array_equiv",
        lambda a, b: (np.array_equal(a, b), np.array_equal(a, a), np.array_equiv(a, b), np.array_equal(a, a,
        equal_nan=True)),
        [*PAIR, (X(2), X(3))], NUMBERS, specials=ODD, order=0),
    Row("numpy.isreal numpy.iscomplex numpy.isrealobj numpy.iscomplexobj numpy.isscalar",
        lambda a: (np.isreal(a), np.iscomplex(a), np.isrealobj(a), np.iscomplexobj(a), np.isscalar(a),
        np.isscalar(2.0)), [X(3)],
        f"{NUMBERS} {COMPLEX}", order=0),
    Row("numpy.real_if_close", lambda a: np.real_if_close(a) * 2, [X(3)], FLOATS),
    Row("numpy.real_if_close", lambda z: np.real_if_close(z), [X(3), X(2, 2)], COMPLEX),
    Row("numpy.real_if_close", lambda a: (np.real_if_close(a + 1e-15j), np.real_if_close(a + 1e-3j, 0.01)), [X(3)],
        "float64"),
    Row("numpy.packbits", lambda a: (np.packbits(a), np.packbits(a, 0), np.packbits(a, axis=-1, bitorder="little")),
        [X(11), X(3, 9), X(2, 0), X(2, 3, 4)], f"bool {INTS}", order=0, layouts=()),
    Row("numpy.packbits", lambda a: np.packbits(a), [X(3)], "float64", order=0),
    Row("numpy.unpackbits", lambda a: (np.unpackbits(a), np.unpackbits(a, 0), np.unpackbits(a, axis=-1, count=-3),
        np.unpackbits(a, -1, 11, "little")), [N8(3), N8(2, 3), N8(2, 2, 2)], order=0),
    Row("numpy.unpackbits", lambda a: np.unpackbits(a), [N(3)], order=0),
]  # fmt: skip

ROWS = [*KEYWORDS, *METHODS, *SINGLE]

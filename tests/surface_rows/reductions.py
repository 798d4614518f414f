"""Reductions: sums, products, means, extremes, over all elements and along axes."""

from __future__ import annotations

import numpy as np

from surface import ALL, FLOATS, NUMBERS, B, Row, S, X

NAN = ("nan", "inf", "ties")
RANKS = [X(5), X(2, 3), X(2, 3, 4), X(2, 1, 3, 2)]
EMPTY = [X(0), X(3, 0), X(0, 2, 3)]
WIDE = [X(2, 3), X(3, 1), X(2, 3, 4), X(0, 3), X(3, 0)]
DEEP = [X(2, 3, 4), X(2, 1, 3, 2), X(2, 0, 3)]
NUMBER = [X(), S()]


def sum_into(a, out):
    r = np.sum(a, axis=0, out=out)
    return r * 2.0


def total_in_float32(a):
    return np.sum(a, dtype=np.float32), np.mean(a, axis=0, dtype=np.float64)


ROWS = [
    Row("numpy.sum ndarray.sum", lambda a: (np.sum(a), a.sum()), [*RANKS, *EMPTY, *NUMBER[:1]], ALL, specials=NAN),
    Row("numpy.sum", lambda a: np.sum(a), NUMBER, NUMBERS),
    Row("numpy.sum ndarray.sum", lambda a: a.sum(axis=0), [X(5), *WIDE], ALL, specials=NAN),
    Row("numpy.sum", lambda a: np.sum(a, axis=-1, keepdims=True), [X(5), *WIDE], ALL),
    Row("numpy.sum", lambda a: np.sum(a, axis=(0, 2)), DEEP, ALL),
    Row("numpy.sum", lambda a: np.sum(a, (-1, 1), keepdims=True), DEEP, FLOATS),
    Row("numpy.sum", lambda a: np.sum(a, axis=()), WIDE, ALL),
    Row("numpy.sum", lambda a: np.sum(a, axis=2), [X(2, 3)]),
    Row("numpy.sum", lambda a: np.sum([a, a], axis=0), [X(2)]),
    Row("numpy.sum numpy.mean", total_in_float32, [X(3, 2)], NUMBERS, slope=1e-3),
    Row(
        "numpy.sum", lambda a, w: np.sum(a, axis=1, where=w, initial=2), [(X(2, 3), B(2, 3)), (X(3, 4), B(4))], NUMBERS
    ),
    Row("numpy.sum", sum_into, [(X(2, 3), X(3)), (X(2, 3), X(3, dtype="float64"))], FLOATS, wrt=(0,), layouts=()),
    Row(
        "numpy.prod ndarray.prod", lambda a: (np.prod(a), a.prod(axis=-1)), [X(5), *WIDE], ALL, specials=(*NAN, "zero")
    ),
    Row("numpy.prod", lambda a: np.prod(a, axis=0, keepdims=True), [X(5), *WIDE], NUMBERS, specials=("zero",)),
    Row("numpy.prod", lambda a: np.prod(a, axis=(0, 2)), DEEP),
    Row("numpy.prod", lambda a, w: np.prod(a, axis=1, where=w, initial=3), [(X(2, 3), B(2, 3))], NUMBERS),
    Row("numpy.mean ndarray.mean", lambda a: (np.mean(a), a.mean(axis=0)), [X(5), *WIDE], ALL, specials=NAN),
    Row("numpy.mean", lambda a: np.mean(a, axis=(0, 1), keepdims=True), DEEP, NUMBERS),
    Row(
        "numpy.mean",
        lambda a, w: np.mean(a, axis=0, where=w),
        [(X(2, 3), B(2, 3)), (X(4, 2), B(4, 1))],
        NUMBERS,
        specials=NAN,
    ),
    Row("numpy.mean numpy.var numpy.std", lambda a: (np.mean(a), np.var(a), np.std(a)), NUMBER, NUMBERS, order=1),
    Row("numpy.var ndarray.var", lambda a: (np.var(a), a.var(axis=0)), [X(5), *WIDE], ALL, specials=NAN),
    Row(
        "numpy.var", lambda a: np.var(a, axis=-1, ddof=1, keepdims=True), [X(5), X(2, 3), X(2, 3, 4), X(3, 0)], NUMBERS
    ),
    Row("numpy.var", lambda a: np.var(a, ddof=1), NUMBER, NUMBERS, order=0),
    Row("numpy.var", lambda a: np.var(a, axis=(0, 2), ddof=0.5), DEEP),
    Row("numpy.var", lambda a, w: np.var(a, axis=0, where=w), [(X(4, 3), B(4, 3))], NUMBERS),
    Row(
        "numpy.var",
        lambda a: np.var(a, axis=1, mean=np.mean(a, axis=1, keepdims=True), correction=1),
        [X(3, 4)],
        FLOATS,
    ),
    Row(
        "numpy.std ndarray.std",
        lambda a: (np.std(a), a.std(axis=0)),
        [X(5), X(2, 3), X(2, 3, 4)],
        NUMBERS,
        specials=("nan", "inf"),
    ),
    Row("numpy.std", lambda a: np.std(a, axis=-1, ddof=1, keepdims=True), [X(5), X(2, 3), X(2, 3, 4)], ALL),
    Row(
        "numpy.max numpy.amax ndarray.max",
        lambda a: (np.max(a), a.max(axis=-1), np.amax(a, axis=0)),
        [X(5), X(2, 3), X(2, 3, 4)],
        ALL,
        specials=NAN,
    ),
    Row(
        "numpy.min numpy.amin ndarray.min",
        lambda a: (np.min(a), a.min(axis=-1), np.amin(a, axis=0)),
        [X(5), X(2, 3), X(2, 3, 4)],
        ALL,
        specials=NAN,
    ),
    Row(
        "numpy.max numpy.min",
        lambda a: (np.max(a, axis=1, keepdims=True), np.min(a, keepdims=True)),
        [X(2, 3), X(2, 3, 4)],
        ALL,
    ),
    Row("numpy.max numpy.min", lambda a: (np.max(a, axis=(0, 2)), np.min(a, axis=(0, 1))), DEEP[:2], NUMBERS),
    Row("numpy.max", lambda a: np.max(a, axis=0), [X(0, 3), X(3, 0), X(0)], NUMBERS),
    Row("numpy.min", lambda a: np.min(a), [X(0, 3), X(3, 0), X(), S()], NUMBERS, order=1),
    Row(
        "numpy.max",
        lambda a, w: np.max(a, axis=0, where=w, initial=-1),
        [(X(4, 3), B(4, 3)), (X(0, 3), B(3))],
        NUMBERS,
        specials=NAN,
    ),
    Row("numpy.min", lambda a: np.min(a, axis=1, initial=0.25), [X(4, 3), X(4, 0)], FLOATS, specials=NAN),
    Row("numpy.max", lambda a, w: np.max(a, where=w), [(X(3), B(3))]),
    Row(
        "numpy.any ndarray.any",
        lambda a: (np.any(a), a.any(axis=-1), np.any(a, axis=0, keepdims=True)),
        [X(5), *WIDE],
        ALL,
        order=0,
        specials=(*NAN, "zero"),
    ),
    Row(
        "numpy.all ndarray.all",
        lambda a: (np.all(a), a.all(axis=-1), np.all(a, axis=0, keepdims=True)),
        [X(5), *WIDE],
        ALL,
        order=0,
        specials=(*NAN, "zero"),
    ),
    Row(
        "numpy.any numpy.all",
        lambda a, w: (np.any(a, where=w), np.all(a, axis=0, where=w)),
        [(X(3, 2), B(3, 2))],
        ALL,
        order=0,
    ),
    Row("numpy.any numpy.all", lambda a: (np.any(a), np.all(a)), NUMBER, ALL, order=0),
    Row(
        "numpy.argmax ndarray.argmax",
        lambda a: (np.argmax(a), a.argmax(axis=-1), np.argmax(a, axis=0, keepdims=True)),
        [X(5), X(2, 3), X(2, 3, 4)],
        ALL,
        order=0,
        specials=NAN,
    ),
    Row(
        "numpy.argmin ndarray.argmin",
        lambda a: (np.argmin(a), a.argmin(axis=-1), np.argmin(a, axis=0, keepdims=True)),
        [X(5), X(2, 3), X(2, 3, 4)],
        ALL,
        order=0,
        specials=NAN,
    ),
    Row("numpy.argmax", lambda a: np.argmax(a, axis=0), [X(0), X(0, 3), X(3, 0)], order=0),
    Row("numpy.sum", lambda a: np.sum(a, axis=(0, 0)), [X(2, 3)]),
]

"""Sorting, searching, sets."""

from __future__ import annotations

import numpy as np

from surface import ALL, COMPLEX, FLOATS, INTS, NUMBERS, N, Row, S, X

SPECIAL = ("nan", "inf", "ties")
RANKS = [X(5), X(2, 3), X(2, 3, 4), X(2, 1, 3, 2), X(0), X(3, 0)]
LONG = [X(50), X(3, 40)]


def sorted_in_place(a, b):
    a.sort()
    b.sort(axis=0)
    return a * 2.0, b


def sorted_view(a):
    a[1:-1].sort()
    return a * a


def partitioned(a):
    p = np.partition(a, 2)
    return p[..., 2], np.sort(p[..., :2]), np.sort(p[..., 3:])


def argpartitioned(a):
    p = np.argpartition(a, (1, -2), axis=-1)
    return np.take_along_axis(a, p, -1)[..., 1], np.sort(p)


ROWS = [
    Row("numpy.sort", lambda a: np.sort(a), RANKS, ALL, specials=SPECIAL),
    Row("numpy.sort", lambda a: np.sort(a, axis=0), [X(5), X(3, 2), X(3, 4, 2), X(0, 3)], NUMBERS, specials=SPECIAL),
    Row(
        "numpy.sort",
        lambda a: np.sort(a, axis=None, kind="stable"),
        [X(2, 3), X(2, 2, 2), X()],
        FLOATS,
        specials=SPECIAL,
    ),
    Row("numpy.sort", lambda a: np.sort(a, axis=-1), LONG, NUMBERS, specials=SPECIAL),
    Row("ndarray.sort", sorted_in_place, [(X(5), X(3, 2)), (X(0), X(0, 3))], FLOATS, layouts=()),
    Row("ndarray.sort", sorted_view, [X(6)], NUMBERS, layouts=()),
    Row(
        "numpy.argsort ndarray.argsort",
        lambda a: (np.argsort(a, kind="stable"), a.argsort(axis=0, kind="stable")),
        [*RANKS, *LONG],
        ALL,
        order=0,
        specials=SPECIAL,
    ),
    Row(
        "numpy.argsort", lambda a: np.argsort(a, axis=1, stable=True), [X(2, 3, 4)], NUMBERS, order=0, specials=SPECIAL
    ),
    Row("numpy.argsort", lambda a: a[np.argsort(-a)] * np.arange(5), [X(5)], FLOATS),
    Row("numpy.partition", partitioned, [X(6), X(2, 5), X(2, 2, 4)], NUMBERS, specials=("ties",)),
    Row("numpy.argpartition", argpartitioned, [X(6), X(2, 5)], NUMBERS, order=0),
    Row("numpy.partition", lambda a: np.partition(a, 7), [X(5)]),
    Row("numpy.lexsort", lambda a, b: np.lexsort((a, b)), [(X(6), N(6))], NUMBERS, order=0, specials=SPECIAL),
    Row("numpy.lexsort", lambda a: np.lexsort(a), [X(3, 6)], NUMBERS, order=0, specials=SPECIAL),
    Row(
        "numpy.searchsorted ndarray.searchsorted",
        lambda a, v: (np.searchsorted(np.sort(a), v), np.sort(a).searchsorted(v, side="right")),
        [(X(6), X(4)), (X(6), X(2, 3)), (X(0), X(3)), (X(5), S()), (X(5), X(2, 0))],
        NUMBERS,
        order=0,
        specials=SPECIAL,
    ),
    Row(
        "numpy.searchsorted", lambda a, v: np.searchsorted(a, v, sorter=np.argsort(a)), [(X(6), X(4))], NUMBERS, order=0
    ),
    Row("numpy.searchsorted", lambda v: np.searchsorted([0, 1, 2], v, "left"), [X(5), S()], NUMBERS, order=0),
    Row(
        "numpy.digitize",
        lambda x, b: (np.digitize(x, np.sort(b)), np.digitize(x, np.sort(b)[::-1], right=True)),
        [(X(6), X(4)), (X(2, 3), X(3)), (S(), X(4))],
        NUMBERS,
        order=0,
        specials=("nan", "ties"),
    ),
    Row("numpy.digitize", lambda x: np.digitize(x, np.array([0.0, 2.0, 1.0])), [X(3)], order=0),
    Row("numpy.unique", lambda a: np.unique(a), [X(6), X(2, 3), X(0), X()], ALL, specials=SPECIAL),
    Row("numpy.unique", lambda a: np.unique(a, True, True, True), [X(6), X(2, 3), X(0)], NUMBERS, specials=SPECIAL),
    Row("numpy.unique", lambda a: np.unique(a, return_counts=True, equal_nan=False), [X(6)], NUMBERS, specials=SPECIAL),
    Row("numpy.unique", lambda a: np.unique(a, return_inverse=True)[1], [X(7), X(2, 2, 2)], INTS, order=0),
    Row("numpy.unique", lambda a: np.unique(np.round(a), axis=0), [X(6, 2), X(4, 2, 2), X(3), X(0, 2), X(3, 0)], ALL,
        order=0, specials=SPECIAL),
    Row("numpy.unique", lambda a: np.unique(a, True, True, True, axis=1), [X(2, 5), X(2, 3, 2)], NUMBERS,
        specials=SPECIAL),
    Row("numpy.unique_values", lambda a: np.sort(np.unique_values(a)), [X(6)], NUMBERS, specials=("ties",)),
    Row("numpy.unique_all", lambda a: np.unique_all(a), [X(6), X(2, 3)], NUMBERS, specials=("ties",)),
    Row("numpy.unique_counts", lambda a: np.unique_counts(a).counts, [X(6)], INTS, order=0),
    Row("numpy.unique_inverse", lambda a: np.unique_inverse(np.round(a)), [X(6), X(2, 3)], FLOATS, order=0),
    Row("numpy.union1d", lambda a, b: np.union1d(a, b), [(X(4), X(3)), (X(2, 2), N(3))], NUMBERS, specials=("ties",)),
    Row(
        "numpy.setdiff1d", lambda a, b: np.setdiff1d(a, b), [(X(6), X(3)), (X(2, 2), N(3))], NUMBERS, specials=("ties",)
    ),
    Row("numpy.setdiff1d numpy.intersect1d", lambda a, b: (np.setdiff1d(a, b, True),
        np.intersect1d(np.sort(a)[:3], np.sort(a)[2:], assume_unique=True)), [(X(6), X(3))], FLOATS),
    Row("numpy.setxor1d", lambda a, b: np.setxor1d(a, b), [(X(6), X(3)), (X(2, 2), N(3))], NUMBERS, specials=("ties",)),
    Row(
        "numpy.intersect1d",
        lambda a, b: np.intersect1d(a, b),
        [(X(6), X(6)), (N(5), N(7))],
        NUMBERS,
        order=0,
        specials=("ties",),
    ),
    Row(
        "numpy.intersect1d",
        lambda a, b: np.intersect1d(a, b, return_indices=True),
        [(N(8), N(5)), (X(4), X(4))],
        INTS,
        order=0,
    ),
    Row(
        "numpy.isin",
        lambda a, b: (np.isin(a, b), np.isin(a, b, invert=True)),
        [(X(2, 3), X(4)), (S(), N(3)), (X(3), X(0))],
        NUMBERS,
        order=0,
        specials=SPECIAL,
    ),
    Row(
        "numpy.sort", lambda a: (np.sort(a), np.sort(np.round(a), axis=0)), [X(5), X(3, 4)], COMPLEX, specials=("nan",)
    ),
    Row("numpy.argsort", lambda a: np.argsort(a, axis=0, kind="stable"), [X(5), X(3, 4)], COMPLEX, order=0),
    Row("numpy.sort_complex", lambda a: np.sort_complex(a), [X(5)], f"{COMPLEX} float64 int64", specials=("nan",)),
]

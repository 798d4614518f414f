"""Complex arrays: orders, sets, medians, averages, covariances, differences, and lists of them that grow."""

from __future__ import annotations

import numpy as np

from surface import COMPLEX, P, Row, X

NAN = ("nan",)
TIES = ("ties", "nan")
RANKS = [X(5), X(2, 3), X(2, 3, 4)]


def sorted_in_place(a):
    b, c, d = a.copy(), a.copy(), a.T.copy()
    b.sort()
    c.sort(axis=0)
    d[0].sort()
    return b, c, d


def partitioned_in_place(a):
    b = a.copy()
    b.partition(1)
    return b[..., 1]


def run_time_list(a):
    rows = []
    for k in range(len(a)):
        rows.append(a * (k + 1j))
    return rows


def joined(a):
    rows = run_time_list(a)
    return np.concatenate(rows), np.concatenate(rows, axis=1), np.vstack(rows), np.hstack(rows), np.dstack(rows)


def lines_joined(a):
    rows = run_time_list(a)
    return (np.concatenate(rows), np.vstack(rows), np.hstack(rows), np.dstack(rows), np.column_stack(rows),
            np.stack(rows, axis=1), np.array(rows))  # fmt: skip


def two_of_each(f):
    return lambda a, b: f(np.concatenate((a, b)), np.concatenate((b, a[::-1] * 2)))


ROWS = [
    Row("ndarray.sort", sorted_in_place, [X(2, 3), X(4, 4)], COMPLEX, specials=NAN),
    Row("ndarray.partition", partitioned_in_place, [X(5), X(2, 3)], COMPLEX),
    Row("numpy.partition", lambda a: (np.partition(a, 1)[..., 1], np.partition(a, (0, 1), axis=0)[:2]), RANKS,
        COMPLEX),
    Row("numpy.argpartition", lambda a: np.argpartition(a, 1, axis=-1)[..., 1], RANKS, COMPLEX, order=0),
    Row("numpy.sort numpy.argsort", lambda a: (np.sort(a), np.argsort(a, axis=0), np.sort(a, axis=None)), RANKS,
        COMPLEX, specials=TIES),
    Row("numpy.unique", lambda a: np.unique(a), [X(6), X(2, 3), X(0)], COMPLEX, specials=TIES),
    Row("numpy.unique",
        lambda a: np.unique(a, return_index=True, return_inverse=True, return_counts=True), [X(6), X(2, 3), X(0)],
        COMPLEX, specials=TIES),
    Row("numpy.unique", lambda a: np.unique(a, return_counts=True, equal_nan=False), [X(6)], COMPLEX, specials=TIES),
    Row("numpy.unique_counts numpy.unique_all numpy.unique_inverse",
        lambda a: (tuple(np.unique_counts(a)), tuple(np.unique_all(a)), tuple(np.unique_inverse(a))), [X(6)], COMPLEX,
        specials=TIES),
    Row("numpy.searchsorted",
        lambda a, v: (np.searchsorted(np.sort(a), v), np.searchsorted(a, v, side="right", sorter=np.argsort(a))),
        [(X(6), X(2, 3)), (X(6), 1 + 0.5j), (X(0), X(2))], COMPLEX, order=0, specials=TIES),
    Row("numpy.lexsort", lambda a, b: np.lexsort((a, np.round(b.real))), [(X(5), X(5))], COMPLEX, order=0,
        specials=TIES),
    Row("numpy.isin", lambda a, b: (np.isin(a, a[:1]), np.isin(a, b, invert=True), np.isin(a.real, a)),
        [(X(4), X(3)), (X(2, 3), X(2)), (X(0), X(2))], COMPLEX, order=0, specials=TIES),
    Row("numpy.union1d numpy.setxor1d",
        two_of_each(lambda a, b: (np.union1d(a, b), np.setxor1d(a, b))), [(X(3), X(4)), (X(0), X(2))], COMPLEX,
        specials=TIES),
    Row("numpy.setdiff1d numpy.intersect1d",
        two_of_each(lambda a, b: (np.setdiff1d(a, b), np.setdiff1d(a, b, assume_unique=True), np.intersect1d(a, b),
                                  np.intersect1d(a, b, return_indices=True)[1])),
        [(X(3), X(4)), (X(0), X(2))], COMPLEX),
    Row("numpy.maximum numpy.minimum numpy.fmax numpy.fmin",
        lambda a, b: (np.maximum(a, b), np.minimum(a, b), np.fmax(a, b), np.fmin(a, b), np.maximum(a, 0.5),
                      np.fmin(b.real, a)), [(X(5), X(5)), (X(2, 3), X(3))], COMPLEX, specials=NAN),
    Row("numpy.clip ndarray.clip",
        lambda a, b: (np.clip(a, -1 - 1j, 1), np.clip(a, None, b), a.clip(0.5), np.clip(a.real, b, None)),
        [(X(5), X(5)), (X(2, 3), X(3))], COMPLEX, specials=NAN),
    Row("numpy.median", lambda a: (np.median(a), np.median(a, axis=0), np.median(a, axis=-1, keepdims=True)),
        [X(4), X(5), X(2, 3), X(2, 3, 4)], COMPLEX, specials=NAN),
    Row("numpy.nanmedian", lambda a: (np.nanmedian(a), np.nanmedian(a, axis=0)), [X(5), X(3, 3)], COMPLEX,
        specials=NAN),
    Row("numpy.nanargmax numpy.nanargmin",
        lambda a: (np.nanargmax(a), np.nanargmin(a), np.nanargmax(a, axis=-1), np.nanargmin(a, axis=0)),
        [X(5), X(3, 3)], COMPLEX, order=0, specials=TIES),
    Row("numpy.average",
        lambda a, w: (np.average(a, axis=0), np.average(a, axis=-1, weights=w), np.average(a, returned=True),
                      np.average(a, axis=-1, weights=w.real, returned=True, keepdims=True)),
        [(X(4), P(4)), (X(2, 3), P(3)), (X(2, 3), P(2, 3))], COMPLEX),
    Row("numpy.average", lambda a: np.average(a, weights=a - a), [X(4)], COMPLEX, order=0),
    Row("numpy.average", lambda a, w: np.average(a.real, weights=w), [(X(4), P(4))], COMPLEX),
    Row("numpy.cov",
        lambda a, b: (np.cov(a), np.cov(a, rowvar=False), np.cov(a, b), np.cov(a[0]), np.cov(a, ddof=0)),
        [(X(2, 4), X(4))], COMPLEX, layouts=()),
    Row("numpy.cov", lambda a: np.cov(a, fweights=[1, 2, 1, 3], aweights=[0.5, 1.0, 2.0, 1.5]), [X(2, 4)], COMPLEX,
        layouts=()),
    Row("numpy.corrcoef", lambda a: (np.corrcoef(a), np.corrcoef(a[0], a[1])), [X(2, 4), X(3, 5)], COMPLEX, layouts=(),
        slope=1e-5),
    Row("numpy.var numpy.std",
        lambda a: (np.var(a, dtype=np.float64), np.std(a, axis=0, ddof=1, dtype=float), a.var(axis=-1, dtype="f8")),
        [X(4), X(3, 4)], COMPLEX),
    Row("numpy.nanvar numpy.nanstd", lambda a: (np.nanvar(a, dtype=np.float64), np.nanstd(a, axis=-1, dtype=float)),
        [X(4), X(3, 4)], "complex128", specials=NAN),
    Row("numpy.gradient",
        lambda a: (np.gradient(a, axis=-1), np.gradient(a, 0.5, axis=0, edge_order=2),
                   np.gradient(a, np.array([0.0, 1.0, 1.5, 3.0]), axis=0)), [X(4), X(4, 3)], COMPLEX),
    Row("numpy.gradient", lambda a: np.gradient(a), [X(3), X(2, 3)], COMPLEX),
    Row("numpy.ediff1d", lambda a: (np.ediff1d(a), np.ediff1d(a, to_end=[1j, 2], to_begin=0.5)), RANKS[:2], COMPLEX),
    Row("numpy.trapezoid",
        lambda a, b: (np.trapezoid(a, axis=0), np.trapezoid(a, b), np.trapezoid(a.real, b), np.trapezoid(a, dx=2j)),
        [(X(4), X(4)), (X(2, 3), X(3)), (X(2, 3), X(2, 3))], COMPLEX),
    Row("numpy.interp",
        lambda a: (np.interp([0.5, 2.25, 9.0], np.arange(5), a), np.interp([-1.0, 9.0], np.arange(5.0), a, 1j, 2),
                   np.interp(7.3, np.arange(5.0), a, period=6), np.interp([[1.5]], np.arange(5), a)), [X(5)],
        COMPLEX),
    Row("numpy.histogram",
        lambda a: (np.histogram(np.arange(6.0), bins=3, weights=a)[0], np.histogram(np.arange(6), weights=a)[1]),
        [X(6)], COMPLEX),
    Row("numpy.concatenate numpy.vstack numpy.hstack numpy.dstack", joined, [X(2, 3), X(2, 3, 2)], COMPLEX,
        objects=True),
    Row("numpy.concatenate numpy.vstack numpy.hstack numpy.dstack numpy.column_stack numpy.stack numpy.array",
        lines_joined, [X(3)], COMPLEX, objects=True),
    Row("numpy.divide numpy.power",
        lambda a: (a / (a - a), 1.0 / (a - a), np.power(a - a, -1), (a - a) ** (1 + 1j), (a - a) ** -0.5, (a - a) ** 0),
        [X(3), X(2, 2)], COMPLEX, order=0),
    Row("numpy.exp numpy.divide numpy.power numpy.dot numpy.prod numpy.add",
        lambda a: (np.exp(1j) * a, np.divide(1j, 0j) * a, np.power(0j, -1) * a, np.dot(1j, 2) * a, np.prod(1j) * a,
                   np.add(1j, 2) * a, np.angle(1j) * a),
        [X(3)], "complex64", order=0, note="of Python's numbers as of NumPy's"),
    Row("numpy.add", lambda a: (a + 1, a / a, np.exp(a), -a, a == a, abs(a), a**2, np.conj(a)), [X()], COMPLEX,
        order=0),
]  # fmt: skip

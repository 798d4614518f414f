"""Reductions and running sums of complex arrays, out= of what is no ufunc, orders and shapes of new arrays."""

from __future__ import annotations

import numpy as np

from surface import COMPLEX, FLOATS, NUMBERS, B, P, Row, X

NAN = ("nan",)
RANKS = [X(5), X(2, 3), X(2, 3, 4)]


def trace_into(a, out):
    return np.trace(a, out=out) * 2, out + 1


def sum_into(a, out):
    return np.sum(a, axis=0, out=out), out * 2


def median_into(a, out):
    return np.median(a, axis=0, out=out), out * 2


def quantile_into(a, out):
    return np.quantile(a, [0.25, 0.5], axis=1, out=out), out * 2


def ptp_into(a, out):
    return np.ptp(a, axis=0, out=out), out * 2


def transform_into(a, out):
    return np.fft.fft(a, out=out), out * 2


ROWS = [
    Row(
        "numpy.sum numpy.mean",
        lambda a, w: (np.sum(a, axis=0, initial=1 - 2j), np.mean(a, axis=-1, where=w), np.sum(a, where=w, initial=2)),
        [(X(2, 3), B(2, 3)), (X(2, 3, 4), B(4))],
        COMPLEX,
    ),
    Row(
        "numpy.sum numpy.prod numpy.cumsum",
        lambda a: (np.sum(a, dtype=complex), np.prod(a, axis=0, dtype=complex), np.cumsum(a, dtype=np.complex64)),
        [X(4), X(2, 3)],
        "float64 int64",
        order=0,
    ),
    Row(
        "numpy.prod ndarray.prod",
        lambda a, w: (np.prod(a, where=w), a.prod(axis=-1, keepdims=True), np.prod(a, axis=(), initial=2 - 1j)),
        [(P(2, 3), B(2, 3)), (P(4), B(4))],
        COMPLEX,
    ),
    Row(
        "numpy.var numpy.std",
        lambda a, w: (np.var(a, axis=0, where=w), np.std(a, mean=np.mean(a, keepdims=True), ddof=1)),
        [(X(4, 3), np.array([[True], [False], [True], [True]]))],
        COMPLEX,
    ),
    Row(
        "numpy.nansum numpy.nanprod numpy.nanmean numpy.nanvar numpy.nanstd",
        lambda a: (np.nansum(a, axis=-1), np.nanprod(a), np.nanmean(a), np.nanvar(a, axis=0), np.nanstd(a)),
        RANKS[:2],
        COMPLEX,
        specials=NAN,
        slope=1e-5,
    ),
    Row(
        "numpy.nancumsum numpy.nancumprod numpy.cumulative_sum numpy.cumulative_prod",
        lambda a: (np.nancumsum(a), np.nancumprod(a, axis=0), np.cumulative_sum(a, axis=0, include_initial=True),
                   np.cumulative_prod(a, axis=-1, include_initial=True), np.cumulative_prod(a, axis=0)),
        RANKS[:2],
        COMPLEX,
        specials=NAN,
        slope=1e-5,
    ),
    Row(
        "numpy.max numpy.min numpy.amax numpy.amin numpy.nanmax numpy.nanmin numpy.ptp",
        lambda a: (np.max(a), np.min(a, axis=0), np.amax(a, axis=-1, keepdims=True), np.amin(a, axis=0, initial=0.5j),
                   np.nanmax(a, axis=0), np.nanmin(a), np.ptp(a, axis=-1)),
        RANKS,
        COMPLEX,
        specials=("nan", "ties"),
    ),
    Row("numpy.max numpy.min", lambda a, w: (np.max(a, axis=0, where=w, initial=-1), np.min(a, axis=1)),
        [(X(4, 3), B(4, 3)), (X(0, 3), B(3)), (X(3, 0), B(3, 1))], COMPLEX),
    Row(
        "numpy.argmax numpy.argmin",
        lambda a: (np.argmax(a), np.argmin(a, axis=-1), np.argmax(a, axis=0, keepdims=True)),
        RANKS,
        COMPLEX,
        order=0,
        specials=("nan", "ties"),
    ),
    Row("numpy.add.accumulate numpy.multiply.accumulate numpy.add.reduceat numpy.multiply.reduceat",
        lambda a: (np.add.accumulate(a), np.multiply.accumulate(a, axis=-1), np.add.reduceat(a, [0, 1], axis=0),
                   np.multiply.reduceat(a, [1, 0, 1], axis=0)), [X(4), X(2, 3)], COMPLEX),
    Row("numpy.subtract.reduce numpy.divide.reduce numpy.multiply.reduce",
        lambda a: (np.subtract.reduce(a), np.divide.reduce(a, axis=-1), np.multiply.reduce(a, axis=0)),
        [P(4), P(2, 3)], COMPLEX, slope=1e-5),
    Row("numpy.diff", lambda a: (np.diff(a, append=1), np.diff(a, prepend=1j)), [X(4), X(2, 3)], COMPLEX),
    Row("numpy.zeros_like numpy.ones_like numpy.full_like",
        lambda a: (np.zeros_like(a, dtype=np.float32), np.ones_like(a, dtype=np.int64),
                   np.full_like(a, 3, dtype=np.float64)), [X(2, 3)], COMPLEX, order=0),
    Row("numpy.trace", lambda a: (np.trace(a, dtype=np.float32), np.trace(a)), [X(3, 3)], COMPLEX, order=0),
    Row("numpy.trace", trace_into, [(X(3, 3), np.zeros(())), (X(3, 3, 2), np.zeros(2))], "float64", wrt=(0,),
        layouts=()),
    Row("numpy.sum", sum_into, [(X(3, 2), X(2))], COMPLEX, wrt=(0,), layouts=()),
    Row("numpy.median", median_into, [(X(3, 2), np.zeros(2))], NUMBERS, wrt=(0,), layouts=()),
    Row("numpy.quantile", quantile_into, [(X(3, 4), np.zeros((2, 3)))], FLOATS, wrt=(0,), layouts=()),
    Row("numpy.ptp", ptp_into, [(X(3, 2), X(2))], NUMBERS, wrt=(0,), layouts=()),
    Row("numpy.fft.fft", transform_into, [(X(4), np.zeros(4, complex))], "float64", wrt=(0,), layouts=()),
    Row("numpy.clip", lambda a: np.clip(a, -1, 1, dtype=np.float32), [X(4)], "float64 int64", order=0),
    Row("numpy.partition numpy.argpartition",
        lambda a: (np.partition(a, 1, kind="introselect"), np.argpartition(a, 0, kind="introselect")[0]), [X(4)],
        FLOATS),
    Row("numpy.zeros numpy.ones numpy.full numpy.zeros_like numpy.full_like numpy.ones_like",
        lambda a: (np.zeros((2, 3), order="F").ravel(order="K"), np.ones((2, 2), np.float32, "F"),
                   np.full((2, 3), 2.0, order="F"), np.zeros_like(a, shape=(2, 2)), np.full_like(a, 2, order="F"),
                   np.ones_like(a, order="C", shape=(4,))),
        [X(2, 3), X(4)], NUMBERS, order=0),
    Row("numpy.pad", lambda a: (np.pad(a, 1, mode="mean"), np.pad(a, 1, mode="median")), [X(5), X(2, 3)], "bool",
        order=0),
]  # fmt: skip

"""The dtypes of numbers: as functions, as values, and what every dtype can do."""

from __future__ import annotations

from typing import Any

import numpy as np

from surface import COMPLEX, Row, X

NARROW = "int8 int16 uint8 uint16 uint32 uint64"
EVERY = f"{NARROW} int32 int64 float16 float32 float64 bool"


def limits(a: Any) -> Any:
    info = np.iinfo(a.dtype)
    return info.min, info.bits, np.finfo(np.float32).eps, np.finfo(np.float64).max


def facts(a: Any) -> Any:
    return a.dtype == np.uint8, a.dtype.itemsize, a.dtype.kind, a.dtype == np.dtype("float64"), np.zeros(2, a.dtype)


ROWS = [
    Row("numpy.int8 numpy.int16 numpy.int32 numpy.int64", lambda a: (np.int8(a), np.int16(a), np.int32(a), np.int64(a)),
        [X(3), X(2, 2), X(0)], EVERY, order=0),
    Row("numpy.uint8 numpy.uint16 numpy.uint32 numpy.uint64",
        lambda a: (np.uint8(a), np.uint16(a), np.uint32(a), np.uint64(a)), [X(3, low=0.0), X(2, 2, low=0.0)], EVERY,
        order=0),
    Row("numpy.float16 numpy.float32 numpy.float64 numpy.bool_",
        lambda a: (np.float16(a), np.float32(a), np.float64(a), np.bool_(a)), [X(3), X(2, 0)], EVERY, order=0),
    Row("ndarray.astype", lambda a: (a.astype("u1"), a.astype(np.float16), a.astype(bool), a.astype(np.int64)),
        [X(4, low=0.0), X(2, 2, low=0.0)], EVERY, order=0),
    Row("ndarray.astype", lambda a: (a.astype(np.float64), a.astype(np.float32)), [X(4), X(2, 2)],
        f"{NARROW} float32 float64", order=1, slope=1e-3),
    Row("ndarray.astype numpy.complex64 numpy.complex128",
        lambda a: (a.astype(np.complex64), a.astype(complex), np.complex64(1), np.complex128(2)), [X(3), X(2, 2)],
        COMPLEX, order=0),
    Row("numpy.iinfo numpy.finfo", limits, [X(2)], f"{NARROW} int32", order=0),
    Row("numpy.dtype ndarray.dtype", facts, [X(2)], EVERY, order=0),
    Row("numpy.add numpy.multiply numpy.bitwise_and", lambda a, b: (a + b, a * b, a & b, a ^ b, ~a),
        [(X(5), X(5)), (X(2, 3), X(3))], NARROW),
    Row("numpy.sum numpy.prod numpy.mean", lambda a: (a.sum(axis=0), a.prod(axis=0), a.mean(axis=0), a.max(), a.min()),
        [X(4), X(2, 3)], f"{NARROW} float16", order=0),
    Row("numpy.prod numpy.cumprod", lambda z: (z.prod(axis=0), np.cumprod(z, axis=-1)), [X(3), X(2, 3), X(2, 2, 2)],
        COMPLEX),
    Row("numpy.var numpy.std", lambda z: (z.var(axis=0), z.std(axis=-1)), [X(3), X(2, 3)], COMPLEX),
]  # fmt: skip

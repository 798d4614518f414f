"""Indexing: arrays and masks of indices mixed with slices; functions that take, put, choose and find elements."""

from __future__ import annotations

import numpy as np

from surface import ALL, COMPLEX, FLOATS, NUMBERS, B, N, Row, S, X

ANY = f"{NUMBERS} complex128"
EVERY = f"{ALL} {COMPLEX}"
I3, J3 = N(3, low=-2, high=1), N(3, low=-3, high=2)
CUBE = (X(2, 3, 4), I3, J3)


def assign_mixed(a, i, j):
    a[i, :, j] = 2 * a[j - 1, :, i]
    a[:, 0, i] = 5
    a[..., i] += 1
    a[None, i, 1:, None, 2] *= 3
    return a[i]


def assign_masks(a, m):
    a[:, m] = 5
    a[1, m] += 2
    a[..., m] *= a[..., m]
    a[0][m] = 7
    return a[:, m]


def assign_four(a, i):
    a[i, i, i, i] = 3
    a[i, i, i, i] += a[i, i, 0, 0]
    return a * 2


def repeated(a, i, v):
    a[i] = v
    a[i, 0] += v[:, 1]
    return a * a


def put_elements(a, i, v):
    np.put(a, i, v)
    np.put(a, [-1, 3, 3], [7])
    np.put(a.T, [1, 2], v[:2])
    np.put(a, [100], 5, mode="clip")
    return a * 2


def put_along(a, k, v):
    np.put_along_axis(a, k, v, axis=1)
    np.put_along_axis(a, k[:, :1], -1, axis=1)
    return a * 2


def put_by_masks(a, m, v):
    np.place(a, m, v)
    np.putmask(a.T, m.T, v)
    np.putmask(a, m, a * 2)
    return a


def copied_to(a, b, m):
    np.copyto(a, b)
    np.copyto(a, 1, where=m)
    np.copyto(a[0], b[1])
    np.copyto(a, [1, 2, 3], where=[True, False, True])
    return a * 2


def taken_into(a, i, out):
    return np.take(a, i, axis=0, out=out) * 2


CHOICES = np.array([0, 1, 2, 1])

def copied_where(z, w):
    c, d = z.copy(), z.copy()
    np.copyto(c, w, where=z.real > 0.0)
    np.copyto(d[::-1], 2.0, where=[[True], [False]])
    np.add.at(d, (np.array([0, 1, 0]), np.array([1, 1, 1])), w[0, 0])
    return c, np.multiply(z, w, out=c.copy(), where=w.imag > 0.0), d


def complex_into(z, w):
    c, d = np.zeros((4, 3), z.dtype), np.ones(3, z.dtype)
    np.concatenate((z, w), out=c)
    np.sum(z * w, axis=0, out=d)
    np.cumsum(w, axis=1, out=c[2:, ::-1])
    return c, d, np.take(z, [1, 0], axis=0, out=c[:2])


ROWS = [
    Row("numpy.copyto numpy.add.at numpy.multiply", copied_where, [(X(2, 3), X(2, 3))], "complex128", layouts=()),
    Row("numpy.concatenate numpy.sum numpy.cumsum numpy.take", complex_into, [(X(2, 3), X(2, 3))], COMPLEX),
    Row("ndarray.__getitem__", lambda a, i, j: (a[i, :, j], a[:, i, j], a[i, ..., None], a[None, i], a[0, :, i]),
        [CUBE], EVERY),
    Row("ndarray.__getitem__",
        lambda a, i, j: (a[i[:, None], j], a[i, j, i], a[i, 1:, None, j], a[..., i, 0], a[j, 1, :2]),
        [(X(3, 3, 4), I3, J3)], ANY),
    Row("ndarray.__getitem__", lambda a, m: (a[:, m], a[..., m], a[1, m], a[m[:2, 0]], a[m[:2, 0], 1]),
        [(X(2, 3, 4), B(3, 4))],
        EVERY),
    Row("ndarray.__getitem__", lambda a, i: (a[i, i, i, i], a[i, i, :, i]), [(X(2, 2, 2, 2), I3)], NUMBERS),
    Row("ndarray.__getitem__", lambda a, i: a[:, i], [(X(2, 3), N(3, low=-7, high=-4)), (X(2, 0), N(0))], NUMBERS),
    Row("ndarray.__getitem__", lambda a, i: a[i, [0, 1]], [(X(2, 3), N(3))], order=0),
    Row("ndarray.__setitem__", assign_mixed, [(X(2, 3, 2), N(3, low=-2, high=1), N(3, low=-2, high=1))], NUMBERS,
        layouts=()),
    Row("ndarray.__setitem__", assign_masks, [(X(2, 3, 4), B(3, 4))], NUMBERS, layouts=()),
    Row("ndarray.__setitem__", assign_four, [(X(2, 2, 2, 2), I3)], NUMBERS, layouts=()),
    Row("ndarray.__setitem__", repeated, [(X(2, 3), N(4), X(4, 3))], NUMBERS, layouts=()),
    Row("numpy.take ndarray.take", lambda a, i: (np.take(a, i), np.take(a, i, axis=1), a.take(i, 0), np.take(a, 1, 0)),
        [(X(2, 3), N(4, low=-2, high=1)), (X(2, 2, 2), N(2, 2, low=0, high=1)), (X(2, 3), N(2, low=5, high=9))], EVERY),
    Row("numpy.take",
        lambda a, i: (np.take(a, i, mode="wrap"), np.take(a, i, axis=0, mode="clip"), np.take(a, [[0, 1]], -1)),
        [(X(2, 3), N(4, low=-9, high=9))], ANY),
    Row("numpy.take", taken_into, [(X(2, 3), N(3, high=1), X(3, 3)), (X(2, 3), N(2, high=1), X(3, 3))], FLOATS,
        wrt=(0,), layouts=(),
        message=False),
    Row("numpy.put", put_elements, [(X(3, 4), N(3, low=-4, high=4), X(2))], NUMBERS, layouts=()),
    Row("numpy.put", lambda a, i: np.put(a, i, 1.0), [(X(3), np.array([3]))], order=0, layouts=()),
    Row("numpy.take_along_axis", lambda a, k: (np.take_along_axis(a, k, 1), np.take_along_axis(a, k, axis=-1)),
        [(X(3, 4), N(3, 2, low=-4, high=3)), (X(3, 4), N(1, 2)), (X(1, 4), N(3, 2)), (X(2, 3), N(2, 2, low=3,
        high=5))], EVERY),
    Row("numpy.take_along_axis", lambda a, k: np.take_along_axis(a, k, 0),
        [(X(3), N(2, low=-3, high=2)), (X(3, 2, 2), N(2, 2, 2)),
        (X(3), N(2, 2))], ANY),
    Row("numpy.put_along_axis", put_along, [(X(3, 4), N(3, 2, low=-4, high=3), X(2))], NUMBERS, layouts=()),
    Row("numpy.choose", lambda c, a: (np.choose(c, (a[0], a[1], a[2])), np.choose(c, a), np.choose(c, [1, 2, 3])),
        [(CHOICES, X(3, 4))], NUMBERS),
    Row("numpy.choose",
        lambda c, a: (np.choose(c * 3 - 4, a, mode="wrap"), np.choose(c * 3, (a[0], a[1]), mode="clip")),
        [(CHOICES, X(3, 4))], NUMBERS),
    Row("numpy.choose", lambda c, a: np.choose(c * 2, (a[0], a[1])), [(CHOICES, X(2, 4))], order=0),
    Row("numpy.nonzero ndarray.nonzero numpy.flatnonzero numpy.argwhere numpy.where",
        lambda a: (np.nonzero(a), a.nonzero(), np.flatnonzero(a), np.argwhere(a), np.where(a > 0)),
        [X(5), X(2, 3), X(2, 3, 2), X(0, 2)], ALL, order=0, specials=("zero", "nan")),
    Row("numpy.compress ndarray.compress numpy.extract",
        lambda a,
        m: (np.compress(m, a, axis=0), a.compress(m), np.extract(a.real > 0, a), np.compress([0, 1], a, axis=0)),
        [(X(3), B(3)), (X(3, 2), B(2))], ANY),
    Row("numpy.place numpy.putmask", put_by_masks, [(X(2, 3), B(2, 3), X(2))], NUMBERS, layouts=()),
    Row("numpy.copyto", copied_to, [(X(2, 3), X(2, 3), B(2, 3))], NUMBERS, layouts=()),
    Row("numpy.copyto", lambda a, b: np.copyto(a, b), [(X(2, dtype="int64"), X(2)), (X(2), X(3))], FLOATS, order=0,
        layouts=(),
        message=False),
    Row("numpy.select", lambda a, b: (np.select([a > 1, b > 0], [a * 2, b**2]), np.select((a > 0,), (a,), -1.0)),
        [(X(5), X(5)), (X(2, 3), X(3))], NUMBERS),
    Row("numpy.select", lambda a: np.select([a > 1], [a, a]), [X(3)], order=0, message=False),
    Row("numpy.piecewise",
        lambda a: (np.piecewise(a, [a < 0, a >= 0], [lambda x: x * 2, 3]), np.piecewise(a, [a < 0], [np.sin, np.cos])),
        [X(5), X(2, 3)], FLOATS),
    Row("numpy.piecewise",
        lambda x, a: (np.piecewise(x, [x < 0, x >= 0], [lambda v: x * v, 3]),
        np.piecewise(x, [x > 1], [np.sin, np.cos]),
        np.piecewise(a, [a > 9, a <= 9], [lambda v, k: v - np.max(v), lambda v, k: k * v * v], 3.0)),
        [(S(), X(4)), (X(), X(2, 2))], FLOATS),
    Row("numpy.argwhere", lambda x: (np.argwhere(x > 0), np.argwhere(x)), [S(), X(), S(low=0.0, high=0.0)], ALL,
        order=0, layouts=()),
    Row("numpy.ix_", lambda a: (a[np.ix_([0, 2], [1, 3])], a[np.ix_([True, False, True], [2])]), [X(3, 4)], EVERY),
    Row("numpy.diag_indices numpy.tril_indices numpy.triu_indices",
        lambda: (np.diag_indices(3), np.diag_indices(2, 3), np.tril_indices(3), np.triu_indices(3, 1),
        np.tril_indices(3, 0, 4)),
        [()], order=0),
    Row("numpy.tril_indices_from numpy.triu_indices_from numpy.diag_indices_from",
        lambda a: (a[np.tril_indices_from(a)], a[np.triu_indices_from(a, k=1)], a[np.diag_indices_from(a)]),
        [X(3, 3)], NUMBERS),
    Row("numpy.mask_indices", lambda: (np.mask_indices(3, np.triu, 1), np.mask_indices(2, np.tril)), [()], order=0),
    Row("numpy.unravel_index numpy.ravel_multi_index",
        lambda i: (np.unravel_index(i, (3, 4)), np.unravel_index(i, (3, 4), order="F"), np.unravel_index(7, (3, 4)),
                   np.ravel_multi_index((i, i), (3, 4)), np.ravel_multi_index((i, i * 9), (3, 4), mode="wrap")),
        [N(4), N(2, 2), N(0)], order=0),
    Row("numpy.unravel_index", lambda i: np.unravel_index(i, (3, 4)), [N(2, low=12, high=20)], order=0),
    Row("numpy.ravel_multi_index", lambda i: np.ravel_multi_index((i, i), (3, 4)), [N(2, low=12, high=20)], order=0),
]  # fmt: skip

"""Shapes: axes moved, arrays joined, split, repeated, padded, made from rules, copied."""

from __future__ import annotations

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from surface import ALL, COMPLEX, FLOATS, LAYOUTS, NUMBERS, N, Row, S, X

RANKS = [X(2, 3), X(2, 3, 4), X(2, 1, 3, 2), X(3, 0)]
TABLES = [X(3, 4), X(1, 3), X(3, 1), X(0, 2)]
EVERY = f"{ALL} {COMPLEX}"
ANY = f"{NUMBERS} complex128"


def write_through_views(a):
    a = a.copy()
    np.flip(a, 1)[0] = 7
    np.swapaxes(a, 0, 1)[0] = 2 * a[:, 1]
    np.moveaxis(a, 0, 1)[:, -1] += 1
    np.expand_dims(a, 0)[0, 0, 0] = 3
    np.rot90(a)[0] *= 2
    return a


def write_through_parts(a):
    a = a.copy()
    first, second = np.split(a, 2, axis=1)
    first[...] = 7
    second += 1
    np.hsplit(a, [1])[0][0] = 5
    np.atleast_3d(a)[1, 0, 0] = 4
    a.flat[2] = 9
    return a


def write_diagonal(a):
    np.diagonal(a)[0] = 1
    return a


def write_broadcast(a):
    b = np.broadcast_to(a, (2, 3))
    b[0, 0] = 1
    return b


def rows_joined(a):
    rows = [a[k] for k in range(len(a))]
    return np.stack(rows, 1), np.vstack(rows), np.hstack(rows), np.concatenate(rows), np.column_stack(rows)


def tables_joined(a):
    tables = [a * k for k in range(3)]
    return np.concatenate(tables, 1), np.vstack(tables), np.hstack(tables), np.stack(tables, 2), np.concatenate(tables)


def more_joined(a):
    tables = [a * k for k in range(3)]
    return np.column_stack(tables), np.dstack(tables), np.dstack([t[None] for t in tables])


def joined_into(a, out):
    r = np.concatenate((a, a), axis=1, out=out)
    return r * 2


def flat_set(a, b):
    c, d = a * 2, np.zeros(a.shape, a.dtype)
    a.flat = b
    c.flat = 3
    d.T.flat = b
    return a * a, c, d


def flat_reversed(a):
    a.flat = a[::-1]
    return a * a


def real_set(a, b):
    a.real = b
    return a * b


def flat_elements(a):
    total = a.flat[0] * 2
    for x in a.flat:
        total = total + x * x
    return total, a.flat[1:3], a.T.flat[1]


def indices_in_turn(a):
    total = a.sum() * 0
    for i, j in np.ndindex(a.shape):
        total = total + a[i, j] * (i + 2 * j)
    for place in np.ndindex(*a.shape[:1]):
        total = total + a[place].sum() * place[0]
    for (i, j), x in np.ndenumerate(a):
        total = total + x * a[i, 0] * j
    return total, np.array([i + 3 * j for i, j in np.ndindex(2, 2)])


def filled_diagonals(a, v):
    np.fill_diagonal(a, v)
    tall = np.zeros((7, 3), a.dtype)
    np.fill_diagonal(tall, 5, wrap=True)
    cube = np.zeros((2, 2, 2), a.dtype)
    np.fill_diagonal(cube, v[0])
    return tall, cube


def orders(a):
    b = a.reshape((-1, 2), order="F")
    return b, a.ravel("F"), a.flatten(order="F"), a.copy("F"), np.reshape(a, -1), np.asfortranarray(a), a.T.ravel("F")


MOVED = [
    Row("numpy.moveaxis", lambda a: (np.moveaxis(a, 0, -1), np.moveaxis(a, (0, 1), (1, 0))), RANKS, EVERY),
    Row("numpy.swapaxes ndarray.swapaxes", lambda a: (np.swapaxes(a, 0, -1), a.swapaxes(1, 0)), RANKS, EVERY),
    Row("numpy.rollaxis", lambda a: (np.rollaxis(a, 1), np.rollaxis(a, 0, 2), np.rollaxis(a, -1)), RANKS, ANY),
    Row("numpy.matrix_transpose ndarray.mT", lambda a: (np.matrix_transpose(a), a.mT), RANKS, ANY),
    Row("numpy.expand_dims", lambda a: (np.expand_dims(a, 0), np.expand_dims(a, (0, -1)), np.expand_dims(a, 1)),
        [X(3), *RANKS], EVERY),
    Row("numpy.squeeze ndarray.squeeze", lambda a: (np.squeeze(a), a.squeeze(), np.squeeze(a, 0)),
        [X(1, 3), X(1, 1), X(1, 2, 1), X(1)], ALL),
    Row("numpy.squeeze", lambda a: (np.squeeze(a), a.squeeze(0)), [X(1, 3), X(1, 2, 1)], COMPLEX),
    Row("numpy.squeeze", lambda a: np.squeeze(a, (0, 2)), [X(1, 2, 1), X(1, 0, 1), X(1, 3, 2)], ANY),
    Row("numpy.flip", lambda a: (np.flip(a), np.flip(a, 0), np.flip(a, (0, -1))), RANKS, EVERY),
    Row("numpy.flipud numpy.fliplr", lambda a: (np.flipud(a), np.fliplr(a)), RANKS, ANY),
    Row("numpy.rot90", lambda a: (np.rot90(a), np.rot90(a, 2), np.rot90(a, -1), np.rot90(a, 0, (1, 0))), RANKS, ANY),
    Row("numpy.flip numpy.swapaxes numpy.moveaxis", write_through_views, [X(3, 3), X(2, 2)], NUMBERS),
    Row("numpy.diagonal ndarray.diagonal", lambda a: (np.diagonal(a), np.diagonal(a, 1), a.diagonal(-1)),
        [X(3, 4), X(3, 3), X(2, 3, 2), X(0, 2)], EVERY),
    Row("numpy.diagonal", lambda a: np.diagonal(a, 1, 2, 0), [X(2, 3, 4), X(2, 1, 3, 2)], ANY),
    Row("numpy.diagonal", write_diagonal, [X(2, 3)], order=0),
    Row("numpy.atleast_1d numpy.atleast_2d numpy.atleast_3d",
        lambda a: (np.atleast_1d(a), np.atleast_2d(a), np.atleast_3d(a)), [X(), X(3), *RANKS], EVERY),
    Row("numpy.atleast_2d", lambda a, b: np.atleast_2d(a, b), [(X(3), S()), (S(), X(2, 2))], NUMBERS),
    Row("numpy.broadcast_to", lambda a: np.broadcast_to(a, (2, 3)) * 2, [X(3), X(1, 3), X(2, 1), X(), S(), X(4)],
        NUMBERS),
    Row("numpy.broadcast_to", write_broadcast, [X(3)], order=0),
    Row("numpy.broadcast_arrays", lambda a, b: [x * 2 for x in np.broadcast_arrays(a, b)][1],
        [(X(3), X(2, 1)), (X(2, 3), X(4))], NUMBERS),
    Row("numpy.broadcast_shapes", lambda a, b: np.broadcast_shapes(a.shape, b.shape, (1, 1)),
        [(X(3), X(2, 1)), (X(2, 3), X(4))], order=0, message=False),
    Row("numpy.transpose ndarray.transpose ndarray.T", lambda a: (np.transpose(a), a.T, a.transpose(1, 0)),
        [X(2, 3), X(3, 0)], EVERY),
    Row("numpy.reshape ndarray.reshape numpy.ravel ndarray.flatten ndarray.copy numpy.asfortranarray", orders,
        [X(2, 4), X(2, 2, 3)], NUMBERS,
        layouts=("columns", "reversed", "sliced", "swapped")),
]  # fmt: skip

JOINED = [
    Row("numpy.concatenate", lambda a, b: (np.concatenate((a, b)), np.concatenate([a, b], axis=None)),
        [(X(2, 3), X(1, 3)), (X(2), X(3)), (X(0, 2), X(2, 2)), (X(2, 2), X(2, 3))], EVERY),
    Row("numpy.concatenate", lambda a, b: np.concatenate((a, b), -1, dtype=np.float32), [(X(2, 3), X(2, 1))], NUMBERS,
        slope=1e-2),
    Row("numpy.concatenate", joined_into, [(X(2, 3), X(2, 6)), (X(2, 3), X(2, 5))], NUMBERS, wrt=(0,), layouts=()),
    Row("numpy.concatenate numpy.stack",
        lambda a, b: (np.concatenate((a, b)), np.stack((a, b)), np.hstack((a, b > 0)), np.vstack((b, b > 1))),
        [(X(2, 2), N(2, 2)), (X(2, 2), X(2, 2, dtype="float32"))], NUMBERS),
    Row("numpy.stack", lambda a, b: (np.stack((a, b), 1), np.stack([a, b], -1)), [(X(2, 3), X(2, 3)), (X(2), X(2)),
        (X(2), X(3))], EVERY),
    Row("numpy.hstack numpy.vstack numpy.dstack numpy.column_stack",
        lambda a, b: (np.hstack((a, b)), np.vstack([a, b]), np.dstack((a, b)), np.column_stack((a, b))),
        [(X(3), X(3)), (X(2, 3), X(2, 3)), (X(2, 2, 2), X(2, 2, 2)), (X(1), X(2))], EVERY),
    Row("numpy.hstack numpy.stack", lambda a: (np.hstack((a, 1)), np.stack((a, 2.0)), np.array([a, a])), [S()],
        NUMBERS),
    Row("numpy.stack numpy.vstack numpy.hstack numpy.concatenate", rows_joined, [X(3, 2), X(2, 3)], NUMBERS),
    Row("numpy.stack numpy.vstack numpy.hstack numpy.concatenate", tables_joined, [X(2, 3)], NUMBERS),
    Row("numpy.column_stack numpy.dstack", more_joined, [X(2, 3)], NUMBERS),
    Row("numpy.append", lambda a: (np.append(a, 2), np.append(a, a, axis=0), np.append(a, [1, 2])), [X(3), X(2, 2)],
        ANY),
    Row("numpy.block", lambda a, b: (np.block([[a, b], [b, a]]), np.block([a, b])), [(X(2, 3), X(2, 3))], ANY),
    Row("numpy.block", lambda a: np.block([a, 1, a]), [X(2)], NUMBERS),
    Row("numpy.split numpy.array_split", lambda a: (np.split(a, 2), np.array_split(a, 3), np.split(a, [1, -1])),
        [X(4), X(4, 2), X(3, 2)], ANY),
    Row("numpy.split numpy.array_split", lambda a: (np.split(a, (1, 2), 1), np.array_split(a, 5, axis=1)), [X(2, 4)],
        ALL),
    Row("numpy.hsplit numpy.vsplit", lambda a: (np.hsplit(a, 2), np.vsplit(a, [1])), [X(3, 4), X(2, 2, 2)], ANY),
    Row("numpy.hsplit numpy.dsplit", lambda a: (np.hsplit(a, 2), np.dsplit(a, [1, 2])), [X(3, 4, 3)], NUMBERS),
    Row("numpy.hsplit", lambda a: np.hsplit(a, 3), [X(3)], NUMBERS),
    Row("numpy.unstack", lambda a: np.unstack(a)[1] * np.unstack(a, axis=1)[0][1], [X(2, 3), X(3, 2)], NUMBERS,
        objects=True),
    Row("numpy.split numpy.hsplit numpy.atleast_3d", write_through_parts, [X(3, 4)], NUMBERS),
]  # fmt: skip

REPEATED = [
    Row("numpy.tile", lambda a: (np.tile(a, 2), np.tile(a, (2, 1)), np.tile(a, (2, 1, 3)), np.tile(a, ())),
        [X(3), X(2, 3), X(0, 2)], EVERY),
    Row("numpy.tile", lambda a: (np.tile(a, 3), np.tile(a, (1, 2))), [X(), S(), X(1)], NUMBERS),
    Row("numpy.repeat ndarray.repeat", lambda a: (np.repeat(a, 2), a.repeat(3, axis=0), np.repeat(a, 2, -1)),
        [X(3), X(2, 3), X(0, 2)], EVERY),
    Row("numpy.repeat", lambda a, n: np.repeat(a, n, axis=0), [(X(3), N(3)), (X(3, 2), N(3)), (X(3, 2), N(1)),
        (X(2, 2), N(3)), (X(2), np.array([1, -1]))], NUMBERS),
    Row("numpy.roll", lambda a: (np.roll(a, 1), np.roll(a, -2, 0), np.roll(a, (1, 2), (0, -1)), np.roll(a, 7, axis=0)),
        [X(3), X(2, 3), X(2, 3, 2), X(0, 2)], EVERY),
    Row("numpy.resize", lambda a: (np.resize(a, (3, 5)), np.resize(a, 7)), [X(4), X(2, 3), X(0)], NUMBERS),
    Row("numpy.pad", lambda a: (np.pad(a, 1), np.pad(a, (1, 2), constant_values=3), np.pad(a, ((1, 0), (0, 2)))),
        [X(2, 3), X(0, 2)], ANY),
    Row("numpy.pad", lambda a: np.pad(a, 2, constant_values=(1, 4)), [X(3), X(2, 1, 2)], ALL),
    Row("numpy.pad", lambda a: (np.pad(a, 2, "edge"), np.pad(a, 5, mode="wrap")), [X(3), X(2, 3), X(0, 2)], ANY),
    Row("numpy.pad", lambda a: (np.pad(a, 7, "reflect"), np.pad(a, (3, 8), "symmetric")), [X(3), X(3, 2), X(1)], ANY),
    Row("numpy.pad",
        lambda a: (np.pad(a, 7, "reflect", reflect_type="odd"), np.pad(a, 9, "symmetric", reflect_type="odd")),
        [X(3), X(2, 3)], NUMBERS),
    Row("numpy.pad", lambda a: (np.pad(a, 2, "linear_ramp"), np.pad(a, (1, 3), "linear_ramp", end_values=(1, -2))),
        [X(3), X(2, 2)], NUMBERS),
    Row("numpy.pad", lambda a: (np.pad(a, 1, "mean"), np.pad(a, 2, "maximum"), np.pad(a, 1, "minimum", stat_length=2)),
        [X(3), X(3, 4)], NUMBERS),
    Row("numpy.pad", lambda a: (np.pad(a, 2, "median"), np.pad(a, 1, "median", stat_length=(2, 1))), [X(3), X(3, 4)],
        FLOATS),
    Row("numpy.insert", lambda a: (np.insert(a, 1, 5, axis=0), np.insert(a, -1, 4), np.insert(a, [0, 2, 2], [7, 8, 9])),
        [X(4), X(2, 3)], ANY),
    Row("numpy.insert", lambda a, v: (np.insert(a, 1, v, axis=1), np.insert(a, [1, 0], v[:1], 0)), [(X(3, 3), X(3))],
        NUMBERS),
    Row("numpy.insert", lambda a: np.insert(a, 9, 5), [X(4)], order=0),
    Row("numpy.delete",
        lambda a: (np.delete(a, 1, 0), np.delete(a, -1), np.delete(a, [0, 0, 2]), np.delete(a, slice(0, 2), 0)),
        [X(4), X(3, 2)], ANY),
    Row("numpy.delete", lambda a: np.delete(a, 9, 0), [X(4), X(3, 2)], order=0),
    Row("numpy.trim_zeros", lambda a: (np.trim_zeros(a), np.trim_zeros(a, "f"), np.trim_zeros(a, trim="b")),
        [np.array([0.0, 0.0, 1.0, 0.0, 2.0, 0.0]), np.zeros(3), np.array([1, 0, 2, 0])], order=0),
]  # fmt: skip

MADE = [
    Row("numpy.eye numpy.identity numpy.tri",
        lambda: (np.eye(3, k=1), np.eye(2, 4, -1), np.eye(2, dtype=int), np.identity(2), np.tri(3, 4, 1), np.eye(2, 3,
        7)),
        [()], order=0),
    Row("numpy.tril numpy.triu", lambda a: (np.tril(a), np.triu(a, 1), np.tril(a, -1), np.triu(a, -5)),
        [X(3, 4), X(4, 2), X(2, 2, 3), X(3), X(0, 2)], EVERY),
    Row("numpy.diag numpy.diagflat", lambda a: (np.diag(a), np.diag(a, 1), np.diag(a, -2), np.diagflat(a, 1)),
        [X(3), X(0), X(3, 4)], EVERY),
    Row("numpy.vander", lambda a: (np.vander(a), np.vander(a, 4), np.vander(a, 2, increasing=True)),
        [X(3), X(1), X(0)], NUMBERS),
    Row("numpy.fill_diagonal", filled_diagonals, [(X(3, 4), X(2)), (X(3, 3), X(3))], NUMBERS, layouts=()),
    Row("numpy.meshgrid",
        lambda a, b: (np.meshgrid(a, b), np.meshgrid(a, b, indexing="ij"), np.meshgrid(a, b, sparse=True)),
        [(X(2), X(3)), (X(0), X(2))], ALL),
    Row("numpy.indices numpy.fromfunction",
        lambda: (np.indices((2, 3)), np.indices((2,), dtype=float), np.indices((2, 3), sparse=True),
                 np.fromfunction(lambda i, j: i * 2 + j, (2, 3))), [()], order=0),
    Row("numpy.mgrid numpy.ogrid",
        lambda: (np.mgrid[0:2, 0:3], np.mgrid[0:1:3j, 0:2:2j], np.ogrid[0:2, 1:4], np.mgrid[0:5:2]),
        [()], order=0),
    Row("numpy.r_ numpy.c_", lambda a: (np.r_[1:4, 0, a], np.r_[a, a], np.c_[a, a * 2], np.c_[np.ones((3, 2)), a]),
        [X(3)],
        NUMBERS),
    Row("numpy.s_ numpy.index_exp", lambda a: (a[np.s_[1:, ::2]], a[np.index_exp[0]], a[np.s_[..., 1]]), [X(3, 4)],
        NUMBERS),
    Row("numpy.linspace",
        lambda a, b: (np.linspace(a, b, 5), np.linspace(a, b, 4, endpoint=False), np.linspace(a, b, 1)),
        [(S(), S()), (X(), S()), (X(2), X(2)), (X(2, 1), X(3)), (X(2), S())], NUMBERS),
    Row("numpy.linspace", lambda a, b: (np.linspace(a, b, 3, axis=-1), np.linspace(a, b, 3, retstep=True)),
        [(X(2), X(2)), (X(2, 1), X(3))], FLOATS),
    Row("numpy.linspace", lambda: (np.linspace(0, 10, 4, dtype=int), np.linspace(0, 1, 0), np.linspace(3, 1)),
        [()], order=0),
    Row("numpy.linspace", lambda n: np.linspace(0, 1, n), [-1], order=0),
    Row("numpy.logspace", lambda a, b: (np.logspace(a, b, 4), np.logspace(a, b, 3, base=2.0, endpoint=False)),
        [(S(), S()), (X(2), S())], FLOATS, tolerance=64),
    Row("numpy.geomspace", lambda a: (np.geomspace(a, 1000.0, 4), np.geomspace(-a, -8.0, 3, endpoint=False)),
        [(1.5,), (0.25,)], "float64", tolerance=64),
    Row("numpy.geomspace", lambda: np.geomspace(0, 1, 3), [()], order=0),
    Row("numpy.full numpy.full_like",
        lambda a: (np.full((2, 3), a[0]), np.full_like(a, a[1]), np.full((2, *a.shape), a)),
        [X(3)], NUMBERS),
    Row("numpy.full numpy.full_like",
        lambda a, b: (np.full_like(a, b), np.full_like(a.T, b), np.full_like(a.T, b[0]), np.full_like(a, b, order="F"),
                      np.full((3, 3), b[1], order="F"), np.full_like(a.T, b, shape=(2, 3, 3))),
        [(X(3, 3), X(3, 3))], NUMBERS),
    Row("numpy.array numpy.asarray numpy.asanyarray ndarray.astype numpy.astype",
        lambda a: (np.array(a, ndmin=3), np.array(a, copy=None), np.asarray(a, order="F"), np.asanyarray(a),
                   np.astype(a, np.int32)), [X(2, 3), X(3)], NUMBERS),
    Row("ndarray.astype", lambda a: a.astype(np.float64, copy=False), [X(2, 3), X(3)], NUMBERS,
        layouts=[layout for layout in LAYOUTS if layout != "swapped"],  # such an array is given back as it came
        note="`copy=False` gives an array of swapped bytes back as it is"),
    Row("numpy.array", lambda a: np.array(a, dtype=np.int32, copy=False), [X(3, dtype="float64")], order=0),
    Row("ndarray.flat", flat_elements, [X(2, 3), X(1, 3)], NUMBERS),
    Row("ndarray.flat", flat_set, [(X(2, 3), X(2, 2)), (X(3), X(1)), (X(4), X(0)), (X(0), X(2)), (X(2, 2), X())],
        f"{NUMBERS} complex128", layouts=("columns", "reversed", "sliced")),
    Row("ndarray.flat", flat_reversed, [X(4)], NUMBERS, layouts=()),
    Row("ndarray.real", real_set, [(X(2, 3), X(3))], FLOATS, layouts=("columns",)),
    Row("numpy.fromiter", lambda a: (np.fromiter((x * 2 for x in a), a.dtype), np.fromiter(a, np.float64, count=2),
        np.fromiter(map(lambda x: x * x, a), dtype=a.dtype, count=len(a))), [X(3), X(2)], NUMBERS),
    Row("numpy.fromiter", lambda a: np.fromiter((x for x in a), float, 4), [X(3)], order=0),
    Row("numpy.lib.stride_tricks.sliding_window_view",
        lambda a: (sliding_window_view(a, 3), np.sum(sliding_window_view(a[::-1], 2) ** 2, axis=-1),
        sliding_window_view(a, 1)[::2] * 2, sliding_window_view(a, len(a)), sliding_window_view(a, 2) @ a[:2]),
        [X(5), X(3)], f"{NUMBERS} complex128"),
    Row("numpy.lib.stride_tricks.sliding_window_view",
        lambda a: (sliding_window_view(a, (2, 3)), sliding_window_view(a, 2, axis=0),
        sliding_window_view(a, 2, -1) + a[0, 0],
        sliding_window_view(a, (3, 2), axis=(1, 0)), np.sum(sliding_window_view(a, (2, 2)), axis=(2, 3))),
        [X(2, 3), X(3, 4)], f"{NUMBERS} complex128"),
    Row("numpy.lib.stride_tricks.sliding_window_view", lambda a: sliding_window_view(a, (2, 4), (2, 0)), [X(4, 2, 3)]),
    Row("numpy.lib.stride_tricks.sliding_window_view", lambda a, n: sliding_window_view(a, n),
        [(X(3), 4), (X(3), -1), (X(3), 0), (X(0), 0)], order=0),
    Row("numpy.ndindex numpy.ndenumerate", indices_in_turn, [X(2, 3), X(1, 2), X(0, 3), X(2, 0)], NUMBERS,
        objects=True),
    Row("ndarray.item", lambda a: (a.item(3), a.item(1, 2), a.item((0, 1)), a[:1, :1].item(), a[0, 0].item()),
        [X(2, 3)], ALL),
    Row("ndarray.item", lambda a: a.item(), [X(2, 3)], order=0),
    Row("ndarray.item", lambda a: a.item(9), [X(2, 3)], order=0),
    Row("ndarray.real ndarray.imag ndarray.itemsize ndarray.nbytes numpy.ndim numpy.size numpy.shape",
        lambda a: (a.real * 2, a.imag, a.itemsize, a.nbytes, np.ndim(a), np.size(a), np.shape(a)),
        [X(2, 3), X(0, 2)], NUMBERS),
]  # fmt: skip

ROWS = [*MOVED, *JOINED, *REPEATED, *MADE]

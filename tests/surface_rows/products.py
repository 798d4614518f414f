"""Products: matrices of every rank, contractions, einsum, and sums of shifted products."""

from __future__ import annotations

import numpy as np

from surface import ALL, COMPLEX, FLOATS, NUMBERS, Row, S, X

WIDE = f"{ALL} {COMPLEX}"
MATRICES = [
    (X(3), X(3)), (X(3), X(3, 2)), (X(2, 3), X(3)), (X(2, 3), X(3, 4)), (X(5, 2, 3), X(3, 4)), (X(5, 2, 3), X(3)),
    (X(3), X(5, 3, 2)), (X(2, 3), X(5, 3, 2)), (X(4, 2, 3), X(4, 3, 2)), (X(4, 1, 2, 3), X(3, 3, 2)),
    (X(0, 3), X(3, 2)),
    (X(2, 0), X(0, 2)), (X(0, 2, 3), X(0, 3, 2)), (X(2, 1), X(1, 3)),
]  # fmt: skip
UNFIT = [(X(2, 3), X(2, 3)), (X(2, 3), X(2)), (X(4, 2, 3), X(3, 3, 2)), (X(4, 2, 3), X(4, 2, 3)), (X(3), X(2))]


def product_into(a, b):
    c, d, e, f = np.zeros((2, 2)), np.zeros((2, 2)), np.empty((2, 2)), np.ones((4, 4))
    r = np.matmul(a, b, out=c)
    np.dot(a, c, d)
    np.einsum("ij,kj->ik", d, b, out=e)
    np.outer(a, e, out=f)
    np.matmul(c, e.T, out=e)  # an operand
    return r, c, d, e, f, np.dot(a[0], b[0], out=np.empty(()))


def product_into_complex(a, b):
    c = np.empty((2, 3), np.complex128)
    np.matmul(a, b, out=c[:, ::-1])
    return c


def product_into_single(a, b):
    c = np.empty((2, 3), np.float32)
    return np.matmul(a, b, out=c)


def dot_into_single(a, b):
    return np.dot(a, b, out=np.empty((2, 3), np.float32))


def product_into_int(a, b):
    return np.matmul(a, b, out=np.empty((2, 3), np.int64))


def product_into_other_shape(a, b):
    return np.dot(a, b, out=np.empty((3, 2)))


ROWS = [
    Row("numpy.matmul numpy.dot numpy.einsum numpy.outer", product_into, [(X(2, 2), X(2, 2))]),
    Row("numpy.matmul", product_into_complex, [(X(2, 2), X(2, 3))], "float64 complex128"),
    Row("numpy.matmul", product_into_complex, [(X(2, 2), X(2, 3))], "complex64", tolerance=16 * 2.0**29),  # of doubles
    Row("numpy.matmul", product_into_single, [(X(2, 2), X(2, 3))], order=0),
    Row("numpy.dot", dot_into_single, [(X(2, 2), X(2, 3))], order=0),
    Row("numpy.matmul", product_into_int, [(X(2, 2), X(2, 3))], order=0),
    Row("numpy.dot", product_into_other_shape, [(X(2, 2), X(2, 3))], order=0, message=False),
    Row("numpy.matmul", lambda a, b: a @ b, MATRICES, "float64"),
    Row("numpy.matmul", lambda a, b: a @ b, [(X(2, 3), X(3, 2)), (X(4, 2, 3), X(4, 3, 2)), (X(3), X(3))], WIDE,
        layouts=()),
    Row("numpy.matmul", lambda a, b: np.matmul(a, b), [*MATRICES[2:5], *UNFIT, (S(), X(2))], order=1),
    Row("numpy.matmul", lambda a, b: np.matmul(a.T, b[::-1]), [(X(3, 2), X(3, 4)), (X(2, 3, 4), X(4, 3, 2))]),
    Row("numpy.dot ndarray.dot", lambda a, b: np.dot(a, b),
        [*MATRICES[:4], (X(4, 2, 3), X(3)), (X(2, 3), X(4, 3, 2)), (X(2, 2, 3), X(2, 3, 2)), (S(), X(2, 3)),
         (X(2), S()),
         (X(), X(3))], WIDE),
    Row("numpy.dot", lambda a, b: a.dot(b), [*UNFIT, (X(2, 3), X(3))], order=1),
    Row("numpy.inner", lambda a, b: np.inner(a, b),
        [(X(3), X(3)), (X(2, 3), X(3)), (X(2, 3), X(4, 3)), (X(2, 2, 3), X(2, 2, 3)), (X(3), X(2, 2, 3)),
         (S(), X(2, 2)),
         (X(2, 3), X(2, 2)), (X(2, 3), X(2, 2, 2))], WIDE),
    Row("numpy.vdot", lambda a, b: np.vdot(a, b), [(X(3), X(3)), (X(2, 3), X(3, 2)), (X(0), X(0)), (X(2), X(3))], WIDE),
    Row("numpy.outer numpy.linalg.outer", lambda a, b: np.outer(a, b),
        [(X(3), X(2)), (X(2, 2), X(3)), (X(), X(2)), (X(0), X(2)), (S(), X(2))], f"{NUMBERS} {COMPLEX}"),
    Row("numpy.tensordot numpy.linalg.tensordot", lambda a, b: np.tensordot(a, b),
        [(X(2, 3, 4), X(3, 4, 2)), (X(2, 3), X(2, 3)), (X(2, 3), X(3, 2))], f"{NUMBERS} {COMPLEX}"),
    Row("numpy.tensordot", lambda a, b: np.tensordot(a, b, axes=([1, 0], [0, 2])), [(X(2, 3, 2), X(3, 2, 2))]),
    Row("numpy.tensordot", lambda a, b: np.tensordot(a, b, (-1, 0)),
        [(X(2, 3), X(3)), (X(3), X(3, 2)), (X(2, 3), X(2))]),
    Row("numpy.tensordot", lambda a, b: np.tensordot(a, b, 0), [(X(2), X(3)), (X(2, 2), X(2))]),
    Row("numpy.kron", lambda a, b: np.kron(a, b),
        [(X(2), X(3)), (X(2, 2), X(2, 3)), (X(2), X(2, 2)), (X(2, 1, 2), X(2, 2)), (X(0, 2), X(2, 2)), (S(), X(2))],
        f"{NUMBERS} {COMPLEX}"),
    Row("numpy.vecdot numpy.linalg.vecdot", lambda a, b: np.vecdot(a, b),
        [(X(3), X(3)), (X(2, 3), X(3)), (X(2, 1, 3), X(2, 3)), (X(2, 3), X(2, 2))], f"{FLOATS} {COMPLEX}"),
    Row("numpy.trace", lambda a: np.trace(a), [X(3, 3), X(2, 4), X(2, 2, 3), X(0, 2)], WIDE),
    Row("ndarray.trace", lambda a: (a.trace(), a.trace(offset=1)), [X(3, 3), X(2, 4)], WIDE),
    Row("numpy.trace", lambda a: np.trace(a, 1, axis1=-1, axis2=0), [X(3, 3), X(2, 2, 3)]),
    Row("numpy.linalg.trace", lambda a: np.linalg.trace(a), [X(2, 3, 3)]),
    Row("numpy.cross numpy.linalg.cross", lambda a, b: np.cross(a, b),
        [(X(3), X(3)), (X(2, 3), X(3)), (X(2, 2, 3), X(2, 3)), (X(4), X(3))], f"{NUMBERS} {COMPLEX}"),
    Row("numpy.cross", lambda a, b: (np.cross(a, b), np.cross(b, a)),
        [(X(2), X(3)), (X(4, 2), X(3)), (X(2), X(4, 3))], f"{NUMBERS} {COMPLEX}"),
    Row("numpy.cross",
        lambda a, b: (np.cross(np.array([a[0], a[1]]), [1.0, 2.0]), np.cross(a.reshape(2, 2), b.reshape(2, 2))),
        [(X(4), X(4))]),
    Row("numpy.cross", lambda a, b: np.cross(a, b, axis=0), [(X(3, 2), X(3, 2))]),
    Row("numpy.cross", lambda a, b: np.cross(a, b, axisa=0, axisc=0), [(X(3, 2), X(2, 3))]),
    Row("numpy.convolve", lambda a, v: np.convolve(a, v), [(X(5), X(3)), (X(2), X(4)), (X(1), X(1)), (X(0), X(2))],
        WIDE),
    Row("numpy.convolve", lambda a, v: np.convolve(a, v, "same"), [(X(5), X(2)), (X(2), X(5)), (X(3), X(3))]),
    Row("numpy.convolve", lambda a, v: np.convolve(a, v, mode="valid"), [(X(5), X(2)), (X(2), X(5)), (X(3), X(3))]),
    Row("numpy.correlate", lambda a, v: np.correlate(a, v), [(X(5), X(2)), (X(2), X(5)), (X(3), X(0))],
        f"{NUMBERS} {COMPLEX}"),
    Row("numpy.correlate", lambda a, v: np.correlate(a, v, "same"), [(X(5), X(2)), (X(2), X(5)), (X(4), X(4))]),
    Row("numpy.correlate", lambda a, v: np.correlate(a, v, mode="full"), [(X(5), X(2)), (X(2), X(4))],
        f"{FLOATS} {COMPLEX}"),
    Row("numpy.linalg.multi_dot", lambda a, b, c: np.linalg.multi_dot([a, b, c]),
        [(X(2, 3), X(3, 4), X(4, 2)), (X(1, 5), X(5, 1), X(1, 4)), (X(3), X(3, 2), X(2))]),
    Row("numpy.linalg.multi_dot", lambda a, b, c, d: np.linalg.multi_dot((a, b, c, d)),
        [(X(2, 3), X(3, 2), X(2, 3), X(3)), (X(2), X(2, 3), X(3, 2), X(2, 2))]),
    Row("numpy.matvec", lambda a, v: np.matvec(a, v), [(X(2, 3), X(3)), (X(4, 2, 3), X(3)), (X(2, 3), X(4, 3))],
        f"{FLOATS} {COMPLEX}", message=False),
    Row("numpy.vecmat", lambda v, a: np.vecmat(v, a), [(X(2), X(2, 3)), (X(4, 2), X(4, 2, 3))], f"{FLOATS} {COMPLEX}",
        message=False),
    # einsum
    Row("numpy.einsum", lambda a, b: np.einsum("ij,jk->ik", a, b),
        [(X(2, 3), X(3, 4)), (X(2, 1), X(3, 2)), (X(2, 0), X(0, 2))],
        WIDE),
    Row("numpy.einsum", lambda a, b: np.einsum("ij,jk", a, b), [(X(2, 3), X(3, 2)), (X(2, 2), X(3, 2))], message=False),
    Row("numpy.einsum", lambda a, b: np.einsum("...ij,...jk->...ik", a, b),
        [(X(2, 3), X(3, 2)), (X(4, 2, 3), X(3, 2)), (X(4, 2, 3), X(4, 3, 2)), (X(2, 1, 2, 3), X(3, 3, 2))]),
    Row("numpy.einsum", lambda a, b: np.einsum("ij,ij->", a, b), [(X(2, 3), X(2, 3)), (X(0, 3), X(0, 3))], WIDE),
    Row("numpy.einsum", lambda a, b: np.einsum("bi,bi->b", a, b), [(X(4, 3), X(4, 3))], WIDE),
    Row("numpy.einsum", lambda a, b: np.einsum("bij,bj->bi", a, b), [(X(4, 2, 3), X(4, 3))]),
    Row("numpy.einsum", lambda a, b: np.einsum("i,j->ji", a, b), [(X(3), X(2))], WIDE),
    Row("numpy.einsum", lambda a, b: np.einsum("ik,kj,j", a, b, b[0]), [(X(2, 3), X(3, 2))]),
    Row("numpy.einsum", lambda a, b, c: np.einsum("ai,bi,ci->abc", a, b, c, optimize=True),
        [(X(2, 3), X(2, 3), X(3, 3))]),
    Row("numpy.einsum", lambda a, b, c: np.einsum("i,ij,j->", a, b, c), [(X(2), X(2, 3), X(3))]),
    Row("numpy.einsum", lambda a, b: np.einsum("ijj,kij->ki", a, b), [(X(2, 3, 3), X(2, 2, 3))]),
    Row("numpy.einsum", lambda a: np.einsum("ii", a), [X(3, 3), X(2, 3)], WIDE),
    Row("numpy.einsum", lambda a: np.einsum("iij->ji", a), [X(2, 2, 3)]),
    Row("numpy.einsum", lambda a: np.einsum("kij->ik", a), [X(2, 3, 2)], WIDE),
    Row("numpy.einsum", lambda a: np.einsum("...ij->...ji", a), [X(2, 3), X(2, 2, 3)]),
    Row("numpy.einsum", lambda a, s: np.einsum("ij,->ij", a, s), [(X(2, 3), S())]),
    Row("numpy.einsum", lambda a: np.einsum("ij->ik", a), [X(2, 2)], order=0),
    Row("numpy.einsum", lambda a, b: np.einsum(a, [0, 1], b, [1, 2], [2, 0]), [(X(2, 3), X(3, 2))], WIDE),
    Row("numpy.einsum", lambda a: np.einsum(a, [..., 30, 3]), [X(2, 3), X(2, 2, 3)]),
    Row("numpy.linalg.matmul numpy.linalg.matrix_transpose numpy.linalg.diagonal",
        lambda a, b: (np.linalg.matmul(a, b), np.linalg.matrix_transpose(a), np.linalg.diagonal(a)),
        [(X(2, 3), X(3, 2)), (X(2, 2, 3), X(3, 2))]),
]  # fmt: skip

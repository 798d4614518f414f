"""numpy.linalg and scipy.linalg: solutions, factorisations, spectra, norms.

Vectors of a factorisation are compared by what does not depend on their sign.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg

from surface import COMPLEX, FLOATS, NUMBERS, Row, X

WIDE = f"{FLOATS} {COMPLEX}"
ROUGH = {"tolerance": 512.0, "slope": 2e-6, "layouts": ()}  # test_lapack.py tries views
SQUARE = [X(3, 3), X(1, 1), X(2, 2, 2)]
STACKS = [X(3, 3), X(2, 2, 2)]
TALL = [X(4, 2), X(2, 4), X(3, 3)]


def identity(a):
    return np.eye(a.shape[-1], dtype=np.real(a).dtype)


def uneven(a):
    """No two sums of rows or columns are equal, where the largest has a kink."""
    return a * np.linspace(1.0, 1.37, a.size).astype(a.dtype).reshape(a.shape)


def regular(a):
    """A matrix far from singular, of any stack of square ones."""
    return a + 4.0 * identity(a)


def positive(a):
    """A positive definite matrix."""
    return a @ np.conj(np.swapaxes(a, -1, -2)) + 2.0 * identity(a)


def banded(ab, row):
    """Diagonals of a positive definite matrix, of which `row` is the main one."""
    made = ab.copy()
    made[row] = 9.0
    return made


def dominant(c):
    """A first column that is largest on the diagonal."""
    made = c.copy()
    made[0] = 9.0
    return made


def symmetric(a):
    return a + np.conj(np.swapaxes(a, -1, -2))


def squares(v):
    """|v|**2 without a kink."""
    return np.real(v) ** 2 + np.imag(v) ** 2


def eigh_of(a):
    w, v = np.linalg.eigh(symmetric(a))
    return w, squares(v)


def eigh_fields(a):
    found = np.linalg.eigh(positive(a), UPLO="U")
    return found.eigenvalues, found.eigenvectors @ np.conj(found.eigenvectors.T)


def matrix_function(a):
    """A function of a matrix, by its eigenvalues."""
    w, v = np.linalg.eigh(positive(a))
    return (v * np.sqrt(w)) @ np.conj(v.T)


def svd_thin(a):
    u, s, vh = np.linalg.svd(a, full_matrices=False)
    return squares(u), s, squares(vh), (u * s[..., None, :] ** 2) @ vh


def svd_full(a):
    found = np.linalg.svd(a)
    k = a.shape[-1] - 1
    return found.S, found.U[..., :k] @ np.conj(np.swapaxes(found.U[..., :k], -1, -2))


def scipy_svd(a):
    u, s, vh = scipy.linalg.svd(a, full_matrices=False)
    k = a.shape[-1] - 1
    whole = scipy.linalg.svd(a)[0][:, :k]
    return squares(u), s, (u * s**2) @ vh, whole @ np.conj(whole.T), scipy.linalg.svdvals(a)


def scipy_spectrum(a):
    return scipy.linalg.eigvalsh(positive(a)), scipy.linalg.eigh(positive(a), lower=False, eigvals_only=True)


def qr_thin(a):
    q, r = np.linalg.qr(a)
    return q, r


def qr_fields(a):
    found = np.linalg.qr(a, mode="complete")
    return found.Q, found.R


def eig_of(a):
    """Of a matrix with real spectrum, or a complex one: what does not depend on the order."""
    w, v = np.linalg.eig(positive(a) @ np.diag(np.arange(1.0, 1.0 + a.shape[-1])))
    return np.real(np.sum(w**3)), np.sum(squares(v))


def eigvals_rotating(a):
    """Complex eigenvalues of a real matrix."""
    w = np.linalg.eigvals(np.array([[1.0, -5.0], [5.0, 2.0]]) + 0.3 * a)
    return np.sum(np.imag(w) ** 2), np.sum(np.real(w) ** 3)


def lstsq_of(a, b):
    x, left, rank, s = np.linalg.lstsq(a, b)
    return x, left, rank, s


def lu_parts(a):
    p, l, u = scipy.linalg.lu(a)
    return p, l, u


def lu_again(a, b):
    return scipy.linalg.lu_solve(scipy.linalg.lu_factor(regular(a)), b)


def lu_turned(a, b):
    return scipy.linalg.lu_solve(scipy.linalg.lu_factor(regular(a)), b, trans=1)


def cho_again(a, b):
    return scipy.linalg.cho_solve(scipy.linalg.cho_factor(positive(a)), b)


def cho_lower(a, b):
    return scipy.linalg.cho_solve(scipy.linalg.cho_factor(positive(a), lower=True), b)


ROWS = [
    Row("numpy.linalg.solve", lambda a, b: np.linalg.solve(regular(a), b),
        [(X(3, 3), X(3)), (X(3, 3), X(3, 2)), (X(2, 2, 2), X(2, 2, 3)), (X(2, 2, 2), X(2)), (X(2, 2), X(3, 2, 1))],
         WIDE,
        **ROUGH),
    Row("numpy.linalg.solve", lambda a, b: np.linalg.solve(a, b),
        [(X(3, 3), X(2)), (X(3, 2), X(2)), (X(3), X(3)), (np.ones((2, 2)), X(2)), (np.eye(2, dtype=int), X(2)),
         (X(0, 0), X(0))], order=1, **ROUGH),
    Row("numpy.linalg.inv", lambda a: np.linalg.inv(regular(a)), SQUARE, f"{NUMBERS} {COMPLEX}", **ROUGH),
    Row("numpy.linalg.inv", lambda a: np.linalg.inv(a), [X(2, 3), X(3), np.zeros((2, 2)), X(0, 0)], order=0),
    Row("numpy.linalg.det", lambda a: np.linalg.det(a), [*SQUARE, X(2, 3), X(0, 0), np.ones((3, 3))], WIDE, **ROUGH),
    Row("numpy.linalg.det", lambda a: np.linalg.det(np.outer(a, a) + np.outer(a[::-1], a)), [X(3)], reference=None,
        note="singular matrices too", **ROUGH),
    Row("numpy.linalg.slogdet", lambda a: np.linalg.slogdet(regular(a)).logabsdet, SQUARE, WIDE, **ROUGH),
    Row("numpy.linalg.slogdet", lambda a: np.linalg.slogdet(regular(a)), SQUARE, WIDE, **ROUGH),
    Row("numpy.linalg.cholesky", lambda a: np.linalg.cholesky(positive(a)), SQUARE, WIDE, **ROUGH),
    Row("numpy.linalg.cholesky", lambda a: np.linalg.cholesky(positive(a), upper=True), STACKS, WIDE, **ROUGH),
    Row("numpy.linalg.cholesky", lambda a: np.linalg.cholesky(a), [X(2, 3), -np.eye(2)], order=0),
    Row("numpy.linalg.qr", qr_thin, [*TALL, X(2, 3, 2)], WIDE, **ROUGH),
    Row("numpy.linalg.qr", qr_fields, TALL, FLOATS, **ROUGH),
    Row("numpy.linalg.qr", lambda a: np.linalg.qr(a, "r"), TALL, **ROUGH),
    Row("numpy.linalg.svd", svd_thin, [*TALL, X(2, 3, 2)], WIDE, **ROUGH),
    Row("numpy.linalg.svd", svd_full, [X(4, 2), X(2, 4, 3)], WIDE, **ROUGH),
    Row("numpy.linalg.svd numpy.linalg.svdvals", lambda a: np.linalg.svd(a, compute_uv=False), [*TALL, X(2, 3, 2)],
        WIDE,
        **ROUGH),
    Row("numpy.linalg.eigh", eigh_of, [X(3, 3), X(2, 2, 2)], WIDE, **ROUGH),
    Row("numpy.linalg.eigh", eigh_fields, [X(3, 3)], WIDE, **ROUGH),
    Row("numpy.linalg.eigh", matrix_function, [X(3, 3)], WIDE, **ROUGH),
    Row("numpy.linalg.eigvalsh", lambda a: np.linalg.eigvalsh(a), [X(3, 3), X(2, 2, 2), X(2, 3)], WIDE, **ROUGH),
    Row("numpy.linalg.eig", eig_of, [X(3, 3)], "float64 complex128", **ROUGH),
    Row("numpy.linalg.eigvals", eigvals_rotating, [X(2, 2)], "float64 complex128", **ROUGH),
    Row("numpy.linalg.pinv", lambda a: np.linalg.pinv(a), [*TALL, X(2, 3, 2)], WIDE, **ROUGH),
    Row("numpy.linalg.pinv", lambda a: np.linalg.pinv(np.outer(a, a[::-1])), [X(3)], "float64", order=0, **ROUGH),
    Row("numpy.linalg.lstsq", lstsq_of, [(X(4, 2), X(4)), (X(4, 2), X(4, 3)), (X(2, 4), X(2)), (X(3, 2), X(2))],
        **ROUGH),
    Row("numpy.linalg.matrix_power", lambda a: np.linalg.matrix_power(a, 5), [X(2, 2), X(2, 2, 2), X(2, 3)],
        f"{NUMBERS} {COMPLEX}", **ROUGH),
    Row("numpy.linalg.matrix_power", lambda a: np.linalg.matrix_power(regular(a), -2), [X(2, 2)], WIDE, **ROUGH),
    Row("numpy.linalg.matrix_power", lambda a, n: np.linalg.matrix_power(regular(a), n), [(X(2, 2), 0), (X(2, 2), 3)],
        **ROUGH),
    Row("numpy.linalg.matrix_rank", lambda a: np.linalg.matrix_rank(a),
        [X(3, 3), X(2, 2, 3), np.ones((3, 3)), X(3)], order=0),
    Row("numpy.linalg.tensorinv", lambda a: np.linalg.tensorinv(a), [X(2, 2, 4), X(2, 3, 2, 3)], **ROUGH),
    Row("numpy.linalg.tensorsolve", lambda a, b: np.linalg.tensorsolve(a, b), [(X(2, 2, 4), X(2, 2))], **ROUGH),
    Row("numpy.linalg.tensorsolve", lambda a, b: np.linalg.tensorsolve(a, b, axes=(0, 2)), [(X(2, 2, 3, 3), X(2, 3))],
        **ROUGH),
    Row("numpy.linalg.norm", lambda a: np.linalg.norm(a), [X(3), X(2, 3), X(2, 2, 3), X(0)], f"{NUMBERS} {COMPLEX}"),
    Row("numpy.linalg.norm", lambda a: np.linalg.norm(uneven(a), 1), [X(3), X(3, 2)], WIDE),
    Row("numpy.linalg.norm", lambda a: np.linalg.norm(uneven(a), np.inf), [X(3), X(2, 3)], WIDE),
    Row("numpy.linalg.norm", lambda a: np.linalg.norm(uneven(a), -np.inf), [X(3), X(2, 3)]),
    Row("numpy.linalg.norm", lambda a: np.linalg.norm(a, 3), [X(4), X(2, 2)]),
    Row("numpy.linalg.norm", lambda a: np.linalg.norm(a, 0), [X(4)], order=0),
    Row("numpy.linalg.norm", lambda a: np.linalg.norm(a, 2), [X(3, 2), X(3)], **ROUGH),
    Row("numpy.linalg.norm", lambda a: np.linalg.norm(a, "nuc"), [X(3, 2), X(3)], WIDE, **ROUGH),
    Row("numpy.linalg.norm", lambda a: np.linalg.norm(a, "fro", axis=(0, 2)), [X(2, 2, 3)], WIDE),
    Row("numpy.linalg.norm", lambda a: np.linalg.norm(a, axis=-1, keepdims=True), [X(3), X(2, 3), X(2, 2, 3)], WIDE),
    Row("numpy.linalg.norm", lambda a: np.linalg.norm(uneven(a), 1, (2, 0)), [X(2, 2, 3)]),
    Row("numpy.linalg.norm", lambda a, p: np.linalg.norm(a, p, axis=0), [(X(3, 2), 2.5)], wrt=(0,)),
    Row("numpy.linalg.vector_norm", lambda a: np.linalg.vector_norm(a, axis=(0, 2), ord=1), [X(2, 2, 3)]),
    Row("numpy.linalg.vector_norm", lambda a: np.linalg.vector_norm(a), [X(2, 3)]),
    Row("numpy.linalg.matrix_norm", lambda a: np.linalg.matrix_norm(uneven(a), ord=np.inf), [X(2, 3), X(2, 2, 3)]),
    Row("numpy.linalg.cond", lambda a: np.linalg.cond(regular(a)), STACKS, **ROUGH),
    Row("numpy.linalg.cond", lambda a: np.linalg.cond(regular(a), 1), STACKS, **ROUGH),
    # SciPy
    Row("scipy.linalg.inv", lambda a: scipy.linalg.inv(regular(a)), [X(3, 3)], WIDE, **ROUGH),
    Row("scipy.linalg.inv", lambda a: scipy.linalg.inv(a), [np.zeros((2, 2)), X(2, 3)], order=0, message=False),
    Row("scipy.linalg.det", lambda a: scipy.linalg.det(a), [X(3, 3)], "float64 complex128", **ROUGH),
    Row("scipy.linalg.solve", lambda a, b: scipy.linalg.solve(regular(a), b), [(X(3, 3), X(3)), (X(3, 3), X(3, 2))],
        WIDE,
        **ROUGH),
    Row("scipy.linalg.solve", lambda a, b: scipy.linalg.solve(positive(a), b, assume_a="pos"), [(X(3, 3), X(3, 2))],
        **ROUGH),
    Row("scipy.linalg.solve_triangular", lambda a, b: scipy.linalg.solve_triangular(regular(a), b),
        [(X(3, 3), X(3)), (X(3, 3), X(3, 2))], WIDE, **ROUGH),
    Row("scipy.linalg.solve_triangular",
        lambda a, b: scipy.linalg.solve_triangular(regular(a), b, trans="T", lower=True), [(X(3, 3), X(3))],
        WIDE, **ROUGH),
    Row("scipy.linalg.solve_triangular",
        lambda a, b: scipy.linalg.solve_triangular(a, b, trans=2, unit_diagonal=True), [(X(3, 3), X(3, 2))],
        WIDE, **ROUGH),
    Row("scipy.linalg.solve_triangular", lambda a, b: scipy.linalg.solve_triangular(a, b),
        [(np.zeros((2, 2)), X(2))], order=0),
    Row("scipy.linalg.lu", lu_parts, TALL, WIDE, **ROUGH),
    Row("scipy.linalg.lu", lambda a: scipy.linalg.lu(a, permute_l=True), TALL, **ROUGH),
    Row("scipy.linalg.lu", lambda a: scipy.linalg.lu(a, p_indices=True), TALL, **ROUGH),
    Row("scipy.linalg.lu_factor", lambda a: scipy.linalg.lu_factor(a), TALL, **ROUGH),
    Row("scipy.linalg.lu_solve", lu_again, [(X(3, 3), X(3)), (X(3, 3), X(3, 2))], WIDE, **ROUGH),
    Row("scipy.linalg.lu_solve", lu_turned, [(X(3, 3), X(3)), (X(3, 3), X(3, 2))], **ROUGH),
    Row("scipy.linalg.cholesky", lambda a: scipy.linalg.cholesky(positive(a)), [X(3, 3)], WIDE, **ROUGH),
    Row("scipy.linalg.cholesky", lambda a: scipy.linalg.cholesky(positive(a), lower=True), [X(3, 3)], WIDE, **ROUGH),
    Row("scipy.linalg.cho_factor scipy.linalg.cho_solve", cho_again, [(X(3, 3), X(3))], WIDE, **ROUGH),
    Row("scipy.linalg.cho_solve", cho_lower, [(X(3, 3), X(3, 2))], **ROUGH),
    Row("scipy.linalg.solve_sylvester", lambda a, b, q: scipy.linalg.solve_sylvester(regular(a), regular(b), q),
        [(X(3, 3), X(2, 2), X(3, 2))], **ROUGH),
    Row("scipy.linalg.expm", lambda a: scipy.linalg.expm(a), [X(3, 3), X(2, 2, low=-0.1, high=0.1), X(2, 2, 2)],
        WIDE, **ROUGH),
    Row("scipy.linalg.expm", lambda a: scipy.linalg.expm(4.0 * a), [X(3, 3)], "float64", **ROUGH),
    Row("scipy.linalg.norm", lambda a: scipy.linalg.norm(a), [X(3, 3)]),
    Row("scipy.linalg.svd scipy.linalg.svdvals", scipy_svd, [X(4, 2), X(3, 3)], FLOATS, **ROUGH),
    Row("scipy.linalg.qr", lambda a: (scipy.linalg.qr(a, mode="economic"), scipy.linalg.qr(a, mode="r")), [X(3, 3)],
        **ROUGH),
    Row("scipy.linalg.qr", lambda a: scipy.linalg.qr(a)[1], [X(3, 3), X(2, 4)], **ROUGH),
    Row("scipy.linalg.pinv", lambda a: (scipy.linalg.pinv(a), scipy.linalg.pinv(a, rtol=1e-3)), [X(4, 2), X(2, 4)],
        "float64 complex128", **ROUGH),
    Row("scipy.linalg.eigvalsh scipy.linalg.eigh", scipy_spectrum, [X(3, 3)], WIDE,
        note="the eigenvalues alone: signs of eigenvectors are those of SciPy's driver", **ROUGH),
    Row("scipy.linalg.solve_banded", lambda ab, b: scipy.linalg.solve_banded((1, 1), ab, b),
        [(X(3, 5), X(5)), (X(3, 4), X(4, 2)), (X(3, 4), X(5)), (X(2, 4), X(4)), (np.zeros((3, 3)), X(3))], WIDE,
        **ROUGH),
    Row("scipy.linalg.solve_banded",
        lambda ab, b: (scipy.linalg.solve_banded((2, 1), ab, b), scipy.linalg.solve_banded((0, 3), ab, b),
                       scipy.linalg.solve_banded((3, 0), ab, b, check_finite=False)), [(X(4, 4), X(4))], WIDE,
        **ROUGH),
    Row("scipy.linalg.solveh_banded", lambda ab, b: scipy.linalg.solveh_banded(banded(ab, -1), b),
        [(X(3, 5), X(5)), (X(2, 4), X(4, 2)), (X(1, 3), X(3)), (X(2, 4), X(3))], WIDE, **ROUGH),
    Row("scipy.linalg.solveh_banded", lambda ab, b: scipy.linalg.solveh_banded(banded(ab, 0), b, lower=True),
        [(X(3, 5), X(5)), (X(2, 4), X(4, 2))], WIDE, **ROUGH),
    Row("scipy.linalg.solveh_banded", lambda ab, b: scipy.linalg.solveh_banded(ab, b), [(X(3, 4), X(4))], order=0,
        **ROUGH),
    Row("scipy.linalg.solve_toeplitz",
        lambda c, b: (scipy.linalg.solve_toeplitz(dominant(c), b), scipy.linalg.solve_toeplitz((dominant(c), c), b)),
        [(X(4), X(4)), (X(3), X(3, 2)), (X(1), X(1)), (X(3), X(2))], "float64 complex128", **ROUGH),
    Row("scipy.linalg.solve_toeplitz", lambda c, b: scipy.linalg.solve_toeplitz(c - c, b), [(X(3), X(3))], order=0),
    Row("scipy.linalg.toeplitz", lambda c, r: (scipy.linalg.toeplitz(c), scipy.linalg.toeplitz(c, r)),
        [(X(3), X(4)), (X(2), X(1))], f"{NUMBERS} {COMPLEX}"),
    Row("scipy.linalg.hankel", lambda c, r: (scipy.linalg.hankel(c), scipy.linalg.hankel(c, r)),
        [(X(3), X(4)), (X(2), X(1))], f"{NUMBERS} {COMPLEX}"),
    Row("scipy.linalg.circulant", lambda c: scipy.linalg.circulant(c), [X(4), X(1)], f"{NUMBERS} {COMPLEX}"),
    Row("scipy.linalg.block_diag", lambda a, b: scipy.linalg.block_diag(a, [2.0], b[0], b),
        [(X(2, 3), X(2, 2))], f"{NUMBERS} {COMPLEX}"),
]  # fmt: skip

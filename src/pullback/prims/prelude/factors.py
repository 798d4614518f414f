"""Solutions and factors of one matrix, each with its derivative: what numpy.linalg and scipy.linalg are made of.

    x = solved(a, lu, pivots, b)          da, db  ->  a dx = db - da x          (lu, pivots: of `a`, as they are)
    l = cholesky_factor(a)                dl = l P(l^-1 da l'^-1)               P: lower triangle, half the diagonal

The derivatives are those of Giles, "Collected matrix derivative results for forward and reverse mode algorithmic
differentiation" (2008), and of Seeger et al., "Auto-differentiating linear algebra" (2017), for QR, eigenvectors and
singular vectors (in `spectral` and `spectra`).  They hold for complex matrices too: ' is the conjugate transpose.

LAPACK stores columns: `lapack` takes transposes, and gives transposes back.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.linalg import LinAlgError

from pullback.prims.prelude.intrinsics import lapack, ruled, zeros_of
from pullback.prims.prelude.small_systems import lu_factors, lu_solution

__all__ = [
    "adjoint", "cholesky_factor", "diagonal_times", "eps_of", "from_lower", "identity_like", "inverse", "lower",
    "rank_one", "solved", "strictly_lower", "strictly_upper", "to_lower", "triangular", "upper",
]  # fmt: skip


def adjoint(a: Any) -> Any:
    """The conjugate transpose."""
    return np.conj(a.T)


def rank_one(x: Any, y: Any) -> Any:
    """x y', of vectors or of matrices."""
    if x.ndim == 1:
        return np.outer(x, np.conj(y))
    return x @ adjoint(y)


def columns(b: Any) -> Any:
    """A vector or matrix as LAPACK has it."""
    if b.ndim == 1:
        return b[None, :]
    return b.T


def uncolumned(x: Any, b: Any) -> Any:
    """What LAPACK gave, in the form of b."""
    if b.ndim == 1:
        return x[0]
    return np.ascontiguousarray(x.T)


def lower(a: Any) -> Any:
    """The matrix without what stands above its diagonal."""
    out = zeros_of(a.shape, a)
    for i in range(a.shape[0]):
        out[i, : i + 1] = a[i, : i + 1]
    return out


def strictly_lower(a: Any) -> Any:
    out = zeros_of(a.shape, a)
    for i in range(a.shape[0]):
        out[i, :i] = a[i, :i]
    return out


def upper(a: Any) -> Any:
    """The matrix without what stands below its diagonal."""
    out = zeros_of(a.shape, a)
    for i in range(a.shape[0]):
        out[i, i:] = a[i, i:]
    return out


def strictly_upper(a: Any) -> Any:
    out = zeros_of(a.shape, a)
    for i in range(a.shape[0]):
        out[i, i + 1 :] = a[i, i + 1 :]
    return out


def identity_like(a: Any) -> Any:
    """The identity of the size and dtype of a square matrix."""
    out = zeros_of(a.shape, a)
    for i in range(a.shape[0]):
        out[i, i] = 1.0
    return out


def diagonal_times(d: Any, a: Any) -> Any:
    """diag(d) @ a."""
    return d[:, None] * a


def half_lower(a: Any) -> Any:
    """The lower triangle, half of the diagonal."""
    out = lower(a)
    for i in range(a.shape[0]):
        out[i, i] = 0.5 * a[i, i]
    return out


def from_lower(a: Any) -> Any:
    """The symmetric (Hermitian) matrix with this lower triangle."""
    part = half_lower(a)
    return part + adjoint(part)


def to_lower(c: Any) -> Any:
    """The cotangent of a matrix of which `from_lower` was taken."""
    return 2.0 * half_lower(0.5 * (c + adjoint(c)))


def eps_of(x: Any) -> Any:
    """The distance from 1 to the next number, of a real array's dtype."""
    if x.dtype == np.float32:
        return np.float32(1.1920929e-07)
    return np.float64(2.220446049250313e-16)


# ------------------------------------------------------------------------------------------------- linear systems


def _solved_jvp(primals: Any, tangents: Any) -> Any:
    """The factors are those of a: what they do is told by da."""
    a, lu, pivots, b = primals
    da, _, _, db = tangents
    x = solved(a, lu, pivots, b)
    return x, solved(a, lu, pivots, db - da @ x)


def _solved_forward(a: Any, lu: Any, pivots: Any, b: Any) -> Any:
    x = solved(a, lu, pivots, b)
    return x, (a, lu, pivots, x)


def _solved_backward(residuals: Any, c: Any) -> Any:
    a, lu, pivots, x = residuals
    y = solved_adjoint(a, lu, pivots, c)
    return -rank_one(y, x), None, None, y


def _adjoint_jvp(primals: Any, tangents: Any) -> Any:
    a, lu, pivots, b = primals
    da, _, _, db = tangents
    x = solved_adjoint(a, lu, pivots, b)
    return x, solved_adjoint(a, lu, pivots, db - adjoint(da) @ x)


def _adjoint_forward(a: Any, lu: Any, pivots: Any, b: Any) -> Any:
    x = solved_adjoint(a, lu, pivots, b)
    return x, (a, lu, pivots, x)


def _adjoint_backward(residuals: Any, c: Any) -> Any:
    a, lu, pivots, x = residuals
    y = solved(a, lu, pivots, c)
    return -rank_one(x, y), None, None, y


@ruled(jvp=_solved_jvp, vjp=(_solved_forward, _solved_backward))
def solved(a: Any, lu: Any, pivots: Any, b: Any) -> Any:
    """The x of a @ x = b; lu and pivots are the factors of a, by which there is no derivative."""
    return uncolumned(lu_solution(lu, pivots, columns(b), False), b)


@ruled(jvp=_adjoint_jvp, vjp=(_adjoint_forward, _adjoint_backward))
def solved_adjoint(a: Any, lu: Any, pivots: Any, b: Any) -> Any:
    """The x of a' @ x = b."""
    return np.conj(uncolumned(lu_solution(lu, pivots, columns(np.conj(b)), True), b))


def _inverse_jvp(checked: bool, primals: Any, tangents: Any) -> Any:
    (a,), (da,) = primals, tangents
    x = inverse(a, checked)
    return x, -(x @ da @ x)


def _inverse_forward(a: Any, checked: bool) -> Any:
    x = inverse(a, checked)
    return x, x


def _inverse_backward(checked: bool, x: Any, c: Any) -> Any:
    y = adjoint(x)
    return (-(y @ c @ y),)


@ruled(jvp=_inverse_jvp, vjp=(_inverse_forward, _inverse_backward), nondiff=(1,))
def inverse(a: Any, checked: bool) -> Any:
    """The inverse of a square matrix; where there is none an error, or infinities and nans."""
    lu, pivots, info = lu_factors(a.T)
    if checked and info > 0:
        raise LinAlgError("Singular matrix")
    return np.ascontiguousarray(lu_solution(lu, pivots, identity_like(a), False).T)


# ------------------------------------------------------------------------------------------------------ triangles


def _masked(a: Any, is_lower: bool, unit: bool) -> Any:
    """The part of a matrix that `triangular` reads."""
    if is_lower:
        return strictly_lower(a) if unit else lower(a)
    return strictly_upper(a) if unit else upper(a)


def _triangular_jvp(is_lower: bool, adjoined: bool, unit: bool, primals: Any, tangents: Any) -> Any:
    a, b = primals
    da, db = tangents
    x = triangular(a, b, is_lower, adjoined, unit)
    change = _masked(da, is_lower, unit)
    if adjoined:
        change = adjoint(change)
    return x, triangular(a, db - change @ x, is_lower, adjoined, unit)


def _triangular_forward(a: Any, b: Any, is_lower: bool, adjoined: bool, unit: bool) -> Any:
    x = triangular(a, b, is_lower, adjoined, unit)
    return x, (a, x)


def _triangular_backward(is_lower: bool, adjoined: bool, unit: bool, residuals: Any, c: Any) -> Any:
    a, x = residuals
    if adjoined:
        y = triangular(a, c, is_lower, False, unit)
        return -_masked(rank_one(x, y), is_lower, unit), y
    y = triangular(a, c, is_lower, True, unit)
    return -_masked(rank_one(y, x), is_lower, unit), y


@ruled(jvp=_triangular_jvp, vjp=(_triangular_forward, _triangular_backward), nondiff=(2, 3, 4))
def triangular(a: Any, b: Any, is_lower: bool, adjoined: bool, unit: bool) -> Any:
    """The x of t @ x = b, or of t' @ x = b: t is a triangle of a, with ones on the diagonal if `unit`."""
    if adjoined:
        x, _ = lapack("trtrs", a.T, columns(np.conj(b)), lower=is_lower, transposed=True, unit=unit)
        return np.conj(uncolumned(x, b))
    x, _ = lapack("trtrs", a.T, columns(b), lower=is_lower, transposed=False, unit=unit)
    return uncolumned(x, b)


# ------------------------------------------------------------------------------------------------------- Cholesky


def _cholesky_jvp(primals: Any, tangents: Any) -> Any:
    (a,), (da,) = primals, tangents
    l = cholesky_factor(a)
    inner = triangular(l, adjoint(triangular(l, from_lower(da), True, False, False)), True, False, False)
    return l, l @ half_lower(adjoint(inner))


def _cholesky_forward(a: Any) -> Any:
    l = cholesky_factor(a)
    return l, l


def _cholesky_backward(l: Any, c: Any) -> Any:
    inner = half_lower(adjoint(l) @ lower(c))
    outer = triangular(l, adjoint(triangular(l, inner, True, True, False)), True, True, False)
    return (to_lower(outer),)


@ruled(jvp=_cholesky_jvp, vjp=(_cholesky_forward, _cholesky_backward))
def cholesky_factor(a: Any) -> Any:
    """The lower triangular l with l @ l' = a, of which the lower triangle is read."""
    packed, info = lapack("potrf", a.T)
    if info > 0:
        raise LinAlgError("Matrix is not positive definite")
    return lower(packed.T)

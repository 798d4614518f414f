"""numpy.linalg: checks, stacks of matrices, and what is returned; the factorisations themselves are in `factors`.

    np.linalg.inv(a)      2-D: inverse(a);  above: a loop over the leading axes

Matrices come as floats of one dtype: `infer.linalg` has converted ints and lists.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.linalg import LinAlgError

from pullback.prims.prelude.determinants import determinant, signed_log
from pullback.prims.prelude.factors import adjoint, cholesky_factor, eps_of, inverse, solved
from pullback.prims.prelude.intrinsics import zeros_of
from pullback.prims.prelude.small_systems import lu_factors
from pullback.prims.prelude.spectra import (
    full_singular,
    general,
    general_values,
    householder,
    orthogonal,
    raw_orthogonal,
)
from pullback.prims.prelude.spectral import pseudo_inverse, singular, singular_values, symmetric, symmetric_values

__all__ = ["FUNCTIONS", "inv", "over", "over_two", "require_square", "solve_one"]


def require_matrix(a: Any) -> None:
    if a.ndim < 2:
        raise LinAlgError(f"{a.ndim}-dimensional array given. Array must be at least two-dimensional")


def require_square(a: Any) -> None:
    require_matrix(a)
    if a.shape[-1] != a.shape[-2]:
        raise LinAlgError("Last 2 dimensions of the array must be square")


def over(f: Any, a: Any, out: Any) -> Any:
    """f of every matrix of a stack."""
    for i in range(a.shape[0]):
        if a.ndim == 3:
            out[i] = f(a[i])
        else:
            over(f, a[i], out[i])
    return out


def over_two(f: Any, a: Any, first: Any, second: Any) -> None:
    """As `over`, of a function with two results."""
    for i in range(a.shape[0]):
        if a.ndim == 3:
            x, y = f(a[i])
            first[i] = x
            second[i] = y
        else:
            over_two(f, a[i], first[i], second[i])


def over_three(f: Any, a: Any, first: Any, second: Any, third: Any) -> None:
    """As `over`, of a function with three results."""
    for i in range(a.shape[0]):
        if a.ndim == 3:
            x, y, z = f(a[i])
            first[i] = x
            second[i] = y
            third[i] = z
        else:
            over_three(f, a[i], first[i], second[i], third[i])


# -------------------------------------------------------------------------------------------------- linear systems


def solve_one(a: Any, b: Any) -> Any:
    lu, pivots, info = lu_factors(a.T)
    if info > 0:
        raise LinAlgError("Singular matrix")
    return solved(a, lu, pivots, b)


def solve_stack(a: Any, b: Any, out: Any) -> Any:
    """Stacks of one rank; leading axes of size 1 serve all of the other."""
    for i in range(out.shape[0]):
        x, y = a[i if a.shape[0] > 1 else 0], b[i if b.shape[0] > 1 else 0]
        if a.ndim == 3:
            out[i] = solve_one(x, y)
        else:
            solve_stack(x, y, out[i])
    return out


def inverse_checked(a: Any) -> Any:
    return inverse(a, True)


def inv(a: Any) -> Any:
    require_square(a)
    if a.ndim == 2:
        return inverse_checked(a)
    return over(inverse_checked, a, zeros_of(a.shape, a))


def det(a: Any) -> Any:
    require_square(a)
    if a.ndim == 2:
        return determinant(a)
    return over(determinant, a, zeros_of(a.shape[:-2], a))


def slogdet(a: Any) -> Any:
    require_square(a)
    if a.ndim == 2:
        sign, size = signed_log(a)
        return sign, size
    signs, sizes = zeros_of(a.shape[:-2], a), zeros_of(a.shape[:-2], np.real(a))
    over_two(signed_log, a, signs, sizes)
    return signs, sizes


def pinv_one(a: Any, cutoff: Any) -> Any:
    if a.size == 0:
        return zeros_of((a.shape[1], a.shape[0]), a)
    return pseudo_inverse(a, float(cutoff))


def pinv_stack(a: Any, cutoff: Any, out: Any) -> Any:
    for i in range(a.shape[0]):
        if a.ndim == 3:
            out[i] = pinv_one(a[i], cutoff)
        else:
            pinv_stack(a[i], cutoff, out[i])
    return out


def pinv(a: Any, rcond: Any = 1e-15, hermitian: bool = False, *, rtol: Any = -1.0) -> Any:
    require_matrix(a)
    cutoff = 1e-15 if rcond is None else rcond
    if rtol is None:
        cutoff = max(a.shape[-2], a.shape[-1]) * float(eps_of(np.real(a)))
    elif rtol >= 0.0:
        cutoff = rtol
    if a.ndim == 2:
        return pinv_one(a, cutoff)
    return pinv_stack(a, cutoff, zeros_of((*a.shape[:-2], a.shape[-1], a.shape[-2]), a))


def lstsq(a: Any, b: Any, rcond: Any = None) -> Any:
    if a.ndim != 2:
        raise LinAlgError(f"{a.ndim}-dimensional array given. Array must be two-dimensional")
    if a.shape[0] != b.shape[0]:
        raise LinAlgError("Incompatible dimensions")
    m, n = a.shape
    s = singular_values(a)
    cutoff = max(m, n) * float(eps_of(s)) if rcond is None else rcond
    if cutoff < 0.0:
        cutoff = float(eps_of(s))
    rank = 0
    for k in range(len(s)):
        if s[k] > cutoff * s[0]:
            rank += 1
    x = pinv_one(a, cutoff) @ b
    gap = b - a @ x
    squares = np.real(gap) ** 2 + np.imag(gap) ** 2
    if b.ndim == 1:
        left = np.sum(squares, axis=0, keepdims=True)
    else:
        left = np.sum(squares, axis=0)
    if rank != n or m <= n:
        left = left[:0].copy()
    return x, left, np.int32(rank), s


def matrix_rank(a: Any, tol: Any = None, hermitian: bool = False, *, rtol: Any = None) -> Any:
    if a.ndim < 2:
        return int(not np.all(a == 0))
    s = svdvals(a)
    largest = np.zeros(s.shape[:-1], s.dtype)
    if s.shape[-1] > 0:
        largest = np.max(s, axis=-1)
    if tol is None:
        if rtol is None:
            rtol = max(a.shape[-2], a.shape[-1]) * float(eps_of(s))
        return np.sum(s > np.expand_dims(largest * rtol, -1), axis=-1)
    return np.sum(s > np.expand_dims(np.asarray(tol), -1), axis=-1)


# ---------------------------------------------------------------------------------------------------- factorisations


def upper_factor(a: Any) -> Any:
    return adjoint(cholesky_factor(adjoint(a)))


def cholesky(a: Any, /, *, upper: bool = False) -> Any:
    require_square(a)
    if a.ndim == 2:
        return np.ascontiguousarray(upper_factor(a)) if upper else cholesky_factor(a)
    return over(upper_factor if upper else cholesky_factor, a, zeros_of(a.shape, a))


def complete(a: Any) -> Any:
    """Q with all its columns.  Those beyond the columns of a depend on the order of the arithmetic: it is LAPACK's."""
    return householder(a) if a.shape[0] > a.shape[1] else orthogonal(a)


def qr(a: Any, mode: str = "reduced") -> Any:
    require_matrix(a)
    m, n = a.shape[-2], a.shape[-1]
    k = min(m, n)
    if mode == "raw":
        if a.ndim == 2:
            return raw_orthogonal(a)
        h, tau = zeros_of((*a.shape[:-2], n, m), a), zeros_of((*a.shape[:-2], k), a)
        over_two(raw_orthogonal, a, h, tau)
        return h, tau
    if mode == "complete":
        if a.ndim == 2:
            q, r = complete(a)
            return q, r
        q, r = zeros_of((*a.shape[:-2], m, m), a), zeros_of(a.shape, a)
        over_two(complete, a, q, r)
        return q, r
    if mode != "reduced" and mode != "r":
        raise ValueError(f"Unrecognized mode '{mode}'")
    if a.ndim == 2:
        q, r = orthogonal(a)
    else:
        q, r = zeros_of((*a.shape[:-2], m, k), a), zeros_of((*a.shape[:-2], k, n), a)
        over_two(orthogonal, a, q, r)
    if mode == "r":
        return r
    return q, r


def svdvals(a: Any, /) -> Any:
    require_matrix(a)
    if a.ndim == 2:
        return singular_values(a)
    return over(singular_values, a, zeros_of((*a.shape[:-2], min(a.shape[-2], a.shape[-1])), np.real(a)))


def svd(a: Any, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False) -> Any:
    require_matrix(a)
    if not compute_uv:
        return svdvals(a)
    if a.ndim == 2:
        u, s, vh = full_singular(a) if full_matrices else singular(a)
        return u, s, vh
    m, n, lead = a.shape[-2], a.shape[-1], a.shape[:-2]
    k = min(m, n)
    s = zeros_of((*lead, k), np.real(a))
    if full_matrices:
        u, vh = zeros_of((*lead, m, m), a), zeros_of((*lead, n, n), a)
        over_three(full_singular, a, u, s, vh)
    else:
        u, vh = zeros_of((*lead, m, k), a), zeros_of((*lead, k, n), a)
        over_three(singular, a, u, s, vh)
    return u, s, vh


def triangle(a: Any, uplo: Any) -> Any:
    """The matrices whose lower triangles are read."""
    if uplo != "L" and uplo != "U" and uplo != "l" and uplo != "u":
        raise ValueError("UPLO argument must be 'L' or 'U'")
    if uplo == "L" or uplo == "l":
        return a
    return np.conj(np.swapaxes(a, -1, -2))


def eigh(a: Any, UPLO: str = "L") -> Any:
    require_square(a)
    part = triangle(a, UPLO)
    if a.ndim == 2:
        w, v = symmetric(part)
    else:
        w, v = zeros_of(a.shape[:-1], np.real(a)), zeros_of(a.shape, a)
        over_two(symmetric, part, w, v)
    return w, v


def eigvalsh(a: Any, UPLO: str = "L") -> Any:
    require_square(a)
    part = triangle(a, UPLO)
    if a.ndim == 2:
        return symmetric_values(part)
    return over(symmetric_values, part, zeros_of(a.shape[:-1], np.real(a)))


def require_finite(a: Any) -> None:
    if not np.all(np.isfinite(np.real(a))) or not np.all(np.isfinite(np.imag(a))):
        raise LinAlgError("Array must not contain infs or NaNs")


def eig_complex(a: Any) -> Any:
    """Complex eigenvalues and vectors of a real or complex matrix."""
    require_square(a)
    require_finite(a)
    if a.ndim == 2:
        w, v = general(a)
    else:
        model = a * 1j
        w, v = zeros_of(a.shape[:-1], model), zeros_of(a.shape, model)
        over_two(general, a, w, v)
    return w, v


def eig_real(a: Any) -> Any:
    """Of a real matrix: real where all eigenvalues are."""
    w, v = eig_complex(a)
    if np.all(np.imag(w) == 0.0):
        return np.real(w).copy(), np.real(v).copy()
    return w, v


def eigvals_complex(a: Any) -> Any:
    require_square(a)
    require_finite(a)
    if a.ndim == 2:
        return general_values(a)
    return over(general_values, a, zeros_of(a.shape[:-1], a * 1j))


def eigvals_real(a: Any) -> Any:
    w = eigvals_complex(a)
    if np.all(np.imag(w) == 0.0):
        return np.real(w).copy()
    return w


FUNCTIONS: dict[str, Any] = {
    **{
        f"numpy.linalg.{f.__name__}": f
        for f in (
            inv, det, slogdet, pinv, lstsq, matrix_rank, cholesky, qr, svd, svdvals, eigh, eigvalsh,
        )
    },
    **{
        f"pullback.{f.__name__}": f
        for f in (solve_one, solve_stack, eig_real, eig_complex, eigvals_real, eigvals_complex, inverse_checked,
                  require_square)
    },
}  # fmt: skip

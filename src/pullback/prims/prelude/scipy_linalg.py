"""scipy.linalg: LU and Cholesky factors and what is solved with them, the exponential, Sylvester's equation.

    lu, piv = scipy.linalg.lu_factor(a);  x = scipy.linalg.lu_solve((lu, piv), b)     two triangular solves

`expm` is scaling and squaring of Pade approximants (Higham, "The scaling and squaring method for the matrix exponential
revisited", 2005); it is differentiated as it is written.  Sylvester's equation is solved in Schur form (Bartels and
Stewart 1972).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.linalg import LinAlgError

from pullback.prims.prelude.determinants import determinant
from pullback.prims.prelude.factors import (
    adjoint,
    cholesky_factor,
    identity_like,
    inverse,
    strictly_lower,
    strictly_upper,
    triangular,
    upper,
)
from pullback.prims.prelude.intrinsics import lapack, ruled, zeros_of
from pullback.prims.prelude.linalg import over, require_square, solve_one
from pullback.prims.prelude.small_systems import lu_factors

__all__ = ["FUNCTIONS"]


def require_finite(a: Any) -> None:
    if not np.all(np.isfinite(np.real(a))) or not np.all(np.isfinite(np.imag(a))):
        raise ValueError("array must not contain infs or NaNs")


def require_square_matrix(a: Any) -> None:
    if a.ndim != 2 or a.shape[0] != a.shape[1]:
        raise ValueError("expected square matrix")


def require_rows(a: Any, b: Any) -> None:
    if a.shape[0] != b.shape[0]:
        raise ValueError(f"incompatible dimensions: {a.shape[0]} and {b.shape[0]} rows")


def inv_one(a: Any) -> Any:
    return inverse(a, True)


def inv(a: Any) -> Any:
    if a.ndim < 2 or a.shape[-1] != a.shape[-2]:
        raise ValueError("expected square matrix")
    if a.ndim == 2:
        return inv_one(a)
    return over(inv_one, a, zeros_of(a.shape, a))


def det(a: Any) -> Any:
    if a.ndim < 2 or a.shape[-1] != a.shape[-2]:
        raise ValueError("Last 2 dimensions of the array must be square")
    if a.ndim == 2:
        return determinant(a) + np.float64(0.0)
    return over(determinant, a, zeros_of(a.shape[:-2], a)) + np.float64(0.0)


def symmetrised(a: Any, lower: bool) -> Any:
    """The symmetric matrix of which one triangle is given."""
    part = np.tril(a) if lower else np.triu(a)
    rest = strictly_lower(a) if lower else strictly_upper(a)
    return part + adjoint(rest)


def solve(a: Any, b: Any, lower: bool = False, assume_a: Any = None, transposed: bool = False) -> Any:
    require_square_matrix(a)
    require_rows(a, b)
    if assume_a is None or assume_a == "gen" or assume_a == "general" or assume_a == "banded":
        _, _, info = lu_factors(a.T)
        if info > 0:
            raise LinAlgError("singular matrix")
        return solve_one(a.T if transposed else a, b)
    if assume_a == "pos" or assume_a == "positive definite":
        return solved_by_factor(cholesky_factor(a if lower else adjoint(a)), b, True)
    if assume_a == "sym" or assume_a == "her" or assume_a == "symmetric" or assume_a == "hermitian":
        return solve_one(symmetrised(a, lower), b)
    if assume_a == "diagonal":
        d = np.diagonal(a)
        return b / d if b.ndim == 1 else b / d[:, None]
    if assume_a == "upper triangular" or assume_a == "lower triangular":
        return solve_triangular(a, b, 1 if transposed else 0, assume_a == "lower triangular")
    raise ValueError(f"{assume_a} is not a recognized matrix structure")


def solve_triangular(a: Any, b: Any, trans: Any = 0, lower: bool = False, unit_diagonal: bool = False) -> Any:
    """trans as a number known while compiling or a letter."""
    if a.ndim != 2 or a.shape[0] != a.shape[1]:
        raise ValueError("expected square matrix")
    if a.shape[0] != b.shape[0]:
        raise ValueError(f"shapes of a {a.shape} and b {b.shape} are incompatible")
    if not unit_diagonal:
        for i in range(a.shape[0]):
            if a[i, i] == 0.0:
                raise LinAlgError(f"singular matrix: resolution failed at diagonal {i}")
    if trans == 0 or trans == "N":
        return triangular(a, b, lower, False, unit_diagonal)
    if trans == 1 or trans == "T":
        return np.conj(triangular(a, np.conj(b), lower, True, unit_diagonal))
    if trans == 2 or trans == "C":
        return triangular(a, b, lower, True, unit_diagonal)
    raise ValueError("trans must be 0, 1, 2, 'N', 'T' or 'C'")


# ------------------------------------------------------------------------------------------------------------- LU


def permuted(a: Any, pivots: Any, first: int) -> Any:
    """The rows exchanged as a factorisation did; `first` is the number of row 0 in the pivots."""
    out = a.copy()
    for i in range(len(pivots)):
        j = pivots[i] - first
        if j != i:
            if a.ndim == 1:
                kept = out[i]
                out[i] = out[j]
                out[j] = kept
            else:
                row = out[i].copy()
                out[i] = out[j]
                out[j] = row
    return out


def _packed_jvp(primals: Any, tangents: Any) -> Any:
    """g = l^-1 p da u^-1 has the strict lower triangle l^-1 dl and the upper one du u^-1; then the other rows."""
    (a,), (da,) = primals, tangents
    lu, pivots = packed(a)
    m, n = a.shape
    k = min(m, n)
    change = permuted(da, pivots, 1)
    top, moved = lu[:k, :k], change[:k, :k]
    inner = triangular(top, moved, True, False, True)
    inner = adjoint(triangular(top, adjoint(inner), False, True, False))
    unit = strictly_lower(top) + identity_like(top)
    dl, du = unit @ strictly_lower(inner), upper(inner) @ upper(top)
    out = zeros_of(a.shape, a)
    out[:k, :k] = dl + du
    if m > n:
        rest = change[k:] - lu[k:] @ du
        out[k:] = adjoint(triangular(top, adjoint(rest), False, True, False))
    if n > m:
        out[:, k:] = triangular(top, change[:, k:] - dl @ lu[:, k:], True, False, True)
    return (lu, pivots), (out, np.zeros_like(pivots))


@ruled(jvp=_packed_jvp)
def packed(a: Any) -> Any:
    """Both factors in one matrix, and pivots that count from 1."""
    lu, pivots, _ = lu_factors(a.T)
    return np.ascontiguousarray(lu.T), pivots


def lu_factor(a: Any) -> Any:
    if a.ndim != 2:
        raise ValueError("expected a matrix")
    lu, pivots = packed(a)
    return lu, pivots - np.int32(1)


def lu_solve(lu: Any, pivots: Any, b: Any, trans: Any = 0) -> Any:
    if lu.shape[0] != b.shape[0]:
        raise ValueError(f"Shapes of lu {lu.shape} and b {b.shape} are incompatible")
    if trans == 0:
        return triangular(lu, triangular(lu, permuted(b, pivots, 0), True, False, True), False, False, False)
    if trans == 2:
        x = triangular(lu, triangular(lu, b, False, True, False), True, True, True)
    else:
        x = np.conj(triangular(lu, triangular(lu, np.conj(b), False, True, False), True, True, True))
    return unpermuted(x, pivots)


def unpermuted(a: Any, pivots: Any) -> Any:
    """The exchanges undone, the last one first."""
    out = a.copy()
    for back in range(len(pivots)):
        i = len(pivots) - 1 - back
        j = pivots[i]
        if j != i:
            if a.ndim == 1:
                kept = out[i]
                out[i] = out[j]
                out[j] = kept
            else:
                row = out[i].copy()
                out[i] = out[j]
                out[j] = row
    return out


def unpacked(a: Any) -> Any:
    """Pivots, and the factors apart."""
    if a.ndim != 2:
        raise ValueError("The input array must be two-dimensional here.")
    both, pivots = packed(a)
    m, n = a.shape
    k = min(m, n)
    low = strictly_lower(both[:, :k])
    for i in range(k):
        low[i, i] = 1.0
    return pivots, low, upper(both[:k])


def lu(a: Any) -> Any:
    pivots, low, high = unpacked(a)
    identity = zeros_of((a.shape[0], a.shape[0]), np.real(a))
    for i in range(a.shape[0]):
        identity[i, i] = 1.0
    return np.ascontiguousarray(permuted(identity, pivots, 1).T), low, high


def lu_permuted(a: Any) -> Any:
    """permute_l: the first factor has the rows of a."""
    pivots, low, high = unpacked(a)
    return unpermuted(low, pivots - np.int32(1)), high


def lu_indices(a: Any) -> Any:
    """p_indices: with l[p] @ u = a."""
    pivots, low, high = unpacked(a)
    order = unpermuted(np.arange(a.shape[0], dtype=np.int32), pivots - np.int32(1))
    return order, low, high


# ------------------------------------------------------------------------------------------------------- Cholesky


def positive(a: Any, lower: bool) -> Any:
    """The factor of the wanted side, of the triangle of that side."""
    require_square_matrix(a)
    _, info = lapack("potrf", a.T if lower else np.conj(a))
    if info > 0:
        raise LinAlgError(f"{info}-th leading minor of the array is not positive definite")
    if lower:
        return cholesky_factor(a)
    return np.ascontiguousarray(adjoint(cholesky_factor(adjoint(a))))


def cholesky(a: Any, lower: bool = False) -> Any:
    return positive(a, lower)


def cho_factor(a: Any, lower: bool = False) -> Any:
    """The other triangle is that of a."""
    rest = strictly_upper(a) if lower else strictly_lower(a)
    return positive(a, lower) + rest, lower


def solved_by_factor(c: Any, b: Any, lower: bool) -> Any:
    if lower:
        return triangular(c, triangular(c, b, True, False, False), True, True, False)
    return triangular(c, triangular(c, b, False, True, False), False, False, False)


def cho_solve(c: Any, b: Any, lower: bool) -> Any:
    if c.ndim != 2 or c.shape[0] != c.shape[1]:
        raise ValueError("The factored matrix c is not square.")
    if c.shape[1] != b.shape[0]:
        raise ValueError(f"incompatible dimensions ({c.shape} and {b.shape})")
    return solved_by_factor(c, b, lower)


# --------------------------------------------------------------------------------------------------------- Sylvester


def _sylvester_jvp(primals: Any, tangents: Any) -> Any:
    a, b, q = primals
    da, db, dq = tangents
    x = sylvester(a, b, q)
    return x, sylvester(a, b, dq - da @ x - x @ db)


def _sylvester_forward(a: Any, b: Any, q: Any) -> Any:
    x = sylvester(a, b, q)
    return x, (a, b, x)


def _sylvester_backward(residuals: Any, c: Any) -> Any:
    a, b, x = residuals
    y = sylvester(np.ascontiguousarray(a.T), np.ascontiguousarray(b.T), c)
    return -(y @ x.T), -(x.T @ y), y


@ruled(jvp=_sylvester_jvp, vjp=(_sylvester_forward, _sylvester_backward))
def sylvester(a: Any, b: Any, q: Any) -> Any:
    """The x of a x + x b = q, of real matrices."""
    if q.size == 0:
        return zeros_of(q.shape, q)
    r, u, first = lapack("gees", a.T)
    s, v, second = lapack("gees", b)
    if first > 0 or second > 0:
        raise LinAlgError("Schur form not found. Possibly ill-conditioned.")
    inside = u @ q @ v.T
    y, scale, _ = lapack("trsyl", r, s, inside.T, left=False, right=True)
    return np.ascontiguousarray(u.T @ (scale * y.T) @ v)


def solve_sylvester(a: Any, b: Any, q: Any) -> Any:
    require_square_matrix(a)
    require_square_matrix(b)
    if q.shape[0] != a.shape[0] or q.shape[1] != b.shape[0]:
        raise ValueError("solve_sylvester: the shape of q is not that of a and b")
    return sylvester(a, b, q)


# ------------------------------------------------------------------------------------------------------ exponential

PADE_3 = (120.0, 60.0, 12.0, 1.0)
PADE_5 = (30240.0, 15120.0, 3360.0, 420.0, 30.0, 1.0)
PADE_7 = (17297280.0, 8648640.0, 1995840.0, 277200.0, 25200.0, 1512.0, 56.0, 1.0)
PADE_9 = (
    17643225600.0, 8821612800.0, 2075673600.0, 302702400.0, 30270240.0, 2162160.0, 110880.0, 3960.0, 90.0, 1.0,
)  # fmt: skip
PADE_13 = (
    64764752532480000.0, 32382376266240000.0, 7771770303897600.0, 1187353796428800.0, 129060195264000.0,
    10559470521600.0, 670442572800.0, 33522128640.0, 1323241920.0, 40840800.0, 960960.0, 16380.0, 182.0, 1.0,
)  # fmt: skip


def quotient(u: Any, v: Any) -> Any:
    """(v - u)^-1 (v + u)."""
    return solve_one(v - u, v + u)


def low_pade(a: Any, one: Any, b: Any) -> Any:
    """Of degree 3 to 9."""
    square = a @ a
    power = one
    u, v = b[1] * one, b[0] * one
    for k in range(1, len(b) // 2):
        power = power @ square
        u = u + b[2 * k + 1] * power
        v = v + b[2 * k] * power
    return quotient(a @ u, v)


def high_pade(a: Any, one: Any) -> Any:
    """Of degree 13, with six products."""
    b = PADE_13
    a2 = a @ a
    a4 = a2 @ a2
    a6 = a4 @ a2
    u = a6 @ (b[13] * a6 + b[11] * a4 + b[9] * a2) + b[7] * a6 + b[5] * a4 + b[3] * a2 + b[1] * one
    v = a6 @ (b[12] * a6 + b[10] * a4 + b[8] * a2) + b[6] * a6 + b[4] * a4 + b[2] * a2 + b[0] * one
    return quotient(a @ u, v)


def expm_one(a: Any) -> Any:
    one = identity_like(a)
    if a.shape[0] == 0:
        return one
    size = float(np.max(np.sum(np.abs(a), axis=0)))
    if not np.isfinite(size):
        return a * np.nan
    if size <= 1.495585217958292e-2:
        return low_pade(a, one, PADE_3)
    if size <= 2.539398330063230e-1:
        return low_pade(a, one, PADE_5)
    if size <= 9.504178996162932e-1:
        return low_pade(a, one, PADE_7)
    if size <= 2.097847961257068:
        return low_pade(a, one, PADE_9)
    squarings = 0
    scale = 1.0
    while size * scale > 5.371920351148152:
        scale = 0.5 * scale
        squarings += 1
    x = high_pade(a * scale, one)
    for _ in range(squarings):
        x = x @ x
    return x


def expm(a: Any) -> Any:
    require_square(a)
    if a.ndim == 2:
        return expm_one(a)
    return over(expm_one, a, zeros_of(a.shape, a))


FUNCTIONS: dict[str, Any] = {
    **{
        f"scipy.linalg.{f.__name__}": f
        for f in (inv, det, solve, solve_triangular, lu_factor, cholesky, cho_factor, solve_sylvester, expm)
    },
    **{f"pullback.{f.__name__}": f for f in (lu, lu_permuted, lu_indices, lu_solve, cho_solve)},
    "pullback.require_finite": require_finite,
}  # fmt: skip

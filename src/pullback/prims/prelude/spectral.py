"""Symmetric eigenproblems, singular values and pseudo-inverses of one matrix, each with its derivative.

    w, v = symmetric(a)       dw = diag(v' da v),  dv = v (F * (v' da v)),  F_ij = 1 / (w_j - w_i)

See `factors` for the sources.  Where eigenvalues or singular values coincide F is 0, so results that do not depend on
the choice of vectors have their derivative.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.linalg import LinAlgError

from pullback.prims.prelude.factors import adjoint, diagonal_times, eps_of, from_lower, to_lower
from pullback.prims.prelude.intrinsics import lapack, ruled

__all__ = [
    "pseudo_inverse", "singular", "singular_tangent", "singular_values", "symmetric", "symmetric_values",
]  # fmt: skip


# ---------------------------------------------------------------------------------------- symmetric eigenproblems


def gaps(w: Any) -> Any:
    """F_ij = 1 / (w_j - w_i), and 0 where the two are equal up to rounding."""
    n = len(w)
    out = np.zeros((n, n), w.dtype)
    largest = w[:1] * 0
    for i in range(n):
        largest[0] = max(largest[0], abs(w[i]))
    least = n * eps_of(w) * largest[0]
    for i in range(n):
        for j in range(n):
            gap = w[j] - w[i]
            if abs(gap) > least:
                out[i, j] = 1.0 / gap
    return out


def real_diagonal(a: Any) -> Any:
    return np.real(np.diagonal(a)).copy()


def _symmetric_jvp(primals: Any, tangents: Any) -> Any:
    (a,), (da,) = primals, tangents
    w, v = symmetric(a)
    inner = adjoint(v) @ from_lower(da) @ v
    return (w, v), (real_diagonal(inner), v @ (gaps(w) * inner))


def _symmetric_forward(a: Any) -> Any:
    w, v = symmetric(a)
    return (w, v), (w, v)


def _symmetric_backward(residuals: Any, cotangents: Any) -> Any:
    w, v = residuals
    cw, cv = cotangents
    inner = gaps(w) * (adjoint(v) @ cv)
    for i in range(len(w)):
        inner[i, i] = inner[i, i] + cw[i]
    return (to_lower(v @ inner @ adjoint(v)),)


@ruled(jvp=_symmetric_jvp, vjp=(_symmetric_forward, _symmetric_backward))
def symmetric(a: Any) -> Any:
    """Eigenvalues, ascending, and eigenvectors of the symmetric matrix with the lower triangle of a."""
    w, v, info = lapack("syevd", a.T, vectors=True, lower=True)
    if info > 0:
        raise LinAlgError("Eigenvalues did not converge")
    return w, np.ascontiguousarray(v.T)


def _values_jvp(primals: Any, tangents: Any) -> Any:
    (a,), (da,) = primals, tangents
    w, v = symmetric(a)
    return w, real_diagonal(adjoint(v) @ from_lower(da) @ v)


def _values_forward(a: Any) -> Any:
    w, v = symmetric(a)
    return w, v


def _values_backward(v: Any, c: Any) -> Any:
    return (to_lower(v @ diagonal_times(c, adjoint(v))),)


@ruled(jvp=_values_jvp, vjp=(_values_forward, _values_backward))
def symmetric_values(a: Any) -> Any:
    """The eigenvalues alone."""
    w, info = lapack("syevd", a.T, vectors=False, lower=True)
    if info > 0:
        raise LinAlgError("Eigenvalues did not converge")
    return w


# ------------------------------------------------------------------------------------------------ singular values


def reciprocals(s: Any) -> Any:
    """1 / s, and 0 where s is 0 up to rounding."""
    out = np.zeros_like(s)
    for i in range(len(s)):
        if s[i] > len(s) * eps_of(s) * s[0]:
            out[i] = 1.0 / s[i]
    return out


def singular_tangent(u: Any, s: Any, vh: Any, da: Any) -> Any:
    """Tangents of thin factors: beside the turns within both spaces, what leaves them."""
    v = adjoint(vh)
    inner = adjoint(u) @ da @ v
    back = adjoint(inner)
    turn, inverse_s = gaps(s * s), reciprocals(s)
    left = turn * (inner * s + diagonal_times(s, back))
    right = turn * (diagonal_times(s, inner) + back * s)
    for i in range(len(s)):  # of complex vectors u turns, v is held
        left[i, i] = left[i, i] + 0.5 * (inner[i, i] - back[i, i]) * inverse_s[i]
    du = u @ left + (da @ v - u @ inner) * inverse_s
    dv = v @ right + (adjoint(da) @ u - v @ back) * inverse_s
    return du, real_diagonal(inner), adjoint(dv)


def _singular_jvp(primals: Any, tangents: Any) -> Any:
    (a,), (da,) = primals, tangents
    u, s, vh = singular(a)
    return (u, s, vh), singular_tangent(u, s, vh, da)


@ruled(jvp=_singular_jvp)
def singular(a: Any) -> Any:
    """The thin singular value decomposition u, s, vh."""
    u, s, vh, info = lapack("gesdd", a.T, job="S")
    if info > 0:
        raise LinAlgError("SVD did not converge")
    return np.ascontiguousarray(u.T), s, np.ascontiguousarray(vh.T)


def _singular_values_jvp(primals: Any, tangents: Any) -> Any:
    (a,), (da,) = primals, tangents
    u, s, vh = singular(a)
    return s, real_diagonal(adjoint(u) @ da @ adjoint(vh))


def _singular_values_forward(a: Any) -> Any:
    u, s, vh = singular(a)
    return s, (u, vh)


def _singular_values_backward(residuals: Any, c: Any) -> Any:
    u, vh = residuals
    return (u @ diagonal_times(c, vh),)


@ruled(jvp=_singular_values_jvp, vjp=(_singular_values_forward, _singular_values_backward))
def singular_values(a: Any) -> Any:
    """The singular values alone, descending."""
    s, info = lapack("gesdd", a.T, job="N")
    if info > 0:
        raise LinAlgError("SVD did not converge")
    return s


# --------------------------------------------------------------------------------------------------- pseudo-inverse


def _pseudo_jvp(primals: Any, tangents: Any) -> Any:
    """Golub and Pereyra 1973: at constant rank, by which the cutoff makes no difference."""
    (a, cutoff), (da, _) = primals, tangents
    p = pseudo_inverse(a, cutoff)
    back = adjoint(da)
    first = p @ adjoint(p) @ (back - back @ a @ p)
    second = (back - p @ a @ back) @ adjoint(p) @ p
    return p, first + second - p @ da @ p


@ruled(jvp=_pseudo_jvp)
def pseudo_inverse(a: Any, cutoff: Any) -> Any:
    """The Moore-Penrose inverse; singular values up to cutoff times the largest count as 0."""
    u, s, vh = singular(a)
    kept = np.zeros_like(s)
    for i in range(len(s)):
        if s[i] > cutoff * s[0]:
            kept[i] = 1.0 / s[i]
    return adjoint(vh) @ diagonal_times(kept, adjoint(u))

"""Orthogonal factors, full singular vectors, and eigenvectors of general matrices, each with its derivative.

q, r = orthogonal(a)      x = da r^-1,  dq = q t + x - q q'x,  dr = q'da - t r,  t the skew part of q'x
w, v = general(a)         dw = diag(v^-1 da v),  dv = v (F * (v^-1 da v)), of the length and phase that LAPACK gives
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.linalg import LinAlgError

from pullback.prims.prelude.factors import adjoint, inverse, strictly_lower, triangular, upper
from pullback.prims.prelude.intrinsics import jvp, lapack, ruled, zeros_of
from pullback.prims.prelude.spectral import singular_tangent

__all__ = ["full_singular", "general", "general_values", "householder", "orthogonal", "raw_orthogonal"]


# ------------------------------------------------------------------------------------------------------------- QR


def _orthogonal_jvp(primals: Any, tangents: Any) -> Any:
    (a,), (da,) = primals, tangents
    q, r = orthogonal(a)
    k = r.shape[0]
    x = adjoint(triangular(r[:, :k], adjoint(da[:, :k]), False, True, False))
    inner = adjoint(q) @ x
    below = strictly_lower(inner)
    turn = below - adjoint(below)
    for i in range(k):  # the diagonal of r is real
        turn[i, i] = 0.5 * (inner[i, i] - np.conj(inner[i, i]))
    return (q, r), (q @ turn + x - q @ inner, upper(adjoint(q) @ da - turn @ r))


@ruled(jvp=_orthogonal_jvp)
def orthogonal(a: Any) -> Any:
    """The thin factors of a = q r."""
    k = min(a.shape[0], a.shape[1])
    packed, tau = lapack("geqrf", a.T)
    q = lapack("orgqr", packed, tau, k)
    return np.ascontiguousarray(q.T), upper(packed.T[:k])


def _no_derivative(primals: Any, tangents: Any) -> Any:
    raise NotImplementedError("np.linalg.qr(a, 'raw') has no derivative here: take q and r, mode='reduced'")


@ruled(jvp=_no_derivative)
def raw_orthogonal(a: Any) -> Any:
    """Reflectors, and their factors."""
    return lapack("geqrf", a.T)


def reflected(a: Any) -> Any:
    """Householder's reflections one after the other, with LAPACK's signs: q with all columns, and r."""
    m, n = a.shape
    r, q = a.copy(), zeros_of((m, m), a)
    for i in range(m):
        q[i, i] = 1.0
    for j in range(min(m, n)):
        x = r[j:, j].copy()
        first = x[0]
        tail = np.sum(np.real(x[1:]) ** 2 + np.imag(x[1:]) ** 2)
        if tail > 0.0 or np.imag(first) != 0.0:
            size = np.sqrt(tail + np.real(first) ** 2 + np.imag(first) ** 2)
            beta = -np.copysign(size, np.real(first))
            tau = (beta - first) / beta
            x = x / (first - beta)
            x[0] = 1.0
            r[j:] = r[j:] - np.conj(tau) * np.outer(x, np.conj(x) @ r[j:])
            q[:, j:] = q[:, j:] - tau * np.outer(q[:, j:] @ x, np.conj(x))
    return q, upper(r)


def _householder_jvp(primals: Any, tangents: Any) -> Any:
    return jvp(reflected, primals, tangents)


@ruled(jvp=_householder_jvp)
def householder(a: Any) -> Any:
    """All columns of q, and r, of a matrix with more rows than columns."""
    packed, tau = lapack("geqrf", a.T)
    q = lapack("orgqr", packed, tau, a.shape[0])
    return np.ascontiguousarray(q.T), upper(packed.T)


# ------------------------------------------------------------------------------------------------------------ SVD


def _full_jvp(primals: Any, tangents: Any) -> Any:
    """Columns beyond the thin ones turn as little as they can."""
    (a,), (da,) = primals, tangents
    u, s, vh = full_singular(a)
    k = len(s)
    du, ds, dvh = singular_tangent(u[:, :k], s, vh[:k], da)
    whole_u, whole_vh = np.zeros_like(u), np.zeros_like(vh)
    whole_u[:, :k] = du
    whole_vh[:k] = dvh
    whole_u[:, k:] = -(u[:, :k] @ (adjoint(du) @ u[:, k:]))
    whole_vh[k:] = -((vh[k:] @ adjoint(dvh)) @ vh[:k])
    return (u, s, vh), (whole_u, ds, whole_vh)


@ruled(jvp=_full_jvp)
def full_singular(a: Any) -> Any:
    """The singular value decomposition with square u and vh."""
    m, n = a.shape
    if m == 0 or n == 0:
        u, vh = zeros_of((m, m), a), zeros_of((n, n), a)
        for i in range(m):
            u[i, i] = 1.0
        for i in range(n):
            vh[i, i] = 1.0
        return u, zeros_of((0,), np.real(a)), vh
    u, s, vh, info = lapack("gesdd", a.T, job="A")
    if info > 0:
        raise LinAlgError("SVD did not converge")
    return np.ascontiguousarray(u.T), s, np.ascontiguousarray(vh.T)


# ------------------------------------------------------------------------------------------- general eigenproblems


def distances(w: Any) -> Any:
    """1 / (w_j - w_i), and 0 where the two are equal up to rounding."""
    n = len(w)
    out = zeros_of((n, n), w)
    sizes = np.abs(w)
    least = np.sum(sizes) * 2.0**-52
    for i in range(n):
        for j in range(n):
            gap = w[j] - w[i]
            if abs(gap) > least:
                out[i, j] = 1.0 / gap
    return out


def _general_jvp(primals: Any, tangents: Any) -> Any:
    """Vectors keep length 1, and their largest component stays real."""
    (a,), (da,) = primals, tangents
    w, v = general(a)
    inner = inverse(v, False) @ (da @ v)
    dv = v @ (distances(w) * inner)
    for j in range(len(w)):
        best = 0
        for i in range(len(w)):
            if abs(v[i, j]) > abs(v[best, j]):
                best = i
        along = np.sum(np.conj(v[:, j]) * dv[:, j])
        turn = np.imag(dv[best, j]) / np.real(v[best, j])
        dv[:, j] = dv[:, j] - (np.real(along) + 1j * turn) * v[:, j]
    return (w, v), (np.diagonal(inner).copy(), dv)


@ruled(jvp=_general_jvp)
def general(a: Any) -> Any:
    """Complex eigenvalues and eigenvectors."""
    return complex_form(a, lapack("geev", a.T, vectors=True))


def complex_form(a: Any, found: Any) -> Any:
    """What LAPACK gives for a complex matrix as it is; for a real one it packs pairs of conjugate vectors."""
    if len(found) == 3:
        w, v, info = found
        require_convergence(info)
        return w, np.ascontiguousarray(v.T)
    real, imag, packed, info = found
    require_convergence(info)
    first, second = np.zeros_like(packed), np.zeros_like(packed)
    for j in range(len(real)):
        if imag[j] == 0.0:
            first[:, j] = packed[j]
        elif imag[j] > 0.0:
            first[:, j] = packed[j]
            first[:, j + 1] = packed[j]
            second[:, j] = packed[j + 1]
            second[:, j + 1] = -packed[j + 1]
    return real + 1j * imag, first + 1j * second


def require_convergence(info: int) -> None:
    if info > 0:
        raise LinAlgError("Eigenvalues did not converge")


def _general_values_jvp(primals: Any, tangents: Any) -> Any:
    (a,), (da,) = primals, tangents
    w, v = general(a)
    return w, np.diagonal(inverse(v, False) @ (da @ v)).copy()


@ruled(jvp=_general_values_jvp)
def general_values(a: Any) -> Any:
    """Complex eigenvalues."""
    found = lapack("geev", a.T, vectors=False)
    if len(found) == 2:
        require_convergence(found[1])
        return found[0]
    require_convergence(found[2])
    return found[0] + 1j * found[1]

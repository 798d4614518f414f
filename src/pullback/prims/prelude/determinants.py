"""The determinant and its logarithm, with derivatives that hold for singular matrices too.

    d det(a) = sum(cofactors(a) * da)

Cofactors are det(a) inv(a)^T where the matrix is far from singular, else they come from singular values:
a = u diag(s) v' has the cofactors det(u) det(v') conj(u) diag(products of the other s) conj(v').
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pullback.prims.prelude.factors import adjoint, inverse
from pullback.prims.prelude.intrinsics import ruled, zeros_of
from pullback.prims.prelude.small_systems import lu_factors
from pullback.prims.prelude.spectral import singular

__all__ = ["determinant", "signed_log"]

NEARLY_SINGULAR = 1e-5  # ratio of pivots below which an inverse has lost a third of its digits


def factored(a: Any) -> Any:
    """Sign (or phase) of the determinant, and the logarithm of its absolute value."""
    lu, pivots, info = lu_factors(a.T)
    start, size = zeros_of((1,), a), zeros_of((1,), np.real(a))
    if info > 0:
        size[0] = -np.inf
        return start[0], size[0]
    start[0] = 1.0
    sign = start[0]
    for i in range(a.shape[0]):
        d = lu[i, i]
        largest = abs(d)
        sign = sign * (d / largest)
        if pivots[i] != i + 1:
            sign = -sign
        size[0] += np.log(largest)
    return sign, size[0]


def _signed_log_jvp(primals: Any, tangents: Any) -> Any:
    (a,), (da,) = primals, tangents
    sign, size = signed_log(a)
    change = np.sum(inverse(a, False).T * da)
    return (sign, size), (sign * (change - np.real(change)), np.real(change))


@ruled(jvp=_signed_log_jvp)
def signed_log(a: Any) -> Any:
    """numpy.linalg.slogdet of one matrix."""
    return factored(a)


def _determinant_jvp(primals: Any, tangents: Any) -> Any:
    (a,), (da,) = primals, tangents
    return determinant(a), np.sum(cofactors(a) * da)


@ruled(jvp=_determinant_jvp)
def determinant(a: Any) -> Any:
    """numpy.linalg.det of one matrix."""
    sign, size = factored(a)
    return sign * np.exp(size)


def cofactors(a: Any) -> Any:
    """The derivative of the determinant with respect to every element."""
    lu, _, _ = lu_factors(a.T)
    if a.shape[0] == 0:
        return inverse(a, False)
    pivots = np.abs(np.diagonal(lu))
    if np.min(pivots) > NEARLY_SINGULAR * np.max(pivots):
        return determinant(a) * inverse(a, False).T
    return cofactors_of_singular(a)


def product_without(s: Any, i: int, j: int) -> Any:
    """The product of the others."""
    total = s[i] * 0.0 + 1.0
    for k in range(len(s)):
        if k != i and k != j:
            total = total * s[k]
    return total


def _cofactors_jvp(primals: Any, tangents: Any) -> Any:
    """In the basis of singular vectors: the minors of a diagonal matrix."""
    (a,), (da,) = primals, tangents
    u, s, vh = singular(a)
    inner = adjoint(u) @ da @ adjoint(vh)
    change = np.zeros_like(inner)
    for i in range(len(s)):
        for j in range(len(s)):
            if i != j:
                part = product_without(s, i, j)
                change[i, i] += part * inner[j, j]
                change[i, j] = change[i, j] - part * inner[j, i]
    return cofactors_of_singular(a), determinant(u @ vh) * (np.conj(u) @ change @ np.conj(vh))


@ruled(jvp=_cofactors_jvp)
def cofactors_of_singular(a: Any) -> Any:
    """Cofactors by singular values."""
    u, s, vh = singular(a)
    others = np.zeros_like(s)
    for i in range(len(s)):
        others[i] = product_without(s, i, i)
    return determinant(u @ vh) * (np.conj(u) @ (others[:, None] * np.conj(vh)))

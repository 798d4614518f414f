"""Polynomials of NumPy in the accepted Python: coefficients are arrays, the highest power first.

    polyval(p, x)       ((p[0] x + p[1]) x + p[2]) ...
    polyfit(x, y, n)    least squares with the columns of the Vandermonde matrix scaled to length 1
    roots(p)            eigenvalues of the companion matrix; dr = -dp(r) / p'(r)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pullback.prims.prelude.intrinsics import ruled, zeros_of

__all__ = ["FUNCTIONS"]


def polyval(p: Any, x: Any) -> Any:
    c, z = np.asarray(p), np.asarray(x)
    y = np.zeros_like(z) + np.zeros((), c.dtype)
    for k in range(len(c)):
        y = y * z + c[k]
    return y


def ascending_polyval(x: Any, c: Any, tensor: Any = True) -> Any:
    """numpy.polynomial.polynomial.polyval: the lowest power first."""
    a, z = np.asarray(c), np.asarray(x)
    if a.ndim != 1:
        raise ValueError("polynomials of several columns of coefficients are not supported")
    y = a[-1] + z * 0.0
    for k in range(2, len(a) + 1):
        y = a[-k] + y * z
    return y


def widened(p: Any, n: int) -> Any:
    """n coefficients: zeros before those of p."""
    return np.concatenate((np.zeros(n - len(p), p.dtype), p))


def polyadd(a1: Any, a2: Any) -> Any:
    p, q = np.atleast_1d(np.asarray(a1)), np.atleast_1d(np.asarray(a2))
    n = max(len(p), len(q))
    return widened(p, n) + widened(q, n)


def polysub(a1: Any, a2: Any) -> Any:
    p, q = np.atleast_1d(np.asarray(a1)), np.atleast_1d(np.asarray(a2))
    n = max(len(p), len(q))
    return widened(p, n) - widened(q, n)


def trimmed(p: Any) -> Any:
    """Without zeros at the front; of nothing but zeros one is left."""
    k = 0
    while k < len(p) - 1 and p[k] == 0:
        k += 1
    return p[k:]


def polymul(a1: Any, a2: Any) -> Any:
    p, q = trimmed(np.atleast_1d(np.asarray(a1))), trimmed(np.atleast_1d(np.asarray(a2)))
    out = widened(p[:0], len(p) + len(q) - 1) + widened(q[:0], len(p) + len(q) - 1)
    for i in range(len(p)):
        out[i : i + len(q)] += p[i] * q
    return out


def polyder(p: Any, m: int = 1) -> Any:
    if m < 0:
        raise ValueError("Order of derivative must be positive (see polyint)")
    a = np.asarray(p)
    for _ in range(m):
        a = a[:-1] * np.arange(len(a) - 1, 0, -1)
    return a


def polyint(p: Any, m: int = 1, k: Any = None) -> Any:
    if m < 0:
        raise ValueError("Order of integral must be positive (see polyder)")
    if m == 0:
        return np.asarray(p)
    a = np.asarray(p) + np.zeros(())  # float32 divided by ints is float64
    if k is None:
        for _ in range(m):
            a = np.concatenate((a / np.arange(len(a), 0, -1), np.zeros(1)))
        return a
    constants = np.atleast_1d(np.asarray(k))
    if len(constants) != m and not (len(constants) == 1 and m > 1):
        raise ValueError("k must be a scalar or a rank-1 array of length 1 or >m.")
    a = a + np.zeros((), constants.dtype)
    for i in range(m):
        last = constants[i if len(constants) > 1 else 0]
        a = np.concatenate((a / np.arange(len(a), 0, -1), np.zeros(1) + last))
    return a


def polydiv(u: Any, v: Any) -> Any:
    a, b = np.atleast_1d(np.asarray(u)) + 0.0, np.atleast_1d(np.asarray(v)) + 0.0
    r = a + np.zeros((), b.dtype)
    n, parts = len(b), len(a) - len(b) + 1
    q = np.zeros(max(parts, 1), r.dtype)
    factor = 1.0 / b[0]
    for k in range(parts):
        d = factor * r[k]
        q[k] = d
        r[k : k + n] -= d * b
    k = 0
    while k < len(r) - 1 and abs(r[k]) <= 1e-8:
        k += 1
    return q, r[k:]


def poly(seq_of_zeros: Any) -> Any:
    zeros = np.atleast_1d(np.asarray(seq_of_zeros))
    if zeros.ndim > 2 or (zeros.ndim == 2 and (zeros.shape[0] != zeros.shape[1] or zeros.shape[0] == 0)):
        raise ValueError("input must be 1d or non-empty square 2d array.")
    if zeros.ndim == 2:
        return product_of_factors(np.linalg.eigvals(zeros))
    return product_of_factors(zeros)


def product_of_factors(zeros: Any) -> Any:
    """Coefficients of (x - z1) (x - z2) ...; real ones where the complex zeros are conjugate to each other."""
    a = np.zeros(len(zeros) + 1, (zeros / 1).dtype)
    a[0] = 1.0
    for i in range(len(zeros)):
        for j in range(i + 1, 0, -1):
            a[j] -= zeros[i] * a[j - 1]
    if np.iscomplexobj(zeros) and np.all(np.sort(zeros) == np.sort(np.conj(zeros))):
        return np.real(a).copy()
    return a


def vander(x: Any, N: Any = None, increasing: Any = False) -> Any:  # noqa: N803 NumPy's name
    a = np.asarray(x)
    if a.ndim != 1:
        raise ValueError("x must be a one-dimensional array or sequence.")
    columns = len(a) if N is None else N
    out = np.ones((len(a), columns), (a + np.zeros((), np.int64)).dtype)
    rising = out if increasing else out[:, ::-1]
    for k in range(1, columns):
        rising[:, k] = rising[:, k - 1] * a
    return out


def polyfit(x: Any, y: Any, deg: int, rcond: Any = None, full: Any = False, w: Any = None, cov: Any = False) -> Any:
    a, right = np.asarray(x) + 0.0, np.asarray(y) + 0.0
    if deg < 0:
        raise ValueError("expected deg >= 0")
    if a.ndim != 1:
        raise TypeError("expected 1D vector for x")
    if a.size == 0:
        raise TypeError("expected non-empty vector for x")
    if a.shape[0] != right.shape[0]:
        raise TypeError("expected x and y to have same length")
    if full or cov:
        raise ValueError("polyfit with full= or cov= is not supported")
    left = vander(a, deg + 1)
    if w is not None:
        weights = np.asarray(w) + 0.0
        left = left * weights[:, None]
        right = right * (weights if right.ndim == 1 else weights[:, None])
    size = np.sqrt(np.sum(left * left, axis=0))
    limit = len(a) * np.finfo(a.dtype).eps if rcond is None else rcond
    c = np.linalg.lstsq(left / size, right, limit)[0]
    return c / size if c.ndim == 1 else c / size[:, None]


# ----------------------------------------------------------------------------------------------------------- roots


def _roots_jvp(primals: Any, tangents: Any) -> Any:
    """From p(r) = 0, with every coefficient: those that are zero move roots too."""
    (p,), (dp,) = primals, tangents
    r = complex_roots(p)
    moved = -(np.polyval(dp, r) / np.polyval(polyder(p), r))  # of float64 where p is float32: so is NumPy's polyder
    return r, moved.astype(r.dtype)


@ruled(jvp=_roots_jvp)
def complex_roots(p: Any) -> Any:
    """All roots as complex numbers: eigenvalues of the companion matrix, then those at zero."""
    first, last = 0, len(p)
    while first < last and p[first] == 0:
        first += 1
    while last > first and p[last - 1] == 0:
        last -= 1
    n = max(last - first, 1)
    companion = zeros_of((n - 1, n - 1), p)
    for k in range(n - 1):
        companion[0, k] = -p[first + k + 1] / p[first]
        if k > 0:
            companion[k, k - 1] = 1.0
    out = zeros_of((n - 1 + (len(p) - last if last > first else 0),), p * 1j)
    if n > 1:
        out[: n - 1] = np.linalg.eigvals(companion)
    return out


def roots(p: Any) -> Any:
    """Real where all of them are; NumPy's roots that are nothing but zeros are float64."""
    a = np.atleast_1d(np.asarray(p)) + 0.0
    if a.ndim != 1:
        raise ValueError("Input must be a rank-1 array.")
    r = complex_roots(a)
    if np.count_nonzero(a) < 2:
        return np.real(r).astype(np.float64)
    if not np.iscomplexobj(a) and np.all(np.imag(r) == 0.0):
        return np.real(r).copy()
    return r


FUNCTIONS: dict[str, Any] = {
    "numpy.polynomial.polynomial.polyval": ascending_polyval,
    **{f"numpy.{f.__name__}": f
       for f in (polyval, polyadd, polysub, polymul, polyder, polyint, polydiv, poly, vander, polyfit, roots)},
}  # fmt: skip

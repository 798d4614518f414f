"""Functions of scipy.special that are made of others, in the accepted Python.

    logsumexp(a, axis)      m + log1p(sum of the others / number of the largest) + log(that number), m the largest
    softmax(x, axis)        exp(x - m) / sum(exp(x - m))

Values and edge cases are SciPy's.  The largest element has no part in the derivatives, which are those of the sum.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from pullback.prims.prelude.intrinsics import attach, only_compiled, stop

__all__ = ["FUNCTIONS"]


def _known(name: str) -> Callable[..., Any]:
    """A function of scipy.special by its name: importing that would take a fifth of a second."""

    def function(*arguments: Any) -> Any:
        return only_compiled()

    function.__dict__["__pullback_builtin__"] = f"scipy.special.{name}"
    return function


binom, gamma, gammaln, poch = (_known(name) for name in ("binom", "gamma", "gammaln", "poch"))


def floats(a: Any) -> Any:
    x = np.asarray(a)
    return x if x.dtype == np.float64 or x.dtype == np.float32 else x.astype(np.float64)


def logsumexp(a: Any, axis: Any = None, b: Any = None, keepdims: Any = False, return_sign: Any = False) -> Any:
    x = floats(a)
    if b is None:
        value, sign = log_of_sum(stop(x), 1.0, axis, keepdims)
        e = np.exp(x - finite_peak(x, axis))
        weight = e / nonzero(np.sum(e, axis=axis, keepdims=True))
        slope = np.sum(attach(np.zeros_like(e), x, weight), axis=axis, keepdims=keepdims)
    else:
        c = np.asarray(b)
        x = np.where(c == 0, -np.inf, x)
        value, sign = log_of_sum(stop(x), stop(c), axis, keepdims)
        e = np.exp(x - finite_peak(x, axis))
        share = e / nonzero(np.sum(c * e, axis=axis, keepdims=True))
        parts = attach(attach(np.zeros_like(e), x, c * share), c, share)
        slope = np.sum(parts, axis=axis, keepdims=keepdims)
        if not return_sign:
            value = np.where(sign < 0, np.nan, value)
    out = attach(value, slope, 1.0)
    if return_sign:
        return out, sign
    return out


def log_of_sum(x: Any, b: Any, axis: Any, keepdims: Any) -> Any:
    """The logarithm of the size of the sum of b * exp(x), and the sign of the sum; x and b have no derivative."""
    top = x == largest(x, axis, True)
    zeros = np.zeros_like(x)
    m = np.sum(np.where(top, b, zeros), axis=axis, keepdims=keepdims)
    s = np.sum(np.where(top, zeros, b * np.exp(x - finite_peak(x, axis))), axis=axis, keepdims=keepdims)
    s = np.where(s == 0, s, s / m)
    sign = np.sign(s + 1) * np.sign(m)
    s = np.where(s < -1, -s - 2, s)
    return np.log1p(s) + np.log(np.abs(m)) + largest(x, axis, keepdims), sign


def largest(x: Any, axis: Any, keepdims: Any) -> Any:
    return np.max(x, axis=axis, keepdims=keepdims, initial=-np.inf)


def finite_peak(x: Any, axis: Any) -> Any:
    """The largest along the axis, or 0 where that is not finite."""
    m = largest(stop(x), axis, True)
    return np.where(np.isfinite(m), m, 0)


def nonzero(total: Any) -> Any:
    return np.where(total == 0, 1, total)


def softmax(x: Any, axis: Any = None) -> Any:
    a = np.asarray(x)
    e = np.exp(a - np.max(stop(a), axis=axis, keepdims=True))
    return e / np.sum(e, axis=axis, keepdims=True)


def log_softmax(x: Any, axis: Any = None) -> Any:
    a = np.asarray(x)
    t = a - finite_peak(a, axis)
    return t - np.log(np.sum(np.exp(t), axis=axis, keepdims=True))


# ---------------------------------------------------------------------------------------------------- combinatorics


def comb(N: Any, k: Any, *, exact: Any = False, repetition: Any = False) -> Any:  # noqa: N803 SciPy's name
    if exact:
        if repetition:
            return 1 if k == 0 and N >= 0 else exact_comb(N + k - 1, k)
        return exact_comb(N, k)
    if repetition:
        return np.where((k == 0) & (N >= 0), 1.0, binom(N + k - 1, k))
    return np.where((k <= N) & (N >= 0) & (k >= 0), binom(N, k), 0.0)


def exact_comb(n: int, k: int) -> int:
    return 0 if n < 0 or k < 0 else math.comb(n, k)


def perm(N: Any, k: Any, exact: Any = False) -> Any:  # noqa: N803 SciPy's name
    if exact:
        return 0 if N < 0 or k < 0 else math.perm(N, k)
    return np.where((k <= N) & (N >= 0) & (k >= 0), poch(N - k + 1, k), 0.0)


def factorial(n: Any, exact: Any = False) -> Any:
    if exact:
        return 0 if n < 0 else math.factorial(n)
    return np.where(n < 0, 0.0, gamma(n + 1))


def multigammaln(a: Any, d: int) -> Any:
    if np.any(a <= 0.5 * (d - 1)):
        raise ValueError("condition a > 0.5 * (d-1) not met")
    total = gammaln(a)
    for j in range(1, d):
        total = total + gammaln(a - j * 0.5)
    return total + np.float64(d * (d - 1) * 0.25 * math.log(math.pi))


# --------------------------------------------------------------------------------- losses, transformations of powers


def huber(delta: Any, r: Any) -> Any:
    size = np.abs(r)
    far = delta * (size - 0.5 * delta)
    return np.where(delta < 0, np.inf, np.where(size <= delta, 0.5 * np.square(r), far))


def pseudo_huber(delta: Any, r: Any) -> Any:
    """delta**2 (sqrt(1 + (r/delta)**2) - 1), which is 0 where either is 0."""
    some = np.not_equal(delta, 0)
    safe = np.where(some, delta, 1)
    v = np.square(r / safe)
    inside = np.where(some, np.square(safe) * (v / (1 + np.sqrt(1 + v))), 0.0)
    return np.where(delta < 0, np.inf, inside)


def growth(t: Any) -> Any:
    """(exp(t) - 1) / t, smooth at 0."""
    small = np.abs(t) < 1e-2
    near, far = np.where(small, t, 0), np.where(small, 1, t)
    series = 1 + near / 2 * (1 + near / 3 * (1 + near / 4 * (1 + near / 5 * (1 + near / 6 * (1 + near / 7)))))
    return np.where(small, series, np.expm1(far) / far)


def slowing(u: Any) -> Any:
    """log(1 + u) / u, smooth at 0."""
    small = np.abs(u) < 1e-3
    near, far = np.where(small, u, 0), np.where(small, 1, u)
    series = 1 - near * (1 / 2 - near * (1 / 3 - near * (1 / 4 - near * (1 / 5 - near * (1 / 6 - near / 7)))))
    return np.where(small, series, np.log1p(far) / far)


def boxcox(x: Any, lmbda: Any) -> Any:
    """(x**lmbda - 1) / lmbda, and log x for 0."""
    return power_of(np.log(x), x == 0, lmbda)


def boxcox1p(x: Any, lmbda: Any) -> Any:
    return power_of(np.log1p(x), np.equal(x, -1), lmbda)


def power_of(logarithm: Any, at_zero: Any, lmbda: Any) -> Any:
    """(exp(lmbda * logarithm) - 1) / lmbda; of a logarithm of 0 -1/lmbda, or -inf."""
    inside = np.where(at_zero, 0.0, logarithm)
    positive = np.greater(lmbda, 0)
    edge = np.where(positive, -1.0 / np.where(positive, lmbda, 1), -np.inf)
    return np.where(at_zero, edge, inside * growth(lmbda * inside))


def inv_boxcox(y: Any, lmbda: Any) -> Any:
    """(1 + lmbda y)**(1/lmbda), and exp y for 0."""
    return np.exp(y * slowing(lmbda * y))


def inv_boxcox1p(y: Any, lmbda: Any) -> Any:
    return np.expm1(y * slowing(lmbda * y))


FUNCTIONS: dict[str, Any] = {
    f"scipy.special.{f.__name__}": f
    for f in (logsumexp, softmax, log_softmax, comb, perm, factorial, multigammaln, huber, pseudo_huber, boxcox,
              boxcox1p, inv_boxcox, inv_boxcox1p)
}  # fmt: skip

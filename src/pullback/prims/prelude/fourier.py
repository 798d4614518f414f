"""The discrete Fourier transform of any length in O(n log n), over the columns of tables of both parts.

    dft(re, im, -1)       sum of x[j] exp(-2 pi i j k / n), for every column

T. G. Stockham's autosort algorithm (High-speed convolution and correlation, 1966) of radix 4, 2, 3, 5 and other small
primes: a stage of radix r takes the table as (r, m, s) to (m, r, s), so that neighbours stay neighbours.  A length with
a large prime factor is a convolution of a length 2**k (L. I. Bluestein, A linear filtering approach to the computation
of the discrete Fourier transform, 1970).

The map is linear and its matrix symmetric, so the derivative is the same transform in forward mode, and the one of the
other sign in reverse.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from pullback.prims.prelude.intrinsics import ruled, whole

__all__ = ["FUNCTIONS", "dft"]

LARGEST_PRIME = 31  # of the factors that have a stage of their own


def _tangent(sign: Any, primals: Any, tangents: Any) -> Any:
    (re, im), (tangent_re, tangent_im) = primals, tangents
    return transformed(re, im, sign), dft(tangent_re, tangent_im, sign)


def _forward(re: Any, im: Any, sign: Any) -> Any:
    return transformed(re, im, sign), ()


def _backward(sign: Any, residuals: Any, cotangent: Any) -> Any:
    re, im = cotangent
    return dft(re, im, -sign)


@ruled(jvp=_tangent, vjp=(_forward, _backward), nondiff=(2,))
def dft(re: Any, im: Any, sign: int) -> Any:
    """Both parts of the transform of each column; sign is that of the exponent."""
    return transformed(re, im, sign)


def transformed(re: Any, im: Any, sign: int) -> Any:
    if largest_prime(re.shape[0]) > LARGEST_PRIME:
        return bluestein(re, im, sign)
    return stockham(re, im, sign)


def largest_prime(n: int) -> int:
    """The largest prime factor of a positive int, at least 1."""
    largest, p = 1, 2
    while p * p <= n:
        while n % p == 0:
            largest = p
            n = n // p
        p += 1
    return max(largest, n)


@whole
def roots(numerators: Any, n: int, sign: int) -> Any:
    """cos and sin of 2 pi k / n for whole k, by exact reduction to the nearest quarter of the circle."""
    quarter = np.rint(4.0 * numerators / n)
    angle = (4.0 * numerators - quarter * n) * (0.5 * math.pi / n)
    c, s = np.cos(angle), np.sin(angle)
    odd = quarter - 2.0 * np.floor(0.5 * quarter) == 1.0
    real, imag = np.where(odd, -s, c), np.where(odd, c, s)
    back = quarter - 4.0 * np.floor(0.25 * quarter) >= 2.0
    return np.where(back, -real, real), np.where(back, -imag, imag) * sign


@whole
def stockham(re: Any, im: Any, sign: int) -> Any:
    n, columns = re.shape
    wr, wi = roots(np.arange(float(n)), n, sign)
    wr, wi = wr.astype(re.dtype), wi.astype(re.dtype)
    xr, xi = re.reshape(n * columns).copy(), im.reshape(n * columns).copy()
    yr, yi = np.empty_like(xr), np.empty_like(xi)
    left, done = n, 1  # the product of the radices to come, and of those before
    while left > 1:
        r = radix(left)
        m, s = left // r, done * columns
        shape, turned = (r, m, s), (m, r, s)
        a, b, c, d = xr.reshape(shape), xi.reshape(shape), yr.reshape(turned), yi.reshape(turned)
        if r == 4:
            stage4(a, b, c, d, wr[::done], wi[::done], float(sign))
        elif r == 2:
            stage2(a, b, c, d, wr[::done], wi[::done])
        else:
            yr[:], yi[:] = 0.0, 0.0
            stage(a, b, c, d, wr, wi, done)
        xr, xi, yr, yi = yr, yi, xr, xi
        left, done = m, done * r
    return xr.reshape(n, columns), xi.reshape(n, columns)


def radix(n: int) -> int:
    """The smallest prime factor, or 4 for two factors 2."""
    if n % 4 == 0:
        return 4
    p = 2
    while n % p != 0:
        p += 1
    return p


def stage2(a: Any, b: Any, c: Any, d: Any, wr: Any, wi: Any) -> None:
    _, m, s = a.shape
    a0, a1, b0, b1 = a[0], a[1], b[0], b[1]
    c0, c1, d0, d1 = c[:, 0], c[:, 1], d[:, 0], d[:, 1]
    for p in range(m):
        u, v = wr[p], wi[p]
        for q in range(s):
            kr, ki = a0[p, q] - a1[p, q], b0[p, q] - b1[p, q]
            c0[p, q] = a0[p, q] + a1[p, q]
            d0[p, q] = b0[p, q] + b1[p, q]
            c1[p, q] = kr * u - ki * v
            d1[p, q] = kr * v + ki * u


def stage4(a: Any, b: Any, c: Any, d: Any, wr: Any, wi: Any, sign: float) -> None:
    _, m, s = a.shape
    a0, a1, a2, a3 = a[0], a[1], a[2], a[3]
    b0, b1, b2, b3 = b[0], b[1], b[2], b[3]
    c0, c1, c2, c3 = c[:, 0], c[:, 1], c[:, 2], c[:, 3]
    d0, d1, d2, d3 = d[:, 0], d[:, 1], d[:, 2], d[:, 3]
    for p in range(m):
        u1, v1, u2, v2 = wr[p], wi[p], wr[2 * p], wi[2 * p]
        u3, v3 = wr[3 * p], wi[3 * p]
        for q in range(s):
            er, ei = a0[p, q] + a2[p, q], b0[p, q] + b2[p, q]
            fr, fi = a0[p, q] - a2[p, q], b0[p, q] - b2[p, q]
            gr, gi = a1[p, q] + a3[p, q], b1[p, q] + b3[p, q]
            hr, hi = sign * (b3[p, q] - b1[p, q]), sign * (a1[p, q] - a3[p, q])
            c0[p, q] = er + gr
            d0[p, q] = ei + gi
            kr, ki = fr + hr, fi + hi
            c1[p, q] = kr * u1 - ki * v1
            d1[p, q] = kr * v1 + ki * u1
            kr, ki = er - gr, ei - gi
            c2[p, q] = kr * u2 - ki * v2
            d2[p, q] = kr * v2 + ki * u2
            kr, ki = fr - hr, fi - hi
            c3[p, q] = kr * u3 - ki * v3
            d3[p, q] = kr * v3 + ki * u3


def stage(a: Any, b: Any, c: Any, d: Any, wr: Any, wi: Any, done: int) -> None:
    """Any radix r, in r * r products."""
    r, m, s = a.shape
    n = len(wr)
    for p in range(m):
        for j in range(r):
            t = p * j * done
            for k in range(r):
                u, v = wr[t], wi[t]
                t += j * (n // r)
                if t >= n:
                    t -= n
                for q in range(s):
                    c[p, j, q] += a[k, p, q] * u - b[k, p, q] * v
                    d[p, j, q] += a[k, p, q] * v + b[k, p, q] * u


@whole
def bluestein(re: Any, im: Any, sign: int) -> Any:
    """By 2 j k = j*j + k*k - (k-j)*(k-j) a convolution with the chirp exp(-sign pi i j*j / n), here the last column."""
    n, columns = re.shape
    size = 1
    while size < 2 * n - 1:
        size = 2 * size
    j = np.arange(float(n))
    square = j * j
    ur, ui = roots(square - 2.0 * n * np.floor(square / (2.0 * n)), 2 * n, sign)
    ur, ui = ur.astype(re.dtype), ui.astype(re.dtype)
    vr, vi = ur[:, None], ui[:, None]
    xr, xi = np.zeros((size, columns + 1), re.dtype), np.zeros((size, columns + 1), re.dtype)
    xr[:n, :columns], xi[:n, :columns] = re * vr - im * vi, re * vi + im * vr
    xr[:n, columns], xi[:n, columns] = ur, -ui
    xr[size - n + 1 :, columns], xi[size - n + 1 :, columns] = ur[1:][::-1], -ui[1:][::-1]
    gr, gi = stockham(xr, xi, -1)
    fr, fi = gr[:, columns:] / size, gi[:, columns:] / size
    hr, hi = stockham(gr * fr - gi * fi, gr * fi + gi * fr, 1)
    hr, hi = hr[:n, :columns], hi[:n, :columns]
    return hr * vr - hi * vi, hr * vi + hi * vr


FUNCTIONS: dict[str, Any] = {"pullback.dft": dft}

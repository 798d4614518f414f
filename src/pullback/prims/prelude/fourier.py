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

from pullback.prims.prelude.intrinsics import outlined, ruled, structural

__all__ = ["FUNCTIONS", "dft"]

COS_72, COS_144 = 0.30901699437494745, -0.8090169943749475
SIN_72, SIN_120, SIN_144 = 0.9510565162951535, 0.8660254037844386, 0.5877852522924731
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
    n, columns = re.shape
    xr, xi = np.empty(n * columns, re.dtype), np.empty(n * columns, re.dtype)
    xr.reshape(n, columns)[:], xi.reshape(n, columns)[:] = re, im
    if largest_prime(n) > LARGEST_PRIME:
        yr, yi = bluestein(xr, xi, n, columns, sign)
    else:
        yr, yi = stockham(xr, xi, n, columns, sign)
    return yr.reshape(n, columns), yi.reshape(n, columns)


def largest_prime(n: int) -> int:
    """The largest prime factor of a positive int, at least 1."""
    largest, p = 1, 2
    while p * p <= n:
        while n % p == 0:
            largest = p
            n = n // p
        p += 1
    return max(largest, n)


@structural
def on_circle(k: int, n: int) -> Any:
    """cos and sin of 2 pi k / n, by exact reduction to the nearest quarter of the circle."""
    quarter = (8 * k + n) // (2 * n)
    angle = (4 * k - quarter * n) * (0.5 * math.pi / n)
    c, s = math.cos(angle), math.sin(angle)
    if quarter & 1:
        c, s = -s, c
    return (-c, -s) if quarter & 2 else (c, s)


@outlined
def roots(n: int, sign: int, model: Any) -> Any:
    """cos and sin of 2 pi k / n for all k below n: those of near steps times those of far ones."""
    m = int(math.sqrt(n)) + 1
    near_r, near_i = np.empty(m), np.empty(m)
    for k in range(m):
        near_r[k], near_i[k] = on_circle(k, n)
    wr, wi = np.empty(n, model.dtype), np.empty(n, model.dtype)
    for low in range(0, n, m):
        c, s = on_circle(low, n)
        part_r, part_i = wr[low : low + m], wi[low : low + m]
        for k in range(len(part_r)):
            part_r[k] = c * near_r[k] - s * near_i[k]
            part_i[k] = (c * near_i[k] + s * near_r[k]) * sign
    return wr, wi


@outlined
def stockham(xr: Any, xi: Any, n: int, columns: int, sign: int) -> Any:
    """Of n rows of so many columns, one after the other; what is given is overwritten."""
    wr, wi = roots(n, sign, xr)
    yr, yi = np.empty(n * columns, xr.dtype), np.empty(n * columns, xr.dtype)
    left, done = n, 1  # the product of the radices to come, and of those before
    while left > 1:
        r = radix(left)
        m, s = left // r, done * columns
        shape, turned = (r, m, s), (m, r, s)
        a, b, c, d = xr.reshape(shape), xi.reshape(shape), yr.reshape(turned), yi.reshape(turned)
        if r == 4:
            stage4(a, b, c, d, wr, wi, done, float(sign))
        elif r == 2:
            stage2(a, b, c, d, wr, wi, done)
        elif r == 3:
            stage3(a, b, c, d, wr, wi, done, float(sign))
        elif r == 5:
            stage5(a, b, c, d, wr, wi, done, float(sign))
        else:
            stage(a, b, c, d, wr, wi, done)
        xr, xi, yr, yi = yr, yi, xr, xi
        left, done = m, done * r
    return xr, xi


@structural
def radix(n: int) -> int:
    """The smallest prime factor, or 4 for two factors 2."""
    if n % 4 == 0:
        return 4
    p = 2
    while n % p != 0:
        p += 1
    return p


@structural
def stage2(a: Any, b: Any, c: Any, d: Any, wr: Any, wi: Any, done: int) -> None:
    _, m, s = a.shape
    a0, a1, b0, b1 = a[0], a[1], b[0], b[1]
    c0, c1, d0, d1 = c[:, 0], c[:, 1], d[:, 0], d[:, 1]
    for p in range(m):
        u, v = wr[p * done], wi[p * done]
        for q in range(s):
            kr, ki = a0[p, q] - a1[p, q], b0[p, q] - b1[p, q]
            c0[p, q] = a0[p, q] + a1[p, q]
            d0[p, q] = b0[p, q] + b1[p, q]
            c1[p, q] = kr * u - ki * v
            d1[p, q] = kr * v + ki * u


@structural
def stage4(a: Any, b: Any, c: Any, d: Any, wr: Any, wi: Any, done: int, sign: float) -> None:
    _, m, s = a.shape
    a0, a1, a2, a3 = a[0], a[1], a[2], a[3]
    b0, b1, b2, b3 = b[0], b[1], b[2], b[3]
    c0, c1, c2, c3 = c[:, 0], c[:, 1], c[:, 2], c[:, 3]
    d0, d1, d2, d3 = d[:, 0], d[:, 1], d[:, 2], d[:, 3]
    for p in range(m):
        t = p * done
        u1, v1, u2, v2 = wr[t], wi[t], wr[2 * t], wi[2 * t]
        u3, v3 = wr[3 * t], wi[3 * t]
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


@structural
def stage3(a: Any, b: Any, c: Any, d: Any, wr: Any, wi: Any, done: int, sign: float) -> None:
    _, m, s = a.shape
    a0, a1, a2, b0, b1, b2 = a[0], a[1], a[2], b[0], b[1], b[2]
    c0, c1, c2, d0, d1, d2 = c[:, 0], c[:, 1], c[:, 2], d[:, 0], d[:, 1], d[:, 2]
    sine = sign * SIN_120
    for p in range(m):
        t = p * done
        u1, v1, u2, v2 = wr[t], wi[t], wr[2 * t], wi[2 * t]
        for q in range(s):
            er, ei = a1[p, q] + a2[p, q], b1[p, q] + b2[p, q]
            gr, gi = sine * (a1[p, q] - a2[p, q]), sine * (b1[p, q] - b2[p, q])
            kr, ki = a0[p, q] - 0.5 * er, b0[p, q] - 0.5 * ei
            c0[p, q] = a0[p, q] + er
            d0[p, q] = b0[p, q] + ei
            c1[p, q] = (kr - gi) * u1 - (ki + gr) * v1
            d1[p, q] = (kr - gi) * v1 + (ki + gr) * u1
            c2[p, q] = (kr + gi) * u2 - (ki - gr) * v2
            d2[p, q] = (kr + gi) * v2 + (ki - gr) * u2


@structural
def stage5(a: Any, b: Any, c: Any, d: Any, wr: Any, wi: Any, done: int, sign: float) -> None:
    _, m, s = a.shape
    a0, a1, a2, a3, a4 = a[0], a[1], a[2], a[3], a[4]
    b0, b1, b2, b3, b4 = b[0], b[1], b[2], b[3], b[4]
    c0, c1, c2, c3, c4 = c[:, 0], c[:, 1], c[:, 2], c[:, 3], c[:, 4]
    d0, d1, d2, d3, d4 = d[:, 0], d[:, 1], d[:, 2], d[:, 3], d[:, 4]
    s1, s2 = sign * SIN_72, sign * SIN_144
    for p in range(m):
        t = p * done
        u1, v1, u2, v2 = wr[t], wi[t], wr[2 * t], wi[2 * t]
        u3, v3, u4, v4 = wr[3 * t], wi[3 * t], wr[4 * t], wi[4 * t]
        for q in range(s):
            er, ei, fr, fi = a1[p, q] + a4[p, q], b1[p, q] + b4[p, q], a2[p, q] + a3[p, q], b2[p, q] + b3[p, q]
            gr, gi, hr, hi = a1[p, q] - a4[p, q], b1[p, q] - b4[p, q], a2[p, q] - a3[p, q], b2[p, q] - b3[p, q]
            c0[p, q] = a0[p, q] + er + fr
            d0[p, q] = b0[p, q] + ei + fi
            kr, ki = a0[p, q] + COS_72 * er + COS_144 * fr, b0[p, q] + COS_72 * ei + COS_144 * fi
            lr, li = s1 * gr + s2 * hr, s1 * gi + s2 * hi
            c1[p, q] = (kr - li) * u1 - (ki + lr) * v1
            d1[p, q] = (kr - li) * v1 + (ki + lr) * u1
            c4[p, q] = (kr + li) * u4 - (ki - lr) * v4
            d4[p, q] = (kr + li) * v4 + (ki - lr) * u4
            kr, ki = a0[p, q] + COS_144 * er + COS_72 * fr, b0[p, q] + COS_144 * ei + COS_72 * fi
            lr, li = s2 * gr - s1 * hr, s2 * gi - s1 * hi
            c2[p, q] = (kr - li) * u2 - (ki + lr) * v2
            d2[p, q] = (kr - li) * v2 + (ki + lr) * u2
            c3[p, q] = (kr + li) * u3 - (ki - lr) * v3
            d3[p, q] = (kr + li) * v3 + (ki - lr) * u3


@structural
def stage(a: Any, b: Any, c: Any, d: Any, wr: Any, wi: Any, done: int) -> None:
    """Any radix r, in r * r products."""
    r, m, s = a.shape
    n = len(wr)
    for p in range(m):
        for j in range(r):
            t = p * j * done
            for q in range(s):
                c[p, j, q] = 0.0
                d[p, j, q] = 0.0
            for k in range(r):
                u, v = wr[t], wi[t]
                t += j * (n // r)
                if t >= n:
                    t -= n
                for q in range(s):
                    c[p, j, q] += a[k, p, q] * u - b[k, p, q] * v
                    d[p, j, q] += a[k, p, q] * v + b[k, p, q] * u


@outlined
def bluestein(xr: Any, xi: Any, n: int, columns: int, sign: int) -> Any:
    """By 2 j k = j*j + k*k - (k-j)*(k-j) a convolution with the chirp exp(-sign pi i j*j / n), here the last column."""
    size, width = 1, columns + 1
    while size < 2 * n - 1:
        size = 2 * size
    wr, wi = roots(2 * n, sign, xr)
    ur, ui = np.empty(n, xr.dtype), np.empty(n, xr.dtype)
    for j in range(n):
        ur[j], ui[j] = wr[j * j % (2 * n)], wi[j * j % (2 * n)]
    yr, yi = np.zeros(size * width, xr.dtype), np.zeros(size * width, xr.dtype)
    turn_rows(xr.reshape(n, columns), xi.reshape(n, columns), yr.reshape(size, width), yi.reshape(size, width), ur, ui)
    for j in range(n):
        yr[j * width + columns], yi[j * width + columns] = ur[j], -ui[j]
        if j > 0:
            yr[(size - j) * width + columns], yi[(size - j) * width + columns] = ur[j], -ui[j]
    yr, yi = stockham(yr, yi, size, width, -1)
    gr, gi = yr.reshape(size, width), yi.reshape(size, width)
    fr, fi = np.empty(size, xr.dtype), np.empty(size, xr.dtype)
    for j in range(size):
        fr[j], fi[j] = gr[j, columns] / size, gi[j, columns] / size
    turn_rows(gr, gi, gr, gi, fr, fi)
    yr, yi = stockham(yr, yi, size, width, 1)
    turn_rows(yr.reshape(size, width), yi.reshape(size, width), xr.reshape(n, columns), xi.reshape(n, columns), ur, ui)
    return xr, xi


@outlined
def turn_rows(a: Any, b: Any, c: Any, d: Any, ur: Any, ui: Any) -> None:
    """c + i d = (a + i b) * (ur + i ui), row by row, as far as both go."""
    for j in range(len(ur)):
        for k in range(min(a.shape[1], c.shape[1])):
            x, y = a[j, k], b[j, k]
            c[j, k] = x * ur[j] - y * ui[j]
            d[j, k] = x * ui[j] + y * ur[j]


FUNCTIONS: dict[str, Any] = {"pullback.dft": dft}

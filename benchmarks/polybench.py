"""The 30 kernels of PolyBench/C 4.2 as a NumPy user writes them, from their definitions (Pouchet and Yuki, 2016).

    KERNELS["gemm"].function(*KERNELS["gemm"].arguments(rng, 20))        arrays are changed as in the definition

Whole-array operations where the data dependences allow them, loops over the rest.  `loss` of a kernel is a number that
depends on everything that it computes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ["KERNELS", "Kernel"]


@dataclass(frozen=True, slots=True)
class Kernel:
    """arguments(rng, n): what the function takes at size n.  real: it has a gradient by its float arguments."""

    name: str
    function: Callable[..., Any]
    arguments: Callable[[np.random.Generator, int], tuple[Any, ...]]
    small: int
    medium: int
    real: bool = True


# ------------------------------------------------------------------------------------------- linear algebra, BLAS


def gemm(alpha, beta, c, a, b):
    c[:] = alpha * a @ b + beta * c
    return c


def gemver(alpha, beta, a, u1, v1, u2, v2, w, x, y, z):
    a += np.outer(u1, v1) + np.outer(u2, v2)
    x += beta * y @ a + z
    w += alpha * a @ x
    return w


def gesummv(alpha, beta, a, b, x):
    return alpha * a @ x + beta * b @ x


def symm(alpha, beta, c, a, b):
    c *= beta
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            c[:i, j] += alpha * b[i, j] * a[i, :i]
            c[i, j] += alpha * b[i, j] * a[i, i] + alpha * (b[:i, j] @ a[i, :i])
    return c


def syr2k(alpha, beta, c, a, b):
    for i in range(a.shape[0]):
        c[i, : i + 1] *= beta
        for k in range(a.shape[1]):
            c[i, : i + 1] += a[: i + 1, k] * alpha * b[i, k] + b[: i + 1, k] * alpha * a[i, k]
    return c


def syrk(alpha, beta, c, a):
    for i in range(a.shape[0]):
        c[i, : i + 1] *= beta
        for k in range(a.shape[1]):
            c[i, : i + 1] += alpha * a[i, k] * a[: i + 1, k]
    return c


def trmm(alpha, a, b):
    for i in range(b.shape[0]):
        for j in range(b.shape[1]):
            b[i, j] += np.dot(a[i + 1 :, i], b[i + 1 :, j])
    b *= alpha
    return b


# ---------------------------------------------------------------------------------------------------------- kernels


def two_mm(alpha, beta, a, b, c, d):
    d[:] = alpha * a @ b @ c + beta * d
    return d


def three_mm(a, b, c, d):
    return a @ b @ c @ d


def atax(a, x):
    return (a @ x) @ a


def bicg(a, p, r):
    return r @ a, a @ p


def doitgen(a, c4):
    for r in range(a.shape[0]):
        for q in range(a.shape[1]):
            a[r, q, :] = a[r, q, :] @ c4
    return a


def mvt(x1, x2, y1, y2, a):
    x1 += a @ y1
    x2 += y2 @ a
    return x1, x2


# ---------------------------------------------------------------------------------------------------------- solvers


def cholesky(a):
    a[0, 0] = np.sqrt(a[0, 0])
    for i in range(1, a.shape[0]):
        for j in range(i):
            a[i, j] -= np.dot(a[i, :j], a[j, :j])
            a[i, j] /= a[j, j]
        a[i, i] -= np.dot(a[i, :i], a[i, :i])
        a[i, i] = np.sqrt(a[i, i])
    return a


def durbin(r):
    y = np.empty_like(r)
    alpha = -r[0]
    beta = 1.0
    y[0] = -r[0]
    for k in range(1, r.shape[0]):
        beta *= 1.0 - alpha * alpha
        alpha = -(r[k] + np.dot(np.flip(r[:k]), y[:k])) / beta
        y[:k] += alpha * np.flip(y[:k])
        y[k] = alpha
    return y


def gramschmidt(a):
    q = np.zeros_like(a)
    r = np.zeros((a.shape[1], a.shape[1]))
    for k in range(a.shape[1]):
        norm = np.dot(a[:, k], a[:, k])
        r[k, k] = np.sqrt(norm)
        q[:, k] = a[:, k] / r[k, k]
        for j in range(k + 1, a.shape[1]):
            r[k, j] = np.dot(q[:, k], a[:, j])
            a[:, j] -= q[:, k] * r[k, j]
    return q, r


def lu(a):
    for i in range(a.shape[0]):
        for j in range(i):
            a[i, j] -= a[i, :j] @ a[:j, j]
            a[i, j] /= a[j, j]
        for j in range(i, a.shape[0]):
            a[i, j] -= a[i, :i] @ a[:i, j]
    return a


def ludcmp(a, b):
    n = a.shape[0]
    x = np.zeros_like(b)
    y = np.zeros_like(b)
    for i in range(n):
        for j in range(i):
            a[i, j] -= a[i, :j] @ a[:j, j]
            a[i, j] /= a[j, j]
        for j in range(i, n):
            a[i, j] -= a[i, :i] @ a[:i, j]
    for i in range(n):
        y[i] = b[i] - a[i, :i] @ y[:i]
    for i in range(n - 1, -1, -1):
        x[i] = (y[i] - a[i, i + 1 :] @ x[i + 1 :]) / a[i, i]
    return x, y


def trisolv(lower, x, b):
    for i in range(x.shape[0]):
        x[i] = (b[i] - lower[i, :i] @ x[:i]) / lower[i, i]
    return x


# ------------------------------------------------------------------------------------------------------ data mining


def correlation(data):
    m = np.mean(data, axis=0)
    stddev = np.std(data, axis=0)
    stddev[stddev <= 0.1] = 1.0
    data = data - m
    data /= np.sqrt(data.shape[0]) * stddev
    corr = np.eye(data.shape[1], dtype=data.dtype)
    for i in range(data.shape[1] - 1):
        corr[i + 1 :, i] = corr[i, i + 1 :] = data[:, i] @ data[:, i + 1 :]
    return corr


def covariance(data):
    data = data - np.mean(data, axis=0)
    cov = np.zeros((data.shape[1], data.shape[1]))
    for i in range(data.shape[1]):
        cov[i:, i] = cov[i, i:] = data[:, i] @ data[:, i:] / (data.shape[0] - 1.0)
    return cov


# ----------------------------------------------------------------------------------------------------------- medley


def deriche(alpha, image):
    k = (1.0 - np.exp(-alpha)) * (1.0 - np.exp(-alpha)) / (1.0 + alpha * np.exp(-alpha) - np.exp(2.0 * alpha))
    a1 = a5 = k
    a2 = a6 = k * np.exp(-alpha) * (alpha - 1.0)
    a3 = a7 = k * np.exp(-alpha) * (alpha + 1.0)
    a4 = a8 = -k * np.exp(-2.0 * alpha)
    b1 = 2.0 ** (-alpha)
    b2 = -np.exp(-2.0 * alpha)
    y1 = np.empty_like(image)
    y1[:, 0] = a1 * image[:, 0]
    y1[:, 1] = a1 * image[:, 1] + a2 * image[:, 0] + b1 * y1[:, 0]
    for j in range(2, image.shape[1]):
        y1[:, j] = a1 * image[:, j] + a2 * image[:, j - 1] + b1 * y1[:, j - 1] + b2 * y1[:, j - 2]
    y2 = np.empty_like(image)
    y2[:, -1] = 0.0
    y2[:, -2] = a3 * image[:, -1]
    for j in range(image.shape[1] - 3, -1, -1):
        y2[:, j] = a3 * image[:, j + 1] + a4 * image[:, j + 2] + b1 * y2[:, j + 1] + b2 * y2[:, j + 2]
    out = y1 + y2
    y1[0, :] = a5 * out[0, :]
    y1[1, :] = a5 * out[1, :] + a6 * out[0, :] + b1 * y1[0, :]
    for i in range(2, image.shape[0]):
        y1[i, :] = a5 * out[i, :] + a6 * out[i - 1, :] + b1 * y1[i - 1, :] + b2 * y1[i - 2, :]
    y2[-1, :] = 0.0
    y2[-2, :] = a7 * out[-1, :]
    for i in range(image.shape[0] - 3, -1, -1):
        y2[i, :] = a7 * out[i + 1, :] + a8 * out[i + 2, :] + b1 * y2[i + 1, :] + b2 * y2[i + 2, :]
    return y1 + y2


def floyd_warshall(path):
    for k in range(path.shape[0]):
        for i in range(path.shape[0]):
            path[i, :] = np.minimum(path[i, :], path[i, k] + path[k, :])
    return path


def match(b1, b2):
    return 1 if b1 + b2 == 3 else 0


def nussinov(seq):
    n = len(seq)
    table = np.zeros((n, n), np.int32)
    for i in range(n - 1, -1, -1):
        for j in range(i + 1, n):
            if j - 1 >= 0:
                table[i, j] = max(table[i, j], table[i, j - 1])
            if i + 1 < n:
                table[i, j] = max(table[i, j], table[i + 1, j])
            if j - 1 >= 0 and i + 1 < n:
                if i < j - 1:
                    table[i, j] = max(table[i, j], table[i + 1, j - 1] + match(seq[i], seq[j]))
                else:
                    table[i, j] = max(table[i, j], table[i + 1, j - 1])
            for k in range(i + 1, j):
                table[i, j] = max(table[i, j], table[i, k] + table[k + 1, j])
    return table


# --------------------------------------------------------------------------------------------------------- stencils


def adi(steps, u):
    n = u.shape[0]
    v = np.empty(u.shape, dtype=u.dtype)
    p = np.empty(u.shape, dtype=u.dtype)
    q = np.empty(u.shape, dtype=u.dtype)
    dx = 1.0 / n
    dt = 1.0 / steps
    mul1 = 2.0 * dt / (dx * dx)
    mul2 = dt / (dx * dx)
    a = -mul1 / 2.0
    b = 1.0 + mul1
    c = a
    d = -mul2 / 2.0
    e = 1.0 + mul2
    f = d
    for _ in range(steps):
        v[0, 1 : n - 1] = 1.0
        p[1 : n - 1, 0] = 0.0
        q[1 : n - 1, 0] = v[0, 1 : n - 1]
        for j in range(1, n - 1):
            p[1 : n - 1, j] = -c / (a * p[1 : n - 1, j - 1] + b)
            q[1 : n - 1, j] = (
                -d * u[j, 0 : n - 2] + (1.0 + 2.0 * d) * u[j, 1 : n - 1] - f * u[j, 2:n] - a * q[1 : n - 1, j - 1]
            ) / (a * p[1 : n - 1, j - 1] + b)
        v[n - 1, 1 : n - 1] = 1.0
        for j in range(n - 2, 0, -1):
            v[j, 1 : n - 1] = p[1 : n - 1, j] * v[j + 1, 1 : n - 1] + q[1 : n - 1, j]
        u[1 : n - 1, 0] = 1.0
        p[1 : n - 1, 0] = 0.0
        q[1 : n - 1, 0] = u[1 : n - 1, 0]
        for j in range(1, n - 1):
            p[1 : n - 1, j] = -f / (d * p[1 : n - 1, j - 1] + e)
            q[1 : n - 1, j] = (
                -a * v[0 : n - 2, j] + (1.0 + 2.0 * a) * v[1 : n - 1, j] - c * v[2:n, j] - d * q[1 : n - 1, j - 1]
            ) / (d * p[1 : n - 1, j - 1] + e)
        u[1 : n - 1, n - 1] = 1.0
        for j in range(n - 2, 0, -1):
            u[1 : n - 1, j] = p[1 : n - 1, j] * u[1 : n - 1, j + 1] + q[1 : n - 1, j]
    return u


def fdtd_2d(steps, ex, ey, hz, fict):
    for t in range(steps):
        ey[0, :] = fict[t]
        ey[1:, :] -= 0.5 * (hz[1:, :] - hz[:-1, :])
        ex[:, 1:] -= 0.5 * (hz[:, 1:] - hz[:, :-1])
        hz[:-1, :-1] -= 0.7 * (ex[:-1, 1:] - ex[:-1, :-1] + ey[1:, :-1] - ey[:-1, :-1])
    return hz


def heat_step(b, a):
    b[1:-1, 1:-1, 1:-1] = (
        0.125 * (a[2:, 1:-1, 1:-1] - 2.0 * a[1:-1, 1:-1, 1:-1] + a[:-2, 1:-1, 1:-1])
        + 0.125 * (a[1:-1, 2:, 1:-1] - 2.0 * a[1:-1, 1:-1, 1:-1] + a[1:-1, :-2, 1:-1])
        + 0.125 * (a[1:-1, 1:-1, 2:] - 2.0 * a[1:-1, 1:-1, 1:-1] + a[1:-1, 1:-1, :-2])
        + a[1:-1, 1:-1, 1:-1]
    )


def heat_3d(steps, a, b):
    for _ in range(1, steps):
        heat_step(b, a)
        heat_step(a, b)
    return a


def jacobi_1d(steps, a, b):
    for _ in range(1, steps):
        b[1:-1] = 0.33333 * (a[:-2] + a[1:-1] + a[2:])
        a[1:-1] = 0.33333 * (b[:-2] + b[1:-1] + b[2:])
    return a


def jacobi_2d(steps, a, b):
    for _ in range(1, steps):
        b[1:-1, 1:-1] = 0.2 * (a[1:-1, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:] + a[2:, 1:-1] + a[:-2, 1:-1])
        a[1:-1, 1:-1] = 0.2 * (b[1:-1, 1:-1] + b[1:-1, :-2] + b[1:-1, 2:] + b[2:, 1:-1] + b[:-2, 1:-1])
    return a


def seidel_2d(steps, a):
    n = a.shape[0]
    for _ in range(steps - 1):
        for i in range(1, n - 1):
            a[i, 1:-1] += a[i - 1, :-2] + a[i - 1, 1:-1] + a[i - 1, 2:] + a[i, 2:] + a[i + 1, :-2]
            a[i, 1:-1] += a[i + 1, 1:-1] + a[i + 1, 2:]
            for j in range(1, n - 1):
                a[i, j] += a[i, j - 1]
                a[i, j] /= 9.0
    return a


# -------------------------------------------------------------------------------------------------------- arguments


def uniform(rng: np.random.Generator, *shape: int) -> np.ndarray:
    """Numbers between 0.2 and 1."""
    return rng.uniform(0.2, 1.0, shape)


def _definite(rng: np.random.Generator, n: int) -> np.ndarray:
    """A positive definite matrix."""
    a = uniform(rng, n, n)
    return a @ a.T / n + np.eye(n)


def _paths(rng: np.random.Generator, n: int) -> tuple[Any, ...]:
    return (rng.integers(1, 100, (n, n)).astype(np.float64) + rng.uniform(0.0, 0.5, (n, n)),)


def _k(
    function: Callable[..., Any], small: int, medium: int, arguments: Callable[[Any, int], tuple[Any, ...]], *,
    real: bool = True,
) -> Kernel:  # fmt: skip
    return Kernel(function.__name__, function, arguments, small, medium, real)


KERNELS: dict[str, Kernel] = {
    kernel.name: kernel
    for kernel in (
        _k(gemm, 20, 150, lambda r, n: (1.5, 1.2, uniform(r, n, n), uniform(r, n, n + 5), uniform(r, n + 5, n))),
        _k(gemver, 40, 400, lambda r, n: (1.5, 1.2, uniform(r, n, n), *(uniform(r, n) for _ in range(8)))),
        _k(gesummv, 40, 400, lambda r, n: (1.5, 1.2, uniform(r, n, n), uniform(r, n, n), uniform(r, n))),
        _k(symm, 15, 60, lambda r, n: (1.5, 1.2, uniform(r, n, n + 5), uniform(r, n, n), uniform(r, n, n + 5))),
        _k(syr2k, 20, 80, lambda r, n: (1.5, 1.2, uniform(r, n, n), uniform(r, n, n - 4), uniform(r, n, n - 4))),
        _k(syrk, 20, 80, lambda r, n: (1.5, 1.2, uniform(r, n, n), uniform(r, n, n - 4))),
        _k(trmm, 15, 60, lambda r, n: (1.5, uniform(r, n, n), uniform(r, n, n + 5))),
        _k(two_mm, 20, 120, lambda r, n: (1.5, 1.2, uniform(r, n, n + 2), uniform(r, n + 2, n + 4),
                                          uniform(r, n + 4, n + 6), uniform(r, n, n + 6))),
        _k(three_mm, 20, 120, lambda r, n: (uniform(r, n, n + 2), uniform(r, n + 2, n + 4), uniform(r, n + 4, n),
                                            uniform(r, n, n + 6))),
        _k(atax, 40, 400, lambda r, n: (uniform(r, n, n + 5), uniform(r, n + 5))),
        _k(bicg, 40, 400, lambda r, n: (uniform(r, n, n + 5), uniform(r, n + 5), uniform(r, n))),
        _k(doitgen, 10, 40, lambda r, n: (uniform(r, n, n - 2, n + 2), uniform(r, n + 2, n + 2))),
        _k(mvt, 40, 400, lambda r, n: (*(uniform(r, n) for _ in range(4)), uniform(r, n, n))),
        _k(cholesky, 20, 100, lambda r, n: (_definite(r, n),)),
        _k(durbin, 40, 300, lambda r, n: (uniform(r, n) / n,)),
        _k(gramschmidt, 20, 80, lambda r, n: (uniform(r, n + 5, n) + np.eye(n + 5, n),)),
        _k(lu, 20, 100, lambda r, n: (_definite(r, n),)),
        _k(ludcmp, 20, 100, lambda r, n: (_definite(r, n), uniform(r, n))),
        _k(trisolv, 40, 400, lambda r, n: (_definite(r, n), np.zeros(n), uniform(r, n))),
        _k(correlation, 20, 100, lambda r, n: (10.0 * uniform(r, n + 8, n),)),
        _k(covariance, 20, 100, lambda r, n: (uniform(r, n + 8, n),)),
        _k(deriche, 20, 120, lambda r, n: (0.25, uniform(r, n, n + 4))),
        _k(floyd_warshall, 15, 80, _paths),
        _k(nussinov, 20, 60, lambda r, n: (r.integers(0, 4, n),), real=False),
        _k(adi, 12, 50, lambda r, n: (max(2, n // 5), uniform(r, n, n))),
        _k(fdtd_2d, 12, 60, lambda r, n: (n // 2, uniform(r, n, n + 3), uniform(r, n, n + 3), uniform(r, n, n + 3),
                                          uniform(r, n))),
        _k(heat_3d, 8, 24, lambda r, n: (n, uniform(r, n, n, n), uniform(r, n, n, n))),
        _k(jacobi_1d, 40, 400, lambda r, n: (n // 4, uniform(r, n), uniform(r, n))),
        _k(jacobi_2d, 15, 80, lambda r, n: (n // 3, uniform(r, n, n), uniform(r, n, n))),
        _k(seidel_2d, 12, 50, lambda r, n: (n // 3, uniform(r, n, n))),
    )
}  # fmt: skip

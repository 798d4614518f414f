"""Small applications of array programs as a NumPy user writes them, from their published definitions.

    APPLICATIONS["cavity"].function(*APPLICATIONS["cavity"].arguments(rng, 20))

Stencils; diffusion, advection and flow (Baldauf et al. 2011 for the weather model; Barba and Forsyth 2018 for cavity
and channel); bodies, fractals, networks, sparse products, transforms (Stockham), checksums, dynamic programming, paths,
contour and azimuthal integrals.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from polybench import Kernel, uniform

__all__ = ["APPLICATIONS"]


# --------------------------------------------------------------------------------------------------------- stencils


def five_point(steps, a):
    for _ in range(steps):
        b = a.copy()
        b[1:-1, 1:-1] = 0.25 * (a[:-2, 1:-1] + a[2:, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:])
        a = b
    return a


def nine_point(steps, a):
    for _ in range(steps):
        edges = a[:-2, 1:-1] + a[2:, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:]
        corners = a[:-2, :-2] + a[:-2, 2:] + a[2:, :-2] + a[2:, 2:]
        b = np.copy(a)
        b[1:-1, 1:-1] = (4.0 * edges + corners) / 20.0
        a = b
    return a


def horizontal_diffusion(field, coefficient):
    """Fourth-order diffusion with a flux limiter, as in numerical weather prediction; axes x, y, z."""
    lap = 4.0 * field[1:-1, 1:-1, :] - (
        field[2:, 1:-1, :] + field[:-2, 1:-1, :] + field[1:-1, 2:, :] + field[1:-1, :-2, :]
    )
    step = lap[1:, 1:-1, :] - lap[:-1, 1:-1, :]
    fluxes_x = np.where(step * (field[2:-1, 2:-2, :] - field[1:-2, 2:-2, :]) > 0, 0, step)
    step = lap[1:-1, 1:, :] - lap[1:-1, :-1, :]
    fluxes_y = np.where(step * (field[2:-2, 2:-1, :] - field[2:-2, 1:-2, :]) > 0, 0, step)
    return field[2:-2, 2:-2, :] - coefficient * (
        fluxes_x[1:, :, :] - fluxes_x[:-1, :, :] + fluxes_y[:, 1:, :] - fluxes_y[:, :-1, :]
    )


def vertical_advection(stage, wcon, u, position, tendency):
    """Implicit vertical advection: one tridiagonal system for every column; axes x, y, z."""
    rate, beta_v, bet_m, bet_p = 3.0 / 20.0, 0.0, 0.5, 0.5
    nx, ny, nz = u.shape
    upper = np.empty((nx, ny, nz))
    right = np.empty((nx, ny, nz))
    for k in range(nz):
        gcv = 0.25 * (wcon[1:, :, k + 1] + wcon[:-1, :, k + 1])
        gav = -0.25 * (wcon[1:, :, k] + wcon[:-1, :, k])
        if k == 0:
            cs = gcv * bet_m
            c = gcv * bet_p
            b = rate - c
            right[:, :, k] = rate * position[:, :, k] + tendency[:, :, k] + stage[:, :, k]
            right[:, :, k] -= cs * (u[:, :, k + 1] - u[:, :, k])
            upper[:, :, k] = c / b
            right[:, :, k] = right[:, :, k] / b
        elif k < nz - 1:
            a, c = gav * bet_p, gcv * bet_p
            b = rate - a - c
            correction = -gav * bet_m * (u[:, :, k - 1] - u[:, :, k]) - gcv * bet_m * (u[:, :, k + 1] - u[:, :, k])
            d = rate * position[:, :, k] + tendency[:, :, k] + stage[:, :, k] + correction
            divided = 1.0 / (b - upper[:, :, k - 1] * a)
            upper[:, :, k] = c * divided
            right[:, :, k] = (d - right[:, :, k - 1] * a) * divided
        else:
            a = gav * bet_p
            b = rate - a
            d = rate * position[:, :, k] + tendency[:, :, k] + stage[:, :, k]
            d -= gav * bet_m * (u[:, :, k - 1] - u[:, :, k])
            right[:, :, k] = (d - right[:, :, k - 1] * a) / (b - upper[:, :, k - 1] * a)
    out = np.empty((nx, ny, nz))
    out[:, :, nz - 1] = right[:, :, nz - 1]
    for k in range(nz - 2, -1, -1):
        out[:, :, k] = right[:, :, k] - upper[:, :, k] * out[:, :, k + 1]
    return rate * (out - position) + beta_v


# ------------------------------------------------------------------------------------------------------------- flow


def pressure_source(b, rho, dt, u, v, dx, dy):
    du_dx = (u[1:-1, 2:] - u[1:-1, :-2]) / (2 * dx)
    dv_dy = (v[2:, 1:-1] - v[:-2, 1:-1]) / (2 * dy)
    du_dy = (u[2:, 1:-1] - u[:-2, 1:-1]) / (2 * dy)
    dv_dx = (v[1:-1, 2:] - v[1:-1, :-2]) / (2 * dx)
    b[1:-1, 1:-1] = rho * (1 / dt * (du_dx + dv_dy) - du_dx**2 - 2 * (du_dy * dv_dx) - dv_dy**2)


def relaxed(p, b, dx, dy):
    pn = p.copy()
    across = (pn[1:-1, 2:] + pn[1:-1, :-2]) * dy**2 + (pn[2:, 1:-1] + pn[:-2, 1:-1]) * dx**2
    p[1:-1, 1:-1] = across / (2 * (dx**2 + dy**2)) - dx**2 * dy**2 / (2 * (dx**2 + dy**2)) * b[1:-1, 1:-1]


def momentum(w, wn, un, vn, p_step, dt, dx, dy, nu):
    """One explicit step of a velocity; p_step: what the pressure adds."""
    inner = wn[1:-1, 1:-1]
    w[1:-1, 1:-1] = (
        inner
        - un[1:-1, 1:-1] * dt / dx * (inner - wn[1:-1, :-2])
        - vn[1:-1, 1:-1] * dt / dy * (inner - wn[:-2, 1:-1])
        - p_step
        + nu * dt / dx**2 * (wn[1:-1, 2:] - 2 * inner + wn[1:-1, :-2])
        + nu * dt / dy**2 * (wn[2:, 1:-1] - 2 * inner + wn[:-2, 1:-1])
    )


def cavity(steps, sweeps, u, v, p, rho, nu, dt):
    """Flow in a cavity whose lid moves."""
    b = np.zeros_like(u)
    dx, dy = 2.0 / (u.shape[1] - 1), 2.0 / (u.shape[0] - 1)
    for _ in range(steps):
        un, vn = u.copy(), v.copy()
        pressure_source(b, rho, dt, u, v, dx, dy)
        for _ in range(sweeps):
            relaxed(p, b, dx, dy)
            p[:, -1] = p[:, -2]
            p[0, :] = p[1, :]
            p[:, 0] = p[:, 1]
            p[-1, :] = 0
        momentum(u, un, un, vn, dt / (2 * rho * dx) * (p[1:-1, 2:] - p[1:-1, :-2]), dt, dx, dy, nu)
        momentum(v, vn, un, vn, dt / (2 * rho * dy) * (p[2:, 1:-1] - p[:-2, 1:-1]), dt, dx, dy, nu)
        u[0, :] = 0
        u[:, 0] = 0
        u[:, -1] = 0
        u[-1, :] = 1
        v[0, :] = 0
        v[-1, :] = 0
        v[:, 0] = 0
        v[:, -1] = 0
    return u, v


def channel(sweeps, u, v, p, rho, nu, dt, force):
    """Flow between two plates, periodic along them, until it hardly changes; the number of steps too."""
    dx, dy = 2.0 / (u.shape[1] - 1), 2.0 / (u.shape[0] - 1)
    change, count = 1.0, 0
    while change > 0.01:
        un, vn = u.copy(), v.copy()
        east, west = np.roll(u, -1, axis=1), np.roll(u, 1, axis=1)
        v_east, v_west = np.roll(v, -1, axis=1), np.roll(v, 1, axis=1)
        du_dx = (east[1:-1, :] - west[1:-1, :]) / (2 * dx)
        dv_dy = (v[2:, :] - v[:-2, :]) / (2 * dy)
        du_dy = (u[2:, :] - u[:-2, :]) / (2 * dy)
        dv_dx = (v_east[1:-1, :] - v_west[1:-1, :]) / (2 * dx)
        b = rho * (1 / dt * (du_dx + dv_dy) - du_dx**2 - 2 * du_dy * dv_dx - dv_dy**2)
        for _ in range(sweeps):
            pn = p.copy()
            sides = (np.roll(pn, -1, axis=1) + np.roll(pn, 1, axis=1))[1:-1, :] * dy**2
            p[1:-1, :] = (sides + (pn[2:, :] + pn[:-2, :]) * dx**2 - dx**2 * dy**2 * b) / (2 * (dx**2 + dy**2))
            p[-1, :] = p[-2, :]
            p[0, :] = p[1, :]
        p_x = np.roll(p, -1, axis=1) - np.roll(p, 1, axis=1)
        inner = un[1:-1, :]
        u[1:-1, :] = (
            inner
            - inner * dt / dx * (inner - np.roll(un, 1, axis=1)[1:-1, :])
            - vn[1:-1, :] * dt / dy * (inner - un[:-2, :])
            - dt / (2 * rho * dx) * p_x[1:-1, :]
            + nu * dt / dx**2 * (np.roll(un, -1, axis=1)[1:-1, :] - 2 * inner + np.roll(un, 1, axis=1)[1:-1, :])
            + nu * dt / dy**2 * (un[2:, :] - 2 * inner + un[:-2, :])
            + force * dt
        )
        u[0, :] = 0
        u[-1, :] = 0
        change = (np.sum(u) - np.sum(un)) / np.sum(u)
        count += 1
    return u, count


# ------------------------------------------------------------------------------------------------ bodies, fractals


def accelerations(position, mass, softening):
    d = position[np.newaxis, :, :] - position[:, np.newaxis, :]
    inverse = (d[:, :, 0] ** 2 + d[:, :, 1] ** 2 + d[:, :, 2] ** 2 + softening**2) ** (-1.5)
    return np.stack((d[:, :, 0] * inverse @ mass, d[:, :, 1] * inverse @ mass, d[:, :, 2] * inverse @ mass), axis=1)


def n_body(steps, dt, position, velocity, mass, softening):
    """Leapfrog steps of bodies that attract each other; kinetic energies after each."""
    velocity = velocity - np.sum(mass[:, None] * velocity, axis=0) / np.sum(mass)
    kinetic = np.empty(steps)
    a = accelerations(position, mass, softening)
    for t in range(steps):
        velocity = velocity + a * dt / 2.0
        position = position + velocity * dt
        a = accelerations(position, mass, softening)
        velocity = velocity + a * dt / 2.0
        kinetic[t] = 0.5 * np.sum(mass[:, None] * velocity**2)
    return kinetic, position


def mandelbrot(n, most):
    """How many steps of z**2 + c stay within the horizon, and where each ended."""
    x = np.linspace(-2.25, 0.75, n)
    y = np.linspace(-1.25, 1.25, n)
    c = x + y[:, None] * 1j
    counts = np.zeros(c.shape, dtype=np.int64)
    z = np.zeros(c.shape, dtype=np.complex128)
    for k in range(most):
        inside = np.abs(z) < 2.0
        counts[inside] = k
        z[inside] = z[inside] ** 2 + c[inside]
    counts[counts == most - 1] = 0
    return counts


# --------------------------------------------------------------------------------------------------------- networks


def relu(x):
    return np.maximum(x, 0)


def softmax(x):
    e = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return e / np.sum(e, axis=-1, keepdims=True)


def mlp(x, w1, b1, w2, b2, w3, b3):
    x = relu(x @ w1 + b1)
    x = relu(x @ w2 + b2)
    return softmax(x @ w3 + b3)


def conv2d(x, weights):
    """Images (number, height, width, channels) with kernels (height, width, channels, channels of the result)."""
    k = weights.shape[0]
    n, h, w = x.shape[0], x.shape[1] - k + 1, x.shape[2] - k + 1
    out = np.empty((n, h, w, weights.shape[3]), dtype=x.dtype)
    for i in range(h):
        for j in range(w):
            patch = x[:, i : i + k, j : j + k, :, np.newaxis] * weights[np.newaxis, :, :, :]
            out[:, i, j, :] = np.sum(patch, axis=(1, 2, 3))
    return out


def conv2d_bias(x, weights, bias):
    return conv2d(x, weights) + bias


def max_pool(x):
    out = np.empty((x.shape[0], x.shape[1] // 2, x.shape[2] // 2, x.shape[3]), dtype=x.dtype)
    for i in range(x.shape[1] // 2):
        for j in range(x.shape[2] // 2):
            out[:, i, j, :] = np.max(x[:, 2 * i : 2 * i + 2, 2 * j : 2 * j + 2, :], axis=(1, 2))
    return out


def lenet(x, k1, c1, k2, c2, w1, b1, w2, b2, w3, b3):
    x = max_pool(relu(conv2d(x, k1) + c1))
    x = max_pool(relu(conv2d(x, k2) + c2))
    x = np.reshape(x, (x.shape[0], x.shape[1] * x.shape[2] * x.shape[3]))
    x = relu(x @ w1 + b1)
    x = relu(x @ w2 + b2)
    return x @ w3 + b3


def normalised(x, eps=1e-5):
    mean = np.mean(x, axis=0, keepdims=True)
    std = np.std(x, axis=0, keepdims=True)
    return (x - mean) / np.sqrt(std + eps)


def resnet_block(x, k1, k2, k3):
    padded = np.zeros((x.shape[0], x.shape[1] + 2, x.shape[2] + 2, k1.shape[3]))
    padded[:, 1:-1, 1:-1, :] = conv2d(x, k1)
    y = relu(normalised(padded))
    y = relu(normalised(conv2d(y, k2)))
    y = normalised(conv2d(y, k3))
    return relu(y + x)


# ------------------------------------------------------------------------------------------- sparse, transforms, DP


def spmv(row, column, values, x):
    y = np.empty(len(row) - 1, values.dtype)
    for i in range(len(row) - 1):
        columns = column[row[i] : row[i + 1]]
        y[i] = values[row[i] : row[i + 1]] @ x[columns]
    return y


def stockham(levels, radix, x):
    """The discrete Fourier transform of radix**levels numbers."""
    n = radix**levels
    i, j = np.mgrid[0:radix, 0:radix]
    dft = np.exp(-2.0j * np.pi * i * j / radix)
    y = x.copy()
    for level in range(levels):
        rest = radix ** (levels - level - 1)
        done = radix**level
        parts = np.reshape(y, (radix, rest, done))
        twiddled = np.empty((rest, radix, done), dtype=np.complex128)
        for k in range(radix):
            factor = np.exp(-2.0j * np.pi * k * np.arange(done) / (radix * done))
            twiddled[:, k, :] = parts[k, :, :] * factor
        z = np.empty((rest, radix, done), dtype=np.complex128)
        for r in range(rest):
            z[r, :, :] = dft @ twiddled[r, :, :]
        y = np.reshape(z, n)
    return y


def crc16(data, poly=0x8408):
    """CRC-16-CCITT of bytes."""
    crc = 0xFFFF
    for byte in data:
        cur = 0xFF & byte
        for _ in range(8):
            if (crc & 0x0001) ^ (cur & 0x0001):
                crc = (crc >> 1) ^ poly
            else:
                crc >>= 1
            cur >>= 1
    crc = ~crc & 0xFFFF
    crc = (crc << 8) | ((crc >> 8) & 0xFF)
    return crc & 0xFFFF


def alignment(a, b, gap, same, other):
    """The best local alignment of two sequences (Smith and Waterman 1981)."""
    table = np.zeros((len(a) + 1, len(b) + 1))
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            score = same if a[i - 1] == b[j - 1] else other
            table[i, j] = max(0.0, table[i - 1, j - 1] + score, table[i - 1, j] - gap, table[i, j - 1] - gap)
    return np.max(table), table


def shortest_paths(weights):
    d = weights.copy()
    for k in range(d.shape[0]):
        d = np.minimum(d, d[:, k, np.newaxis] + d[np.newaxis, k, :])
    return d


def contour_integral(matrices, y, points, exponents):
    """Two moments of the resolvent of a matrix polynomial around points of the complex plane."""
    n = y.shape[0]
    p0 = np.zeros((n, y.shape[1]), dtype=np.complex128)
    p1 = np.zeros((n, y.shape[1]), dtype=np.complex128)
    for point in points:
        t = np.zeros((n, n), dtype=np.complex128)
        for k in range(len(exponents)):
            t += point ** exponents[k] * matrices[k]
        x = np.linalg.solve(t, y)
        if abs(point) < 1.0:
            x = -x
        p0 += x
        p1 += point * x
    return p0, p1


def azimuthal_integration(data, radius, bins):
    """The mean of the data in rings of equal width."""
    weights, _ = np.histogram(radius, bins, weights=data)
    counts, _ = np.histogram(radius, bins)
    return weights / counts


# -------------------------------------------------------------------------------------------------------- arguments


def _flow(r: Any, n: int) -> tuple[Any, ...]:
    return 0.1 * uniform(r, n, n), 0.1 * uniform(r, n, n), 0.1 * uniform(r, n, n)


def _columns(r: Any, n: int) -> tuple[Any, ...]:
    m = max(4, n // 2)
    return (0.1 * uniform(r, n, n, m), 0.1 * uniform(r, n + 1, n, m + 1), uniform(r, n, n, m), uniform(r, n, n, m),
            0.1 * uniform(r, n, n, m))  # fmt: skip


def _layers(r: Any, n: int) -> tuple[Any, ...]:
    sizes = (n + 3, 2 * n, n, 10)
    pairs = [(uniform(r, a, b) - 0.6, uniform(r, b) - 0.6) for a, b in pairwise(sizes)]
    return (uniform(r, 8, n + 3), *(part for pair in pairs for part in pair))


def _lenet(r: Any, n: int) -> tuple[Any, ...]:
    s = ((n - 4) // 2 - 4) // 2
    sizes = (s * s * 6, 20, 12, 10)
    pairs = [(uniform(r, a, b) - 0.6, uniform(r, b) - 0.6) for a, b in pairwise(sizes)]
    kernels = (uniform(r, 5, 5, 1, 4) - 0.6, uniform(r, 4), uniform(r, 5, 5, 4, 6) - 0.6, uniform(r, 6))
    return (uniform(r, 2, n, n, 1), *kernels, *(part for pair in pairs for part in pair))


def _sparse(r: Any, n: int) -> tuple[Any, ...]:
    counts = r.integers(1, 6, n)
    row = np.concatenate(([0], np.cumsum(counts)))
    return row, r.integers(0, n, row[-1]), uniform(r, row[-1]), uniform(r, n)


def _complex(r: Any, *shape: int) -> Any:
    return uniform(r, *shape) + 1j * uniform(r, *shape)


APPLICATIONS: dict[str, Kernel] = {
    function.__name__: Kernel(function.__name__, function, arguments, small, medium, real)
    for function, small, medium, real, arguments in (
        (five_point, 20, 100, True, lambda r, n: (n // 2, uniform(r, n, n))),
        (nine_point, 20, 100, True, lambda r, n: (n // 2, uniform(r, n, n))),
        (horizontal_diffusion, 10, 40, True, lambda r, n: (uniform(r, n, n, n // 2), uniform(r, n - 4, n - 4, n // 2))),
        (vertical_advection, 8, 40, True, _columns),
        (cavity, 12, 40, True, lambda r, n: (n // 2, 10, *_flow(r, n), 1.0, 0.1, 0.001)),
        (channel, 12, 40, True, lambda r, n: (10, *_flow(r, n), 1.0, 0.1, 0.001, 1.0)),
        (n_body, 8, 40, True, lambda r, n: (10, 0.01, uniform(r, n, 3), uniform(r, n, 3), uniform(r, n), 0.1)),
        (mandelbrot, 30, 120, False, lambda r, n: (n, 40)),
        (conv2d_bias, 10, 24, True, lambda r, n: (uniform(r, 2, n, n, 3), uniform(r, 3, 3, 3, 4), uniform(r, 4))),
        (softmax, 8, 32, True, lambda r, n: (uniform(r, 2, 3, n, n),)),
        (mlp, 10, 60, True, _layers),
        (lenet, 20, 28, True, _lenet),
        (resnet_block, 6, 14, True, lambda r, n: (uniform(r, 3, n, n, 8), uniform(r, 1, 1, 8, 4),
                                                  uniform(r, 3, 3, 4, 4), uniform(r, 1, 1, 4, 8))),
        (spmv, 50, 2000, True, _sparse),
        (stockham, 4, 6, False, lambda r, n: (n, 4, _complex(r, 4**n))),
        (crc16, 200, 5000, False, lambda r, n: (r.integers(0, 256, n),)),
        (alignment, 20, 100, True, lambda r, n: (r.integers(0, 4, n), r.integers(0, 4, n), 1.1, 2.3, -0.7)),
        (shortest_paths, 12, 80, True, lambda r, n: (uniform(r, n, n),)),
        (contour_integral, 6, 40, False, lambda r, n: (_complex(r, 3, n, n), _complex(r, n, 4), _complex(r, 8),
                                                       np.arange(3.0))),
        (azimuthal_integration, 200, 20000, True, lambda r, n: (uniform(r, n), uniform(r, n), 10)),
    )
}  # fmt: skip

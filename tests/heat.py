"""The heat equation on a rod or a plate in many forms; all are linear in `u`, so that its gradient keeps nothing."""

from __future__ import annotations

import numpy as np


def heat(u, v, c, steps):
    n = len(u)
    for _ in range(steps):
        for i in range(1, n - 1):
            v[i] = u[i] + c * (u[i - 1] - 2.0 * u[i] + u[i + 1])
        u, v = v, u
    s = 0.0
    for i in range(n):
        s += u[i] * u[i]
    return s


def heat_by_slices(u, v, c, steps):
    for _ in range(steps):
        v[1:-1] = u[1:-1] + c * (u[2:] - 2.0 * u[1:-1] + u[:-2])
        u, v = v, u
    return np.sum(u * u)


def heat_in_place(u, v, c, steps):
    for _ in range(steps):
        u[1:-1] = u[1:-1] + c * (u[2:] - 2.0 * u[1:-1] + u[:-2])
    return np.sum(u * u)


def heat_augmented(u, v, c, steps):
    for _ in range(steps):
        u[1:-1] += c * (u[2:] - 2.0 * u[1:-1] + u[:-2])
    return np.sum(u * u)


def heat_of_copies(u, v, c, steps):
    for _ in range(steps):
        w = u.copy()
        w[1:-1] = u[1:-1] + c * (u[2:] - 2.0 * u[1:-1] + u[:-2])
        u = w
    return np.sum(u * u)


def curvature(u):
    r = np.zeros_like(u)
    r[1:-1] = u[2:] - 2.0 * u[1:-1] + u[:-2]
    return r


def heat_by_a_call(u, v, c, steps):
    for _ in range(steps):
        u = u + c * curvature(u)
    return np.sum(u * u)


def heat_of_a_plate(u, v, c, steps):
    u, v = u.reshape(4, -1), v.reshape(4, -1)
    for _ in range(steps):
        sides = u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2]
        v[1:-1, 1:-1] = u[1:-1, 1:-1] + c * (sides - 4.0 * u[1:-1, 1:-1])
        u, v = v, u
    return np.sum(u * u)


def heat_while_it_lasts(u, v, c, steps):
    k = 0
    while k < steps and c < 1.0:
        v[1:-1] = u[1:-1] + c * (u[2:] - 2.0 * u[1:-1] + u[:-2])
        u, v, k = v, u, k + 1
    return np.sum(u * u)


HEAT = [
    heat, heat_by_slices, heat_in_place, heat_augmented, heat_of_copies, heat_by_a_call, heat_of_a_plate,
    heat_while_it_lasts,
]  # fmt: skip

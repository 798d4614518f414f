"""Workloads beside the table of bars: small arrays in long loops, a tridiagonal solver, nearest centres.

`benchmarks/README.md` defines them in words.
"""

import numpy as np

from build import load
from forms import DOUBLE, LONG, POINTER, Form, Rules, Workload, address, made_like, symbol, value_and_gradient

# ---- the programs, as a user writes them ----------------------------------------------------------------------------


def pull(y, stiffness):
    force = np.zeros_like(y)
    last = len(y) - 1
    for i in range(len(y)):
        left = y[i - 1] if i > 0 else 0.0
        right = y[i + 1] if i < last else 0.0
        force[i] = -y[i] * y[i] * y[i] + stiffness * (right - 2 * y[i] + left)
    return force


def masses(y, stiffness, steps, h):
    """RK4 of masses in a row, a new array for every stage."""
    for _ in range(steps):
        a = pull(y, stiffness)
        b = pull(y + h / 2 * a, stiffness)
        c = pull(y + h / 2 * b, stiffness)
        d = pull(y + h * c, stiffness)
        y = y + h / 6 * (a + 2 * b + 2 * c + d)
    return np.sum(y * y)


def tridiagonal(below, middle, above, right, weights):
    """A weighted sum of the solution of a tridiagonal system."""
    n = len(middle)
    c, d, x = np.zeros(n), np.zeros(n), np.zeros(n)
    c[0], d[0] = above[0] / middle[0], right[0] / middle[0]
    for i in range(1, n):
        m = middle[i] - below[i] * c[i - 1]
        c[i] = above[i] / m
        d[i] = (right[i] - below[i] * d[i - 1]) / m
    x[n - 1] = d[n - 1]
    for i in range(n - 2, -1, -1):
        x[i] = d[i] - c[i] * x[i + 1]
    return np.sum(x * weights)


def nearest(points, centres):
    """Squared distances of points to the nearest centre."""
    total = 0.0
    for i in range(len(points)):
        best = np.inf
        for c in range(len(centres)):
            s = 0.0
            for j in range(points.shape[1]):
                e = points[i, j] - centres[c, j]
                s += e * e
            if s < best:
                best = s
        total += best
    return total


# ---- both sides -----------------------------------------------------------------------------------------------------


def masses_forms(rules: Rules) -> list[Form]:
    """12 masses, 2,000 steps, by start and stiffness."""
    library, steps, stiffness, h = load("neighbours.c", rules.build), 2000, 0.7, 0.01
    start = np.sin(np.arange(12.0))
    types = (POINTER, DOUBLE, LONG, DOUBLE)
    value, slope = symbol(library, "masses_f", *types), symbol(library, "masses_g", *types, POINTER, POINTER, POINTER)
    kept, at = np.empty((steps, 12)), address(start)
    made, into = made_like(start, np.empty(1))
    by_hand = (
        lambda: value(at, stiffness, steps, h),
        lambda: (slope(at, stiffness, steps, h, address(kept), *into), *made),
    )
    return value_and_gradient("masses", masses, (start, stiffness, steps, h), (0, 1), by_hand, rules)


def tridiagonal_forms(rules: Rules) -> list[Form]:
    """1,000 equations, by the three diagonals and the right side."""
    library, rng = load("neighbours.c", rules.build), np.random.default_rng(7)
    below, above, right, weights = rng.standard_normal((4, 1000))
    below[0] = 0.0
    given = (below, 4.0 + rng.random(1000), above, right, weights)
    work, at = np.empty((6, 1000)), (*map(address, given), 1000)
    value = symbol(library, "thomas_f", *(POINTER,) * 5, LONG, *(POINTER,) * 3)
    slope = symbol(library, "thomas_g", *(POINTER,) * 5, LONG, *(POINTER,) * 10)
    made, into = made_like(*given[:4])
    by_hand = (
        lambda: value(*at, *map(address, work[:3])),
        lambda: (slope(*at, *map(address, work), *into), *made),
    )
    return value_and_gradient("thomas", tridiagonal, given, (0, 1, 2, 3), by_hand, rules)


def nearest_forms(rules: Rules) -> list[Form]:
    """1,000 points and 8 centres of 16 coordinates, by the centres."""
    library, rng = load("neighbours.c", rules.build), np.random.default_rng(8)
    points, centres = rng.standard_normal((1000, 16)), rng.standard_normal((8, 16))
    at, types = (address(points), address(centres), 1000, 8, 16), (POINTER, POINTER, LONG, LONG, LONG)
    value, slope = symbol(library, "km_f", *types), symbol(library, "km_g", *types, POINTER)
    (made,), into = made_like(centres)
    by_hand = (lambda: value(*at), lambda: (slope(*at, *into), made))
    return value_and_gradient("kmeans", nearest, (points, centres), 1, by_hand, rules)


NEIGHBOUR_WORKLOADS: dict[str, Workload] = {
    "masses": Workload(masses_forms),
    "thomas": Workload(tridiagonal_forms),
    "kmeans": Workload(nearest_forms),
}

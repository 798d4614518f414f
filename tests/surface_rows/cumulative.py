"""Running sums and products, differences, gradients, the trapezoidal rule."""

from __future__ import annotations

import numpy as np

from surface import ALL, COMPLEX, FLOATS, NUMBERS, P, Row, S, X

SPECIAL = ("nan", "inf", "zero")
RANKS = [X(5), X(2, 3), X(2, 3, 4), X(2, 1, 3, 2), X(0), X(3, 0)]


def into(a, out):
    r = np.cumsum(a, axis=0, out=out)
    return r * 2.0


ROWS = [
    Row("numpy.cumsum ndarray.cumsum", lambda a: (np.cumsum(a), a.cumsum(axis=0)), RANKS, ALL, specials=SPECIAL),
    Row("numpy.cumsum", lambda a: np.cumsum(a, axis=-1), [*RANKS, X()], ALL, specials=SPECIAL),
    Row("numpy.cumsum", lambda a: np.cumsum(a, axis=1), [X(2, 3, 4), X(3, 2, 2, 2), X(3)], NUMBERS),
    Row("numpy.cumsum", lambda a: np.cumsum(a, axis=0, dtype=np.float64), [X(4), X(2, 3)], NUMBERS, slope=1e-3),
    Row("numpy.cumsum", into, [(X(3, 2), X(3, 2)), (X(3, 2), X(3, 2, dtype="float64"))], FLOATS, wrt=(0,), layouts=()),
    Row("numpy.cumprod ndarray.cumprod", lambda a: (np.cumprod(a), a.cumprod(axis=0)), RANKS, ALL, specials=SPECIAL),
    Row("numpy.cumprod", lambda a: np.cumprod(a, axis=-1), RANKS, NUMBERS, specials=SPECIAL),
    Row("numpy.cumprod", lambda a: np.cumprod(a * np.array([1.0, 0.0, 2.0, 0.0, 3.0]), axis=0), [X(5), X(5, 5)]),
    Row(
        "numpy.nancumsum numpy.nancumprod",
        lambda a: (np.nancumsum(a, axis=0), np.nancumprod(a)),
        RANKS[:3],
        ALL,
        specials=SPECIAL,
    ),
    Row("numpy.cumulative_sum", lambda a: np.cumulative_sum(a, axis=0, include_initial=True), RANKS[:3], NUMBERS),
    Row("numpy.cumulative_prod", lambda a: np.cumulative_prod(a, axis=-1), RANKS[:3], NUMBERS),
    Row("numpy.cumulative_sum", lambda a: np.cumulative_sum(a), [X(3), X(2, 2)], NUMBERS),
    Row("numpy.cumsum numpy.diff", lambda a: (np.cumsum(a, axis=0), np.diff(a)), RANKS[:3], COMPLEX),
    Row("numpy.diff", lambda a: np.diff(a), [*RANKS, X(1), X()], ALL, specials=SPECIAL),
    Row("numpy.diff", lambda a: np.diff(a, n=2, axis=0), [X(5), X(4, 3), X(1, 3), X(3, 2, 2)], NUMBERS),
    Row("numpy.diff", lambda a: np.diff(a, 0), [X(5)], NUMBERS, layouts=()),
    Row("numpy.diff", lambda a, b: np.diff(a, prepend=0, append=b), [(X(3), X(2)), (X(2, 3), X(2, 1))], FLOATS),
    Row("numpy.diff", lambda a: np.diff(a, n=-1), [X(3)]),
    Row("numpy.ediff1d", lambda a: np.ediff1d(a), [X(5), X(2, 3), X(1), X(0)], NUMBERS),
    Row("numpy.ediff1d", lambda a, b: np.ediff1d(a, to_begin=b, to_end=[7, 8]), [(X(4), X(2)), (X(2, 2), S())], FLOATS),
    Row("numpy.trapezoid", lambda a: np.trapezoid(a), [X(5), X(2, 3), X(2, 3, 4), X(1), X(3, 0)], NUMBERS),
    Row("numpy.trapezoid", lambda a: np.trapezoid(a, dx=0.5, axis=0), [X(5), X(3, 2), X(4, 2, 2)], FLOATS),
    Row(
        "numpy.trapezoid", lambda a, x: np.trapezoid(a, x, axis=0), [(X(4), X(4)), (X(4, 2), X(4)), (X(4, 2), X(4, 2))]
    ),
    Row("numpy.trapezoid", lambda a, x: np.trapezoid(a, x), [(X(2, 4), X(4)), (X(2, 3, 4), X(4))]),
    Row("numpy.gradient", lambda a: np.gradient(a), [X(5), X(2, 3), X(2, 3, 4), X(1)], NUMBERS),
    Row("numpy.gradient", lambda a, h: np.gradient(a, h, axis=0), [(X(5), P(5)), (X(4, 2), S(1.0, 2.0)), (X(3), X(4))]),
    Row("numpy.gradient", lambda a: np.gradient(a, 0.5, edge_order=2), [X(5), X(3, 4), X(2)], NUMBERS),
    Row(
        "numpy.gradient",
        lambda a, x: np.gradient(a, x, 0.25, edge_order=2),
        [(X(4, 3), np.array([0.0, 1.0, 1.5, 3.0]))],
    ),
    Row("numpy.gradient", lambda a: np.gradient(a, 2.0, axis=(0, 2)), [X(2, 3, 4)]),
]

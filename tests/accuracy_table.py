"""True values of elementary and special functions: writes `accuracy_table.txt` (half a minute, with mpmath).

    python tests/accuracy_table.py           # compares with the file that is there
    python tests/accuracy_table.py --write   # writes it

Each line has a function's name, its arguments and its value, correctly rounded from 300 bits or more. Every other point
is a float32 too. Ranges keep away from zeros of the functions (but those at 0 and 1 that are exact), around which a
relative error has no bound: digamma, lgamma, betaln, j0 and j1. sinc is
NumPy's sin(pi x)/(pi x), which is off where pi x is large.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import mpmath as mp
import numpy as np

__all__ = ["read_table"]

FILE = Path(__file__).with_suffix(".txt")
COUNT = 8  # points of each range


def between(low: float, high: float) -> Callable[[np.random.Generator], float]:
    return lambda random: random.uniform(low, high)


def sized(low: float, high: float) -> Callable[[np.random.Generator], float]:
    """Magnitudes between two powers of two."""
    return lambda random: 2.0 ** random.uniform(low, high)


def signed(low: float, high: float) -> Callable[[np.random.Generator], float]:
    return lambda random: random.choice([-1.0, 1.0]) * 2.0 ** random.uniform(low, high)


def near_one(low: float, high: float) -> Callable[[np.random.Generator], float]:
    return lambda random: 1 + random.choice([-1.0, 1.0]) * 2.0 ** random.uniform(low, high)


def integer(low: int, high: int) -> Callable[[np.random.Generator], float]:
    return lambda random: float(random.integers(low, high))


def log_ndtr(x: Any) -> Any:
    return mp.log1p(-mp.ncdf(-x)) if x > 0 else mp.log(mp.ncdf(x))


ANY, SMALL, UNIT = between(-10, 10), signed(-40, 0), between(-1, 1)
POSITIVE, SIZES, ARGUMENTS = between(0.01, 20), sized(-120, 120), signed(-30, 60)
LOGARITHM = [SIZES, near_one(-50, -2), POSITIVE]
GROWING = [ANY, between(-85, 85), SMALL]
Ranges = Sequence[Any]
FUNCTIONS: dict[str, tuple[Callable[..., Any], Ranges]] = {
    "exp": (mp.exp, GROWING),
    "exp2": (lambda x: mp.mpf(2) ** x, GROWING),
    "expm1": (mp.expm1, GROWING),
    "log": (mp.log, LOGARITHM),
    "log2": (lambda x: mp.log(x, 2), LOGARITHM),
    "log10": (mp.log10, LOGARITHM),
    "log1p": (mp.log1p, [SIZES, SMALL, between(-0.9, 5)]),
    "sqrt": (mp.sqrt, [SIZES]),
    "cbrt": (lambda x: mp.sign(x) * mp.cbrt(abs(x)), [ANY, ARGUMENTS]),
    "sin": (mp.sin, [ANY, ARGUMENTS]),
    "cos": (mp.cos, [ANY, ARGUMENTS]),
    "tan": (mp.tan, [ANY, ARGUMENTS]),
    "asin": (mp.asin, [UNIT, SMALL]),
    "acos": (mp.acos, [UNIT, SMALL]),
    "atan": (mp.atan, [ANY, ARGUMENTS]),
    "sinh": (mp.sinh, GROWING),
    "cosh": (mp.cosh, GROWING),
    "tanh": (mp.tanh, GROWING),
    "sigmoid": (lambda x: 1 / (1 + mp.exp(-x)), GROWING),
    "asinh": (mp.asinh, [ANY, ARGUMENTS]),
    "acosh": (mp.acosh, [between(1, 10), sized(0, 100), lambda random: 1 + 2.0 ** random.uniform(-20, 0)]),
    "atanh": (mp.atanh, [UNIT, SMALL]),
    "atan2": (mp.atan2, [(ANY, ANY), (ARGUMENTS, ARGUMENTS)]),
    "hypot": (mp.hypot, [(ANY, ANY), (ARGUMENTS, ARGUMENTS)]),
    "pow": (mp.power, [(POSITIVE, ANY), (near_one(-12, -2), between(-60, 60)), (sized(-30, 30), between(-4, 4))]),
    "erf": (mp.erf, [between(-5, 5), SMALL]),
    "erfc": (mp.erfc, [between(-3, 3), between(3, 9), between(9, 26), SMALL]),
    "erfcx": (lambda x: mp.exp(x * x) * mp.erfc(x), [between(-5, 5), between(5, 100), between(-26, -5)]),
    "ndtr": (mp.ncdf, [between(-5, 5), between(-37, -5), SMALL]),
    "log_ndtr": (log_ndtr, [between(-5, 5), between(-100, -5), between(5, 37)]),
    "gamma": (mp.gamma, [between(0.01, 6), between(6, 35), between(35, 171), between(-6, 0), between(-180, -6), SMALL]),
    "lgamma": (
        lambda x: mp.log(abs(mp.gamma(x))),
        [between(0.01, 0.9), between(2.2, 30), sized(5, 60), sized(-60, -4), between(-30, -4.1)],
    ),
    "digamma": (
        mp.digamma, [between(0.01, 1.2), between(1.8, 30), sized(5, 60), between(-0.4, 0), between(-60.3, -60)],
    ),
    "polygamma": (
        lambda n, x: mp.polygamma(int(n), x),
        [*((lambda random, n=n: float(n), x) for n in (1, 2, 3, 4, 10) for x in (between(0.01, 20), between(20, 90))),
         (integer(1, 12), sized(7, 20)), (lambda random: 1.0, between(-20, 0)), (lambda random: 3.0, between(-60, 0)),
         (lambda random: 2.0, between(-4.3, -4)), (lambda random: 4.0, between(-9.3, -9))],
    ),
    "hurwitz": (mp.zeta, [(between(1.05, 10), between(0.05, 10)), (between(1.05, 6), between(10, 100))]),
    "beta": (mp.beta, [(POSITIVE, POSITIVE), (between(10, 60), between(0.1, 60)), (sized(-60, 0), POSITIVE)]),
    "betaln": (
        lambda a, b: mp.log(mp.beta(a, b)),
        [(between(2, 20), between(2, 20)), (between(20, 1000), between(20, 1000)), (sized(5, 19), between(3, 9))],
    ),
    "erfinv": (mp.erfinv, [between(-0.999, 0.999), SMALL]),
    "logit": (lambda x: mp.log(x / (1 - x)), [between(0.01, 0.45), between(0.55, 0.99), sized(-100, -5)]),
    "xlogy": (lambda x, y: x * mp.log(y), [(ANY, POSITIVE), (ANY, SIZES), (ANY, near_one(-40, -2))]),
    "xlog1py": (lambda x, y: x * mp.log1p(y), [(ANY, POSITIVE), (ANY, SMALL)]),
    "i0": (lambda x: mp.besseli(0, x), [ANY, between(10, 85), SMALL]),
    "i1": (lambda x: mp.besseli(1, x), [ANY, between(10, 85), SMALL]),
    "i0e": (lambda x: mp.besseli(0, x) * mp.exp(-abs(x)), [ANY, sized(3, 12), SMALL]),
    "i1e": (lambda x: mp.besseli(1, x) * mp.exp(-abs(x)), [ANY, sized(3, 12), SMALL]),
    "j0": (lambda x: mp.besselj(0, x), [between(0, 1.6), between(3.2, 4.6)]),
    "j1": (lambda x: mp.besselj(1, x), [between(0, 3), between(4.6, 6.2)]),
    "numpy.logaddexp": (
        lambda x, y: mp.log(mp.exp(x) + mp.exp(y)), [(between(0, 10), between(0, 10)), (ANY, between(20, 60))],
    ),
    "numpy.sinc": (lambda x: mp.sinc(mp.pi * x), [between(-0.8, 0.8), between(1.3, 1.6)]),
    "scipy.special.zeta": (mp.zeta, [between(1.05, 4), between(4, 40)]),
}  # fmt: skip


def points(name: str, ranges: Ranges) -> list[tuple[float, ...]]:
    random = np.random.default_rng(list(name.encode()))
    found = []
    for one in ranges:
        draws = one if isinstance(one, tuple) else (one,)
        for i in range(COUNT):
            point = tuple(float(draw(random)) for draw in draws)
            found.append(tuple(float(np.float32(v)) for v in point) if i % 2 else point)
    return found


def true_value(function: Callable[..., Any], point: tuple[float, ...]) -> float:
    """Twice the bits give the same double, or as many more are taken as it needs."""
    bits, value = 300, None
    while True:
        with mp.workprec(bits):
            again = float(mp.re(function(*map(mp.mpf, point))))
        if again == value:
            return again
        bits, value = 2 * bits, again


def table() -> str:
    lines = []
    for name, (function, ranges) in FUNCTIONS.items():
        for point in points(name, ranges):
            lines.append(" ".join([name, *map(repr, point), repr(true_value(function, point))]))
    return "\n".join(lines) + "\n"


def read_table() -> dict[str, np.ndarray]:
    """By name the arguments and, in the last column, the values."""
    rows: dict[str, list[list[float]]] = {}
    for line in FILE.read_text().splitlines():
        name, *numbers = line.split()
        rows.setdefault(name, []).append([float(number) for number in numbers])
    return {name: np.array(numbers) for name, numbers in rows.items()}


def main() -> int:
    fresh = table()
    if "--write" in sys.argv:
        FILE.write_text(fresh)
        return 0
    same = FILE.read_text() == fresh
    print("the same" if same else "differs")
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())

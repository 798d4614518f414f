"""Makes `elementary_coefficients.py` and `elementary_tables.py` of `pullback.codegen` anew (a minute, with mpmath).

    python tests/fit_elementary.py           # compares with the files that are there
    python tests/fit_elementary.py --write   # writes them

Polynomials are minimax fits by E. Remez's exchange algorithm.
"""

from __future__ import annotations

import struct
import sys
from collections.abc import Callable
from pathlib import Path

import mpmath as mp

FOLDER = Path(__file__).parents[1] / "src" / "pullback" / "codegen"
Real = mp.mpf
Function = Callable[[Real], Real]
LOG_OFFSET = 0x3FE6955500000000
TINY = mp.mpf(2) ** -40


def remez(target: Function, weight: Function, low: Real, high: Real, powers: list[int]) -> list[Real]:
    """Coefficients for the powers that make the largest weighted error least."""
    count = len(powers)
    middle, half = (low + high) / 2, (high - low) / 2
    nodes = [middle - half * mp.cos(mp.pi * (2 * i + 1) / (2 * (count + 1))) for i in range(count + 1)]
    grid = [middle - half * mp.cos(mp.pi * mp.mpf(i) / 400) for i in range(401)]
    values, weights = [target(u) for u in grid], [weight(u) for u in grid]
    for _ in range(12):
        system, right = mp.matrix(count + 1, count + 1), mp.matrix(count + 1, 1)
        for i, u in enumerate(nodes):
            for j, power in enumerate(powers):
                system[i, j] = u**power
            system[i, count] = (-1) ** i / weight(u)
            right[i] = target(u)
        solution = mp.lu_solve(system, right)
        terms = list(zip(solution[:count], powers, strict=True))
        errors = [w * (sum(c * u**p for c, p in terms) - v) for u, v, w in zip(grid, values, weights, strict=True)]
        extrema = alternating(errors)
        while len(extrema) > count + 1:
            extrema.pop(0 if abs(errors[extrema[0]]) < abs(errors[extrema[-1]]) else -1)
        if len(extrema) < count + 1 or max(map(abs, errors)) < abs(solution[count]) * 1.02:
            break
        nodes = [grid[i] for i in extrema]
    return list(solution[:count])


def alternating(errors: list[Real]) -> list[int]:
    """The largest error of each run of one sign."""
    found: list[int] = []
    for i, error in enumerate(errors):
        if not found or (error > 0) != (errors[found[-1]] > 0):
            found.append(i)
        elif abs(error) > abs(errors[found[-1]]):
            found[-1] = i
    return found


def fit(target: Function, weight: Function, low: Real, high: Real, count: int) -> tuple[list[float], float]:
    """Coefficients as doubles, and log2 of the largest weighted error.

    On an interval from 0 they are rounded from the lowest up, each time refitting the others.
    """
    low, high = mp.mpf(low), mp.mpf(high)
    result: list[float] = []
    if low < 0:
        result = [float(c) for c in remez(target, weight, low, high, list(range(count)))]
    while len(result) < count:

        def left(u: Real) -> Real:
            return target(u) - sum(mp.mpf(c) * u**i for i, c in enumerate(result))

        result.append(float(remez(left, weight, low, high, list(range(len(result), count)))[0]))
    points = [low + (high - low) * mp.mpf(i) / 1500 for i in range(1501)]
    worst = max(abs(weight(u) * (sum(mp.mpf(c) * u**i for i, c in enumerate(result)) - target(u))) for u in points)
    return result, float(mp.log(worst, 2))


def near_zero(function: Function, *series: Real) -> Function:
    """The function, or near 0, where it cancels, the first terms of its series."""
    return lambda u: function(u) if abs(u) > TINY else sum(c * u**i for i, c in enumerate(series))


def of_square(function: Function, *series: Real) -> Function:
    return near_zero(lambda z: function(mp.sqrt(z)), *series)


def stirling_series(w: Real) -> Real:
    """x times what Stirling's formula for log gamma(x) lacks, in w = 1/x**2."""
    x = 1 / mp.sqrt(w)
    return x * (mp.loggamma(x) - (x - mp.mpf(1) / 2) * mp.log(x) + x - mp.log(2 * mp.pi) / 2)


def logarithm_table() -> tuple[list[float], Real]:
    """1/c, log(c) in two parts for each interval, and the largest |m/c - 1|."""
    table: list[float] = []
    largest = mp.mpf(0)
    for i in range(128):
        low, high = (struct.unpack("<d", struct.pack("<Q", LOG_OFFSET + (i + k) * 2**45))[0] for k in (0, 1))
        around_one = low < 1 < high or high < 1 < high + (high - low)
        unit = 128 if high <= 1 else 256
        inverse = mp.mpf(1) if around_one else mp.nint(unit * 2 / (mp.mpf(low) + high)) / unit
        largest = max(largest, abs(low * inverse - 1), abs(high * inverse - 1))
        logarithm = -mp.log(inverse)
        table += [float(inverse), float(logarithm) + 0.0, float(logarithm - mp.mpf(float(logarithm)))]
    return table, largest


def polynomials() -> dict[str, tuple[Function, Function, Real, Real, list[tuple[str, int]]]]:
    """Target, weight, interval and (name, number of coefficients) of each, by what the files call it."""
    one, third = mp.mpf(1), mp.mpf(1) / 3
    reduced = mp.log(2) / 2 * mp.mpf("1.0005")
    l2 = mp.log(2)
    angle, slope, bound = mp.mpf("0.7857") ** 2, (mp.mpf(7) / 16 * mp.mpf("1.0005")) ** 2, logarithm_table()[1]

    def flat(_: Real) -> Real:
        return one

    def linear(z: Real) -> Real:
        return z + mp.mpf(2) ** -12

    def square(z: Real) -> Real:
        return z * z + mp.mpf(2) ** -12

    def square_of(d: Real) -> Real:
        return d * d + mp.mpf(2) ** -12

    exp = near_zero(lambda r: (mp.expm1(r) - r) / r**2, one / 2, one / 6, one / 24)
    exp2 = near_zero(lambda r: (mp.mpf(2) ** r - 1) / r, l2, l2**2 / 2, l2**3 / 6)
    log = near_zero(lambda r: (mp.log1p(r) - r + r * r / 2) / r**3, third, -one / 4)
    sin = of_square(lambda s: (mp.sin(s) / s - 1) / s**2, -one / 6, one / 120, -one / 5040)
    cos = of_square(lambda s: (mp.cos(s) - 1 + s * s / 2) / s**4, one / 24, -one / 720, one / 40320)
    sinh = of_square(lambda s: (mp.sinh(s) / s - 1) / s**2, one / 6, one / 120, one / 5040)
    cosh = of_square(lambda s: (mp.cosh(s) - 1) / s**2, one / 2, one / 24, one / 720)
    atan = of_square(lambda s: (mp.atan(s) / s - 1) / s**2, -third, one / 5, -one / 7)
    asin = of_square(lambda s: (mp.asin(s) / s - 1) / s**2, one / 6, 3 * one / 40, one * 15 / 336)
    of_gamma = mp.taylor(lambda d: mp.rgamma(1 + d), 0, 4)
    reciprocal_gamma = near_zero(lambda d: (mp.rgamma(1 + d) - 1 - mp.euler * d) / d**2, *of_gamma[2:])
    stirling = near_zero(stirling_series, one / 12, -one / 360, one / 1260)
    erfcx_far = [v / mp.sqrt(mp.pi) for v in (one, -one / 2, 3 * one / 4)]
    erf = of_square(lambda s: mp.erf(s) / s - 1, 2 / mp.sqrt(mp.pi) - 1, -2 / mp.sqrt(mp.pi) / 3)
    return {
        "(e**r - 1 - r) / r**2 on |r| <= ln(2)/2": (exp, flat, -reduced, reduced, [("EXP", 11), ("EXP_SINGLE", 5)]),
        "(2**r - 1) / r on |r| <= 1/2": (exp2, flat, -0.5001, 0.5001, [("EXP2", 12), ("EXP2_SINGLE", 7)]),
        "(log(1 + r) - r + r**2/2) / r**3 on |r| <= 0.00574": (
            log, lambda r: r * r + mp.mpf(2) ** -30, -bound, bound, [("LOG", 5), ("LOG_SINGLE", 2), ("LOG_LONG", 6)],
        ),
        "(log(1 + f) - f + f**2/2) / f**3 on sqrt(1/2) <= 1 + f <= sqrt(2)": (
            log, lambda f: f * f + mp.mpf(2) ** -10, mp.sqrt(one / 2) - 1 - TINY, mp.sqrt(2) - 1 + TINY,
            [("LOG_WIDE", 8)],
        ),
        "(sin(r)/r - 1) / r**2 in z = r**2, |r| <= pi/4": (sin, linear, 0, angle, [("SIN", 6), ("SIN_SINGLE", 3)]),
        "(cos(r) - 1 + r**2/2) / r**4 in z = r**2, |r| <= pi/4": (
            cos, square, 0, angle, [("COS", 6), ("COS_SINGLE", 3)],
        ),
        "(sinh(r)/r - 1) / r**2 in z = r**2, |r| <= ln(2)/2": (
            sinh, linear, 0, reduced**2, [("SINH", 5), ("SINH_SINGLE", 2)],
        ),
        "(cosh(r) - 1) / r**2 in z = r**2, |r| <= ln(2)/2": (
            cosh, linear, 0, reduced**2, [("COSH", 6), ("COSH_SINGLE", 3)],
        ),
        "(atan(t)/t - 1) / t**2 in z = t**2, |t| <= 7/16": (atan, linear, 0, slope, [("ATAN", 11), ("ATAN_SINGLE", 5)]),
        "(asin(s)/s - 1) / s**2 in z = s**2, |s| <= 1/2": (
            asin, linear, 0, mp.mpf("0.2502"), [("ASIN", 13), ("ASIN_SINGLE", 5)],
        ),
        "erf(x)/x - 1 in z = x**2, |x| <= 1/2": (erf, flat, 0, mp.mpf("0.2501"), [("ERF_SMALL", 10)]),
        "(1/gamma(1 + d) - 1 - euler d) / d**2 on |d| <= 1/2": (
            reciprocal_gamma, square_of, -0.5005, 0.5005, [("RECIPROCAL_GAMMA", 15)],
        ),
        "x (log gamma(x) - Stirling's formula) in 1/x**2, x >= 23.5": (
            stirling, flat, 0, mp.mpf("23.49") ** -2, [("STIRLING", 4)],
        ),
        "(I0(x) - 1)/x**2 in z = x**2, 0 <= x <= 1/2": (
            of_square(lambda x: (mp.besseli(0, x) - 1) / x**2, one / 4, one / 64), flat, 0, mp.mpf("0.2501"),
            [("I0_NEAR", 7)],
        ),
        "(I1(x)/x - 1/2)/x**2 in z = x**2, 0 <= x <= 1/2": (
            of_square(lambda x: (mp.besseli(1, x) / x - 0.5) / x**2, one / 16, one / 384), flat, 0, mp.mpf("0.2501"),
            [("I1_NEAR", 7)],
        ),
        "sqrt(x) exp(-x) I0(x) in 1/x, x >= 32": (far_bessel(0), flat, 0, one / 32, [("I_FAR_0", 10)]),
        "sqrt(x) exp(-x) I1(x) in 1/x, x >= 32": (far_bessel(1), flat, 0, one / 32, [("I_FAR_1", 10)]),
        "z erfcx(z) in 1/z**2, z >= 32": (
            near_zero(lambda w: scaled_error_function(1 / mp.sqrt(w)) / mp.sqrt(w), *erfcx_far), flat, 0,
            mp.mpf("31.99") ** -2, [("ERFCX_FAR", 5)],
        ),
        "cbrt(1 + f) on 0 <= f <= 1": (lambda f: mp.cbrt(1 + f), flat, 0, 1, [("CBRT", 9)]),
    }  # fmt: skip


def error_function_table() -> list[float]:
    table: list[float] = []
    for i in range(2, 24):
        centre = mp.mpf(2 * i + 1) / 8
        table += fit(lambda d, c=centre: mp.erf(c + d), lambda d: mp.mpf(1), mp.mpf(-1) / 8, mp.mpf(1) / 8, 12)[0]
    return table


def octaves(target: Function, least: float, most: float) -> list[float]:
    """For each eighth of an octave the constant in two parts and 11 coefficients, interpolated at Chebyshev nodes."""
    table: list[float] = []
    while least < most:
        half = mp.mpf(least) / 16
        for eighth in range(8):
            centre = least + (2 * eighth + 1) * half
            nodes = [half * mp.cos(mp.pi * (2 * i + 1) / 24) for i in range(12)]
            system = mp.matrix([[u**power for power in range(12)] for u in nodes])
            first, *others = mp.lu_solve(system, mp.matrix([target(centre + u) for u in nodes]))
            table += [float(first), float(first - mp.mpf(float(first))), *map(float, others)]
        least *= 2
    return table


def scaled_error_function(z: Real) -> Real:
    """exp(z**2) erfc(z); for large z by the asymptotic series, whose least term is about exp(-z**2)."""
    if z < 16:
        with mp.workprec(1500):
            return mp.exp(z * z) * mp.erfc(z)
    terms = [mp.mpf(1)]
    for k in range(100):
        terms.append(-terms[-1] * (2 * k + 1) / (2 * z * z))
    return mp.fsum(terms) / (z * mp.sqrt(mp.pi))


def scaled_bessel(order: int) -> Function:
    """exp(-x) times the modified Bessel function."""
    return lambda x: mp.exp(-x) * mp.besseli(order, x)


def far_bessel(order: int) -> Function:
    """sqrt(x) exp(-x) I(x) in w = 1/x, by the asymptotic series, whose least term is about exp(-2x)."""

    def function(w: Real) -> Real:
        terms = [mp.mpf(1)]
        for k in range(1, 50):
            terms.append(-terms[-1] * (4 * order * order - (2 * k - 1) ** 2) * w / (8 * k))
        return mp.fsum(terms) / mp.sqrt(2 * mp.pi)

    return function


def main() -> int:
    """Replace the numbers of each tuple in the two files, or report those that differ."""
    mp.mp.prec = 260
    numbers = {"LOG_TABLE": logarithm_table()[0], "ERF_TABLE": error_function_table()}
    numbers["ERFCX_TABLE"] = octaves(scaled_error_function, 0.5, 32.0)
    numbers |= {f"I{n}_TABLE": octaves(scaled_bessel(n), 0.5, 32.0) for n in (0, 1)}
    for target, weight, low, high, variants in polynomials().values():
        for name, count in variants:
            numbers[name], error = fit(target, weight, low, high, count)
            print(f"{name}: 2**{error:.1f}", flush=True)
    wrong = 0
    for path in (
        FOLDER / "elementary_coefficients.py",
        FOLDER / "elementary_tables.py",
        FOLDER / "elementary_bessel_tables.py",
    ):
        text = path.read_text()
        for name, values in numbers.items():
            start = text.find(f"\n{name}: Final = (\n")
            if start < 0:
                continue
            begin, end = text.index("(\n", start) + 2, text.index("\n)", start) + 1
            width = {"LOG_TABLE": 3, "ERF_TABLE": 4, "ERFCX_TABLE": 4, "I0_TABLE": 4, "I1_TABLE": 4}.get(name, 1)
            rows = [", ".join(map(repr, values[i : i + width])) for i in range(0, len(values), width)]
            fresh = "".join(f"    {row},\n" for row in rows)
            if text[begin:end] != fresh:
                wrong += 1
                print(f"{path.name}: {name} differs")
            text = text[:begin] + fresh + text[end:]
        if "--write" in sys.argv:
            path.write_text(text)
    return 1 if wrong and "--write" not in sys.argv else 0


if __name__ == "__main__":
    sys.exit(main())

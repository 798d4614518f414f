"""Polynomials, windows, sinc and unwrap."""

from __future__ import annotations

import numpy as np

from surface import COMPLEX, NUMBERS, N, P, Row, S, X

TWO = [(X(4), X(3)), (X(2), X(5)), (X(3), X(3)), (X(1), X(3))]
SIZES = [0, 1, 2, 7, 8]

ROWS = [
    Row("numpy.polyval", lambda p, x: np.polyval(p, x), [(X(4), X(5)), (X(3), X(2, 3)), (X(0), X(3))],
        f"{NUMBERS} {COMPLEX}"),
    Row("numpy.polyval", lambda p, x: np.polyval([2, 3, p], x), [(S(), X(2)), (S(), S())], NUMBERS),
    Row("numpy.polynomial.polynomial.polyval", lambda x, c: np.polynomial.polynomial.polyval(x, c),
        [(X(5), X(4)), (X(2, 3), X(1)), (S(), X(3))]),
    Row("numpy.polyadd", lambda p, q: np.polyadd(p, q), TWO, f"{NUMBERS} {COMPLEX}"),
    Row("numpy.polysub", lambda p, q: np.polysub(p, q), [*TWO, (S(), X(3))], NUMBERS),
    Row("numpy.polymul", lambda p, q: np.polymul(p, q), TWO, NUMBERS, specials=("zero",)),
    Row("numpy.polyder", lambda p: np.polyder(p), [X(4), X(1), X(2)], "float64 float32 int64"),
    Row("numpy.polyder", lambda p: np.polyder(p, 2), [X(5), X(2)]),
    Row("numpy.polyint", lambda p: np.polyint(p), [X(4), X(1)], NUMBERS),
    Row("numpy.polyint", lambda p, k: np.polyint(p, 2, k), [(X(3), X(2)), (X(3), S()), (X(3), [1.0, 2.0])]),
    Row("numpy.polydiv", lambda u, v: np.polydiv(u, v), [(X(5), P(3)), (X(3), P(1)), (X(2), P(3))],
        "float64", tolerance=512,
        slope=1e-5, note="the length of the remainder depends on the numbers"),
    Row("numpy.poly", lambda z: np.poly(z), [X(4), X(1)], "float64"),
    Row("numpy.vander", lambda x: np.vander(x), [X(4), X(1)], NUMBERS),
    Row("numpy.vander", lambda x: np.vander(x, 3, increasing=True), [X(4), X(0)]),
    Row("numpy.polyfit", lambda x, y: np.polyfit(x, y, 2), [(X(6), X(6)), (X(6), X(6, 2))], "float64", tolerance=4096,
        slope=1e-4),
    Row("numpy.polyfit", lambda x, y: np.polyfit(x, y, 1), [(X(6), X(6))], "float32", tolerance=2.0**32, slope=1e-2),
    Row("numpy.polyfit", lambda x, y, w: np.polyfit(x, y, 1, w=w), [(X(6), X(6), P(6))], "float64", tolerance=4096,
        slope=1e-4),
    Row("numpy.roots", lambda p: np.roots(p), [X(4), X(3), X(2), X(1)],
        f"{NUMBERS} {COMPLEX}", tolerance=512, slope=1e-5, note="real where all are; derivatives where they differ"),
    Row("numpy.roots", lambda p: np.roots(p), [X(0), X(2, 2), np.array([0.0, 2.0, -3.0, 0.0, 0.0])], "float64",
        order=0),
    Row("numpy.roots", lambda a, b: np.roots([1.0, a, 0.0, b, 0.0]), [(S(0.3, 1.0), S(0.3, 1.0))], "float64",
        tolerance=512, slope=1e-5),
    Row("numpy.poly", lambda p: np.poly(np.roots(p)), [P(4), P(3)], "float64", tolerance=512, slope=1e-5),
    Row("numpy.poly", lambda z: np.poly(z), [X(4)], COMPLEX),
    Row("numpy.poly", lambda a: np.poly(a), [X(3, 3), X(2, 3)], "float64", tolerance=512, slope=1e-5),
    Row("numpy.polyder numpy.polyint", lambda p: (np.polyder(p), np.polyint(p)), [X(4)], COMPLEX),
    Row("numpy.vander", lambda p: np.vander(p), [X(4)], COMPLEX),
    Row("numpy.polydiv", lambda p, q: np.polydiv(p, q), [(X(4), P(2))], "complex128",
        tolerance=512, slope=1e-5),
    Row("numpy.hanning", lambda n: np.hanning(n), SIZES, order=0),
    Row("numpy.hamming", lambda n: np.hamming(n), SIZES, order=0),
    Row("numpy.blackman", lambda n: np.blackman(n), SIZES, order=0),
    Row("numpy.bartlett", lambda n: np.bartlett(n), SIZES, order=0),
    Row("numpy.kaiser", lambda b: np.kaiser(6, b), [S(0.5, 2.0), 14.0], "float64"),
    Row("numpy.kaiser", lambda n: np.kaiser(n, 8.6), SIZES, order=0),
    Row("numpy.sinc", lambda x: np.sinc(x), [X(5), X(2, 3), X(), S(), X(0)], NUMBERS, specials=("nan", "zero")),
    Row("numpy.unwrap", lambda p: np.unwrap(4 * p), [X(6), X(2, 5), X(1)]),
    Row("numpy.unwrap", lambda p: np.unwrap(p, axis=0, period=0.9), [X(6), X(4, 2)], "float64"),
    Row("numpy.unwrap", lambda p: np.unwrap(p, 1.5, period=2.0), [X(6)]),
    Row("numpy.polynomial.legendre.legval numpy.polynomial.chebyshev.chebval",
        lambda x, c: (np.polynomial.legendre.legval(x, c), np.polynomial.chebyshev.chebval(x, c)),
        [(X(5), X(4)), (X(2, 3), X(1)), (S(), X(2)), (X(3), N(3))], tolerance=64),
    Row("numpy.polynomial.hermite.hermval numpy.polynomial.hermite_e.hermeval numpy.polynomial.laguerre.lagval",
        lambda x, c: (np.polynomial.hermite.hermval(x, c), np.polynomial.hermite_e.hermeval(x, c),
                      np.polynomial.laguerre.lagval(x, c)),
        [(X(5), X(4)), (X(2, 3), X(1)), (S(), X(2))], tolerance=64),
    Row("numpy.polynomial.legendre.leggauss", lambda n: np.polynomial.legendre.leggauss(n), [1, 2, 5, 20, 64], order=0,
        tolerance=512),
]  # fmt: skip

"""scipy.special: what the primitives have, and what is made of them."""

from __future__ import annotations

import math

import numpy as np
import scipy.special as sp

from surface import FLOATS, NUMBERS, N, P, Row, S, X

REAL = [X(5), X(2, 3), X(), S(), X(0), X(2, 1, 3, 2)]
POSITIVE = [P(5), P(2, 3), P(), S(0.2, 3.0), P(0)]
FRACTION = [P(5, low=0.05, high=0.95), P(2, 3, low=0.05, high=0.95), S(0.05, 0.95)]
PAIRS = [(P(5), P(5)), (P(2, 1), P(3)), (S(0.2, 3.0), P(4)), (S(0.2, 3.0), S(0.2, 3.0))]
EDGES = ("nan", "inf", "zero")
ORDERS = [(N(5, high=3), P(5)), (N(2, 1, high=3), P(3))]

ROWS = [
    # the normal distribution and its kin
    Row("scipy.special.erf", lambda x: sp.erf(x), REAL, NUMBERS, specials=EDGES),
    Row("scipy.special.erfc", lambda x: sp.erfc(x), REAL, specials=EDGES),
    Row("scipy.special.erfcx", lambda x: sp.erfcx(x), REAL, specials=EDGES),
    Row("scipy.special.dawsn", lambda x: sp.dawsn(x), REAL, specials=EDGES),
    Row("scipy.special.erfinv", lambda x: sp.erfinv(x), [P(5, low=-0.9, high=0.9), S(-0.9, 0.9)], specials=EDGES),
    Row("scipy.special.erfcinv", lambda x: sp.erfcinv(x), FRACTION, specials=EDGES),
    Row("scipy.special.ndtr", lambda x: sp.ndtr(x), REAL, NUMBERS, specials=EDGES),
    Row("scipy.special.ndtri", lambda x: sp.ndtri(x), FRACTION, specials=EDGES),
    Row("scipy.special.log_ndtr", lambda x: sp.log_ndtr(20 * x), REAL, specials=EDGES),
    # logistic, x log x
    Row("scipy.special.expit", lambda x: sp.expit(20 * x), REAL, NUMBERS, specials=EDGES),
    Row("scipy.special.logit", lambda x: sp.logit(x), FRACTION, specials=EDGES),
    Row("scipy.special.log_expit", lambda x: sp.log_expit(20 * x), REAL, specials=EDGES),
    Row("scipy.special.xlogy", lambda x, y: sp.xlogy(x, y), PAIRS, NUMBERS, specials=EDGES),
    Row("scipy.special.xlog1py", lambda x, y: sp.xlog1py(x, y), PAIRS, specials=EDGES),
    Row("scipy.special.entr", lambda x: sp.entr(x), POSITIVE, specials=EDGES),
    Row("scipy.special.rel_entr", lambda x, y: sp.rel_entr(x, y), PAIRS, specials=EDGES),
    Row("scipy.special.kl_div", lambda x, y: sp.kl_div(x, y), PAIRS, specials=EDGES),
    Row("scipy.special.logsumexp", lambda a: sp.logsumexp(a), REAL, NUMBERS, specials=EDGES),
    Row("scipy.special.logsumexp", lambda a: sp.logsumexp(a, axis=1), [X(2, 3), X(3, 4, 2)],
        specials=("nan", "inf", "ties")),
    Row("scipy.special.logsumexp", lambda a: sp.logsumexp(100 * a, axis=(0, 2), keepdims=True), [X(2, 3, 4)]),
    Row("scipy.special.logsumexp", lambda a, b: sp.logsumexp(a, 0, b), [(X(2, 3), P(2, 3)), (X(4, 3), P(3))]),
    Row("scipy.special.logsumexp", lambda a, b: sp.logsumexp(a, b=b, axis=-1, return_sign=True), [(X(2, 3), X(2, 3))]),
    Row("scipy.special.softmax", lambda a: sp.softmax(a), [X(5), X(2, 3)], NUMBERS, specials=("nan", "ties")),
    Row("scipy.special.softmax", lambda a: sp.softmax(a, axis=0), [X(5), X(2, 3), X(2, 3, 4)]),
    Row("scipy.special.log_softmax", lambda a: sp.log_softmax(a), [X(5), X(2, 3)], NUMBERS, specials=("nan", "ties")),
    Row("scipy.special.log_softmax", lambda a: sp.log_softmax(a, axis=-1), [X(5), X(2, 3), X(2, 3, 4)]),
    # gamma, beta, zeta
    Row("scipy.special.gammaln", lambda x: sp.gammaln(x), POSITIVE, NUMBERS, specials=EDGES, tolerance=64),
    Row("scipy.special.loggamma", lambda x: sp.loggamma(x), POSITIVE, tolerance=64),
    Row("scipy.special.gamma", lambda x: sp.gamma(x), [*POSITIVE, X(5)], specials=EDGES, tolerance=64),
    Row("scipy.special.digamma scipy.special.psi", lambda x: sp.digamma(x) + sp.psi(x), POSITIVE, specials=EDGES),
    Row("scipy.special.polygamma", lambda x: sp.polygamma(2, x), [P(5), P(2, 3), P(0)], tolerance=64),
    Row("scipy.special.polygamma", lambda n, x: sp.polygamma(n, x), [(N(5, high=3), P(5))], tolerance=64),
    Row("scipy.special.gammasgn", lambda x: sp.gammasgn(x),
        [X(7, low=-4.0), np.float64([-2.0, -0.0, 0.0])], specials=EDGES, order=0),
    Row("scipy.special.beta", lambda a, b: sp.beta(a, b), PAIRS, tolerance=64),
    Row("scipy.special.betaln", lambda a, b: sp.betaln(a, b), PAIRS, tolerance=64),
    Row("scipy.special.binom", lambda n, k: sp.binom(n, k), PAIRS, tolerance=64),
    Row("scipy.special.poch", lambda a, b: sp.poch(a, b), PAIRS, tolerance=64),
    Row("scipy.special.comb", lambda n, k: sp.comb(n, k),
        [(P(4, low=3.0, high=6.0), P(4)), (N(4, high=9), N(4, high=9))]),
    Row("scipy.special.comb", lambda n, k: sp.comb(n, k, exact=True), [(9, 4), (3, 5), (30, 15), (-2, 1)], order=0),
    Row("scipy.special.comb", lambda n, k: sp.comb(n, k, repetition=True), [(N(4, high=9), N(4, high=9))], order=0),
    Row("scipy.special.perm", lambda n, k: sp.perm(n, k),
        [(P(4, low=3.0, high=6.0), P(4)), (N(4, high=9), N(4, high=9))], tolerance=64),
    Row("scipy.special.factorial", lambda n: sp.factorial(n), [N(5, low=-1, high=20)], order=0),
    Row("scipy.special.factorial", lambda n: sp.factorial(n, exact=True), [0, 5, 20, -3], order=0),
    Row("scipy.special.multigammaln", lambda a: sp.multigammaln(a, 3), [P(5, low=2.0), S(2.0, 3.0)], tolerance=64),
    Row("scipy.special.gammainc", lambda a, x: sp.gammainc(a, x), PAIRS, order=0, specials=EDGES),
    Row("scipy.special.gammainc", lambda x: sp.gammainc(1.7, x), POSITIVE),
    Row("scipy.special.gammaincc", lambda a, x: sp.gammaincc(a, x), PAIRS, order=0, specials=EDGES),
    Row("scipy.special.gammaincc", lambda x: sp.gammaincc(1.7, x), POSITIVE),
    Row("scipy.special.betainc", lambda a, b, x: sp.betainc(a, b, x), [(P(4), P(4), P(4, low=0.1, high=0.9))], order=0),
    Row("scipy.special.betainc", lambda x: sp.betainc(1.7, 2.5, x), FRACTION),
    Row("scipy.special.zeta", lambda s, q: sp.zeta(s, q), [(P(5, low=1.2, high=4.0), P(5)), (3, X(5))], order=0,
        tolerance=64),
    Row("scipy.special.zeta", lambda q: sp.zeta(3, q) + sp.zeta(x=1.5, q=q), POSITIVE, tolerance=64),
    Row("scipy.special.zeta", lambda s: sp.zeta(s), [P(5, low=1.2, high=4.0), X(5), S(1.5, 4.0)], order=0,
        tolerance=64),
    # Bessel functions, integrals
    Row("scipy.special.i0 numpy.i0", lambda x: sp.i0(x), REAL, specials=EDGES),
    Row("numpy.i0", lambda x: np.i0(x), [X(5), X(2, 3)], tolerance=32),
    Row("scipy.special.i1", lambda x: sp.i1(x), REAL, specials=EDGES),
    Row("scipy.special.i0e", lambda x: sp.i0e(x), REAL, specials=EDGES),
    Row("scipy.special.i1e", lambda x: sp.i1e(x), REAL, specials=EDGES),
    Row("scipy.special.j0", lambda x: sp.j0(x), REAL, specials=EDGES),
    Row("scipy.special.j1", lambda x: sp.j1(x), REAL, specials=EDGES),
    Row("scipy.special.y0", lambda x: sp.y0(x), POSITIVE, specials=EDGES),
    Row("scipy.special.y1", lambda x: sp.y1(x), POSITIVE, specials=EDGES),
    Row("scipy.special.k0", lambda x: sp.k0(x), POSITIVE, specials=EDGES),
    Row("scipy.special.k1", lambda x: sp.k1(x), POSITIVE, specials=EDGES),
    Row("scipy.special.jv scipy.special.jn", lambda n, x: sp.jv(n, x) + sp.jn(n, x), ORDERS),
    Row("scipy.special.jv", lambda x: sp.jv(1.5, x) + sp.jv(2, x), POSITIVE),
    Row("scipy.special.yv", lambda n, x: sp.yv(n, x), ORDERS),
    Row("scipy.special.yv", lambda x: sp.yv(1.5, x) + sp.yv(2, x), POSITIVE),
    Row("scipy.special.yn", lambda x: sp.yn(2, x), POSITIVE, tolerance=64),
    Row("scipy.special.iv", lambda n, x: sp.iv(n, x), ORDERS),
    Row("scipy.special.iv", lambda x: sp.iv(1.5, x) + sp.iv(2, x), POSITIVE),
    Row("scipy.special.ive", lambda n, x: sp.ive(n, x), ORDERS),
    Row("scipy.special.ive", lambda x: sp.ive(1.5, x) + sp.ive(2, x), POSITIVE),
    Row("scipy.special.kv", lambda n, x: sp.kv(n, x), ORDERS),
    Row("scipy.special.kv", lambda x: sp.kv(1.5, x) + sp.kv(2, x), POSITIVE),
    Row("scipy.special.kn", lambda x: sp.kn(2, x), POSITIVE, tolerance=64),
    Row("scipy.special.kve", lambda n, x: sp.kve(n, x), ORDERS),
    Row("scipy.special.kve", lambda x: sp.kve(1.5, x) + sp.kve(2, x), POSITIVE),
    Row("scipy.special.expn", lambda x: sp.expn(3, x), POSITIVE),
    Row("scipy.special.expn", lambda n, x: sp.expn(n, x), [(N(4, low=0, high=5), P(4))]),
    Row("scipy.special.exp1", lambda x: sp.exp1(x), POSITIVE, specials=EDGES),
    Row("scipy.special.expi", lambda x: sp.expi(x), POSITIVE, specials=EDGES),
    # elliptic integrals, hypergeometric functions
    Row("scipy.special.ellipk scipy.special.ellipe", lambda m: (sp.ellipk(m), sp.ellipe(m)),
        [P(5, low=0.01, high=0.9), X(4, low=-2.0, high=0.9), S(0.1, 0.9)], tolerance=64),
    Row("scipy.special.ellipkm1", lambda p: sp.ellipkm1(p), [P(6, low=0.001, high=0.99)], tolerance=64, slope=1e-4),
    Row("scipy.special.hyp2f1", lambda z: sp.hyp2f1(0.7, 1.3, 2.5, z), [X(5, low=-0.9, high=0.8)], tolerance=256),
    Row("scipy.special.hyp2f1", lambda a, b, c, z: sp.hyp2f1(a, b, c, z),
        [(P(4), P(4), P(4), P(4, low=0.1, high=0.8))], order=0, tolerance=256),
    Row("scipy.special.hyp1f1", lambda z: sp.hyp1f1(0.7, 2.5, z), [X(5)], tolerance=256),
    Row("scipy.special.spence", lambda z: sp.spence(z), [P(5), np.array([1.0, 1.0 + 1e-5, 0.999])], tolerance=64),
    # losses, transformations of powers
    Row("scipy.special.huber", lambda d, r: sp.huber(d, r), [(S(0.5, 1.5), X(6)), (P(5), X(5))], "float64"),
    Row("scipy.special.pseudo_huber", lambda d, r: sp.pseudo_huber(d, r), [(S(0.5, 1.5), X(6)), (P(5), X(5))],
        "float64", tolerance=64),
    Row("scipy.special.boxcox scipy.special.boxcox1p", lambda x, k: (sp.boxcox(x, k), sp.boxcox1p(x, k)),
        [(P(5), X(5)), (P(5), np.array([0.0, 1e-4, -1e-3, 1e-7, 2.0]))], "float64", tolerance=256),
    Row("scipy.special.inv_boxcox scipy.special.inv_boxcox1p",
        lambda y, k: (sp.inv_boxcox(y, k), sp.inv_boxcox1p(y, k)),
        [(P(5), P(5)), (P(5), np.array([0.0, 1e-4, -1e-4, 1e-7, 0.2]))], "float64", tolerance=256),
    # those that NumPy has too
    Row("scipy.special.expm1 scipy.special.log1p scipy.special.exp2 scipy.special.cbrt",
        lambda x: sp.expm1(x) + sp.log1p(x) + sp.exp2(x) + sp.cbrt(x), POSITIVE, FLOATS, specials=EDGES),
    Row("math.lgamma", lambda x: math.lgamma(x), [S(0.2, 3.0, dtype="float64")], "float64", tolerance=64),
]  # fmt: skip

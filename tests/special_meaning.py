"""What the special functions are, by mpmath: the part of `test_prims.MEANING` for the rows of `prims.special`.

    MEANING["jv"](F64, 2.0, 1.5)    ->  mpmath.besselj(2.0, 1.5), as a float
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath as mp

__all__ = ["MEANING", "TOLERANCE"]

TOLERANCE = 2e-13  # SciPy's own accuracy over the domains that are drawn from

FORMULAS: dict[str, Callable[..., Any]] = {
    "erfinv": mp.erfinv,
    "erfcinv": lambda x: mp.erfinv(1 - x),
    "erfcx": lambda x: mp.exp(x * x) * mp.erfc(x),
    "dawsn": lambda x: mp.sqrt(mp.pi) / 2 * mp.exp(-x * x) * mp.erfi(x),
    "ndtr": mp.ncdf,
    "ndtri": lambda x: mp.sqrt(2) * mp.erfinv(2 * x - 1),
    "log_ndtr": lambda x: mp.log(mp.ncdf(x)),
    "expit": lambda x: 1 / (1 + mp.exp(-x)),
    "logit": lambda x: mp.log(x / (1 - x)),
    "log_expit": lambda x: -mp.log1p(mp.exp(-x)),
    "xlogy": lambda x, y: x * mp.log(y),
    "xlog1py": lambda x, y: x * mp.log1p(y),
    "entr": lambda x: -x * mp.log(x),
    "rel_entr": lambda x, y: x * mp.log(x / y),
    "kl_div": lambda x, y: x * mp.log(x / y) - x + y,
    "beta": mp.beta,
    "betaln": lambda a, b: mp.log(mp.beta(a, b)),
    "binom": mp.binomial,
    "poch": mp.rf,
    "gammainc": lambda a, x: mp.gammainc(a, 0, x, regularized=True),
    "gammaincc": lambda a, x: mp.gammainc(a, x, regularized=True),
    "betainc": lambda a, b, x: mp.betainc(a, b, 0, x, regularized=True),
    "hurwitz": mp.zeta,
    "zetac": lambda s: mp.zeta(s) - 1,
    "i0": lambda x: mp.besseli(0, x),
    "i1": lambda x: mp.besseli(1, x),
    "i0e": lambda x: mp.besseli(0, x) * mp.exp(-abs(x)),
    "i1e": lambda x: mp.besseli(1, x) * mp.exp(-abs(x)),
    "j0": mp.j0,
    "j1": mp.j1,
    "y0": lambda x: mp.bessely(0, x),
    "y1": lambda x: mp.bessely(1, x),
    "k0": lambda x: mp.besselk(0, x),
    "k1": lambda x: mp.besselk(1, x),
    "jv": mp.besselj,
    "yv": mp.bessely,
    "iv": mp.besseli,
    "ive": lambda n, x: mp.besseli(n, x) * mp.exp(-abs(x)),
    "kv": mp.besselk,
    "kve": lambda n, x: mp.besselk(n, x) * mp.exp(x),
    "expn": lambda n, x: mp.expint(int(n), x),
    "exp1": mp.e1,
    "expi": mp.ei,
    "ellipk": mp.ellipk,
    "ellipe": mp.ellipe,
    "ellipkm1": lambda p: mp.ellipk(1 - p),
    "hyp2f1": mp.hyp2f1,
    "hyp1f1": mp.hyp1f1,
    "spence": lambda z: mp.polylog(2, 1 - z),
}


def _precisely(formula: Callable[..., Any]) -> Callable[..., float]:
    def meaning(type_: Any, *operands: float) -> float:
        with mp.workdps(40):
            return float(formula(*map(mp.mpf, operands)))

    return meaning


MEANING = {name: _precisely(formula) for name, formula in FORMULAS.items()}

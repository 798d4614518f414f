"""Numbers that are made of several draws, one after the other from the same generator, as NumPy does it.

    off_centre(g, 3.0, 2.0)      a noncentral chi-square variable: a gamma variable and the square of a normal one
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pullback.prims.prelude import random_counts, random_draws
from pullback.prims.prelude.random_bits import below

__all__ = [
    "between", "cauchy", "negative_binomial", "normal_and_gamma", "off_centre", "off_centre_f", "pair_of_gammas",
]  # fmt: skip


def pair_of_gammas(g: Any, a: Any, b: Any) -> Any:
    first = random_draws.standard_gamma(g, a)
    return first, random_draws.standard_gamma(g, b)


def normal_and_gamma(g: Any, a: Any, unused: Any) -> Any:
    first = random_draws.standard_normal(g)
    return first, random_draws.standard_gamma(g, a)


def cauchy(g: Any) -> Any:
    first = random_draws.standard_normal(g)
    return first / random_draws.standard_normal(g)


def off_centre(g: Any, df: Any, nonc: Any) -> Any:
    """A noncentral chi-square variable; for few degrees of freedom their number is a random one."""
    if nonc != nonc:
        return nonc
    if nonc > 0.0 and df > 1.0:
        first = 2.0 * random_draws.standard_gamma(g, (df - 1.0) / 2.0)
        n = random_draws.standard_normal(g) + np.sqrt(nonc)
        return first + n * n
    more = np.int64(0) if nonc == 0.0 else random_counts.poisson(g, nonc / 2.0)
    return 2.0 * random_draws.standard_gamma(g, (df + 2.0 * more) / 2.0)


def off_centre_f(g: Any, above: Any, under: Any, nonc: Any) -> Any:
    first = off_centre(g, above, nonc) * under
    return first / (2.0 * random_draws.standard_gamma(g, under / 2.0) * above)


def between(g: Any, first: Any, last: Any) -> Any:
    """A whole number from first to last."""
    return first + np.int64(below(g, np.uint64(last - first)))


def negative_binomial(g: Any, n: Any, p: Any) -> Any:
    return random_counts.poisson(g, random_draws.standard_gamma(g, n) * ((1.0 - p) / p))

"""One number of each continuous distribution, drawn as NumPy draws it, from the bits of a generator.

    standard_normal(g)       by the ziggurat             standard_gamma(g, 2.5)      by squeezed cubes of normals

Sources: G. Marsaglia and W. W. Tsang, "The ziggurat method for generating random variables" (2000) and "A simple method
for generating gamma variables" (2000); J. H. Ahrens and U. Dieter, "Computer methods for sampling from gamma, beta,
Poisson and binomial distributions" (1974), for gamma variables of shape below 1; M. D. Johnk, "Erzeugung von
betaverteilten und gammaverteilten Zufallszahlen" (1964); D. J. Best and N. I. Fisher, "Efficient simulation of the von
Mises distribution" (1979); J. R. Michael, W. R. Schucany and R. W. Haas, "Generating random variates using
transformations with multiple roots" (1976).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from pullback.prims.prelude.intrinsics import whole
from pullback.prims.prelude.random_bits import next_bits, next_double
from pullback.prims.prelude.random_tables import (
    EXPONENTIAL_END,
    EXPONENTIAL_HEIGHT,
    EXPONENTIAL_INSIDE,
    EXPONENTIAL_WIDTH,
    NORMAL_END,
    NORMAL_HEIGHT,
    NORMAL_INSIDE,
    NORMAL_WIDTH,
)

__all__ = [
    "beta", "exponential_unless_zero", "gumbel", "laplace", "logistic", "standard_exponential", "standard_gamma",
    "standard_normal", "standard_rayleigh", "vonmises", "wald",
]  # fmt: skip


def standard_normal(g: Any) -> Any:
    while True:
        bits = next_bits(g)
        layer = np.int64(bits & 0xFF)
        whole = np.float64((bits >> 9) & 0x000FFFFFFFFFFFFF)
        x = whole * NORMAL_WIDTH[layer]
        if bits & 0x100 != 0:
            x = -x
        if whole < NORMAL_INSIDE[layer]:
            return x
        if layer == 0:
            return normal_tail(g, (bits >> 17) & 1 != 0)
        low, high = NORMAL_HEIGHT[layer], NORMAL_HEIGHT[layer - 1]
        if (high - low) * next_double(g) + low < np.exp(-0.5 * x * x):
            return x


@whole
def normal_tail(g: Any, negative: bool) -> Any:
    """A normal number beyond the last edge."""
    while True:
        x = -0.27366123732975827203338247596 * np.log1p(-next_double(g))
        y = -np.log1p(-next_double(g))
        if y + y > x * x:
            return -(NORMAL_END + x) if negative else NORMAL_END + x


def standard_exponential(g: Any) -> Any:
    while True:
        bits = next_bits(g) >> 3
        layer = np.int64(bits & 0xFF)
        whole = np.float64(bits >> 8)
        x = whole * EXPONENTIAL_WIDTH[layer]
        if whole < EXPONENTIAL_INSIDE[layer]:
            return x
        if layer == 0:
            return EXPONENTIAL_END - np.log1p(-next_double(g))
        low, high = EXPONENTIAL_HEIGHT[layer], EXPONENTIAL_HEIGHT[layer - 1]
        if (high - low) * next_double(g) + low < np.exp(-x):
            return x


def standard_rayleigh(g: Any) -> Any:
    return np.sqrt(2.0 * standard_exponential(g))


def exponential_unless_zero(g: Any, a: Any) -> Any:
    """Nothing is drawn where a parameter is 0."""
    return np.float64(0.0) if a == 0.0 else standard_exponential(g)


@whole
def standard_gamma(g: Any, shape: Any) -> Any:
    if shape == 1.0:
        return standard_exponential(g)
    if shape == 0.0:
        return np.float64(0.0)
    if shape < 1.0:
        return gamma_of_small(g, shape)
    b = shape - 1.0 / 3.0
    c = 1.0 / np.sqrt(9.0 * b)
    while True:
        x = standard_normal(g)
        v = 1.0 + c * x
        while v <= 0.0:
            x = standard_normal(g)
            v = 1.0 + c * x
        v = v * v * v
        u = next_double(g)
        if u < 1.0 - 0.0331 * (x * x) * (x * x) or np.log(u) < 0.5 * x * x + b * (1.0 - v + np.log(v)):
            return b * v


def gamma_of_small(g: Any, shape: Any) -> Any:
    """For a shape below 1."""
    while True:
        u = next_double(g)
        v = standard_exponential(g)
        if u <= 1.0 - shape:
            x = u ** (1.0 / shape)
            if x <= v:
                return x
        else:
            y = -np.log((1.0 - u) / shape)
            x = (1.0 - shape + shape * y) ** (1.0 / shape)
            if x <= v + y:
                return x


@whole
def beta(g: Any, a: Any, b: Any) -> Any:
    if a > 1.0 or b > 1.0:
        first = standard_gamma(g, a)
        return first / (first + standard_gamma(g, b))
    if a < 3e-103 and b < 3e-103:
        return np.float64((a + b) * next_double(g) < a)
    while True:
        u, v = next_double(g), next_double(g)
        x, y = u ** (1.0 / a), v ** (1.0 / b)
        if x + y <= 1.0 and u + v > 0.0:
            if x > 0.0 and y > 0.0:
                return x / (x + y)
            apart = np.log(u) / a - np.log(v) / b
            return np.exp(-np.log1p(np.exp(-apart))) if apart > 0.0 else np.exp(apart - np.log1p(np.exp(apart)))


def laplace(g: Any) -> Any:
    while True:
        u = next_double(g)
        if u >= 0.5:
            return -np.log(2.0 - u - u)
        if u > 0.0:
            return np.log(u + u)


def gumbel(g: Any) -> Any:
    u = 1.0 - next_double(g)
    while u >= 1.0:
        u = 1.0 - next_double(g)
    return -np.log(-np.log(u))


def logistic(g: Any) -> Any:
    u = next_double(g)
    while u <= 0.0:
        u = next_double(g)
    return np.log(u / (1.0 - u))


@whole
def vonmises(g: Any, kappa: Any) -> Any:
    """An angle around 0, from one side of the circle to the other."""
    if kappa < 1e-8:
        return math.pi * (2.0 * next_double(g) - 1.0)
    if kappa < 1e-5:
        s = 1.0 / kappa + kappa
    else:
        r = 1.0 + np.sqrt(1.0 + 4.0 * kappa * kappa)
        rho = (r - np.sqrt(2.0 * r)) / (2.0 * kappa)
        s = (1.0 + rho * rho) / (2.0 * rho)
    while True:
        z = np.cos(math.pi * next_double(g))
        w = (1.0 + s * z) / (s + z)
        y = kappa * (s - w)
        v = next_double(g)
        if y * (2.0 - y) - v >= 0.0 or np.log(y / v) + 1.0 - y >= 0.0:
            break
    return -np.arccos(w) if next_double(g) < 0.5 else np.arccos(w)


def wald(g: Any, mean: Any, scale: Any) -> Any:
    """One of the two roots of a quadratic equation whose right side is the square of a normal variable."""
    z = standard_normal(g)
    y = mean * z * z
    x = mean + mean / (2.0 * scale) * (y - np.sqrt(4.0 * scale * y + y * y))
    return x if next_double(g) <= mean / (mean + x) else mean * mean / x

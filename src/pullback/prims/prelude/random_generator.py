"""numpy.random.Generator in the accepted Python: PCG64 and the distributions, equal to NumPy's number by number.

    rng = np.random.default_rng(7)
    rng.normal(mean, scale, 1000)          mean + scale * z, z without derivative: so the derivatives by both are known

Where a distribution has a place and a scale, a formula says how its numbers move with them.  Gamma and beta variables,
and all that is made of these, move with their shapes (`random_slopes`).  Whole numbers jump: see `ad.jumps`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from pullback.prims.prelude import random_counts, random_draws, random_mixed, random_single, random_small
from pullback.prims.prelude.intrinsics import discrete, stop
from pullback.prims.prelude.random_bits import child_words, next_double, pool_of, seed_words, start, state_words
from pullback.prims.prelude.random_sampling import (
    checked_chances,
    chosen,
    chosen_by_chance,
    chosen_once,
    chosen_once_by_chance,
    order_of,
    shuffle_items,
    shuffle_lines,
    shuffle_rows,
)
from pullback.prims.prelude.random_shapes import (
    counted,
    drawn,
    drawn_for,
    drawn_to,
    float_of,
    int_of,
    is_single,
    limits_of,
    moved_by,
    number_of_rows,
    pairs,
    require,
    result,
    row_of,
    shape_with,
    whole_of,
    whole_result,
)
from pullback.prims.prelude.random_slopes import beta_moved, gamma_moved, wald_moved
from pullback.prims.prelude.random_urns import fill_from_urn, hypergeometric

__all__ = ["FUNCTIONS", "Generator"]


def moved(g: Any, loc: Any, scale: Any, size: Any, draw: Any) -> Any:
    """loc + scale * z"""
    loc, scale = float_of(loc), float_of(scale)
    require(scale < 0, "scale < 0")
    return loc + scale * drawn(g, shape_with(size, loc + scale), draw)


def scaled(g: Any, scale: Any, size: Any, draw: Any) -> Any:
    scale = float_of(scale)
    require(scale < 0, "scale < 0")
    return scale * drawn(g, shape_with(size, scale), draw)


def gammas(g: Any, shape: Any, a: Any) -> Any:
    """Gamma variables of shapes a, which move with them."""
    return moved_by(gamma_moved, drawn_for(g, shape, random_draws.standard_gamma, stop(a)), a)


def betas(g: Any, shape: Any, a: Any, b: Any) -> Any:
    return moved_by(beta_moved, drawn_for(g, shape, random_draws.beta, stop(a), stop(b)), a, b)


def on_circle(angle: Any) -> Any:
    """The angle between -pi and pi."""
    turned = np.fmod(np.abs(angle) + math.pi, 2.0 * math.pi) - math.pi
    return np.where(angle < 0, -turned, turned)


class Generator:
    """The state of PCG64, as 64-bit words; `half`: the 32 bits kept for later; `words`: the seed, for `spawn`."""

    def __init__(self, words: Any) -> None:
        self.words, self.children = words, 0
        self.half, self.has_half = np.uint64(0), False
        self.high, self.low, self.add_high, self.add_low = np.uint64(0), np.uint64(0), np.uint64(0), np.uint64(0)
        start(self, state_words(pool_of(words)))

    def spawn(self, n_children: int) -> Any:
        first = self.children
        self.children += n_children
        return [Generator(child_words(self.words, first + k)) for k in range(n_children)]

    # ------------------------------------------------------------------------------------- a place and a scale

    def random(self, size: Any = None, dtype: Any = np.float64, out: Any = None) -> Any:
        if is_single(dtype):
            return drawn_to(self, out, size, random_single.next_single, np.float32)
        return drawn_to(self, out, size, next_double)

    def uniform(self, low: Any = 0.0, high: Any = 1.0, size: Any = None) -> Any:
        low, high = float_of(low), float_of(high)
        width = high - low
        if not np.all(np.isfinite(width)):
            raise OverflowError("high - low range exceeds valid bounds")
        require(width < 0, "high - low < 0")
        return result(low + width * drawn(self, shape_with(size, width), next_double), size)

    def standard_normal(self, size: Any = None, dtype: Any = np.float64, out: Any = None) -> Any:
        if is_single(dtype):
            return drawn_to(self, out, size, random_single.standard_normal, np.float32)
        return drawn_to(self, out, size, random_draws.standard_normal)

    def normal(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        return result(moved(self, loc, scale, size, random_draws.standard_normal), size)

    def lognormal(self, mean: Any = 0.0, sigma: Any = 1.0, size: Any = None) -> Any:
        mean, sigma = float_of(mean), float_of(sigma)
        require(sigma < 0, "sigma < 0")
        return result(np.exp(moved(self, mean, sigma, size, random_draws.standard_normal)), size)

    def laplace(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        return result(moved(self, loc, scale, size, random_draws.laplace), size)

    def gumbel(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        return result(moved(self, loc, scale, size, random_draws.gumbel), size)

    def logistic(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        return result(moved(self, loc, scale, size, random_draws.logistic), size)

    def standard_exponential(self, size: Any = None, dtype: Any = np.float64, out: Any = None) -> Any:
        if is_single(dtype):
            return drawn_to(self, out, size, random_single.standard_exponential, np.float32)
        return drawn_to(self, out, size, random_draws.standard_exponential)

    def exponential(self, scale: Any = 1.0, size: Any = None) -> Any:
        return result(scaled(self, scale, size, random_draws.standard_exponential), size)

    def rayleigh(self, scale: Any = 1.0, size: Any = None) -> Any:
        return result(scaled(self, scale, size, random_draws.standard_rayleigh), size)

    def standard_cauchy(self, size: Any = None) -> Any:
        return result(drawn(self, size, random_mixed.cauchy), size)

    def weibull(self, a: Any, size: Any = None) -> Any:
        a = float_of(a)
        require(a < 0, "a < 0")
        z = drawn_for(self, shape_with(size, a), random_draws.exponential_unless_zero, stop(a))
        return result(np.where(a == 0.0, 0.0, z ** (1.0 / np.where(a == 0.0, 1.0, a))), size)

    def pareto(self, a: Any, size: Any = None) -> Any:
        a = float_of(a)
        require(a <= 0, "a <= 0")
        return result(np.expm1(drawn(self, shape_with(size, a), random_draws.standard_exponential) / a), size)

    def power(self, a: Any, size: Any = None) -> Any:
        a = float_of(a)
        require(a <= 0, "a <= 0")
        z = drawn(self, shape_with(size, a), random_draws.standard_exponential)
        return result((-np.expm1(-z)) ** (1.0 / a), size)

    def triangular(self, left: Any, mode: Any, right: Any, size: Any = None) -> Any:
        left, mode, right = float_of(left), float_of(mode), float_of(right)
        require(left > mode, "left > mode")
        require(mode > right, "mode > right")
        require(left == right, "left == right")
        u = drawn(self, shape_with(size, left + mode + right), next_double)
        base = right - left
        rising = left + np.sqrt(u * ((mode - left) * base))
        falling = right - np.sqrt((1.0 - u) * ((right - mode) * base))
        return result(np.where(u <= (mode - left) / base, rising, falling), size)

    def vonmises(self, mu: Any, kappa: Any, size: Any = None) -> Any:
        mu, kappa = float_of(mu), float_of(kappa)
        require(kappa < 0, "kappa < 0")
        around = drawn_for(self, shape_with(size, mu + kappa), random_draws.vonmises, discrete(kappa))
        return result(on_circle(mu + around), size)

    def wald(self, mean: Any, scale: Any, size: Any = None) -> Any:
        mean, scale = float_of(mean), float_of(scale)
        require(mean <= 0, "mean <= 0")
        require(scale <= 0, "scale <= 0")
        x = drawn_for(self, shape_with(size, mean + scale), random_draws.wald, stop(mean), stop(scale))
        return result(moved_by(wald_moved, x, mean, scale), size)

    # ------------------------------------------------------------------------------------------ gamma and kin

    def standard_gamma(self, shape: Any, size: Any = None, *, out: Any = None) -> Any:
        shape = float_of(shape)
        require(shape < 0, "shape < 0")
        if out is None:
            return result(gammas(self, shape_with(size, shape), shape), size)
        row_of(out, size, np.float64)[:] = gammas(self, shape_with(out.shape, shape), shape).reshape(-1)
        return out

    def gamma(self, shape: Any, scale: Any = 1.0, size: Any = None) -> Any:
        shape, scale = float_of(shape), float_of(scale)
        require(shape < 0, "shape < 0")
        require(scale < 0, "scale < 0")
        return result(scale * gammas(self, shape_with(size, shape + scale), shape), size)

    def chisquare(self, df: Any, size: Any = None) -> Any:
        df = float_of(df)
        require(df <= 0, "df <= 0")
        return result(2.0 * gammas(self, shape_with(size, df), df / 2.0), size)

    def noncentral_chisquare(self, df: Any, nonc: Any, size: Any = None) -> Any:
        df, nonc = float_of(df), float_of(nonc)
        require(df <= 0, "df <= 0")
        require(nonc < 0, "nonc < 0")
        shape = shape_with(size, df + nonc)
        return result(drawn_for(self, shape, random_mixed.off_centre, discrete(df), discrete(nonc)), size)

    def noncentral_f(self, dfnum: Any, dfden: Any, nonc: Any, size: Any = None) -> Any:
        dfnum, dfden, nonc = float_of(dfnum), float_of(dfden), float_of(nonc)
        require(dfnum <= 0, "dfnum <= 0")
        require(dfden <= 0, "dfden <= 0")
        require(nonc < 0, "nonc < 0")
        shape, parameters = shape_with(size, dfnum + dfden + nonc), (discrete(dfnum), discrete(dfden), discrete(nonc))
        return result(drawn_for(self, shape, random_mixed.off_centre_f, *parameters), size)

    def f(self, dfnum: Any, dfden: Any, size: Any = None) -> Any:
        dfnum, dfden = float_of(dfnum), float_of(dfden)
        require(dfnum <= 0, "dfnum <= 0")
        require(dfden <= 0, "dfden <= 0")
        a, b = dfnum / 2.0, dfden / 2.0
        first, second = pairs(self, shape_with(size, a + b), random_mixed.pair_of_gammas, stop(a), stop(b))
        above, under = 2.0 * moved_by(gamma_moved, first, a), 2.0 * moved_by(gamma_moved, second, b)
        return result((above * dfden) / (under * dfnum), size)

    def standard_t(self, df: Any, size: Any = None) -> Any:
        df = float_of(df)
        require(df <= 0, "df <= 0")
        z, x = pairs(self, shape_with(size, df), random_mixed.normal_and_gamma, stop(df) / 2.0, 0.0)
        return result(np.sqrt(df / 2.0) * z / np.sqrt(moved_by(gamma_moved, x, df / 2.0)), size)

    def beta(self, a: Any, b: Any, size: Any = None) -> Any:
        a, b = float_of(a), float_of(b)
        require(a <= 0, "a <= 0")
        require(b <= 0, "b <= 0")
        return result(betas(self, shape_with(size, a + b), a, b), size)

    def dirichlet(self, alpha: Any, size: Any = None) -> Any:
        alpha = float_of(alpha)
        require(alpha < 0, "alpha < 0")
        rows = np.empty((1 if size is None else number_of_rows(size), alpha.shape[0]))
        if alpha.shape[0] > 0 and np.max(alpha) < 0.1:
            fill_by_sticks(self, rows, alpha)
        else:
            x = gammas(self, rows.shape, alpha)
            rows[:] = x * (1.0 / np.cumsum(x, axis=1)[:, -1:])
        return rows[0] if size is None else rows.reshape(np.empty(size).shape + alpha.shape)

    def multivariate_normal(
        self,
        mean: Any,
        cov: Any,
        size: Any = None,
        check_valid: str = "warn",
        tol: float = 1e-8,
        *,
        method: str = "svd",
    ) -> Any:
        mean, cov = float_of(mean), float_of(cov)
        if mean.shape[0] != cov.shape[0]:
            raise ValueError("mean and cov must have same length")
        shape = (1 if size is None else number_of_rows(size), mean.shape[0])
        x = mean + drawn(self, shape, random_draws.standard_normal) @ root_of(cov, method).T
        return x[0] if size is None else x.reshape(np.empty(size).shape + mean.shape)

    # ------------------------------------------------------------------------------------------- whole numbers

    def integers(
        self, low: Any, high: Any = None, size: Any = None, dtype: Any = np.int64, endpoint: Any = False
    ) -> Any:
        first, end = int_of(0 if high is None else low), int_of(low if high is None else high)
        last = end if endpoint else end - 1
        if high is None:
            require(last < first, "high < 0" if endpoint else "high <= 0")
        require(last < first, "low > high" if endpoint else "low >= high")
        least, most, bits = limits_of(dtype)
        require(first < least, "low is out of bounds of the dtype")
        require(last > most, "high is out of bounds of the dtype")
        if bits > 16:
            found = counted(self, shape_with(size, first + last), random_mixed.between, first, last)
        else:
            found = random_small.between(self, shape_with(size, first + last), first, last, bits)
        return whole_of(found, dtype, size)

    def poisson(self, lam: Any = 1.0, size: Any = None) -> Any:
        lam = float_of(lam)
        require(np.logical_not(lam >= 0), "lam < 0 or lam is NaN")
        require(lam > 9.223372006484771e18, "lam value too large")
        return whole_result(counted(self, shape_with(size, lam), random_counts.poisson, discrete(lam)))

    def binomial(self, n: Any, p: Any, size: Any = None) -> Any:
        n, p = int_of(n), float_of(p)
        require(n < 0, "n < 0")
        require(np.logical_not((p >= 0) & (p <= 1)), "p < 0, p > 1 or p is NaN")
        return whole_result(counted(self, shape_with(size, n + p), random_counts.binomial, n, discrete(p)))

    def multinomial(self, n: int, pvals: Any, size: Any = None) -> Any:
        p = float_of(pvals)
        require(np.logical_not((p >= 0) & (p <= 1)), "pvals < 0, pvals > 1 or pvals contains NaNs")
        if n < 0:
            raise ValueError("n < 0")
        if np.sum(p[:-1]) > 1.0 + 1e-12:
            raise ValueError("sum(pvals[:-1]) > 1.0")
        rows = np.zeros((1 if size is None else number_of_rows(size), p.shape[0]), np.int64)
        fill_by_counts(self, rows, n, discrete(p))
        return rows[0] if size is None else rows.reshape(np.empty(size).shape + p.shape)

    def hypergeometric(self, ngood: Any, nbad: Any, nsample: Any, size: Any = None) -> Any:
        good, bad, sample = int_of(ngood), int_of(nbad), int_of(nsample)
        require((good >= 1000000000) | (bad >= 1000000000), "both ngood and nbad must be less than 1000000000")
        require(good + bad < sample, "ngood + nbad < nsample")
        require(good < 0, "ngood < 0")
        require(bad < 0, "nbad < 0")
        require(sample < 0, "nsample < 0")
        return whole_result(counted(self, shape_with(size, good + bad + sample), hypergeometric, good, bad, sample))

    def multivariate_hypergeometric(
        self, colors: Any, nsample: int, size: Any = None, method: str = "marginals"
    ) -> Any:
        counts, sample = int_of(colors), int_of(nsample)
        if method != "marginals":
            raise ValueError("multivariate_hypergeometric by method 'count' is not known here")
        if sample < 0:
            raise ValueError("nsample must be nonnegative.")
        require(counts < 0, "colors must be a one-dimensional sequence of nonnegative integers")
        if np.sum(counts) >= 1000000000:
            raise ValueError('When method is "marginals", sum(colors) must be less than 1000000000.')
        if sample > np.sum(counts):
            raise ValueError("nsample > sum(colors)")
        rows = np.zeros((1 if size is None else number_of_rows(size), counts.shape[0]), np.int64)
        fill_from_urn(self, rows, counts, sample)
        return rows[0] if size is None else rows.reshape(np.empty(size).shape + counts.shape)

    def negative_binomial(self, n: Any, p: Any, size: Any = None) -> Any:
        n, p = float_of(n), float_of(p)
        require(n <= 0, "n <= 0")
        require(np.logical_not((p > 0) & (p <= 1)), "p <= 0, p > 1 or p contains NaNs")
        shape = shape_with(size, n + p)
        return whole_result(counted(self, shape, random_mixed.negative_binomial, discrete(n), discrete(p)))

    def geometric(self, p: Any, size: Any = None) -> Any:
        p = float_of(p)
        require(np.logical_not((p > 0) & (p <= 1)), "p <= 0, p > 1 or p contains NaNs")
        return whole_result(counted(self, shape_with(size, p), random_counts.geometric, discrete(p)))

    def logseries(self, p: Any, size: Any = None) -> Any:
        p = float_of(p)
        require(np.logical_not((p >= 0) & (p < 1)), "p < 0, p >= 1 or p is NaN")
        return whole_result(counted(self, shape_with(size, p), random_counts.logseries, discrete(p)))

    def zipf(self, a: Any, size: Any = None) -> Any:
        a = float_of(a)
        require(np.logical_not(a > 1), "a <= 1 or a is NaN")
        return whole_result(counted(self, shape_with(size, a), random_counts.zipf, discrete(a)))

    # -------------------------------------------------------------------------------------- order and choice

    def shuffle(self, x: Any, axis: int = 0) -> None:
        if isinstance(x, np.ndarray) and x.ndim > 1:
            shuffle_rows(self, np.moveaxis(x, axis, 0))
        else:
            shuffle_items(self, x)

    def permuted(self, x: Any, *, axis: Any = None) -> Any:
        array = np.array(x)
        if axis is None and array.ndim > 1:
            raise ValueError("permuted of an array with several axes needs axis= here")
        shuffle_lines(self, array if axis is None else np.moveaxis(array, axis, -1))
        return array

    def permutation(self, x: Any, axis: int = 0) -> Any:
        if isinstance(x, (int, np.integer)):
            return order_of(self, int(x))
        array = np.asarray(x)
        return np.take(array, order_of(self, array.shape[axis]), axis)

    def choice(
        self, a: Any, size: Any = None, replace: bool = True, p: Any = None, axis: int = 0, shuffle: bool = True
    ) -> Any:
        if isinstance(a, (int, np.integer)):
            places = self.places(int(a), size, replace, p, shuffle)
            return places if size is not None else int(places)
        array = np.asarray(a)
        return np.take(array, self.places(array.shape[axis], size, replace, p, shuffle), axis)

    def places(self, n: int, size: Any, replace: bool, p: Any, shuffle: bool) -> Any:
        """Which of n are chosen."""
        count = 1 if size is None else number_of_rows(size)
        if n <= 0 and count > 0:
            raise ValueError("a must be a positive integer unless no samples are taken")
        if p is not None:
            checked_chances(np.asarray(p), n)
        if replace:
            return chosen(self, n, size) if p is None else chosen_by_chance(self, discrete(float_of(p)), size)
        if count > n:
            raise ValueError("Cannot take a larger sample than population when replace is False")
        if p is None:
            found = chosen_once(self, n, count, shuffle)
        else:
            found = chosen_once_by_chance(self, discrete(float_of(p)), count)
        return found[0] if size is None else found.reshape(np.empty(size).shape)


def fill_by_sticks(g: Any, rows: Any, alpha: Any) -> None:
    """Rows of parts that sum to 1: of what is left of a stick, each time a beta variable breaks off a part."""
    after = np.cumsum(alpha[::-1])[::-1]
    for k in range(rows.shape[0]):
        left = 1.0
        for j in range(alpha.shape[0] - 1):
            part = 1.0
            if after[j + 1] > 0.0:
                part = beta_moved(random_draws.beta(g, stop(alpha[j]), stop(after[j + 1])), alpha[j], after[j + 1])
            rows[k, j] = left * part
            left = left * (1.0 - part)
        rows[k, alpha.shape[0] - 1] = left


def fill_by_counts(g: Any, rows: Any, n: int, p: Any) -> None:
    """Rows that sum to n: of what is left to be shared, each time a binomial part goes to the next place."""
    last = p.shape[0] - 1
    for k in range(rows.shape[0]):
        left, chance = n, 1.0
        for j in range(last):
            rows[k, j] = random_counts.binomial(g, left, p[j] / chance)
            left = left - int(rows[k, j])
            if left <= 0:
                break
            chance = chance - p[j]
        if left > 0 and last >= 0:
            rows[k, last] = left


def root_of(cov: Any, method: str) -> Any:
    """A matrix that times its transpose is `cov`."""
    if method == "svd":
        u, s, _ = np.linalg.svd(cov)
        return u * np.sqrt(s)
    if method == "eigh":
        s, u = np.linalg.eigh(cov)
        return u * np.sqrt(np.abs(s))
    if method == "cholesky":
        return np.linalg.cholesky(cov)
    raise ValueError("method must be one of {'eigh', 'svd', 'cholesky'}")


def generator_of(seed: Any) -> Any:
    """np.random.default_rng(seed)"""
    if isinstance(seed, np.random.Generator):
        return seed
    return Generator(seed_words(seed))


FUNCTIONS: dict[str, Any] = {"pullback.generator_of": generator_of}

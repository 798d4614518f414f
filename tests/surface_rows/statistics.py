"""Statistics: order statistics, averages, what passes over nan, histograms, covariances, interpolation."""

from __future__ import annotations

import numpy as np

from surface import ALL, FLOATS, NUMBERS, N, P, Row, S, X

SPECIAL = ("nan", "inf", "ties")
RANKS = [X(5), X(6), X(2, 3), X(2, 3, 4)]
EMPTY = [X(0), X(0, 3), X(3, 0)]
DEEP = [X(2, 3, 4), X(2, 1, 3, 2)]
Q = np.array([0.0, 0.25, 0.6, 1.0])
METHODS = ("inverted_cdf", "averaged_inverted_cdf", "closest_observation", "interpolated_inverted_cdf", "hazen",
           "weibull", "median_unbiased", "normal_unbiased", "lower", "higher", "midpoint", "nearest")  # fmt: skip


def discrete(a):
    return (
        np.quantile(a, 0.3, method="lower"),
        np.quantile(a, 0.3, method="higher"),
        np.quantile(a, Q, method="nearest"),
        np.quantile(a, Q, method="inverted_cdf", axis=0),
        np.quantile(a, 0.41, method="closest_observation", axis=-1),
    )


def between(a):
    return (
        np.quantile(a, 0.3, method="midpoint"),
        np.quantile(a, Q, method="hazen", axis=0),
        np.quantile(a, 0.55, method="weibull"),
        np.quantile(a, 0.7, method="median_unbiased", axis=-1),
    )


def more_between(a):
    return (
        np.quantile(a, 0.3, method="normal_unbiased"),
        np.quantile(a, Q, method="averaged_inverted_cdf"),
        np.quantile(a, Q, method="interpolated_inverted_cdf", axis=-1),
    )


def weighted(a, w):
    return (
        np.quantile(a, 0.3, weights=w, method="inverted_cdf") + 0,  # NumPy gives an array of rank 0
        np.percentile(a, [0, 40, 100], axis=1, weights=w, method="inverted_cdf", keepdims=True),
        np.quantile(a, Q, axis=0, weights=w[:, 0] + 1, method="inverted_cdf"),
    )


def nan_sums(a):
    return (
        np.nansum(a),
        np.nansum(a, axis=0),
        np.nanprod(a, axis=-1),
        np.nanmean(a),
        np.nanmean(a, axis=0, keepdims=True),
    )


def nan_spread(a):
    return np.nanvar(a), np.nanvar(a, axis=0, ddof=1), np.nanstd(a, axis=-1)


def nan_extremes(a):
    return np.nanmax(a), np.nanmin(a, axis=0), np.nanmax(a, axis=-1, keepdims=True)


def nan_order(a):
    return (
        np.nanmedian(a),
        np.nanmedian(a, axis=0),
        np.nanquantile(a, 0.4, axis=-1),
        np.nanpercentile(a, [10, 70], axis=0),
    )


def all_nan(a):
    b = a.copy()
    b[..., 0] = np.nan
    b[0] = np.nan
    return np.nanmax(b, axis=-1), np.nanmean(b, axis=0), np.nansum(b, axis=-1), np.nanmedian(b, axis=-1)


def nan_places(a):
    return np.nanargmax(a), np.nanargmin(a, axis=0), np.nanargmax(a, axis=-1)


ROWS = [
    Row(
        "numpy.median",
        lambda a: (np.median(a), np.median(a, axis=0), np.median(a, axis=-1, keepdims=True)),
        RANKS,
        ALL,
        specials=SPECIAL,
    ),
    Row("numpy.median", lambda a: np.median(a, axis=(0, 2)), DEEP, NUMBERS),
    Row("numpy.median", lambda a: np.median(a, axis=0), [*EMPTY, X(1)], FLOATS, order=0),
    Row("numpy.median", lambda a: np.median(a), [X(), S()], NUMBERS, order=1),
    Row(
        "numpy.quantile", lambda a: (np.quantile(a, 0.3), np.quantile(a, 0.7, axis=0)), RANKS, NUMBERS, specials=SPECIAL
    ),
    Row("numpy.quantile", lambda a: np.quantile(a, Q, axis=-1, keepdims=True), RANKS, NUMBERS, specials=SPECIAL),
    Row(
        "numpy.quantile",
        lambda a, q: np.quantile(a, q),
        [(X(5), X(2, 3, low=0.05, high=0.95, dtype="float64"))],
        FLOATS,
    ),
    Row("numpy.quantile", discrete, RANKS, NUMBERS, specials=SPECIAL),
    Row("numpy.quantile", between, RANKS, NUMBERS, specials=SPECIAL),
    Row("numpy.quantile", more_between, RANKS, "float64 int64 int32", specials=SPECIAL),
    # a float64 of float32 numbers, of which NumPy rounds a difference in float32
    Row("numpy.quantile", more_between, RANKS, "float32", specials=SPECIAL, tolerance=2.0**30, slope=1e-3),
    Row("numpy.quantile", lambda a: np.quantile(a, 1.5), [X(4)]),
    Row("numpy.quantile", weighted, [(X(3, 4), P(3, 4)), (X(3, 4), N(3, 4))], NUMBERS, wrt=(0,), specials=SPECIAL),
    Row("numpy.quantile", lambda a, w: np.quantile(a, Q, axis=(2, 0), weights=w, method="inverted_cdf"),
        [(X(2, 3, 4), P(4, 2)), (X(2, 3, 4), P(2, 4))], FLOATS, wrt=(0,)),
    Row("numpy.quantile", lambda a, w: np.quantile(a, Q, weights=w, method="inverted_cdf"),
        [(X(3), X(3)), (X(3), np.zeros(3)), (X(3, 2), P(3))], order=0),
    Row("numpy.quantile", lambda a, w: np.quantile(a, Q, weights=w), [(X(3), P(3))], order=0),
    Row("numpy.nanquantile", lambda a, w: np.nanquantile(a, Q, axis=0, weights=w, method="inverted_cdf"),
        [(X(3, 4), P(3, 4))], FLOATS, wrt=(0,), specials=("nan",)),
    Row("numpy.quantile", lambda a: np.quantile(a, 0.5), [X(0)], message=False),
    Row(
        "numpy.percentile",
        lambda a: (np.percentile(a, 30), np.percentile(a, [25.0, 50.0, 100.0], axis=0)),
        RANKS,
        NUMBERS,
        specials=SPECIAL,
    ),
    Row("numpy.percentile", lambda a: np.percentile(a, 40, axis=(0, 1)), DEEP, FLOATS),
    Row("numpy.average", lambda a: (np.average(a), np.average(a, axis=0)), RANKS, ALL, specials=SPECIAL),
    Row(
        "numpy.average",
        lambda a, w: np.average(a, weights=w, axis=1),
        [(X(2, 3), P(3)), (X(2, 3), P(2, 3)), (X(2, 3, 2), P(3))],
        NUMBERS,
    ),
    Row(
        "numpy.average",
        lambda a, w: np.average(a, weights=w, returned=True),
        [(X(4), P(4)), (X(2, 3), P(2, 3))],
        FLOATS,
    ),
    Row(
        "numpy.average",
        lambda a, w: np.average(a, axis=0, weights=w, returned=True, keepdims=True),
        [(X(4, 2), P(4))],
        FLOATS,
    ),
    Row("numpy.average", lambda a: np.average(a, weights=[1.0, -1.0]), [X(2)]),
    Row("numpy.average", lambda a, w: np.average(a, weights=w), [(X(2, 3), P(3))]),
    Row(
        "numpy.ptp",
        lambda a: (np.ptp(a), np.ptp(a, axis=0), np.ptp(a, axis=-1, keepdims=True)),
        RANKS,
        NUMBERS,
        specials=SPECIAL,
    ),
    Row(
        "numpy.count_nonzero",
        lambda a: (np.count_nonzero(a), np.count_nonzero(a, axis=0)),
        [*RANKS, *EMPTY],
        ALL,
        order=0,
        specials=("zero", "nan"),
    ),
    Row("numpy.nansum numpy.nanprod numpy.nanmean", nan_sums, RANKS, ALL, specials=(*SPECIAL, "zero")),
    Row("numpy.nanvar numpy.nanstd", nan_spread, RANKS, NUMBERS, specials=("nan", "ties")),
    Row("numpy.nanmax numpy.nanmin", nan_extremes, RANKS, ALL, specials=SPECIAL),
    Row("numpy.nanmax", lambda a: np.nanmax(a, axis=0), EMPTY[:2], FLOATS, order=0, message=False),
    Row("numpy.nanmedian numpy.nanquantile numpy.nanpercentile", nan_order, RANKS, NUMBERS, specials=SPECIAL),
    Row("numpy.nanmax numpy.nanmean", all_nan, [X(3, 4)], FLOATS, order=0),
    Row("numpy.nanargmax numpy.nanargmin", nan_places, RANKS, NUMBERS, order=0, specials=("nan",)),
    Row("numpy.nanargmax", lambda a: np.nanargmax(a * np.nan, axis=0), [X(2, 3)], order=0),
    # queries are moved away from the knots, where the slope jumps
    Row(
        "numpy.interp",
        lambda x, xp, fp: np.interp(x + 0.0137, np.sort(xp), fp),
        [(X(6, low=-3, high=3), X(5), X(5)), (X(2, 3), X(4), X(4)), (S(), X(4), X(4)), (X(3), X(1), X(1))],
        NUMBERS,
    ),
    Row(
        "numpy.interp",
        lambda x, fp: np.interp(x + 0.0137, [0.0, 1.0, 2.0], fp, left=-7, right=9.5),
        [(X(6, low=-1, high=3), X(3))],
        FLOATS,
        specials=("nan", "inf"),
    ),
    Row(
        "numpy.interp",
        lambda x, fp: np.interp(x + 0.0137, [0.0, 1.0, 2.5], fp, period=3.0),
        [(X(6, low=-5, high=5), X(3))],
        FLOATS,
    ),
    Row(
        "numpy.bincount", lambda x: np.bincount(x, minlength=4), [N(6, high=6), N(0), N(5, low=-1)], "float64", order=0
    ),
    Row("numpy.bincount", lambda x, w: np.bincount(x, w), [(N(6, high=4), X(6)), (N(3), X(2))], NUMBERS),
    Row("numpy.histogram", lambda a: np.histogram(a), [X(12), X(3, 4), X(0)], NUMBERS, order=0, specials=("ties",)),
    Row(
        "numpy.histogram",
        lambda a: np.histogram(a, 4, (-1.0, 1.5)),
        [X(12)],
        NUMBERS,
        order=0,
        specials=("ties", "nan"),
    ),
    Row(
        "numpy.histogram",
        lambda a, w: np.histogram(a, bins=[-1.0, 0.0, 0.5, 2.0], weights=w),
        [(X(12), X(12))],
        FLOATS,
        wrt=(1,),
    ),
    Row("numpy.histogram", lambda a: np.histogram(a, bins=5, density=True), [X(12)], NUMBERS, order=0),
    Row("numpy.histogram", lambda a: np.histogram(a, bins=[0, 2, 1]), [X(4)], order=0),
    *(
        Row("numpy.histogram", lambda a, rule=rule: np.histogram(a, rule), [X(12), X(60), X(1), X(0)], NUMBERS, order=0)
        for rule in ("auto", "fd", "doane", "scott", "stone", "rice", "sturges", "sqrt")
    ),
    Row("numpy.histogram", lambda a: np.histogram(a, "auto", (-1.0, 1.5)), [X(40)], "float64 int64", order=0),
    Row("numpy.histogram", lambda a: np.histogram(a, "none"), [X(4)], order=0),
    Row("numpy.histogram", lambda a, w: np.histogram(a, "auto", weights=w), [(X(4), X(4))], order=0),
    Row("numpy.histogram_bin_edges", lambda a: np.histogram_bin_edges(a, "scott"), [X(9)], "float64"),
    Row("numpy.histogram_bin_edges", lambda a: np.histogram_bin_edges(a, 3), [X(5), X(2, 3)], FLOATS),
    Row("numpy.histogram2d", lambda x, y: np.histogram2d(x, y, bins=(3, 4)), [(X(9), X(9))], NUMBERS, order=0),
    Row(
        "numpy.histogram2d",
        lambda x, y, w: np.histogram2d(x, y, bins=3, range=[[-1, 1], [-2, 2]], weights=w, density=True),
        [(X(9), X(9), P(9))],
        FLOATS,
        wrt=(2,),
    ),
    Row("numpy.cov", lambda a: np.cov(a), [X(3, 5), X(5)], NUMBERS),
    Row("numpy.cov", lambda a, b: np.cov(a, b, bias=True), [(X(5), X(5)), (X(2, 5), X(5))], FLOATS),
    Row(
        "numpy.cov", lambda a, w: np.cov(a, rowvar=False, aweights=w, fweights=[1, 2, 1, 3]), [(X(4, 3), P(4))], FLOATS
    ),
    Row("numpy.corrcoef", lambda a: np.corrcoef(a), [X(3, 5), X(5)], NUMBERS),
    Row("numpy.corrcoef", lambda a, b: np.corrcoef(a, b), [(X(5), X(5))], FLOATS),
    Row(
        "numpy.histogramdd",
        lambda x, y, z: np.histogramdd((x, y, z), bins=(2, 3, [-2.0, 0.0, 2.0])),
        [(X(9), X(9), X(9))],
        FLOATS,
        order=0,
    ),
    Row(
        "numpy.histogramdd",
        lambda x, w: np.histogramdd([x], bins=5, density=True, weights=w),  # of 4, float32 would round across edges
        [(X(9), P(9))],
        FLOATS,
        wrt=(1,),
    ),
]

"""Quantiles of sorted lines, interpolation, histograms, covariances.

    quantile_of(s, n, q, "linear")     the q-quantile of the first n elements of a sorted line
    interp_at(x, xp, fp, left, right)  the polygon through (xp, fp)
    histogram_even(a, w, edges, out)   how many elements (how much weight) lie between edges of equal distance

Methods of quantiles are those of Hyndman and Fan, "Sample quantiles in statistical packages", 1996, and NumPy's others.
"""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["FUNCTIONS"]


# ------------------------------------------------------------------------------------------------------ quantiles


def valid_count(s: Any) -> int:
    """How many elements of a sorted line stand before the first nan."""
    n = len(s)
    while n > 0 and s[n - 1] != s[n - 1]:
        n -= 1
    return n


def check_fractions(q: Any, message: str) -> None:
    for x in q:
        if not (x >= 0 and x <= 1):
            raise ValueError(message)


def quantile_rows(sorted_rows: Any, q: Any, out: Any, method: str, skip_nan: bool) -> Any:
    """out[k, i]: quantile q[k] of row i."""
    for i in range(len(sorted_rows)):
        s = sorted_rows[i]
        n = valid_count(s)
        usable = n > 0 if skip_nan else n == len(s)
        for k in range(len(q)):
            if usable:
                out[k, i] = quantile_of(s, n, q[k], method)
            else:
                out[k, i] = s[len(s) - 1] + 0 * q[k]
    return out


def taken_rows(sorted_rows: Any, q: Any, out: Any, method: str, skip_nan: bool) -> Any:
    """As `quantile_rows`, for methods that take elements as they are."""
    for i in range(len(sorted_rows)):
        s = sorted_rows[i]
        n = valid_count(s)
        usable = n > 0 if skip_nan else n == len(s)
        for k in range(len(q)):
            out[k, i] = s[place_of(n, q[k], method)] if usable else s[len(s) - 1]
    return out


def weighted_rows(table: Any, weights: Any, q: Any, out: Any, skip_nan: bool) -> Any:
    """As `taken_rows`, of rows that are not sorted, whose elements have weights: the first whose share of them is q."""
    for i in range(len(table)):
        order = np.argsort(table[i])
        s = table[i][order]
        n = valid_count(s)
        usable = n > 0 if skip_nan else n == len(s)
        places = weighted_places(weights[i][order][: n if usable else len(s)], q)
        for k in range(len(q)):
            out[k, i] = s[places[k]] if usable else s[len(s) - 1]
    return out


def weighted_places(weights: Any, q: Any) -> Any:
    for w in weights:
        if w < 0:
            raise ValueError("Weights must be non-negative.")
    shares = np.cumsum(weights)
    shares = shares / shares[len(shares) - 1]
    if np.isnan(shares[len(shares) - 1]):
        raise ValueError("Weights included NaN, inf or were all zero.")
    shares = (shares + 0 * q[:1]).astype(q.dtype)
    places = np.searchsorted(np.where(shares == 0, -1, shares), q)
    return np.minimum(places, len(shares) - 1)


def place_of(n: int, q: float, method: str) -> int:
    """Which element of n sorted ones a quantile is."""
    if method == "lower":
        place = int(np.floor((n - 1) * q))
    elif method == "higher":
        place = int(np.ceil((n - 1) * q))
    elif method == "nearest":
        place = int(np.rint((n - 1) * q))
    elif method == "inverted_cdf":
        place = int(np.ceil(n * q - 1))
    else:  # closest_observation
        index = n * q - 1.5
        whole = np.floor(index)
        even = index == whole and whole % 2 == 1
        place = int(whole) if even else int(whole) + 1
    return min(max(place, 0), n - 1)


def virtual_index(n: int, q: Any, method: str) -> Any:
    """Where between the elements of n sorted ones a quantile lies."""
    if method == "linear":
        return (n - 1) * q
    if method == "midpoint":
        return 0.5 * (np.floor((n - 1) * q) + np.ceil((n - 1) * q))
    if method == "averaged_inverted_cdf":
        return n * q - 1
    alpha, beta = 0.0, 0.0  # weibull
    if method == "interpolated_inverted_cdf":
        alpha, beta = 0.0, 1.0
    elif method == "hazen":
        alpha, beta = 0.5, 0.5
    elif method == "median_unbiased":
        alpha, beta = 1 / 3.0, 1 / 3.0
    elif method == "normal_unbiased":
        alpha, beta = 3 / 8.0, 3 / 8.0
    return n * q + (alpha + q * (1 - alpha - beta)) - 1


def quantile_of(s: Any, n: int, q: Any, method: str) -> Any:
    index = virtual_index(n, q, method)
    before = min(max(int(np.floor(index)), 0), n - 1)
    after = min(before + 1, n - 1)
    if index >= n - 1:
        before = n - 1
    elif index < 0:
        after = 0
    weight = index - np.floor(index)
    if method == "midpoint":
        weight = 0.5 * (weight > 0)
    elif method == "averaged_inverted_cdf":
        weight = 0.5 if weight == 0 else 1.0
    elif index < 0 or index >= n - 1:
        weight = 0.0 * weight
    gap = s[after] - s[before]
    return s[before] + gap * weight if weight < 0.5 else s[after] - gap * (1 - weight)


def median_rows(sorted_rows: Any, out: Any, skip_nan: bool) -> Any:
    for i in range(len(sorted_rows)):
        s = sorted_rows[i]
        n = valid_count(s)
        if len(s) == 0:
            out[i] = np.nan
        elif n == 0 or (n < len(s) and not skip_nan):
            out[i] = s[len(s) - 1]
        elif n % 2 == 1:
            out[i] = s[n // 2]
        else:
            out[i] = (s[n // 2 - 1] + s[n // 2]) / 2
    return out


def complex_median_rows(re: Any, im: Any, re_out: Any, im_out: Any, skip_nan: bool) -> None:
    """As `median_rows`: the parts of sorted rows, where numbers with a nan come last."""
    for i in range(len(re)):
        x, y = re[i], im[i]
        n = len(x)
        while n > 0 and (x[n - 1] != x[n - 1] or y[n - 1] != y[n - 1]):
            n -= 1
        middle = n // 2
        if len(x) == 0:
            re_out[i] = im_out[i] = np.nan
        elif n == 0 or (n < len(x) and not skip_nan):
            re_out[i], im_out[i] = x[len(x) - 1], y[len(x) - 1]
        elif n % 2 == 1:
            re_out[i], im_out[i] = x[middle], y[middle]
        else:
            re_out[i], im_out[i] = (x[middle - 1] + x[middle]) / 2, (y[middle - 1] + y[middle]) / 2


# ---------------------------------------------------------------------------------------------------- interpolation


def interp_rows(x: Any, xp: Any, fp: Any, left: Any, right: Any, out: Any) -> Any:
    if len(xp) == 0:
        raise ValueError("array of sample points is empty")
    if len(xp) != len(fp):
        raise ValueError("fp and xp are not of the same length.")
    for k in range(len(x)):
        out[k] = interp_at(x[k], xp, fp, left, right)
    return out


def interp_at(x: Any, xp: Any, fp: Any, left: Any, right: Any) -> Any:
    n = len(xp)
    if x != x:
        return x
    if x < xp[0]:
        return fp[0] if left is None else left
    if x > xp[n - 1]:
        return fp[n - 1] if right is None else right
    low, high = 0, n
    while low + 1 < high:
        middle = (low + high) // 2
        if x >= xp[middle]:
            low = middle
        else:
            high = middle
    if low == n - 1:
        return fp[low]
    slope = (fp[low + 1] - fp[low]) / (xp[low + 1] - xp[low])
    y = slope * (x - xp[low]) + fp[low]
    if y == y:
        return y
    if xp[low] == x:
        return fp[low]
    y = slope * (x - xp[low + 1]) + fp[low + 1]
    return fp[low] if y != y and fp[low] == fp[low + 1] else y


# ------------------------------------------------------------------------------------------------------ histograms


def periodic_points(xp: Any, fp: Any, period: Any) -> Any:
    """The points within one period in order, and one more at each end."""
    if len(xp) != len(fp):
        raise ValueError("fp and xp are not of the same length")
    width = np.abs(period)
    inside = xp % width
    order = np.argsort(inside)
    x, y = inside[order], fp[order]
    return np.concatenate((x[-1:] - width, x, x[:1] + width)), np.concatenate((y[-1:], y, y[:1]))


def bincount(x: Any, out: Any) -> Any:
    for i in x:
        out[i] += 1
    return out


def bincount_weighted(x: Any, weights: Any, out: Any) -> Any:
    if len(x) != len(weights):
        raise ValueError("The weights and list don't have the same length.")
    for k in range(len(x)):
        out[x[k]] += weights[k]
    return out


def bin_number(x: Any) -> int:
    """How many bins the numbers need."""
    most = 0
    for i in x:
        if i < 0:
            raise ValueError("'list' argument must have no negative elements")
        most = max(most, int(i) + 1)
    return most


def apart(first: Any, last: Any) -> Any:
    """Two bounds; half a step away from each other if they are the same."""
    if not (np.isfinite(first) and np.isfinite(last)):
        raise ValueError("supplied range is not finite")
    return (first - 0.5, last + 0.5) if first == last else (first, last)


def extremes(a: Any) -> Any:
    if len(a) == 0:
        return np.zeros(1, a.dtype)[0], np.ones(1, a.dtype)[0]
    first, last = np.min(a), np.max(a)
    if not (np.isfinite(first) and np.isfinite(last)):
        raise ValueError("autodetected range is not finite")
    return (first - 0.5, last + 0.5) if first == last else (first, last)


def edges_between(first: Any, last: Any, bins: int) -> Any:
    if bins < 1:
        raise ValueError("`bins` must be positive, when an integer")
    out = np.empty(bins + 1, (first + np.zeros(1, np.int8)).dtype)
    for k in range(bins + 1):
        out[k] = first + k * ((last - first) / bins)
    out[bins] = last
    return out


def even_bin(x: Any, edges: Any) -> int:
    """Which bin of equal width a number lies in, -1 for none; the last one has its upper edge."""
    n = len(edges) - 1
    first, last = edges[0], edges[n]
    if not (x >= first and x <= last):
        return -1
    k = int((x - first) / (last - first) * n)
    k = n - 1 if k == n else k
    if x < edges[k]:
        k -= 1
    elif x >= edges[k + 1] and k != n - 1:
        k += 1
    return k


def any_bin(x: Any, edges: Any) -> int:
    """As `even_bin`, for bins of any width."""
    n = len(edges) - 1
    if not (x >= edges[0] and x <= edges[n]):
        return -1
    low, high = 0, n
    while low + 1 < high:
        middle = (low + high) // 2
        if x >= edges[middle]:
            low = middle
        else:
            high = middle
    return low


def bins_by_rule(a: Any, low: Any, high: Any, given: bool, rule: str) -> int:
    """How many bins a rule finds right between two bounds; given: they do not come from the data."""
    x = a[(a >= low) & (a <= high)] if given else a
    if len(x) == 0:
        return 1
    width = bin_width(x, low, high, given, rule)
    if np.issubdtype(a.dtype, np.integer) and 0 < width < 1:
        width = np.float64(1.0)
    return int(np.ceil((high - low) / width)) if width else 1


def bin_width(x: Any, low: Any, high: Any, given: bool, rule: str) -> Any:
    n, spread = len(x), np.max(x) - np.min(x)
    if rule == "sqrt":
        return spread / np.sqrt(n)
    if rule == "sturges":
        return spread / (np.log2(n) + 1.0)
    if rule == "rice":
        return spread / (2.0 * n ** (1.0 / 3))
    if rule == "scott":
        return (24.0 * np.pi**0.5 / n) ** (1.0 / 3.0) * np.std(x)
    if rule == "doane":
        return doane_width(x, spread)
    if rule == "stone":
        return stone_width(x, spread, (low, high) if given else None)
    quarters = 2.0 * (np.percentile(x, 75) - np.percentile(x, 25)) * n ** (-1.0 / 3.0)  # fd
    if rule == "fd":
        return quarters
    least = spread / np.sqrt(n) / 2
    return min(max(quarters, least), spread / (np.log2(n) + 1.0))


def doane_width(x: Any, spread: Any) -> Any:
    n = len(x)
    sigma = np.std(x) if n > 2 else np.std(x[:1])
    if sigma == 0.0:
        return 0.0
    error = np.sqrt(6.0 * (n - 2) / ((n + 1.0) * (n + 3)))
    skew = np.mean(((x - np.mean(x)) / sigma) ** 3)
    return spread / (1.0 + np.log2(n) + np.log2(1.0 + np.abs(skew) / error))


def stone_width(x: Any, spread: Any, bounds: Any) -> Any:
    """The number of bins with the least estimate of the squared error, by cross-validation."""
    n = len(x)
    if n <= 1 or spread == 0:
        return 0.0
    best, least = 1, np.inf
    for bins in range(1, max(100, int(np.sqrt(n))) + 1):
        shares = np.histogram(x, bins, bounds)[0] / n
        risk = (2 - (n + 1) * np.dot(shares, shares)) / (spread / bins)
        if risk < least:
            best, least = bins, risk
    return spread / best


def check_edges(edges: Any) -> None:
    for k in range(1, len(edges)):
        if edges[k - 1] > edges[k]:
            raise ValueError("`bins` must increase monotonically, when an array")


def bin_of(x: Any, edges: Any, even: bool) -> int:
    return even_bin(x, edges) if even else any_bin(x, edges)


def count_bins(a: Any, edges: Any, out: Any, even: bool) -> Any:
    for x in a:
        k = bin_of(x, edges, even)
        if k >= 0:
            out[k] += 1
    return out


def weigh_bins(a: Any, weights: Any, edges: Any, out: Any, even: bool) -> Any:
    for i in range(len(a)):
        k = bin_of(a[i], edges, even)
        if k >= 0:
            out[k] += weights[i]
    return out


def cell_step(x: Any, edges: Any, places: Any) -> Any:
    """Numbers of cells, one axis further; -1 of what lies in none."""
    n = len(edges) - 1
    if len(x) != len(places):
        raise ValueError("all coordinates must have the same length")
    for i in range(len(x)):
        if places[i] >= 0:
            k = any_bin(x[i], edges)
            places[i] = places[i] * n + k if k >= 0 else -1
    return places


def count_cells(places: Any, out: Any) -> Any:
    for place in places:
        if place >= 0:
            out[place] += 1.0
    return out


def weigh_cells(places: Any, weights: Any, out: Any) -> Any:
    if len(places) != len(weights):
        raise ValueError("The weights and list don't have the same length.")
    for i in range(len(places)):
        if places[i] >= 0:
            out[places[i]] += weights[i]
    return out


# ------------------------------------------------------------------------------------------------------ covariances


def covariance(table: Any, weights: Any, degrees: Any) -> Any:
    """The rows are variables; weights of the observations, or None; degrees: of freedom that are taken off."""
    n = table.shape[1]
    if weights is None:
        middle = np.sum(table, axis=1) / n
        rest = table - middle[:, None]
        return rest @ rest.conj().T / max(n - degrees, 0.0)
    total = np.sum(weights)
    middle = np.sum(table * weights, axis=1) / total
    rest = table - middle[:, None]
    return rest @ (rest * weights).conj().T / max(total - degrees, 0.0)


def scaled_covariance(c: Any) -> Any:
    """Covariances divided by the standard deviations."""
    scale = np.sqrt(np.diagonal(c).real)
    return c / scale[:, None] / scale


FUNCTIONS: dict[str, Any] = {
    f"pullback.{f.__name__}": f
    for f in (
        check_fractions, quantile_rows, taken_rows, weighted_rows, median_rows, interp_rows, periodic_points, apart,
        extremes, bins_by_rule,
        bincount, bincount_weighted, bin_number, edges_between, check_edges, count_bins, weigh_bins, cell_step,
        count_cells, weigh_cells, covariance, scaled_covariance, complex_median_rows,
    )
}  # fmt: skip

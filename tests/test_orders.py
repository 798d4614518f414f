"""Lines in order and their extremes, of all lengths that are treated differently: places, ties, nans, derivatives.

What holds for every function is in surface_rows/sorting.py and surface_rows/reductions.py.
"""

from __future__ import annotations

import numpy as np
import pytest

import pullback as pb

RNG = np.random.default_rng(11)
FLOATS, INTS = ("f8", "f4", "f2"), ("i8", "i4", "i1", "u8", "?")
LENGTHS = (1, 2, 13, 40, 300, 1500)  # by insertion, by merging, by digits


def line(dtype, n, wide):
    """Numbers with ties, both zeros, infinities and nans of both signs; `wide`: all of them different, but for few."""
    x = RNG.standard_normal(n) * (1e4 if wide else 20.0)
    if dtype not in FLOATS:
        return np.rint(x).astype("i8").astype(dtype)
    a = (x if wide else np.rint(x / 10)).astype(dtype)
    for special in (np.nan, -np.nan, np.inf, -np.inf, 0.0, -0.0):
        a[RNG.integers(0, n, n // 9)] = special
    return a


def same(found, wanted):
    """Equal, of one dtype, zeros of one sign."""
    assert found.dtype == wanted.dtype
    np.testing.assert_array_equal(found, wanted)
    if wanted.dtype.kind == "f":
        known = ~np.isnan(wanted)
        np.testing.assert_array_equal(np.signbit(found[known]), np.signbit(wanted[known]))


def sort_and_places(a):
    return np.sort(a, kind="stable"), np.argsort(a, kind="stable")


@pytest.mark.parametrize("dtype", (*FLOATS, *INTS))
def test_sorts_are_stable(dtype):
    compiled = pb.jit(sort_and_places)
    for n in LENGTHS:
        for wide in (True, False):
            a = line(dtype, n, wide)
            for found, wanted in zip(compiled(a), sort_and_places(a), strict=True):
                same(found, wanted)


def partition_and_places(a, k):
    return np.partition(a, k), np.argpartition(a, k)


PATTERNS = {
    "rising": np.arange(900.0), "falling": np.arange(900.0)[::-1], "equal": np.zeros(900),
    "steps": np.arange(900) % 7.0,
    "mostly one": np.r_[np.zeros(700), np.arange(200.0)], "mountain": np.r_[np.arange(450.0), np.arange(450.0)[::-1]],
}  # fmt: skip


PATTERNS |= {f"{d} {w}": line(d, 700, w) for d in ("f8", "f4", "i8") for w in (True, False)}


@pytest.mark.parametrize("a", PATTERNS.values(), ids=PATTERNS)
def test_partitions_put_one_in_its_place(a):
    compiled, ordered = pb.jit(partition_and_places), np.sort(a)
    for k in (0, 1, len(a) // 3, len(a) // 2, len(a) - 1, -2):
        found, places = compiled(a, k)
        k %= len(a)
        np.testing.assert_array_equal(found[k], ordered[k])
        assert not (found[:k] > found[k]).any() and not (found[k:] < found[k]).any()
        np.testing.assert_array_equal(np.sort(found), ordered)
        np.testing.assert_array_equal(np.sort(places), np.arange(len(a)))
        np.testing.assert_array_equal(a[places], found)


def of_sorted(x, w):
    return np.sum(w * np.sort(x) ** 3)


def of_partition(x, w):
    return np.sum(w * np.partition(x, len(x) // 2) ** 3)


@pytest.mark.parametrize("dtype", ["f8", "f4"])
@pytest.mark.parametrize("function", [of_sorted, of_partition])
def test_derivatives_go_with_the_places(function, dtype):
    """Of first and second order; values are the same with a derivative and without."""
    for n in (1, 7, 40, 300):
        x, w = RNG.standard_normal(n).astype(dtype), RNG.standard_normal(n).astype(dtype)
        places = pb.jit(lambda x: np.argpartition(x, len(x) // 2))(x) if function is of_partition else np.argsort(x)
        weights = np.empty_like(w)
        weights[places] = w
        value, slope = pb.value_and_grad(function)(x, w)
        np.testing.assert_allclose(value, pb.jit(function)(x, w), rtol=1e-12 if dtype == "f8" else 1e-5)
        assert slope.dtype == x.dtype
        np.testing.assert_allclose(slope, 3 * weights * x**2, rtol=1e-5)
        direction = RNG.standard_normal(n).astype(dtype)
        bent = pb.hvp(lambda x, f=function, w=w: f(x, w), (x,), (direction,))
        np.testing.assert_allclose(np.ravel(bent), 6 * weights * x * direction, rtol=1e-5)


# -------------------------------------------------------------------------------------------------------- extremes


def extremes(a, axis):
    return np.max(a, axis), np.min(a, axis), np.argmax(a, axis), np.argmin(a, axis)


def tables(dtype):
    """Rows of several lengths, side by side and apart, some with one nan, some with several."""
    for shape in ((40, 3), (7, 63), (7, 64), (5, 257), (3, 700)):
        a = line(dtype, shape[0] * shape[1], True).reshape(shape)
        a[np.isnan(a)] = 1.0
        if dtype in FLOATS:
            a[1, -1] = np.nan
            a[2, shape[1] // 2 :] = np.nan
        a[0, :] = a[0, 0]
        yield from (a, np.repeat(a, 2, axis=1)[:, ::2], np.asfortranarray(a))


@pytest.mark.parametrize("dtype", ["f8", "f4", "i8", "?"])
def test_extremes_of_rows_and_columns(dtype):
    compiled = {axis: pb.jit(lambda a, axis=axis: extremes(a, axis)) for axis in (0, 1, None)}
    for a in tables(dtype):
        for axis, function in compiled.items():
            for found, wanted in zip(function(a), extremes(a, axis), strict=True):
                np.testing.assert_array_equal(found, wanted)
                assert np.asarray(found).dtype == np.asarray(wanted).dtype


def truths(a, axis):
    return np.any(a, axis), np.all(a, axis)


def test_truth_of_long_lines():
    compiled = {axis: pb.jit(lambda a, axis=axis: truths(a, axis)) for axis in (0, 1, None)}
    for place in (0, 4095, 4096, 9000):
        for fill in (True, False):
            a = np.full((2, 9001), fill)
            a[1, place] = not fill
            for b in (a, a.T, np.repeat(a, 2, axis=1)[:, ::2]):
                for axis, function in compiled.items():
                    for found, wanted in zip(function(b), truths(b, axis), strict=True):
                        np.testing.assert_array_equal(found, wanted)


def of_rows(x):
    return np.sum(np.max(x, axis=1) ** 3) + np.sum(np.min(x, axis=0) ** 2) + np.max(x) * np.min(x)


def test_derivatives_of_extremes_share_ties():
    x = RNG.standard_normal((4, 70))
    x[0, 3] = x[0, 9] = 5.0
    wanted = np.zeros_like(x)
    rows, columns = np.max(x, axis=1, keepdims=True), np.min(x, axis=0, keepdims=True)
    wanted += (x == rows) / np.sum(x == rows, axis=1, keepdims=True) * 3 * rows**2 + (x == columns) * 2 * columns
    wanted += (x == 5.0) / 2 * np.min(x) + (x == np.min(x)) * 5.0
    for y in (x, np.repeat(x, 2, axis=1)[:, ::2]):
        np.testing.assert_allclose(pb.grad(of_rows)(y), wanted, rtol=1e-12)


def test_sums_of_elements_apart_are_right_to_the_last_digits():
    a = RNG.standard_normal((3, 2001)) * 10.0 ** RNG.integers(-8, 8, (3, 2001))
    wide = np.repeat(a, 2, axis=1)[:, ::2]
    total, row = pb.jit(lambda a: (np.sum(a), np.sum(a, axis=1)))(wide)
    exact = np.sum(a.astype(np.longdouble), axis=1)
    np.testing.assert_allclose(row, exact.astype(float), rtol=1e-14, atol=np.abs(a).sum() * 1e-16)
    np.testing.assert_allclose(total, float(exact.sum()), rtol=1e-14, atol=np.abs(a).sum() * 1e-16)

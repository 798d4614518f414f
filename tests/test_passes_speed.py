"""Passes that take work, checks and allocations out of loops; residuals that need no memory; outer products."""

import math

import numpy as np
import pytest

import pullback as pb
from meaning import rewrites


def allocations(function, *arguments):
    """Of one call, after the first."""
    function(*arguments)
    pb.stats(reset=True)
    function(*arguments)
    return pb.stats().allocations


# ------------------------------------------------------------------------------------------- products in reverse loops

LOOP = """
        def f(a: f64[:]c, g: f64[:]c, c: f64, n: i64):
            for reverse=True any_order=True n:
              body (k: i64):
                x: f64 = array_get a, k
                y: f64 = {product} x, c
                array_inc g, k, y
                yield
            return
        """


def test_a_factor_from_outside_that_is_finite_and_not_zero_makes_products_plain():
    rewrites(
        "plain",
        LOOP.format(product="zmul"),
        """
        def f(a: f64[:]c, g: f64[:]c, c: f64, n: i64):
            p: bool = isfinite c
            zero: f64 = const 0.0
            q: bool = ne c, zero
            good: bool = and_ p, q
            if good:
              then:
                for reverse=True any_order=True n:
                  body (k: i64):
                    x: f64 = array_get a, k
                    y: f64 = mul x, c
                    array_inc g, k, y
                    yield
                yield
              else:
                for reverse=True any_order=True n:
                  body (i: i64):
                    v: f64 = array_get a, i
                    w: f64 = zmul v, c
                    array_inc g, i, w
                    yield
                yield
            return
        """,
    )


def test_a_loop_whose_sums_are_multiples_of_zero_is_not_run():
    rewrites(
        "idle",
        LOOP.format(product="mul"),
        """
        def f(a: f64[:]c, g: f64[:]c, c: f64, n: i64):
            zero: f64 = const 0.0
            some: bool = ne c, zero
            if some:
              then:
                for reverse=True any_order=True n:
                  body (k: i64):
                    x: f64 = array_get a, k
                    y: f64 = mul x, c
                    array_inc g, k, y
                    yield
                yield
              else:
                yield
            return
        """,
    )


def test_a_loop_that_adds_something_else_too_is_run():
    text = """
        def f(a: f64[:]c, g: f64[:]c, c: f64, n: i64):
            for reverse=True any_order=True n:
              body (k: i64):
                x: f64 = array_get a, k
                y: f64 = mul x, c
                z: f64 = add y, x
                array_inc g, k, z
                yield
            return
        """
    rewrites("idle", text, text)


def test_strong_zeros_survive_the_plain_version():
    """sqrt has an infinite slope at 0: where nothing depends on it the derivative is 0, not nan."""

    def f(x, w, scale):
        total = 0.0
        for i in range(2):
            r = math.sqrt(w[i])
            for k in range(len(x)):
                total += x[k] * r * scale
        return total

    slopes, x, w = pb.grad(f, (0, 1)), np.zeros(3), np.array([0.0, 4.0])
    for scale in (0.0, 2.0):
        gx, gw = slopes(x, w, scale)
        np.testing.assert_array_equal(gx, [2.0 * scale] * 3)
        np.testing.assert_array_equal(gw, [0.0, 0.0])


# --------------------------------------------------------------------------------------------- sums at once (fastmath)


def roots(x):
    total = 0.0
    for value in x:
        total += math.sqrt(value) / (1.0 + value)
    return total


def test_checks_do_not_keep_sums_from_vectors_and_still_fail():
    fast = pb.jit(fastmath=True)(roots)
    x = np.linspace(0.0, 9.0, 1000)
    assert fast(x) == pytest.approx(roots(x), rel=1e-13)
    assert pb.grad(fast)(x)[1:] == pytest.approx(pb.grad(roots)(x)[1:], rel=1e-12)
    assert math.isnan(fast(np.array([1.0, np.nan])))
    x[700] = -1.0
    with pytest.raises(ValueError, match="domain"):
        fast(x)


def test_indices_are_checked_with_fastmath():
    def f(x, n):
        total = 0.0
        for k in range(n):
            total += math.sqrt(x[k])
        return total

    fast = pb.jit(fastmath=True)(f)
    assert fast(np.array([1.0, 4.0]), 2) == 3.0
    with pytest.raises(IndexError):
        fast(np.array([1.0, 4.0]), 3)
    with pytest.raises(ValueError, match="domain"):
        fast(np.array([1.0, -4.0]), 3)


# -------------------------------------------------------------------------------------------------- rows for arrays


def test_an_array_that_a_trip_drops_is_made_once():
    rewrites(
        "shelves",
        """
        def f(x: f64[:]c, n: i64, m: i64, i: i64) -> f64:
            zero: f64 = const 0.0
            r: f64 = for n, zero:
              body (k: i64, s: f64):
                t: f64[:]c = array_empty dtype=f64 m
                o: f64 = array_swap t, i, s
                v: f64 = array_get t, i
                yield v
            return r
        """,
        """
        def f(x: f64[:]c, n: i64, m: i64, i: i64) -> f64:
            zero: f64 = const 0.0
            none: i64 = const 0
            some: bool = gt n, none
            size: i64 = select some, m, none
            t: f64[:]c = array_empty dtype=f64 size
            r: f64 = for n, zero:
              body (k: i64, s: f64):
                o: f64 = array_swap t, i, s
                v: f64 = array_get t, i
                yield v
            return r
        """,
    )


def states(y, steps):
    """Every state is kept for the reverse half, and made from the one before."""
    total = 0.0
    for _ in range(steps):
        y = np.sin(y) * y + 0.5
        total += np.sum(y * y)
    return total


def network(w, x):
    h = np.zeros(len(w))
    total = 0.0
    for t in range(len(x)):
        h = np.tanh(w @ h + x[t])
        total += np.sum(h * h)
    return total


def by_helper(y, steps):
    def slope(u):
        out = np.zeros_like(u)
        for i in range(len(u)):
            out[i] = -u[i] * u[i] + u[i - 1]
        return out

    for _ in range(steps):
        a = slope(y)
        y = y + 0.1 * (a + slope(y + 0.05 * a))
    return np.sum(y * y)


PROGRAMS = {
    "states": (states, lambda n: (np.linspace(0.1, 1.0, 5), n)),
    "network": (network, lambda n: (np.linspace(-1, 1, 16).reshape(4, 4), np.linspace(0, 1, 4 * n).reshape(n, 4))),
    "by_helper": (by_helper, lambda n: (np.linspace(0.1, 1.0, 4), n)),
}


@pytest.mark.parametrize("name", ["states", "by_helper"])
def test_loops_allocate_no_more_for_more_trips(name):
    f, inputs = PROGRAMS[name]
    for function in (pb.jit(f), pb.grad(f)):
        assert allocations(function, *inputs(4)) == allocations(function, *inputs(40))


@pytest.mark.parametrize("name", PROGRAMS)
def test_rows_give_what_arrays_gave(name):
    f, inputs = PROGRAMS[name]
    both, step = pb.value_and_grad(f), 1e-6
    for trips in (0, 1, 2, 7):
        x, *rest = inputs(trips)
        value, slope = both(x, *rest)
        assert value == pytest.approx(f(x, *rest), rel=1e-13)
        for place in np.ndindex(x.shape):
            up, down = x.copy(), x.copy()
            up[place] += step
            down[place] -= step
            assert slope[place] == pytest.approx((f(up, *rest) - f(down, *rest)) / (2 * step), rel=1e-6, abs=1e-7)


def test_a_loop_without_trips_gives_the_array_it_started_from():
    def f(y, n):
        for _ in range(n):
            y = y * 2.0
        return y

    y = np.ones(3)
    assert pb.jit(f)(y, 0) is y
    np.testing.assert_array_equal(pb.jit(f)(y, 3), [8.0] * 3)


def test_arrays_that_others_keep_or_change_stay_their_own():
    def listed(y, n):
        out = []
        for _ in range(n):
            y = y + 1.0
            out.append(y)
        return out

    def changed(y, n):
        start = y
        for k in range(n):
            start[0] = k  # the first trip's y
            y = y + start
        return y, start

    def turned(y, n):
        u, v = y, y + 1.0
        for _ in range(n):
            u, v = v * 0.5, u + v
        return u, v

    def best(y, n):
        most = y
        for _ in range(n):
            y = np.cos(3.0 * y)
            if y[0] > most[0]:
                most = y
        return most, y

    for f in (listed, changed, turned, best):
        for n in (0, 1, 5):
            for one, other in zip(f(np.array([0.1, 0.2]), n), pb.jit(f)(np.array([0.1, 0.2]), n), strict=True):
                np.testing.assert_allclose(one, other, rtol=1e-15)


def test_no_memory_is_asked_for_where_there_is_no_trip():
    def f(n, m):
        total = 0.0
        for k in range(n):
            t = np.zeros(m)
            t[0] = k
            total += t[0]
        return total

    assert pb.jit(f)(0, 1 << 40) == 0.0
    assert pb.jit(f)(3, 4) == 3.0


# ------------------------------------------------------------------------------------------ residuals that are at hand


def test_what_stands_in_an_array_for_good_is_no_residual():
    def f(a):
        n = len(a)
        low = np.zeros((n, n))
        total = 0.0
        for i in range(n):
            for j in range(i + 1):
                s = a[i, j]
                for k in range(j):
                    s -= low[i, k] * low[j, k]
                if i == j:
                    low[i, i] = math.sqrt(s)
                    total += math.log(low[i, i])
                else:
                    low[i, j] = s / low[j, j]
        return total

    m = np.array([[4.0, 1.0, 0.5], [1.0, 3.0, 0.2], [0.5, 0.2, 2.0]])
    assert "buffer" not in pb.grad(f).lower(m).stages["passes again"]
    inverse = np.tril(np.linalg.inv(m))
    np.testing.assert_allclose(pb.grad(f)(m), inverse - 0.5 * np.diag(np.diag(inverse)), rtol=1e-12)


def test_an_element_that_is_written_again_is_kept_apart():
    def f(x, n):
        a = np.zeros(2)
        total = 0.0
        for k in range(n):
            y = math.exp(x * k)
            a[k % 2] = y
            total += y * y
        return total + a[0]

    assert pb.grad(f)(0.3, 5) == pytest.approx(sum(2 * k * math.exp(0.6 * k) for k in range(5)) + 4 * math.exp(1.2))


def test_cheap_arrays_are_computed_again():
    """Of a matrix that is the sum of a row and a column only these are kept."""

    def f(row, matrix, n):
        total = 0.0
        for _ in range(n):
            scores = row[:, None] + matrix
            row = np.sum(np.sin(scores) * scores, axis=1)
            total += row[0]
        return total

    row, matrix = np.linspace(0.0, 0.1, 6), np.linspace(0.0, 0.2, 36).reshape(6, 6)
    slope = pb.grad(f)(row, matrix, 3)
    for i in range(6):
        step = np.zeros(6)
        step[i] = 1e-6
        assert slope[i] == pytest.approx((f(row + step, matrix, 3) - f(row - step, matrix, 3)) / 2e-6, rel=1e-6)


# ------------------------------------------------------------------------------------------------------ max and min


ALONG = {
    "max 0": lambda x: np.max(x, axis=0, keepdims=True),
    "max 1": lambda x: np.max(x, axis=1, keepdims=True),
    "max 2": lambda x: np.max(x, axis=2, keepdims=True),
    "max 0 1": lambda x: np.max(x, axis=(0, 1), keepdims=True),
    "max": lambda x: np.max(x, keepdims=True),
    "min 0": lambda x: np.min(x, axis=0, keepdims=True),
    "min 1 2": lambda x: np.min(x, axis=(1, 2), keepdims=True),
}


@pytest.mark.parametrize("name", ALONG)
def test_extrema_along_axes_share_among_ties(name):
    reduced = ALONG[name]
    x = np.random.default_rng(5).integers(0, 3, (3, 4, 2)).astype(np.float32 if name == "max 0" else np.float64)
    slope, given = pb.value_and_grad(lambda x: np.sum(reduced(x) ** 2)), x[::-1] if name == "max 1" else x
    best = reduced(given)
    hit = given == best
    value, share = slope(given)
    np.testing.assert_allclose(share, 2 * best * hit / sum_like(hit, best), rtol=1e-6)
    assert value == np.sum(best**2)


def sum_like(hit, best):
    """Summed along the axes that have size 1 there."""
    return np.sum(hit, axis=tuple(i for i, size in enumerate(best.shape) if size == 1), keepdims=True)


def test_extrema_of_nothing_and_of_nan():
    with pytest.raises(ValueError, match="zero-size"):
        pb.jit(lambda a: np.max(a, axis=0))(np.zeros((0, 3)))
    assert pb.jit(lambda a: np.max(a, axis=0))(np.zeros((3, 0))).shape == (0,)
    a = np.array([[1.0, np.nan], [3.0, 2.0]])
    np.testing.assert_array_equal(pb.jit(lambda a: np.max(a, axis=0))(a), [3.0, np.nan])
    np.testing.assert_array_equal(pb.grad(lambda a: np.max(a, axis=0)[0])(a), [[0.0, 0.0], [1.0, 0.0]])


# ------------------------------------------------------------------------------------------------------ outer products


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_outer_products(dtype):
    product = pb.jit(lambda a, b: a @ b)
    added = pb.grad(lambda w, x, y: np.sum(np.sin(w @ x)) + np.sum(w @ y))
    rng = np.random.default_rng(3)
    for m, n in ((784, 32), (32, 784), (600, 1), (1, 600), (100, 7), (7, 100)):
        a, b = rng.standard_normal((m, 1)).astype(dtype), rng.standard_normal((1, n)).astype(dtype)
        np.testing.assert_array_equal(product(a, b), a * b)
        np.testing.assert_array_equal(product(a[::-1], b[:, ::-1]), a[::-1] * b[:, ::-1])
        w, x, y = (rng.standard_normal(shape).astype(dtype) for shape in ((m, n), n, n))
        tolerance = 1e-4 if dtype is np.float32 else 1e-12
        wanted = np.cos(w @ x)[:, None] * x + y
        np.testing.assert_allclose(added(w, x, y), wanted, rtol=tolerance, atol=tolerance)


def test_sums_over_the_last_two_axes():
    x = np.arange(24.0).reshape(2, 3, 4)
    f = pb.jit(lambda x: np.sum(x, axis=(1, 2)))
    np.testing.assert_array_equal(f(x), np.sum(x, axis=(1, 2)))
    np.testing.assert_array_equal(f(x[:, ::-1, ::2]), np.sum(x[:, ::-1, ::2], axis=(1, 2)))

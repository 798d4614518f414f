"""Nothing leaks: memory after many calls, however they end, and after many trips of loops that make arrays.

Each case is called 10,000 times, in the slow suite a million times (a tenth of that where Python has a part in the
call); then compiled code holds as many bytes as before and the process is no larger.
"""

import gc
import os

import numpy as np
import pytest

import pullback as pb
from surface_turn import in_turn

A = np.linspace(0.1, 2.0, 20)
M = np.linspace(-1.0, 1.0, 12).reshape(4, 3)
TIMES = [10_000, pytest.param(1_000_000, marks=pytest.mark.slow)]


def number(x, a):
    return np.sum(np.tanh(a * x)) + a[3]


def array(x, a):
    u = a * x
    for _ in range(3):
        u = u * 0.5 + np.cos(u)
    return u


def view(x, a):
    u = np.outer(a, a) * x
    return u[2:, ::3].T


def pair(x, a):
    u = a * x
    return u, {"same": u, "row": u[::2], "sum": np.sum(u)}


def argument(x, a):
    return a[::-1] if x > 0.0 else a


def alternates(x, a):
    """Arrays that merge: the caller's, made here, views."""
    u, best = a, a
    for k in range(6):
        u = u * 0.5 + u[::-1] if k % 2 else u + x
        if u[0] > best[0]:
            best = u
    return best


def grows(x, a):
    k, u = 0, a * x
    while np.sum(u) < 100.0:
        u = u * 1.5 + x
        k += 1
    return np.sum(u) + k


def in_rows(x, m):
    total = 0.0
    for row in m:
        t = row * x
        t[1:] += row[:-1]
        total += np.sum(t * t)
    return total


def by_halves(x, a):
    return np.sum(a * x) if len(a) < 3 else by_halves(x, a[: len(a) // 2] * 0.5) + by_halves(x, a[len(a) // 2 :])


def stops(x, a):
    u = a * x
    for k in range(5):
        u = np.sin(u * u[k + len(a) - 3])
    return np.sum(u)


def divides(x, a):
    u = a * x
    return np.sum(np.sin(u) * u[0]) + x / (x - x)


def overwrites(x, a):
    b = a.copy()
    b[1:] *= x * b[:-1]
    return np.sum(b * b)


def twice(function):
    """Value, and a pullback that is called twice, then dropped."""

    def call(*arguments):
        value, pull = pb.vjp(function, *arguments)
        cotangent = np.ones_like(value) if isinstance(value, np.ndarray) else 1.0
        pull(cotangent)
        return pull(cotangent)

    return call


def dropped(function):
    return lambda *arguments: pb.vjp(function, *arguments)[1]


def tangent(function):
    return lambda x, a: pb.jvp(function, (x, a), (1.0, a))


CALLS = {
    "a number": (pb.jit(number), A),
    "an array": (pb.jit(array), A),
    "a view of an array made inside": (pb.jit(view), A),
    "one array several times": (pb.jit(pair), A),
    "an argument": (pb.jit(argument), A),
    "one of several arrays": (pb.jit(alternates), A),
    "arrays of calls that recur": (pb.jit(by_halves), A),
    "a gradient": (pb.grad(number, (0, 1)), A),
    "a gradient of merged arrays": (pb.grad(lambda x, a: np.sum(alternates(x, a)), (0, 1)), A),
    "a gradient with residuals that grow": (pb.grad(grows, (0, 1)), A),
    "a gradient of rows": (pb.grad(in_rows, (0, 1)), M),
    "a gradient of calls that recur": (pb.grad(by_halves, (0, 1)), A),
    "a gradient of what is overwritten": (pb.value_and_grad(overwrites, (0, 1)), A),
    "a second derivative": (pb.grad(lambda x, a: pb.grad(overwrites)(x, a)), A),
    "a tangent": (tangent(array), A),
    "a pullback called twice": (twice(array), A),
    "a pullback of rows": (twice(in_rows), M),
    "a pullback that nobody calls": (dropped(array), A),
    "an exception": (pb.jit(stops), A),
    "an exception in a gradient": (pb.grad(stops, (0, 1)), A),
    "an exception after the loop": (pb.value_and_grad(divides, (0, 1)), A),
    "an exception in a second derivative": (pb.grad(lambda x, a: pb.grad(stops)(x, a)), A),
}
SLOW_CALLS = {"a tangent", "a pullback called twice", "a pullback of rows", "a pullback that nobody calls"}


def resident():
    """Bytes of memory that the process has; 0 where the system does not say."""
    try:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0


def repeat(function, array, times):
    """Call it, and let go of what it gives; how many of the calls raised."""
    raised = 0
    for _ in range(times):
        try:
            function(0.7, array)
        except (IndexError, ZeroDivisionError):
            raised += 1
    return raised


@pytest.mark.parametrize("times", TIMES)
@pytest.mark.parametrize("name", in_turn(CALLS, 2))
def test_nothing_is_left_of_many_calls(name, times):
    function, array = CALLS[name]
    before_array = array.copy()
    times //= 10 if name in SLOW_CALLS else 1
    repeat(function, array, 1_000)
    gc.collect()
    before, memory = pb.stats(reset=True).live_bytes, resident()
    raised = repeat(function, array, times)
    gc.collect()
    done = pb.stats()
    assert done.live_bytes == before
    assert raised == (times if "exception" in name else 0)
    if name not in ("a number", "an argument"):
        assert done.allocations >= times, "the case is no test of memory"
    assert resident() - memory < 2 << 20
    np.testing.assert_array_equal(array, before_array)


def test_a_view_keeps_its_array_and_only_that():
    make = pb.jit(view)
    make(0.7, A)
    gc.collect()
    before = pb.stats().live_bytes
    kept = [make(0.7 + k, A) for k in range(3)]
    assert pb.stats().live_bytes - before == 3 * 8 * A.size**2
    part = kept[1][:2, :1]
    expected = part.copy()
    del kept
    gc.collect()
    assert pb.stats().live_bytes - before == 8 * A.size**2
    repeat(make, A, 1_000)
    np.testing.assert_array_equal(part, expected)
    del part
    gc.collect()
    assert pb.stats().live_bytes == before


def test_one_array_under_several_names_is_one():
    make = pb.jit(pair)
    make(0.7, A)
    gc.collect()
    before = pb.stats().live_bytes
    first, named = make(0.7, A)
    assert pb.stats().live_bytes - before == first.nbytes
    first[0] = 9.0
    assert named["same"][0] == named["row"][0] == 9.0


# ------------------------------------------------------------------------------------------------- trips of loops


def adds(u, n):
    for _ in range(n):
        u = u + 0.001 * np.sin(u)
    return u


def adds_by_a_call(u, n):
    def step(v):
        return 0.001 * np.sin(v)

    for _ in range(n):
        u = u + step(u)
    return u


def halvings(u, k):
    return u if k == 0 else halvings(np.sin(u) * 0.5, k - 1)


def adds_by_recursion(u, n):
    """What the function returns is made inside, or it is the argument."""
    for k in range(n):
        u = u * 0.5 + halvings(u, k % 3)
    return u


def exchanges(u, n):
    v = u * 0.5
    for _ in range(n):
        u, v = v, 0.5 * (u + v) + 0.1
    return u


def remembers_the_best(u, n):
    best = u
    for k in range(n):
        u = np.cos(u + 0.001 * k)
        if np.sum(u) < np.sum(best):
            best = u
    return best


def views_of_views(u, n):
    for _ in range(n):
        u = (u[::-1] * 0.999)[: len(u)]
    return u


def multiplies(u, n):
    m = np.outer(u, u) / (u @ u)
    for _ in range(n):
        m = m @ m
    return m


def until(u, n):
    k = 0
    while k < n and np.sum(u) < 1e9:
        k, u = k + 1, u * 0.5 + 1.0
    return u


def leaves_early(u, n):
    for k in range(n):
        v = u * 0.5 + 1.0
        if v[0] > 3.0:
            continue
        u = v
        if k == n + 1:
            break
    return u


LOOPS = [
    adds, adds_by_a_call, adds_by_recursion, exchanges, remembers_the_best, views_of_views, multiplies, until,
    leaves_early,
]  # fmt: skip


@pytest.mark.parametrize("trips", [10_000, pytest.param(1_000_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("function", LOOPS, ids=lambda f: f.__name__)
def test_loops_that_make_arrays_need_room_for_a_few(function, trips):
    compiled = pb.jit(function)
    np.testing.assert_allclose(compiled(A, 7), function(A, 7), rtol=1e-12)
    gc.collect()
    before = pb.stats(reset=True).live_bytes
    result = compiled(A, trips)
    done = pb.stats()
    assert done.peak_bytes - before <= 5 * result.nbytes
    assert done.live_bytes - before == result.nbytes

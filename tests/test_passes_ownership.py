"""Where memory ends: pairs of programs before and after, and loops whose memory does not grow with their trips.

The interpreter fills freed memory with nonsense, so that a result read from it is wrong.
"""

import gc

import numpy as np
import pytest

import pullback as pb
from ir_text import canonical, parse
from meaning import apply, rewrites
from pullback import testing
from surface_turn import in_turn

STEP = """
                w: f64[:]c = elementwise rank=1 outputs=(new) targets=0 n, v:
                  block (u: f64):
                    t: f64 = exp u
                    yield t"""


def test_a_carried_array_is_freed_when_its_name_is_bound_again():
    rewrites(
        "ownership",
        f"""
        def f(a: f64[:]c, n: i64) -> f64[:]c:
            s: f64[:]c = for n, a:
              body (k: i64, v: f64[:]c):{STEP}
                yield w
            return s
        """,
        f"""
        def f(a: f64[:]c, n: i64) -> f64[:]c:
            none: box pb.owner = box_null name=pb.owner
            s: f64[:]c, o: box pb.owner = for n, a, none:
              body (k: i64, v: f64[:]c, q: box pb.owner):{STEP}
                p: box pb.owner = array_owner w
                free q
                yield w, p
            return s
        """,
    )


def test_what_two_names_hold_has_two_owners():
    rewrites(
        "ownership",
        f"""
        def f(a: f64[:]c, n: i64) -> f64:
            s: f64[:]c, r: f64[:]c = for n, a, a:
              body (k: i64, v: f64[:]c, best: f64[:]c):{STEP}
                yield w, w
            x: f64 = array_get r, n
            return x
        """,
        f"""
        def f(a: f64[:]c, n: i64) -> f64:
            none: box pb.owner = box_null name=pb.owner
            none2: box pb.owner = box_null name=pb.owner
            s: f64[:]c, r: f64[:]c, o: box pb.owner, o2: box pb.owner = for n, a, a, none, none2:
              body (k: i64, v: f64[:]c, best: f64[:]c, q: box pb.owner, q2: box pb.owner):
                free q2{STEP}
                p: box pb.owner = array_owner w
                free q
                array_retain p
                yield w, w, p, p
            free o
            x: f64 = array_get r, n
            free o2
            return x
        """,
    )


def test_functions_return_owners_but_the_entry_does_not():
    rewrites(
        "ownership",
        """
        def f(n: i64) -> f64:
            a: f64[:]c = call callee=g n
            x: f64 = array_get a, n
            return x
        """,
        """
        def f(n: i64) -> f64:
            a: f64[:]c, o: box pb.owner = call callee=g n
            x: f64 = array_get a, n
            free o
            return x
        """,
        """
        def g(n: i64) -> f64[:]c:
            a: f64[:]c = array_zeros dtype=f64 n
            return a
        """,
    )


def test_functions_that_return_arrays_get_the_owners_of_their_own():
    """What is returned may be a parameter: then it has one owner more."""
    rewrites(
        "ownership",
        """
        def f(n: i64, c: f64[:]c) -> f64:
            v: f64[:]c = array_zeros dtype=f64 n
            a: f64[:]c = call callee=g v, c
            x: f64 = array_get a, n
            return x
        """,
        """
        def f(n: i64, c: f64[:]c) -> f64:
            v: f64[:]c = array_zeros dtype=f64 n
            p: box pb.owner = array_owner v
            none: box pb.owner = box_null name=pb.owner
            a: f64[:]c, o: box pb.owner = call callee=g v, c, p, none
            free p
            x: f64 = array_get a, n
            free o
            return x
        """,
        """
        def g(a: f64[:]c, b: f64[:]c) -> f64[:]c:
            return b
        """,
    )


def test_owners_that_are_lent_are_counted_where_they_leave():
    entry = """
        def f(n: i64) -> i64:
            return n
    """
    before = """
        def g(a: f64[:]c, b: f64[:]c, q: bool) -> f64[:]c:
            c: f64[:]c = call callee=g b, a, q
            d: f64[:]c = if q:
              then:
                yield b
              else:
                yield c
            return d
    """
    after = """
        def g(a: f64[:]c, b: f64[:]c, q: bool, s: box pb.owner, t: box pb.owner) -> f64[:]c, box pb.owner:
            c: f64[:]c, o: box pb.owner = call callee=g b, a, q, t, s
            d: f64[:]c, p: box pb.owner = if q:
              then:
                array_retain t
                yield b, t
              else:
                array_retain o
                yield c, o
            free o
            return d, p
    """
    program, expected = parse(entry, before), parse(entry, after)
    apply(program, "ownership")
    assert canonical(program.functions["g"]) == canonical(expected.functions["g"])


# ------------------------------------------------------------------------------------------- whole functions


def carried(u, n):
    for _ in range(n):
        u = u + 0.1 * np.sin(u)
    return u


def exchanged(u, n):
    a, b = np.zeros(u.shape[0]), u.copy()
    for _ in range(n):
        a[:] = b * 0.5
        a, b = b, a
    return a


def kept_best(u, n):
    x = u.copy()
    best = x
    for i in range(n):
        x = x * 1.01
        if np.sum(x) > 3.0 * i:
            best = x
    return best


def previous(u, n):
    p = u
    for _ in range(n):
        p, u = u, u * 0.5 + p
    return p + u


def through_views(u, n):
    m = np.zeros((2, u.shape[0]))
    r = m[0]
    for i in range(n):
        m = m + u
        r = m[1] + r
        q = m.T
        if i % 2 == 0:
            r = q[:, 0]
    return r


def sometimes(u, n):
    for i in range(n):
        if i % 3 == 0:
            u = u * 0.5
    return u


def left_early(u, n):
    for i in range(n):
        v = u * 1.5
        if np.sum(v) > 1e4 + i:
            break
        u = v
    return u


def nested(u, n):
    for _ in range(n):
        for _ in range(3):
            u = u + 0.1
        u = u * 0.5
    return u


def rotated(u, n):
    a, b, c = u, u * 2.0, u * 3.0
    for i in range(n):
        if i % 3 == 0:
            a, b, c = b, c, a * 0.5
        elif i % 3 == 1:
            a, b = b * 1.1, a
        else:
            c = a
    return a + b * c


def until(u, n):
    p, k = u, 0
    while np.sum(np.abs(u)) > 1.0 and k < n:
        p = u
        u = u * 0.99 + 0.001 * p * p
        k += 1
    return u + p


def inner_while(u, n):
    for i in range(n):
        k, w = 0, u
        while k < i % 4:
            w = np.sin(w) + u
            k += 1
        u = w * 0.9 if i % 2 == 0 else u + w * 0.1
    return u


def halves(a):
    if a.shape[0] <= 2:
        return a * 2.0
    m = a.shape[0] // 2
    left, right = halves(a[:m]), halves(a[m:])
    return np.concatenate((right, left))


def recursive(u, n):
    t = np.zeros(u.shape[0])
    for _ in range(n):
        t = t + halves(u)
    return t


FUNCTIONS = [
    carried, exchanged, kept_best, previous, through_views, sometimes, left_early, nested, rotated, until, inner_while,
    recursive,
]  # fmt: skip
NAMES = [f.__name__ for f in FUNCTIONS]


def u(size=40):
    return np.linspace(0.1, 1.0, size)


def peak(compiled, *arguments):
    compiled(*arguments)
    gc.collect()
    before = pb.stats(reset=True).live_bytes
    compiled(*arguments)
    gc.collect()
    done = pb.stats()
    assert done.live_bytes == before, "memory is left"
    return done.peak_bytes - before


@pytest.mark.parametrize("function", in_turn(FUNCTIONS, 3))
def test_loops_run_in_bounded_memory(function):
    compiled = pb.jit(function)
    np.testing.assert_allclose(compiled(u(), 9), function(u(), 9), rtol=1e-11)
    assert peak(compiled, u(), 80) == peak(compiled, u(), 20)


@pytest.mark.parametrize("function", FUNCTIONS, ids=NAMES)
def test_nothing_is_read_after_it_is_freed(function):
    for n in (0, 1, 2, 5):
        seen = testing.run(function, (u(6), n), engine="interp", passes=True)
        np.testing.assert_allclose(seen, function(u(6), n), rtol=1e-11)


def squared(function):
    def loss(u, n):
        r = function(u, n)
        return np.sum(r * r)

    return loss


def trained(loss):
    def train(p, n, steps):
        for _ in range(steps):
            p = p - 1e-6 * pb.grad(loss)(p, n)
        return p

    return train


@pytest.mark.parametrize("function", in_turn([f for f in FUNCTIONS if f is not recursive], 3))
def test_gradients_in_a_loop_run_in_bounded_memory(function):
    loss = squared(function)
    (plain,) = testing.gradient(loss, (u(6), 5), (0,), mode="r", engine="native", passes=False)
    (seen,) = testing.gradient(loss, (u(6), 5), (0,), mode="r", engine="interp", passes=True)
    np.testing.assert_allclose(pb.grad(loss)(u(6), 5), plain, rtol=1e-9)
    np.testing.assert_allclose(seen, plain, rtol=1e-9)
    compiled = pb.jit(trained(loss))
    assert peak(compiled, u(), 9, 12) == peak(compiled, u(), 9, 3)


@pytest.mark.parametrize("function", in_turn(FUNCTIONS, 3))
@pytest.mark.parametrize("mode", ["rr", "fr", "rf"])
def test_second_derivatives_read_nothing_that_is_freed(function, mode):
    loss, direction = squared(function), list(np.linspace(0.5, 1.5, 6))
    run = {"mode": mode, "direction": direction}
    (plain,) = testing.gradient(loss, (u(6), 4), (0,), **run, engine="native", passes=False)
    for engine in ("interp", "native"):
        (found,) = testing.gradient(loss, (u(6), 4), (0,), **run, engine=engine, passes=True)
        np.testing.assert_allclose(np.ravel(found), np.ravel(plain), rtol=1e-8)

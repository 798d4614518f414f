"""Small arrays as scalars: pairs of programs before and after, and Python functions that allocate nothing."""

import math

import numpy as np
import pytest

import pullback as pb
from ir_text import parse
from meaning import apply, rewrites
from pullback import testing


def test_a_carried_vector_becomes_carried_numbers():
    rewrites(
        "promote dce",
        """
        def f(x: f64, y: f64, h: f64, n: i64) -> f64:
            two: i64 = const 2
            zero: i64 = const 0
            one: i64 = const 1
            a: f64[:]c = array_empty dtype=f64 two
            o: f64 = array_swap a, zero, x
            p: f64 = array_swap a, one, y
            s: f64[:]c = for n, a:
              body (k: i64, b: f64[:]c):
                c: f64[:]c = elementwise rank=1 outputs=(new) targets=0 two, h, b:
                  block (u: f64, v: f64):
                    w: f64 = mul u, v
                    yield w
                yield c
            r: f64 = array_get s, one
            return r
        """,
        """
        def f(x: f64, y: f64, h: f64, n: i64) -> f64:
            s: f64 = for n, y:
              body (k: i64, b: f64):
                c: f64 = mul h, b
                yield c
            return s
        """,
    )


def test_writes_in_a_loop_and_a_branch_are_carried():
    rewrites(
        "promote dce",
        """
        def f(x: f64, n: i64, q: bool) -> f64:
            two: i64 = const 2
            zero: i64 = const 0
            one: i64 = const 1
            a: f64[:]c = array_zeros dtype=f64 two
            v: f64[:]c = view_slice axis=0 unit=True a, one, one, one
            for n:
              body (k: i64):
                array_inc v, zero, x
                yield
            if q:
              then:
                o: f64 = array_swap a, one, x
                yield
              else:
                yield
            r: f64 = array_get v, zero
            return r
        """,
        """
        def f(x: f64, n: i64, q: bool) -> f64:
            z: f64 = const 0.0
            s: f64 = for n, z:
              body (k: i64, b: f64):
                c: f64 = add b, x
                yield c
            r: f64 = if q:
              then:
                yield x
              else:
                yield s
            return r
        """,
    )


def test_a_result_is_made_at_the_end_and_an_array_of_unknown_size_is_read():
    rewrites(
        "promote dce",
        """
        def f(x: f64, a: f64[:]) -> f64[:]c:
            one: i64 = const 1
            b: f64[:]c = array_zeros dtype=f64 one
            c: f64[:]c = elementwise rank=1 outputs=(new) targets=0 one, a, b, x:
              block (u: f64, v: f64, w: f64):
                s: f64 = add u, v
                t: f64 = mul s, w
                yield t
            q: f64[:]c = elementwise rank=1 outputs=(new) targets=0 one, c:
              block (v2: f64):
                yield v2
            return c
        """,
        """
        def f(x: f64, a: f64[:]) -> f64[:]c:
            z: f64 = const 0.0
            zero: i64 = const 0
            u: f64 = array_get a, zero
            s: f64 = add u, z
            t: f64 = mul s, x
            one: i64 = const 1
            c: f64[:]c = array_empty dtype=f64 one
            p: f64 = array_swap c, zero, t
            return c
        """,
    )


KEPT = {
    "an index of run time": """
        def f(x: f64, i: i64) -> f64:
            two: i64 = const 2
            a: f64[:]c = array_zeros dtype=f64 two
            array_inc a, i, x
            r: f64 = array_get a, i
            return r
    """,
    "sizes of run time": """
        def f(x: f64, n: i64) -> f64:
            zero: i64 = const 0
            a: f64[:]c = array_zeros dtype=f64 n
            array_inc a, zero, x
            r: f64 = array_get a, zero
            return r
    """,
    "too many elements": """
        def f(x: f64) -> f64:
            n: i64 = const 33
            zero: i64 = const 0
            a: f64[:]c = array_zeros dtype=f64 n
            array_inc a, zero, x
            r: f64 = array_get a, zero
            return r
    """,
    "returned under two names": """
        def f(x: f64) -> f64[:]c, f64[:]c:
            n: i64 = const 2
            zero: i64 = const 0
            a: f64[:]c = array_zeros dtype=f64 n
            r: f64 = array_get a, zero
            return a, a
    """,
    "written under a name that the loop carries": """
        def f(x: f64, m: i64) -> f64:
            n: i64 = const 2
            zero: i64 = const 0
            a: f64[:]c = array_zeros dtype=f64 n
            s: f64[:]c = for m, a:
              body (k: i64, b: f64[:]c):
                array_inc b, zero, x
                c: f64[:]c = elementwise rank=1 outputs=(new) targets=0 n, b:
                  block (u: f64):
                    yield u
                yield c
            r: f64 = array_get a, zero
            return r
    """,
    "written after a branch may have given it another name": """
        def f(x: f64, q: bool) -> f64:
            n: i64 = const 1
            zero: i64 = const 0
            a: f64[:]c = array_zeros dtype=f64 n
            b: f64[:]c = array_zeros dtype=f64 n
            c: f64[:]c = if q:
              then:
                yield a
              else:
                yield b
            array_inc a, zero, x
            r: f64 = array_get c, zero
            return r
    """,
    "one of two origins is not known": """
        def f(a: f64[:]c, q: bool) -> f64:
            n: i64 = const 1
            zero: i64 = const 0
            b: f64[:]c = array_zeros dtype=f64 n
            c: f64[:]c = if q:
              then:
                yield a
              else:
                yield b
            r: f64 = array_get c, zero
            return r
    """,
}


@pytest.mark.parametrize("name", KEPT)
def test_what_must_stay_in_memory_does(name):
    program, before = parse(KEPT[name]), parse(KEPT[name])
    apply(program, "promote")
    names = [[op.name for op in p.functions["f"].body.walk()] for p in (program, before)]
    assert names[0] == names[1]


# ------------------------------------------------------------------------------------------- whole functions


def slope(s, sigma, rho, beta):
    x, y, z = s
    return np.array([sigma * (y - x), x * (rho - z) - y, x * y - beta * z])


def lorenz(x, n):
    s = np.array([x, 1.0, 1.0])
    for _ in range(n):
        k1 = slope(s, 10.0, 28.0, 8.0 / 3.0)
        k2 = slope(s + 0.005 * k1, 10.0, 28.0, 8.0 / 3.0)
        k3 = slope(s + 0.005 * k2, 10.0, 28.0, 8.0 / 3.0)
        k4 = slope(s + 0.01 * k3, 10.0, 28.0, 8.0 / 3.0)
        s = s + 0.01 / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
    return s[0] + s[1] * s[2]


def in_place(x, n):
    v = np.zeros(3)
    for i in range(n):
        v[0] += x * i
        v[1] = v[0] * 0.5
        v[2] -= v[1]
    return v[0] + v[1] * v[2]


def under_conditions(x, n):
    v = np.array([x, x * x, 1.0])
    for i in range(n):
        if i % 2 == 0:
            v[1] = v[1] * 0.9 + v[0]
        else:
            v[2] += np.sum(v)
    return np.sum(v * v)


def matrices(x, n):
    a = np.array([[x, 1.0], [0.5, x]])
    b = np.eye(2)
    for _ in range(n):
        b = b @ a
        b = b / np.sqrt(np.sum(b * b))
    return b[0, 0] * b[1, 1] - b[0, 1] * b[1, 0]


def rotation(t, n):
    p = np.array([1.0, 0.0, 0.5])
    c, s = math.cos(t), math.sin(t)
    turn = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    for _ in range(n):
        p = turn @ p
    return p[0] + 2 * p[1]


def views(x, n):
    m = np.zeros((2, 3))
    row, column = m[1], m[:, 0]
    m[0] = x
    row += 2.0
    column *= 3.0
    m[::-1, 1:] += x
    return np.sum(m * np.array([1.0, 2.0, 3.0])) + np.sum(m.T[0]) + np.sum(row) + n


def carried_view(x, n):
    m = np.array([[x, 1.0], [2.0, x]])
    r = m[0]
    for _ in range(n):
        r = (m.T @ r)[::-1] * 0.3
    return r[0] * r[1]


def exchanged(x, n):
    a, b = np.array([x, 1.0]), np.array([2.0, x])
    for _ in range(n):
        a, b = b, a * 0.5
    return np.sum(a) + b[0]


def chosen(x, n):
    if x * n > 0.0:
        v = np.array([x, 2.0])
    else:
        v = np.array([1.0, x])
    return v[0] * v[1] + np.sum(v)


def repeated(x, n):
    v = np.array([x, x * 0.5])
    k = 0
    while np.sum(np.abs(v)) > 0.1 and k < n:
        v = v * 0.7
        k += 1
    return v[0] - v[1] + k


def kalman(x, n):
    p, f = np.eye(2), np.array([[1.0, 0.1], [0.0, 1.0]])
    m, h = np.array([x, 0.0]), np.array([1.0, 0.0])
    q = np.array([[0.01, 0.0], [0.0, 0.02]])
    total = 0.0
    for i in range(n):
        m, p = f @ m, f @ p @ f.T + q
        s = h @ p @ h + 0.1
        gain = p @ h / s
        r = math.sin(0.1 * i) - h @ m
        m = m + gain * r
        p = p - np.outer(gain, h) @ p
        total += -0.5 * (r * r / s + math.log(s))
    return total


def loops_over_elements(x, n):
    a = np.array([[x, 0.2, 0.1], [0.3, x, 0.1], [0.0, 0.1, x]])
    b = np.eye(3)
    for _ in range(n):
        c = np.zeros((3, 3))
        for i in range(3):
            for j in range(3):
                s = 0.0
                for k in range(3):
                    s += a[i, k] * b[k, j]
                c[i, j] = s
        b = c / np.sqrt(np.sum(c * c))
    return b[0, 1] + b[2, 2]


def bodies(x, n):
    p = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.5]])
    v = np.array([[0.0, 0.1], [0.0, x], [-x, 0.0]])
    m = np.array([10.0, 1.0, 0.5])
    for _ in range(n):
        for i in range(3):
            for j in range(3):
                if i != j:
                    d = p[j] - p[i]
                    r2 = d @ d + 0.01
                    v[i] += 0.001 * m[j] * d / (r2 * np.sqrt(r2))
        p += 0.001 * v
    return np.sum(p * p) + np.sum(v)


FUNCTIONS = [
    lorenz, in_place, under_conditions, matrices, rotation, views, carried_view, exchanged, chosen, repeated, kalman,
    loops_over_elements, bodies,
]  # fmt: skip


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_small_arrays_cost_no_memory(function):
    compiled = pb.jit(function)
    assert compiled(0.7, 9) == pytest.approx(function(0.7, 9), rel=1e-12)
    pb.stats(reset=True)
    compiled(0.7, 50)
    done = pb.stats()
    assert (done.allocations, done.kernels, done.matrix_products) == (0, 0, 0)


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_derivatives_of_small_arrays(function):
    arguments = (0.7, 9)
    (plain,) = testing.gradient(function, arguments, (0,), mode="r", engine="native", passes=False)
    (seen,) = testing.gradient(function, arguments, (0,), mode="r", engine="interp", passes=True)
    assert [pb.grad(function)(*arguments), seen] == pytest.approx([plain, plain], rel=1e-10)
    gradient = pb.grad(function)
    gradient(0.7, 10)
    pb.stats(reset=True)
    gradient(0.7, 10)
    few = pb.stats().allocations
    gradient(0.7, 40)
    assert pb.stats().allocations == 2 * few, "only residual buffers, whatever the number of trips"


def shared(x, n):
    s = np.array([x, 1.0])
    t = s
    for i in range(n):
        s = s * 1.1
        s[0] = s[0] - 0.2
        if i == 1:
            t = s
    t[0] = 5.0
    return s[0] + t[0] * t[1]


def written_beside(x, n):
    s = np.array([x, 1.0])
    t = s
    for _ in range(n):
        s[0] = s[0] + 1.0
        t = t * s
    return np.sum(t)


def written_and_bound_again(x, n):
    s = np.array([x, 1.0])
    for _ in range(n):
        s[0] = s[0] * 0.5 + 1.0
        s = s + 0.1
    return np.sum(s)


def test_a_carried_array_may_be_written_while_it_has_one_name():
    compiled = pb.jit(written_and_bound_again)
    compiled(0.7, 3)
    pb.stats(reset=True)
    compiled(0.7, 30)
    assert pb.stats().allocations == 0


@pytest.mark.parametrize("function", [shared, written_beside, written_and_bound_again], ids=lambda f: f.__name__)
def test_names_of_one_array_see_each_others_writes(function):
    for n in (0, 1, 2, 5):
        assert pb.jit(function)(0.7, n) == pytest.approx(function(0.7, n), rel=1e-12)
        (plain,) = testing.gradient(function, (0.7, n), (0,), mode="r", engine="native", passes=False)
        assert pb.grad(function)(0.7, n) == pytest.approx(plain, rel=1e-10)


def test_a_vector_that_is_returned_is_made_once():
    def spiral(x, n):
        s = np.array([x, 1.0])
        for _ in range(n):
            s = s + 0.1 * np.array([s[1], -s[0]])
        return s

    compiled = pb.jit(spiral)
    np.testing.assert_allclose(compiled(0.5, 20), spiral(0.5, 20), rtol=1e-12)
    pb.stats(reset=True)
    compiled(0.5, 100)
    assert pb.stats().allocations == 1


def a_rank_less_each_trip(a, n):
    k = 0
    while k < n:
        if a.ndim > 1:
            a = a[0]
        k += 1
    return np.sum(a**2)


def a_literal_that_loses_a_rank(a, n):
    b = np.array([[1.0, 2.0], [3.0, 4.0]])
    for _ in range(n):
        b = b[1] if b.ndim == 2 else b * a[0, 0]
    return np.sum(b * b)


def shorter_until_its_condition_fails(a, n):
    b = np.array([1.0, 2.0, 3.0]) * a[0, 1]
    while b.shape[0] > n:
        b = b[1:] * 1.5
    return np.sum(b) + b.shape[0]


@pytest.mark.parametrize("n", range(4))
@pytest.mark.parametrize(
    "program", [a_rank_less_each_trip, a_literal_that_loses_a_rank, shorter_until_its_condition_fails]
)
def test_what_a_loop_carries_changes_its_shape(program, n):
    a = np.arange(6.0).reshape(2, 3) + 1.0
    assert pb.jit(program)(a, n) == program(a, n)
    h = 1e-6
    direction = np.cos(a)
    slope = (program(a + h * direction, n) - program(a - h * direction, n)) / (2 * h)
    assert np.sum(pb.grad(program)(a, n) * direction) == pytest.approx(slope, rel=1e-7, abs=1e-8)

"""What reverse loops add to neighbouring elements waits in numbers: the rewrite, where not, and derivatives."""

import re

import numpy as np
import pytest

import pullback as pb
from ir_text import canonical, parse
from meaning import apply, rewrites
from pullback import testing


def test_neighbours_are_added_up_before_they_are_stored():
    rewrites(
        "rolling",
        """
        def f(a: f64[:]c, n: i64, last: i64):
            one: i64 = const 1
            g: f64[:]c = array_zeros dtype=f64 n
            for reverse=True n:
              body (k: i64):
                j: i64 = sub last, k
                i: i64 = add j, one
                x: f64 = array_get a, j
                y: f64 = mul x, x
                array_inc g, j, x
                array_inc g, i, y
                yield
            return g
        """,
        """
        def f(a: f64[:]c, n: i64, last: i64):
            one: i64 = const 1
            g: f64[:]c = array_zeros dtype=f64 n
            zero: f64 = const 0.0
            p: f64 = for reverse=True n, zero:
              body (k: i64, q: f64):
                j: i64 = sub last, k
                i: i64 = add j, one
                x: f64 = array_get a, j
                y: f64 = mul x, x
                s: f64 = add q, y
                array_inc g, i, s
                yield x
            none: i64 = const 0
            some: bool = gt n, none
            if some:
              then:
                step: i64 = const 1
                start: i64 = add last, step
                end: i64 = sub start, n
                array_inc g, end, p
                yield
              else:
                yield
            return g
        """,
    )


STAYS = {
    "what is added to is read": ("reverse=True", "array_get g, j", "i: i64 = add j, one"),
    "the order is the user's": ("identity=f.1", "array_get a, j", "i: i64 = add j, one"),
    "the distance is not known": ("reverse=True", "array_get a, j", "i: i64 = add j, n"),
    "too far apart": ("reverse=True", "array_get a, j", "i: i64 = add j, far"),
    "two steps a trip": ("reverse=True", "array_get a, j", "i: i64 = add j, k"),
}


@pytest.mark.parametrize("name", STAYS)
def test_other_additions_stay(name):
    kind, read, index = STAYS[name]
    program = parse(f"""
        def f(a: f64[:]c, n: i64, last: i64):
            one: i64 = const 1
            far: i64 = const 9
            g: f64[:]c = array_zeros dtype=f64 n
            for {kind} n:
              body (k: i64):
                j: i64 = sub last, k
                {index}
                x: f64 = {read}
                array_inc g, j, x
                array_inc g, i, x
                yield
            return g
    """)
    before = canonical(program.functions["f"])
    apply(program, "rolling")
    assert canonical(program.functions["f"]) == before


def upwards(u, alpha):
    v = u.copy()
    for _ in range(3):
        for i in range(1, len(u) - 1):
            v[i] = u[i] + alpha * (u[i - 1] * u[i + 1] - 2.0 * u[i])
        u, v = v, u
    return np.sum(u * u)


def downwards(u, alpha):
    v = u.copy()
    for _ in range(3):
        for i in range(len(u) - 2, 0, -1):
            v[i] = u[i] * u[i - 1] + alpha * u[i + 1]
        u, v = v, u
    return np.sum(u * v)


def gaps(u, alpha):
    """Two elements apart, and nothing in between."""
    v = u.copy()
    for i in range(len(u) - 2):
        v[i] = alpha * u[i] * u[i + 2]
    for i in range(len(u) - 3):
        u[i] = v[i] * v[i + 3] + v[i]
    return np.sum(u * u)


def plane(u, alpha):
    """Rows of a matrix, with two rows beside."""
    n, m = u.shape
    v = u.copy()
    for _ in range(2):
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                v[i, j] = u[i, j] + alpha * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] * u[i, j + 1])
        u, v = v, u
    return np.sum(u * v)


def own(u, alpha):
    """What is written is what is read: nothing may wait."""
    for i in range(1, len(u) - 1):
        u[i] = u[i] + alpha * u[i - 1] * u[i + 1]
    return np.sum(u * u)


def of_shape(program, n):
    return (n, n + 2) if program is plane else n


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n", [0, 1, 2, 3, 4, 5, 6, 21])
@pytest.mark.parametrize("program", [upwards, downwards, gaps, plane, own], ids=lambda f: f.__name__)
def test_gradients_are_those_without_passes(program, n, dtype):
    u = np.random.default_rng(n).uniform(0.5, 1.5, of_shape(program, n)).astype(dtype)
    found = pb.grad(program, (0, 1))(u.copy(), 0.3)
    wanted = testing.gradient(program, (u, 0.3), (0, 1), mode="r", engine="native", passes=False)
    relative, absolute = (1e-4, 1e-5) if dtype is np.float32 else (1e-12, 1e-13)
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_allclose(one, other, rtol=relative, atol=absolute)


@pytest.mark.parametrize("program", [upwards, downwards, gaps, own], ids=lambda f: f.__name__)
def test_second_order(program):
    u = np.random.default_rng(2).uniform(0.5, 1.5, 7)
    found = pb.hessian(program)(u.copy(), 0.3)
    forward = pb.jacfwd(pb.jacfwd(program))(u.copy(), 0.3)
    np.testing.assert_allclose(found, forward, rtol=1e-10, atol=1e-12)


def test_it_happens():
    text = pb.value_and_grad(upwards).lower(np.ones(9), 0.3).stages["passes again"]
    assert re.search(r"f64, v\d+: f64 = for reverse=True", text)

"""Passes over what differentiation makes: sums in any order, one access per element, one pass for a whole stencil."""

import numpy as np
import pytest

import pullback as pb
from ir_text import canonical, parse
from meaning import apply, rewrites
from pullback import testing

# ------------------------------------------------------------------------------------------------------- any order


def test_a_reverse_loop_that_only_adds_runs_forwards():
    rewrites(
        "order",
        """
        def f(x: f64[:]c, n: i64, zero: f64) -> f64, f64[:]c:
            one: i64 = const 1
            last: i64 = sub n, one
            g: f64[:]c = array_zeros dtype=f64 n
            r: f64 = for reverse=True n, zero:
              body (k: i64, s: f64):
                j: i64 = sub last, k
                v: f64 = array_get x, j
                w: f64 = mul v, v
                array_inc g, j, w
                t: f64 = sub s, w
                u: f64 = add v, t
                yield u
            return r, g
        """,
        """
        def f(x: f64[:]c, n: i64, zero: f64) -> f64, f64[:]c:
            one: i64 = const 1
            last: i64 = sub n, one
            g: f64[:]c = array_zeros dtype=f64 n
            r: f64 = for reverse=True any_order=True n, zero:
              body (k: i64, s: f64):
                v: f64 = array_get x, k
                w: f64 = mul v, v
                array_inc g, k, w
                t: f64 = sub s, w
                u: f64 = add v, t
                yield u
            return r, g
        """,
    )


def test_an_index_that_starts_elsewhere_counts_up_too():
    rewrites(
        "order",
        """
        def f(x: f64[:]c, g: f64[:], n: i64, start: i64):
            for reverse=True n:
              body (k: i64):
                j: i64 = sub start, k
                array_inc g, j, zero
                yield
            return
        """.replace("start: i64):", "start: i64, zero: f64):"),
        """
        def f(x: f64[:]c, g: f64[:], n: i64, start: i64, zero: f64):
            one: i64 = const 1
            last: i64 = sub n, one
            first: i64 = sub start, last
            for reverse=True any_order=True n:
              body (k: i64):
                j: i64 = add first, k
                array_inc g, j, zero
                yield
            return
        """,
    )


ORDERED = {
    "the loop of a user": ("n, zero", "v: f64 = array_get x, j", "yield w", "add s, v"),
    "a product": ("reverse=True n, zero", "v: f64 = array_get x, j", "yield w", "mul s, v"),
    "a sum that is read": ("reverse=True n, zero", "v: f64 = mul s, s", "yield w", "add s, v"),
    "a number taken from": ("reverse=True n, zero", "v: f64 = array_get x, j", "yield w", "sub v, s"),
    "reads what it adds to": ("reverse=True n, zero", "v: f64 = array_get g, j", "yield w", "add s, v"),
    "reads what may be the same": ("reverse=True n, zero", "v: f64 = array_get y, j", "yield w", "add s, v"),
    "stores": ("reverse=True n, zero", "v: f64 = array_swap x, j, zero", "yield w", "add s, v"),
}


@pytest.mark.parametrize("name", ORDERED)
def test_other_loops_keep_their_order(name):
    head, read, end, step = ORDERED[name]
    program = parse(f"""
        def f(x: f64[:]c, y: f64[:]c, n: i64, zero: f64) -> f64, f64[:]c:
            one: i64 = const 1
            last: i64 = sub n, one
            g: f64[:]{" = view_relax y" if "may be" in name else "c = array_zeros dtype=f64 n"}
            r: f64 = for {head}:
              body (k: i64, s: f64):
                j: i64 = sub last, k
                {read}
                array_inc g, j, v
                w: f64 = {step}
                {end}
            return r, g
        """)
    before = canonical(program.functions["f"])
    apply(program, "order")
    assert canonical(program.functions["f"]) == before


# -------------------------------------------------------------------------------------------------------- elements


def test_additions_to_one_element_become_one():
    rewrites(
        "elements",
        """
        def f(g: f64[:]c, i: i64, x: f64, y: f64):
            one: i64 = const 1
            j: i64 = add i, one
            array_inc g, i, x
            array_inc g, j, y
            array_inc g, i, y
            return
        """,
        """
        def f(g: f64[:]c, i: i64, x: f64, y: f64):
            one: i64 = const 1
            j: i64 = add i, one
            array_inc g, j, y
            z: f64 = add x, y
            array_inc g, i, z
            return
        """,
    )


def test_what_is_cleared_and_added_to_is_stored_once():
    rewrites(
        "elements",
        """
        def f(g: f64[:]c, i: i64, x: f64) -> f64:
            one: i64 = const 1
            zero: f64 = const 0.0
            j: i64 = add i, one
            c: f64 = array_swap g, i, zero
            v: f64 = mul c, x
            array_inc g, j, v
            array_inc g, i, v
            array_inc g, i, c
            return v
        """,
        """
        def f(g: f64[:]c, i: i64, x: f64) -> f64:
            one: i64 = const 1
            zero: f64 = const 0.0
            j: i64 = add i, one
            c: f64 = array_get g, i
            v: f64 = mul c, x
            array_inc g, j, v
            w: f64 = add v, c
            old: f64 = array_swap g, i, w
            return v
        """,
    )


def test_what_is_added_and_taken_is_added_to_what_is_taken():
    rewrites(
        "elements",
        """
        def f(g: f64[:]c, i: i64, x: f64) -> f64:
            zero: f64 = const 0.0
            array_inc g, i, x
            c: f64 = array_swap g, i, zero
            return c
        """,
        """
        def f(g: f64[:]c, i: i64, x: f64) -> f64:
            zero: f64 = const 0.0
            old: f64 = array_swap g, i, zero
            c: f64 = add old, x
            return c
        """,
    )


APART = {
    "a read between": ("array_inc g, i, x", "v: f64 = array_get g, i", "array_inc g, i, x"),
    "a read of what may be the element": ("array_inc g, i, x", "v: f64 = array_get g, j", "array_inc g, i, x"),
    "a read of what may be the array": ("array_inc g, i, x", "v: f64 = array_get h, i", "array_inc g, i, x"),
    "an addition to what may be cleared": ("c: f64 = array_swap g, i, x", "array_inc g, j, x", "array_inc g, i, x"),
    "a loop between": ("array_inc g, i, x", "for i:\n  body (k: i64):\n    yield", "array_inc g, i, x"),
    "a check between": ("array_inc g, i, x", "check exception=ValueError message=no p", "array_inc g, i, x"),
    "another element": ("array_inc g, i, x", "array_inc h, i, x", "array_inc g, j, x"),
}


@pytest.mark.parametrize("name", APART)
def test_other_accesses_stay(name):
    lines = "\n".join(APART[name]).replace("\n", "\n    ")
    program = parse(f"def f(g: f64[:]c, h: f64[:]c, i: i64, j: i64, x: f64, p: bool):\n    {lines}\n    return\n")
    before = canonical(program.functions["f"])
    apply(program, "elements")
    assert canonical(program.functions["f"]) == before


# ------------------------------------------------------------------------------------------------------------ rows


def test_additions_to_overlapping_views_are_one_pass_in_rounds():
    rewrites(
        "rows",
        """
        def f(w: f64[:]c, n: i64, i: i64, x: f64) -> f64[:]c:
            one: i64 = const 1
            g: f64[:]c = array_zeros dtype=f64 i
            t: f64[:]c = elementwise rank=1 outputs=(new, set) targets=1 n, w, w:
              block (u: f64):
                zero: f64 = const 0.0
                yield u, zero
            a: f64[:]c = view_slice axis=0 unit=True g, one, n, one
            elementwise rank=1 outputs=(inc) targets=1 n, t, x, a:
              block (u2: f64, x2: f64):
                v2: f64 = mul u2, x2
                yield v2
            b: f64[:]c = view_slice axis=0 unit=True g, i, n, one
            elementwise rank=1 outputs=(inc) targets=1 n, t, b:
              block (u3: f64):
                yield u3
            return g
        """,
        """
        def f(w: f64[:]c, n: i64, i: i64, x: f64) -> f64[:]c:
            one: i64 = const 1
            g: f64[:]c = array_zeros dtype=f64 i
            a: f64[:]c = view_slice axis=0 unit=True g, one, n, one
            b: f64[:]c = view_slice axis=0 unit=True g, i, n, one
            elementwise rank=1 outputs=(inc, inc, set) targets=3 rounds=(0, 1, 1) n, w, x, a, b, w:
              block (u: f64, x2: f64):
                zero: f64 = const 0.0
                v2: f64 = mul u, x2
                yield v2, u, zero
            return g
        """,
    )


def test_rounds_that_add_to_one_row_do_not_follow_each_other():
    views = "\n".join(f"            v{i}: f64[:]c = view_slice axis=0 unit=True g, s{i}, n, s1" for i in range(5))
    adds = "\n".join(f"""            elementwise rank=1 outputs=(inc) targets=1 n, t, v{i}:
              block (u{i}: f64):
                yield u{i}""" for i in range(5))
    sizes = "\n".join(f"            s{i}: i64 = const {i}" for i in range(5))
    program = parse(f"""
        def f(t: f64[:]c, n: i64, m: i64) -> f64[:]c:
{sizes}
            g: f64[:]c = array_zeros dtype=f64 m
{views}
{adds}
            return g
    """)
    apply(program, "rows")
    (op,) = (op for op in program.functions["f"].body.ops if op.name == "elementwise")
    assert op.attrs["rounds"] == (1, 3, 0, 2, 4)


def test_dear_functions_are_not_computed_in_every_round():
    program = parse("""
        def f(t: f64[:]c, n: i64, i: i64) -> f64[:]c:
            g: f64[:]c = array_zeros dtype=f64 i
            a: f64[:]c = view_slice axis=0 unit=True g, n, n, n
            b: f64[:]c = view_slice axis=0 unit=True g, i, n, n
            elementwise rank=1 outputs=(inc) targets=1 n, t, a:
              block (u: f64):
                v: f64 = exp u
                yield v
            elementwise rank=1 outputs=(inc) targets=1 n, t, b:
              block (u2: f64):
                v2: f64 = exp u2
                yield v2
            return g
        """)
    before = canonical(program.functions["f"])
    apply(program, "rows")
    assert canonical(program.functions["f"]) == before


def smoothed(u, steps, c):
    u, v = u.copy(), u.copy()
    for _ in range(steps):
        v[1:-1, 1:-1] = u[1:-1, 1:-1] + c * (
            u[:-2, 1:-1] + u[2:, 1:-1] + 0.5 * u[1:-1, :-2] - 3.0 * u[1:-1, 2:] + u[2:, 2:]
        )
        u, v = v, u
    return np.sum(u * u)


def filtered(u, steps, c):
    for _ in range(steps):
        u = u[:-2] * c + u[1:-1] * u[2:] - u[2:]
    return np.sum(u)


def strided(u, steps, c):
    v = u.copy()
    for _ in range(steps):
        v[::2] += c * (u[1::2] + v[::-2])
    return np.sum(v * v)


STENCILS = [
    *((smoothed, shape) for shape in ((3, 3), (4, 3), (3, 70), (9, 21), (40, 41))),
    *((filtered, (n,)) for n in (7, 20, 1200)),
    *((strided, (n,)) for n in (2, 10, 1000)),
]


@pytest.mark.parametrize(("program", "shape"), STENCILS, ids=lambda case: getattr(case, "__name__", str(case)))
def test_gradients_of_stencils(program, shape):
    u = np.random.default_rng(3).normal(size=shape)
    arguments = (u, 3, 0.2)
    value, (slope, by_c) = pb.value_and_grad(program, (0, 2))(*arguments)
    assert value == pytest.approx(program(u.copy(), 3, 0.2), rel=1e-12)
    wanted, wanted_by_c = testing.gradient(program, arguments, (0, 2), mode="r", engine="native", passes=False)
    np.testing.assert_allclose(slope, wanted, rtol=1e-9, atol=1e-9 * np.abs(wanted).max())
    assert by_c == pytest.approx(wanted_by_c, rel=1e-9)


def test_a_step_of_a_stencil_is_one_pass_each_way():
    u = np.random.default_rng(4).normal(size=(20, 30))
    slope = pb.grad(smoothed, (0, 2))
    counts = []
    for steps in (10, 20):
        slope(u, steps, 0.1)
        pb.stats(reset=True)
        slope(u, steps, 0.1)
        counts.append(pb.stats().kernels)
    assert counts[1] - counts[0] == 2 * 10


def attraction(p, mass, softening):
    total = 0.0
    for i in range(len(mass)):
        for j in range(len(mass)):
            d = p[j] - p[i]
            total += mass[i] * mass[j] / np.sqrt(d * d + softening)
    return total


@pytest.mark.parametrize("n", [1, 7, 8, 33])
def test_reverse_loops_in_any_order_add_up_the_same(n):
    rng = np.random.default_rng(5)
    arguments = (rng.normal(size=n), rng.random(n) + 0.5, 0.1)
    found = pb.grad(attraction, (0, 1, 2))(*arguments)
    wanted = testing.gradient(attraction, arguments, (0, 1, 2), mode="r", engine="native", passes=False)
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-11, atol=1e-13)


ROUNDLESS = {
    "what is added to is read": ("(inc, inc)", "a, b, a"),
    "what is set may be added to": ("(inc, set)", "a, b, t"),
    "what is set may be set": ("(set, set)", "a, b, t"),
    "what is set is added to": ("(set, inc)", "a, a, t"),
    "the targets are apart": ("(inc, inc)", "z, b, t"),
}


@pytest.mark.parametrize("name", ROUNDLESS)
def test_passes_that_cannot_take_turns_stay_one(name):
    kinds, operands = ROUNDLESS[name]
    first, second, read = operands.split(", ")
    program = parse(f"""
        def f(t: f64[:]c, n: i64, i: i64) -> f64[:]c:
            g: f64[:]c = array_zeros dtype=f64 i
            z: f64[:]c = array_zeros dtype=f64 n
            a: f64[:]c = view_slice axis=0 unit=True g, n, n, n
            b: f64[:]c = view_slice axis=0 unit=True g, i, n, n
            elementwise rank=1 outputs={kinds} targets=2 n, {read}, {first}, {second}:
              block (u: f64):
                yield u, u
            elementwise rank=1 outputs=(inc) targets=1 n, z, z:
              block (w: f64):
                yield w
            return g
        """)
    before = canonical(program.functions["f"])
    apply(program, "rows")
    assert canonical(program.functions["f"]) == before

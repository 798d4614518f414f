"""Passes of the formulation by closures: sensitivities of array operations meet in one array and one pass over it."""

from __future__ import annotations

from meaning import rewrites


def test_elements_are_added_to_the_sum() -> None:
    rewrites(
        "gathers",
        """
        def f(a: f64[:]c, n: i64, i: i64, x: f64) -> f64[:]c:
            z: f64[:]c = array_zeros dtype=f64 n
            array_inc z, i, x
            s: f64[:]c = elementwise rank=1 outputs=(new) targets=0 n, a, z:
              block (p: f64, q: f64):
                t: f64 = add p, q
                yield t
            return s
        """,
        """
        def f(a: f64[:]c, n: i64, i: i64, x: f64) -> f64[:]c:
            s: f64[:]c = elementwise rank=1 outputs=(new) targets=0 n, a:
              block (p: f64):
                yield p
            array_inc s, i, x
            return s
        """,
    )


def test_elements_are_added_to_what_the_sum_is_added_to() -> None:
    """The constant stays."""
    rewrites(
        "gathers",
        """
        def f(r: f64[:]c, n: i64, i: i64, x: f64):
            z: f64[:]c = array_zeros dtype=f64 n
            array_inc z, i, x
            elementwise rank=1 outputs=(inc) targets=1 n, z, r:
              block (q: f64):
                one: f64 = const 1.0
                t: f64 = add one, q
                yield t
            return
        """,
        """
        def f(r: f64[:]c, n: i64, i: i64, x: f64):
            elementwise rank=1 outputs=(inc) targets=1 n, r:
              block:
                one: f64 = const 1.0
                yield one
            array_inc r, i, x
            return
        """,
    )


def test_two_sums_to_zeros_are_one() -> None:
    rewrites(
        "gathers",
        """
        def f(n: i64, i: i64, x: f64, y: f64) -> f64[:]c:
            z: f64[:]c = array_zeros dtype=f64 n
            array_inc z, i, x
            w: f64[:]c = array_zeros dtype=f64 n
            array_inc w, i, y
            s: f64[:]c = elementwise rank=1 outputs=(new) targets=0 n, z, w:
              block (p: f64, q: f64):
                t: f64 = add p, q
                yield t
            return s
        """,
        """
        def f(n: i64, i: i64, x: f64, y: f64) -> f64[:]c:
            z: f64[:]c = array_zeros dtype=f64 n
            array_inc z, i, x
            array_inc z, i, y
            return z
        """,
    )


def test_a_product_stays_where_its_factor_changes() -> None:
    program = """
        def f(a: f64[:,:]c, b: f64[:,:]c, c: f64[:,:]c, n: i64, x: f64) -> f64[:,:]c:
            z: f64[:,:]c = array_zeros dtype=f64 n, n
            matmul_inc z, a, b
            zero: i64 = const 0
            array_inc a, zero, zero, x
            s: f64[:,:]c = elementwise rank=2 outputs=(new) targets=0 n, n, c, z:
              block (p: f64, q: f64):
                t: f64 = add p, q
                yield t
            return s
        """
    rewrites("gathers", program, program)


def test_what_makes_and_adds_joins_its_reader() -> None:
    rewrites(
        "streams",
        """
        def f(a: f64[:]c, n: i64) -> f64[:]c, f64[:]c:
            r: f64[:]c = array_zeros dtype=f64 n
            u: f64[:]c, v: f64[:]c = elementwise rank=1 outputs=(new, new) targets=0 n, a:
              block (p: f64):
                w: f64 = sin p
                yield p, w
            elementwise rank=1 outputs=(inc) targets=1 n, u, v, r:
              block (x: f64, y: f64):
                z: f64 = mul x, y
                yield z
            return v, r
        """,
        """
        def f(a: f64[:]c, n: i64) -> f64[:]c, f64[:]c:
            r: f64[:]c = array_zeros dtype=f64 n
            v: f64[:]c = elementwise rank=1 outputs=(new, inc) targets=1 n, a, r:
              block (p: f64):
                w: f64 = sin p
                z: f64 = mul p, w
                yield w, z
            return v, r
        """,
    )


def test_a_sum_that_a_loop_carries_is_added_to_in_place() -> None:
    rewrites(
        "running_sums",
        """
        def f(n: i64, m: i64, x: f64) -> f64[:]c:
            z: f64[:]c = array_zeros dtype=f64 n
            r: f64[:]c = for m, z:
              body (k: i64, c: f64[:]c):
                t: f64[:]c = elementwise rank=1 outputs=(new) targets=0 n, c:
                  block (p: f64):
                    yield p
                array_inc t, k, x
                yield t
            return r
        """,
        """
        def f(n: i64, m: i64, x: f64) -> f64[:]c:
            z: f64[:]c = array_zeros dtype=f64 n
            r: f64[:]c = for m, z:
              body (k: i64, c: f64[:]c):
                array_inc c, k, x
                yield c
            return r
        """,
    )


def test_a_carried_sum_stays_where_the_start_is_used_again() -> None:
    program = """
        def f(n: i64, m: i64, x: f64) -> f64[:]c, f64[:]c:
            z: f64[:]c = array_zeros dtype=f64 n
            r: f64[:]c = for m, z:
              body (k: i64, c: f64[:]c):
                t: f64[:]c = elementwise rank=1 outputs=(new) targets=0 n, c:
                  block (p: f64):
                    yield p
                array_inc t, k, x
                yield t
            return r, z
        """
    rewrites("running_sums", program, program)

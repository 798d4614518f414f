"""Passes of the formulation by closures: sensitivities meet in one sum, those of arrays in one pass over memory."""

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
                t: f64 = accumulate p, q
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
                t: f64 = accumulate one, q
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


def test_zeros_of_a_sum_of_values_are_added() -> None:
    """-0.0 + 0.0 is 0.0: only sums of sensitivities leave out zeros."""
    program = """
        def f(a: f64[:]c, n: i64) -> f64[:]c:
            s: f64[:]c = elementwise rank=1 outputs=(new) targets=0 n, a:
              block (p: f64):
                zero: f64 = const 0.0
                t: f64 = add p, zero
                yield t
            return s
        """
    rewrites("gathers fuse simplify", program, program)


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
                t: f64 = accumulate p, q
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
                t: f64 = accumulate p, q
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


def test_what_was_chosen_is_known_where_it_is_selected() -> None:
    rewrites(
        "choices dce",
        """
        def f(c: bool, d: bool, x: f64, y: f64) -> f64:
            zero: i64 = const 0
            one: i64 = const 1
            t: i64, z: f64 = if c:
              then:
                w: f64 = log x
                yield zero, w
              else:
                yield one, y
            both: bool = and_ c, d
            u: i64 = select both, t, zero
            h: bool = eq u, zero
            r: f64 = select h, z, x
            return r
        """,
        """
        def f(c: bool, d: bool, x: f64, y: f64) -> f64:
            z: f64 = if c:
              then:
                w: f64 = log x
                yield w
              else:
                yield y
            h: bool = const True
            r: f64 = select h, z, x
            return r
        """,
    )


def test_what_the_other_branch_reads_is_not_computed() -> None:
    rewrites(
        "unread dce",
        """
        def f(c: bool, x: f64) -> f64:
            y: f64 = if c:
              then:
                a: f64 = sin x
                yield a
              else:
                b: f64 = cos x
                yield b
            r: f64 = if c:
              then:
                s: f64 = mul y, x
                yield s
              else:
                yield x
            return r
        """,
        """
        def f(c: bool, x: f64) -> f64:
            y: f64 = if c:
              then:
                a: f64 = sin x
                yield a
              else:
                z: f64 = const 0.0
                yield z
            r: f64 = if c:
              then:
                s: f64 = mul y, x
                yield s
              else:
                yield x
            return r
        """,
    )


def test_what_both_branches_read_is_computed() -> None:
    program = """
        def f(c: bool, x: f64) -> f64:
            y: f64 = if c:
              then:
                a: f64 = sin x
                yield a
              else:
                b: f64 = cos x
                yield b
            r: f64 = if c:
              then:
                s: f64 = mul y, x
                yield s
              else:
                yield y
            return r
        """
    rewrites("unread", program, program)


def test_like_terms_are_collected() -> None:
    rewrites(
        "terms dce",
        """
        def f(x: f64, y: f64) -> f64:
            half: f64 = const 0.5
            one: f64 = const 1.0
            a: f64 = mul x, half
            b: f64 = accumulate x, a
            c: f64 = accumulate b, a
            d: f64 = neg y
            e: f64 = accumulate c, d
            g: f64 = accumulate e, one
            r: f64 = accumulate g, one
            return r
        """,
        """
        def f(x: f64, y: f64) -> f64:
            two: f64 = const 2.0
            a: f64 = add x, x
            b: f64 = add a, two
            r: f64 = sub b, y
            return r
        """,
    )


def test_common_factors_are_taken_out() -> None:
    """One product is strong, so that of the sum is."""
    rewrites(
        "terms dce",
        """
        def f(p: f64, q: f64, x: f64, y: f64) -> f64:
            a: f64 = zmul p, x
            b: f64 = mul q, a
            c: f64 = mul p, y
            d: f64 = mul c, q
            e: f64 = accumulate b, y
            r: f64 = accumulate e, d
            return r
        """,
        """
        def f(p: f64, q: f64, x: f64, y: f64) -> f64:
            s: f64 = add x, y
            t: f64 = zmul p, s
            u: f64 = mul q, t
            r: f64 = add y, u
            return r
        """,
    )


def test_products_that_others_use_stay() -> None:
    rewrites(
        "terms dce",
        """
        def f(p: f64, x: f64, y: f64) -> f64, f64:
            a: f64 = mul p, x
            b: f64 = mul p, y
            r: f64 = accumulate a, b
            return r, a
        """,
        """
        def f(p: f64, x: f64, y: f64) -> f64, f64:
            a: f64 = mul p, x
            b: f64 = mul p, y
            r: f64 = add a, b
            return r, a
        """,
    )


def test_terms_that_cancel_stay() -> None:
    """inf - inf is nan."""
    rewrites(
        "terms dce",
        """
        def f(x: f64, y: f64) -> f64:
            a: f64 = neg x
            b: f64 = accumulate x, a
            c: f64 = accumulate b, y
            r: f64 = accumulate c, y
            return r
        """,
        """
        def f(x: f64, y: f64) -> f64:
            a: f64 = neg x
            b: f64 = add x, a
            c: f64 = add b, y
            r: f64 = add c, y
            return r
        """,
    )


def test_a_choice_of_fresh_arrays_is_not_copied() -> None:
    rewrites(
        "copies",
        """
        def f(a: f64[:]c, n: i64, c: bool) -> f64[:]c:
            z: f64[:]c = array_zeros dtype=f64 n
            r: f64[:]c = if c:
              then:
                yield z
              else:
                d: f64[:]c = elementwise rank=1 outputs=(new) targets=0 n, z:
                  block (p: f64):
                    yield p
                e: f64[:]c = elementwise rank=1 outputs=(new) targets=0 n, a:
                  block (q: f64):
                    yield q
                yield e
            s: f64[:]c = elementwise rank=1 outputs=(new) targets=0 n, r:
              block (v: f64):
                yield v
            return s
        """,
        """
        def f(a: f64[:]c, n: i64, c: bool) -> f64[:]c:
            z: f64[:]c = array_zeros dtype=f64 n
            r: f64[:]c = if c:
              then:
                yield z
              else:
                d: f64[:]c = elementwise rank=1 outputs=(new) targets=0 n, z:
                  block (p: f64):
                    yield p
                e: f64[:]c = elementwise rank=1 outputs=(new) targets=0 n, a:
                  block (q: f64):
                    yield q
                yield e
            return r
        """,
    )


def test_a_choice_that_others_know_is_copied() -> None:
    for kept in ("a", "z"):
        program = f"""
            def f(a: f64[:]c, n: i64, c: bool) -> f64[:]c, f64[:]c:
                z: f64[:]c = array_zeros dtype=f64 n
                r: f64[:]c = if c:
                  then:
                    yield {kept}
                  else:
                    e: f64[:]c = array_zeros dtype=f64 n
                    yield e
                s: f64[:]c = elementwise rank=1 outputs=(new) targets=0 n, r:
                  block (v: f64):
                    yield v
                return s, {kept}
            """
        rewrites("copies", program, program)


def test_arrays_of_zeros_are_not_read() -> None:
    rewrites(
        "fuse",
        """
        def f(a: f64[:]c, n: i64) -> f64[:]c, f64[:]c:
            z: f64[:]c = array_zeros dtype=f64 n
            s: f64[:]c = elementwise rank=1 outputs=(new) targets=0 n, a, z:
              block (p: f64, q: f64):
                t: f64 = add p, q
                yield t
            return s, z
        """,
        """
        def f(a: f64[:]c, n: i64) -> f64[:]c, f64[:]c:
            z: f64[:]c = array_zeros dtype=f64 n
            s: f64[:]c = elementwise rank=1 outputs=(new) targets=0 n, a:
              block (p: f64):
                q: f64 = const 0.0
                t: f64 = add p, q
                yield t
            return s, z
        """,
    )


def test_zeros_that_were_written_to_are_read() -> None:
    """Through a view, too, and by the reader itself in another order."""
    made = """
        def f(a: f64[:]c, n: i64, i: i64, x: f64) -> f64[:]c, f64[:]c:
            z: f64[:]c = array_zeros dtype=f64 n
            v: f64[:] = view_slice axis=0 z, i, n, i
        """
    for write, output, target in (
        ("array_inc z, i, x", "s: f64[:]c = elementwise rank=1 outputs=(new) targets=0", ""),
        ("array_inc v, i, x", "s: f64[:]c = elementwise rank=1 outputs=(new) targets=0", ""),
        ("s: f64[:]c = array_zeros dtype=f64 i", "elementwise rank=1 outputs=(inc) targets=1", ", v"),
    ):
        program = f"""{made}    {write}
            {output} n, a, z{target}:
              block (p: f64, q: f64):
                t: f64 = add p, q
                yield t
            return s, z
        """
        rewrites("fuse", program, program)


def test_what_is_added_to_one_array_is_added_up_first() -> None:
    rewrites(
        "fuse",
        """
        def f(a: f64[:]c, n: i64, x: f64) -> f64[:]c:
            r: f64[:]c = array_zeros dtype=f64 n
            array_inc r, n, x
            elementwise rank=1 outputs=(inc) targets=1 n, a, r:
              block (p: f64):
                y: f64 = sin p
                yield y
            elementwise rank=1 outputs=(inc) targets=1 n, a, r:
              block (q: f64):
                yield q
            return r
        """,
        """
        def f(a: f64[:]c, n: i64, x: f64) -> f64[:]c:
            r: f64[:]c = array_zeros dtype=f64 n
            array_inc r, n, x
            elementwise rank=1 outputs=(inc) targets=1 n, a, r:
              block (p: f64):
                y: f64 = sin p
                t: f64 = add y, p
                yield t
            return r
        """,
    )


def test_what_is_read_between_two_additions_is_read() -> None:
    program = """
        def f(a: f64[:]c, n: i64, x: f64) -> f64[:]c:
            r: f64[:]c = array_zeros dtype=f64 n
            array_inc r, n, x
            elementwise rank=1 outputs=(inc) targets=1 n, a, r:
              block (p: f64):
                w: f64 = sin p
                yield w
            elementwise rank=1 outputs=(inc) targets=1 n, a, r, r:
              block (q: f64, s: f64):
                y: f64 = mul q, s
                yield y
            return r
        """
    rewrites("fuse", program, program)


def test_sizes_of_arrays_that_a_branch_chooses() -> None:
    rewrites(
        "sizes dce",
        """
        def f(a: f64[:]c, c: bool) -> i64:
            r: f64[:]c = if c:
              then:
                yield a
              else:
                n: i64 = array_size axis=0 a
                z: f64[:]c = array_zeros dtype=f64 n
                yield z
            m: i64 = array_size axis=0 r
            return m
        """,
        """
        def f(a: f64[:]c, c: bool) -> i64:
            n: i64 = array_size axis=0 a
            return n
        """,
    )

"""Subexpressions, dead code, inlining, loops and memory: pairs of programs before and after."""

import random

import numpy as np
import pytest

from ir_text import canonical, parse
from meaning import PASSES, agree, apply, outcome, rewrites
from pullback.ir.show import show_function

# ------------------------------------------------------------------------------------------- cse, dce, inline, licm


def test_cse_sees_through_order_and_blocks():
    rewrites(
        "cse dce",
        """
        def f(x: f64, y: f64, a: f64[:], i: i64) -> f64, f64:
            u: f64 = mul x, y
            v: f64 = mul y, x
            s: f64 = array_get a, i
            c: bool = lt x, y
            r: f64 = if c:
              then:
                d: bool = gt y, x
                t: f64 = array_get a, i
                e: f64 = select d, t, u
                yield e
              else:
                yield v
            return r, s
        """,
        """
        def f(x: f64, y: f64, a: f64[:], i: i64) -> f64, f64:
            u: f64 = mul x, y
            s: f64 = array_get a, i
            c: bool = lt x, y
            r: f64 = if c:
              then:
                e: f64 = select c, s, u
                yield e
              else:
                yield u
            return r, s
        """,
    )


def test_cse_keeps_reads_around_writes():
    text = """
        def f(x: f64, n: i64, i: i64) -> f64, f64:
            a: f64[:]c = array_zeros dtype=f64 n
            u: f64 = array_get a, i
            array_inc a, i, x
            v: f64 = array_get a, i
            return u, v
        """
    rewrites("cse dce", text, text)


def test_dce_reaches_carried_values_and_memory_nobody_reads():
    rewrites(
        "dce",
        """
        def f(x: f64, n: i64) -> f64:
            s: f64[:]c = array_zeros dtype=f64 n
            r: f64, dead: f64 = for n, x, x:
              body (k: i64, a: f64, b: f64):
                c: f64 = mul a, x
                d: f64 = exp b
                array_inc s, k, d
                yield c, d
            return r
        """,
        """
        def f(x: f64, n: i64) -> f64:
            r: f64 = for n, x:
              body (k: i64, a: f64):
                c: f64 = mul a, x
                yield c
            return r
        """,
    )


def test_dce_keeps_checks_and_memory_that_is_read():
    text = """
        def f(x: f64, n: i64, c: bool) -> f64:
            s: f64[:]c = array_zeros dtype=f64 n
            for n:
              body (k: i64):
                y: f64 = exp x
                array_inc s, k, y
                check exception=ValueError message=bad c
                yield
            r: f64 = array_get s, n
            return r
        """
    rewrites("dce", text, text)


def test_dce_trims_elementwise():
    rewrites(
        "dce",
        """
        def f(a: f64[:], b: f64[:], x: f64, n: i64) -> f64:
            t: f64[:]c = array_zeros dtype=f64 n
            u: f64[:]c, s: f64 = elementwise rank=1 outputs=(new, sum, inc) targets=1 n, a, b, x, t:
              block (p: f64, q: f64, r: f64):
                v: f64 = mul p, r
                w: f64 = exp q
                yield w, v, w
            return s
        """,
        """
        def f(a: f64[:], b: f64[:], x: f64, n: i64) -> f64:
            s: f64 = elementwise rank=1 outputs=(sum) targets=0 n, a, x:
              block (p: f64, r: f64):
                v: f64 = mul p, r
                yield v
            return s
        """,
    )


def test_endless_loops_stay():
    text = """
        def f(x: f64) -> f64:
            while:
              cond:
                yes: bool = const True
                yield yes
              body:
                yield
            return x
        """
    rewrites("dce", text, text)
    program = parse(text)
    apply(program, "simplify", "dce")
    assert [op.name for op in program.functions["f"].body.ops] == ["const", "while"]


def test_inline_and_prune():
    rewrites(
        "inline",
        """
        def f(x: f64) -> f64:
            a: f64 = call callee=twice x
            b: f64 = call callee=twice a
            return b
        """,
        """
        def f(x: f64) -> f64:
            a: f64 = add x, x
            b: f64 = add a, a
            return b
        """,
        "def twice(x: f64) -> f64:\n    y: f64 = call callee=plus x, x\n    return y",
        "def plus(x: f64, y: f64) -> f64:\n    z: f64 = add x, y\n    return z",
    )


RECURSIVE = """
    def g(n: i64, x: f64) -> f64:
        one: i64 = const 1
        c: bool = lt n, one
        r: f64 = if c:
          then:
            yield x
          else:
            m: i64 = sub n, one
            s: f64 = call callee=g m, x
            yield s
        return r
"""


def test_recursive_calls_stay_and_unused_functions_go():
    program = parse(
        "def f(n: i64, x: f64) -> f64:\n    r: f64 = call callee=g n, x\n    return r",
        RECURSIVE,
        "def lost(x: f64) -> f64:\n    return x",
    )
    before = canonical(program.functions["g"])
    apply(program, "inline")
    PASSES["inline"].prune(program)
    assert sorted(program.functions) == ["f", "g"]
    assert canonical(program.functions["g"]) == before


def test_dear_invariants_move_under_a_guard():
    rewrites(
        "licm",
        """
        def f(x: f64, n: i64) -> f64:
            r: f64 = for n, x:
              body (k: i64, a: f64):
                e: f64 = exp x
                b: f64 = mul a, e
                yield b
            return r
        """,
        """
        def f(x: f64, n: i64) -> f64:
            z: i64 = const 0
            c: bool = gt n, z
            t: f64 = if c:
              then:
                e: f64 = exp x
                yield e
              else:
                z0: f64 = const 0.0
                yield z0
            r: f64 = for n, x:
              body (k: i64, a: f64):
                b: f64 = mul a, t
                yield b
            return r
        """,
    )


def test_checks_do_not_overtake_others():
    text = """
        def f(x: f64, n: i64, c: bool) -> f64:
            r: f64 = for n, x:
              body (k: i64, a: f64):
                p: bool = lt a, x
                check exception=ValueError message=first p
                check exception=TypeError message=second c
                b: f64 = mul a, x
                yield b
            return r
        """
    rewrites("licm", text, text)


# --------------------------------------------------------------------------------------- bounds, unroll, ownership


def test_checks_of_loop_indices_go():
    rewrites(
        "bounds dce",
        """
        def f(a: f64[:], x: f64) -> f64:
            n: i64 = array_size axis=0 a
            r: f64 = for n, x:
              body (k: i64, s: f64):
                i: i64 = wrap_index k, n
                ok: bool = ult i, n
                check exception=IndexError message=index{0} ok, k
                v: f64 = array_get a, i
                t: f64 = add s, v
                yield t
            return r
        """,
        """
        def f(a: f64[:], x: f64) -> f64:
            n: i64 = array_size axis=0 a
            r: f64 = for n, x:
              body (k: i64, s: f64):
                v: f64 = array_get a, k
                t: f64 = add s, v
                yield t
            return r
        """,
    )


def checks_left(text, names="bounds simplify bounds dce"):
    program = parse(text)
    apply(program, *names.split())
    return [op.attrs["message"] for op in program.functions[program.entry].body.walk() if op.name == "check"]


COUNTS = {
    "a count of some trips": ("zero", "select c, one, zero", []),
    "a count from any start": ("start", "select c, one, zero", ["overflow"]),
    "steps of two": ("zero", "select c, two, zero", ["overflow"]),
    "steps that grow": ("zero", "mul k, one", ["overflow"]),
}


@pytest.mark.parametrize("name", COUNTS)
def test_a_count_of_trips_does_not_overflow(name):
    start, step, left = COUNTS[name]
    assert checks_left(f"""
        def f(n: i64, c: bool, start: i64) -> i64:
            zero: i64 = const 0
            one: i64 = const 1
            two: i64 = const 2
            r: i64 = for n, {start}:
              body (k: i64, count: i64):
                step: i64 = {step}
                over: bool = add_overflows count, step
                fine: bool = not_ over
                check exception=OverflowError message=overflow fine
                next: i64 = add count, step
                yield next
            return r
        """) == left


def test_ranges_follow_counters_differences_and_conditions():
    left = checks_left("""
        def f(a: f64[:], m: i64) -> i64:
            n: i64 = array_size axis=0 a
            one: i64 = const 1
            zero: i64 = const 0
            last: i64 = sub n, one
            for n:
              body (k: i64):
                back: i64 = sub last, k
                ok: bool = ult back, n
                check exception=IndexError message=reversed ok
                next: i64 = add k, one
                over: bool = add_overflows k, one
                fine: bool = not_ over
                check exception=OverflowError message=overflow fine
                inside: bool = lt next, n
                if inside:
                  then:
                    ok2: bool = ult next, n
                    check exception=IndexError message=next ok2
                    yield
                  else:
                    yield
                for k:
                  body (j: i64):
                    ok3: bool = ult j, n
                    check exception=IndexError message=inner ok3
                    yield
                yield
            r: i64 = while zero:
              cond (i: i64):
                go: bool = lt i, n
                yield go
              body (i2: i64):
                ok4: bool = ult i2, n
                check exception=IndexError message=counter ok4
                i3: i64 = add i2, one
                yield i3
            bad: bool = ult m, n
            check exception=IndexError message=unknown bad
            check exception=IndexError message=again bad
            return r
    """)
    assert left == ["unknown"]


def test_a_trip_count_that_is_clipped():
    left = checks_left("""
        def f(a: f64[:], b: i64) -> i64:
            n: i64 = array_size axis=0 a
            one: i64 = const 1
            zero: i64 = const 0
            some: bool = lt one, n
            room: i64 = sub n, one
            trips: i64 = select some, room, zero
            for trips:
              body (k: i64):
                i: i64 = add k, one
                ok: bool = ult i, n
                check exception=IndexError message=there ok
                ok2: bool = ult k, n
                check exception=IndexError message=before ok2
                yield
            return b
    """)
    assert left == []


def test_a_wrapping_counter_is_not_trusted():
    left = checks_left("""
        def f(n: i64, m: i64) -> i64:
            one: i64 = const 1
            zero: i64 = const 0
            r: i64 = for n, zero:
              body (k: i64, i: i64):
                j: i64 = add i, m
                ok: bool = ge i, zero
                check exception=ValueError message=negative ok
                yield j
            return r
    """)
    assert left == ["negative"]


def test_unroll():
    rewrites(
        "unroll",
        """
        def f(x: f64) -> f64:
            n: i64 = const 2
            r: f64 = for n, x:
              body (k: i64, a: f64):
                b: f64 = mul a, a
                yield b
            return r
        """,
        """
        def f(x: f64) -> f64:
            n: i64 = const 2
            k0: i64 = const 0
            b: f64 = mul x, x
            k1: i64 = const 1
            c: f64 = mul b, b
            return c
        """,
    )


def test_a_while_that_counts_is_a_for():
    rewrites(
        "counted simplify dce",
        """
        def f(x: f64, n: i64) -> f64, i64, f64, i64:
            zero: i64 = const 0
            one: i64 = const 1
            down: i64 = const -1
            i: i64, s: f64 = while zero, x:
              cond (a: i64, b: f64):
                go: bool = lt a, n
                yield go
              body (c: i64, d: f64):
                e: f64 = mul d, d
                j: i64 = add c, one
                yield j, e
            m: i64, t: f64 = while n, x:
              cond (a2: i64, b2: f64):
                go2: bool = gt a2, one
                yield go2
              body (c2: i64, d2: f64):
                w: f64 = cast to=f64 c2
                e2: f64 = mul d2, w
                j2: i64 = add c2, down
                yield j2, e2
            return s, i, t, m
        """,
        """
        def f(x: f64, n: i64) -> f64, i64, f64, i64:
            zero: i64 = const 0
            one: i64 = const 1
            down: i64 = const -1
            h: i64 = maximum n, zero
            s: f64 = for h, x:
              body (c: i64, d: f64):
                e: f64 = mul d, d
                yield e
            i: i64 = maximum n, zero
            g: i64 = maximum n, one
            trips: i64 = add g, down
            t: f64 = for trips, x:
              body (k: i64, d2: f64):
                c2: i64 = sub n, k
                w: f64 = cast to=f64 c2
                e2: f64 = mul d2, w
                yield e2
            m: i64 = minimum one, n
            return s, i, t, m
        """,
    )


SPLIT = """
    def f(a: f64[:], b: f64[:], x: f64, n: i64, m: i64, fixed: bool) -> f64:
        p: i64 = array_size axis=0 a
        q: i64 = array_size axis=0 b
        r: f64 = for n, x:
          body (k: i64, s: f64):
            i: i64 = add k, m
            w: i64 = wrap_index i, p
            ok: bool = ult w, p
            check exception=IndexError message=first{0} ok, i
            u: f64 = array_get a, w
            j: i64 = sub m, k
            y: i64 = wrap_index j, q
            fine: bool = ult y, q
            check exception=IndexError message=second{0} fine, j
            v: f64 = array_get b, y
            check exception=ValueError message=third fixed
            t: f64 = mul u, v
            z: f64 = add s, t
            yield z
        return r
"""


def test_loops_are_split_where_checks_begin_to_fail():
    program, plain = parse(SPLIT), parse(SPLIT)
    apply(program, "split", "split", "simplify", "dce")
    first, rest = [op for op in program.functions["f"].body.ops if op.name == "for"]
    assert "check" not in [op.name for op in first.blocks[0].ops]
    assert [op.name for op in rest.blocks[0].ops].count("check") == 3
    draw = random.Random(0)
    for _ in range(200):
        sizes = draw.randint(0, 4), draw.randint(0, 4)
        arguments = [*(np.arange(size) + 1.0 for size in sizes), 0.5, draw.randint(-2, 6), draw.randint(-3, 5)]
        arguments.append(draw.random() < 0.8)
        assert agree(outcome(plain, arguments), outcome(program, arguments)), arguments


KEPT = """
    def f(n: i64, m: i64, t: i64) -> i64:
        zero: i64 = const 0
        a: f64[:,:]c = array_zeros dtype=f64 n, m
        kept: buffer<f64[:,:]c> = buffer element=f64[:,:]c t
        last: f64[:,:]c = for t, a:
          body (k: i64, u: f64[:,:]c):
            s: i64 = array_size axis=0 u
            v: f64[:,:]c = array_zeros dtype=f64 s, k
            buffer_put kept, k, v
            yield v
        total: i64 = for t, zero:
          body (k2: i64, sum: i64):
            w: f64[:,:]c = buffer_get kept, k2
            rows: i64 = array_size axis=0 w
            columns: i64 = array_size axis=1 w
            both: i64 = add rows, columns
            more: i64 = add sum, both
            yield more
        return total
"""


def test_arrays_taken_from_a_buffer_have_the_sizes_of_those_put_there():
    """The first axis is that of all; the second changes from trip to trip."""
    program = parse(KEPT)
    apply(program, "sizes")
    assert "add n, columns" in show_function(program.functions["f"])
    for counts in ((3, 4, 5), (0, 2, 3), (2, 2, 0)):
        assert outcome(program, [np.int64(c) for c in counts]) == [counts[2] * counts[0] + sum(range(counts[2]))]


def test_memory_is_freed_after_its_last_use():
    rewrites(
        "ownership",
        """
        def f(x: f64, n: i64) -> f64, f64[:]c:
            a: f64[:]c = array_zeros dtype=f64 n
            b: f64[:]c = array_zeros dtype=f64 n
            v: f64[:,:]c = view_expand axis=0 a
            for n:
              body (k: i64):
                t: buffer<f64> = buffer element=f64 n
                buffer_put t, k, x
                array_inc a, k, x
                yield
            y: f64 = array_get v, n, n
            z: f64 = exp y
            return z, b
        """,
        """
        def f(x: f64, n: i64) -> f64, f64[:]c:
            a: f64[:]c = array_zeros dtype=f64 n
            b: f64[:]c = array_zeros dtype=f64 n
            v: f64[:,:]c = view_expand axis=0 a
            for n:
              body (k: i64):
                t: buffer<f64> = buffer element=f64 n
                buffer_put t, k, x
                free t
                array_inc a, k, x
                yield
            y: f64 = array_get v, n, n
            free a
            z: f64 = exp y
            return z, b
        """,
    )

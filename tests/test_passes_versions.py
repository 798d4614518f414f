"""Writes of expressions: two versions where memory may be shared, one where a check has shown that sizes agree."""

import numpy as np

from ir_text import parse
from meaning import apply, rewrites
from pullback.interp import run


def test_a_write_that_may_share_memory_has_two_versions():
    rewrites(
        "versions dce",
        """
        def f(a: f64[:]c, b: f64[:]c, x: f64):
            n: i64 = array_size axis=0 a
            t: f64[:]c = elementwise rank=1 outputs=(new) targets=0 n, b, x:
              block (u: f64, v: f64):
                w: f64 = mul u, v
                yield w
            elementwise rank=1 outputs=(set) targets=1 n, a, t, a:
              block (p: f64, q: f64):
                r: f64 = add p, q
                yield r
            return
        """,
        """
        def f(a: f64[:]c, b: f64[:]c, x: f64):
            n: i64 = array_size axis=0 a
            z: bool = const False
            o: bool = array_overlap a, b
            m: bool = or_ z, o
            if m:
              then:
                t: f64[:]c = elementwise rank=1 outputs=(new) targets=0 n, b, x:
                  block (u: f64, v: f64):
                    w: f64 = mul u, v
                    yield w
                elementwise rank=1 outputs=(set) targets=1 n, a, t, a:
                  block (p: f64, q: f64):
                    r: f64 = add p, q
                    yield r
                yield
              else:
                elementwise rank=1 outputs=(set) targets=1 n, b, x, a, a:
                  block (u2: f64, v2: f64, p2: f64):
                    w2: f64 = mul u2, v2
                    r2: f64 = add p2, w2
                    yield r2
                yield
            return
        """,
    )


SHIFTED = """
    def f(a: f64[:]c, b: f64[:]c, x: f64):
        n: i64 = array_size axis=0 a
        t: f64[:]c = elementwise rank=1 outputs=(new) targets=0 n, b, x:
          block (u: f64, v: f64):
            w: f64 = mul u, v
            yield w
        elementwise rank=1 outputs=(set) targets=1 n, a, t, a:
          block (p: f64, q: f64):
            r: f64 = add p, q
            yield r
        return
"""


def test_both_versions_give_what_one_gives():
    for low in (0, 1, 3, 6):
        found = []
        for names in ((), ("versions", "simplify", "dce")):
            program, memory = parse(SHIFTED), np.arange(12.0)
            apply(program, *names)
            run(program, [memory[:6], memory[low : low + 6], np.float64(0.5)])
            found.append(memory.tolist())
        assert found[0] == found[1]


def test_sizes_that_were_compared_are_one_for_fusion():
    rewrites(
        "fuse",
        """
        def f(a: f64[:]c, b: f64[:]c) -> f64:
            m: i64 = array_size axis=0 a
            n: i64 = array_size axis=0 b
            t: f64[:]c = elementwise rank=1 outputs=(new) targets=0 n, b:
              block (u: f64):
                w: f64 = neg u
                yield w
            e: bool = eq m, n
            check exception=ValueError message=unlike e
            s: f64 = elementwise rank=1 outputs=(sum) targets=0 m, a, t:
              block (p: f64, q: f64):
                r: f64 = mul p, q
                yield r
            return s
        """,
        """
        def f(a: f64[:]c, b: f64[:]c) -> f64:
            m: i64 = array_size axis=0 a
            n: i64 = array_size axis=0 b
            e: bool = eq m, n
            check exception=ValueError message=unlike e
            s: f64 = elementwise rank=1 outputs=(sum) targets=0 m, b, a:
              block (u: f64, p: f64):
                w: f64 = neg u
                r: f64 = mul p, w
                yield r
            return s
        """,
    )


def test_what_is_stored_back_is_not_written():
    rewrites(
        "fuse",
        """
        def f(a: f64[:]c, b: f64[:]c) -> f64[:]c:
            n: i64 = array_size axis=0 a
            t: f64[:]c = elementwise rank=1 outputs=(new, set) targets=1 n, a, a:
              block (u: f64):
                yield u, u
            s: f64[:]c = elementwise rank=1 outputs=(new) targets=0 n, t, b:
              block (p: f64, q: f64):
                r: f64 = mul p, q
                yield r
            return s
        """,
        """
        def f(a: f64[:]c, b: f64[:]c) -> f64[:]c:
            n: i64 = array_size axis=0 a
            s: f64[:]c = elementwise rank=1 outputs=(new) targets=0 n, a, b:
              block (p: f64, q: f64):
                r: f64 = mul p, q
                yield r
            return s
        """,
    )


def test_trips_know_that_there_are_trips_and_what_was_checked_for_them():
    rewrites(
        "equal simplify dce",
        """
        def f(n: i64, m: i64) -> i64:
            zero: i64 = const 0
            three: i64 = const 3
            some: bool = gt n, zero
            e: bool = eq m, three
            if some:
              then:
                check exception=ValueError message=unlike e
                yield
              else:
                yield
            s: i64 = for n, zero:
              body (k: i64, t: i64):
                p: i64 = add t, m
                q: i64 = if some:
                  then:
                    yield p
                  else:
                    yield zero
                yield q
            r: i64 = add s, m
            return r
        """,
        """
        def f(n: i64, m: i64) -> i64:
            zero: i64 = const 0
            three: i64 = const 3
            some: bool = gt n, zero
            e: bool = eq m, three
            if some:
              then:
                check exception=ValueError message=unlike e
                yield
              else:
                yield
            s: i64 = for n, zero:
              body (k: i64, t: i64):
                p: i64 = add t, three
                yield p
            r: i64 = add s, m
            return r
        """,
    )

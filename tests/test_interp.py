"""The reference interpreter: every structured op, memory, checks, and its own strictness."""

import sys

import numpy as np
import pytest

from ir_text import parse
from pullback.diagnostic import InternalError, Span
from pullback.interp import run


def answers(text, *arguments, others=()):
    return run(parse(text, *others), arguments)


def test_scalars_have_their_dtype():
    results = answers(
        """
        def f(x: f32, i: i32, p: bool) -> f32, i32, i64, bool, f64:
            y: f32 = mul x, x
            j: i32 = add i, i
            k: i64 = cast to=i64 p
            q: bool = not_ p
            c: f64 = const 0.1
            return y, j, k, q, c
        """,
        0.1, 2**30, True,
    )  # fmt: skip
    assert [type(v) for v in results] == [np.float32, np.int32, np.int64, np.bool_, np.float64]
    assert results == [np.float32(0.1) * np.float32(0.1), -(2**31), 1, False, 0.1]


def test_if_while_and_for():
    text = """
        def f(n: i64, x: f64) -> f64, i64:
            one: i64 = const 1
            two: i64 = const 2
            r: f64 = for n, x:
              body (k: i64, a: f64):
                w: f64 = cast to=f64 k
                b: f64 = add a, w
                yield b
            m: i64, steps: i64 = while n, n:
              cond (c: i64, s: i64):
                go: bool = gt c, one
                yield go
              body (c2: i64, s2: i64):
                h: i64 = floordiv c2, two
                odd: i64 = mod c2, two
                p: bool = eq odd, one
                t: i64 = if p:
                  then:
                    u: i64 = add s2, one
                    yield u
                  else:
                    yield s2
                yield h, t
            return r, steps
        """
    assert answers(text, 5, 0.5) == [10.5, 6]
    assert answers(text, -3, 0.5) == [0.5, -3]


def test_calls_recur_deeply():
    depth = 20_000
    assert depth > sys.getrecursionlimit()
    text = """
        def count(n: i64) -> i64:
            one: i64 = const 1
            zero: i64 = const 0
            c: bool = le n, zero
            r: i64 = if c:
              then:
                yield zero
              else:
                m: i64 = sub n, one
                s: i64 = call callee=count m
                t: i64 = add s, one
                yield t
            return r
        """
    assert answers(text, depth) == [depth]
    with pytest.raises(RecursionError):
        answers(text, 10**9)


def test_a_check_raises_with_its_span_and_payload():
    text = """
        def f(x: f64, i: i64) -> f64:
            z: f64 = const 0.0
            ok: bool = gt x, z
            check exception=IndexError message={1}/{0} ok, x, i
            return x
        """
    assert answers(text, 1.0, 3) == [1.0]
    with pytest.raises(IndexError, match=r"3/-1\.5") as caught:
        answers(text, -1.5, 3)
    assert caught.value.pullback_span == Span("text.py", 4)


def test_nothing_is_warned_of():
    with np.errstate(all="raise"):
        assert np.isinf(answers("def f(x: f64, y: f64) -> f64:\n    z: f64 = div x, y\n    return z", 1.0, 0.0)[0])


def test_arrays_and_views():
    a = np.arange(6.0).reshape(2, 3)[:, ::-1]
    results = answers(
        """
        def f(a: f64[:,:], i: i64, j: i64) -> f64, f64, i64, i64, f64, bool:
            x: f64 = array_get a, i, j
            row: f64[:] = view_index axis=0 a, i
            y: f64 = array_get row, j
            t: f64[:,:] = view_transpose perm=(1, 0) a
            n: i64 = array_size axis=0 t
            e: f64[:,:,:] = view_expand axis=1 a
            one: i64 = array_size axis=1 e
            col: f64[:] = view_index axis=1 a, j
            z: f64[:,:] = view_expand axis=0 col
            w: f64 = array_get col, i
            same: bool = array_same a, a
            return x, y, n, one, w, same
        """,
        a, 1, 2,
    )  # fmt: skip
    assert results == [a[1, 2], a[1, 2], 3, 1, a[1, 2], True]


def test_memory_is_written():
    target, a = np.zeros((2, 2)), np.array([[1.0, 2.0], [3.0, 4.0]])
    (zeros, product, total) = answers(
        """
        def f(s: f64[:,:], a: f64[:,:], n: i64, i: i64, x: f64) -> f64[:]c, f64[:,:]c, f64:
            z: f64[:]c = array_zeros dtype=f64 n
            array_inc z, i, x
            array_inc z, i, x
            p: f64[:,:]c = matmul a, a
            matmul_inc s, a, a
            acc: buffer<f64> = buffer_zeros element=f64 n
            buffer_inc acc, i, x
            buffer_inc acc, i, x
            t: f64 = buffer_get acc, i
            return z, p, t
        """,
        target, a, 3, 1, 2.5,
    )  # fmt: skip
    assert zeros.tolist() == [0.0, 5.0, 0.0] and total == 5.0
    assert np.array_equal(product, a @ a) and np.array_equal(target, a @ a)


ELEMENTWISE = """
    def f(n: i64, m: i64, a: f64[:,:], b: f64[:], x: f64, t: f64[:,:]) -> f64[:,:]c, f64:
        new: f64[:,:]c, sum: f64 = elementwise rank=2 outputs=(new, sum, inc) targets=1 n, m, a, b, x, t:
          block (p: f64, q: f64, r: f64):
            u: f64 = mul p, q
            v: f64 = add u, r
            yield v, u, v
        return new, sum
"""


@pytest.mark.parametrize("shape", [(2, 3), (1, 3), (2, 1), (1, 1)])
def test_elementwise_aligns_inputs_and_targets(shape):
    a, b, target = np.arange(6.0).reshape(2, 3)[: shape[0], : shape[1]], np.array([1.0, 10.0, 100.0]), np.zeros(shape)
    new, total = answers(ELEMENTWISE, 2, 3, a, b, 0.5, target)
    expected = np.broadcast_to(a * b, (2, 3)) + 0.5
    axes = tuple(axis for axis in (0, 1) if shape[axis] == 1)
    assert np.array_equal(new, expected)
    assert total == np.sum(expected - 0.5)
    assert np.array_equal(target, expected.sum(axis=axes, keepdims=True) if axes else expected)


def test_elementwise_over_nothing():
    new, total = answers(ELEMENTWISE, 0, 3, np.zeros((0, 3)), np.ones(3), 1.0, np.zeros((1, 3)))
    assert new.shape == (0, 3) and total == 0.0


def test_records():
    text = """
        def f(x: f64, i: i64) -> f64, i64, i64:
            r: box R = box name=R variant=1 x, i
            t: i64 = box_tag r
            slot_inc slot=0 r, x
            y: f64 = slot_get slot=0 type=f64 r
            u: f64, j: i64 = unbox name=R variant=1 types=(f64, i64) r
            return y, j, t
        """
    assert answers(text, 1.5, 7) == [3.0, 7, 1]
    with pytest.raises(InternalError, match="variant 1 is opened as variant 0"):
        answers(text.replace("unbox name=R variant=1", "unbox name=R variant=0"), 1.5, 7)


BUFFER = """
    def f(i: i64, j: i64, x: f64) -> f64:
        b: buffer<f64> = buffer element=f64 i
        buffer_put b, i, x
        {0}
        y: f64 = buffer_get b, j
        return y
"""


def test_buffers():
    assert answers(BUFFER.format(""), 0, 0, 1.5) == [1.5]
    for line, j, message in [("", 1, "never written"), ("buffer_put b, i, x", 0, "again"), ("free b", 0, "after free")]:
        with pytest.raises(InternalError, match=message):
            answers(BUFFER.format(line), 0, j, 1.5)


def test_freed_and_unset_arrays_read_as_nan():
    text = """
        def f(n: i64, i: i64) -> f64:
            a: f64[:]c = array_{0} dtype=f64 n
            {1}
            x: f64 = array_get a, i
            return x
        """
    assert np.isnan(answers(text.format("empty", ""), 2, 1)[0])
    assert np.isnan(answers(text.format("zeros", "free a"), 2, 1)[0])
    with pytest.raises(InternalError, match="outside"):
        answers(text.format("zeros", ""), 2, 2)


def test_wrong_arguments_are_refused():
    text = "def f(a: f64[:]) -> f64[:]:\n    return a"
    with pytest.raises(InternalError, match="rank 2"):
        answers(text, np.zeros((2, 2)))
    a = np.zeros(3)
    assert answers(text, a)[0] is a

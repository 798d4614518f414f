"""In-place reuse of dying arrays: pairs of programs before and after, and counts of allocations."""

import numpy as np
import pytest

import pullback as pb
from ir_text import parse
from meaning import apply, rewrites
from pullback import testing


def test_the_last_reader_writes_into_a_fresh_array():
    rewrites(
        "reuse",
        """
        def f(a: f64[:,:]c, b: f64[:,:]c) -> f64[:,:]c:
            t: f64[:,:]c = matmul a, b
            n: i64 = array_size axis=0 a
            m: i64 = array_size axis=1 t
            h: f64[:,:]c = elementwise rank=2 outputs=(new) targets=0 n, m, t:
              block (u: f64):
                v: f64 = tanh u
                yield v
            return h
        """,
        """
        def f(a: f64[:,:]c, b: f64[:,:]c) -> f64[:,:]c:
            t: f64[:,:]c = matmul a, b
            n: i64 = array_size axis=0 a
            m: i64 = array_size axis=1 t
            elementwise rank=2 outputs=(set) targets=1 n, m, t, t:
              block (u: f64):
                v: f64 = tanh u
                yield v
            return t
        """,
    )


def test_a_product_needs_no_zeros():
    rewrites(
        "reuse",
        """
        def f(a: f64[:,:]c, n: i64) -> f64[:,:]c:
            s: f64[:,:]c = array_zeros dtype=f64 n, n
            matmul_inc s, a, a
            matmul_inc s, a, a
            return s
        """,
        """
        def f(a: f64[:,:]c, n: i64) -> f64[:,:]c:
            s: f64[:,:]c = matmul a, a
            matmul_inc s, a, a
            return s
        """,
    )


MADE = """
    t: f64[:]c = elementwise rank=1 outputs=(new) targets=0 n, a:
      block (u: f64):
        yield u
"""
READ = """
    h: f64[:]c = elementwise rank=1 outputs=(new) targets=0 n, t:
      block (v: f64):
        w: f64 = exp v
        yield w
"""
KEPT = {
    "used later": f"{MADE}{READ}    r: f64 = array_get t, n\n    return h",
    "seen later through a view": f"{MADE}    q: f64[:,:]c = view_expand axis=0 t\n"
    f"{READ}    r: f64 = array_get q, n, n\n    return h",
    "returned": f"{MADE}{READ}    return h, t",
    "given by the caller": READ.replace("n, t:", "n, a:") + "    return h",
    "of another size": f"{MADE}{READ.replace('targets=0 n,', 'targets=0 m,')}    return h",
    "read by the op in another way": f"{MADE}    q: f64[:] = view_slice axis=0 t, n, n, n\n"
    + READ.replace("n, t:", "n, t, q:").replace("(v: f64)", "(v: f64, v2: f64)") + "    return h",
    "carried by a loop": f"{MADE}    c: f64[:]c = for n, t:\n      body (k: i64, d: f64[:]c):\n        yield d\n{READ}"
    "    return h",
    "made outside of a loop": f"{MADE}    for n:\n      body (k: i64):\n"
    + READ.replace("\n", "\n    ") + "    yield\n    return",
}  # fmt: skip


@pytest.mark.parametrize("name", KEPT)
def test_arrays_that_others_see_stay(name):
    text = f"def f(a: f64[:]c, n: i64, m: i64) -> f64[:]c:\n{KEPT[name]}\n"
    program, before = parse(text), parse(text)
    apply(program, "reuse")
    kinds = [[str(op.attrs.get("outputs")) for op in p.functions["f"].body.walk()] for p in (program, before)]
    assert kinds[0] == kinds[1]


def network(w1, b1, w2, b2, x):
    h = np.tanh(x @ w1 + b1)
    o = h @ w2 + b2
    return np.sum(o * o)


def test_a_network_has_an_array_per_layer():
    rng = np.random.default_rng(1)
    shapes = ((20, 30), (30,), (30, 5), (5,), (7, 20))
    arguments = tuple(rng.normal(size=shape) for shape in shapes)
    compiled, gradient = pb.jit(network), pb.grad(network, (0, 1, 2, 3))
    assert compiled(*arguments) == pytest.approx(network(*arguments), rel=1e-12)
    plain = testing.gradient(network, arguments, (0, 1, 2, 3), mode="r", engine="native", passes=False)
    for one, other in zip(gradient(*arguments), plain, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-10)
    pb.stats(reset=True)
    compiled(*arguments)
    done = pb.stats(reset=True)
    assert (done.allocations, done.kernels, done.matrix_products) == (2, 2, 2)
    gradient(*arguments)
    done = pb.stats()
    made = "h, o, the cotangent of h, four results, and the transposed operand of a product with its rows side by side"
    assert (done.allocations, done.matrix_products) == (8, 5), made

"""Differentiation of typed IR, on programs built by hand and run by the interpreter.

Every program is differentiated up to three times in every mixture of the modes; the mixtures must agree with one
another and with differences of the order below.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from pullback import interp
from pullback.ad import expand
from pullback.diagnostic import CompileError
from pullback.ir.check import check_program
from pullback.ir.node import Program
from pullback.ir.walk import clone_function
from pullback.types import ArrayRef, Box, DType
from typed import BOOL, F64, I64, Code

A1, A2 = ArrayRef(DType.F64, 1), ArrayRef(DType.F64, 2)
C1, C2 = ArrayRef(DType.F64, 1, True), ArrayRef(DType.F64, 2, True)
PROGRAMS = {}


def program(*arguments, types=(F64,), layouts=None, tolerance=1e-5):
    """Register a program: `build(code, *params)` gives the result; the first argument is differentiated."""

    def register(build):
        PROGRAMS[build.__name__] = (build, types, arguments, layouts or {}, tolerance)
        return build

    return register


def build(name):
    make, types, arguments, layouts, _ = PROGRAMS[name]
    code = Code("f", *types)
    result = make(code, *code.params)
    extra = []
    if isinstance(result, tuple):
        result, extra = result
    functions = {"f": code.done(result), **{f.name: f for f in extra}}
    return Program(functions, "f", layouts), arguments


def derivative(source, modes):
    """The program whose entry is the derivative of the entry in each of the modes, the first innermost."""
    out = Program({k: clone_function(f) for k, f in source.functions.items()}, source.entry, source.layouts)
    current = source.entry
    types = [v.type for v in source.functions[current].body.params]
    for depth, mode in enumerate(modes):
        code = Code(f"d{depth}", *types)
        if mode == "r":
            found = code.request("value_and_grad", current, code.params, [F64, F64], wrt=(0,), outputs=(0,))
        elif mode == "f":
            found = code.request("jvp", current, [*code.params, code.const(1.0)], [F64, F64], wrt=(0,))
        else:
            box = f"b{depth}"
            y, record = code.request("vjp", current, code.params, [F64, Box(box)], wrt=(0,), box=box)
            first = code.request("pullback", current, [record, code.const(0.25)], [F64], wrt=(0,), box=box)
            second = code.request("pullback", current, [record, y * 0.0 + 0.75], [F64], wrt=(0,), box=box)
            out.layouts.setdefault(box, [])
            found = [y, first[0] + second[0]]
        out.functions[code.name] = code.done(found[1])
        current = code.name
    out.entry = current
    expand(out)
    check_program(out, f"expansion of {modes}")
    names = {op.name for f in out.functions.values() for op in f.body.walk()}
    assert names.isdisjoint({"value_and_grad", "jvp", "vjp", "pullback"})
    return out


def run(program, arguments):
    return float(interp.run(program, [np.array(a) if isinstance(a, np.ndarray) else a for a in arguments])[0])


# ----------------------------------------------------------------------------------------------------------- programs


@program(0.7)
def poly(c, x):
    return x * x * x + 2.0 * x


@program(0.8)
def quotient(c, x):
    return x**3 / (1.0 + x**2) - c.sqrt(x) * c.log(x + 0.5)


@program(0.7, 4, types=(F64, I64))
def power_loop(c, x, n):
    (r,) = c.for_(n, [c.const(1.0)], lambda k, r: [r * x])
    return r


@program(0.7, 3, types=(F64, I64))
def mixed_loop(c, x, n):
    r, s = c.for_(n, [x, c.const(0.5)], lambda k, r, s: [r * x + c.sin(s), s * r + c.cast(k, to=DType.F64) * x])
    return c.if_(r > 0.0, lambda: [r * x + s], lambda: [c.exp(x)])[0]


@program(2.3)
def newton(c, x):
    y, _ = c.while_(
        [x, c.const(0, I64)],
        lambda y, n: (c.abs(y * y - x) > 0.0001) & (n < 20),
        lambda y, n: [0.5 * (y + x / y), n + 1],
    )
    return y


@program(0.7)
def brk(c, x):
    """Loops with flags, as the front end makes of break and continue."""

    def inner(i, s, go):
        def body(j, s, go):
            t = s + x * c.sin(s + c.cast(j, to=DType.F64))
            again = (t < 2.5) & (j < 4)
            return c.if_(again, lambda: [j + 1, t * 1.1, again], lambda: [j, t, again])

        return c.while_([c.const(0, I64), s, c.const(True, BOOL)], lambda j, s, go: go, body)

    def outer(i, s):
        def step():
            _, t, _ = inner(i, s, None)
            return [t * 0.7]

        return c.if_(c.mod(i, 3) > 1, lambda: [s], step)

    return c.for_(5, [x], outer)[0]


@program(0.6, 3, 4, types=(F64, I64, I64))
def nest(c, x, n, m):
    """Rectangular nest: one flat buffer per value."""

    def outer(i, s):
        def inner(j, s, t):
            u = c.sin(s * x) + t * c.cast(i, to=DType.F64) * 0.1
            return [u, c.exp(t * 0.3) * u * x]

        s, t = c.for_(m, [s, x], inner)
        return [s * t + x]

    return c.for_(n, [x], outer)[0]


@program(0.6, 4, types=(F64, I64))
def triangle(c, x, n):
    """The inner trip count depends on the outer index; a branch around the inner loop."""

    def outer(i, s):
        def deep():
            (t,) = c.for_(i, [s], lambda j, t: [c.sin(t) * x + t * t * 0.1])
            return [t]

        return c.if_(s > 0.3, deep, lambda: [s * s + x])

    return c.for_(n, [x], outer)[0]


@program(0.6, 2, types=(F64, I64))
def whiles(c, x, n):
    def outer(s, i):
        t, j = c.while_([s, c.const(0, I64)], lambda t, j: (t < 3.0) & (j < 3), lambda t, j: [t * t * x + 1.0, j + 1])
        (u,) = c.for_(j, [t], lambda k, u: [u * 0.5 + c.cos(u) * x])
        return [u, i + 1]

    return c.while_([x, c.const(0, I64)], lambda s, i: i < n, outer)[0]


@program(0.4, np.array([0.3, -1.2, 0.8]), types=(F64, C1))
def reads(c, x, a):
    n = c.array_size(a, axis=0)
    return c.for_(n, [x], lambda k, s: [s * a[k] + c.sin(a[k] * x) * s])[0]


@program(0.4, np.array([[0.3, -1.2], [0.8, 0.5]]), types=(F64, A2))
def reads2(c, x, a):
    def outer(i, s):
        row = c.view_index(a, i, axis=0)
        return c.for_(c.array_size(a, axis=1), [s], lambda j, s: [s * row[j] + x * s * s * 0.2])

    return c.for_(c.array_size(a, axis=0), [x], outer)[0]


@program(0.4, np.array([0.3, -1.2, 0.8]), types=(F64, C1))
def chain(c, x, a):
    """Elementwise ops in a row, then a sum."""
    n = c.array_size(a, axis=0)
    (y,) = c.map([n], [a, x], ["new"], lambda v, x: [c.tanh(v * x) + x])
    z, s = c.map([n], [y, a, x], ["new", "sum"], lambda y, v, x: [c.exp(y) * v, y * y * x])
    (t,) = c.map([n], [z, y], ["sum"], lambda z, y: [z * y + c.sin(z)])
    return s * t + z[0]


@program(0.4, np.array([[0.3], [0.8]]), np.array([0.1, -0.7, 0.2]), types=(F64, A2, C1))
def broadcast(c, x, a, b):
    n, m = c.array_size(a, axis=0), c.array_size(b, axis=0)
    (y,) = c.map([n], [c.view_transpose(a, perm=(1, 0)), x], ["new"], lambda v, x: [v * x]) if False else c.map(
        [n, c.const(1, I64)], [a, x], ["new"], lambda v, x: [v * x * x]
    )
    (w,) = c.map([m], [b, x], ["new"], lambda v, x: [c.sin(v + x)])
    (z,) = c.map([n, m], [y, w], ["new"], lambda y, w: [y * w + w * w])
    (s,) = c.map([n, m], [z, y], ["sum"], lambda z, y: [z * z * y])
    return s


@program(0.4, np.array([[0.3, 0.1], [0.8, -0.5]]), types=(F64, A2))
def products(c, x, a):
    n = c.array_size(a, axis=0)
    (y,) = c.map([n, n], [a, x], ["new"], lambda v, x: [v * x])
    z = c.matmul(y, c.view_transpose(y, perm=(1, 0)))
    w = c.matmul(z, y)
    (s,) = c.map([n, n], [w, z], ["sum"], lambda w, z: [c.sin(w) * z])
    return s


@program(0.4, np.array([[0.3, 0.1], [0.8, -0.5]]), np.array([[0.2], [0.4]]), 3, types=(F64, A2, A2, I64))
def recurrent(c, x, w, h0, n):
    """A loop that carries an array."""
    m = c.array_size(w, axis=0)
    (h,) = c.map([m, c.const(1, I64)], [h0, x], ["new"], lambda v, x: [v * x])

    def step(k, h, total):
        z = c.matmul(w, h)
        (h1,) = c.map([m, c.const(1, I64)], [z, h, x], ["new"], lambda z, h, x: [c.tanh(z + h * x)])
        (s,) = c.map([m, c.const(1, I64)], [h1], ["sum"], lambda v: [v * v])
        return [h1, total + s * h1[0, 0]]

    h, total = c.for_(n, [h, c.const(0.0)], step)
    return total * h[1, 0]


@program(0.4, np.array([0.3, -1.2, 0.8]), types=(F64, C1))
def picked(c, x, a):
    """Arrays merged by a branch, swapped by a loop, and a view of a merged array."""
    n = c.array_size(a, axis=0)
    (y,) = c.map([n], [a, x], ["new"], lambda v, x: [v * x])
    (z,) = c.map([n], [y], ["new"], lambda v: [c.sin(v)])
    (w,) = c.if_(x > 0.3, lambda: [y], lambda: [z])
    p, q, s = c.for_(3, [w, z, x], lambda k, p, q, s: [q, p, s * p[0] + q[k]])
    (t,) = c.map([n], [p, q], ["sum"], lambda p, q: [p * q])
    v = c.view_index(c.view_expand(p, axis=1), 0, axis=1)
    return s * t + v[2] * x


@program(1.1)
def recur(c, x):
    """f(x, d) = x*d if x > 3 else f(1.5x, d+1)*x + f(x*x + 0.7, d+2)."""
    g = Code("rec", F64, I64)
    y, d = g.params

    def deeper():
        (a,) = g.call("rec", [y * 1.5, d + 1], [F64])
        (b,) = g.call("rec", [y * y + 0.7, d + 2], [F64])
        return [a * y + b]

    (r,) = g.if_(y > 3.0, lambda: [y * g.cast(d, to=DType.F64)], deeper)
    return c.call("rec", [x, c.const(0, I64)], [F64])[0] * x, [g.done(r)]


@program(0.8)
def mutual(c, x):
    even, odd = Code("even", F64, I64), Code("odd", F64, I64)
    y, n = even.params
    (r,) = even.if_(n > 0, lambda: [even.call("odd", [y * y, n - 1], [F64])[0] + y], lambda: [y])
    functions = [even.done(r)]
    y, n = odd.params
    (r,) = odd.if_(n > 0, lambda: [odd.call("even", [odd.sin(y), n - 1], [F64])[0] * y], lambda: [y])
    functions.append(odd.done(r))
    return c.call("even", [x, c.const(5, I64)], [F64])[0], functions


@program(0.8, np.array([0.3, -1.2, 0.8]), types=(F64, C1))
def called(c, x, a):
    """Calls that no pass has removed: in a loop, with arrays as arguments and results."""
    g = Code("scaled", C1, F64)
    b, s = g.params
    (y,) = g.map([g.array_size(b, axis=0)], [b, s], ["new"], lambda v, s: [g.sin(v) * s])
    h = Code("total", C1)
    (b,) = h.params
    (t,) = h.for_(h.array_size(b, axis=0), [h.const(0.0)], lambda k, t: [t * 0.5 + b[k] * b[k]])
    functions = [g.done(y, b[0] * s) if False else g.done(y), h.done(t)]

    def step(k, y, s):
        (z,) = c.call("scaled", [y, s], [C1])
        (t,) = c.call("total", [z], [F64])
        return [z, t + s * x]

    y, s = c.for_(3, [a, x], step)
    return s * c.call("total", [y], [F64])[0], functions


LIST = {"node": [(F64, Box("node")), ()]}


@program(0.6, layouts=LIST)
def linked(c, x):
    """A list of records built in a loop and folded by recursion."""
    g = Code("fold", Box("node"), F64)
    t, acc = g.params

    def more():
        v, rest = g.op("unbox", t, name="node", variant=0, types=(F64, Box("node")))
        return g.call("fold", [rest, acc * v + g.sin(v)], [F64])

    (r,) = g.if_(g.eq(g.box_tag(t), 0), more, lambda: [acc])
    empty = c.box(name="node", variant=1)
    (top,) = c.for_(4, [empty], lambda k, t: [c.box(x * c.cast(k + 1, to=DType.F64), t, name="node", variant=0)])
    return c.call("fold", [top, x], [F64])[0] * x, [g.done(r)]


@program(0.5)
def kinks(c, x):
    m = c.maximum(x * x, 0.1) + c.abs(c.sin(x)) + c.copysign(x, -1.0) * x
    s = c.select(x > 0.2, c.sqrt(x) * x, c.exp(x))
    return m * s + c.python_max(x, x * 0.5) + c.hypot(x, 1.0) * c.atan2(x, 2.0)


@program(0.5)
def nested(c, x):
    """A request inside the program itself, in a loop."""
    g = Code("inner", F64, F64)
    y, z = g.params
    inner = g.done(g.sin(y * z) * y)

    def step(k, s):
        _, d = c.request("value_and_grad", "inner", [s, x], [F64, F64], wrt=(0,), outputs=(0,))
        _, t = c.request("jvp", "inner", [s, x, d], [F64, F64], wrt=(1,))
        return [d * 0.5 + t * x]

    return c.for_(3, [x], step)[0], [inner]


NAMES = sorted(PROGRAMS)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("modes", ["r", "f", "v"])
def test_first(name, modes):
    source, arguments = build(name)
    compare(source, derivative(source, modes), arguments, PROGRAMS[name][-1])


def compare(below, above, arguments, tolerance, step=1e-6):
    x = arguments[0]
    below = derivative(below, "")
    difference = (run(below, [x + step, *arguments[1:]]) - run(below, [x - step, *arguments[1:]])) / (2 * step)
    found = run(above, arguments)
    assert abs(found - difference) <= tolerance * max(1.0, abs(difference)), (found, difference)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("modes", ["".join(p) for p in itertools.product("rf", repeat=2)] + ["rv", "vr"])
def test_second(name, modes):
    source, arguments = build(name)
    compare(derivative(source, modes[:1]), derivative(source, modes), arguments, PROGRAMS[name][-1])


@pytest.mark.parametrize("name", NAMES)
def test_third(name):
    source, arguments = build(name)
    mixtures = map("".join, itertools.product("rf", repeat=3))
    found = {modes: run(derivative(source, modes), arguments) for modes in mixtures}
    first = found["fff"]
    compare(derivative(source, "ff"), derivative(source, "fff"), arguments, PROGRAMS[name][-1])
    assert all(abs(v - first) <= 1e-9 * max(1.0, abs(first)) for v in found.values()), found


# --------------------------------------------------------------------------------------------------- gradients, values


def gradient(types, make, arguments, results, wrt, outputs=(0,), kind="value_and_grad"):
    code = Code("f", *types)
    f = code.done(*make(code, *code.params))
    code = Code("g", *types)
    found = code.request(kind, "f", code.params, results, wrt=wrt, outputs=outputs)
    out = Program({"f": f, "g": code.done(*found)}, "g")
    expand(out)
    check_program(out)
    return out, interp.run(out, arguments)


def test_gradient_of_arrays():
    """Fresh contiguous arrays; a parameter that does not matter gets zeros; the same array twice is two variables."""

    def make(c, a, b, x):
        n = c.array_size(a, axis=0)
        (s,) = c.map([n], [a, x], ["sum"], lambda v, x: [c.sin(v) * x])
        return [s + a[1] * a[2]]

    a = np.array([0.1, 0.5, -0.3])
    _, (value, ga, gb, gx) = gradient((A1, A1, F64), make, [a, a, 2.0], [F64, C1, C1, F64], (0, 1, 2))
    assert np.allclose(ga, 2.0 * np.cos(a) + [0.0, a[2], a[1]])
    assert gb.tolist() == [0.0, 0.0, 0.0]
    assert np.isclose(gx, np.sin(a).sum())
    assert ga is not a and np.isclose(value, 2.0 * np.sin(a).sum() + a[1] * a[2])


def test_order_of_wrt_and_several_outputs():
    def make(c, x, y):
        return [x * y, x, y * y * x]

    _, found = gradient((F64, F64), make, [2.0, 3.0], [F64] * 5, (1, 0), outputs=(0, 2))
    assert [float(v) for v in found[:3]] == [6.0, 2.0, 18.0]
    assert [float(v) for v in found[3:]] == [2.0 + 2 * 3.0 * 2.0, 3.0 + 9.0]


def test_vjp_of_arrays():
    """The pullback may be called twice; what it is given is not changed."""
    c = Code("f", A1, F64)
    a, x = c.params
    n = c.array_size(a, axis=0)
    (y,) = c.map([n], [a, x], ["new"], lambda v, x: [c.exp(v) * x])
    (s,) = c.map([n], [y], ["sum"], lambda y: [y * y])
    f = c.done(y, s)
    c = Code("g", A1, F64, C1)
    a, x, ct = c.params
    y, s, record = c.request("vjp", "f", [a, x], [C1, F64, Box("b")], wrt=(0, 1), box="b")
    first = c.request("pullback", "f", [record, ct, c.const(0.0)], [C1, F64], wrt=(0, 1), box="b")
    second = c.request("pullback", "f", [record, ct, c.const(1.0)], [C1, F64], wrt=(0, 1), box="b")
    p = Program({"f": f, "g": c.done(*first, *second, ct)}, "g", {"b": []})
    expand(p)
    check_program(p)
    a, ct = np.array([0.1, 0.5]), np.array([1.0, -2.0])
    ga, gx, ha, hx, after = interp.run(p, [a, 3.0, ct.copy()])
    e = np.exp(a)
    assert np.allclose(ga, ct * e * 3.0) and np.isclose(gx, (ct * e).sum())
    assert np.allclose(ha, (ct + 2 * e * 3.0) * e * 3.0) and np.isclose(hx, ((ct + 2 * e * 3.0) * e).sum())
    assert after.tolist() == ct.tolist()


def test_jvp_of_arrays():
    c = Code("f", A1)
    (a,) = c.params
    n = c.array_size(a, axis=0)
    (y,) = c.map([n], [a], ["new"], lambda v: [v * v])
    f = c.done(y, n, a[0])
    c = Code("g", A1, A1)
    g = c.done(*c.request("jvp", "f", c.params, [C1, I64, F64, C1, F64], wrt=(0,)))
    p = Program({"f": f, "g": g}, "g")
    expand(p)
    check_program(p)
    y, n, first, dy, dfirst = interp.run(p, [np.array([2.0, 3.0]), np.array([1.0, -1.0])])
    assert (y.tolist(), n, first, dy.tolist(), dfirst) == ([4.0, 9.0], 2, 2.0, [4.0, -6.0], 1.0)


@pytest.mark.parametrize("modes", ["rr", "rf", "fr", "ff"])
def test_hessian_at_a_zero_factor(modes):
    """A select in place of zmul loses terms here."""
    c = Code("f", F64)
    (x,) = c.params
    t = c.zmul(x * x - 1.0, x * x - 1.0)
    assert run(derivative(Program({"f": c.done(t)}, "f"), modes), [1.0]) == 8.0


@pytest.mark.parametrize("modes", ["r", "f", "rr", "rf", "fr", "ff", "rrr", "fff"])
def test_infinite_partial_times_zero(modes):
    """sqrt(x) * 0 at 0, and a branch of `select` that is not taken."""
    c = Code("f", F64)
    (x,) = c.params
    r = c.sqrt(x) * 0.0 + c.select(x > 0.0, c.sqrt(x), c.const(0.0))
    assert run(derivative(Program({"f": c.done(r)}, "f"), modes), [0.0]) == 0.0


def test_order_that_depends_on_data():
    c = Code("d", F64, I64)
    x, n = c.params

    def deeper():
        return [c.request("value_and_grad", "d", [x, n - 1], [F64, F64], wrt=(0,), outputs=(0,))[1]]

    (r,) = c.if_(n > 0, deeper, lambda: [c.sin(x)])
    with pytest.raises(CompileError, match="order of differentiation"):
        expand(Program({"d": c.done(r)}, "d"))


# ---------------------------------------------------------------------------------------------------------- residuals


def stored(types, make, results=(F64,)):
    """Types of what a gradient stores per trip of its loops."""
    code = Code("f", *types)
    f = code.done(*make(code, *code.params))
    code = Code("g", *types)
    g = code.done(*code.request("value_and_grad", "f", code.params, [*results, F64], wrt=(0,), outputs=(0,)))
    out = Program({"f": f, "g": g}, "g")
    expand(out)
    check_program(out)
    return [str(op.attrs["element"]) for op in out.functions["g"].body.walk() if op.name == "buffer"]


def test_stores_one_double_for_a_product():
    assert stored((F64, I64), lambda c, x, n: c.for_(n, [c.const(1.0)], lambda k, r: [r * x])) == ["f64"]


def test_stores_nothing_for_a_linear_loop():
    def make(c, x, a):
        n = c.array_size(a, axis=0)
        return c.for_(n, [c.const(0.0), c.const(3, I64)], lambda k, s, i: [s * 0.9 + a[k] * x, i + 2])[:1]

    assert stored((F64, C1), make) == []


def test_stores_one_double_for_garch():
    def make(c, alpha, beta, omega, a):
        def step(k, s, likelihood):
            r = a[k]
            s = omega + alpha * r * r + beta * s
            return [s, likelihood + c.log(s) + r * r / s]

        s, likelihood = c.for_(c.array_size(a, axis=0), [omega, c.const(0.0)], step)
        return [likelihood]

    assert stored((F64, F64, F64, C1), make) == ["f64"]


def test_stores_three_doubles_for_lorenz():
    def make(c, sigma, rho, beta, n):
        h = 0.01

        def f(x, y, z):
            return sigma * (y - x), x * (rho - z) - y, x * y - beta * z

        def step(k, x, y, z):
            a = f(x, y, z)
            b = f(x + 0.5 * h * a[0], y + 0.5 * h * a[1], z + 0.5 * h * a[2])
            d = f(x + 0.5 * h * b[0], y + 0.5 * h * b[1], z + 0.5 * h * b[2])
            e = f(x + h * d[0], y + h * d[1], z + h * d[2])
            return [v + h / 6.0 * (p + 2.0 * q + 2.0 * r + s) for v, p, q, r, s in zip((x, y, z), a, b, d, e)]

        return c.for_(n, [c.const(1.0), c.const(1.0), c.const(1.0)], step)[:1]

    assert stored((F64, F64, F64, I64), make) == ["f64"] * 3


def test_stores_no_copies_of_residual_buffers():
    """Second order reads what first order stored: three buffers of numbers for r *= x twice differentiated."""
    source, arguments = build("power_loop")
    out = derivative(source, "rr")
    assert sum(op.name == "buffer" for f in out.functions.values() for op in f.body.walk()) <= 3


def test_straight_code_has_no_calls_and_no_memory():
    source, _ = build("quotient")
    out = derivative(source, "r")
    names = {op.name for op in out.functions[out.entry].body.walk()}
    assert names.isdisjoint({"call", "box", "buffer", "free"}) and len(out.functions) == 1

"""Differentiation through arrays that are changed in place, in every mixture of the modes up to order 3.

Each program is a function of a float and of arrays; its derivatives in all mixtures must agree with one another and
with differences of the order below.
"""

from __future__ import annotations

import itertools
from functools import cache

import numpy as np
import pytest

import pullback as pb
from heat import HEAT
from mutating_programs import PROGRAMS, M
from pullback import api, pipeline, testing
from random_mutation import source

NAMES = sorted(PROGRAMS)
NESTED = {"training", "gradient_of_writer", "tangents_are_kept", "pullback_twice"}  # slow to run as plain Python
MODES = {
    "r": "return grad(f)({names})",
    "f": "return jvp(f, ({names},), (1.0, {zeros}))[1]",
    "v": "out, pull = vjp(f, {names})\n        return pull(0.25)[0] + pull(0.75 + 0.0 * out)[0]",
}


def derivative(f, modes, count):
    """d/dx in each of the modes, the first innermost, as a function of as many arguments."""
    names = [f"x{i}" for i in range(count)]
    zeros = ", ".join(f"np.zeros_like({n})" for n in names[1:])
    for mode in modes:
        body = MODES[mode].format(names=", ".join(names), zeros=zeros)
        inner = f"    def d({', '.join(names)}):\n        {body}\n    return d\n"
        text = f"import numpy as np\ndef make(f, grad, jvp, vjp):\n{inner}"
        f = api.from_source(text, "make")(f, pb.grad, pb.jvp, pb.vjp)
    return f


def run(f, arguments, passes, engine="interp"):
    copies = tuple(v.copy() if isinstance(v, np.ndarray) else v for v in arguments)
    return float(testing.run(f, copies, engine=engine, passes=passes))


@cache
def value(name, modes, step=0.0, passes=True):
    f, arguments = PROGRAMS[name]
    return run(derivative(f, modes, len(arguments)), (arguments[0] + step, *arguments[1:]), passes)


def difference(name, modes, step=1e-5):
    return (value(name, modes, step) - value(name, modes, -step)) / (2 * step)


def close(found, wanted, tolerance=2e-6):
    return abs(found - wanted) <= tolerance * max(1.0, abs(wanted))


@pytest.mark.parametrize("passes", [True, False])
@pytest.mark.parametrize("name", NAMES)
def test_first(name, passes):
    wanted = difference(name, "")
    found = {modes: value(name, modes, passes=passes) for modes in "rfv"}
    assert all(close(v, wanted) for v in found.values()), (found, wanted)


@pytest.mark.parametrize("passes", [True, pytest.param(False, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", NAMES)
def test_second(name, passes):
    wanted = difference(name, "r")
    found = {modes: value(name, modes, passes=passes) for modes in ("rr", "rf", "fr", "ff", "vr", "rv")}
    assert all(close(v, wanted) for v in found.values()), (found, wanted)


@pytest.mark.parametrize("every", [False, pytest.param(True, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", NAMES)
def test_third(name, every):
    wanted = difference(name, "rf")
    mixtures = map("".join, itertools.product("rf", repeat=3)) if every else ("rrr", "ffr")
    found = {modes: value(name, modes) for modes in mixtures}
    assert all(close(v, wanted) for v in found.values()), (found, wanted)


# ------------------------------------------------------------------------------------------- calls that stay calls


def square(y):
    return y * y


def weighted(p, q):
    return np.sum(p * q * q)


def scaled(p, q):
    p *= q


def numbers_through_a_call(x, c):
    return square(x * x) * x


def arrays_through_a_call(x, c):
    return weighted(np.array([x * x, x]), np.array([x, 0.5])) * x


def written_in_a_call(x, c):
    a, b = np.array([x, x * x]), np.array([x * x, x])
    scaled(a, b)
    return np.sum(a * a * b * c)


@pytest.mark.parametrize("f", [numbers_through_a_call, arrays_through_a_call, written_in_a_call])
def test_records_of_calls_keep_their_identity(f):
    """A record, and the record that keeps it, have one tangent although both start as zeros; nothing is inlined."""
    c = np.array([1.0, 0.5])
    for order in (2, 3):
        wanted = run(derivative(f, "f" * order, 2), (0.7, c), True)
        for modes in itertools.product("rfv", repeat=order):
            found = run(derivative(f, "".join(modes), 2), (0.7, c), False)
            assert close(found, wanted, 1e-10), (modes, found, wanted)


# ------------------------------------------------------------------------------------------------- random programs

ARGUMENTS = (0.7, np.array([0.3, -0.2, 0.5, 0.1, 0.4, -0.6, 0.2, 0.7]), np.array([0.3, -0.8, 0.6, 0.5]))


@pytest.mark.parametrize("seed", [*range(4), *(pytest.param(s, marks=pytest.mark.slow) for s in range(4, 20))])
@pytest.mark.parametrize("modes", ["r", "f", "v", "rr", "fr", "rf"])
def test_random(seed, modes):
    f = api.from_source(source(seed), "f")
    below = derivative(f, modes[:-1], 3)
    ends = [run(below, (ARGUMENTS[0] + step, *ARGUMENTS[1:]), True) for step in (1e-5, -1e-5)]
    found = run(derivative(f, modes, 3), ARGUMENTS, seed % 2 == 0)
    assert close(found, (ends[0] - ends[1]) / 2e-5, 1e-5)


# --------------------------------------------------------------------------------------------- gradients of arrays


def numeric(f, arguments, position, step=1e-6):
    """The gradient with respect to an array, by differences."""
    found = np.zeros_like(arguments[position])
    for index in np.ndindex(found.shape):
        ends = []
        for sign in (1.0, -1.0):
            moved = [v.copy() if isinstance(v, np.ndarray) else v for v in arguments]
            moved[position][index] += sign * step
            ends.append(f(*moved))
        found[index] = (ends[0] - ends[1]) / (2.0 * step)
    return found


@pytest.mark.parametrize("passes", [True, False])
@pytest.mark.parametrize("name", [n for n in NAMES if n not in NESTED])
def test_gradient_of_the_content_at_entry(name, passes):
    """Also: the function's changes happen once, and the caller sees them."""
    f, arguments = PROGRAMS[name]
    arrays = [i for i, v in enumerate(arguments) if isinstance(v, np.ndarray)]
    wanted = [numeric(f, arguments, i) for i in arrays]
    changed = [v.copy() if isinstance(v, np.ndarray) else v for v in arguments]
    f(*changed)
    given = [v.copy() if isinstance(v, np.ndarray) else v for v in arguments]
    found = testing.call("call", pb.grad(f, tuple(arrays)), tuple(given), engine="interp", passes=passes)
    for gradient, expected in zip(found, wanted, strict=True):
        assert np.allclose(gradient, expected, rtol=1e-5, atol=1e-6), (gradient, expected)
    for i in arrays:
        assert np.allclose(given[i], changed[i], rtol=1e-12)


def fill(a, x):
    a[:] = x
    a[0] = x * x
    return np.sum(a)


def test_nothing_is_left_of_what_is_overwritten():
    found = testing.call("call", pb.grad(fill, (0, 1)), (np.ones(3), 2.0), engine="interp", passes=True)
    assert found[0].tolist() == [0.0, 0.0, 0.0] and found[1] == 6.0


def writer(a, b, x):
    a[0] = b[1] * x
    b *= a
    return np.sum(a * b)


@pytest.mark.parametrize("passes", [True, False])
def test_tangents_and_cotangents_are_kept(passes):
    a, b, da, db = np.array([1.0, 2.0]), np.array([3.0, 4.0]), np.array([0.5, 0.25]), np.array([1.0, -1.0])
    before = da.copy(), db.copy()
    testing.call("jvp", writer, (a, b, 2.0, da, db, 1.0), engine="interp", passes=passes)
    assert da.tolist() == before[0].tolist() and db.tolist() == before[1].tolist()

    def returned(a, x):
        a *= x
        return a

    a, c = np.array([1.0, 2.0]), np.array([3.0, 4.0])
    found = testing.call("pullback", returned, (a, 2.0, c), engine="interp", passes=passes)
    assert found[0].tolist() == [6.0, 8.0] and found[1] == 11.0
    assert c.tolist() == [3.0, 4.0] and a.tolist() == [2.0, 4.0]


@pytest.mark.parametrize("mode", ["r", "f", "v"])
def test_differentiated_arguments_that_overlap(mode):
    a = np.array([1.0, 2.0, 3.0])
    calls = {
        "r": ("call", pb.grad(writer, (0, 1)), (a[1:], a[:-1], 2.0)),
        "f": ("jvp", writer, (a[1:], a[:-1], 2.0, np.ones(2), np.ones(2), 1.0)),
        "v": ("pullback", writer, (a[1:], a[:-1], 2.0, 1.0)),
    }
    with pytest.raises(ValueError, match="share memory"):
        testing.call(*calls[mode], engine="interp", passes=True)

    def reader(a, b):
        return np.sum(a * b)

    found = testing.call("call", pb.grad(reader, (0, 1)), (a, a), engine="interp", passes=True)
    assert found[0].tolist() == found[1].tolist() == [1.0, 2.0, 3.0]


def test_arguments_without_derivative_may_overlap():
    def f(x, a, b):
        t = b[0] * x
        a[0] = 7
        b[0] = b[0] + a[0]
        return t * t + x * 2.0

    memory = np.array([1, 2, 3])
    found = testing.call("call", pb.grad(f), (3.0, memory, memory), engine="interp", passes=True)
    assert found == 2.0 * 3.0 + 2.0 and memory.tolist() == [14, 2, 3]


# ------------------------------------------------------------------------------------------------------- what is kept


def lowered(f, arguments, wrt):
    names = tuple(f"x{i}" for i in range(len(arguments)))
    request = pipeline.Request("call", pb.grad(f, wrt), arguments, names)
    return pipeline.lower(request, pipeline.Options(verify=True)).program


def buffers(f, arguments, wrt=0):
    """Types of what the gradient stores per trip of its loops, without who owns it."""
    ops = [op for g in lowered(f, arguments, wrt).functions.values() for op in g.body.walk() if op.name == "buffer"]
    return [str(op.attrs["element"]) for op in ops if "owner" not in str(op.attrs["element"])]


def deepest(function):
    """How many loops are around the innermost record of a number."""

    def depth(block, loops):
        found = [loops for op in block.ops if op.name == "buffer_put" and str(op.operands[2].type) == "f64"]
        for op in block.ops:
            found += [depth(inner, loops + (op.name in ("for", "while"))) for inner in op.blocks]
        return max(found, default=0)

    return depth(function.body, 0)


@pytest.mark.parametrize("f", HEAT)
def test_heat_keeps_nothing(f):
    """Linear in u: neither values, nor sizes, nor the order of the buffers are recorded."""
    arguments = (np.linspace(0.0, 1.0, 16), np.zeros(16), 0.1, 5)
    assert buffers(f, arguments) == []
    given = (arguments[0].copy(), arguments[1].copy(), *arguments[2:])
    found = testing.call("call", pb.grad(f), given, engine="interp", passes=True)
    assert np.allclose(found, numeric(f, arguments, 0), atol=1e-6)


def seidel(u, c, sweeps):
    for _ in range(sweeps):
        for i in range(1, len(u) - 1):
            u[i] = u[i] + c * (u[i - 1] * u[i + 1] - u[i])
    return np.sum(u)


def test_gauss_seidel_keeps_two_numbers_per_point():
    assert buffers(seidel, (np.ones(6), 0.1, 5)) == ["f64", "f64"]


def recurrent(w, h, steps):
    """A fresh array per trip: it is kept by reference, not number by number."""
    n = len(h)
    for _ in range(steps):
        new = np.zeros(n)
        for i in range(n):
            s = 0.0
            for j in range(n):
                s += w[i, j] * h[j]
            new[i] = np.tanh(s)
        h = new
    return np.sum(h)


def test_states_are_kept_by_reference():
    assert sorted(buffers(recurrent, (np.ones((3, 3)), np.ones(3), 4))) == ["f64", "f64[:]c"]


def factor(m):
    """Cholesky: every element is written once, before it is read."""
    n = len(m)
    low = np.zeros((n, n))
    for i in range(n):
        for j in range(i + 1):
            s = m[i, j]
            for k in range(j):
                s -= low[i, k] * low[j, k]
            low[i, j] = np.sqrt(s) if i == j else s / low[j, j]
    return np.sum(low)


def table(x):
    """A recurrence over a table: what is read stays."""
    n = len(x)
    t = np.zeros((n + 1, n + 1))
    for i in range(1, n + 1):
        for j in range(1, n + 1):
            t[i, j] = x[i - 1] * t[i - 1, j] * t[i, j - 1] + x[j - 1]
    return t[n, n]


def shifted(x):
    """What is read is overwritten one trip later."""
    t = x.copy()
    for i in range(len(x) - 1):
        t[i] = t[i + 1] * t[i]
        t[i + 1] = t[i] * t[i + 1] * x[i]
    return np.sum(t)


def forces(p, steps):
    """Positions are read in pairs and changed afterwards: a copy per step, not a number per pair."""
    q, n = p.copy(), len(p)
    a = np.zeros(n)
    for _ in range(steps):
        for i in range(n):
            s = 0.0
            for j in range(n):
                d = q[j] - q[i]
                s += d * d * d
            a[i] = s
        q += 0.1 * a
    return np.sum(q * q)


SPD = M @ M.T + np.eye(3)


@pytest.mark.parametrize(
    ("f", "arguments", "depth"),
    [
        (factor, (SPD,), 2),  # the square roots' operands, not what the inner loop reads
        (table, (np.array([0.3, -0.4, 0.7]),), 1),
        (shifted, (np.array([0.3, -0.4, 0.7]),), 1),
        (forces, (np.array([0.3, -0.4, 0.7]), 3), 2),
    ],
)
def test_what_stays_is_read_again(f, arguments, depth):
    """`depth`: of the innermost loop that may record something per trip."""
    found = testing.call("call", pb.grad(f), (arguments[0].copy(), *arguments[1:]), engine="interp", passes=True)
    wanted = numeric(f, arguments, 0)
    assert np.allclose(found, wanted, rtol=1e-5, atol=1e-6)
    assert max(map(deepest, lowered(f, arguments, 0).functions.values())) <= depth


# ----------------------------------------------------------------------------------------------------- through the api


def test_pullbacks_outlive_what_the_caller_does():
    """Each may be called any number of times; what is changed afterwards, here or by the caller, does not matter."""
    a, b = np.array([1.0, 2.0]), np.array([3.0, 4.0])
    out, pull = pb.vjp(writer, a, b, 2.0)
    assert np.allclose(a, [8.0, 2.0]) and np.allclose(b, [24.0, 8.0])
    first = pull(1.0)
    a[:], b[:] = 0.0, 0.0
    second = pull(1.0)
    fresh = (np.array([1.0, 2.0]), np.array([3.0, 4.0]), 2.0)
    wanted = [numeric(writer, fresh, i) for i in (0, 1)]
    for found in (first, second):
        assert np.allclose(found[0], wanted[0], atol=1e-6) and np.allclose(found[1], wanted[1], atol=1e-6)


def test_pullback_of_overlapping_arguments():
    a = np.array([1.0, 2.0, 3.0])
    _, pull = pb.vjp(writer, a[1:], a[:-1], 2.0)
    with pytest.raises(ValueError, match="share memory"):
        pull(1.0)


def test_training_inside_and_outside_of_compiled_code():
    """Shadows are new in every trip; the parameters change in place."""

    def loss(w, x):
        return np.sum((w * x - 1.0) ** 2)

    def train(w, x, steps):
        for _ in range(steps):
            w -= 0.1 * pb.grad(loss)(w, x)
        return loss(w, x)

    x, w, v = np.array([1.0, 2.0, 0.5]), np.zeros(3), np.zeros(3)
    found = pb.jit(train)(w, x, 5)
    for _ in range(5):
        v -= 0.1 * 2.0 * (v * x - 1.0) * x
    assert np.allclose(w, v, rtol=1e-14) and np.isclose(found, loss(v, x))


def captured_twice(x, u):
    u[1] = u[1] * x
    other = u

    def f(w):
        t = w * 1.0
        for _ in range(2):
            t[1:] += np.sin(t[:-1])
            t = t + w * float(np.sum(u))
        return float(np.sum(np.sin(t))) * (float(other[0]) - float(w[1]))

    return float(np.sum(pb.jvp(pb.grad(f), (u,), (u * 0.5,))[1]))


def test_an_array_that_a_differentiated_function_captures_under_two_names():
    """It writes neither; that its derivative keeps arrays in a record beside them is no reason to refuse it."""
    u = np.array([0.3, -0.2, 0.8])
    written = u * np.array([1.0, 0.7, 1.0])
    s = float(np.sum(written))

    def f(w):
        t = w * 1.0
        for _ in range(2):
            t[1:] += np.sin(t[:-1])
            t = t + w * s
        return float(np.sum(np.sin(t))) * (float(written[0]) - float(w[1]))

    def product(w, h=1e-4):
        """The second derivative of `f` along half of `written`, summed, by differences."""
        d = 0.5 * h * written
        return sum((f(w + e + d) - f(w + e - d) - f(w - e + d) + f(w - e - d)) / (4 * h * h) for e in h * np.eye(3))

    found = pb.jit(captured_twice)(0.7, u.copy())
    assert close(found, product(written), 1e-5)
    up, down = (pb.jit(captured_twice)(0.7 + step, u.copy()) for step in (1e-6, -1e-6))
    assert close(pb.grad(captured_twice)(0.7, u.copy()), (up - down) / 2e-6, 1e-6)

"""Calls and loops that run again in the reverse pass: the numbers of plain differentiation, in less memory.

Schedules are tried on every program of the table with a budget of one byte, which leaves one trip to a leaf.
"""

from __future__ import annotations

import copy
import logging
import math
import pickle
import subprocess
import sys
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import mutating_programs
import programs
import pullback as pb
from pullback import api, interp, pipeline, testing
from pullback.ad.advance import ADVANCE, FEWEST, advance_function
from pullback.ir.node import Program
from pullback.runtime.texts import Texts

U = np.linspace(0.1, 1.0, 9)
TINY = 4096


@pytest.fixture
def budget():
    """Sets the budget for one test."""
    yield pb.set_memory_budget
    pb.set_memory_budget(None)


def interpreted(function: Any, arguments: tuple[Any, ...], *, size: int | None = None, passes: bool = True) -> Any:
    """The result on the reference interpreter, with loops scheduled for so many bytes."""
    options = pipeline.Options(passes=passes, verify=True, memory_budget=size)
    arguments = copy.deepcopy(arguments)
    names = tuple(f"x{i}" for i in range(len(arguments)))
    lowered = pipeline.lower(pipeline.Request("call", function, arguments, names), options)
    boundary = lowered.entry.boundary
    machine = [m for t, v in zip(boundary.params, arguments, strict=True) for m in testing.flatten(t, v)]
    texts = Texts()
    with np.errstate(all="ignore"):
        found = interp.run(lowered.program, machine, texts)
    return testing.unflatten(boundary.result, found, texts)


def leaves(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return [leaf for key in sorted(value) for leaf in leaves(value[key])]
    if isinstance(value, tuple | list):
        return [leaf for item in value for leaf in leaves(item)]
    return [np.asarray(value)]


def assert_alike(found: Any, wanted: Any, tolerance: float = 1e-11) -> None:
    """Sums of derivatives have no order (ADR 9), so the last digits may differ."""
    for one, other in zip(leaves(found), leaves(wanted), strict=True):
        np.testing.assert_allclose(one, other, rtol=tolerance, atol=tolerance)


# ------------------------------------------------------------------------------------------------------- the decorator


def test_for_python_it_is_the_function():
    @pb.checkpoint
    def twice(x, *, by=2.0):
        """Doc."""
        return x * by

    assert twice(3.0) == 6.0 and twice(3.0, by=5.0) == 15.0
    assert twice.__name__ == "twice" and twice.__doc__ == "Doc." and "checkpointed" in repr(twice)
    assert list(pb.checkpointed(range(3), snapshots=7)) == [0, 1, 2]
    with pytest.raises(TypeError, match="takes a function"):
        pb.checkpoint(3)


def decay(x):
    return 0.5 * math.sin(x)


kept_decay = pb.checkpoint(decay)


def test_it_pickles():
    again = pickle.loads(pickle.dumps(kept_decay))
    assert again(1.0) == decay(1.0)
    assert pb.grad(again)(1.0) == pb.grad(decay)(1.0)


def scalar(wrap, x):
    def f(y):
        z = math.sin(y)
        return z * z * y

    for _ in range(4):
        x = wrap(f)(x) + 1.0
    return x


def pairs(wrap, x):
    def f(pair, k):
        a, (b, n) = pair
        return a * b + k, (math.cos(a) * b, n + 1)

    state = (x, (0.5, 0))
    for k in range(3):
        state = wrap(f)(state, 0.1 * k)
    return state[0] * state[1][0] + state[1][1]


def arrays(wrap, x):
    def f(u, k):
        u[1:-1] += 0.1 * np.sin(u[2:] * u[:-2]) * k
        return np.sum(u * u)

    u = np.linspace(0.0, 1.0, 6) * x
    total = 0.0
    for k in range(3):
        total += wrap(f)(u, 1.0 + k)
    return total + np.sum(u)


def fresh_arrays(wrap, x):
    def f(u):
        return u + 0.1 * np.sin(u * u)

    u = np.linspace(0.0, 1.0, 6) * x
    for _ in range(4):
        u = wrap(f)(u)
    return np.sum(u * u)


def same_array(wrap, x):
    def f(u):
        u *= 1.5
        return u

    u = np.linspace(0.0, 1.0, 4) * x
    v = wrap(f)(u)
    return np.sum(u * v) + np.sum(wrap(f)(v))


def dicts(wrap, x):
    def f(p, y):
        return {"y": p["w"] * y + p["b"], "n": p["n"]}

    p = {"w": x, "b": 0.3, "n": 1}
    return wrap(f)(p, wrap(f)(p, x)["y"])["y"]


def closures(wrap, x):
    def maker(a):
        def inner(y):
            return math.exp(-a * y) * y

        return inner

    f = wrap(maker(x))
    return f(0.3) + wrap(lambda y: f(y) * x)(0.7)


@dataclass
class Point:
    x: float
    y: float


def objects(wrap, x):
    def f(p, k):
        return p.x * p.y + k * p.x

    p = Point(x, 2.0)
    return wrap(f)(p, 1.0) + wrap(f)(Point(x * x, x), 3.0)


def changed_objects(wrap, x):
    def f(p):
        p.x = p.x * p.y
        return p.x

    p = Point(x, 2.0)
    return wrap(f)(p) + wrap(f)(p) * p.x


def nested(wrap, x):
    def inner(y):
        return math.sin(y) * y

    def outer(y):
        return wrap(inner)(wrap(inner)(y)) + y

    return wrap(outer)(wrap(outer)(x))


def recursive(wrap, x):
    def fall(n, y):
        return y if n == 0 else math.sin(wrap(fall)(n - 1, y)) * 1.3 + y

    return fall(5, x)


def branches(wrap, x):
    def f(y):
        while y < 3.0:
            if y > 1.0:
                y = y * y
            else:
                y = y + x
        return y

    return wrap(f)(x) * wrap(f)(0.4)


def trailing_writes(wrap, x):
    def f(u, i):
        return u[i] * u[i]

    u = np.ones(3) * x
    y = wrap(f)(u, 1)
    u[1] = y * x  # after the call
    return y + wrap(f)(u, 1)


CASES = [
    scalar, pairs, arrays, fresh_arrays, same_array, dicts, closures, objects, changed_objects, nested, recursive,
    branches, trailing_writes,
]  # fmt: skip


def specialised(case, wrap):
    text = "def make(case, wrap):\n    def f(x):\n        return case(wrap, x)\n    return f\n"
    return api.from_source(text, "make")(case, wrap)


MODES = {
    "r": "grad(f)(x)",
    "fr": "jvp(grad(f), (x,), (1.0,))[1]",
    "rr": "grad(grad(f))(x)",
    "rf": "grad(lambda y: jvp(f, (y,), (1.0,))[1])(x)",
}


def slowly(modes, fast):
    """Most modes are tried in the slow tests."""
    return [mode if mode in fast else pytest.param(mode, marks=pytest.mark.slow) for mode in modes]


@pytest.mark.parametrize("mode", slowly(MODES, {"r"}))
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_numbers_are_those_of_the_plain_function(case, mode):
    text = f"def make(f, grad, jvp):\n    def d(x):\n        return {MODES[mode]}\n    return d\n"
    found, wanted = (
        interpreted(api.from_source(text, "make")(specialised(case, wrap), pb.grad, pb.jvp), (0.8,))
        for wrap in (pb.checkpoint, pb.jit)
    )
    assert_alike(found, wanted)


@pytest.mark.parametrize("case", [pairs, arrays], ids=lambda case: case.__name__)
def test_second_order(case):
    both = "grad(grad(f))(x) + jvp(grad(f), (x,), (1.0,))[1]"
    text = f"def make(f, grad, jvp):\n    def d(x):\n        return {both}\n    return d\n"
    found, wanted = (
        interpreted(api.from_source(text, "make")(specialised(case, wrap), pb.grad, pb.jvp), (0.8,))
        for wrap in (pb.checkpoint, pb.jit)
    )
    assert_alike(found, wanted)


def test_second_runs_print_nothing_and_write_nothing(capfd):
    @pb.checkpoint
    def step(u, k):
        print("step", k)
        u[k] = math.sin(u[k]) * u[k - 1]
        return u[k]

    def f(u):
        total = 0.0
        for k in range(1, 4):
            total += step(u, k)
        return total

    u, v = U.copy(), U.copy()
    gradient = pb.grad(f)(u)
    assert capfd.readouterr().out == "step 1\nstep 2\nstep 3\n"
    f(v)
    capfd.readouterr()
    assert np.array_equal(u, v)
    difference = [(f(U + e) - f(U - e)) / 2e-6 for e in 1e-6 * np.eye(9)]
    np.testing.assert_allclose(gradient, difference, atol=1e-7)


def test_only_the_arguments_are_kept():
    def long(u):
        for _ in range(40):
            u = u + 0.01 * np.sin(u * u)
        return u

    short = pb.checkpoint(long)

    def loss(f, u):
        for _ in range(5):
            u = f(u)
        return np.sum(u)

    u, peaks, found = np.linspace(0.0, 1.0, 1000), [], []
    for f in (long, short):
        gradient = pb.grad(specialised_loss(loss, f))
        gradient(u)
        pb.stats(reset=True)
        found.append(gradient(u))
        peaks.append(pb.stats().peak_bytes - pb.stats().live_bytes)
    assert np.array_equal(*found)
    assert peaks[1] < 0.4 * peaks[0]


def specialised_loss(loss, f):
    text = "def make(loss, f):\n    def g(u):\n        return loss(f, u)\n    return g\n"
    return api.from_source(text, "make")(loss, f)


# --------------------------------------------------------------------------------------------------------- the schedule


def leaves_within_reach(snapshots: int, repetitions: int) -> int:
    return math.comb(snapshots + repetitions, snapshots)


@pytest.mark.parametrize("slots", [1, 4, 5, 9, 60])
@pytest.mark.parametrize("leaf", [1, 3])
def test_no_trip_is_repeated_more_often_than_revolve_needs(slots, leaf):
    program = Program({ADVANCE: advance_function()}, ADVANCE)

    def advance(remaining: int, snapshots: int) -> int:
        (step,) = interp.run(program, [np.int64(v) for v in (remaining, leaf, snapshots)], Texts())
        return int(step)

    def repetitions(count: int, snapshots: int) -> int:
        most = 0
        while count > leaf:
            step = advance(count, snapshots)
            assert 0 < step < count
            most = max(most, 1 + repetitions(step, snapshots))
            count, snapshots = count - step, snapshots - 1
        return most

    for count in (1, 2, 7, 30, 100):
        least = next(r for r in range(count) if leaf * leaves_within_reach(max(slots, FEWEST), r) >= count)
        assert repetitions(count, slots) <= least


def in_place(u, n):
    u = u.copy()
    for _ in range(n):
        u[1:-1] += 0.1 * (u[2:] - 2.0 * u[1:-1] + u[:-2]) + 0.01 * np.sin(u[1:-1])
    return np.sum(u * u)


def rebound(u, n):
    for _ in range(n):
        u = u + 0.1 * np.sin(u * u)
    return np.sum(u * u)


def until(u, n):
    trips = 0
    while np.sum(u) < 60.0 and trips < n:
        u = u + 0.02 * np.sin(u)
        trips += 1
    return np.sum(u * u * u) * trips


def numbers(u, n):
    x, total = u[3], 0.0
    for k in range(n):
        x = math.sin(x) * 1.1 + 0.01 * k
        if x > 0.7:
            total += x * u[1]
    return total + x


def inner_loops(u, n):
    u = u.copy()
    for _ in range(n):
        for i in range(1, u.shape[0] - 1):
            if u[i] > 0.5:
                u[i] = 0.5 * (u[i - 1] + u[i + 1]) * u[i]
            else:
                u[i] = math.sin(u[i - 1]) * u[i + 1] + 0.5
    return np.sum(u * u)


def broken_off(u, n):
    for k in range(10 * n):
        u = u + 0.1 * np.cos(u)
        if k == n:
            break
    return np.sum(u * u)


def a_trajectory(u, n):
    path = np.zeros(n)
    x = u[0]
    for k in range(n):
        x = math.sin(x) + 0.1 * x
        path[k] = x
    return np.sum(path * path)


def epochs(u, n):
    total = 0.0
    for _ in range(3):
        w = u
        for _ in range(n):
            w = w + 0.1 * np.sin(w * w)
        total += np.sum(w)
    return total


LOOPS = [in_place, rebound, until, numbers, inner_loops, broken_off, a_trajectory, epochs]
GRADIENTS = {
    "r": "value_and_grad(f)(u, n)",
    "fr": "jvp(lambda v: grad(f)(v, n), (u,), (np.ones(9),))[1]",
    "rr": "grad(lambda v: np.sum(grad(f)(v, n)))(u)",
}


def derivative(f, mode):
    text = f"import numpy as np\ndef make(f, grad, jvp, value_and_grad):\n    def d(u, n):\n        return {GRADIENTS[mode]}\n    return d\n"  # noqa: E501
    return api.from_source(text, "make")(f, pb.grad, pb.jvp, pb.value_and_grad)


@pytest.mark.parametrize("mode", slowly(GRADIENTS, {"r"}))
@pytest.mark.parametrize("loop", LOOPS, ids=lambda loop: loop.__name__)
def test_any_budget_gives_the_same_numbers(loop, mode):
    d = derivative(loop, mode)
    wanted = interpreted(d, (U, 9))
    for size in (1, 700):
        assert_alike(interpreted(d, (U, 9), size=size), wanted, 1e-9)


@pytest.mark.parametrize("mode", ["fr", "rr"])
def test_second_order_within_a_budget(mode):
    d = derivative(numbers, mode)
    assert_alike(interpreted(d, (U, 9), size=1), interpreted(d, (U, 9)), 1e-9)


def test_trips_of_no_and_of_one_loop():
    for n in (0, 1, 2):
        d = derivative(rebound, "r")
        assert_alike(interpreted(d, (U, n), size=1), interpreted(d, (U, n)))


@pytest.mark.parametrize(
    "loop", [pytest.param(in_place, marks=pytest.mark.slow), rebound, pytest.param(until, marks=pytest.mark.slow)],
    ids=lambda loop: loop.__name__,
)  # fmt: skip
def test_over_the_budget_the_call_begins_anew(loop, budget, caplog):
    u = np.linspace(0.1, 1.0, 400) if loop is not until else np.linspace(0.01, 0.1, 400)
    gradient = pb.value_and_grad(loop)
    wanted = gradient(u, 300)
    pb.stats(reset=True)
    gradient(u, 300)
    plain = pb.stats().peak_bytes
    budget(8 * TINY)
    with caplog.at_level(logging.INFO, "pullback"):
        found = gradient(u, 300)
    assert "memory budget" in caplog.text
    pb.stats(reset=True)
    assert_alike(gradient(u, 300), wanted)
    assert_alike(found, wanted)
    assert pb.stats().peak_bytes < 0.6 * plain
    assert len(gradient.entries) == 2
    budget(None)  # no code is made for another budget
    before = api.compilations()
    assert_alike(gradient(u, 300), wanted)
    assert api.compilations() == before


def test_a_budget_of_its_own():
    u = np.linspace(0.1, 1.0, 40)
    gradient = pb.grad(pb.jit(rebound, memory_budget=8 * TINY))
    gradient(u, 3)
    pb.stats(reset=True)
    found = gradient(u, 300)
    assert pb.stats().peak_bytes < 16 * TINY
    assert len(gradient.entries) == 1
    assert_alike(found, pb.grad(rebound)(u, 300))


def test_programs_that_print_or_change_arguments_run_once(budget, capfd):
    def f(u, n):
        for k in range(n):
            u[1:-1] += 0.1 * np.sin(u[2:] * u[:-2])
            if k % 40 == 0:
                print("at", k)
        return np.sum(u * u)

    u, v = np.linspace(0.1, 1.0, 30), np.linspace(0.1, 1.0, 30)
    wanted = pb.grad(f)(u, 90)
    budget(TINY)
    capfd.readouterr()
    found = pb.grad(f)(v, 90)
    assert capfd.readouterr().out == "at 0\nat 40\nat 80\n"
    assert np.array_equal(u, v)
    assert_alike(found, wanted)


def test_exceptions_of_trips(budget):
    def f(u, n):
        total = 0.0
        for k in range(n):
            total += u[k] * u[k]  # past the end of u
        return total

    budget(TINY)
    with pytest.raises(IndexError) as caught:
        pb.grad(pb.jit(f, memory_budget=TINY))(U, 12)
    assert caught.traceback[-1].lineno + 1 == f.__code__.co_firstlineno + 3


def test_what_a_budget_is():
    for wrong in (True, 1.5, "1G"):
        with pytest.raises(TypeError, match="bytes"):
            pb.set_memory_budget(wrong)
    with pytest.raises(ValueError, match="at least"):
        pb.jit(rebound, memory_budget=3)
    code = "import pullback as pb; print(pb.get_memory_budget())"
    run = subprocess.run(
        [sys.executable, "-c", code], env={"PULLBACK_MEMORY_BUDGET": "123456", "PATH": ""}, capture_output=True,
        text=True, check=True,
    )  # fmt: skip
    assert run.stdout.strip() == "123456"


def rebound_by_hand(u, n):
    for _ in pb.checkpointed(range(n), snapshots=6):
        u = u + 0.1 * np.sin(u * u)
    return np.sum(u * u)


def in_place_by_hand(u, n):
    u = u.copy()
    for _ in pb.checkpointed(range(n)):
        u[1:-1] += 0.1 * (u[2:] - 2.0 * u[1:-1] + u[:-2]) + 0.01 * np.sin(u[1:-1])
    return np.sum(u * u)


@pytest.mark.parametrize(
    ("loop", "plain", "states"), [(rebound_by_hand, rebound, 40), (in_place_by_hand, in_place, 60)],
    ids=["rebound", "in place"],
)  # fmt: skip
def test_a_loop_with_snapshots(loop, plain, states):
    u = np.linspace(0.1, 1.0, 500)
    gradient = pb.grad(loop)
    gradient(u, 3)
    pb.stats(reset=True)
    found = gradient(u, 200)
    assert pb.stats().peak_bytes - pb.stats().live_bytes < states * u.nbytes
    assert_alike(found, pb.grad(plain)(u, 200))


def test_snapshots_are_written_as_a_literal():
    def f(x, n):
        for _ in pb.checkpointed(range(n), snapshots=n):
            x = math.sin(x)
        return x

    with pytest.raises(pb.CompileError, match="literal"):
        pb.grad(f)(1.0, 3)

    def g(x, n):
        for y in pb.checkpointed([x, x]):
            x = math.sin(x) * y
        return x

    with pytest.raises(pb.CompileError, match="range"):
        pb.grad(g)(1.0, 3)


# ----------------------------------------------------------------------------------------------- programs of the tables


def table() -> list[Any]:
    found = [(p.name, p.function, p.arguments[0], p.argnums) for p in programs.load() if p.argnums]
    found += [(name, f, arguments, (0,)) for name, (f, arguments) in mutating_programs.PROGRAMS.items()]
    return [pytest.param(*row[1:], id=row[0]) for row in found]


EVERY = 24  # one in so many is quick to try


@pytest.mark.parametrize(
    ("function", "arguments", "argnums"),
    [row if not number % EVERY else pytest.param(*row.values, id=row.id, marks=pytest.mark.slow)
     for number, row in enumerate(table())],
)  # fmt: skip
def test_every_program_runs_scheduled(function, arguments, argnums):
    gradient = pb.value_and_grad(function, argnums)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            wanted = interpreted(gradient, arguments)
        except Exception as error:
            with pytest.raises(type(error)):
                interpreted(gradient, arguments, size=1)
            return
        assert_alike(interpreted(gradient, arguments, size=1), wanted, 1e-9)


@pytest.mark.slow
def test_a_hundred_thousand_steps_of_a_large_state():
    u = np.linspace(0.0, 1.0, 10_000)
    gradient = pb.value_and_grad(pb.jit(rebound, memory_budget=100_000_000))
    gradient(u, 2)
    pb.stats(reset=True)
    value, found = gradient(u * 0.01, 100_000)
    assert pb.stats().peak_bytes < 100_000_000
    assert np.isfinite(value) and np.all(np.isfinite(found))

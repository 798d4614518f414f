"""Loops over prange and large maps on several threads: the same results on any number of them, races refused."""

import linecache
import math
import os
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from tests.parallel_programs import PROGRAMS, REFUSED

import pullback as pb
from pullback import CompileError
from pullback.interp import run

THREADS = (1, 2, 3)
QUICK = ("reductions", "histogram", "stencil", "rows")


def cases(names, quick=QUICK):
    """Parameters of a test; those that are not quick are left to the slow tests."""
    return [name if name in quick else pytest.param(name, marks=pytest.mark.slow) for name in names]


@pytest.fixture(autouse=True)
def _threads_as_before():
    before = pb.get_num_threads()
    yield
    pb.set_num_threads(before)


def copies(arguments):
    return [a.copy() if isinstance(a, np.ndarray) else a for a in arguments]


def flat(result):
    if isinstance(result, tuple | list):
        return [x for item in result for x in flat(item)]
    return [np.asarray(result)]


def same(one, other):
    return all(np.array_equal(a, b, equal_nan=True) for a, b in zip(flat(one), flat(other), strict=True))


def close(one, other):
    for a, b in zip(flat(one), flat(other), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12)


def on_all(function, arguments):
    """What a call gives and leaves in its arguments, if that is the same on any number of threads."""
    found = []
    for count in THREADS:
        pb.set_num_threads(count)
        given = copies(arguments)
        found.append([function(*given), given])
    for other in found[1:]:
        assert same(found[0], other)
    return found[0]


def blocks(function, *arguments):
    """How many loops over blocks the code for these arguments has."""
    return function.lower(*copies(arguments)).stages["passes again"].count("threads=True")


@pytest.mark.parametrize("name", cases(PROGRAMS))
def test_programs(name):
    """Value and what is written, as in Python; serial code gives the same bits, but where it adds up in one pass."""
    function, arguments, _ = PROGRAMS[name]
    given = copies(arguments)
    expected = [function(*given), given]
    parallel = pb.jit(function, parallel=True)
    assert blocks(parallel, *arguments) > 0
    found = on_all(parallel, arguments)
    close(expected, found)
    given = copies(arguments)
    assert same(found, [pb.jit(function)(*given), given]) or name in ("maps", "shifted maps", "reductions of maps")


@pytest.mark.parametrize("name", cases([name for name, (_, _, cut) in PROGRAMS.items() if cut is not None]))
def test_gradients(name):
    """Reverse mode is as parallel as the program says it is, and agrees with the loop over range."""
    function, arguments, cut = PROGRAMS[name]
    gradient = pb.value_and_grad(pb.jit(function, parallel=True))
    assert blocks(gradient, *arguments) >= cut
    found, _ = on_all(gradient, arguments)
    close(pb.value_and_grad(function.serial)(*copies(arguments)), found)


@pytest.mark.parametrize("name", cases(["maps of elements", "shared row", "rows", "stencil"], ["maps of elements"]))
def test_second_order_and_forward(name):
    function, arguments, _ = PROGRAMS[name]
    tangents = [np.cos(np.arange(a.size, dtype=float)).reshape(a.shape) if k == 0 else np.zeros_like(a)
                for k, a in enumerate(arguments)]  # fmt: skip
    parallel = pb.jit(function, parallel=True)
    push = on_all(lambda *given: pb.jvp(parallel, tuple(given), tuple(tangents)), arguments)[0]
    close(pb.jvp(function.serial, tuple(copies(arguments)), tuple(tangents)), push)
    second = on_all(lambda *given: pb.hvp(parallel, tuple(given), tuple(tangents)), arguments)[0]
    close(pb.hvp(function.serial, tuple(copies(arguments)), tuple(tangents)), second)


@pytest.mark.slow
def test_all_transformations():
    """Whatever is made of such a program agrees with that of the loop over range."""

    def around(a):
        out = np.zeros(len(a))
        for i in pb.prange(len(a)):
            out[i] = a[i] * np.sin(a[i]) + a[(i + 1) % len(a)]
        return np.sum(out * out)

    def serial(a):
        out = np.zeros(len(a))
        for i in range(len(a)):
            out[i] = a[i] * np.sin(a[i]) + a[(i + 1) % len(a)]
        return np.sum(out * out)

    parallel = pb.jit(around, parallel=True)
    pb.set_num_threads(3)
    a = np.random.default_rng(0).random(70)
    slope = pb.grad(serial)(a)
    close(pb.hessian(serial)(a), pb.hessian(parallel)(a))
    close(slope, pb.vjp(parallel, a)[1](1.0))
    close(np.sum(slope), pb.linearize(parallel, a)[1](np.ones(70)))
    squares = [pb.grad(lambda x, f=f: np.sum(pb.grad(f)(x) ** 2))(a) for f in (serial, parallel)]
    close(*squares)


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name):
    """What may be a race does not compile; the message points at the line."""
    function, arguments, message = REFUSED[name]
    with pytest.raises(CompileError, match=message) as error:
        pb.jit(function)(*arguments)
    assert error.value.diagnostic.help and error.value.diagnostic.span.line


def test_prange_is_range():
    assert pb.prange(5) == range(5)
    assert pb.prange(2, 9, 3) == range(2, 9, 3)

    def total(n):
        s = 0
        for i in pb.prange(2, n, 3):
            s += i * i
        for i in pb.prange(n, 0, -1):
            s -= i
        return s + sum(pb.prange(n))

    for n in (-3, 0, 1, 2, 3, 100):
        assert pb.jit(total)(n) == total(n)


@pytest.mark.parametrize("n", [0, 1, 2, 3, 63, 64, 65, 1000])
def test_any_number_of_trips(n):
    function, _, _ = PROGRAMS["reductions"]
    rng = np.random.default_rng(n)
    values = rng.normal(size=max(n, 1))[:n]
    close(function(values), on_all(pb.jit(function, parallel=True), [values])[0])


def test_the_lowest_trip_raises():
    """As in serial order; what lower trips wrote is there."""

    @pb.jit(parallel=True)
    def f(a, out):
        for i in pb.prange(len(a)):
            if a[i] < 0.0:
                raise ValueError("negative")
            out[i] = 1.0 / float(a[i])
        return 0.0

    a = np.ones(5000)
    a[[700, 3000, 4999]] = 0.0, -1.0, 0.0
    for count in THREADS:
        pb.set_num_threads(count)
        for _ in range(5):
            out = np.zeros(5000)
            with pytest.raises(ZeroDivisionError):
                f(a, out)
            assert (out[:700] == 1.0).all() and out[700] == 0.0
    a[700] = -2.0
    with pytest.raises(ValueError, match="negative"):
        f(a, np.zeros(5000))


def test_overflow_is_seen_when_blocks_are_joined():
    @pb.jit(parallel=True)
    def f(a):
        s = 0
        for i in pb.prange(len(a)):
            s += int(a[i])
        return s

    a = np.full(1000, 2**52)
    assert f(a) == 1000 * 2**52
    with pytest.raises(OverflowError):
        f(np.full(1000, 2**54))


def test_arrays_that_overlap_are_found_when_it_runs():
    """Then the trips run in order."""

    def shift(a, b):
        for i in pb.prange(len(a)):
            b[i] = a[i] + 1.0
        return 0.0

    def spread(a, h):
        for i in pb.prange(len(a)):
            h[i // 2] += a[i]
        return 0.0

    for function in (shift, spread):
        for parallel in (False, True):
            memory, expected = np.arange(200.0), np.arange(200.0)
            function(expected[:-1], expected[1:])
            try:
                pb.jit(function, parallel=parallel)(memory[:-1], memory[1:])
            except ValueError:
                continue  # refused where arguments must not overlap
            assert same(memory, expected)


def test_bounds_below_zero_count_from_the_end():
    """Elements that negative indices meet again: then the trips run in order."""

    def f(a, low, high):
        for i in pb.prange(low, high):
            a[i] = a[i] * 2.0 + i
        return 0.0

    for low, high in ((-5, 5), (-3, 200), (0, 200), (-200, 0), (5, 5), (9, 3)):
        expected, found = np.arange(200.0), np.arange(200.0)
        f(expected, low, high)
        pb.set_num_threads(2)
        pb.jit(f, parallel=True)(found, low, high)
        assert same(expected, found)


def test_inside_of_another_loop_it_is_serial():
    def f(a):
        out = np.zeros(a.shape)
        for i in pb.prange(a.shape[0]):
            for j in pb.prange(a.shape[1]):
                out[i, j] = a[i, j] * i + j
        return np.sum(out)

    a = np.random.default_rng(0).random((70, 90))
    close(f(a), on_all(pb.jit(f, parallel=True), [a])[0])


def test_calls_and_recursion_in_trips():
    def fold(n, x):
        return x if n == 0 else fold(n - 1, math.sin(x) + n)

    def f(a, out):
        for i in pb.prange(len(a)):
            out[i] = fold(50 + i % 7, float(a[i]))
        return np.sum(out)

    a = np.random.default_rng(0).random(500)
    close(f(a, np.zeros(500)), on_all(pb.jit(f, parallel=True), [a, np.zeros(500)])[0])


def test_threads_of_python_share_the_pool():
    """Calls from several threads at once, parallel ones among them, give what they give alone."""
    function, arguments, _ = PROGRAMS["bodies"]
    gradient = pb.grad(pb.jit(function, parallel=True))
    expected = gradient(*arguments)
    pb.set_num_threads(2)
    wrong = []

    def work():
        for _ in range(20):
            if not same(gradient(*arguments), expected):
                wrong.append(1)

    before = pb.stats().live_bytes
    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert pb.stats().live_bytes == before


def test_long_calls_let_other_threads_run():
    """The GIL is given away: a thread of Python goes on while compiled code loops, and gets it back at the end."""

    @pb.jit
    def long(n):
        s = 0.0
        for i in range(n):
            s += math.sin(s + i)
        return s

    long(10)
    counted, done = [0], threading.Event()

    def count():
        while not done.is_set():
            counted[0] += 1

    thread = threading.Thread(target=count)
    thread.start()
    try:
        before = counted[0]
        for _ in range(3):
            long(2_000_000)
        assert counted[0] > before
    finally:
        done.set()
        thread.join()


def test_long_calls_that_print():
    """What needs Python takes the GIL back."""

    @pb.jit
    def f(n):
        s = 0.0
        for i in range(3):
            for k in range(n):
                s += math.sin(s + k)
            print(i)
        return s

    f(2_000_000)


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs a timer")
def test_control_c_stops_a_parallel_loop():
    @pb.jit(parallel=True)
    def f(n):
        s = 0.0
        for i in pb.prange(1000):
            for k in range(n):
                s += math.sin(i + k)
        return s

    f(2)
    pb.set_num_threads(2)

    def alarm(number, frame):
        raise KeyboardInterrupt

    old = signal.signal(signal.SIGALRM, alarm)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        start = time.monotonic()
        with pytest.raises(KeyboardInterrupt):
            f(10_000_000)
        assert time.monotonic() - start < 20.0  # it would run for an hour
    finally:
        signal.signal(signal.SIGALRM, old)
    assert f(2) == f(2)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_pools_begin_anew_after_a_fork():
    function, arguments, _ = PROGRAMS["bodies"]
    parallel = pb.jit(function, parallel=True)
    pb.set_num_threads(2)
    expected = parallel(*arguments)
    child = os.fork()
    if child == 0:
        code = 1
        try:
            code = 0 if same(parallel(*arguments), expected) else 2
        finally:
            os._exit(code)
    deadline = time.monotonic() + 60
    while (ended := os.waitpid(child, os.WNOHANG)) == (0, 0):
        if time.monotonic() > deadline:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            pytest.fail("the child hangs")
        time.sleep(0.01)
    assert os.waitstatus_to_exitcode(ended[1]) == 0
    assert same(parallel(*arguments), expected)


def test_memory_of_trips_is_given_back():
    """Arrays made in one thread and freed in another, in forward and reverse."""
    function, arguments, _ = PROGRAMS["rows"]
    gradient = pb.grad(pb.jit(function, parallel=True))
    pb.set_num_threads(3)
    gradient(*arguments)
    before = pb.stats().live_bytes
    for _ in range(10):
        gradient(*arguments)
    assert pb.stats().live_bytes == before


def test_number_of_threads():
    pb.set_num_threads(5)
    assert pb.get_num_threads() == 5
    for wrong in (0, -1, 10_000):
        with pytest.raises(ValueError, match="between 1 and"):
            pb.set_num_threads(wrong)
    with pytest.raises(TypeError):
        pb.set_num_threads(2.0)
    code = "import pullback as pb; print(pb.get_num_threads())"
    for asked, expected in (("3", "3"), ("0", None), ("x", None)):
        environment = {**os.environ, "PULLBACK_NUM_THREADS": asked}
        out = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
        affinity = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
        assert out.stdout.strip() == (expected or str(affinity))


@pytest.mark.parametrize("name", cases(["reductions", "histogram", "stencil", "rows", "shifted maps"], ["histogram"]))
def test_the_interpreter_agrees(name):
    """The program that is cut into blocks is one like others: the interpreter runs it as well."""
    function, arguments, _ = PROGRAMS[name]
    lowered = pb.jit(function, parallel=True).lower(*copies(arguments))
    given = copies(arguments)
    found = run(lowered.program, given)
    expected, left = on_all(pb.jit(function, parallel=True), arguments)
    values = [x for x in flat(list(found)) if x.dtype != np.int64]  # without the flavours of numbers
    close([x for x in flat(expected) if x.dtype != np.int64], values)
    close(left, given)


def test_the_page_runs():
    """The example of docs/parallel.md."""
    text = (Path(__file__).resolve().parents[1] / "docs" / "parallel.md").read_text()
    (code,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    file = "<docs/parallel.md>"
    linecache.cache[file] = (len(code), None, code.splitlines(True), file)
    scope = {"__name__": "page"}
    exec(compile(code, file, "exec"), scope)
    u = np.random.default_rng(0).random((40, 50))
    around = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])
    close(np.sum(around * around), scope["smooth"](u, np.zeros_like(u)))
    assert scope["g"](u, np.zeros_like(u)).shape == u.shape


def smoothed(u, steps):
    """Every step makes its array from the one before, as a copy whose inside is written."""
    for _ in range(steps):
        new = u.copy()
        new[1:-1, 1:-1] = u[1:-1, 1:-1] + 0.1 * (
            u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4.0 * u[1:-1, 1:-1]
        )
        u = new
    return np.sum(u * u)


def test_steps_by_slices_and_their_reverse_run_over_blocks():
    """No array stands between a step and its target, additions to shifted views are cut, and so are zeros."""
    parallel = pb.jit(smoothed, parallel=True)
    loop = re.compile(r"elementwise rank=2 outputs=\(new\)")
    steps = parallel.lower(np.ones((9, 9)), 2).stages["passes"].split("for steps")[1]
    assert len(loop.findall(steps.split("return")[0])) == 1
    text = pb.grad(parallel).lower(np.ones((9, 9)), 2).stages["passes again"]
    assert "array_zeros" not in text
    cut = [part for part in text.split("threads=True")[1:] if "rounds=" in part.split("else:")[0]]
    assert cut
    for shape in ((300, 260), (5, 7), (2, 3)):
        u = np.random.default_rng(1).random(shape)
        value, _ = on_all(parallel, (u, 3))
        assert value == pytest.approx(smoothed(u, 3), rel=1e-13)
        slope, _ = on_all(pb.grad(parallel), (u, 3))
        np.testing.assert_allclose(slope, pb.grad(smoothed)(u, 3), rtol=1e-12, atol=1e-15)
        v = np.random.default_rng(2).random(shape)
        assert np.sum(slope * v) == pytest.approx((smoothed(u + 1e-6 * v, 3) - smoothed(u - 1e-6 * v, 3)) / 2e-6)
        second, _ = on_all(lambda u, v=v: pb.hvp(lambda x: parallel(x, 3), (u,), (v,)), (u,))
        np.testing.assert_allclose(second, 0.5 * (pb.grad(smoothed)(u + v, 3) - pb.grad(smoothed)(u - v, 3)), rtol=1e-9)


def squared(a, b):
    return a * a - b


def filled(a, b):
    out = np.full(len(a), 3, dtype=a.dtype)
    out[1:] += b[1:]
    return out


def where_less(a, b):
    return a < b


@pytest.mark.parametrize(
    ("function", "dtype"), [(squared, "float64"), (filled, "float32"), (where_less, "int8"), (squared, "int8")]
)
def test_large_results_are_stored_past_the_caches(function, dtype):
    """Blocks that begin anywhere in a line, of lengths that are no multiple of one; every element, and none beside."""
    count = 40_000_003 // np.dtype(dtype).itemsize
    rng = np.random.default_rng(0)
    a, b = (rng.integers(-9, 9, count + 3).astype(dtype) for _ in range(2))
    parallel = pb.jit(function, parallel=True)
    for first, last in ((0, count + 3), (1, count)):
        np.testing.assert_array_equal(parallel(a[first:last], b[first:last]), function(a[first:last], b[first:last]))


def test_large_gradients_are_stored_past_the_caches():
    def total(a, b):
        return np.sum(np.sin(a) * b)

    rng = np.random.default_rng(1)
    a, b = rng.random(5_000_001), rng.random(5_000_001)
    found = pb.grad(pb.jit(total, parallel=True), argnums=(0, 1))(a, b)
    np.testing.assert_allclose(found[0], np.cos(a) * b, rtol=1e-14)
    np.testing.assert_allclose(found[1], np.sin(a), rtol=1e-14)


def test_large_results_in_place():
    """What is read as well keeps its place: nothing of it is streamed before it is read."""

    def moved(a, out):
        out[:] = a + out
        a[1:] = a[:-1] * 2.0

    pb_moved = pb.jit(moved, parallel=True)
    a, out = np.arange(5_000_001.0), np.ones(5_000_001)
    b, other = a.copy(), out.copy()
    pb_moved(a, out)
    moved(b, other)
    np.testing.assert_array_equal(a, b)
    np.testing.assert_array_equal(out, other)

"""What users of other tools were let down on: one test per numbered behaviour, for its whole kind.

Numbers about arrays that are written, containers that grow, custom rules and callbacks belong to later versions.
"""

from __future__ import annotations

import importlib.util
import math
import os
import pickle
import signal
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import adapter
import oracle
import pullback as pb
from compare import assert_gradient


def check(function: Any, *arguments: Any, argnums: tuple[int, ...] = (0,)) -> list[float]:
    """Both modes against dual numbers; the gradient for a further look."""
    expected = oracle.gradient(function, arguments, argnums)
    for mode in adapter.FIRST_ORDER:
        actual = adapter.derivative(function, arguments, argnums, mode, (), "compiled")
        assert_gradient(actual, expected, where=f"{mode} of {function.__name__}{arguments}")
    return expected


# 1 ------------------------------------------------------------------------------------------------------------------


def grow_until(x, limit):
    n = 0
    while x < limit:
        x = x * 1.1 + math.sin(x) * 0.01
        n += 1
    return x * n


@pytest.mark.parametrize("limit", [0.5, 2.0, 100.0, 1e6])
def test_01_trip_count_depends_on_data(limit: float) -> None:
    check(grow_until, 1.0, limit)


def slow_decay(x, threshold):
    while x > threshold:
        x = x * 0.99999
    return x * x


def test_01_reverse_cost_is_proportional_to_the_trips_that_ran() -> None:
    gradient = pb.grad(slow_decay)

    def seconds(trips: int) -> float:
        threshold = 0.99999**trips
        gradient(1.0, threshold)
        best = math.inf
        for _ in range(5):
            begin = time.perf_counter()
            gradient(1.0, threshold)
            best = min(best, time.perf_counter() - begin)
        return best

    assert seconds(200_000) < 60.0 * seconds(10_000)


# 2, 3, 5, 8 -----------------------------------------------------------------------------------------------------------


def made_before_used_after(x, n):
    before = math.exp(x) * x
    total = 0.0
    for i in range(n):
        total = total * 0.5 + x * i
    return total + before * before


@pytest.mark.parametrize("n", [0, 1, 7])
def test_02_value_before_a_loop_keeps_its_adjoint(n: int) -> None:
    check(made_before_used_after, 0.7, n)


def square_of_final(x, n):
    total = x
    for i in range(n):
        total += x * i
    return total**2 + 1.0 / total


def helper_of_final(x, n):
    return reciprocal_and_square(accumulate(x, n))


def accumulate(x, n):
    total = x
    for i in range(n):
        total += x * i
    return total


def reciprocal_and_square(y):
    return y * y + 1.0 / y


@pytest.mark.parametrize("function", [square_of_final, helper_of_final])
@pytest.mark.parametrize("n", [0, 1, 5])
def test_03_nonlinear_use_of_an_accumulator(function: Any, n: int) -> None:
    check(function, 2.0, n)


def product(a):
    result = 1.0
    for v in a:
        result *= v
    return result


@pytest.mark.parametrize("values", [[2.0, 3.0, -4.0], [2.0, 0.0, -4.0], [0.0, 0.0, 5.0], [7.0], []])
def test_04_and_29_product(values: list[float]) -> None:
    a = np.array(values)
    gradient = pb.grad(product)(a)
    assert gradient.tolist() == [math.prod(values[:i] + values[i + 1 :]) for i in range(len(values))]


def last_after_break(a, limit):
    for v in a:
        if v > limit:
            break
    return v**3


@pytest.mark.parametrize("limit", [0.0, 1.5, 2.5, 99.0])
def test_05_loop_variable_after_break(limit: float) -> None:
    check(last_after_break, np.array([1.0, 2.0, 3.0]), limit)


def unread_carry(x, n):
    ghost = 0.0
    y = x
    for i in range(n):
        ghost = y + i
        y = y * y * 0.5
    return y


def test_08_unread_carried_variable() -> None:
    check(unread_carry, 1.2, 4)


# 6, 10, 39 ------------------------------------------------------------------------------------------------------------


def nested_trips(x, outer, inner):
    total = 0.0
    for _ in range(outer):
        y = x
        for _ in range(inner):
            y = math.sin(y) * 1.01
        total += y
    return total


def resident_megabytes() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs /proc")
def test_06_long_inner_loops_free_their_storage() -> None:
    gradient = pb.grad(nested_trips)
    check(nested_trips, 0.5, 3, 500)
    gradient(0.5, 2, 1_000_000)
    before = resident_megabytes()
    for _ in range(5):
        gradient(0.5, 2, 1_000_000)
    assert resident_megabytes() - before < 40.0


def sum_of_squares(a, n):
    total = 0.0
    for i in range(n):
        total += a[i] * a[i]
    return total


def test_10_and_39_new_sizes_do_not_recompile() -> None:
    gradient = pb.grad(sum_of_squares)
    gradient(np.ones(10), 10)
    compiled = adapter.compilations()
    for size in (11, 1000, 1_000_000):
        assert np.array_equal(gradient(np.ones(size), size), np.full(size, 2.0))
    assert adapter.compilations() == compiled
    gradient(np.ones(10, np.float32), 10)
    assert adapter.compilations() > compiled


# 7, 17, 18 ------------------------------------------------------------------------------------------------------------


def layers_in_a_loop(layers, x):
    for w, b in layers:
        x = np.tanh(w @ x + b)
    return np.sum(x * x)


def layers_unrolled(layers, x):
    x = np.tanh(layers[0][0] @ x + layers[0][1])
    x = np.tanh(layers[1][0] @ x + layers[1][1])
    x = np.tanh(layers[2][0] @ x + layers[2][1])
    return np.sum(x * x)


def test_07_one_entry_per_layer() -> None:
    rng = np.random.default_rng(7)
    layers = [(rng.normal(size=(3, 3)), rng.normal(size=3)) for _ in range(3)]
    x = rng.normal(size=3)
    looped, unrolled = pb.grad(layers_in_a_loop)(layers, x), pb.grad(layers_unrolled)(layers, x)
    for left, right in zip(looped, unrolled, strict=True):
        np.testing.assert_allclose(left[0], right[0], rtol=1e-12)
        np.testing.assert_allclose(left[1], right[1], rtol=1e-12)


def uses_one_field(p):
    return p["used"] ** 2


def test_17_unused_field_gets_zeros() -> None:
    p = {"used": 3.0, "vector": np.ones(2), "pair": (1.0, 2)}
    gradient = pb.grad(uses_one_field)(p)
    assert gradient["used"] == 6.0 and gradient["vector"].tolist() == [0.0, 0.0] and gradient["pair"][0] == 0.0
    tangent = {"used": 1.0, "vector": np.ones(2), "pair": (1.0, 0)}
    assert pb.jvp(uses_one_field, (p,), (tangent,)) == (9.0, 6.0)


def active_and_constant(x):
    return x * x, 5.0


def test_18_constant_result_beside_an_active_one() -> None:
    value, pullback = pb.vjp(active_and_constant, 3.0)
    assert value == (9.0, 5.0)
    assert pullback((1.0, 100.0)) == (6.0,)
    assert pb.jvp(active_and_constant, (3.0,), (1.0,)) == ((9.0, 5.0), (6.0, 0.0))


# 16 -----------------------------------------------------------------------------------------------------------------


def loop_with_residuals(x, n):
    for _ in range(n):
        x = math.sin(x) * x
    return x


def test_16_gradient_and_pullback_twice() -> None:
    gradient = pb.grad(loop_with_residuals)
    assert gradient(0.9, 6) == gradient(0.9, 6)
    _, pullback = pb.vjp(loop_with_residuals, 0.9, 6)
    first = pullback(1.0)
    pb.vjp(loop_with_residuals, 0.3, 9)[1](1.0)
    assert pullback(1.0) == first
    assert pullback(2.0)[0] == pytest.approx(2.0 * first[0], rel=1e-14)
    assert first[0] == gradient(0.9, 6)


# 20, 21, 22 -----------------------------------------------------------------------------------------------------------


def recursive_sum(x, n):
    if n == 0:
        return x
    return recursive_sum(x, n - 1) + math.sin(x) / n


@pytest.mark.parametrize("depth", [0, 100, 800])
def test_20_recursion(depth: int) -> None:
    expected = 1.0 + math.cos(0.5) * sum(1.0 / k for k in range(1, depth + 1))
    assert pb.grad(recursive_sum)(0.5, depth) == pytest.approx(expected, rel=1e-10)


def unbounded(x):
    return unbounded(x + 1.0) + 1.0 if x > 0.0 else x


def test_20_recursion_without_end() -> None:
    with pytest.raises(RecursionError):
        pb.jit(unbounded)(1.0)


def pass_down(x, y):
    return use_twice(lambda a: a * x + math.sin(x), y)


def use_twice(f, y):
    return f(f(y))


def give_up(x, y):
    return scaler(x)(y) * scaler(y)(x)


def scaler(x):
    return lambda a: a * x * x


@pytest.mark.parametrize("function", [pass_down, give_up])
def test_21_captures_get_gradients(function: Any) -> None:
    check(function, 0.7, 1.3, argnums=(0, 1))


def and_not(x, a, b):
    return x * x if a and not b else x


def or_default(x):
    return (x or 3.0) * x


def between(x):
    return x * x if 0.0 < x < 1.0 else 2.0 * x


def short_circuit(x):
    return x if x == 0.0 or 1.0 / x > 0.5 else x * x


def test_22_short_circuit() -> None:
    for a in (True, False):
        for b in (True, False):
            check(and_not, 3.0, a, b)
    for function in (or_default, between, short_circuit):
        for x in (0.0, 0.5, 1.0, 5.0):
            check(function, x)


# 23 to 28, 31 ---------------------------------------------------------------------------------------------------------


def guarded_root(a):
    return np.sum(np.where(a > 0, np.sqrt(a), 0))


def root_times_zero(x):
    return math.sqrt(x) * 0.0


def test_23_selection() -> None:
    assert pb.grad(guarded_root)(np.array([0.0, -1.0, 4.0])).tolist() == [0.0, 0.0, 0.25]
    assert pb.grad(root_times_zero)(0.0) == 0.0
    assert pb.jvp(root_times_zero, (0.0,), (1.0,)) == (0.0, 0.0)


def test_24_and_31_origin() -> None:
    assert pb.grad(lambda x, y: math.hypot(x, y), argnums=(0, 1))(0.0, 0.0) == (0.0, 0.0)
    assert pb.grad(lambda x, y: math.hypot(x, y) ** 2, argnums=(0, 1))(0.0, 0.0) == (0.0, 0.0)
    assert pb.grad(lambda x, y: math.atan2(x, y), argnums=(0, 1))(0.0, 0.0) == (0.0, 0.0)
    assert pb.grad(lambda x, y: np.hypot(x, y) + np.arctan2(x, y), argnums=(0, 1))(0.0, 0.0) == (0.0, 0.0)


def test_25_piecewise_constant() -> None:
    assert pb.grad(lambda x: abs(x))(0.0) == 0.0
    assert pb.grad(lambda x: np.abs(x))(0.0) == 0.0
    assert pb.grad(lambda x: x * np.sign(x))(-2.0) == -1.0
    assert pb.grad(lambda x: x * math.floor(x))(2.5) == 2.0
    assert pb.grad(lambda x: x * round(x))(2.5) == 2.0
    for x in (2.5, -2.5, 2.0):
        assert pb.grad(lambda x: x % 1)(x) == 1.0


def test_26_ties_share_evenly() -> None:
    assert pb.grad(lambda t: max(t))((1.0, 1.0, 0.0)) == (0.5, 0.5, 0.0)
    assert pb.grad(lambda x, y: max(x, y), argnums=(0, 1))(2.0, 2.0) == (0.5, 0.5)
    assert pb.grad(lambda x, y: np.minimum(x, y), argnums=(0, 1))(2.0, 2.0) == (0.5, 0.5)
    for point in [(1.0, 1.0, 1.0), (0.0, 2.0, 2.0), (3.0, 2.0, 3.0)]:
        assert sum(pb.grad(lambda t: max(t))(point)) == pytest.approx(1.0)


def test_27_literal_bound() -> None:
    for function in (lambda x: max(x, 0.0), lambda x: max(0, x), lambda x: np.maximum(x, 0)):
        assert pb.grad(function)(0.0) == 0.0
        assert pb.jvp(function, (0.0,), (1.0,))[1] == 0.0
        assert pb.grad(function)(1.0) == 1.0


def test_28_powers_at_zero() -> None:
    assert pb.grad(lambda x: x**0)(0.0) == 0.0
    assert pb.grad(lambda x: x**0.0)(0.0) == 0.0
    assert pb.grad(lambda x: x**1)(0.0) == 1.0
    assert pb.grad(lambda x: x**2.0)(0.0) == 0.0
    assert pb.grad(pb.grad(lambda x: x**2.0))(0.0) == 2.0
    assert pb.grad(lambda x: x**0.5)(0.0) == pb.grad(lambda x: math.sqrt(x))(0.0) == math.inf


# 33, 34, 36 -----------------------------------------------------------------------------------------------------------


def test_33_shapes_and_types() -> None:
    product = lambda a, b: np.sum(a * b)
    one, many = pb.grad(product, argnums=(0, 1))(np.array([2.0]), np.ones((5, 4)))
    assert one.shape == (1,) and one[0] == 20.0 and many.shape == (5, 4)
    scalar, many = pb.grad(product, argnums=(0, 1))(2.0, np.ones(5))
    assert type(scalar) is float and scalar == 5.0 and many.shape == (5,)
    assert type(pb.grad(lambda x: np.sin(x))(1.0)) is float
    assert type(pb.jit(lambda x: x * 2.0)(1.0)) is float


def test_34_precision_is_kept() -> None:
    square = lambda a: np.sum(a * a)
    assert pb.grad(square)(np.ones(3, np.float32)).dtype == np.float32
    assert pb.grad(square)(np.ones(3)).dtype == np.float64
    assert type(pb.grad(lambda x: x * x)(np.float32(3.0))) is np.float32
    assert type(pb.jit(lambda x: x * 0.1)(np.float32(3.0))) is np.float32
    assert type(pb.jit(lambda x, y: x * y)(np.float32(3.0), np.float64(2.0))) is np.float64


def test_36_integers() -> None:
    with pytest.raises(TypeError, match=r"x.*3\.0"):
        pb.grad(lambda x: x * x)(3)
    gradient = pb.grad(lambda p: p["x"] ** p["n"])({"x": 2.0, "n": 3})
    assert gradient["x"] == 12.0 and gradient["n"] == 0


# 38, 40 ---------------------------------------------------------------------------------------------------------------


def write_module(path: Path, text: str) -> Any:
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_38_helpers_and_globals_are_read_at_call_time(tmp_path: Path) -> None:
    module = write_module(
        tmp_path / "model.py",
        "rate = 2.0\n\ndef helper(x):\n    return x * rate\n\ndef other(x):\n    return x * 10.0\n\n"
        "def f(x):\n    return helper(x) * x\n",
    )
    compiled, gradient = pb.jit(module.f), pb.grad(module.f)
    assert (compiled(3.0), gradient(3.0)) == (18.0, 12.0)
    count = adapter.compilations()
    module.rate = 5.0
    assert (compiled(3.0), gradient(3.0)) == (45.0, 30.0)
    assert adapter.compilations() == count
    module.helper = module.other
    assert (compiled(3.0), gradient(3.0)) == (90.0, 60.0)


def test_40_eight_threads_compile_once() -> None:
    def f(x, n):
        for _ in range(n):
            x = math.sin(x) + 0.1
        return x

    gradient = pb.grad(f)
    expected = oracle.gradient(f, (0.5, 20))[0]
    results: list[float] = []
    barrier = threading.Barrier(8)

    def call() -> None:
        barrier.wait()
        results.append(gradient(0.5, 20))

    threads = [threading.Thread(target=call) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 8 and len(set(results)) == 1
    assert results[0] == pytest.approx(expected, rel=1e-12)


jitted = pb.jit(loop_with_residuals)
derived = pb.grad(loop_with_residuals)


def test_40_compiled_functions_pickle() -> None:
    for compiled in (jitted, derived):
        copy = pickle.loads(pickle.dumps(compiled))
        assert copy(0.9, 3) == compiled(0.9, 3)


# 42 -----------------------------------------------------------------------------------------------------------------


def unsupported_on_another_path(x):
    if x > 0.0:
        return x * x
    with open("never") as stream:
        return float(stream.read())


def test_42_unsupported_before_anything_runs() -> None:
    with pytest.raises(pb.CompileError, match="with"):
        pb.jit(unsupported_on_another_path)(1.0)


# the rest of the table of meanings ----------------------------------------------------------------------------------


def endless(x):
    while x < 2.0:
        x = x * 0.5 + 0.5
    return x


@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="needs signals")
def test_interrupt() -> None:
    compiled = pb.jit(lambda x: endless(x) if x < 5.0 else x)
    compiled(9.0)
    sent: list[float] = []

    def interrupt() -> None:
        sent.append(time.perf_counter())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(0.2, interrupt)
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        compiled(0.0)
    assert time.perf_counter() - sent[0] < 0.5
    timer.join()


def test_documented_deviations_raise() -> None:
    with pytest.raises(OverflowError):
        pb.jit(lambda n: n * n)(2**40)
    with pytest.raises(OverflowError):
        pb.jit(lambda n, m: n + m)(2**62, 2**62)
    with pytest.raises(ValueError):
        pb.jit(lambda n, m: n**m)(2, -1)
    with pytest.raises(ValueError):
        pb.jit(lambda x, y: x**y)(-2.0, 0.5)


def test_captured_numbers_are_read_at_call_time() -> None:
    scale = 2.0

    def f(x):
        return x * scale

    compiled = pb.jit(f)
    assert compiled(3.0) == 6.0
    scale = 5.0
    assert compiled(3.0) == 15.0


@pytest.mark.parametrize("mode", adapter.SECOND_ORDER)
@pytest.mark.parametrize("x", [1.0, -1.0, 0.0, 0.5])
def test_double_well(mode: str, x: float) -> None:
    well = lambda x: (x**2 - 1.0) ** 2
    (actual,) = adapter.derivative(well, (x,), (0,), mode, [1.0], "compiled")
    assert actual == pytest.approx(12.0 * x * x - 4.0, rel=1e-14)


def test_argument_returned_is_the_same_object() -> None:
    a = np.ones(3)
    assert pb.jit(lambda a: a)(a) is a


def test_overlapping_arguments_are_independent_variables() -> None:
    a = np.array([1.0, 2.0, 3.0])
    left, right = pb.grad(lambda u, v: np.sum(u * u * v), argnums=(0, 1))(a, a)
    assert left.tolist() == [2.0, 8.0, 18.0] and right.tolist() == [1.0, 4.0, 9.0]

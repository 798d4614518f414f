"""Arrays that overlap, outlive each other, or change while compiled code reads them."""

from __future__ import annotations

import gc
import threading
import warnings
from typing import Any

import numpy as np
import pytest

import pullback as pb
from hostile import A, add_into, agrees, double, locked, outcome, paste, shift, update, whole
from mutating import fresh


@pytest.fixture(autouse=True)
def quiet() -> Any:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield


# --- overlap --------------------------------------------------------------------------------------------------------

BASE = np.arange(6.0)
OVERLAPS = {
    "same object": (BASE, BASE),
    "same memory": (BASE[:], BASE[:]),
    "shifted up": (BASE[1:], BASE[:-1]),
    "shifted down": (BASE[:-1], BASE[1:]),
    "reversed": (BASE, BASE[::-1]),
    "interleaved": (BASE[::2], BASE[1::2]),
    "strided in whole": (BASE[::2], BASE[:3]),
    "one element": (BASE[5:], BASE[5:]),
    "end to end": (BASE[:3], BASE[3:]),
    "row of matrix": (BASE.reshape(2, 3)[0], BASE[:3]),
}


@pytest.mark.parametrize("name", OVERLAPS)
def test_overlapping_arguments(name: str) -> None:
    agrees(update, *OVERLAPS[name])
    agrees(update, *reversed(OVERLAPS[name]))
    agrees(add_into, *OVERLAPS[name])
    agrees(lambda a, b: np.sum(a * b), *OVERLAPS[name])
    agrees(lambda a, b: paste(a, 0, len(a), 1, b * 2.0), *OVERLAPS[name])
    agrees(lambda a, b: paste(a, 0, len(a), 1, b[::-1]), *OVERLAPS[name])


@pytest.mark.parametrize("name", OVERLAPS)
def test_gradients_of_overlapping_arguments(name: str) -> None:
    a, b = fresh(OVERLAPS[name])
    left, right = pb.grad(lambda a, b: np.sum(a * a * b), argnums=(0, 1))(a, b)
    np.testing.assert_allclose(left, 2.0 * a * b)
    np.testing.assert_allclose(right, a * a)
    actual = outcome(pb.grad(update, argnums=(0, 1)), (a, b))
    if np.shares_memory(a, b):
        assert isinstance(actual, ValueError), repr(actual)
        assert a.tolist() == OVERLAPS[name][0].tolist()


def test_overlap_inside_one_array() -> None:
    for function in (
        lambda a: paste(a, 1, 9, 1, a[:-1]),
        lambda a: paste(a, 0, 5, 1, a[1:]),
        lambda a: paste(a, 0, 6, 1, a[::-1]),
        lambda a: paste(a, 0, 6, 2, a[3:]),
        lambda a: add_into(a[1:], a[:-1]),
        lambda a: add_into(a[::-1], a),
        lambda a: paste(a.reshape(2, 3), 0, 2, 1, a[:3]),
        lambda a: paste(a.reshape(2, 3).T, 0, 3, 1, a[1:3]),
    ):
        agrees(function, BASE)


def test_arrays_that_overlap_themselves() -> None:
    window = np.lib.stride_tricks.as_strided(np.arange(6.0), (4, 3), (8, 8))
    assert pb.jit(whole)(window) == whole(window)
    outcome(pb.jit(double), (window,))
    zero = np.lib.stride_tricks.as_strided(np.ones(1), (5,), (0,))
    outcome(pb.jit(double), (zero,))
    outcome(pb.jit(shift), (zero,))
    outcome(pb.grad(whole), (zero,))


CAPTURED = np.arange(4.0)


def test_a_captured_global_is_an_argument_too() -> None:
    def both(a: Any) -> Any:
        s = 0.0
        for i in range(len(a)):
            CAPTURED[i] = a[i] + 1.0
            s += a[i] * CAPTURED[i]
        return s

    for view in (CAPTURED, CAPTURED[::-1], CAPTURED[:3]):
        CAPTURED[:] = np.arange(4.0)
        expected, left = both(view), CAPTURED.copy()
        CAPTURED[:] = np.arange(4.0)
        assert pb.jit(both)(view) == expected
        assert CAPTURED.tolist() == left.tolist()
    CAPTURED[:] = np.arange(4.0)
    actual = outcome(pb.grad(both), (CAPTURED,))
    assert isinstance(actual, (ValueError, np.ndarray))


def test_mutation_during_iteration() -> None:
    def forwards(a: Any) -> Any:
        s = 0.0
        for v in a:
            a[-1] += v
            s += v
        return s

    def rows(m: Any) -> Any:
        s = 0.0
        for row in m:
            m[-1] += row
            s += row[0]
        return s

    agrees(forwards, A)
    agrees(rows, np.arange(6.0).reshape(3, 2))


# --- lifetimes and threads ------------------------------------------------------------------------------------------


def test_views_keep_their_base_alive() -> None:
    def parts(a: Any) -> Any:
        z = np.zeros((3, 4))
        z[1] = a
        return a[1:], z[1], z.T

    f = pb.jit(parts)
    for trial in range(200):
        view, row, turned = f(np.arange(4.0))
        if trial % 10 == 0:
            gc.collect()
        junk = [np.full(4, 9.0) for _ in range(20)]
        assert view.tolist() == [1.0, 2.0, 3.0]
        assert row.tolist() == [0.0, 1.0, 2.0, 3.0]
        assert turned.shape == (4, 3) and turned[2].tolist() == [0.0, 2.0, 0.0]
        row[0] = 7.0
        assert turned[0, 1] == 7.0
        del view, row, turned, junk


def test_an_argument_deleted_while_a_view_lives() -> None:
    a = np.arange(1000.0)
    view = pb.jit(lambda a: a[10:20])(a)
    assert view.base is not None
    del a
    gc.collect()
    assert view.tolist() == list(range(10, 20))


def test_resize_of_a_returned_array() -> None:
    for function in (lambda a: a * 2.0, lambda a: np.zeros(4), lambda a: a):
        result = pb.jit(function)(A.copy())
        try:
            result.resize(100_000, refcheck=False)
        except ValueError:
            continue
        result[:] = 1.0
        assert result.sum() == 100_000.0


def test_results_are_ordinary_arrays() -> None:
    result = pb.jit(lambda a: a * 2.0)(A)
    result[0] = 5.0
    result += 1.0
    assert result.tolist() == [6.0, -2.0, 5.0, 7.5]
    assert result.flags.writeable and result.flags.aligned
    del result
    gc.collect()


def test_a_pullback_outlives_its_arguments() -> None:
    a = np.arange(1.0, 5.0)
    _, pullback = pb.vjp(lambda a: np.sum(a * a * a), a)
    del a
    gc.collect()
    junk = [np.full(4, 9.0) for _ in range(50)]
    np.testing.assert_allclose(pullback(np.float64(1.0))[0], [3.0, 12.0, 27.0, 48.0])
    assert junk


def test_cotangents_and_tangents_of_another_shape() -> None:
    _, pullback = pb.vjp(lambda a: a * a, A.copy())
    for bad in (np.ones(3), np.ones((4, 1)), np.ones(5), np.ones(0), None, "x"):
        actual = outcome(pullback, (bad,))
        assert isinstance(actual, (TypeError, ValueError)), repr(actual)
        actual = outcome(lambda bad: pb.jvp(whole, (A.copy(),), (bad,)), (bad,))
        assert isinstance(actual, (TypeError, ValueError)), repr(actual)
    np.testing.assert_allclose(pullback(np.ones(8)[::2])[0], 2.0 * A)
    np.testing.assert_allclose(pullback(locked(np.ones(4)))[0], 2.0 * A)


def test_threads_that_write_during_the_call() -> None:
    shared = np.ones(20_000)
    f, g = pb.jit(lambda a: np.sum(a * a)), pb.grad(lambda a: np.sum(a * a))
    f(shared), g(shared)
    stop = threading.Event()

    def disturb() -> None:
        while not stop.is_set():
            shared[:] = np.random.default_rng(0).random(shared.size)

    thread = threading.Thread(target=disturb)
    thread.start()
    try:
        for _ in range(100):
            assert 0.0 <= f(shared) <= 20_000.0
            assert g(shared).shape == shared.shape
    finally:
        stop.set()
        thread.join()


def test_threads_that_write_the_same_array() -> None:
    def fill(a: Any, x: Any) -> Any:
        for i in range(len(a)):
            a[i] = x
        return a[0]

    f, shared = pb.jit(fill), np.zeros(5000)
    f(shared, 0.0)
    threads = [threading.Thread(target=lambda x=float(x): [f(shared, x) for _ in range(50)]) for x in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(shared.tolist()) <= {0.0, 1.0, 2.0, 3.0}


def test_threads_that_drop_views() -> None:
    f = pb.jit(lambda n: np.ones((n, 3))[::2])
    f(2)

    def work() -> None:
        for n in range(1, 200):
            assert f(n).sum() == 3.0 * ((n + 1) // 2)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

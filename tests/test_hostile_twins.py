"""Byte-swapped and misaligned arguments: as NumPy, whatever they share memory with and wherever they stand."""

from __future__ import annotations

import gc
import threading
import warnings
from typing import Any

import numpy as np
import pytest

import pullback as pb
from hostile import add_into, agrees, double, first, locked, outcome, paste, shift, update, whole
from mutating import fresh


@pytest.fixture(autouse=True)
def quiet() -> Any:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield


def misaligned(count: int, dtype: Any = np.float64) -> Any:
    array = np.zeros(np.dtype(dtype).itemsize * count + 1, np.uint8)[1:].view(dtype)
    array[:] = np.arange(count)
    return array


def packed() -> Any:
    table = np.zeros(4, [("c", "u1"), ("y", ">f8"), ("n", ">i4"), ("x", "<f8")])
    table["y"], table["n"], table["x"] = np.arange(4.0) + 0.5, [3, 2, 1, 0], [1.0, -1.0, 2.0, -2.0]
    return table


SWAPPED = np.arange(8.0).astype(">f8")
PAIRS = {
    "same object": (SWAPPED, SWAPPED),
    "shifted": (SWAPPED[1:], SWAPPED[:-1]),
    "reversed": (SWAPPED, SWAPPED[::-1]),
    "interleaved": (SWAPPED[::2], SWAPPED[1::2]),
    "row of matrix": (SWAPPED.reshape(2, 4)[0], SWAPPED[:4]),
    "misaligned shifted": (misaligned(7)[1:], misaligned(7)[:-1]),
    "fields of a record": (packed()["y"], packed()["x"]),
    "kinds apart": (SWAPPED, misaligned(8)),
    "swapped and native": (np.arange(8.0), SWAPPED),
}


@pytest.mark.parametrize("name", PAIRS)
def test_two_arguments(name: str) -> None:
    for pair in (PAIRS[name], PAIRS[name][::-1]):
        agrees(update, *pair)
        agrees(add_into, *pair)
        agrees(lambda a, b: np.sum(a * b), *pair)
        agrees(lambda a, b: paste(a, 0, len(a), 1, b * 2.0), *pair)


def test_fields_of_one_record() -> None:
    for names in (("y", "n"), ("x", "n"), ("y", "x"), ("n", "y")):
        theirs, ours = packed(), packed()
        expected = outcome(update, tuple(theirs[name] for name in names))
        actual = outcome(pb.jit(update), tuple(ours[name] for name in names))
        assert repr(actual) == repr(expected) and ours.tobytes() == theirs.tobytes()


@pytest.mark.parametrize("dtype", [">f8", ">f4", ">i8", ">i4", "<f4", "<i4"])
def test_dtypes(dtype: str) -> None:
    for array in (misaligned(7, dtype), np.arange(7).astype(dtype)[::-1], misaligned(9, dtype)[1::3]):
        for function in (double, shift, first, whole):
            agrees(function, array)


def test_shapes() -> None:
    def write(a: Any) -> Any:
        a[()] = a[()] * 2.0
        return a

    agrees(write, np.array(2.5).astype(">f8"))
    agrees(lambda a: a + 1.0, np.array(2.5).astype(">f8"))
    agrees(double, np.zeros((0, 3)).astype(">f8"))
    agrees(double, np.arange(6.0).reshape(2, 3).astype(">f8").T)
    agrees(double, np.arange(24.0).reshape(2, 3, 4).astype(">f8")[::-1, ::2, ::-3])
    agrees(double, packed()["y"].reshape(2, 2).T[::-1])
    one = np.lib.stride_tricks.as_strided(np.ones(1).astype(">f8"), (1, 3), (10**15, 0))
    assert pb.jit(whole)(one) == 6.0
    endless = np.broadcast_to(np.float64(3.0).astype(">f8"), 10**12)
    assert pb.jit(lambda a: a[5] + a[-1])(endless) == 6.0
    window = np.lib.stride_tricks.as_strided(np.arange(6.0).astype(">f8"), (4, 3), (8, 8))
    agrees(whole, window)
    agrees(shift, window)


def test_elements_that_overlap_in_part() -> None:
    raw = np.arange(3.0).view(np.uint8)
    torn = np.lib.stride_tricks.as_strided(raw.view(np.float64), (5,), (3,))
    assert pb.jit(lambda a: a[4])(torn) == torn[4]
    before = raw.tobytes()
    with pytest.raises(ValueError, match="pass a copy"):
        pb.jit(first)(torn)
    assert raw.tobytes() == before


def test_read_only() -> None:
    for array in (SWAPPED.copy(), misaligned(5)):
        locked(array)
        agrees(whole, array)
        with pytest.raises(ValueError, match="assignment destination is read-only"):
            pb.jit(first)(array)


def test_exceptions_leave_what_was_done() -> None:
    def fails(a: Any) -> Any:
        a[0] = 7.0
        a[99] = 1.0

    agrees(fails, SWAPPED)
    agrees(fails, misaligned(4))


def test_nothing_is_written_where_nothing_changes() -> None:
    array = SWAPPED.copy()
    bits = array.view(np.uint64)
    bits[3] = 0x010000000000F07F  # a signalling nan, as stored
    before = array.tobytes()
    pb.jit(lambda a: a[0])(array)
    pb.jit(first)(array)
    assert array.tobytes()[8:] == before[8:]


# --- results --------------------------------------------------------------------------------------------------------


def test_results_are_the_argument_and_views_of_it() -> None:
    parts = pb.jit(lambda a: (a, a[1:], a[::-2], a.reshape(2, 4).T, a * 2.0, {"k": [a[3:4]]}))
    for array in (SWAPPED.copy(), misaligned(8)):
        same, tail, back, turned, new, box = parts(array)
        assert same is array
        for view, expected in ((tail, array[1:]), (back, array[::-2]), (turned, array.reshape(2, 4).T)):
            assert np.shares_memory(view, array) and view.dtype == array.dtype and view.flags.writeable
            assert view.tolist() == expected.tolist() and view.strides == expected.strides
        tail[0] = 70.0
        box["k"][0][0] = 30.0
        assert array[1] == 70.0 and array[3] == 30.0
        assert new.dtype == np.dtype(np.float64) and not np.shares_memory(new, array)
        del array, same
        gc.collect()
        assert tail[0] == 70.0


def test_views_of_packed_fields() -> None:
    table = packed()
    view, whole_field = pb.jit(lambda a: (a[::-1][1:], a))(table["y"])
    view[0] = 9.0
    assert table["y"][2] == 9.0 and view.strides == (-21,) and np.shares_memory(whole_field, table)


# --- containers, parameters, threads --------------------------------------------------------------------------------


def test_containers() -> None:
    def write(d: Any) -> Any:
        d["w"][0] = 9.0
        d["l"][0][2] = d["w"][1]
        return d["l"][0]

    array = SWAPPED.copy()
    given = {"w": array, "l": [array[::-1], 1.0]}
    assert pb.jit(write)(given) is given["l"][0]
    assert array[0] == 9.0 and array[-3] == 1.0


def test_all_ways_to_call() -> None:
    def scaled(a: Any, k: Any = 2.0, *, q: Any = 1.0) -> Any:
        a[0] = k
        return np.sum(a) * q

    f = pb.jit(scaled)
    for call in (
        lambda f, a: f(a),
        lambda f, a: f(a, 3.0),
        lambda f, a: f(k=4.0, a=a),
        lambda f, a: f(a, q=2.0),
    ):
        left, right = SWAPPED.copy(), SWAPPED.copy()
        assert call(f, left) == call(scaled, right)
        assert left.tolist() == right.tolist()
    assert f(np.arange(3.0)) == 5.0
    with pytest.raises(TypeError, match="missing 1 required positional argument"):
        f(k=SWAPPED)


def test_containers_that_hold_themselves() -> None:
    loop: list[Any] = [SWAPPED.copy()]
    loop.append(loop)
    assert pb.jit(lambda x: x[1] is x)(loop)


def test_lists_that_hold_twins_are_changed() -> None:
    array = SWAPPED.copy()

    def extend(a: Any, xs: Any) -> Any:
        a[1] = 7.0
        xs.append(a[0])
        return xs

    numbers = [1.0]
    assert pb.jit(extend)(array, numbers) is numbers
    assert numbers == [1.0, array[0]]
    assert array[1] == 7.0


CAPTURED = np.arange(3.0).astype(">f8")


def test_captured_arrays_are_refused() -> None:
    with pytest.raises(pb.CompileError, match="bytes are swapped"):
        pb.jit(lambda a: a[0] + CAPTURED[1])(np.zeros(3))


def test_threads() -> None:
    f = pb.jit(double)
    arrays = [np.full(50, float(k)).astype(">f8") for k in range(4)]
    f(SWAPPED.copy())
    threads = [threading.Thread(target=lambda a=a: [f(a) for _ in range(20)]) for a in arrays]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [a[7] for a in arrays] == [k * 2.0**20 for k in range(4)]


# --- memory that an array of another kind shares --------------------------------------------------------------------


def test_memory_shared_with_another_kind() -> None:
    native = np.arange(4.0)
    swapped = native.view(">f8")
    assert pb.jit(lambda a, b: np.sum(a) + np.sum(b))(native, swapped) == np.sum(native) + np.sum(swapped)
    for pair in ((native, swapped), (swapped, native)):
        with pytest.raises(ValueError, match="shares memory with one of another byte order"):
            pb.jit(add_into)(*pair)
        assert native.tolist() == [0.0, 1.0, 2.0, 3.0]
    assert pb.jit(lambda a, b: a)(native, swapped) is native
    raw = np.zeros(81, np.uint8)
    one, other = raw[1:73].view(np.float64), raw[2:74].view(np.float64)
    assert pb.jit(lambda a, b: a[0] + b[0])(one, other) == 0.0
    assert isinstance(outcome(pb.jit(add_into), (one, other)), ValueError)


def test_memory_changed_from_elsewhere() -> None:
    native = np.arange(4.0)

    def write(a: Any) -> Any:
        native[0] = 5.0
        return a[0]

    with pytest.raises(ValueError, match="changed from elsewhere"):
        pb.jit(write)(native.view(">f8"))


# --- derivatives ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("array", [SWAPPED, SWAPPED.astype(">f4"), misaligned(8), packed()["y"]], ids=str)
def test_derivatives(array: Any) -> None:
    native = array.astype(array.dtype.newbyteorder("="))
    gradient = pb.grad(whole)(array)
    assert gradient.dtype == native.dtype and gradient.tolist() == (2.0 * native).tolist()
    value, gradient = pb.value_and_grad(whole)(array)
    assert value == whole(native) and gradient.tolist() == (2.0 * native).tolist()
    np.testing.assert_allclose(pb.jvp(whole, (array,), (array,))[1], 2.0 * np.sum(native * native))
    value, pullback = pb.vjp(whole, array)
    assert pullback(type(value)(1.0))[0].tolist() == (2.0 * native).tolist()
    hessian = pb.hessian(whole)(array)
    assert hessian.dtype == native.dtype and hessian.tolist() == (2.0 * np.eye(len(array))).tolist()
    np.testing.assert_allclose(pb.hvp(whole, (array,), (array,)), 2.0 * native)
    assert "whole" in str(pb.explain(whole)(array))


def test_derivatives_through_mutation() -> None:
    def f(a: Any) -> Any:
        a[1:] *= a[:-1]
        return np.sum(a * a)

    for array in (np.arange(1.0, 5.0).astype(">f8"), misaligned(4) + 0.0):
        ours, theirs = fresh((array,))[0], array.astype(np.float64)
        np.testing.assert_allclose(pb.grad(f)(ours), pb.grad(f)(theirs))
        assert ours.tolist() == theirs.tolist()
    with pytest.raises(ValueError, match="share memory"):
        pb.grad(update, argnums=(0, 1))(*fresh(PAIRS["shifted"]))

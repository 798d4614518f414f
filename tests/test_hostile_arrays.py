"""Arrays of strange layouts, read-only, empty, 0-d and of foreign kinds: NumPy's answer or a Python exception."""

from __future__ import annotations

import copy
import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pullback as pb
from hostile import (
    A,
    add_into,
    agrees,
    assert_ordinary,
    double,
    first,
    locked,
    outcome,
    paste,
    put,
    same,
    shift,
    survives,
    total,
    whole,
)


@pytest.fixture(autouse=True)
def quiet() -> Any:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield


READERS, WRITERS = [total, whole], [double, shift, first]


def strange_layouts() -> dict[str, np.ndarray[Any, Any]]:
    raw = np.zeros(8 * 8 + 1, np.uint8)
    misaligned = raw[1:].view(np.float64)[:5]
    misaligned[:] = np.arange(5.0)
    matrix = np.arange(20.0).reshape(4, 5)
    return {
        "every other": np.arange(9.0)[::2],
        "negative stride": np.arange(5.0)[::-1],
        "negative and strided": np.arange(11.0)[::-3],
        "column": matrix[:, 2],
        "reversed column": matrix[::-1, 4],
        "transposed row": matrix.T[3],
        "one element of many": np.arange(9.0)[4:5],
        "one element reversed": np.arange(9.0)[4:3:-1],
        "byte-swapped": np.arange(5.0).astype(">f8" if sys.byteorder == "little" else "<f8"),
        "byte-swapped single": np.arange(5.0).astype(">f4" if sys.byteorder == "little" else "<f4"),
        "byte-swapped integers": np.arange(5).astype(">i8" if sys.byteorder == "little" else "<i8"),
        "byte-swapped and strided": np.arange(9.0).astype(">f8")[::-2],
        "misaligned": misaligned,
        "misaligned reversed": misaligned[::-1],
        "long long": np.arange(5, dtype=np.longlong),
        "field of a record": np.zeros(4, [("x", "f8"), ("y", "f8")])["y"],
        "packed field": np.zeros(4, [("c", "u1"), ("y", "f8")])["y"],
    }


RIGHT = [name for name in strange_layouts() if "misaligned" not in name and "packed" not in name]


@pytest.mark.parametrize("function", READERS + WRITERS)
@pytest.mark.parametrize("name", RIGHT)
def test_layouts(name: str, function: Callable[..., Any]) -> None:
    agrees(function, strange_layouts()[name])


@pytest.mark.parametrize("function", READERS + WRITERS)
@pytest.mark.parametrize("name", [name for name in strange_layouts() if name not in RIGHT])
def test_layouts_that_may_be_refused(name: str, function: Callable[..., Any]) -> None:
    survives(function, strange_layouts()[name])


@pytest.mark.parametrize("name", RIGHT)
def test_gradients_of_layouts(name: str) -> None:
    a = strange_layouts()[name]
    if a.dtype.kind == "f":
        np.testing.assert_allclose(pb.grad(whole)(a.copy()), 2.0 * a, rtol=1e-6)
        np.testing.assert_allclose(pb.grad(whole)(a), 2.0 * a, rtol=1e-6)
        np.testing.assert_allclose(pb.jvp(whole, (a,), (a,))[1], 2.0 * np.sum(a * a), rtol=1e-6)
    else:
        with pytest.raises(TypeError):
            pb.grad(whole)(a)


# --- read-only ------------------------------------------------------------------------------------------------------


def whole_slice(a: Any) -> Any:
    a[:] = 1.0


def through_a_view(a: Any) -> Any:
    v = a[1:]
    v[0] = 1.0


def through_a_mask(a: Any) -> Any:
    a[a > 0.0] = 1.0


def through_a_transpose(a: Any) -> Any:
    a.T[0] = 1.0


def augmented_element(a: Any) -> Any:
    a[0] += 1.0


@pytest.mark.parametrize("function", READERS)
def test_read_only_is_read(function: Callable[..., Any]) -> None:
    agrees(function, locked(np.arange(4.0)))
    agrees(function, locked(np.arange(4.0)[::-2]))
    agrees(function, np.frombuffer(bytes(np.arange(4.0)), np.float64))


@pytest.mark.parametrize("function", [first, whole_slice, through_a_view, through_a_mask, through_a_transpose])
def test_read_only_is_not_written(function: Callable[..., Any]) -> None:
    for array in (locked(np.arange(4.0)), np.broadcast_to(np.float64(2.0), 4), np.frombuffer(bytes(32), np.float64)):
        with pytest.raises(ValueError, match="assignment destination is read-only"):
            pb.jit(function)(array)
        with pytest.raises(ValueError, match="assignment destination is read-only"):
            function(array)
        assert array.tolist() == np.array(array).tolist()


@pytest.mark.parametrize("function", [double, add_into, augmented_element])
def test_read_only_is_not_augmented(function: Callable[..., Any]) -> None:
    arguments = (locked(np.arange(4.0)),) if function is not add_into else (locked(np.arange(4.0)), np.ones(4))
    with pytest.raises(ValueError, match="read-only"):
        pb.jit(function)(*arguments)
    assert arguments[0].tolist() == [0.0, 1.0, 2.0, 3.0]


def test_read_only_after_a_writeable_call() -> None:
    f = pb.jit(first)
    assert f(np.arange(4.0)) == 3.0
    with pytest.raises(ValueError, match="read-only"):
        f(locked(np.arange(4.0)))
    assert f(np.arange(4.0)) == 3.0


def test_diagonals_are_read_only() -> None:
    def write(a: Any) -> Any:
        d = a.diagonal()
        d[0] = 1.0
        return d

    actual = outcome(pb.jit(write), (np.ones((2, 2)),))
    assert isinstance(actual, (ValueError, pb.CompileError)), repr(actual)


def test_gradients_of_read_only_arrays() -> None:
    a = locked(np.arange(4.0))
    gradient = pb.grad(whole)(a)
    assert gradient.flags.writeable and gradient.tolist() == [0.0, 2.0, 4.0, 6.0]
    with pytest.raises(ValueError, match="read-only"):
        pb.grad(first)(a)


# --- empty, 0-d, extreme shapes -------------------------------------------------------------------------------------


def rows_summed(a: Any) -> Any:
    s = 0.0
    for row in a:
        row *= 2.0
        s += np.sum(row)
    return s


@pytest.mark.parametrize("shape", [(0,), (0, 3), (3, 0), (0, 0), (2, 0, 3)])
def test_empty(shape: tuple[int, ...]) -> None:
    for function in (whole, double, rows_summed if len(shape) > 1 else total):
        agrees(function, np.zeros(shape))
    if len(shape) == 1:
        agrees(first, np.zeros(shape))
        agrees(shift, np.zeros(shape))
    assert pb.grad(whole)(np.zeros(shape)).shape == shape


def test_empty_reductions() -> None:
    for function in (lambda a: np.max(a), lambda a: np.min(a), lambda a: np.argmax(a)):
        assert isinstance(agrees(function, np.zeros(0)), ValueError)
    for function in (lambda a: np.prod(a), lambda a: np.any(a), lambda a: np.all(a), lambda a: np.mean(a)):
        agrees(function, np.zeros(0))
    agrees(lambda a: np.sum(a, axis=0), np.zeros((0, 3)))
    agrees(lambda a: np.sum(a, axis=1), np.zeros((0, 3)))
    agrees(lambda a, b: a @ b, np.zeros((2, 0)), np.zeros((0, 3)))


def test_rank_zero() -> None:
    def write(a: Any) -> Any:
        a[()] = a[()] * 2.0
        a[...] = a + 1.0
        return a

    agrees(whole, np.array(3.0))
    agrees(write, np.array(3.0))
    agrees(double, np.array(3.0))
    assert isinstance(agrees(total, np.array(3.0)), TypeError | pb.CompileError)
    np.testing.assert_array_equal(pb.grad(whole)(np.array(3.0)), 6.0)
    survives(first, np.array(3.0))


@pytest.mark.parametrize("rank", range(9))
def test_ranks(rank: int) -> None:
    array = np.arange(2.0**rank).reshape((2,) * rank)
    survives(whole, array)
    survives(double, array)
    survives(whole, array.T)
    if rank:
        survives(double, array[::-1])


def test_size_one_axes() -> None:
    for left in [(1, 3), (2, 1), (1, 1), (2, 3)]:
        for right in [(3,), (1,), (2, 3), (2, 1)]:
            agrees(add_into, np.ones(left), np.full(right, 2.0))
    one = np.lib.stride_tricks.as_strided(np.ones(1), (1, 3), (10**15, 8 * 0))
    agrees(whole, one)


# --- foreign kinds --------------------------------------------------------------------------------------------------


class Labelled(np.ndarray):
    pass


FOREIGN = {
    "objects": np.array([1.0, "two", None], dtype=object),
    "object floats": np.array([1.0, 2.0], dtype=object),
    "record": np.zeros(3, [("x", "f8"), ("n", "i4")]),
    "masked": np.ma.masked_array([1.0, 2.0, 3.0], [False, True, False]),
    "matrix": np.arange(4.0).reshape(2, 2).view(np.matrix),
    "subclass": np.arange(3.0).view(Labelled),
    "recarray": np.zeros(3, [("x", "f8")]).view(np.recarray),
    "half": np.arange(3, dtype=np.float16),
    "complex": np.arange(3, dtype=np.complex128),
    "complex single": np.arange(3, dtype=np.complex64),
    "bytes": np.arange(3, dtype=np.uint8),
    "int16": np.arange(3, dtype=np.int16),
    "uint64": np.array([0, 2**63, 2**64 - 1], np.uint64),
    "long double": np.arange(3, dtype=np.longdouble),
    "strings": np.array(["a", "b"]),
    "byte strings": np.array([b"a", b"b"]),
    "dates": np.array(["2020-01-01", "2021-01-01"], "M8[D]"),
    "durations": np.array([1, 2], "m8[s]"),
    "void": np.zeros(2, "V8"),
    "not a number at all": object(),
    "memoryview": memoryview(bytearray(16)),
    "bytes object": b"12345678",
    "set": {1.0, 2.0},
    "generator": (value for value in (1.0, 2.0)),
    "range": range(3),
}


@pytest.mark.parametrize("name", FOREIGN)
def test_foreign_kinds(name: str) -> None:
    value = FOREIGN[name]
    for function in (total, whole, double, first):
        given, spare = (copy.copy(value) if isinstance(value, np.ndarray) else value for _ in range(2))
        actual = outcome(pb.jit(function), (given,))
        if isinstance(actual, Exception):
            assert_ordinary(actual)
        elif type(value) is np.ndarray:
            expected = outcome(function, (spare,))
            assert type(actual) is type(expected) and np.all(actual == expected), repr(actual)
            assert np.all(given == spare)
    if name not in ("range", "half"):
        assert isinstance(outcome(pb.grad(whole), (value,)), Exception)


def test_memory_mapped(tmp_path: Any) -> None:
    mapped = np.memmap(tmp_path / "numbers", dtype=np.float64, mode="w+", shape=(4,))
    mapped[:] = A
    actual = outcome(pb.jit(double), (mapped,))
    if isinstance(actual, Exception):
        assert_ordinary(actual)
        assert mapped.tolist() == A.tolist()
    plain = np.asarray(mapped).view(np.ndarray)
    before = plain.tolist()
    agrees(whole, plain.copy())
    pb.jit(double)(plain)
    assert mapped.tolist() == [2.0 * value for value in before]


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, -0.0, 5e-324, 1.7e308])
def test_strange_numbers(value: float) -> None:
    array = np.array([1.0, value, -2.0])
    agrees(whole, array)
    agrees(double, array)
    agrees(lambda a: (np.max(a), np.min(a), np.argmax(a), np.argmin(a)), array)
    agrees(lambda a: paste(a, 0, 3, 1, np.where(a > 0.0, a, 0.0)), array)
    agrees(lambda a: put(a, a > 0.0, 0.5), array)
    agrees(lambda a: np.clip(a, -1.0, 1.0), array)


def test_floats_stored_in_integers() -> None:
    for value in (2.9, -2.9, 1e10):
        agrees(put, np.arange(4), 1, value)
    for value in (float("nan"), float("inf"), 1e300):
        actual = outcome(pb.jit(put), (np.arange(4), 1, value))
        assert isinstance(actual, (ValueError, OverflowError)), repr(actual)
    agrees(put, np.arange(4, dtype=np.int32), 1, 2**31 - 1)
    survives(put, np.arange(4, dtype=np.int32), 1, 2**31)


def test_the_checks_can_fail() -> None:
    assert not same(1, 1.0)
    assert not same(np.ones(2), np.ones((2, 1)))
    assert not same(np.ones(2), np.full(2, 1.001))
    assert not same((1.0,), (2.0,))
    with pytest.raises(AssertionError):
        assert_ordinary(pb.InternalError("x"))
    with pytest.raises(AssertionError):
        assert_ordinary(LookupError("x"))

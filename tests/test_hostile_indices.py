"""Sizes, indices, slices, masks and index arrays that are out of range, huge, negative or not numbers."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import pullback as pb
from hostile import A, add_into, agrees, cut, get, outcome, paste, put, survives


@pytest.fixture(autouse=True)
def quiet() -> Any:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield


def test_huge_broadcast_views() -> None:
    huge = np.broadcast_to(np.float64(1.0), (10**6, 10**6))
    assert pb.jit(lambda a: a[999_999, -1] + a[0, 0])(huge) == 2.0
    assert pb.jit(lambda a: a.shape[0] * a.shape[1])(huge) == 10**12
    assert pb.jit(lambda a: a.size)(huge) == 10**12
    assert pb.jit(lambda a: np.sum(a[5, :7]))(huge) == 7.0
    for function in (lambda a: a * 2.0, lambda a: a.copy(), lambda a: np.zeros_like(a) + 1.0):
        assert isinstance(outcome(pb.jit(function), (huge,)), MemoryError)
    with pytest.raises(ValueError, match="read-only"):
        pb.jit(lambda a: put(a, 0, 1.0))(huge)


def test_gradient_of_a_huge_view_is_refused() -> None:
    huge = np.broadcast_to(np.float64(1.0), 10**12)
    assert isinstance(outcome(pb.grad(lambda a: a[0] * a[0]), (huge,)), MemoryError)
    assert pb.jvp(lambda a: a[3] * 2.0, (huge,), (huge,))[1] == 2.0


@pytest.mark.parametrize("sizes", [(2**62, 2), (2**40, 2**40), (2**63 - 1, 2**63 - 1), (2**31, 2**32)])
def test_sizes_whose_product_overflows(sizes: tuple[int, int]) -> None:
    def make(n: Any, m: Any) -> Any:
        a = np.zeros((n, m))
        a[0, 0] = 1.0
        return a.size

    def lines(n: Any, m: Any) -> Any:
        a = np.empty(n)
        b = np.ones(m)
        a[0] = b[0]
        return a[0]

    for function in (make, lines, lambda n, m: np.full((n, m), 0.5)[0, 0], lambda n, m: np.eye(n)[0, 0]):
        actual = outcome(pb.jit(function), sizes)
        assert isinstance(actual, (MemoryError, ValueError, OverflowError)), repr(actual)


def test_a_size_of_zero_beside_a_huge_one() -> None:
    agrees(lambda n, m: np.zeros((n, m)).shape, 0, 2**40)


@pytest.mark.parametrize("size", [-1, -5, -(2**63)])
def test_negative_sizes(size: int) -> None:
    for function in (
        lambda n: np.zeros(n),
        lambda n: np.ones((2, n)),
        lambda n: np.full(n, 1.0),
        lambda n: np.empty(n),
    ):
        actual = outcome(pb.jit(function), (size,))
        assert isinstance(actual, ValueError), repr(actual)
        assert str(actual) == "negative dimensions are not allowed"
    agrees(lambda n: np.arange(n), size)


@pytest.mark.parametrize("number", [float("nan"), float("inf"), 2.5, 2.0])
def test_sizes_and_indices_that_are_floats(number: float) -> None:
    for function in (lambda x: np.zeros(x), lambda x: A[x], lambda x: A[:x], lambda x: A.reshape(x, 2)):
        actual = outcome(pb.jit(function), (number,))
        assert isinstance(actual, (TypeError, IndexError, pb.CompileError)), repr(actual)
    for function in (lambda x: A[int(x)], lambda x: np.zeros(int(x)).size):
        actual, expected = outcome(pb.jit(function), (number,)), outcome(function, (number,))
        assert type(actual) is type(expected)


# --- indices --------------------------------------------------------------------------------------------------------

EXTREME = [-(2**63), -(2**63) + 1, -(2**32), -6, -5, -4, -1, 0, 3, 4, 5, 2**31, 2**32, 2**61, 2**63 - 1]


@pytest.mark.parametrize("index", EXTREME)
def test_indices_at_every_position(index: int) -> None:
    agrees(get, A, index)
    agrees(put, A, index, 9.0)
    for position in range(3):
        cube = np.arange(64.0).reshape(4, 4, 4)
        places = [1, 2, 3]
        places[position] = index
        agrees(lambda a, i, j, k: a[i, j, k], cube, *places)
        agrees(lambda a, i, j, k: a[i][j][k], cube, *places)
        agrees(lambda a, i, j, k: put(a[i, j], k, 5.0), cube, *places)


@pytest.mark.parametrize("index", EXTREME)
def test_indices_of_numpy_integers(index: int) -> None:
    agrees(get, A, np.int64(index))
    if abs(index) < 2**31:
        agrees(put, A, np.int32(index), 2.0)


@pytest.mark.parametrize("step", [-(2**63), -7, -1, 0, 1, 2, 2**62, 2**63 - 1])
def test_slices(step: int) -> None:
    for start in (-(2**63), -5, -1, 0, 2, 4, 2**63 - 1):
        for stop in (-(2**63), -4, 0, 3, 9, 2**63 - 1):
            agrees(cut, A, start, stop, step)
            agrees(paste, A, start, stop, step, 7.0)


def test_slices_without_ends() -> None:
    for function in (
        lambda a, k: a[::k],
        lambda a, k: a[k:],
        lambda a, k: a[:k],
        lambda a, k: a[k:][:k],
        lambda a, k: a[::-1][k:],
    ):
        for k in (-(2**63), -9, -1, 0, 1, 3, 9, 2**63 - 1):
            agrees(function, A, k)


def test_sources_that_do_not_fit() -> None:
    for size in range(6):
        agrees(paste, A, 0, 4, 1, np.arange(float(size)))
        agrees(paste, A, 0, 4, 2, np.arange(float(size)))
        agrees(paste, A, 3, 0, -1, np.arange(float(size)))
        agrees(add_into, A, np.arange(float(size)))


def test_a_mask_of_no_elements() -> None:
    survives(get, A, np.zeros(0, bool))  # NumPy takes it for any array
    survives(put, A, np.zeros(0, bool), 3.0)


@pytest.mark.parametrize("size", [1, 3, 4, 5])
def test_masks_of_every_length(size: int) -> None:
    mask = np.arange(size) % 2 == 0
    agrees(get, A, mask)
    agrees(put, A, mask, 3.0)
    agrees(lambda a, m: put(a, m, a[m] * 2.0), A, mask)
    agrees(get, np.arange(8.0).reshape(4, 2), mask)
    agrees(put, np.arange(8.0).reshape(4, 2), mask, 3.0)


def test_masked_sources_of_every_length() -> None:
    mask = np.array([True, False, True, True])
    for size in range(6):
        agrees(put, A, mask, np.arange(float(size)))


@pytest.mark.parametrize("bad", [-(2**63), -5, 4, 2**31, 2**61, 2**63 - 1])
def test_index_arrays_out_of_range(bad: int) -> None:
    for position in range(3):
        index = np.array([0, -1, 3])
        index[position] = bad
        assert isinstance(agrees(get, A, index), IndexError)
        assert isinstance(agrees(put, A, index, 1.0), IndexError)
        assert isinstance(agrees(put, A, index, np.arange(3.0)), IndexError)


def test_index_arrays_of_other_kinds() -> None:
    agrees(get, A, np.array([], np.int64))
    agrees(get, A, np.array([[0, 1], [2, -1]]))
    agrees(get, A, np.array([3, 2, 1])[::-2])
    agrees(put, A, np.array([1, 1, 1]), np.arange(3.0))
    survives(get, A, np.array([1.0, 2.0]))
    survives(get, A, np.array([1, 2], np.uint8))
    survives(get, A, np.array([1, 2], np.uint64))
    survives(get, A, np.array(2))


def test_the_index_array_is_the_target() -> None:
    agrees(lambda n: put(n, n, n[::-1]), np.array([2, 0, 1]))
    agrees(lambda n: put(n, n, n + 1), np.array([2, 0, 1]))
    agrees(lambda m: put(m, m, False), np.array([True, False, True]))


def _walked(a: Any) -> Any:
    path = [int(np.argmax(a[0]))]
    for row in a[1:]:
        path.append(np.argmin(row * a[0, path[-1]]))  # Python's ints and NumPy's in one list
    b = a.copy()
    for i, p in enumerate(path):
        b[i, p] *= 2.0
        b[p % 3, 1 : p + 1] += a[i, p]
    return np.sum(b**2) + sum(a[i, p] * a[i][p] for i, p in enumerate(path))


def test_indices_that_are_ints_of_either_kind() -> None:
    a = np.sin(np.arange(12.0)).reshape(3, 4)
    assert pb.jit(_walked)(a) == pytest.approx(_walked(a), rel=1e-14)
    steps = 1e-6 * np.eye(12).reshape(12, 3, 4)
    slope = np.array([(_walked(a + h) - _walked(a - h)) / 2e-6 for h in steps]).reshape(3, 4)
    np.testing.assert_allclose(pb.grad(_walked)(a), slope, rtol=1e-6, atol=1e-8)
    direction = np.cos(a)
    bend = (pb.grad(_walked)(a + 1e-6 * direction) - pb.grad(_walked)(a - 1e-6 * direction)) / 2e-6
    np.testing.assert_allclose(pb.jvp(pb.grad(_walked), (a,), (direction,))[1], bend, rtol=1e-6, atol=1e-7)

"""Index arrays and masks: all checked before anything is written, in any place, sharing memory with the target."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pullback as pb
from hostile import A, agrees, agrees_everywhere, get, outcome, put


@pytest.fixture(autouse=True)
def quiet() -> Any:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield


CUBE = np.arange(24.0).reshape(2, 3, 4)
I, J, K = np.array([0, 1, 1]), np.array([2, 0, -1]), np.array([[3, 0], [-4, 1]])


# --- nothing is written before all is checked -----------------------------------------------------------------------


def put_rows(a: Any, i: Any, v: Any) -> Any:
    a[i] = v
    return a


def put_pairs(a: Any, i: Any, j: Any, v: Any) -> Any:
    a[i, j] = v
    return a


def put_columns(a: Any, i: Any, v: Any) -> Any:
    a[:, i] = v
    return a


def add_rows(a: Any, i: Any, v: Any) -> Any:
    a[i] += v
    return a


def put_list(a: Any) -> Any:
    a[[0, 9]] = 1.0


@pytest.mark.parametrize("bad", [-(2**63), -5, 4, 2**32, 2**63 - 1])
def test_nothing_is_written_before_all_is_checked(bad: int) -> None:
    table = np.arange(20.0).reshape(4, 5)
    for position in range(3):
        index = np.array([0, -1, 3])
        index[position] = bad
        for value in (1.0, np.arange(3.0)):
            assert isinstance(agrees_everywhere(put_rows, A, index, value), IndexError)
            assert isinstance(agrees(add_rows, A, index, value), IndexError)
            assert isinstance(agrees(put_pairs, table, index, np.array([0, 1, 2]), value), IndexError)
            assert isinstance(agrees(put_pairs, table.T, np.array([0, 1, 2]), index, value), IndexError)
        assert isinstance(agrees(put_columns, table.T, index, 7.0), IndexError)
        assert isinstance(agrees(get, A, index), IndexError)
    assert isinstance(agrees(put_list, A), IndexError)


def test_nothing_is_written_by_the_gradient_before_all_is_checked() -> None:
    def f(a: Any, b: Any, i: Any) -> Any:
        b[i] = a[:3] * 2.0
        return np.sum(b * b)

    a, b = np.arange(4.0), np.ones(5)
    with pytest.raises(IndexError, match="index 9 is out of bounds for axis 0 with size 5"):
        pb.grad(f)(a, b, np.array([0, 1, 9]))
    assert b.tolist() == [1.0] * 5
    np.testing.assert_allclose(pb.grad(f)(a, b, np.array([0, 1, 1])), [0.0, 0.0, 16.0, 0.0])


def test_the_first_bad_number_of_the_first_array_is_named() -> None:
    table = np.zeros((3, 2))
    for i, j in (([0, 8], [9, 0]), ([0, 1], [0, -3]), ([7, 8], [0, 0])):
        agrees(lambda a, i, j: a[i, j], table, np.array(i), np.array(j))
        agrees(put_pairs, table, np.array(i), np.array(j), 1.0)
    agrees(lambda a, i: a[1, :, i], CUBE, np.array([0, 4]))
    agrees(put_rows, np.zeros((2, 0)), np.array([5]), 1.0)
    agrees(lambda a, i: a[i], np.zeros((2, 0)), np.array([5]))


def test_values_are_refused_before_indices() -> None:
    for index in (np.array([0, 1]), np.array([0, 9])):
        agrees(put_rows, A, index, np.arange(3.0))
        agrees(put_rows, np.zeros((3, 2)), index, np.zeros((3, 2)))
        agrees(put_rows, np.zeros((3, 2)), index, np.zeros(3))
    agrees(put_rows, A, np.array([0, 1]), np.array([[7.0, 8.0]]))
    agrees(put_pairs, np.zeros((3, 2)), np.array([0, 1]), np.array([0, 1]), np.zeros(3))
    agrees(put_pairs, np.zeros((3, 2)), np.array([0, 1]), np.array([0, 1, 1]), 1.0)
    agrees(put_rows, np.zeros((3, 2)), np.array([True, True, False]), np.zeros((3, 2)))


def test_without_bounds_checks_good_indices_are_right() -> None:
    a = np.arange(4.0)
    pb.jit(put_rows, boundscheck=False)(a, np.array([3, -4]), np.array([8.0, 9.0]))
    assert a.tolist() == [9.0, 1.0, 2.0, 8.0]


# --- places ---------------------------------------------------------------------------------------------------------

READS: list[Callable[..., Any]] = [
    lambda a, i, j, k: a[i],
    lambda a, i, j, k: a[:, j],
    lambda a, i, j, k: a[:, :, k],
    lambda a, i, j, k: a[k - k],
    lambda a, i, j, k: a[:, k % 3],
    lambda a, i, j, k: a[i, j],
    lambda a, i, j, k: a[:, j, i],
    lambda a, i, j, k: a[i, :, j],
    lambda a, i, j, k: a[i, j, 1],
    lambda a, i, j, k: a[i, 1, j],
    lambda a, i, j, k: a[0, :, i],
    lambda a, i, j, k: a[0, i],
    lambda a, i, j, k: a[i, :, 0],
    lambda a, i, j, k: a[:, 0, i],
    lambda a, i, j, k: a[i, None],
    lambda a, i, j, k: a[None, i],
    lambda a, i, j, k: a[i, None, j],
    lambda a, i, j, k: a[..., j],
    lambda a, i, j, k: a[::-1, j, 1:3],
    lambda a, i, j, k: a[i, j, i],
    lambda a, i, j, k: a[i[:, None], j],
    lambda a, i, j, k: a[i[:2] == 0, 1],
    lambda a, i, j, k: a[:, j == 2],
    lambda a, i, j, k: a[:, [True, False, True], 1],
    lambda a, i, j, k: a[i[:2] < 2, [0, 2]],
    lambda a, i, j, k: a[[1, 0]][:, [2, 2]],
    lambda a, i, j, k: a[[]],
]


@pytest.mark.parametrize("number", range(len(READS)))
def test_places_of_index_arrays(number: int) -> None:
    agrees_everywhere(READS[number], CUBE, I, J, K)
    agrees(READS[number], CUBE[::-1, :, ::-1].copy().T.T, I, J, K)


def write_middle(a: Any, i: Any, v: Any) -> Any:
    a[:, i] = v
    return a


def write_apart(a: Any, i: Any, v: Any) -> Any:
    a[0, :, i] = v
    return a


def write_two_apart(a: Any, i: Any, v: Any) -> Any:
    a[i, :, i] = v
    return a


def write_table(a: Any, i: Any, v: Any) -> Any:
    a[:, i] *= v
    return a


@pytest.mark.parametrize("write", [write_middle, write_apart, write_two_apart, write_table])
def test_places_of_written_index_arrays(write: Callable[..., Any]) -> None:
    shapes = {"write_middle": (2, 2, 4), "write_apart": (2, 3), "write_two_apart": (2, 3), "write_table": (2, 2, 4)}
    shape = shapes[write.__name__]
    agrees_everywhere(write, CUBE, np.array([1, 0]), np.arange(float(np.prod(shape))).reshape(shape))
    agrees(write, CUBE, np.array([1, 0]), 5.0)
    agrees(write_middle, CUBE, np.array([[1, 0], [2, 2]]), np.arange(4.0))


def test_gradients_of_index_arrays_in_all_places() -> None:
    weights = np.arange(1.0, 25.0)
    for number in (1, 4, 6, 7, 10, 13, 20):
        read = READS[number]
        shape = read(CUBE, I, J, K).shape
        w = np.resize(weights, shape)
        expected = np.zeros_like(CUBE)
        for position in np.ndindex(CUBE.shape):  # linear: one derivative per element
            unit = np.zeros_like(CUBE)
            unit[position] = 1.0
            expected[position] = np.sum(read(unit, I, J, K) * w)
        actual = pb.grad(lambda a, i, j, k, w: np.sum(read(a, i, j, k) * w))(CUBE, I, J, K, w)
        np.testing.assert_allclose(actual, expected)


# --- rank 0 ---------------------------------------------------------------------------------------------------------


def write_into_row(a: Any, z: Any) -> Any:
    row = a[z]
    row[0] = 99.0
    return a


def add_to_row(a: Any, z: Any) -> Any:
    a[z] += 9.0
    return a


@pytest.mark.parametrize("dtype", [np.int64, np.int32])
def test_index_arrays_of_rank_zero(dtype: Any) -> None:
    table = np.arange(6.0).reshape(2, 3)
    for z in (np.array(1, dtype), np.array(-1, dtype), np.array(9, dtype)):
        agrees_everywhere(get, A, z)
        agrees(get, table, z)
        agrees(lambda a, z: a[z, 1:], table, z)
        agrees(lambda a, z, i: a[z, i], table, z, np.array([0, 2]))
        agrees(lambda a, z: a[z:], A, z)
        agrees(put_rows, table, z, 5.0)
        agrees_everywhere(write_into_row, table, z)  # of a copy
        agrees_everywhere(add_to_row, table, z)


# --- the index is the target, or shares memory with it --------------------------------------------------------------


def increase_itself(n: Any) -> Any:
    n[n] += 1
    return n


def shift_mask(m: Any) -> Any:
    m[1:][m[:-1]] = m[:-1][m[:-1]]
    return m


def clear_shifted(m: Any) -> Any:
    m[1:][m[:-1]] = False
    return m


def rows_of_itself(m: Any) -> Any:
    m[m[0]] = m[::-1]
    return m


def test_the_index_shares_memory_with_the_target() -> None:
    n = np.array([2, 0, 3, 1])
    agrees_everywhere(put_rows, n, n, n[::-1])
    agrees(lambda n: put_rows(n, n, n[::-1]), n)
    agrees(lambda n: put_rows(n, n[::-1], n), n)
    agrees(lambda n: put_rows(n[1:], n[:-1] % 3, n[:-1]), n)
    agrees_everywhere(increase_itself, n)
    agrees(lambda n: put_pairs(n.reshape(2, 2), n[:2] % 2, n[1:3] % 2, -1), n)
    agrees(rows_of_itself, np.array([[1, 0], [0, 1]]))
    mask = np.array([True, False, True, True])
    agrees_everywhere(shift_mask, mask)
    agrees_everywhere(clear_shifted, mask)
    agrees(lambda m: put_rows(m, m, False), mask)


def test_an_index_that_is_a_view_of_floats() -> None:
    floats = np.zeros(4)
    index = floats.view(np.int64)
    index[:] = [3, 1, 0, 2]
    first, second = floats.copy(), floats.copy()
    left, right = first.view(np.int64), second.view(np.int64)
    first[left] = 1.5
    pb.jit(put_rows)(second, right, 1.5)
    assert first.tolist() == second.tolist() == [1.5] * 4
    assert outcome(pb.jit(put_rows), (second, right, 2.5)).args[0].startswith("index 4609434218613702656 is out")


# --- messages of shapes that do not fit -----------------------------------------------------------------------------


def add(a: Any, b: Any) -> Any:
    a += b
    return a


def fill(a: Any, b: Any) -> Any:
    a[...] = b
    return a


SHAPES = [(), (1,), (3,), (0,), (1, 3), (2, 1), (2, 3), (4, 1, 3), (2, 2, 3), (1, 1, 1, 3)]


@pytest.mark.parametrize("target", SHAPES)
def test_shapes_that_do_not_fit(target: tuple[int, ...]) -> None:
    for shape in SHAPES:
        agrees(fill, np.zeros(target), np.ones(shape))
        agrees(add, np.zeros(target), np.ones(shape))
        agrees(lambda a, b: a + b, np.zeros(target), np.ones(shape))


def test_shapes_that_do_not_fit_of_arrays_made_inside() -> None:
    def made(n: Any, m: Any, k: Any) -> Any:
        a, b = np.zeros((n, m)), np.ones((k, m))
        a += b
        return a

    def dropped(n: Any, m: Any, k: Any) -> Any:
        a, b = np.zeros(m), np.ones((k, m))
        a[:] = b
        return a + n

    for n in (0, 1, 2):
        for k in (0, 1, 2, 3):
            agrees(made, n, 3, k)
            agrees(dropped, n, 3, k)


def test_many_axes_in_messages() -> None:
    agrees(lambda a, b: a + b, np.zeros((2, 3, 4, 5)), np.zeros((2, 3, 5, 5)))
    agrees(add, np.zeros((1, 2, 1, 2, 1)), np.zeros((1, 2, 1, 2, 2)))
    many = outcome(pb.jit(lambda a, b: a + b), (np.zeros((2,) * 20), np.zeros((2,) * 19 + (3,))))
    assert isinstance(many, ValueError) and str(many).endswith(" (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?) ")
    agrees(put, np.zeros((2, 2, 2)), 5, 1.0)

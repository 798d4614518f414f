"""Numbers that do not fit: floats and Python ints stored in int arrays, sizes whose product leaves memory, shapes."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pullback as pb
from hostile import agrees, agrees_everywhere, outcome


@pytest.fixture(autouse=True)
def quiet() -> Any:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield


NAN, INF = float("nan"), float("inf")
FLOATS = [NAN, INF, -INF, 1e300, 1e10, -(2.0**31) - 1.5, -(2.0**31) - 0.5, 2.0**31, 2.0**31 - 0.5, 2.0**63, -(2.0**63),
          9.2e18, 2.5, -2.5, -0.0]  # fmt: skip
INTS = [2**31 - 1, 2**31, 2**40, -(2**31), -(2**31) - 1]


def numbers() -> list[Any]:
    """Python's and NumPy's."""
    found: list[Any] = [*FLOATS, *INTS]
    return found + [np.float64(x) for x in FLOATS] + [np.float32(x) for x in FLOATS] + [np.int64(n) for n in INTS]


# --- stored in int arrays -------------------------------------------------------------------------------------------


def element(a: Any, v: Any) -> Any:
    a[1] = v
    return a


def part(a: Any, v: Any) -> Any:
    a[1:3] = v
    return a


def filled(a: Any, v: Any) -> Any:
    a.fill(v)
    return a


def some(a: Any, v: Any) -> Any:
    a[[1, 2]] = v
    return a


def masked(a: Any, v: Any) -> Any:
    a[np.array([True, False, True, False])] = v
    return a


def listed(a: Any, v: Any) -> Any:
    a[1:3] = [v, v]
    return a


def of_an_array(a: Any, v: Any) -> Any:
    a[1:3] = np.array([v, v])
    return a


def some_of_an_array(a: Any, v: Any) -> Any:
    a[[1, 2]] = np.array([v, v])
    return a


def full_like(a: Any, v: Any) -> Any:
    return np.full_like(a, v)


@pytest.mark.parametrize("dtype", [np.int64, np.int32])
@pytest.mark.parametrize(
    "store", [element, part, filled, some, masked, listed, of_an_array, some_of_an_array, full_like]
)
def test_numbers_stored_in_int_arrays(store: Callable[..., Any], dtype: Any) -> None:
    for number in numbers():
        agrees(store, np.arange(4, dtype=dtype), number)


@pytest.mark.parametrize("store", [element, part, some, masked, of_an_array])
def test_stored_numbers_on_every_engine(store: Callable[..., Any]) -> None:
    for number in (NAN, 1e10, np.float64(NAN), np.float64(2.0**31), 2**40):
        agrees_everywhere(store, np.arange(4, dtype=np.int32), number)


@pytest.mark.parametrize("store", [element, part, filled, some, masked])
def test_zero_dimensional_arrays_are_cast(store: Callable[..., Any]) -> None:
    for number in FLOATS:
        agrees(store, np.arange(4), np.array(number))
        agrees(store, np.arange(4, dtype=np.int32), np.array(number))


def test_numbers_made_into_ints() -> None:
    for number in numbers():
        agrees(lambda v: np.full(2, v, np.int64), number)
        agrees(lambda v: np.full(2, v, np.int32), number)
        agrees(lambda v: np.array([v, 1], np.int32), number)
        agrees(lambda v: np.asarray(v, np.int64), number)
        agrees(lambda v: np.int32(v), number)
        agrees(lambda v: np.int64(v), number)
        agrees(lambda v: np.array([v]).astype(np.int32), number)


def test_casts_of_whole_arrays() -> None:
    for dtype in (np.float64, np.float32):
        array = np.array(FLOATS, dtype)
        agrees_everywhere(lambda a: (a.astype(np.int64), a.astype(np.int32), a.astype(np.bool_)), array)
        agrees(lambda a: a.astype(np.int32)[::-1], array.repeat(9)[::2])


def test_int_of_a_float_that_does_not_fit() -> None:
    for number in (NAN, INF, -INF, np.float64(NAN), np.float32(INF)):
        agrees_everywhere(lambda v: int(v), number)
    for number in (2.0**63, 1e300, -1e19):
        with pytest.raises(OverflowError):  # a Python int has no end, ours has 64 bits
            pb.jit(lambda v: int(v))(number)


# --- beside int32 ---------------------------------------------------------------------------------------------------

OPERATIONS: list[Callable[..., Any]] = [
    lambda a, n: a + n,
    lambda a, n: n - a,
    lambda a, n: a * n,
    lambda a, n: a & n,
    lambda a, n: a[1] + n,
    lambda a, n: np.maximum(a, n),
    lambda a, n: a < n,
    lambda a, n: a == n,
    lambda a, n: n >= a[1],
    lambda a, n: np.less(a, n),
]


@pytest.mark.parametrize("number", range(len(OPERATIONS)))
def test_python_ints_beside_int32(number: int) -> None:
    for n in (5, -(2**31), 2**31 - 1, 2**31, 2**40, -(2**31) - 1, -(2**63)):
        agrees(OPERATIONS[number], np.arange(4, dtype=np.int32), n)


def test_literals_beside_int32() -> None:
    def add_into(a: Any) -> Any:
        a += 2**40
        return a

    for function in (add_into, lambda a: a + 2**40, lambda a: a[0] * 2**31, lambda a: a < 2**40, lambda a: a + 7):
        agrees_everywhere(function, np.arange(4, dtype=np.int32))


# --- sizes ----------------------------------------------------------------------------------------------------------

HUGE = [(2**40, 2**40), (2**31, 2**31), (2**62, 2), (2**63 - 1, 2**63 - 1), (2**32, 2**32), (2**61, 1), (2**62, 0),
        (0, 2**62), (2**60, 8), (0, 2**40)]  # fmt: skip


@pytest.mark.parametrize("sizes", HUGE)
def test_huge_sizes(sizes: tuple[int, int]) -> None:
    agrees(lambda n, m: np.zeros((n, m)).shape, *sizes)
    agrees(lambda n, m: np.ones((n, m)).size, *sizes)
    agrees(lambda n, m: np.full((n, m), 2.0).T.shape, *sizes)
    agrees(lambda n, m: np.zeros((n, m), np.int32).ndim, *sizes)
    agrees(lambda n, m: np.eye(n, m)[:0].shape, *sizes)


def test_huge_sizes_written_as_numbers() -> None:
    agrees(lambda: np.zeros((2**40, 2**40)).shape)
    agrees(lambda n: np.empty((0, 2**62, n)).shape, 2**62)
    agrees(lambda n: np.zeros((n, 2**61)).shape, 0)
    agrees(lambda n: np.linspace(0.0, 1.0, n).size, 2**61)


def test_shapes_that_do_not_fit() -> None:
    empty, six = np.zeros(0), np.zeros(6)
    agrees(lambda a, n: a.reshape(n, n), empty, 2**32)
    agrees(lambda a, n, m: a.reshape(n, m, -1), empty, 2**33, 2**31)
    agrees(lambda a: a.reshape(4), six)
    agrees(lambda a: a.reshape(-1, 4), six)
    agrees(lambda a: a.reshape(4, -1), six)
    agrees(lambda a: a.reshape((2, 2, -1)), six)
    agrees(lambda a: a.reshape(-1, 0), empty)
    agrees(lambda a: a.reshape(2, 2, 2, 2, 2, 2), np.zeros(63))


def test_products_that_nothing_could_hold() -> None:
    line, flags = np.broadcast_to(0.0, 2**40), np.broadcast_to(True, 2**62)
    for function in (lambda a: (a[:, None] + a).size, lambda a: np.outer(a, a).size, lambda a: (a[:, None] * a).copy()):
        assert isinstance(outcome(pb.jit(function), (line,)), (ValueError, MemoryError))
    for function in (
        lambda a: np.concatenate((a, a, a, a)).shape,  # 2**64 elements: NumPy 2.4 does not come back from it
        lambda a: np.concatenate((a, a, a, a))[0],
        lambda a: np.stack((a, a, a, a))[0, 0],
    ):
        assert isinstance(outcome(pb.jit(function), (flags,)), (ValueError, MemoryError))
    agrees(lambda a, b: (a @ b).size, np.zeros((2**40, 0)), np.zeros((0, 2**40)))


LEAST, MOST = -(2**63), 2**63 - 1


@pytest.mark.parametrize(
    "bounds",
    [(LEAST, MOST), (MOST, LEAST), (0, LEAST), (MOST - 3, MOST), (LEAST, LEAST + 3), (5, 0), (0, 5, 2), (0, -5, -2),
     (0, 5, -2), (MOST, MOST - 2, -1), (0, LEAST, 2**62), (0, 10, 2**62), (0, -10, LEAST), (MOST, LEAST, -1), (0, 3, 0),
     (0.0, 1e300, 1.0), (0.0, INF, 1.0), (0.0, -INF, 1.0), (0.0, NAN, 1.0), (0.0, 1.0, 0.0), (0.0, 1.0, INF),
     (0.0, 1.0, -INF), (0.0, -1.0, INF), (INF, INF, 1.0), (0.0, 5e-324, 2.0), (1.0, 0.0, -0.3)],
)  # fmt: skip
def test_ranges(bounds: tuple[Any, ...]) -> None:
    make: Any = (lambda a, b: np.arange(a, b)) if len(bounds) == 2 else (lambda a, b, c: np.arange(a, b, c))
    agrees(make, *bounds)


# --- rank 0 ---------------------------------------------------------------------------------------------------------


def test_results_of_rank_zero_are_numbers() -> None:
    for function in (
        lambda z: (z + 1.0, -z, z * z, z**2, abs(z)),
        lambda z: (np.sin(z), np.maximum(z, 3.0), np.square(z), np.clip(z, 0.0, 1.0), np.logaddexp(z, z)),
        lambda z: (z > 1.0, np.isnan(z), np.logical_not(z)),
        lambda z: (np.sum(z), np.mean(z), np.max(z), np.dot(z, z)),
        lambda z: (float(z), int(z), bool(z), 1.0 if z > 2.0 else 0.0),
        lambda z: (z.copy(), z.astype(np.float32), np.array(z), np.zeros_like(z), z[...], z.T),
        lambda z: np.where(z > 1.0, z, 0.0),
    ):
        agrees(function, np.array(2.5))


def test_gradients_through_rank_zero() -> None:
    f = pb.value_and_grad(lambda z, a: np.sum(a * z) + np.sin(z) * z, argnums=(0, 1))
    value, (dz, da) = f(np.array(2.0), np.arange(3.0))
    np.testing.assert_allclose(value, 6.0 + 2.0 * np.sin(2.0))
    np.testing.assert_allclose(dz, 3.0 + np.sin(2.0) + 2.0 * np.cos(2.0))
    assert da.tolist() == [2.0, 2.0, 2.0]

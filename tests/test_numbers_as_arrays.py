"""NumPy's questions about shape, and its transpose, of numbers and lists: what is no array yet becomes one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pullback as pb

FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "transpose": lambda x: np.transpose(x),
    "permute_dims": lambda x: np.permute_dims(x),
    "size": lambda x: np.size(x),
    "shape": lambda x: np.shape(x),
    "ndim": lambda x: np.ndim(x),
}
GIVEN = [1.5, 3, np.float32(0.5), np.array(1.5), [1.0, 2.0], [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], np.ones((2, 0, 3))]


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("given", GIVEN, ids=str)
def test_as_numpy(name: str, given: Any) -> None:
    f = FUNCTIONS[name]
    found, wanted = np.asarray(pb.jit(f)(given)), np.asarray(f(given))
    assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
    assert np.array_equal(found, wanted)


def test_the_size_of_an_axis() -> None:
    def f(a: Any) -> Any:
        return np.size(a, 0), np.size(a, axis=-1), np.size(a, axis=None)

    assert pb.jit(f)(np.ones((2, 3))) == (2, 3, 6)


def test_slopes_through_the_transpose_of_a_number() -> None:
    def f(x: float) -> Any:
        return np.sum(np.transpose(x * x) * 3.0)

    assert (pb.grad(f)(2.0), pb.grad(pb.grad(f))(2.0)) == (12.0, 6.0)

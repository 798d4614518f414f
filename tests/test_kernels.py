"""The kernels of PolyBench and small applications: compiled unchanged, equal to NumPy, gradients by differences.

A fifth of them in turn under `make test` (PULLBACK_SURFACE_SEED, by default the day), all with the slow tests.
"""

from __future__ import annotations

import copy
import sys
from typing import Any

import numpy as np
import pytest

import pullback as pb
from benchmark_files import FOLDER, load
from surface_turn import SEED

sys.path.append(str(FOLDER))  # for what they import of each other
KERNELS = {**load("polybench").KERNELS, **load("applications").APPLICATIONS}
PARTS = 5


def test_there_are_thirty_and_twenty() -> None:
    assert len(load("polybench").KERNELS) == 30
    assert len(load("applications").APPLICATIONS) == 20


def _in_turn() -> list[Any]:
    mine = {name for i, name in enumerate(KERNELS) if (i + SEED) % PARTS == 0}
    return [name if name in mine else pytest.param(name, marks=pytest.mark.slow) for name in KERNELS]


def leaves(result: Any) -> list[Any]:
    return [leaf for part in result for leaf in leaves(part)] if isinstance(result, tuple) else [result]


def drawn(name: str) -> tuple[Any, ...]:
    kernel = KERNELS[name]
    return kernel.arguments(np.random.default_rng(3), kernel.small)


@pytest.mark.parametrize("name", _in_turn())
def test_equal_to_numpy_and_differentiated(name: str) -> None:
    function, arguments = KERNELS[name].function, drawn(name)
    mine, python = copy.deepcopy(arguments), copy.deepcopy(arguments)
    wanted, found = leaves(function(*python)), leaves(pb.jit(function)(*mine))
    for got, want in zip([*found, *mine], [*wanted, *python], strict=True):
        assert np.asarray(got).dtype == np.asarray(want).dtype
        np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-12)
    if KERNELS[name].real:
        check_gradient(function, arguments, wanted)


def check_gradient(function: Any, arguments: tuple[Any, ...], results: list[Any]) -> None:
    """The gradient of a weighted sum of all results, along a direction."""
    rng = np.random.default_rng(5)
    floats = [i for i, v in enumerate(arguments) if np.asarray(v).dtype == np.float64]
    weights = [rng.uniform(-1, 1, np.shape(r)) if np.asarray(r).dtype == np.float64 else 0 for r in results]
    direction = {i: rng.uniform(-1, 1, np.shape(arguments[i])) for i in floats}
    gradients = pb.grad(weighted(function, weights), argnums=tuple(floats))(*copy.deepcopy(arguments))

    def along(h: float) -> float:
        moved = [v + h * direction[i] if i in direction else copy.deepcopy(v) for i, v in enumerate(arguments)]
        return sum(float(np.sum(w * r)) for w, r in zip(weights, leaves(function(*moved)), strict=True))

    h = 1e-6
    slope = (along(h) - along(-h)) / (2 * h)
    got = sum(float(np.sum(g * direction[i])) for g, i in zip(gradients, floats, strict=True))
    assert got == pytest.approx(slope, rel=2e-5, abs=1e-7)


def weighted(function: Any, weights: list[Any]) -> Any:
    """The sum of the results with weights, as a function of the same arguments."""
    first = weights[0]
    if len(weights) == 1:
        return lambda *xs: np.sum(first * function(*xs))
    second = weights[1]

    def two(*xs: Any) -> Any:
        a, b = function(*xs)
        return np.sum(first * a) + np.sum(second * b)

    return two

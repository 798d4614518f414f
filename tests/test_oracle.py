"""The oracle against finite differences and against derivatives known by hand."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
import pytest

import oracle
import programs
from duals import Dual

PROGRAMS = [program for program in programs.load() if program.argnums and program.orders >= 2 and not program.kink]
SAMPLE = PROGRAMS[::4]


def moved(program: programs.Program, arguments: tuple[Any, ...], point: list[float]) -> tuple[Any, ...]:
    numbers = list(point)

    def fill(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: fill(item) for key, item in value.items()}
        if isinstance(value, (tuple, list)):
            return type(value)(fill(item) for item in value)
        if isinstance(value, np.ndarray):
            if value.dtype.kind != "f":
                return value
            return np.array([numbers.pop(0) for _ in range(value.size)]).reshape(value.shape)
        if isinstance(value, (float, np.floating)):
            return float(numbers.pop(0)) if type(value) is float else np.float64(numbers.pop(0))
        return value

    changed = list(arguments)
    for position in program.argnums:
        changed[position] = fill(changed[position])
    return tuple(changed)


def central_difference(f: Any, point: np.ndarray, along: np.ndarray) -> Any:
    h = 1e-5 * max(1.0, float(np.max(np.abs(point * along))))
    return (
        8 * (f(point + h * along) - f(point - h * along)) - (f(point + 2 * h * along) - f(point - 2 * h * along))
    ) / (12 * h)


@pytest.mark.parametrize("program", SAMPLE, ids=lambda program: program.name)
def test_finite_differences(program: programs.Program) -> None:
    arguments = program.arguments[0]
    point = np.array([float(leaf) for n in program.argnums for leaf in oracle.flatten(arguments[n])])
    if not point.size:
        pytest.skip("no float argument")
    function = program.reference

    def run(x: np.ndarray) -> float:
        return float(function(*moved(program, arguments, x.tolist())))

    def slope(x: np.ndarray) -> np.ndarray:
        return np.array(oracle.gradient(function, moved(program, arguments, x.tolist()), program.argnums))

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exact = oracle.gradient(function, arguments, program.argnums)
        estimate = [central_difference(run, point, unit) for unit in np.eye(point.size)]
        size = 1.0 + max(map(abs, exact))
        np.testing.assert_allclose(exact, estimate, rtol=2e-6, atol=2e-7 * size)
        along = np.ones(point.size)
        curved = oracle.second(function, arguments, program.argnums, along.tolist())
        size = 1.0 + max(map(abs, curved))
        np.testing.assert_allclose(curved, central_difference(slope, point, along), rtol=2e-6, atol=2e-6 * size)


def test_double_well_keeps_its_second_derivative() -> None:
    assert oracle.hessian(lambda x: (x**2 - 1.0) ** 2, (1.0,)) == [[8.0]]


def test_strong_zero() -> None:
    assert oracle.gradient(lambda x: math.sqrt(x) * 0.0, (0.0,)) == [0.0]
    assert oracle.gradient(lambda x: math.sqrt(x), (0.0,)) == [math.inf]


def test_ties() -> None:
    assert oracle.gradient(lambda x, y: max(x, y), (1.0, 1.0), (0, 1)) == [0.5, 0.5]
    assert oracle.gradient(lambda x: max(x, 0.0), (0.0,)) == [0.0]
    assert oracle.gradient(lambda x, y: max(x, y), (0.0, 0.0)) == [0.5]
    assert oracle.gradient(lambda x: np.minimum(0, x), (0.0,)) == [0.0]
    assert oracle.gradient(lambda t: max(t), ((1.0, 1.0, 0.0),)) == [0.5, 0.5, 0.0]


def test_mixed_partials() -> None:
    (xx, xy), (yx, yy) = oracle.hessian(lambda x, y: x**3 * math.sin(y), (2.0, 0.5), (0, 1))
    assert math.isclose(xx, 12.0 * math.sin(0.5))
    assert math.isclose(xy, 12.0 * math.cos(0.5)) and math.isclose(yx, xy)
    assert math.isclose(yy, -8.0 * math.sin(0.5))


def test_values_keep_their_types() -> None:
    halve = oracle.rebind(lambda x: x * np.float32(0.5) + 0.1)
    assert type(halve(np.float32(2.0))) is np.float32
    assert type(oracle.plain(oracle.rebind(lambda x: math.sin(x))(Dual(1, 1.0, 1.0)))) is float
    assert type(oracle.plain(oracle.rebind(lambda x: np.sin(x))(Dual(1, 1.0, 1.0)))) is np.float64


def test_a_dual_does_not_become_a_float() -> None:
    with pytest.raises(TypeError, match="tangent"):
        float(Dual(1, 1.0, 1.0))


def test_checks_are_those_of_cpython() -> None:
    with pytest.raises(ZeroDivisionError):
        oracle.gradient(lambda x: 1.0 / x, (0.0,))
    assert oracle.gradient(lambda x: np.float64(1.0) / x, (0.0,)) == [-math.inf]

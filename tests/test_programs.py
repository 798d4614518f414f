"""Every program through CPython, the interpreter and compiled code with all passes and with none.

Values have CPython's type and agree to a few ulps for each operation; gradients agree with dual numbers, second
derivatives with duals of duals, in every mixture of modes; exceptions have CPython's type, message and line.
"""

from __future__ import annotations

import functools
import warnings
from typing import Any

import numpy as np
import pytest

import adapter
import oracle
import programs
from compare import assert_gradient, assert_same, failure
from programs import Program
from surface_turn import in_turn, pairs_in_turn

PROGRAMS = {program.name: program for program in programs.load()}
DIFFERENTIABLE = [name for name, program in PROGRAMS.items() if program.argnums]
SMOOTH = [name for name, program in PROGRAMS.items() if program.orders >= 2]
FAILING = [name for name, program in PROGRAMS.items() if program.failing]

engines = pytest.mark.parametrize("engine", adapter.ENGINES)
engines_second = pytest.mark.parametrize(
    "engine", ["compiled", *[pytest.param(engine, marks=pytest.mark.slow) for engine in adapter.ENGINES[1:]]]
)
DAYS = {"compiled": 1, "plain": 3, "interpreter": 2}


@pytest.fixture(autouse=True)
def quiet() -> Any:
    """NumPy warns about what CPython's side of a comparison does on purpose."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield


def runs(program: Program) -> list[tuple[Any, ...]]:
    """The argument tuples that CPython runs without an exception."""
    failing = [arguments for arguments, _ in program.failing]
    return [
        arguments for arguments in program.arguments if not any(repr(arguments) == repr(known) for known in failing)
    ]


def differentiable_runs(program: Program) -> list[tuple[Any, ...]]:
    return [
        arguments
        for arguments in runs(program)
        if all(oracle.leaf_count(arguments[position]) for position in program.argnums)
    ]


def single_precision(value: Any) -> bool:
    if isinstance(value, dict):
        return any(single_precision(item) for item in value.values())
    if isinstance(value, (tuple, list)):
        return any(single_precision(item) for item in value)
    return getattr(value, "dtype", None) == np.float32


def relative(program: Program, arguments: tuple[Any, ...]) -> float:
    mentions_single = "float32" in program.function.__code__.co_names
    return 1e-5 if single_precision(arguments) or mentions_single else 1e-10


@functools.cache
def expectations(name: str) -> list[tuple[tuple[Any, ...], Any, int]]:
    """Arguments, CPython's value and the number of operations of each run."""
    program = PROGRAMS[name]
    return [
        (arguments, program.reference(*arguments), oracle.operation_count(program.reference, arguments))
        for arguments in runs(program)
    ]


def cotangent_of(program: Program, result: Any) -> tuple[list[float] | None, Any]:
    """Weights of the float leaves of a result that is not one number, flat and in the structure of the result."""
    if program.orders >= 2:
        return None, None
    weights = [0.5 + 0.25 * position for position in range(oracle.leaf_count(result))]
    if not isinstance(result, (tuple, list, dict, np.ndarray)):
        weights = [1.0]
    return weights, adapter.fill(result, list(weights))


@functools.cache
def gradients(name: str) -> list[tuple[tuple[Any, ...], list[float], Any]]:
    program = PROGRAMS[name]
    rows = []
    for arguments in differentiable_runs(program):
        weights, cotangent = cotangent_of(program, program.reference(*arguments))
        rows.append((arguments, oracle.gradient(program.reference, arguments, program.argnums, weights), cotangent))
    return rows


def direction_for(program: Program, arguments: tuple[Any, ...]) -> list[float]:
    count = sum(oracle.leaf_count(arguments[position]) for position in program.argnums)
    return [1.0 - 0.375 * (position % 4) for position in range(count)]


@functools.cache
def hessian_products(name: str) -> list[tuple[tuple[Any, ...], list[float], list[float]]]:
    program = PROGRAMS[name]
    rows = []
    for arguments in differentiable_runs(program):
        direction = direction_for(program, arguments)
        rows.append((arguments, direction, oracle.second(program.reference, arguments, program.argnums, direction)))
    return rows


@pytest.mark.parametrize(("name", "engine"), pairs_in_turn(PROGRAMS, DAYS))
def test_value(name: str, engine: str) -> None:
    program = PROGRAMS[name]
    for arguments, expected, operations in expectations(name):
        actual = adapter.value(program.function, arguments, engine)
        if program.same_as is not None:
            expected, operations = type(actual)(expected), 4 * operations + 16
        assert_same(actual, expected, operations=operations, scale=program.scale, where=f"{name}{arguments}")


@pytest.mark.parametrize(("name", "engine"), pairs_in_turn(DIFFERENTIABLE, DAYS))
def test_gradient(name: str, engine: str) -> None:
    program = PROGRAMS[name]
    for arguments, expected, cotangent in gradients(name):
        for mode in adapter.FIRST_ORDER:
            actual = adapter.derivative(program.function, arguments, program.argnums, mode, (), engine, cotangent)
            where = f"{mode} of {name}{arguments}"
            assert_gradient(actual, expected, relative=relative(program, arguments), scale=program.scale, where=where)


@engines_second
@pytest.mark.parametrize(("name", "mode"), pairs_in_turn(SMOOTH, dict.fromkeys(adapter.SECOND_ORDER, 4)))
def test_second_derivative(name: str, mode: str, engine: str) -> None:
    program = PROGRAMS[name]
    for arguments, direction, expected in hessian_products(name):
        actual = adapter.derivative(program.function, arguments, program.argnums, mode, direction, engine)
        where = f"{mode} of {name}{arguments}"
        assert_gradient(actual, expected, relative=relative(program, arguments), scale=program.scale, where=where)


@pytest.mark.parametrize("name", in_turn(SMOOTH, 3))
def test_gradient_has_the_structure_of_the_argument(name: str) -> None:
    program = PROGRAMS[name]
    for arguments in differentiable_runs(program):
        for position in program.argnums:
            actual = adapter.gradient_structure(program.function, arguments, position)
            assert_structure(actual, arguments[position], f"{name}{arguments}")


def assert_structure(actual: Any, model: Any, where: str) -> None:
    if isinstance(model, (int, np.integer, np.bool_)):
        assert actual == 0, where
        return
    assert type(actual) is type(model), f"{where}: {type(actual).__name__} for {type(model).__name__}"
    if isinstance(model, dict):
        assert list(actual) == list(model), where
        for key, item in model.items():
            assert_structure(actual[key], item, where)
    elif isinstance(model, (tuple, list)):
        assert len(actual) == len(model), where
        for item, part in zip(actual, model, strict=True):
            assert_structure(item, part, where)
    elif isinstance(model, np.ndarray):
        assert (actual.shape, actual.dtype) == (model.shape, model.dtype), where


@pytest.mark.parametrize("name", in_turn([name for name in SMOOTH if name in DIFFERENTIABLE], 2))
def test_value_beside_gradient(name: str) -> None:
    program = PROGRAMS[name]
    for arguments, expected, operations in expectations(name):
        if not all(oracle.leaf_count(arguments[position]) for position in program.argnums):
            continue
        actual, _ = adapter.pb.value_and_grad(program.function, argnums=program.argnums)(*arguments)
        if program.same_as is not None:
            expected, operations = type(actual)(expected), 4 * operations + 16
        assert_same(actual, expected, operations=operations, scale=program.scale, where=f"{name}{arguments}")


@engines
@pytest.mark.parametrize("name", FAILING)
def test_failure(name: str, engine: str) -> None:
    program = PROGRAMS[name]
    file = program.function.__code__.co_filename
    for arguments, kind in program.failing:
        expected = failure(lambda: program.function(*arguments), file)
        assert expected[0] is kind
        actual = failure(lambda: adapter.value(program.function, arguments, engine), file)
        if engine != "compiled":  # only compiled code builds a traceback of the user's lines
            actual, expected = (*actual[:2], 0), (*expected[:2], 0)
        assert actual == expected, f"{name}{arguments}"


@pytest.mark.parametrize("name", [name for name in FAILING if name in DIFFERENTIABLE])
def test_failure_while_differentiating(name: str) -> None:
    program = PROGRAMS[name]
    file = program.function.__code__.co_filename
    for arguments, _ in program.failing:
        expected = failure(lambda: program.function(*arguments), file)
        actual = failure(lambda: adapter.gradient_structure(program.function, arguments, program.argnums), file)
        assert actual == expected, f"{name}{arguments}"


def test_the_comparison_can_fail() -> None:
    wrong: list[tuple[Any, Any]] = [
        (1, 1.0),
        (1.0, np.float64(1.0)),
        (1.0 + 1e-12, 1.0),
        (0.0, -0.0),
        ((1.0,), (1.0, 2.0)),
        (np.ones(2), np.ones(2, np.float32)),
        (np.ones(2), np.ones((2, 1))),
        (float("nan"), 1.0),
        (1.0, float("inf")),
    ]
    for actual, expected in wrong:
        with pytest.raises(AssertionError):
            assert_same(actual, expected)
    for actual, expected in [
        ([1.0], [1.0 + 1e-9]),
        ([1.0], [1.0, 2.0]),
        ([float("nan")], [1.0]),
        ([0.0], [float("inf")]),
    ]:
        with pytest.raises(AssertionError):
            assert_gradient(actual, expected)

"""Every program that writes into arrays: value, what the arguments hold afterwards, and derivatives to third order.

CPython with NumPy says the values, the final contents, which results share memory and the words of exceptions; dual
numbers say the derivatives. Whatever is differentiated, the caller's arrays change exactly as in a plain call.
"""

from __future__ import annotations

import functools
import itertools
import threading
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import mutations
import oracle
from adapter import SECOND_ORDER, fill, leaves, pb, tangents
from compare import assert_gradient, assert_same, failure
from mutating import (
    ENGINES,
    THIRD_ORDER,
    arrays_in,
    cotangent_like,
    derivative,
    fresh,
    restored,
)
from programs import Program
from surface_turn import pairs_in_turn

MUTATIONS = {program.name: program for program in mutations.load()}
DIFFERENTIABLE = [name for name, program in MUTATIONS.items() if program.argnums]
SMOOTH = [name for name, program in MUTATIONS.items() if program.orders >= 2]
THIRD = [name for name, program in MUTATIONS.items() if program.orders >= 3]
FAILING = [name for name, program in MUTATIONS.items() if program.failing]

ENGINE_NAMES = ("compiled", "interpreter", "plain")
DAYS = {"compiled": 2, "interpreter": 6, "plain": 6}


def spread(*choices: Sequence[str], keep: int) -> list[Any]:
    """All combinations; all but one in ``keep``, evenly spread, are left to the slow suite, for time."""
    found = []
    for places in itertools.product(*[range(len(choice)) for choice in choices]):
        row = tuple(choice[place] for choice, place in zip(choices, places, strict=True))
        stride = sum(place * (5 if depth else 1) for depth, place in enumerate(places))
        found.append(pytest.param(*row, marks=[] if stride % keep == 0 else pytest.mark.slow))
    return found


def engine_rows(names: Sequence[str]) -> list[Any]:
    """Every program compiled, and one in six on the other engines; all of them in the slow suite."""
    return spread(names, ENGINE_NAMES[:1], keep=1) + spread(names, ENGINE_NAMES[1:], keep=6)


@pytest.fixture(autouse=True)
def quiet() -> Any:
    """NumPy warns about what CPython's side of a comparison does on purpose."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield


def fails(program: Program, arguments: tuple[Any, ...]) -> bool:
    return any(repr(arguments) == repr(known) for known, _ in program.failing)


def plain_run(program: Program, arguments: tuple[Any, ...]) -> tuple[Any, tuple[Any, ...], list[Any]]:
    """CPython's result, the arguments it leaves, and what it leaves in captured arrays."""
    given = fresh(arguments)
    with restored(program.function) as captured:
        result = program.function(*given)
        return result, given, [array.copy() for array in captured]


@functools.cache
def expectations(name: str) -> list[tuple[tuple[Any, ...], Any, tuple[Any, ...], int]]:
    """Arguments, CPython's result and final arguments, and the number of operations of each run that succeeds."""
    program = MUTATIONS[name]
    rows = []
    for arguments in program.arguments:
        if not fails(program, arguments):
            result, left, _ = plain_run(program, arguments)
            rows.append((arguments, result, left, 2 * oracle.operation_count(program.function, arguments) + 4))
    return rows


def differentiable(name: str) -> list[tuple[tuple[Any, ...], Any, tuple[Any, ...], int]]:
    program = MUTATIONS[name]
    return [
        row for row in expectations(name) if all(oracle.leaf_count(row[0][position]) for position in program.argnums)
    ]


def relative(program: Program, arguments: tuple[Any, ...]) -> float:
    mentioned = "float32" in program.function.__code__.co_names
    return 1e-5 if mentioned or any(array.dtype == np.float32 for array in arrays_in(arguments)) else 1e-10


def directions(program: Program, arguments: tuple[Any, ...]) -> list[list[float]]:
    count = sum(oracle.leaf_count(arguments[position]) for position in program.argnums)
    return [
        [1.0 - 0.375 * (position % 4) for position in range(count)],
        [0.5 + 0.25 * (position % 3) for position in range(count)],
    ]


def cotangent_for(program: Program, result: Any) -> tuple[list[float] | None, Any]:
    """Weights of the float leaves of a result that is not one number, flat and in the structure of the result."""
    if program.orders >= 2:
        return None, None
    cotangent = cotangent_like(result)
    return [float(leaf) for leaf in oracle.flatten(cotangent, result)], cotangent


def assert_left(program: Program, actual: Sequence[Any], expected: Sequence[Any], operations: int, where: str) -> None:
    """The arguments hold what CPython leaves in them."""
    for position, (left, right) in enumerate(zip(actual, expected, strict=True)):
        for array, model in zip(arrays_in(left), arrays_in(right), strict=True):
            assert_same(
                array,
                model,
                operations=operations,
                scale=max(1.0, program.scale),
                where=f"{where}: argument {position}",
            )


# --- values ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "engine"), engine_rows(list(MUTATIONS)))
def test_value_and_arguments(name: str, engine: str) -> None:
    program = MUTATIONS[name]
    scale = max(1.0, program.scale)
    for arguments, expected, left, operations in expectations(name):
        given, where = fresh(arguments), f"{name}{arguments}"
        captured_left = plain_run(program, arguments)[2]
        with restored(program.function) as captured:
            actual = ENGINES[engine].call(program.function, given)
            captured_now = [array.copy() for array in captured]
        assert_same(actual, expected, operations=operations, scale=scale, where=where)
        assert_left(program, given, left, operations, where)
        assert_left(program, captured_now, captured_left, operations, f"{where}, captured")


def sharing(result: Any, arguments: Any) -> list[Any]:
    """For each array of a result: which array of the arguments it is, whose memory it shares, whether it is fixed."""
    given, found = arrays_in(arguments), arrays_in(result)
    return [
        (
            [array is other for other in given],
            [np.shares_memory(array, other) for other in given],
            [np.shares_memory(array, other) for other in found],
            [array is other for other in found],
            array.flags.writeable,
        )
        for array in found
    ]


@pytest.mark.parametrize("name", [name for name, program in MUTATIONS.items() if program.orders < 2])
def test_results_share_memory_as_in_numpy(name: str) -> None:
    program = MUTATIONS[name]
    for arguments, expected, left, _ in expectations(name):
        given = fresh(arguments)
        actual = pb.jit(program.function)(*given)
        assert sharing(actual, given) == sharing(expected, left), f"{name}{arguments}"


# --- derivatives ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "engine"), pairs_in_turn(DIFFERENTIABLE, DAYS))
def test_gradient(name: str, engine: str) -> None:
    program = MUTATIONS[name]
    for arguments, result, left, operations in differentiable(name):
        weights, cotangent = cotangent_for(program, result)
        expected = oracle.gradient(program.function, arguments, program.argnums, weights)
        for mode in ("r", "f"):
            where = f"{mode} of {name}{arguments}"
            actual, runs = derivative(program.function, arguments, program.argnums, mode, [], engine, cotangent)
            assert_gradient(actual, expected, relative=relative(program, arguments), scale=program.scale, where=where)
            for given in runs:
                assert_left(program, given, left, operations, where)


@pytest.mark.parametrize(("name", "mode", "engine"), spread(SMOOTH, SECOND_ORDER, ENGINE_NAMES, keep=24))
def test_second_derivative(name: str, mode: str, engine: str) -> None:
    program = MUTATIONS[name]
    for arguments, _, left, operations in differentiable(name)[:2]:
        along = directions(program, arguments)[:1]
        expected = oracle.along_all(program.function, arguments, program.argnums, along)
        check_higher(program, arguments, mode, along, engine, expected, left, operations)


@pytest.mark.parametrize(("name", "mode", "engine"), spread(THIRD, THIRD_ORDER, ENGINE_NAMES, keep=24))
def test_third_derivative(name: str, mode: str, engine: str) -> None:
    program = MUTATIONS[name]
    for arguments, _, left, operations in differentiable(name)[:1]:
        along = directions(program, arguments)
        expected = oracle.along_all(program.function, arguments, program.argnums, along)
        check_higher(program, arguments, mode, along, engine, expected, left, operations)


def check_higher(
    program: Program,
    arguments: tuple[Any, ...],
    mode: str,
    along: list[list[float]],
    engine: str,
    expected: list[float],
    left: tuple[Any, ...],
    operations: int,
) -> None:
    where = f"{mode} of {program.name}{arguments}"
    actual, runs = derivative(program.function, arguments, program.argnums, mode, along, engine)
    assert_gradient(actual, expected, relative=relative(program, arguments), scale=program.scale, where=where)
    for given in runs:
        assert_left(program, given, left, operations, where)


@pytest.mark.parametrize("name", spread([name for name in SMOOTH if name in DIFFERENTIABLE], keep=6))
def test_value_beside_gradient(name: str) -> None:
    program = MUTATIONS[name]
    for arguments, expected, left, operations in differentiable(name):
        given, where = fresh(arguments), f"{name}{arguments}"
        with restored(program.function):
            actual, gradients = pb.value_and_grad(program.function, argnums=program.argnums)(*given)
        assert_same(actual, expected, operations=operations, scale=max(1.0, program.scale), where=where)
        assert_left(program, given, left, operations, where)
        for gradient, position in zip(gradients, program.argnums, strict=True):
            for array, model in zip(arrays_in(gradient), arrays_in(arguments[position]), strict=True):
                assert (array.shape, array.dtype) == (model.shape, model.dtype), where
                assert not any(np.shares_memory(array, other) for other in arrays_in(given)), where


# --- pullbacks ------------------------------------------------------------------------------------------------------


def spoil(arguments: Any) -> None:
    """What a caller may do with its arrays between the function and its pullback."""
    for array in arrays_in(arguments):
        if array.flags.writeable:
            array[...] = np.full(array.shape, 77).astype(array.dtype)


@pytest.mark.parametrize("name", spread(DIFFERENTIABLE, keep=4))
def test_pullback_called_again(name: str) -> None:
    """Twice, after the caller changed the arguments, and from two threads; no cotangent is ever written."""
    program = MUTATIONS[name]
    for arguments, result, _, _ in differentiable(name)[:1]:
        cotangent, given, where = cotangent_like(result), fresh(arguments), f"{name}{arguments}"
        weights = [float(leaf) for leaf in oracle.flatten(cotangent, result)]
        expected = oracle.gradient(program.function, arguments, program.argnums, weights)
        kept = fresh(cotangent)
        with restored(program.function) as captured:
            _, pullback = pb.vjp(program.function, *given)
            state = [array.copy() for array in captured]
            answers = [pullback(cotangent)]
            spoil([given, captured])
            answers.append(pullback(cotangent))
            answers += from_threads(lambda: pullback(cotangent), 2)
            for array, before in zip(captured, state, strict=True):
                assert np.all(array == 77 if array.size else True), f"{where}: a pullback writes captured arrays"
        for answer in answers:
            actual = leaves([answer[position] for position in program.argnums], arguments, program.argnums)
            assert_gradient(actual, expected, relative=relative(program, arguments), scale=program.scale, where=where)
        assert repr(cotangent) == repr(kept), where


def from_threads(call: Any, count: int) -> list[Any]:
    results: list[Any] = []
    threads = [threading.Thread(target=lambda: results.append(call())) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == count
    return results


@pytest.mark.parametrize("name", spread(DIFFERENTIABLE, keep=12))
def test_tangents_are_not_written(name: str) -> None:
    program = MUTATIONS[name]
    for arguments, _, _, _ in differentiable(name)[:1]:
        moved = tangents(arguments, program.argnums, directions(program, arguments)[0])
        kept = fresh(moved)
        with restored(program.function):
            pb.jvp(program.function, fresh(arguments), moved)
        assert repr(moved) == repr(kept), f"{name}{arguments}"


# --- failures -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("engine", ENGINE_NAMES)
@pytest.mark.parametrize("name", FAILING)
def test_failure_leaves_the_earlier_writes(name: str, engine: str) -> None:
    program = MUTATIONS[name]
    file = program.function.__code__.co_filename
    for arguments, kind in program.failing:
        left, given = fresh(arguments), fresh(arguments)
        expected = failure(lambda: program.function(*left), file)
        assert expected[0] is kind
        actual = failure(lambda: ENGINES[engine].call(program.function, given), file)
        if engine != "compiled":  # only compiled code builds a traceback of the user's lines
            actual, expected = (*actual[:2], 0), (*expected[:2], 0)
        assert actual == expected, f"{name}{arguments}"
        assert_left(program, given, left, 4, f"{name}{arguments}")


@pytest.mark.parametrize("name", [name for name in FAILING if name in DIFFERENTIABLE])
def test_failure_while_differentiating(name: str) -> None:
    program = MUTATIONS[name]
    file = program.function.__code__.co_filename
    for arguments, _ in program.failing:
        left, given = fresh(arguments), fresh(arguments)
        expected = failure(lambda: program.function(*left), file)
        actual = failure(lambda: pb.grad(program.function, argnums=program.argnums)(*given), file)
        assert actual == expected, f"{name}{arguments}"
        assert_left(program, given, left, 4, f"{name}{arguments}")


# --- arguments that overlap -----------------------------------------------------------------------------------------


def write_first(a: Any, b: Any) -> Any:
    a[0] = b[0] * b[1]
    b[1] = a[0] * a[1]
    return np.sum(a * b)


def read_both(a: Any, b: Any) -> Any:
    return np.sum(a * b * b)


@pytest.mark.parametrize("pair", ["same", "shifted", "reversed"])
def test_two_differentiated_arguments_that_overlap(pair: str) -> None:
    base = np.array([0.5, -1.5, 2.0, 3.25])
    a, b = {"same": (base, base), "shifted": (base[1:], base[:-1]), "reversed": (base, base[::-1])}[pair]
    with pytest.raises(ValueError, match="overlap"):
        pb.grad(write_first, argnums=(0, 1))(a, b)
    left, right = pb.grad(read_both, argnums=(0, 1))(a, b)
    np.testing.assert_allclose(left, b * b)
    np.testing.assert_allclose(right, 2.0 * a * b)


def test_overlap_without_derivatives_is_numpy() -> None:
    whole, reverse = slice(None), slice(None, None, -1)
    for first, second in [(whole, whole), (slice(1, None), slice(None, -1)), (whole, reverse)]:
        ours, theirs = (np.array([0.5, -1.5, 2.0, 3.25]) for _ in range(2))
        actual = pb.jit(write_first)(ours[first], ours[second])
        assert_same(actual, write_first(theirs[first], theirs[second]), operations=10, scale=100.0)
        np.testing.assert_allclose(ours, theirs)


# --- the suite itself -----------------------------------------------------------------------------------------------


def test_there_are_enough_programs() -> None:
    assert len(MUTATIONS) >= 150
    assert len(THIRD) >= 30
    changed = 0
    for name in MUTATIONS:
        arguments, _, left, _ = expectations(name)[0] if expectations(name) else ((), None, (), 0)
        changed += any(
            not np.array_equal(now, then, equal_nan=now.dtype.kind == "f")
            for now, then in zip(arrays_in(left), arrays_in(arguments), strict=True)
        )
    assert changed >= 150


def test_the_comparison_can_fail() -> None:
    program = MUTATIONS["elements.increment"]
    arguments, _, left, operations = expectations(program.name)[0]
    with pytest.raises(AssertionError):
        assert_left(program, arguments, left, operations, "unchanged arguments")
    with pytest.raises(AssertionError):
        assert_left(program, fill(left, [0.0] * 4), left, operations, "zeros")
    a = np.zeros(3)
    assert sharing((a[1:],), (a,)) != sharing((a[1:].copy(),), (a,))

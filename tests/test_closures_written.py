"""J through arrays that are written, whose shadows hold the sensitivities, and through exceptions that are caught.

Every program in first and second order against dual numbers, with forward mode, without passes, native; what is left
in the arguments; and what is refused.
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import oracle
import pullback as pb
import random_mutation
import test_mutation as mutation_tests
from adapter import leaves
from closures_programs import CATCHES, WRITES, A, changes_both
from compare import assert_gradient
from mutating import fresh, restored
from pullback import api, testing
from pullback.diagnostic import CompileError
from random_catch import random_catch

PROGRAMS = {**WRITES, **CATCHES}


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield


def direction_for(arguments: tuple[Any, ...]) -> list[float]:
    return [1.0 - 0.375 * place for place in range(oracle.leaf_count(arguments[0]))]


def check(name: str, mode: str, *, engine: str = "interp", passes: bool = True) -> None:
    function, arguments = PROGRAMS[name]
    direction = direction_for(arguments) if len(mode) > 1 else []
    expected = oracle.along_all(function, arguments, (0,), [direction] if direction else [])
    given = copy.deepcopy(arguments)
    found = testing.gradient(function, given, (0,), mode=mode, direction=direction, engine=engine, passes=passes,
                             formulation="closures")  # fmt: skip
    single = any(isinstance(v, np.ndarray) and v.dtype == np.float32 for v in arguments)
    actual = leaves(found, arguments, (0,))
    assert_gradient(actual, expected, relative=1e-4 if single else 1e-9, where=f"{mode} of {name}")
    if single:
        assert found[0].dtype == np.float32
    plain = copy.deepcopy(arguments)
    function(*plain)
    for left, right in zip(given, plain, strict=True):
        np.testing.assert_allclose(left, right, rtol=1e-5 if single else 1e-12)


@pytest.mark.parametrize("name", PROGRAMS)
def test_gradient(name: str) -> None:
    check(name, "r")


@pytest.mark.parametrize("name", list(PROGRAMS)[::5])
def test_native(name: str) -> None:
    check(name, "r", engine="native")


@pytest.mark.parametrize("name", list(PROGRAMS)[1::8])
def test_without_passes(name: str) -> None:
    check(name, "r", passes=False)


@pytest.mark.parametrize("name", list(PROGRAMS)[2::8])
def test_second_derivative(name: str) -> None:
    check(name, "rr")


@pytest.mark.slow
@pytest.mark.parametrize("passes", [True, False])
@pytest.mark.parametrize("engine", ["interp", "native"])
@pytest.mark.parametrize("mode", ["r", "rr", "fr"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_all(name: str, mode: str, engine: str, passes: bool) -> None:
    check(name, mode, engine=engine, passes=passes)


def by_closures(name: str, mode: str) -> None:
    program = mutation_tests.MUTATIONS[name]
    arguments, result, left, operations = mutation_tests.differentiable(name)[0]
    weights, cotangent = mutation_tests.cotangent_for(program, result) if mode == "r" else (None, None)
    along = [] if mode == "r" else mutation_tests.directions(program, arguments)[:1]
    if mode == "r":
        expected = oracle.gradient(program.function, arguments, program.argnums, weights)
    else:
        expected = oracle.along_all(program.function, arguments, program.argnums, along)
    given = fresh(arguments)
    with restored(program.function):
        found = testing.gradient(
            program.function, given, program.argnums, mode=mode, direction=along[0] if along else (),
            cotangent=cotangent, engine="interp", passes=True, formulation="closures",
        )  # fmt: skip
    relative = mutation_tests.relative(program, arguments)
    assert_gradient(leaves(found, arguments, program.argnums), expected, relative=relative, scale=program.scale)
    mutation_tests.assert_left(program, given, left, operations, name)


# Arrays that functions find in globals or defaults are constants.
REFUSED = {"calls.global_scratch", "calls.global_record", "calls.global_state_read_then_written", "calls.keep"}
MUTATING = [name for name in mutation_tests.DIFFERENTIABLE if name not in REFUSED]


@pytest.mark.parametrize("name", MUTATING[::36])
def test_mutations(name: str) -> None:
    by_closures(name, "r")


@pytest.mark.slow
@pytest.mark.parametrize("name", MUTATING)
def test_all_mutations(name: str) -> None:
    by_closures(name, "r")


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in MUTATING if name in mutation_tests.SMOOTH])
def test_second_derivatives_of_mutations(name: str) -> None:
    by_closures(name, "rr")


def test_a_pullback_is_called_twice() -> None:
    """What one call of a pullback left in the shadows is not seen by the next."""

    def twice(x: float) -> Any:
        def writes(a: Any) -> Any:
            b = a * a
            b[0] = b[1] * x
            a[1] = b[0]
            return a * b

        out, pull = pb.vjp(writes, np.ones(3) * x)
        (first,), (second,) = pull(out), pull(2.0 * out)
        return np.sum(first + second) * np.sum(out)

    for mode in (twice, pb.grad(twice)):
        actual = testing.call("call", mode, (0.7,), engine="interp", passes=True, formulation="closures")
        assert_gradient([actual], [mode(0.7)])


def test_arguments_that_share_memory() -> None:
    """Each argument has a shadow of its own: one memory under two names would be two shadows."""
    for given, shared in (((A, A), True), ((A[1:], A[:-1]), True), ((A, A * 1.0), False)):
        copies = copy.deepcopy(given)  # keeps what is shared
        if shared:
            whole = A.copy()
            copies = (whole, whole) if given[0] is A else (whole[1:], whole[:-1])
            with pytest.raises(ValueError, match="share memory"):
                testing.call("call", pb.grad(changes_both, (0, 1)), copies, engine="interp", passes=True,
                             formulation="closures")  # fmt: skip
            continue
        actual = testing.call("call", pb.grad(changes_both, (0, 1)), copies, engine="interp", passes=True,
                              formulation="closures")  # fmt: skip
        expected = oracle.gradient(changes_both, given, (0, 1), None)
        assert_gradient([*actual[0], *actual[1]], expected)


def jacobian_of_writer(a: Any) -> Any:
    def writes(v: Any) -> Any:
        v = v * 1.0
        v[0] = v[1] * v[2]
        return v

    b = a * 1.0
    b[0] = a[1]
    return np.sum(np.sin(pb.jacobian(writes)(b)))


def test_a_jacobian_of_a_function_that_writes() -> None:
    actual = testing.gradient(jacobian_of_writer, (A.copy(),), (0,), mode="r", engine="interp", passes=True,
                              formulation="closures")  # fmt: skip
    assert_gradient(list(actual[0]), oracle.gradient(jacobian_of_writer, (A.copy(),), (0,), None))


# -------------------------------------------------------------------------------------------------- random programs


def random_case(kind: str, seed: int) -> tuple[Callable[..., Any], tuple[Any, ...], tuple[int, ...]]:
    if kind == "mutation":
        f = api.from_source(random_mutation.source(seed), "f")
        return f, (0.7, np.linspace(-0.8, 0.9, 8), np.array([0.3, -0.5, 0.8, 0.2])), (0,)
    sample = random_catch(seed)
    return sample.function, sample.arguments[0], sample.argnums


def check_random(kind: str, seed: int, mode: str) -> None:
    function, arguments, argnums = random_case(kind, seed)
    count = sum(oracle.leaf_count(arguments[place]) for place in argnums)
    along = [] if mode == "r" else [[1.0 - 0.375 * (place % 4) for place in range(count)]]
    try:
        expected: Any = oracle.along_all(function, copy.deepcopy(arguments), argnums, along)
    except Exception as error:
        expected = type(error)
    try:
        found = testing.gradient(
            function, copy.deepcopy(arguments), argnums, mode=mode, direction=along[0] if along else (),
            engine="interp", passes=True, formulation="closures",
        )  # fmt: skip
    except CompileError as error:
        assert "nests too deeply" in error.diagnostic.title  # of a few long programs
        return
    except Exception as error:
        assert isinstance(expected, type), f"seed {seed}: {error!r} for {expected}"
        assert type(error).__name__ == expected.__name__
        return
    assert not isinstance(expected, type), f"seed {seed}: {found} for {expected}"
    actual = np.array([float(v) for v in leaves(found, arguments, argnums)])
    np.testing.assert_allclose(actual, np.array(expected, float), rtol=1e-7, atol=1e-8, err_msg=f"{kind} {seed}")


@pytest.mark.parametrize(("kind", "seed"), [("mutation", 3), ("catch", 5), ("catch", 17)])
def test_random(kind: str, seed: int) -> None:
    check_random(kind, seed, "r")


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["r", "rr"])
@pytest.mark.parametrize("kind", ["mutation", "catch"])
@pytest.mark.parametrize("seed", range(40))
def test_many_random(kind: str, seed: int, mode: str) -> None:
    check_random(kind, seed, mode)

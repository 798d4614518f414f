"""The oracle on arrays that are written: NumPy's values and final arguments, and finite differences of CPython's."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import mutations
import oracle
from compare import assert_same
from mutating import arrays_in, fresh, restored
from programs import Program
from test_oracle import central_difference, moved

MUTATIONS = {program.name: program for program in mutations.load()}
SMOOTH = [name for name, program in MUTATIONS.items() if program.orders >= 2 and not program.kink]


@pytest.fixture(autouse=True)
def quiet() -> Any:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield


def runs(program: Program) -> list[tuple[Any, ...]]:
    failing = [repr(arguments) for arguments, _ in program.failing]
    return [arguments for arguments in program.arguments if repr(arguments) not in failing]


@pytest.mark.parametrize("name", MUTATIONS)
def test_the_oracle_computes_what_numpy_does(name: str) -> None:
    program = MUTATIONS[name]
    for arguments in runs(program):
        given, rebinder = fresh(arguments), oracle.Rebinder(oracle.DUALS)
        with restored(program.function):
            expected = program.function(*given)
        duals = [rebinder.value(argument) for argument in fresh(arguments)]
        actual = rebinder.value(program.function)(*duals)
        scale = 10.0 * max(1.0, program.scale)
        assert_same(oracle.plain(actual), expected, operations=1000, scale=scale, where=name)
        assert_same(oracle.plain(tuple(duals)), tuple(given), operations=1000, scale=scale, where=f"{name}: arguments")


@pytest.mark.parametrize("name", [name for name, program in MUTATIONS.items() if program.failing])
def test_the_oracle_fails_as_numpy_does(name: str) -> None:
    program = MUTATIONS[name]
    for arguments, kind in program.failing:
        with pytest.raises(kind) as expected:
            program.function(*fresh(arguments))
        with pytest.raises(kind) as actual:
            oracle.gradient(program.function, arguments, program.argnums or (0,))
        assert str(actual.value) == str(expected.value)


@pytest.mark.parametrize("name", SMOOTH[::3])
def test_finite_differences(name: str) -> None:
    program = MUTATIONS[name]
    arguments = runs(program)[0]
    point = np.array([float(leaf) for n in program.argnums for leaf in oracle.flatten(arguments[n])])
    if not point.size or any(array.dtype == np.float32 for array in arrays_in(arguments)):
        pytest.skip("nothing to move, or too coarse")

    def run(x: np.ndarray) -> float:
        with restored(program.function):
            return float(program.function(*moved(program, fresh(arguments), x.tolist())))

    def slope(x: np.ndarray) -> np.ndarray:
        return np.array(oracle.gradient(program.function, moved(program, arguments, x.tolist()), program.argnums))

    exact = oracle.gradient(program.function, arguments, program.argnums)
    estimate = [central_difference(run, point, unit) for unit in np.eye(point.size)]
    np.testing.assert_allclose(exact, estimate, rtol=2e-6, atol=2e-7 * (1.0 + max(map(abs, exact))))
    along = np.ones(point.size)
    curved = oracle.second(program.function, arguments, program.argnums, along.tolist())
    expected = central_difference(slope, point, along)
    np.testing.assert_allclose(curved, expected, rtol=2e-6, atol=2e-6 * (1.0 + max(map(abs, curved))))


@pytest.mark.parametrize("name", [name for name, program in MUTATIONS.items() if program.orders >= 3][::4])
def test_third_order_against_differences(name: str) -> None:
    program = MUTATIONS[name]
    arguments = runs(program)[0]
    point = np.array([float(leaf) for n in program.argnums for leaf in oracle.flatten(arguments[n])])
    v, w = np.ones(point.size), np.linspace(0.5, 1.0, point.size)

    def product(x: np.ndarray) -> np.ndarray:
        there = moved(program, arguments, x.tolist())
        return np.array(oracle.second(program.function, there, program.argnums, v.tolist()))

    exact = oracle.along_all(program.function, arguments, program.argnums, [v.tolist(), w.tolist()])
    estimate = central_difference(product, point, w)
    np.testing.assert_allclose(exact, estimate, rtol=2e-6, atol=2e-6 * (1.0 + max(map(abs, exact))))


# --- the arrays themselves ------------------------------------------------------------------------------------------


def test_views_share_and_copies_do_not() -> None:
    def program(a: Any) -> Any:
        t, r, f, d = a.T, a.reshape(-1), a.flatten(), a.diagonal()
        a[0, 0] = 10.0
        t[1, 0] = 20.0
        return t[0, 0] + r[1] + f[0] + f[1] + d[0]

    def fortran(a: Any) -> Any:
        r = a.ravel()
        r[0] = 100.0
        return a[0, 0]

    for start in (np.arange(4.0).reshape(2, 2), np.asfortranarray(np.arange(4.0).reshape(2, 2))):
        for function in (program, fortran):
            assert oracle.plain(oracle.fresh(function)(start)) == function(fresh((start,))[0])


def test_captured_arrays_are_fresh_at_each_run() -> None:
    memory = np.zeros(1)

    def program(x: Any) -> Any:
        memory[0] = memory[0] + x
        return memory[0] * memory[0]

    assert oracle.gradient(program, (3.0,)) == [6.0]
    assert oracle.second(program, (3.0,), (0,), [1.0]) == [2.0]
    assert memory[0] == 0.0


def test_stores_narrow() -> None:
    def program(x: Any) -> Any:
        a = np.zeros(2, dtype=np.float32)
        n = np.zeros(2, dtype=np.int64)
        a[0] = x
        n[0] = a[0] * 10.0
        return a, n

    a, n = oracle.plain(oracle.fresh(program)(0.39))
    assert (a.dtype, n.dtype) == (np.float32, np.int64)
    assert a[0] == np.float32(0.39) and n[0] == 3


def test_functions_without_a_rule_refuse_arrays() -> None:
    with pytest.raises(TypeError, match="no rule"):
        oracle.gradient(lambda a: np.kron(a, a)[-1], (np.ones(3),))


def test_what_is_read_before_it_is_written_shows() -> None:
    assert np.isnan(oracle.plain(oracle.fresh(lambda n: np.sum(np.empty(n)))(3)))

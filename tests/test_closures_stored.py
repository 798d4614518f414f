"""J of programs that keep arrays in lists, dicts, objects and cells, of linear algebra, stars and complex numbers.

Each in first and second order, against dual numbers and against the SSA adjoint.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import oracle
import pullback as pb
from adapter import leaves
from closures_stored import STORED, UNKNOWN, A, Box
from compare import assert_gradient
from pullback import testing
from surface_turn import in_turn

PROGRAMS = {**STORED, **UNKNOWN}
DIRECTION = [1.0, -0.5, 0.25]
MODES = ("r", "rr", "fr")


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield


def derivative(function: Callable[..., Any], mode: str, formulation: str, **how: Any) -> list[Any]:
    direction = DIRECTION if len(mode) > 1 else []
    found = testing.gradient(function, (A.copy(),), (0,), mode=mode, direction=direction, formulation=formulation,
                             **{"engine": "interp", "passes": True, **how})  # fmt: skip
    return leaves(found, (A,), (0,))


def check(name: str, mode: str, **how: Any) -> None:
    function = PROGRAMS[name]
    actual = derivative(function, mode, "closures", **how)
    if name != "pullback_twice":  # of such pullbacks the SSA adjoint has no derivative
        assert_gradient(actual, derivative(function, mode, "ssa"), relative=1e-9, where=f"{mode} of {name}")
    if name in STORED:
        along = [DIRECTION] if len(mode) > 1 else []
        expected = oracle.along_all(function, (A.copy(),), (0,), along)
        assert_gradient(actual, expected, relative=1e-9, where=f"{mode} of {name}")


@pytest.mark.parametrize("name", in_turn(PROGRAMS, 2))
def test_gradient(name: str) -> None:
    check(name, "r")


@pytest.mark.parametrize("name", in_turn(list(PROGRAMS)[::4], 2))
def test_second_derivative(name: str) -> None:
    check(name, "rr")


@pytest.mark.parametrize("name", list(PROGRAMS)[1::6])
def test_native(name: str) -> None:
    check(name, "r", engine="native")


@pytest.mark.slow
@pytest.mark.parametrize("passes", [True, False])
@pytest.mark.parametrize("engine", ["interp", "native"])
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", PROGRAMS)
def test_all(name: str, mode: str, engine: str, passes: bool) -> None:
    check(name, mode, engine=engine, passes=passes)


def outside(x: float, *, writes: bool) -> Any:
    """An object with an array is there before an inner derivative begins."""
    box = Box(np.ones(3) * x)

    def reads(y: float) -> Any:
        return np.sum(box.a) * y * y

    def changes(y: float) -> Any:
        box.a[0] = y
        return np.sum(box.a) * y

    return pb.grad(changes)(x) if writes else pb.grad(reads)(x)


def test_an_array_held_before() -> None:
    """It is a constant; where arrays are changed, its shadow could be that of another name for the same memory."""

    def reads(x: float) -> Any:
        return outside(x, writes=False)

    def changes(x: float) -> Any:
        return outside(x, writes=True)

    how: dict[str, Any] = {"engine": "interp", "passes": True, "formulation": "closures"}
    assert testing.call("call", reads, (0.7,), **how) == pytest.approx(6 * 0.7**2)
    assert testing.call("call", pb.grad(reads), (0.7,), **how) == pytest.approx(12 * 0.7)
    with pytest.raises(ValueError, match="held before"):
        testing.call("call", changes, (0.7,), **how)


def test_single_precision_stays() -> None:
    def keeps(a: Any) -> Any:
        rows = []
        for k in range(3):
            rows.append(a * np.float32(k))
        rows[1][0] = rows[2][1]
        return np.sum(rows[1] * rows[2])

    given = A.astype(np.float32)
    (found,) = testing.gradient(keeps, (given.copy(),), (0,), mode="r", engine="interp", passes=True,
                                formulation="closures")  # fmt: skip
    assert found.dtype == np.float32
    assert_gradient(leaves((found,), (given,), (0,)), oracle.gradient(keeps, (given,), (0,)), relative=1e-5)

"""The table {control form} x {data form} x {ff, fr, rf, rr, rrr} x {passes on, off}: no cell is empty.

Derivatives by dual numbers of the same source. Under `make test` each program runs in one mode, all in `make test-all`.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from itertools import product
from typing import Any

import pytest

import oracle
import pullback as pb
from compare import assert_gradient, assert_same
from feature_table import ARGUMENTS, CONTROL, DATA, MODES, function_of, source_of
from pullback import testing

CELLS = list(product(CONTROL, DATA))
# One mode and one setting of the passes for each program, so that each row and each column meets all.
QUICK = {cell: (MODES[place % 5], place % 3 > 0) for place, cell in enumerate(CELLS)}
function = functools.cache(function_of)


def derivative_of(mode: str, f: Callable[..., Any]) -> Callable[..., Any]:
    """The derivative by x, as often as the mode has letters; the left one is the outermost."""
    for letter in reversed(mode):
        f = pb.grad(f) if letter == "r" else along(f)
    return f


def along(f: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x, n: pb.jvp(lambda a: f(a, n), (x,), (1.0,))[1]


@functools.cache
def expected(control: str, data: str, order: int) -> list[float]:
    f = function(control, data)
    unit = [[1.0]] * (order - 1)
    return [oracle.along_all(f, arguments, (0,), unit)[0] for arguments in ARGUMENTS]


def check(control: str, data: str, mode: str, passes: bool) -> None:
    f, text = derivative_of(mode, function(control, data)), source_of(control, data)
    for arguments, number in zip(ARGUMENTS, expected(control, data, len(mode)), strict=True):
        actual = testing.run(f, arguments, engine="native", passes=passes)
        assert_gradient([actual], [number], relative=1e-9, where=f"{mode}{arguments} of\n{text}")


def test_the_table_is_full() -> None:
    """Every program depends on x to third order, runs through its control form, and differs from every other."""
    assert (len(CONTROL), len(DATA), len(MODES)) == (15, 11, 5)
    assert len({source_of(*cell) for cell in CELLS}) == len(CELLS)
    for cell in CELLS:
        for order in (1, 2, 3):
            assert all(math.isfinite(number) and number != 0.0 for number in expected(*cell, order)), cell


@pytest.mark.parametrize(("control", "data"), CELLS)
def test_quick(control: str, data: str) -> None:
    f, (mode, passes) = function(control, data), QUICK[control, data]
    assert_same(pb.jit(f)(*ARGUMENTS[0]), f(*ARGUMENTS[0]), operations=30, scale=1.0)
    check(control, data, mode, passes)


@pytest.mark.slow
@pytest.mark.parametrize("passes", [True, False])
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("control", "data"), CELLS)
def test_cell(control: str, data: str, mode: str, passes: bool) -> None:
    check(control, data, mode, passes)


# ------------------------------------------------------------------------------- the formulation by closures (ADR 11)

FEW = [CELLS[place] for place in range(0, len(CELLS), 14)]  # each column, and most rows


def check_by_closures(control: str, data: str, mode: str, passes: bool) -> None:
    f, text = derivative_of(mode, function(control, data)), source_of(control, data)
    (number, *_), (arguments, *_) = expected(control, data, len(mode)), ARGUMENTS
    actual = testing.call("call", f, arguments, engine="interp", passes=passes, formulation="closures")
    assert_gradient([actual], [number], relative=1e-9, where=f"{mode}{arguments} of\n{text}")


@pytest.mark.parametrize(("control", "data"), FEW)
def test_quick_by_closures(control: str, data: str) -> None:
    check_by_closures(control, data, "r", True)


@pytest.mark.slow
@pytest.mark.parametrize(("mode", "passes"), [("r", True), ("r", False), ("rr", True), ("fr", True), ("rf", True)])
@pytest.mark.parametrize(("control", "data"), CELLS)
def test_cell_by_closures(control: str, data: str, mode: str, passes: bool) -> None:
    check_by_closures(control, data, mode, passes)

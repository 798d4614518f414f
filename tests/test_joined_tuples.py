"""Tuples that get longer with every trip, of which the compiler makes tuples of run-time length; and empty ones."""

from __future__ import annotations

from typing import Any

import pytest

import oracle
import pullback as pb
from adapter import ENGINES, derivative, value
from compare import assert_gradient, assert_same
from joined_tuple_programs import COMPARED, GROWING, RETURNED

X = 0.75


@pytest.mark.parametrize("program", GROWING, ids=lambda f: f.__name__)
def test_one_compilation_for_all_lengths(program: Any) -> None:
    compiled = pb.jit(program)
    for n in (1, 4, 0, 7) if program.__name__ != "called" else (1, 4, 9):
        assert_same(compiled(X, n), program(X, n), operations=200, scale=1.0, where=f"{n}")
        assert_gradient(
            derivative(program, (X, n), (0,), "r", (), "compiled"), oracle.gradient(program, (X, n)), where=f"{n}"
        )
    assert len(compiled.specializations) == 1


@pytest.mark.parametrize("mode", ["rr", "fr", "rf", "ff"])
@pytest.mark.parametrize("program", GROWING[::3], ids=lambda f: f.__name__)
def test_second_order(program: Any, mode: str) -> None:
    found = derivative(program, (X, 3), (0,), mode, [1.0], "compiled")
    assert_gradient(found, oracle.second(program, (X, 3), (0,), [1.0]))


@pytest.mark.parametrize("engine", ENGINES[1:])
@pytest.mark.parametrize("program", GROWING[1::3], ids=lambda f: f.__name__)
def test_other_engines(program: Any, engine: str) -> None:
    assert_same(value(program, (X, 4), engine), program(X, 4), operations=200, scale=1.0)
    assert_gradient(derivative(program, (X, 4), (0,), "r", (), engine), oracle.gradient(program, (X, 4)))


@pytest.mark.parametrize("n", [0, 1, 2])
@pytest.mark.parametrize("program", COMPARED, ids=lambda f: f.__name__)
def test_what_is_empty(program: Any, n: int) -> None:
    assert_same(pb.jit(program)(X, n), program(X, n), operations=4)


@pytest.mark.parametrize(("program", "arguments"), RETURNED)
def test_what_python_gets(program: Any, arguments: tuple[Any, ...]) -> None:
    assert_same(pb.jit(program)(*arguments), program(*arguments), operations=4)

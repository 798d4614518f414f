"""Tuples and NamedTuples of any depth: values, text, order, hashes, results, and derivatives of them and by them."""

from __future__ import annotations

from typing import Any

import pytest

import oracle
import pullback as pb
from adapter import ENGINES, derivative, value
from compare import assert_gradient, assert_same
from pullback import testing
from tuple_tree_programs import DIFFERENTIABLE, FOUR_TIMES, VALUES, by_pullback

X = 0.75


@pytest.mark.parametrize("program", VALUES, ids=lambda f: f.__name__)
def test_values(program: Any) -> None:
    expected, actual = program(X), pb.jit(program)(X)
    assert_same(actual, expected, operations=64)
    assert repr(actual) == repr(expected)  # and so the classes


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("program", DIFFERENTIABLE, ids=lambda f: f.__name__)
def test_derivatives(program: Any, engine: str) -> None:
    for mode in ("r", "f") if engine == "compiled" else ("r",):
        found = derivative(program, (X,), (0,), mode, (), engine)
        assert_gradient(found, oracle.gradient(program, (X,)), where=mode)


@pytest.mark.parametrize("mode", ["rr", "fr", "rf", "ff"])
@pytest.mark.parametrize("program", DIFFERENTIABLE[1::2], ids=lambda f: f.__name__)
def test_second_order(program: Any, mode: str) -> None:
    assert_gradient(derivative(program, (X,), (0,), mode, [1.0], "compiled"), oracle.second(program, (X,), (0,), [1.0]))


@pytest.mark.parametrize(("program", "model"), FOUR_TIMES, ids=lambda f: f.__name__)
def test_derivatives_by_tuples_and_unions(program: Any, model: Any) -> None:
    (slope,), (curve,) = oracle.gradient(model, (X,)), oracle.second(model, (X,), (0,), [1.0])
    assert value(program, (X,), "compiled") == pytest.approx(4 * model(X), rel=1e-13)
    assert pb.grad(program)(X) == pytest.approx(4 * slope, rel=1e-13)
    if program is by_pullback:
        with pytest.raises(pb.CompileError, match="the reverse derivative of a pullback of a function of objects"):
            pb.grad(pb.grad(program))(X)
    else:
        assert pb.grad(pb.grad(program))(X) == pytest.approx(4 * curve, rel=1e-13)
    assert pb.jvp(program, (X,), (1.0,))[1] == pytest.approx(4 * slope, rel=1e-13)


@pytest.mark.parametrize("program", [row[0] for row in FOUR_TIMES[:3:2]] + DIFFERENTIABLE[:1], ids=lambda f: f.__name__)
def test_by_closures(program: Any) -> None:
    (found,) = testing.gradient(program, (X,), (0,), mode="r", engine="interp", passes=True, formulation="closures")
    assert found == pytest.approx(pb.grad(program)(X), rel=1e-13)


@pytest.mark.parametrize("value", [1.0, -2.0])
def test_the_fields_are_read_only(value: float) -> None:
    from tuple_tree_programs import tree

    def written(x):
        t = tree(x)
        t.threshold = 2.0
        return t.threshold

    with pytest.raises((AttributeError, pb.CompileError), match="threshold"):
        pb.jit(written)(value)

"""Delimited continuations against dual numbers: every program they can run, first and second order, and exceptions.

A program they cannot run (what narrows a number to a machine float, as a store into an array of floats) raises; a wrong
number is a failure.
"""

from __future__ import annotations

import builtins
import math
import subprocess
import sys
import warnings
from typing import Any

import numpy as np
import pytest

import oracle
import programs
import pullback as pb
from compare import assert_gradient
from programs import Program
from pullback import delimited
from rebinding import Rebinder, World
from structures import leaves as all_leaves

PROGRAMS = {
    program.name: program
    for program in programs.load()
    if program.argnums and program.orders >= 2 and not program.kink and program.same_as is None
}
SUBSTITUTES = {id(math): delimited.math, id(pb.grad): delimited.grad} | {
    id(function): getattr(delimited.math, name) for name, function in vars(math).items() if callable(function)
}
WORLD = World(SUBSTITUTES, vars(builtins), lambda literal: literal, lambda array, _: array, {"grad": delimited.grad})
REFUSALS = (TypeError, AttributeError, NotImplementedError)


def rebound(function: Any) -> Any:
    return Rebinder(WORLD).value(function)


def exact(program: Program, arguments: tuple[Any, ...]) -> bool:
    """Plain doubles without a kink: what has its own rule of sharing, or single precision, is the compiler's matter."""
    names = set(oracle.names_read(program.function.__code__))
    singles = any(getattr(leaf, "dtype", None) == np.float32 for argument in arguments for leaf in all_leaves(argument))
    return not singles and not names & {"float32", "max", "min", "maximum", "minimum", "abs", "clip"}


def cases(program: Program) -> list[tuple[Any, ...]]:
    failing = [repr(arguments) for arguments, _ in program.failing]
    return [
        arguments
        for arguments in program.arguments
        if repr(arguments) not in failing
        and exact(program, arguments)
        and all(oracle.leaf_count(arguments[position]) for position in program.argnums)
    ]


def along(function: Any, argnums: tuple[int, ...], direction: list[float]) -> Any:
    """The gradient's component along a direction, to be differentiated again."""

    def component(*arguments: Any) -> Any:
        gradients = delimited.grad(function, argnums)(*arguments)
        parts = [leaf for g, position in zip(gradients, argnums) for leaf in leaves(g, arguments[position])]
        return sum((part * weight for part, weight in zip(parts, direction)), start=0.0)

    return component


def leaves(gradient: Any, model: Any) -> list[Any]:
    if isinstance(model, dict):
        return [leaf for key in model for leaf in leaves(gradient[key], model[key])]
    if isinstance(model, (tuple, list)):
        return [leaf for part, item in zip(gradient, model) for leaf in leaves(part, item)]
    if isinstance(model, np.ndarray):
        return list(gradient.ravel())
    return [gradient] if isinstance(model, (float, delimited.Number)) else []


def flat(gradients: Any, arguments: Any, argnums: Any) -> list[float]:
    return [float(leaf) for g, position in zip(gradients, argnums) for leaf in leaves(g, arguments[position])]


def run(program: Program) -> str:
    """ "ran" where every case agrees, or why it cannot run."""
    function, told = rebound(program.function), "no case of plain doubles"
    for arguments in cases(program):
        count = sum(oracle.leaf_count(arguments[position]) for position in program.argnums)
        direction = [1.0 - 0.375 * (position % 4) for position in range(count)]
        try:
            first = flat(delimited.grad(function, program.argnums)(*arguments), arguments, program.argnums)
            component = along(function, program.argnums, direction)
            second = flat(delimited.grad(component, program.argnums)(*arguments), arguments, program.argnums)
        except REFUSALS as error:
            return f"{type(error).__name__}: {error}"
        where = f"{program.name}{arguments}"
        expected = oracle.gradient(program.function, arguments, program.argnums)
        assert_gradient(first, expected, scale=program.scale, where=f"r of {where}")
        expected = oracle.second(program.function, arguments, program.argnums, direction)
        assert_gradient(second, expected, scale=program.scale, where=f"rr of {where}")
        told = "ran"
    return told


@pytest.fixture(scope="module")
def outcomes() -> dict[str, str]:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return {name: run(program) for name, program in PROGRAMS.items()}


def test_programs_agree_with_dual_numbers(outcomes: dict[str, str]) -> None:
    """Most of the suite runs; what does not has said why."""
    ran = [name for name, told in outcomes.items() if told == "ran"]
    assert len(ran) > 0.6 * len(outcomes), {name: told for name, told in outcomes.items() if told != "ran"}


def test_a_loop_of_many_operations_needs_no_c_stack() -> None:
    def steps(x: Any) -> Any:
        for _ in range(20_000):
            x = x * 0.9999 + delimited.math.sin(x) * 1e-4
        return x

    assert delimited.grad(steps)(0.5) == pytest.approx(oracle.gradient(_steps, (0.5,))[0], rel=1e-12)
    assert sys.getrecursionlimit() < delimited.DEPTH


def _steps(x: float) -> float:
    for _ in range(20_000):
        x = x * 0.9999 + math.sin(x) * 1e-4
    return x


def test_any_control_flow_of_python() -> None:
    def program(x: Any) -> Any:
        def parts() -> Any:
            yield x * x
            yield delimited.math.exp(x)

        total = {"sum": 0.0}
        try:
            for part in parts():
                total["sum"] = total["sum"] + part
                if total["sum"] > 3.0:
                    raise ValueError(total["sum"] * x)
        except ValueError as error:
            return error.args[0]
        finally:
            total.clear()
        return total

    x = 1.5
    assert delimited.grad(program)(x) == pytest.approx(3 * x * x + math.exp(x) * (1 + x), rel=1e-14)


def test_an_inner_gradient_does_not_confuse_perturbations() -> None:
    inner = lambda x: x * delimited.grad(lambda y: x * y)(2.0)
    assert delimited.grad(inner)(3.0) == 6.0
    cube = lambda x: x * x * x
    third = delimited.grad(delimited.grad(delimited.grad(cube)))
    assert third(2.0) == 6.0


def test_an_exception_leaves_through_the_operations_before_it() -> None:
    def failing(x: Any) -> Any:
        y = x * x
        raise RuntimeError("no value")

    with pytest.raises(RuntimeError, match="no value"):
        delimited.grad(failing)(1.0)
    assert delimited.grad(lambda x: x * x)(1.0) == 2.0


def test_a_number_refuses_to_lose_its_derivative() -> None:
    with pytest.raises(TypeError, match="without losing its derivative"):
        delimited.grad(lambda x: math.sin(x))(1.0)


def test_importing_it_does_not_import_greenlet() -> None:
    code = "import pullback.delimited, sys; assert 'greenlet' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_without_greenlet_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "greenlet", None)
    with pytest.raises(ImportError, match="pip install greenlet"):
        delimited.grad(lambda x: x)(1.0)

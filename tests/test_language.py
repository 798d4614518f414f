"""Every construct of the language compiled: CPython's value, and the derivatives that dual numbers give."""

import pytest

import oracle
import random_syntax
from adapter import derivative, value
from compare import assert_gradient, assert_same
from language_programs import PROGRAMS

AT = (1.5,)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_program(program):
    expected = program(*AT)
    for engine in ("compiled", "interpreter"):
        assert_same(value(program, AT, engine), expected, operations=100, scale=abs(expected))
    slope, curvature = oracle.gradient(program, AT), oracle.hessian(program, AT)[0]
    second = ("rr", "compiled") if PROGRAMS.index(program) % 2 else ("fr", "interpreter")
    for mode, engine, found in (("r", "compiled", slope), (*second, curvature)):
        assert_gradient(derivative(program, AT, (0,), mode, [1.0], engine), found, scale=abs(found[0]) or 1.0)


@pytest.mark.parametrize("block", range(3))
def test_random_syntax(block):
    """Whole numbers through every construct: CPython and compiled code."""
    for seed in range(4 * block, 4 * block + 4):
        wrong, source = random_syntax.differences(seed, compiled=True)
        assert not wrong, f"seed {seed}: {wrong}\n{source}"


@pytest.mark.slow
@pytest.mark.parametrize("block", range(10))
def test_random_syntax_slowly(block):
    for seed in range(1000 + 20 * block, 1020 + 20 * block):
        wrong, source = random_syntax.differences(seed, compiled=True)
        assert not wrong, f"seed {seed}: {wrong}\n{source}"

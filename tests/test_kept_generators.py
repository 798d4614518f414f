"""Generators that are kept: against CPython and dual numbers.

Values have CPython's type, first derivatives agree with dual numbers and second ones with duals of duals; exceptions
have CPython's type and message.
"""

from __future__ import annotations

import pytest

import adapter
import pullback as pb
import resumed_programs
from container_checks import check_derivative, check_value, check_value_and_gradient
from generator_programs import CASES, FAILING

SECOND = ["two_in_a_loop", "values_sent", "they_change_one_variable", "roots_by_newton"]
EVERY = pytest.mark.parametrize("name", CASES)


@EVERY
def test_values_and_gradients(name: str) -> None:
    check_value_and_gradient(*CASES[name])


@pytest.mark.parametrize("name", SECOND)
def test_second_order(name: str) -> None:
    check_derivative(*CASES[name], "fr")


@pytest.mark.slow
@EVERY
def test_interpreted_values(name: str) -> None:
    check_value(*CASES[name], "interpreter")


@pytest.mark.slow
@EVERY
@pytest.mark.parametrize("mode", [*adapter.FIRST_ORDER, *adapter.SECOND_ORDER])
def test_every_mode(name: str, mode: str) -> None:
    check_derivative(*CASES[name], mode)


@pytest.mark.parametrize("name", FAILING)
def test_failures(name: str) -> None:
    """What a generator raises has no line in CPython; here it is that of its `def`."""
    with pytest.raises((StopIteration, RuntimeError)) as expected:
        FAILING[name](1.5)
    with pytest.raises(expected.type) as actual:
        pb.jit(FAILING[name])(1.5)
    assert str(actual.value) == str(expected.value)


RESUMED = pytest.mark.parametrize("name", resumed_programs.CASES)


@RESUMED
def test_values_and_gradients_inside_try(name: str) -> None:
    check_value_and_gradient(*resumed_programs.CASES[name])


@pytest.mark.parametrize("name", ["sent_thrown_and_closed_1.3", "in_expressions_0.7", "an_event_loop_of_tasks_1.3"])
def test_second_order_inside_try(name: str) -> None:
    check_derivative(*resumed_programs.CASES[name], "fr")


@pytest.mark.slow
@RESUMED
@pytest.mark.parametrize("mode", [*adapter.FIRST_ORDER, *adapter.SECOND_ORDER])
def test_every_mode_inside_try(name: str, mode: str) -> None:
    check_derivative(*resumed_programs.CASES[name], mode)


def test_left_open_where_nothing_tells_when_it_ends() -> None:
    def steps(x, log):
        try:
            yield x
            yield 2.0 * x
        finally:
            log.append(x)

    def f(x):
        log = []
        kept = [steps(x, log)]
        return next(kept[0])

    with pytest.raises(RuntimeError, match=r"a generator was left at a `yield` inside `try` or `with`: end it"):
        pb.jit(f)(1.5)

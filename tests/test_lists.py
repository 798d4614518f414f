"""Lists that change, tuples of run-time length, iterators: against CPython and dual numbers.

Values have CPython's type, first derivatives agree with dual numbers and second ones with duals of duals; exceptions
have CPython's type, message and line.
"""

from __future__ import annotations

import pytest

import adapter
from container_checks import check_derivative, check_failure, check_value, check_value_and_gradient
from list_programs import CASES, FAILING

SECOND = [
    "append_loop", "nested", "alias", "sorting", "of_arrays", "closures", "in_object", "newton", "float_list32",
    "tuple_tree",
]  # fmt: skip
EVERY = pytest.mark.parametrize("name", CASES)


@pytest.mark.parametrize("name", SECOND)
def test_interpreted_values(name: str) -> None:
    check_value(*CASES[name], "interpreter")


@pytest.mark.slow
@EVERY
@pytest.mark.parametrize("engine", adapter.ENGINES)
def test_values(name: str, engine: str) -> None:
    check_value(*CASES[name], engine)


@EVERY
def test_values_and_gradients(name: str) -> None:
    check_value_and_gradient(*CASES[name])


@pytest.mark.parametrize("name", SECOND)
def test_second_order(name: str) -> None:
    check_derivative(*CASES[name], "fr")


@pytest.mark.slow
@EVERY
@pytest.mark.parametrize("mode", [*adapter.FIRST_ORDER, *adapter.SECOND_ORDER])
@pytest.mark.parametrize("engine", adapter.ENGINES)
def test_every_mode(name: str, mode: str, engine: str) -> None:
    check_derivative(*CASES[name], mode, engine)


@pytest.mark.parametrize("name", FAILING)
def test_failures(name: str) -> None:
    check_failure(FAILING[name], (1.5,))

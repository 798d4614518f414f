"""Classes defined inside functions: against CPython and dual numbers, and what Python gets of them."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

import adapter
import pullback as pb
from container_checks import check_derivative, check_value, check_value_and_gradient
from local_class_programs import CASES

EVERY = pytest.mark.parametrize("name", CASES)
SECOND = ["everything_of_one_class", "a_dataclass", "a_list_of_nodes", "a_gradient_in_a_method", "classes_made_twice"]


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


def objects_of_a_class(x):
    def helper(v):
        return v + 1.0

    class Base:
        """What both have."""

        def __init__(self, v):
            self.v = v

        def twice(self):
            return helper(2.0 * self.v)

    class P(Base):
        unit = 3.0

        def __init__(self, v):
            super().__init__(v)
            self.w = [v]

        def again(self, k=2):
            return P(self.twice() + k)

    return P(x)


def test_python_gets_objects_whose_methods_work() -> None:
    found = pb.jit(objects_of_a_class)(1.5)
    assert type(found).__qualname__ == "objects_of_a_class.<locals>.P"
    assert vars(found) == {"v": 1.5, "w": [1.5]}
    assert (found.twice(), found.again().v, found.again(k=5).v, found.unit) == (4.0, 6.0, 9.0, 3.0)
    assert isinstance(found, type(found).__mro__[1])
    assert type(found).__mro__[1].__doc__ == "What both have."


def test_python_gets_dataclasses() -> None:
    def f(x):
        @dataclass
        class Pair:
            first: float
            second: list

        return [Pair(x, [x]), Pair(2.0, [])]

    first, second = pb.jit(f)(1.5)
    assert first == type(first)(1.5, [1.5])
    assert repr(second).endswith("Pair(first=2.0, second=[])")


def test_what_python_gets_may_come_back() -> None:
    def twice(p):
        return p.twice() * p.v

    found = pb.jit(objects_of_a_class)(1.5)
    assert pb.jit(twice)(found) == 6.0
    assert pb.grad(twice)(found).v == 7.0

"""Globals that compiled code assigns: values and derivatives, and what the module holds after a call."""

from __future__ import annotations

from typing import Any

import pytest

import adapter
import global_programs as programs
import pullback as pb
from container_checks import check_derivative, check_value_and_gradient
from global_programs import CASES

NAMES = ("count", "total", "best", "history", "table", "weights", "rule")
EVERY = pytest.mark.parametrize("name", CASES)


@EVERY
def test_values_and_gradients(name: str) -> None:
    check_value_and_gradient(*CASES[name])


@pytest.mark.parametrize("name", ["through_calls", "by_handlers", "an_object_or_none", "passed_and_changed"])
def test_second_order(name: str) -> None:
    check_derivative(*CASES[name], "fr")


@pytest.mark.slow
@EVERY
@pytest.mark.parametrize("mode", [*adapter.FIRST_ORDER, *adapter.SECOND_ORDER])
def test_every_mode(name: str, mode: str) -> None:
    check_derivative(*CASES[name], mode)


def shown(value: Any) -> Any:
    if isinstance(value, programs.Node):
        return value.value, shown(value.after)
    if hasattr(value, "tolist"):
        return value.tolist()
    return "a function" if callable(value) else value


def present() -> dict[str, Any]:
    return {name: shown(getattr(programs, name, "not set")) for name in NAMES}


@EVERY
def test_the_module_holds_what_it_does_in_python(name: str) -> None:
    function, arguments = CASES[name]
    programs.reset()
    function(*arguments)
    expected = present()
    programs.reset()
    pb.jit(function)(*arguments)
    assert present() == expected
    programs.reset()
    pb.grad(function)(*arguments)
    assert present() == expected


def test_counted_up_over_several_calls() -> None:
    programs.reset()
    compiled = pb.jit(programs.account)
    assert [compiled(x) for x in (1.0, 2.0, 3.0)] == [1.0, 10.0, 42.0]
    assert (programs.count, programs.total, programs.history) == (3, 14.0, [1.0, 2.0, 3.0])
    programs.count = 10
    compiled(1.0)
    assert programs.count == 11


def test_what_was_assigned_stays_after_an_exception() -> None:
    def fails(x):
        programs.reset()
        programs.account(x)
        raise ValueError("late")

    with pytest.raises(ValueError, match="late"):
        pb.jit(fails)(2.0)
    assert (programs.count, programs.total) == (1, 4.0)


def test_a_pullback_begins_where_its_value_did_and_changes_nothing() -> None:
    programs.reset()
    programs.total = 3.0
    value, pullback = pb.vjp(programs.account, 2.0)
    assert (value, programs.total) == (14.0, 7.0)
    assert pullback(1.0) == pullback(1.0) == (15.0,)
    assert (programs.count, programs.total, programs.history) == (1, 7.0, [2.0])


def test_a_pullback_begins_where_captured_variables_were() -> None:
    total = 3.0

    def account(x):
        nonlocal total
        total = total + x * x
        return total * x

    value, pullback = pb.vjp(account, 2.0)
    assert (value, total) == (14.0, 7.0)
    assert pullback(1.0) == pullback(1.0) == (15.0,)
    assert total == 7.0


def test_not_set_yet() -> None:
    vars(programs).pop("rule", None)
    with pytest.raises(NameError, match="name 'rule' is not defined"):
        pb.jit(programs.sets_or_reads)(1.0)
    assert pb.jit(programs.sets_or_reads)(5.0) == 25.0
    assert programs.rule == 5.0
    assert pb.jit(programs.sets_or_reads)(1.0) == 5.0

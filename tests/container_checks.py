"""What the tests of lists, dicts and sets share: CPython's value and duals' derivatives against every engine.

    check_value(f, (1.5,), "compiled")       the value, of CPython's type
    check_derivative(f, (1.5,), "fr")        Hessian times ones, forward over reverse
    check_failure(f, (1.5,))                 the exception, its message and line
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from typing import Any

import numpy as np

import adapter
import oracle
import pullback as pb
from compare import assert_gradient, assert_same, failure

Function = Callable[..., Any]
Arguments = tuple[Any, ...]


def relative(arguments: Arguments) -> float:
    single = any(getattr(argument, "dtype", None) == np.float32 for argument in arguments)
    return 1e-5 if single else 1e-10


def check_value(function: Function, arguments: Arguments, engine: str) -> None:
    expected = function(*deepcopy(arguments))
    actual = adapter.value(function, deepcopy(arguments), engine)
    assert_same(actual, expected, operations=2000, where=f"{function.__name__} {engine}")


def check_value_and_gradient(function: Function, arguments: Arguments) -> None:
    """Both, compiled at once."""
    positions = tuple(range(len(arguments)))
    value, gradients = pb.value_and_grad(function, argnums=positions)(*deepcopy(arguments))
    expected = function(*deepcopy(arguments))
    assert_same(value, expected, operations=2000, where=function.__name__)
    wanted = oracle.gradient(function, arguments, positions)
    actual = adapter.leaves(gradients, arguments, positions)
    assert_gradient(actual, wanted, relative=relative(arguments), where=function.__name__)


def check_derivative(function: Function, arguments: Arguments, mode: str, engine: str = "compiled") -> None:
    direction = [1.0] * sum(oracle.leaf_count(argument) for argument in arguments)
    positions = tuple(range(len(arguments)))
    if len(mode) == 1:
        expected = oracle.gradient(function, arguments, positions)
    else:
        expected = oracle.second(function, arguments, positions, direction)
    actual = adapter.derivative(function, arguments, positions, mode, direction, engine)
    assert_gradient(actual, expected, relative=relative(arguments), where=f"{function.__name__} {mode} {engine}")


def check_failure(function: Function, arguments: Arguments) -> None:
    """The compiled function raises what CPython raises, at the same line."""
    file = function.__code__.co_filename
    expected = failure(lambda: function(*arguments), file)
    assert failure(lambda: adapter.value(function, arguments, "compiled"), file) == expected

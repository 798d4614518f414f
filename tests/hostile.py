"""What the tests of hostile arrays share: comparing compiled code with NumPy where either may raise.

``agrees`` runs a function in CPython and compiled on equal arguments: results, final arguments and the kind of failure
must be the same. ``survives`` lets compiled code refuse what NumPy takes, by an exception of an ordinary kind.
``agrees_everywhere`` does it without passes and in the interpreter too.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

import pullback as pb
from mutating import ENGINES, arrays_in, fresh

ORDINARY = (TypeError, ValueError, IndexError, KeyError, MemoryError, ArithmeticError, RuntimeError)
ORDINARY += (pb.CompileError,)


def outcome(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    try:
        return function(*arguments)
    except Exception as error:
        return error


def same(actual: Any, expected: Any) -> bool:
    if isinstance(expected, (tuple, list)):
        pairs = zip(actual, expected, strict=True)
        return len(actual) == len(expected) and all(same(left, right) for left, right in pairs)
    if isinstance(expected, np.ndarray):
        alike = isinstance(actual, np.ndarray) and (actual.shape, actual.dtype) == (expected.shape, expected.dtype)
        return alike and close(actual, expected)
    if isinstance(expected, np.generic):  # np.longlong and np.int64 are one dtype
        return isinstance(actual, np.generic) and actual.dtype == expected.dtype and close(actual, expected)
    return type(actual) is type(expected) and close(actual, expected)


def close(actual: Any, expected: Any) -> bool:
    if expected is None or isinstance(expected, str):
        return bool(actual == expected)
    return bool(np.allclose(actual, expected, rtol=1e-9, atol=1e-12, equal_nan=True))


def assert_ordinary(error: Exception) -> None:
    assert isinstance(error, ORDINARY), repr(error)
    assert not isinstance(error, (SystemError, pb.InternalError)), repr(error)


def agrees(function: Callable[..., Any], *arguments: Any) -> Any:
    """Same result, same final arguments; or the same kind of exception with the same words."""
    return compared(function, arguments, may_refuse=False)


def survives(function: Callable[..., Any], *arguments: Any) -> Any:
    """As NumPy, or refused."""
    return compared(function, arguments, may_refuse=True)


def agrees_everywhere(function: Callable[..., Any], *arguments: Any) -> Any:
    """As `agrees`, compiled with all passes, compiled with none, and interpreted."""
    for engine in ("plain", "interpreter"):
        compared(function, arguments, may_refuse=False, run=lambda f, given: ENGINES[engine].call(f, given))
    return agrees(function, *arguments)


def _compiled_call(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    return compiled(function)(*arguments)


def compared(
    function: Callable[..., Any], arguments: tuple[Any, ...], *, may_refuse: bool, run: Any = _compiled_call
) -> Any:
    theirs, ours = fresh(arguments), fresh(arguments)
    expected, actual = outcome(function, theirs), outcome(run, (function, ours))
    if isinstance(actual, Exception):
        assert_ordinary(actual)
        if may_refuse:
            return actual
        assert isinstance(expected, Exception), f"{actual!r} for {expected!r}"
        if isinstance(actual, pb.CompileError):  # nothing has run
            return actual
        same_words = (type(actual), str(actual)) == (type(expected), str(expected))
        assert same_words, f"{actual!r} for {expected!r}"
    else:
        assert not isinstance(expected, Exception), f"{actual!r} for {expected!r}"
        assert same(actual, expected), f"{actual!r} for {expected!r}"
    for left, right in zip(arrays_in(ours), arrays_in(theirs), strict=True):
        assert same(np.asarray(left), np.asarray(right)), f"left {left!r} for {right!r}"
    return actual


@functools.cache
def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    return pb.jit(function)


def locked(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    array.flags.writeable = False
    return array


# --- the functions --------------------------------------------------------------------------------------------------


def total(a: Any) -> Any:
    s = 0.0
    for i in range(len(a)):
        s += a[i] * a[i]
    return s


def whole(a: Any) -> Any:
    return np.sum(a * a + 1.0)


def double(a: Any) -> Any:
    a *= 2
    return a


def shift(a: Any) -> Any:
    a[1:] = a[:-1]
    return a


def first(a: Any) -> Any:
    a[0] = a[-1]
    return a[0]


def update(a: Any, b: Any) -> Any:
    for i in range(len(a)):
        a[i] = a[i] + 2.0 * b[i]
    b[0] = a[-1]
    return np.sum(a)


def add_into(a: Any, b: Any) -> Any:
    a += b
    return np.sum(a)


def get(a: Any, i: Any) -> Any:
    return a[i]


def put(a: Any, i: Any, v: Any) -> Any:
    a[i] = v
    return a[0]


def cut(a: Any, i: Any, j: Any, k: Any) -> Any:
    return a[i:j:k]


def paste(a: Any, i: Any, j: Any, k: Any, v: Any) -> Any:
    a[i:j:k] = v
    return np.sum(a)


A = np.array([0.5, -1.5, 2.0, 3.25])

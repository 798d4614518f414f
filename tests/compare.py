"""Comparing results: exact types and structure, a few ulps for each operation, exact integers."""

from __future__ import annotations

import math
import traceback
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from structures import children, is_object


def assert_same(actual: Any, expected: Any, *, operations: int = 1, scale: float = 0.0, where: str = "result") -> None:
    """Same type, structure, dtype and shape; floats within 4 ulps per operation of the value or of ``scale``."""
    assert type(actual) is type(expected), (
        f"{where}: {type(actual).__name__} for {type(expected).__name__} {expected!r}"
    )
    if isinstance(expected, dict):
        assert list(actual) == list(expected), where
        for key, item in expected.items():
            assert_same(actual[key], item, operations=operations, scale=scale, where=f"{where}[{key!r}]")
    elif isinstance(expected, (tuple, list)):
        assert len(actual) == len(expected), where
        for position, item in enumerate(expected):
            assert_same(actual[position], item, operations=operations, scale=scale, where=f"{where}[{position}]")
    elif is_object(expected):
        own, other = dict(children(actual) or ()), dict(children(expected) or ())
        assert list(own) == list(other), f"{where}: attributes {list(own)} for {list(other)}"
        for name, item in other.items():
            assert_same(own[name], item, operations=operations, scale=scale, where=f"{where}.{name}")
    elif isinstance(expected, np.ndarray):
        assert (actual.dtype, actual.shape) == (expected.dtype, expected.shape), where
        for index in np.ndindex(expected.shape):
            assert_same(
                actual[index], expected[index], operations=operations, scale=scale, where=f"{where}{list(index)}"
            )
    elif isinstance(expected, (float, np.floating)):
        assert_number(actual, expected, operations=operations, scale=scale, where=where)
    elif expected is not None:
        assert actual == expected, f"{where}: {actual!r} for {expected!r}"


def assert_number(actual: Any, expected: Any, *, operations: int, scale: float, where: str) -> None:
    left, right = float(actual), float(expected)
    message = f"{where}: {actual!r} for {expected!r}"
    if math.isnan(right) or math.isinf(right) or right == 0.0 == left:
        assert (math.isnan(left) and math.isnan(right)) or left == right, message
        assert math.isnan(right) or math.copysign(1.0, left) == math.copysign(1.0, right), f"sign of zero, {message}"
        return
    ulp = float(np.finfo(type(expected)).eps)
    assert abs(left - right) <= 4 * ulp * operations * max(abs(right), scale if operations > 1 else 0.0), message


def assert_gradient(
    actual: Sequence[Any], expected: Sequence[float], *, relative: float = 1e-10, scale: float = 1.0, where: str = ""
) -> None:
    """Every entry within ``relative`` of the largest one; infinities and nans in the same places."""
    assert len(actual) == len(expected), f"{where}: {len(actual)} entries for {len(expected)}"
    finite = [abs(entry) for entry in expected if math.isfinite(entry)]
    allowed = relative * max([*finite, 1e-3 * scale])
    for position, (left, right) in enumerate(zip(actual, expected, strict=True)):
        message = f"{where} [{position}]: {list(map(float, actual))} for {list(expected)}"
        if math.isfinite(right):
            assert abs(float(left) - right) <= allowed, message
        else:
            assert float(left) == right or (math.isnan(left) and math.isnan(right)), message


def failure(call: Callable[[], Any], file: str) -> tuple[type[BaseException], str, int]:
    """Type, message and innermost line within ``file`` of the exception that ``call`` raises."""
    try:
        with np.errstate(all="ignore"):
            result = call()
    except Exception as error:
        lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file]
        return type(error), str(error), (lines[-1] or 0) if lines else 0
    raise AssertionError(f"no exception, but {result!r}")

"""Primitives that prelude functions use by name.  In plain Python they are ordinary functions of the same value."""

from __future__ import annotations

from typing import Any

__all__ = ["attach", "fma", "rint", "stop"]


def stop(x: Any) -> Any:
    """x, without its derivative."""
    return x


def attach(y: Any, x: Any, w: Any) -> Any:
    """y; its derivative is dy + w * dx."""
    return y


def fma(x: Any, y: Any, z: Any) -> Any:
    """x * y + z with one rounding (here with two)."""
    return x * y + z


def rint(x: Any) -> Any:
    """x rounded to the nearest whole float, ties to even."""
    return float(round(x))


for _function in (stop, attach, fma, rint):
    _function.__dict__["__pullback_builtin__"] = f"pullback.{_function.__name__}"

"""What the author of a function states of its derivative: a mark on the Python function, which inference reads.

    @ruled(jvp=_tangent_of_softplus)
    def softplus(x): ...                  softplus.__pullback_rule__ = Stated(jvp=_tangent_of_softplus)

A rule holds for every derivative of the function, in both modes and of any order.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

__all__ = ["Stated", "mark", "stated"]

_MARK = "__pullback_rule__"


@dataclass(frozen=True, slots=True)
class Stated:
    """Rules of one function, as Python functions; with one of them alone, the other mode is derived from it.

    jvp(*nondiff, primals, tangents) -> (out, tangent of out)
    forward(*arguments) -> (out, residuals)          backward(*nondiff, residuals, cotangent) -> a tuple of cotangents
    nondiff: the positions of arguments that have no derivative.
    """

    jvp: Callable[..., Any] | None = None
    forward: Callable[..., Any] | None = None
    backward: Callable[..., Any] | None = None
    nondiff: tuple[int, ...] = ()

    @property
    def functions(self) -> tuple[Callable[..., Any], ...]:
        """Those that are given, in order."""
        return tuple(f for f in (self.jvp, self.forward, self.backward) if f is not None)


def mark(function: Callable[..., Any], rule: Stated) -> None:
    """Let the function have this rule."""
    function.__dict__[_MARK] = rule


def stated(function: object) -> Stated | None:
    """The rule of a Python function, if it has one."""
    found = getattr(function, "__dict__", {}).get(_MARK)
    return found if isinstance(found, Stated) else None

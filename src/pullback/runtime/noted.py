"""Functions of Python that come with a note for the compiler: called from Python they are what they were before.

    step = Checkpointed(step)          step(u) calls the function; compiled code reads step.__pullback__
"""

from __future__ import annotations

import functools
import sys
import types
from collections.abc import Callable
from typing import Any

__all__ = ["Noted"]


class Noted:
    """A function with a note, (kind, function, options) as that of other transformed functions."""

    __wrapped__: Callable[..., Any]

    def __init__(self, function: Callable[..., Any], note: tuple[str, Any, tuple[tuple[str, Any], ...]]) -> None:
        functools.update_wrapper(self, function)
        self.__pullback__ = note

    def __call__(self, /, *arguments: Any, **keywords: Any) -> Any:
        return self.__wrapped__(*arguments, **keywords)

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        return self if instance is None else types.MethodType(self, instance)

    def __reduce__(self) -> Any:
        name = getattr(self, "__qualname__", "")
        found: Any = None
        if "<locals>" not in name:
            found = sys.modules.get(getattr(self, "__module__", ""))
            for part in name.split("."):
                found = getattr(found, part, None)
        return name if found is self else self.remade()

    def remade(self) -> tuple[Any, ...]:
        """How to make it anew where it is not found by its name, as `__reduce__` gives it."""
        raise TypeError(f"{self!r} cannot be pickled: it is not found by its name in its module")

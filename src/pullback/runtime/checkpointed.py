"""pb.checkpoint(f): f itself for Python, and a note for compiled code to run it again in the reverse pass.

    step = Checkpointed(step)          step(u) calls the function
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from typing import Any

__all__ = ["Checkpointed", "checkpointed"]


class Checkpointed:
    """A function with its note.  Called from Python it is the function, with its name and signature."""

    __wrapped__: Callable[..., Any]

    def __init__(self, function: Callable[..., Any]) -> None:
        functools.update_wrapper(self, function)
        self.__pullback__ = ("checkpoint", function, ())

    def __call__(self, /, *arguments: Any, **keywords: Any) -> Any:
        return self.__wrapped__(*arguments, **keywords)

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        return self if instance is None else types.MethodType(self, instance)

    def __repr__(self) -> str:
        return f"<checkpointed {getattr(self.__wrapped__, '__qualname__', self.__wrapped__)}>"

    def __reduce__(self) -> Any:
        name = getattr(self, "__qualname__", "")
        found: Any = None
        if "<locals>" not in name:
            import sys

            found = sys.modules.get(getattr(self, "__module__", ""))
            for part in name.split("."):
                found = getattr(found, part, None)
        return name if found is self else (Checkpointed, (self.__wrapped__,))


def checkpointed(trips: range, snapshots: int | None = None) -> range:
    """The range: a loop over it keeps snapshots of what it carries and changes, and runs trips again for the reverse.

        for i in pb.checkpointed(range(n), snapshots=20):
            u = step(u)

    snapshots: how many at one time, at least 4, written as a literal; by default about sqrt(2 n), with which no trip
    runs more than three times.
    """
    return trips


checkpointed.__dict__["__pullback_builtin__"] = "pullback.checkpointed"

"""pb.checkpoint(f): f itself for Python, and a note for compiled code to run it again in the reverse pass.

    step = Checkpointed(step)          step(u) calls the function
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pullback.runtime.noted import Noted

__all__ = ["Checkpointed", "checkpointed"]


class Checkpointed(Noted):
    """A function with its note.  Called from Python it is the function, with its name and signature."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function, ("checkpoint", function, ()))

    def __repr__(self) -> str:
        return f"<checkpointed {getattr(self.__wrapped__, '__qualname__', self.__wrapped__)}>"

    def remade(self) -> tuple[Any, ...]:
        return (Checkpointed, (self.__wrapped__,))


def checkpointed(trips: range, snapshots: int | None = None) -> range:
    """The range: a loop over it keeps snapshots of what it carries and changes, and runs trips again for the reverse.

        for i in pb.checkpointed(range(n), snapshots=20):
            u = step(u)

    snapshots: how many at one time, at least 4, written as a literal; by default about sqrt(2 n), with which no trip
    runs more than three times.
    """
    return trips


checkpointed.__dict__["__pullback_builtin__"] = "pullback.checkpointed"

"""Generators that are kept, in the accepted Python: objects with the function that gives the next value."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = ["Resumed"]


class Resumed:
    """A generator that has begun, or will."""

    def __init__(self, resume: Callable[[Any], Any]) -> None:
        self.resume = resume

    def __iter__(self) -> Any:
        return self

    def __next__(self) -> Any:
        return self.resume(None)

    def send(self, value: Any) -> Any:
        """The value is what the `yield` gives at which the generator stands."""
        return self.resume(value)

"""Generators that are kept, in the accepted Python: objects with the function that gives the next value."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = ["FUNCTIONS", "Manager", "Resumed"]


def _ends() -> Any:
    try:
        yield
    except GeneratorExit:
        return 1


_trial = _ends()
next(_trial)
_CLOSE_GIVES_VALUE = _trial.close() == 1  # what a generator returns there, since Python 3.13


class Resumed:
    """A generator that has begun, or will.  `resume` takes what is sent, and what is thrown."""

    def __init__(self, resume: Callable[[Any, Any], Any]) -> None:
        self.resume = resume

    def __iter__(self) -> Any:
        return self

    def __next__(self) -> Any:
        return self.resume(None, None)

    def send(self, value: Any) -> Any:
        """The value is what the `yield` gives at which the generator stands."""
        return self.resume(value, None)

    def throw(self, kind: Any, value: Any = None) -> Any:
        """Raise an exception at that `yield`."""
        if isinstance(kind, type):
            return self.resume(None, kind() if value is None else kind(value))
        return self.resume(None, kind)

    def close(self) -> Any:
        """End it there; what stands in `finally` runs."""
        try:
            self.resume(None, GeneratorExit())
        except StopIteration as stop:
            return stop.value if _CLOSE_GIVES_VALUE else None
        except GeneratorExit:
            return None
        raise RuntimeError("generator ignored GeneratorExit")


Resumed.__name__ = "generator"  # as Python calls it in messages


class Manager:
    """A context manager that contextlib.contextmanager makes, of such a generator."""

    def __init__(self, steps: Any) -> None:
        self.steps = steps

    def __enter__(self) -> Any:
        try:
            return next(self.steps)
        except StopIteration:
            raise RuntimeError("generator didn't yield") from None

    def __exit__(self, kind: Any, error: Any, trace: Any) -> bool:
        if error is None:
            try:
                next(self.steps)
            except StopIteration:
                return False
            raise RuntimeError("generator didn't stop")
        try:
            self.steps.throw(error)
        except StopIteration:
            return True
        raise RuntimeError("generator didn't stop after throw()")


def passed_on(iterator: Any, sent: Any, thrown: Any) -> Any:
    """The next value of the iterator of a `yield from`, of what the generator around is sent and thrown."""
    if thrown is not None:
        if isinstance(thrown, GeneratorExit):
            dropped(iterator)
            raise thrown
        if hasattr(iterator, "throw"):
            return iterator.throw(thrown)
        raise thrown
    if sent is not None:
        return iterator.send(sent)
    return next(iterator)


def dropped(iterator: Any) -> None:
    """Nothing refers to the iterator any more: a generator ends there."""
    if hasattr(iterator, "close"):
        iterator.close()


def iterate_dropped(iterator: Any) -> Any:
    """What a loop gets of an iterator that only this loop has."""
    try:
        while True:
            try:
                item = iterator.__next__()
            except StopIteration:
                return
            yield item
    finally:
        dropped(iterator)


FUNCTIONS: dict[str, Any] = {
    "pullback.passed_on": passed_on, "pullback.dropped": dropped, "pullback.iterate_dropped": iterate_dropped,
}  # fmt: skip

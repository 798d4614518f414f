"""Consumers and makers of generators, in the accepted Python."""

from __future__ import annotations

from typing import Any

__all__ = ["FUNCTIONS"]


def delegate(iterable: Any, consumer: Any, state: Any) -> Any:
    """`yield from` an iterable that is no generator."""
    for item in iterable:
        go, state = consumer(item, state)
        if not go:
            return False, None, state
    return True, None, state


def collect(iterable: Any) -> list[Any]:
    """All that the iterable gives."""
    return [item for item in iterable]  # noqa: C416 - list() asks for this


def enumerate_(iterable: Any, start: int) -> Any:
    """enumerate(...) of a generator."""
    k = start
    for item in iterable:
        yield k, item
        k += 1


def zip_first(iterable: Any, after: Any) -> Any:
    """zip(...) of a generator and others after it, given as rows."""
    k = 0
    for item in iterable:
        if k == len(after):
            return
        yield (item, *after[k])
        k += 1


def zip_alone(iterable: Any) -> Any:
    """zip(...) of one generator."""
    for item in iterable:
        yield (item,)


def zip_later(before: Any, iterable: Any, after: Any) -> Any:
    """zip(...) of a generator between others, given as rows."""
    if len(before) == 0:
        return
    k = 0
    for item in iterable:
        if k == len(after):
            return
        yield (*before[k], item, *after[k])
        k += 1
        if k == len(before):
            return


def zip_last(before: Any, iterable: Any) -> Any:
    """zip(...) of a generator after others, given as rows."""
    if len(before) == 0:
        return
    k = 0
    for item in iterable:
        yield (*before[k], item)
        k += 1
        if k == len(before):
            return


def next_(iterable: Any) -> Any:
    """next(...) of a generator that is not used again."""
    for item in iterable:
        return item
    raise StopIteration


def next_or(iterable: Any, default: Any) -> Any:
    """next(...) with a value for an empty one."""
    for item in iterable:
        return item
    return default


def match_rest(mapping: dict[Any, Any], keys: tuple[Any, ...]) -> dict[Any, Any]:
    """A new dict without the keys: `**rest` in a pattern."""
    rest = dict(mapping)
    for key in keys:
        del rest[key]
    return rest


FUNCTIONS: dict[str, Any] = {
    "pullback.delegate": delegate, "pullback.collect": collect, "pullback.enumerate": enumerate_,
    "pullback.zip_first": zip_first, "pullback.zip_alone": zip_alone, "pullback.zip_last": zip_last,
    "pullback.zip_later": zip_later, "pullback.next": next_, "pullback.next_or": next_or,
    "pullback.match_rest": match_rest,
}  # fmt: skip

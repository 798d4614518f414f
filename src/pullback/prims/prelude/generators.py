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


def delegate_map(parts: Any, consumer: Any, state: Any) -> Any:
    """The same of map(f, ...): f and what its arguments come from."""
    for row in zip(*parts[1:], strict=False):
        go, state = consumer(parts[0](*row), state)
        if not go:
            return False, None, state
    return True, None, state


def delegate_chain(parts: Any, consumer: Any, state: Any) -> Any:
    """The same of chain(...)."""
    for part in parts:
        for item in part:
            go, state = consumer(item, state)
            if not go:
                return False, None, state
    return True, None, state


def delegate_repeat(parts: Any, consumer: Any, state: Any) -> Any:
    """The same of repeat(value), without an end, or repeat(value, times)."""
    k = 0
    while len(parts) < 2 or k < parts[1]:
        go, state = consumer(parts[0], state)
        if not go:
            return False, None, state
        k += 1
    return True, None, state


def delegate_longest(parts: Any, consumer: Any, state: Any) -> Any:
    """The same of zip_longest(..., fillvalue)."""
    sources, fill = parts[:-1], parts[-1]
    longest = 0
    for source in sources:
        longest = max(longest, len(source))
    for k in range(longest):
        row = [source[k] if k < len(source) else fill for source in sources]
        go, state = consumer(tuple(row), state)
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


def zip_in_turns(iterable: Any, others: Any) -> Any:
    """zip(...) of an iterable and iterators, which are advanced in turn."""
    for item in iterable:
        row: Any = (item,)
        try:
            for other in others:
                row = (*row, next(other))
        except StopIteration:
            return
        yield row


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
    "pullback.delegate": delegate, "pullback.delegate_map": delegate_map,
    "pullback.delegate_chain": delegate_chain, "pullback.delegate_repeat": delegate_repeat,
    "pullback.delegate_longest": delegate_longest, "pullback.collect": collect, "pullback.enumerate": enumerate_,
    "pullback.zip_first": zip_first, "pullback.zip_alone": zip_alone, "pullback.zip_last": zip_last,
    "pullback.zip_in_turns": zip_in_turns, "pullback.zip_later": zip_later,
    "pullback.next": next_, "pullback.next_or": next_or, "pullback.match_rest": match_rest,
}  # fmt: skip

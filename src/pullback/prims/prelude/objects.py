"""Iteration over objects of classes, in the accepted Python."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

__all__ = ["FUNCTIONS"]


def iterate(iterator: Any) -> Iterator[Any]:
    """What __next__ gives until StopIteration."""
    while True:
        try:
            item = iterator.__next__()
        except StopIteration:
            return
        yield item


def iterate_items(sequence: Any) -> Iterator[Any]:
    """What __getitem__ gives for 0, 1, ... until IndexError."""
    k = 0
    while True:
        try:
            item = sequence[k]
        except IndexError:
            return
        yield item
        k += 1


def next_else(iterator: Any, default: Any) -> Any:
    """next(iterator, default)"""
    try:
        return iterator.__next__()
    except StopIteration:
        return default


FUNCTIONS = {
    "pullback.iterate": iterate, "pullback.iterate_items": iterate_items, "pullback.next_else": next_else,
}  # fmt: skip

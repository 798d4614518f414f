"""functools.cache and lru_cache on local functions, in the accepted Python: a dict of what is known.

    @functools.cache
    def f(n): ...           ->      f = cache(f): known[n] where it was asked before

One lives as long as what the decorator made, so within one call of compiled code.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = ["FUNCTIONS"]


def cache(function: Callable[..., Any]) -> Callable[..., Any]:
    known: dict[Any, Any] = {}

    def cached(*arguments: Any) -> Any:
        if arguments not in known:
            known[arguments] = function(*arguments)
        return known[arguments]

    return cached


def lru_cache(maxsize: Any = 128) -> Any:
    """The decorator; of a function, what it makes of it."""
    if callable(maxsize):
        return bounded(maxsize, 128)
    return lambda function: cache(function) if maxsize is None else bounded(function, maxsize)


def bounded(function: Callable[..., Any], most: int) -> Callable[..., Any]:
    """`cache` that forgets what was not asked for longest."""
    known: dict[Any, Any] = {}

    def cached(*arguments: Any) -> Any:
        if arguments in known:
            value = known.pop(arguments)
        else:
            value = function(*arguments)
            if len(known) >= most > 0:
                del known[next(iter(known))]
        if most > 0:
            known[arguments] = value
        return value

    return cached


FUNCTIONS: dict[str, Any] = {"functools.cache": cache, "functools.lru_cache": lru_cache}

"""functools.cache and lru_cache, in the accepted Python: a dict of what is known.

    @functools.cache
    def f(n): ...           ->      f = cache(f): known[n] where it was asked before

What a decorator inside compiled code made lives as long as that.  That of a decorator outside begins empty at every
call of compiled code: Python's own cache is neither read nor written.

Two arguments may be equal and move apart where they are differentiated, so that one result does not serve both.  By
such arguments nothing is kept.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pullback.prims.prelude.intrinsics import differentiated, repeated

__all__ = ["FUNCTIONS"]


def cache(function: Callable[..., Any]) -> Callable[..., Any]:
    known: dict[Any, Any] = {}
    return lambda *arguments, **named: unbounded(known, function, *arguments, **named)


def lru_cache(maxsize: Any = 128, typed: bool = False) -> Any:
    """The decorator; of a function, what it makes of it."""
    if callable(maxsize):
        return limited(maxsize, 128)
    return lambda function: cache(function) if maxsize is None else limited(function, maxsize)


def limited(function: Callable[..., Any], most: int) -> Callable[..., Any]:
    """`cache` that forgets what was not asked for longest."""
    known: dict[Any, Any] = {}
    return lambda *arguments, **named: bounded(known, most, function, *arguments, **named)


def unbounded(known: dict[Any, Any], function: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
    """What is known of the arguments, or what the function says of them."""
    again = differentiated(arguments, named)
    if again:
        return repeated(again, known, function, arguments, named)
    key = key_of(arguments, named)
    if key not in known:
        known[key] = function(*arguments, **named)
    return known[key]


def bounded(known: dict[Any, Any], most: int, function: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
    """`unbounded`, for so many results."""
    again = differentiated(arguments, named)
    if again:
        return repeated(again, known, function, arguments, named)
    key = key_of(arguments, named)
    if key in known:
        value = known.pop(key)
    else:
        value = function(*arguments, **named)
        if len(known) >= most > 0:
            del known[next(iter(known))]
    if most > 0:
        known[key] = value
    return value


def key_of(arguments: Any, named: Any) -> Any:
    """An int or a string alone is its own key, so that it is another one than the float it equals."""
    if named:
        return (arguments, tuple(named.items()))
    if len(arguments) == 1 and (type(arguments[0]) is int or type(arguments[0]) is str):
        return arguments[0]
    return arguments


FUNCTIONS: dict[str, Any] = {
    "functools.cache": cache, "functools.lru_cache": lru_cache,
    "pullback.cached": unbounded, "pullback.cached_last": bounded,
}  # fmt: skip

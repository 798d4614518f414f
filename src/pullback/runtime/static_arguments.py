"""Which arguments `jit(static_argnums=, static_argnames=)` names, and what may be passed for them.

    static_arguments(f, (1,), "mode").positions(("a", "axis", "mode"))        (1, 2)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from types import FunctionType

__all__ = ["NOTHING_STATIC", "StaticArguments", "require_hashable", "static_arguments"]


@dataclass(frozen=True, slots=True)
class StaticArguments:
    """numbers: positions, counted from the start, or from the end where negative.  names: of parameters."""

    numbers: tuple[int, ...] = ()
    names: tuple[str, ...] = ()

    def positions(self, names: Sequence[str]) -> tuple[int, ...]:
        """The positions among arguments of these names."""
        found = {number % len(names) for number in self.numbers if -len(names) <= number < len(names)}
        return tuple(sorted(found | {i for i, name in enumerate(names) if name in self.names}))


NOTHING_STATIC = StaticArguments()


def static_arguments(
    function: FunctionType | None, argnums: int | Sequence[int], argnames: str | Sequence[str]
) -> StaticArguments:
    """What was asked for, looked over: ValueError for a position or name that the function does not have."""
    numbers = (argnums,) if isinstance(argnums, int) else tuple(argnums)
    names = (argnames,) if isinstance(argnames, str) else tuple(argnames)
    if not all(isinstance(number, int) for number in numbers) or not all(isinstance(name, str) for name in names):
        raise TypeError("jit: static_argnums takes ints, static_argnames strings")
    if function is not None:
        _require_known(function, numbers, names)
        positional = function.__code__.co_varnames[: function.__code__.co_argcount]
        numbers += tuple(positional.index(name) for name in names if name in positional)
    return StaticArguments(numbers, names)


def _require_known(function: FunctionType, numbers: Sequence[int], names: Sequence[str]) -> None:
    code = function.__code__
    several, by_name = bool(code.co_flags & 0x04), bool(code.co_flags & 0x08)  # *args, **kwargs
    count = code.co_argcount + code.co_kwonlyargcount
    for number in numbers:
        if not several and not -count <= number < count:
            raise ValueError(f"jit: static_argnums has {number}, but {function.__name__}() has {count} parameters")
    for name in names:
        if not by_name and name not in code.co_varnames[:count]:
            raise ValueError(f"jit: static_argnames has {name!r}, but {function.__name__}() has no such parameter")


def require_hashable(arguments: Sequence[object], static: Sequence[int]) -> None:
    """Guard: what code is made for does not change; ValueError for a list, dict or array."""
    for position in static:
        try:
            hash(arguments[position])
        except TypeError:
            kind = type(arguments[position]).__name__
            raise ValueError(f"jit: the static argument {position} is a {kind}, which is not hashable") from None

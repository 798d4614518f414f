"""What an argument looks like to the compiler, in words: for `f.specializations` and the log.

    describe(2.0)                    float
    describe(np.ones((3, 1)))        float64[:, 1]             sizes do not count, but whether they are 1 does
    describe(1, fixed=[()])          int 1                     code that is made for this number
    describe({"w": a, "b": 0.5})     {'w': float64[:, :], 'b': float}
    describe(layer, fixed=[("axis",)])      Layer(axis=int 1)

    why(("x", "n"), [("float", "int")], ("float64[:]", "int"))        x: float -> float64[:]
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from pullback.runtime.fixed import Path

__all__ = ["describe", "why"]

_DEPTH, _ITEMS = 4, 8  # how deep and how far containers are told


def describe(value: object, depth: int = _DEPTH, fixed: Collection[Path] = ()) -> str:
    """The type of an argument as far as compiled code depends on it; of large containers only the beginning.

    fixed: the places of numbers in it that the code is made for.
    """
    if () in fixed:
        return f"{describe(value)} {value}"
    match value:
        case None:
            return "None"
        case np.ndarray():
            return _array(value)
        case np.generic():
            return f"np.{value.dtype.name}"
        case tuple() | list() | dict() if not depth:
            return type(value).__name__
        case tuple() if type(value) is tuple:
            return f"({', '.join(_items(value, depth, fixed))}{',' if len(value) == 1 else ''})"
        case list():
            return f"list[{' | '.join(dict.fromkeys(_items(value, depth, fixed)))}]"
        case dict():
            keys = [repr(key) for key in list(value)[:_ITEMS]]
            pairs = zip([*keys, "..."], _items(list(value.values()), depth, fixed), strict=False)
            return f"{{{', '.join(f'{key}: {item}' for key, item in pairs)}}}"
    if callable(value) and hasattr(value, "__name__"):
        return f"the function {value.__name__}"
    names = dict.fromkeys(path[0] for path in fixed if isinstance(path[0], str))
    parts = (
        f"{name}={describe(getattr(value, name, None), depth - 1, [path[1:] for path in fixed if path[0] == name])}"
        for name in names
    )
    return f"{type(value).__qualname__}({', '.join(parts)})" if names else type(value).__qualname__


def _items(items: Sequence[object], depth: int, fixed: Collection[Path]) -> list[str]:
    inner = [[path[1:] for path in fixed if path[:1] == (k,)] for k in range(len(items[:_ITEMS]))]
    found = [describe(item, depth - 1, inner[k]) for k, item in enumerate(items[:_ITEMS])]
    return found if len(items) <= _ITEMS else [*found, "..."]


def _array(value: np.ndarray) -> str:
    axes = ", ".join("1" if size == 1 else ":" for size in value.shape)
    notes = "" if value.flags.c_contiguous else ", strided"
    notes += "" if value.flags.writeable else ", read-only"
    return f"{value.dtype.name}[{axes}]{notes}"


def why(names: Sequence[str], known: Sequence[tuple[str, ...]], new: tuple[str, ...]) -> str:
    """How arguments differ from those, of the known ones, which they are most like."""
    found: list[str] | None = None
    for old in known:
        if len(old) != len(new):
            continue
        changed = [
            f"{name}: {before} -> {now}"
            for name, before, now in zip(names, old, new, strict=False)
            if before != now
        ]
        if found is None or len(changed) <= len(found):
            found = changed
    if found is None:
        return f"{len(new)} arguments"
    return "; ".join(found) or "something that the code had taken as fixed has changed"

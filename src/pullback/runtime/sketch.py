"""What an argument looks like from afar: enough to look for code that may suit it, which then checks for itself.

    sketch(2.0), sketch(np.zeros(3))        their types, as `abstract` gives them
    sketch([0.5] * 1000)                    a long list of floats, however long
    sketch(Tree(1.0))                       an object of that class, whatever it holds

No object is looked into, so this takes no time even for large trees.
"""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Hashable
from enum import Enum
from typing import Any

from pullback.runtime.boundary import MOST_NESTED, abstract
from pullback.runtime.objects import is_user_object
from pullback.runtime.packing import Packed

__all__ = ["sketch"]

_CONTAINERS = (set, frozenset, deque, defaultdict, Counter, OrderedDict)

_MANY = 16
"""Items of a list, or entries of a dict, above which its kind is all that is looked at."""


def sketch(value: object, depth: int = 0) -> Hashable:
    """The looks of an argument.  TypeError for what code cannot be kept for: functions and what nothing is known of."""
    if depth > MOST_NESTED:
        raise TypeError("nested too deeply")
    kind: Any = type(value)
    if isinstance(value, Packed):
        return "packed", sketch(value.object, depth + 1)
    if kind in (list, tuple) or (issubclass(kind, tuple) and hasattr(kind, "_fields")):
        return _items(kind, value, depth + 1)
    if kind is dict:
        return _entries(value, depth + 1)
    if kind in _CONTAINERS:
        return "container", kind.__qualname__
    if is_user_object(value):
        return "object", kind.__module__, kind.__qualname__
    if isinstance(value, Enum):
        return "member", kind.__module__, kind.__qualname__, value.name
    return repr(abstract(value, _refuse))


def _items(kind: type, value: Any, depth: int) -> Hashable:
    if kind is list and len(value) > _MANY and len(set(map(type, value))) == 1:
        return "many", sketch(value[0], depth)
    return kind.__module__, kind.__qualname__, tuple(sketch(item, depth) for item in value)


def _entries(value: Any, depth: int) -> Hashable:
    if any(type(key) is not str for key in value) or len(value) > 4 * _MANY:
        key, item = next(iter(value.items()))
        return "entries", type(key).__qualname__, sketch(item, depth)
    return "dict", tuple((key, sketch(item, depth)) for key, item in value.items())


def _refuse(value: object) -> Any:
    raise TypeError(f"{value!r} is no plain value")

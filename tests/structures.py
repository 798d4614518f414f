"""Structures of float leaves: tuples, lists, dicts, arrays, NamedTuples, dataclasses and plain objects, nested.

    leaf_count({"w": 1.0, "b": (2.0, 3)})         2: ints, strings and None hold none
    children(Node(1.0, None))                     [("value", 1.0), ("next", None)]

Every walk of the tests over arguments and gradients visits leaves in the order stated here.
"""

from __future__ import annotations

import dataclasses
import enum
import sys
from collections.abc import Callable, Iterable
from typing import Any

from duals import Dual

# Modules of the tests whose classes are tools, not data of a program.
_TOOLS = {"duals", "dual_arrays", "dual_numpy", "dual_transforms", "rebinding"}
_FOREIGN = sys.stdlib_module_names - {"__main__"} | {"numpy", "scipy", "pullback", "pytest", "greenlet"} | _TOOLS


def is_users_class(cls: Any) -> bool:
    """Is it a class of a program, with methods that may compute?"""
    if not isinstance(cls, type) or isinstance(cls, enum.EnumMeta):
        return False
    return cls.__module__.partition(".")[0] not in _FOREIGN


def is_object(value: Any) -> bool:
    """Is it an instance of a user's class that is not a tuple?"""
    return is_users_class(type(value)) and not isinstance(value, (tuple, list, dict, set, BaseException))


def field_names(value: Any) -> list[str]:
    """The names of an object's attributes, in the order of their definition."""
    names = [field.name for field in dataclasses.fields(value)] if dataclasses.is_dataclass(value) else []
    for cls in type(value).__mro__:
        slots = vars(cls).get("__slots__", ())
        names += [slots] if isinstance(slots, str) else slots
    names += list(getattr(value, "__dict__", {}))
    return [name for name in dict.fromkeys(names) if not name.startswith("__") and hasattr(value, name)]


def rebuilt(value: Any, items: Iterable[tuple[str, Any]], cls: Any = None) -> Any:
    """A new object of the class with these attributes, without running its `__init__`."""
    result = object.__new__(cls or type(value))
    for name, item in items:
        object.__setattr__(result, name, item)
    return result


def children(value: Any) -> list[tuple[Any, Any]] | None:
    """Keys and parts of a structure; None for a leaf."""
    if isinstance(value, dict):
        return list(value.items())
    if isinstance(value, (tuple, list)):
        return list(enumerate(value))
    return [(name, getattr(value, name)) for name in field_names(value)] if is_object(value) else None


def part(value: Any, key: Any) -> Any:
    """The part of a structure under a key of `children`."""
    return value[key] if isinstance(value, (dict, tuple, list)) else getattr(value, key)


def with_children(value: Any, items: list[Any]) -> Any:
    """The same structure with other parts."""
    if isinstance(value, dict):
        return dict(zip(value, items, strict=True))
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return tuple.__new__(type(value), items)
    if isinstance(value, (tuple, list)):
        return type(value)(items)
    return rebuilt(value, zip(field_names(value), items, strict=True))


def mapped(leaf: Callable[[Any], Any], value: Any, known: dict[int, Any] | None = None) -> Any:
    """The structure with a function applied to what is no container; an object met twice stays one object."""
    known = {} if known is None else known
    if id(value) in known:
        return known[id(value)][1]
    parts = children(value)
    if parts is None:
        return leaf(value)
    if isinstance(value, tuple):
        return with_children(value, [mapped(leaf, item, known) for _, item in parts])
    result = list(value) if isinstance(value, list) else dict(value) if isinstance(value, dict) else rebuilt(value, ())
    known[id(value)] = value, result  # before its parts: they may refer to it
    for key, item in parts:
        moved = mapped(leaf, item, known)
        if isinstance(value, (list, dict)):
            result[key] = moved
        else:
            object.__setattr__(result, key, moved)
    return result


def leaves(value: Any, seen: set[int] | None = None) -> list[Any]:
    """What is no container, in order; an object met twice counts once."""
    seen = set() if seen is None else seen
    parts = children(value)
    if parts is None:
        return [value]
    if not isinstance(value, tuple):
        if id(value) in seen:
            return []
        seen.add(id(value))
    return [leaf for _, item in parts for leaf in leaves(item, seen)]


def is_float(leaf: Any) -> bool:
    """Is it a float, a NumPy float, an array of them, or a dual?"""
    dtype = getattr(leaf, "dtype", None)
    return isinstance(leaf, (float, Dual)) if dtype is None else dtype.kind == "f" and not isinstance(leaf, type)


def leaf_count(value: Any) -> int:
    """How many float numbers a structure holds: those are what is differentiated."""
    return sum(getattr(leaf, "size", 1) for leaf in leaves(value) if is_float(leaf))


def paired(value: Any, like: Any, seen: set[int] | None = None) -> list[tuple[Any, Any]]:
    """The leaves of `like`, each with what stands in its place in `value`."""
    seen = set() if seen is None else seen
    parts = children(like)
    if parts is None:
        return [(value, like)]
    if not isinstance(like, tuple):
        if id(like) in seen:
            return []
        seen.add(id(like))
    if isinstance(like, (tuple, list)) and len(value) != len(like):
        raise ValueError(f"{len(value)} parts for {len(like)}")
    return [pair for key, item in parts for pair in paired(part(value, key), item, seen)]


def sharing(value: Any) -> list[int]:
    """Which lists, dicts and objects of a structure are the same one: a number for each, in order of meeting."""
    met: dict[int, int] = {}
    order: list[int] = []

    def walk(item: Any) -> None:
        parts = children(item)
        if parts is None:
            return
        if not isinstance(item, tuple):
            order.append(met.setdefault(id(item), len(met)))
            if order.count(order[-1]) > 1:
                return
        for _, inner in parts:
            walk(inner)

    walk(value)
    return order

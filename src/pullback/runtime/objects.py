"""Objects of classes written in Python, whose attributes are plain data: what compiled code takes as rows of a table.

    class Tree: ...                       is_user_object(Tree(1.0)): True
    attributes(Tree(1.0))                 [("value", 1.0), ("left", None), ("right", None)]
"""

from __future__ import annotations

from enum import Enum
from functools import lru_cache
from types import ClassMethodDescriptorType, MemberDescriptorType, MethodDescriptorType, WrapperDescriptorType

import numpy as np

from pullback.runtime.inline_values import set_names

__all__ = ["HELPERS", "attributes", "is_user_object"]

HELPERS = "_pullback_helpers"
"""The attribute by which functions, and objects that are called, keep what was compiled for them."""

_NUMBERS = (int, float, complex, Enum, np.generic, np.ndarray)
_DATA = (*_NUMBERS, str, bytes, tuple, list, dict, set, frozenset, BaseException)
_OWN = ("pullback", "numpy", "functools", "builtins")
_HEAP_TYPE = 1 << 9
_NATIVE = (MethodDescriptorType, WrapperDescriptorType, ClassMethodDescriptorType)
_FOREIGN = ("__array__", "__dlpack__", "__array_interface__", "__getattr__")  # arrays of other libraries, and stand-ins


def is_user_object(value: object) -> bool:
    """Is this an instance of a class written in Python whose attributes are plain data."""
    return _is_plain_class(type(value))  # type: ignore[arg-type]  # classes are hashable


@lru_cache(maxsize=4096)
def _is_plain_class(kind: type) -> bool:
    if kind.__module__ == "builtins" or kind.__module__.startswith("_cython") or issubclass(kind, (type, *_DATA)):
        return False
    bases = [base for base in kind.__mro__ if base is not object]
    written = all(_is_written(base.__module__) and not _is_native(base) for base in bases)
    plain = not any(hasattr(kind, mark) for mark in _FOREIGN)
    return written and plain and kind.__getattribute__ is object.__getattribute__


def _is_native(kind: type) -> bool:
    """Is the class written in C: it has methods of its own that are, or no room for others."""
    own = (member for member in vars(kind).values() if getattr(member, "__objclass__", None) is kind)
    return not kind.__flags__ & _HEAP_TYPE or any(isinstance(member, _NATIVE) for member in own)


def _is_written(module: str) -> bool:
    """Is it a module of the user, or of the prelude, whose classes are as those of users."""
    return module.startswith("pullback.prims.prelude.") or module.partition(".")[0] not in _OWN


def attributes(value: object) -> list[tuple[str, object]]:
    """The data of an object: slots, then what else it has."""
    slots = _slots(type(value))  # type: ignore[arg-type]
    found = [(name, getattr(value, name)) for name in slots if hasattr(value, name)]
    own = set_names(value)
    if own is None or not _are_plain(type(value), own):  # type: ignore[arg-type]
        items = getattr(value, "__dict__", {}).items()
    else:
        items = [(name, getattr(value, name)) for name in own]
    return found + [(name, item) for name, item in items if name != HELPERS]


@lru_cache(maxsize=4096)
def _are_plain(kind: type, names: tuple[str, ...]) -> bool:
    """Does getattr give what objects of a class have: the class says nothing else of these names."""
    members = [next((vars(base)[name] for base in kind.__mro__ if name in vars(base)), None) for name in names]
    return not any(hasattr(type(member), "__set__") for member in members)


@lru_cache(maxsize=4096)
def _slots(kind: type) -> tuple[str, ...]:
    members = ((name, member) for base in reversed(kind.__mro__) for name, member in vars(base).items())
    return tuple(name for name, member in members if isinstance(member, MemberDescriptorType))

"""Attributes that CPython keeps in an array beside an object, until somebody asks for the object's `__dict__`.

    class P: __init__ sets x, y         names(P)      -> ("x", "y")         places in the array, the same for all of P
    p = P()                             set_names(p)  -> ["x", "y"]         what is set, in the order in which it was

Asking for `__dict__` turns the array into a dictionary for good, which costs memory and time at every later access.  So
the array is read as it is, where its layout is known; `FORM` is None where it is not, and the dictionary is used.
"""

from __future__ import annotations

import ctypes
import sys
from functools import lru_cache
from typing import Any

from pullback.runtime.layout import HEADER

__all__ = ["FORM", "VALUES", "names", "place", "set_names"]

# Where an object says what its array is.
#   "pointer"  32 bytes before it: the array, or null     "tagged"  24 bytes before it: the array - 1; else an even word
#   "inside"   the array follows the object, after 8 bytes: capacity, number set, embedded, valid
_FORMS = {(3, 11): "pointer", (3, 12): "tagged", (3, 13): "inside"}

VALUES = {"pointer": -32, "tagged": -24, "inside": 8}
"""What `FORM` means in bytes: see `codegen.attributes`."""

_FLAG = {"pointer": 1 << 4, "tagged": 1 << 4, "inside": 1 << 2}  # of a class whose objects have such arrays
_INDICES = 32  # where the table of places begins in the record of the names of a class


def _word(at: int) -> int:
    return ctypes.c_size_t.from_address(at).value


def _qualname_offset() -> int:
    """Where a class keeps its qualified name; the record of its names of attributes follows."""

    class Outer:
        class Inner:
            pass

    name = id(Outer.Inner.__qualname__)
    places = range(0, int(vars(type)["__basicsize__"].__get__(type)) - 8, 8)
    return next((at for at in places if _word(id(Outer.Inner) + at) == name), 0)


_KEYS = _qualname_offset() + 8


def _names(kind: type) -> tuple[str, ...]:
    keys = _word(id(kind) + _KEYS)
    if not keys:
        return ()
    indices = ctypes.c_ubyte.from_address(keys + 9).value  # the logarithm of their size
    first, count = keys + _INDICES + (1 << indices), _word(keys + 24)
    return tuple(ctypes.cast(_word(first + 16 * i), ctypes.py_object).value for i in range(count))


def _order(value: Any, form: str) -> bytes | None:
    """The places that are set, in the order of insertion; None where there is a dictionary."""
    at = id(value)
    if form == "inside":
        start = at + type(value).__basicsize__
        capacity, count, _, valid = ctypes.string_at(start, 4)
        return ctypes.string_at(start + 8 + 8 * capacity, count) if valid else None
    array = int.from_bytes(ctypes.string_at(at + VALUES[form], 8), "little") + (form == "tagged")
    if not array or array % 8:
        return None
    before = ctypes.string_at(array - 8, 8)  # ends in the number set and one byte more; in front of it the places
    count = before[6]
    return before[6 - count : 6][::-1] if count < 7 else ctypes.string_at(array - 2 - count, count)[::-1]


def _has_array(kind: type, form: str) -> bool:
    return bool(kind.__flags__ & _FLAG[form])


def _found_form() -> str | None:
    """The form of this interpreter, where it is what it is said to be."""
    form = _FORMS.get(sys.version_info[:2])
    if form is None or sys.implementation.name != "cpython" or HEADER != 16 or _KEYS == 8:
        return None

    class Probe:
        def __init__(self, first: str, *rest: str) -> None:
            for name in (first, *rest):
                setattr(self, name, name * 2)

    one, other, third = Probe("a", "b", "c"), Probe("c", "a"), Probe("b")
    found = [_order(value, form) for value in (one, other, third)]
    known = _has_array(Probe, form) and _names(Probe) == ("a", "b", "c") and found == [b"\0\1\2", b"\2\0", b"\1"]
    vars(third)["d"] = vars(third).pop("b")
    detached = _order(third, form) is None or form == "inside"
    return form if known and detached else None


FORM: str | None = _found_form()
"""Where objects have their arrays, as a key of `VALUES`; None: unknown."""


def names(kind: type) -> tuple[str, ...]:
    """The names of attributes by their places in the arrays of a class; later ones may be added, none ever moves."""
    return _names(kind) if FORM is not None and _has_array(kind, FORM) else ()


def place(kind: type, name: str) -> int | None:
    """The place of an attribute in the arrays of a class, unless the class itself says what the attribute is."""
    member = next((vars(base)[name] for base in kind.__mro__ if name in vars(base)), None)
    if hasattr(type(member), "__get__") or hasattr(type(member), "__set__"):
        return None
    known = names(kind)
    return known.index(name) if name in known else None


def set_names(value: object) -> tuple[str, ...] | None:
    """The names of the attributes that an object has in its array; None where it has a dictionary."""
    if FORM is None:
        return None
    kind = type(value)
    order = _order(value, FORM) if kind.__flags__ & _FLAG[FORM] else None
    return None if order is None else _ordered(kind, order)  # type: ignore[arg-type]  # classes are hashable


@lru_cache(maxsize=4096)
def _ordered(kind: type, order: bytes) -> tuple[str, ...]:
    """The names at some places."""
    known = _names(kind)
    return tuple(known[i] for i in order)

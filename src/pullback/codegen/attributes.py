"""Reading and writing an attribute that is plain data of an object: a slot at its offset, else through CPython.

    class P: __slots__ = ("x",)        load ptr, object + 16                  store ptr, object + 16
    class P: ...                       PyObject_GetAttr(object, "x")          PyObject_GenericSetAttr(object, "x", ...)

Where a slot lies is found by trying it on an object of the class.
"""

from __future__ import annotations

import ctypes
import sys
from types import MemberDescriptorType

from pullback.codegen.native import Text
from pullback.runtime.layout import HEADER

__all__ = ["delete", "interned", "known_offset", "load", "load_own", "slot_offset", "store"]


def interned(name: str) -> str:
    """The one object for equal names."""
    return sys.intern(name)


def load(text: Text, kind: type, name: str, value: str, miss: str) -> str:
    """The attribute, borrowed from the object; `miss` where it is not set."""
    place = slot_offset(kind, name)
    if place is None:
        return _slowly(text, name, value, miss)
    found = text.load("ptr", value, place)
    text.require(text.set(f"icmp ne ptr {found}, null"), miss)
    return found


def load_own(text: Text, kind: type, name: str, value: str) -> str:
    """The attribute that the object itself has, borrowed from it; null where it is not set."""
    place = slot_offset(kind, name)
    if place is not None:
        return text.load("ptr", value, place)
    table = text.call("ptr", "PyObject_GenericGetDict", f"ptr {value}", "ptr null")
    found = text.call("ptr", "PyDict_GetItem", f"ptr {table}", f"ptr {text.symbol(interned(name))}")
    text.call("void", "Py_DecRef", f"ptr {table}")
    return found


def store(text: Text, kind: type, name: str, value: str, content: str, miss: str) -> None:
    """Set the attribute, which takes over the reference to its content."""
    place = slot_offset(kind, name)
    if place is None:
        operands = (f"ptr {value}", f"ptr {text.symbol(interned(name))}", f"ptr {content}")
        status = text.call("i32", "PyObject_GenericSetAttr", *operands)
        text.call("void", "Py_DecRef", f"ptr {content}")
        text.require(text.set(f"icmp eq i32 {status}, 0"), miss)
        return
    old = text.load("ptr", value, place)
    text.store("ptr", content, value, place)
    drop, after = text.label(), text.label()
    text.branch(text.set(f"icmp eq ptr {old}, null"), after, drop)
    text.begin(drop)
    text.call("void", "Py_DecRef", f"ptr {old}")
    text.jump(after)
    text.begin(after)


def delete(text: Text, name: str, value: str) -> None:
    """Let the attribute not be set."""
    operands = (f"ptr {value}", f"ptr {text.symbol(interned(name))}", "ptr null")
    text.call("i32", "PyObject_GenericSetAttr", *operands)
    text.call("void", "PyErr_Clear")  # it was not set before


def _slowly(text: Text, name: str, value: str, miss: str) -> str:
    """Through CPython.  The object (or its class) holds the attribute too, so the reference goes back at once."""
    found = text.call("ptr", "PyObject_GetAttr", f"ptr {value}", f"ptr {text.symbol(interned(name))}")
    there, missing = text.label(), text.label()
    text.branch(text.set(f"icmp ne ptr {found}, null"), there, missing)
    text.begin(missing)
    text.call("void", "PyErr_Clear")
    text.jump(miss)
    text.begin(there)
    text.call("void", "Py_DecRef", f"ptr {found}")
    return found


class _Mark:
    """A value that is found again by its address."""


def slot_offset(kind: type, name: str) -> int | None:
    """The offset of a slot of the class; None where the field is no slot."""
    member = next((vars(base)[name] for base in kind.__mro__ if name in vars(base)), None)
    if not isinstance(member, MemberDescriptorType):
        return None
    made: object = object.__new__(kind)
    mark = _Mark()
    member.__set__(made, mark)
    places = range(HEADER, kind.__basicsize__, 8)
    return next((at for at in places if ctypes.c_size_t.from_address(id(made) + at).value == id(mark)), None)


def known_offset(kind: type, name: str) -> int:
    """The offset of what is known to be a slot: one of our own classes."""
    place = slot_offset(kind, name)
    assert place is not None
    return place

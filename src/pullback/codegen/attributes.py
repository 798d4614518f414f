"""Reading and writing an attribute that is plain data of an object: at its place, else through CPython.

    class P: __slots__ = ("x",)        load ptr, object + 16                  store ptr, object + 16
    class P: ...                       the array beside the object, where it has one (`runtime.inline_values`);
                                       else PyObject_GetAttr(object, "x")     PyObject_GenericSetAttr(object, "x", ...)

Where a slot lies is found by trying it on an object of the class.
"""

from __future__ import annotations

import ctypes
import sys
from types import MemberDescriptorType

from pullback.codegen.native import Text
from pullback.runtime import inline_values
from pullback.runtime.layout import HEADER

__all__ = ["address", "delete", "interned", "known_offset", "load", "load_own", "place", "slot_offset", "store"]


def interned(name: str) -> str:
    """The one object for equal names."""
    return sys.intern(name)


def place(kind: type, name: str) -> tuple[str, int] | None:
    """Where objects of a class have an attribute: a slot or a place in the array; None: nowhere in particular."""
    offset = slot_offset(kind, name)
    if offset is not None:
        return "slot", offset
    found = inline_values.place(kind, name)
    return None if found is None else ("array", found)


def address(text: Text, kind: type, name: str, value: str) -> str:
    """Where an object has the attribute; null if it is in a dictionary."""
    match place(kind, name):
        case ("slot", offset):
            return text.at(value, offset)
        case ("array", number):
            return _in_array(text, kind, 8 * number, value)
    return "null"


def _in_array(text: Text, kind: type, offset: int, value: str) -> str:
    """A place in the array beside an object; null if it has a dictionary."""
    form = inline_values.FORM
    assert form is not None
    at = inline_values.VALUES[form]
    if form == "inside":
        valid = text.load("i8", value, kind.__basicsize__ + 3)
        there, found = text.set(f"icmp eq i8 {valid}, 1"), text.at(value, kind.__basicsize__ + at + offset)
    elif form == "tagged":
        word = text.load("i64", value, at)
        there = text.set(f"trunc i64 {word} to i1")
        found = text.at(text.set(f"inttoptr i64 {word} to ptr"), offset + 1)
    else:
        array = text.load("ptr", value, at)
        there, found = text.set(f"icmp ne ptr {array}, null"), text.at(array, offset)
    return text.set(f"select i1 {there}, ptr {found}, ptr null")


def load(text: Text, kind: type, name: str, value: str, miss: str) -> str:
    """The attribute, borrowed from the object; `miss` where it is not set."""
    where = place(kind, name)
    if where is None:
        return _slowly(text, name, value, miss)
    if where[0] == "slot":
        found = text.load("ptr", value, where[1])
        text.require(text.set(f"icmp ne ptr {found}, null"), miss)
        return found
    result = text.slot("ptr")
    near, set_, far, after = (text.label() for _ in range(4))
    at = address(text, kind, name, value)
    text.branch(text.set(f"icmp ne ptr {at}, null"), near, far)
    text.begin(near)
    found = text.load("ptr", at)
    text.branch(text.set(f"icmp ne ptr {found}, null"), set_, far)  # if it is not set, the class may have it
    text.begin(set_)
    text.store("ptr", found, result)
    text.jump(after)
    text.begin(far)
    text.store("ptr", _slowly(text, name, value, miss), result)
    text.jump(after)
    text.begin(after)
    return text.load("ptr", result)


def load_own(text: Text, kind: type, name: str, value: str) -> str:
    """The attribute that the object itself has, borrowed from it; null where it is not set."""
    where = place(kind, name)
    if where is not None and where[0] == "slot":
        return text.load("ptr", value, where[1])
    result = text.slot("ptr")
    near, far, after = (text.label() for _ in range(3))
    at = address(text, kind, name, value)
    text.branch(text.set(f"icmp ne ptr {at}, null"), near, far)
    text.begin(near)
    text.store("ptr", text.load("ptr", at), result)
    text.jump(after)
    text.begin(far)
    table = text.call("ptr", "PyObject_GenericGetDict", f"ptr {value}", "ptr null")
    found = text.call("ptr", "PyDict_GetItem", f"ptr {table}", f"ptr {text.symbol(interned(name))}")
    text.call("void", "Py_DecRef", f"ptr {table}")
    text.store("ptr", found, result)
    text.jump(after)
    text.begin(after)
    return text.load("ptr", result)


def store(text: Text, kind: type, name: str, value: str, content: str, miss: str) -> None:
    """Set the attribute, which takes over the reference to its content."""
    where = place(kind, name)
    if where is None:
        _store_slowly(text, name, value, content, miss)
        return
    drop, after = text.label(), text.label()
    if where[0] == "slot":
        at = text.at(value, where[1])
        old = text.load("ptr", at)
        text.store("ptr", content, at)
        text.branch(text.set(f"icmp eq ptr {old}, null"), after, drop)
    else:  # CPython notes the order in which names are set first
        near, put, far = (text.label() for _ in range(3))
        at = address(text, kind, name, value)
        text.branch(text.set(f"icmp ne ptr {at}, null"), near, far)
        text.begin(near)
        old = text.load("ptr", at)
        text.branch(text.set(f"icmp ne ptr {old}, null"), put, far)
        text.begin(far)
        _store_slowly(text, name, value, content, miss)
        text.jump(after)
        text.begin(put)
        text.store("ptr", content, at)
        text.jump(drop)
    text.begin(drop)
    text.call("void", "Py_DecRef", f"ptr {old}")
    text.jump(after)
    text.begin(after)


def _store_slowly(text: Text, name: str, value: str, content: str, miss: str) -> None:
    operands = (f"ptr {value}", f"ptr {text.symbol(interned(name))}", f"ptr {content}")
    status = text.call("i32", "PyObject_GenericSetAttr", *operands)
    text.call("void", "Py_DecRef", f"ptr {content}")
    text.require(text.set(f"icmp eq i32 {status}, 0"), miss)


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

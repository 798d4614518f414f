"""Classes of the user: what their dictionaries hold, found along the MRO while compiling and guarded.

    class B(A): scale = 2.0           member(cx, B, "step")  ->  A, the function; guarded: B has none, A has this one
    b.step(x)                         a direct call of A.step with b's type
    b.scale                           a number: read when the compiled function is called

A later change of a class that was looked at means another compilation, as with globals.
"""

from __future__ import annotations

import functools
import types as python_types
from collections.abc import Sequence
from typing import Any

from pullback.infer.binding import pack_tuple
from pullback.infer.bound import apply_to
from pullback.infer.calls import call
from pullback.infer.dispatch import dispatch
from pullback.infer.engine import Code, Frame
from pullback.infer.heaps import heap_of_type
from pullback.infer.literals import literal
from pullback.infer.names import constant_type, object_value
from pullback.infer.narrowing import without
from pullback.infer.parts import class_behind, is_local, part_value
from pullback.infer.templates import Part, part_behind
from pullback.infer.values import AV
from pullback.runtime.boundary import ABSENT, Guard
from pullback.runtime.callobject import transform_of
from pullback.runtime.state import is_value
from pullback.types import UNBOUND, Builtin, Class, Closure, Member, Ref, Tuple, Type, Unbound, Union

__all__ = [
    "bound_member", "class_value", "function_of", "instance_class", "is_generated", "is_named_tuple", "member", "plain",
]  # fmt: skip

# Methods of `object` itself that compiled code knows.
OBJECT_METHODS = ("__init__", "__setattr__", "__getattribute__", "__eq__", "__ne__", "__init_subclass__")
_AS_OBJECT = ("__setattr__", "__delattr__", "__getattribute__")  # which builtin exceptions only repeat


def instance_class(type_: Type) -> type | None:
    """The user's class of the value, if it is an instance of one."""
    match type_:
        case Ref():
            heap = heap_of_type(type_)
            return heap.python if heap is not None else None
        case Tuple(_, python):
            return python
        case Member(python):
            return type(python)
    return None


def is_named_tuple(cls: type) -> bool:
    """Is it made by NamedTuple or namedtuple, or below such a class?"""
    return issubclass(cls, tuple) and hasattr(cls, "_fields")


def is_generated(function: object) -> bool:
    """Was the function made from text by dataclasses or namedtuple?"""
    return isinstance(function, python_types.FunctionType) and function.__code__.co_filename.startswith("<string")


def member(cx: Frame, cls: type, name: str, after: type | None = None) -> tuple[type, Any] | None:
    """The class along the MRO (`after` one of them) whose dictionary has the name, and what it holds."""
    order = cls.__mro__
    for owner in order[order.index(after) + 1 if after is not None else 0 :]:
        if owner is object and name not in OBJECT_METHODS:
            return None
        if name in _AS_OBJECT and owner is not object and not owner.__flags__ & _HEAP_TYPE:
            continue
        value = cx.session.held.read("class", owner, name)
        # Builtin classes and those that functions make never change; values are read at each call.
        if owner.__flags__ & _HEAP_TYPE and not is_value(value) and not is_local(owner):
            cx.session.guards.setdefault((id(owner), name), Guard("class", owner, name, value))
        if value is not ABSENT:
            return owner, value
    return None


_HEAP_TYPE = 1 << 9


def function_of(cx: Frame, function: Any, label: str, subject: AV | None = None) -> AV:
    """A function that a class holds, its place guarded already, as a value.  subject: an object of the class, or the
    class."""
    part = part_behind(function)
    if part is not None:
        return part_value(cx, part, subject)
    found = constant_type(cx, function, label)
    if found is None:
        raise cx.error(f"{label} is an object of class {type(function).__name__}", "this cannot be called here")
    return AV(found)


def bound_member(cx: Frame, subject: AV, cls: type, found: tuple[type, Any], name: str) -> AV:
    """What `subject.name` is for a member of its class `cls`: a bound method, what a property returns, a value."""
    owner, value = found
    label = f"{owner.__name__}.{name}"
    if owner is object:
        return apply_to(AV(Builtin(f"object.{name}")), [subject])
    is_native = isinstance(value, python_types.WrapperDescriptorType)
    if name == "__init__" and is_native and issubclass(owner, BaseException):
        return apply_to(AV(Builtin("exception.__init__")), [subject])
    match value:
        case python_types.FunctionType() | functools._lru_cache_wrapper():
            return apply_to(function_of(cx, value, label, subject), [subject])
        case property():
            if value.fget is None:
                title = f"property '{name}' of '{cls.__name__}' object has no getter"
                raise cx.error(title, "it can only be written", raised=("AttributeError", title))
            return call(cx, function_of(cx, value.fget, label, subject), [subject], {})
        case classmethod():
            return apply_to(function_of(cx, value.__func__, label, subject), [class_behind(cx, subject, cls)])
        case functools.partialmethod():
            partial = [function_of(cx, value.func, label), *(plain(cx, item, label) for item in value.args)]
            named = {key: plain(cx, item, label) for key, item in value.keywords.items()}
            return apply_to(partial[0], [subject, *partial[1:]], named)
    if transform_of(value) is not None:
        return apply_to(function_of(cx, value, label), [subject])
    return class_value(cx, owner, value, name, subject)


def class_value(cx: Frame, owner: type, value: Any, name: str, subject: AV) -> AV:
    """What a class holds, as the class itself gives it.  subject: the class, or an object of it."""
    label = f"{owner.__name__}.{name}"
    if isinstance(value, staticmethod):
        return function_of(cx, value.__func__, label, subject)
    if isinstance(value, Part):
        found = _set_part_value(cx, value, subject, name)
        return found if cx.dead or isinstance(subject.type, Class) else _bound(cx, found, subject)
    if is_local(owner) and type(value) in (int, float, tuple):
        return plain(cx, value, label)
    if transform_of(value) is not None or isinstance(value, functools._lru_cache_wrapper):
        return function_of(cx, value, label)
    if hasattr(type(value), "__get__") and not isinstance(value, python_types.FunctionType | type):
        raise cx.error(f"{label} is a descriptor of class {type(value).__name__}",
                       "only properties, methods and plain values are known", "write a property")  # fmt: skip
    return object_value(cx, value, "class", owner, name, label)


def _bound(cx: Frame, found: AV, subject: AV) -> AV:
    """What an object gives of a part that may be one of several functions."""

    def rule(cx: Frame, operands: Sequence[AV]) -> AV:
        is_function = isinstance(operands[0].type, Closure) and isinstance(operands[0].type.code, Code)
        return apply_to(operands[0], [subject]) if is_function else operands[0]

    return dispatch(cx, [found], rule)


def _set_part_value(cx: Frame, part: Part, subject: AV, name: str) -> AV:
    """What a part is, which may not be set."""
    found = part_value(cx, part, subject)
    cls = part.local.template
    assert cls is not None
    title = f"type object '{cls.__name__}' has no attribute '{name}'"
    if isinstance(found.type, Unbound):
        cx.check(cx.e.boolean(False), "AttributeError", title)
        return cx.stop()
    if not isinstance(found.type, Union) or UNBOUND not in found.type.members:
        return found
    unset = cx.e.integer(found.type.members.index(UNBOUND))
    cx.check(cx.e("ne", found.values[0], unset), "AttributeError", title)
    return without(cx, found, lambda member: isinstance(member, Unbound))


def plain(cx: Frame, value: Any, label: str) -> AV:
    """An object that is known while compiling and stays what it is: the value of an enum member, an argument of a
    partial."""
    if value is None or type(value) in (bool, int, float, str):
        return literal(cx, value)
    if type(value) is tuple:
        return pack_tuple([plain(cx, item, label) for item in value])
    return object_value(cx, value, "constant", value, None, label)

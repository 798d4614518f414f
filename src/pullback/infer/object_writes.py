"""Writing attributes of objects.

    p.x = v        a property's setter, or the field; __setattr__, where the class has one
    del p.x        the field is unset from then on
"""

from __future__ import annotations

import types as python_types
from collections.abc import Callable, Sequence

from pullback.diagnostic import CompileError
from pullback.infer.binding import pack_tuple
from pullback.infer.calls import call
from pullback.infer.classes import bound_member, function_of, instance_class, member
from pullback.infer.dispatch import dispatch
from pullback.infer.engine import Frame
from pullback.infer.heaps import heap_of_type, is_object, write
from pullback.infer.objects import missing, own_field, set_field
from pullback.infer.parts import set_part
from pullback.infer.values import AV
from pullback.prims.exceptions import name_of
from pullback.types import NONE, UNBOUND, Caught, Class, Closure, Failure, Module, Str, Type, show

__all__ = ["OBJECTS", "SETTERS", "assign", "delete_attribute", "set_attribute"]


def set_attribute(cx: Frame, subject: AV, name: str, value: AV) -> None:
    """subject.name = value."""

    def rule(cx: Frame, operands: Sequence[AV]) -> AV:
        _set_attribute(cx, operands[0], name, value)
        return pack_tuple([])

    dispatch(cx, [subject], rule)


# The objects behind values of other types, by type: of caught exceptions.
OBJECTS: dict[type[Type], Callable[[Frame, AV], AV | None]] = {}


# How attributes of values of other types are set.
SETTERS: dict[type[Type], Callable[[Frame, AV, str, AV], None]] = {}


def _set_attribute(cx: Frame, subject: AV, name: str, value: AV) -> None:
    inner = OBJECTS[type(subject.type)](cx, subject) if type(subject.type) in OBJECTS else None
    if inner is not None:
        set_attribute(cx, inner, name, value)
        return
    if isinstance(subject.type, Class) and set_part(cx, subject, name, value):
        return
    cls = instance_class(subject.type)
    if cls is None:
        if type(subject.type) not in SETTERS:
            raise _not_writable(cx, subject.type, name)
        SETTERS[type(subject.type)](cx, subject, name, value)
        return
    hook = member(cx, cls, "__setattr__")
    if hook is not None and _is_frozen(cls):
        title = f"cannot assign to field '{name}'"
        raise cx.error(title, f"{cls.__name__} is frozen", "make a new object: dataclasses.replace",
                       raised=("AttributeError", title))  # fmt: skip
    if hook is not None and hook[0] is not object:
        call(cx, bound_member(cx, subject, cls, hook, "__setattr__"), [AV(Str(name), (), name), value], {})
        return
    assign(cx, subject, name, value)


def _is_frozen(cls: type) -> bool:
    parameters = getattr(cls, "__dataclass_params__", None)
    return parameters is not None and bool(parameters.frozen)


def assign(cx: Frame, subject: AV, name: str, value: AV) -> None:
    """object.__setattr__(subject, name, value)"""
    cls = instance_class(subject.type)
    assert cls is not None
    found = member(cx, cls, name)
    if found is not None and isinstance(found[1], property):
        _set_property(cx, subject, cls, found[1], name, value)
        return
    heap = heap_of_type(subject.type)
    if heap is None or not _has_room(cls, name):
        own = is_object(subject.type)
        title = missing(cls, name) if own else f"'{cls.__name__}' object attribute '{name}' is read-only"
        help = "name it in __slots__" if own else "make a new object"
        raise cx.error(title, "this attribute cannot be set", help, raised=("AttributeError", title))
    if issubclass(cls, BaseException) and cx.code.name != "__init__":
        cx.session.changed_exceptions.add(name_of(cls))
    set_field(cx, heap, subject.value, name, value)


def _has_room(cls: type, name: str) -> bool:
    """May instances have a field of the name: is there a dictionary or such a slot."""
    return bool(cls.__dictoffset__) or isinstance(getattr(cls, name, None), python_types.MemberDescriptorType)


def _set_property(cx: Frame, subject: AV, cls: type, found: property, name: str, value: AV) -> None:
    if found.fset is None:
        title = f"property '{name}' of '{cls.__name__}' object has no setter"
        help = f"write a setter: @{name}.setter"
        raise cx.error(title, "it can only be read", help, raised=("AttributeError", title))
    call(cx, function_of(cx, found.fset, f"{cls.__name__}.{name}", subject), [subject, value], {})


def _not_writable(cx: Frame, type_: Type, name: str) -> CompileError:
    if isinstance(type_, Class | Module | Closure):
        return cx.error(f"attributes of {show(type_)} cannot be changed in compiled code", "others would see it",
                        "keep it in an object and pass that")  # fmt: skip
    if isinstance(type_, Failure | Caught):
        return cx.error("attributes of exceptions cannot be set in compiled code", "it keeps what it was made with",
                        "give its class an __init__ that sets them")  # fmt: skip
    title = f"{show(type_)} has no attribute '{name}' that can be set"
    kind = "NoneType" if type_ == NONE else show(type_)
    raised = ("AttributeError", f"'{kind}' object has no attribute '{name}'")
    return cx.error(title, "attributes of objects can be set", raised=raised)


def delete_attribute(cx: Frame, subject: AV, name: str) -> None:
    """del subject.name"""

    def rule(cx: Frame, operands: Sequence[AV]) -> AV:
        _delete_attribute(cx, operands[0], name)
        return pack_tuple([])

    dispatch(cx, [subject], rule)


def _delete_attribute(cx: Frame, subject: AV, name: str) -> None:
    cls = instance_class(subject.type)
    heap = heap_of_type(subject.type)
    if cls is None or heap is None:
        raise _not_writable(cx, subject.type, name)
    if _is_frozen(cls):
        title = f"cannot delete field '{name}'"
        raise cx.error(title, f"{cls.__name__} is frozen", raised=("AttributeError", title))
    found = member(cx, cls, name)
    if found is not None and isinstance(found[1], property) and found[1].fdel is not None:
        call(cx, function_of(cx, found[1].fdel, name, subject), [subject], {})
        return
    own_field(cx, subject, cls, None, name)
    if not cx.dead:
        write(cx, heap, subject.value, name, AV(UNBOUND))

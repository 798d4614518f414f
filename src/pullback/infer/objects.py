"""Attributes of objects: fields in the rows of heaps, and what classes hold, in Python's order.

    p.x            a property, then the field, then what the class holds, then __getattr__
    super().f      what the classes after the one where the method stands hold

A field that some path may have left unset has `Unbound` among its types, and reading it is checked.
"""

from __future__ import annotations

import functools
import types as python_types
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pullback.diagnostic import CompileError
from pullback.infer.advice import nearest
from pullback.infer.bound import Application, MethodOf, Super, parts
from pullback.infer.calls import CALLS, call
from pullback.infer.classes import bound_member, class_value, function_of, instance_class, is_named_tuple, member, plain
from pullback.infer.dispatch import dispatch
from pullback.infer.engine import Code, Frame
from pullback.infer.heaps import Heap, heap_of_type, read, write
from pullback.infer.lattice import WEAK_BOOL
from pullback.infer.names import object_value
from pullback.infer.narrowing import without
from pullback.infer.parts import class_behind
from pullback.infer.registry import HANDLERS
from pullback.infer.samples import python_error
from pullback.infer.values import AV, items_of
from pullback.prims.prelude.random_generator import Generator
from pullback.runtime.boundary import Refusal
from pullback.types import (
    NEVER,
    UNBOUND,
    Builtin,
    Class,
    Closure,
    Constant,
    Member,
    Ref,
    Str,
    Tuple,
    Type,
    Unbound,
    Union,
    show,
)  # fmt: skip

__all__ = [
    "has_field", "heap_of_object", "method_of_union", "missing", "no_attribute", "object_attribute", "own_field",
    "set_field",
]  # fmt: skip

_Found = tuple[type, Any]


def heap_of_object(type_: Type) -> Heap:
    """The heap that an object lies in."""
    heap = heap_of_type(type_)
    assert heap is not None
    return heap


# ----------------------------------------------------------------------------------------------------- reading


def object_attribute(cx: Frame, subject: AV, name: str) -> AV | None:
    """subject.name for objects, classes, functions and super(); None for values of other kinds."""
    match subject.type:
        case Class(python):
            return _class_attribute(cx, subject, python, name)
        case Closure(Super(owner)):
            return _super_attribute(cx, items_of(subject)[0], owner, name)
        case Closure() | Builtin():
            return _function_attribute(cx, subject, name)
        case Member(python) if name in ("name", "_name_", "value", "_value_"):
            return plain(cx, getattr(python, name), f"{type(python).__name__}.{name}")
    cls = instance_class(subject.type)
    if cls is None:
        return None
    return class_behind(cx, subject, cls) if name == "__class__" else _instance_attribute(cx, subject, cls, name)


MOST_BOUND = 2
"""Classes whose methods are bound one by one; those of more are looked up by the class when they are called."""


def method_of_union(cx: Frame, subject: AV, name: str) -> AV | None:
    """subject.name, where that is a method whatever object of several classes it is."""
    assert isinstance(subject.type, Union)
    if len(subject.type.members) <= MOST_BOUND:
        return None
    for type_ in subject.type.members:
        cls = instance_class(type_)
        heap = heap_of_type(type_)
        found = member(cx, cls, name) if cls is not None and heap is not None else None
        if found is None or heap is None or not isinstance(found[1], python_types.FunctionType):
            return None
        if heap.known(name) != NEVER:
            return None
        heap.representative.missed.add(name)
    return AV(Closure(MethodOf(name), (subject.type,), name), subject.values)


def _call_method(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    """The call of what method_of_union gave."""
    name, subject, *given = arguments
    assert isinstance(name.type, Str)
    wanted = name.type.value

    def rule(cx: Frame, operands: Sequence[AV]) -> AV:
        method = object_attribute(cx, operands[0], wanted)
        assert method is not None
        return call(cx, method, given, keywords)

    return dispatch(cx, [subject], rule)


def _function_attribute(cx: Frame, subject: AV, name: str) -> AV | None:
    match subject.type:
        case Closure(Application()) if name in ("__self__", "__func__", "func"):
            function, given, _ = parts(subject)
            return given[0] if name == "__self__" and given else function
        case Closure(_, _, written) if name in ("__name__", "__qualname__"):
            return AV(Str(written), (), written)
        case Builtin(written) if name in ("__name__", "__qualname__"):
            short = written.rpartition(".")[2]
            return AV(Str(short), (), short)
        case Closure(Code(python=function)) if function is not None and name in vars(function):
            return object_value(cx, vars(function)[name], "global", vars(function), name, f"{function.__name__}.{name}")
        case Closure("class.property") if name in ("getter", "setter", "deleter"):
            return AV(Closure(f"property.{name}", (subject.type,), name), subject.values)
        case Builtin("builtins.object") if name in ("__setattr__", "__init__"):
            return AV(Builtin(f"object.{name}"))
    return None


def _instance_attribute(cx: Frame, subject: AV, cls: type, name: str) -> AV:
    found = member(cx, cls, name)
    value = found[1] if found else None
    if is_named_tuple(cls) and name in cls._fields:  # type: ignore[attr-defined]
        return _named_item(cx, subject, cls._fields.index(name))  # type: ignore[attr-defined]
    if is_named_tuple(cls) and name == "_fields":
        return plain(cx, cls._fields, name)  # type: ignore[attr-defined]
    if is_named_tuple(cls) and name in ("_replace", "_asdict"):
        return AV(Closure(f"namedtuple.{name}", (subject.type,), name), subject.values)
    if found is not None and found[0] is tuple and name in ("index", "count"):
        return AV(Closure(f"tuple.{name}", (subject.type,), name), subject.values)
    if isinstance(subject.type, Ref) and not is_named_tuple(cls):
        if isinstance(value, functools.cached_property):
            return _cached(cx, subject, value, name)
        if not isinstance(value, property):
            is_slot = isinstance(value, python_types.MemberDescriptorType)
            return own_field(cx, subject, cls, None if is_slot else found, name)
    return _without_field(cx, subject, cls, found, name)


def _named_item(cx: Frame, subject: AV, place: int) -> AV:
    """An item of a NamedTuple."""
    if isinstance(subject.type, Tuple):
        return items_of(subject)[place]
    return read(cx, heap_of_object(subject.type), subject.value, str(place))


def _require_taken(cx: Frame, heap: Heap, name: str) -> None:
    """Guard: a field holds something, in an object given by Python, that compiled code does not take."""
    refused = heap.representative.refused.get(name)
    if refused is not None:
        reason = refused.reason if isinstance(refused, Refusal) else str(refused).partition("\n")[0]
        help = refused.help if isinstance(refused, Refusal) else ""
        raise cx.error(f"the field '{name}' cannot be used in compiled code", f"it is {reason}", help)


def own_field(cx: Frame, subject: AV, cls: type, found: _Found | None, name: str) -> AV:
    """The field, or what the class holds where it is not set."""
    heap = heap_of_object(subject.type)
    _require_taken(cx, heap, name)
    if heap.known(name) == NEVER:
        heap.representative.missed.add(name)
        return _without_field(cx, subject, cls, found, name)
    value = read(cx, heap, subject.value, name)
    is_unset = unset(cx, value)
    if is_unset is None:
        return value
    if isinstance(value.type, Unbound):
        return _without_field(cx, subject, cls, found, name)
    if found is None and member(cx, cls, "__getattr__") is None:
        cx.check(cx.e("not_", is_unset.value), "AttributeError", missing(cls, name))
        return _set(cx, value)

    def other() -> list[AV]:
        return [_without_field(cx, subject, cls, found, name)]

    (result,) = cx.choose(is_unset.value, other, lambda: [_set(cx, value)])
    return result


def _set(cx: Frame, value: AV) -> AV:
    """The value of a field that is set."""
    return without(cx, value, lambda type_: isinstance(type_, Unbound))


def unset(cx: Frame, value: AV) -> AV | None:
    """Whether a field that was read is not set; None where it is sure to be set."""
    if isinstance(value.type, Unbound):
        return AV(WEAK_BOOL, (cx.e.boolean(True),))
    if not isinstance(value.type, Union) or UNBOUND not in value.type.members:
        return None
    index = value.type.members.index(UNBOUND)
    return AV(WEAK_BOOL, (cx.e("eq", value.values[0], cx.e.integer(index)),))


def missing(cls: type, name: str) -> str:
    """What Python says of an attribute that is not there."""
    return f"'{cls.__name__}' object has no attribute '{name}'"


def _without_field(cx: Frame, subject: AV, cls: type, found: _Found | None, name: str) -> AV:
    """What the class holds for an instance without such a field."""
    if found is not None:
        return bound_member(cx, subject, cls, found, name)
    fallback = member(cx, cls, "__getattr__")
    if fallback is not None:
        return call(cx, bound_member(cx, subject, cls, fallback, "__getattr__"), [AV(Str(name), (), name)], {})
    raise no_attribute(cx, cls, name)


def no_attribute(cx: Frame, cls: type, name: str) -> CompileError:
    """The error of an attribute that neither the object nor its class has."""
    if cls is Generator and hasattr(np.random.Generator, name):
        return cx.error(f"{name} of a random generator is not supported", "it is not known to pullback",
                        "draw the bytes as numbers: rng.integers(0, 256, n, dtype=np.uint8)" if name == "bytes" else
                        "use it outside the compiled function")  # fmt: skip
    fields = [field for heap in cx.session.heaps.values() if heap.python is cls for field in heap.fields]
    known = [*dir(cls), *fields]
    return cx.error(missing(cls, name), "this attribute does not exist", nearest(name, known),
                    raised=("AttributeError", missing(cls, name)))  # fmt: skip


def _cached(cx: Frame, subject: AV, value: functools.cached_property[Any], name: str) -> AV:
    """The field that a cached_property fills when it is first read."""
    heap = heap_of_object(subject.type)

    def compute() -> list[AV]:
        result = call(cx, function_of(cx, value.func, name, subject), [subject], {})
        if not cx.dead:
            set_field(cx, heap, subject.value, name, result)
        return [result]

    if heap.known(name) == NEVER:
        heap.learn(name, UNBOUND)
    present = read(cx, heap, subject.value, name)
    is_unset = unset(cx, present)
    if is_unset is None or isinstance(present.type, Unbound):
        return present if is_unset is None else compute()[0]
    (result,) = cx.choose(is_unset.value, compute, lambda: [_set(cx, present)])
    return result


def _class_attribute(cx: Frame, subject: AV, cls: type, name: str) -> AV:
    if name in ("__name__", "__qualname__"):
        text = getattr(cls, name)
        return AV(Str(text), (), text)
    if name in getattr(cls, "__members__", {}):
        return AV(Member(cls.__members__[name]))  # type: ignore[attr-defined]
    if is_named_tuple(cls) and name == "_fields":
        return plain(cx, cls._fields, name)  # type: ignore[attr-defined]
    if is_named_tuple(cls) and name == "_make":
        return AV(Closure("namedtuple._make", (Class(cls),), name))
    found = member(cx, cls, name)
    if found is None:
        title = f"type object '{cls.__name__}' has no attribute '{name}'"
        help = nearest(name, dir(cls))
        raise cx.error(title, "this attribute does not exist", help, raised=("AttributeError", title))
    owner, value = found
    if owner is object:
        return AV(Builtin(f"object.{name}"))
    if isinstance(value, classmethod):
        return bound_member(cx, subject, cls, found, name)
    if isinstance(value, python_types.FunctionType):
        return function_of(cx, value, f"{owner.__name__}.{name}", subject)
    return class_value(cx, owner, value, name, subject)


def _super_attribute(cx: Frame, subject: AV, owner: type, name: str) -> AV:
    cls = subject.type.python if isinstance(subject.type, Class) else instance_class(subject.type)
    assert isinstance(cls, type)
    found = member(cx, cls, name, after=owner)
    if found is None:
        title = f"'super' object has no attribute '{name}'"
        raise cx.error(title, f"no class after {owner.__name__} has it", raised=("AttributeError", title))
    return bound_member(cx, subject, cls, found, name)


def _super(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    """super(), or super(C, obj): attributes of the classes after the one where the method stands."""
    if len(arguments) == 2:
        owner, subject = arguments
        if isinstance(owner.type, Class):
            return AV(Closure(Super(owner.type.python), (subject.type,), "super"), subject.values)
    captures = cx.code.untyped.attrs.get("captures", ())
    assert isinstance(captures, tuple)
    params = cx.code.untyped.body.params
    if arguments or "__class__" not in captures or len(params) == len(captures):
        raise cx.error("super(): no arguments", "it stands in no method of a class", "write super(Class, self)",
                       raised=("RuntimeError", "super(): no arguments"))  # fmt: skip
    owner, subject = cx.env[params[captures.index("__class__")]], cx.env[params[len(captures)]]
    assert isinstance(owner.type, Class)
    return AV(Closure(Super(owner.type.python), (subject.type,), "super"), subject.values)


def set_field(cx: Frame, heap: Heap, row: Any, name: str, value: AV) -> None:
    """Store into a field; one that is not sure to be set by then is unset in new rows."""
    _require_taken(cx, heap, name)
    if heap.known(name) == NEVER and name not in (heap.representative.ready or ()):
        heap.learn(name, UNBOUND)
    write(cx, heap, row, name, value)


def has_field(cx: Frame, subject: AV, name: str) -> AV:
    """Whether an object's own field is set."""
    heap = heap_of_object(subject.type)
    if name in heap.representative.refused:
        return AV(Constant(True), (), True)
    if heap.known(name) == NEVER:
        heap.representative.missed.add(name)
        return AV(Constant(False), (), False)
    is_unset = unset(cx, read(cx, heap, subject.value, name))
    if is_unset is None:
        return AV(Constant(True), (), True)
    return AV(WEAK_BOOL, (cx.e("not_", is_unset.value),))


def _call_object(cx: Frame, function: AV, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    """obj(...), by __call__ of its class."""
    cls = instance_class(function.type)
    found = member(cx, cls, "__call__") if cls is not None else None
    if cls is None or found is None:
        raised = python_error(lambda value: value(), function.type)
        raised = raised or ("TypeError", f"'{show(function.type)}' object is not callable")
        raise cx.error(f"{show(function.type)} is not callable", "this value is called like a function", raised=raised)
    return call(cx, bound_member(cx, function, cls, found, "__call__"), arguments, keywords)


CALLS.update({Ref: _call_object, Member: _call_object, Tuple: _call_object})
HANDLERS.update({"builtins.super": _super, "object.method": _call_method})

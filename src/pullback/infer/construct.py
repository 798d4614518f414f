"""Making objects: what a call of a class of the user does.

    class A: def __init__(self, x)...      a new row of A's table, then the call A.__init__(row, x)
    @dataclass class P: x; y = 1.0         the same, with the __init__ that dataclass made written out here
    class T(NamedTuple): a; b              a tuple that knows its class
    Color(1)                               a lookup among the members
"""

from __future__ import annotations

import dataclasses
import types as python_types
from collections.abc import Hashable, Mapping, Sequence
from enum import EnumType
from typing import Any

from pullback.infer import enums
from pullback.infer.advice import nearest
from pullback.infer.binding import bind_to, pack_dict
from pullback.infer.bound import apply_to
from pullback.infer.calls import CALLS, call
from pullback.infer.classes import bound_member, function_of, instance_class, is_generated, is_named_tuple, member
from pullback.infer.dispatch import dispatch
from pullback.infer.engine import Code, Frame
from pullback.infer.exceptions import construct, is_by_value, set_arguments
from pullback.infer.heaps import Heap, allocate, heap_of, write
from pullback.infer.initialised import Initialised, initialised
from pullback.infer.names import default_value
from pullback.infer.nested_tuples import named_tuple_of, opened
from pullback.infer.object_writes import assign
from pullback.infer.objects import set_field
from pullback.infer.parts import class_behind, code_of_part, part_value
from pullback.infer.registry import HANDLERS
from pullback.infer.structures import attribute, unpack
from pullback.infer.templates import CLASS, is_dynamic, part_behind
from pullback.infer.truth import compare, truth
from pullback.infer.values import AV, items_of
from pullback.ir.node import Function
from pullback.prims.exceptions import name_of
from pullback.runtime.fixed import is_static
from pullback.types import (
    NONE,
    UNBOUND,
    Array,
    Class,
    Closure,
    Constant,
    NoneType,
    Number,
    Str,
    Tuple,
    Type,
    Union,
    show,
)  # fmt: skip

__all__ = ["call_class", "fields_of", "generated_parameters"]


def call_class(cx: Frame, function: AV, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    """cls(*arguments, **keywords)"""
    assert isinstance(function.type, Class)
    cls = function.type.python
    if isinstance(cls, EnumType):
        (value,) = [*arguments, *keywords.values()] if len(arguments) + len(keywords) == 1 else [AV(NONE)]
        return enums.lookup(cx, cls, value, lambda x, y: truth(cx, compare(cx, "==", x, y)))
    if is_named_tuple(cls):
        return _named_tuple(cx, function, cls, arguments, keywords)
    is_exception = issubclass(cls, BaseException)
    if is_exception and is_by_value(cls):
        return construct(cx, name_of(cls), arguments, keywords)
    _require_plain(cx, cls)
    given = [*arguments, *keywords.values()]
    heap = heap_of(cx, "object", cls if is_exception else (cls, _made_with(cx, given), *_numbers(cx, cls, given)))
    if heap.ready is None:
        heap.ready = _ready(cx, cls).fields | ({"args"} if is_exception else set())
    row = allocate(cx, heap)
    if is_dynamic(cls):
        heap.ready |= {CLASS}
        write(cx, heap, row, CLASS, function)
    for name, type_ in heap.fields.items():  # of a new row everything is zero, so the first of a union
        if name not in heap.ready and not (isinstance(type_, Union) and type_.members[0] == UNBOUND):
            write(cx, heap, row, name, AV(UNBOUND))
    subject = AV(heap.type, (row,))
    if is_exception:
        set_arguments(cx, [subject, *arguments], {})  # as __new__ does, whatever __init__ does
    _initialise(cx, heap, cls, subject, arguments, keywords)
    return AV(NONE) if cx.dead else subject


_NATIVE = python_types.BuiltinMethodType


def _made_with(cx: Frame, arguments: Sequence[AV]) -> Hashable:
    """What tells heaps of one class apart: roughly what objects are made with, or where, if with nothing.

    Objects of both that meet, in a variable or a field, make the two one.
    """
    if not arguments:
        return cx.code, cx.op, cx.skeleton, cx.seen_at
    return tuple(_kind_of_content(av.type) for av in arguments)


def _numbers(cx: Frame, cls: type, arguments: Sequence[AV]) -> tuple[Hashable, ...]:
    """The numbers that objects are made with, where numbers in their fields must be known."""
    if cls not in cx.session.asked.fields:
        return ()
    return tuple(cx.number_of(av) if is_static(av.type) else None for av in arguments)


def _kind_of_content(type_: Type) -> Hashable:
    """Numbers count as equal, and so do None and all references, which make the recursive types."""
    match type_:
        case Number() | Constant():
            return "number"
        case Array(dtype, rank):
            return dtype, rank
        case Tuple(items, python):
            return python, tuple(map(_kind_of_content, items))
        case Closure(code):
            return code
        case Union(members):
            return "union", frozenset(map(_kind_of_content, members)) - {"reference"}
    return "reference"


def _require_plain(cx: Frame, cls: type) -> None:
    if type(cls) is not type and type(cls).__call__ is not type.__call__:
        raise cx.error(f"the class {cls.__name__} has a metaclass that makes its objects",
                       f"this is {type(cls).__name__}", "write a function that makes the object")  # fmt: skip
    abstract = sorted(getattr(cls, "__abstractmethods__", ()))
    if abstract:
        plural = "s" if len(abstract) > 1 else ""
        names = ", ".join(f"'{name}'" for name in abstract)
        raise cx.type_error(f"Can't instantiate abstract class {cls.__name__} without an implementation for abstract "
                            f"method{plural} {names}", "make an object of a class below it")  # fmt: skip
    base = next((base for base in cls.__mro__ if base is not object and not base.__flags__ & (1 << 9)), None)
    found = member(cx, cls, "__new__")
    if issubclass(cls, BaseException) and not issubclass(cls, OSError) and isinstance(cls.__new__, _NATIVE):
        return
    if base is not None or (found is not None and found[0] is not object):
        what = f"it is a subclass of {base.__name__}" if base is not None else "its __new__ makes the objects"
        raise cx.error(f"objects of the class {cls.__name__} cannot be made in compiled code", what,
                       "write a class whose objects are made by __init__ alone")  # fmt: skip


def _initialise(
    cx: Frame, heap: Heap, cls: type, subject: AV, arguments: Sequence[AV], keywords: Mapping[str, AV]
) -> None:
    found = member(cx, cls, "__init__")
    assert found is not None
    owner, function = found
    if owner is object:
        if arguments or keywords:
            raise cx.type_error(f"{cls.__name__}() takes no arguments", f"{len(arguments) + len(keywords)} are given")
        return
    if is_generated(function) and dataclasses.is_dataclass(owner):
        _dataclass_init(cx, heap, owner, function, subject, arguments, keywords)
        return
    result = call(cx, bound_member(cx, subject, cls, found, "__init__"), arguments, keywords)
    if not cx.dead and not isinstance(result.type, NoneType):
        raise cx.type_error(f"__init__() should return None, not '{show(result.type)}'", "it returns a value")


# ------------------------------------------------------------------------------------------------ dataclasses


def fields_of(cls: type) -> list[dataclasses.Field[Any]]:
    """The fields of a dataclass, in order; without ClassVar and InitVar."""
    return list(dataclasses.fields(cls))


def _parameters(function: python_types.FunctionType) -> list[tuple[str, str, bool]]:
    """The parameters of a function made from text, without self."""
    code = function.__code__
    count = code.co_argcount
    names = code.co_varnames[: count + code.co_kwonlyargcount]
    first_default = count - len(function.__defaults__ or ())
    keyword_defaults = function.__kwdefaults__ or {}
    positional = [(name, "positional", i >= first_default) for i, name in enumerate(names[:count])]
    return [*positional[1:], *((name, "keyword_only", name in keyword_defaults) for name in names[count:])]


def generated_parameters(cx: Frame, cls: type) -> list[tuple[str, str, bool]] | None:
    """The parameters of a class whose objects a function made from text makes: a dataclass or a named tuple."""
    for name in ("__init__", "__new__"):
        found = member(cx, cls, name)
        function = _function_in(found[1]) if found is not None else None
        if isinstance(function, python_types.FunctionType) and is_generated(function):
            return _parameters(function)
    return None


def _dataclass_init(
    cx: Frame, heap: Heap, cls: type, function: python_types.FunctionType, subject: AV, arguments: Sequence[AV],
    keywords: Mapping[str, AV],
) -> None:  # fmt: skip
    """The __init__ that dataclass wrote: fields in order, then __post_init__ with the InitVars."""
    known = {item.name: item for item in fields_of(cls)}
    parameters = _parameters(function)

    def default(name: str) -> AV:
        item = known.get(name)
        if item is not None and item.default_factory is not dataclasses.MISSING:
            return call(cx, function_of(cx, item.default_factory, f"the factory of {name}", subject), [], {})
        part = part_behind(getattr(item, "default", None))
        return default_value(cx, function, name) if part is None else part_value(cx, part, subject)

    values = bind_to(cx, cls.__name__, parameters, arguments, keywords, default)
    given = {name: value for (name, _, _), value in zip(parameters, values, strict=True)}
    for item in known.values():
        if cx.dead:
            return
        if not item.init and item.default_factory is dataclasses.MISSING:
            continue  # the class holds the default, if there is one
        set_field(cx, heap, subject.value, item.name, given.pop(item.name) if item.init else default(item.name))
    found = member(cx, cls, "__post_init__")
    if found is not None and not cx.dead:
        call(cx, bound_member(cx, subject, cls, found, "__post_init__"), list(given.values()), {})


def _replace(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    """dataclasses.replace(obj, **changes)"""
    (subject,) = arguments
    cls = instance_class(subject.type)
    if cls is None or not dataclasses.is_dataclass(cls):
        raise cx.type_error("replace() should be called on dataclass instances", f"this is {show(subject.type)}")
    kept = [item.name for item in fields_of(cls) if item.init and item.name not in keywords]
    given = {name: attribute(cx, subject, name) for name in kept}
    return call(cx, class_behind(cx, subject, cls), [], {**given, **keywords})


# ---------------------------------------------------------------------------------------------- named tuples


def _named_tuple(cx: Frame, made: AV, cls: Any, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    found = member(cx, cls, "__new__")
    if found is None or not is_generated(_function_in(found[1])):
        raise cx.error(f"objects of the class {cls.__name__} cannot be made in compiled code",
                       "it has a __new__ of its own", "write a function that makes the tuple")  # fmt: skip
    function = _function_in(found[1])
    parameters = _parameters(function)

    def default(name: str) -> AV:
        part = part_behind(cls._field_defaults.get(name))
        return default_value(cx, function, name) if part is None else part_value(cx, part, made)

    return named_tuple_of(cx, cls, bind_to(cx, cls.__name__, parameters, arguments, keywords, default))


def _function_in(value: Any) -> Any:
    return value.__func__ if isinstance(value, staticmethod) else value


def _named_replace(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    """t._replace(**changes)"""
    return dispatch(cx, arguments, lambda cx, operands: _replaced(cx, opened(cx, operands[0]), keywords))


def _replaced(cx: Frame, subject: AV, changes: Mapping[str, AV]) -> AV:
    if cx.dead:
        return subject
    cls: Any = instance_class(subject.type)
    names = cls._fields
    unknown = [name for name in changes if name not in names]
    if unknown:
        raise cx.error(f"Got unexpected field names: {unknown!r}", "there is no such field", nearest(unknown[0], names),
                       raised=("ValueError", f"Got unexpected field names: {unknown!r}"))  # fmt: skip
    return named_tuple_of(cx, cls, [changes.get(n, av) for n, av in zip(names, items_of(subject), strict=True)])


def _named_dict(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    """t._asdict()"""

    def rule(cx: Frame, operands: Sequence[AV]) -> AV:
        subject = opened(cx, operands[0])
        cls: Any = instance_class(subject.type)
        return subject if cx.dead else pack_dict(dict(zip(cls._fields, items_of(subject), strict=True)))

    return dispatch(cx, arguments, rule)


def _named_make(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    """cls._make(iterable)"""
    cls, source = arguments
    assert isinstance(cls.type, Class)
    return call_class(cx, cls, unpack(cx, source, len(cls.type.python._fields)), {})  # type: ignore[attr-defined]


# ------------------------------------------------------------------------------------------- definite fields


def _ready(cx: Frame, cls: type, after: type | None = None) -> Initialised:
    """The fields that making an object of the class sets before anybody can read them."""
    found = member(cx, cls, "__init__", after=after)
    if found is None or found[0] is object:
        return Initialised()
    owner, function = found
    if isinstance(function, python_types.WrapperDescriptorType):  # of a builtin exception: it keeps its arguments
        return Initialised()
    custom = member(cx, cls, "__setattr__")
    if custom is not None and custom[0] is not object and not is_generated(custom[1]):
        return Initialised(seen=True)

    def is_plain(name: str) -> bool:
        held = member(cx, cls, name)
        return held is None or type(held[1]) is python_types.MemberDescriptorType or not hasattr(held[1], "__get__")

    if not isinstance(function, python_types.FunctionType):
        return Initialised(seen=True)
    if not is_generated(function):
        return initialised(_untyped(cx, function), is_plain, lambda: _ready(cx, cls, owner), Initialised())
    start = Initialised(frozenset(
        item.name for item in fields_of(owner) if item.init or item.default_factory is not dataclasses.MISSING
    ))  # fmt: skip
    after_init = member(cx, cls, "__post_init__")
    if after_init is None or not isinstance(after_init[1], python_types.FunctionType):
        return start
    return initialised(_untyped(cx, after_init[1]), is_plain, lambda: Initialised(seen=True), start)


def _untyped(cx: Frame, function: python_types.FunctionType) -> Function:
    """The untyped IR of a method."""
    part = part_behind(function)
    code = cx.session.code_of(function) if part is None else code_of_part(cx, part)
    assert isinstance(code, Code)
    return code.untyped


def _nothing(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    return AV(NONE)


def _assign(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    """object.__setattr__(obj, name, value)"""
    subject, name, value = arguments
    if not isinstance(name.type, Str):
        raise cx.error("object.__setattr__ needs a name known while compiling", f"this is {show(name.type)}")
    assign(cx, subject, name.type.value, value)
    return AV(NONE)


def _partial(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    """functools.partial(f, *arguments, **keywords)"""
    function, *rest = arguments
    return apply_to(function, rest, keywords)


CALLS[Class] = call_class
HANDLERS.update({
    "dataclasses.replace": _replace,
    "functools.partial": _partial, "object.__init__": _nothing,
    "object.__init_subclass__": _nothing, "object.__setattr__": _assign, "namedtuple._replace": _named_replace,
    "namedtuple._asdict": _named_dict, "namedtuple._make": _named_make,
})  # fmt: skip

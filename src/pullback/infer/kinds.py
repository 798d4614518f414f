"""What Python asks of the class of a value: isinstance, issubclass, type, hasattr, getattr, setattr, callable.

    isinstance(x, (int, Node))     known while compiling, or by the tag of a union; the branches then know more of x
    type(x) is Node                the same
    hasattr(x, "left")             by class, and by whether the field is set
"""

from __future__ import annotations

import sys
import types as python_types
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from pullback.diagnostic import CompileError
from pullback.infer.classes import instance_class, member
from pullback.infer.dispatch import dispatch
from pullback.infer.engine import Fact, Frame
from pullback.infer.exceptions import is_instance, opened
from pullback.infer.heaps import is_object, kind_of
from pullback.infer.lattice import WEAK_BOOL
from pullback.infer.loops import ITERABLES
from pullback.infer.object_writes import set_attribute
from pullback.infer.objects import has_field
from pullback.infer.parts import class_behind
from pullback.infer.parts import class_type as class_of_user
from pullback.infer.protocols import has_special
from pullback.infer.registry import HANDLERS, builtin_name
from pullback.infer.structures import attribute
from pullback.infer.truth import constant
from pullback.infer.values import AV, items_of
from pullback.ir.node import Value
from pullback.prims.exceptions import class_of, name_of
from pullback.prims.prelude.random_generator import Generator
from pullback.runtime.layout import COMPLEX_SCALARS, NUMPY_SCALARS
from pullback.types import (
    NONE,
    Array,
    BoxedFunction,
    Builtin,
    Caught,
    Class,
    Closure,
    Complex,
    Constant,
    Dict,
    DType,
    Failure,
    Iterator,
    List,
    Module,
    NoneType,
    Number,
    Range,
    Record,
    Ref,
    Slice,
    Str,
    Text,
    Transformed,
    Tuple,
    Type,
    Union,
    show,
)  # fmt: skip

__all__ = ["class_of_type", "classes_in", "isinstance_of"]

_PLAIN: dict[type, type] = {
    Constant: bool, Str: str, Text: str, NoneType: type(None), Tuple: tuple, List: list, Dict: dict, Array: np.ndarray,
    Range: range, Slice: slice, Module: python_types.ModuleType, Class: type, Closure: python_types.FunctionType,
    BoxedFunction: python_types.FunctionType,
}  # fmt: skip
_WEAK = {DType.BOOL: bool, DType.I64: int, DType.F64: float}
_HEAPS: dict[str, type] = {
    "list": list, "dict": dict, "set": set, "tuple": tuple, "frozenset": frozenset, "defaultdict": defaultdict,
    "Counter": Counter, "OrderedDict": OrderedDict, "deque": deque, "record": tuple,
}  # fmt: skip
_ITERATORS = {
    "enumerate": enumerate, "zip": zip, "reversed": reversed, "map": map, "filter": filter, "prange": range,
}  # fmt: skip


def class_of_type(type_: Type) -> type | None:
    """The Python class of the values of a type that is no union; None where it has none of its own."""
    match type_:
        case Number(dtype, weak):
            return _WEAK[dtype] if weak else NUMPY_SCALARS[dtype]
        case Complex(Number(dtype, weak), _):
            return complex if weak else COMPLEX_SCALARS[dtype]
        case Complex():
            return np.ndarray
        case Record(single=single):
            return np.void if single else np.ndarray
        case Iterator(kind, _):
            return _ITERATORS.get(kind)
        case Failure(kind, _, _):
            return class_of(kind)
        case Builtin(name):
            value = _object_of(name)
            return type(value) if value is not None else None
    found = instance_class(type_)
    if found is Generator:
        return np.random.Generator
    if found is None and isinstance(type_, Ref):
        return _HEAPS.get(kind_of(type_).rstrip("0123456789"))
    return found if found is not None else _PLAIN.get(type(type_))


def _object_of(name: str) -> Any:
    """The object behind the public name of a builtin, NumPy's or the library's."""
    module, _, attribute_name = name.rpartition(".")
    return getattr(sys.modules.get(module), attribute_name, None)


def classes_in(cx: Frame, kinds: AV, caller: str) -> list[type]:
    """The classes of the second argument of isinstance: a class, a tuple of them, a union A | B."""
    match kinds.type:
        case Class(python):
            return [python]
        case Builtin(name) if isinstance(_object_of(name), type):
            return [_object_of(name)]
        case NoneType():
            return [type(None)]
        case Tuple():
            return [cls for item in items_of(kinds) for cls in classes_in(cx, item, caller)]
    raise cx.error(f"{caller} takes classes", f"this is {show(kinds.type)}", "write isinstance(x, float)")


# ---------------------------------------------------------------------------------------------------- questions


def _ask(cx: Frame, subject: AV, asked: Callable[[Type], bool], about: Value | None) -> AV:
    """A bool by the member of a union that the value is; branches on it narrow what is asked about."""
    if not isinstance(subject.type, Union):
        return constant(asked(subject.type))
    hits = [asked(m) for m in subject.type.members]
    if all(hits) or not any(hits):
        return constant(hits[0])
    result: Value = cx.e.boolean(hits[0])
    for index, hit in enumerate(hits[1:], 1):
        here = cx.e("eq", subject.values[0], cx.e.integer(index))
        result = cx.e("select", here, cx.e.boolean(hit), result)
    holds = tuple(m for m, hit in zip(subject.type.members, hits, strict=True) if hit)
    fails = tuple(m for m, hit in zip(subject.type.members, hits, strict=True) if not hit)
    if about is not None:
        cx.facts[result] = Fact(about, holds, fails)
    return AV(WEAK_BOOL, (result,))


def isinstance_of(cx: Frame, subject: AV, classes: Sequence[type], about: Value | None = None) -> AV:
    """isinstance(subject, classes)"""
    if isinstance(subject.type, Caught):
        names = [name_of(cls) for cls in classes if issubclass(cls, BaseException)]
        return constant(True) if object in classes else is_instance(cx, subject, names, about)

    def asked(type_: Type) -> bool:
        cls = class_of_type(type_)
        return cls is not None and issubclass(cls, tuple(classes))

    return _ask(cx, subject, asked, about)


def _isinstance(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    if len(arguments) != 2 or keywords:
        count = len(arguments) + len(keywords)
        label = "too many arguments" if count > 2 else "too few arguments"
        raise cx.type_error(f"isinstance() takes 2 arguments ({count} given)", label)
    about = cx.argument_values[0] if cx.argument_values else None
    return isinstance_of(cx, arguments[0], classes_in(cx, arguments[1], "isinstance"), about)


def _issubclass(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    subject, kinds = arguments
    wanted = tuple(classes_in(cx, kinds, "issubclass"))

    def rule(cx: Frame, operands: Sequence[AV]) -> AV:
        return constant(all(issubclass(cls, wanted) for cls in classes_in(cx, operands[0], "issubclass")))

    return dispatch(cx, [subject], rule)


def _type(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    """type(x)"""
    if len(arguments) != 1 or keywords:
        raise cx.error("classes cannot be made in compiled code", "type() is given a name and bases",
                       "write the class outside")  # fmt: skip

    def rule(cx: Frame, operands: Sequence[AV]) -> AV:
        cls = class_of_type(operands[0].type)
        if cls is None:
            raise cx.error(f"type() of {show(operands[0].type)} is not supported", "it has no class here")
        known = builtin_name(cls)
        return AV(Builtin(known)) if known is not None else class_behind(cx, operands[0], cls)

    about = cx.argument_values[0] if cx.argument_values else None
    (subject,) = arguments
    if isinstance(subject.type, Caught):
        return dispatch(cx, [opened(cx, subject)], rule)
    result = dispatch(cx, arguments, rule)
    if about is not None and isinstance(result.type, Union) and isinstance(subject.type, Union):
        by_class = {class_type(cx, cls): m for m in subject.type.members if (cls := class_of_type(m)) is not None}
        cx.classes[result.values[0]] = (about, subject.type.members, by_class)
    return result


def class_type(cx: Frame, cls: type) -> Type:
    """The type of a class itself, as its name in the source has it."""
    known = builtin_name(cls)
    return Builtin(known) if known is not None else class_of_user(cx, cls)


def _name_of(cx: Frame, function: str, av: AV) -> str:
    if not isinstance(av.type, Str):
        raise cx.error(f"{function} needs the name of an attribute written in the source", f"this is {show(av.type)}",
                       "write the name as a text")  # fmt: skip
    return av.type.value


def _hasattr(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    subject, name = arguments[0], _name_of(cx, "hasattr", arguments[1])

    def rule(cx: Frame, operands: Sequence[AV]) -> AV:
        return _has(cx, operands[0], name)

    result = dispatch(cx, [subject], rule)
    if isinstance(subject.type, Union) and result.values and cx.argument_values:
        answers = [_has_always(cx, member_type, name) for member_type in subject.type.members]
        holds = tuple(m for m, answer in zip(subject.type.members, answers, strict=True) if answer is not False)
        fails = tuple(m for m, answer in zip(subject.type.members, answers, strict=True) if answer is not True)
        cx.facts.setdefault(result.value, Fact(cx.argument_values[0], holds, fails))
    return result


def _has(cx: Frame, subject: AV, name: str) -> AV:
    cls = instance_class(subject.type)
    if is_object(subject.type) and cls is not None:
        found = member(cx, cls, name)
        if found is not None and not isinstance(found[1], python_types.MemberDescriptorType):
            return constant(True)
        return has_field(cx, subject, name)
    try:
        cx.branch(lambda: [attribute(cx, subject, name)])
    except CompileError as error:
        if error.diagnostic.raised is None or error.diagnostic.raised[0] != "AttributeError":
            raise
        return constant(False)
    return constant(True)


def _has_always(cx: Frame, type_: Type, name: str) -> bool | None:
    """Whether all values of a type have the attribute, or none; None where some may."""
    answer: list[AV] = []

    def ask() -> Sequence[AV]:
        answer.append(_has(cx, cx.fresh(type_), name))
        return answer

    cx.branch(ask)
    found = answer[0].type
    return found.value if isinstance(found, Constant) else None


def _getattr(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    subject, name = arguments[0], _name_of(cx, "getattr", arguments[1])
    if len(arguments) == 2:
        return attribute(cx, subject, name)

    def rule(cx: Frame, operands: Sequence[AV]) -> AV:
        present = _has(cx, operands[0], name)
        if isinstance(present.type, Constant):
            return attribute(cx, operands[0], name) if present.type.value else arguments[2]
        (result,) = cx.choose(present.value, lambda: [attribute(cx, operands[0], name)], lambda: [arguments[2]])
        return result

    return dispatch(cx, [subject], rule)


def _setattr(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    set_attribute(cx, arguments[0], _name_of(cx, "setattr", arguments[1]), arguments[2])
    return AV(NONE)


def _callable(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    (subject,) = arguments

    def asked(type_: Type) -> bool:
        if isinstance(type_, Closure | BoxedFunction | Builtin | Transformed | Class):
            return True
        return has_special(cx, type_, "__call__")

    return _ask(cx, subject, asked, cx.argument_values[0] if cx.argument_values else None)


def _iterable(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    """np.iterable: may a `for` go over it."""
    (subject,) = arguments

    def asked(type_: Type) -> bool:
        if isinstance(type_, Array | Record):
            return type_.rank > 0 or (isinstance(type_, Record) and type_.single)
        if isinstance(type_, Tuple | List | Dict | Str | Text | Range | Iterator):
            return True
        if isinstance(type_, Ref) and kind_of(type_) in ITERABLES:
            return True
        return has_special(cx, type_, "__iter__")

    return _ask(cx, subject, asked, None)


def _object(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    raise cx.error("object() is not supported", "a bare object has nothing but its identity",
                   "write a class of your own: `class Marker: pass`")  # fmt: skip


HANDLERS.update({
    "builtins.isinstance": _isinstance, "builtins.issubclass": _issubclass, "builtins.type": _type,
    "builtins.hasattr": _hasattr, "builtins.getattr": _getattr, "builtins.setattr": _setattr,
    "builtins.callable": _callable, "numpy.iterable": _iterable, "builtins.object": _object,
})  # fmt: skip

"""Objects as text: str, repr and f-strings by the special methods of their classes, and the __repr__ of dataclasses.

    f"{p}"        p.__format__(""), or p.__str__(), or p.__repr__()
    repr(p)       p.__repr__(); the one that dataclass writes is Point(x=1.0, y=2.0), made as a function of its own
"""

from __future__ import annotations

import collections
import dataclasses
import inspect
import types as python_types
from collections.abc import Sequence
from typing import Any

from pullback.infer.calls import call
from pullback.infer.classes import bound_member, instance_class, is_generated, is_named_tuple
from pullback.infer.containers import special
from pullback.infer.engine import Code, Frame
from pullback.infer.literals import literal
from pullback.infer.protocols import call_special, special_method
from pullback.infer.texts import FORMATTED, SHOWN
from pullback.infer.values import AV
from pullback.ir.build import Builder
from pullback.ir.node import Block, Function, Value
from pullback.prims.base import get
from pullback.types import Class, Closure, Member, Ref, Str, show

__all__ = ["object_text"]

_METHODS = {"": ("__format__", "__str__", "__repr__"), "!s": ("__str__", "__repr__")}


def object_text(cx: Frame, av: AV, conversion: str) -> AV:
    """An object as text; `conversion` as in format strings."""
    cls = instance_class(av.type)
    if cls is None:
        found = special(cx, "__repr__", av)
        if found is not None:
            return found
    for name in _METHODS.get(conversion, ("__repr__",)):
        method = special_method(cx, av.type, name) if cls is not None else None
        if method is None:
            continue
        assert cls is not None
        function = inspect.unwrap(method[1])
        if (is_generated(function) and dataclasses.is_dataclass(method[0])) or is_of_named_tuple(function):
            return call(cx, AV(Closure(_written(cx, cls, method[0]), (), "__repr__")), [av], {})
        given = [literal(cx, "")] if name == "__format__" else []
        return call(cx, bound_member(cx, av, cls, method, name), given, {})
    raise cx.error(f"{show(av.type)} cannot be turned into text in compiled code", "it has no text of its own",
                   "define __repr__, or format the numbers that it holds")  # fmt: skip


def _object_format(cx: Frame, av: AV, spec: AV) -> AV:
    """format(x, spec), of a specification that is not empty: `__format__` of the class knows what it means."""
    found = call_special(cx, "__format__", av, spec)
    if found is None:
        title = f"unsupported format string passed to {show(av.type)}.__format__"
        raise cx.type_error(title, "its class has no __format__", "format the numbers that it holds")
    return found


def _written(cx: Frame, cls: type, owner: type) -> Code:
    """The __repr__ of a dataclass or NamedTuple as a function, so that recursive objects are no endless text."""
    key = ("repr", cls, owner)
    code = cx.session.codes.get(key)
    if code is None:
        title = cls.__name__ if is_named_tuple(owner) else cls.__qualname__
        code = cx.session.codes[key] = Code(_function(title, _shown_fields(owner)), {})
    return code


def _shown_fields(owner: Any) -> Sequence[str]:
    """The fields that the __repr__ of a class that is written for it shows."""
    if is_named_tuple(owner):
        return owner._fields  # type: ignore[no-any-return]
    return [item.name for item in dataclasses.fields(owner) if item.repr]


def is_of_named_tuple(function: object) -> bool:
    """Is it the __repr__ that every NamedTuple has?"""
    return isinstance(function, python_types.FunctionType) and function.__module__ == collections.__name__


def _function(title: str, names: Sequence[str]) -> Function:
    """Untyped IR of  def __repr__(self): return f"{title}({name}={self.name!r}, ...)" """
    me = Value(None, "self")
    builder = Builder(Block([me]))
    values = [builder.append_untyped(get("py.attribute"), [me], attrs={"name": name}).result for name in names]
    parts: list[object] = [f"{title}("]
    for number, name in enumerate(names):
        parts += [f"{', ' if number else ''}{name}=", (number, "r", "")]
    op = builder.append_untyped(get("py.fstring"), values, attrs={"parts": (*parts, ")")})
    builder.block.results = [op.result]
    parameters = (("self", "positional", False),)
    attrs: dict[str, object] = {"python_name": "__repr__", "captures": (), "parameters": parameters}
    return Function("__repr__", builder.block, attrs=attrs)


def _member_text(cx: Frame, av: AV, conversion: str) -> AV:
    """A member of an enum: a text that is known while compiling, unless its class has methods of its own for it."""
    assert isinstance(av.type, Member)
    member: Any = av.type.python
    own = [special_method(cx, av.type, name) for name in _METHODS.get(conversion, ("__repr__",))]
    if any(found is not None and isinstance(found[1], python_types.FunctionType) for found in own):
        return object_text(cx, av, conversion)
    if conversion == "":
        return literal(cx, format(member))
    return literal(cx, str(member) if conversion == "!s" else repr(member))


def _member_format(cx: Frame, av: AV, spec: AV) -> AV:
    """A member of an enum by a format specification."""
    assert isinstance(av.type, Member)
    own = special_method(cx, av.type, "__format__")
    if own is not None and isinstance(own[1], python_types.FunctionType):
        return _object_format(cx, av, spec)
    if not isinstance(spec.type, Str):
        raise cx.error("the specification must be known while compiling", "the run makes this one", "write it out")
    return literal(cx, format(av.type.python, spec.type.value))


def _class_text(cx: Frame, av: AV, conversion: str) -> AV:
    assert isinstance(av.type, Class)
    return literal(cx, repr(av.type.python))


SHOWN.update({Ref: object_text, Member: _member_text, Class: _class_text})
FORMATTED.update({Ref: _object_format, Member: _member_format})

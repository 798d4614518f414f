"""What stands behind the types of functions and the like where compiled code hands them to Python.

    Closure(f of a module)          the function            Closure(local f, captured)     a maker: see runtime.closures
    Builtin("math.sin")             the function            Transformed("grad", ...)       a maker
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable, Sequence
from types import CodeType
from typing import Any

from pullback.diagnostic import CompileError, Diagnostic, Span
from pullback.infer.engine import Code
from pullback.infer.heaps import Heap, heap_of_type, kind_of
from pullback.infer.templates import stays_inside
from pullback.prims.prelude.random_generator import Generator
from pullback.prims.prelude.resumed import Resumed
from pullback.runtime.boundary import RECORDS
from pullback.runtime.closures import FunctionMaker, TransformMaker
from pullback.types import (
    BoxedFunction,
    Builtin,
    Caught,
    Class,
    Closure,
    Dict,
    Failure,
    Iterator,
    List,
    Module,
    Pullback,
    Range,
    Ref,
    Slice,
    Transformed,
    Tuple,
    Type,
    Union,
    show,
    slots,
)  # fmt: skip

__all__ = ["hands_out_generators", "objects_behind", "objects_put"]

_RETURNED = (
    "object", "list", "tuple", "items", "dict", "entries", "places", "set", "frozenset", "slots", "cell", "deque",
    "defaultdict", "Counter", "OrderedDict", *RECORDS,
)  # fmt: skip
_KEPT = (Failure, Caught, BoxedFunction, Pullback, Range, Slice, Iterator)


def objects_behind(
    types: Iterable[Type], name: str, span: Span, what: str = "returns {}"
) -> list[tuple[Type, object]]:
    """The objects (and makers of functions) that results of these types need.  CompileError for what cannot be handed
    to Python; `name` and `span`: of the function that returns it; `what`: what it does, for the message."""
    found: list[tuple[Type, object]] = []
    waiting = list(types)
    while waiting:
        type_ = waiting.pop()
        match type_:
            case Tuple(items) | List(items) | Dict(_, items) | Union(items):
                waiting += items
            case Closure() | Transformed() | Builtin() | Module():
                behind = _behind(type_)
                if behind is None:
                    raise _refused(type_, name, span, what)
                found.append((type_, behind))
                waiting += _captured(type_)
            case Ref() if kind_of(type_) not in _RETURNED or _class_of(type_) is Resumed:
                raise _refused(type_, name, span, what)
            case Ref() if (python := _class_of(type_)) is not None and stays_inside(python):
                raise _of_class(python, name, span, what)
            case Class(python) if stays_inside(python):
                raise _of_class(python, name, span, what)
            case _ if isinstance(type_, _KEPT):
                raise _refused(type_, name, span, what)
    return found


def objects_put(
    fields: Iterable[Type], known: Collection[Type], name: str, span: Span
) -> list[tuple[Type, object]]:
    """The same for what objects outside may hold at the end of a call; known: what stands for objects of Python, of
    which some hold what they have captured."""
    parts = [part for type_ in fields for part in (type_.members if isinstance(type_, Union) else (type_,))]
    made = [(part, _behind(part)) for part in parts if part in known and isinstance(part, Closure) and slots(part)]
    what = "leaves {} in a global, or in an object from outside"
    new = objects_behind([part for part in parts if part not in known], name, span, what)
    return [*((part, maker) for part, maker in made if maker is not None), *new]


def _class_of(type_: Ref) -> type | None:
    heap = heap_of_type(type_)
    return None if heap is None else heap.python


def _captured(type_: Type) -> tuple[Type, ...]:
    while isinstance(type_, Transformed):
        type_ = type_.function
    return type_.captured if isinstance(type_, Closure) else ()


def _behind(type_: Type) -> Any:
    """The object, or a maker of it; None if there is none."""
    match type_:
        case Closure(Code() as code, captured, _):
            return code.python if code.python is not None else _maker(code, captured)
        case Transformed(kind, function, options):
            inner = _behind(function)
            return None if inner is None else TransformMaker(kind, options, inner)
        case Builtin(name):
            return _named(name)
        case Module(name):
            return sys.modules.get(name)
    return None


def _maker(code: Code, captured: tuple[Type, ...]) -> FunctionMaker | None:
    attrs = code.untyped.attrs
    python, names, self_name = attrs.get("code"), attrs.get("captures"), attrs.get("self_name")
    if not isinstance(python, CodeType) or not isinstance(names, tuple):
        return None
    if not set(python.co_freevars) <= {*names, self_name}:  # it calls functions that are made when they are called
        return None
    parameters = attrs.get("parameters")
    assert isinstance(parameters, tuple)
    defaults = tuple(name for name, _, has_default in parameters if has_default)
    if len(captured) != len(names) + len(defaults) or (self_name is not None and not isinstance(self_name, str)):
        return None
    wanted = self_name if self_name in python.co_freevars else None
    return FunctionMaker(python, code.globals, names, wanted, defaults)


def _named(name: str) -> Any:
    """The object of a public name."""
    module, _, rest = name.partition(".")
    found: Any = sys.modules.get(module)
    for part in rest.split("."):
        found = getattr(found, part, None)
    return found


def hands_out_generators(handed: Sequence[Heap], held: Sequence[Heap], name: str, span: Span) -> bool:
    """May code for these heaps give Python random generators that it makes.

    handed: of what arguments and results refer to.  held: of what globals and the like do, where nobody translates.
    """
    if any(heap.python is Generator for heap in held):
        raise CompileError(
            Diagnostic(
                f"{name}() uses a random generator in an object that it is not given", span,
                "a global, or a variable of an enclosing function, holds the object",
                "pass the object as an argument",
            )
        )  # fmt: skip
    return any(heap.python is Generator for heap in handed)


def _of_class(python: type, name: str, span: Span, what: str) -> CompileError:
    return CompileError(
        Diagnostic(
            f"{name}() {what.format(python.__name__)}, a class that it makes", span,
            "the methods need variables of the call", "define the class at the top of the module, with these as fields",
        )
    )  # fmt: skip


def _refused(type_: Type, name: str, span: Span, what: str) -> CompileError:
    return CompileError(
        Diagnostic(
            f"{name}() {what.format(show(type_))}", span, "compiled code cannot hand this to Python",
            "return numbers, arrays, objects, structures of them, or functions that call no later function",
        )
    )  # fmt: skip

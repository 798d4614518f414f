"""What stands behind the types of functions and the like where compiled code hands them to Python.

    Closure(f of a module)          the function            Closure(local f, captured)     a maker: see runtime.closures
    Builtin("math.sin")             the function            Transformed("grad", ...)       a maker
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from types import CodeType
from typing import Any

from pullback.diagnostic import CompileError, Diagnostic, Span
from pullback.infer.engine import Code
from pullback.infer.heaps import Heap, kind_of
from pullback.prims.prelude.random_generator import Generator
from pullback.runtime.closures import FunctionMaker, TransformMaker
from pullback.types import (
    BoxedFunction,
    Builtin,
    Caught,
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
)  # fmt: skip

__all__ = ["hands_out_generators", "objects_behind"]

_RETURNED = (
    "object", "list", "tuple", "items", "dict", "entries", "places", "set", "frozenset", "slots", "cell", "deque",
    "defaultdict", "Counter", "OrderedDict",
)  # fmt: skip
_KEPT = (Failure, Caught, BoxedFunction, Pullback, Range, Slice, Iterator)


def objects_behind(types: Iterable[Type], name: str, span: Span) -> list[tuple[Type, object]]:
    """The objects (and makers of functions) that results of these types need.  CompileError for what cannot be handed
    to Python; `name` and `span`: of the function that returns it."""
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
                    raise _refused(type_, name, span)
                found.append((type_, behind))
                waiting += _captured(type_)
            case Ref() if kind_of(type_) not in _RETURNED:
                raise _refused(type_, name, span)
            case _ if isinstance(type_, _KEPT):
                raise _refused(type_, name, span)
    return found


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


def _refused(type_: Type, name: str, span: Span) -> CompileError:
    return CompileError(
        Diagnostic(
            f"{name}() returns {show(type_)}", span, "compiled code cannot hand this to Python",
            "return numbers, arrays, objects, structures of them, or functions that call no later function",
        )
    )  # fmt: skip

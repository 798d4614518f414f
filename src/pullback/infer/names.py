"""Names outside the function: globals, builtins, closure cells, defaults; and Python objects as abstract values.

Functions, classes, modules, None, bool, str are constants, guarded: another object under the name means another
specialization.  Numbers, arrays and containers are hidden run-time arguments, read anew at every call.
"""

from __future__ import annotations

import types as python_types
from typing import Any

import numpy as np

from pullback.diagnostic import CompileError
from pullback.infer.advice import is_foreign, missing_import, nearest, refusal
from pullback.infer.engine import BUILTINS, Code, Frame, outside_library
from pullback.infer.lattice import depth
from pullback.infer.registry import builtin_name
from pullback.infer.values import AV
from pullback.prims.base import get
from pullback.runtime.boundary import ABSENT, Guard, Hidden, Place, Refusal, abstract
from pullback.runtime.callobject import transform_of
from pullback.types import NONE, Builtin, Closure, Constant, Module, Str, Transformed, Type, slots

__all__ = ["captured_values", "default_values", "function_value", "global_value", "hold", "object_value"]


def global_value(cx: Frame, name: str) -> AV:
    """The value of a global or builtin name at call time."""
    held, known = cx.session.held, cx.code.globals
    value = held.read("global", known, name)
    if value is not ABSENT:
        return object_value(cx, value, "global", known, name)
    if name in BUILTINS:
        # A global of that name defined later would hide the builtin.
        if not held.knows(known, name):
            cx.session.guards[(id(known), name)] = Guard("global", known, name, ABSENT)
        return object_value(cx, BUILTINS[name], "", None, name)
    help = nearest(name, [*cx.code.globals, *BUILTINS]) or missing_import(name)
    raise cx.error(f"name '{name}' is not defined", "neither a local, a global nor a builtin name", help)


def captured_values(cx: Frame) -> list[AV]:
    """The free variables of a top-level function, from its cells."""
    function = cx.code.python
    assert function is not None
    names = cx.code.untyped.attrs.get("captures", ())
    assert isinstance(names, tuple)
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    found: list[AV] = []
    for name in names:
        cell = cells[name]
        value = cx.session.held.read("cell", cell)
        if value is ABSENT:
            raise cx.error(f"free variable '{name}' is not set yet", "call the function after it is assigned")
        found.append(object_value(cx, value, "cell", cell, None, name))
    return found


def default_values(cx: Frame, function: python_types.FunctionType) -> dict[str, AV]:
    """Defaults of a top-level function by parameter name."""
    code = function.__code__
    positional = code.co_varnames[: code.co_argcount]
    defaults = function.__defaults__ or ()
    names = positional[len(positional) - len(defaults) :]
    held = cx.session.held
    found = {
        name: object_value(cx, held.read("default", function, index), "default", function, index, name)
        for index, name in enumerate(names)
    }
    for name in function.__kwdefaults__ or {}:
        found[name] = object_value(cx, held.read("keyword", function, name), "keyword", function, name, name)
    return found


def object_value(cx: Frame, value: Any, kind: str, container: Any, key: object, label: str = "") -> AV:
    """The abstract value of a Python object found at (kind, container, key).  kind "": a builtin, never guarded."""
    label = label or str(key)
    constant = constant_type(cx, value, label)
    if constant is None:
        return _hidden(cx, value, kind, container, key, label)
    if kind and not cx.session.held.knows(container, key):
        cx.session.guards[(id(container), key)] = Guard(kind, container, key, value)
    return AV(constant, (), value) if isinstance(value, str | bool) else AV(constant)


def constant_type(cx: Frame, value: Any, name: str) -> Type | None:
    """The type of an object that is a constant while compiling, else None."""
    if value is None:
        return NONE
    if type(value) is bool:
        return Constant(value)
    if type(value) is str:
        return Str(value)
    if isinstance(value, python_types.ModuleType):
        return Module(value.__name__)
    known = builtin_name(value)
    if known is not None:
        return Builtin(known)
    request = transform_of(value)
    if request is not None:
        return transformed_type(cx, request)
    if isinstance(value, python_types.FunctionType) and not is_foreign(value):
        return Closure(_code_of(cx, value), (), value.__name__)
    if callable(value) and not isinstance(value, np.generic):
        raise cx.error(*refusal(value, name))
    return None


def _code_of(cx: Frame, function: python_types.FunctionType) -> Code:
    try:
        return cx.session.code_of(function)
    except CompileError as error:
        raise outside_library(error, function.__name__, cx.span) or error from None


def transformed_type(cx: Frame, request: Any) -> Type:
    """The type of pb.jit(f), pb.grad(f), ...: `request` is (kind, function, options)."""
    kind, function, options = request
    inner = constant_type(cx, function, getattr(function, "__name__", "function"))
    assert inner is not None
    return inner if kind == "jit" else Transformed(kind, inner, tuple(options))


def function_value(cx: Frame, function: Any) -> AV:
    """The abstract value of a callable that compiled code starts from."""
    constant = constant_type(cx, function, getattr(function, "__name__", "function"))
    if constant is None:
        raise cx.error(f"{function!r} is not a function")
    return AV(constant)


def hold(cx: Frame, place: Place, value: Any) -> None:
    """Let the value of a place be an input of the compilation, whether it is read or not."""
    kind, container, key = place
    type_ = _input_type(cx, value, str(key))
    cx.session.hidden[id(container), key] = Hidden(type_, kind, container, key)


def _hidden(cx: Frame, value: Any, kind: str, container: Any, key: object, label: str) -> AV:
    type_ = _input_type(cx, value, label)
    where = (id(container), key)
    cx.session.hidden.setdefault(where, Hidden(type_, kind, container, key))
    machine = slots(type_)
    names = [label.rpartition(".")[2]] * len(machine)
    op = cx.e.append(get("hidden"), (), attrs={"key": where}, types=machine, names=names)
    return AV(type_, tuple(op.results))


def _input_type(cx: Frame, value: Any, label: str) -> Type:
    short = label.rpartition(".")[2]
    try:
        type_ = abstract(value, lambda inner: _constant_leaf(cx, inner, label), short)
    except Refusal as error:
        raise cx.error(
            f"the value of '{label}' cannot be used in compiled code", f"it is {error.reason}",
            f"outside the function: {error.help}",
        ) from None  # fmt: skip
    cx.session.given_depth = max(cx.session.given_depth, depth(type_))
    return type_


def _constant_leaf(cx: Frame, value: Any, name: str) -> Type:
    found = constant_type(cx, value, name)
    if found is None:
        raise TypeError(f"a {type(value).__name__} has no meaning in compiled code")
    cx.session.objects.append((found, value))
    return found

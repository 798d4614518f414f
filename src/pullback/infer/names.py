"""Names outside the function: globals, builtins, closure cells, defaults; and Python objects as abstract values.

Functions, classes, modules, None, bool, str are constants, guarded: another object under the name means another
specialization.  Numbers, arrays and containers are hidden run-time arguments, read anew at every call.
"""

from __future__ import annotations

import contextlib
import functools
import types as python_types
from collections.abc import Callable
from enum import Enum
from typing import Any, TypeVar

import numpy as np

from pullback.diagnostic import CompileError
from pullback.infer.advice import is_foreign, missing_import, nearest, refusal
from pullback.infer.bound import apply_to
from pullback.infer.engine import BUILTINS, Code, Frame, outside_library
from pullback.infer.heaps import heap_of_type
from pullback.infer.heaps import read as read_field
from pullback.infer.imports import cell_key, imported
from pullback.infer.lattice import WEAK_FLOAT, WEAK_INT, depth
from pullback.infer.module_variables import assign_global, hold_globals, present_global
from pullback.infer.narrowing import without
from pullback.infer.registry import builtin_name
from pullback.infer.sites import Changed
from pullback.infer.static import fixed_place
from pullback.infer.values import AV
from pullback.prims.base import get
from pullback.runtime.boundary import ABSENT, Guard, Hidden, Place, Refusal, Resolve
from pullback.runtime.callobject import transform_of
from pullback.runtime.fixed import loose
from pullback.runtime.objects import is_user_object
from pullback.types import (
    NONE,
    UNBOUND,
    Builtin,
    Class,
    Closure,
    Constant,
    Member,
    Module,
    Str,
    Transformed,
    Type,
    Unbound,
    Union,
    slots,
)  # fmt: skip

_T = TypeVar("_T")

_CACHED = functools._lru_cache_wrapper
_CONTEXT_MAKER = contextlib.contextmanager(lambda: iter(())).__code__  # of every function that contextmanager() gives

__all__ = [
    "captured_values", "constant_type", "default_value", "function_value", "global_value", "hold", "holds_values",
    "is_user_class", "is_user_exception", "object_value", "set_global",
]  # fmt: skip


def global_value(cx: Frame, name: str) -> AV:
    """The value of a global or builtin name at call time."""
    held, known = cx.session.held, cx.code.globals
    present = _of_module(cx, lambda resolve: present_global(cx, known, name, resolve))
    if present is not None:
        return present if cx.dead else _set_global(cx, present, name)
    value = held.read("global", known, name)
    if value is not ABSENT:
        return object_value(cx, value, "global", known, name)
    if name in BUILTINS:
        # A global of that name defined later would hide the builtin.
        _guard(cx, "global", known, name, ABSENT)
        return object_value(cx, BUILTINS[name], "", None, name)
    help = nearest(name, [*cx.code.globals, *BUILTINS]) or missing_import(name)
    raise cx.error(f"name '{name}' is not defined", "neither a local, a global nor a builtin name", help)


def _set_global(cx: Frame, value: AV, name: str) -> AV:
    """A global that the program assigns, where it is set; where not, the builtin of that name."""

    def missing() -> list[AV]:
        if name in BUILTINS:
            return [object_value(cx, BUILTINS[name], "", None, name)]
        cx.check(cx.e.boolean(False), "NameError", f"name '{name}' is not defined")
        return [cx.stop()]

    if isinstance(value.type, Unbound):
        return missing()[0]
    if not isinstance(value.type, Union) or UNBOUND not in value.type.members:
        return value
    is_unset = cx.e("eq", value.values[0], cx.e.integer(value.type.members.index(UNBOUND)))
    present = without(cx, value, lambda member: isinstance(member, Unbound))
    return cx.choose(is_unset, missing, lambda: [present])[0]


def set_global(cx: Frame, name: str, value: AV) -> None:
    """Assign a global name, or unset it."""
    known = cx.code.globals
    _of_module(cx, lambda resolve: assign_global(cx, known, name, value, resolve))


def _of_module(cx: Frame, use: Callable[[Resolve], _T]) -> _T:
    """What a use of assigned globals gives, or what cannot be one."""
    try:
        return use(lambda value: _constant_leaf(cx, value, "a global"))
    except Refusal as error:
        raise cx.error(
            "the value of a global that is assigned cannot be used in compiled code", f"it is {error.reason}",
            _outside(error),
        ) from None  # fmt: skip


def _outside(error: Refusal) -> str:
    """What to write instead, and where."""
    return error.help if error.help.startswith("make ") else f"outside the function: {error.help}"


def _guard(cx: Frame, kind: str, container: Any, key: object, value: object) -> None:
    """The code holds as long as a place holds this value.  Functions of our own prelude stay as they are."""
    if not (kind == "global" and _is_own(kind, container)) and not cx.session.held.knows(container, key):
        cx.session.guards[(id(container), key)] = Guard(kind, container, key, value)


def _is_own(kind: str, container: Any) -> bool:
    """Does it stand in the prelude, which nobody changes: a global, or the default of a parameter."""
    if kind == "global":
        return str(container.get("__name__")).startswith("pullback.prims.")
    return kind in ("default", "keyword") and str(container.__module__).startswith("pullback.prims.")


def captured_values(cx: Frame) -> list[AV]:
    """The free variables of a top-level function, from its cells."""
    function = cx.code.python
    assert function is not None
    names = cx.code.untyped.attrs.get("captures", ())
    assert isinstance(names, tuple)
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    assigned = cx.code.untyped.attrs.get("cells", ())
    assert isinstance(assigned, tuple)
    found: list[AV] = []
    for name in names:
        cell = cells[name]
        site = ("cell", cell_key(cell))
        if name in assigned and site not in cx.session.heaps:
            raise Changed([site])  # whoever else reads the variable must see it change
        if site in cx.session.heaps:
            found.append(_shared(cx, cell, name, assigned))
            continue
        value = cx.session.held.read("cell", cell)
        if value is ABSENT:
            raise cx.error(f"free variable '{name}' is not set yet", "call the function after it is assigned")
        found.append(object_value(cx, value, "cell", cell, None, name))
    return found


def _shared(cx: Frame, cell: python_types.CellType, name: str, assigned: tuple[str, ...]) -> AV:
    """A variable that compiled code assigns: the cell for functions that do, what is in it for others."""
    subject = _hidden(cx, cx.session.held.read("constant", cell), "constant", cell, None, name)
    heap = heap_of_type(subject.type)
    assert heap is not None
    return subject if name in assigned else read_field(cx, heap, subject.value, "value")


def default_value(cx: Frame, function: python_types.FunctionType, name: str) -> AV:
    """The default of a parameter of a top-level function."""
    code = function.__code__
    if name in (function.__kwdefaults__ or {}):
        value = cx.session.held.read("keyword", function, name)
        return object_value(cx, value, "keyword", function, name, name)
    first = code.co_argcount - len(function.__defaults__ or ())
    index = code.co_varnames.index(name) - first
    return object_value(cx, cx.session.held.read("default", function, index), "default", function, index, name)


def object_value(cx: Frame, value: Any, kind: str, container: Any, key: object, label: str = "") -> AV:
    """The abstract value of a Python object found at (kind, container, key).  kind "": a builtin, never guarded."""
    label = label or str(key)
    if holds_values(value):
        return _applied(cx, value, kind, container, key, label)
    constant = constant_type(cx, value, label)
    if constant is None and type(value) in (int, float) and _is_own(kind, container):
        number = WEAK_INT if type(value) is int else WEAK_FLOAT
        return AV(number, (cx.e.constant(value, slots(number)[0]),), value)
    if constant is None:
        return _hidden(cx, value, kind, container, key, label)
    if kind and kind != "constant":
        _guard(cx, kind, container, key, value)
    return AV(constant, (), value) if type(value) in (str, bool) else AV(constant)


def holds_values(value: Any) -> bool:
    """Is it a callable that comes with data of its own, read at every call: a bound method, a functools.partial, an
    object, or the derivative of such a one."""
    request = transform_of(value)
    if request is not None:
        return holds_values(request[1])
    if isinstance(value, functools.partial):
        return True
    if isinstance(value, python_types.MethodType):
        return isinstance(value.__func__, python_types.FunctionType) or transform_of(value.__func__) is not None
    return callable(value) and is_user_object(value)


def _applied(cx: Frame, value: Any, kind: str, container: Any, key: object, label: str) -> AV:
    """A callable with data of its own: a function and arguments of it."""
    request = transform_of(value)
    if request is None and not isinstance(value, functools.partial | python_types.MethodType):
        return _hidden(cx, value, kind, container, key, label)
    if kind and kind != "constant":
        _guard(cx, kind, container, key, value)
    if request is not None:
        name, function, options = request
        inner = object_value(cx, function, "constant", function, None, label)
        return inner if name == "jit" else AV(Transformed(name, inner.type, tuple(options)), inner.values)
    if isinstance(value, python_types.MethodType):
        function, given, named = value.__func__, (value.__self__,), {}
    else:
        function, given, named = value.func, value.args, value.keywords
    parts = [object_value(cx, item, "constant", item, None, label) for item in (function, *given, *named.values())]
    count = 1 + len(given)
    return apply_to(parts[0], parts[1:count], dict(zip(named, parts[count:], strict=True)))


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
    if isinstance(value, python_types.FunctionType) and value.__code__ is _CONTEXT_MAKER:
        inner = constant_type(cx, value.__wrapped__, name)  # type: ignore[attr-defined]
        assert inner is not None
        return Closure("contextlib.context", (inner,), name)
    if isinstance(value, python_types.FunctionType) and not is_foreign(value):
        return Closure(_code_of(cx, value), (), value.__name__)
    if type(value) is np.vectorize and not (value.otypes or value.signature or value.excluded):
        inner = constant_type(cx, value.pyfunc, name)
        return None if inner is None else apply_to(AV(Builtin("pullback.vectorized")), [AV(inner)]).type
    if type(value) is _CACHED:
        return _cached_type(cx, value, name)
    if isinstance(value, Enum):
        return Member(value)
    if is_user_class(value) or is_user_exception(value):
        return Class(value)
    if callable(value) and not isinstance(value, np.generic) and not is_user_object(value):
        raise cx.error(*refusal(value, name))
    return None


def _cached_type(cx: Frame, value: Any, name: str) -> Type | None:
    """What functools.cache or lru_cache made: the function, and how many results are kept, as types without values."""
    inner = constant_type(cx, value.__wrapped__, name)
    if inner is None:
        return None
    most = value.cache_parameters()["maxsize"]
    size = AV(NONE if most is None else Str(str(most)))
    return apply_to(AV(Builtin("pullback.cached_outside")), [AV(inner), size]).type


_HEAP_TYPE = 1 << 9


def is_user_class(value: object) -> bool:
    """A class written in Python, of the user or of Python's library; not an exception."""
    if not isinstance(value, type) or not value.__flags__ & _HEAP_TYPE or issubclass(value, BaseException):
        return False
    made = vars(value).get("__new__")
    is_native = isinstance(made, python_types.BuiltinMethodType) and made.__self__ is value
    if value.__module__.startswith("pullback.prims.prelude."):
        return True
    return not is_native and value.__module__.partition(".")[0] not in ("numpy", "scipy", "pullback", "ctypes")


def is_user_exception(value: object) -> bool:
    """An exception class that is none of Python's own builtin ones."""
    return isinstance(value, type) and issubclass(value, BaseException) and bool(value.__flags__ & _HEAP_TYPE)


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
    if kind == "globals":
        assert isinstance(container, dict) and isinstance(key, tuple)
        hold_globals(cx, container, key, value, lambda inner: _constant_leaf(cx, inner, "a global"))
        return
    where = (id(container), key)
    type_ = fixed_place(cx, where, _input_type(cx, value, str(key)), value)
    cx.session.hidden[where] = Hidden(type_, kind, container, key)


def _hidden(cx: Frame, value: Any, kind: str, container: Any, key: object, label: str) -> AV:
    where = (id(container), key)
    type_ = fixed_place(cx, where, _input_type(cx, value, label), value)
    cx.session.hidden.setdefault(where, Hidden(type_, kind, container, key))
    machine = slots(type_)
    names = [label.rpartition(".")[2]] * len(machine)
    op = cx.e.append(get("hidden"), (), attrs={"key": where}, types=machine, names=names)
    found = cx.stated(AV(loose(type_), tuple(op.results)), type_)
    inside = cx.session.outside and cx.code.order > 0  # a derivative: the program writes to such arrays
    return cx.session.backward.outside(cx, where, found) if inside and cx.session.backward is not None else found


def _input_type(cx: Frame, value: Any, label: str) -> Type:
    short = label.rpartition(".")[2]
    try:
        type_ = imported(cx, value, short, ("hidden", label), lambda inner: _constant_leaf(cx, inner, label))
    except Refusal as error:
        raise cx.error(
            f"the value of '{label}' cannot be used in compiled code", f"it is {error.reason}",
            _outside(error),
        ) from None  # fmt: skip
    cx.session.given_depth = max(cx.session.given_depth, depth(type_))
    return type_


def _constant_leaf(cx: Frame, value: Any, name: str) -> Type:
    found = constant_type(cx, value, name)
    if found is None:
        raise TypeError(f"a {type(value).__name__} has no meaning in compiled code")
    cx.session.objects.append((found, value))
    return found

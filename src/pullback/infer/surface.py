"""The public names that compiled code knows, and where each call goes.

    math.sin        a row of the registry with PublicName kind "math"
    numpy.sin       the same row, kind "ufunc"
    builtins.sum    the prelude
    builtins.len    a handler of `python_functions`
"""

from __future__ import annotations

import builtins
import importlib
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from types import FunctionType
from typing import Any

from pullback.infer import derivatives, math_functions, numpy_functions, python_functions
from pullback.infer.calls import call
from pullback.infer.engine import Frame
from pullback.infer.values import AV
from pullback.prims.base import REGISTRY, Prim, PublicName
from pullback.prims.prelude import FUNCTIONS
from pullback.types import Closure

__all__ = ["builtin_name", "call_builtin", "call_method", "prelude", "public_names"]

Handler = Callable[[Frame, Sequence[AV], Mapping[str, AV]], AV]

_TRANSFORMS = ("grad", "value_and_grad")


def _transform(kind: str) -> Handler:
    return lambda cx, arguments, keywords: derivatives.transform(cx, kind, arguments, keywords)


def _jit(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    return arguments[0]


_HANDLERS: dict[str, Handler] = {
    **python_functions.HANDLERS, **math_functions.HANDLERS, **numpy_functions.HANDLERS,
    **{f"pullback.{kind}": _transform(kind) for kind in _TRANSFORMS},
    "pullback.jvp": derivatives.jvp, "pullback.vjp": derivatives.vjp, "pullback.jit": _jit,
}  # fmt: skip


@cache
def _rows() -> dict[str, tuple[Prim, PublicName]]:
    return {public.name: (prim, public) for prim in REGISTRY.values() for public in prim.public}


@cache
def _objects() -> dict[int, str]:
    """Python objects by identity, for every known name that exists in the running Python and NumPy."""
    found: dict[int, str] = {}
    for name in (*_rows(), *_HANDLERS, *FUNCTIONS):
        module, _, attribute = name.rpartition(".")
        if module in ("math", "numpy", "builtins"):
            value = getattr(importlib.import_module(module), attribute, None)
            if value is not None:
                found.setdefault(id(value), name)
    for name, value in vars(builtins).items():
        if isinstance(value, type) and issubclass(value, BaseException):
            found[id(value)] = f"builtins.{name}"
    return found


def public_names() -> list[str]:
    """Every name with a meaning in compiled code, sorted."""
    return sorted({*_rows(), *_HANDLERS, *FUNCTIONS})


def builtin_name(value: Any) -> str | None:
    """The dotted name of a known callable or class, else None."""
    found = _objects().get(id(value))
    if found is not None:
        return found
    if isinstance(value, FunctionType):
        marked = value.__dict__.get("__pullback_builtin__")
        return str(marked) if marked is not None else None
    return None


def call_builtin(cx: Frame, name: str, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    """Call a known function by its public name."""
    handler = _HANDLERS.get(name)
    if handler is not None:
        return handler(cx, arguments, keywords)
    row = _rows().get(name)
    if row is not None:
        prim, public = row
        if keywords:
            raise cx.error(f"{name}() takes no keyword arguments here", ", ".join(keywords))
        if public.kind == "math":
            return math_functions.call_row(cx, prim, public, arguments)
        return numpy_functions.call_row(cx, prim, public, arguments)
    if name in FUNCTIONS:
        return call(cx, prelude(cx, name), arguments, keywords)
    if name.startswith("builtins.") and _is_exception(name):
        from pullback.infer.python_functions import exception

        return exception(cx, name, arguments)
    raise cx.error(f"{name} cannot be called in compiled code", "this function is not known to pullback")


def _is_exception(name: str) -> bool:
    kind = getattr(builtins, name.removeprefix("builtins."), None)
    return isinstance(kind, type) and issubclass(kind, BaseException)


def prelude(cx: Frame, name: str) -> AV:
    """A function of the prelude as a closure."""
    return AV(Closure(cx.session.code_of(FUNCTIONS[name]), (), name.rpartition(".")[2]))


def call_method(cx: Frame, name: str, subject: AV, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    """subject.method(...) for arrays and dicts."""
    if name.startswith("ndarray."):
        return call_builtin(cx, f"numpy.{name.removeprefix('ndarray.')}", [subject, *arguments], keywords)
    return python_functions.dict_method(cx, name, subject, arguments)



"""The public names that compiled code knows, and who infers a call of each.

    math.sin        a row of the primitives' registry with PublicName kind "math"
    numpy.sin       the same row, kind "ufunc"
    builtins.sum    a function of the prelude
    builtins.len    a handler that a module of this room put into HANDLERS
"""

from __future__ import annotations

import builtins
import importlib
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from types import FunctionType
from typing import Any

import numpy as np

from pullback.infer.engine import Frame
from pullback.infer.values import AV
from pullback.prims.base import REGISTRY, Prim, PublicName
from pullback.prims.prelude import FUNCTIONS
from pullback.runtime.structured import text_of, unsupported
from pullback.types import Closure

__all__ = ["HANDLERS", "ROW_HANDLERS", "Handler", "builtin_name", "is_exception", "prelude", "public_names", "row_of"]

Handler = Callable[[Frame, Sequence[AV], Mapping[str, AV]], AV]
RowHandler = Callable[[Frame, Prim, PublicName, Sequence[AV]], AV]

HANDLERS: dict[str, Handler] = {}
ROW_HANDLERS: dict[str, RowHandler] = {}  # by the kind of the public name


@cache
def _rows() -> dict[str, tuple[Prim, PublicName]]:
    return {public.name: (prim, public) for prim in REGISTRY.values() for public in prim.public}


def row_of(name: str) -> tuple[Prim, PublicName] | None:
    """The primitive behind a public name, if it is one."""
    return _rows().get(name)


@cache
def _objects() -> dict[int, str]:
    """Python objects by identity, for every known name that exists in the running Python and NumPy."""
    found: dict[int, str] = {}
    for name in (*_rows(), *HANDLERS, *FUNCTIONS):
        module, _, attribute = name.rpartition(".")
        if module in ("math", "cmath", "numpy", "builtins"):
            value = getattr(importlib.import_module(module), attribute, None)
            if value is not None:
                found.setdefault(id(value), name)
    for name, value in vars(builtins).items():
        if isinstance(value, type) and issubclass(value, BaseException) and value.__name__ == name:
            found[id(value)] = f"builtins.{name}"
    found[id(NotImplemented)] = "builtins.NotImplemented"
    found[id(Ellipsis)] = "builtins.Ellipsis"
    return found


LIBRARIES = (
    "abc", "bisect", "collections", "contextlib", "copy", "dataclasses", "enum", "functools", "heapq", "itertools",
    "numpy.fft", "numpy.lib.scimath", "numpy.lib.stride_tricks", "numpy.linalg", "numpy.polynomial.chebyshev",
    "numpy.polynomial.hermite", "numpy.polynomial.hermite_e", "numpy.polynomial.laguerre",
    "numpy.polynomial.legendre", "numpy.polynomial.polynomial", "numpy.random", "operator", "scipy.linalg",
    "scipy.special", "statistics", "typing",
)  # fmt: skip
"""Modules of Python's library some of whose functions are known; they are not imported for that."""


@cache
def _library_objects(loaded: tuple[str, ...]) -> dict[int, str]:
    """As `_objects`, for modules of the library."""
    found: dict[int, str] = {}
    for name in (*_rows(), *HANDLERS, *FUNCTIONS):
        module, _, attribute = name.rpartition(".")
        value = getattr(sys.modules[module], attribute, None) if module in loaded else None
        if value is not None:
            found.setdefault(id(value), name)
    return found


def public_names() -> list[str]:
    """Every name with a meaning in compiled code, sorted."""
    return sorted({*_rows(), *HANDLERS, *FUNCTIONS})


def builtin_name(value: Any) -> str | None:
    """The dotted name of a known callable or class, else None."""
    found = _objects().get(id(value))
    if found is not None:
        return found
    found = _library_objects(tuple(name for name in LIBRARIES if name in sys.modules)).get(id(value))
    if found is not None:
        return found
    if isinstance(value, np.dtype) and value.isnative and value.kind in "biufc":
        return f"dtype.{value.name}"
    if isinstance(value, np.dtype) and value.names and not unsupported(value):
        return f"dtype.{text_of(value)}"
    if isinstance(value, FunctionType):
        marked = value.__dict__.get("__pullback_builtin__")
        return str(marked) if marked is not None else None
    return None


def is_exception(name: str) -> bool:
    """Is this the public name of a builtin exception class?"""
    kind = getattr(builtins, name.removeprefix("builtins."), None)
    return name.startswith("builtins.") and isinstance(kind, type) and issubclass(kind, BaseException)


def prelude(cx: Frame, name: str) -> AV:
    """A function of the prelude as a closure."""
    return AV(Closure(cx.session.code_of(FUNCTIONS[name]), (), name.rpartition(".")[2]))

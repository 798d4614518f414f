"""dtypes as values: what names one, and what is asked of one.

    np.uint8, np.dtype("u1"), "u1", "uint8", a.dtype, float      name a dtype where one is wanted
    a.dtype == np.float32, a.dtype.itemsize, np.iinfo(a.dtype).max, np.finfo(np.float32).eps      known while compiling
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from pullback.infer.engine import Frame
from pullback.infer.lattice import WEAK_INT
from pullback.infer.registry import HANDLERS, Handler
from pullback.infer.values import AV
from pullback.prims.scalar import NUMPY_DTYPES
from pullback.runtime.structured import from_text, text_of
from pullback.types import NONE, Builtin, DType, Number, Scalar, Str, Tuple, Type, show

__all__ = ["SCALARS", "dtype_value", "element_dtype", "is_dtype", "numpy_dtype", "of_dtype"]

SCALARS = {"bool_": DType.BOOL} | {kind.__name__: dtype for dtype, kind in NUMPY_DTYPES.items()}
"""The dtypes of real numbers by the names of their classes in NumPy."""

_ELEMENTS = {np.dtype(kind): dtype for dtype, kind in NUMPY_DTYPES.items()}
_PYTHON = {
    "builtins.bool": "bool", "builtins.int": "int64", "builtins.float": "float64", "builtins.complex": "complex128",
}  # fmt: skip
_COMPLEX = ("complex64", "complex128")


def numpy_dtype(type_: Type) -> np.dtype[Any] | None:
    """The dtype that a value of this type names, if it names one."""
    if isinstance(type_, Str):
        try:
            return np.dtype(type_.value)
        except TypeError:
            return None
    if not isinstance(type_, Builtin):
        return None
    if type_.name.startswith("dtype.{"):
        found: np.dtype[Any] = from_text(type_.name.removeprefix("dtype."))
        return found
    module, _, name = type_.name.rpartition(".")
    name = _PYTHON.get(type_.name, name if module in ("numpy", "dtype") else "")
    return np.dtype(name) if name in SCALARS or name in _COMPLEX else None


def element_dtype(found: np.dtype[Any] | None) -> DType | None:
    """Our dtype of real numbers for one of NumPy's."""
    return None if found is None else _ELEMENTS.get(found)


def dtype_value(found: np.dtype[Any]) -> AV:
    """A dtype as a value: known by its name, or by all its fields."""
    return AV(Builtin(f"dtype.{text_of(found) if found.names else found.name}"))


def is_dtype(type_: Type) -> bool:
    """Is this a dtype, and not just the name of one."""
    return isinstance(type_, Builtin) and type_.name.startswith("dtype.")


def _number(cx: Frame, value: Any) -> AV:
    """A number of NumPy or an int of Python as a constant."""
    if isinstance(value, np.generic):
        dtype = _ELEMENTS[value.dtype]
        return AV(Number(dtype, False), (cx.e.constant(value.item(), Scalar(dtype)),))
    if not -(2**63) <= value < 2**63:
        raise cx.error(f"{value} does not fit a 64-bit int", "Python's ints have 64 bits here", "write np.uint64(~0)")
    return AV(WEAK_INT, (cx.e.integer(value),), value)


def of_dtype(cx: Frame, type_: Builtin, name: str) -> AV | None:
    """An attribute of a dtype, of np.iinfo(...) or of np.finfo(...)."""
    kind, _, title = type_.name.partition(".")
    if kind not in ("dtype", "iinfo", "finfo"):
        return None
    dtype = numpy_dtype(type_) if kind == "dtype" else np.dtype(title)
    assert dtype is not None
    if kind == "dtype":
        if name == "names":
            return _names(dtype)
        if name == "type":
            return AV(Builtin(f"numpy.{dtype.type.__name__}"))
        if name in ("name", "kind", "str", "char"):
            return AV(Str(getattr(dtype, name)), (), getattr(dtype, name))
        return _number(cx, getattr(dtype, name)) if name in ("itemsize", "alignment", "num") else None
    info: Any = np.iinfo(dtype) if kind == "iinfo" else np.finfo(dtype)
    names = ("bits", "max", "min") if kind == "iinfo" else _OF_FLOATS
    if name == "dtype":
        return dtype_value(dtype)
    return _number(cx, getattr(info, name)) if name in names else None


def _names(dtype: np.dtype[Any]) -> AV:
    """The names of the fields, or None."""
    return AV(NONE) if dtype.names is None else AV(Tuple(tuple(map(Str, dtype.names))))


_OF_FLOATS = (
    "bits", "eps", "epsneg", "max", "min", "tiny", "smallest_normal", "smallest_subnormal", "resolution", "precision",
    "nmant", "nexp", "maxexp", "minexp", "iexp", "machep", "negep",
)  # fmt: skip


def _one(name: str, rule: Callable[[Frame, Type], AV]) -> Handler:
    def handler(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
        if len(given) != 1 or keywords:
            raise cx.type_error(f"{name}() takes one argument here", f"{len(given) + len(keywords)} are given")
        return rule(cx, given[0].type)

    return handler


def _dtype(cx: Frame, type_: Type) -> AV:
    found = numpy_dtype(type_)
    if found is None or not (found in _ELEMENTS or found.name in _COMPLEX):
        raise cx.error(f"the dtype {show(type_)} is not supported", "", "those of numbers in native byte order are")
    return dtype_value(found)


def _info(kind: str) -> Callable[[Frame, Type], AV]:
    """np.iinfo and np.finfo."""
    kinds = "iu" if kind == "iinfo" else "fc"

    def rule(cx: Frame, type_: Type) -> AV:
        if isinstance(type_, Number) and not type_.weak:
            type_ = Builtin(f"dtype.{type_.dtype.title}")
        found = numpy_dtype(type_)
        if found is None or found.kind not in kinds:
            raise cx.error(f"np.{kind} takes a dtype of {'ints' if kind == 'iinfo' else 'floats'}", show(type_),
                           "write np.int32 or np.float64, say")  # fmt: skip
        return AV(Builtin(f"{kind}.{np.finfo(found).dtype.name if found.kind == 'c' else found.name}"))

    return rule


HANDLERS.update({
    "numpy.dtype": _one("numpy.dtype", _dtype), "numpy.iinfo": _one("numpy.iinfo", _info("iinfo")),
    "numpy.finfo": _one("numpy.finfo", _info("finfo")),
})  # fmt: skip

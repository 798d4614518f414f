"""Tuples, attributes, unpacking, narrowing of unions, exceptions."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pullback.diagnostic import CompileError
from pullback.infer.advice import nearest
from pullback.infer.binding import pack_tuple
from pullback.infer.complexes import complex_of, halves, part_of
from pullback.infer.containers import special
from pullback.infer.dispatch import dispatch
from pullback.infer.dtypes import dtype_value, of_dtype
from pullback.infer.elementwise import TOO_BIG, array_sizes, product
from pullback.infer.engine import Frame
from pullback.infer.heaps import kind_of
from pullback.infer.lattice import WEAK_INT
from pullback.infer.literals import literal
from pullback.infer.narrowing import restrict, without
from pullback.infer.numbers import as_number, python_int
from pullback.infer.objects import method_of_union, object_attribute
from pullback.infer.protocols import has_special
from pullback.infer.records import fields, leaf_of, record_at
from pullback.infer.registry import HANDLERS
from pullback.infer.samples import python_error
from pullback.infer.values import AV, items_of
from pullback.infer.views import array_element, array_of
from pullback.ir.node import Value
from pullback.prims.prelude import FUNCTIONS
from pullback.runtime.layout import COMPLEX_SCALARS, NUMPY_SCALARS
from pullback.types import (
    Array,
    Builtin,
    Closure,
    Complex,
    Constant,
    Dict,
    DType,
    Iterator,
    List,
    Number,
    Range,
    Record,
    Ref,
    Scalar,
    Str,
    Text,
    Tuple,
    Type,
    Union,
    show,
)  # fmt: skip

__all__ = ["ATTRIBUTES", "COMPLEX_GETTERS", "GETTERS", "attribute", "restrict", "unpack", "without"]

ARRAY_METHODS = (
    "sum", "mean", "prod", "max", "min", "argmax", "argmin", "any", "all", "var", "std", "dot", "copy", "item",
    "astype", "reshape", "ravel", "flatten", "transpose", "diagonal", "trace", "squeeze", "fill", "clip", "round",
    "swapaxes", "repeat", "take", "put", "choose", "compress", "nonzero", "tolist", "conj", "conjugate",
    "cumsum", "cumprod", "sort", "argsort", "partition", "argpartition", "searchsorted",
)  # fmt: skip
ARRAY_ATTRIBUTES = ("shape", "ndim", "size", "dtype", "T")
_PYTHON_KINDS: dict[type[Type], type] = {Array: np.ndarray, List: list, Tuple: tuple, Dict: dict, Str: str, Text: str}
_PYTHON_NUMBERS: dict[DType, type] = {DType.BOOL: bool, DType.I64: int, DType.F64: float}
_ATTRIBUTE_HELP: dict[type, str] = {
    str: "bytes and the rarer methods of strings are not known: return the string and do it outside",
}


# Attributes of values of other types, by type; modules of this room that know such types put themselves here.
ATTRIBUTES: dict[type[Type], Callable[[Frame, AV, str], AV]] = {}


# Attributes of arrays that another module of this room knows.
GETTERS: dict[str, Callable[[Frame, AV], AV]] = {}


def attribute(cx: Frame, subject: AV, name: str) -> AV:
    """subject.name for arrays and numbers."""
    if isinstance(subject.type, Union):
        if (method := method_of_union(cx, subject, name)) is not None:
            return method
        return dispatch(cx, [subject], lambda cx, operands: attribute(cx, operands[0], name))
    if (own := object_attribute(cx, subject, name)) is not None:
        return own
    handler = ATTRIBUTES.get(type(subject.type))
    if handler is not None:
        return handler(cx, subject, name)
    match subject.type:
        case Constant():
            return attribute(cx, as_number(cx, subject), name)
        case Array():
            found = _array_attribute(cx, subject, subject.type, name)
            if found is not None:
                return found
        case Number(dtype, weak):
            if name == "real" and dtype is not DType.BOOL:
                return subject
            if name == "imag" and dtype is not DType.BOOL:
                return AV(subject.type, (cx.e.constant(0.0 if dtype.is_float else 0, Scalar(dtype)),))
            if not weak and (found := _scalar_attribute(cx, subject, name)) is not None:
                return found
            if name == "dtype" and not weak:
                return dtype_value(np.dtype(NUMPY_SCALARS[dtype]))
            if weak and (known := _number_attribute(cx, subject, name)) is not None:
                return known
        case Builtin() if (known := of_dtype(cx, subject.type, name)) is not None:
            return known
        case Complex():
            return complex_attribute(cx, subject, name)
        case Str() | Text() if f"str.{name}" in HANDLERS or f"str.{name}" in FUNCTIONS:
            return AV(Closure(f"str.{name}", (subject.type,), f"str.{name}"), subject.values)
        case Builtin(written) if f"{written}.{name}" in HANDLERS:
            return AV(Builtin(f"{written}.{name}"))
        case Builtin(written) if f"{written.removeprefix('builtins.')}.{name}" in HANDLERS:
            return AV(Builtin(f"{written.removeprefix('builtins.')}.{name}"))
        case List() | Dict() | Tuple() | Ref() if f"{_container(subject.type)}.{name}" in HANDLERS:
            written = f"{_container(subject.type)}.{name}"
            return AV(Closure(written, (subject.type,), written), subject.values)
    raise _no_attribute(cx, subject.type, name)


# Attributes of complex arrays, which modules above put here.
COMPLEX_GETTERS: dict[str, Callable[[Frame, AV], AV]] = {}


def complex_attribute(cx: Frame, subject: AV, name: str) -> AV:
    """An attribute of a complex number or array: of its parts, or of both."""
    real, imag = halves(subject)
    if name in ("real", "imag"):
        return part_of(subject, 0 if name == "real" else 1)
    if name == "conjugate" or (name == "conj" and not _is_python(real.type)):
        return AV(Closure(f"complex.{name}", (subject.type,), f"complex.{name}"), subject.values)
    if name == "dtype" and isinstance(real.type, Array | Number) and not _is_python(real.type):
        return dtype_value(np.dtype(COMPLEX_SCALARS[real.type.dtype]))
    if not isinstance(real.type, Array):
        raise _no_attribute(cx, subject.type, name)
    if name in ("T", "mT", "flat"):
        return complex_of(attribute(cx, real, name), attribute(cx, imag, name))
    if name in ARRAY_METHODS:
        return AV(Closure(f"complex.{name}", (subject.type,), f"complex.{name}"), subject.values)
    if name in ("shape", "ndim", "size"):
        return attribute(cx, real, name)
    if name in COMPLEX_GETTERS:
        return COMPLEX_GETTERS[name](cx, subject)
    raise _no_attribute(cx, subject.type, name)


def _is_python(type_: Type) -> bool:
    return isinstance(type_, Number) and type_.weak


def _container(type_: Type) -> str:
    return {List: "list", Dict: "dict", Tuple: "tuple"}.get(type(type_)) or kind_of(type_)


def _no_attribute(cx: Frame, type_: Type, name: str) -> CompileError:
    kind = _PYTHON_KINDS.get(type(type_))
    if isinstance(type_, Number):
        kind = NUMPY_SCALARS[type_.dtype] if not type_.weak else _PYTHON_NUMBERS[type_.dtype]
    if kind is not None and hasattr(kind, name):
        shown = f"{kind.__module__}.{kind.__name__}".removeprefix("builtins.")
        help = "arrays have " + ", ".join((*ARRAY_ATTRIBUTES, *ARRAY_METHODS))
        return cx.error(f"{shown}.{name} is not supported yet", "not known to pullback",
                        help if kind is np.ndarray else _ATTRIBUTE_HELP.get(kind, ""))  # fmt: skip
    if isinstance(type_, Dict) and name in type_.keys:
        help = f"write [{name!r}] for the entry of that key"
    else:
        help = nearest(name, dir(kind) if kind is not None else ())
    raised = python_error(lambda value: getattr(value, name), type_)
    return cx.error(f"{show(type_)} has no attribute '{name}'", "this attribute does not exist", help, raised=raised)


def _array_attribute(cx: Frame, av: AV, type_: Array, name: str) -> AV | None:
    if name == "shape":
        return AV(Tuple((WEAK_INT,) * type_.rank), tuple(array_sizes(cx, av)))
    if name == "ndim":
        return AV(WEAK_INT, (cx.e.integer(type_.rank),), type_.rank)
    if name == "size":
        return AV(WEAK_INT, (_element_count(cx, av),))
    if name == "dtype":
        return dtype_value(np.dtype(NUMPY_SCALARS[type_.dtype]))
    if name == "T":
        perm = tuple(reversed(range(type_.rank)))
        view = cx.e("view_transpose", av.value, perm=perm)
        return array_of(view, type_, tuple(reversed(type_.ones)), perm=perm)
    if name in ARRAY_METHODS:
        return AV(Closure(f"ndarray.{name}", (type_,), f"ndarray.{name}"), av.values)
    getter = GETTERS.get(name)
    return None if getter is None else getter(cx, av)


def _scalar_attribute(cx: Frame, av: AV, name: str) -> AV | None:
    """What numbers of NumPy have in common with arrays."""
    assert isinstance(av.type, Number)
    if name in ("ndim", "size"):
        return AV(WEAK_INT, (cx.e.integer(int(name == "size")),), int(name == "size"))
    if name == "shape":
        return AV(Tuple(()))
    if name == "T":
        return av
    if name in _SCALAR_METHODS:
        return AV(Closure(f"ndarray.{name}", (av.type,), f"ndarray.{name}"), av.values)
    return None


def _number_attribute(cx: Frame, av: AV, name: str) -> AV | None:
    """What Python's own numbers have."""
    assert isinstance(av.type, Number)
    kind = "float" if av.type.dtype.is_float else "int"
    if name == "imag" or (name == "denominator" and kind == "int"):
        return literal(cx, int(name == "denominator") if kind == "int" else 0.0)
    if name in ("real", "numerator") and kind == "int":
        return AV(WEAK_INT, (python_int(cx, av),), av.literal)
    method = f"{kind}.{name}"
    return AV(Closure(method, (av.type,), method), av.values) if method in FUNCTIONS else None


_SCALAR_METHODS = (
    "item", "astype", "sum", "mean", "prod", "max", "min", "round", "clip", "conj", "conjugate", "any", "all",
)  # fmt: skip


def _element_count(cx: Frame, av: AV) -> Value:
    """The product of the sizes.  Views with strides of 0 broadcast to arrays that nothing could hold: TOO_BIG."""
    sizes = array_sizes(cx, av)
    if len(sizes) > 1:
        cx.check(cx.e("not_", product(cx, sizes)[1]), "ValueError", TOO_BIG)
    total = cx.e.integer(1)
    for size in sizes:
        total = cx.e("mul", total, size)
    return total


# ------------------------------------------------------------------------------------------------- unpacking


def unpack(cx: Frame, av: AV, count: int) -> list[AV]:
    """The `count` items of an unpacking assignment."""
    match av.type:
        case Tuple(_, type()) if has_special(cx, av.type, "__iter__"):
            listed = HANDLERS["builtins.list"](cx, [av], {})
            return [listed] * count if cx.dead else unpack(cx, listed, count)
        case Tuple(items) | List(items):
            if len(items) != count:
                word = "too many values to unpack" if len(items) > count else "not enough values to unpack"
                help = f"name all {len(items)} items on the left, or `_` for those not needed"
                raise cx.error(f"{word} (expected {count}, got {len(items)})", f"this is {show(av.type)}", help,
                               raised=("ValueError", _unpack_message(count, len(items), dict=False)))  # fmt: skip
            return items_of(av)
        case Dict(keys, _):
            if len(keys) != count:
                raise cx.error(f"a dict of {len(keys)} keys cannot be unpacked into {count} names",
                               f"this is {show(av.type)}", f"name all {len(keys)} keys",
                               raised=("ValueError", _unpack_message(count, len(keys), dict=True)))  # fmt: skip
            return [AV(Str(key), (), key) for key in keys]
        case Array(_, rank, _) if rank > 0:
            _require_count(cx, av, count)
            return [array_element(cx, av, cx.e.integer(k)) for k in range(count)]
        case Record(single=True):
            return unpack(cx, pack_tuple(fields(cx, av)), count)
        case Record(rank=rank) if rank > 0:
            _require_count(cx, leaf_of(av), count)
            return [record_at(cx, av, cx.e.integer(k)) for k in range(count)]
        case Union():
            return _unpack_union(cx, av, count)
        case Ref():
            found = special(cx, "__unpack__", av, AV(WEAK_INT, (cx.e.integer(count),), count))
            if found is not None:
                return items_of(found) if isinstance(found.type, Tuple) else [found] * count
    if isinstance(av.type, Iterator | Range | Str | Text) or _runs_over(cx, av):
        listed = HANDLERS["builtins.list"](cx, [av], {})
        return [listed] * count if cx.dead else unpack(cx, listed, count)
    raised = python_error(_unpack_two, av.type)
    raise cx.error(f"cannot unpack {show(av.type)}", "tuples, lists and arrays can be unpacked", raised=raised)


def _runs_over(cx: Frame, av: AV) -> bool:
    """Is it an object that its class lets loops run over."""
    return isinstance(av.type, Ref) and any(has_special(cx, av.type, name) for name in ("__iter__", "__getitem__"))


def _require_count(cx: Frame, av: AV, count: int) -> None:
    """The first axis of an array has as many elements as there are names."""
    size, wanted = array_sizes(cx, av)[0], cx.e.integer(count)
    enough = cx.e("ge", size, wanted)
    cx.check(enough, "ValueError", f"not enough values to unpack (expected {count}, got {{0}})", size)
    cx.check(cx.e("eq", size, wanted), "ValueError", f"too many values to unpack (expected {count})")


def _unpack_message(wanted: int, given: int, *, dict: bool) -> str:
    """What Python says of a tuple, list or dict of another length."""
    if given < wanted:
        return f"not enough values to unpack (expected {wanted}, got {given})"
    counted = sys.version_info >= (3, 14) and not dict
    return f"too many values to unpack (expected {wanted}" + (f", got {given})" if counted else ")")


def _unpack_two(value: Any) -> None:
    _, _ = value


def _unpack_union(cx: Frame, av: AV, count: int) -> list[AV]:
    def rule(cx: Frame, operands: Sequence[AV]) -> AV:
        items = unpack(cx, operands[0], count)
        return AV(Tuple(tuple(i.type for i in items)), tuple(v for i in items for v in i.values))

    whole = dispatch(cx, [av], rule)
    if isinstance(whole.type, Tuple):
        return items_of(whole)
    raise cx.error(f"cannot unpack {show(av.type)}")

"""Tuples, attributes, unpacking, narrowing of unions, exceptions."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pullback.diagnostic import CompileError
from pullback.infer.advice import nearest
from pullback.infer.dispatch import dispatch
from pullback.infer.elementwise import TOO_BIG, array_sizes, product
from pullback.infer.engine import Frame
from pullback.infer.lattice import WEAK_INT
from pullback.infer.registry import is_exception
from pullback.infer.samples import python_error
from pullback.infer.values import AV, items_of, narrow
from pullback.infer.views import array_element, array_of
from pullback.ir.node import Value
from pullback.runtime.layout import NUMPY_SCALARS
from pullback.types import (
    Array,
    Builtin,
    Closure,
    Dict,
    DType,
    List,
    Number,
    Str,
    Tuple,
    Type,
    Union,
    distinct_slots,
    show,
    slot_positions,
    slots,
    union_of,
)  # fmt: skip

__all__ = ["attribute", "exception_of", "message_of", "restrict", "unpack", "without"]

ARRAY_METHODS = (
    "sum", "mean", "prod", "max", "min", "argmax", "argmin", "any", "all", "var", "std", "dot", "copy", "item",
    "astype", "reshape", "ravel", "flatten", "transpose", "diagonal", "squeeze", "fill", "clip", "round",
)  # fmt: skip
ARRAY_ATTRIBUTES = ("shape", "ndim", "size", "dtype", "T")
_PYTHON_KINDS: dict[type[Type], type] = {Array: np.ndarray, List: list, Tuple: tuple, Dict: dict, Str: str}
_PYTHON_NUMBERS: dict[DType, type] = {DType.BOOL: bool, DType.I64: int, DType.F64: float}
_ATTRIBUTE_HELP: dict[type, str] = {
    list: "lists cannot change yet: accumulate a number, or write into an array made by np.zeros",
    dict: "dicts are only read so far: write out a new dict",
    str: "text cannot be computed in compiled code: return the numbers and format them outside",
}
_DTYPE_NAMES = {DType.BOOL: "bool_", DType.I32: "int32", DType.I64: "int64", DType.F32: "float32", DType.F64: "float64"}


def attribute(cx: Frame, subject: AV, name: str) -> AV:
    """subject.name for arrays and numbers."""
    if isinstance(subject.type, Union):
        return dispatch(cx, [subject], lambda cx, operands: attribute(cx, operands[0], name))
    match subject.type:
        case Array():
            found = _array_attribute(cx, subject, subject.type, name)
            if found is not None:
                return found
        case Number(dtype, weak):
            if name == "real" and dtype is not DType.BOOL:
                return subject
            if name == "dtype" and not weak:
                return AV(Builtin(f"numpy.{_DTYPE_NAMES[dtype]}"))
        case Dict() if name in ("keys", "values", "items", "get"):
            return AV(Closure(f"dict.{name}", (subject.type,), f"dict.{name}"), subject.values)
    raise _no_attribute(cx, subject.type, name)


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
        return AV(Builtin(f"numpy.{_DTYPE_NAMES[type_.dtype]}"))
    if name == "T":
        perm = tuple(reversed(range(type_.rank)))
        view = cx.e("view_transpose", av.value, perm=perm)
        return array_of(view, type_, tuple(reversed(type_.ones)), perm=perm)
    if name in ARRAY_METHODS:
        return AV(Closure(f"ndarray.{name}", (type_,), f"ndarray.{name}"), av.values)
    return None


def _element_count(cx: Frame, av: AV) -> Value:
    """The product of the sizes.  Views with strides of 0 broadcast to arrays that nothing could hold: TOO_BIG."""
    sizes = array_sizes(cx, av)
    if len(sizes) > 1:
        cx.check(cx.e("not_", product(cx, sizes)[1]), "ValueError", TOO_BIG)
    total = cx.e.integer(1)
    for size in sizes:
        total = cx.e("mul", total, size)
    return total


# ------------------------------------------------------------------------------------------------- narrowing


def without(cx: Frame, av: AV, excluded: Callable[[Type], bool]) -> AV:
    """A union whose value is known not to be one of the excluded members."""
    assert isinstance(av.type, Union)
    return restrict(cx, av, tuple(m for m in av.type.members if not excluded(m)))


def restrict(cx: Frame, av: AV, possible: Sequence[Type]) -> AV:
    """The union's value where only `possible` members remain: fewer tags, renumbered."""
    if not isinstance(av.type, Union) or tuple(possible) == av.type.members:
        return av
    kept = [m for m in av.type.members if m in possible]
    if not kept:
        return av
    if len(kept) == 1:
        return narrow(av, kept[0])
    target = union_of(*kept)
    assert isinstance(target, Union)
    tag = cx.e.integer(0)
    for number, member in enumerate(kept[1:], 1):
        hit = cx.e("eq", av.values[0], cx.e.integer(av.type.members.index(member)))
        tag = cx.e("select", hit, cx.e.integer(number), tag)
    if distinct_slots(target.members) == distinct_slots(av.type.members):
        return AV(target, (tag, *av.values[1:]))
    payload: list[object] = [None] * (len(slots(target)) - 1)
    for member in kept:
        inner = narrow(av, member)
        for position, value in zip(slot_positions(target, member), inner.values, strict=True):
            payload[position - 1] = value
    return AV(target, (tag, *payload))  # type: ignore[arg-type]


# ------------------------------------------------------------------------------------------------- unpacking


def unpack(cx: Frame, av: AV, count: int) -> list[AV]:
    """The `count` items of an unpacking assignment."""
    match av.type:
        case Tuple(items) | List(items):
            if len(items) != count:
                word = "too many values to unpack" if len(items) > count else "not enough values to unpack"
                help = f"name all {len(items)} items on the left, or `_` for those not needed"
                raise cx.error(f"{word} (expected {count}, got {len(items)})", f"this is {show(av.type)}", help)
            return items_of(av)
        case Dict(keys, _):
            if len(keys) != count:
                raise cx.error(f"a dict of {len(keys)} keys cannot be unpacked into {count} names",
                               f"this is {show(av.type)}", f"name all {len(keys)} keys")  # fmt: skip
            return [AV(Str(key), (), key) for key in keys]
        case Array(_, rank, _) if rank > 0:
            size = array_sizes(cx, av)[0]
            wanted = cx.e.integer(count)
            enough = cx.e("ge", size, wanted)
            cx.check(enough, "ValueError", f"not enough values to unpack (expected {count}, got {{0}})", size)
            cx.check(cx.e("eq", size, wanted), "ValueError", f"too many values to unpack (expected {count})")
            return [array_element(cx, av, cx.e.integer(k)) for k in range(count)]
        case Union():
            return _unpack_union(cx, av, count)
    raised = python_error(_unpack_two, av.type)
    raise cx.error(f"cannot unpack {show(av.type)}", "tuples, lists and arrays can be unpacked", raised=raised)


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


# ------------------------------------------------------------------------------------------------ exceptions


def exception_of(cx: Frame, av: AV) -> tuple[str, str]:
    """Name and message of the exception a `raise` statement is given."""
    match av.type:
        case Builtin(name):
            return _exception_name(cx, name, ()), ""
        case Tuple((Builtin(name), Str(message))):
            return _exception_name(cx, name, (message,)), message
        case Tuple((Builtin(name), inner)) if is_exception(name):
            raise cx.error(
                "the text of an exception must be a string known while compiling", f"this is {show(inner)}",
                f'write the text out: {name.removeprefix("builtins.")}("...")',
            )  # fmt: skip
    raise cx.error(f"only exceptions can be raised, not {show(av.type)}", "needs an exception class or object",
                   'write raise ValueError("...")')  # fmt: skip


def _exception_name(cx: Frame, name: str, arguments: tuple[str, ...]) -> str:
    short = name.removeprefix("builtins.")
    kind = getattr(builtins, short, None)
    if not (isinstance(kind, type) and issubclass(kind, BaseException)):
        raise cx.error(f"only exceptions can be raised, not {short}", "needs an exception class or object",
                       'write raise ValueError("...")')  # fmt: skip
    try:
        kind(*arguments)
    except TypeError as error:
        raise cx.type_error(f"{short}: {error}", "Python cannot make this exception either") from None
    return short


def message_of(cx: Frame, av: AV) -> str:
    """The text of an assert."""
    if isinstance(av.type, Str):
        return av.type.value
    raise cx.error("the text of an assert must be a string known while compiling", f"this is {show(av.type)}",
                   'write the text out: assert condition, "..."')  # fmt: skip



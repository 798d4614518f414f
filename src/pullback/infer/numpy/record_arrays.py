"""Making structured arrays, and their dtypes.

    np.zeros(n, dtype=[("x", "f8"), ("pos", "f4", (3,))])      one array of zeros for each field
    np.array([(1.0, 2), (3.0, 4)], dtype=particle)             the items written one by one
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from pullback.infer.calls import INTERCEPT, call_builtin
from pullback.infer.complexes import complex_of
from pullback.infer.creation import Arguments, arguments_of, empty, sizes_of
from pullback.infer.dtypes import dtype_value, element_dtype, numpy_dtype
from pullback.infer.elementwise import array_sizes, require_room
from pullback.infer.engine import Frame
from pullback.infer.record_writes import assign_whole
from pullback.infer.records import model_of, not_single, record_copy, record_item, record_kind
from pullback.infer.registry import HANDLERS
from pullback.infer.static import static_flag, static_int
from pullback.infer.values import AV, items_of
from pullback.ir.node import Value
from pullback.runtime.structured import unsupported
from pullback.types import Array, DType, List, NoneType, Number, Record, Str, Tuple, Type, show

__all__ = ["empty_records", "structured_dtype"]

Rule = Callable[[Frame, str, Sequence[AV], Mapping[str, AV]], AV | None]
_PARTS = {np.dtype(np.complex64): DType.F32, np.dtype(np.complex128): DType.F64}


# ----------------------------------------------------------------------------------------------------------- dtypes


def structured_dtype(cx: Frame, av: AV | None, *, align: bool = False) -> np.dtype[Any] | None:
    """The structured dtype that a value names or lists the fields of; None where it is no such value."""
    if av is None:
        return None
    found = numpy_dtype(av.type)
    if isinstance(av.type, List) and av.type.items and all(isinstance(t, Tuple) for t in av.type.items):
        found = np.dtype([_field(cx, item) for item in items_of(av)], align=align)
    if found is None or not found.names:
        return None
    if reason := unsupported(found):
        title = f"a structured dtype whose {reason} is not supported"
        raise cx.error(title, "the fields are numbers, or records of them")
    return found


def _field(cx: Frame, item: AV) -> tuple[Any, ...]:
    """Name, dtype and perhaps shape of a field."""
    name, *parts = items_of(item)
    if not isinstance(name.type, Str) or not 1 <= len(parts) <= 2:
        raise cx.error("a field is written as a tuple of its name, its dtype and perhaps its shape", show(item.type))
    kind: Any = structured_dtype(cx, parts[0]) or numpy_dtype(parts[0].type)
    if kind is None:
        raise cx.error(f"the dtype {show(parts[0].type)} of the field '{name.type.value}' is not known", "",
                       "write it as np.float64, or as 'f8'")  # fmt: skip
    if len(parts) == 1:
        return name.type.value, kind
    shape = items_of(parts[1]) if isinstance(parts[1].type, Tuple) else [parts[1]]
    return name.type.value, kind, tuple(static_int(cx, size, "the shape of a field") for size in shape)


_plain_dtype = HANDLERS["numpy.dtype"]


def _dtype(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    """np.dtype([("x", "f8"), ...], align=True), or that of numbers."""
    options = dict(keywords)
    align = static_flag(cx, options.pop("align"), "align") if "align" in options else False
    found = structured_dtype(cx, given[0], align=align) if len(given) == 1 and not options else None
    return dtype_value(found) if found is not None else _plain_dtype(cx, given, keywords)


# ----------------------------------------------------------------------------------------------------------- making


def _built(
    layout: np.dtype[Any], rank: int, make: Callable[[DType, tuple[int, ...]], AV], own: tuple[int, ...] = ()
) -> AV:
    """A structured array of what `make` gives for each array of numbers in it, given its dtype and its own axes."""
    found: list[AV] = []
    assert layout.names is not None and layout.fields is not None
    for name in layout.names:
        base, shape = layout.fields[name][0].subdtype or (layout.fields[name][0], ())
        axes, dtype = (*own, *shape), element_dtype(base)
        if base.names:
            found.append(_built(base, rank, make, axes))
        elif dtype is not None:
            found.append(make(dtype, axes))
        else:
            found.append(complex_of(make(_PARTS[base], axes), make(_PARTS[base], axes)))
    types, values = tuple(part.type for part in found), tuple(v for part in found for v in part.values)
    return AV(Record(tuple(layout.names), types, layout, rank + len(own)), values)


def empty_records(cx: Frame, layout: np.dtype[Any], sizes: Sequence[Value], name: str = "array_zeros") -> AV:
    """A fresh structured array of these sizes."""

    def make(dtype: DType, own: tuple[int, ...]) -> AV:
        whole = [*sizes, *map(cx.e.integer, own)]
        require_room(cx, whole, dtype)
        return empty(cx, whole, dtype, name)

    return _built(layout, len(sizes), make)


_MADE = {"zeros": 0, "ones": 1, "empty": None, "full": None}


def _made(cx: Frame, name: str, found: Arguments, layout: np.dtype[Any], sizes: Sequence[Value]) -> AV:
    """np.zeros and its kin, for sizes."""
    fresh = empty_records(cx, layout, sizes, "array_empty" if name == "empty" else "array_zeros")
    if name == "ones":
        assign_whole(cx, fresh, AV(Number(DType.I64), (cx.e.integer(1),), 1))
    if name == "full":
        assign_whole(cx, fresh, found["fill_value"])
    return fresh


def _new(cx: Frame, name: str, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV | None:
    """np.zeros(shape, dtype)"""
    names = ("shape", "fill_value", "dtype") if name == "full" else ("shape", "dtype")
    layout = structured_dtype(cx, keywords.get("dtype", given[len(names) - 1] if len(given) == len(names) else None))
    if layout is None:
        return None
    found = arguments_of(cx, f"numpy.{name}", names, given, keywords)
    return _made(cx, name, found, layout, sizes_of(cx, found["shape"], DType.U8))


def _like(cx: Frame, name: str, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV | None:
    """np.zeros_like(a), of a structured array."""
    if not given or not isinstance(given[0].type, Record):
        return None
    names = ("a", "fill_value", "dtype") if name == "full_like" else ("a", "dtype")
    found = arguments_of(cx, f"numpy.{name}", names, given, keywords)
    layout: Any = structured_dtype(cx, found["dtype"]) if "dtype" in found else record_kind(given[0]).layout
    sizes = array_sizes(cx, model_of(not_single(cx, given[0])))
    if layout is None:  # an array of numbers of the same shape
        shape = AV(Tuple((Number(DType.I64),) * len(sizes)), tuple(sizes))
        rest = {key: value for key, value in found.items() if key != "a"}
        return call_builtin(cx, f"numpy.{name.removesuffix('_like')}", [shape], rest)
    return _made(cx, name.removesuffix("_like"), found, layout, sizes)


# -------------------------------------------------------------------------------------------------- from sequences


def _array(cx: Frame, name: str, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV | None:
    """np.array(value, dtype) and np.asarray, of records, or of lists of tuples or records."""
    named = keywords.get("dtype", given[1] if len(given) > 1 else None)
    layout: Any = structured_dtype(cx, named)
    if not given or (layout is None and _records_in(given[0].type) is None):
        return None
    found = arguments_of(cx, f"numpy.{name}", ("a", "dtype"), given, keywords)
    if layout is None and "dtype" in found and not isinstance(found["dtype"].type, NoneType):
        raise cx.error("records cannot be made to numbers", show(found["dtype"].type), "take a field: a['name']")
    value = found["a"]
    layout = layout if layout is not None else _records_in(value.type)
    if isinstance(value.type, Record) and value.type.layout == layout:
        plain = not_single(cx, value)
        return record_copy(cx, plain) if name == "array" else plain
    if isinstance(value.type, Record | Array | Number):
        return _converted(cx, layout, value)
    return _of_items(cx, layout, value)


def _records_in(type_: Type) -> Any:
    """The dtype of the records in nested lists; None where there are none."""
    while isinstance(type_, List) and type_.items:
        type_ = type_.items[0]
    return type_.layout if isinstance(type_, Record) else None


def _converted(cx: Frame, layout: np.dtype[Any], value: AV) -> AV:
    """Records of another dtype, field by field; numbers in every field."""
    array = model_of(not_single(cx, value)) if isinstance(value.type, Record) else value
    fresh = empty_records(cx, layout, array_sizes(cx, array) if isinstance(array.type, Array) else [])
    assign_whole(cx, fresh, value)
    return fresh


def _of_items(cx: Frame, layout: np.dtype[Any], value: AV) -> AV:
    """Of nested lists of tuples."""
    shape, items = _leaves(cx, value)
    fresh = empty_records(cx, layout, [cx.e.integer(size) for size in shape])
    for number, item in enumerate(items):
        place = np.unravel_index(number, shape) if shape else ()
        where = [AV(Number(DType.I64), (cx.e.integer(int(k)),), int(k)) for k in place]
        index = AV(Tuple(tuple(k.type for k in where)), tuple(v for k in where for v in k.values))
        assign_whole(cx, record_item(cx, fresh, index), item)
    return fresh


def _leaves(cx: Frame, value: AV) -> tuple[list[int], list[AV]]:
    """The shape of nested lists, and what is in the innermost ones."""
    if not isinstance(value.type, List):
        return [], [value]
    parts = [_leaves(cx, item) for item in items_of(value)]
    if any(shape != parts[0][0] for shape, _ in parts):
        raise cx.error("setting an array element with a sequence", "the nested lists differ in length")
    return [len(parts), *(parts[0][0] if parts else [])], [leaf for _, leaves in parts for leaf in leaves]


def _astype(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    """a.astype(dtype), to another structured dtype by position of the fields."""
    found = arguments_of(cx, "astype", ("a", "dtype"), given, keywords)
    layout = structured_dtype(cx, found["dtype"])
    if layout is None:
        raise cx.error("records cannot be cast to numbers", show(found["dtype"].type), "cast a field: a['name']")
    same = layout == record_kind(found["a"]).layout
    return record_copy(cx, found["a"]) if same else _converted(cx, layout, found["a"])


_RULES: dict[str, Rule] = {
    **dict.fromkeys(_MADE, _new), **{f"{name}_like": _like for name in _MADE}, "array": _array, "asarray": _array,
}  # fmt: skip


def _intercept(cx: Frame, name: str, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV | None:
    """A call that makes structured arrays; None for all others."""
    short = name.removeprefix("numpy.")
    return _RULES[short](cx, short, given, keywords) if name != short and short in _RULES else None


def _dtype_of(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    layout: Any = record_kind(given[0]).layout
    return dtype_value(layout)


INTERCEPT.insert(0, _intercept)
HANDLERS.update({"numpy.dtype": _dtype, "record.dtype": _dtype_of, "record.astype": _astype})

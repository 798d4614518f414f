"""Structured arrays in other shapes, put together and picked from; records as Python's tuples.

    a.reshape(2, 3)                     each field so, a view where NumPy gives one
    np.stack((a, b)), np.append(a, b)   each field so
    np.delete(a, 1), np.tile(a, 2)      a at places that the same function finds among 0, 1, 2, ...
    np.where(c, a, b), np.unique(a)     by the fields
    a[0].item(), a.tolist()             tuples of Python's numbers
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pullback.infer.binding import pack_tuple
from pullback.infer.calls import call, call_builtin
from pullback.infer.complexes import halves
from pullback.infer.creation import arguments_of, array_like
from pullback.infer.elementwise import array_sizes
from pullback.infer.engine import Frame
from pullback.infer.filling import copy
from pullback.infer.lattice import WEAK_INT
from pullback.infer.numpy.along import product
from pullback.infer.numpy.axes import expanded, rank_of
from pullback.infer.numpy.record_functions import FUNCTIONS, joined, only_first_axis, sorted_places
from pullback.infer.numpy.selecting import mask_of
from pullback.infer.numpy.shapes import reshaped
from pullback.infer.numpy.splitting import between
from pullback.infer.records import fields, mapped, model_of, record_kind, taken
from pullback.infer.registry import HANDLERS, Handler, prelude
from pullback.infer.static import static_items
from pullback.infer.truth import compare
from pullback.infer.values import AV, items_of
from pullback.types import Array, Builtin, Complex, List, Number, Record, Ref, Tuple, show

__all__: list[str] = []


def _line(cx: Frame, name: str, av: AV) -> AV:
    if not isinstance(av.type, Record) or av.type.rank != 1 or av.type.single:
        raise cx.error(f"{name} takes structured arrays of one axis here", show(av.type), "write it for each field")
    return av


# ---------------------------------------------------------------------------------------------------------- shapes


def _reshape(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    subject, *sizes = given
    if keywords or not sizes or record_kind(subject).single:
        raise cx.error("reshape of a structured array takes the new sizes here", show(subject.type))
    if len(sizes) == 1 and isinstance(sizes[0].type, Tuple | List | Ref):
        sizes = static_items(cx, sizes[0], "a shape")
    return _shaped(cx, subject, sizes)


def _shaped(cx: Frame, subject: AV, sizes: Sequence[AV]) -> AV:
    """Each field under another shape; the axes that it has of its own stay."""
    before = record_kind(subject).rank

    def rule(leaf: AV) -> AV:
        own = [AV(WEAK_INT, (size,)) for size in array_sizes(cx, leaf)[before:]]
        return reshaped(cx, leaf, [*sizes, *own])

    return mapped(subject, rule, len(sizes))


def _flatten(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    subject = arguments_of(cx, "flatten", ("a",), given, keywords)["a"]
    size = product(cx, array_sizes(cx, model_of(subject)))
    kind = record_kind(subject)
    apart = mapped(subject, lambda leaf: copy(cx, leaf, rows=True), kind.rank)
    return _shaped(cx, apart, [AV(WEAK_INT, (size,))])


# ---------------------------------------------------------------------------------------------------- put together


def _stack(name: str) -> Handler:
    """np.stack and np.vstack: lines become the rows of a table."""

    def handler(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
        found = arguments_of(cx, name, ("arrays", "axis") if name == "numpy.stack" else ("tup",), given, keywords)
        only_first_axis(cx, name, found)
        return _one_under_another(cx, [_line(cx, name, part) for part in items_of(given[0])])

    return handler


def _one_under_another(cx: Frame, parts: Sequence[AV]) -> AV:
    if len({record_kind(part).layout for part in parts}) != 1:
        raise cx.error("structured arrays of different dtypes cannot be stacked here", show(parts[0].type))
    sizes = [array_sizes(cx, model_of(part))[0] for part in parts]
    for size in sizes[1:]:
        message = "all input arrays must have the same shape"
        cx.check(cx.e("eq", size, sizes[0]), "ValueError", message, shapes=True)
    return joined(cx, [mapped(part, lambda leaf: expanded(cx, leaf, 0), 2) for part in parts])


def _append(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    found = arguments_of(cx, "numpy.append", ("arr", "values", "axis"), given, keywords)
    only_first_axis(cx, "numpy.append", found)
    return FUNCTIONS["concatenate"](cx, [pack_tuple([found["arr"], found["values"]])], {})


def _hstack(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    return FUNCTIONS["concatenate"](cx, [arguments_of(cx, "numpy.hstack", ("tup",), given, keywords)["tup"]], {})


# ---------------------------------------------------------------------------------------------------------- picked


def _at_places(name: str, names: tuple[str, ...]) -> Handler:
    """The records at what the function makes of their numbers."""

    def handler(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
        found = arguments_of(cx, name, names, given, keywords)
        only_first_axis(cx, name, found)
        first, *rest = [value for key, value in found.items() if key != "axis"]
        size = AV(WEAK_INT, (array_sizes(cx, model_of(_line(cx, name, first)))[0],))
        places = call_builtin(cx, name, [call_builtin(cx, "numpy.arange", [size], {}), *rest], {})
        if not isinstance(places.type, Array) or places.type.rank != 1:
            raise cx.error(f"{name} makes structured arrays of one axis here", show(first.type))
        return first if cx.dead else taken(cx, first, [places])

    return handler


def _where(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    """np.where(c, a, b): each field by the same mask, of arrays and records of one dtype."""
    found = arguments_of(cx, "numpy.where", ("condition", "x", "y"), given, keywords)
    mask = mask_of(cx, array_like(cx, found["condition"]))
    x, y = (_line(cx, "numpy.where", found[name]) for name in ("x", "y"))
    if record_kind(x).layout != record_kind(y).layout or rank_of(mask) != 1:
        title = "np.where takes structured arrays of one dtype and one axis here"
        raise cx.error(title, f"{show(x.type)}, {show(y.type)}", "write it for each field")
    return _chosen(cx, mask, x, y)


def _chosen(cx: Frame, mask: AV, x: AV, y: AV) -> AV:
    if isinstance(x.type, Array):
        for axis in range(1, x.type.rank):
            mask = expanded(cx, mask, axis)
        return call_builtin(cx, "numpy.where", [mask, x, y], {})
    pairs = zip(*((halves(av) if isinstance(x.type, Complex) else items_of(av)) for av in (x, y)), strict=True)
    parts = [_chosen(cx, mask, one, other) for one, other in pairs]
    types, values = tuple(part.type for part in parts), tuple(v for part in parts for v in part.values)
    if isinstance(x.type, Complex):
        return AV(Complex(*types), values)
    kind = record_kind(x)
    return AV(Record(kind.names, types, kind.layout, kind.rank), values)


def _unique(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    """The records in order, without those that are equal to the one before."""
    found = arguments_of(cx, "numpy.unique", ("ar",), given, keywords)
    subject, order = sorted_places(cx, "numpy.unique", [_line(cx, "numpy.unique", found["ar"])], {})
    if cx.dead:
        return subject
    rows = taken(cx, subject, [order])
    one, minus = (AV(WEAK_INT, (cx.e.integer(k),), k) for k in (1, -1))
    later = mapped(rows, lambda leaf: between(cx, leaf, 0, one, None), 1)
    earlier = mapped(rows, lambda leaf: between(cx, leaf, 0, None, minus), 1)
    new = compare(cx, "!=", later, earlier)
    count = AV(WEAK_INT, (cx.e("minimum", array_sizes(cx, model_of(rows))[0], cx.e.integer(1)),))
    first = call_builtin(cx, "numpy.ones", [count, AV(Builtin("numpy.bool_"))], {})
    return taken(cx, rows, [call_builtin(cx, "numpy.concatenate", [pack_tuple([first, new])], {})])


# --------------------------------------------------------------------------------------------- as Python's objects


def _item(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    """r.item(): a tuple of Python's numbers."""
    return pack_tuple([_python_number(cx, part) for part in fields(cx, given[0])])


def _python_number(cx: Frame, av: AV) -> AV:
    if isinstance(av.type, Record):
        return _item(cx, [av], {})
    if isinstance(av.type, Array) or (isinstance(av.type, Complex) and not isinstance(halves(av)[0].type, Number)):
        raise cx.error("item and tolist take records of numbers here", show(av.type), "read the fields")
    return call_builtin(cx, "ndarray.item", [av], {})


def _tolist(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    if record_kind(given[0]).single:
        return _item(cx, given, keywords)
    return call(cx, prelude(cx, "pullback.tolist"), [given[0]], {})


FUNCTIONS.update({
    "reshape": _reshape, "stack": _stack("numpy.stack"), "vstack": _stack("numpy.vstack"), "hstack": _hstack,
    "append": _append, "where": _where, "unique": _unique,
    "delete": _at_places("numpy.delete", ("arr", "obj", "axis")), "tile": _at_places("numpy.tile", ("A", "reps")),
})  # fmt: skip
HANDLERS.update({
    "record.reshape": _reshape, "record.flatten": _flatten, "record.item": _item, "record.tolist": _tolist,
})  # fmt: skip

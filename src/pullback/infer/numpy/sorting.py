"""Sorting, searching and sets: what is handed to the prelude's loops, line by line.

    np.sort(a, axis=0)              the lines of a in a stable order
    np.searchsorted(a, v)           a binary search for each element of v
    np.unique(a, return_counts=True)     the runs of equal elements in the sorted order
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from pullback.infer.calls import call
from pullback.infer.creation import arguments_of, array_like, empty
from pullback.infer.dispatch import dispatch
from pullback.infer.elementwise import array_sizes, ordered_as
from pullback.infer.engine import Frame
from pullback.infer.filling import fill, writable
from pullback.infer.indexing import subscript
from pullback.infer.lattice import WEAK_INT
from pullback.infer.numbers import as_number
from pullback.infer.numpy.along import flat, product, scan
from pullback.infer.numpy.axes import is_none, moved_axis, of_array, pack, rank_of
from pullback.infer.numpy.joining import common_dtype
from pullback.infer.numpy.reductions import flag
from pullback.infer.numpy.shapes import axis_of, reshaped
from pullback.infer.numpy.sums import cast_to
from pullback.infer.registry import HANDLERS, Handler, prelude
from pullback.infer.values import AV, items_of
from pullback.infer.views import integer
from pullback.types import NONE, Array, Builtin, Constant, DType, List, Number, Str, Tuple, show

__all__ = ["NAMED_RESULTS", "check_kth", "run", "shaped_like", "sorted_lines"]

Rule = Callable[[Frame, AV, Mapping[str, AV]], AV]


def run(cx: Frame, name: str, *arguments: AV) -> AV:
    """A call of a function of the prelude."""
    return call(cx, prelude(cx, f"pullback.{name}"), list(arguments), {})


def _bool(value: bool) -> AV:
    return AV(Constant(value), (), value)


def _integers(cx: Frame, model: AV) -> AV:
    """A fresh int64 array of the model's shape."""
    return empty(cx, array_sizes(cx, model), DType.I64)


# ------------------------------------------------------------------------------------------------------ sorting


def sorted_lines(cx: Frame, av: AV, axis: int, near: AV | None = None) -> AV:
    """A fresh array, row after row, sorted along an axis; near: a fraction of the line, only about which it need be."""
    assert isinstance(av.type, Array)
    out = empty(cx, array_sizes(cx, av), av.type.dtype)
    return scan(cx, "sort_line" if near is None else "near_line", av, axis, out, [near] if near is not None else [])


def _line(cx: Frame, av: AV, found: Mapping[str, AV], name: str) -> tuple[AV, int]:
    """The array and the axis to sort along: axis=None sorts the flat array."""
    for option in ("kind", "order", "stable"):
        if option in found and not isinstance(found[option].type, Str | Constant) and not is_none(found, option):
            raise cx.error(f"{name}: {option}= must be written out", show(found[option].type))
    kind = getattr(found["kind"].type, "value", None) if "kind" in found else None
    if isinstance(kind, str) and kind[:1] not in (("i",) if "partition" in name else ("q", "h", "m", "s")):
        title = f"sort kind must be one of 'quick', 'heap', or 'stable' (got '{kind}')"
        raise cx.error(title, show(found["kind"].type), raised=("ValueError", title))
    if "order" in found and not is_none(found, "order"):
        raise cx.error(f"{name}: order= needs an array with fields", "arrays of records are not known")
    if "axis" in found and is_none(found, "axis"):
        return flat(cx, av), 0
    if rank_of(av) == 0:
        title = "axis -1 is out of bounds for array of dimension 0"
        raise cx.error(title, "a number has no axis", raised=("AxisError", title))
    return av, axis_of(cx, found["axis"], rank_of(av)) if "axis" in found else rank_of(av) - 1


def _sort(cx: Frame, av: AV, found: Mapping[str, AV]) -> AV:
    av, axis = _line(cx, av, found, "np.sort")
    return ordered_as(sorted_lines(cx, av, axis), [av])


def _argsort(cx: Frame, av: AV, found: Mapping[str, AV]) -> AV:
    av, axis = _line(cx, av, found, "np.argsort")
    return ordered_as(scan(cx, "argsort_line", av, axis, _integers(cx, av)), [av])


def check_kth(cx: Frame, av: AV, axis: int, kth: AV) -> None:
    """The places that a partition is asked for lie in the line."""
    e, size = cx.e, cx.e("array_size", av.value, axis=axis)
    for item in items_of(kth) if isinstance(kth.type, Tuple | List) else [kth]:
        if isinstance(item.type, Array) and item.type.rank:
            raise cx.error("kth must be an int or a tuple of ints", show(item.type), "write the places in a tuple")
        number = integer(cx, item)
        inside = e("and_", e("ge", number, e("neg", size)), e("lt", number, size))
        wrapped = e("select", e("lt", number, e.integer(0)), e("add", number, size), number)
        cx.check(inside, "ValueError", "kth(={0}) out of bounds ({1})", wrapped, size)


def _partition(cx: Frame, av: AV, found: Mapping[str, AV]) -> AV:
    """For several places sorted wholly, which is one of the orders that are right."""
    av, axis = _line(cx, av, found, "np.partition")
    check_kth(cx, av, axis, found["kth"])
    if isinstance(found["kth"].type, Tuple | List):
        return ordered_as(sorted_lines(cx, av, axis), [av])
    assert isinstance(av.type, Array)
    out = empty(cx, array_sizes(cx, av), av.type.dtype)
    return ordered_as(scan(cx, "partition_line", av, axis, out, [_place(cx, found["kth"])]), [av])


def _argpartition(cx: Frame, av: AV, found: Mapping[str, AV]) -> AV:
    av, axis = _line(cx, av, found, "np.argpartition")
    check_kth(cx, av, axis, found["kth"])
    if isinstance(found["kth"].type, Tuple | List):
        return ordered_as(scan(cx, "argsort_line", av, axis, _integers(cx, av)), [av])
    return ordered_as(scan(cx, "argpartition_line", av, axis, _integers(cx, av), [_place(cx, found["kth"])]), [av])


def _place(cx: Frame, kth: AV) -> AV:
    return AV(WEAK_INT, (integer(cx, kth),))


def _order_bits(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    x = as_number(cx, given[0])
    assert isinstance(x.type, Number)
    value = cx.e("cast", x.value, to=DType.U8) if x.type.dtype is DType.BOOL else x.value
    return AV(Number(DType.U64, weak=False), (cx.e("order_bits", value),))


def _in_place(rule: Rule, names: Sequence[str]) -> Handler:
    """a.sort(), a.partition(k): the array takes the sorted elements."""

    def handler(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
        found = arguments_of(cx, "ndarray.sort", names, given, keywords)
        av = found["a"]
        writable(cx, av)
        made = rule(cx, av, found)
        if not cx.dead:
            fill(cx, av, made)
        return AV(NONE)

    return handler


def _lexsort(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    found = arguments_of(cx, "numpy.lexsort", ("keys", "axis"), given, keywords)
    keys = found["keys"]
    if isinstance(keys.type, Tuple | List):
        rows = [array_like(cx, item) for item in items_of(keys)]
        if not rows or any(rank_of(row) != 1 for row in rows):
            raise cx.error("np.lexsort takes keys of one axis here", show(keys.type), "sort each line in a loop")
        order = run(cx, "sorted_order", rows[0])
        for row in rows[1:]:
            order = order if cx.dead else run(cx, "lexsort_step", row, order)
        return order
    if not isinstance(keys.type, Array) or keys.type.rank != 2:
        raise cx.error("np.lexsort takes a tuple of keys or a table of them", show(keys.type))
    count = cx.e("array_size", keys.value, axis=1)
    start = call(cx, AV(Builtin("numpy.arange")), [AV(WEAK_INT, (count,))], {})
    return run(cx, "lexsort_rows", keys, start)


# ------------------------------------------------------------------------------------------------------ searching


def _side(cx: Frame, found: Mapping[str, AV]) -> str:
    side = getattr(found["side"].type, "value", None) if "side" in found else "left"
    if side not in ("left", "right"):
        title = f"search side must be 'left' or 'right' (got '{side}')"
        raise cx.error(title, show(found["side"].type), raised=("ValueError", title))
    return str(side)


def shaped_like(cx: Frame, found: AV, model: AV) -> AV:
    """A row of ints in the shape of what they were found for; a number for a number."""
    if not isinstance(model.type, Array):
        return AV(Number(DType.I64, False), (cx.e("array_get", found.value, cx.e.integer(0)),))
    if model.type.rank == 1:
        return found
    sizes = [AV(WEAK_INT, (size,)) for size in array_sizes(cx, model)]
    return ordered_as(reshaped(cx, found, sizes), [model])


def _found(cx: Frame, name: str, line: AV, v: AV) -> AV:
    """A search for each element of v, which may be a number."""
    row = flat(cx, array_like(cx, v))
    out = _integers(cx, row)
    arguments = [line, row, out] if name.startswith("search") else [row, line, out]
    result = run(cx, name, *arguments)
    return result if cx.dead else shaped_like(cx, result, v)


def _as_subject(cx: Frame, v: AV) -> AV:
    """What is searched for: numbers and arrays as they are, tuples and lists as arrays."""
    return as_number(cx, v if isinstance(v.type, Number | Constant) else array_like(cx, v))


def _searchsorted(cx: Frame, av: AV, found: Mapping[str, AV]) -> AV:
    if rank_of(av) != 1:
        title = "object too deep for desired array"
        raise cx.error(title, show(av.type), "search in a line", raised=("ValueError", title))
    if not is_none(found, "sorter"):
        av = subscript(cx, av, found["sorter"])
    side = _side(cx, found)
    return dispatch(cx, [found["v"]], lambda cx, v: _found(cx, f"search_all_{side}", av, _as_subject(cx, v[0])))


def _digitize(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    found = arguments_of(cx, "numpy.digitize", ("x", "bins", "right"), given, keywords)
    bins = array_like(cx, found["bins"])
    if rank_of(bins) != 1:
        title = "object too deep for desired array"
        raise cx.error(title, show(bins.type), raised=("ValueError", title))
    name = f"digitize_{'left' if flag(cx, found, 'right') else 'right'}"
    return dispatch(cx, [found["x"]], lambda cx, x: _found(cx, name, bins, _as_subject(cx, x[0])))


# ------------------------------------------------------------------------------------------------------------- sets


def _unique(cx: Frame, av: AV, found: Mapping[str, AV]) -> AV:
    wanted = [flag(cx, found, name) for name in ("return_index", "return_inverse", "return_counts")]
    axis = None if is_none(found, "axis") else axis_of(cx, found["axis"], rank_of(av))
    if axis is not None and rank_of(av) > 1:
        parts = _distinct_along(cx, av, axis, wanted)
        return parts[0] if len(parts) == 1 else pack(parts)
    parts = _runs(cx, av, join_nan=flag(cx, found, "equal_nan", default=True), wanted=wanted)
    return parts[0] if len(parts) == 1 else pack(parts)


def _runs(cx: Frame, av: AV, *, join_nan: bool, wanted: Sequence[bool]) -> list[AV]:
    """The distinct elements, and what is wanted of: first places, numbers of each element's run, lengths of runs."""
    row = flat(cx, av)
    order = run(cx, "sorted_order", row)
    starts = run(cx, "run_starts", row, order, _bool(join_nan))
    if cx.dead:
        return [starts]
    first = run(cx, "first_of_runs", order, starts)
    parts = [subscript(cx, row, first)]
    if wanted[0]:
        parts.append(first)
    if wanted[1]:
        parts.append(shaped_like(cx, run(cx, "run_numbers", order, starts), av if rank_of(av) else row))
    if wanted[2]:
        parts.append(run(cx, "lengths_of_runs", starts))
    return parts


def _distinct_along(cx: Frame, av: AV, axis: int, wanted: Sequence[bool]) -> list[AV]:
    """As `_runs`, of the parts of an array along an axis, which are rows of a table here."""
    front = moved_axis(cx, av, axis, 0)
    first, *rest = (AV(WEAK_INT, (size,)) for size in array_sizes(cx, front))
    width = AV(WEAK_INT, (product(cx, array_sizes(cx, front)[1:]),))
    table = reshaped(cx, front, [first, width], reading=True)
    order = run(cx, "order_of_rows", table)
    starts = run(cx, "starts_of_rows", table, order)
    if cx.dead:
        return [starts]
    places = run(cx, "first_of_runs", order, starts)
    found = subscript(cx, table, places)
    found = reshaped(cx, found, [AV(WEAK_INT, (array_sizes(cx, found)[0],)), *rest])
    parts = [moved_axis(cx, found, 0, axis)]
    if wanted[0]:
        parts.append(places)
    if wanted[1]:
        parts.append(run(cx, "run_numbers", order, starts))
    if wanted[2]:
        parts.append(run(cx, "lengths_of_runs", starts))
    return parts


def _unique_values(cx: Frame, av: AV, found: Mapping[str, AV]) -> AV:
    return _runs(cx, av, join_nan=False, wanted=(False, False, False))[0]


def _unique_named(cls: type, wanted: tuple[bool, bool, bool]) -> Rule:
    """np.unique_counts and kin, which give a NamedTuple."""

    def rule(cx: Frame, av: AV, found: Mapping[str, AV]) -> AV:
        parts = _runs(cx, av, join_nan=False, wanted=wanted)
        made = pack(parts)
        assert isinstance(made.type, Tuple)
        return parts[0] if cx.dead else AV(replace(made.type, python=cls), made.values)

    return rule


def _rows_of(cx: Frame, name: str, first: AV, second: AV) -> list[AV]:
    """Two arrays as rows of one dtype."""
    rows = [flat(cx, array_like(cx, av)) for av in (first, second)]
    return [cast_to(cx, row, common_dtype(rows)) for row in rows]


def _of_two(name: str) -> Handler:
    """A function of two arrays as sets."""

    def handler(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
        found = arguments_of(cx, f"numpy.{name}", ("ar1", "ar2", "assume_unique"), given, keywords)
        as_they_come = name == "setdiff1d" and flag(cx, found, "assume_unique")

        def rule(cx: Frame, pair: Sequence[AV]) -> AV:
            rows = _rows_of(cx, name, *pair)
            if as_they_come:
                return subscript(cx, flat(cx, array_like(cx, pair[0])), run(cx, "contained", *rows, _bool(True)))
            result = run(cx, name, *rows)
            if cx.dead or name != "setdiff1d":
                return result
            own = array_like(cx, pair[0]).type  # a part of the first, in its dtype
            assert isinstance(own, Array)
            return cast_to(cx, result, own.dtype)

        return dispatch(cx, [found["ar1"], found["ar2"]], rule)

    return handler


def _intersect1d(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    names = ("ar1", "ar2", "assume_unique", "return_indices")
    found = arguments_of(cx, "numpy.intersect1d", names, given, keywords)

    def rule(cx: Frame, pair: Sequence[AV]) -> AV:
        rows = _rows_of(cx, "intersect1d", *pair)
        both = run(cx, "intersection", *rows)
        if cx.dead:
            return both
        left, right = items_of(both)
        common = subscript(cx, rows[0], left)
        return pack([common, left, right]) if flag(cx, found, "return_indices") else common

    return dispatch(cx, [found["ar1"], found["ar2"]], rule)


def _isin(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    names = ("element", "test_elements", "assume_unique", "invert", "kind")
    found = arguments_of(cx, "numpy.isin", names, given, keywords)

    def rule(cx: Frame, pair: Sequence[AV]) -> AV:
        model = array_like(cx, pair[0])
        row, values = _rows_of(cx, "isin", model, pair[1])
        result = run(cx, "contained", row, values, _bool(flag(cx, found, "invert")))
        if cx.dead or rank_of(model) == 1:
            return result
        sizes = [AV(WEAK_INT, (size,)) for size in array_sizes(cx, model)]
        return ordered_as(reshaped(cx, result, sizes), [model])

    return dispatch(cx, [found["element"], found["test_elements"]], rule)


_SORT, _KTH = ("a", "axis", "kind", "order", "stable"), ("a", "kth", "axis", "kind", "order")
_ROWS: dict[str, tuple[Sequence[str], Rule]] = {
    "sort": (_SORT, _sort), "argsort": (_SORT, _argsort), "partition": (_KTH, _partition),
    "argpartition": (_KTH, _argpartition), "searchsorted": (("a", "v", "side", "sorter"), _searchsorted),
    "unique": (("ar", "return_index", "return_inverse", "return_counts", "axis", "equal_nan", "sorted"), _unique),
    "unique_values": (("x",), _unique_values),
}  # fmt: skip
_NAMED = {"all": (True, True, True), "counts": (False, False, True), "inverse": (False, True, False)}
# Functions that give a NamedTuple, its class, and which of index, inverse and counts are in it.
NAMED_RESULTS = [
    (f"unique_{name}", inspect.unwrap(getattr(np, f"unique_{name}")).__globals__[f"Unique{name.capitalize()}Result"],
     wanted)
    for name, wanted in _NAMED.items() if hasattr(np, f"unique_{name}")  # NumPy 2
]  # fmt: skip
_ROWS |= {name: (("x",), _unique_named(cls, wanted)) for name, cls, wanted in NAMED_RESULTS}
HANDLERS.update({f"numpy.{name}": of_array(f"numpy.{name}", *row) for name, row in _ROWS.items()})
HANDLERS.update({
    "pullback.order_bits": _order_bits, "ndarray.sort": _in_place(_sort, _SORT),
    "ndarray.partition": _in_place(_partition, _KTH),
    "numpy.lexsort": _lexsort, "numpy.digitize": _digitize, "numpy.union1d": _of_two("union1d"),
    "numpy.setdiff1d": _of_two("setdiff1d"), "numpy.setxor1d": _of_two("setxor1d"), "numpy.intersect1d": _intersect1d,
    "numpy.isin": _isin,
})  # fmt: skip

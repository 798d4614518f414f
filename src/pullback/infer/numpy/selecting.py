"""Elements chosen by indices and conditions: take, put, take_along_axis, nonzero, select, piecewise and kin.

    np.take(a, i, axis=1)              a[:, i], in a copy
    np.take_along_axis(a, i, axis=0)   a loop of the prelude over the rows, that axis last
    np.select([c, d], [x, y])          where(c, x, where(d, y, 0))
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pullback.infer.arithmetic import binary
from pullback.infer.assign import set_item
from pullback.infer.binding import pack_tuple
from pullback.infer.calls import call, call_builtin
from pullback.infer.complexes import halves, pair_of
from pullback.infer.creation import arguments_of, array_like, array_or_number, empty
from pullback.infer.dispatch import dispatch
from pullback.infer.elementwise import array_sizes, elementwise, reduce_sum
from pullback.infer.engine import Frame
from pullback.infer.fancy import check_index, true_places, unraveled
from pullback.infer.filling import copy, fill, writable
from pullback.infer.indexing import subscript
from pullback.infer.lattice import WEAK_INT
from pullback.infer.lists import is_array_like
from pullback.infer.numbers import as_number, convert
from pullback.infer.numpy.axes import common_shape, expanded, is_none, moved, moved_axis, of_array, part, rank_of
from pullback.infer.numpy.joining import common_dtype, require_same_kind
from pullback.infer.numpy.shapes import axis_of, flattened, reshaped
from pullback.infer.registry import HANDLERS, Handler, prelude
from pullback.infer.truth import truth
from pullback.infer.values import AV, items_of
from pullback.infer.views import array_of, full_slice
from pullback.ir.node import Value
from pullback.types import NONE, Array, Builtin, Closure, Complex, DType, List, Number, Str, Tuple, show

__all__ = ["mask_of"]


def _mode(cx: Frame, found: Mapping[str, AV]) -> str:
    given = found.get("mode")
    mode = "raise" if given is None else given.type.value if isinstance(given.type, Str) else ""
    if mode not in ("raise", "wrap", "clip"):
        raise cx.error("mode is 'raise', 'wrap' or 'clip'", show(given.type) if given else "")
    return mode


def _inside(cx: Frame, index: AV, mode: str, size: Value) -> AV:
    """Indices brought into the range of an axis, as the mode says."""
    if mode == "raise":
        return index
    some = AV(WEAK_INT, (cx.e("maximum", size, cx.e.integer(1)),))
    if mode == "wrap":
        return binary(cx, "%", index, some)
    last = AV(WEAK_INT, (cx.e("sub", some.value, cx.e.integer(1)),))
    return call_builtin(cx, "numpy.clip", [index, AV(WEAK_INT, (cx.e.integer(0),), 0), last], {})


def _index(cx: Frame, av: AV) -> AV:
    return array_or_number(cx, av)


def _take(cx: Frame, av: AV, found: Mapping[str, AV]) -> AV:
    if is_none(found, "axis"):
        av, axis = flattened(cx, av), 0
    else:
        axis = axis_of(cx, found["axis"], rank_of(av))
    index = _inside(cx, _index(cx, found["indices"]), _mode(cx, found), cx.e("array_size", av.value, axis=axis))
    if axis and isinstance(index.type, Array) and index.type.dtype.is_int:
        return _kept(cx, found, _take_inside(cx, av, index, axis))
    taken = subscript(cx, av, pack_tuple([*[full_slice() for _ in range(axis)], index]))
    if isinstance(index.type, Number) and isinstance(taken.type, Array):
        taken = copy(cx, taken, rows=True)  # an element of a fresh array, no view
    return _kept(cx, found, taken)


def _kept(cx: Frame, found: Mapping[str, AV], result: AV) -> AV:
    """The result, or the array `out` with the result in it."""
    if is_none(found, "out"):
        return result
    writable(cx, found["out"])
    fill(cx, found["out"], result, exact=False)
    return found["out"]


def _take_inside(cx: Frame, av: AV, index: AV, axis: int) -> AV:
    """np.take along another axis than the first: the axes before it joined, and those after it."""
    sizes, own = array_sizes(cx, av), array_sizes(cx, index)
    check_index(cx, index, axis, sizes[axis])
    row = flattened(cx, copy(cx, index, rows=True))
    count, outer, inner = array_sizes(cx, row)[0], _product(cx, sizes[:axis]), _product(cx, sizes[axis + 1 :])
    last = axis == len(sizes) - 1
    before, after = [outer, sizes[axis], inner], [outer, count, inner]
    wanted = [AV(WEAK_INT, (size,)) for size in (before[:2] if last else before)]
    out = empty(cx, after[:2] if last else after, av.type.dtype)  # type: ignore[union-attr]
    taken = call(cx, prelude(cx, "pullback.take_inside"), [reshaped(cx, av, wanted, reading=True), row, out], {})
    shape = [*sizes[:axis], *own, *sizes[axis + 1 :]]
    return reshaped(cx, taken, [AV(WEAK_INT, (size,)) for size in shape])


def _product(cx: Frame, sizes: Sequence[Value]) -> Value:
    total = cx.e.integer(1)
    for size in sizes:
        total = cx.e("mul", total, size)
    return total


def _put(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    found = arguments_of(cx, "numpy.put", ("a", "ind", "v", "mode"), given, keywords)
    av = found["a"]
    if not isinstance(av.type, Array):
        raise cx.type_error("argument 1 must be numpy.ndarray", show(av.type))
    writable(cx, av)
    total, mode = _product(cx, array_sizes(cx, av)), _mode(cx, found)
    index = flattened(cx, array_like(cx, as_number(cx, found["ind"])))
    if mode == "raise":
        check_index(cx, index, 0, total)
    index = _inside(cx, index, "wrap" if mode == "raise" else mode, total)
    values = flattened(cx, array_like(cx, as_number(cx, found["v"])))
    count = AV(WEAK_INT, (cx.e("array_size", index.value, axis=0),))
    values = call_builtin(cx, "numpy.resize", [values, count], {})
    set_item(cx, av, pack_tuple(unraveled(cx, index, array_sizes(cx, av))), values)
    return AV(NONE)


# ------------------------------------------------------------------------------------------------- along an axis


def _along(cx: Frame, av: AV, found: Mapping[str, AV]) -> tuple[AV, AV, int]:
    """The array with the axis last, the indices alike, and the axis; the indices are in range."""
    index = array_like(cx, found["indices"])
    if not isinstance(index.type, Array) or not index.type.dtype.is_int:
        title = "`indices` must be an integer array"
        raise cx.error(title, show(index.type), raised=("IndexError", title))
    if is_none(found, "axis") and "axis" in found:
        av, axis = flattened(cx, av), 0
    else:
        axis = axis_of(cx, found["axis"], rank_of(av)) if "axis" in found else rank_of(av) - 1
    if rank_of(index) != rank_of(av):
        title = "`indices` and `arr` must have the same number of dimensions"
        raise cx.error(title, f"{show(index.type)} and {show(av.type)}", raised=("ValueError", title))
    check_index(cx, index, axis, cx.e("array_size", av.value, axis=axis))
    last = rank_of(av) - 1
    return moved_axis(cx, av, axis, last), moved_axis(cx, index, axis, last), axis


def _shape_along(cx: Frame, av: AV, index: AV) -> list[Value]:
    outer = common_shape(cx, [array_sizes(cx, each)[:-1] for each in (av, index)])
    return [*outer, array_sizes(cx, index)[-1]]


def _take_along(cx: Frame, av: AV, found: Mapping[str, AV]) -> AV:
    av, index, axis = _along(cx, av, found)
    assert isinstance(av.type, Array)
    sizes = _shape_along(cx, av, index)
    own = [*sizes[:axis], sizes[-1], *sizes[axis:-1]]
    out = empty(cx, own, av.type.dtype)
    call(cx, prelude(cx, "pullback.take_along"), [av, index, moved_axis(cx, out, axis, rank_of(out) - 1)], {})
    return out


def _put_along(cx: Frame, av: AV, found: Mapping[str, AV]) -> AV:
    if not isinstance(found["arr"].type, Array):
        raise cx.type_error("np.put_along_axis changes an array", show(found["arr"].type))
    writable(cx, av)
    av, index, axis = _along(cx, av, found)
    assert isinstance(av.type, Array)
    sizes = _shape_along(cx, av, index)
    values = empty(cx, [*sizes[:axis], sizes[-1], *sizes[axis:-1]], av.type.dtype)
    fill(cx, values, array_like(cx, as_number(cx, found["values"])), exact=False)
    index = _copied_if_same(cx, av, index)
    call(cx, prelude(cx, "pullback.put_along"), [av, index, moved_axis(cx, values, axis, rank_of(values) - 1)], {})
    return AV(NONE)


def _copied_if_same(cx: Frame, av: AV, index: AV) -> AV:
    assert isinstance(av.type, Array) and isinstance(index.type, Array)
    return copy(cx, index) if av.type.dtype is index.type.dtype else index


def _choose(cx: Frame, av: AV, found: Mapping[str, AV]) -> AV:
    mode, choices = _mode(cx, found), found["choices"]
    if isinstance(choices.type, Array):
        size = cx.e("array_size", choices.value, axis=0)
        index = _inside(cx, av, mode, size)
        while rank_of(array_like(cx, index)) < rank_of(choices) - 1:
            index = expanded(cx, index, 0)
        while rank_of(choices) - 1 < rank_of(index):
            choices = expanded(cx, choices, 1)
        first = AV(WEAK_INT, (cx.e.integer(0),), 0)
        taken = call_builtin(cx, "numpy.take_along_axis", [choices, expanded(cx, index, 0), first], {})
        return part(cx, taken, 0)
    items = items_of(choices)
    index = _inside(cx, av, mode, cx.e.integer(len(items)))
    if mode == "raise":
        _check_choice(cx, index, len(items))
    arrays = [array_like(cx, as_number(cx, item)) for item in items]
    dtype = common_dtype(arrays)

    def chosen(cx: Frame, values: Sequence[AV]) -> AV:
        number, *others = values
        place = convert(cx, number, DType.I64)
        result = convert(cx, others[-1], dtype)
        for k in reversed(range(len(others) - 1)):
            result = cx.e("select", cx.e("eq", place, cx.e.integer(k)), convert(cx, others[k], dtype), result)
        return AV(Number(dtype, False), (result,))

    return elementwise(cx, [index, *arrays], chosen)


def _check_choice(cx: Frame, index: AV, count: int) -> None:
    def outside(cx: Frame, items: Sequence[AV]) -> AV:
        number = convert(cx, items[0], DType.I64)
        wrong = cx.e("not_", cx.e("ult", number, cx.e.integer(count)))
        return AV(Number(DType.I64, False), (cx.e("cast", wrong, to=DType.I64),))

    wrong = elementwise(cx, [index], outside, output="sum")
    cx.check(cx.e("eq", wrong.value, cx.e.integer(0)), "ValueError", "invalid entry in choice array")


# --------------------------------------------------------------------------------------------------- by conditions


def mask_of(cx: Frame, av: AV) -> AV:
    """The array of the truth of its elements."""
    av = array_like(cx, av)
    assert isinstance(av.type, Array)
    if av.type.dtype is DType.BOOL:
        return av

    def item(cx: Frame, items: Sequence[AV]) -> AV:
        return AV(Number(DType.BOOL, False), as_number(cx, truth(cx, items[0])).values)

    return elementwise(cx, [av], item)


def _nonzero(cx: Frame, av: AV, found: Mapping[str, AV]) -> AV:
    if rank_of(av) == 0:
        title = "Calling nonzero on 0d arrays is not allowed. Use np.atleast_1d(scalar).nonzero() instead."
        raise cx.error(title, show(av.type), raised=("ValueError", title))
    return pack_tuple(true_places(cx, mask_of(cx, av)))


def _flatnonzero(cx: Frame, av: AV, found: Mapping[str, AV]) -> AV:
    return true_places(cx, flattened(cx, mask_of(cx, av)))[0]


def _argwhere(cx: Frame, av: AV, found: Mapping[str, AV]) -> AV:
    if rank_of(av) == 0:  # one place, or none, and no index
        row, none = _argwhere(cx, expanded(cx, av, 0), found), cx.e.integer(0)
        assert isinstance(row.type, Array)
        return array_of(cx.e("view_slice", row.value, none, none, cx.e.integer(1), axis=1, unit=True), row.type)
    whole = call_builtin(cx, "numpy.stack", [pack_tuple(true_places(cx, mask_of(cx, av)))], {})
    return moved(cx, whole, (1, 0))


def _compress(cx: Frame, av: AV, found: Mapping[str, AV]) -> AV:
    condition = mask_of(cx, found["condition"])
    if rank_of(condition) != 1:
        title = "condition must be a 1-d array"
        raise cx.error(title, show(condition.type), raised=("ValueError", title))
    places = true_places(cx, condition)[0]
    return _take(cx, av, {**{key: found[key] for key in ("axis", "out") if key in found}, "indices": places})


def _compress_function(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    found = arguments_of(cx, "numpy.compress", ("condition", "a", "axis", "out"), given, keywords)
    return dispatch(cx, [found["a"]], lambda cx, operands: _compress(cx, array_like(cx, operands[0]), found))


def _extract(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    found = arguments_of(cx, "numpy.extract", ("condition", "arr"), given, keywords)
    places = true_places(cx, flattened(cx, mask_of(cx, found["condition"])))[0]
    return _take(cx, array_like(cx, found["arr"]), {"indices": places})


def _by_mask(name: str, loop: str) -> Handler:
    """np.place and np.putmask: values are taken one after the other, again from the first when there are no more."""

    def handler(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
        names = ("arr", "mask", "vals") if loop == "place" else ("a", "mask", "values")
        found = arguments_of(cx, name, names, given, keywords)
        av, condition, values = (found[key] for key in names)
        if not isinstance(av.type, Array):
            raise cx.type_error("argument 1 must be numpy.ndarray", show(av.type))
        writable(cx, av)
        mask = mask_of(cx, as_number(cx, condition))
        if rank_of(mask) != rank_of(av):
            title = f"{loop}: mask and data must be the same size"
            raise cx.error(title, f"{show(mask.type)} and {show(av.type)}", raised=("ValueError", title))
        for m, n in zip(array_sizes(cx, mask), array_sizes(cx, av), strict=True):
            cx.check(cx.e("eq", m, n), "ValueError", f"{loop}: mask and data must be the same size", shapes=True)
        row = copy(cx, flattened(cx, array_like(cx, as_number(cx, values))))
        if loop == "place":
            none = cx.e("eq", reduce_sum(cx, mask).value, cx.e.integer(0))
            some = cx.e("gt", cx.e("array_size", row.value, axis=0), cx.e.integer(0))
            cx.check(cx.e("or_", some, none), "ValueError", "Cannot insert from an empty array!")
        start = AV(WEAK_INT, (cx.e.integer(0),))
        call(cx, prelude(cx, f"pullback.{loop}"), [av, copy(cx, mask), row, start], {})
        return AV(NONE)

    return handler


def _copyto(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    found = arguments_of(cx, "numpy.copyto", ("dst", "src", "casting", "where"), given, keywords)
    target, source = found["dst"], found["src"]
    if isinstance(target.type, Complex):
        _copy_complex(cx, target, source, found)
        return AV(NONE)
    source = _index(cx, source)
    if not isinstance(target.type, Array):
        raise cx.type_error("argument 1 must be numpy.ndarray", show(target.type))
    writable(cx, target)
    casting = getattr(found["casting"].type, "value", "") if "casting" in found else "same_kind"
    if isinstance(source.type, Array | Number) and casting != "unsafe":
        require_same_kind(cx, source.type.dtype, target.type.dtype)
    HANDLERS["pullback.store"](cx, [target, source, *([found["where"]] if "where" in found else [])], {})
    return AV(NONE)


def _copy_complex(cx: Frame, target: AV, source: AV, found: Mapping[str, AV]) -> None:
    if is_none(found, "where"):
        set_item(cx, target, full_slice(), source)
        return
    if is_array_like(source.type):
        source = call_builtin(cx, "numpy.array", [source], {})
    zero = AV(WEAK_INT, (cx.e.integer(0),), 0)
    for half, value in zip(halves(target), pair_of(cx, source), strict=True):
        _copyto(cx, [half, zero if value is None else value], {"where": found["where"]})


def _select(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    found = arguments_of(cx, "numpy.select", ("condlist", "choicelist", "default"), given, keywords)
    conditions, choices = items_of(found["condlist"]), items_of(found["choicelist"])
    if len(conditions) != len(choices):
        title = "list of cases must be same length as list of conditions"
        raise cx.error(title, f"{len(choices)} and {len(conditions)}", raised=("ValueError", title))
    if not conditions:
        title = "select with an empty condition list is not possible"
        raise cx.error(title, "", raised=("ValueError", title))
    result = found.get("default", AV(WEAK_INT, (cx.e.integer(0),), 0))
    for condition, choice in reversed(list(zip(conditions, choices, strict=True))):
        result = call_builtin(cx, "numpy.where", [condition, choice, result], {})
    if isinstance(result.type, Array) and not result.type.row_major:
        return copy(cx, result, rows=True)  # NumPy sets parts of an array that lies row after row
    return result


def _piecewise(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    """Of a number as of a row of one."""
    subject, listed, functions, *more = given
    av = array_like(cx, subject)
    conditions = items_of(listed) if isinstance(listed.type, Tuple | List) else [listed]
    conditions = [mask_of(cx, array_like(cx, condition)) for condition in conditions]
    if rank_of(av):
        return _pieced(cx, av, conditions, items_of(functions), more, keywords)
    conditions = [expanded(cx, condition, 0) if rank_of(condition) == 0 else condition for condition in conditions]
    made = _pieced(cx, expanded(cx, av, 0), conditions, items_of(functions), more, keywords)
    return made if cx.dead else part(cx, made, 0)


def _pieced(
    cx: Frame, av: AV, conditions: Sequence[AV], pieces: Sequence[AV], more: Sequence[AV], keywords: Mapping[str, AV]
) -> AV:
    if len(pieces) == len(conditions) + 1:
        covered = conditions[0]
        for condition in conditions[1:]:
            covered = binary(cx, "|", covered, condition)
        conditions = [*conditions, call_builtin(cx, "numpy.logical_not", [covered], {})]
    if len(pieces) != len(conditions):
        count = len(conditions)
        title = f"with {count} condition(s), either {count} or {count + 1} functions are expected"
        raise cx.error(title, f"{len(pieces)} are given", raised=("ValueError", title))
    out = call_builtin(cx, "numpy.zeros_like", [av], {})
    for condition, piece in zip(conditions, pieces, strict=True):
        if isinstance(piece.type, Closure | Builtin):
            call(cx, prelude(cx, "pullback.piece"), [out, av, condition, piece, *more], keywords)
        else:
            set_item(cx, out, condition, piece)
    return out


HANDLERS.update({
    "numpy.take": of_array("numpy.take", ("a", "indices", "axis", "out", "mode"), _take), "numpy.put": _put,
    "numpy.take_along_axis": of_array("numpy.take_along_axis", ("arr", "indices", "axis"), _take_along),
    "numpy.put_along_axis": of_array("numpy.put_along_axis", ("arr", "indices", "values", "axis"), _put_along),
    "numpy.choose": of_array("numpy.choose", ("a", "choices", "out", "mode"), _choose),
    "numpy.nonzero": of_array("numpy.nonzero", ("a",), _nonzero),
    "numpy.flatnonzero": of_array("numpy.flatnonzero", ("a",), _flatnonzero),
    "numpy.argwhere": of_array("numpy.argwhere", ("a",), _argwhere),
    "numpy.compress": _compress_function,
    "ndarray.compress": of_array("compress", ("a", "condition", "axis", "out"), _compress),
    "complex.compress": _compress_function,  # its arguments come the other way round: see `complex_functions`
    "numpy.extract": _extract, "numpy.copyto": _copyto, "numpy.select": _select, "numpy.piecewise": _piecewise,
    "numpy.place": _by_mask("numpy.place", "place"), "numpy.putmask": _by_mask("numpy.putmask", "putmask"),
})  # fmt: skip

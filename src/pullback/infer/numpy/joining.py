"""Arrays joined to one: concatenate, stack and kin, block, append.

    np.hstack((a, b))          parts of a fresh array are set, one after the other
    np.concatenate(list_)      of a list of run-time length: a loop of the prelude
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from pullback.infer.calls import call
from pullback.infer.complexes import complex_of, halves
from pullback.infer.creation import arguments_of, array_like, copied, dtype_of, empty
from pullback.infer.dispatch import dispatch
from pullback.infer.elementwise import TOO_BIG, array_sizes, ordered_as
from pullback.infer.engine import Frame
from pullback.infer.filling import copy, fill, writable, write
from pullback.infer.lists import element as list_element
from pullback.infer.lists import first_item, is_sequence, length
from pullback.infer.numbers import as_number, is_same_kind, promote
from pullback.infer.numpy.axes import expanded, is_none, moved_axis, raised, rank_of
from pullback.infer.numpy.contract import elementwise_of_parts
from pullback.infer.numpy.shapes import axis_of, flattened
from pullback.infer.registry import HANDLERS, Handler, prelude
from pullback.infer.values import AV, items_of
from pullback.infer.views import array_of
from pullback.types import Array, Builtin, Complex, DType, List, NoneType, Number, Tuple, show

__all__ = ["common_dtype", "concatenated", "require_same_kind"]

Prepare = Callable[[Frame, AV], AV]


def _members(cx: Frame, name: str, av: AV) -> list[AV]:
    if isinstance(av.type, Array) and av.type.rank > 0:
        raise cx.error(f"{name} takes a tuple or list of arrays", show(av.type), "write the arrays in a tuple")
    if not isinstance(av.type, Tuple | List) or not av.type.items:
        title = "need at least one array to concatenate"
        raise cx.error(title, show(av.type), "write the arrays in a tuple", raised=("ValueError", title))
    return items_of(av)


def _joined(name: str, axis: Callable[[int], int] | None, prepare: Prepare) -> Handler:
    """A function that joins arrays along an axis which depends on their rank (None: along the argument `axis`)."""
    names = ("tup", "dtype", "casting") if axis else ("arrays", "axis", "out", "dtype", "casting")

    def handler(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
        found = arguments_of(cx, name, names, given, keywords)
        if is_sequence(found[names[0]].type):
            return _of_list(cx, name, found[names[0]], found)

        def rule(cx: Frame, operands: Sequence[AV]) -> AV:
            arrays = [prepare(cx, array_like(cx, av)) for av in operands]
            return _with_axis(cx, name, arrays, found, axis)

        return dispatch(cx, _members(cx, name, found[names[0]]), rule)

    return handler


def _with_axis(
    cx: Frame, name: str, arrays: Sequence[AV], found: Mapping[str, AV], axis: Callable[[int], int] | None
) -> AV:
    ranks = {rank_of(av) for av in arrays}
    if axis is None and "axis" in found and isinstance(found["axis"].type, NoneType) and name != "numpy.stack":
        return _stored(cx, name, [flattened(cx, av) for av in arrays], 0, found)
    if len(ranks) != 1:
        raise cx.error(f"np.{name.removeprefix('numpy.')}: all the arrays must have the same number of dimensions",
                       ", ".join(show(av.type) for av in arrays))  # fmt: skip
    (rank,) = ranks
    if axis is not None:
        return _stored(cx, name, arrays, axis(rank), found)
    stack = name == "numpy.stack"
    place = axis_of(cx, found["axis"], rank + stack) if "axis" in found else 0
    if stack:
        arrays = [expanded(cx, av, place) for av in arrays]
    elif rank == 0:
        title = "zero-dimensional arrays cannot be concatenated"
        raise cx.error(title, "an array has no axis", raised=("ValueError", title))
    return _stored(cx, name, arrays, place, found)


def _stored(cx: Frame, name: str, arrays: Sequence[AV], axis: int, found: Mapping[str, AV]) -> AV:
    """The arrays joined, in the dtype that is wanted or in the array `out`."""
    dtype = common_dtype(arrays)
    if not is_none(found, "out"):
        out = found["out"]
        if not isinstance(out.type, Array):
            raise cx.type_error("out must be an array", show(out.type))
        writable(cx, out)
        require_same_kind(cx, dtype, out.type.dtype)
        joined = concatenated(cx, name, arrays, axis, dtype)
        if rank_of(joined) != rank_of(out):
            title = "Output array has wrong dimensionality"
            raise cx.error(title, show(out.type), raised=("ValueError", title))
        for size, other in zip(array_sizes(cx, out), array_sizes(cx, joined), strict=True):
            cx.check(cx.e("eq", size, other), "ValueError", "Output array is the wrong shape", shapes=True)
        fill(cx, out, joined, exact=False)
        return out
    wanted = dtype_of(cx, found.get("dtype"), dtype)
    if "casting" not in found:
        require_same_kind(cx, dtype, wanted)
    return concatenated(cx, name, arrays, axis, wanted)


def require_same_kind(cx: Frame, source: DType, target: DType, *, what: str = "array data") -> None:
    """NumPy's casting rule "same_kind"."""
    if not is_same_kind(source, target):
        names = [show(Number(dtype, False)).removeprefix("np.") for dtype in (source, target)]
        title = f"Cannot cast {what} from dtype('{names[0]}') to dtype('{names[1]}') according to the rule 'same_kind'"
        raise cx.error(title, "the values would change", "convert with .astype(...)", raised=("TypeError", title))


def common_dtype(arrays: Sequence[AV]) -> DType:
    """The dtype that holds the elements of all."""
    kind: Number | None = None
    for av in arrays:
        assert isinstance(av.type, Array)
        own = Number(av.type.dtype, False)
        kind = own if kind is None or kind == own else promote(kind, own)
    assert kind is not None
    return kind.dtype


def _unlike(name: str, axis: int, number: int) -> str:
    """NumPy's message where array `number` differs from the first one along an axis."""
    if name == "numpy.stack":
        return "all input arrays must have the same shape"
    return ("all the input array dimensions except for the concatenation axis must match exactly, but along dimension "
            f"{axis}, the array at index 0 has size {{0}} and the array at index {number} has size {{1}}")  # fmt: skip


def concatenated(cx: Frame, name: str, arrays: Sequence[AV], axis: int, dtype: DType) -> AV:
    """A fresh array of the arrays one after the other along an axis."""
    sizes = array_sizes(cx, arrays[0])
    total = sizes[axis]
    for number, av in enumerate(arrays[1:], 1):
        other = array_sizes(cx, av)
        for i, (m, n) in enumerate(zip(sizes, other, strict=True)):
            if i != axis:
                cx.check(cx.e("eq", m, n), "ValueError", _unlike(name, i, number), m, n, shapes=True)
        cx.check(cx.e("not_", cx.e("add_overflows", total, other[axis])), "ValueError", TOO_BIG)
        total = cx.e("add", total, other[axis])
    out = empty(cx, [total if i == axis else size for i, size in enumerate(sizes)], dtype)
    _copy_parts(cx, out, arrays, axis)
    return ordered_as(out, arrays)


def _copy_parts(cx: Frame, out: AV, arrays: Sequence[AV], axis: int) -> None:
    position = cx.e.integer(0)
    assert isinstance(out.type, Array)
    for av in arrays:
        size = cx.e("array_size", av.value, axis=axis)
        part = cx.e("view_slice", out.value, position, size, cx.e.integer(1), axis=axis, unit=True)
        write(cx, array_of(part, out.type), [av], lambda cx, items: items[0])
        position = cx.e("add", position, size)


# ------------------------------------------------------------------------------------------ lists of run-time length


# Of arrays of which rank a function makes one whose rank is one more.
_STACKED = {"numpy.vstack": (1,), "numpy.column_stack": (1,), "numpy.dstack": (1, 2)}
_FROM_THE_FIRST = ("numpy.stack", "numpy.vstack")


def _of_list(cx: Frame, name: str, arrays: AV, found: Mapping[str, AV]) -> AV:
    """The arrays of a list of run-time length, which are of one type."""
    if set(found) - {"arrays", "tup", "axis"}:
        raise cx.error(f"{name} of a list of run-time length takes an axis only", ", ".join(found))
    start = first_item(cx, arrays)
    cx.check(cx.e("gt", length(cx, arrays), cx.e.integer(0)), "ValueError", "need at least one array to concatenate")
    first = list_element(cx, start, cx.e.integer(0))
    if cx.dead:
        return first
    part = halves(first)[0] if isinstance(first.type, Complex) else first
    rank = part.type.rank if isinstance(part.type, Array) else 0
    if not isinstance(part.type, Array | Number):
        raise cx.error(f"{name} takes arrays, not {show(first.type)}", "the list holds no arrays")
    if name == "numpy.stack" or rank in _STACKED.get(name, ()):
        whole = call(cx, AV(Builtin("numpy.array")), [arrays], {})
        axis = axis_of(cx, found["axis"], rank + 1) if "axis" in found else 0 if name in _FROM_THE_FIRST else rank
        row = name == "numpy.dstack" and rank == 1  # which becomes a table of one row

        def stacked(cx: Frame, part: AV) -> AV:
            found = copy(cx, moved_axis(cx, part, 0, axis), rows=True)
            return expanded(cx, found, 0) if row else found

        return elementwise_of_parts(cx, whole, stacked) if axis else whole
    if not isinstance(part.type, Array) or rank == 0:
        raise cx.error(f"{name} takes arrays, not {show(first.type)}", "the list holds no arrays")
    if name in ("numpy.hstack", "numpy.column_stack") or (name == "numpy.dstack" and rank > 2):
        axis = 2 if name == "numpy.dstack" else min(rank - 1, 1)
    elif name in ("numpy.concatenate", "numpy.vstack"):
        axis = axis_of(cx, found["axis"], rank) if "axis" in found else 0
    else:
        raise cx.error(f"{name} of a list of run-time length is not supported", "", "use np.stack or np.concatenate")
    return _along(cx, arrays, first, axis)


def _along(cx: Frame, arrays: AV, first: AV, axis: int) -> AV:
    parts = halves(first) if isinstance(first.type, Complex) else (first,)
    if 1 < axis < rank_of(parts[0]) - 1:
        help = "transpose the arrays, or the result"
        raise cx.error("arrays of a list are joined along the first two axes or the last", "", help)
    place = "first" if axis == 0 else "second" if axis == 1 else "last"
    total = call(cx, prelude(cx, f"pullback.total_{place}"), [arrays], {})
    sizes = array_sizes(cx, parts[0])
    sizes[axis] = total.value
    made = [empty(cx, sizes, common_dtype([part])) for part in parts]
    fresh = complex_of(*made) if len(made) > 1 else made[0]
    return call(cx, prelude(cx, f"pullback.fill_{place}"), [fresh, arrays], {})


# ------------------------------------------------------------------------------------------------- block, append


def _block(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    (nested,) = given
    depth = _depth(cx, nested)
    if depth == 0:
        return copied(cx, nested, None)
    rank = max(depth, *(rank_of(array_like(cx, leaf)) for leaf in _leaves(nested)))
    return _block_of(cx, nested, rank, rank - depth)


def _depth(cx: Frame, av: AV) -> int:
    if not isinstance(av.type, List):
        return 0
    depths = {_depth(cx, item) for item in items_of(av)}
    if len(depths) != 1:
        raise cx.error("np.block takes lists of one depth", show(av.type), "put the arrays in lists alike")
    return 1 + depths.pop()


def _leaves(av: AV) -> list[AV]:
    return [leaf for item in items_of(av) for leaf in _leaves(item)] if isinstance(av.type, List) else [av]


def _block_of(cx: Frame, av: AV, rank: int, axis: int) -> AV:
    if not isinstance(av.type, List):
        array = array_like(cx, av)
        while rank_of(array) < rank:
            array = expanded(cx, array, 0)
        return array
    parts = [_block_of(cx, item, rank, axis + 1) for item in items_of(av)]
    return concatenated(cx, "numpy.block", parts, axis, common_dtype(parts))


def _append(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    found = arguments_of(cx, "numpy.append", ("arr", "values", "axis"), given, keywords)
    axis = found.get("axis", AV(NoneType()))

    def rule(cx: Frame, operands: Sequence[AV]) -> AV:
        arrays = [array_like(cx, as_number(cx, av)) for av in operands]
        return _with_axis(cx, "numpy.append", arrays, {"axis": axis}, None)

    return dispatch(cx, [found["arr"], found["values"]], rule)


def _at_least(rank: int) -> Prepare:
    def prepare(cx: Frame, av: AV) -> AV:
        return raised(cx, av, rank)

    return prepare


def _as_column(cx: Frame, av: AV) -> AV:
    """np.column_stack: what has one axis or none is a column."""
    while rank_of(av) < 2:
        av = expanded(cx, av, rank_of(av))
    return av


def _same(cx: Frame, av: AV) -> AV:
    return av


def _first(rank: int) -> int:
    return 0


def _side(rank: int) -> int:
    return 0 if rank == 1 else 1


def _second(rank: int) -> int:
    return 1


def _third(rank: int) -> int:
    return 2


HANDLERS.update({
    "numpy.concatenate": _joined("numpy.concatenate", None, _same), "numpy.stack": _joined("numpy.stack", None, _same),
    "numpy.hstack": _joined("numpy.hstack", _side, _at_least(1)),
    "numpy.vstack": _joined("numpy.vstack", _first, _at_least(2)),
    "numpy.row_stack": _joined("numpy.vstack", _first, _at_least(2)),
    "numpy.dstack": _joined("numpy.dstack", _third, _at_least(3)),
    "numpy.column_stack": _joined("numpy.column_stack", _second, _as_column),
    "numpy.block": _block, "numpy.append": _append,
})  # fmt: skip

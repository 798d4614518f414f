"""Gradients by trees and lists of objects where derivatives are closures: floats from twins of tables into copies.

    g = grad(f)(x)      w = py.walked(x); c = py.templates(w)       the objects of x by number, and blank copies of them
                        ... the gradient of f leaves sensitivities in the twins T_d0 of the tables ...
                        py.carried{(0,), ()}(w, c)                  c's numbers are what T_d0 has in the rows of w
                        g = py.merged(c's values, gradient by what x holds outside of objects)

Arrays in objects have shadows, which mirrors of the tables hold (`ad.stored`): those of x's are the arrays of the
copies from the beginning (`py.shares`), so the gradient by them is there when it has been added up.
What J makes of these ops, `ad.carried` says.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from pullback.diagnostic import InternalError
from pullback.infer.arithmetic import binary
from pullback.infer.by_objects import likened
from pullback.infer.elementwise import array_sizes
from pullback.infer.engine import Frame
from pullback.infer.filling import write
from pullback.infer.heaps import Heap
from pullback.infer.leaves import column_get, column_set, has_objects
from pullback.infer.numbering import array_value, columns_of
from pullback.infer.planting import merged, packed
from pullback.infer.shadow_ops import check_overlap, zeros_like
from pullback.infer.shadowed import bare
from pullback.infer.sites import ShadowsWanted
from pullback.infer.stored import Path, cell_access
from pullback.infer.values import AV, items_of
from pullback.infer.walks import UNLIKE, Walk
from pullback.ir.node import Op, Value
from pullback.types import Array, ArrayRef, DType, Number, Scalar, is_float

__all__ = ["MEANINGS"]

_INT = Number(DType.I64)
Row = Callable[[Heap, int, Value, Value], None]  # for one float column: what is done with a row of each walk


def _walked(cx: Frame, op: Op, operands: list[AV]) -> AV:
    values = [bare(av) for av in operands]
    walk = Walk.begin(cx, values)
    if any(walk.is_array(heap, column) for heap, column in walk.columns()) and not cx.session.shadowed:
        raise ShadowsWanted(overwrites=False)
    return _told(walk)


def _told(walk: Walk) -> AV:
    """A walk as a value: where it went, its key, and of copies their first rows."""
    first = [walk.first[heap] for heap in walk.heaps] if walk.first else []
    return packed([packed(walk.values), _numbers(walk.key), _numbers(first)])


def _numbers(values: Sequence[Value]) -> AV:
    return packed([AV(_INT, (value,)) for value in values])


def _walk(cx: Frame, told: AV) -> Walk:
    values, key, first = map(items_of, items_of(told))
    walk = Walk(cx, values, [av.value for av in key])
    if len(key) != 1 + 2 * len(walk.heaps):  # what is between told more of what heaps hold; inference starts again
        raise InternalError("heaps came to hold objects while a function was inferred")
    walk.first = dict(zip(walk.heaps, (av.value for av in first), strict=False))
    return walk


def _noticed(rule: Callable[[Frame, Op, list[AV]], AV | None]) -> Callable[[Frame, Op, list[AV]], AV | list[AV]]:
    """What the rule stores is known to J."""

    def apply(cx: Frame, op: Op, operands: list[AV]) -> AV | list[AV]:
        before = len(cx.e.block.ops)
        found = rule(cx, op, operands)
        for made in cx.e.block.ops[before:]:
            cx.noticed.update((made, *(inner for block in made.blocks for inner in block.walk())))
        return [] if found is None else found

    return apply


def _templates(cx: Frame, op: Op, operands: list[AV]) -> AV:
    """Blank copies, whose arrays are their own."""
    walk = _walk(cx, operands[0])
    _, copy = walk.copies(cx)

    def own(heap: Heap, column: int, old: Value, new: Value) -> None:
        column_set(cx, heap, new, column, _zeros(cx, column_get(cx, heap, old, column)))

    _along(cx, walk, copy, own, arrays=True)
    return _told(copy)


def _along(cx: Frame, walk: Walk, other: Walk, rule: Row, *, arrays: bool) -> None:
    """The rule for each column of numbers, or of arrays, and each pair of rows of two walks over the same structure."""
    for heap in walk.heaps:
        owner = walk.owner(heap)
        columns = [c for c in columns_of(owner) if isinstance(owner.columns[c], ArrayRef) == arrays]

        def one(row: Value, twin: Value, owner: Heap = owner, columns: Sequence[int] = columns) -> None:
            for column in columns:
                rule(owner, column, row, twin)

        if columns:
            walk.pairs(cx, heap, other, one)


def _alike(cx: Frame, op: Op, operands: list[AV]) -> list[AV]:
    """Guard: a cotangent has as many objects as what it is of, and its lists are as long."""
    walk, other = (_walk(cx, told) for told in operands)
    for heap in walk.heaps:
        cx.check(cx.e("eq", walk.count(heap), other.count(heap)), "ValueError", UNLIKE)
        if heap in walk.items:
            walk.require_lengths(cx, heap, other)
    return []


def _zeros(cx: Frame, model: Value) -> Value:
    return zeros_like(cx, array_value(model)).value


def _get(cx: Frame, heap: Heap, path: Path, column: int, row: Value) -> Value:
    return cell_access(cx, heap, path, column, "table_get", [row])[0]


def _set(cx: Frame, heap: Heap, path: Path, column: int, row: Value, value: Value) -> None:
    cell_access(cx, heap, path, column, "table_set", [row, value])


def _mirrored(cx: Frame, op: Op, operands: list[AV]) -> None:
    """Zeros as the shadows of the arrays in new copies."""
    walk, path = _walk(cx, operands[0]), _path(op, "path")

    def one(heap: Heap, column: int, _: Value, row: Value) -> None:
        _set(cx, heap, path, column, row, _zeros(cx, column_get(cx, heap, row, column)))

    _along(cx, walk, walk, one, arrays=True)


def _shares(cx: Frame, op: Op, operands: list[AV]) -> None:
    """The rows of one walk get the arrays of the other; zeros where that has none."""
    source, target = _path(op, "source"), _path(op, "target")

    def one(heap: Heap, column: int, row: Value, other: Value) -> None:
        found, model = _get(cx, heap, source, column, row), column_get(cx, heap, row, column)

        def zeros() -> list[AV]:
            return [AV(array_value(found).type, (_zeros(cx, model),))]

        (shared,) = cx.choose(_same_shape(cx, found, model), lambda: [array_value(found)], zeros)
        _set(cx, heap, target, column, other, shared.value)

    _along(cx, *_walks(cx, operands), _turned(op, one), arrays=True)


def _same_shape(cx: Frame, a: Value, b: Value) -> Value:
    same = cx.e.boolean(True)
    for m, n in zip(array_sizes(cx, array_value(a)), array_sizes(cx, array_value(b)), strict=True):
        same = cx.e("and_", same, cx.e("eq", m, n))
    return same


def _carried(cx: Frame, op: Op, operands: list[AV]) -> None:
    """Numbers from the rows of one walk to those of the other."""
    source, target, taken = _path(op, "source"), _path(op, "target"), bool(op.attrs["taken"])

    def one(heap: Heap, column: int, row: Value, other: Value) -> None:
        if not taken:
            _set(cx, heap, target, column, other, _get(cx, heap, source, column, row))
            return
        nothing = cx.e.constant(0.0, heap.columns[column])
        (found,) = cell_access(cx, heap, source, column, "table_swap", [row, nothing])
        cell_access(cx, heap, target, column, "table_inc", [other, found])

    _along(cx, *_walks(cx, operands), _turned(op, one), arrays=False)


def _added(cx: Frame, op: Op, operands: list[AV]) -> None:
    """Arrays in the rows of one walk to those of the other."""
    source, target = _path(op, "source"), _path(op, "target")

    def one(heap: Heap, column: int, row: Value, other: Value) -> None:
        found, total = _get(cx, heap, source, column, row), _get(cx, heap, target, column, other)
        cx.check(_same_shape(cx, found, total), "ValueError", UNLIKE)
        both = [array_value(total), array_value(found)]
        write(cx, both[0], both, lambda cx, items: binary(cx, "+", *items))

    _along(cx, *_walks(cx, operands), _turned(op, one), arrays=True)


def _turned(op: Op, rule: Row) -> Row:
    """The rule from the first walk to the second, or back."""
    if not op.attrs["back"]:
        return rule
    return lambda heap, column, row, other: rule(heap, column, other, row)


def _emptied(cx: Frame, op: Op, operands: list[AV]) -> None:
    walk, path = _walk(cx, operands[0]), _path(op, "path")

    def one(heap: Heap, column: int, _: Value, row: Value) -> None:
        array = array_value(_get(cx, heap, path, column, row))
        assert isinstance(array.type, Array)
        nothing = AV(Number(array.type.dtype, weak=False), (cx.e.constant(0.0, Scalar(array.type.dtype)),))
        write(cx, array, [nothing], lambda cx, items: items[0])

    _along(cx, walk, walk, one, arrays=True)


def _walks(cx: Frame, operands: Sequence[AV]) -> tuple[Walk, Walk]:
    one, other = operands
    return _walk(cx, one), _walk(cx, other)


def _apart(cx: Frame, op: Op, operands: list[AV]) -> list[AV]:
    """Guard: where arrays are written, no array in the objects is memory of another one, in them or beside them.

    Each has a shadow of its own.
    """
    if not cx.session.overwrites:
        return []
    told, *beside = operands
    walk = _walk(cx, told)
    direct = [v for av in beside for v in bare(av).values if isinstance(v.type, ArrayRef) and is_float(v.type)]

    def one(heap: Heap, column: int, row: Value, _: Value) -> None:
        array = column_get(cx, heap, row, column)
        for other in direct:
            check_overlap(cx, cx.e("array_overlap", array, other))

        def second(other: Heap, place: int, place_row: Value, _: Value) -> None:
            overlap = cx.e("array_overlap", array, column_get(cx, other, place_row, place))
            if (other, place) == (heap, column):
                overlap = cx.e("and_", overlap, cx.e("ne", row, place_row))
            check_overlap(cx, overlap)

        _along(cx, walk, walk, second, arrays=True)

    _along(cx, walk, walk, one, arrays=True)
    return []


def _path(op: Op, name: str) -> Path:
    path = op.attrs[name]
    assert isinstance(path, tuple)
    return path


def _merged(cx: Frame, op: Op, operands: list[AV]) -> AV:
    copy, direct = operands
    return merged(cx, copy, direct)


def _likened(cx: Frame, op: Op, operands: list[AV]) -> AV:
    """A cotangent whose objects are of the types that those of the value are."""
    model, given = operands
    return likened(cx, "cotangent", model, given) if has_objects(model.type) else given


MEANINGS: Mapping[str, Callable[[Frame, Op, list[AV]], AV | list[AV]]] = {
    "py.walked": _noticed(_walked), "py.templates": _noticed(_templates), "py.mirrored": _noticed(_mirrored),
    "py.shares": _noticed(_shares), "py.carried": _noticed(_carried), "py.added": _noticed(_added),
    "py.emptied": _noticed(_emptied), "py.alike": _alike, "py.apart": _apart,
    "py.merged": _merged, "py.likened": _likened,
}  # fmt: skip

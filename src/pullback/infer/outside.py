"""Arrays that a differentiated function finds outside, in globals, cells and defaults, where it writes to some.

    G = np.zeros(2)                       row of G in the heap "outside": found by its memory, or added
    def f(x):                             G with a shadow: what the heap's mirror holds in that row, zeros at first
        G[0] = x         ->               and then as with any array with a shadow (`shadowed`)
        return G[0] * G[0]

So whoever reads it, under whatever name, has the same shadow; a derivative by this very array too.  Where it only
shares memory with an array that has another shadow, that is a ValueError.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator

from pullback.infer.binding import pack_tuple
from pullback.infer.dispatch import dispatch
from pullback.infer.elementwise import array_sizes
from pullback.infer.engine import Frame
from pullback.infer.heaps import Heap, allocate, each, heap_of, table_of
from pullback.infer.lattice import WEAK_INT
from pullback.infer.shadow_ops import check_overlap, dressed, fresh_shadow, zeros_like
from pullback.infer.shadowed import bare, inside, is_tracked, pair, rebuilt_as, tracks
from pullback.infer.stored import Path, cell_access
from pullback.infer.values import AV
from pullback.ir.node import Op, Value
from pullback.prims.base import get
from pullback.types import Array, Type, Union, slots

__all__ = ["all_outside", "dressed_given", "dressed_outside", "noted"]

_OUTSIDE, _GIVEN = "outside", "given"  # kinds of heaps: arrays from outside, and those that a derivative is taken by
_CELL = "array"


def dressed_outside(cx: Frame, where: Hashable, av: AV) -> AV:
    """What was found outside, its arrays with the shadows that code of so many derivatives knows."""
    if tracks(av.type):
        cx.session.places.setdefault(where, av.type)
    return _dressed(cx, av, cx.code.order)


def _dressed(cx: Frame, av: AV, level: int) -> AV:
    if is_tracked(av.type) and slots(av.type)[0].rank:  # type: ignore[union-attr]
        row = _row(cx, av)
        return _nested(cx, av, row, level, ())
    if not tracks(av.type) or is_tracked(av.type):
        return av
    if isinstance(av.type, Union):
        return dispatch(cx, [av], lambda cx, one: _dressed(cx, one[0], level))
    return rebuilt_as(av.type, [_dressed(cx, item, level) for item in inside(av)])


def _nested(cx: Frame, array: AV, row: Value, level: int, path: Path) -> AV:
    """The array, or the shadow that the path says, with `level` shadows of its own."""
    if level == 0:
        return array if not path else _shadow(cx, array, row, path)
    return pair(_nested(cx, array, row, level - 1, path), _nested(cx, array, row, level - 1, (level - 1, *path)))


# ------------------------------------------------------------------------------------------------------------- rows


def _heap(cx: Frame, kind: str, type_: Type) -> Heap:
    """The heap of arrays of that machine type.  Another one is news: what was added before was not compared with it."""
    (machine,) = slots(type_)
    known = (kind, machine) in cx.session.heaps
    heap = heap_of(cx, kind, machine)
    if not known:
        heap.changes += 1
    heap.learn(_CELL, Array(machine.dtype, machine.rank, machine.contiguous))  # type: ignore[union-attr]
    return heap


def _all(cx: Frame, kind: str) -> Iterator[Heap]:
    return (heap for (found, _), heap in list(cx.session.heaps.items()) if found == kind)


def _array_at(cx: Frame, heap: Heap, row: Value) -> Value:
    return cell_access(cx, heap, (), 0, "table_get", [row])[0]


def _add(cx: Frame, heap: Heap, array: Value) -> Value:
    row = allocate(cx, heap)
    before = len(cx.e.block.ops)
    cell_access(cx, heap, (), 0, "table_set", [row, array])
    cx.noticed.update(cx.e.block.ops[before:])
    return row


def _row(cx: Frame, av: AV) -> Value:
    """The number of the array's row, which is made where there is none."""
    heap, array = _heap(cx, _OUTSIDE, av.type), av.value
    count = cx.e("table_length", table_of(cx, heap))
    found = _searched(cx, heap, array, count)
    missing = cx.e("eq", found, count)

    def added() -> list[AV]:
        for kind in (_OUTSIDE, _GIVEN):
            for other in _all(cx, kind):
                _check_apart(cx, other, array)
        return [AV(WEAK_INT, (_add(cx, heap, array),))]

    return cx.choose(missing, added, lambda: [AV(WEAK_INT, (found,))])[0].value


def _searched(cx: Frame, heap: Heap, array: Value, count: Value) -> Value:
    """The first row with this very array; `count` if there is none."""

    def step(row: Value, found: Value) -> Value:
        here = cx.e("and_", _same(cx, _array_at(cx, heap, row), array), cx.e("eq", found, count))
        return cx.e("select", here, row, found)

    return _folded(cx, count, count, step)


def _folded(cx: Frame, count: Value, start: Value, step: Callable[[Value, Value], Value]) -> Value:
    """for row in range(count): start = step(row, start)"""
    row, carried = cx.fresh(WEAK_INT).value, cx.fresh(WEAK_INT).value
    branch = cx.branch(lambda: [AV(WEAK_INT, (step(row, carried),))])
    branch.block.params = [row, carried]
    block = cx.close(branch, [WEAK_INT])
    return cx.e.append(get("for"), [count, start], blocks=[block], types=[start.type]).result  # type: ignore[list-item]


def _same(cx: Frame, a: Value, b: Value) -> Value:
    """Are two arrays of one machine type the same elements in the same order."""
    first, second = (AV(Array(v.type.dtype, v.type.rank, v.type.contiguous), (v,)) for v in (a, b))  # type: ignore[union-attr]
    same = cx.e("array_same", a, b)
    for axis, (m, n) in enumerate(zip(array_sizes(cx, first), array_sizes(cx, second), strict=True)):
        same = cx.e("and_", same, cx.e("eq", m, n))
        if not a.type.contiguous:  # type: ignore[union-attr]
            last = cx.e("maximum", cx.e("sub", m, cx.e.integer(1)), cx.e.integer(0))
            ends = [cx.e("view_index", v, last, axis=axis) for v in (a, b)]
            same = cx.e("and_", same, cx.e("array_same", *ends))
    return same


def _check_apart(cx: Frame, heap: Heap, array: Value) -> None:
    """Guard: no array in the heap shares memory with this one."""
    count = cx.e("table_length", table_of(cx, heap))
    each(cx, count, lambda row: check_overlap(cx, cx.e("array_overlap", _array_at(cx, heap, row), array)))


# ---------------------------------------------------------------------------------------------------------- shadows


def _shadow(cx: Frame, array: AV, row: Value, path: Path) -> AV:
    """What the mirror of that path holds for the row: zeros, made now, where nobody asked yet."""
    heap = _heap(cx, _OUTSIDE, array.type)
    (kept,) = cell_access(cx, heap, path, 0, "table_get", [row])
    found = AV(heap.known(_CELL), (kept,))
    missing = cx.e.boolean(False)
    for m, n in zip(array_sizes(cx, array), array_sizes(cx, found), strict=True):
        missing = cx.e("or_", missing, cx.e("ne", m, n))

    def made() -> list[AV]:
        zeros = zeros_like(cx, array)
        before = len(cx.e.block.ops)
        cell_access(cx, heap, path, 0, "table_set", [row, zeros.value])
        cx.noticed.update(cx.e.block.ops[before:])
        return [AV(found.type, zeros.values)]

    return AV(array.type, cx.choose(missing, made, lambda: [found])[0].values)


def all_outside(cx: Frame, op: Op, operands: list[AV]) -> AV:
    """py.outside: all that the program finds outside, as the code of one more derivative knows it."""
    found: list[AV] = []
    for where, type_ in cx.session.places.items():
        made = cx.e.append(get("hidden"), (), attrs={"key": where}, types=slots(type_))
        found.append(_dressed(cx, AV(type_, tuple(made.results)), _order(op) + 1))
    return pack_tuple(found)


def _order(op: Op) -> int:
    order = op.attrs.get("order", 0)
    assert isinstance(order, int)
    return order


# ------------------------------------------------------------------------------------- what a derivative is taken by


def dressed_given(cx: Frame, op: Op, operands: list[AV]) -> AV:
    """py.dressed: with a fresh shadow for each array, but an array that is found outside has one shadow."""
    return dressed(cx, operands[0], _order(op), _shadow_of_given if cx.session.outside else fresh_shadow)


def _shadow_of_given(cx: Frame, av: AV, order: int) -> AV:
    array = bare(av)
    if (_OUTSIDE, slots(array.type)[0]) not in cx.session.heaps:
        return fresh_shadow(cx, av, order)
    heap = _heap(cx, _OUTSIDE, array.type)
    count = cx.e("table_length", table_of(cx, heap))
    row = _searched(cx, heap, array.value, count)
    return cx.choose(
        cx.e("eq", row, count),
        lambda: [fresh_shadow(cx, av, order)],
        lambda: [_nested(cx, array, row, order, (order,))],
    )[0]


def noted(cx: Frame, op: Op, operands: list[AV]) -> list[AV]:
    """py.noted(x...): guard: what a derivative is taken by shares no memory with another array from outside."""
    for av in operands:
        _note(cx, bare(av))
    return []


def _note(cx: Frame, av: AV) -> None:
    if is_tracked(av.type) and slots(av.type)[0].rank:  # type: ignore[union-attr]
        _note_array(cx, av)
    elif tracks(av.type) and not isinstance(av.type, Union):
        for item in inside(av):
            _note(cx, item)


def _note_array(cx: Frame, av: AV) -> None:
    heap = _heap(cx, _OUTSIDE, av.type)
    count = cx.e("table_length", table_of(cx, heap))

    def kept() -> list[AV]:
        for other in _all(cx, _OUTSIDE):
            _check_apart(cx, other, av.value)
        _add(cx, _heap(cx, _GIVEN, av.type), av.value)
        return []

    cx.choose(cx.e("eq", _searched(cx, heap, av.value, count), count), kept, list)

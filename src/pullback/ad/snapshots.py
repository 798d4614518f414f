"""Reads that the reverse half would have to record one by one are made from a copy.

    for steps:                                     for steps:
      for n: body (i)                                c = copy of p[0:n]
        for n: body (j): x = array_get p, j   ->     for n: body (i)
        ...                                            for n: body (j): x = array_get c, j
      p is overwritten                               p is overwritten

The loops around the read that do not write the array read every element several times (here once per i): copying what
they read costs less than they do, and the reverse half reads the copy again.  Only parts are copied whose bounds are
known before the loops, so never more than was read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pullback.ad.shadows import copy_array
from pullback.analysis.alias import Aliases
from pullback.analysis.dependence import Dependence
from pullback.ir.node import Block, Function, Op, Value
from pullback.prims.base import Emitter
from pullback.types import I64, ArrayRef

__all__ = ["copy_what_loops_read"]


@dataclass(frozen=True, slots=True)
class Axis:
    """An index: the offset (None: 0), plus the index of a loop (None: it does not change)."""

    offset: Value | int | None
    loop: Op | None


    @property
    def count(self) -> Value | None:
        """How many elements are read; None: one."""
        return None if self.loop is None else self.loop.operands[0]


Copies = dict[tuple[object, ...], tuple[Value, list[Value]]]


@dataclass(slots=True)
class Plan:
    """The loops that only read, and where the read is in terms of them."""

    around: Op
    axes: tuple[Axis, ...]


def copy_what_loops_read(function: Function, aliases: Aliases, dependence: Dependence) -> bool:
    """Rewrite the function; was there anything to do."""
    copies: Copies = {}
    found = False
    for block in _blocks(function.body):
        for read in list(block.ops):
            if read.name == "array_get" and _lost(aliases, dependence, read):
                plan = _plan(aliases, read)
                if plan is not None:
                    _rewrite(aliases, block, read, plan, copies)
                    found = True
    return found


def _blocks(block: Block) -> list[Block]:
    return [block, *(inner for op in block.ops if op.name != "elementwise" for b in op.blocks for inner in _blocks(b))]


def _lost(aliases: Aliases, dependence: Dependence, read: Op) -> bool:
    """Is what was read perhaps overwritten by the time of the reverse half."""
    array = read.operands[0]
    if not isinstance(array.type, ArrayRef) or not array.type.dtype.is_float:
        return False
    return not aliases.settled(array, read) and not dependence.final(read)


def _plan(aliases: Aliases, read: Op) -> Plan | None:
    """The outermost loop that will do."""
    chosen: Plan | None = None
    loops: list[Op] = []
    array = read.operands[0]
    holder = _around(aliases, read)
    while holder is not None:
        if holder.name in ("for", "while"):
            loops.append(holder)
            if aliases.inside(aliases.home(array), holder) or aliases.written_inside(array, holder):
                break
            axes = [_axis(aliases, index, loops) for index in read.operands[1:]]
            used = [axis.loop for axis in axes if axis is not None and axis.loop is not None]
            if None not in axes and len(set(used)) == len(used) < len(loops):
                chosen = Plan(holder, tuple(axis for axis in axes if axis is not None))
        holder = _around(aliases, holder)
    return chosen


def _around(aliases: Aliases, op: Op) -> Op | None:
    place = aliases.place(op)
    return None if place is None else aliases.holder(place[0])


def _axis(aliases: Aliases, index: Value, loops: Sequence[Op]) -> Axis | None:
    """The index as an offset known before the outermost of the loops, plus the index of one of them."""
    offset = _fixed(aliases, index, loops[-1])
    if offset is not None:
        return Axis(offset, None)
    parts: list[Value] = [index]
    op = aliases.maker(index)
    if op is not None and op.name == "add":
        parts = list(op.operands)
    for place, part in enumerate(parts):
        for loop in loops:
            if loop.name == "for" and part is loop.blocks[0].params[0] and _counted(aliases, loop, loops[-1]):
                if len(parts) == 1:
                    return Axis(None, loop)
                offset = _fixed(aliases, parts[1 - place], loops[-1])
                return None if offset is None else Axis(offset, loop)
    return None


def _counted(aliases: Aliases, loop: Op, around: Op) -> bool:
    return loop is around or _fixed(aliases, loop.operands[0], around) is not None


def _fixed(aliases: Aliases, value: Value, around: Op) -> Value | int | None:
    """The value, or the number it is, if it is known before the loop."""
    op = aliases.maker(value)
    if op is not None and op.name == "const" and value.type == I64:
        return int(str(op.attrs["value"]))
    return None if aliases.inside(aliases.home(value), around) else value


def _rewrite(aliases: Aliases, block: Block, read: Op, plan: Plan, copies: Copies) -> None:
    key = (plan.around, read.operands[0], *((axis.offset, axis.count) for axis in plan.axes))
    if key not in copies:
        place = aliases.place(plan.around)
        assert place is not None
        e = Emitter(Block(), read.span)
        copies[key] = _copy(e, read.operands[0], plan.axes)
        at = place[0].ops.index(plan.around)
        place[0].ops[at:at] = e.block.ops
    copy, starts = copies[key]
    e = Emitter(Block(), read.span)
    read.operands[0] = copy
    for number, (axis, start) in enumerate(zip(plan.axes, starts, strict=True), 1):
        read.operands[number] = _moved(e, axis, read.operands[number], start)
    at = block.ops.index(read)
    block.ops[at:at] = e.block.ops


def _moved(e: Emitter, axis: Axis, index: Value, start: Value) -> Value:
    """The index into the copy."""
    if axis.loop is None:
        return start  # of one element: the zero
    if isinstance(axis.offset, Value):
        return e("sub", index, start)
    return index if (axis.offset or 0) < 0 else axis.loop.blocks[0].params[0]


def _copy(e: Emitter, array: Value, axes: Sequence[Axis]) -> tuple[Value, list[Value]]:
    """The part of the array that is read (no more than there is), and where it starts on each axis."""
    part, starts = array, list[Value]()
    zero, one = e.integer(0), e.integer(1)
    for place, axis in enumerate(axes):
        size = e("array_size", array, axis=place)
        offset = axis.offset if isinstance(axis.offset, Value) else e.integer(axis.offset or 0)
        start = e("minimum", e("maximum", offset, zero), size)
        end = e("minimum", e("add", offset, axis.count or one), size)
        starts.append(zero if axis.loop is None else start)
        part = e("view_slice", part, start, e("maximum", e("sub", end, start), zero), one, axis=place, unit=True)
    return copy_array(e, part), starts

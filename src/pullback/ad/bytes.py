"""How many bytes a trip of a loop keeps for the reverse half, as a number known before the loop.

    r = trip_bytes{loop}(s)               r = mul n, 8        a trip stores an array of n doubles
    for{identity: loop} ...         ->    for ...

Sizes are those of the first trip, or the largest, where they change.  Arrays of which nothing is known, and records of
calls, count as s bytes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pullback.analysis.effects import VIEWS
from pullback.ir.node import Block, Op, Value
from pullback.prims.base import Emitter, get
from pullback.types import I64, ArrayRef, Buffer, Scalar

if TYPE_CHECKING:
    from pullback.ad.residuals import Closer
    from pullback.ad.reverse import Pair

__all__ = ["fill_trip_bytes"]

_RECORD = 64


def fill_trip_bytes(closer: Closer, pair: Pair) -> None:
    """The loop has been closed: say what its trips keep where that is asked."""
    identity = pair.forward.attrs.get("identity")
    if identity is not None:
        for op in closer.primal.body.walk():
            if op.name == "trip_bytes" and op.attrs["loop"] == identity:
                _Measure(closer, pair, op).fill()
                return


class _Measure:
    def __init__(self, closer: Closer, pair: Pair, asked: Op) -> None:
        self.closer, self.pair, self.asked = closer, pair, asked
        self.e = Emitter(Block(), asked.span)
        self.found: dict[Value, Value | None] = {}

    def fill(self) -> None:
        """Put a sum in the place of the op."""
        e, asked = self.e, self.asked
        total = zero = e.integer(0)
        for chain, values in self.closer.kept:
            if self.pair in chain:
                inner = chain[: chain.index(self.pair)]
                each = e.integer(1)
                for pair in inner:
                    each = e("mul", each, self.known(self.closer.trips(pair)) or e.integer(1))
                for value in values:
                    total = e("add", total, e("mul", each, self.size(value)))
        self.closer.primal.insert_before(asked, e.block.ops)
        asked.prim, asked.operands, asked.attrs = get("add"), [total, zero], {}

    def size(self, value: Value) -> Value:
        """The bytes of one value that a trip stores."""
        match value.type:
            case Scalar(dtype):
                return self.e.integer(dtype.bytes)
            case ArrayRef():
                return self.array(value)
            case Buffer(element):
                maker = self.closer.tables.maker.get(value)
                count = self.known(maker.operands[0]) if maker is not None and maker.operands else None
                if count is None:
                    return self.asked.operands[0]
                of = self.e.integer(element.dtype.bytes) if isinstance(element, Scalar) else self.asked.operands[0]
                return self.e("mul", count, of)
        return self.e("add", self.asked.operands[0], self.e.integer(_RECORD))

    def array(self, value: Value) -> Value:
        assert isinstance(value.type, ArrayRef)
        maker = self.closer.tables.maker.get(value)
        if maker is not None and maker.name in VIEWS:
            return self.e.integer(_RECORD)  # the memory is another value's
        total = self.e.integer(value.type.dtype.bytes)
        for axis in range(value.type.rank):
            size = self.axis(value, axis)
            if size is None:
                return self.asked.operands[0]
            total = self.e("mul", total, size)
        return total

    # ---------------------------------------------------------------------------------- sizes, as far as they are known

    def known(self, value: Value) -> Value | None:
        """An integer as it is before the loop, or would be in the first trip, or at most; None if that is not known."""
        if value not in self.found:
            self.found[value] = None  # until it is known: carried values may depend on themselves
            self.found[value] = self._known(value)
        return self.found[value]

    def _known(self, value: Value) -> Value | None:
        if self._before(value):
            return value
        op, holder = self.closer.tables.maker.get(value), self._loop_of(value)
        if holder is not None and value.type == I64:
            place = holder.blocks[-1].params.index(value)
            return self.known(holder.operands[place])  # of an index: the number of trips
        if op is None or op.blocks or op.prim.effects:
            return None
        if op.name == "array_size":
            return self.axis(op.operands[0], int(str(op.attrs["axis"])))
        if not all(isinstance(v.type, Scalar) for v in op.operands):
            return None
        operands = [self.known(v) for v in op.operands]
        if None in operands:
            return None
        return clone_into(self.e, op, [v for v in operands if v is not None])

    def axis(self, array: Value, axis: int) -> Value | None:
        """The size of an axis, as `known`."""
        if self._before(array):
            return self.e("array_size", array, axis=axis)
        op, holder = self.closer.tables.maker.get(array), self._loop_of(array)
        if holder is not None:
            start = holder.operands[holder.blocks[-1].params.index(array)]
            return self.axis(start, axis)
        if op is None:
            return None
        place = int(str(op.attrs.get("axis", 0)))
        match op.name:
            case "array_zeros" | "array_empty" | "elementwise":
                return self.known(op.operands[axis])
            case "matmul":
                return self.axis(op.operands[axis], axis)
            case "view_transpose":
                perm = op.attrs["perm"]
                assert isinstance(perm, tuple)
                return self.axis(op.operands[0], perm[axis])
            case "view_index":
                return self.axis(op.operands[0], axis + (axis >= place))
            case "view_expand":
                return self.e.integer(1) if axis == place else self.axis(op.operands[0], axis - (axis > place))
            case "view_slice":
                return self.known(op.operands[2]) if axis == place else self.axis(op.operands[0], axis)
            case "view_reshape":
                return self.known(op.operands[1 + axis])
            case "view_relax":
                return self.axis(op.operands[0], axis)
            case "if":
                return self.axis(op.blocks[0].results[op.results.index(array)], axis)
            case "for" | "while":
                return self.axis(op.operands[op.results.index(array) + (op.name == "for")], axis)
        return None

    def _loop_of(self, value: Value) -> Op | None:
        """The loop that carries the value, or counts with it, inside its body."""
        home = self.closer.tables.home.get(value)
        holder = self.closer.tables.holder.get(home) if home is not None else None
        inside = holder is not None and holder.name in ("for", "while") and value in holder.blocks[-1].params
        if not inside or holder is None:
            return None
        return holder if holder.blocks[-1].params.index(value) < len(holder.operands) else None

    def _before(self, value: Value) -> bool:
        """Is the value there where its size is asked for."""
        tables = self.closer.tables
        place: Block | None = tables.place[self.asked]
        anchor = self.asked
        home = tables.home.get(value)
        if home is None:
            return False
        while place is not None:
            if home is place:
                maker = tables.maker.get(value)
                return maker is None or place.ops.index(maker) < place.ops.index(anchor)
            holder = tables.holder.get(place)
            if holder is None:
                return False
            anchor, place = holder, tables.place[holder]
        return False


def clone_into(e: Emitter, op: Op, operands: list[Value]) -> Value:
    """The op once more, of other operands."""
    types = [v.type for v in op.results if v.type is not None]
    return e.append(op.prim, operands, attrs=dict(op.attrs), types=types).result

"""The forward sweep: adds to the forward half what the reverse half needs.

    for n, r0:                             s = array_size a           sizes of active arrays
      body (k, r): r1 = mul r, x    ->     for n, r0: ...             unchanged
    while c: ...                           while c, zero: ...         + a counted trip
    b = box v, c                           b' = box 0.0, c'           + a shadow for every record
    y = call f(x)                          y, record = call f.aug(x)

    a1 = if p {a} {b}                      s1 = if p {sa} {sb}        + shadows of arrays that are overwritten and have
                                                                        several names: which is which must be known

No op of the forward half touches an accumulator: shadows are only made here, and only those of records, of buffers of
references, and of such arrays.  Other arrays get their accumulators in the reverse half.
"""

from __future__ import annotations

from collections.abc import Sequence

from pullback.ad.checkpoints import is_checkpointed, keep, refusal
from pullback.ad.given_rows import settle
from pullback.ad.primal import Call, Mask, Primal, Rerun, of_pullback, slot_attrs, slot_place
from pullback.ad.replaced import remember
from pullback.ad.shadows import coerce, make_record, zero_array
from pullback.ad.twins import active_cells, make_twin, only_measured, sought
from pullback.analysis.effects import ALLOCATIONS, VIEWS
from pullback.diagnostic import InternalError
from pullback.ir.node import Block, Op, Value
from pullback.prims.base import Emitter, get
from pullback.types import I64, ArrayRef, Box, Buffer, Machine, Scalar, Table

__all__ = ["sweep", "tracked_inputs"]


def sweep(primal: Primal, mirrors: Sequence[Value] = ()) -> None:
    """Rebuild the forward half.  `mirrors`: shadows given for the inputs that have one."""
    primal.mirrors.update(zip(tracked_inputs(primal) if mirrors else [], mirrors, strict=True))
    _Sweep(primal).block(primal.body)


def tracked_inputs(primal: Primal) -> list[Value]:
    """The inputs whose shadows a caller hands to the forward half."""
    return [v for v in primal.inputs if primal.types.mirrored(v.type) or v in primal.tracked]


class _Sweep:
    """Rebuilds every block of the forward half, op by op."""

    def __init__(self, primal: Primal) -> None:
        self.primal = primal
        self.types = primal.types
        self.measured = only_measured(primal.body)
        self.settled: list[Value] = []  # tables of which every row has its shadow from the start

    def block(self, block: Block) -> None:
        old, block.ops = block.ops, []
        e = Emitter(block)
        for param in block.params:
            self.value(e, param)
        if block is self.primal.body:
            self.given(e)
        for new in block.ops:
            self.primal.enter(new, block)
        for op in old:
            e.span = op.span
            start = len(block.ops)
            rule = getattr(self, f"op_{op.name}", None)
            if rule is None:
                block.ops.append(op)
            else:
                rule(e, op)
            for result in op.results:
                self.value(e, result)
            for new in block.ops[start:]:
                self.primal.enter(new, block)

    def value(self, e: Emitter, value: Value) -> None:
        """Sizes of an active array; a shadow of zeros for an active record that has none yet."""
        primal = self.primal
        if isinstance(value.type, ArrayRef) and primal.active(value):
            primal.sizes[value] = [primal.size(e, value, axis) for axis in range(value.type.rank)]
            if primal.mirrored(value) and value not in primal.mirrors:
                primal.mirrors[value] = self.array_mirror(e, value)
        elif primal.mirrored(value) and value not in primal.mirrors:
            if isinstance(value.type, Table):
                primal.mirrors[value] = make_twin(e, value, self.types)
                return
            if not isinstance(value.type, Box):
                raise InternalError(f"no shadow of {value!r}")
            shadow = self.types.machine(value.type)
            assert shadow is not None
            callee = primal.derivations.zeros(value.type.name)
            primal.mirrors[value] = e.append(get("call"), [value], attrs={"callee": callee}, types=[shadow]).result

    def given(self, e: Emitter) -> None:
        """Shadows of what the tables hold that the function is given, where they begin here."""
        primal = self.primal
        if primal.mask is not None:
            return
        tables = [v for v in primal.body.params if isinstance(v.type, Table) and v in primal.mirrors]
        self.settled = [table for table in tables if primal.aliases.followed(table)]
        settle(e, self.settled, primal.body.params, primal.mirrors, self.types)
        for table in tables:
            known, twin = table in self.settled, primal.mirrors[table]
            primal.firsts[table] = remember(e, table, twin, self.types, primal.aliases, known)

    def array_mirror(self, e: Emitter, value: Value) -> Value:
        """The shadow of an array that is followed: zeros, or the same view of its base's shadow."""
        op = self.primal.tables.maker.get(value)
        if op is not None and op.name in VIEWS:
            return coerce(e, e(op.name, self.primal.mirrors[op.operands[0]], *op.operands[1:], **op.attrs), value.type)
        if op is not None and op.name not in ALLOCATIONS:
            raise InternalError(f"no shadow of {value!r}")
        assert isinstance(value.type, ArrayRef)
        zeros = self.primal.zeros[value] = zero_array(e, value.type, self.primal.sizes[value])
        return coerce(e, zeros, value.type)

    def mirror_type(self, value: Value) -> Machine:
        type_ = self.types.machine(value.type)
        assert type_ is not None
        return type_

    def new_mirror(self, value: Value) -> Value:
        shadow = Value(self.mirror_type(value), value.name)
        self.primal.mirrors[value] = shadow
        return shadow

    def op_free(self, e: Emitter, op: Op) -> None:
        e.block.ops.append(op)
        self.primal.frees.append(op)

    def op_let_go(self, e: Emitter, op: Op) -> None:
        """What is found here may be found again."""

    def op_if(self, e: Emitter, op: Op) -> None:
        places = [i for i, v in enumerate(op.results) if self.primal.mirrored(v)]
        for block in op.blocks:
            self.block(block)
            block.results += [self.primal.mirrors[block.results[i]] for i in places]
        op.results += [self.new_mirror(op.results[i]) for i in places]
        e.block.ops.append(op)

    def op_for(self, e: Emitter, op: Op) -> None:
        self.loop(e, op, 1)

    def op_while(self, e: Emitter, op: Op) -> None:
        self.loop(e, op, 0)

    def loop(self, e: Emitter, op: Op, offset: int) -> None:
        primal, body = self.primal, op.blocks[-1]
        places = [i for i, v in enumerate(op.results) if primal.mirrored(v)]
        inits = [primal.mirrors[op.operands[offset + i]] for i in places]
        body.params += [self.new_mirror(body.params[offset + i]) for i in places]
        self.block(body)
        body.results += [primal.mirrors[body.results[i]] for i in places]
        op.operands += inits
        op.results += [self.new_mirror(op.results[i]) for i in places]
        if op.name == "while":
            op.blocks[0].params += [Value(v.type, v.name) for v in inits]
            if primal.busy(op):
                self.count(e, op)
        e.block.ops.append(op)

    def count(self, e: Emitter, op: Op) -> None:
        """An extra carried integer counts the trips."""
        cond, body = op.blocks
        trip, total = Value(I64, "trip"), Value(I64, "trips")
        cond.params.append(Value(I64, "trip"))
        body.params.append(trip)
        inner = Emitter(body, op.span)
        body.results.append(inner("add", trip, inner.integer(1)))
        for new in body.ops[-2:]:
            self.primal.enter(new, body)
        op.operands.append(e.integer(0))
        op.results.append(total)
        self.primal.trips[op] = (trip, total)

    def op_box(self, e: Emitter, op: Op) -> None:
        e.block.ops.append(op)
        if self.primal.mirrored(op.result):
            name, variant = str(op.attrs["name"]), op.attrs["variant"]
            kept = [v for v in op.operands if self.types.carries(v.type)]
            slots = [self.primal.fresh_shadow(e, v) for v in kept]
            self.primal.mirrors[op.result] = make_record(e, self.types.box(name), variant, slots)

    def op_unbox(self, e: Emitter, op: Op) -> None:
        e.block.ops.append(op)
        places = self.types.positions(str(op.attrs["name"]), int(str(op.attrs["variant"])))
        for result, place in zip(op.results, places, strict=True):
            if self.primal.mirrored(result) and place is not None:
                self.primal.mirrors[result] = self.slot(e, op, op.operands[0], place, self.mirror_type(result))

    def op_box_null(self, e: Emitter, op: Op) -> None:
        e.block.ops.append(op)
        if self.primal.mirrored(op.result):
            shadow = self.mirror_type(op.result)
            assert isinstance(shadow, Box)
            self.primal.mirrors[op.result] = e("box_null", name=shadow.name)

    def op_slot_get(self, e: Emitter, op: Op) -> None:
        e.block.ops.append(op)
        if self.primal.mirrored(op.result):
            place = slot_place(self.types, op)
            self.primal.mirrors[op.result] = self.slot(e, op, op.operands[0], place, self.mirror_type(op.result))

    def slot(self, e: Emitter, op: Op, record: Value, place: int, type_: Machine) -> Value:
        return e("slot_get", self.primal.mirrors[record], **slot_attrs(op, place), type=type_)

    def op_buffer(self, e: Emitter, op: Op) -> None:
        e.block.ops.append(op)
        if self.primal.mirrored(op.result):
            shadow = self.mirror_type(op.result)
            assert isinstance(shadow, Buffer)
            self.primal.mirrors[op.result] = e("buffer", op.operands[0], element=shadow.element)

    def op_buffer_put(self, e: Emitter, op: Op) -> None:
        e.block.ops.append(op)
        buffer, index, value = op.operands
        if self.primal.mirrored(buffer):
            e.op("buffer_put", self.primal.mirrors[buffer], index, self.primal.fresh_shadow(e, value))

    def op_buffer_get(self, e: Emitter, op: Op) -> None:
        e.block.ops.append(op)
        if self.primal.mirrored(op.result):
            self.primal.mirrors[op.result] = e("buffer_get", self.primal.mirrors[op.operands[0]], op.operands[1])

    def op_table(self, e: Emitter, op: Op) -> None:
        e.block.ops.append(op)
        if self.primal.mirrored(op.result):
            self.primal.mirrors[op.result] = e("table", name=f"{op.attrs['name']}'")

    def op_table_copy(self, e: Emitter, op: Op) -> None:
        e.block.ops.append(op)
        if self.primal.active(op.result):
            raise of_pullback(op.span)

    def op_table_rows(self, e: Emitter, op: Op) -> None:
        e.block.ops.append(op)
        twin = self.primal.mirrors.get(op.operands[0])
        if twin is not None:
            e.op("table_rows", twin, op.operands[1])

    def op_table_get(self, e: Emitter, op: Op) -> None:
        e.block.ops.append(op)
        primal, (table, row) = self.primal, op.operands
        if not isinstance(op.result.type, Scalar) and primal.mirrored(op.result):
            attrs = primal.cell_attrs(op) | {"type": self.mirror_type(op.result)}
            written = primal.aliases.identity(op.result) and op.result not in self.measured
            primal.mirrors[op.result] = sought(
                e, op.result, primal.mirrors[table], row, attrs, written=written, settled=table in self.settled
            )

    def op_table_set(self, e: Emitter, op: Op) -> None:
        e.block.ops.append(op)
        primal, (table, row, value) = self.primal, op.operands
        if not isinstance(value.type, Scalar) and primal.active_cell(op) and table in primal.mirrors:
            shadow = primal.fresh_shadow(e, value)
            e.op("table_set", primal.mirrors[table], row, shadow, **primal.cell_attrs(op))
            if value not in primal.mirrors:
                primal.kept[op] = shadow

    def op_table_swap(self, e: Emitter, op: Op) -> None:
        e.block.ops.append(op)
        if not isinstance(op.result.type, Scalar) and self.primal.active(op.result):
            raise InternalError("a reference is swapped in a table")

    def settles(self, value: Value, op: Op) -> bool:
        return self.primal.aliases.settled(value, op, after=True)

    def tracks(self, value: Value) -> bool:
        """Does the forward half of a callee follow the array, or those that the table holds."""
        if isinstance(value.type, Table):
            return self.primal.mirrored(value) and self.primal.aliases.followed(value)
        return isinstance(value.type, ArrayRef) and self.primal.mirrored(value)

    def op_call(self, e: Emitter, op: Op) -> None:
        primal = self.primal
        if is_checkpointed(op) and primal.busy(op) and refusal(primal, op) is None:
            self.rerun(e, op)
            return
        e.block.ops.append(op)
        if not primal.busy(op):
            return
        known = [*op.operands, *op.results]
        lasting = primal.aliases.lasting(op) if any(isinstance(v.type, Table) for v in op.operands) else ()
        mask = Mask(
            tuple(map(primal.active, op.operands)),
            tuple(map(primal.active, op.results)),
            frozenset(i for i, v in enumerate(known) if self.tracks(v)),
            frozenset(i for i, v in enumerate(known) if primal.aliases.refers(v) and not self.settles(v, op)),
            frozenset((op.operands.index(key), column) for key, column in lasting if key in op.operands),
            active_cells(primal.activity, op.operands, self.types),
        )
        split = primal.derivations.split(str(op.attrs["callee"]), mask)
        record = Value(Box(split.box), "record")
        primal.calls[op] = Call(mask, split, record, list(op.operands), list(op.results))
        op.attrs["callee"] = split.augmented
        op.operands += [primal.mirrors[v] for v in op.operands if primal.mirrored(v)]
        op.results += [self.new_mirror(v) for v in op.results if primal.mirrored(v)] + [record]

    def rerun(self, e: Emitter, op: Op) -> None:
        """The call stays as it is; its arguments are kept for the function that runs it again."""
        primal = self.primal
        mask = Mask(
            tuple(map(primal.active, op.operands)),
            tuple(map(primal.active, op.results)),
            frozenset(i for i, v in enumerate(op.operands) if self.tracks(v)),
            cells=active_cells(primal.activity, op.operands, self.types),
        )
        again = primal.derivations.again(str(op.attrs["callee"]), mask)
        kept = keep(primal, e, op)
        primal.reruns[op] = Rerun(mask, again, kept, list(op.operands), list(op.results))
        e.block.ops.append(op)

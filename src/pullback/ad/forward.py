"""Forward mode: every active value gets a tangent beside it.

    y = mul x, z                 y = mul x, z;  dy = z*dx + x*dz
    r = for n, r0 {..}     ->    r, dr = for n, r0, dr0 {..}
    v = array_get a, i           v = ..;  dv = array_get da, i
    b = box v, c                 b = ..;  db = box dv, dc            tangents of references have shadow types
    y = call f(x)                y, dy = call f.jvp(x, dx)

A missing tangent is zero; zeros are made where a merge, a record or a callee needs one.
"""

from __future__ import annotations

from collections.abc import Sequence

from pullback.ad.elementwise import push_elementwise
from pullback.ad.given_rows import settle
from pullback.ad.keys import answer
from pullback.ad.primal import Derivations, Mask, keep_apart, prepare_copy, slot_attrs, slot_place
from pullback.ad.scalars import Wild, push_scalar
from pullback.ad.shadows import (
    array_sizes,
    coerce,
    is_float_scalar,
    make_record,
    open_record,
    scalar_zero,
    zero_array,
)  # fmt: skip
from pullback.ad.twins import Item, active_cells, make_twin, only_measured, sought, stored_outputs, with_cells
from pullback.analysis.activity import Activity
from pullback.analysis.alias import NO_WRITES, Aliases, record_links
from pullback.analysis.cells import column_of
from pullback.analysis.effects import VIEWS, is_reference
from pullback.diagnostic import InternalError
from pullback.ir.node import Block, Function, Op, Value
from pullback.prims.base import Emitter, get
from pullback.types import ArrayRef, Box, Buffer, Machine, Scalar, Table

__all__ = ["Forward", "tangent_function"]


def tangent_function(
    derivations: Derivations, function: Function, mask: Mask, name: str, *, tame: bool = False
) -> Function:
    """`name(params..., tangents of active params...) -> results..., tangents of active results...`.

    `tame`: for a request in user code, whose tangents are finite.
    """
    return Forward(derivations, function, mask, tame=tame).run(name)


class Forward:
    """One derivation in forward mode; blocks of a copy are rebuilt op by op."""

    def __init__(self, derivations: Derivations, function: Function, mask: Mask, *, tame: bool) -> None:
        self.derivations, self.types, self.tame = derivations, derivations.types, tame
        self.function = prepare_copy(function)
        body = self.body = self.function.body
        self.inputs = [v for v, active in zip(body.params, mask.params, strict=True) if active]
        self.outputs = [v for v, active in zip(body.results, mask.results, strict=True) if active]
        links = record_links(derivations.program)
        # What a caller gets hold of may be written there: its tangent is one, wherever else it is kept.
        held = [] if tame else [v for v in self.outputs if is_reference(v.type)]
        kept = [v for v in held if isinstance(v.type, ArrayRef)]
        if len(kept) < len(held):
            kept += [v for op in body.walk() if op.name in ("box", "buffer_put") for v in op.operands]
        tables = [v for v in self.inputs if isinstance(v.type, Table)]
        if not tame or tables:  # what tables of the caller hold
            stored = [op for op in body.walk() if op.name in ("table_set", "table_get")]
            kept += [v for op in stored for v in (*op.operands, *op.results)]
        self.aliases = aliases = Aliases(
            self.function, derivations.written, links, called=not tame,
            tracked=[v for v in kept if isinstance(v.type, ArrayRef)],
        )  # fmt: skip
        wanted: list[Item] = list(self.outputs)
        # Memory of the caller that the function writes is an output; a request wants that of tables only.
        starts = with_cells(self.inputs, body.params, None if tame else mask.cells)
        wanted += stored_outputs(tables if tame else starts, aliases)
        self.activity = Activity(
            self.function, starts, wanted, aliases, derivations.written, self.types.carries, links, held,
            columns=derivations.program.layouts, followed=tables,
        )  # fmt: skip
        answer(body, self.activity.varied)
        self.tangents: dict[Value, Value] = {}
        self.params = list(body.params)
        self.settled: list[Value] = []  # tables of which every row has its tangent from the start
        self.measured = only_measured(body) if tables else frozenset()
        self.wild = Wild(body, self.active, given=not tame)

    def run(self, name: str) -> Function:
        for value in self.inputs:
            tangent = Value(self.shadow_type(value), f"d{value.name}" if value.name else "")
            self.wild.note(tangent, not self.tame)
            self.tangents[value] = tangent
            self.body.params.append(tangent)
        others = [v for v in self.body.params if v not in self.tangents and v not in self.tangents.values()]
        if self.tame:
            keep_apart(self.function, self.aliases, self.active, self.derivations.declared(self.function.name))
        e = self.block(self.body, others)
        self.body.results += [self.needed(e, v) for v in self.outputs]
        return Function(name, self.body, self.function.span, self.function.attrs)

    def active(self, value: Value) -> bool:
        return self.activity.active(value)

    def shadow_type(self, value: Value) -> Machine:
        type_ = self.types.machine(value.type)
        if type_ is None:
            raise InternalError(f"{value!r} has no tangent")
        return type_

    def tangent(self, value: Value) -> Value | None:
        return self.tangents.get(value)

    def needed(self, e: Emitter, value: Value) -> Value:
        """The tangent in the type that its value's type implies, zeros if there is none."""
        found = self.tangents.get(value)
        if found is not None:
            return coerce(e, found, self.shadow_type(value))
        match value.type:
            case Scalar():
                return scalar_zero(e, value.type)
            case ArrayRef():
                return coerce(e, zero_array(e, value.type, array_sizes(e, value)), value.type)
            case Table():
                return make_twin(e, value, self.types)
            case Box(name):
                callee = self.derivations.zeros(name)
                return e.append(get("call"), [value], attrs={"callee": callee}, types=[self.shadow_type(value)]).result
        raise InternalError(f"no tangent of {value!r}")

    def block(self, block: Block, fresh: Sequence[Value] = ()) -> Emitter:
        """Rebuild a block.  `fresh`: parameters without a tangent."""
        old, block.ops = block.ops, []
        e = Emitter(block)
        self.track(e, fresh)
        if block is self.body:
            self.given(e, fresh)
        for op in old:
            e.span = op.span
            rule = getattr(self, f"op_{op.name}", None)
            if rule is not None:
                rule(e, op)
            elif op.name in VIEWS:
                self.same(e, op, op.operands[0])
            else:
                block.ops.append(op)
                if op.results and is_float_scalar(op.results[0].type) and self.active(op.result):
                    tangents = [self.tangent(v) for v in op.operands]
                    pushed, wild = push_scalar(e, op, tangents, self.wild)
                    self.set(op.result, pushed, wild)
            self.track(e, op.results)
        return e

    def track(self, e: Emitter, values: Sequence[Value]) -> None:
        """A table, or array that is overwritten, here or by a caller, has a tangent from the start, zero or not."""
        for value in values:
            if isinstance(value.type, Table) and self.active(value) and value not in self.tangents:
                self.tangents[value] = self.needed(e, value)
            if isinstance(value.type, ArrayRef) and self.active(value) and value not in self.tangents:
                if self.aliases.written(value) or self.aliases.identity(value):
                    self.tangents[value] = self.needed(e, value)

    def given(self, e: Emitter, fresh: Sequence[Value]) -> None:
        """Tangents of what the tables hold that the function is given, where they begin here."""
        tables = [v for v in fresh if isinstance(v.type, Table) and v in self.tangents]
        self.settled = [table for table in tables if self.aliases.followed(table)]
        settle(e, self.settled, self.params, self.tangents, self.types)

    def set(self, value: Value, tangent: Value | None, wild: bool = False) -> None:
        if tangent is not None and self.active(value):
            self.tangents[value] = self.wild.note(tangent, wild or tangent in self.wild)

    def same(self, e: Emitter, op: Op, reference: Value) -> None:
        """The tangent of a view or an element is that view or element of the tangent."""
        e.block.ops.append(op)
        source = self.tangent(reference)
        if source is not None and op.results and self.active(op.result):
            self.set(op.result, e(op.name, source, *op.operands[1:], **op.attrs), self.wild.memory)

    # ----------------------------------------------------------------------------------------------------- control

    def op_if(self, e: Emitter, op: Op) -> None:
        places = [i for i, v in enumerate(op.results) if self.active(v)]
        for block in op.blocks:
            inner = self.block(block)
            block.results += [self.needed(inner, block.results[i]) for i in places]
        wild = any(tangent in self.wild for block in op.blocks for tangent in block.results)
        self.extend(op, places, wild)
        e.block.ops.append(op)

    def extend(self, op: Op, places: Sequence[int], wild: bool) -> None:
        for i in places:
            tangent = self.wild.note(Value(self.shadow_type(op.results[i]), "t"), wild)
            self.tangents[op.results[i]] = tangent
            op.results.append(tangent)

    def op_for(self, e: Emitter, op: Op) -> None:
        self.loop(e, op, 1)

    def op_while(self, e: Emitter, op: Op) -> None:
        self.loop(e, op, 0)

    def loop(self, e: Emitter, op: Op, offset: int) -> None:
        body = op.blocks[-1]
        params = body.params[offset:]
        pairs = zip(params, op.results, strict=True)
        places = [i for i, (param, result) in enumerate(pairs) if self.active(param) or self.active(result)]
        inits = [self.needed(e, op.operands[offset + i]) for i in places]
        wild = self.wild.holds(op) or any(tangent in self.wild for tangent in inits)
        for i in places:
            tangent = self.wild.note(Value(self.shadow_type(params[i]), "t"), wild)
            self.tangents[params[i]] = tangent
            body.params.append(tangent)
        if op.name == "while":
            op.blocks[0].params += [Value(v.type, "t") for v in inits]
        inner = self.block(body)
        body.results += [self.needed(inner, body.results[i]) for i in places]
        op.operands += inits
        self.extend(op, places, wild)
        e.block.ops.append(op)

    def op_call(self, e: Emitter, op: Op) -> None:
        e.block.ops.append(op)
        callee = str(op.attrs["callee"])
        written = self.derivations.written.get(callee, NO_WRITES).written
        targets = [v for i, v in enumerate(op.operands) if i in written or isinstance(v.type, Box | Table)]
        if not any(map(self.active, [*op.results, *targets])):
            return
        cells = active_cells(self.activity, op.operands, self.types)
        mask = Mask(tuple(map(self.active, op.operands)), tuple(map(self.active, op.results)), cells=cells)
        arguments = list(op.operands)
        e.block.ops.pop()
        tangents = [self.needed(e, v) for v in arguments if self.active(v)]
        e.block.ops.append(op)
        op.attrs["callee"] = self.derivations.tangent(callee, mask)
        op.operands += tangents
        self.extend(op, [i for i, v in enumerate(list(op.results)) if self.active(v)], True)

    # ------------------------------------------------------------------------------------------------------ memory

    def op_elementwise(self, e: Emitter, op: Op) -> None:
        found = push_elementwise(e, op, self.tangent, self.active, self.wild)
        for value, tangent in zip(op.results, found, strict=True):
            self.set(value, tangent)

    def op_array_get(self, e: Emitter, op: Op) -> None:
        self.same(e, op, op.operands[0])

    op_buffer_get = op_array_get

    def op_array_inc(self, e: Emitter, op: Op) -> None:
        e.block.ops.append(op)
        target, tangent = self.tangent(op.operands[0]), self.tangent(op.operands[-1])
        if target is not None and tangent is not None:
            e.op(op.name, target, *op.operands[1:-1], tangent)

    op_buffer_inc = op_array_inc

    def op_array_swap(self, e: Emitter, op: Op) -> None:
        e.block.ops.append(op)
        target = self.tangent(op.operands[0])
        if target is not None:
            old = e(op.name, target, *op.operands[1:-1], self.needed(e, op.operands[-1]))
            self.set(op.result, old, self.wild.memory)

    def op_buffer_put(self, e: Emitter, op: Op) -> None:
        e.block.ops.append(op)
        target = self.tangent(op.operands[0])
        if target is not None:
            e.op(op.name, target, op.operands[1], self.needed(e, op.operands[2]))

    def fresh(self, e: Emitter, op: Op, **attrs: object) -> None:
        e.block.ops.append(op)
        if self.active(op.result):
            self.set(op.result, e(op.name, *op.operands, **(op.attrs | attrs)))

    def op_array_zeros(self, e: Emitter, op: Op) -> None:
        self.fresh(e, op)

    op_array_empty = op_array_zeros

    def op_buffer(self, e: Emitter, op: Op) -> None:
        if self.active(op.result):
            type_ = self.shadow_type(op.result)
            assert isinstance(type_, Buffer)
            self.fresh(e, op, element=type_.element)
        else:
            e.block.ops.append(op)

    op_buffer_zeros = op_buffer

    def op_let_go(self, e: Emitter, op: Op) -> None:
        e.block.ops.append(op)
        tangent = self.tangent(op.operands[0])
        if tangent is not None:
            e.op("let_go", tangent)

    def op_free(self, e: Emitter, op: Op) -> None:
        e.block.ops.append(op)
        tangent = self.tangent(op.operands[0])
        if tangent is not None:
            e.op("free", tangent)

    def op_matmul(self, e: Emitter, op: Op) -> None:
        e.block.ops.append(op)
        a, b = op.operands
        da, db = self.tangent(a), self.tangent(b)
        if not self.active(op.result) or (da is None and db is None):
            return
        tangent = e("matmul", a if da is None else da, b if da is not None else db or b)
        if da is not None and db is not None:
            e.op("matmul_inc", tangent, a, db)
        self.set(op.result, tangent)

    def op_matmul_inc(self, e: Emitter, op: Op) -> None:
        e.block.ops.append(op)
        target, a, b = op.operands
        tangent, da, db = map(self.tangent, (target, a, b))
        if tangent is not None and da is not None:
            e.op("matmul_inc", tangent, da, b)
        if tangent is not None and db is not None:
            e.op("matmul_inc", tangent, a, db)

    # ------------------------------------------------------------------------------------------------------ tables

    def op_table(self, e: Emitter, op: Op) -> None:
        e.block.ops.append(op)
        if self.active(op.result):
            self.tangents[op.result] = e("table", name=f"{op.attrs['name']}'")

    def op_table_copy(self, e: Emitter, op: Op) -> None:
        e.block.ops.append(op)
        twin = self.tangent(op.operands[0])
        if twin is not None and self.active(op.result):
            self.tangents[op.result] = e("table_copy", twin)

    def op_table_rows(self, e: Emitter, op: Op) -> None:
        e.block.ops.append(op)
        twin = self.tangent(op.operands[0])
        if twin is not None:
            e.op("table_rows", twin, op.operands[1])

    def active_cell(self, op: Op) -> Value | None:
        """The twin, if the column that an op reads or writes carries derivative."""
        twin = self.tangent(op.operands[0])
        return twin if twin is not None and self.activity.active_cell(op.operands[0], column_of(op)) else None

    def cell(self, op: Op) -> dict[str, object]:
        return {"column": self.types.column(op.operands[0], column_of(op))}

    def op_table_get(self, e: Emitter, op: Op) -> None:
        e.block.ops.append(op)
        twin, row = self.active_cell(op), op.operands[1]
        if twin is None or not self.active(op.result) or op.result in self.measured:
            return
        attrs = self.cell(op) | {"type": self.shadow_type(op.result)}
        if isinstance(op.result.type, Scalar):
            self.set(op.result, e("table_get", twin, row, **attrs), self.wild.memory)
        else:
            written = self.aliases.written(op.result)
            self.set(op.result, sought(
                e, op.result, twin, row, attrs, written=written, settled=op.operands[0] in self.settled
            ))

    def op_table_set(self, e: Emitter, op: Op) -> None:
        e.block.ops.append(op)
        twin = self.active_cell(op)
        if twin is not None:
            e.op("table_set", twin, op.operands[1], self.needed(e, op.operands[2]), **self.cell(op))

    def op_table_swap(self, e: Emitter, op: Op) -> None:
        e.block.ops.append(op)
        twin = self.active_cell(op)
        if twin is not None:
            old = e("table_swap", twin, op.operands[1], self.needed(e, op.operands[2]), **self.cell(op))
            self.set(op.result, old, self.wild.memory)

    def op_table_inc(self, e: Emitter, op: Op) -> None:
        e.block.ops.append(op)
        twin, tangent = self.active_cell(op), self.tangent(op.operands[2])
        if twin is not None and tangent is not None:
            e.op("table_inc", twin, op.operands[1], tangent, **self.cell(op))

    # ----------------------------------------------------------------------------------------------------- records

    def op_box(self, e: Emitter, op: Op) -> None:
        e.block.ops.append(op)
        if self.active(op.result):
            kept = [v for v in op.operands if self.types.carries(v.type)]
            slots = [self.needed(e, v) for v in kept]
            name = self.types.box(str(op.attrs["name"]))
            self.set(op.result, make_record(e, name, op.attrs["variant"], slots))

    def op_box_null(self, e: Emitter, op: Op) -> None:
        e.block.ops.append(op)
        if self.active(op.result):
            self.set(op.result, e("box_null", name=self.types.box(str(op.attrs["name"]))))

    def op_unbox(self, e: Emitter, op: Op) -> None:
        e.block.ops.append(op)
        source, name = self.tangent(op.operands[0]), str(op.attrs["name"])
        if source is None:
            return
        variant = int(str(op.attrs["variant"]))
        places = self.types.positions(name, variant)
        kept = [v for v, place in zip(op.results, places, strict=True) if place is not None]
        types = tuple(map(self.shadow_type, kept))
        opened = open_record(e, source, variant, types)
        for value, tangent in zip(kept, opened, strict=True):
            self.set(value, tangent, self.wild.memory)

    def op_slot_get(self, e: Emitter, op: Op) -> None:
        e.block.ops.append(op)
        source = self.tangent(op.operands[0])
        if source is not None and self.active(op.result):
            attrs = slot_attrs(op, slot_place(self.types, op))
            self.set(op.result, e("slot_get", source, **attrs, type=self.shadow_type(op.result)), self.wild.memory)

    def op_slot_inc(self, e: Emitter, op: Op) -> None:
        e.block.ops.append(op)
        target, tangent = self.tangent(op.operands[0]), self.tangent(op.operands[1])
        if target is not None and tangent is not None:
            e.op("slot_inc", target, tangent, **slot_attrs(op, slot_place(self.types, op)))

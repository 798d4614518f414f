"""The forward half of a derivation: a copy of the function, the facts about it, and what the reverse half needs added.

    for n, r0:                             s = array_size a           sizes of active arrays
      body (k, r): r1 = mul r, x    ->     for n, r0: ...             unchanged
    while c: ...                           while c, zero: ...         + a counted trip
    b = box v, c                           b' = box 0.0, c'           + a shadow for every record
    y = call f(x)                          y, record = call f.aug(x)

No op of the forward half touches an accumulator: shadows are only made here, and only those of records and of buffers
of references, whose identity must be known.  Array values get their accumulators in the reverse half.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from pullback.ad.shadows import ShadowTypes, coerce, copy_array, is_mirrored, make_record, scalar_zero, zero_array
from pullback.analysis.activity import Activity
from pullback.analysis.alias import Aliases, record_links
from pullback.analysis.effects import elementwise_targets
from pullback.diagnostic import InternalError
from pullback.ir.node import Block, Function, Op, Program, Value
from pullback.ir.walk import clone_function, free_values, substitute
from pullback.prims.base import Emitter, get
from pullback.types import I64, ArrayRef, Box, Buffer, Machine, Scalar

__all__ = ["Derivations", "Mask", "Primal", "SplitCall", "prepare_copy"]


@dataclass(frozen=True, slots=True)
class Mask:
    """Which parameters and results of a function are active."""

    params: tuple[bool, ...]
    results: tuple[bool, ...]

    def __str__(self) -> str:
        return "".join("01"[p] for p in self.params) + "_" + "".join("01"[r] for r in self.results)


@dataclass(frozen=True, slots=True)
class SplitCall:
    """The two halves of a function: names, and the record that joins them."""

    augmented: str
    pull: str
    box: str


class Derivations(Protocol):
    """What a derivation asks of the driver: facts of the program, and derived functions by name."""

    program: Program
    types: ShadowTypes

    @property
    def written(self) -> dict[str, frozenset[int]]: ...

    def split(self, name: str, mask: Mask) -> SplitCall: ...

    def tangent(self, name: str, mask: Mask) -> str: ...

    def zeros(self, box: str) -> str: ...

    def fresh_box(self, stem: str) -> str: ...


def prepare_copy(function: Function) -> Function:
    """A copy in the form that derivations expect.

    The blocks of `elementwise` ops are closed (what they used from outside becomes an input); a selection among
    references is an `if`.
    """
    copy = clone_function(function)
    for op in copy.body.walk():
        if op.name == "elementwise":
            _close_elementwise(op)
        elif op.name == "select" and not isinstance(op.result.type, Scalar):
            condition, yes, no = op.operands
            op.prim, op.operands, op.blocks = get("if"), [condition], [Block(results=[yes]), Block(results=[no])]
    return copy


def _close_elementwise(op: Op) -> None:
    (block,) = op.blocks
    outside = list(free_values(block))
    if not outside:
        return
    end = len(op.operands) - len(elementwise_targets(op))
    params = [Value(v.type, v.name) for v in outside]
    substitute(block, dict(zip(outside, params, strict=True)))
    op.operands[end:end] = outside
    block.params += params


@dataclass(slots=True)
class Call:
    """A call that was replaced by its augmented form."""

    mask: Mask
    split: SplitCall
    record: Value
    arguments: list[Value]
    results: list[Value]


@dataclass(slots=True)
class Tables:
    """Where values are defined and what was added for the reverse half."""

    home: dict[Value, Block] = field(default_factory=dict)
    maker: dict[Value, Op] = field(default_factory=dict)
    holder: dict[Block, Op] = field(default_factory=dict)
    place: dict[Op, Block] = field(default_factory=dict)


class Primal:
    """The forward half.  `inputs` and `outputs` are positions of parameters and results."""

    def __init__(
        self, derivations: Derivations, function: Function, inputs: Iterable[int], outputs: Iterable[int],
        *, written_too: bool = False,
    ) -> None:  # fmt: skip
        self.derivations = derivations
        self.types = derivations.types
        self.function = prepare_copy(function)
        body = self.function.body
        self.body = body
        self.params, self.results = list(body.params), list(body.results)
        self.inputs = [body.params[i] for i in inputs]
        wanted = [body.results[i] for i in outputs]
        links = record_links(derivations.program)
        self.aliases = Aliases(self.function, derivations.written, links)
        if written_too:  # memory of the caller that the function adds to is an output
            wanted += [v for v in self.inputs if isinstance(v.type, Box) or self.aliases.written(v)]
        self.activity = Activity(self.function, self.inputs, wanted, derivations.written, self.types.carries, links)
        self.tables = Tables()
        self.sizes: dict[Value, list[Value]] = {}
        self.mirrors: dict[Value, Value] = {}
        self.calls: dict[Op, Call] = {}
        self.trips: dict[Op, tuple[Value, Value]] = {}
        self.frees: list[Op] = []
        self.puts: dict[Value, Op] = {}
        self._busy: dict[Op, bool] = {}
        self._copies: dict[tuple[Op, Value], Value] = {}
        for op in body.walk():
            if op.name == "buffer_put":
                self.puts.setdefault(op.operands[0], op)
        self._locate(body)

    def active(self, value: Value) -> bool:
        return self.activity.active(value)

    def mirrored(self, value: Value) -> bool:
        """Does the value's shadow exist in the forward half."""
        return is_mirrored(value.type) and self.active(value)

    def busy(self, op: Op) -> bool:
        """Does the op, or one inside, have a reverse."""
        found = self._busy.get(op)
        if found is None:
            touched = [*op.results, *self._targets(op)]
            found = any(map(self.active, touched))
            found = found or any(self.busy(inner) for block in op.blocks for inner in block.ops)
            self._busy[op] = found
        return found

    def _targets(self, op: Op) -> list[Value]:
        """What the op writes to."""
        if op.name == "elementwise":
            return elementwise_targets(op)
        if op.name == "call":
            written = self.derivations.written.get(str(op.attrs["callee"]), frozenset())
            return [v for i, v in enumerate(op.operands) if i in written or isinstance(v.type, Box)]
        if op.name in ("array_inc", "matmul_inc", "slot_inc", "buffer_inc", "buffer_put"):
            return op.operands[:1]
        return []

    # ------------------------------------------------------------------------------------------------- bookkeeping

    def _locate(self, block: Block) -> None:
        for value in block.params:
            self.tables.home[value] = block
        for op in block.ops:
            self.enter(op, block)

    def enter(self, op: Op, block: Block) -> None:
        """Note where an op stands."""
        tables = self.tables
        tables.place[op] = block
        for value in op.results:
            tables.home[value], tables.maker[value] = block, op
        for inner in op.blocks:
            tables.holder[inner] = op
            if op.name != "elementwise":
                self._locate(inner)

    def insert_before(self, anchor: Op, ops: Sequence[Op]) -> None:
        """Put new forward ops before an op."""
        block = self.tables.place[anchor]
        at = block.ops.index(anchor)
        block.ops[at:at] = ops
        for op in ops:
            self.enter(op, block)

    def append(self, block: Block, ops: Sequence[Op]) -> None:
        """Put new forward ops at the end of a block."""
        block.ops += ops
        for op in ops:
            self.enter(op, block)

    def settled_copy(self, array: Value, at: Op) -> Value:
        """The array, or a copy of it made before `at` if something may write it later."""
        if self.aliases.settled(array, at):
            return array
        found = self._copies.get((at, array))
        if found is None:
            e = Emitter(Block(), at.span)
            found = copy_array(e, array)
            self.insert_before(at, e.block.ops)
            self._copies[at, array] = found
        return found

    # ------------------------------------------------------------------------------------------- the forward sweep

    def sweep(self, mirrors: Sequence[Value] = ()) -> None:
        """Add what the reverse half needs.  `mirrors`: shadows given for the inputs that have one."""
        given = [v for v in self.inputs if is_mirrored(v.type)]
        self.mirrors.update(zip(given, mirrors, strict=True))
        _Sweep(self).block(self.body)

    def size(self, e: Emitter, array: Value, axis: int) -> Value:
        """The size of an axis, without referring to the array where that is possible."""
        op = self.tables.maker.get(array)
        match op.name if op else "":
            case "array_zeros" | "array_empty" | "elementwise":
                assert op is not None
                return op.operands[axis]
            case "matmul":
                assert op is not None
                return self.size(e, op.operands[axis], axis)
            case "view_transpose":
                assert op is not None
                perm = op.attrs["perm"]
                assert isinstance(perm, tuple)
                return self.size(e, op.operands[0], perm[axis])
            case "view_index":
                assert op is not None
                return self.size(e, op.operands[0], axis + (axis >= int(str(op.attrs["axis"]))))
            case "view_expand":
                assert op is not None
                new = int(str(op.attrs["axis"]))
                return e.integer(1) if axis == new else self.size(e, op.operands[0], axis - (axis > new))
        known = self.sizes.get(array)
        return known[axis] if known else e("array_size", array, axis=axis)

    def length(self, buffer: Value) -> Value:
        """How many elements a buffer made in this function has once it is filled."""
        maker = self.tables.maker.get(buffer)
        if maker is None or maker.name not in ("buffer", "buffer_zeros"):
            raise InternalError(f"the length of {buffer!r} is not known")
        put = self.puts.get(buffer)
        if maker.name == "buffer" and put is not None:
            index = put.operands[1]
            loop = self.tables.holder.get(self.tables.home[index]) if index in self.tables.home else None
            if loop is not None and index in loop.blocks[-1].params:
                position = loop.blocks[-1].params.index(index)
                if loop.name == "for" and position == 0:
                    return loop.operands[0]
                return loop.results[position - (loop.name == "for")]
        return maker.operands[0]

    def fresh_shadow(self, e: Emitter, value: Value) -> Value:
        """What a record or buffer that keeps `value` keeps in its shadow: a zero, or a shadow that exists."""
        type_ = self.types.machine(value.type)
        match value.type:
            case Scalar():
                return scalar_zero(e, value.type)
            case ArrayRef(_, rank, _):
                zeros = zero_array(e, value.type, [self.size(e, value, axis) for axis in range(rank)])
                return coerce(e, zeros, value.type)
            case Buffer(element) if isinstance(element, Scalar):
                assert isinstance(type_, Buffer)
                return e("buffer_zeros", self.length(value), element=type_.element)
        return self.mirrors[value]


class _Sweep:
    """Rebuilds every block of the forward half, op by op."""

    def __init__(self, primal: Primal) -> None:
        self.primal = primal
        self.types = primal.types

    def block(self, block: Block) -> None:
        old, block.ops = block.ops, []
        e = Emitter(block)
        for param in block.params:
            self.value(e, param)
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
        elif primal.mirrored(value) and value not in primal.mirrors:
            if not isinstance(value.type, Box):
                raise InternalError(f"no shadow of {value!r}")
            shadow = self.types.machine(value.type)
            assert shadow is not None
            callee = primal.derivations.zeros(value.type.name)
            primal.mirrors[value] = e.append(get("call"), [value], attrs={"callee": callee}, types=[shadow]).result

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

    def op_call(self, e: Emitter, op: Op) -> None:
        e.block.ops.append(op)
        primal = self.primal
        if not primal.busy(op):
            return
        mask = Mask(tuple(map(primal.active, op.operands)), tuple(map(primal.active, op.results)))
        split = primal.derivations.split(str(op.attrs["callee"]), mask)
        record = Value(Box(split.box), "record")
        primal.calls[op] = Call(mask, split, record, list(op.operands), list(op.results))
        op.attrs["callee"] = split.augmented
        op.operands += [primal.mirrors[v] for v in op.operands if primal.mirrored(v)]
        op.results += [self.new_mirror(v) for v in op.results if primal.mirrored(v)] + [record]


def slot_place(types: ShadowTypes, op: Op) -> int:
    """For slot_get / slot_inc on a record that is itself a shadow: the slot of the record's shadow."""
    record = op.operands[0].type
    assert isinstance(record, Box)
    place = types.positions(record.name, int(str(op.attrs.get("variant", 0))))[int(str(op.attrs["slot"]))]
    assert place is not None
    return place


def slot_attrs(op: Op, place: int) -> dict[str, object]:
    """Attributes of an access to a slot of the shadow of the record that `op` makes, opens or accesses."""
    variant = op.attrs.get("variant", 0)
    return {"slot": place, "variant": variant} if variant else {"slot": place}



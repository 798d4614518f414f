"""The reverse half: the ops of a block in reverse order, cotangents flowing from results to operands.

    y = mul x, z            cx += mul z, cy;  cz += mul x, cy
    r = if c {..} {..}      if c {reverse of then} {reverse of else}, yielding cotangents of values from outside
    r = for n, r0 {..}      for n, cr {reverse of body}, the carried cotangent first, then sums for values from outside

The reverse refers freely to values of the forward half; `residuals` closes it afterwards.  Scalars have cotangents by
value, arrays and buffers of numbers by accumulators ("shadows"): fresh zeros at the start of the reverse of the block
that defines the value, or memory handed over by the only one who knew it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from pullback.ad.memory import RULES
from pullback.ad.primal import Call, Primal, Rerun, slot_attrs, slot_place
from pullback.ad.scalars import Wild, pull_scalar
from pullback.ad.shadows import (
    add_buffer_into,
    add_into,
    coerce,
    is_float_scalar,
    new_table,
    scalar_zero,
    zero_array,
)  # fmt: skip
from pullback.analysis.effects import VIEWS
from pullback.diagnostic import InternalError
from pullback.ir.node import Block, Op, Value
from pullback.prims.base import Emitter, Prim, get
from pullback.types import I64, ArrayRef, Buffer, Scalar, Table

__all__ = ["Frame", "Pair", "Reverse"]


@dataclass(slots=True)
class Frame:
    """The reverse of one forward block while it is made."""

    forward: Block
    block: Block = field(default_factory=Block)
    cotangents: dict[Value, Value] = field(default_factory=dict)
    shadows: dict[Value, Value] = field(default_factory=dict)
    prologue: Emitter = field(default_factory=lambda: Emitter(Block()))
    owned: list[Value] = field(default_factory=list)
    deferred: dict[tuple[Value, ...], Value] = field(default_factory=dict)
    e: Emitter = field(init=False)

    def __post_init__(self) -> None:
        self.e = Emitter(self.block)

    def finish(self) -> None:
        self.block.ops[0:0] = self.prologue.block.ops


@dataclass(slots=True)
class Pair:
    """A forward loop and its reverse.

    carried: arrays that a trip yields, and the parameters of the reverse body that are their accumulators.
    """

    forward: Op
    reverse: Op
    carried: list[tuple[Value, Value]] = field(default_factory=list)

    @property
    def body(self) -> Block:
        return self.forward.blocks[-1]

    @property
    def reverse_body(self) -> Block:
        return self.reverse.blocks[0]


class Reverse:
    """Emits the reverse of a forward half.  `pairs` are inner loops before outer ones.

    `tame`: the cotangents that come in are finite.
    """

    def __init__(self, primal: Primal, *, tame: bool) -> None:
        self.primal = primal
        self.wild = Wild(primal.body, primal.active, given=not tame)
        self.types = primal.types
        self.frames: list[Frame] = [Frame(primal.body)]
        self.pairs: list[Pair] = []
        self.reverse_of: dict[Block, Block] = {}
        self.ones: set[Value] = set()

    def is_one(self, value: Value) -> bool:
        """Is the value the constant 1 of a seed."""
        return value in self.ones

    # ------------------------------------------------------------------------------------------------ accumulation

    @property
    def frame(self) -> Frame:
        return self.frames[-1]

    @property
    def e(self) -> Emitter:
        return self.frames[-1].e

    def cotangent(self, value: Value) -> Value | None:
        return self.frame.cotangents.get(value)

    def add(self, value: Value, part: Value | None) -> None:
        """value's cotangent += part."""
        if part is None or not self.primal.active(value):
            return
        known = self.frame.cotangents.get(value)
        if known is not None:
            part = self.wild.note(self.e("add", known, part), known in self.wild or part in self.wild)
        self.frame.cotangents[value] = part

    def existing(self, value: Value) -> Value | None:
        """The shadow of an array or buffer, if anything can have been added to it by now.

        Of a value from outside the current block something can: the block may be the body of a loop.
        """
        if not self.primal.active(value):
            return None
        if self.primal.mirrored(value):
            return self.primal.mirrors[value]
        base = self.base(value)
        op = self.primal.tables.maker.get(base)
        shared = op is not None and op.name in _FETCHING
        here = self.primal.tables.home[base] is self.frame.forward
        known = any(base in frame.shadows for frame in self.frames)
        return self.shadow(value) if known or shared or not here else None

    def base(self, value: Value) -> Value:
        while (op := self.primal.tables.maker.get(value)) is not None and op.name in VIEWS:
            value = op.operands[0]
        return value

    def shadow(self, value: Value) -> Value:
        """The accumulator of an active array or buffer of numbers, made at the first demand."""
        if self.primal.mirrored(value):
            return self.primal.mirrors[value]
        for frame in reversed(self.frames):
            if value in frame.shadows:
                return frame.shadows[value]
        op = self.primal.tables.maker.get(value)
        if op is not None and op.name in VIEWS:
            made = self.e(op.name, self.shadow(op.operands[0]), *op.operands[1:], **op.attrs)
            self.frame.shadows[value] = made
            return made
        home = self.primal.tables.home[value]
        frame = next(f for f in self.frames if f.forward is home)
        frame.shadows[value] = self._new_shadow(frame, value, op)
        return frame.shadows[value]

    def _new_shadow(self, frame: Frame, value: Value, op: Op | None) -> Value:
        e = frame.prologue
        type_ = self.types.machine(value.type)
        if op is not None and op.name in ("unbox", "slot_get"):
            if op.name == "unbox":
                places = self.types.positions(str(op.attrs["name"]), int(str(op.attrs["variant"])))
                place = places[op.results.index(value)]
                assert place is not None
            else:
                place = slot_place(self.types, op)
            return e("slot_get", self.primal.mirrors[op.operands[0]], **slot_attrs(op, place), type=type_)
        if op is not None and op.name == "buffer_get":
            return e("buffer_get", self.primal.mirrors[op.operands[0]], op.operands[1])
        if isinstance(value.type, ArrayRef):
            made = zero_array(e, value.type, self.primal.sizes[value])
        elif isinstance(type_, Table):
            made = new_table(e, type_, self.primal.rows(value))
        else:
            assert isinstance(type_, Buffer)
            made = e("buffer_zeros", self.primal.length(value), element=type_.element)
        frame.owned.append(made)
        return made

    def take(self, value: Value, accumulator: Value) -> None:
        """value's shadow += accumulator, which nobody else uses any more."""
        if not self.primal.active(value):
            return
        op = self.primal.tables.maker.get(value)
        derived = op is not None and (op.name in VIEWS or op.name in _FETCHING)
        here = self.primal.tables.home[value] is self.frame.forward and not self.primal.mirrored(value)
        if here and not derived and value not in self.frame.shadows:
            self.frame.shadows[value] = accumulator
        elif isinstance(value.type, ArrayRef):
            add_into(self.e, self.shadow(value), accumulator)
        else:
            add_buffer_into(self.e, self.shadow(value), accumulator, self.primal.length(value))

    def defer(self, read: Op, c: Value) -> bool:
        """Add up the cotangents of an element that every trip of a loop reads; the loop's end adds the sum to it."""
        frame, tables = self.frame, self.primal.tables
        loop = tables.holder.get(frame.forward)
        if loop is None or loop.name not in ("for", "while"):
            return False
        if any(tables.home[v] is frame.forward for v in read.operands):
            return False
        if self.primal.mirrored(read.operands[0]) or self.primal.aliases.written_inside(read.operands[0], loop):
            return False
        key = tuple(read.operands)
        known = frame.deferred.get(key)
        total = c if known is None else self.e("add", known, c)
        frame.deferred[key] = self.wild.note(total, c in self.wild or known in self.wild.values)
        return True

    def _add_deferred(self, trips: Value, element: tuple[Value, ...], total: Value) -> None:
        """The index is right only if there was a trip."""
        some = self.e("gt", trips, self.e.integer(0))
        array, *indices = element
        shadow = self.shadow(array)
        inner = Emitter(Block(), self.e.span)
        inner.op("array_inc", shadow, *indices, total)
        self.e.append(get("if"), [some], blocks=[inner.block, Block()], types=[])

    # ------------------------------------------------------------------------------------------------------ blocks

    def run(self) -> None:
        """Reverse the ops of the current frame's block."""
        for op in reversed(list(self.frame.forward.ops)):
            self.e.span = self.frame.prologue.span = op.span
            rule = _RULES.get(op.name)
            if rule is not None:
                rule(self, op)
            elif op.name not in _SILENT:
                self.scalar(op)

    def scalar(self, op: Op) -> None:
        if not isinstance(op.prim, Prim) or op.prim.derivative == "structural":
            raise InternalError(f"no rule of differentiation for {op.name}")
        c = self.cotangent(op.result)
        if c is not None:
            wanted = list(map(self.primal.active, op.operands))
            wild, one = c in self.wild, self.is_one(c)
            for operand, part, wild_part in pull_scalar(self.e, op, c, wanted, self.wild, wild=wild, one=one):
                self.add(operand, self.wild.note(part, wild_part))

    def zero_or(self, value: Value | None, like: Value) -> Value:
        return scalar_zero(self.e, like.type) if value is None else value

    def inside(self, forward: Block, block: Block, seed: Callable[[Frame], None]) -> Frame:
        """The reverse of an inner block, up to its results.  The frame stays open."""
        frame = Frame(forward, block)
        self.frames.append(frame)
        self.reverse_of[forward] = block
        frame.e.span = self.frames[-2].e.span
        seed(frame)
        self.run()
        return frame

    def close(self) -> dict[Value, Value]:
        """End the inner block; the cotangents of values from outside."""
        frame = self.frames.pop()
        frame.finish()
        home = self.primal.tables.home
        return {v: c for v, c in frame.cotangents.items() if home[v] is not frame.forward}

    # ----------------------------------------------------------------------------------------------------- control

    def reverse_if(self, op: Op) -> None:
        if not self.primal.busy(op):
            return
        given = [(i, self.cotangent(r), self._array_shadow(r)) for i, r in enumerate(op.results)]
        frames: list[Frame] = []
        outer: list[dict[Value, Value]] = []
        for block in op.blocks:

            def seed(frame: Frame, block: Block = block) -> None:
                for i, c, accumulator in given:
                    if c is not None:
                        self.add(block.results[i], c)
                    if accumulator is not None:
                        self.take(block.results[i], accumulator)

            frames.append(self.inside(block, Block(), seed))
            outer.append(self.close())
            self._free_locals(frames[-1])
        keys = list(dict.fromkeys([*outer[0], *outer[1]]))
        for frame, found in zip(frames, outer, strict=True):
            frame.block.results = [found[v] if v in found else scalar_zero(frame.e, v.type) for v in keys]
        if not keys and not any(frame.block.ops for frame in frames):
            return
        types = [v.type for v in keys if v.type is not None]
        reverse = self.e.append(get("if"), op.operands, blocks=[f.block for f in frames], types=types)
        for value, part in zip(keys, reverse.results, strict=True):
            self.add(value, self.wild.note(part, any(found.get(value) in self.wild.values for found in outer)))

    def _array_shadow(self, value: Value) -> Value | None:
        if isinstance(value.type, Buffer) and self.primal.active(value) and not self.primal.mirrored(value):
            raise InternalError("an active buffer of numbers is merged by control flow")
        by_value = isinstance(value.type, ArrayRef) and not self.primal.mirrored(value)
        return self.existing(value) if by_value else None

    def reverse_for(self, op: Op) -> None:
        self.loop(op, 1, lambda: op.operands[0])

    def reverse_while(self, op: Op) -> None:
        self.loop(op, 0, lambda: self.primal.trips[op][1])

    def loop(self, op: Op, offset: int, trips: Callable[[], Value]) -> None:
        primal = self.primal
        if not primal.busy(op):
            return
        body = op.blocks[-1]
        params, inits = body.params[offset:], op.operands[offset:]
        carried: list[int] = []
        for i, (param, result) in enumerate(zip(params, op.results, strict=True)):
            seeded = self.cotangent(result) is not None or self._array_shadow(result) is not None
            by_value = isinstance(result.type, Scalar | ArrayRef) and not primal.mirrored(param)
            if by_value and (seeded or primal.active(param)):
                carried.append(i)
        arrays = [i for i in carried if isinstance(params[i].type, ArrayRef)]
        scalars = [i for i in carried if i not in arrays]
        block = Block([Value(I64, "k"), *(Value(op.results[i].type, "c") for i in [*scalars, *arrays])])
        incoming = dict(zip([*scalars, *arrays], block.params[1:], strict=True))

        wild = self.wild.holds(op) or any(self.cotangent(op.results[i]) in self.wild.values for i in scalars)
        for value in block.params[1:]:
            self.wild.note(value, wild)

        def seed(frame: Frame) -> None:
            for i in scalars:
                self.add(body.results[i], incoming[i])
            for i in arrays:
                self.take(body.results[i], incoming[i])

        frame = self.inside(body, block, seed)
        block.results = [self.zero_or(self.cotangent(params[i]), params[i]) for i in scalars]
        block.results += [self._carried_array(params[i]) for i in arrays]
        outer = self.close()
        for part in (*outer.values(), *frame.deferred.values()):
            total = Value(part.type, "sum")
            block.params.append(total)
            block.results.append(frame.e("add", total, part))
        self._free_locals(frame)
        starts = [self.zero_or(self.cotangent(op.results[i]), op.results[i]) for i in scalars]
        starts += [self._carried_array(op.results[i]) for i in arrays]
        starts += [self.zero_or(self.cotangent(v), v) for v in outer]
        starts += [scalar_zero(self.e, part.type) for part in frame.deferred.values()]
        if not block.ops and not starts:
            return
        types = [v.type for v in starts if v.type is not None]
        attrs: dict[str, object] = {"reverse": True, **({"parallel": True} if op.attrs.get("parallel") else {})}
        reverse = self.e.append(get("for"), [trips(), *starts], attrs=attrs, blocks=[block], types=types)
        self.pairs.append(Pair(op, reverse, [(body.results[i], incoming[i]) for i in arrays]))
        count = len(carried)
        for part in reverse.results:
            self.wild.note(part, wild)
        self.frame.cotangents.update(zip(outer, reverse.results[count:], strict=False))
        for element, total in zip(frame.deferred, reverse.results[count + len(outer) :], strict=True):
            self._add_deferred(trips(), element, total)
        for i, part in zip(scalars, reverse.results, strict=False):
            self.add(inits[i], part)
        for i, part in zip(arrays, reverse.results[len(scalars) : count], strict=True):
            self.take(inits[i], part)

    def _carried_array(self, value: Value) -> Value:
        """The accumulator of a carried array, in the type that the loop carries."""
        if self.primal.active(value):
            return coerce(self.e, self.shadow(value), value.type)
        assert isinstance(value.type, ArrayRef)
        sizes = [self.primal.size(self.e, value, axis) for axis in range(value.type.rank)]
        return coerce(self.e, zero_array(self.e, value.type, sizes), value.type)

    def _free_locals(self, frame: Frame) -> None:
        """Give back the accumulators of one trip that only this trip can know."""
        for accumulator in frame.owned:
            array = isinstance(accumulator.type, ArrayRef) and not _escapes(frame.block, accumulator)
            if array or isinstance(accumulator.type, Table):
                frame.e.op("free", accumulator)

    # ------------------------------------------------------------------------------------------------------- calls

    def call(self, op: Op) -> None:
        call = self.primal.calls.get(op)
        if call is not None:
            tables = self.primal.tables_for_reverse(call.arguments, self.e)
            self._pull(call, call.split.pull, [call.record], tables)
        rerun = self.primal.reruns.get(op)
        if rerun is not None:
            mirrors = [self.primal.mirrors[v] for v in rerun.arguments if self.primal.mirrored(v)]
            kept = [v or self._scratch(a) for v, a in zip(rerun.kept, rerun.arguments, strict=True)]
            self._pull(rerun, rerun.again, [*kept, *mirrors], [], onward=True)
            if self.primal.once:
                self._let_go(dict(zip(kept, rerun.arguments, strict=True)))

    def _let_go(self, kept: dict[Value, Value]) -> None:
        """Memory that only this second run needed."""
        for value, argument in kept.items():
            if value is not argument:
                self.e.op("free", value)
            elif isinstance(value.type, ArrayRef) and value in self.frame.forward.params:
                self.e.op("let_go", value)

    def _scratch(self, array: Value) -> Value:
        """Memory that the call may write in place of the array."""
        assert isinstance(array.type, ArrayRef)
        sizes = [self.primal.size(self.e, array, axis) for axis in range(array.type.rank)]
        return coerce(self.e, zero_array(self.e, array.type, sizes), array.type)

    def _pull(
        self, call: Call | Rerun, callee: str, first: list[Value], last: list[Value], *, onward: bool = False
    ) -> None:
        """Call a reverse half; the cotangents of numbers are its results, others it adds to what it is given.

        onward: it adds to the cotangents that numbers have so far, too.
        """
        operands, e = first, self.e
        for result, active in zip(call.results, call.mask.results, strict=True):
            if active and is_float_scalar(result.type):
                operands.append(self.zero_or(self.cotangent(result), result))
        for result, active in zip(call.results, call.mask.results, strict=True):
            if active and isinstance(result.type, ArrayRef) and not self.primal.mirrored(result):
                operands.append(coerce(e, self.shadow(result), result.type))
        takers: list[Value] = []
        for argument, active in zip(call.arguments, call.mask.params, strict=True):
            if active and self.primal.mirrored(argument):
                continue
            if active and isinstance(argument.type, ArrayRef):
                operands.append(coerce(e, self.shadow(argument), argument.type))
            elif active and isinstance(argument.type, Table):
                operands.append(self.shadow(argument))
            elif active and is_float_scalar(argument.type):
                takers.append(argument)
            elif active and isinstance(argument.type, Buffer):
                raise InternalError("an active buffer is passed to a call")
        operands += last
        if onward:
            for place, argument in enumerate(takers):
                before = None if argument in takers[:place] else self.frame.cotangents.pop(argument, None)
                operands.append(self.zero_or(before, argument))
        types = [v.type for v in takers if v.type is not None]
        pull = e.append(get("call"), operands, attrs={"callee": callee}, types=types)
        for argument, part in zip(takers, pull.results, strict=True):
            self.add(argument, self.wild.note(part, True))


# Ops whose results share their shadows with a record or buffer.
_FETCHING = frozenset({"unbox", "slot_get", "buffer_get"})
_NEUTRAL = frozenset({
    "array_inc", "array_swap", "array_get", "elementwise", "matmul_inc", "matmul", "array_size", "free",
})  # fmt: skip


def _escapes(block: Block, value: Value) -> bool:
    """May anything but plain accesses know the memory of the value."""
    known = {value}
    for op in block.walk():
        if known.isdisjoint(op.operands):
            if any(not known.isdisjoint(inner.results) for inner in op.blocks):
                return True
        elif op.name in VIEWS:
            known.add(op.result)
        elif op.name not in _NEUTRAL:
            return True
    return not known.isdisjoint(block.results)


_RULES: dict[str, Callable[[Reverse, Op], None]] = RULES | {
    "if": Reverse.reverse_if, "for": Reverse.reverse_for, "while": Reverse.reverse_while, "call": Reverse.call,
}  # fmt: skip
# Views share their base's shadow; allocation, release, sizes and checks have no derivative.
_SILENT = VIEWS | {
    "array_zeros", "array_empty", "array_size", "array_same", "array_overlap", "array_contiguous", "array_fits",
    "array_beside",
    "buffer", "buffer_zeros", "box_null", "box_tag", "const", "free", "check", "text_call",
    "text_effect", "lapack", "table", "table_copy", "table_rows", "table_length",
}  # fmt: skip

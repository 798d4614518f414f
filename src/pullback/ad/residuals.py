"""Closes a reverse half over its forward half: which values are stored, which are computed again.

    forward                          reverse, before                after
    for n, s0:                       for n, c:                      buf = buffer n           (before the forward loop)
      body (k, s):                     body (i, c):                   .. buffer_put buf, k, s
        t = exp s                        d = mul c, t               j = n - 1 - i
        s1 = mul t, x                                               s' = buffer_get buf, j;  t' = exp s'

Loops are closed innermost first; then the function.  A value of a loop body is stored in a buffer at the index of the
trip, also from inside an `if` (whose other branch leaves a gap).  Values of branches outside of loops leave as further
results of the `if`, references in a record of one variant per branch.  What to store is a minimum cut between the
values that cannot be computed again (carried values, results of loops and calls, reads of memory that is written) and
the values that the reverse needs.  Never stored: the index, integers that step by a constant, sizes of arrays that the
loop carries, values from outside the loop, what stands in an array for good (`standing`), reads of memory that nothing
writes (residual buffers above all).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pullback.ad.bytes import fill_trip_bytes
from pullback.ad.cut import Choice, Region, used_inside
from pullback.ad.kept import describe
from pullback.ad.reverse import Pair, Reverse
from pullback.ad.shadows import make_record, open_record, scalar_zero
from pullback.ad.standing import Standing
from pullback.ir.node import Block, Op, Value
from pullback.ir.walk import clone_ops, substitute
from pullback.prims.base import Emitter, get
from pullback.types import I64, ArrayRef, Box, Machine, Scalar, Table

__all__ = ["Closer"]

# A copy of the array gives another answer.
_OF_PLACES = frozenset({"array_overlap", "array_same", "array_beside", "array_contiguous", "array_fits"})
GROWING = 64  # first capacity of a buffer whose length is not known


class Closer:
    """Closes all loops of a derivation, then the function.

    `release`: buffers are freed as soon as the reverse is done with them.
    """

    def __init__(self, reverse: Reverse, *, release: bool) -> None:
        self.reverse, self.primal = reverse, reverse.primal
        self.tables = reverse.primal.tables
        self.release = release
        self.reversed: dict[Op, Pair] = {pair.forward: pair for pair in reverse.pairs}
        self.heads: dict[Block, Emitter] = {}
        self.indices: dict[Op, Value] = {}
        self.needed_later: set[tuple[Value | str, Machine | None]] = set()
        self.starts: dict[Block, int] = {}
        self.kept: list[tuple[list[Pair], list[Value]]] = []  # loops, inner ones first, and what their trips store
        self.standing = Standing(reverse.primal)
        for pair in reverse.pairs:
            self._number(pair)

    def _number(self, pair: Pair) -> None:
        """Every reverse body starts with the number of the forward trip that it undoes."""
        e, block = Emitter(Block(), pair.forward.span), pair.reverse_body
        last = e("sub", pair.reverse.operands[0], e.integer(1))
        self.indices[pair.forward] = e("sub", last, block.params[0])
        block.ops[0:0] = e.block.ops
        self.starts[block] = len(e.block.ops)

    def close_loops(self) -> None:
        for pair in self.reverse.pairs:
            self._close_loop(pair)

    # --------------------------------------------------------------------------------------------- facts of values

    def again(self, value: Value) -> Op | None:
        """The op that makes the value, if it gives the same when it runs again in the reverse half."""
        op = self.tables.maker.get(value)
        if op is not None and op.name == "elementwise":
            return op if self._makes_again(op) else None
        if op is None or op.blocks or op.name in _OF_PLACES or op.attrs.get("given") is not None:
            return None
        if op.name in ("array_get", "buffer_get"):
            return op if self._stands(op) else None
        if op.name == "table_get":
            known = isinstance(table := op.operands[0].type, Table) and self.primal.types.original(table.name)
            return op if known and self.primal.aliases.settled_cell(op) else None
        if op.name == "slot_get":
            return None if isinstance(value.type, Scalar) else op
        return None if op.prim.effects else op

    def _makes_again(self, op: Op) -> bool:
        """Does the op make one array that nobody writes, of what will still be there."""
        aliases = self.primal.aliases
        if op.attrs["outputs"] != ("new",) or aliases.place(op) is None or aliases.written(op.result):
            return False
        arrays = [v for v in op.operands if isinstance(v.type, ArrayRef)]
        return all(aliases.settled(v, op) for v in arrays)

    def source(self, value: Value) -> Op | None:
        """The op by which the reverse half gets the value: one that reads it where it stands, or one run again."""
        return self.standing.read(value) or self.again(value)

    def _stands(self, read: Op) -> bool:
        """Will what the op read stand there until the reverse half."""
        return self.primal.aliases.settled(read.operands[0], read) or self.primal.dependence.final(read)

    def steps(self, pair: Pair, value: Value, region: Region) -> tuple[Value, Op] | None:
        """For a carried integer that steps by a constant: its first value and the op that steps."""
        body, offset = pair.body, pair.forward.name == "for"
        if value not in body.params[offset:] or value.type != I64:
            return None
        place = body.params.index(value)
        op = self.tables.maker.get(body.results[place - offset])
        if op is None or op.name not in ("add", "sub") or value not in op.operands:
            return None
        step = op.operands[1] if op.operands[0] is value else op.operands[0]
        made = self.tables.maker.get(step)
        constant = made is not None and made.name == "const"
        if (op.name == "sub" and op.operands[0] is not value) or step is value:
            return None
        return (pair.forward.operands[place], op) if constant or not region.holds(step) else None

    # --------------------------------------------------------------------------------------------------- emission

    def head(self, block: Block) -> Emitter:
        """Emits at the start of a reverse block."""
        if block not in self.heads:
            self.heads[block] = Emitter(Block())
        return self.heads[block]

    def finish_heads(self) -> None:
        for block, e in self.heads.items():
            at = self.starts.get(block, 0)
            block.ops[at:at] = e.block.ops
        self.heads.clear()

    def run_again(self, ops: Sequence[Op], mapping: dict[Value, Value]) -> None:
        for op in ops:
            block = self.reverse.reverse_of[self.tables.place[op]]
            self.head(block).block.ops += clone_ops([op], mapping)

    # ------------------------------------------------------------------------------------------------------- loops

    def _close_loop(self, pair: Pair) -> None:
        region = Region(self.primal, pair.body)
        found: dict[Value, None] = {}
        used_inside(pair.reverse_body, found)
        needed = [v for v in found if region.holds(v)]
        stepping = {v: s for v in pair.body.params if (s := self.steps(pair, v, region)) is not None}
        index = self.forward_index(pair)
        sizes = self._sizes(pair)

        def free(value: Value) -> bool:
            return not region.holds(value) or value is index or value in stepping or value in sizes

        choice = Choice(self.source, needed, free)
        mapping: dict[Value, Value] = {index: self._index(pair)}
        used = {*needed, *(v for op in choice.again for v in op.operands)}
        for value, (start, op) in stepping.items():
            if value in used and value is not index:
                mapping[value] = self._step(pair, value, start, op)
        for value, (accumulator, axis) in sizes.items():
            if value in used and region.holds(value):  # one from outside, as the number of trips, is there as it is
                mapping[value] = self.head(pair.reverse_body)("array_size", accumulator, axis=axis)
        self.primal.derivations.kept += describe(self, choice.stored, pair.reverse_body, pair)
        if choice.stored:
            self._store(pair, choice.stored, mapping)
        fill_trip_bytes(self, pair)
        self.run_again(choice.again, mapping)
        self._release_freed(region, {*used, *choice.stored}, mapping)
        substitute(pair.reverse_body, mapping)
        self.finish_heads()

    def _sizes(self, pair: Pair) -> dict[Value, tuple[Value, int]]:
        """Sizes of arrays that a trip yields: those of their accumulators, with which the reverse trip begins."""
        found: dict[Value, tuple[Value, int]] = {}
        asked: dict[tuple[Value, int], list[Value]] = {}
        for op in pair.body.walk():
            if op.name == "array_size":
                asked.setdefault((op.operands[0], int(str(op.attrs["axis"]))), []).append(op.result)
        for value, accumulator in pair.carried:
            for axis, size in enumerate(self.primal.sizes.get(value, ())):
                for same in (size, *asked.get((value, axis), ())):
                    found.setdefault(same, (accumulator, axis))
        for alike in asked.values():
            known = next((found[size] for size in alike if size in found), None)
            if known is not None:
                found.update(dict.fromkeys(alike, known))
        return found

    def forward_index(self, pair: Pair) -> Value:
        """The number of the trip in the forward loop."""
        return pair.body.params[0] if pair.forward.name == "for" else self.primal.trips[pair.forward][0]

    def trips(self, pair: Pair) -> Value:
        return pair.forward.operands[0] if pair.forward.name == "for" else self.primal.trips[pair.forward][1]

    def _index(self, pair: Pair) -> Value:
        """The number of the forward trip that the reverse loop is at."""
        return self.indices[pair.forward]

    def _step(self, pair: Pair, value: Value, start: Value, op: Op) -> Value:
        e = self.head(pair.reverse_body)
        step = op.operands[1] if op.operands[0] is value else op.operands[0]
        made = self.tables.maker.get(step)
        if made is not None and made.name == "const":
            step = e.integer(int(str(made.attrs["value"])))
        return e(op.name, start, e("mul", self._index(pair), step))

    def _store(self, pair: Pair, values: Sequence[Value], mapping: dict[Value, Value]) -> None:
        """Buffers before the loop (or the loops around it), a put at the end of each block, gets in its reverse."""
        chain = self._nest(pair)
        self.kept.append((chain, list(values)))
        anchor = chain[-1]
        e = Emitter(Block(), pair.forward.span)
        capacity = self._capacity(e, chain)
        forward, reverse = self._flat_index(chain)
        buffers: list[Value] = []
        for value in values:
            assert value.type is not None
            buffer = e("buffer", capacity, element=value.type)
            buffers.append(buffer)
            home = self.tables.home[value]
            put = Emitter(Block(), pair.forward.span)
            put.op("buffer_put", buffer, forward, value)
            self.primal.append(home, put.block.ops)
            self.primal.puts[buffer] = put.block.ops[-1]
            mapping[value] = self.head(self.reverse.reverse_of[home])("buffer_get", buffer, reverse)
        self.primal.insert_before(anchor.forward, e.block.ops)
        if self.release:
            block = self.reverse.reverse_of[self.tables.place[anchor.forward]]
            at = block.ops.index(anchor.reverse) + 1
            done = Emitter(Block(), pair.forward.span)
            for buffer in buffers:
                done.op("free", buffer)
            block.ops[at:at] = done.block.ops

    def _nest(self, pair: Pair) -> list[Pair]:
        """The loop, and loops directly around it as long as all trip counts are known before the outermost."""
        chain, regions = [pair], list[Region]()
        while pair.forward.name == "for":
            around = self.tables.holder.get(self.tables.place[pair.forward])
            outer = self.reversed.get(around) if around is not None else None
            if outer is None or outer.forward.name != "for":
                break
            regions.append(Region(self.primal, outer.body))
            if any(self.hoisted(p.forward.operands[0], regions) is None for p in chain):
                break
            chain.append(outer)
            pair = outer
        return chain

    def hoisted(self, value: Value, regions: Sequence[Region]) -> list[Op] | None:
        """Ops to copy so that the value is known outside of the regions; None if it depends on them."""
        if not any(region.holds(value) for region in regions):
            return []
        op = self.again(value)
        if op is None or op.name in ("array_get", "buffer_get", "table_get"):
            return None
        ops: list[Op] = []
        for operand in op.operands:
            below = self.hoisted(operand, regions)
            if below is None:
                return None
            ops += [o for o in below if o not in ops]
        return [*ops, op]

    def _capacity(self, e: Emitter, chain: Sequence[Pair]) -> Value:
        """The number of elements, as far as it is known before the loop."""
        if chain[0].forward.name == "while":
            return e.integer(GROWING)
        regions = [Region(self.primal, pair.body) for pair in chain[1:]]
        mapping: dict[Value, Value] = {}
        total = chain[-1].forward.operands[0]
        for pair in chain[-2::-1]:
            count = pair.forward.operands[0]
            wanted = [op for op in self.hoisted(count, regions) or [] if op.result not in mapping]
            e.block.ops += clone_ops(wanted, mapping)
            total = e("mul", total, mapping.get(count, count))
        return total

    def _flat_index(self, chain: Sequence[Pair]) -> tuple[Value, Value]:
        """The index into the buffer, in the innermost forward body and in its reverse."""
        inner = chain[0]
        forward, reverse = self.forward_index(chain[-1]), self._index(chain[-1])
        if len(chain) == 1:
            return forward, reverse
        e, r = Emitter(Block(), inner.forward.span), self.head(inner.reverse_body)
        for pair in chain[-2::-1]:
            count = self.trips(pair)
            forward = e("add", e("mul", forward, count), self.forward_index(pair))
            reverse = r("add", r("mul", reverse, count), self._index(pair))
        inner.body.ops[0:0] = e.block.ops
        for op in e.block.ops:
            self.primal.enter(op, inner.body)
        return forward, reverse

    def _release_freed(self, region: Region, used: Iterable[Value], mapping: dict[Value, Value]) -> None:
        """Memory that the forward half frees and the reverse needs is freed by the reverse.

        An element of a buffer of references is freed where it is fetched, but known where it was made as well: the
        reverse of that place comes last and frees it.
        """
        aliases, makers = self.primal.aliases, self.tables.maker
        bases = {aliases.base(v) for v in used}
        fetched = {self._kind(op.operands[0]): op for op in self.primal.frees if self._fetched(op.operands[0])}
        freed_here = {op.operands[0] for op in self.primal.frees if not self._fetched(op.operands[0])}
        for value in bases - freed_here:
            op = fetched.get(self._kind(value))
            if op is not None:
                self.needed_later.add(self._kind(value))
                if value in makers and makers[value].name == "buffer" and region.holds(value):
                    self._free_in_reverse(value, region, mapping, op)
        for op in list(self.primal.frees):
            (value,) = op.operands
            if region.holds(value) and not self._fetched(value):
                self.primal.frees.remove(op)
                if aliases.base(value) in bases:
                    self.tables.place[op].ops.remove(op)
                    self._free_in_reverse(value, region, mapping, op)

    def _kind(self, value: Value) -> tuple[Value | str, Machine | None]:
        """Of all that is reached from one place, what has the same type."""
        return self.primal.aliases.find(value), value.type

    def _fetched(self, value: Value) -> bool:
        op = self.tables.maker.get(value)
        return op is None or op.name in ("buffer_get", "unbox", "slot_get")

    def _free_in_reverse(self, value: Value, region: Region, mapping: dict[Value, Value], op: Op) -> None:
        home = self.tables.home[value]
        known = value in mapping or (home is self.primal.body and region.root is home)
        if self.release and known and home in self.reverse.reverse_of:
            block = self.reverse.reverse_of[home]
            block.ops.append(Op(get("free"), [mapping.get(value, value)], span=op.span))

    def _drop_fetched_frees(self) -> None:
        for op in self.primal.frees:
            if self._kind(op.operands[0]) in self.needed_later:
                self.tables.place[op].ops.remove(op)

    # ---------------------------------------------------------------------------------------------------- function

    def close_function(
        self, reverse_body: Block, record: Box | None = None, tables: Sequence[Value] = ()
    ) -> list[Value]:
        """Close the function's own block.

        With a record, the reverse half becomes a function of its own: its first parameter is the record, and the values
        that the forward half has to put there are returned.  `tables` are its last parameters.
        """
        given = {v: Value(v.type, v.name) for v in tables}
        reverse_body.params += given.values()
        region = Region(self.primal, self.primal.body)
        found: dict[Value, None] = {}
        used_inside(reverse_body, found)
        needed = [v for v in found if region.holds(v)]
        home, body = self.tables.home, self.primal.body

        def free(value: Value) -> bool:
            return value in given or not region.holds(value) or (record is None and home[value] is body)

        choice = Choice(self.source, needed, free)
        self.primal.derivations.kept += describe(self, choice.stored, reverse_body, None)
        mapping: dict[Value, Value] = dict(given)
        export = _Export(self, region, choice.stored)
        if record is not None:
            self._open_record(reverse_body, record, export.outermost, mapping)
        export.map(mapping)
        self.run_again(choice.again, mapping)
        used = {*needed, *choice.stored, *(v for op in choice.again for v in op.operands)}
        self._release_freed(region, used, mapping)
        self._drop_fetched_frees()
        substitute(reverse_body, mapping)
        self.finish_heads()
        return export.outermost

    def _open_record(
        self, block: Block, record: Box, values: Sequence[Value], mapping: dict[Value, Value], variant: int = 0
    ) -> None:
        param = Value(record, "record")
        block.params.insert(0, param)
        self.open(block, param, variant, values, mapping)

    def open(
        self, block: Block, record: Value, variant: int, values: Sequence[Value], mapping: dict[Value, Value]
    ) -> None:
        """At the start of a reverse block: take the values out of the record."""
        if not values:
            return
        types = tuple(v.type for v in values if v.type is not None)
        mapping.update(zip(values, open_record(self.head(block), record, variant, types), strict=True))


class _Export:
    """Hands values of branches to the function's block, as further results of the `if`s around them."""

    def __init__(self, closer: Closer, region: Region, stored: Sequence[Value]) -> None:
        self.closer, self.primal = closer, closer.primal
        self.kept: dict[Block, list[Value]] = {}
        self.chains: list[tuple[Value, Value]] = []
        self.records: list[tuple[Op, Value, list[list[Value]]]] = []
        for value in stored:
            self.kept.setdefault(closer.tables.home[value], []).append(value)
        for op in region.ifs:
            lists = [self.kept.pop(block, []) for block in op.blocks]
            if any(lists):
                parent = self.kept.setdefault(closer.tables.place[op], [])
                numbers = all(isinstance(v.type, Scalar) for values in lists for v in values)
                parent += self._numbers(op, lists) if numbers else self._record(op, lists)
                self.primal.enter(op, closer.tables.place[op])
        self.outermost = self.kept.get(region.root, [])

    def map(self, mapping: dict[Value, Value]) -> None:
        """From the values to what stands for them in the reverse half."""
        for op, record, lists in reversed(self.records):
            for variant, (block, values) in enumerate(zip(op.blocks, lists, strict=True)):
                reverse = self.closer.reverse.reverse_of.get(block)
                if reverse is not None:
                    self.closer.open(reverse, mapping.get(record, record), variant, values, mapping)
        for value, outer in reversed(self.chains):
            mapping[value] = mapping.get(outer, outer)

    def _numbers(self, op: Op, lists: Sequence[list[Value]]) -> list[Value]:
        """A result per value; zero from the other branch."""
        results: list[Value] = []
        for place, values in enumerate(lists):
            other = op.blocks[1 - place]
            e = Emitter(Block(), op.span)
            for value in values:
                op.blocks[place].results.append(value)
                other.results.append(scalar_zero(e, value.type))
                results.append(Value(value.type, value.name))
                self.chains.append((value, results[-1]))
            self.primal.append(other, e.block.ops)
        op.results += results
        return results

    def _record(self, op: Op, lists: list[list[Value]]) -> list[Value]:
        """One record with a variant per branch."""
        derivations = self.primal.derivations
        name = derivations.fresh_box(f"{self.primal.function.name}.if")
        layout: list[tuple[Machine, ...]] = []
        for variant, (block, values) in enumerate(zip(op.blocks, lists, strict=True)):
            layout.append(tuple(v.type for v in values if v.type is not None))
            e = Emitter(Block(), op.span)
            block.results.append(make_record(e, name, variant, values))
            self.primal.append(block, e.block.ops)
        derivations.program.layouts[name] = layout
        record = Value(Box(name), "branch")
        op.results.append(record)
        self.records.append((op, record, lists))
        return [record]

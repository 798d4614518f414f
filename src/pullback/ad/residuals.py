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
the values that the reverse needs.  Never stored: the index, integers that step by a constant, values from outside the
loop, reads of memory that nothing writes (residual buffers above all).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from pullback.ad.costs import recompute_cost, store_cost
from pullback.ad.flow import INFINITE, Network
from pullback.ad.primal import Primal
from pullback.ad.reverse import Pair, Reverse
from pullback.ad.shadows import scalar_zero
from pullback.ir.node import Block, Op, Value
from pullback.ir.walk import clone_ops, substitute
from pullback.prims.base import Emitter, get
from pullback.types import I64, Box, Machine, Scalar

__all__ = ["Closer", "Record"]

GROWING = 64  # first capacity of a buffer whose length is not known


@dataclass(slots=True)
class Record:
    """What a split derivation keeps between its halves."""

    values: list[Value] = field(default_factory=list)


class Region:
    """The blocks of a loop body, or of a function, and of the `if`s in it, down to inner loops."""

    def __init__(self, primal: Primal, root: Block) -> None:
        self.root = root
        self.blocks: list[Block] = []
        self.ifs: list[Op] = []  # inner ones first
        self._collect(root)
        self._known = set(self.blocks)
        self.primal = primal

    def _collect(self, block: Block) -> None:
        self.blocks.append(block)
        for op in block.ops:
            if op.name == "if":
                for inner in op.blocks:
                    self._collect(inner)
                self.ifs.append(op)

    def holds(self, value: Value) -> bool:
        """Is the value defined here."""
        return self.primal.tables.home.get(value) in self._known


def used_inside(block: Block, found: dict[Value, None]) -> None:
    """Every value that the block or inner blocks mention."""
    for op in block.ops:
        found.update(dict.fromkeys(op.operands))
        for inner in op.blocks:
            used_inside(inner, found)
    found.update(dict.fromkeys(block.results))


class Choice:
    """The minimum cut: `stored` values and, in the order of definition, the ops to run again."""

    def __init__(self, closer: Closer, region: Region, needed: Iterable[Value], free: Callable[[Value], bool]) -> None:
        self.closer, self.region, self.free = closer, region, free
        self.inputs: dict[Value, int] = {}
        network = self.network = Network()
        pending = [v for v in needed if not free(v)]
        self.needed = list(pending)
        for value in pending:
            network.edge(self._node(value) + 1, 1, INFINITE)
        order = list(self.inputs)
        for value in order:
            order += self._connect(value)
        before = network.before_sink()
        self.stored = [v for v, n in self.inputs.items() if n not in before and n + 1 in before]
        self.again = self._rerun()

    def _node(self, value: Value) -> int:
        """The number of the value's incoming node; its outgoing node is the next number."""
        if value not in self.inputs:
            self.inputs[value] = self.network.node()
            outgoing = self.network.node()
            self.network.edge(self.inputs[value], outgoing, store_cost(value))
        return self.inputs[value]

    def _connect(self, value: Value) -> list[Value]:
        """Edges into the value; operands seen for the first time."""
        node, op = self.inputs[value], self.closer.again(value)
        if op is None:
            self.network.edge(0, node, INFINITE)
            return []
        self.network.edge(0, node, recompute_cost(op))
        new: list[Value] = []
        for operand in dict.fromkeys(op.operands):
            if not self.free(operand):
                if operand not in self.inputs:
                    new.append(operand)
                self.network.edge(self._node(operand) + 1, node, INFINITE)
        return new

    def _rerun(self) -> list[Op]:
        """Ops whose results are needed and not stored, operands first."""
        stored, done = set(self.stored), set[Op]()
        order: list[Op] = []
        pending: list[tuple[Value, bool]] = [(v, False) for v in reversed(self.needed)]
        while pending:
            value, ready = pending.pop()
            if value in stored or self.free(value):
                continue
            op = self.closer.primal.tables.maker[value]
            if ready:
                if op not in done:
                    done.add(op)
                    order.append(op)
            elif op not in done:
                pending.append((value, True))
                pending += [(v, False) for v in op.operands]
        return order


class Closer:
    """Closes all loops of a derivation, then the function.  `release`: free buffers when the reverse is done with them."""

    def __init__(self, reverse: Reverse, *, release: bool) -> None:
        self.reverse, self.primal = reverse, reverse.primal
        self.tables = reverse.primal.tables
        self.release = release
        self.reversed: dict[Op, Pair] = {pair.forward: pair for pair in reverse.pairs}
        self.index: dict[Pair, Value] = {}
        self.heads: dict[Block, Emitter] = {}

    def close_loops(self) -> None:
        for pair in self.reverse.pairs:
            self._close_loop(pair)

    # --------------------------------------------------------------------------------------------- facts of values

    def again(self, value: Value) -> Op | None:
        """The op that makes the value, if it gives the same when it runs again in the reverse half."""
        op = self.tables.maker.get(value)
        if op is None or op.blocks:
            return None
        if op.name in ("array_get", "buffer_get"):
            return op if self.primal.aliases.settled(op.operands[0], op) else None
        if op.name == "slot_get":
            return None if isinstance(value.type, Scalar) else op
        return None if op.prim.effects else op

    def steps(self, pair: Pair, value: Value, region: Region) -> tuple[Value, Op] | None:
        """For a carried integer that steps by a constant: its first value and the op that steps."""
        body, offset = pair.body, pair.forward.name == "for"
        if value not in body.params or value.type != I64:
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
            block.ops[0:0] = e.block.ops
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
        self._index(pair)
        stepping = {v: s for v in pair.body.params if (s := self.steps(pair, v, region)) is not None}
        index = self.forward_index(pair)

        def free(value: Value) -> bool:
            return not region.holds(value) or value is index or value in stepping

        choice = Choice(self, region, needed, free)
        mapping: dict[Value, Value] = {index: self._index(pair)}
        used = {*needed, *(v for op in choice.again for v in op.operands)}
        for value, (start, op) in stepping.items():
            if value in used and value is not index:
                mapping[value] = self._step(pair, value, start, op)
        if choice.stored:
            self._store(pair, choice.stored, mapping)
        self.run_again(choice.again, mapping)
        self._release_freed(region, {*used, *choice.stored}, mapping)
        substitute(pair.reverse_body, mapping)
        self.finish_heads()

    def forward_index(self, pair: Pair) -> Value:
        """The number of the trip in the forward loop."""
        return pair.body.params[0] if pair.forward.name == "for" else self.primal.trips[pair.forward][0]

    def trips(self, pair: Pair) -> Value:
        return pair.forward.operands[0] if pair.forward.name == "for" else self.primal.trips[pair.forward][1]

    def _index(self, pair: Pair) -> Value:
        """The number of the forward trip that the reverse loop is at."""
        key = pair.reverse_body.params[0]
        if key not in self.indices:
            e = Emitter(Block(), pair.forward.span)
            last = e("sub", pair.reverse.operands[0], e.integer(1))
            self.indices[key] = e("sub", last, key)
            pair.reverse_body.ops[0:0] = e.block.ops
        return self.indices[key]

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
        chain = [pair]
        while pair.forward.name == "for":
            around = self.tables.holder.get(self.tables.place[pair.forward])
            outer = self.reversed.get(around) if around is not None else None
            if outer is None or outer.forward.name != "for":
                break
            region = Region(self.primal, outer.body)
            if any(self._hoisted(p.forward.operands[0], region) is None for p in chain):
                break
            chain.append(outer)
            pair = outer
        return chain

    def _hoisted(self, value: Value, region: Region) -> list[Op] | None:
        """Ops to copy so that the value is known outside of the region; None if it depends on the region."""
        if not region.holds(value):
            return []
        op = self.again(value)
        if op is None or op.name in ("array_get", "buffer_get"):
            return None
        ops: list[Op] = []
        for operand in op.operands:
            below = self._hoisted(operand, region)
            if below is None:
                return None
            ops += [o for o in below if o not in ops]
        return [*ops, op]

    def _capacity(self, e: Emitter, chain: Sequence[Pair]) -> Value:
        if chain[0].forward.name == "while":
            return e.integer(GROWING)
        region = Region(self.primal, chain[-1].body)
        total = chain[-1].forward.operands[0]
        for pair in chain[-2::-1]:
            mapping: dict[Value, Value] = {}
            inner = self._outermost(pair.forward.operands[0], chain)
            e.block.ops += clone_ops(inner, mapping)
            count = pair.forward.operands[0]
            total = e("mul", total, mapping.get(count, count))
        del region
        return total

    def _outermost(self, value: Value, chain: Sequence[Pair]) -> list[Op]:
        ops: list[Op] = []
        for pair in chain[1:]:
            found = self._hoisted(value, Region(self.primal, pair.body)) or []
            ops = [*(o for o in found if o not in ops), *ops]
        return ops

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
        """Memory that the forward half frees and the reverse needs is freed by the reverse."""
        bases = {self.primal.aliases.base(v) for v in used}
        for op in list(self.primal.frees):
            (value,) = op.operands
            if not region.holds(value):
                continue
            self.primal.frees.remove(op)
            if self.primal.aliases.base(value) not in bases:
                continue
            self.tables.place[op].ops.remove(op)
            home = self.tables.home[value]
            known = value in mapping or (home is self.primal.body and region.root is home)
            if self.release and known and home in self.reverse.reverse_of:
                block = self.reverse.reverse_of[home]
                block.ops.append(Op(get("free"), [mapping.get(value, value)], span=op.span))

    # ---------------------------------------------------------------------------------------------------- function

    def close_function(self, reverse_body: Block, *, split: bool, results: Iterable[Value] = ()) -> list[Value]:
        """Close the function's own block.  For a split: the values that the record has to hold."""
        region = Region(self.primal, self.primal.body)
        found: dict[Value, None] = {}
        used_inside(reverse_body, found)
        found.update(dict.fromkeys(results))
        needed = [v for v in found if region.holds(v)]
        home, body = self.tables.home, self.primal.body

        def free(value: Value) -> bool:
            return not region.holds(value) or (not split and home[value] is body)

        choice = Choice(self, region, needed, free)
        mapping: dict[Value, Value] = {}
        kept = self._export(region, choice.stored, mapping)
        self.run_again(choice.again, mapping)
        used = {*needed, *choice.stored, *(v for op in choice.again for v in op.operands)}
        self._release_freed(region, used, mapping)
        substitute(reverse_body, mapping)
        self.finish_heads()
        return kept

    def _export(self, region: Region, stored: Sequence[Value], mapping: dict[Value, Value]) -> list[Value]:
        """Hand values of branches to the function's block, inner branches first; then map them, outer ones first."""
        home = self.tables.home
        kept: dict[Block, list[Value]] = {}
        for value in stored:
            kept.setdefault(home[value], []).append(value)
        opened: list[tuple[Block, Value, int, list[Value]]] = []
        chains: list[tuple[Value, Value]] = []
        for op in region.ifs:
            lists = [kept.pop(block, []) for block in op.blocks]
            if not any(lists):
                continue
            parent = self.tables.place[op]
            if all(isinstance(v.type, Scalar) for values in lists for v in values):
                chains += self._export_scalars(op, lists, kept.setdefault(parent, []))
            else:
                record = self._export_record(op, lists)
                kept.setdefault(parent, []).append(record)
                opened += [(b, record, i, values) for i, (b, values) in enumerate(zip(op.blocks, lists, strict=True))]
        for value, outer in reversed(chains):
            mapping[value] = outer
        for block, record, variant, values in reversed(opened):
            self._open(block, record, variant, values, mapping)
        for value in list(mapping):
            while mapping[value] in mapping:
                mapping[value] = mapping[mapping[value]]
        return kept.get(region.root, [])

    def _export_scalars(self, op: Op, lists: Sequence[list[Value]], parent: list[Value]) -> list[tuple[Value, Value]]:
        chains: list[tuple[Value, Value]] = []
        for place, values in enumerate(lists):
            other = op.blocks[1 - place]
            e = Emitter(Block(), op.span)
            for value in values:
                result = Value(value.type, value.name)
                op.blocks[place].results.append(value)
                other.results.append(scalar_zero(e, value.type))
                op.results.append(result)
                parent.append(result)
                chains.append((value, result))
            self.primal.append(other, e.block.ops)
        self.primal.enter(op, self.tables.place[op])
        return chains

    def _export_record(self, op: Op, lists: Sequence[list[Value]]) -> Value:
        derivations = self.primal.derivations
        name = derivations.fresh_box(f"{self.primal.function.name}.if")
        layout: list[tuple[Machine, ...]] = []
        for variant, (block, values) in enumerate(zip(op.blocks, lists, strict=True)):
            layout.append(tuple(v.type for v in values if v.type is not None))
            e = Emitter(Block(), op.span)
            block.results.append(e("box", *values, name=name, variant=variant))
            self.primal.append(block, e.block.ops)
        derivations.program.layouts[name] = layout
        op.results.append(Value(Box(name), "branch"))
        self.primal.enter(op, self.tables.place[op])
        return op.results[-1]

    def _open(
        self, block: Block, record: Value, variant: int, values: Sequence[Value], mapping: dict[Value, Value]
    ) -> None:
        reverse = self.reverse.reverse_of.get(block)
        if reverse is None or not values:
            return
        types = tuple(v.type for v in values if v.type is not None)
        assert isinstance(record.type, Box)
        source = mapping.get(record, record)
        op = self.head(reverse).op("unbox", source, name=record.type.name, variant=variant, types=types)
        mapping.update(zip(values, op.results, strict=True))

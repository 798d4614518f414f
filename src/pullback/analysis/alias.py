"""Which memory a reference may mean, who writes it, and is it still unchanged when it is read again later.

    s = array_zeros n              s is an origin: memory made here
    for n: array_inc s, k, v       the last write of s
    y = elementwise s              `settled(s, at=this op)`: nothing writes s from here on
    c = if p {a} {s}               origins of c: those of a (a parameter is one) and s
    z = array_get a, i             settled: nothing in the function writes a

Two views of the same thing.  `find` gives classes: everything that views, merges, records and calls may connect.
`origins` are finer: where the memory of a reference may have been made, as inclusions.  What happens to the memory of
one run of an allocation is ordered by positions in the block that allocates it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from pullback.analysis.cells import NO_CELLS, Cell, Cells, CellWrites, cell_writes
from pullback.analysis.effects import CALLS, VIEWS, carried, elementwise_targets, is_reference
from pullback.analysis.moves import entangled
from pullback.ir.node import Block, Function, Op, Program, Value
from pullback.types import ArrayRef, Box, Buffer, Machine, Table

__all__ = ["NO_WRITES", "Aliases", "Writes", "overlapping_pairs", "record_links", "written_parameters"]

_WRITERS = frozenset({"array_inc", "array_swap", "matmul_inc", "buffer_inc"})
_TABLE_OPS = frozenset({"table_get", "table_set", "table_swap"})
_STORING = frozenset({"box", "unbox", "slot_get", "buffer_get", "buffer_put", "select"}) | _TABLE_OPS
_LOOPS = frozenset({"for", "while"})
Key = Value | str
Node = Value | tuple[str, Key]  # an array, or all that is kept in a class of records and buffers


@dataclass(frozen=True, slots=True)
class Writes:
    """Positions of the parameters whose memory a function may write, by itself or in what it calls.

    Of tables that is the memory that their cells refer to; what is done to the cells is told by `cells`.
    returned: pairs of a result and a parameter, both arrays, that may share memory; None where that is not known.
    """

    written: frozenset[int] = frozenset()
    cells: CellWrites = NO_CELLS
    returned: frozenset[tuple[int, int]] | None = None


NO_WRITES = Writes()


class Aliases:
    """Aliases and writes of one function.

    `written[callee]` tells the parameters a callee writes, `links` the pairs of records that refer to one another.
    `unsettled`: values whose memory may be written after the function has returned; `tracked`: arrays whose identity
    the caller follows; `called`: a caller may pass the same array as several parameters; `rewritten`: cells that may be
    written after the function has returned.
    """

    def __init__(
        self, function: Function, written: Mapping[str, Writes], links: Iterable[tuple[str, str]] = (), *,
        unsettled: Iterable[Value] = (), tracked: Iterable[Value] = (), called: bool = True,
        rewritten: Iterable[Cell] = (),
    ) -> None:  # fmt: skip
        links = list(links)
        self._holding = {name for name, _ in links}
        self.cells = Cells(function, {name: found.cells for name, found in written.items()})
        self._later = set(rewritten)
        self._parent: dict[Key, Key] = {}
        self._written = written
        self.body = function.body
        self._place: dict[Op, tuple[Block, int]] = {}
        self._holder: dict[Block, Op] = {}
        self._home: dict[Value, Block] = {}
        self._maker: dict[Value, Op] = {}
        self._base: dict[Value, Value] = {}
        self._targets: list[tuple[Op, Value]] = []
        self._flows: list[tuple[Value, Value]] = []
        self._made: list[Value] = []
        self._overlaps: dict[Value, set[Value]] = {}
        self._loose: set[Value] = set()
        for name, inner in links:
            self._join(name, inner)
        self._made += [v for v in function.body.params if self.refers(v)]
        self._block(function.body)
        self._origins = _propagate(self._seeds(), [(self._node(s), self._node(t)) for s, t in self._flows])
        self.writes: dict[Key, list[Op]] = {}
        self._writes_to: dict[Value, list[tuple[Op, Value]]] = {}
        for op, target in self._targets:
            self.writes.setdefault(self.find(target), []).append(op)
            for origin in self.origins(target):
                self._writes_to.setdefault(origin, []).append((op, target))
        self._called = called
        self.overlap(overlapping_pairs(self, function.body.params))
        for value in unsettled:
            self._loose |= self.origins(value)
        self._followed = {key for key in entangled(self, function.body) if key in self.writes}
        self._followed |= {self.find(value) for value in tracked}

    # -------------------------------------------------------------------------------------------------- questions

    def find(self, value: Key) -> Key:
        """The representative of the value's class."""
        found: Key = value
        if isinstance(value, Value) and isinstance(value.type, Box | Table):
            found = value = value.type.name
        while (above := self._parent.get(found)) is not None:
            found = above
        while value is not found and value in self._parent:
            self._parent[value], value = found, self._parent[value]
        return found

    def refers(self, value: Value) -> bool:
        """Is it a reference, or a table whose cells are."""
        return is_reference(value.type) or (isinstance(value.type, Table) and value.type.name in self._holding)

    def keeps(self, value: Value) -> bool:
        """A record, a buffer of references, or a table of them."""
        return _keeps(value) or (isinstance(value.type, Table) and value.type.name in self._holding)

    def base(self, value: Value) -> Value:
        """What the value is a view of."""
        while (below := self._base.get(value)) is not None:
            value = below
        return value

    def home(self, value: Value) -> Block | None:
        """The block that defines the value."""
        return self._home.get(value)

    def maker(self, value: Value) -> Op | None:
        """The op that defines the value."""
        return self._maker.get(value)

    def place(self, op: Op) -> tuple[Block, int] | None:
        """Where the op stands."""
        return self._place.get(op)

    def holder(self, block: Block) -> Op | None:
        """The op that the block belongs to."""
        return self._holder.get(block)

    def origins(self, value: Value) -> set[Value]:
        """The allocations, parameters and results of calls whose memory the value may mean."""
        return self._origins.get(self._node(value)) or {value}

    def written(self, value: Value) -> bool:
        """May anything in the function write the memory of the value."""
        return any(origin in self._writes_to for origin in self.origins(value))

    def returned(self) -> frozenset[tuple[int, int]]:
        """Results and parameters of the function, both arrays, that may share memory."""
        return frozenset(
            (place, i) for place, result in enumerate(self.body.results) if isinstance(result.type, ArrayRef)
            for i, param in enumerate(self.body.params) if _arrays(param, result) and param in self.origins(result)
        )  # fmt: skip

    def class_written(self, value: Key) -> bool:
        """May anything in the function write memory of the value's class."""
        return self.find(value) in self.writes

    def inside(self, block: Block | None, op: Op) -> bool:
        """Is the block one of the op's, or in one of them."""
        while block is not None:
            holder = self._holder.get(block)
            if holder is op:
                return True
            block = self._place[holder][0] if holder in self._place else None
        return False

    def written_inside(self, value: Value, op: Op) -> bool:
        """May an op in the blocks of this one write the memory of the value."""
        writes = [write for origin in self.origins(value) for write, _ in self.writes_near(origin)]
        return any(self.inside(self._place[write][0], op) for write in writes)

    def apart(self, one: Value, other: Value) -> bool:
        """Is the memory of the two certainly different."""
        near: set[Value] = set()
        for origin in self.origins(one):
            near |= self._near(origin)
        return near.isdisjoint(self.origins(other))

    def settled(self, value: Value, at: Op | None = None, *, after: bool = False) -> bool:
        """Nothing writes the value's memory at the op `at` or later (anywhere, without `at`).

        `after`: a write by the op itself does not count.
        """
        return all(
            origin not in self._loose and (at is not None or not self._writes_to.get(origin))
            and (at is None or self._settled(origin, value, at, after))
            for first in self.origins(value) for origin in self._near(first)
        )  # fmt: skip

    def settled_cell(self, read: Op) -> bool:
        """Does nothing write what a `table_get` reads when it is done or later."""
        cell = self.cells.cell(read)
        if isinstance(cell[0], str) or cell in self._later:
            return False
        return all(self.earlier(write, read) for write in self.cells.writes.get(cell, ()))

    def lasting(self, op: Op) -> set[Cell]:
        """The cells that are rewritten after the op, or may be; what the op itself does counts where it is repeated."""
        once = all(around.name == "if" for _, _, around in self._around(op)[:-1])
        found = {
            cell for cell, writes in self.cells.writes.items()
            if not all(self.earlier(w, op) or (w is op and once) for w in writes)
        }  # fmt: skip
        return found | self._later

    def earlier(self, write: Op, op: Op) -> bool:
        """Is every run of the one op done before any run of the other, or are they in different branches."""
        above, below = self._around(write), self._around(op)
        for (block, first, around), (other, second, _) in zip(above, below, strict=False):
            if block is not other:
                return True  # the branches of one `if`
            if first != second or around.name != "if":
                return first < second
        return False

    def _around(self, op: Op) -> list[tuple[Block, int, Op]]:
        """Where the op stands in its block, and those around it in theirs, outermost first."""
        found: list[tuple[Block, int, Op]] = []
        holder: Op | None = op
        while holder is not None and holder in self._place:
            block, index = self._place[holder]
            found.append((block, index, holder))
            holder = self._holder.get(block)
        return found[::-1]

    def identity(self, value: Value) -> bool:
        """Is it an array whose memory is overwritten and may be known by several names at once."""
        return isinstance(value.type, ArrayRef) and self.followed(value)

    def followed(self, value: Value) -> bool:
        """Is it of a class of such arrays, and of the records and buffers that may hold them."""
        return self.refers(value) and self.find(value) in self._followed

    def follows(self) -> bool:
        """Is there an array whose identity has to be followed."""
        return bool(self._followed)

    def shares(self, value: Value) -> bool:
        """May the value mean memory of two parameters at once."""
        return self._called and any(self._overlaps.get(origin) for origin in self.origins(value))

    def overlap(self, pairs: Iterable[tuple[Value, Value]]) -> None:
        """These parameters may share memory."""
        for one, other in pairs:
            self._overlaps.setdefault(one, set()).add(other)
            self._overlaps.setdefault(other, set()).add(one)

    def separate(self, pairs: Iterable[tuple[Value, Value]]) -> None:
        """These parameters are different memory, as a check found."""
        for one, other in pairs:
            self._overlaps.get(one, set()).discard(other)
            self._overlaps.get(other, set()).discard(one)

    # ------------------------------------------------------------------------------------------------------- order

    def writes_near(self, origin: Value) -> list[tuple[Op, Value]]:
        """The writes, with their targets, to memory of the origin or of a parameter that it may overlap."""
        return [write for near in self._near(origin) for write in self._writes_to.get(near, ())]

    def loose(self, origin: Value) -> bool:
        """May the origin's memory be written after the function has returned."""
        return not self._loose.isdisjoint(self._near(origin))

    def _near(self, origin: Value) -> set[Value]:
        return {origin} | self._overlaps.get(origin, set())

    def _settled(self, origin: Value, value: Value, at: Op, after: bool) -> bool:
        return all(self.before(op, target, origin, value, at, after) for op, target in self._writes_to.get(origin, ()))

    def before(self, write: Op, target: Value, origin: Value, value: Value, at: Op, after: bool = False) -> bool:
        """Is every such write to the memory that `value` means at the op `at` done by then."""
        home, base = self._home.get(origin), self.base(value)
        if home is None or at not in self._place:
            return False
        if self.base(target) is not origin:
            if home is not self.body:
                return False  # through a merged reference: perhaps memory of an earlier trip
        elif self._older(base, home):
            return True
        if write is at:
            return after and self._place[at][0] is home
        reading, writing = self.index(at, home), self.index(write, home)
        if reading is None:
            return True  # outside of the block that allocates: its trip is over
        return writing is not None and writing < reading

    def _older(self, base: Value, home: Block) -> bool:
        """Is the value carried by a loop whose body allocates in `home`: memory of an earlier trip."""
        block: Block | None = home
        while block is not None:
            holder = self._holder.get(block)
            if holder is not None and holder.name in _LOOPS and base in block.params:
                return True
            block = self._place[holder][0] if holder is not None else None
        return False

    def index(self, op: Op, block: Block) -> int | None:
        """The position in `block` of the op that holds `op`."""
        while op in self._place:
            inside, index = self._place[op]
            if inside is block:
                return index
            holder = self._holder.get(inside)
            if holder is None:
                return None
            op = holder
        return None

    # ---------------------------------------------------------------------------------------------------- the walk

    def _node(self, value: Value) -> Node:
        return value if isinstance(value.type, ArrayRef) else ("kept", self.find(value))

    def _seeds(self) -> dict[Node, set[Value]]:
        seeds: dict[Node, set[Value]] = {}
        for value in self._made:
            seeds.setdefault(self._node(value), set()).add(value)
        return seeds

    def _join(self, *values: Key) -> None:
        first, *rest = values
        for value in rest:
            one, other = self.find(first), self.find(value)
            if one != other:
                self._parent[other] = one

    def _flow(self, sources: Iterable[Value], target: Value) -> None:
        self._flows += [(source, target) for source in sources if self.refers(source)]

    def _block(self, block: Block) -> None:
        for value in block.params:
            self._home[value] = block
        for index, op in enumerate(block.ops):
            self._place[op] = (block, index)
            for value in op.results:
                self._home[value], self._maker[value] = block, op
            for inner in op.blocks:
                self._holder[inner] = op
                self._block(inner)
            self._op(op)

    def _op(self, op: Op) -> None:
        name = op.name
        if name in VIEWS:
            self._base[op.result] = op.operands[0]
            self._join(op.operands[0], op.result)
            self._flow(op.operands[:1], op.result)
        elif name == "elementwise":
            self._targets += [(op, target) for target in elementwise_targets(op)]
            self._made += [v for v in op.results if is_reference(v.type)]
        elif op.blocks:
            self._merges(op)
        elif name in _WRITERS:
            self._targets.append((op, op.operands[0]))
        elif name in _STORING:
            self._stored(op)
        elif name in CALLS:
            self._call(op)
        else:
            self._made += [v for v in op.results if self.refers(v)]

    def _merges(self, op: Op) -> None:
        for group in carried(op):
            if is_reference(group[0].type):
                self._join(*group)
                sources = [v for v in group if op.name == "if" or v in op.operands or v in op.blocks[-1].results]
                for target in group:
                    if target is group[0] or any(target in block.params for block in op.blocks):
                        self._flow(sources, target)

    def _stored(self, op: Op) -> None:
        references = [v for v in (*op.operands, *op.results) if self.refers(v)]
        if op.name in _TABLE_OPS and len(references) < 2:
            return  # of numbers
        if len(references) > 1:
            self._join(*references)
        for one in references:
            self._flow((v for v in references if (v is not one and one in op.results) or self.keeps(one)), one)
        if op.name == "slot_get" or (op.name == "table_get" and _is_shadow(op.operands[0].type)):
            # What a shadow refers to may be written wherever the shadow is known.
            self._targets += [(op, v) for v in op.results if is_reference(v.type)]

    def _call(self, op: Op) -> None:
        if op.name != "pullback":  # that one has a record for operands, and leaves what it finds there as it is
            for index in sorted(self._written.get(str(op.attrs["callee"]), NO_WRITES).written):
                self._targets.append((op, op.operands[index]))
        self._made += [v for v in op.results if self.refers(v)]
        known = self._written.get(str(op.attrs["callee"]), NO_WRITES).returned if op.name == "call" else None
        for place, result in enumerate(op.results):
            if is_reference(result.type):
                near = [v for i, v in enumerate(op.operands)
                        if known is None or (place, i) in known or not _arrays(v, result)]  # fmt: skip
                self._connect([v for v in near if self._connected(v, result)], result)
        for one in op.operands:
            if isinstance(one.type, Buffer) and _keeps(one):  # the callee may put its arrays there
                self._connect([v for v in op.operands if isinstance(v.type, ArrayRef)], one)
            elif isinstance(one.type, Table) and self.keeps(one):
                self._connect([v for v in op.operands if v is not one and self.refers(v)], one)

    def _connected(self, operand: Value, result: Value) -> bool:
        """May what a call returns be, or hold, the memory of an operand."""
        if isinstance(operand.type, Table):
            return self.keeps(operand)
        if isinstance(operand.type, ArrayRef) and isinstance(result.type, ArrayRef):
            return operand.type.dtype == result.type.dtype
        if isinstance(operand.type, ArrayRef):
            return self.keeps(result)
        if isinstance(result.type, ArrayRef):
            return self.keeps(operand)
        return operand.type == result.type and not isinstance(operand.type, Box) and is_reference(operand.type)

    def _connect(self, sources: Sequence[Value], target: Value) -> None:
        if sources:
            self._join(target, *sources)
            self._flow(sources, target)


def _arrays(one: Value, other: Value) -> bool:
    return isinstance(one.type, ArrayRef) and isinstance(other.type, ArrayRef)


def _keeps(value: Value) -> bool:
    """A record, or a buffer of references."""
    return isinstance(value.type, Box) or (isinstance(value.type, Buffer) and not _numbers(value.type))


def _numbers(buffer: Buffer) -> bool:
    return not is_reference(buffer.element)


def _is_shadow(type_: Machine | None) -> bool:
    return isinstance(type_, Table) and type_.name.endswith("'")


def _propagate(found: dict[Node, set[Value]], flows: Iterable[tuple[Node, Node]]) -> dict[Node, set[Value]]:
    """Origins along all flows, to the fixpoint."""
    targets: dict[Node, list[Node]] = {}
    for source, target in flows:
        targets.setdefault(source, []).append(target)
    pending = list(found)
    while pending:
        node = pending.pop()
        for target in targets.get(node, ()):
            known = found.setdefault(target, set())
            before = len(known)
            known |= found[node]
            if len(known) > before:
                pending.append(target)
    return found


def overlapping_pairs(aliases: Aliases, params: Sequence[Value]) -> Iterator[tuple[Value, Value]]:
    """Parameters that may be views of the same memory where one of them is written."""
    for place, one in enumerate(params):
        for other in params[place + 1 :]:
            arrays = isinstance(one.type, ArrayRef) and isinstance(other.type, ArrayRef)
            same = arrays and one.type.dtype == other.type.dtype  # type: ignore[union-attr]
            kept = (aliases.keeps(one) and aliases.refers(other)) or (aliases.keeps(other) and aliases.refers(one))
            if (same or kept) and (aliases.written(one) or aliases.written(other)):
                yield one, other


def record_links(program: Program) -> list[tuple[str, str]]:
    """Pairs of names of records and tables: the first has a slot that refers to the second.

    What holds arrays is linked with itself.
    """
    links: dict[tuple[str, str], None] = {}
    for name, variants in program.layouts.items():
        for slot in (slot for variant in variants for slot in variant):
            while isinstance(slot, Buffer):
                slot = slot.element
            if isinstance(slot, Box | Table):
                links[name, slot.name] = None
            elif isinstance(slot, ArrayRef):
                links[name, name] = None
    return list(links)


def written_parameters(program: Program) -> dict[str, Writes]:
    """What each function may write."""
    cells = cell_writes(program)
    written = {name: Writes(cells=cells.get(name, NO_CELLS), returned=frozenset()) for name in program.functions}
    links = record_links(program)
    callers = _callers(program)
    pending = dict.fromkeys(program.functions)  # callees come last, and are taken first
    while pending:
        name, _ = pending.popitem()
        function = program.functions[name]
        aliases = Aliases(function, written, links)
        params = enumerate(function.body.params)
        places = frozenset(i for i, v in params if aliases.refers(v) and aliases.written(v))
        found = Writes(places, written[name].cells, aliases.returned())
        if found != written[name]:
            written[name] = found
            pending.update(callers.get(name, {}))
    return written


def _callers(program: Program) -> dict[str, dict[str, None]]:
    """For each function those that call it."""
    found: dict[str, dict[str, None]] = {}
    for name, function in program.functions.items():
        for op in function.body.walk():
            if "callee" in op.attrs:
                found.setdefault(str(op.attrs["callee"]), {})[name] = None
    return found

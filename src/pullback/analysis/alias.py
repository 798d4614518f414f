"""Which memory is written, and is it still unchanged when it is read again later.

    s = array_zeros n
    for n: array_inc s, k, v       the last write of s
    y = elementwise s              `settled(s, at=this op)`: nothing writes s from here on
    z = array_get a, i             settled: nothing in the function writes a

Views and merged references form classes.  A class without writes is settled everywhere.  A class that is one definition
and its views is settled where all its writes lie before, in the block that defines it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from pullback.analysis.effects import VIEWS, carried, elementwise_targets, is_reference
from pullback.ir.node import Block, Function, Op, Program, Value
from pullback.types import ArrayRef, Box, Buffer

__all__ = ["Aliases", "record_links", "written_parameters"]

_INCREMENTS = frozenset({"array_inc", "matmul_inc", "buffer_inc"})
Key = Value | str


class Aliases:
    """Alias classes and writes of one function.

    `written[callee]` are the parameters a callee writes, `links` the pairs of records that refer to one another.
    """

    def __init__(
        self, function: Function, written: Mapping[str, frozenset[int]], links: Iterable[tuple[str, str]] = ()
    ) -> None:
        self._parent: dict[Key, Key] = {}
        self._merged: set[Key] = set()
        self._written = written
        self._place: dict[Op, tuple[Block, int]] = {}
        self._holder: dict[Block, Op] = {}
        self._home: dict[Value, Block] = {}
        self._base: dict[Value, Value] = {}
        self._targets: list[tuple[Op, Value]] = []
        for name, inner in links:
            self._join(name, inner)
        self._block(function.body)
        self.writes: dict[Key, list[Op]] = {}
        for op, target in self._targets:
            self.writes.setdefault(self.find(target), []).append(op)
        self._merged = {self.find(key) for key in self._merged}

    def find(self, value: Key) -> Key:
        """The representative of the value's class."""
        found: Key = value
        if isinstance(value, Value) and isinstance(value.type, Box):
            found = value = value.type.name
        while (above := self._parent.get(found)) is not None:
            found = above
        while value is not found and value in self._parent:
            self._parent[value], value = found, self._parent[value]
        return found

    def base(self, value: Value) -> Value:
        """What the value is a view of."""
        while (below := self._base.get(value)) is not None:
            value = below
        return value

    def written(self, value: Value) -> bool:
        """May anything in the function write the memory of the value."""
        return self.find(value) in self.writes

    def settled(self, value: Value, at: Op | None = None) -> bool:
        """Nothing writes the value's memory after `at` (anywhere, without `at`)."""
        writes = self.writes.get(self.find(value))
        if not writes:
            return True
        base = self.base(value)
        home = self._home.get(base)
        if at is None or home is None or self.find(value) in self._merged:
            return False
        reading = self._index(at, home)
        return reading is not None and all((self._index(op, home) or reading) < reading for op in writes)

    def _index(self, op: Op, block: Block) -> int | None:
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

    def _join(self, *values: Key) -> None:
        first, *rest = values
        for value in rest:
            one, other = self.find(first), self.find(value)
            if one != other:
                self._parent[other] = one

    def _merge(self, *values: Key) -> None:
        self._join(*values)
        self._merged.add(values[0])

    def _block(self, block: Block) -> None:
        for value in block.params:
            self._home[value] = block
        for index, op in enumerate(block.ops):
            self._place[op] = (block, index)
            for value in op.results:
                self._home[value] = block
            for inner in op.blocks:
                self._holder[inner] = op
                self._block(inner)
            self._op(op)

    def _op(self, op: Op) -> None:
        name = op.name
        if name in VIEWS:
            self._base[op.result] = op.operands[0]
            self._join(op.operands[0], op.result)
        elif name == "elementwise":
            self._targets += [(op, target) for target in elementwise_targets(op)]
        elif op.blocks:
            for group in carried(op):
                if is_reference(group[0].type):
                    self._merge(*group)
        elif name in _INCREMENTS:
            self._targets.append((op, op.operands[0]))
        elif name in ("box", "unbox", "slot_get", "buffer_get", "buffer_put", "select"):
            self._stored(op)
        elif name == "call":
            self._call(op)

    def _stored(self, op: Op) -> None:
        references = [v for v in (*op.operands, *op.results) if is_reference(v.type)]
        if len(references) > 1:
            self._merge(*references)
        if op.name == "slot_get":  # what a shadow refers to may be written wherever the shadow is known
            self._targets += [(op, v) for v in op.results if is_reference(v.type)]

    def _call(self, op: Op) -> None:
        for index in self._written.get(str(op.attrs["callee"]), ()):
            self._targets.append((op, op.operands[index]))
        for result in op.results:
            if isinstance(result.type, ArrayRef):
                same = [v for v in op.operands if isinstance(v.type, ArrayRef) and v.type.dtype == result.type.dtype]
                self._merge(result, *same)
            elif is_reference(result.type):
                self._merge(result)


def record_links(program: Program) -> list[tuple[str, str]]:
    """Pairs of record names: the first has a slot that refers to the second."""
    links: dict[tuple[str, str], None] = {}
    for name, variants in program.layouts.items():
        for slot in (slot for variant in variants for slot in variant):
            while isinstance(slot, Buffer):
                slot = slot.element
            if isinstance(slot, Box):
                links[name, slot.name] = None
    return list(links)


def written_parameters(program: Program) -> dict[str, frozenset[int]]:
    """Per function, the array and buffer parameters whose memory it may write, by itself or in what it calls."""
    written: dict[str, frozenset[int]] = {name: frozenset() for name in program.functions}
    links = record_links(program)
    changed = True
    while changed:
        changed = False
        for name, function in program.functions.items():
            aliases = Aliases(function, written, links)
            params = enumerate(function.body.params)
            found = frozenset(i for i, v in params if is_reference(v.type) and aliases.written(v))
            if found != written[name]:
                written[name], changed = found, True
    return written

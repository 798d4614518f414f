"""Who owns the arrays and buffers of a function: tokens, the last use of each, and the places where they leave a block.

    body (k, v):                              token of v: an owner that comes along with it, ends at its last use
      w = elementwise{new} n, v {...}         token of w: this allocation; it leaves through the end of the block
      x = view_index w, i                     the same token
      yield w

`Survey` walks a function once and changes nothing; `ownership` writes down what it finds.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from pullback.analysis.cells import column_of
from pullback.analysis.effects import ALLOCATIONS, VIEWS, carried, is_reference
from pullback.ir.node import Block, Function, Op, Program, Value
from pullback.passes.owned_cells import owner_column
from pullback.prims.data import OWNER
from pullback.types import ArrayRef, Box, Buffer, Machine, Table

__all__ = ["Carrier", "Exit", "Survey", "Token"]

# Operand positions that may hold a reference without keeping it; None: all.
_BORROWING: dict[str, frozenset[int] | None] = {
    "array_size": None, "array_get": None, "array_inc": None, "array_swap": None, "array_same": None,
    "array_overlap": None, "array_contiguous": None, "array_fits": None, "array_beside": None, "elementwise": None,
    "matmul": None,
    "lapack": None, "matmul_inc": None, "let_go": None, "buffer_get": None, "buffer_inc": None,
    "buffer_put": frozenset({0}),
}  # fmt: skip

_SHELVED = ("buffer_put", "buffer_get", "free")


def _shelf_type(type_: Machine | None) -> Buffer | None:
    """The type of the buffer of owners beside a buffer of arrays, or of such buffers."""
    if not isinstance(type_, Buffer):
        return None
    if isinstance(type_.element, ArrayRef):
        return Buffer(OWNER)
    inner = _shelf_type(type_.element)
    return Buffer(inner) if inner is not None else None


def _shelves(function: Function) -> dict[Value, Value]:
    """The buffers of owners beside those buffers of arrays that are only put, fetched and freed, in one another too."""
    parent: dict[Value, Value] = {}

    def find(value: Value) -> Value:
        while value in parent:
            value = parent[value]
        return value

    def join(a: Value, b: Value) -> None:
        if (first := find(a)) is not (second := find(b)):
            parent[second] = first

    known: list[Value] = []
    escaped = [v for v in function.body.results if isinstance(v.type, Buffer)]
    for op in function.body.walk():
        known += [v for v in op.results if op.name in ("buffer", "buffer_get") and _shelf_type(v.type) is not None]
        if op.name in _SHELVED:
            for value in (*op.operands[1:], *op.results):
                if isinstance(value.type, Buffer):
                    join(op.operands[0], value)
        else:
            escaped += [v for v in op.operands if isinstance(v.type, Buffer)]
        for block in op.blocks:
            escaped += [v for v in (*block.params, *block.results) if isinstance(v.type, Buffer)]
    outside = {find(v) for v in escaped}
    return {v: Value(_shelf_type(v.type)) for v in known if find(v) not in outside}


def _owning(function: Function, program: Program, shelves: dict[Value, Value]) -> set[Value]:
    """Arrays whose memory may come from an allocation of this function or from a call, through views and merges.

    Buffers that may have a shelf are among them if one of their kind holds such an array.
    """
    found: set[Value] = set(lent_to(function, program))
    before = -1
    while len(found) > before:
        before = len(found)
        for op in function.body.walk():
            if op.name in VIEWS:
                if op.operands[0] in found:
                    found.add(op.result)
            elif op.name in _SHELVED:
                if op.operands[0] in shelves and not found.isdisjoint((*op.operands, *op.results)):
                    found.update((op.operands[0], *op.results, *(v for v in op.operands[1:] if v in shelves)))
            elif op.name == "table_get" and owner_cell(op, program) is not None:
                found.add(op.result)
            elif op.name in ALLOCATIONS or _returns_owners(op, program):
                found.update(v for v in op.results if isinstance(v.type, ArrayRef))
            elif op.blocks:
                for group in carried(op):
                    if isinstance(group[0].type, ArrayRef) and not found.isdisjoint(group):
                        found.add(group[0])
                        found.update(v for block in op.blocks for v in block.params if v in group)
    return found


def owner_cell(op: Op, program: Program) -> int | None:
    """For an access to a table: the column of the owner of the array that it reads or writes."""
    table = op.operands[0].type
    assert isinstance(table, Table)
    return owner_column(program.layouts[table.name][0], column_of(op))


def _returns_owners(op: Op, program: Program) -> bool:
    callee = op.attrs.get("callee")
    known = op.name == "call" and callee != program.entry and callee in program.functions
    return known and any(isinstance(v.type, ArrayRef) for v in op.results)


def lent_to(function: Function, program: Program) -> list[Value]:
    """The parameters whose owners a function gets as well: all its arrays, if it returns arrays and so owners."""
    body = function.body
    if function.name == program.entry or not any(isinstance(v.type, ArrayRef) for v in body.results):
        return []
    return [v for v in body.params if isinstance(v.type, ArrayRef)]


@dataclass(slots=True, eq=False)
class Token:
    """One owner, and what happens to it in its block: `value` is an allocation, or (`counted`) an owner.

    made: the position of what makes it; last: of the last op that uses the memory; nested: of the last one with a use
    inside it.  escaped: never freed.  moved: handed on.  handle: the owner, made where an allocation needs one.
    fetch: the buffer_get that found it, unless it is new.  handed: it has left through an exit.  borrowed: a caller's.
    """

    block: Block
    value: Value
    made: int
    last: int
    counted: bool = False
    nested: int = -1
    escaped: bool = False
    moved: bool = False
    handle: Value | None = None
    fetch: Op | None = None
    handed: bool = False
    borrowed: bool = False

    def owner(self) -> Value:
        if self.handle is None:
            self.handle = self.value if self.counted else Value(OWNER)
        return self.handle


@dataclass(slots=True)
class Exit:
    """A place where arrays leave: the initial values of a loop at `position` of a block, or (None) its end."""

    block: Block
    position: int | None
    tokens: list[Token | None]


@dataclass(slots=True)
class Carrier:
    """A structured op, or a call, that hands owners on: the new results, parameters and what they are filled from.

    lent: the owners that a call gets, and leaves where they are.
    """

    op: Op
    results: list[Value]
    params: dict[Block, list[Value]] = field(default_factory=dict)
    exits: list[Exit] = field(default_factory=list)
    lent: Exit | None = None


class Survey:
    """Who owns what, where it is used last, where it leaves."""

    def __init__(self, function: Function, program: Program) -> None:
        shelves = _shelves(function)
        self.program = program
        self.owning = _owning(function, program, shelves)
        self.shelves = {v: shelf for v, shelf in shelves.items() if v in self.owning}
        self.tokens: dict[Block, list[Token]] = {}
        self.owner: dict[Value, Token] = {}
        self.carriers: list[Carrier] = []
        self.puts: list[tuple[Op, Exit]] = []
        self.frees: list[tuple[Block, int, Op]] = []  # of buffers that have a shelf
        self.moves: list[tuple[Block, int, Op]] = []  # of such buffers, in and out of another one
        self.sets: list[tuple[Op, Exit]] = []  # of arrays in tables that own them
        self.taken: list[tuple[Block, int, Op, Op]] = []  # frees of what was found in a buffer, and what found it
        self.position: dict[Block, int] = {}
        self.current: list[Block] = []
        self.borrowed = [Value(OWNER) for _ in lent_to(function, program)]
        for value, owner in zip(lent_to(function, program), self.borrowed, strict=True):
            self.token(value, function.body, owner, -1, counted=True).borrowed = True
        self.block(function.body)
        self.returned: list[Token | None] = []
        entry = function.name == program.entry
        for value in function.body.results:
            if entry or not isinstance(value.type, ArrayRef):
                self.keep(value)
        if not entry:
            arrays = [v for v in function.body.results if isinstance(v.type, ArrayRef)]
            self.returned = self.leave(function.body, arrays)

    def token(self, value: Value, block: Block, source: Value, position: int, *, counted: bool) -> Token:
        token = Token(block, source, position, position, counted)
        self.owner[value] = token
        self.tokens.setdefault(block, []).append(token)
        return token

    def use(self, value: Value) -> Token | None:
        token = self.owner.get(value)
        if token is not None:
            position = self.position[token.block]
            token.last = position
            if self.current[-1] is not token.block:
                token.nested = position
        return token

    def keep(self, value: Value) -> None:
        """Something that outlives the function may refer to the memory from now on."""
        token = self.owner.get(value)
        if token is not None:
            token.escaped = True

    def leave(self, block: Block, values: list[Value]) -> list[Token | None]:
        """The owners of values that a block yields at its end."""
        self.current.append(block)
        self.position[block] = len(block.ops)
        found = [self.use(v) for v in values]
        self.current.pop()
        return found

    def block(self, block: Block) -> None:
        self.current.append(block)
        self.position[block] = -1
        for position, op in enumerate(block.ops):
            self.position[block] = position
            self.op(block, op, position)
        self.current.pop()

    def op(self, block: Block, op: Op, position: int) -> None:
        for value in op.operands:
            self.use(value)
        if op.name in VIEWS:
            if (token := self.owner.get(op.operands[0])) is not None:
                self.owner[op.result] = token
        elif op.blocks and op.name != "elementwise":
            self.structured(block, op, position)
        else:
            self.plain(block, op, position)

    def plain(self, block: Block, op: Op, position: int) -> None:
        borrowing = None if self.keeps_nothing(op) else _BORROWING.get(op.name, frozenset())
        if op.name in ("free", "let_go"):
            token = self.owner.get(op.operands[0])
            fetch = token.fetch if token is not None and token.block is block else None
            if fetch is not None and fetch.name == "buffer_get":
                self.taken.append((block, position, op, fetch))
                return
        if op.operands and op.operands[0] in self.shelves:
            self.shelved(block, op, position)
            borrowing = None if op.name == "buffer_put" and op.operands[2] not in self.shelves else borrowing
        if op.name in ("table_get", "table_set") and owner_cell(op, self.program) is not None:
            borrowing = None
            if op.name == "table_set":
                self.sets.append((op, Exit(block, position, [self.owner.get(op.operands[2])])))
            else:
                self.token(op.result, block, Value(OWNER), position, counted=True).fetch = op
        if borrowing is not None:
            for i, value in enumerate(op.operands):
                if i not in borrowing:
                    self.keep(value)
        if op.name in ALLOCATIONS:
            for value in op.results:
                if is_reference(value.type):
                    self.token(value, block, value, position, counted=False)
        elif _returns_owners(op, self.program):
            given = [self.owner.get(v) for v in op.operands if isinstance(v.type, ArrayRef)]
            arrays = [v for v in op.results if isinstance(v.type, ArrayRef)]
            carrier = Carrier(op, [Value(OWNER) for _ in arrays], lent=Exit(block, position, given))
            self.carriers.append(carrier)
            for value, owner in zip(arrays, carrier.results, strict=True):
                self.token(value, block, owner, position, counted=True)

    def shelved(self, block: Block, op: Op, position: int) -> None:
        """Something done to a buffer that has a buffer of owners beside it."""
        if op.name == "free":
            self.frees.append((block, position, op))
        elif op.name == "buffer_put" and op.operands[2] not in self.shelves:
            self.puts.append((op, Exit(block, position, [self.owner.get(op.operands[2])])))
        elif op.name == "buffer_put" or op.result in self.shelves:
            self.moves.append((block, position, op))
        elif op.name == "buffer_get":
            self.token(op.result, block, Value(OWNER), position, counted=True).fetch = op

    def structured(self, block: Block, op: Op, position: int) -> None:
        """Owners for the results that may own, kept in step through parameters and what the blocks yield."""
        fixed = 1 if op.name == "for" else 0
        places = [i for i, v in enumerate(op.results) if v in self.owning]
        carrier = Carrier(op, [Value(OWNER) for _ in places])
        if op.name != "if":
            inits = [op.operands[fixed + i] for i in places]
            carrier.exits.append(Exit(block, position, [self.owner.get(v) for v in inits]))
        for inner in op.blocks:
            condition = op.name == "while" and inner is op.blocks[0]
            if op.name != "if":
                carrier.params[inner] = [Value(OWNER) for _ in places]
                if not condition:  # which only looks at what the body owns
                    for i, owner in zip(places, carrier.params[inner], strict=True):
                        self.token(inner.params[fixed + i], inner, owner, -1, counted=True)
            self.block(inner)
            if condition:
                continue
            others = [v for i, v in enumerate(inner.results) if i not in places]
            carrier.exits.append(Exit(inner, None, self.leave(inner, [inner.results[i] for i in places])))
            for value in others:
                self.keep(value)
        if places:
            self.carriers.append(carrier)
            for i, owner in zip(places, carrier.results, strict=True):
                self.token(op.results[i], block, owner, position, counted=True)

    def keeps_nothing(self, op: Op) -> bool:
        """A call that gets and returns no record, buffer or table can keep its arguments only in results it owns."""
        if op.name != "call" or any(isinstance(v.type, Box | Buffer | Table) for v in (*op.operands, *op.results)):
            return False
        return _returns_owners(op, self.program) or not any(is_reference(v.type) for v in op.results)

"""Gives memory back as soon as it is not used any more: a `free` after the last use, in the block that owns it.

    t = elementwise{new} n, a {...}            t = elementwise{new} n, a {...}
    s = elementwise{sum} n, t {...}     ->     s = elementwise{sum} n, t {...}
    r = mul s, s                               free t
                                               r = mul s, s

An array that leaves its block through a loop or a branch takes its owner along:

    u = for n, a:                              u, o = for n, a, null:
      body (k, v):                               body (k, v, q):
        w = elementwise{new} n, v {...}            w = elementwise{new} n, v {...}
        yield w                         ->         free q
                                                   p = array_owner w
                                                   yield w, p

Owners are counted: a block that yields what another one owns, or the same twice, adds one with `array_retain`.  Null
owns nothing: memory of the caller, or memory that lives to the end of the outermost call because it was stored in a
record, or given to a call that might keep it.  Functions but the entry return owners after their results.  A buffer of
arrays that is only put, read and freed here has a second one beside it, of the owners of what is put.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from pullback.analysis.effects import ALLOCATIONS, VIEWS, carried, is_reference
from pullback.diagnostic import UNKNOWN
from pullback.ir.node import Block, Function, Op, Program, Value
from pullback.prims import get
from pullback.prims.data import OWNER
from pullback.types import ArrayRef, Box, Buffer

__all__ = ["run"]

# Operand positions that may hold a reference without keeping it; None: all.
_BORROWING: dict[str, frozenset[int] | None] = {
    "array_size": None, "array_get": None, "array_inc": None, "array_swap": None, "array_same": None,
    "array_overlap": None, "elementwise": None, "matmul": None, "matmul_inc": None, "buffer_get": None,
    "buffer_inc": None, "buffer_put": frozenset({0}),
}  # fmt: skip

_SHELVED = ("buffer_put", "buffer_get", "free")


def run(function: Function, program: Program) -> None:
    """Insert `free` for everything that does not escape, and owners where arrays leave their block."""
    local = _local_buffers(function)
    owning = _owning(function, program, local)
    survey = _Survey(function, program, owning, {v: Value(Buffer(OWNER)) for v in local if v in owning})
    _Writer(survey).function(function, function.name == program.entry)


def _local_buffers(function: Function) -> list[Value]:
    """Buffers of arrays that are only put, read and freed."""
    escaped: set[Value] = set(function.body.results)
    made: list[Value] = []
    for op in function.body.walk():
        if op.name == "buffer" and isinstance(op.attrs["element"], ArrayRef):
            made.append(op.result)
        escaped.update(op.operands[op.name in _SHELVED :])
        for block in op.blocks:
            escaped.update(block.results)
    return [v for v in made if v not in escaped]


def _owning(function: Function, program: Program, local: list[Value]) -> set[Value]:
    """Arrays whose memory may come from an allocation of this function or from a call, through views and merges.

    A local buffer is among them if something put into it is.
    """
    found: set[Value] = set()
    before, buffers = -1, set(local)
    while len(found) > before:
        before = len(found)
        for op in function.body.walk():
            if op.name in VIEWS:
                if op.operands[0] in found:
                    found.add(op.result)
            elif op.name == "buffer_put" and op.operands[0] in buffers:
                if op.operands[2] in found:
                    found.add(op.operands[0])
            elif op.name == "buffer_get":
                if op.operands[0] in found:
                    found.add(op.result)
            elif op.name in ALLOCATIONS or _returns_owners(op, program):
                found.update(v for v in op.results if isinstance(v.type, ArrayRef))
            elif op.blocks:
                for group in carried(op):
                    if isinstance(group[0].type, ArrayRef) and not found.isdisjoint(group):
                        found.add(group[0])
                        found.update(v for block in op.blocks for v in block.params if v in group)
    return found


def _returns_owners(op: Op, program: Program) -> bool:
    callee = op.attrs.get("callee")
    return op.name == "call" and callee != program.entry and callee in program.functions


@dataclass(slots=True, eq=False)
class _Token:
    """One owner, and what happens to it in its block: `value` is an allocation, or (`counted`) an owner.

    made: the position of what makes it; last: of the last op that uses the memory; nested: of the last one with a use
    inside it.  escaped: never freed.  moved: handed on.  handle: the owner, made where an allocation needs one.
    fetch: the buffer_get that found it, unless it is new.  handed: it has left through an exit.
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

    def owner(self) -> Value:
        if self.handle is None:
            self.handle = self.value if self.counted else Value(OWNER)
        return self.handle


@dataclass(slots=True)
class _Exit:
    """A place where arrays leave: the initial values of a loop at `position` of a block, or (None) its end."""

    block: Block
    position: int | None
    tokens: list[_Token | None]


@dataclass(slots=True)
class _Carrier:
    """A structured op, or a call, that hands owners on: the new results, parameters and what they are filled from."""

    op: Op
    results: list[Value]
    params: dict[Block, list[Value]] = field(default_factory=dict)
    exits: list[_Exit] = field(default_factory=list)


class _Survey:
    """Who owns what, where it is used last, where it leaves."""

    def __init__(
        self, function: Function, program: Program, owning: set[Value], shelves: dict[Value, Value]
    ) -> None:  # fmt: skip
        self.program = program
        self.owning = owning
        self.shelves = shelves  # for buffers of arrays: those of their owners
        self.tokens: dict[Block, list[_Token]] = {}
        self.owner: dict[Value, _Token] = {}
        self.carriers: list[_Carrier] = []
        self.puts: list[tuple[Op, _Exit]] = []
        self.frees: list[tuple[Block, int, Op]] = []  # of buffers that have a shelf
        self.position: dict[Block, int] = {}
        self.current: list[Block] = []
        self.block(function.body)
        self.returned: list[_Token | None] = []
        if function.name == program.entry:
            for value in function.body.results:
                self.keep(value)
        else:
            arrays = [v for v in function.body.results if isinstance(v.type, ArrayRef)]
            self.returned = self.leave(function.body, arrays)

    def token(self, value: Value, block: Block, source: Value, position: int, *, counted: bool) -> _Token:
        token = _Token(block, source, position, position, counted)
        self.owner[value] = token
        self.tokens.setdefault(block, []).append(token)
        return token

    def use(self, value: Value) -> _Token | None:
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

    def leave(self, block: Block, values: list[Value]) -> list[_Token | None]:
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
        borrowing = None if _keeps_nothing(op) else _BORROWING.get(op.name, frozenset())
        if op.operands and op.operands[0] in self.shelves:
            self.shelved(block, op, position)
            borrowing = None if op.name == "buffer_put" else borrowing
        if borrowing is not None:
            for i, value in enumerate(op.operands):
                if i not in borrowing:
                    self.keep(value)
        if op.name in ALLOCATIONS:
            for value in op.results:
                if is_reference(value.type):
                    self.token(value, block, value, position, counted=False)
        elif _returns_owners(op, self.program):
            arrays = [v for v in op.results if isinstance(v.type, ArrayRef)]
            if arrays:
                carrier = _Carrier(op, [Value(OWNER) for _ in arrays])
                self.carriers.append(carrier)
                for value, owner in zip(arrays, carrier.results, strict=True):
                    self.token(value, block, owner, position, counted=True)

    def shelved(self, block: Block, op: Op, position: int) -> None:
        """Something done to a buffer that has a buffer of owners beside it."""
        if op.name == "free":
            self.frees.append((block, position, op))
        elif op.name == "buffer_put":
            self.puts.append((op, _Exit(block, position, [self.owner.get(op.operands[2])])))
        elif op.name == "buffer_get":
            self.token(op.result, block, Value(OWNER), position, counted=True).fetch = op

    def structured(self, block: Block, op: Op, position: int) -> None:
        """Owners for the results that may own, kept in step through parameters and what the blocks yield."""
        fixed = 1 if op.name == "for" else 0
        places = [i for i, v in enumerate(op.results) if v in self.owning]
        carrier = _Carrier(op, [Value(OWNER) for _ in places])
        if op.name != "if":
            inits = [op.operands[fixed + i] for i in places]
            carrier.exits.append(_Exit(block, position, [self.owner.get(v) for v in inits]))
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
            carrier.exits.append(_Exit(inner, None, self.leave(inner, [inner.results[i] for i in places])))
            for value in others:
                self.keep(value)
        if places:
            self.carriers.append(carrier)
            for i, owner in zip(places, carrier.results, strict=True):
                self.token(op.results[i], block, owner, position, counted=True)


def _keeps_nothing(op: Op) -> bool:
    """A call that returns no reference and gets no record or buffer has nowhere to keep its arguments."""
    if op.name != "call" or any(is_reference(v.type) for v in op.results):
        return False
    return not any(isinstance(v.type, Box | Buffer) for v in op.operands)


class _Writer:
    """Puts owners and frees into the program."""

    def __init__(self, survey: _Survey) -> None:
        self.survey = survey
        self.before: dict[Block, dict[int, list[Op]]] = {}  # ops to go before the op at a position
        self.ending: dict[Block, list[Op]] = {}

    def function(self, function: Function, entry: bool) -> None:
        survey = self.survey
        for carrier in survey.carriers:
            self.carrier(carrier)
        for put, place in survey.puts:
            (owner,) = self.hand(place)
            operands = [survey.shelves[put.operands[0]], put.operands[1], owner]
            self.after(place.block, place.position, Op(get("buffer_put"), operands, span=put.span))
        for block, position, free in survey.frees:
            self.after(block, position, Op(get("free"), [survey.shelves[free.operands[0]]], span=free.span))
        if not entry:
            function.body.results += self.hand(_Exit(function.body, None, survey.returned))
        for token in self.tokens():
            self.settle(token)
        self.insert(function.body)

    def tokens(self) -> Iterator[_Token]:
        for tokens in self.survey.tokens.values():
            yield from tokens

    def carrier(self, carrier: _Carrier) -> None:
        op = carrier.op
        op.results += carrier.results
        for block, params in carrier.params.items():
            block.params += params
        for place in carrier.exits:
            owners = self.hand(place)
            if place.position is None:
                place.block.results += owners
            else:
                op.operands += owners

    def hand(self, place: _Exit) -> list[Value]:
        """The owners that go along: moved where this is the end of them here, else one more."""
        owners: list[Value] = []
        for token in place.tokens:
            if token is None:
                null = Op(get("box_null"), (), [Value(OWNER)], {"name": OWNER.name})
                self.add(place, null)
                owners.append(null.result)
                continue
            owners.append(token.owner())
            token.handed = True
            if self.ends(token, place):
                token.moved = True
            else:
                self.add(place, Op(get("array_retain"), [token.owner()]))
        return owners

    def ends(self, token: _Token, place: _Exit) -> bool:
        if token.block is not place.block or token.escaped or token.moved:
            return False
        return place.position is None or (token.last == place.position and token.nested != place.position)

    def add(self, place: _Exit, op: Op) -> None:
        if place.position is None:
            self.ending.setdefault(place.block, []).append(op)
        else:
            op.span = place.block.ops[place.position].span
            self.before.setdefault(place.block, {}).setdefault(place.position, []).append(op)

    def after(self, block: Block, position: int | None, op: Op) -> None:
        assert position is not None
        self.before.setdefault(block, {}).setdefault(position + 1, []).append(op)

    def settle(self, token: _Token) -> None:
        """Make the owner of an allocation where one is wanted; free what ends here."""
        block, made = token.block, token.made
        if token.fetch is not None:
            if not token.handed and not token.escaped and self.outlived(token, token.fetch.operands[0]):
                return
            self.fetch(token, token.fetch)
        if token.handle is not None and not token.counted:
            owner = Op(get("array_owner"), [token.value], [token.handle], span=block.ops[made].span)
            self.before.setdefault(block, {}).setdefault(made + 1, []).insert(0, owner)
        span = block.ops[token.last].span if 0 <= token.last < len(block.ops) else UNKNOWN
        ending = [token.handle or token.value]
        shelf = self.survey.shelves.get(token.value)
        if shelf is not None:
            buffer, attrs = block.ops[made], {"element": OWNER}
            self.after(block, made, Op(get("buffer"), buffer.operands, [shelf], attrs, (), buffer.span))
            ending.append(shelf)
        if not token.moved and not token.escaped:
            for value in ending:
                self.after(block, token.last, Op(get("free"), [value], span=span))

    def fetch(self, token: _Token, op: Op) -> None:
        """Own what was found in a buffer as well as the buffer does."""
        shelf = self.survey.shelves[op.operands[0]]
        found = Op(get("buffer_get"), [shelf, op.operands[1]], [token.value], span=op.span)
        retain = Op(get("array_retain"), [token.value], span=op.span)
        self.before.setdefault(token.block, {}).setdefault(token.made + 1, [])[0:0] = [found, retain]

    def outlived(self, token: _Token, buffer: Value) -> bool:
        """Is the buffer that the memory was found in freed after its last use here."""
        kept = self.survey.owner[buffer]
        if not kept.escaped and kept.block is token.block and kept.last < token.last:
            return False
        inside = {id(b) for op in token.block.ops for inner in op.blocks for b in _nested(inner)}
        for block, position, free in self.survey.frees:
            if free.operands[0] is buffer:
                if id(block) in inside or (block is token.block and position <= token.last):
                    return False
        return True

    def insert(self, block: Block) -> None:
        places = self.before.get(block, {})
        ops: list[Op] = []
        for position, op in enumerate(block.ops):
            ops += places.get(position, ())
            ops.append(op)
            for inner in op.blocks:
                self.insert(inner)
        ops += places.get(len(block.ops), ())
        block.ops = [*ops, *self.ending.get(block, ())]


def _nested(block: Block) -> Iterator[Block]:
    yield block
    for op in block.ops:
        for inner in op.blocks:
            yield from _nested(inner)

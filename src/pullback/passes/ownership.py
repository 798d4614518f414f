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
record, or given to a call that might keep it.  Functions but the entry return owners after their results.
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


def run(function: Function, program: Program) -> None:
    """Insert `free` for everything that does not escape, and owners where arrays leave their block."""
    owning = _owning(function, program)
    survey = _Survey(function, program, owning)
    _Writer(survey).function(function, function.name == program.entry)


def _owning(function: Function, program: Program) -> set[Value]:
    """Arrays whose memory may come from an allocation of this function or from a call, through views and merges."""
    found: set[Value] = set()
    before = -1
    while len(found) > before:
        before = len(found)
        for op in function.body.walk():
            if op.name in VIEWS:
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

    last: the position of the last op that uses the memory; nested: of the last one with a use inside it.
    escaped: never freed.  moved: handed on.  handle: the owner, made where an allocation needs one.
    """

    block: Block
    value: Value
    last: int
    counted: bool = False
    nested: int = -1
    escaped: bool = False
    moved: bool = False
    handle: Value | None = None

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

    def __init__(self, function: Function, program: Program, owning: set[Value]) -> None:
        self.program = program
        self.owning = owning
        self.tokens: dict[Block, list[_Token]] = {}
        self.owner: dict[Value, _Token] = {}
        self.carriers: list[_Carrier] = []
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

    def token(self, value: Value, block: Block, source: Value, position: int, *, counted: bool) -> None:
        token = _Token(block, source, position, counted)
        self.owner[value] = token
        self.tokens.setdefault(block, []).append(token)

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

    def settle(self, token: _Token) -> None:
        """Make the owner of an allocation where one is wanted; free what ends here."""
        block = token.block
        if token.handle is not None and not token.counted:
            made = next(i for i, op in enumerate(block.ops) if token.value in op.results)
            op = Op(get("array_owner"), [token.value], [token.handle], span=block.ops[made].span)
            self.before.setdefault(block, {}).setdefault(made + 1, []).insert(0, op)
        if token.moved or token.escaped:
            return
        span = block.ops[token.last].span if token.last >= 0 else UNKNOWN
        free = Op(get("free"), [token.handle or token.value], span=span)
        self.before.setdefault(block, {}).setdefault(token.last + 1, []).append(free)

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

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
record, or given to a call that might keep it.  Functions but the entry return owners after their results; those that
do get the owners of their arrays after their parameters, as what they return may be one of these.  A buffer of arrays
that is only put, read and freed here has a second one beside it, of the owners of what is put.  Tables own the arrays
that they hold where `owned_cells` has made room for that; a table is freed at the end of the block that makes it.
"""

from __future__ import annotations

from collections.abc import Iterator

from pullback.diagnostic import UNKNOWN
from pullback.ir.node import Block, Function, Op, Program, Value
from pullback.passes.owners import Carrier, Exit, Survey, Token, owner_cell
from pullback.prims import get
from pullback.prims.data import OWNER
from pullback.types import Buffer, Table

__all__ = ["run"]


def run(function: Function, program: Program) -> None:
    """Insert `free` for everything that does not escape, and owners where arrays leave their block."""
    _Writer(Survey(function, program)).function(function, function.name == program.entry)
    kept = {v for op in function.body.walk() if not _passes(op) for v in op.operands if isinstance(v.type, Table)}
    _free_tables(function.body, kept, last=function.name == program.entry)


def _passes(op: Op) -> bool:
    return op.name.startswith("table_") or op.name in ("call", "free")


def _free_tables(block: Block, kept: set[Value], *, last: bool = False) -> None:
    """Tables end with the block that makes them; `last`: with the outermost call."""
    freed = {op.operands[0] for op in block.ops if op.name == "free"}
    for op in list(block.ops):
        for inner in op.blocks:
            _free_tables(inner, kept)
        if op.name in ("table", "table_copy") and not last and op.result not in freed and op.result not in kept:
            block.ops.append(Op(get("free"), [op.result], span=op.span))


class _Writer:
    """Puts owners and frees into the program."""

    def __init__(self, survey: Survey) -> None:
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
        for op, place in survey.sets:
            self.replace(op, place)
        for block, position, op in (*survey.frees, *survey.moves):
            operands = [survey.shelves.get(v, v) for v in op.operands]
            self.after(block, position, Op(op.prim, operands, [survey.shelves[v] for v in op.results], span=op.span))
        function.body.params += survey.borrowed
        if not entry:
            function.body.results += self.hand(Exit(function.body, None, survey.returned))
        for token in self.tokens():
            self.settle(token)
        for taken in survey.taken:
            self.take(*taken)
        self.insert(function.body)

    def take(self, block: Block, position: int, free: Op, fetch: Op) -> None:
        """What was found in a buffer is freed: the buffer does not own it any more."""
        shelf, index = self.survey.shelves[fetch.operands[0]], fetch.operands[1]
        owner, null = Value(OWNER), Value(OWNER)
        ops = [
            Op(get("buffer_get"), [shelf, index], [owner], span=free.span),
            Op(get("free"), [owner], span=free.span),
            Op(get("box_null"), (), [null], {"name": OWNER.name}, span=free.span),
        ]
        self.before.setdefault(block, {}).setdefault(position, []).extend(ops)
        free.prim, free.operands = get("buffer_put"), [shelf, index, null]

    def replace(self, op: Op, place: Exit) -> None:
        """Hand the owner of an array to the cell that holds it; the one of what was there before is free."""
        (owner,) = self.hand(place)
        attrs = {"column": owner_cell(op, self.survey.program)}
        old = Value(OWNER)
        swap = Op(get("table_swap"), [*op.operands[:2], owner], [old], attrs, span=op.span)
        for new in (swap, Op(get("free"), [old], span=op.span)):
            self.after(place.block, place.position, new)

    def tokens(self) -> Iterator[Token]:
        for tokens in self.survey.tokens.values():
            yield from tokens

    def carrier(self, carrier: Carrier) -> None:
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
        if carrier.lent is not None:
            op.operands += self.lend(carrier.lent)

    def lend(self, place: Exit) -> list[Value]:
        """The owners of what a call looks at; it leaves their counts as they are, or adds to them."""
        owners: list[Value] = []
        for token in place.tokens:
            if token is not None:
                token.handed = True
            owners.append(self.null(place) if token is None else token.owner())
        return owners

    def null(self, place: Exit) -> Value:
        null = Op(get("box_null"), (), [Value(OWNER)], {"name": OWNER.name})
        self.add(place, null)
        return null.result

    def hand(self, place: Exit) -> list[Value]:
        """The owners that go along: moved where this is the end of them here, else one more."""
        owners: list[Value] = []
        for token in place.tokens:
            if token is None:
                owners.append(self.null(place))
                continue
            owners.append(token.owner())
            token.handed = True
            if self.ends(token, place):
                token.moved = True
            else:
                self.add(place, Op(get("array_retain"), [token.owner()]))
        return owners

    def ends(self, token: Token, place: Exit) -> bool:
        if token.block is not place.block or token.escaped or token.moved or token.borrowed:
            return False
        return place.position is None or (token.last == place.position and token.nested != place.position)

    def add(self, place: Exit, op: Op) -> None:
        if place.position is None:
            self.ending.setdefault(place.block, []).append(op)
        else:
            op.span = place.block.ops[place.position].span
            self.before.setdefault(place.block, {}).setdefault(place.position, []).append(op)

    def after(self, block: Block, position: int | None, op: Op) -> None:
        assert position is not None
        self.before.setdefault(block, {}).setdefault(position + 1, []).append(op)

    def settle(self, token: Token) -> None:
        """Make the owner of an allocation where one is wanted; free what ends here."""
        block, made = token.block, token.made
        if token.borrowed:
            if token.escaped:  # then it lives to the end of the outermost call
                self.after(block, -1, Op(get("array_retain"), [token.value], span=UNKNOWN))
            return
        if token.fetch is not None:
            if not token.handed and not token.escaped and self.outlived(token, token.fetch):
                return
            self.fetch(token, token.fetch)
        if token.handle is not None and not token.counted:
            owner = Op(get("array_owner"), [token.value], [token.handle], span=block.ops[made].span)
            self.before.setdefault(block, {}).setdefault(made + 1, []).insert(0, owner)
        span = block.ops[token.last].span if 0 <= token.last < len(block.ops) else UNKNOWN
        ending = [token.handle or token.value]
        shelf = self.survey.shelves.get(token.value)
        if shelf is not None:
            assert isinstance(shelf.type, Buffer)
            buffer, attrs = block.ops[made], {"element": shelf.type.element}
            self.after(block, made, Op(get("buffer"), buffer.operands, [shelf], attrs, (), buffer.span))
            ending.append(shelf)
        if not token.moved and not token.escaped:
            for value in ending:
                self.after(block, token.last, Op(get("free"), [value], span=span))

    def fetch(self, token: Token, op: Op) -> None:
        """Own what was found in a buffer or table as well as that does."""
        if op.name == "table_get":
            attrs = {"column": owner_cell(op, self.survey.program), "type": OWNER}
            found = Op(op.prim, op.operands, [token.value], attrs, span=op.span)
        else:
            shelf = self.survey.shelves[op.operands[0]]
            found = Op(get("buffer_get"), [shelf, op.operands[1]], [token.value], span=op.span)
        retain = Op(get("array_retain"), [token.value], span=op.span)
        self.before.setdefault(token.block, {}).setdefault(token.made + 1, [])[0:0] = [found, retain]

    def outlived(self, token: Token, fetch: Op) -> bool:
        """Is it sure that what the memory was found in keeps it until after its last use here."""
        if fetch.name == "table_get":
            between = token.block.ops[token.made + 1 : token.last + 1]
            return not any(_may_replace(op, fetch.operands[0]) for op in between)
        buffer = fetch.operands[0]
        kept = self.survey.owner.get(buffer)
        if kept is None or any(buffer in op.operands for _, _, op in self.survey.moves):
            return False  # it is known by several names
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


def _may_replace(op: Op, table: Value) -> bool:
    """Does the op, or one inside it, write a table of this type."""
    if op.name in ("table_set", "table_swap", "call") and any(v.type == table.type for v in op.operands):
        return True
    return any(_may_replace(inner, table) for block in op.blocks for inner in block.ops)


def _nested(block: Block) -> Iterator[Block]:
    yield block
    for op in block.ops:
        for inner in op.blocks:
            yield from _nested(inner)

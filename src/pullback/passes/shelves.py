"""Arrays that a loop makes in every trip become rows of one that is made before it.

    b = buffer n                            t = array_empty n, m
    for n:                                  for n:
      r = elementwise{new} m ...              r = view_index t, k;  elementwise{set} m, ..., r
      buffer_put b, k, r            ->
    for n:                                  for n:
      r = buffer_get b, j                     r = view_index t, j

What the reverse half keeps of every trip then lies side by side, without an allocation, an owner and a header for each.
What does not outlive its trip takes the same memory in every trip.  What one trip leaves to the next has a row per trip
if it is kept, else there are two that take turns:

    for n, a: (k, y) ... x = elementwise{new} m, y ...; yield x

Sizes must be known before the loop, and nobody else may know the array.  Only loops that run at most once for each trip
of the loop around them are left, and memory is made only where there is a trip.  It belongs behind all passes that look
for fresh arrays, and before `ownership`.
"""

from __future__ import annotations

from collections.abc import Sequence

from pullback.analysis.effects import VIEWS, elementwise_targets
from pullback.analysis.overlap import Origins, Overlap
from pullback.ir.node import Block, Function, Op, Program, Value
from pullback.ir.walk import clone_ops, defined, substitute
from pullback.passes.filled import MAKERS, copied, fill, sizes_made
from pullback.prims.base import Emitter, get
from pullback.types import ArrayRef, Buffer, Scalar

__all__ = ["run"]

_READERS = frozenset({
    "array_get", "array_inc", "array_swap", "array_size", "elementwise", "matmul", "matmul_inc", "array_overlap",
    "array_same", "array_contiguous", "array_fits", "array_beside",
})  # fmt: skip
_WRITERS = frozenset({"array_inc", "array_swap", "matmul_inc"})
_APART = ("parallel", "threads")  # trips of these may run at the same time


def run(function: Function, program: Program) -> None:
    """Move allocations out of the loops of the function, inner loops first."""
    body = function.body
    if any(op.name == "buffer_put" for op in body.walk()):
        _Shelves(function, program).drop_fixed()
    if any(op.name in MAKERS for loop in body.walk() if loop.name == "for" for op in loop.blocks[0].ops):
        _Shelves(function, program).block(body, [])


class _Shelves:
    def __init__(self, function: Function, program: Program) -> None:
        self.function = function
        self.overlap = Overlap(function, program)
        self.home: dict[Op, Block] = {}
        self.users: dict[Value, list[Op]] = {}  # of arrays, and of buffers
        self.yields: dict[Value, list[Block]] = {}
        self._holder: dict[Block, Op] = {}
        self._inside: dict[Op, set[Value]] = {}
        self._index(function.body)

    def _index(self, block: Block) -> None:
        for op in block.ops:
            self.home[op] = block
            for value in dict.fromkeys(op.operands):
                if isinstance(value.type, ArrayRef | Buffer):
                    self.users.setdefault(value, []).append(op)
            for inner in op.blocks:
                self._holder[inner] = op
                self._index(inner)
        for value in block.results:
            self.yields.setdefault(value, []).append(block)

    def inside(self, loop: Op) -> set[Value]:
        """What is defined in a loop."""
        if loop not in self._inside:
            self._inside[loop] = defined(loop.blocks[0], nested=True)
        return self._inside[loop]

    def drop_fixed(self) -> None:
        """A number that turned out to be the same in all trips is not kept for each."""
        for buffer, uses in self.users.items():
            puts = [op for op in uses if op.name == "buffer_put"]
            if not isinstance(buffer.type, Buffer) or not isinstance(buffer.type.element, Scalar) or len(puts) != 1:
                continue
            shelf, value = self.shelf(puts), puts[0].operands[2]
            if shelf is None or value in self.inside(shelf[1]):
                continue
            substitute(self.function.body, {op.result: value for op in uses if op.name == "buffer_get"})
            for op in (*uses, self.overlap.maker[buffer]):
                self.home[op].ops.remove(op)

    def block(self, block: Block, around: list[Op]) -> None:
        """`around`: the loops whose bodies hold this block directly, outermost first."""
        for op in list(block.ops):
            if op.name == "for" and not any(op.attrs.get(name) for name in _APART):
                self.block(op.blocks[0], [*around, op])
                self.loop(op, block, around)
            elif op.name in ("for", "while", "if"):
                for inner in op.blocks:
                    self.block(inner, [])

    def loop(self, loop: Op, block: Block, around: Sequence[Op]) -> None:
        for place in reversed(range(len(loop.results))):
            if isinstance(loop.results[place].type, ArrayRef):
                _Carried(self, loop, block, place).move()
        for op in list(loop.blocks[0].ops):
            if op.name in MAKERS:
                for result in list(op.results):
                    if isinstance(result.type, ArrayRef) and result.type.contiguous:
                        _Made(self, loop, block, around, op, result).move()

    # ------------------------------------------------------------------------------------------------------ questions

    def known_to(self, value: Value, body: Block) -> tuple[list[Op], set[Value]] | None:
        """The puts of the array, and the values that are views of it; None if others may keep it.

        What the body yields is not looked at.
        """
        views, puts = {value}, list[Op]()
        pending = [value]
        while pending:
            view = pending.pop()
            if any(block is not body for block in self.yields.get(view, ())):
                return None
            for op in self.users.get(view, ()):
                if op.name in VIEWS:
                    views.update(op.results)
                    pending += op.results
                elif op.name == "buffer_put":
                    puts.append(op)
                elif op.name not in _READERS:
                    return None
        return puts, views

    def row(self, e: Emitter, table: Value, index: Value) -> Value:
        return e("view_index", table, index, axis=0)

    def sizes(self, array: Value, sizes: Sequence[Value]) -> dict[Value, Value]:
        """What stands for the sizes that are asked of an array."""
        asked = [op for op in self.users.get(array, ()) if op.name == "array_size"]
        return {op.result: sizes[int(str(op.attrs["axis"]))] for op in asked}

    def before(self, loop: Op, ops: Sequence[Op]) -> None:
        """Put ops in front of a loop."""
        block = self.home[loop]
        at = block.ops.index(loop)
        block.ops[at:at] = ops
        self.enter(ops, block)

    def enter(self, ops: Sequence[Op], block: Block) -> None:
        """Note where new ops stand, and that what they define is inside of the loops around them."""
        for op in ops:
            self.home[op] = block
            self.overlap.maker.update((r, op) for r in op.results)
        holder = self._holder.get(block)
        while holder is not None:
            if holder in self._inside:
                self._inside[holder].update(r for op in ops for r in op.results)
            holder = self._holder.get(self.home[holder])

    def shelf(self, puts: Sequence[Op]) -> tuple[Value, Op] | None:
        """Rows and outermost loop of the buffers that are filled by these puts; None if one is used otherwise."""
        outermost: Op | None = None
        rows: Value | None = None
        for put in puts:
            buffer = put.operands[0]
            made = self.overlap.maker.get(buffer)
            if made is None or made.name != "buffer" or made not in self.home:
                return None
            holder = self.holder(put, self.home[made])
            uses = self.users.get(buffer, [])
            gets = [op for op in uses if op.name == "buffer_get"]
            if holder is None or len(gets) + 1 + sum(op.name == "free" for op in uses) != len(uses):
                return None
            if any(_holds(holder, op) for op in gets) or outermost not in (None, holder):
                return None
            if rows not in (None, made.operands[0]):
                return None
            outermost, rows = holder, made.operands[0]
        return None if outermost is None or rows is None else (rows, outermost)

    def holder(self, op: Op, block: Block) -> Op | None:
        """The counted loop of this block that holds the op, with no other kind of op in between."""
        for outer in block.ops:
            if outer.name == "for" and _holds(outer, op):
                loops, inside = [outer], outer.blocks[0]
                while self.home[op] is not inside:
                    following = [inner for inner in inside.ops if _holds(inner, op)]
                    if not following or following[0].name != "for":
                        return None
                    loops.append(following[0])
                    inside = following[0].blocks[0]
                return None if any(o.attrs.get(name) for o in loops for name in _APART) else outer
        return None


class _Made:
    """An array that a trip makes and leaves to nobody but the reverse half."""

    def __init__(
        self, shelves: _Shelves, loop: Op, block: Block, around: Sequence[Op], op: Op, result: Value
    ) -> None:  # fmt: skip
        self.shelves, self.loop, self.block, self.around = shelves, loop, block, around
        self.op, self.result = op, result

    def move(self) -> None:
        body, shelves = self.loop.blocks[0], self.shelves
        found = shelves.known_to(self.result, body)
        if found is None or not found[1].isdisjoint(body.results):
            return
        puts = found[0]
        e = Emitter(Block(), self.op.span)
        sizes = sizes_made(self.op, shelves.overlap.maker, e)
        if sizes is None:
            return
        if not puts:
            self.hoist(e, sizes)
            return
        shelf = shelves.shelf(puts)
        index = puts[0].operands[1]
        if shelf is None or any(put.operands[1] is not index for put in puts) or not self.is_early(index):
            return
        rows, outermost = shelf
        inside = shelves.inside(outermost)
        if self.outside(e, sizes, inside) and all(_can_follow(shelves, put, self.result, inside) for put in puts):
            rows = e("maximum", rows, e.integer(0))  # of range(3, n) there may be fewer than no trips
            table = e("array_empty", rows, *sizes, dtype=_dtype(self.result))
            shelves.before(outermost, e.block.ops)
            for put in puts:
                _follow(shelves, put, self.result, table, sizes, offset=0)
            self.fill(table, index, sizes)

    def is_early(self, index: Value) -> bool:
        """Is the index known where the array is made."""
        body = self.loop.blocks[0]
        if index in body.params:
            return True
        return any(index in op.results for op in body.ops[: body.ops.index(self.op)])

    def outside(self, e: Emitter, sizes: Sequence[Value], inside: set[Value]) -> bool:
        """Are the sizes known outside."""
        used = {v for op in e.block.ops for v in op.operands} - {r for op in e.block.ops for r in op.results}
        return used.isdisjoint(inside) and inside.isdisjoint(sizes)

    def hoist(self, e: Emitter, sizes: Sequence[Value]) -> None:
        """One array for all trips, made in front of the outermost loop that knows its sizes."""
        target: Op | None = None
        counts: list[Value] = []
        for loop in (self.loop, *reversed(self.around)):
            inside = self.shelves.inside(loop)
            if any(loop.attrs.get(name) for name in _APART) or not self.outside(e, sizes, inside):
                break
            if any(count in inside for count in counts):
                break
            target, counts = loop, [*counts, loop.operands[0]]
        if target is None:
            return
        some = e("gt", counts[0], e.integer(0))
        for count in counts[1 : 1 + self.depth(target)]:
            some = e("and_", some, e("gt", count, e.integer(0)))
        first = e("select", some, sizes[0], e.integer(0)) if sizes else None
        array = e("array_empty", *([first] if first is not None else []), *sizes[1:], dtype=_dtype(self.result))
        self.shelves.before(target, e.block.ops)
        self.put_in_place([], array, sizes)

    def depth(self, target: Op) -> int:
        """How many loops lie between."""
        loops = [self.loop, *reversed(self.around)]
        return loops.index(target)

    def fill(self, table: Value, index: Value, sizes: Sequence[Value]) -> None:
        e = Emitter(Block(), self.op.span)
        row = self.shelves.row(e, table, index)
        self.put_in_place(e.block.ops, row, sizes)

    def put_in_place(self, ops: list[Op], row: Value, sizes: Sequence[Value]) -> None:
        _replace(self.shelves, self.loop.blocks[0], self.op, self.result, ops, row, sizes)


def _replace(
    shelves: _Shelves, body: Block, op: Op, result: Value, ops: Sequence[Op], row: Value, sizes: Sequence[Value]
) -> None:  # fmt: skip
    """Let the op fill the row, which `ops` make."""
    at = body.ops.index(op)
    made = [*ops, *fill(op, result, row, sizes)]
    body.ops[at : at + 1] = made
    shelves.enter(made, body)
    substitute(body, {result: row})


class _Carried:
    """An array that every trip makes anew from the one before."""

    def __init__(self, shelves: _Shelves, loop: Op, block: Block, place: int) -> None:
        self.shelves, self.loop, self.block, self.place = shelves, loop, block, place
        self.body = loop.blocks[0]
        self.old, self.new = self.body.params[place + 1], self.body.results[place]
        self.start = loop.operands[place + 1]

    def move(self) -> None:
        shelves, body = self.shelves, self.body
        op = shelves.overlap.maker.get(self.new)
        if op is None or op.name not in MAKERS or shelves.home.get(op) is not body or self.old.type != self.new.type:
            return
        if not isinstance(self.new.type, ArrayRef) or not self.new.type.contiguous or self.start.type != self.new.type:
            return
        old, new = shelves.known_to(self.old, body), shelves.known_to(self.new, body)
        if old is None or new is None or not old[1].isdisjoint(body.results):
            return
        if [v for v in body.results if v in new[1]] != [self.new] or not (self.is_private() or self.only_reads(old[1])):
            return
        e = Emitter(Block(), self.loop.span)
        sizes = sizes_made(op, shelves.overlap.maker, e)
        inside = shelves.inside(self.loop)
        if sizes is None or e.block.ops or not inside.isdisjoint(sizes) or not self.same_sizes(sizes):
            return
        self.into_rows(op, e, sizes, old[0], new[0], inside)

    def is_private(self) -> bool:
        """Is the first array made for this loop alone."""
        made = self.shelves.overlap.maker.get(self.start)
        alone = self.shelves.users.get(self.start) == [self.loop] and self.start not in self.shelves.yields
        return made is not None and made.name in MAKERS and alone

    def only_reads(self, views: set[Value]) -> bool:
        """Does no trip write to the array it is given, or to what the first one is given by another name."""
        targets = [target for op in self.body.walk() for target in _targets(op)]
        return not any(target in views or self.shelves.overlap.meet(target, self.start) for target in targets)

    def is_settled(self, puts: Sequence[Op]) -> bool:
        """Is nothing written from the loop on to the first array or the last, which the rows only hold copies of.

        They are other names of what is fetched later.
        """
        users, yields, loop = self.shelves.users, self.shelves.yields, self.loop
        result = loop.results[self.place]
        if self.is_private() and result not in users and result not in yields:
            return True
        function = self.shelves.function
        origins = Origins(function)
        rows = origins.of(self.start) | {self.new}
        passed = {inner for op in self.block.ops[: self.block.ops.index(loop) + 1] for inner in _with_inner(op)}
        targets = {t for op in function.body.walk() if op not in passed for t in _targets(op)}
        written = {origin for target in targets for origin in origins.of(target)}
        return not any(self.shelves.overlap.meet(a, b) for a in written for b in rows)

    def same_sizes(self, sizes: Sequence[Value]) -> bool:
        """Has the first array the sizes of the others."""
        maker = self.shelves.overlap.maker
        made = maker.get(self.start)
        if made is not None and made.name in MAKERS - {"matmul"}:
            known = sizes_made(made, maker, Emitter(Block()))
            if known is not None and all(x is y for x, y in zip(known, sizes, strict=True)):
                return True
        return all(
            (op := maker.get(size)) is not None and op.name == "array_size" and op.operands[0] is self.start
            and op.attrs["axis"] == axis for axis, size in enumerate(sizes)
        )  # fmt: skip

    def into_rows(
        self, op: Op, e: Emitter, sizes: Sequence[Value], old: list[Op], new: list[Op], inside: set[Value]
    ) -> None:  # fmt: skip
        shelves, body, loop = self.shelves, self.body, self.loop
        counter, puts = body.params[0], [*old, *new]
        one, zero = e.integer(1), e.integer(0)
        trips = e("maximum", loop.operands[0], zero)
        if puts:
            shelf = shelves.shelf(puts)
            if shelf is None or shelf[1] is not loop or any(put.operands[1] is not counter for put in puts):
                return
            if not all(_can_follow(shelves, put, self.old, inside) for put in old):
                return
            if not all(_can_follow(shelves, put, self.new, inside) for put in new):
                return
            if not self.is_settled(puts):
                return
        table = e("array_empty", e("add", trips, one) if puts else e.integer(2), *sizes, dtype=_dtype(self.new))
        copied(e, self.start, sizes, shelves.row(e, table, zero))
        shelves.before(loop, e.block.ops)
        for put in old:
            _follow(shelves, put, self.old, table, sizes, offset=0)
        for put in new:
            _follow(shelves, put, self.new, table, sizes, offset=1)
        self.rows_of_trips(op, table, sizes, kept=bool(puts))
        self.finish(table, trips, sizes, kept=bool(puts))

    def rows_of_trips(self, op: Op, table: Value, sizes: Sequence[Value], *, kept: bool) -> None:
        """The row that a trip is given, and the one that it fills."""
        body, shelves = self.body, self.shelves
        e = Emitter(Block(), op.span)
        counter, one = body.params[0], e.integer(1)
        mine = counter if kept else _parity(e, counter)
        given = shelves.row(e, table, mine)
        following = e("add", counter, one) if kept else e("sub", one, mine)
        target = shelves.row(e, table, following)
        shelves.enter(e.block.ops, body)
        _replace(shelves, body, op, self.new, [], target, sizes)
        substitute(body, {self.old: given, **shelves.sizes(self.old, sizes)})
        body.ops[:0] = e.block.ops

    def finish(self, table: Value, trips: Value, sizes: Sequence[Value], *, kept: bool) -> None:
        """The loop carries the array no longer; its result is a copy, or what the loop started from."""
        loop, place = self.loop, self.place
        result = loop.results[place]
        loop.operands = [v for i, v in enumerate(loop.operands) if i != place + 1]
        loop.results = [v for i, v in enumerate(loop.results) if i != place]
        self.body.params = [v for i, v in enumerate(self.body.params) if i != place + 1]
        self.body.results = [v for i, v in enumerate(self.body.results) if i != place]
        if result not in self.shelves.users and result not in self.shelves.yields:
            return
        e = Emitter(Block(), loop.span)
        some = e("gt", trips, e.integer(0))
        then = Emitter(Block(), loop.span)
        last = self.shelves.row(then, table, trips if kept else _parity(then, trips))
        then.block.results = [copied(then, last, sizes)]
        choice = Op(get("if"), [some], [result], {}, [then.block, Block((), [], [self.start])], loop.span)
        at = self.block.ops.index(loop) + 1
        self.block.ops[at:at] = [*e.block.ops, choice]
        self.shelves.enter([*e.block.ops, choice], self.block)
        self.shelves.yields.setdefault(self.start, []).append(choice.blocks[1])


def _holds(outer: Op, op: Op) -> bool:
    return any(inner is op for block in outer.blocks for inner in block.walk())


def _with_inner(op: Op) -> list[Op]:
    return [op, *(inner for block in op.blocks for inner in block.walk())]


def _targets(op: Op) -> list[Value]:
    """The arrays that an op writes."""
    if op.name == "elementwise":
        return elementwise_targets(op)
    return op.operands[:1] if op.name in _WRITERS else []


def _parity(e: Emitter, number: Value) -> Value:
    return e("sub", number, e("mul", e("shr", number, e.integer(1)), e.integer(2)))


def _dtype(value: Value) -> object:
    assert isinstance(value.type, ArrayRef)
    return value.type.dtype


def _chain(shelves: _Shelves, value: Value, root: Value) -> list[Op] | None:
    """The views that lead from the root to the value; None if they do not."""
    ops: list[Op] = []
    while value is not root:
        op = shelves.overlap.maker.get(value)
        if op is None or op.name not in VIEWS:
            return None
        ops.append(op)
        value = op.operands[0]
    return ops[::-1]


def _can_follow(shelves: _Shelves, put: Op, root: Value, inside: set[Value]) -> bool:
    """Can what was put be found again as the same view of a row, without anything from inside the loop."""
    chain = _chain(shelves, put.operands[2], root)
    return chain is not None and all(_outer(shelves, v, inside) for op in chain for v in op.operands[1:])


def _outer(shelves: _Shelves, value: Value, inside: set[Value]) -> bool:
    made = shelves.overlap.maker.get(value)
    return value not in inside or (made is not None and made.name == "const")


def _follow(shelves: _Shelves, put: Op, root: Value, table: Value, sizes: Sequence[Value], offset: int) -> None:
    """What is fetched from the buffer is a view of a row; the buffer goes."""
    buffer = put.operands[0]
    chain = _chain(shelves, put.operands[2], root) or []
    for use in shelves.users.pop(buffer):
        block = shelves.home[use]
        at = block.ops.index(use)
        if use.name != "buffer_get":
            block.ops.pop(at)
            continue
        e = Emitter(Block(), use.span)
        index = e("add", use.operands[1], e.integer(offset)) if offset else use.operands[1]
        mapping = {root: shelves.row(e, table, index)}
        for op in chain:
            consts = [made for v in op.operands[1:] if (made := shelves.overlap.maker.get(v)) and made.name == "const"]
            e.block.ops += clone_ops([c for c in consts if c.result not in mapping], mapping)
            e.block.ops += clone_ops([op], mapping)
        block.ops[at : at + 1] = e.block.ops
        shelves.enter(e.block.ops, block)
        known = shelves.sizes(use.result, sizes) if not chain else {}
        substitute(shelves.function.body, {use.result: mapping[put.operands[2]], **known})
    made = shelves.overlap.maker[buffer]
    shelves.home[made].ops.remove(made)

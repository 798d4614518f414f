"""Does an element that is read keep its value: a test for loops over indices.

    for n: body (i)
      for i+1: body (j)
        for j: body (k): v = array_get low, i, k       never written again: (i, k) with k < j was written before
        array_swap low, i, j, s

For the read at one trip and a write at a later one, all that is known (the indices agree, bounds of loops, conditions
of branches, the order of trips) is stated as linear inequalities.  Where they have no solution for any write, what is
read stands in memory for good, and the reverse half may read it there.
"""

from __future__ import annotations

from collections.abc import Sequence

from pullback.analysis.alias import Aliases
from pullback.analysis.inequalities import ONE, Row, difference, impossible
from pullback.ir.node import Block, Op, Value
from pullback.types import I64

__all__ = ["Dependence", "Pair", "loops_around"]

Choice = list[list[Row]]
_ORDER = {"lt": (1, -1), "le": (1, 0), "gt": (-1, -1), "ge": (-1, 0)}  # sign of right - left, constant
MOST = 5  # alternatives are tried in all combinations
TESTS = 500  # of a read and a write, per function


class Dependence:
    """Answers for the reads of one function, once per read."""

    def __init__(self, aliases: Aliases) -> None:
        self.aliases = aliases
        self._known: dict[Op, bool] = {}
        self._tests = 0

    def final(self, read: Op) -> bool:
        """Is the element that an `array_get` reads, or an `array_swap` writes, never written after it by another one.

        Later trips count too, also those of the op itself.
        """
        if read not in self._known:
            self._known[read] = self._final(read)
        return self._known[read]

    def _final(self, read: Op) -> bool:
        aliases, array = self.aliases, read.operands[0]
        origin = aliases.base(array)
        if aliases.origins(array) != {origin} or aliases.place(read) is None:
            return False
        for write, target in aliases.writes_near(origin):
            if aliases.before(write, target, origin, array, read):
                continue
            self._tests += 1
            element = write.name in ("array_swap", "array_inc") and aliases.base(target) is origin
            if not element or self._tests > TESTS:
                return False
            if not Pair(aliases, len(loops_around(aliases, aliases.home(origin))), read, write).apart():
                return False
        return not aliases.loose(origin)


class Pair:
    """A read and a write of one array; `own`: how many loops are around its allocation, of which this is one trip."""

    def __init__(self, aliases: Aliases, own: int, read: Op, write: Op) -> None:
        self.aliases, self.read, self.write = aliases, read, write
        self.own = own
        self.loops = loops_around(aliases, _block(aliases, read))
        self.later = loops_around(aliases, _block(aliases, write))
        common = 0
        while common < min(len(self.loops), len(self.later)) and self.loops[common] is self.later[common]:
            common += 1
        self.common = common
        self.rows: list[Row] = []
        self.choices: list[Choice] = []
        self.shared = 0  # loops around both that are at the same trip
        self._stated: set[tuple[Value, bool]] = set()

    def apart(self) -> bool:
        """No write at a later trip, or further down in the same one, is to the element that was read."""
        for level in range(self.own, self.common):
            if not self._apart(level, same=False):
                return False
        return not self._follows() or self._apart(self.common, same=True)

    def _follows(self) -> bool:
        """Within one trip of all common loops: can the write come after the read."""
        top = self.loops[self.common - 1].blocks[-1] if self.common else self.aliases.body
        reading, writing = self._path(self.read, top), self._path(self.write, top)
        for (block, first, op), (other, second, _) in zip(reading, writing, strict=False):
            if block is not other:
                return False  # the branches of one `if`
            if first != second:
                return second > first
            if op.name != "if":
                return self.read is not self.write
        return True

    def _path(self, op: Op, top: Block) -> list[tuple[Block, int, Op]]:
        """Where the op stands in its block, and those around it in theirs, up to a block; outermost first."""
        found: list[tuple[Block, int, Op]] = []
        holder: Op | None = op
        while holder is not None and (place := self.aliases.place(holder)) is not None:
            found.append((*place, holder))
            if place[0] is top:
                return found[::-1]
            holder = self.aliases.holder(place[0])
        return []

    def _apart(self, level: int, *, same: bool, distance: int = 1) -> bool:
        """Never one element, at trips of the loop of this level that lie at least `distance` apart (or at the same)."""
        self.rows, self.choices, self.shared = [], [], level
        self._stated = set()
        if not same:
            loop = self.loops[level]
            if loop.name == "for":
                index = loop.blocks[0].params[0]
                self._state(difference(self._linear(index, True), self._linear(index, False), -distance))
        for left, right in zip(self._position(self.read, False), self._position(self.write, True), strict=True):
            if left is None or right is None:
                continue
            self._state(difference(left, right))
            self._state(difference(right, left))
        for op, late in ((self.read, False), (self.write, True)):
            self._surroundings(op, late)
        self._more()
        return impossible(self.rows, self.choices[:MOST])

    def _more(self) -> None:
        """What else is known, once positions and surroundings are stated."""

    def _state(self, row: Row) -> None:
        self.rows.append(row)

    def _position(self, op: Op, late: bool) -> list[Row | None]:
        """The element's indices in terms of the array that was allocated."""
        array, indices = op.operands[0], [self._linear(v, late) for v in op.operands[1 : 1 + _rank(op.operands[0])]]
        found: list[Row | None] = list(indices)
        while (view := self.aliases.maker(array)) is not None and view.name.startswith("view_"):
            found = self._viewed(view, found, late)
            array = view.operands[0]
        return found

    def _viewed(self, view: Op, indices: list[Row | None], late: bool) -> list[Row | None]:
        axis = int(str(view.attrs.get("axis", 0)))
        match view.name:
            case "view_index":
                return [*indices[:axis], self._linear(view.operands[1], late), *indices[axis:]]
            case "view_expand":
                return [*indices[:axis], *indices[axis + 1 :]]
            case "view_relax":
                return indices
            case "view_transpose":
                perm = view.attrs["perm"]
                assert isinstance(perm, tuple)
                return [indices[perm.index(i)] for i in range(len(perm))]
            case "view_slice" if view.attrs.get("unit"):
                start = self._linear(view.operands[1], late)
                moved = indices[axis]
                shifted = None if moved is None else difference(moved, {key: -f for key, f in start.items()})
                return [*indices[:axis], shifted, *indices[axis + 1 :]]
        return [None] * _rank(view.operands[0])

    # -------------------------------------------------------------------------------------------------- what is known

    def _surroundings(self, op: Op, late: bool) -> None:
        """Bounds of the loops and conditions of the branches around an op."""
        block = _block(self.aliases, op)
        while block is not None and (holder := self.aliases.holder(block)) is not None:
            if holder.name == "for":
                index = self._linear(block.params[0], late)
                self._state(dict(index))
                self._state(difference(self._linear(holder.operands[0], late), index, -1))
            elif holder.name == "if":
                self._condition(holder.operands[0], late, holds=block is holder.blocks[0])
            block = _block(self.aliases, holder)

    def _condition(self, value: Value, late: bool, *, holds: bool) -> None:
        op = self.aliases.maker(value)
        if op is None or len(op.operands) != 2:
            return
        if op.name == ("and_" if holds else "or_"):
            for part in op.operands:
                self._condition(part, late, holds=holds)
        if op.operands[0].type != I64:
            return
        left, right = (self._linear(v, late) for v in op.operands)
        if op.name in _ORDER:
            sign, constant = _ORDER[op.name] if holds else (-_ORDER[op.name][0], -1 - _ORDER[op.name][1])
            self._state(difference(right, left, constant) if sign > 0 else difference(left, right, constant))
        elif op.name == ("eq" if holds else "ne"):
            self._state(difference(left, right))
            self._state(difference(right, left))
        elif op.name == ("ne" if holds else "eq"):
            self.choices.insert(0, [[difference(left, right, -1)], [difference(right, left, -1)]])

    def _linear(self, value: Value, late: bool) -> Row:
        """The value as a sum; what is not a sum becomes an unknown, one per trip it belongs to."""
        op = self.aliases.maker(value)
        if op is not None:
            match op.name:
                case "const":
                    return {ONE: int(str(op.attrs["value"]))}
                case "add" | "sub":
                    left, right = (self._linear(v, late) for v in op.operands)
                    return difference(left, right if op.name == "sub" else {key: -f for key, f in right.items()})
                case "neg":
                    return difference({}, self._linear(op.operands[0], late))
                case "mul":
                    left, right = (self._linear(v, late) for v in op.operands)
                    for one, other in ((left, right), (right, left)):
                        if set(one) <= {ONE}:
                            return {key: f * one.get(ONE, 0) for key, f in other.items()}
        unknown = (value, late and len(loops_around(self.aliases, self.aliases.home(value))) > self.shared)
        if op is not None and unknown not in self._stated:
            self._stated.add(unknown)
            self._facts(op, {unknown: 1}, late)
        return {unknown: 1}

    def _facts(self, op: Op, result: Row, late: bool) -> None:
        """What is known of an unknown from the op that makes it."""
        if op.name == "array_size":
            self._state(dict(result))
        elif op.name == "wrap_index":
            index, size = (self._linear(v, late) for v in op.operands)
            wrapped = difference(index, {key: -f for key, f in size.items()})
            self.choices.append([
                [dict(index), difference(result, index), difference(index, result)],
                [difference({}, index, -1), difference(result, wrapped), difference(wrapped, result)],
            ])  # fmt: skip
        elif op.name in ("maximum", "minimum"):
            parts = [self._linear(v, late) for v in op.operands]
            sign = 1 if op.name == "maximum" else -1
            for part in parts:
                self._state(difference(result, part) if sign > 0 else difference(part, result))
            self.choices.append(
                [[difference(part, result)] if sign > 0 else [difference(result, part)] for part in parts]
            )


def _rank(array: Value) -> int:
    return int(getattr(array.type, "rank", 0))


def _block(aliases: Aliases, op: Op) -> Block | None:
    place = aliases.place(op)
    return None if place is None else place[0]


def loops_around(aliases: Aliases, block: Block | None) -> Sequence[Op]:
    """The loops around a block, outermost first."""
    found: list[Op] = []
    while block is not None and (holder := aliases.holder(block)) is not None:
        if holder.name in ("for", "while"):
            found.append(holder)
        block = _block(aliases, holder)
    return found[::-1]

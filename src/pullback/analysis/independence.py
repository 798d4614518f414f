"""May the trips of a counted loop run in any order, or at the same time.

    for n, s: body (k, s1):
      array_swap out, k, v            no two trips write one element: `k` differs
      array_inc h, j, v               perhaps one element, but all that is done to `h` is adding: `added`
      s2 = add s1, v; yield s2        a sum, which blocks of trips can begin anew: `reductions`

`judge` gives what has to be arranged so that they may, or the op that is in the way and why.  Elements are told apart
as `dependence` does it; arrays that are perhaps one and the same are told apart when the program runs (`tests`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

from pullback.analysis.alias import NO_WRITES, Aliases, Writes, record_links, written_parameters
from pullback.analysis.cells import NO_CELLS
from pullback.analysis.dependence import Pair
from pullback.analysis.effects import ALLOCATIONS, CALLS, VIEWS, elementwise_inputs, elementwise_targets
from pullback.analysis.inequalities import ONE, Row, difference, impossible
from pullback.analysis.overlap import Overlap
from pullback.analysis.reductions import Reduction, reduction
from pullback.ir.node import Function, Op, Program, Value
from pullback.ir.walk import defined
from pullback.types import I64, ArrayRef, Buffer, Scalar, Table

__all__ = ["DISTANCES", "Facts", "Obstacle", "Sum", "Verdict", "judge"]

DISTANCES = (1, 2, 4, 8)
"""How many trips apart two additions to one element may lie for blocks that are far from each other to be disjoint."""

_TESTS = 2000  # of two accesses, per loop; in larger ones nothing more is proved

_HARMLESS = frozenset({"check", "free", "array_retain", "unbox", "box"})
_READS = frozenset({"array_get", "buffer_get", "lapack", "matmul", "reshape", "slot_get"})
_WRITES = frozenset({"array_inc", "array_swap", "matmul_inc", "buffer_put", "buffer_inc"})
_ADDING = frozenset({"array_inc", "matmul_inc"})
_ELEMENTS = frozenset({"array_get", "array_inc", "array_swap", "buffer_get", "buffer_put", "buffer_inc"})


Sum = tuple[tuple[tuple[Value, int], ...], int]  # values with their factors, and a constant


@dataclass(frozen=True, slots=True)
class Obstacle:
    """What keeps trips from being independent: an op (or the loop), what it does, and what to write instead."""

    op: Op
    title: str
    label: str
    help: str


@dataclass(slots=True)
class Verdict:
    """How the loop can be cut into blocks.

    reductions: by the number of the carried value.  added: arrays to which several trips add, with the distance of
    trips from which on they no longer meet (0: not known).  tests: pairs of arrays that must not overlap.  positive:
    sums that must not be negative.
    """

    obstacle: Obstacle | None = None
    reductions: list[Reduction] = field(default_factory=list)
    added: dict[Value, int] = field(default_factory=dict)
    positive: dict[Sum, None] = field(default_factory=dict)
    tests: list[tuple[Value, Value]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Access:
    op: Op
    array: Value
    write: bool

    @property
    def adds(self) -> bool:
        """Is all that it does to the array to add to it."""
        if self.op.name != "elementwise":
            return self.op.name in _ADDING and self.array is self.op.operands[0]
        outputs = self.op.attrs["outputs"]
        assert isinstance(outputs, tuple)
        kinds = [kind for kind in outputs if kind in ("inc", "set")]
        targets = elementwise_targets(self.op)
        mine = [k for k, t in zip(kinds, targets, strict=True) if t is self.array]
        return self.write and all(kind == "inc" for kind in mine) and self.array not in elementwise_inputs(self.op)


class Facts:
    """What is known of one function, for all its loops."""

    def __init__(self, function: Function, program: Program) -> None:
        self.function, self.program = function, program
        self.overlap = Overlap(function, program)
        self._shut: dict[str, bool] = {}

    @cached_property
    def written(self) -> dict[str, Writes]:
        return written_parameters(self.program)

    @cached_property
    def aliases(self) -> Aliases:
        return Aliases(self.function, self.written, record_links(self.program))

    def shut(self, name: str) -> bool:
        """Does a function do nothing but compute and write arrays: no text, no tables, all callees alike."""
        if name not in self._shut:
            self._shut[name] = True  # of a function that calls itself, the rest decides
            function = self.program.functions.get(name)
            self._shut[name] = function is not None and all(
                not op.name.startswith(("text_", "table")) and op.name != "slot_inc"
                and ("callee" not in op.attrs or self.shut(str(op.attrs["callee"])))
                for op in function.body.walk()
            )  # fmt: skip
        return self._shut[name]


def judge(loop: Op, facts: Facts) -> Verdict:
    """Whether the trips of a `for` are independent, and what that asks for."""
    return _Judge(loop, facts).verdict


class _Judge:
    def __init__(self, loop: Op, facts: Facts) -> None:
        self.loop, self.facts = loop, facts
        self.body = loop.blocks[0]
        self.inside = defined(self.body, nested=True)
        self.accesses: list[_Access] = []
        self.tests = 0
        self.verdict = Verdict()
        self.verdict.obstacle = self.carried() or self.collect() or self.meetings()

    # ------------------------------------------------------------------------------------------------ carried values

    def carried(self) -> Obstacle | None:
        for i, param in enumerate(self.body.params[1:]):
            found = reduction(self.body, i, self.facts.overlap.maker)
            if found is None:
                name = f"`{param.name}`" if param.name else "a value"
                if self.flavoured(i):
                    return Obstacle(
                        self.last_writer(i), f"{name} begins as Python's and meets NumPy's in this prange loop",
                        "which of the two it is depends on the trips before",
                        "let both be of one kind: begin with np.float64(...), or write float(...) or bool(...) around"
                        " what it meets",
                    )  # fmt: skip
                return Obstacle(
                    self.last_writer(i), f"the trips of this prange loop depend on each other through {name}",
                    "one trip uses what another one left",
                    "carry sums, products, minima and maxima, used for nothing else in the loop; or loop over range",
                )  # fmt: skip
            self.verdict.reductions.append(found)
        return None

    def flavoured(self, position: int) -> bool:
        """Does the value tell whether the next one, of the same name, is Python's or NumPy's."""
        param, following = self.body.params[1 + position], self.body.params[2 + position : 3 + position]
        numbers = bool(following) and isinstance(following[0].type, Scalar) and following[0].type != I64
        return param.type == I64 and numbers and following[0].name == param.name

    def last_writer(self, position: int) -> Op:
        """The op that makes what the next trip would see."""
        result = self.body.results[position]
        return next((op for op in self.body.ops if result in op.results), self.loop)

    # ------------------------------------------------------------------------------------------------------ accesses

    def collect(self) -> Obstacle | None:
        for op in self.body.walk():
            name = op.name
            if name == "elementwise":
                self.accesses += [_Access(op, v, False) for v in elementwise_inputs(op) if isinstance(v.type, ArrayRef)]
                self.accesses += [_Access(op, v, True) for v in elementwise_targets(op)]
            elif name in CALLS:
                obstacle = self.call(op)
                if obstacle is not None:
                    return obstacle
            elif name in _READS:
                self.accesses += [_Access(op, v, False) for v in op.operands if isinstance(v.type, ArrayRef | Buffer)]
            elif name in _WRITES:
                rest = op.operands[1:] if name == "matmul_inc" else []
                self.accesses += [_Access(op, op.operands[0], True), *(_Access(op, v, False) for v in rest)]
            elif name.startswith("text_"):
                return self.stop(op, "text cannot be made or printed in a loop over prange",
                                 "it would come from several trips at once", "print after the loop")  # fmt: skip
            elif name == "table_get" or name in _HARMLESS or op.blocks:
                continue
            elif name.startswith("table") or op.prim.effects - {"allocate", "raise"}:
                cell = any(isinstance(v.type, Table) and v.type.name.startswith("cell") for v in op.operands)
                if cell:
                    return self.stop(op, "a function that knows a variable of a prange loop is made in it",
                                     "several trips would change that variable at once",
                                     "hand it over as an argument or a default: lambda x, i=i: ...")  # fmt: skip
                return self.stop(op, "a loop over prange cannot change lists, dicts or objects",
                                 "several trips would change them at once", "write to elements of arrays")  # fmt: skip
        return None

    def stop(self, op: Op, title: str, label: str, help: str) -> Obstacle:
        return Obstacle(op, title, label, help)

    def call(self, op: Op) -> Obstacle | None:
        name = str(op.attrs["callee"])
        writes = self.facts.written.get(name, NO_WRITES)
        if not self.facts.shut(name) or writes.cells != NO_CELLS:
            label, help = "it prints, or changes lists or objects", "call it after the loop, or loop over range"
            return self.stop(op, "a loop over prange cannot call this function", label, help)
        written: frozenset[int] = writes.written if op.name == "call" else frozenset()
        arrays = [(i, v) for i, v in enumerate(op.operands) if isinstance(v.type, ArrayRef | Buffer)]
        self.accesses += [_Access(op, v, i in written) for i, v in arrays]
        return None

    # ------------------------------------------------------------------------------------------------------ meetings

    def meetings(self) -> Obstacle | None:
        """For every write: what other trips do to the same memory."""
        overlap, verdict = self.facts.overlap, self.verdict
        self.accesses = list({self.key(access): access for access in reversed(self.accesses)}.values())[::-1]
        for write in self.accesses:
            if not write.write:
                continue
            base = overlap.base(write.array)
            if base in self.inside:
                if not self.fresh(base):
                    return self.shared(write, write)
                continue
            for other in self.accesses:
                far = overlap.base(other.array)
                if far is base:
                    if not self.apart(write, other) and not self.added(base):
                        return self.shared(write, other)
                elif far in self.inside:
                    if not self.fresh(far) and overlap.meet(base, far):
                        return self.shared(write, other)
                elif overlap.meet(base, far):
                    if not (isinstance(base.type, ArrayRef) and isinstance(far.type, ArrayRef)):
                        return self.shared(write, other)
                    if base.type.dtype != far.type.dtype:
                        continue  # as everywhere: memory has one type
                    if (far, base) not in verdict.tests and (base, far) not in verdict.tests:
                        verdict.tests.append((base, far))
        return None

    def key(self, access: _Access) -> object:
        """What is equal for accesses of which one stands for all."""
        op, place = access.op, self.facts.aliases.place(access.op)
        if op.name not in _ELEMENTS or place is None:
            return access
        count = access.array.type.rank if isinstance(access.array.type, ArrayRef) else 1
        return access.array, tuple(op.operands[1 : 1 + count]), access.write, access.adds, place[0]

    def fresh(self, base: Value) -> bool:
        """Is it memory that a trip makes for itself."""
        makers = [self.facts.overlap.maker.get(origin) for origin in self.facts.aliases.origins(base)]
        return all(op is not None and op.name in ALLOCATIONS and op.results[0] in self.inside for op in makers)

    def shared(self, write: _Access, other: _Access) -> Obstacle:
        array = self.facts.overlap.base(write.array)
        name = f"`{array.name}`" if array.name else "an array"
        label = "written here, at elements that other trips may use" if other.write else (
            "written here, and perhaps read by other trips")  # fmt: skip
        return self.stop(
            write.op, f"trips of this prange loop may use the same elements of {name}", label,
            "write at an index that the loop variable moves (a[i], a[2 * i + 1, j], a[i, :]), only add to shared"
            " elements, or loop over range",
        )  # fmt: skip

    def apart(self, one: _Access, other: _Access, distance: int = 1) -> bool:
        """Do two accesses of one array never meet at trips that lie so far apart."""
        orders = [(one, other)] if one == other else [(one, other), (other, one)]
        return all(self.never(*order, distance) for order in orders)

    def never(self, early: _Access, late: _Access, distance: int) -> bool:
        """Do they never meet; if need be because numbers from before the loop are not negative."""
        self.tests += 1
        if self.tests > _TESTS:
            return False
        if _Crossing(self.facts.aliases, self.loop, early, late).never(distance):
            return True
        starts = _Crossing(self.facts.aliases, self.loop, early, late, self.inside)
        found = starts.never(distance) and bool(starts.positive)
        if found:
            self.verdict.positive.update(starts.positive)
        return found

    def added(self, base: Value) -> bool:
        """Is all that the loop does to the array to add to it; then notes from which distance on that is disjoint."""
        verdict = self.verdict
        if base in verdict.added:
            return True
        mine = [a for a in self.accesses if self.facts.overlap.base(a.array) is base]
        if not all(a.adds for a in mine) or not isinstance(base.type, ArrayRef):
            return False
        pairs = [(one, other) for i, one in enumerate(mine) for other in mine[i:]]
        near = (d for d in DISTANCES if all(self.apart(*pair, distance=d + 1) for pair in pairs))
        verdict.added[base] = next(near, 0)
        return True


class _Crossing(Pair):
    """Two accesses of one array, the second at a later trip of the loop.

    inside: what the loop defines, if numbers from outside in indices that may count from the end are to be taken as not
    negative; they are noted in `positive`.
    """

    def __init__(
        self, aliases: Aliases, loop: Op, early: _Access, late: _Access, inside: set[Value] | None = None
    ) -> None:  # fmt: skip
        super().__init__(aliases, 0, early.op, late.op)
        self.inside, self.positive = inside, dict[Sum, None]()
        self.loop, self.accessed = loop, {False: early, True: late}
        self.products: dict[Op, set[bool]] = {}

    def never(self, distance: int) -> bool:
        """Do they never meet, at trips that lie at least so far apart."""
        self.products.clear()
        level = next((i for i, loop in enumerate(self.loops[: self.common]) if loop is self.loop), None)
        return level is not None and self._apart(level, same=False, distance=distance)

    def _position(self, op: Op, late: bool) -> list[Row | None]:
        access = self.accessed[late]
        array = access.array
        if isinstance(array.type, Buffer):
            return [self._linear(op.operands[1], late)]
        rank = array.type.rank if isinstance(array.type, ArrayRef) else 0
        if op.name in _ELEMENTS:
            found: list[Row | None] = [self._linear(v, late) for v in op.operands[1 : 1 + rank]]
        else:
            found = [self._any(op, array, axis, late) for axis in range(rank)]
        while (view := self.aliases.maker(array)) is not None and view.name in VIEWS:
            if view.name == "view_slice" and view.attrs.get("unit"):
                moved = found[int(str(view.attrs["axis"]))]
                if moved is not None:
                    self._state(difference(self._linear(view.operands[2], late), moved, -1))
            found = self._viewed(view, found, late)
            array = view.operands[0]
        return found

    def _any(self, op: Op, array: Value, axis: int, late: bool) -> Row:
        """Any index along an axis of the array."""
        unknown = ((op, array, axis), late)
        self._state({unknown: 1})
        return {unknown: 1}

    def _facts(self, op: Op, result: Row, late: bool) -> None:
        super()._facts(op, result, late)
        if op.name == "mul":
            self.products.setdefault(op, set()).add(late)
        elif op.name == "wrap_index" and self.inside is not None:
            self._assume(self._linear(op.operands[0], late))

    def _assume(self, index: Row) -> None:
        """Take the part of an index that is known before the loop as not negative."""
        assert self.inside is not None
        parts = [(key[0], f) for key, f in index.items() if isinstance(key, tuple) and isinstance(key[0], Value)]
        outside = tuple((value, factor) for value, factor in parts if value not in self.inside)
        if outside:
            constant = index.get(ONE, 0)
            self._state({(value, False): factor for value, factor in outside} | {ONE: constant})
            self.positive[outside, constant] = None

    def _more(self) -> None:
        """k * n grows by n at least from trip to trip, where n is the same in all of them and not negative."""
        for op, places in list(self.products.items()):
            if len(places) < 2:
                continue
            for moving, fixed in (op.operands, op.operands[::-1]):
                count, same = self._linear(fixed, True), self._linear(fixed, False)
                if count != same:
                    continue
                step = difference(self._linear(moving, True), self._linear(moving, False))
                excluded = (difference({}, step), difference({}, count, -1))  # no step up; a negative count
                if all(impossible([*self.rows, row]) for row in excluded):
                    grown = difference(self._linear(op.result, True), self._linear(op.result, False))
                    self._state(difference(grown, count))


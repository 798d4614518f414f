"""Products that loops and recursions add to a matrix are added many at a time.

    s = array_zeros m, n                         s = array_zeros m, n
    for t:                                       q = array_empty r, m;  p = array_empty r, n;  c = array_zeros 1
      matmul_inc s, a, b              ->         for t:
    return s                                       call add_later s, a, b, q, p, c
                                                 call add_now s, q, p, c
                                                 return s

A product of few columns by few rows, of which the reverse of a recurrent network has one in each step, reads and writes
the whole matrix for little work.  `add_later` puts the columns of a into q and the rows of b into p, and only when
these are full adds the product of all (c: how many there are).  Sums of derivatives have no order.  A function that
only adds to a matrix gets q, p and c from its caller, so that recursion fills them too.  For small matrices r is 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from pullback.analysis.sums_only import Kind, Place, Use, Uses, received
from pullback.ir.node import Block, Function, Op, Program, Value
from pullback.prims.base import Emitter, get
from pullback.types import I64, ArrayRef, DType, Scalar

__all__ = ["run"]

_MOST_ROWS = 128
_MANY = 16  # rows of a product from which on it does well with them alone
_SMALLEST = 2048  # elements of a matrix for which this pays
_SMALL_ROOM = 32768  # elements of q and p together that are always granted; beyond that, as many as the matrix has
_MADE = frozenset({"array_zeros", "matmul", "elementwise"})
_UNORDERED = ("parallel", "threads")


def run(program: Program) -> None:
    """Delay the products of all functions."""
    if any(op.name == "matmul_inc" for function in program.functions.values() for op in function.body.walk()):
        _Delay(program).run()


@dataclass(frozen=True, slots=True)
class _Queue:
    """The values q, p and c."""

    columns: Value
    rows: Value
    count: Value

    def values(self) -> list[Value]:
        return [self.columns, self.rows, self.count]


@dataclass(slots=True)
class _Edits:
    """What is put before and after ops, and instead of them, once all is decided."""

    before: dict[Op, list[Op]] = field(default_factory=dict)
    after: dict[Op, list[Op]] = field(default_factory=dict)
    instead: dict[Op, list[Op]] = field(default_factory=dict)

    def block(self, block: Block) -> None:
        ops: list[Op] = []
        for op in block.ops:
            for inner in op.blocks:
                self.block(inner)
            ops += [*self.before.get(op, ()), *self.instead.get(op, (op,)), *self.after.get(op, ())]
        block.ops = ops


class _Delay:
    def __init__(self, program: Program) -> None:
        self.program = program
        self.uses = {name: Uses(function) for name, function in program.functions.items()}
        self.received = received(program, self.uses)
        self.delaying = self._delaying()
        self.edits = _Edits()
        self._given: dict[Op, dict[int, _Queue]] = {}  # by call: queues for the parameters of these numbers

    def run(self) -> None:
        queues = {place: _parameters(self._parameter(place)) for place in self.delaying}
        for name, function in list(self.program.functions.items()):
            params = list(function.body.params)
            for place, queue in queues.items():
                if place[0] == name:
                    function.body.params += queue.values()
                    for use in self._uses(name, params[place[1]]):
                        self._delay(use, params[place[1]], queue)
            for op in function.body.walk():
                for value in op.results if op.name in _MADE else ():
                    if _is_matrix(value):
                        self._made(name, value)
            self._complete(function)
            self.edits.block(function.body)

    def _parameter(self, place: Place) -> Value:
        return self.program.functions[place[0]].body.params[place[1]]

    def _uses(self, name: str, array: Value) -> list[Use]:
        return self.uses[name].of(array, self.received.__contains__)

    def _delaying(self) -> dict[Place, None]:
        """Parameters that receive products again and again, in the order in which they are handed on."""
        calls = {
            name: {str(op.attrs["callee"]) for op in f.body.walk() if op.name == "call"}
            for name, f in self.program.functions.items()
        }
        other = {
            str(op.attrs["callee"]) for f in self.program.functions.values() for op in f.body.walk()
            if op.name != "call" and "callee" in op.attrs
        }  # fmt: skip
        places = sorted(place for place in self.received if place[0] not in other)
        found: set[Place] = set()
        grown = True
        while grown:
            grown = False
            for name, i in places:
                if (name, i) not in found and self._repeats(name, self._parameter((name, i)), found, calls):
                    found.add((name, i))
                    grown = True
        return dict.fromkeys(place for place in places if place in found)

    def _repeats(self, name: str, array: Value, found: set[Place], calls: dict[str, set[str]]) -> bool:
        """Is a product added to the array in a loop or a recursion."""
        uses = self.uses[name]
        for use in self._uses(name, array):
            if use.op is None or use.value is not array:
                continue
            if use.op.name == "matmul_inc" and (uses.loops(use.op, uses.home[array]) or _reaches(name, name, calls)):
                return True
            if use.op.name == "call" and any(place in found for place in _passed(use.op, array)):
                return True
        return False

    def _made(self, name: str, array: Value) -> None:
        """Delay what is added to an array of this function, between what reads it."""
        uses, found = self.uses[name], self._uses(name, array)
        home = uses.home[array]
        others = sorted({use.position for use in found if use.kind is not Kind.SUM or _unordered(uses, use, home)})
        escapes = min((use.position for use in found if use.kind is Kind.ESCAPE), default=len(home.ops))
        start = -1
        for end in [*others, len(home.ops)]:
            group = [use for use in found if start < use.position < end]
            if group and end <= escapes:
                self._group(uses, array, group)
            start = end

    def _group(self, uses: Uses, array: Value, group: Sequence[Use]) -> None:
        """Delay these additions, which nothing stands between."""
        home = uses.home[array]
        if not any(self._pays(uses, use, array, home) for use in group):
            return
        first, last = home.ops[group[0].position], home.ops[group[-1].position]
        e = Emitter(Block(), first.span)
        queue = _fresh(e, array)
        self.edits.before.setdefault(first, []).extend(e.block.ops)
        for use in group:
            self._delay(use, array, queue)
        e = Emitter(Block(), last.span)
        _call(e, self._adding(array, "add_now"), [e("view_relax", array), *queue.values()])
        self.edits.after[last] = [*e.block.ops, *self.edits.after.get(last, ())]

    def _pays(self, uses: Uses, use: Use, array: Value, home: Block) -> bool:
        if use.op is None or use.value is not array:
            return False
        if use.op.name == "matmul_inc":
            return bool(uses.loops(use.op, home))
        return use.op.name == "call" and any(place in self.delaying for place in _passed(use.op, array))

    def _delay(self, use: Use, array: Value, queue: _Queue) -> None:
        """Let a product be added later; what is called gets the queue."""
        op = use.op
        if op is None or use.value is not array:
            return
        if op.name == "matmul_inc":
            e = Emitter(Block(), op.span)
            operands = [e("view_relax", v) for v in op.operands]
            _call(e, self._adding(array, "add_later"), [*operands, *queue.values()])
            self.edits.instead[op] = e.block.ops
        elif op.name == "call":
            given = self._given.setdefault(op, {})
            given.update((i, queue) for name, i in _passed(op, array) if (name, i) in self.delaying)

    def _complete(self, function: Function) -> None:
        """Every call of a function that wants queues passes some: where there are none, such without room."""
        for op in function.body.walk():
            wanted = [i for name, i in self.delaying if op.name == "call" and name == op.attrs["callee"]]
            if not wanted:
                continue
            given = self._given.get(op, {})
            e = Emitter(Block(), op.span)
            extra = [v for i in wanted for v in (given.get(i) or _fresh(e, op.operands[i], none=True)).values()]
            op.operands += extra
            self.edits.before.setdefault(op, []).extend(e.block.ops)

    def _adding(self, array: Value, kind: str) -> str:
        """The function of the program that adds, for arrays of this dtype."""
        name = f"pb.{kind}.{_dtype(array).value}"
        if name not in self.program.functions:
            make = _add_now if kind == "add_now" else _add_later
            now = self._adding(array, "add_now") if kind == "add_later" else ""
            self.program.functions[name] = make(name, _dtype(array), now)
        return name


def _unordered(uses: Uses, use: Use, home: Block) -> bool:
    """Is it in a loop whose trips may run at the same time."""
    return use.op is not None and any(loop.attrs.get(mark) for loop in uses.loops(use.op, home) for mark in _UNORDERED)


def _reaches(name: str, goal: str, calls: dict[str, set[str]]) -> bool:
    seen: set[str] = set()
    waiting = list(calls[name])
    while waiting:
        other = waiting.pop()
        if other == goal:
            return True
        if other not in seen:
            seen.add(other)
            waiting += calls.get(other, ())
    return False


def _passed(call: Op, array: Value) -> list[Place]:
    return [(str(call.attrs["callee"]), i) for i, v in enumerate(call.operands) if v is array]


def _dtype(array: Value) -> DType:
    assert isinstance(array.type, ArrayRef)
    return array.type.dtype


def _is_matrix(value: Value) -> bool:
    return isinstance(value.type, ArrayRef) and value.type.rank == 2 and value.type.dtype.is_float


def _parameters(array: Value) -> _Queue:
    rows = ArrayRef(_dtype(array), 2, True)
    return _Queue(Value(rows, "columns"), Value(rows, "rows"), Value(ArrayRef(DType.I64, 1, True), "count"))


def _fresh(e: Emitter, array: Value, *, none: bool = False) -> _Queue:
    """Room for columns and rows of products of the array's shape."""
    m, n = e("array_size", array, axis=0), e("array_size", array, axis=1)
    room = e.integer(0)
    if not none:
        size = e("mul", m, n)
        granted = e("floordiv", e("maximum", size, e.integer(_SMALL_ROOM)), e("maximum", e("add", m, n), e.integer(1)))
        pays = e("ge", size, e.integer(_SMALLEST))
        room = e("select", pays, e("minimum", granted, e.integer(_MOST_ROWS)), room)
    dtype = _dtype(array)
    columns, rows = e("array_empty", room, m, dtype=dtype), e("array_empty", room, n, dtype=dtype)
    return _Queue(columns, rows, e("array_zeros", e.integer(1), dtype=DType.I64))


# ------------------------------------------------------------------------------------------------------- the functions


def _call(e: Emitter, name: str, operands: Sequence[Value]) -> None:
    e.append(get("call"), operands, attrs={"callee": name}, types=())


def _add_now(name: str, dtype: DType, _: str) -> Function:
    """s += the product of what is in the queue, which is empty then."""
    target = Value(ArrayRef(dtype, 2, False), "s")
    queue = _parameters(target)
    e = Emitter(Block([target, *queue.values()]))
    zero = e.integer(0)
    count = e("array_get", queue.count, zero)
    add = Emitter(Block())
    columns, rows = (_part(add, array, zero, count) for array in (queue.columns, queue.rows))
    add.op("matmul_inc", target, add("view_transpose", columns, perm=(1, 0)), rows)
    add.op("array_swap", queue.count, zero, zero)
    e.append(get("if"), [e("gt", count, zero)], blocks=[add.block, Block()], types=())
    return Function(name, e.block, attrs={"outlined": True})


def _add_later(name: str, dtype: DType, now: str) -> Function:
    """s += a @ b at some time: at once where that has many columns, or the queue is made for nothing."""
    target, a, b = (Value(ArrayRef(dtype, 2, False), name) for name in "sab")
    queue = _parameters(target)
    e = Emitter(Block([target, a, b, *queue.values()]))
    room, length = e("array_size", queue.rows, axis=0), e("array_size", b, axis=0)
    direct, later = Emitter(Block()), Emitter(Block())
    direct.op("matmul_inc", target, a, b)
    zero, count = e.integer(0), e("array_get", queue.count, e.integer(0))
    add = Emitter(Block())
    _call(add, now, [target, *queue.values()])
    add.block.results = [zero]
    full = later("gt", later("add", count, length), room)
    start = later.append(get("if"), [full], blocks=[add.block, Block((), (), [count])], types=(I64,)).result
    _copy(later, later("view_transpose", a, perm=(1, 0)), _part(later, queue.columns, start, length))
    _copy(later, b, _part(later, queue.rows, start, length))
    later.op("array_swap", queue.count, zero, later("add", start, length))
    many = e("gt", e("mul", length, e.integer(_MOST_ROWS // _MANY)), room)
    e.append(get("if"), [many], blocks=[direct.block, later.block], types=())
    return Function(name, e.block, attrs={"outlined": True})


def _part(e: Emitter, array: Value, start: Value, count: Value) -> Value:
    return e("view_slice", array, start, count, e.integer(1), axis=0, unit=True)


def _copy(e: Emitter, source: Value, target: Value) -> None:
    sizes = [e("array_size", target, axis=axis) for axis in (0, 1)]
    element = Value(Scalar(_dtype(source)))
    attrs: dict[str, object] = {"rank": 2, "outputs": ("set",), "targets": 1}
    block = Block([element], [], [element])
    e.append(get("elementwise"), [*sizes, source, target], attrs=attrs, blocks=[block], types=())

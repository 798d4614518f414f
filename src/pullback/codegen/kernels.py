"""`elementwise` as loop nests.

    r, s = elementwise{rank: 2, outputs: (new, sum)}(n0, n1, a, b) { x, y: x*y, x }

becomes: align every array with the space (stride 0 where it is broadcast); where all are laid out alike, run the space
as one long axis; then a nest of loops over rows in strips.  There are up to two nests: `fast` where along the last axis
all elements lie side by side and no written array overlaps another one (LLVM vectorises it), and one for all other
cases.

Sums of floats are not one chain of additions: 512 elements at a time are added up in an order that LLVM chooses when
it compiles (vector lanes), and these partial sums are added with compensation (two-sum).  The error is about that of 21
additions, whatever the length; NumPy's pairwise sum has that of 16 + log2(n / 128).  With fastmath there is no
compensation.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from pullback.codegen import abi, streaming
from pullback.codegen.arrays import fresh
from pullback.codegen.costs import STRIP
from pullback.codegen.kernel_functions import called
from pullback.codegen.layout import Space, View, align, disjoint, unit_strides
from pullback.codegen.loops import NOT_VECTOR, SUMMED, WIDEST, repeat, strips, vectors, written_out
from pullback.codegen.records import plus
from pullback.codegen.scalars import constant
from pullback.codegen.templates import FAST
from pullback.codegen.writer import ELEMENT, FunctionWriter
from pullback.diagnostic import InternalError
from pullback.ir.node import Block, Op, Value
from pullback.types import ArrayRef, DType, Scalar

__all__ = ["RULES"]

_BLOCK, _SHORT_BLOCK = 512, 32  # elements that are added up before compensation
_STRIDED_BLOCK = 64  # in four chains
_DEAR, _MOVED = 4, 128  # work of an op from which elements that lie apart are moved together, so many at a time
_SCOPE = "@llvm.experimental.noalias.scope.decl"


@dataclass(frozen=True, slots=True)
class Total:
    """A running sum: of the whole space, or of a row (`target`: the array whose element then receives it)."""

    dtype: DType
    output: int
    target: View | None = None

    def compensated(self, w: FunctionWriter) -> bool:
        return self.dtype.is_float and not w.fast

    def types(self, w: FunctionWriter) -> list[str]:
        return [abi.LLVM[self.dtype]] * (2 if self.compensated(w) else 1)

    def zeros(self, w: FunctionWriter) -> list[str]:
        return [constant(0, self.dtype)] * (2 if self.compensated(w) else 1)

    def accumulate(self, w: FunctionWriter, partial: str, value: str) -> str:
        """One element, inside a block: the only additions that may change their order."""
        if not self.dtype.is_float:
            return plus(w, self.dtype, partial, value)
        return w.set(f"fadd {FAST if w.fast else 'reassoc '}{abi.LLVM[self.dtype]} {partial}, {value}")

    def combine(self, w: FunctionWriter, state: Sequence[str], partial: str) -> list[str]:
        """The sum so far and the sum of a block."""
        if not self.compensated(w):
            return [plus(w, self.dtype, state[0], partial)]
        t, (total, error) = abi.LLVM[self.dtype], state
        following = w.set(f"fadd {t} {total}, {partial}")
        second = w.set(f"fsub {t} {following}, {total}")
        first = w.set(f"fsub {t} {following}, {second}")
        lost = w.set(f"fadd {t} {w.set(f'fsub {t} {total}, {first}')}, {w.set(f'fsub {t} {partial}, {second}')}")
        return [following, w.set(f"fadd {t} {error}, {lost}")]

    def result(self, w: FunctionWriter, state: Sequence[str]) -> str:
        """The error is nan where the total is infinite or nan: then the total stands."""
        if not self.compensated(w):
            return state[0]
        t, (total, error) = abi.LLVM[self.dtype], state
        corrected = w.set(f"fadd {t} {total}, {error}")
        finite = w.set(f"fcmp ord {t} {error}, {error}")
        return w.set(f"select i1 {finite}, {t} {corrected}, {t} {total}")


@dataclass(slots=True)
class Kernel:
    """One elementwise op: its space, what it reads and what becomes of each output."""

    block: Block
    space: Space
    inputs: list[View | str]  # str: a scalar operand
    writes: dict[View, list[int]] = field(default_factory=dict)  # outputs stored ("new", "set") or added ("inc") there
    new: set[View] = field(default_factory=set)
    replacing: set[int] = field(default_factory=set)  # outputs that replace what stood there ("set")
    totals: list[Total] = field(default_factory=list)
    rounds: tuple[int, ...] = ()  # per output: which of several loops over a row writes it (empty: one loop)
    shared: bool = False  # one of the blocks of a large map
    cost: int = 1

    @property
    def views(self) -> list[View]:
        return list(dict.fromkeys([*(v for v in self.inputs if isinstance(v, View)), *self.writes, *self.targets]))

    @property
    def targets(self) -> list[View]:
        """Arrays that receive the sums of rows."""
        return [t.target for t in self.totals if t.target is not None]

    @property
    def outputs(self) -> list[int]:
        """The numbers of all that is written or added up."""
        return [*(number for numbers in self.writes.values() for number in numbers), *(t.output for t in self.totals)]

    def together(self, view: View, other: View) -> bool:
        """Are two views used in one loop over a row: all but those that are written in different rounds."""
        if not self.rounds or view not in self.writes or other not in self.writes:
            return True
        return not {self.rounds[i] for i in self.writes[view]}.isdisjoint(self.rounds[i] for i in self.writes[other])

    def part(self, number: int) -> Kernel:
        """What one round does."""
        outputs = [i for i, n in enumerate(self.rounds) if n == number]
        block, inputs = _slice(self.block, self.inputs, outputs)
        writes = {view: [i for i in mine if i in outputs] for view, mine in self.writes.items()}
        return replace(
            self, block=block, inputs=inputs, writes={view: mine for view, mine in writes.items() if mine},
            totals=[t for t in self.totals if t.output in outputs], rounds=(),
        )  # fmt: skip


def _elementwise(w: FunctionWriter, op: Op) -> None:
    kernel = _plan(w, op)
    sums = [t for t in kernel.totals if t.target is None]
    if kernel.space.rank == 0:
        totals = _single(w, kernel, sums)
    else:
        w.count_work(abi.KERNELS)
        apart = w.module.calls_kernels and not all(size.isdigit() for size in kernel.space.sizes)
        totals = called(w, kernel, sums, _nests) if apart else _nests(w, kernel, sums)
    scalars = iter(totals)
    for value in op.results:
        if isinstance(value.type, Scalar):
            w.pieces[value] = (next(scalars),)


def _plan(w: FunctionWriter, op: Op) -> Kernel:
    """Allocate the new arrays, align all arrays with the space, and shorten the space."""
    rank, outputs, count = (op.attrs[k] for k in ("rank", "outputs", "targets"))
    assert isinstance(rank, int) and isinstance(outputs, tuple) and isinstance(count, int)
    sizes = w.flat(op.operands[:rank])
    end = len(op.operands) - count
    rounds = op.attrs.get("rounds", ())
    assert isinstance(rounds, tuple)
    moving = tuple(i for i, size in enumerate(sizes) if size != "1" or rounds)  # rounds are made for the last axis
    space = Space([sizes[i] for i in moving])
    known: dict[Value, View] = {}  # an array that is read and written is one view, with the same strides

    def aligned(value: Value) -> View:
        if value not in known:
            view = align(w, value, sizes)
            known[value] = replace(view, strides=tuple(view.strides[i] for i in moving))
        return known[value]

    inputs = [aligned(v) if isinstance(v.type, ArrayRef) else w.only(v) for v in op.operands[rank:end]]
    targets = iter(op.operands[end:])
    results = iter(op.results)
    (block,) = op.blocks
    kernel = Kernel(block, space, inputs)
    for number, kind in enumerate(outputs):
        dtype = _yielded(block.results[number])
        if kind == "sum":
            next(results)
            kernel.totals.append(Total(dtype, number))
            continue
        if kind == "new":
            value = next(results)
            w.pieces[value] = (fresh(w, dtype, sizes), *sizes)
            view = aligned(value)
            kernel.new.add(view)
        else:
            view = aligned(next(targets))
            kernel.replacing.update([number] if kind == "set" else [])
        kernel.writes.setdefault(view, []).append(number)
    kernel.rounds, kernel.shared = rounds, bool(op.attrs.get("shared"))
    kernel.cost = (w.costs.block(block) + len(kernel.views)) * (1 + max(rounds, default=0))
    space.collapse(w, kernel.views)
    _sum_rows(kernel)
    return kernel


def _yielded(value: Value) -> DType:
    if not isinstance(value.type, Scalar):
        raise InternalError("an elementwise block yields scalars")
    return value.type.dtype


def _sum_rows(kernel: Kernel) -> None:
    """Additions to an array that does not move along the last axis become sums of rows."""
    for view in list(kernel.writes):
        if view not in kernel.new and kernel.space.rank and kernel.space.inner(view) == "0":
            if view not in kernel.inputs and not kernel.replacing.intersection(kernel.writes[view]):
                kernel.totals += [Total(view.dtype, number, view) for number in kernel.writes.pop(view)]


def _single(w: FunctionWriter, kernel: Kernel, sums: list[Total]) -> list[str]:
    """A space of rank 0 has one element."""
    values = _values(w, kernel, {v: v.data for v in kernel.views}, {})
    _write(w, kernel, values, {v: v.data for v in kernel.views}, {})
    return [values[t.output] for t in sums]


def _nests(w: FunctionWriter, kernel: Kernel, sums: list[Total]) -> list[str]:
    """The nests behind their conditions; the results of the sums."""
    types = [t for total in sums for t in total.types(w)]
    zeros = [z for total in sums for z in total.zeros(w)]
    done, before = w.label(), None
    if kernel.space.rank > 1:
        start = w.label()
        w.branch(kernel.space.nonempty(w), start, done)
        before = (w.block, zeros)
        w.begin(start)
    written = [*kernel.writes, *dict.fromkeys(kernel.targets)]
    conditions = unit_strides(w, kernel.space, kernel.views)
    conditions += disjoint(w, kernel.space, kernel.views, written, kernel.together)
    arms = [] if before is None else [before]
    if conditions:
        fast, slow = w.label(), w.label()
        condition = conditions[0]
        for other in conditions[1:]:
            condition = w.set(f"and i1 {condition}, {other}")
        w.branch(condition, fast, slow)
        w.begin(slow)
        state = _rows(w, kernel, sums, False)
        arms.append((w.block, state))
        w.jump(done)
        w.begin(fast)
    state = _rows(w, kernel, sums, True)
    arms.append((w.block, state))
    w.jump(done)
    w.begin(done)
    final = w.phis(types, *arms)
    return _results(w, sums, final)


def _results(w: FunctionWriter, totals: Sequence[Total], state: Sequence[str]) -> list[str]:
    found, position = [], 0
    for total in totals:
        width = len(total.types(w))
        found.append(total.result(w, state[position : position + width]))
        position += width
    return found


def _rows(w: FunctionWriter, kernel: Kernel, sums: list[Total], fast: bool) -> list[str]:
    """Loops over all axes but the last, then the row; the state of the sums."""
    types = [t for total in sums for t in total.types(w)]
    marks = _scopes(w, kernel) if fast else {}

    def axis(number: int, bases: dict[View, str], state: Sequence[str]) -> list[str]:
        if number == kernel.space.rank - 1:
            return _row(w, kernel, sums, bases, state, fast, marks)

        def step(index: str, inner: list[str]) -> list[str]:
            places = {view: w.offset(base, w.multiply(index, view.strides[number])) for view, base in bases.items()}
            return axis(number + 1, places, inner)

        return repeat(w, "0", kernel.space.sizes[number], types, state, step)

    zeros = [z for total in sums for z in total.zeros(w)]
    return axis(0, {view: view.data for view in kernel.views}, zeros)


def _row(
    w: FunctionWriter, kernel: Kernel, sums: list[Total], bases: dict[View, str], state: Sequence[str], fast: bool,
    marks: dict[View, str],
) -> list[str]:  # fmt: skip
    rows = [t for t in kernel.totals if t.target is not None]
    totals = sums + rows
    types = [t for total in totals for t in total.types(w)]
    regular = not any(op.prim.name in NOT_VECTOR for op in kernel.block.ops)
    apart = regular and not fast and _is_moved(w, kernel)
    vector, chains = regular and (fast or apart), regular and not fast and not kernel.writes
    parts = [kernel.part(n) for n in range(1 + max(kernel.rounds))] if fast and kernel.rounds else [kernel]
    length = max(1, min(1 << 16, STRIP // kernel.cost))
    if any(t.compensated(w) for t in totals):
        length = _BLOCK if vector else _STRIDED_BLOCK if chains else _SHORT_BLOCK
    length = min(length, _MOVED) if apart else length
    streams = kernel.shared and fast and vector and len(parts) == kernel.space.rank == 1
    past = streaming.targets(kernel) if streams else []
    large = streaming.is_large(w, kernel, past) if past else ""
    length = min(length, streaming.STREAMED) if past else length
    fixed = {
        view: w.load(view.dtype, bases[view], ELEMENT + marks.get(view, ""))
        for view in dict.fromkeys(v for v in kernel.inputs if isinstance(v, View))
        if kernel.space.inner(view) == "0" and view not in kernel.writes
    }

    def loop(part: Kernel, start: str, end: str) -> list[str]:
        """One loop over a strip of the row; the sums over the strip."""
        if apart:
            return _moved(w, part, bases, fixed, start, end)

        def at(places: dict[View, str], partials: list[str]) -> list[str]:
            values = _values(w, part, places, fixed, marks)
            _write(w, part, values, places, marks)
            return [t.accumulate(w, p, values[t.output]) for t, p in zip(part.totals, partials, strict=True)]

        if past:
            moving = {v: bases[v] for v in part.views if v not in fixed}
            return streaming.streamed(w, part, past, large, moving, start, end, at, _trips(part))

        def element(index: str, partials: list[str]) -> list[str]:
            places = {v: _place(w, kernel.space, v, bases[v], index, fast) for v in part.views if v not in fixed}
            return at(places, partials)

        single, nothing = [abi.LLVM[t.dtype] for t in part.totals], [constant(0, t.dtype) for t in part.totals]
        few = written_out(start, end, nothing, element, kernel.cost)
        if few is not None:
            return few
        if vector:
            return vectors(w, start, end, single, nothing, element, _trips(part))
        mark = w.module.chains_loop() if chains and part.totals else w.module.scalar_loop()
        return repeat(w, start, end, single, nothing, element, mark)

    def strip(start: str, end: str, outer: list[str]) -> list[str]:
        partials = dict(pair for part in parts for pair in zip(part.totals, loop(part, start, end), strict=True))
        following: list[str] = []
        for total in totals:
            position = len(following)
            following += total.combine(w, outer[position : position + len(total.types(w))], partials[total])
        return following

    begin = [*state, *(z for t in rows for z in t.zeros(w))]
    final = strips(w, kernel.space.sizes[-1], types, begin, strip, length, kernel.cost)
    for total, value in zip(rows, _results(w, rows, final[len(state) :]), strict=True):
        assert total.target is not None
        _increase(w, total.target, bases[total.target], value, marks.get(total.target, ""))
    if past:
        streaming.settle(w)
    return final[: len(state)]


def _trips(kernel: Kernel) -> int:
    """How many trips of a loop are done at a time, as vectors."""
    summed = kernel.totals and not kernel.writes
    return SUMMED if summed else WIDEST // max(view.dtype.bytes for view in kernel.views)


def _is_moved(w: FunctionWriter, kernel: Kernel) -> bool:
    """Are the elements of a row, where they lie apart, better moved together and back: for functions that are dear."""
    numbers = {number for numbers in kernel.writes.values() for number in numbers}
    made = {number for view in kernel.new for number in kernel.writes[view]}
    still = any(kernel.space.inner(view) == "0" for view in kernel.writes)
    dear = any(w.costs.op(op) >= _DEAR and op.name != "powi" for op in kernel.block.ops)
    return dear and not still and numbers <= kernel.replacing | made


def _moved(
    w: FunctionWriter, kernel: Kernel, bases: dict[View, str], fixed: dict[View, str], start: str, end: str
) -> list[str]:  # fmt: skip
    """A strip of a row by way of buffers, in which its elements lie side by side; the sums over the strip."""
    read = dict.fromkeys(v for v in kernel.inputs if isinstance(v, View) and v not in fixed)
    buffers = {view: w.buffer(number, 8 * _MOVED) for number, view in enumerate({**read, **kernel.writes})}
    count = w.set(f"sub nuw nsw i64 {end}, {start}")

    def near(view: View, index: str) -> str:
        return w.set(f"getelementptr inbounds {abi.MEMORY[view.dtype]}, ptr {buffers[view]}, i64 {index}")

    def move(views: Iterable[View], back: bool) -> None:
        def step(index: str, _: list[str]) -> list[str]:
            there = w.set(f"add nuw nsw i64 {index}, {start}")
            for view in views:
                far = _place(w, kernel.space, view, bases[view], there, False)
                source, target = (near(view, index), far) if back else (far, near(view, index))
                w.store(view.dtype, w.load(view.dtype, source, ELEMENT), target, ELEMENT)
            return []

        repeat(w, "0", count, [], [], step, w.module.scalar_loop())

    def element(index: str, partials: list[str]) -> list[str]:
        places = {view: near(view, index) for view in buffers}
        values = _values(w, kernel, places, fixed)
        _write(w, kernel, values, places, {})
        return [t.accumulate(w, p, values[t.output]) for t, p in zip(kernel.totals, partials, strict=True)]

    if read:
        move(read, back=False)
    single, nothing = [abi.LLVM[t.dtype] for t in kernel.totals], [constant(0, t.dtype) for t in kernel.totals]
    found = vectors(w, "0", count, single, nothing, element, _trips(kernel))
    if kernel.writes:
        move(kernel.writes, back=True)
    return found


def _slice(block: Block, inputs: Sequence[View | str], outputs: Sequence[int]) -> tuple[Block, list[View | str]]:
    """What some outputs of a block need of it, and of its inputs."""
    needed = {block.results[i] for i in outputs}
    ops = []
    for op in reversed(block.ops):
        if not needed.isdisjoint(op.results):
            ops.append(op)
            needed.update(op.operands)
    read = [(p, v) for p, v in zip(block.params, inputs, strict=True) if p in needed]
    return Block([p for p, _ in read], ops[::-1], block.results), [v for _, v in read]


def _place(w: FunctionWriter, space: Space, view: View, base: str, index: str, fast: bool) -> str:
    """The address of an element of a row."""
    stride = space.inner(view)
    if stride == "0":
        return base
    if fast or stride == str(view.dtype.bytes):
        return w.set(f"getelementptr inbounds {abi.MEMORY[view.dtype]}, ptr {base}, i64 {index}")
    return w.offset(base, w.multiply(index, stride))


def _values(
    w: FunctionWriter, kernel: Kernel, places: dict[View, str], fixed: dict[View, str],
    marks: dict[View, str] | None = None,
) -> dict[int, str]:  # fmt: skip
    """Run the block for one element; the outputs by number."""
    marks = marks or {}
    loaded = dict(fixed)
    for view in kernel.inputs:
        if isinstance(view, View) and view not in loaded:
            loaded[view] = w.load(view.dtype, places[view], ELEMENT + marks.get(view, ""))
    w.bind(kernel.block.params, [loaded[v] if isinstance(v, View) else v for v in kernel.inputs])
    w.run(kernel.block)
    return {number: w.only(kernel.block.results[number]) for number in kernel.outputs}


def _write(
    w: FunctionWriter, kernel: Kernel, values: dict[int, str], places: dict[View, str], marks: dict[View, str]
) -> None:
    for view, outputs in kernel.writes.items():
        mark = marks.get(view, "")
        if view in kernel.new:
            (output,) = outputs
            w.store(view.dtype, values[output], places[view], ELEMENT + mark)
            continue
        for output in outputs:
            if output in kernel.replacing:
                w.store(view.dtype, values[output], places[view], ELEMENT + mark)
            else:
                _increase(w, view, places[view], values[output], mark)


def _increase(w: FunctionWriter, view: View, place: str, value: str, mark: str) -> None:
    old = w.load(view.dtype, place, ELEMENT + mark)
    w.store(view.dtype, plus(w, view.dtype, old, value), place, ELEMENT + mark)


def _scopes(w: FunctionWriter, kernel: Kernel) -> dict[View, str]:
    """Marks that tell LLVM that the written arrays overlap no other one."""
    written = list(dict.fromkeys([*kernel.writes, *kernel.targets]))
    if not written:
        return {}
    scopes = w.module.alias_scopes(len(written))
    # The claim is made anew each time the kernel runs: unrolling a loop around it must not stretch it.
    w.module.declare(_SCOPE, f"declare void {_SCOPE}(metadata)")
    for scope in scopes:
        w.do(f"call void {_SCOPE}(metadata !{w.module.node([scope])})")
    marks = {}
    for view in kernel.views:
        others = [s for s, other in zip(scopes, written, strict=True) if other != view and kernel.together(view, other)]
        own = [s for s, other in zip(scopes, written, strict=True) if other == view]
        mark = f", !alias.scope !{w.module.node(own)}" if own else ""
        marks[view] = mark + (f", !noalias !{w.module.node(others)}" if others else "")
    return marks


RULES = {"elementwise": _elementwise}

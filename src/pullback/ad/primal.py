"""The forward half of a derivation: a copy of the function, the facts about it, and places for what is added.

`sweep` adds what the reverse half needs, `reverse` reads the facts, `residuals` adds stores.

    y = elementwise n, a     active(y): does it carry derivative        size(y, 0) = n
    s = array_zeros m        home(s): its block                         settled_copy(s, op): what op read, for later
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from pullback.ad.kept import Residual
from pullback.ad.keys import answer
from pullback.ad.replaced import First
from pullback.ad.shadows import ShadowTypes, coerce, copy_array, new_table, scalar_zero, zero_array
from pullback.ad.snapshots import copy_what_loops_read
from pullback.ad.twins import Item, stored_outputs, with_cells
from pullback.analysis.activity import Activity
from pullback.analysis.alias import NO_WRITES, Aliases, Writes, overlapping_pairs, record_links
from pullback.analysis.cells import TABLE_WRITES, Place, column_of
from pullback.analysis.dependence import Dependence
from pullback.analysis.effects import elementwise_targets
from pullback.diagnostic import CompileError, Diagnostic, InternalError, Span
from pullback.ir.node import Block, Function, Op, Program, Value
from pullback.ir.walk import clone_function, free_values, substitute, uses
from pullback.prims.base import Emitter, get
from pullback.types import ArrayRef, Box, Buffer, Scalar, Table

__all__ = ["Derivations", "Mask", "Primal", "Rerun", "SplitCall", "keep_apart", "of_pullback", "prepare_copy"]


@dataclass(frozen=True, slots=True)
class Mask:
    """Which parameters and results of a function are active.

    Positions of references (parameters, then results): `tracked` arrays have shadows in the forward half, because they
    are overwritten and may be known by several names (tables: the arrays they hold); `unsettled` memory may be written
    by the caller after the call, as may the columns `rewritten` of tables.  `cells`: their active columns.
    """

    params: tuple[bool, ...]
    results: tuple[bool, ...]
    tracked: frozenset[int] = frozenset()
    unsettled: frozenset[int] = frozenset()
    rewritten: frozenset[Place] = frozenset()
    cells: frozenset[Place] = frozenset()

    def __str__(self) -> str:
        return "".join("01"[p] for p in self.params) + "_" + "".join("01"[r] for r in self.results)


@dataclass(frozen=True, slots=True)
class SplitCall:
    """The two halves of a function: names, and the record that joins them."""

    augmented: str
    pull: str
    box: str


class Derivations(Protocol):
    """What a derivation asks of the driver: facts of the program, and derived functions by name."""

    program: Program
    types: ShadowTypes
    kept: list[Residual]

    @property
    def written(self) -> dict[str, Writes]: ...

    def declared(self, name: str) -> frozenset[int] | None: ...

    def split(self, name: str, mask: Mask) -> SplitCall: ...

    def tangent(self, name: str, mask: Mask) -> str: ...

    def again(self, name: str, mask: Mask) -> str: ...

    def zeros(self, box: str) -> str: ...

    def fresh_box(self, stem: str) -> str: ...


def prepare_copy(function: Function) -> Function:
    """A copy in the form that derivations expect.

    The blocks of `elementwise` ops are closed (what they used from outside becomes an input); a selection among
    references is an `if`.
    """
    copy = clone_function(function)
    for op in copy.body.walk():
        if op.name == "elementwise":
            _close_elementwise(op)
        elif op.name == "select" and not isinstance(op.result.type, Scalar):
            condition, yes, no = op.operands
            op.prim, op.operands, op.blocks = get("if"), [condition], [Block(results=[yes]), Block(results=[no])]
    return copy


def keep_apart(
    function: Function, aliases: Aliases, active: Callable[[Value], bool], declared: frozenset[int] | None,
    *, all_pairs: bool = False,
) -> None:  # fmt: skip
    """Arguments that share memory, one of them written, would need shadows that do: a check where the function starts.

    `declared`: parameters that the function wrote before anything in it was derived, None where that is not known; a
    derivation adds no writes to them, only doubt.  `all_pairs`: also of arguments through which no derivative flows.
    """
    body = function.body
    used = uses(body)
    place = {v: i for i, v in enumerate(body.params)}
    e = Emitter(Block(), function.span)
    pairs: list[tuple[Value, Value]] = []
    for one, other in overlapping_pairs(aliases, body.params):
        if declared is not None and declared.isdisjoint((place[one], place[other])):
            pairs.append((one, other))  # unwritten: that they overlap is of no account
            continue
        arrays = isinstance(one.type, ArrayRef) and isinstance(other.type, ArrayRef)
        if arrays and one in used and other in used and (all_pairs or active(one) or active(other)):
            pairs.append((one, other))
            names = f" {one.name} and {other.name}" if one.name and other.name else ""
            message = f"cannot differentiate: the arrays{names} share memory and one of them is changed"
            e.op("check", e("not_", e("array_overlap", one, other)), exception="ValueError", message=message)
    body.ops[:0] = e.block.ops
    aliases.separate(pairs)


def _close_elementwise(op: Op) -> None:
    (block,) = op.blocks
    outside = list(free_values(block))
    if not outside:
        return
    end = len(op.operands) - len(elementwise_targets(op))
    params = [Value(v.type, v.name) for v in outside]
    substitute(block, dict(zip(outside, params, strict=True)))
    op.operands[end:end] = outside
    block.params += params


@dataclass(slots=True)
class Call:
    """A call that was replaced by its augmented form."""

    mask: Mask
    split: SplitCall
    record: Value
    arguments: list[Value]
    results: list[Value]


@dataclass(slots=True)
class Rerun:
    """A call that the reverse half runs again: the function that does both halves, and what it is given then.

    kept: None for an array that it only writes.
    """

    mask: Mask
    again: str
    kept: list[Value | None]
    arguments: list[Value]
    results: list[Value]


@dataclass(slots=True)
class Tables:
    """Where values are defined and what was added for the reverse half."""

    home: dict[Value, Block] = field(default_factory=dict)
    maker: dict[Value, Op] = field(default_factory=dict)
    holder: dict[Block, Op] = field(default_factory=dict)
    place: dict[Op, Block] = field(default_factory=dict)


class Primal:
    """The forward half.  `inputs` and `outputs` are positions of parameters and results.

    `mask`: of the calls that it is made for; without one the request stands in user code.
    """

    def __init__(
        self, derivations: Derivations, function: Function, inputs: Iterable[int], outputs: Iterable[int],
        *, mask: Mask | None = None, escaping: Sequence[Value] = (), anytime: bool = False, alone: bool = False,
    ) -> None:  # fmt: skip
        """`escaping`: results the caller may write before the reverse half runs; `anytime`: that may be at any time.

        `alone`: what the function overwrites shares no memory with anything else that it is given.
        """
        self.derivations, self.mask, self.anytime, self.alone = derivations, mask, anytime, alone
        self.types = derivations.types
        self.function = prepare_copy(function)
        self.body = body = self.function.body
        self.params, self.results = list(body.params), list(body.results)
        self.inputs = [body.params[i] for i in inputs]
        wanted = [body.results[i] for i in outputs]
        links = record_links(derivations.program)
        known = [*body.params, *body.results]
        self.tracked = tracked = [known[i] for i in sorted(mask.tracked)] if mask else []
        places = [function.body.results.index(v) + len(body.params) for v in escaping]
        self.aliases = aliases = self._look(links, [known[i] for i in (sorted(mask.unsettled) if mask else places)])
        self.dependence = Dependence(aliases)
        cells = mask.cells if mask else None
        starts = with_cells(self.inputs, body.params, cells)
        ends: list[Item] = list(wanted)
        if mask is not None:  # memory of the caller that the function writes is an output
            ends += stored_outputs(starts, aliases)
        given = [item for item in with_cells(tracked, body.params, cells) if not _is_number_cell(item, self.types)]
        if mask is not None:  # records whose shadows the caller asks for, and shadows that it adds to
            given += [v for v in wanted if isinstance(v.type, Box)]
        self.activity = Activity(
            self.function, starts, ends, aliases, derivations.written,
            self.types.carries, links, given,
            columns=derivations.program.layouts,
            followed=[v for v in self.inputs if isinstance(v.type, Table) and self.types.mirrored(v.type)],
        )  # fmt: skip
        answer(body, self.activity.varied)
        self.tables = Tables()
        self.sizes: dict[Value, list[Value]] = {}
        self.mirrors: dict[Value, Value] = {}
        self.firsts: dict[Value, list[First]] = {}  # by table: shadows that stand in its twin again at the end
        self.zeros: dict[Value, Value] = {}  # shadows of parameters as they were made, before their type was relaxed
        self.kept: dict[Op, Value] = {}  # by `table_set` of an array: the shadow that the twin got
        self.calls: dict[Op, Call] = {}
        self.reruns: dict[Op, Rerun] = {}
        self.trips: dict[Op, tuple[Value, Value]] = {}
        self.frees: list[Op] = []
        self.puts: dict[Value, Op] = {}
        self._busy: dict[Op, bool] = {}
        self._copies: dict[tuple[Op, Value], Value] = {}
        for op in body.walk():
            if op.name == "buffer_put":
                self.puts.setdefault(op.operands[0], op)
        self._locate(body)

    def _look(self, links: Sequence[tuple[str, str]], unsettled: Sequence[Value]) -> Aliases:
        """The aliases of the function, after reads of what is overwritten were moved to copies where that is less."""

        rewritten = [(self.params[i], column) for i, column in self.mask.rewritten] if self.mask else []
        if self.anytime:
            rewritten = [(v, column) for v in self.params for column in self.types.columns(v.type)]

        def look() -> Aliases:
            return Aliases(
                self.function, self.derivations.written, links, unsettled=unsettled, tracked=self.tracked,
                called=self.mask is not None and not self.alone, rewritten=rewritten,
            )  # fmt: skip

        aliases = look()
        apart = self.mask is None or self.alone
        pairs = list(overlapping_pairs(aliases, self.params)) if apart else []
        aliases.separate(pairs)  # or a check will fail
        if copy_what_loops_read(self.function, aliases, Dependence(aliases)):
            aliases = look()
            if self.alone:
                aliases.separate(list(overlapping_pairs(aliases, self.params)))
            return aliases
        if not self.alone:
            aliases.overlap(pairs)
        return aliases

    @property
    def once(self) -> bool:
        """Does the reverse half run once for each run of the forward half."""
        return self.alone or (self.mask is None and not self.anytime)

    def active(self, value: Value) -> bool:
        return self.activity.active(value)

    def keep_apart(self) -> None:
        """Let the function raise where it starts if shadows cannot follow the overlap of its arguments."""
        keep_apart(self.function, self.aliases, self.active, self.derivations.declared(self.function.name))
        self.dependence = Dependence(self.aliases)

    def mirrored(self, value: Value) -> bool:
        """Does the value's shadow exist in the forward half."""
        if not self.active(value):
            return False
        return self.types.mirrored(value.type) or self.aliases.identity(value) or self.looked_up(value)

    def looked_up(self, value: Value) -> bool:
        """Is it an array that was found in a table."""
        op = self.tables.maker.get(value)
        return op is not None and op.name in ("table_get", "table_swap") and isinstance(value.type, ArrayRef)

    def active_cell(self, op: Op) -> bool:
        """Does the column that an op reads or writes carry derivative."""
        return self.activity.active_cell(op.operands[0], column_of(op))

    def cell_attrs(self, op: Op) -> dict[str, object]:
        """Attributes of an access to the same column of the twin."""
        return {"column": self.types.column(op.operands[0], column_of(op))}

    def busy(self, op: Op) -> bool:
        """Does the op, or one inside, have a reverse."""
        found = self._busy.get(op)
        if found is None:
            touched = [*op.results, *self._targets(op)]
            found = any(map(self.active, touched)) or self._changes_cell(op)
            found = found or any(self.busy(inner) for block in op.blocks for inner in block.ops)
            self._busy[op] = found
        return found

    def _changes_cell(self, op: Op) -> bool:
        """Does it write a column that carries derivative."""
        if op.name in TABLE_WRITES:
            return self.active_cell(op)
        if op.name != "call":
            return False
        stored = self.derivations.written.get(str(op.attrs["callee"]), NO_WRITES).cells.stored
        # A table whose shadow is made along with it has to be given to all that adds rows.
        followed = any(self.types.mirrored(v.type) and self.active(v) for v in op.operands if isinstance(v.type, Table))
        return followed or any(self.activity.active_cell(op.operands[i], column) for i, column in stored)

    def _targets(self, op: Op) -> list[Value]:
        """What the op writes to."""
        if op.name == "elementwise":
            return elementwise_targets(op)
        if op.name == "call":
            written = self.derivations.written.get(str(op.attrs["callee"]), NO_WRITES).written
            return [v for i, v in enumerate(op.operands) if i in written or isinstance(v.type, Box)]
        if op.name in ("array_inc", "array_swap", "matmul_inc", "slot_inc", "buffer_inc", "buffer_put"):
            return op.operands[:1]
        return []

    # ------------------------------------------------------------------------------------------------- bookkeeping

    def _locate(self, block: Block) -> None:
        for value in block.params:
            self.tables.home[value] = block
        for op in block.ops:
            self.enter(op, block)

    def enter(self, op: Op, block: Block) -> None:
        """Note where an op stands."""
        tables = self.tables
        tables.place[op] = block
        for value in op.results:
            tables.home[value], tables.maker[value] = block, op
        for inner in op.blocks:
            tables.holder[inner] = op
            if op.name != "elementwise":
                self._locate(inner)

    def insert_before(self, anchor: Op, ops: Sequence[Op]) -> None:
        """Put new forward ops before an op."""
        block = self.tables.place[anchor]
        at = block.ops.index(anchor)
        block.ops[at:at] = ops
        for op in ops:
            self.enter(op, block)

    def append(self, block: Block, ops: Sequence[Op]) -> None:
        """Put new forward ops at the end of a block."""
        block.ops += ops
        for op in ops:
            self.enter(op, block)

    def settled_copy(self, array: Value, at: Op) -> Value:
        """The array, or a copy of it made before `at` if something may write it later."""
        if self.aliases.settled(array, at):
            return array
        found = self._copies.get((at, array))
        if found is None:
            e = Emitter(Block(), at.span)
            found = copy_array(e, array)
            self.insert_before(at, e.block.ops)
            self._copies[at, array] = found
        return found

    # --------------------------------------------------------------------------------------- what shadows are made of

    def size(self, e: Emitter, array: Value, axis: int) -> Value:
        """The size of an axis, without referring to the array where that is possible."""
        op = self.tables.maker.get(array)
        found = None if op is None else self._made_size(e, op, axis)
        if found is not None:
            return found
        known = self.sizes.get(array)
        return known[axis] if known else e("array_size", array, axis=axis)

    def _made_size(self, e: Emitter, op: Op, axis: int) -> Value | None:
        """The size of an axis of what the op makes, from its operands."""
        place = int(str(op.attrs.get("axis", 0)))
        match op.name:
            case "array_zeros" | "array_empty" | "elementwise":
                return op.operands[axis]
            case "matmul":
                return self.size(e, op.operands[axis], axis)
            case "view_transpose":
                perm = op.attrs["perm"]
                assert isinstance(perm, tuple)
                return self.size(e, op.operands[0], perm[axis])
            case "view_index":
                return self.size(e, op.operands[0], axis + (axis >= place))
            case "view_expand":
                return e.integer(1) if axis == place else self.size(e, op.operands[0], axis - (axis > place))
            case "view_slice":
                return op.operands[2] if axis == place else self.size(e, op.operands[0], axis)
            case "view_reshape":
                return op.operands[1 + axis]
            case "view_relax":
                return self.size(e, op.operands[0], axis)
            case "view_diagonal" if isinstance(op.result.type, ArrayRef) and axis == op.result.type.rank - 1:
                return e("minimum", self.size(e, op.operands[0], axis), self.size(e, op.operands[0], axis + 1))
            case "view_diagonal":
                return self.size(e, op.operands[0], axis)
        return None

    def length(self, buffer: Value) -> Value:
        """How many elements a buffer made in this function has once it is filled."""
        maker = self.tables.maker.get(buffer)
        if maker is None or maker.name not in ("buffer", "buffer_zeros"):
            raise InternalError(f"the length of {buffer!r} is not known")
        put = self.puts.get(buffer)
        if maker.name == "buffer" and put is not None:
            index = put.operands[1]
            loop = self.tables.holder.get(self.tables.home[index]) if index in self.tables.home else None
            if loop is not None and index in loop.blocks[-1].params:
                position = loop.blocks[-1].params.index(index)
                if loop.name == "for" and position == 0:
                    return loop.operands[0]
                return loop.results[position - (loop.name == "for")]
        return maker.operands[0]

    def rows(self, table: Value) -> Value:
        """How many rows a table has at the end of the block that makes it, or of the function."""
        home = self.tables.home[table]
        e = Emitter(Block(), self.function.span)
        length = e("table_length", table)
        self.append(home, e.block.ops)
        return length

    def tables_for_reverse(self, arguments: Sequence[Value], e: Emitter | None = None) -> list[Value]:
        """The tables that the reverse half of a function gets: those it may read again, and shadows made before.

        A reverse half that may run at any time reads none again: where it calls another one, it passes new ones.
        """
        tables = [v for v in arguments if isinstance(v.type, Table)]
        found = [v for v in tables if self.types.original(v.type.name)]  # type: ignore[union-attr]
        if self.anytime and e is not None:
            found = [new_table(e, v.type) for v in found]
        return [*found, *(self.mirrors[v] for v in tables if self.mirrored(v))]

    def fresh_shadow(self, e: Emitter, value: Value) -> Value:
        """What a record or buffer that keeps `value` keeps in its shadow: a zero, or a shadow that exists."""
        type_ = self.types.machine(value.type)
        match value.type:
            case Scalar():
                return scalar_zero(e, value.type)
            case ArrayRef(_, rank, _):
                if value in self.mirrors:
                    return self.mirrors[value]
                zeros = zero_array(e, value.type, [self.size(e, value, axis) for axis in range(rank)])
                return coerce(e, zeros, value.type)
            case Buffer(element) if isinstance(element, Scalar):
                assert isinstance(type_, Buffer)
                return e("buffer_zeros", self.length(value), element=type_.element)
        if isinstance(value.type, Table) and value not in self.mirrors:
            raise of_pullback(e.span)
        return self.mirrors[value]


def of_pullback(span: Span) -> CompileError:
    """Of the reverse derivative of what keeps tables of floats, as pullbacks of functions of objects do."""
    title = "the reverse derivative of a pullback of a function of objects is not supported"
    return CompileError(Diagnostic(title, span, "", "differentiate with grad or jvp inside"))


def _is_number_cell(item: Item, types: ShadowTypes) -> bool:
    return isinstance(item, tuple) and isinstance(types.column_type(*item), Scalar)


def slot_place(types: ShadowTypes, op: Op) -> int:
    """For slot_get / slot_inc on a record that is itself a shadow: the slot of the record's shadow."""
    record = op.operands[0].type
    assert isinstance(record, Box)
    place = types.positions(record.name, int(str(op.attrs.get("variant", 0))))[int(str(op.attrs["slot"]))]
    assert place is not None
    return place


def slot_attrs(op: Op, place: int) -> dict[str, object]:
    """Attributes of an access to a slot of the shadow of the record that `op` makes, opens or accesses."""
    variant = op.attrs.get("variant", 0)
    return {"slot": place, "variant": variant} if variant else {"slot": place}



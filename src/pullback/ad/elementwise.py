"""Both modes for `elementwise`: its derivative is an `elementwise` of the derivative of its block.

    y = elementwise{new} n, a, s {(x, t): yield sin(x) * t}

    forward   y, dy = elementwise{new, new} n, a, s, da, ds {(x, t, dx, dt): the block and its tangent}
    reverse   ds += elementwise{inc, sum} n, a, s, cy, -> ca {(x, t, c): yield cos(x) * t * c, sin(x) * c}
              of a "set" output, too, where the target is other memory than the inputs (or one of them, the same view):
              what the target's shadow held is replaced by what the input gets, or by 0.  Else it is taken out first.

The reverse computes the block's values again from the inputs, or reads an output of the op where that is cheaper.  Of
inputs that are overwritten later it needs copies, or what was computed from them: then the op gets one more output.
Contributions to different views of one array go into ops of their own, so that targets of one op never overlap.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from pullback.ad.costs import is_expensive, store_cost
from pullback.ad.cut import Choice
from pullback.ad.dead import remove_dead
from pullback.ad.scalars import Wild, pull_scalar, push_scalar
from pullback.ad.shadows import elementwise, is_float_scalar, scalar_zero
from pullback.analysis.effects import elementwise_inputs, elementwise_targets
from pullback.diagnostic import InternalError
from pullback.ir.node import Block, Op, Value
from pullback.ir.walk import clone_ops, substitute
from pullback.prims.base import Emitter
from pullback.types import ArrayRef, Scalar

if TYPE_CHECKING:
    from pullback.ad.reverse import Reverse

__all__ = ["pull_elementwise", "push_elementwise"]


def _outputs(op: Op) -> tuple[str, ...]:
    outputs = op.attrs["outputs"]
    assert isinstance(outputs, tuple)
    return outputs


def _places(op: Op) -> list[Value]:
    """Per output: the result, or the target that is written."""
    results, targets = iter(op.results), iter(elementwise_targets(op))
    return [next(targets) if kind in ("inc", "set") else next(results) for kind in _outputs(op)]


def _straight(op: Op) -> Block:
    (block,) = op.blocks
    if any(inner.blocks for inner in block.ops):
        raise InternalError("an elementwise block with control flow")
    return block


def _element(value: Value) -> Scalar:
    """The type of what an elementwise block gets for an operand."""
    if isinstance(value.type, ArrayRef):
        return Scalar(value.type.dtype)
    assert isinstance(value.type, Scalar)
    return value.type


# ------------------------------------------------------------------------------------------------------------ reverse


def pull_elementwise(reverse: Reverse, op: Op) -> None:
    """Emit the reverse of the op into the current block of `reverse`."""
    sizes = op.operands[: int(str(op.attrs["rank"]))]
    incoming: list[tuple[Value, Value]] = []  # (a result of the block, its cotangent: array or scalar)
    overwritten: dict[Value, Value] = {}  # targets of "set" outputs and their shadows
    for kind, value, place in zip(_outputs(op), _straight(op).results, _places(op), strict=True):
        if is_float_scalar(value.type):
            found = reverse.cotangent(place) if isinstance(place.type, Scalar) else reverse.existing(place)
            if found is not None:
                incoming.append((value, found))
                if kind == "set":
                    overwritten[place] = found
    if not incoming:
        return
    if overwritten and not _separate(reverse, op, overwritten):
        taken = {shadow: _taken(reverse, sizes, shadow) for shadow in overwritten.values()}
        incoming = [(value, taken.get(found, found)) for value, found in incoming]
        overwritten = {}
    parts = _Pulled(reverse, op, incoming)
    inputs = [i for i in dict.fromkeys(elementwise_inputs(op)) if i in parts.contributions]
    parts.record()
    for group in [inputs] if overwritten else _groups(reverse, inputs):
        parts.emit(sizes, group, overwritten)


def _separate(reverse: Reverse, op: Op, overwritten: Mapping[Value, Value]) -> bool:
    """May one op take the cotangents of what was overwritten and add to the inputs: is it all different memory."""
    active = reverse.primal.active
    arrays = [v for v in (*elementwise_inputs(op), *_places(op)) if isinstance(v.type, ArrayRef) and active(v)]
    arrays = list(dict.fromkeys(arrays))
    return all(
        reverse.primal.aliases.apart(one, other) for i, one in enumerate(arrays) for other in arrays[i + 1 :]
    )


def _taken(reverse: Reverse, sizes: Sequence[Value], shadow: Value) -> Value:
    """The cotangents of elements that were overwritten, moved out: what stood there before has none of them."""
    assert isinstance(shadow.type, ArrayRef)
    param = Value(Scalar(shadow.type.dtype))
    block = Emitter(Block([param]), reverse.e.span)
    block.block.results = [param, block.like(0.0, param)]
    (taken,) = elementwise(reverse.e, sizes, [shadow], [shadow], block.block, ["new", "set"])
    reverse.frame.owned.append(taken)
    return taken


def _groups(reverse: Reverse, inputs: Sequence[Value]) -> list[list[Value]]:
    """Inputs whose contributions one op may add: no two that may be the same memory."""
    apart = reverse.primal.aliases.apart
    groups: list[list[Value]] = []
    for value in inputs:
        for group in groups:
            if isinstance(value.type, Scalar) or all(isinstance(v.type, Scalar) or apart(value, v) for v in group):
                group.append(value)
                break
        else:
            groups.append([value])
    return groups


class _Pulled:
    """The reverse of the block, as ops over fresh parameters; `emit` makes ops out of it."""

    def __init__(self, reverse: Reverse, op: Op, incoming: Sequence[tuple[Value, Value]]) -> None:
        self.reverse, self.op = reverse, op
        block = _straight(op)
        self.operands: dict[Value, Value] = {}  # parameter -> what it stands for
        mapping: dict[Value, Value] = {}
        for param, operand in zip(block.params, elementwise_inputs(op), strict=True):
            mapping[param] = self.param(operand, param)
        self.block = Block()
        self._read_outputs(block, mapping)
        self.block.ops += clone_ops([o for o in block.ops if not all(r in mapping for r in o.results)], mapping)
        self.forward = {v: o for o in self.block.ops for v in o.results}
        self.origin = {mapping[v]: v for o in block.ops for v in o.results}
        e = Emitter(self.block, reverse.e.span)
        self.wild: set[Value] = set()
        cotangents: dict[Value, Value] = {}
        self._seed(e, incoming, cotangents)
        active = reverse.primal.active
        for inner in reversed(block.ops):
            c = cotangents.get(inner.results[0]) if inner.results else None
            if c is not None:
                copy = _translated(inner, mapping)
                wanted = list(map(active, inner.operands))
                back = dict(zip(copy.operands, inner.operands, strict=True))
                for operand, part, wild in pull_scalar(
                    e, copy, c, wanted, reverse.wild, wild=c in self.wild, original=inner
                ):
                    self._accumulate(e, cotangents, back[operand], part, wild)
        self.contributions: dict[Value, Value] = {}
        for param, operand in zip(block.params, elementwise_inputs(op), strict=True):
            if param in cotangents and active(operand):
                self._accumulate(e, self.contributions, operand, cotangents[param], cotangents[param] in self.wild)

    def _accumulate(self, e: Emitter, sums: dict[Value, Value], key: Value, part: Value, wild: bool) -> None:
        if key in sums:
            wild = wild or sums[key] in self.wild
            part = e("add", sums[key], part)
        sums[key] = part
        if wild:
            self.wild.add(part)

    def param(self, operand: Value, like: Value | None = None) -> Value:
        value = Value(_element(operand), like.name if like is not None else "c")
        self.operands[value] = operand
        return value

    def _read_outputs(self, block: Block, mapping: dict[Value, Value]) -> None:
        """Expensive values that the op wrote to an array are read from there."""
        makers = {v: o for o in block.ops for v in o.results}
        for kind, value, place in zip(_outputs(self.op), block.results, _places(self.op), strict=True):
            maker = makers.get(value)
            written = kind in ("new", "set") and maker is not None and value not in mapping and is_expensive(maker)
            if written and isinstance(place.type, ArrayRef) and place not in elementwise_inputs(self.op):
                if self.reverse.primal.aliases.settled(place, self.op, after=True):
                    mapping[value] = self.param(place)

    def _seed(self, e: Emitter, incoming: Sequence[tuple[Value, Value]], cotangents: dict[Value, Value]) -> None:
        active = self.reverse.primal.active
        for value, found in incoming:
            if active(value):
                array, reverse = isinstance(found.type, ArrayRef), self.reverse
                part = e.like(1.0, value) if reverse.is_one(found) else self.param(found)
                self._accumulate(e, cotangents, value, part, reverse.wild.memory if array else found in reverse.wild)

    def record(self) -> None:
        """Let the op put out what the reverse needs: what cannot be computed again, where that is less to store.

        Also what is expensive, if the two halves cannot become one pass over memory, which computes it once anyway.
        """
        lost = {param for param, operand in self.operands.items() if self._is_lost(operand)}
        if not lost and not (any(map(is_expensive, self.block.ops)) and self._is_far()):
            return
        live = Block([], list(self.block.ops), list(self.contributions.values()))
        remove_dead(live)
        needed = [v for o in live.ops if o.results[0] not in self.forward for v in o.operands] + live.results
        rank = int(str(self.op.attrs["rank"]))

        def cost(value: Value) -> int:
            operand = self.operands.get(value)
            return store_cost(value) if operand is None or _rank(operand) == rank else 1  # a broadcast array is small

        choice = Choice(
            self.forward.get, [v for v in dict.fromkeys(needed) if v in lost or v in self.forward],
            lambda value: value not in lost and value not in self.forward, cost,
        )  # fmt: skip
        kept = {v: self.param(self._put_out(self.origin[v])) for v in choice.stored if v in self.forward}
        self.block.ops = [o for o in self.block.ops if o.results[0] not in kept]
        substitute(self.block, kept)
        self.contributions = {key: kept.get(v, v) for key, v in self.contributions.items()}
        self.wild |= {kept[v] for v in kept if v in self.wild}

    def _is_far(self) -> bool:
        """Do other ops always come between the op and its reverse: another trip, or the caller's."""
        primal = self.reverse.primal
        if primal.mask is not None and not primal.alone:
            return True
        place = primal.aliases.place(self.op)
        while place is not None:
            holder = primal.aliases.holder(place[0])
            if holder is None:
                return False
            if holder.name in ("for", "while"):
                return True
            place = primal.aliases.place(holder)
        return False

    def _is_lost(self, operand: Value) -> bool:
        """Is it an input of the op that may have been overwritten by the time of the reverse."""
        known = isinstance(operand.type, ArrayRef) and operand in elementwise_inputs(self.op)
        return known and not self.reverse.primal.aliases.settled(operand, self.op)

    def _put_out(self, value: Value) -> Value:
        """A fresh array with a value of the forward op's block."""
        op, tables = self.op, self.reverse.primal.tables
        assert isinstance(value.type, Scalar)
        made = Value(ArrayRef(value.type.dtype, int(str(op.attrs["rank"])), True), value.name)
        op.attrs["outputs"] = (*_outputs(op), "new")
        op.results.append(made)
        op.blocks[0].results.append(value)
        tables.home[made], tables.maker[made] = tables.place[op], op
        return made

    def emit(self, sizes: Sequence[Value], inputs: Sequence[Value], overwritten: Mapping[Value, Value]) -> None:
        """One op that adds the contributions to these inputs, and puts those to overwritten arrays in their place."""
        reverse = self.reverse
        mapping: dict[Value, Value] = {}
        params = list(self.operands)
        copies = [Value(p.type, p.name) for p in params]
        mapping.update(zip(params, copies, strict=True))
        block = Block(copies, clone_ops(self.block.ops, mapping))
        arrays = [v for v in inputs if isinstance(v.type, ArrayRef) and v not in overwritten]
        scalars = [v for v in inputs if isinstance(v.type, Scalar)]
        zero = Emitter(block, reverse.e.span)
        block.results = [
            mapping[self.contributions[v]] if v in self.contributions else scalar_zero(zero, _element(v))
            for v in [*arrays, *overwritten, *scalars]
        ]
        used = remove_dead(block)
        kept = [(copy, self.operands[param]) for copy, param in zip(copies, params, strict=True) if copy in used]
        block.params = [copy for copy, _ in kept]
        operands = [self._settled(operand) for _, operand in kept]
        targets = [*map(reverse.shadow, arrays), *overwritten.values()]
        outputs = ["inc"] * len(arrays) + ["set"] * len(overwritten) + ["sum"] * len(scalars)
        sums = elementwise(reverse.e, sizes, operands, targets, block, outputs)
        for value, part in zip(scalars, sums, strict=True):
            reverse.add(value, reverse.wild.note(part, self.contributions[value] in self.wild))

    def _settled(self, operand: Value) -> Value:
        """Values of the forward half that may be overwritten are copied; cotangents are used as they are."""
        return self.reverse.primal.settled_copy(operand, self.op) if self._is_lost(operand) else operand


def _rank(operand: Value) -> int:
    return operand.type.rank if isinstance(operand.type, ArrayRef) else 0


def _translated(op: Op, mapping: dict[Value, Value]) -> Op:
    operands = [mapping.get(v, v) for v in op.operands]
    return Op(op.prim, operands, [mapping.get(v, v) for v in op.results], op.attrs, (), op.span)


# ------------------------------------------------------------------------------------------------------------ forward


def push_elementwise(
    e: Emitter, op: Op, tangent: Callable[[Value], Value | None], active: Callable[[Value], bool], wild: Wild
) -> list[Value | None]:
    """Emit one op for the values and the tangents.  It takes over the results of `op`; their tangents are returned."""
    rank, block = int(str(op.attrs["rank"])), _straight(op)
    mapping: dict[Value, Value] = {}
    params = [Value(p.type, p.name) for p in block.params]
    mapping.update(zip(block.params, params, strict=True))
    inputs, extra = elementwise_inputs(op), list[Value]()
    tangents: dict[Value, Value | None] = {}
    for param, operand in zip(block.params, inputs, strict=True):
        found = tangent(operand)
        if found is not None and is_float_scalar(param.type):
            extra.append(found)
            inner_wild = wild.memory if isinstance(found.type, ArrayRef) else found in wild
            tangents[param] = wild.note(Value(param.type, "t"), inner_wild)
    twin = Block([*params, *(t for t in tangents.values() if t is not None)])
    inner = Emitter(twin, op.span)
    for one in block.ops:
        (copy,) = clone_ops([one], mapping)
        twin.ops.append(copy)
        pushed, pushed_wild = push_scalar(inner, copy, [tangents.get(v) for v in one.operands], wild, original=one)
        tangents[one.results[0]] = pushed if pushed is None else wild.note(pushed, pushed_wild)
    outputs, places = list(_outputs(op)), _places(op)
    twin.results = [mapping.get(v, v) for v in block.results]
    targets = list(elementwise_targets(op))
    tangent_places: list[Value] = []
    for kind, value, place in zip(_outputs(op), block.results, places, strict=True):
        found = tangents.get(value)
        sink = tangent(place) if kind in ("inc", "set") else None
        if (kind == "inc" and found is None) or (kind in ("inc", "set") and sink is None) or not active(place):
            continue
        twin.results.append(scalar_zero(inner, value.type) if found is None else found)
        outputs.append(kind)
        if sink is not None:
            targets.append(sink)
        else:
            tangent_places.append(place)
    results = elementwise(e, op.operands[:rank], [*inputs, *extra], targets, twin, outputs)
    count = len(op.results)
    by_place = dict(zip(tangent_places, results[count:], strict=True))
    e.block.ops[-1].results[:count] = op.results
    for result in results[count:]:
        wild.note(result, wild.memory)
    return [by_place.get(v) for v in op.results]

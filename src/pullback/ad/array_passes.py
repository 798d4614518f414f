"""J of passes over whole arrays and of products of matrices.

    y = py.prim{elementwise}(n, a, x)      back:  of each array a: py.prim{elementwise, inc}(n, a, x, y', target a')
    c = py.prim{matmul}(a, b)              back:  py.prim{matmul_inc}(a', c', b transposed), ...

What is overwritten loses its sensitivity first and passes it on then, for what gets it may be the same memory
(`_taken`).  Arrays that the reverse reads are copied where they are used: who writes to them later is not known here.
Products are `zmul`: what lies in a shadow may be infinite.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pullback.ad.backpropagator import Back, Step
from pullback.ad.dead import remove_dead
from pullback.ad.scalars import Wild, pull_scalar
from pullback.ad.shadowing import (
    COPY,
    SET,
    Transformer,
    again,
    clear,
    copied,
    machines,
    one_pass,
    prim,
    primals,
    shadow_of,
    sizes_of,
    tracked,
    zeros,
)  # fmt: skip
from pullback.ir.node import Block, Op, Value
from pullback.ir.walk import clone_block, clone_ops
from pullback.prims.base import Emitter
from pullback.types import ArrayRef, Machine, Scalar, is_float

__all__ = ["elementwise", "matmul", "matmul_inc"]


class _Parts:
    """The operands and results of an elementwise op by what they are for."""

    def __init__(self, op: Op) -> None:
        attributes, types = op.attrs["attributes"], machines(op, "types")
        assert isinstance(attributes, Mapping)
        self.rank, targets, self.outputs = attributes["rank"], attributes["targets"], attributes["outputs"]
        end = len(op.operands) - targets
        self.inputs, self.input_types = op.operands[self.rank : end], types[self.rank : end]
        self.targets, self.target_types = op.operands[end:], types[end:]
        block = op.attrs["block"]
        assert isinstance(block, Block)
        self.block = block

    def places(self, op: Op) -> list[tuple[Value, Machine]]:
        """Per output the result, or the target that is written."""
        results = iter(zip(op.results, machines(op, "results"), strict=True))
        targets = iter(zip(self.targets, self.target_types, strict=True))
        return [next(targets) if kind in ("inc", "set") else next(results) for kind in self.outputs]


class _Pulled:
    """The reverse of an elementwise block: parameters for inputs and sensitivities, and what each input gets."""

    def __init__(self, parts: _Parts) -> None:
        mapping: dict[Value, Value] = {}
        self.block = clone_block(parts.block, mapping)
        self.inputs = list(self.block.params)
        facts = Wild(Block(self.inputs, self.block.ops), lambda value: True, given=True)
        e, sums = Emitter(self.block), dict[Value, Value]()
        self.given: dict[int, Value] = {}  # the sensitivity of each output that has one
        forward, yielded = list(self.block.ops), list(self.block.results)
        for place, value in enumerate(yielded):
            if value.type is not None and is_float(value.type):
                self.given[place] = Value(value.type, "c")
                _accumulate(e, sums, value, self.given[place])
        for op in reversed(forward):
            c = sums.get(op.results[0]) if op.results else None
            if c is not None:
                wanted = [v.type is not None and is_float(v.type) for v in op.operands]
                for operand, part, _ in pull_scalar(e, op, c, wanted, facts, wild=True):
                    _accumulate(e, sums, operand, part)
        self.found = {i: sums[v] for i, v in enumerate(self.inputs) if v in sums}

    def one(self, wanted: Sequence[int]) -> tuple[Block, list[int], list[int]]:
        """A block of what these inputs get; which inputs and which sensitivities it needs."""
        mapping: dict[Value, Value] = {}
        params = [*self.inputs, *self.given.values()]
        fresh = [Value(v.type, v.name) for v in params]
        mapping.update(zip(params, fresh, strict=True))
        block = Block(fresh, clone_ops(self.block.ops, mapping))
        block.results = [mapping[self.found[i]] for i in wanted]
        used = remove_dead(block)
        inputs = [i for i, v in enumerate(self.inputs) if mapping[v] in used]
        places = [place for place, v in self.given.items() if mapping[v] in used]
        block.params = [v for v in fresh if v in used]
        return block, inputs, places


def _accumulate(e: Emitter, sums: dict[Value, Value], key: Value, part: Value) -> None:
    sums[key] = e("add", sums[key], part) if key in sums else part


def elementwise(j: Transformer, op: Op) -> Step | None:
    """One pass over memory; its reverse is one for each array that it reads, and one for the numbers."""
    parts = _Parts(op)
    sizes = j.mapped(op.operands[: parts.rank])
    pulled = _Pulled(parts)
    reverse = _Reverse(j, parts, pulled, sizes)  # what it keeps is copied before the op may write to it
    found = again(j, op)
    shadows = reverse.shadows
    bound: list[Value] = []
    for result, made, type_ in zip(op.results, found, machines(op, "results"), strict=True):
        if tracked(type_):
            shadows[result] = zeros(j, sizes, type_)
            made = j.emit("shadowed", [made, shadows[result]])[0]
        bound.append(made)
        if isinstance(type_, ArrayRef) or not is_float(type_):
            j.inert.add(result)
    j.bind(op, bound)
    places = parts.places(op)
    shadows |= {target: shadow_of(j, target) for target, type_ in zip(parts.targets, parts.target_types, strict=True)
                if tracked(type_)}  # fmt: skip
    if not pulled.given:
        return None

    def step(back: Back) -> None:
        acting = any(parts.outputs[place] != "sum" or places[place][0] in back.known for place in pulled.given)
        if acting:
            reverse.emit(back, places)

    return step


class _Reverse:
    """What the backpropagator of an elementwise op captures, and the ops that it emits."""

    def __init__(self, j: Transformer, parts: _Parts, pulled: _Pulled, sizes: Sequence[Value]) -> None:
        self.parts, self.pulled, self.sizes = parts, pulled, sizes
        self.shadows: dict[Value, Value] = {}  # of results and targets
        arrays = [i for i in pulled.found if isinstance(parts.input_types[i], ArrayRef)]
        numbers = [i for i in pulled.found if not isinstance(parts.input_types[i], ArrayRef)]
        self.groups = [[i] for i in arrays] + ([numbers] if numbers else [])
        self.blocks = [pulled.one(group) for group in self.groups]
        self.into = {i: shadow_of(j, parts.inputs[i]) for i in arrays}
        self.kept: dict[int, tuple[Value, Machine]] = {}
        for i in sorted({i for _, inputs, _ in self.blocks for i in inputs}):
            value, type_ = j.values[parts.inputs[i]], parts.input_types[i]
            if isinstance(type_, ArrayRef):
                array = j.emit("primal", [value])[0] if tracked(type_) else value
                value, type_ = copied(j, array, type_), ArrayRef(type_.dtype, type_.rank, True)
            self.kept[i] = (value, type_)

    def emit(self, back: Back, places: Sequence[tuple[Value, Machine]]) -> None:
        given = {place: self._given(back, place, *places[place]) for place in self.pulled.given}
        for group, (block, inputs, used) in zip(self.groups, self.blocks, strict=True):
            operands = [*(self.kept[i] for i in inputs), *(given[place] for place in used)]
            arrays = [i for i in group if i in self.into]
            targets = [(self.into[i], self.parts.input_types[i]) for i in arrays]
            values, types = zip(*operands, *targets, strict=True) if operands or targets else ((), ())
            sums = one_pass(back.emit, self.sizes, values, types, clone_block(block, {}),
                         ["inc" if i in self.into else "sum" for i in group])  # fmt: skip
            for i, part in zip([i for i in group if i not in self.into], sums, strict=True):
                back.give(self.parts.inputs[i], part)
        for place, kind in enumerate(self.parts.outputs):
            if kind == "new" and place in self.pulled.given:
                clear(back, self.shadows[places[place][0]])

    def _given(self, back: Back, place: int, value: Value, type_: Machine) -> tuple[Value, Machine]:
        """The sensitivity of an output: a number, or an array that no other shadow overlaps."""
        kind = self.parts.outputs[place]
        if kind == "sum":
            return back.take(value), type_
        assert isinstance(type_, ArrayRef)
        if kind == "new":
            return self.shadows[value], type_
        taken = _taken(back, self.sizes, self.shadows[value], type_, clear=kind == "set")
        return taken, ArrayRef(type_.dtype, self.parts.rank, True)


def _taken(back: Back, sizes: Sequence[Value], shadow: Value, type_: ArrayRef, *, clear: bool) -> Value:
    """A copy of sensitivities; of elements that were overwritten they are moved out."""
    param = Value(Scalar(type_.dtype))
    block = Emitter(Block([param]))
    block.block.results = [param, block.like(0.0, param)] if clear else [param]
    operands = [shadow, shadow] if clear else [shadow]
    return one_pass(back.emit, sizes, operands, [type_] * len(operands), block.block, SET if clear else COPY)[0]


def matmul(j: Transformer, op: Op) -> Step | None:
    """A product, a new array."""
    types, (type_,) = machines(op, "types"), machines(op, "results")
    a, b = primals(j, op)
    (made,) = again(j, op, [a, b])
    sizes = [sizes_of(j.emit, a, types[0])[0], sizes_of(j.emit, b, types[1])[1]]  # type: ignore[arg-type]
    shadow = zeros(j, sizes, type_)
    j.bind(op, j.emit("shadowed", [made, shadow]))
    j.inert.update(op.results)
    step = _product(j, shadow, type_, (a, b), op.operands, types)

    def both(back: Back) -> None:
        step(back)
        clear(back, shadow)

    return both


def matmul_inc(j: Transformer, op: Op) -> Step | None:
    """A product that is added to an array."""
    types = machines(op, "types")
    target, a, b = primals(j, op)
    again(j, op, [target, a, b])
    return _product(j, shadow_of(j, op.operands[0]), types[0], (a, b), op.operands[1:], types[1:])


def _product(
    j: Transformer, c: Value, c_type: Machine, primals: Sequence[Value], operands: Sequence[Value],
    types: Sequence[Machine],
) -> Step:  # fmt: skip
    """Of c = a @ b: a gets c @ b', b gets a' @ c."""
    kept = [copied(j, array, type_) for array, type_ in zip(primals, types, strict=True)]
    into = [shadow_of(j, operand) for operand in operands]
    whole = [ArrayRef(t.dtype, 2, True) for t in types if isinstance(t, ArrayRef)]
    turned = [ArrayRef(t.dtype, 2, False) for t in whole]

    def step(back: Back) -> None:
        swapped = [prim(back.emit, "view_transpose", [k], [w], [t], perm=(1, 0))[0]
                   for k, w, t in zip(kept, whole, turned, strict=True)]  # fmt: skip
        prim(back.emit, "matmul_inc", [into[0], c, swapped[1]], [types[0], c_type, turned[1]], [])
        prim(back.emit, "matmul_inc", [into[1], swapped[0], c], [types[1], turned[0], c_type], [])

    return step

"""Sums with arrays that are zero but for a few elements: these are added to the sum instead.

    v = array_zeros n                                              s = elementwise{new} n, a, b {accumulate}
    array_inc v, i, x                                     ->       array_inc s, i, x
    s = elementwise{new} n, a, v, b {accumulate; accumulate}

Each reading of an element yields such an array as its sensitivity.  The sum may be added to an array itself.  Only sums
of sensitivities are rewritten, in which zeros add nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

from pullback.analysis.effects import VIEWS, elementwise_inputs, elementwise_targets
from pullback.ir.node import Block, Function, Op, Program, Value
from pullback.ir.walk import free_values, substitute
from pullback.passes.fuse import Fuser
from pullback.prims.base import get

__all__ = ["run"]


def run(function: Function, program: Program) -> None:
    """Rewrite the sums of every block."""
    if any(op.name == "array_zeros" for op in function.body.walk()):
        _Gathers(function, program).block(function.body)


class _Gathers(Fuser):
    def block(self, block: Block) -> None:
        for op in list(block.ops):
            if op.name != "elementwise":
                for inner in op.blocks:
                    self.block(inner)
        for op in list(block.ops):
            if op in block.ops and _is_sum(op):
                self.gather(block, op)

    def gather(self, block: Block, op: Op) -> None:
        inputs = elementwise_inputs(op)
        if op.results and _terms(op) == op.blocks[0].params:
            every = {v: parts for v in inputs if (parts := self.additions(block, op, v, late=False)) is not None}
            if len(every) == len(inputs):
                self.into_first(block, op, every)
                return
        found = {v: parts for v in inputs if (parts := self.additions(block, op, v, late=True)) is not None}
        if not found:
            return
        base, moved = _place(op), [part for parts in found.values() for part in parts]
        rest = [v for v in inputs if v not in found]
        place = block.ops.index(op) + 1
        gone = {self.maker[v] for v in found}
        if not rest and len(_terms(op)) == len(inputs) and not op.results:
            gone.add(op)  # nothing else is added
        else:
            _sum_of(op, rest)
        moved_or_gone = {*gone, *moved}
        place -= sum(other in moved_or_gone for other in block.ops[:place])
        block.ops = [other for other in block.ops if other not in gone and other not in moved]
        for part in moved:
            part.operands = [base if v in found else v for v in part.operands]
        block.ops[place:place] = moved

    def into_first(self, block: Block, op: Op, found: dict[Value, list[Op]]) -> None:
        """All are zero but for what is added to them: all that is added to the first of them."""
        makers = [other for other in block.ops if other in {self.maker[v] for v in found}]
        base = makers[0].result
        block.ops = [other for other in block.ops if other is not op and other not in makers[1:]]
        for part in (part for parts in found.values() for part in parts):
            part.operands = [base if v in found else v for v in part.operands]
        substitute(block, {op.result: base})

    def additions(self, block: Block, op: Op, value: Value, *, late: bool) -> list[Op] | None:
        """What adds to a zeroed array before its only reader; `late`: if all that can be done after it."""
        made = self.maker.get(value)
        if made is None or made.name != "array_zeros" or made not in block.ops or not self.same_size(block, made, op):
            return None
        if value in block.results or value.type != _place(op).type:
            return None
        end = block.ops.index(op)
        start = block.ops.index(made)
        names, parts = {value}, []
        for place, other in enumerate(block.ops):
            uses = {*other.operands, *(v for inner in other.blocks for v in free_values(inner))}
            if other is op or not names & uses:
                continue
            if not start < place < end or not _adds(other, names):
                return None
            if other.name in VIEWS:
                names.update(other.results)
            parts.append(other)
        if names & set(block.results) or (len(names) > 1 and names & set(op.operands) != {value}):
            return None
        return parts if not late or all(self.may_be_later(block, part, parts, end) for part in parts) else None

    def same_size(self, block: Block, made: Op, op: Op) -> bool:
        """Are the sizes the same, perhaps by what was checked before?"""
        classes: dict[Value, Value] = {}

        def one_of(value: Value) -> Value:
            while value in classes:
                value = classes[value]
            return value

        for check in block.ops[: block.ops.index(op)]:
            test = self.maker.get(check.operands[0]) if check.name == "check" else None
            if test is not None and test.name == "eq":
                first, second = (one_of(v) for v in test.operands)
                if first is not second:
                    classes[first] = second
        pairs = list(zip(made.operands, _sizes(op), strict=False))
        return len(made.operands) == len(_sizes(op)) and all(one_of(m) is one_of(n) for m, n in pairs)

    def may_be_later(self, block: Block, part: Op, parts: Sequence[Op], end: int) -> bool:
        """Does nothing change what the part reads before the sum is made."""
        between = [other for other in block.ops[block.ops.index(part) : end] if other not in parts]
        if part.name == "matmul_inc":
            return not any(self.writes(other, part.operands[1:]) for other in between)
        return part.name != "elementwise" or (part.attrs["outputs"] == ("inc",) and self.may_move(part, between))


def _adds(op: Op, names: set[Value]) -> bool:
    """Does the op only add to one of these arrays, or view it."""
    if op.name in ("array_inc", "matmul_inc"):
        return op.operands[0] in names and not names & set(op.operands[1:])
    if op.name == "elementwise":
        outputs = op.attrs["outputs"]
        assert isinstance(outputs, tuple)
        written = [kind for kind in outputs if kind in ("inc", "set")]
        added = all(kind == "inc" for kind, v in zip(written, elementwise_targets(op), strict=True) if v in names)
        own = not names & {v for inner in op.blocks for v in free_values(inner)}
        return added and own and not names & set(elementwise_inputs(op))
    return op.name in VIEWS and op.operands[0] in names


def _sizes(op: Op) -> list[Value]:
    return op.operands[: int(str(op.attrs["rank"]))]


def _place(op: Op) -> Value:
    """The array that is made of the sum, or that it is added to."""
    return op.results[0] if op.results else elementwise_targets(op)[0]


def _is_sum(op: Op) -> bool:
    """An array whose elements are the sum of those of the inputs, each once, or get that added."""
    if op.name != "elementwise" or op.attrs["outputs"] not in (("new",), ("inc",)):
        return False
    (body,) = op.blocks
    adds = [inner for inner in body.ops if inner.name == "accumulate"]
    used = [v for inner in adds for v in inner.operands]
    consts = [inner.result for inner in body.ops if inner.name == "const"]
    results = [inner.result for inner in adds]
    once = len(used) == len(set(used)) and set(used) == {*body.params, *consts, *results[:-1]}
    if not body.ops and op.attrs["outputs"] == ("inc",):
        return len(body.params) == 1 and body.results == body.params
    return bool(adds) and once and body.results == results[-1:] and len(adds) + len(consts) == len(body.ops)


def _terms(op: Op) -> list[Value]:
    """What is added up: parameters of the block and constants."""
    (body,) = op.blocks
    made = {inner.result for inner in body.ops if inner.name == "accumulate"}
    if not made:
        return list(body.results)
    return [v for inner in body.ops if inner.name == "accumulate" for v in inner.operands if v not in made]


def _sum_of(op: Op, inputs: Sequence[Value]) -> None:
    """Let the op be the sum of these inputs and the constants alone."""
    (body,), targets = op.blocks, elementwise_targets(op)
    kept = [param for param, v in zip(body.params, elementwise_inputs(op), strict=True) if v in inputs]
    consts = [inner for inner in body.ops if inner.name == "const"]
    terms = [*kept, *(inner.result for inner in consts)]
    body.params, body.ops = kept, consts
    if not terms:
        type_ = body.results[0].type
        zero = Op(get("const"), [], [Value(type_)], {"value": 0.0, "type": type_}, span=op.span)
        body.ops.append(zero)
        terms = [zero.result]
    total = terms[0]
    for term in terms[1:]:
        made = Op(get("accumulate"), [total, term], [Value(total.type)], span=op.span)
        body.ops.append(made)
        total = made.result
    body.results = [total]
    op.operands = [*_sizes(op), *inputs, *targets]

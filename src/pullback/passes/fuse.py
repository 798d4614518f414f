"""Fuses elementwise ops: chains into one block, neighbours over one space into one pass, zeroed targets into results.

    u = elementwise (n, a, x) {mul}                  s = elementwise outputs=(sum) (n, a, x, b)
    v = elementwise (n, u, b) {add}           ->       {mul, add, tanh}
    s = elementwise outputs=(sum) (n, v) {tanh}

    z = array_zeros n; elementwise outputs=(inc) (n, x -> z)     ->    z = elementwise outputs=(new) (n, x)

A producer that writes nothing but arrays that its only reader takes moves into the reader, also where the reader's
space is wider because another operand decides it at run time: the elements are the same.  Ops move down past others
only where no write in between touches what they read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pullback.analysis.effects import CALLS, VIEWS, elementwise_inputs, elementwise_targets, is_reference
from pullback.analysis.overlap import Overlap
from pullback.ir.node import Block, Function, Op, Program, Value
from pullback.ir.walk import clone_ops, uses
from pullback.prims.base import get
from pullback.types import ArrayRef

__all__ = ["Fuser", "run"]

MOST_INPUTS = 32
MOST_OPS = 400


def run(function: Function, program: Program) -> None:
    """Fuse in every block of the function, inner blocks first."""
    if any(op.name == "elementwise" for op in function.body.walk()):
        Fuser(function, program).block(function.body)


def _outputs(op: Op) -> tuple[str, ...]:
    outputs = op.attrs["outputs"]
    assert isinstance(outputs, tuple)
    return outputs


def _rank(op: Op) -> int:
    return int(str(op.attrs["rank"]))


def _sizes(op: Op) -> list[Value]:
    return op.operands[: _rank(op)]


class Fuser:
    """Fuses the elementwise ops of one function; other passes on such ops build on it."""

    def __init__(self, function: Function, program: Program) -> None:
        self.overlap = Overlap(function, program)
        self.memory, self.maker = self.overlap.memory, self.overlap.maker
        self.meet = self.overlap.meet_at_once
        self.count = uses(function.body)

    def block(self, block: Block) -> None:
        for op in block.ops:
            if op.name != "elementwise":
                for inner in op.blocks:
                    self.block(inner)
        if sum(op.name in ("elementwise", "array_zeros", "array_empty") for op in block.ops) < 2:
            return
        self.forget_frees(block)
        for op in block.ops:
            if op.name == "elementwise":
                self.stored_back(op)
        self.zeros(block)
        self.targets(block)
        self.chains(block)
        self.targets(block)
        self.neighbours(block)

    def forget_frees(self, block: Block) -> None:
        """Drop what gives back arrays of the block: no reader wants them, and `ownership` sees where they end."""
        made = {v for op in block.ops for v in op.results if isinstance(v.type, ArrayRef)}
        for op in [op for op in block.ops if op.name == "free" and op.operands[0] in made]:
            block.ops.remove(op)
            self.count[op.operands[0]] -= 1

    def stored_back(self, op: Op) -> None:
        """What is set to the elements that it has is left out."""
        read = dict(zip(op.blocks[0].params, elementwise_inputs(op), strict=True))
        rows = list(zip(_outputs(op), self.places(op), op.blocks[0].results, strict=True))
        targets = elementwise_targets(op)
        kept = [row for row in rows if row[0] != "set" or read.get(row[2]) is not row[1] or targets.count(row[1]) > 1]
        if 0 < len(kept) < len(rows):
            self.rebuild(op, elementwise_inputs(op), kept)

    def zeros(self, block: Block) -> None:
        """An array of zeros that nothing has been written to is read as the number 0."""
        for position, op in enumerate(block.ops):
            if op.name != "elementwise":
                continue
            empty = [v for v in elementwise_inputs(op) if self.is_zero(block, v, position + 1)]
            for value in dict.fromkeys(empty):
                element = op.blocks[0].params[elementwise_inputs(op).index(value)]
                zero = Op(get("const"), [], [Value(element.type)], {"value": 0.0, "type": element.type}, span=op.span)
                self.count[value] -= elementwise_inputs(op).count(value)
                self.splice(op, {value: zero.result}, [], [], [zero])

    def is_zero(self, block: Block, value: Value, position: int) -> bool:
        """Is it an array of zeros to which nothing before that position writes."""
        made = self.maker.get(value)
        if made is None or made.name != "array_zeros" or not isinstance(value.type, ArrayRef):
            return False
        if not value.type.dtype.is_float or made not in block.ops[:position]:
            return False
        return not any(self.writes(other, [value]) for other in block.ops[block.ops.index(made) + 1 : position])

    # -------------------------------------------------------------------------------------------------- targets

    def targets(self, block: Block) -> None:
        """The first addition to a zeroed array of the same shape, or the first filling of a fresh one, makes it."""
        fresh = {op.result: i for i, op in enumerate(block.ops) if op.name in ("array_zeros", "array_empty")}
        if not fresh:
            return
        first = self.first_uses(block, fresh)
        dropped: set[Op] = set()
        for value, at in fresh.items():
            made = block.ops[at]
            op = first.get(value)
            if op is None or op.name != "elementwise" or op not in block.ops or _sizes(op) != made.operands:
                continue
            if self.becomes_result(op, value, made.name):
                dropped.add(made)
                self.maker[value] = op
        block.ops = [op for op in block.ops if op not in dropped]

    def first_uses(self, block: Block, wanted: dict[Value, int]) -> dict[Value, Op]:
        """The first op of the block that uses each value, nested uses included."""
        found: dict[Value, Op] = {}
        for op in block.ops:
            inner = [v for b in op.blocks for v in uses(b)] if op.name != "elementwise" else []
            for value in (*op.operands, *inner):
                if value in wanted:
                    found.setdefault(value, op)
        return found

    def becomes_result(self, op: Op, value: Value, made: str) -> bool:
        outputs = list(_outputs(op))
        places = self.places(op)
        mine = [i for i, place in enumerate(places) if place is value]
        kinds = {outputs[i] for i in mine}
        if not mine or value in elementwise_inputs(op):
            return False
        if kinds == {"set"} and len(mine) == 1:
            pass
        elif kinds != {"inc"} or made != "array_zeros":
            return False
        (body,) = op.blocks
        total = body.results[mine[0]]
        for i in mine[1:]:
            total = self.append(body, "add", total, body.results[i])
        body.results[mine[0]] = total
        outputs[mine[0]] = "new"
        keep = [i for i in range(len(outputs)) if i not in mine[1:]]
        self.rebuild(op, elementwise_inputs(op), [(outputs[i], places[i], body.results[i]) for i in keep])
        return True

    def append(self, body: Block, name: str, *operands: Value) -> Value:
        result = Value(operands[0].type)
        body.ops.append(Op(get(name), operands, [result]))
        return result

    def places(self, op: Op) -> list[Value]:
        """Per output the result or the target."""
        targets, results = iter(elementwise_targets(op)), iter(op.results)
        return [next(targets) if kind in ("inc", "set") else next(results) for kind in _outputs(op)]

    def rebuild(self, op: Op, inputs: Sequence[Value], rows: Sequence[tuple[str, Value, Value]]) -> None:
        """Give the op these inputs and outputs (kind, place, value of the block)."""
        rank = _rank(op)
        written = [place for kind, place, _ in rows if kind in ("inc", "set")]
        op.results = [place for kind, place, _ in rows if kind not in ("inc", "set")]
        op.operands = [*op.operands[:rank], *inputs, *written]
        op.attrs = {**op.attrs, "outputs": tuple(kind for kind, _, _ in rows), "targets": len(written)}
        op.blocks[0].results = [value for _, _, value in rows]

    # --------------------------------------------------------------------------------------------------- chains

    def chains(self, block: Block) -> None:
        """Producers into their only readers, the last readers first."""
        position = len(block.ops) - 1
        while position >= 0:
            op = block.ops[position]
            producer = self.producer(block, op, position) if op.name == "elementwise" else None
            if producer is None:
                position -= 1
                continue
            self.inline(producer, op)
            block.ops.remove(producer)
            position -= 1

    def producer(self, block: Block, op: Op, position: int) -> Op | None:
        """An input's maker that may move into the op."""
        for value in dict.fromkeys(elementwise_inputs(op)):
            made = self.candidate(block, op, position, value)
            if made is not None and self.apart(made, op):
                return made
        return None

    def candidate(self, block: Block, op: Op, position: int, value: Value) -> Op | None:
        """What makes an input, if it may run where the op stands and nobody else wants its results."""
        made = self.maker.get(value)
        if made is None or made.name != "elementwise" or made is op or set(_outputs(made)) != {"new"}:
            return None
        inputs = elementwise_inputs(op)
        if any(self.count.get(result, 0) != inputs.count(result) for result in made.results):
            return None
        if made not in block.ops[:position]:
            return None
        between = block.ops[block.ops.index(made) + 1 : position]
        if not self.same_space(made, op, between) or self.too_big(made, op):
            return None
        return made if self.may_move(made, between) else None

    def same_space(self, made: Op, op: Op, between: Sequence[Op]) -> bool:
        """The same sizes, by what checks in between say too, or wider ones that a run-time broadcast decides."""
        if _rank(made) != _rank(op):
            return False
        tests = [self.maker.get(check.operands[0]) for check in between if check.name == "check"]
        equal = [set(test.operands) for test in tests if test is not None and test.name == "eq"]
        pairs = zip(_sizes(made), _sizes(op), strict=True)
        return all(m is n or {m, n} in equal or self.decides(n, m) for m, n in pairs)

    def decides(self, wide: Value, size: Value) -> bool:
        """Is `wide` the size, or another where the size is 1."""
        op = self.maker.get(wide)
        return op is not None and op.name == "select" and size in op.operands[1:] and self.maker.get(size) is not None

    def too_big(self, a: Op, b: Op) -> bool:
        inputs = len(elementwise_inputs(a)) + len(elementwise_inputs(b))
        return inputs > MOST_INPUTS or len(a.blocks[0].ops) + len(b.blocks[0].ops) > MOST_OPS

    def may_move(self, op: Op, between: Sequence[Op]) -> bool:
        """Can an op that writes nothing run after those in between."""
        read = [v for v in elementwise_inputs(op) if is_reference(v.type)]
        return not any(self.writes(other, read) for other in between)

    def writes(self, op: Op, read: Sequence[Value]) -> bool:
        """Does the op, or one inside it, write (or free) memory that one of these values refers to."""
        if op.name in CALLS:
            roots = {self.memory.world(), *(self.memory.root(v) for v in op.operands if is_reference(v.type))}
            return any(self.memory.root(v) in roots for v in read)
        written = elementwise_targets(op) if op.name == "elementwise" else []
        if not op.blocks and (op.name == "free" or "write" in op.prim.effects):
            written = op.operands[:1]
        if any(self.meet(target, v) for target in written for v in read if is_reference(target.type)):
            return True
        return any(self.writes(inner, read) for b in op.blocks for inner in b.ops)

    def apart(self, made: Op, op: Op) -> bool:
        """No target of the op shares memory with an input of the producer, unless it is the very same view."""
        for target in elementwise_targets(op):
            for value in elementwise_inputs(made):
                if is_reference(value.type) and value is not target and self.meet(value, target):
                    return False
        return True

    def inline(self, made: Op, op: Op) -> None:
        """Put the producer's block in front of the reader's."""
        (source,) = made.blocks
        mapping: dict[Value, Value] = {}
        params = [Value(param.type, param.name) for param in source.params]
        mapping.update(zip(source.params, params, strict=True))
        copies = clone_ops(source.ops, mapping)
        pairs = zip(made.results, source.results, strict=True)
        produced = {result: mapping.get(yielded, yielded) for result, yielded in pairs}
        self.splice(op, produced, params, elementwise_inputs(made), copies)
        self.merge_inputs(op)

    def splice(
        self, op: Op, produced: Mapping[Value, Value], params: list[Value], inputs: list[Value], ops: Sequence[Op]
    ) -> None:
        """Let the block compute inputs itself, each as what it is in `produced`, by these ops from these inputs."""
        (body,) = op.blocks
        rename: dict[Value, Value] = {}
        for param, operand in zip(body.params, elementwise_inputs(op), strict=True):
            if operand in produced:
                rename[param] = produced[operand]
            else:
                params.append(param)
                inputs.append(operand)
        rows = list(zip(_outputs(op), self.places(op), body.results, strict=True))
        _rename(body, rename)
        body.ops[0:0] = ops
        body.params = params
        self.rebuild(op, inputs, [(kind, place, rename.get(v, v)) for kind, place, v in rows])

    def merge_inputs(self, op: Op) -> None:
        """Each operand once."""
        (body,) = op.blocks
        seen: dict[Value, Value] = {}
        rename: dict[Value, Value] = {}
        params, inputs = [], []
        for param, operand in zip(body.params, elementwise_inputs(op), strict=True):
            if operand in seen:
                rename[param] = seen[operand]
                self.count[operand] = self.count.get(operand, 1) - 1
            else:
                seen[operand] = param
                params.append(param)
                inputs.append(operand)
        rows = list(zip(_outputs(op), self.places(op), body.results, strict=True))
        _rename(body, rename)
        body.params = params
        self.rebuild(op, inputs, [(kind, place, rename.get(v, v)) for kind, place, v in rows])

    # ----------------------------------------------------------------------------------------------- neighbours

    def neighbours(self, block: Block) -> None:
        """An op joins a later one over the same space if they read a common array and nothing stands in between."""
        position = 0
        while position < len(block.ops):
            op = block.ops[position]
            other = self.partner(block, op, position) if op.name == "elementwise" else None
            if other is None:
                position += 1
                continue
            self.join(op, other)
            block.ops.remove(op)

    def partner(self, block: Block, op: Op, position: int) -> Op | None:
        mine = {v for v in elementwise_inputs(op) if is_reference(v.type)}
        for other in block.ops[position + 1 :]:
            if self.uses_results(other, op):
                return None
            if (
                other.name == "elementwise" and _sizes(other) == _sizes(op) and not self.too_big(op, other)
                and not mine.isdisjoint(elementwise_inputs(other)) and self.independent(op, other)
            ):  # fmt: skip
                return other
            if not self.may_pass(op, other):
                return None
        return None

    def uses_results(self, other: Op, op: Op) -> bool:
        results = set(op.results)
        return not results.isdisjoint(other.operands) or any(not results.isdisjoint(uses(b)) for b in other.blocks)

    def may_pass(self, op: Op, other: Op) -> bool:
        """Can the op run after the other one."""
        if _outputs(op).count("inc") or _outputs(op).count("set"):
            # A write stays before checks and before all that may see it.
            if other.name not in VIEWS and (other.prim.effects or other.blocks):
                return False
        return self.may_move(op, [other])

    def independent(self, a: Op, b: Op) -> bool:
        """No write of one meets a read or write of the other, but for what both add to the same view."""
        both = self.increased(a) & self.increased(b)
        for first, second in ((a, b), (b, a)):
            for target in elementwise_targets(first):
                written = [v for v in elementwise_targets(second) if v is not target or v not in both]
                for value in (*elementwise_inputs(second), *written):
                    if is_reference(value.type) and self.meet(value, target):
                        return False
        return True

    def increased(self, op: Op) -> set[Value]:
        """The targets that it only adds to."""
        rows = list(zip(_outputs(op), self.places(op), strict=True))
        return {v for kind, v in rows if kind == "inc"} - {v for kind, v in rows if kind == "set"}

    def merge_sums(self, op: Op) -> None:
        """Each target that is added to once."""
        (body,) = op.blocks
        rows: list[tuple[str, Value, Value]] = []
        first: dict[Value, int] = {}
        for kind, place, value in zip(_outputs(op), self.places(op), body.results, strict=True):
            if kind == "inc" and place in first:
                known = rows[first[place]][2]
                rows[first[place]] = (kind, place, self.append(body, "add", known, value))
                continue
            if kind == "inc":
                first[place] = len(rows)
            rows.append((kind, place, value))
        self.rebuild(op, elementwise_inputs(op), rows)

    def join(self, op: Op, other: Op) -> None:
        """Both blocks in one, the first op's before the other's; it stands where the other stood."""
        (first,), (second,) = op.blocks, other.blocks
        rows = [
            *zip(_outputs(op), self.places(op), first.results, strict=True),
            *zip(_outputs(other), self.places(other), second.results, strict=True),
        ]
        inputs = [*elementwise_inputs(op), *elementwise_inputs(other)]
        second.params = [*first.params, *second.params]
        second.ops = [*first.ops, *second.ops]
        self.rebuild(other, inputs, rows)
        self.merge_inputs(other)
        self.merge_sums(other)
        for result in other.results:
            self.maker[result] = other


def _rename(body: Block, mapping: dict[Value, Value]) -> None:
    if not mapping:
        return
    for op in body.walk():
        op.operands = [mapping.get(v, v) for v in op.operands]
        for inner in op.blocks:
            inner.results = [mapping.get(v, v) for v in inner.results]

"""Simplifies control, checks, views, records and buffers, together with the scalar rules of `fold`.

    if c: check(false) raises E; yield 0.0       check(not_ c) raises E
    else: yield x                          ->    x
    r = if true {yield x} {...}            ->    x
    r = if c {yield x} {yield neg x}       ->    select c, x, (neg x)          cheap ops only
    for one: body                          ->    body, once
    for n, x: body (k, a) yield a          ->    x                             carried without change
    check(c); ... if c {A} {B}             ->    check(c); ... A               c is known to hold
    unbox (box a, b)                       ->    a, b
    array_get (view_index a, i), j         ->    array_get a, i, j

A branch becomes a `select` only if all its ops are linear or integer: a later derivative of an op that was not selected
must be exactly 0, and 0 * inf is not.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from pullback.analysis.effects import carried, elementwise_inputs
from pullback.ir.node import Block, Function, Op, Program, Value
from pullback.passes.fold import SCALAR_RULES
from pullback.passes.structure import STRUCTURE_RULES
from pullback.passes.walker import Walker
from pullback.types import BOOL, Scalar

__all__ = ["SPECULATIVE", "run"]


def run(function: Function, program: Program) -> None:
    """Simplify the whole function."""
    _Simplifier().function(function)


# Ops that cost at most a few cycles, never raise and have bounded derivatives: they may run where they need not.
SPECULATIVE = frozenset({
    "add", "accumulate", "sub", "neg", "sign", "maximum", "minimum", "python_max", "python_min", "eq", "ne", "lt", "le",
    "gt", "ge", "and_", "or_", "xor_", "not_", "shl", "shr", "select", "cast", "add_overflows", "sub_overflows", "ult",
    "wrap_index", "isnan", "isinf", "isfinite", "array_size", "const", "floor", "ceil", "trunc", "rint",
})  # fmt: skip
_MOST_OPS = 6
_MOST_SELECTS = 3


def _is_int(value: Value) -> bool:
    return isinstance(value.type, Scalar) and value.type.dtype.is_int


class _Simplifier(Walker):
    def __init__(self) -> None:
        super().__init__({**SCALAR_RULES, **STRUCTURE_RULES, "buffer_put": self.put, "buffer_get": self.get})
        self.undo: list[tuple[Value, Value | None]] = []
        self.elements: dict[tuple[Value, Value], Value] = {}
        self.written: list[tuple[Value, Value]] = []

    # ------------------------------------------------------------------------------------------------- facts

    def assume(self, condition: Value, truth: bool) -> None:
        """To the end of the block the condition is known."""
        if self.constant_of(condition) is not None:
            return
        self.undo.append((condition, self.mapping.get(condition)))
        self.mapping[condition] = self.boolean(truth)
        inner = self.definitions.get(condition)
        if inner is None:
            return
        name = inner.prim.name
        if name == "not_":
            self.assume(inner.operands[0], not truth)
        elif (name == "and_" and truth) or (name == "or_" and not truth):
            for part in inner.operands:
                self.assume(part, truth)

    def block(self, block: Block, condition: Value | None = None, truth: bool = True) -> None:
        """A block in which the condition is known; what checks and writes in it establish ends with it."""
        outer_undo, self.undo = self.undo, []
        outer_written, self.written = self.written, []
        if condition is not None:
            self.assume(condition, truth)
        super().block(block)
        for known, before in reversed(self.undo):
            if before is None:
                del self.mapping[known]
            else:
                self.mapping[known] = before
        for key in self.written:
            del self.elements[key]
        self.undo, self.written = outer_undo, outer_written

    def append(self, op: Op) -> None:
        super().append(op)
        if op.name == "check":
            self.assume(op.operands[0], True)

    def put(self, walker: Walker, op: Op) -> None:
        """Elements of buffers are written once: a later read of the same element in this block yields this value."""
        buffer, index, value = op.operands
        if (buffer, index) not in self.elements:
            self.elements[buffer, index] = value
            self.written.append((buffer, index))

    def get(self, walker: Walker, op: Op) -> Value | None:
        return self.elements.get((op.operands[0], op.operands[1]))

    # -------------------------------------------------------------------------------------------- structured

    def structured(self, op: Op) -> None:
        if op.name == "if":
            self.conditional(op)
        elif op.name == "for":
            self.counted(op)
        elif op.name == "while":
            self.repeated(op)
        else:
            self.elementwise(op)

    def elementwise(self, op: Op) -> None:
        """Constant scalars that are passed in become constants of the block; arrays have types that know the most."""
        op.operands = [self.known_best(v) for v in op.operands]
        outer = self.home, self.constants
        self.home, self.constants = [], {}
        for param, value in zip(op.blocks[0].params, elementwise_inputs(op), strict=True):
            number = self.constant_of(value)
            if number is not None:
                self.mapping[param] = self.constant(number, param.type)
        self.block(op.blocks[0])
        op.blocks[0].ops[:0] = self.home
        self.home, self.constants = outer
        self.append(op)

    def known_best(self, value: Value) -> Value:
        """The same array before its type was told less."""
        while (op := self.definition(value, "view_relax")) is not None:
            value = op.operands[0]
        return value

    def replace(self, op: Op, values: Sequence[Value]) -> None:
        """The values stand for the op's results; the op is gone."""
        self.mapping.update(zip(op.results, values, strict=True))

    def conditional(self, op: Op) -> None:
        condition = op.operands[0]
        known = self.constant_of(condition)
        if known is not None:
            branch = op.blocks[0 if known else 1]
            self.inline(branch)
            self.replace(op, self.resolved(branch.results))
            return
        if (inverse := self.definition(condition, "not_")) is not None:
            condition = inverse.operands[0]
            op.operands, op.blocks = [condition], [op.blocks[1], op.blocks[0]]
        self.block(op.blocks[0], condition, True)
        self.block(op.blocks[1], condition, False)
        self.span = op.span
        if self.raising(op) or self.selected(op):
            return
        self.append(op)
        for result, x, y in carried(op):
            answer = self.merged(condition, x, y)
            if answer is not None:
                self.mapping[result] = answer

    def merged(self, condition: Value, x: Value, y: Value) -> Value | None:
        """What an `if` that yields x or y is, where that needs no `if`."""
        if x is y:
            return x
        if x.type != BOOL:
            return None
        then, otherwise = self.constant_of(x), self.constant_of(y)
        if then is None or otherwise is None:
            return None
        return condition if then else self.emit("not_", (condition,), BOOL)

    def raising(self, op: Op) -> bool:
        """A branch that does nothing but raise becomes a check, and the other branch goes on without it."""
        then, otherwise = op.blocks
        for branch, other, truth in ((then, otherwise, False), (otherwise, then, True)):
            position = self.failing(branch)
            if position is None:
                continue
            check = branch.ops[position]
            for before in branch.ops[:position]:
                self.append(before)
            condition = op.operands[0]
            check.operands[0] = condition if truth else self.emit("not_", (condition,), BOOL)
            self.append(check)
            for after in other.ops:
                self.append(after)
            self.replace(op, other.results)
            return True
        return False

    def failing(self, block: Block) -> int | None:
        """Where the block surely raises, if nothing but cheap ops comes before."""
        for position, op in enumerate(block.ops):
            if op.name == "check":
                return position if self.constant_of(op.operands[0]) is False else None
            if op.name not in SPECULATIVE and op.name != "mul":
                return None
        return None

    def selected(self, op: Op) -> bool:
        """Small branches of cheap ops become selects."""
        ops = [*op.blocks[0].ops, *op.blocks[1].ops]
        if len(ops) > _MOST_OPS or not all(self.speculative(inner) for inner in ops):
            return False
        pairs = [(x, y) for _, x, y in carried(op)]
        merged = [x for x, y in pairs if x is not y]
        if len(merged) > _MOST_SELECTS or not all(isinstance(x.type, Scalar) for x in merged):
            return False
        for inner in ops:
            self.append(inner)
        condition = op.operands[0]
        self.replace(op, [x if x is y else self.emit("select", (condition, x, y), x.type) for x, y in pairs])
        return True

    def speculative(self, op: Op) -> bool:
        if op.name == "mul":
            factor = self.constant_of(op.operands[1])
            return _is_int(op.results[0]) or (factor is not None and math.isfinite(factor))
        return op.name in SPECULATIVE

    def counted(self, op: Op) -> None:
        trips, body = self.constant_of(op.operands[0]), op.blocks[0]
        if trips is not None and trips <= 0:
            self.replace(op, op.operands[1:])
            return
        if trips == 1:
            self.mapping.update(zip(body.params[1:], op.operands[1:], strict=True))
            self.mapping[body.params[0]] = self.constant(0, body.params[0].type)
            self.inline(body)
            self.replace(op, self.resolved(body.results))
            return
        self.loop(op, 1)

    def repeated(self, op: Op) -> None:
        cond = op.blocks[0]
        if self.constant_of_unwalked(cond.results[0], cond) is False:
            self.mapping.update(zip(cond.params, op.operands, strict=True))
            self.inline(cond)
            self.replace(op, op.operands)
            return
        self.loop(op, 0)

    def constant_of_unwalked(self, value: Value, block: Block) -> object:
        """The constant that the value of a block not yet walked is."""
        value = self.mapping.get(value, value)
        for op in block.ops:
            if op.name == "const" and op.results[0] is value:
                return op.attrs["value"]
        return self.constant_of(value)

    def loop(self, op: Op, fixed: int) -> None:
        """Walk the blocks; carried values that never change are what they were at first."""
        known = self.unchanged(op, fixed)
        for block in op.blocks:
            self.block(block)
        if self.unchanged(op, fixed) != known:
            for block in op.blocks:
                self.block(block)
        self.append(op)
        inits = op.operands[fixed:]
        for result, init, last, param in zip(
            op.results, inits, op.blocks[-1].results, op.blocks[-1].params[fixed:], strict=True
        ):
            if last is param or last is init:
                self.mapping[result] = init
            elif (twin := self.mapping.get(param)) is not None and twin is not init:
                self.mapping[result] = op.results[op.blocks[-1].params.index(twin) - fixed]

    def unchanged(self, op: Op, fixed: int) -> int:
        """Map parameters that keep their first value, or equal an earlier one; how many there are."""
        last_block = op.blocks[-1]
        found = 0
        seen: dict[tuple[Value, Value], int] = {}
        for i, init in enumerate(op.operands[fixed:]):
            param = last_block.params[fixed + i]
            last = self.mapping.get(last_block.results[i], last_block.results[i])
            if last is param or last is init or self.mapping.get(param) is init:
                found += 1
                for block in op.blocks:
                    self.mapping[block.params[fixed + i]] = init
                continue
            twin = seen.setdefault((init, last), i)
            if twin != i:
                found += 1
                for block in op.blocks:
                    self.mapping[block.params[fixed + i]] = block.params[fixed + twin]
        return found

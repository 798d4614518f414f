"""What `fold` and `simplify` share: one forward walk that replaces values as it goes.

A rule looks at an op whose operands are already rewritten and returns the value that stands for its result, or None to
keep the op.  Constants that rules make stand at the top of the function, one for each value and type, so that equal
constants are the same Value; the block of an `elementwise` is closed, so it has its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pullback.diagnostic import UNKNOWN, Span
from pullback.ir.node import Block, Function, Op, Value
from pullback.prims import get
from pullback.types import BOOL, Machine, Scalar

__all__ = ["Constant", "Rule", "Walker"]

Constant = bool | int | float
Rule = Callable[["Walker", Op], "Value | None"]
Key = tuple[str, str, Machine | None]

CONST = get("const")


class Walker:
    """Walks a function in order with a table of rules by op name."""

    def __init__(self, rules: dict[str, Rule]) -> None:
        self.rules = rules
        self.mapping: dict[Value, Value] = {}
        self.definitions: dict[Value, Op] = {}
        self.out: list[Op] = []
        self.span: Span = UNKNOWN
        self.home: list[Op] = []
        self.constants: dict[Key, Value] = {}

    # ---------------------------------------------------------------------------------------------- the walk

    def function(self, function: Function) -> None:
        """Rewrite the whole body; constants go to its top."""
        self.closed(function.body)

    def closed(self, block: Block) -> None:
        """Rewrite a block that has its own constants."""
        saved = self.home, self.constants
        self.home, self.constants = [], {}
        self.block(block)
        block.ops[:0] = self.home
        self.home, self.constants = saved

    def block(self, block: Block) -> None:
        """Rewrite a block in place."""
        saved, self.out = self.out, []
        self.inline(block)
        block.ops, self.out = self.out, saved
        block.results = self.resolved(block.results)

    def inline(self, block: Block) -> None:
        """Rewrite the ops of a block into the current one."""
        for op in block.ops:
            self.op(op)

    def op(self, op: Op) -> None:
        mapping = self.mapping
        for value in op.operands:
            if value in mapping:
                op.operands = [mapping.get(v, v) for v in op.operands]
                break
        self.span = op.span
        if op.blocks:
            self.structured(op)
        elif op.name == "const":
            self.keep_constant(op)
        else:
            self.plain(op)

    def plain(self, op: Op) -> None:
        rule = self.rules.get(op.name)
        found = rule(self, op) if rule is not None else None
        if found is None:
            self.append(op)
        elif op.results:
            self.mapping[op.results[0]] = found

    def structured(self, op: Op) -> None:
        """By default the blocks are walked and the op stays."""
        if op.name == "elementwise":
            self.closed(op.blocks[0])
        else:
            for block in op.blocks:
                self.block(block)
        self.append(op)

    def append(self, op: Op) -> None:
        self.out.append(op)
        for value in op.results:
            self.definitions[value] = op

    # ----------------------------------------------------------------------------------------- what rules use

    def resolved(self, values: Sequence[Value]) -> list[Value]:
        return [self.mapping.get(v, v) for v in values]

    def definition(self, value: Value, name: str) -> Op | None:
        """The op that defines the value if it is called `name`."""
        op = self.definitions.get(value)
        return op if op is not None and op.prim.name == name else None

    def constant_of(self, value: Value) -> Constant | None:
        """The number that the value is known to be."""
        op = self.definitions.get(value)
        if op is None or op.prim.name != "const":
            return None
        number = op.attrs["value"]
        assert isinstance(number, bool | int | float)
        return number

    def keep_constant(self, op: Op) -> None:
        number, result = op.attrs["value"], op.results[0]
        key = (type(number).__name__, repr(number), result.type)
        found = self.constants.get(key)
        if found is None:
            self.home.append(op)
            self.definitions[result] = op
            self.constants[key] = result
        else:
            self.mapping[result] = found

    def constant(self, number: Constant, type_: Machine | None) -> Value:
        """The constant of that machine type."""
        assert isinstance(type_, Scalar)
        if type_ == BOOL:
            number = bool(number)
        elif type_.dtype.is_float:
            number = float(number)
        key = (type(number).__name__, repr(number), type_)
        found = self.constants.get(key)
        if found is None:
            found = Value(type_)
            op = Op(CONST, (), (found,), {"value": number, "type": type_}, (), self.span)
            self.home.append(op)
            self.definitions[found] = op
            self.constants[key] = found
        return found

    def boolean(self, truth: bool) -> Value:
        return self.constant(truth, BOOL)

    def emit(self, name: str, operands: Sequence[Value], type_: Machine | None, **attrs: object) -> Value:
        """A new op with one result, itself subject to the rules."""
        op = Op(get(name), operands, (Value(type_),), attrs, (), self.span)
        result = op.results[0]
        self.plain(op)
        return self.mapping.get(result, result)

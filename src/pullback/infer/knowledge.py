"""Where values of typed IR come from: what they are, if that is known while compiling, and what it depends on if not.

    n: i64 = const 3; m = sub n, 1          number(m)   2
    m = sub %axis, 1                        trace(m)    {parameter `axis`}
    m = array_size a                        trace(m)    the size of an axis is known at run time only

Loops are not looked through: what a loop carries is known only where the loop is written out.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import TYPE_CHECKING

from pullback.diagnostic import UNKNOWN
from pullback.infer.asked import Ask, Reason
from pullback.ir.node import Block, Op, Value
from pullback.runtime.fixed import leaves, slot_at
from pullback.types import BOOL, Machine, Scalar, Table, Type, slots

if TYPE_CHECKING:
    from pullback.infer.engine import Session, Specialization

__all__ = ["Definitions"]



_RULES: dict[str, Callable[..., int]] = {
    "add": operator.add, "sub": operator.sub, "mul": operator.mul, "floordiv": operator.floordiv, "mod": operator.mod,
    "neg": operator.neg, "abs": abs, "minimum": min, "maximum": max,
    "python_min": min, "python_max": max, "eq": operator.eq, "ne": operator.ne,
    "lt": operator.lt, "le": operator.le, "gt": operator.gt, "ge": operator.ge, "and_": operator.and_,
    "or_": operator.or_, "xor_": operator.xor, "cast": int, "wrap_index": lambda i, size: i + size if i < 0 else i,
}  # fmt: skip
_REASONS = {
    "array_size": "it depends on the size of an axis, which is known at run time only",
    "array_get": "it is an element of an array", "table_get": "it is read from an object, list or dict that changes",
    "trunc": "it is computed from a float", "cast": "it is computed from a float",
    "unbox": "it is captured by a function that is chosen at run time",
}  # fmt: skip
_SHORT = {"and_": 0, "or_": 1}  # the bool that decides whatever the other one is


def _is_whole(machine: Machine | None) -> bool:
    return isinstance(machine, Scalar) and not machine.dtype.is_float


class Definitions:
    """The values of one typed function, as far as it is written.  `origins`: the parameters that are ints or bools."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.origins: dict[Value, Ask] = {}
        self.loops: dict[Value, Op] = {}  # what loops count, carry and give, by the untyped loop
        self.aliases: dict[Value, Value] = {}
        self.blocks: list[Block] = []  # those that are being written, the outermost first
        self.ops: dict[Value, Op] = {}
        self._seen: dict[Block, int] = {}
        self._numbers: dict[Value, int | None] = {}
        self._unsure = 0  # calls met whose result may still change
        self._sought: set[Value] = set()  # results of recursive functions lead back to themselves

    # ------------------------------------------------------------------------------------------------ definitions

    def note_parameters(self, code: object, position: int, type_: Type, values: tuple[Value, ...]) -> None:
        """The ints and bools among the values of a parameter."""
        for path, _, slot in leaves(type_):
            self.origins[values[slot]] = Ask("parameter", (code, position), path)

    def maker(self, value: Value) -> Op | None:
        """The op that a value is the result of; None for parameters of blocks."""
        if value not in self.ops:
            for block in self.blocks:
                self.index(block)
        return self.ops.get(value)

    def index(self, block: Block) -> None:
        """Note the ops of a block that are new."""
        seen = self._seen.get(block, 0)
        if seen == len(block.ops):
            return
        for op in block.ops[seen:]:
            for result in op.results:
                self.ops[result] = op
        self._seen[block] = len(block.ops)

    # ---------------------------------------------------------------------------------------------------- numbers

    def alias(self, value: Value, other: Value) -> None:
        """Let a parameter of code that is about to be written stand for a value of the function."""
        self.aliases[value] = other

    def number(self, value: Value) -> int | None:
        """The int or bool that a value is whatever happens, if that is known."""
        value = self.aliases.get(value, value)
        if not _is_whole(value.type):
            return None
        if value in self._numbers:
            return self._numbers[value]
        if value in self._sought:
            self._unsure += 1
            return None
        unsure = self._unsure
        self._sought.add(value)
        found = self._computed(value)
        self._sought.discard(value)
        if found is not None or self._unsure == unsure:
            self._numbers[value] = found
        return found

    def _computed(self, value: Value) -> int | None:
        op = self.maker(value)
        if op is None:
            return None
        match op.name:
            case "const":
                known = op.attrs["value"]
                return int(known) if isinstance(known, int) else None
            case "if":
                return self._merged(op, op.results.index(value))
            case "select":
                return self._chosen(op.operands[0], op.operands[1], op.operands[2])
            case "call":
                return self._returned(op, op.results.index(value))
            case "not_":
                known = self.number(op.operands[0])
                return None if known is None else int(not known) if value.type == BOOL else ~known
        rule = _RULES.get(op.name)
        return None if rule is None else self._applied(rule, op, value)

    def _applied(self, rule: Callable[..., int], op: Op, value: Value) -> int | None:
        numbers: list[int] = []
        for operand in op.operands:
            number = self.number(operand)
            if value.type == BOOL and number is not None and number == _SHORT.get(op.name):
                return number
            if number is None and op.name not in _SHORT:
                return None
            numbers += [] if number is None else [number]
        if len(numbers) < len(op.operands) or (op.name in ("floordiv", "mod") and numbers[1] == 0):
            return None
        found = int(rule(*numbers))
        found = int(bool(found)) if value.type == BOOL else found
        assert isinstance(value.type, Scalar)
        bits = 8 * value.type.dtype.bytes - 1
        return found if value.type == BOOL or -(2**bits) <= found < 2**bits else None

    def _merged(self, op: Op, position: int) -> int | None:
        for block in op.blocks:
            self.index(block)
        return self._chosen(op.operands[0], *(block.results[position] for block in op.blocks))

    def _chosen(self, condition: Value, then: Value, other: Value) -> int | None:
        holds = self.number(condition)
        if holds is not None:
            return self.number(then if holds else other)
        first = self.number(then)
        return first if first is not None and first == self.number(other) else None

    def _callee(self, op: Op) -> Specialization | None:
        """The function that is called, if its result does not change any more."""
        spec = self.session.named.get(str(op.attrs["callee"]))
        if spec is None or spec.function is None or not self.session.is_settled(spec):
            self._unsure += 1
            return None
        spec.definitions.blocks = [spec.function.body]
        return spec

    def _returned(self, op: Op, position: int) -> int | None:
        spec = self._callee(op)
        if spec is None or spec.function is None:
            return None
        return spec.definitions.number(spec.function.body.results[position])

    # ----------------------------------------------------------------------------------------------------- traces

    def trace(self, value: Value, found: set[Ask], seen: set[Value] | None = None) -> Reason | None:
        """Add to `found` what a value depends on that can be asked for; why it is data of the run, if it is."""
        seen = set() if seen is None else seen
        value = self.aliases.get(value, value)
        if value in seen or self.number(value) is not None:
            return None
        seen.add(value)
        if value in self.origins:
            found.add(self.origins[value])
            return None
        if value in self.loops:
            found.add(Ask("loop", self.loops[value]))
            return None
        op = self.maker(value)
        if not _is_whole(value.type):
            text = "it is computed from a float" if isinstance(value.type, Scalar) else "it is no int"
            return Reason(text, UNKNOWN if op is None else op.span)
        if op is None:
            return Reason("it is computed anew in each trip of a loop, or for each element of an array")
        match op.name:
            case "if":
                for block in op.blocks:
                    self.index(block)
                position = op.results.index(value)
                return self._trace_all([op.operands[0], *(b.results[position] for b in op.blocks)], found, seen)
            case "call":
                return self._trace_call(op, op.results.index(value), found, seen)
            case "hidden":
                return self._trace_place(op, op.results.index(value), found)
            case "table_get" if (ask := self._field_read(op)) is not None:
                return self._trace_field(op, ask, found)
            case name if name in _RULES or name in ("select", "not_"):
                return self._trace_all(op.operands, found, seen)
        return Reason(_REASONS.get(op.name, "it is computed at run time"), op.span, op.name == "table_get")

    def _trace_all(self, values: list[Value], found: set[Ask], seen: set[Value]) -> Reason | None:
        for value in values:
            reason = self.trace(value, found, seen)
            if reason is not None:
                return reason
        return None

    def _trace_place(self, op: Op, slot: int, found: set[Ask]) -> Reason | None:
        where = op.attrs["key"]
        place = self.session.hidden.get(where)  # type: ignore[call-overload]
        for path, _, position in leaves(place.type) if place is not None else ():
            if position == slot:
                found.add(Ask("place", where, path))
                return None
        return Reason("it is kept in an object, list or dict", op.span)

    def _field_read(self, op: Op) -> Ask | None:
        """The field of an object that is read; None where it is another cell."""
        column, table = op.attrs["column"], op.operands[0].type
        assert isinstance(column, int) and isinstance(table, Table)
        for heap in self.session.heaps.values():
            if str(heap) != table.name or heap.python is None or heap.kind != "object":
                continue
            for name, type_ in heap.representative.fields.items():
                for path, _, slot in leaves(type_):
                    if slot == column:
                        return Ask("field", (heap.python, name), path)
                column -= len(slots(type_))
        return None

    def _trace_field(self, op: Op, ask: Ask, found: set[Ask]) -> Reason | None:
        if ask not in self.session.asked.asks:
            found.add(ask)
            return None
        assert isinstance(ask.key, tuple)
        cls, name = ask.key
        text = f"the field '{name}' of {cls.__name__} is not one number that is known"
        return self.session.asked.reasons.get(ask) or Reason(text, op.span, kept=True)

    def _trace_call(self, op: Op, position: int, found: set[Ask], seen: set[Value]) -> Reason | None:
        spec = self._callee(op)
        if spec is None or spec.function is None:
            return Reason("it is the result of a recursive function", op.span)
        inner: set[Ask] = set()
        reason = spec.definitions.trace(spec.function.body.results[position], inner)
        if reason is not None:
            return reason
        found |= inner
        starts = [0]
        for type_ in spec.parameters:
            starts.append(starts[-1] + len(slots(type_)))
        for ask in inner:
            if ask.kind == "parameter" and isinstance(ask.key, tuple) and ask.key[0] is spec.code:
                slot = slot_at(spec.parameters[ask.key[1]], ask.path)
                assert slot is not None
                reason = reason or self.trace(op.operands[starts[ask.key[1]] + slot], found, seen)
        return reason

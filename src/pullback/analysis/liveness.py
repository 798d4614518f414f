"""Which values and ops of a function matter: a mark phase through carried values, branches and memory.

    s = array_zeros n                        dead: only written to
    t, u = for n, one, one:                  u is dead although the loop runs: only u's next value uses u
      body (k, a, b):
        a1 = mul a, x
        b1 = mul b, b
        array_inc s, k, b1
        yield a1, b1
    return t

An op matters if a value of it does, if it may raise, if it is a call that may do something, or if it writes memory
whose content somebody reads.  An op that matters makes the ops around it matter.
"""

from __future__ import annotations

from pullback.analysis.effects import CALLS, Memory, carried, droppable_call, elementwise_inputs, elementwise_targets
from pullback.ir.node import Block, Function, Op, Program, Value

__all__ = ["Liveness"]


class Liveness:
    """`values` and `ops` that matter."""

    def __init__(self, function: Function, program: Program) -> None:
        self.values: set[Value] = set()
        self.ops: set[Op] = set()
        self._memory = Memory(function, program)
        self._parent: dict[Op, Op | None] = {}
        # What else must matter when a value does: its op, or the values that flow into it.
        self._producer: dict[Value, Op] = {}
        self._sources: dict[Value, tuple[Value, ...]] = {}
        self._demanded: set[Value] = set()
        self._pending: list[Value] = []
        self._roots: list[Op] = []
        self._program = program
        self._collect(function.body, None)
        self._demand(self._memory.world())
        for op in self._roots:
            self._op(op)
        for value in function.body.results:
            self._value(value)
        while self._pending:
            self._trace(self._pending.pop())

    def _collect(self, block: Block, parent: Op | None) -> None:
        producer, parents = self._producer, self._parent
        for op in block.ops:
            parents[op] = parent
            for value in op.results:
                producer[value] = op
            if op.blocks:
                self._collect_structured(op)
            elif op.name in ("check", "text_effect") or (op.name in CALLS and not droppable_call(op, self._program)):
                self._roots.append(op)

    def _collect_structured(self, op: Op) -> None:
        for block in op.blocks:
            for param in block.params:
                self._producer[param] = op
            self._collect(block, op)
        if op.name == "elementwise":
            self._sources.update((p, (v,)) for p, v in zip(op.blocks[0].params, elementwise_inputs(op), strict=True))
            kinds = op.attrs["outputs"]
            assert isinstance(kinds, tuple)
            yields = [v for v, kind in zip(op.blocks[0].results, kinds, strict=True) if kind not in ("inc", "set")]
            self._sources.update((r, (v,)) for r, v in zip(op.results, yields, strict=True))
            return
        for group in carried(op):
            self._sources[group[0]] = group
        if op.name != "if":
            fixed = 1 if op.name == "for" else 0
            for block in op.blocks:
                self._sources.update(zip(block.params[fixed:], carried(op), strict=True))
        if op.name == "while" and self._endless(op):
            self._roots.append(op)

    def _endless(self, op: Op) -> bool:
        """A `while` that never ends by itself stays: only an exception or an interrupt leaves it."""
        condition = self._producer.get(op.blocks[0].results[0])
        return condition is not None and condition.name == "const" and condition.attrs["value"] is True

    def _value(self, value: Value) -> None:
        if value not in self.values:
            self.values.add(value)
            self._pending.append(value)

    def _trace(self, value: Value) -> None:
        op = self._producer.get(value)
        if op is not None:
            self._op(op)
        for source in self._sources.get(value, ()):
            self._value(source)

    def _op(self, op: Op | None) -> None:
        while op is not None and op not in self.ops:
            self.ops.add(op)
            if op.name == "elementwise":
                self._elementwise(op)
            elif op.name == "while":
                self._value(op.blocks[0].results[0])
            elif op.blocks:  # `if`, `for`: the condition, the count
                self._value(op.operands[0])
            else:
                for value in op.operands:
                    self._value(value)
                for root in self._memory.reads(op):
                    self._demand(root)
            op = self._parent[op]

    def _elementwise(self, op: Op) -> None:
        """Sizes matter; inputs through the block's parameters; outputs to a target if the target's content does."""
        for value in op.operands[: int(str(op.attrs["rank"]))]:
            self._value(value)
        for root in self._memory.reads(op):
            self._demand(root)
        self._increments(op)

    def _increments(self, op: Op) -> None:
        kinds = op.attrs["outputs"]
        assert isinstance(kinds, tuple)
        targets = iter(elementwise_targets(op))
        for kind, value in zip(kinds, op.blocks[0].results, strict=True):
            if kind in ("inc", "set"):
                target = next(targets)
                if self._memory.root(target) in self._demanded:
                    self._value(target)
                    self._value(value)

    def _demand(self, root: Value) -> None:
        """The content of a class is read: all that writes it matters."""
        if root in self._demanded:
            return
        self._demanded.add(root)
        for op in self._memory.writes.get(root, ()):
            if op in self.ops and op.name == "elementwise":
                self._increments(op)
            elif op.name not in CALLS or op in self._roots:
                self._op(op)

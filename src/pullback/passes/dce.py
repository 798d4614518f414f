"""Removes what does not matter, through carried values, results of branches and memory nobody reads.

    t, u = for n, one, one:                      t = for n, one:
      body (k, a, b):                              body (k, a):
        a1 = mul a, x                                a1 = mul a, x
        b1 = mul b, b               ->               yield a1
        yield a1, b1                             return t
    return t

Checks stay, also where their value is not used: they are observable.  One walk after `analysis.liveness`; it only
removes.
"""

from __future__ import annotations

from collections.abc import Sequence

from pullback.analysis.effects import elementwise_inputs
from pullback.analysis.liveness import Liveness
from pullback.ir.node import Block, Function, Op, Program, Value

__all__ = ["run"]

WRITING = ("inc", "set")  # outputs of an elementwise op that go to a target


def run(function: Function, program: Program) -> None:
    """Remove dead ops, carried values, results of `if`, inputs and outputs of `elementwise`."""
    _Sweep(Liveness(function, program)).block(function.body)


class _Sweep:
    def __init__(self, live: Liveness) -> None:
        self.values = live.values
        self.ops = live.ops

    def block(self, block: Block) -> None:
        block.ops = [op for op in block.ops if self.keeps(op)]
        for op in block.ops:
            if op.blocks:
                self.structured(op)

    def keeps(self, op: Op) -> bool:
        if op.name in ("free", "let_go"):
            return op.operands[0] in self.values
        return op in self.ops

    def structured(self, op: Op) -> None:
        if op.name == "elementwise":
            self.elementwise(op)
        else:
            self.carried(op)
        for block in op.blocks:
            self.block(block)

    def carried(self, op: Op) -> None:
        """A carried value is live in all the places it stands for or in none."""
        keep = [i for i, value in enumerate(op.results) if self.anywhere(op, i)]
        if len(keep) == len(op.results):
            return
        op.results = _pick(op.results, keep)
        if op.name == "if":
            for block in op.blocks:
                block.results = _pick(block.results, keep)
            return
        fixed = 1 if op.name == "for" else 0  # the count, the index
        op.operands = op.operands[:fixed] + _pick(op.operands[fixed:], keep)
        for block in op.blocks:
            block.params = block.params[:fixed] + _pick(block.params[fixed:], keep)
        op.blocks[-1].results = _pick(op.blocks[-1].results, keep)

    def anywhere(self, op: Op, i: int) -> bool:
        if op.results[i] in self.values:
            return True
        fixed = 1 if op.name == "for" else 0
        return op.name != "if" and any(block.params[fixed + i] in self.values for block in op.blocks)

    def elementwise(self, op: Op) -> None:
        body, rank = op.blocks[0], int(str(op.attrs["rank"]))
        kinds = op.attrs["outputs"]
        assert isinstance(kinds, tuple)
        inputs = elementwise_inputs(op)
        targets = iter(op.operands[rank + len(inputs) :])
        results = iter(op.results)
        sinks = [next(targets) if kind in WRITING else next(results) for kind in kinds]
        keep = [i for i, sink in enumerate(sinks) if sink in self.values and body.results[i] in self.values]
        reads = [i for i, param in enumerate(body.params) if param in self.values]
        kept = [(kinds[i], sinks[i]) for i in keep]
        op.results = [sink for kind, sink in kept if kind not in WRITING]
        increased = [sink for kind, sink in kept if kind in WRITING]
        op.operands = op.operands[:rank] + _pick(inputs, reads) + increased
        op.attrs["outputs"] = tuple(kind for kind, _ in kept)
        op.attrs["targets"] = len(increased)
        body.params = _pick(body.params, reads)
        body.results = _pick(body.results, keep)


def _pick(values: Sequence[Value], indices: Sequence[int]) -> list[Value]:
    return [values[i] for i in indices]

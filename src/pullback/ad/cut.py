"""Which values of a region to store: a minimum cut.

    s (carried) -- t = exp s -- needed: s and t        storing s and computing t again, or storing both

Between the values that cannot be computed again and the values that the reverse needs, every value may be stored at
its cost, and every op may run again at its cost if its operands are there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from pullback.ad.costs import recompute_cost, store_cost
from pullback.ad.flow import INFINITE, Network
from pullback.ad.primal import Primal
from pullback.ir.node import Block, Op, Value

__all__ = ["Choice", "Region", "used_inside"]


class Region:
    """The blocks of a loop body, or of a function, and of the `if`s in it, down to inner loops."""

    def __init__(self, primal: Primal, root: Block) -> None:
        self.root = root
        self.blocks: list[Block] = []
        self.ifs: list[Op] = []  # inner ones first
        self._collect(root)
        self._known = set(self.blocks)
        self.primal = primal

    def _collect(self, block: Block) -> None:
        self.blocks.append(block)
        for op in block.ops:
            if op.name == "if":
                for inner in op.blocks:
                    self._collect(inner)
                self.ifs.append(op)

    def holds(self, value: Value) -> bool:
        """Is the value defined here."""
        return self.primal.tables.home.get(value) in self._known


def used_inside(block: Block, found: dict[Value, None]) -> None:
    """Every value that the block or inner blocks mention."""
    for op in block.ops:
        found.update(dict.fromkeys(op.operands))
        for inner in op.blocks:
            used_inside(inner, found)
    found.update(dict.fromkeys(block.results))


class Choice:
    """The minimum cut: `stored` values, and in `again` the ops to run again, operands first.

    `again(value)` is the op that can make the value once more; `free(value)` tells what is there anyway; `cost(value)`
    is that of storing it.
    """

    def __init__(
        self, again: Callable[[Value], Op | None], needed: Iterable[Value], free: Callable[[Value], bool],
        cost: Callable[[Value], int] = store_cost,
    ) -> None:  # fmt: skip
        self._again, self.free, self._cost = again, free, cost
        self.inputs: dict[Value, int] = {}
        network = self.network = Network()
        pending = [v for v in needed if not free(v)]
        self.needed = list(pending)
        for value in pending:
            network.edge(self._node(value) + 1, 1, INFINITE)
        order = list(self.inputs)
        for value in order:
            order += self._connect(value)
        before = network.before_sink()
        self.stored = [v for v, n in self.inputs.items() if n not in before and n + 1 in before]
        self.again = self._rerun()

    def _node(self, value: Value) -> int:
        """The number of the value's incoming node; its outgoing node is the next number."""
        if value not in self.inputs:
            self.inputs[value] = self.network.node()
            outgoing = self.network.node()
            self.network.edge(self.inputs[value], outgoing, self._cost(value))
        return self.inputs[value]

    def _connect(self, value: Value) -> list[Value]:
        """Edges into the value; operands seen for the first time."""
        node, op = self.inputs[value], self._again(value)
        if op is None:
            self.network.edge(0, node, INFINITE)
            return []
        self.network.edge(0, node, recompute_cost(op))
        new: list[Value] = []
        for operand in dict.fromkeys(op.operands):
            if not self.free(operand):
                if operand not in self.inputs:
                    new.append(operand)
                self.network.edge(self._node(operand) + 1, node, INFINITE)
        return new

    def _rerun(self) -> list[Op]:
        """Ops whose results are needed and not stored, operands first."""
        stored, done = set(self.stored), set[Op]()
        order: list[Op] = []
        pending: list[tuple[Value, bool]] = [(v, False) for v in reversed(self.needed)]
        while pending:
            value, ready = pending.pop()
            if value in stored or self.free(value):
                continue
            op = self._again(value)
            assert op is not None
            if ready:
                if op not in done:
                    done.add(op)
                    order.append(op)
            elif op not in done:
                pending.append((value, True))
                pending += [(v, False) for v in op.operands]
        return order

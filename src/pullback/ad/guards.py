"""Partials that checks of the program keep finite.

    check ne y, 0.0                      q = div x, y      1/y and -q/y are finite (but for overflow): plain products
    check or_ (gt v, 0.0), (isnan v)     l = log v         1/v is finite

A check counts where it stands in the block of the op or in a block around it: whenever the op runs, so does the check.
"""

from __future__ import annotations

import math

from pullback.ir.node import Block, Op, Value

__all__ = ["Guards"]

# Per op: the operand that has to be other than zero.
_NONZERO = {"div": 1, "log": 0, "log2": 0, "log10": 0, "powi": 0, "cbrt": 0}


class Guards:
    """Facts from the checks of one function."""

    def __init__(self, body: Block) -> None:
        self._around: dict[Block, Block] = {}
        self._home: dict[Op, Block] = {}
        self._maker: dict[Value, Op] = {}
        self._nonzero: dict[Value, list[Block]] = {}
        self._collect(body)

    def finite(self, op: Op) -> bool:
        """Are the partials of a scalar op known to be finite."""
        place = _NONZERO.get(op.name)
        if place is None:
            return False
        value = op.operands[place]
        number = self._constant(value)
        if number is not None:
            return number != 0.0 and math.isfinite(number)
        blocks = self._nonzero.get(value)
        return blocks is not None and self._inside(self._home.get(op), blocks)

    def _inside(self, block: Block | None, blocks: list[Block]) -> bool:
        while block is not None:
            if block in blocks:
                return True
            block = self._around.get(block)
        return False

    def _collect(self, block: Block) -> None:
        for op in block.ops:
            self._home[op] = block
            for value in op.results:
                self._maker[value] = op
            if op.name == "check":
                for value in self._proved(op.operands[0]):
                    self._nonzero.setdefault(value, []).append(block)
            for inner in op.blocks:
                self._around[inner] = block
                self._collect(inner)

    def _constant(self, value: Value) -> float | None:
        op = self._maker.get(value)
        return float(str(op.attrs["value"])) if op is not None and op.name == "const" and _numeric(op) else None

    def _proved(self, condition: Value) -> set[Value]:
        """Values that are not zero (they may be nan) where the condition holds."""
        op = self._maker.get(condition)
        if op is None:
            return set()
        if op.name == "and_":
            return self._proved(op.operands[0]) | self._proved(op.operands[1])
        if op.name == "or_":
            return self._proved(op.operands[0]) & self._proved(op.operands[1])
        if op.name == "isnan":
            return {op.operands[0]}
        if op.name in ("ne", "gt", "lt"):
            return {v for v, other in zip(op.operands, op.operands[::-1], strict=True) if self._constant(other) == 0.0}
        return set()


def _numeric(op: Op) -> bool:
    return isinstance(op.attrs["value"], float)

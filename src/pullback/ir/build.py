"""The only place where ops are made: a builder appends to a block and infers result types.

    b = Builder(block); b.span = op.span
    y = b.emit(prim, x, z, attrs...)          # one result: a Value
"""

from __future__ import annotations

from collections.abc import Sequence

from pullback.diagnostic import UNKNOWN, InternalError, Span
from pullback.ir.node import Block, Op, Primitive, Value
from pullback.types import Machine

__all__ = ["Builder"]


class Builder:
    """Appends ops to `block`.  New ops carry `span`."""

    __slots__ = ("block", "span")

    def __init__(self, block: Block | None = None, span: Span = UNKNOWN) -> None:
        self.block = block if block is not None else Block()
        self.span = span

    def append(
        self,
        prim: Primitive,
        operands: Sequence[Value],
        *,
        attrs: dict[str, object] | None = None,
        blocks: Sequence[Block] = (),
        types: Sequence[Machine] | None = None,
        names: Sequence[str] = (),
    ) -> Op:
        """Append a typed op.  Result types come from `types` or from the primitive."""
        attrs = attrs or {}
        if types is None:
            try:
                types = prim.result_types([_typed(v) for v in operands], attrs)
            except TypeError as error:
                raise InternalError(f"ill-typed {prim.name}{attrs} of {list(operands)}: {error}") from None
        results = [Value(t, names[i] if i < len(names) else "") for i, t in enumerate(types)]
        op = Op(prim, operands, results, attrs, blocks, self.span)
        self.block.ops.append(op)
        return op

    def append_untyped(
        self,
        prim: Primitive,
        operands: Sequence[Value],
        *,
        attrs: dict[str, object] | None = None,
        blocks: Sequence[Block] = (),
        results: int = 1,
        names: Sequence[str] = (),
    ) -> Op:
        """Append an op of untyped IR with a stated number of results."""
        values = [Value(None, names[i] if i < len(names) else "") for i in range(results)]
        op = Op(prim, operands, values, attrs or {}, blocks, self.span)
        self.block.ops.append(op)
        return op


def _typed(value: Value) -> Machine:
    if value.type is None:
        raise InternalError(f"untyped value {value!r} in typed code")
    return value.type

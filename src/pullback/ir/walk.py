"""Questions about blocks that several rooms ask: definitions, free values, copies."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from pullback.ir.node import Block, Function, Op, Value

__all__ = [
    "clone_block", "clone_function", "clone_ops", "count_ops", "defined", "fingerprint", "free_values", "replace_ops",
    "substitute", "uses",
]  # fmt: skip


def defined(block: Block, *, nested: bool = False) -> set[Value]:
    """Values defined by the block: parameters and results of its ops (`nested`: of inner blocks too)."""
    values = set(block.params)
    for op in block.ops:
        values.update(op.results)
        if nested:
            for inner in op.blocks:
                values |= defined(inner, nested=True)
    return values


def free_values(block: Block) -> dict[Value, None]:
    """Values that the block uses and does not define, in order of first use (a dict as an ordered set)."""
    found: dict[Value, None] = {}
    _free(block, set(), found)
    return found


def _free(block: Block, bound: set[Value], found: dict[Value, None]) -> None:
    bound.update(block.params)
    for op in block.ops:
        for value in op.operands:
            if value not in bound:
                found[value] = None
        for inner in op.blocks:
            _free(inner, bound, found)
        bound.update(op.results)
    for value in block.results:
        if value not in bound:
            found[value] = None


def substitute(block: Block, mapping: Mapping[Value, Value]) -> None:
    """Replace uses in the block and all inner blocks, in place."""
    if not mapping:
        return
    for op in block.ops:
        op.operands = [mapping.get(v, v) for v in op.operands]
        for inner in op.blocks:
            substitute(inner, mapping)
    block.results = [mapping.get(v, v) for v in block.results]


def clone_ops(ops: Iterable[Op], mapping: dict[Value, Value]) -> list[Op]:
    """Copies of the ops with fresh results; `mapping` translates operands and is extended by the results."""
    copies: list[Op] = []
    for op in ops:
        operands = [mapping.get(v, v) for v in op.operands]
        blocks = [clone_block(inner, mapping) for inner in op.blocks]
        results = [Value(v.type, v.name) for v in op.results]
        mapping.update(zip(op.results, results, strict=True))
        copies.append(Op(op.prim, operands, results, op.attrs, blocks, op.span))
    return copies


def clone_block(block: Block, mapping: dict[Value, Value]) -> Block:
    """A copy of the block with fresh parameters and results; free values are translated by `mapping`."""
    params = [Value(v.type, v.name) for v in block.params]
    mapping.update(zip(block.params, params, strict=True))
    ops = clone_ops(block.ops, mapping)
    return Block(params, ops, [mapping.get(v, v) for v in block.results])


def clone_function(function: Function, name: str | None = None) -> Function:
    """A deep copy, sharing nothing but primitives, spans and attribute values."""
    return Function(name or function.name, clone_block(function.body, {}), function.span, function.attrs)


def uses(block: Block) -> dict[Value, int]:
    """How often each value is used as an operand or a result, inner blocks included."""
    counts: dict[Value, int] = {}
    for op in block.walk():
        for value in op.operands:
            counts[value] = counts.get(value, 0) + 1
        for inner in op.blocks:
            for value in inner.results:
                counts[value] = counts.get(value, 0) + 1
    for value in block.results:
        counts[value] = counts.get(value, 0) + 1
    return counts


def count_ops(block: Block) -> int:
    """The number of ops, inner ones included."""
    return sum(1 for _ in block.walk())


def fingerprint(function: Function) -> int:
    """A number that is the same as long as the function is: whatever values are called, attributes included."""
    numbers: dict[Value, int] = {}
    seen: list[object] = []

    def note(values: Iterable[Value]) -> None:
        seen.append(tuple([numbers.setdefault(value, len(numbers)) for value in values]))

    def block(inside: Block) -> None:
        note(inside.params)
        for op in inside.ops:
            seen.append(op.name)
            note(op.operands)
            note(op.results)
            if op.attrs:
                seen.append(repr(op.attrs))
            for inner in op.blocks:
                block(inner)
        note(inside.results)

    block(function.body)
    return hash(tuple(seen))


def replace_ops(block: Block, rule: Callable[[Op], Sequence[Op]]) -> None:
    """In place of every op, inner ones first, stand those that the rule gives for it."""
    ops: list[Op] = []
    for op in block.ops:
        for inner in op.blocks:
            replace_ops(inner, rule)
        ops += rule(op)
    block.ops = ops

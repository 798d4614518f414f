"""A copy of a fresh array that nobody uses afterwards is that array.

    b = elementwise{new} n, ...                      b = elementwise{new} n, ...
    c = elementwise{new} n, b { yield b }    ->
    use c                                            use b

Only where both are made in one block, all uses of the array and its views read or write elements, and the types are
equal.  The array may be one of two that an `if` chooses from, if nobody uses these afterwards.
"""

from __future__ import annotations

from pullback.analysis.effects import VIEWS, carried, elementwise_targets
from pullback.ir.node import Block, Function, Op, Program, Value
from pullback.ir.walk import free_values, substitute
from pullback.types import ArrayRef

__all__ = ["copied", "run"]

_MAKERS = frozenset({"elementwise", "array_zeros", "array_empty", "matmul"})
_ELEMENTS = frozenset({
    "elementwise", "array_size", "array_get", "array_inc", "array_swap", "matmul", "matmul_inc",
})  # fmt: skip


def run(function: Function, program: Program) -> None:
    """Drop the copies of the whole function."""
    _block(function.body)


def _block(block: Block) -> None:
    for op in block.ops:
        for inner in op.blocks:
            if op.name != "elementwise":
                _block(inner)
    uses: dict[Value, list[int]] = {}
    viewed: dict[Value, Value] = {}
    yielded = set(block.results)
    for place, op in enumerate(block.ops):
        for value in {*op.operands, *(v for inner in op.blocks for v in free_values(inner))}:
            uses.setdefault(viewed.get(value, value), []).append(place)
        if op.name in VIEWS and isinstance(op.results[0].type, ArrayRef):  # a use of a view is one of the array
            viewed[op.results[0]] = viewed.get(op.operands[0], op.operands[0])
    yielded |= {viewed[v] for v in yielded if v in viewed}
    made = {v for op in block.ops if op.name in _MAKERS for v in op.results} - yielded
    for place, op in enumerate(block.ops):
        if op.name == "if":
            gone = {v for v in made if max(uses.get(v, (place,))) <= place}
            made |= {v for v, *chosen in carried(op) if all(_is_own(op, c, block, uses, gone) for c in chosen)}
    mapping: dict[Value, Value] = {}
    for place, op in enumerate(block.ops):
        source = copied(op)
        if source is None:
            continue
        first = mapping.get(source, source)
        others = [block.ops[p] for v in {source, first} for p in uses.get(v, ()) if block.ops[p] is not op]
        last = max((p for v in {source, first} for p in uses.get(v, ())), default=place)
        plain = all(
            (other.name in _ELEMENTS or other.name in VIEWS)
            and not ({viewed.get(v, v) for v in _inside(other)} & {source, first})
            for other in others
        )  # fmt: skip
        if first in made and plain and last == place and source not in yielded and first.type == op.results[0].type:
            mapping[op.results[0]] = first
    if mapping:
        block.ops = [op for op in block.ops if not (op.results and op.results[0] in mapping)]
        substitute(block, mapping)


def _is_own(choice: Op, value: Value, block: Block, uses: dict[Value, list[int]], gone: set[Value]) -> bool:
    """Is what a branch yields a fresh array that only this choice hands on."""
    before = [block.ops[place] for place in uses.get(value, ()) if block.ops[place] is not choice]
    makers = {v for branch in choice.blocks for op in branch.ops if op.name in _MAKERS for v in op.results}
    if value not in gone and value not in makers:
        return False
    inside = [op for branch in choice.blocks for op in branch.ops]
    touched = [op for op in (*before, *inside) if value in op.operands or value in _inside(op)]
    yields = [v for branch in choice.blocks for v in branch.results]
    return all(op.name in _ELEMENTS and value in op.operands for op in touched) and yields.count(value) == 1


def _inside(op: Op) -> list[Value]:
    return [v for inner in op.blocks for v in free_values(inner)]


def copied(op: Op) -> Value | None:
    """The array of which the op makes a copy."""
    if op.name != "elementwise" or op.attrs["outputs"] != ("new",) or list(elementwise_targets(op)):
        return None
    (body,) = op.blocks
    if body.ops or len(body.params) != 1 or body.results != body.params:
        return None
    array = op.operands[-1]
    return array if array.type == op.results[0].type else None

"""An expensive function that a later elementwise op computes again is kept where that op's result will stand.

    s = elementwise outputs=(sum) (n, x) {exp}                s, g = elementwise outputs=(sum, new) (n, x) {exp; exp}
    c = div 1, s                                       ->     c = div 1, s
    g = elementwise outputs=(new) (n, x, c) {exp; mul}        elementwise outputs=(set) (n, g, c -> g) {mul}

The later op has a fresh result of the same shape and dtype, so keeping the values takes no memory of its own: this is
the usual log-sum-exp written by hand.
"""

from __future__ import annotations

from collections.abc import Hashable

from pullback.analysis.effects import Memory, elementwise_inputs, elementwise_targets, is_reference
from pullback.ir.node import Block, Function, Op, Program, Value
from pullback.types import Scalar

__all__ = ["run"]

# Functions that cost more than a store and a load of their value.
EXPENSIVE = frozenset({
    "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "sinh", "cosh", "tanh", "asin",
    "acos", "atan", "asinh", "acosh", "atanh", "erf", "erfc", "gamma", "lgamma", "pow", "cbrt", "atan2", "hypot",
})  # fmt: skip


def run(function: Function, program: Program) -> None:
    """Look at each pair of elementwise ops of a block over the same space."""
    memory: Memory | None = None
    for block in _blocks(function.body):
        ops = [op for op in block.ops if op.name == "elementwise"]
        for later in ops[1:]:
            if not _fresh_results(later):
                continue
            memory = memory or Memory(function, program)
            for earlier in ops[: ops.index(later)]:
                if _share(earlier, later, block, memory):
                    break


def _blocks(block: Block) -> list[Block]:
    found = [block]
    for op in block.ops:
        if op.name != "elementwise":
            for inner in op.blocks:
                found += _blocks(inner)
    return found


def _outputs(op: Op) -> tuple[str, ...]:
    outputs = op.attrs["outputs"]
    assert isinstance(outputs, tuple)
    return outputs


def _sizes(op: Op) -> list[Value]:
    return op.operands[: int(str(op.attrs["rank"]))]


def _fresh_results(op: Op) -> bool:
    return "new" in _outputs(op) and "sum" not in _outputs(op)


def _keys(op: Op) -> dict[Value, Hashable]:
    """What each value of the block computes, in terms of the op's inputs."""
    (body,) = op.blocks
    keys: dict[Value, Hashable] = dict(zip(body.params, elementwise_inputs(op), strict=True))
    for inner in body.ops:
        if len(inner.results) == 1 and not inner.blocks:
            attrs = tuple(sorted((k, repr(v)) for k, v in inner.attrs.items()))
            keys[inner.result] = (inner.name, attrs, tuple(keys.get(v, v) for v in inner.operands))
    return keys


def _share(earlier: Op, later: Op, block: Block, memory: Memory) -> bool:
    if _sizes(earlier) != _sizes(later):
        return False
    known = {key: value for value, key in _keys(earlier).items()}
    (body,) = later.blocks
    again = [
        (inner, known[key])
        for inner, key in ((i, _keys(later).get(i.result)) for i in body.ops if i.name in EXPENSIVE)
        if key in known
    ]
    if not again or _written_between(earlier, later, block, memory):
        return False
    inner, source = again[-1]
    number = _place(later, source)
    if number is None:
        return False
    _keep(earlier, later, inner, source, number)
    return True


def _place(later: Op, source: Value) -> int | None:
    """The number of a "new" output of the source's dtype."""
    (body,) = later.blocks
    for number, kind in enumerate(_outputs(later)):
        if kind == "new" and body.results[number].type == source.type and isinstance(source.type, Scalar):
            return number
    return None


def _written_between(earlier: Op, later: Op, block: Block, memory: Memory) -> bool:
    roots = {memory.root(v) for v in elementwise_inputs(earlier) if is_reference(v.type)}
    written = [op for root in roots for op in memory.writes.get(root, ())]
    if not written:
        return False
    between = block.ops[block.ops.index(earlier) : block.ops.index(later)]
    inside = set(between) | {inner for op in between for b in op.blocks for inner in b.walk()}
    return not inside.isdisjoint(written)


def _keep(earlier: Op, later: Op, inner: Op, source: Value, number: int) -> None:
    """The earlier op yields the value as a result, which the later one reads and replaces by its own."""
    (body,) = later.blocks
    outputs, rank = list(_outputs(later)), int(str(later.attrs["rank"]))
    place = sum(1 for kind in outputs[:number] if kind in ("new", "sum"))
    result = later.results.pop(place)
    targets, inputs = elementwise_targets(later), elementwise_inputs(later)
    at = sum(1 for kind in outputs[:number] if kind in ("inc", "set"))
    outputs[number] = "set"
    param = Value(inner.result.type, inner.result.name)
    body.ops.remove(inner)
    for op in body.walk():
        op.operands = [param if v is inner.result else v for v in op.operands]
    body.results = [param if v is inner.result else v for v in body.results]
    body.params.append(param)
    later.operands = [*later.operands[:rank], *inputs, result, *targets[:at], result, *targets[at:]]
    later.attrs = {**later.attrs, "outputs": tuple(outputs), "targets": len(targets) + 1}
    earlier.blocks[0].results.append(source)
    earlier.results.append(result)
    earlier.attrs = {**earlier.attrs, "outputs": (*_outputs(earlier), "new")}

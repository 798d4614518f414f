"""An expensive function that a later elementwise op computes again is kept where that op's result will stand.

    s = elementwise outputs=(sum) (n, x) {exp}                s, g = elementwise outputs=(sum, new) (n, x) {exp; exp}
    c = div 1, s                                       ->     c = div 1, s
    g = elementwise outputs=(new) (n, x, c) {exp; mul}        elementwise outputs=(set) (n, g, c -> g) {mul}

The later op has a fresh result of the same shape and dtype, so keeping the values takes no memory of its own: this is
the usual log-sum-exp written by hand.  Functions of float32 are kept in an array of their own if need be: they are
computed in double precision, which takes longer than to store and load four bytes, wherever these are.
"""

from __future__ import annotations

from collections.abc import Hashable

from pullback.analysis.effects import Memory, elementwise_inputs, elementwise_targets, is_reference
from pullback.ir.node import Block, Function, Op, Program, Value
from pullback.types import ArrayRef, DType, Scalar

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
            if not any(inner.name in EXPENSIVE for inner in later.blocks[0].ops):
                continue
            memory = memory or Memory(function, program)
            for earlier in ops[: ops.index(later)]:
                if _share(earlier, later, block, memory):
                    memory = None  # the later op may write now what the earlier one made
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
    if number is not None:
        _keep(earlier, later, inner, source, number)
    elif source.type == Scalar(DType.F32):
        _read(later, inner, _put_out(earlier, source))
    return number is not None or source.type == Scalar(DType.F32)


def _place(later: Op, source: Value) -> int | None:
    """The number of a "new" output of the source's dtype."""
    if "sum" in _outputs(later):
        return None
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
    outputs = list(_outputs(later))
    place = sum(1 for kind in outputs[:number] if kind in ("new", "sum"))
    result = later.results.pop(place)
    targets = elementwise_targets(later)
    at = sum(1 for kind in outputs[:number] if kind in ("inc", "set"))
    outputs[number] = "set"
    before = len(later.operands) - len(targets)
    later.operands = [*later.operands[:before], *targets[:at], result, *targets[at:]]
    later.attrs = {**later.attrs, "outputs": tuple(outputs), "targets": len(targets) + 1}
    _read(later, inner, result)
    _put_out(earlier, source, result)


def _read(later: Op, inner: Op, array: Value) -> None:
    """The op reads the elements of the array where it computed them."""
    (body,) = later.blocks
    param = Value(inner.result.type, inner.result.name)
    body.ops.remove(inner)
    for op in body.walk():
        op.operands = [param if v is inner.result else v for v in op.operands]
    body.results = [param if v is inner.result else v for v in body.results]
    body.params.append(param)
    before = len(later.operands) - int(str(later.attrs["targets"]))
    later.operands = [*later.operands[:before], array, *later.operands[before:]]


def _put_out(earlier: Op, source: Value, result: Value | None = None) -> Value:
    """A fresh array with a value of the op's block."""
    assert isinstance(source.type, Scalar)
    if result is None:
        result = Value(ArrayRef(source.type.dtype, int(str(earlier.attrs["rank"])), True), source.name)
    earlier.blocks[0].results.append(source)
    earlier.results.append(result)
    earlier.attrs = {**earlier.attrs, "outputs": (*_outputs(earlier), "new")}
    return result

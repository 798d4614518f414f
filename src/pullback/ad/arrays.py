"""J of what is done to arrays: the sensitivities of elements lie in shadows of the same shape.

    x = py.prim{array_get}(a, i)           back:  py.prim{array_inc}(a', i, dx)                 a' = py.shadow(a)
    old = py.prim{array_swap}(a, i, x)     back:  dx = py.prim{array_swap}(a', i, dold)
    py.prim{array_inc}(a, i, x)            back:  dx = py.prim{array_get}(a', i)
    v = py.prim{view_slice}(a, ...)        v = py.shadowed(view_slice(py.primal(a)), view_slice(a')); no step
    a = py.prim{array_zeros}(n)            back:  py.cleared(a')

What is done to whole arrays is in `array_passes`; which values are arrays with shadows, in `infer.shadowed`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from pullback.ad.array_passes import elementwise, matmul, matmul_inc
from pullback.ad.backpropagator import Back, Step
from pullback.ad.shadowing import (
    Transformer,
    again,
    clear,
    machines,
    prim,
    shadow_of,
    tracked,
    zeros,
)  # fmt: skip
from pullback.analysis.effects import VIEWS
from pullback.ir.node import Op, Value
from pullback.types import BOOL, ArrayRef

__all__ = ["TREES", "on_arrays", "rule_on_arrays"]


def on_arrays(op: Op) -> bool:
    """Is it a primitive on arrays."""
    return any(isinstance(t, ArrayRef) for t in (*machines(op, "types"), *machines(op, "results")))


def rule_on_arrays(j: Transformer, op: Op) -> Step | None:
    """Emit what the primitive becomes; what its backpropagator does."""
    name = str(op.attrs["name"])
    if name in VIEWS:
        _view(j, op)
        return None
    rule = _RULES.get(name)
    if rule is None:
        j.bind(op, again(j, op))
        j.inert.update(op.results)
        return None
    return rule(j, op)


def _view(j: Transformer, op: Op) -> None:
    found = again(j, op)
    if tracked(machines(op, "types")[0]):
        _check_reshape(j, op)
        shadow = again(j, op, [shadow_of(j, op.operands[0]), *j.mapped(op.operands[1:])])
        found = j.emit("shadowed", [*found, *shadow])
    j.bind(op, found)
    j.inert.update(op.results)


_STRIDES = "cannot differentiate by closures: a view whose shadow lies in another order is reshaped"


def _check_reshape(j: Transformer, op: Op) -> None:
    """What is known of the strides of an array is asked of its shadow: that of an argument may have other ones."""
    attributes, types = op.attrs["attributes"], machines(op, "types")
    assert isinstance(attributes, Mapping)
    given = attributes.get("given")
    if given is None:
        return
    asked = [shadow_of(j, op.operands[0]), *([] if given == "whole" else j.mapped(op.operands[1:]))]
    name = "array_contiguous" if given == "whole" else "array_fits"
    (fits,) = prim(j.emit, name, asked, types[: len(asked)], [BOOL])
    prim(j.emit, "check", [fits], [BOOL], [], exception="ValueError", message=_STRIDES)


def _made(j: Transformer, op: Op) -> Step | None:
    """A fresh array, and zeros for its shadow."""
    (made,), (type_,) = again(j, op), machines(op, "results")
    j.inert.update(op.results)
    if not tracked(type_):
        j.bind(op, [made])
        return None
    shadow = zeros(j, j.mapped(op.operands), type_)
    j.bind(op, j.emit("shadowed", [made, shadow]))
    return lambda back: clear(back, shadow)


# ---------------------------------------------------------------------------------------------------- one element


def _get(j: Transformer, op: Op) -> Step | None:
    j.bind(op, again(j, op))
    types = machines(op, "types")
    if not tracked(types[0]):
        j.inert.update(op.results)
        return None
    shadow, indices = shadow_of(j, op.operands[0]), j.mapped(op.operands[1:])

    def step(back: Back) -> None:
        if op.result in back.known:
            given = [shadow, *indices, back.take(op.result)]
            prim(back.emit, "array_inc", given, [*types, *machines(op, "results")], [])

    return step


def _swap(j: Transformer, op: Op) -> Step | None:
    """What was written takes its sensitivity out; what stood there before puts its own in."""
    j.bind(op, again(j, op))
    types = machines(op, "types")
    if not tracked(types[0]):
        j.inert.update(op.results)
        return None
    shadow, indices = shadow_of(j, op.operands[0]), j.mapped(op.operands[1:-1])

    def step(back: Back) -> None:
        before = back.take(op.results[0])
        (found,) = prim(back.emit, "array_swap", [shadow, *indices, before], types, types[-1:])
        back.give(op.operands[-1], found)

    return step


def _inc(j: Transformer, op: Op) -> Step | None:
    j.bind(op, again(j, op))
    types = machines(op, "types")
    if not tracked(types[0]):
        return None
    shadow, indices = shadow_of(j, op.operands[0]), j.mapped(op.operands[1:-1])

    def step(back: Back) -> None:
        (found,) = prim(back.emit, "array_get", [shadow, *indices], types[:-1], types[-1:])
        back.give(op.operands[-1], found)

    return step


_RULES: dict[str, Callable[[Transformer, Op], Step | None]] = {
    "array_zeros": _made, "array_empty": _made, "array_get": _get, "array_swap": _swap, "array_inc": _inc,
    "elementwise": elementwise, "matmul": matmul, "matmul_inc": matmul_inc,
}  # fmt: skip


# -------------------------------------------------------------------------------------------------- whole structures


def _dressed(j: Transformer, op: Op) -> Step:
    tree = _made_for(j, op, j.copy(op))

    def step(back: Back) -> None:
        clear(back, tree)
        if op.results[0] in back.known:
            back.give(op.operands[0], back.take(op.results[0]))

    return step


def _outside(j: Transformer, op: Op) -> Step:
    """What is found outside: backwards, the shadows of the shadows that were made for it are zero again."""
    copied = j.copy(op)
    j.inert.update(op.results)
    tree = _made_for(j, op, copied)
    return lambda back: clear(back, tree)


def _made_for(j: Transformer, op: Op, copied: Op) -> Value:
    """The shadows of the shadows that an op makes, which says of how many derivatives it is in the code."""
    order = op.attrs.get("order", 0)
    assert isinstance(order, int)
    copied.attrs["order"] = order + 1
    (tree,) = j.emit("shadows", [j.values[op.results[0]]])
    for _ in range(order):
        (tree,) = j.emit("primal", [tree])
    return j.emit("shadows", [tree])[0]


def _on_primals(j: Transformer, op: Op) -> None:
    """The op itself, on the arrays without the shadows that J gave them: so the next J finds its own."""
    operands = [j.emit("primal", [v])[0] for v in j.mapped(op.operands)]
    j.builder.append_untyped(op.prim, operands, attrs=dict(op.attrs), results=0)


def _increased(j: Transformer, op: Op) -> Step:
    _on_primals(j, op)
    target, given = (j.emit("shadows", [v])[0] for v in j.mapped(op.operands))

    def step(back: Back) -> None:
        back.emit("increased", [given, target], 0)

    return step


def _cleared(j: Transformer, op: Op) -> Step:
    _on_primals(j, op)
    (tree,) = j.emit("shadows", j.mapped(op.operands))
    return lambda back: clear(back, tree)


TREES: dict[str, Callable[[Transformer, Op], Step]] = {
    "py.dressed": _dressed, "py.outside": _outside, "py.increased": _increased, "py.cleared": _cleared,
}  # fmt: skip

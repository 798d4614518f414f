"""Backpropagators of primitives in untyped IR, from the partials that each primitive states.

    y = py.prim{sin}(x)     ->     x gets py.prim{zmul}(py.prim{cos}(x), d)

The rule of a row runs once on typed values of its own; what it emits is lifted into ops of untyped IR, which have rules
by themselves, so that any order follows.  Products are `zmul` unless inference knows from types that both
factors are finite (`types.Tame`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from pullback.ad.guards import Guards
from pullback.ad.scalars import STEEP, stated
from pullback.ir.build import Builder
from pullback.ir.node import Block, Op, Value
from pullback.prims.backward import lift
from pullback.prims.base import NOT_DIFFERENTIABLE, Emitter, Linear, Partial, Prim, get
from pullback.types import Machine, Scalar, is_float

__all__ = ["BackRule", "PrimGuards", "back_of_prim"]

# (builder, untyped operands and then results, sensitivity of the result) -> operand numbers with their shares
BackRule = Callable[[Builder, Sequence[Value], Value], Iterator[tuple[int, Value]]]


def back_of_prim(op: Op, *, finite: bool) -> BackRule | None:
    """The rule of a `py.prim`; None where its results have no sensitivity.  `finite`: checks keep its partials so."""
    prim = get(str(op.attrs["name"]))
    types, results = op.attrs["types"], op.attrs["results"]
    attributes = op.attrs["attributes"]
    assert isinstance(types, tuple) and isinstance(results, tuple) and isinstance(attributes, Mapping)
    assert isinstance(prim, Prim)
    if prim.derivative == NOT_DIFFERENTIABLE or len(results) != 1 or not is_float(results[0]):
        return None
    operands, outputs = [Value(t) for t in types], [Value(t) for t in results]
    typed = Op(prim, operands, outputs, attributes, span=op.span)
    given = Value(results[0])
    scratch = Emitter(Block(), op.span)
    found = enumerate(_shares(scratch, typed, given, finite=finite))
    shares = [(i, s) for i, s in found if s is not None and is_float(_machine(s))]

    def rule(builder: Builder, values: Sequence[Value], sensitivity: Value) -> Iterator[tuple[int, Value]]:
        mapping = dict(zip([*operands, *outputs, given], [*values, sensitivity], strict=True))
        for inner in scratch.block.ops:
            mapping.update(zip(inner.results, lift(builder, inner, mapping), strict=True))
        for index, share in shares:
            yield index, mapping[share]

    return rule


def _machine(value: Value) -> Machine:
    assert value.type is not None
    return value.type


def _shares(e: Emitter, op: Op, given: Value, *, finite: bool) -> Sequence[Value | None]:
    rule = op.prim.derivative if isinstance(op.prim, Prim) else None
    if isinstance(rule, Linear):
        return rule.transpose(e, op, given)
    assert callable(rule)
    steep = op.name in STEEP
    if "finite" in op.attrs:  # a share itself: its partial is as finite as before, its sensitivity as its type says
        bounded = [False, bool(op.attrs["finite"])]
    else:
        bounded = [finite] * len(op.operands)
    return [
        _share(e, stated(op, partial), given, finite=known, steep=steep)
        if partial is not None and is_float(_machine(operand))
        else None
        for operand, partial, known in zip(op.operands, rule(e, op), bounded, strict=True)
    ]


def _share(
    e: Emitter, partial: Partial | float, given: Value, *, finite: bool, steep: bool
) -> Value | None:
    """partial * given, the known factors 0, 1 and -1 without a product."""
    slope = partial.value if isinstance(partial, Partial) else partial
    if slope == 0.0:
        return None
    if isinstance(slope, Value):
        assert isinstance(partial, Partial)
        return e("zmul", slope, given, finite=finite or not partial.strong, steep=steep)
    if slope == 1.0:
        return given
    if slope == -1.0:
        return e("neg", given)
    assert isinstance(_machine(given), Scalar)
    return e("mul", e.like(slope, given), given, finite=True, steep=False)


class PrimGuards:
    """What the checks among the primitives of a block prove of the partials of the others."""

    def __init__(self, body: Block) -> None:
        self._typed: dict[Op, Op] = {}
        self._values: dict[Value, Value] = {}
        self._guards = Guards(self._block(body))

    def finite(self, op: Op) -> bool:
        """Are the partials of a `py.prim` known to be finite."""
        return op in self._typed and self._guards.finite(self._typed[op])

    def _block(self, block: Block) -> Block:
        typed = Block()
        for op in block.ops:
            if op.name == "py.prim":
                self._typed[op] = made = self._prim(op)
                typed.ops.append(made)
            elif op.name == "if":
                typed.ops.append(Op(op.prim, [], [], {}, [self._block(inner) for inner in op.blocks]))
        return typed

    def _prim(self, op: Op) -> Op:
        types, results, attributes = op.attrs["types"], op.attrs["results"], op.attrs["attributes"]
        assert isinstance(types, tuple) and isinstance(results, tuple) and isinstance(attributes, Mapping)
        operands = [self._values.setdefault(v, Value(t)) for v, t in zip(op.operands, types, strict=True)]
        outputs = [self._values.setdefault(v, Value(t)) for v, t in zip(op.results, results, strict=True)]
        return Op(get(str(op.attrs["name"])), operands, outputs, attributes)

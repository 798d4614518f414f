"""Sums of sensitivities with like terms collected and common factors taken out; then they are sums like others.

    s = accumulate x, c                              t = add a, b
    t = mul p, a; u = mul p, b              ->       u = mul p, t
    v = accumulate s, t; w = accumulate v, u         d = add x, x
    y = accumulate w, x                              y = add (add d, u), c

What two uses of a value give is added before it is multiplied with the partial, as if they had been one use.  Such sums
have no order (ADR 9).  A sum is rewritten only if that takes fewer operations, so it ends.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pullback.ir.node import Block, Function, Op, Program, Value
from pullback.ir.walk import substitute, uses
from pullback.prims.base import Emitter, get
from pullback.prims.scalar import NUMPY_DTYPES
from pullback.types import Scalar

__all__ = ["run"]

_SUM = "accumulate"
_PRODUCTS = ("mul", "zmul")
_MOST = 1000.0  # times a value: a larger multiple may be none of a short float
_Weighted = dict[Value, float]  # terms and their whole or broken multiples


def run(function: Function, program: Program) -> None:
    """Rewrite the sums of the function; afterwards there is no `accumulate` in it."""
    if any(op.name == _SUM for op in function.body.walk()):
        terms = _Terms(function)
        terms.block(function.body)
        substitute(function.body, terms.mapping)
        for op in function.body.walk():
            if op.name == _SUM:
                op.prim = get("add")


@dataclass(slots=True)
class _Sum:
    """A sum being rewritten: the ops that it takes the place of, what it adds up, and a constant."""

    replaced: set[Op]
    terms: _Weighted
    constant: float = 0.0


class _Terms:
    def __init__(self, function: Function) -> None:
        self.count = uses(function.body)
        self.mapping: dict[Value, Value] = {}
        self.numbers = {op.result: op.attrs["value"] for op in function.body.walk() if op.name == "const"}

    def block(self, block: Block) -> None:
        self.maker = {op.result: op for op in block.ops if len(op.results) == 1 and not op.blocks}
        summed = {v for op in block.ops if op.name == _SUM for v in op.operands}
        ops: list[Op] = []
        for op in block.ops:
            if op.name == _SUM and not (self.count[op.result] == 1 and op.result in summed):
                ops += self.rewritten(op)
            ops.append(op)
        block.ops = ops
        for op in ops:
            for inner in op.blocks:
                self.block(inner)

    def rewritten(self, root: Op) -> list[Op]:
        """The ops of the sum in another form, if these are fewer."""
        scratch = Emitter(Block(), root.span)
        found = _Sum(set(), {})
        try:
            total = self.emit(scratch, self.collected(found, [(root.result, 1.0)]), found)
        except _Cancels:
            return []
        made = [op for op in scratch.block.ops if op.name != "const"]
        if len(made) >= len(found.replaced):
            return []
        self.mapping[root.result] = total
        return scratch.block.ops

    # ---------------------------------------------------------------------------------------------------- collecting

    def collected(self, found: _Sum, given: Sequence[tuple[Value, float]]) -> _Sum:
        """The terms of a sum, like ones together."""
        leaves = [leaf for value, weight in given for leaf in self.leaves(found, value, weight)]
        often = Counter(value for value, _ in leaves)
        inner = _Sum(found.replaced, {})
        for value, weight in leaves:
            if value in self.numbers:
                inner.constant += weight * float(str(self.numbers[value]))
                continue
            base, factor = self.multiple(found, value, often[value])
            inner.terms[base] = inner.terms.get(base, 0.0) + weight * factor
        if any(weight == 0.0 or abs(weight) > _MOST for weight in inner.terms.values()):
            raise _Cancels
        return inner

    def leaves(self, found: _Sum, value: Value, weight: float) -> Iterator[tuple[Value, float]]:
        op = self.maker.get(value)
        if op is None or op.name != _SUM or weight != 1.0 or (found.replaced and self.count[value] != 1):
            yield value, weight
            return
        found.replaced.add(op)
        for operand in op.operands:
            yield from self.leaves(found, operand, weight)

    def multiple(self, found: _Sum, value: Value, times: int) -> tuple[Value, float]:
        """The value as another one times a number, if this sum is all that uses it."""
        op = self.maker.get(value)
        if op is None or self.count[value] != times:
            return value, 1.0
        if op.name == "neg":
            found.replaced.add(op)
            return op.operands[0], -1.0
        if op.name != "mul" or op.operands[1] not in self.numbers or op.operands[0] in self.numbers:
            return value, 1.0
        number = float(str(self.numbers[op.operands[1]]))
        if abs(number) > _MOST:
            return value, 1.0
        found.replaced.add(op)
        return op.operands[0], number

    # ------------------------------------------------------------------------------------------------------ factors

    def emit(self, e: Emitter, total: _Sum, found: _Sum) -> Value:
        """Emit the sum: products with a common factor first."""
        parts: list[tuple[Value, float]] = []
        terms = dict(total.terms)
        while (factor := self.common(terms)) is not None:
            products = [v for v in terms if factor in self.factors(v)]
            strong = any(self.maker[v].name == "zmul" for v in products)
            others = [(self.other(v, factor), terms.pop(v)) for v in products]
            found.replaced.update(self.maker[v] for v in products)
            inner = self.emit(e, self.collected(found, others), found)
            parts.append((e("zmul" if strong else "mul", factor, inner), 1.0))
        parts = [*terms.items(), *parts]
        if total.constant or not parts:
            model = parts[0][0] if parts else next(iter(found.replaced)).result
            parts.append((_number(e, total.constant, model), 1.0))
        return self.added(e, parts)

    def factors(self, value: Value) -> Sequence[Value]:
        """Those of a product that only this sum uses."""
        op = self.maker.get(value)
        if op is None or op.name not in _PRODUCTS or self.count[value] != 1:
            return ()
        return op.operands

    def common(self, terms: _Weighted) -> Value | None:
        """The factor that most products have in common."""
        often = Counter(v for value in terms for v in dict.fromkeys(self.factors(value)) if v not in self.numbers)
        factor, times = next(iter(often.most_common(1)), (None, 0))
        return factor if times > 1 else None

    def other(self, product: Value, factor: Value) -> Value:
        x, y = self.maker[product].operands
        return y if x is factor else x

    def added(self, e: Emitter, parts: list[tuple[Value, float]]) -> Value:
        parts.sort(key=lambda part: part[1] < 0.0)  # what is taken away comes last
        total: Value | None = None
        for value, weight in parts:
            value = self.mapping.get(value, value)
            if total is None:
                total = self.weighted(e, value, weight)
            else:
                total = e("sub" if weight < 0.0 else "add", total, self.weighted(e, value, abs(weight)))
        assert total is not None
        return total

    def weighted(self, e: Emitter, value: Value, weight: float) -> Value:
        match weight:
            case 1.0:
                return value
            case -1.0:
                return e("neg", value)
            case 2.0:
                return e("add", value, value)
        return e("mul", value, _number(e, weight, value))


def _number(e: Emitter, number: float, model: Value) -> Value:
    """A constant, rounded as the model's dtype does it."""
    assert isinstance(model.type, Scalar)
    return e.constant(float(NUMPY_DTYPES[model.type.dtype](number)), model.type)


class _Cancels(Exception):
    """Terms add up to nothing, which infinite ones would not."""

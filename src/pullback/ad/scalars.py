"""The scalar rules of both modes, from the partials that each primitive states.

    y = sin x      push: dy = cos x * dx            pull: x gets cos x * c
    y = sqrt x     push: zmul(0.5 / y, dx)          pull: x gets zmul(0.5 / y, c)      the partial may be infinite
    y = sub x, z   push: dx - dz                    pull: x gets c, z gets -c

A product with a partial that may not be finite ("strong") is `zmul`.  Where it may be infinite although the result is
finite, what comes out is "wild", and every later product with it is `zmul` too: sqrt(x) * 0.0 and sqrt(0.0 * x) have
derivative 0 at 0 in both modes.  A cotangent that a selection may have set to zero is treated alike where values may
not be finite.  Partials that a check guards are not strong.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from pullback.ad.guards import Guards
from pullback.diagnostic import CompileError, Diagnostic, InternalError
from pullback.ir.node import Block, Op, Value
from pullback.prims.base import NOT_DIFFERENTIABLE, Emitter, Linear, Partial, Prim, Refused

__all__ = ["STEEP", "Wild", "is_strong", "pull_scalar", "push_scalar", "stated"]

# Slopes that may be infinite where the value is not.  (1/x and log x are infinite themselves at 0.)
STEEP = frozenset({"sqrt", "cbrt", "pow", "asin", "acos", "acosh", "zmul"})
_STRONG: dict[tuple[str, str], bool] = {}


def is_strong(op: Op) -> bool:
    """Does a scalar op have a partial that may not be finite."""
    rule = op.prim.derivative if isinstance(op.prim, Prim) else None
    if not callable(rule) or isinstance(rule, Linear):
        return False
    key = (op.name, str(op.attrs.get("n")))
    if key not in _STRONG:
        operands, results = [Value(v.type) for v in op.operands], [Value(v.type) for v in op.results]
        partials = rule(Emitter(Block()), Op(op.prim, operands, results, op.attrs))
        _STRONG[key] = any(isinstance(p, Partial) and p.strong for p in partials)
    return _STRONG[key]


class Wild:
    """Which tangents or cotangents need `zmul`: they may not be finite.

    A loop that holds an op which can make such a value carries wild values.  `given`: what comes in may be wild.
    """

    def __init__(self, body: Block, active: Callable[[Value], bool], *, given: bool) -> None:
        self.values: set[Value] = set()
        self._active = active
        self._loops: dict[Op, bool] = {}
        self._guards = Guards(body)
        # Could a value be infinite or nan where a selection drops it.
        self.selected = given or any(is_strong(op) and not self.tame(op) for op in body.walk())
        self.memory = False  # may what is read from shadows be wild
        self.memory = given or any(self._source(op) for op in body.walk())

    def __contains__(self, value: Value) -> bool:
        return value in self.values

    def note(self, value: Value, wild: bool) -> Value:
        if wild:
            self.values.add(value)
        return value

    def tame(self, op: Op) -> bool:
        """Do checks keep the op's partials finite."""
        return self._guards.finite(op)

    def holds(self, op: Op) -> bool:
        """Can the blocks of the op make a wild value."""
        if op not in self._loops:
            self._loops[op] = any(self._source(inner) for block in op.blocks for inner in block.walk())
        return self._loops[op]

    def _source(self, op: Op) -> bool:
        if op.name == "call":
            return True
        touched = op.results or op.operands[:1]
        if not any(map(self._active, touched)):
            return False
        if isinstance(op.prim, Prim) and op.prim.derivative == "structural":
            return self.memory and not op.blocks
        if op.name == "select":
            return self.selected
        return op.name in STEEP and not self.tame(op)


def _scale(e: Emitter, partial: Partial | float, factor: Value, *, strong: bool, one: bool = False) -> Value | None:
    """partial * factor; None for zero.  `one`: the factor is known to be 1."""
    slope = partial.value if isinstance(partial, Partial) else partial
    if isinstance(slope, Value):
        if one:
            return slope
        return e("zmul" if strong else "mul", slope, factor)
    if slope == 0.0:
        return None
    if slope == 1.0:
        return factor
    if slope == -1.0:
        return e("neg", factor)
    return e("mul", e.like(slope, factor), factor)


def _derivative(op: Op) -> object:
    if not isinstance(op.prim, Prim) or op.prim.derivative == "structural":
        raise InternalError(f"no rule of differentiation for {op.name}")
    return op.prim.derivative


def stated(op: Op, partial: Partial | Refused | float) -> Partial | float:
    """The partial, unless the row refuses one."""
    if isinstance(partial, Refused):
        title = partial.title.format(name=op.name)
        raise CompileError(Diagnostic(title, op.span, "this is differentiated by it", partial.help))
    return partial


def pull_scalar(
    e: Emitter, op: Op, cotangent: Value, wanted: Sequence[bool], facts: Wild, *, wild: bool, one: bool = False,
    original: Op | None = None,
) -> Iterator[tuple[Value, Value, bool]]:  # fmt: skip
    """Operands with their contributions, and whether these are wild.

    `wanted`: which operands are active; `wild`: is the cotangent; `one`: is it the constant 1; `original`: the op that
    `op` is a copy of.
    """
    rule = _derivative(op)
    if rule == NOT_DIFFERENTIABLE:
        return
    if isinstance(rule, Linear):
        for operand, want, part in zip(op.operands, wanted, rule.transpose(e, op, cotangent), strict=True):
            if want and part is not None:
                yield operand, part, wild or (op.name == "select" and facts.selected)
        return
    assert callable(rule)
    tame = facts.tame(original or op)
    for operand, want, partial in zip(op.operands, wanted, rule(e, op), strict=True):
        if want and partial is not None:
            partial = stated(op, partial)
            strong = wild or (isinstance(partial, Partial) and partial.strong and not tame)
            part = _scale(e, partial, cotangent, strong=strong, one=one)
            if part is not None:
                yield operand, part, wild or (strong and op.name in STEEP)


def push_scalar(
    e: Emitter, op: Op, tangents: Sequence[Value | None], facts: Wild, *, original: Op | None = None
) -> tuple[Value | None, bool]:
    """The tangent of the only result (None where it is zero), and whether it is wild.  The op is already emitted."""
    rule = _derivative(op)
    if rule == NOT_DIFFERENTIABLE or all(t is None for t in tangents):
        return None, False
    any_wild = any(t is not None and t in facts for t in tangents)
    if isinstance(rule, Linear):
        return rule.pushforward(e, op, tangents), any_wild
    assert callable(rule)
    tame = facts.tame(original or op)
    total: Value | None = None
    for tangent, partial in zip(tangents, rule(e, op), strict=True):
        if tangent is None or partial is None:
            continue
        partial = stated(op, partial)
        strong = tangent in facts or (isinstance(partial, Partial) and partial.strong and not tame)
        any_wild = any_wild or (strong and op.name in STEEP)
        negative = partial == -1.0 and total is not None
        part = tangent if negative else _scale(e, partial, tangent, strong=strong)
        if part is not None:
            total = part if total is None else e("sub" if negative else "add", total, part)
    return total, any_wild

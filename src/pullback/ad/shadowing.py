"""What J of arrays is made of: primitives of untyped IR on the halves of arrays with shadows, and fresh shadows.

    prim(emit, "array_get", [s, i], types, results)           py.prim{array_get}(s, i)
    shadow_of(j, a)                                           py.shadow(a)

Who uses them are `arrays` and `array_passes`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from pullback.ad.backpropagator import Back
from pullback.ir.build import Builder
from pullback.ir.node import Block, Op, Value
from pullback.prims.base import get
from pullback.types import I64, ArrayRef, Machine, Scalar, is_float

__all__ = [
    "COPY", "SET", "Emit", "Transformer", "again", "clear", "copied", "machines", "one_pass", "prim", "primals",
    "shadow_of", "sizes_of", "tracked", "zeros",
]  # fmt: skip

COPY, SET = ("new",), ("new", "set")  # outputs of passes over memory


class Transformer(Protocol):
    """What is asked of J of a function (`closures`)."""

    values: dict[Value, Value]
    inert: set[Value]
    builder: Builder

    def copy(self, op: Op) -> Op: ...
    def emit(self, name: str, operands: Sequence[Value] = (), results: int = 1, /, **attrs: object) -> list[Value]: ...
    def mapped(self, values: Sequence[Value]) -> list[Value]: ...
    def bind(self, op: Op, results: Sequence[Value]) -> None: ...


Emit = Callable[..., list[Value]]


def machines(op: Op, name: str) -> tuple[Machine, ...]:
    """The types of the operands or results of a `py.prim`."""
    found = op.attrs[name]
    assert isinstance(found, tuple)
    return found


def tracked(type_: Machine) -> bool:
    """Is it an array that has a shadow."""
    return isinstance(type_, ArrayRef) and is_float(type_)


def prim(
    emit: Emit, name: str, operands: Sequence[Value], types: Sequence[Machine], results: Sequence[Machine],
    block: Block | None = None, **attributes: object,
) -> list[Value]:  # fmt: skip
    """A primitive of typed IR in untyped IR; `block`: of an elementwise op."""
    more = {} if block is None else {"block": block}
    return emit("prim", operands, len(results), name=name, attributes=attributes, types=tuple(types),
                results=tuple(results), **more)  # fmt: skip


def primals(j: Transformer, op: Op) -> list[Value]:
    """The operands, arrays without their shadows."""
    types = machines(op, "types")
    return [j.emit("primal", [v])[0] if tracked(t) else v
            for v, t in zip(j.mapped(op.operands), types, strict=True)]  # fmt: skip


def again(j: Transformer, op: Op, operands: Sequence[Value] | None = None) -> list[Value]:
    """The op itself."""
    given = primals(j, op) if operands is None else operands
    made = j.builder.append_untyped(get("py.prim"), given, attrs=dict(op.attrs), results=len(op.results))
    return made.results[:]


def shadow_of(j: Transformer, value: Value) -> Value:
    """The shadow of an array of the function that is transformed."""
    return j.emit("shadow", [j.values[value]])[0]


def zeros(j: Transformer, sizes: Sequence[Value], type_: Machine) -> Value:
    """A fresh shadow."""
    assert isinstance(type_, ArrayRef)
    (made,) = prim(j.emit, "array_zeros", sizes, [I64] * len(sizes), [type_], dtype=type_.dtype)
    return made


def clear(back: Back, shadow: Value) -> None:
    """Zeros in a shadow whose array was made here: the next call of the backpropagator begins with them."""
    back.emit("cleared", [shadow], 0)


def copied(j: Transformer, array: Value, type_: Machine) -> Value:
    """A copy of an array that the reverse reads."""
    assert isinstance(type_, ArrayRef)
    param = Value(Scalar(type_.dtype))
    return one_pass(j.emit, sizes_of(j.emit, array, type_), [array], [type_], Block([param], [], [param]), COPY)[0]


def sizes_of(emit: Emit, array: Value, type_: ArrayRef) -> list[Value]:
    """The sizes of an array."""
    return [prim(emit, "array_size", [array], [type_], [I64], axis=axis)[0] for axis in range(type_.rank)]


def one_pass(
    emit: Emit, sizes: Sequence[Value], operands: Sequence[Value], types: Sequence[Machine], block: Block,
    outputs: Sequence[str],
) -> list[Value]:  # fmt: skip
    """One elementwise op; the operands are inputs and then targets."""
    rank, results = len(sizes), list[Machine]()
    for kind, value in zip(outputs, block.results, strict=True):
        assert isinstance(value.type, Scalar)
        if kind in ("new", "sum"):
            results.append(ArrayRef(value.type.dtype, rank, True) if kind == "new" else value.type)
    targets = sum(kind in ("inc", "set") for kind in outputs)
    return prim(emit, "elementwise", [*sizes, *operands], [*[I64] * rank, *types], results, block,
                 rank=rank, outputs=tuple(outputs), targets=targets)  # fmt: skip

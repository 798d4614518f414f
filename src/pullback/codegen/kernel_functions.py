"""Kernels as functions of their own, where a program has many of them; those that are alike are one function.

    r = elementwise(n, a, b) { x, y: x*y }      ->      call {i32} @pb.kernel.0(context, n, data of a, its stride, ...)
    s = elementwise(n, c, d) { x, y: x*y }              call {i32} @pb.kernel.0(context, n, data of c, its stride, ...)

A kernel whose length is known only when it runs is some hundred instructions: two nests, and the conditions for them.
Derivatives of array programs have dozens, mostly of a few kinds (copies, sums, products), and LLVM's time grows with
the size of a function times its loops.  A call costs a few nanoseconds; where there are few kernels they stay in place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from pullback.codegen import abi
from pullback.codegen.layout import Space, View
from pullback.codegen.writer import FunctionWriter
from pullback.ir.node import Program
from pullback.ir.walk import free_values
from pullback.types import Scalar

if TYPE_CHECKING:
    from pullback.codegen.kernels import Kernel, Total

__all__ = ["called", "many"]

_MANY = 20  # kernels of a program, above which they are called
_ATTRIBUTES = 'noinline nounwind "prefer-vector-width"="512"'
Nests = Callable[[FunctionWriter, "Kernel", "list[Total]"], list[str]]


def many(program: Program) -> bool:
    """Has a program so many kernels that they are better called."""
    ops = (op for function in program.functions.values() for op in function.body.walk())
    return sum(op.name == "elementwise" and op.attrs["rank"] != 0 for op in ops) > _MANY


def called(w: FunctionWriter, kernel: Kernel, sums: list[Total], nests: Nests) -> list[str]:
    """The results of the sums of a kernel, which `nests` writes into a function of its own."""
    known = _Parameters(w)
    sizes = [known.of(size, "i64") for size in kernel.space.sizes]
    views = {view: known.view(view) for view in kernel.views}
    inner = w.inner()
    inner.shared, inner.compact = w.shared, w.compact
    scalars = [_type(v.type) for v in kernel.block.params]
    inputs = [views[v] if isinstance(v, View) else known.of(v, t) for v, t in zip(kernel.inputs, scalars, strict=True)]
    for value in free_values(kernel.block):
        types = w.types([value])
        inner.pieces[value] = tuple(known.of(p, t) for p, t in zip(w.pieces[value], types, strict=True))
    totals = [replace(t, target=views[t.target]) if t.target is not None else t for t in kernel.totals]
    own = replace(
        kernel, space=Space(sizes, kernel.space.flat), inputs=inputs, new={views[v] for v in kernel.new},
        writes={views[v]: numbers for v, numbers in kernel.writes.items()}, totals=totals,
    )  # fmt: skip
    known.tell(inner)
    result = "{" + ", ".join(("i32", *(abi.LLVM[t.dtype] for t in sums))) + "}"
    start = w.module.mark()
    found = nests(inner, own, [t for t, old in zip(totals, kernel.totals, strict=True) if old in sums])
    head = f"({', '.join((f'ptr noalias dereferenceable({abi.CONTEXT_SIZE}) %context', *known.declared()))})"
    text = inner.close(f"{head} {_ATTRIBUTES}", result, found)
    symbol = w.module.kernel(result, text, start)
    returned = w.set(f"call {result} {symbol}({', '.join(('ptr %context', *known.given()))})")
    if inner.failures:
        status = w.set(f"extractvalue {result} {returned}, 0")
        w.fail_if(w.set(f"icmp ne i32 {status}, 0"), status)
    return [w.set(f"extractvalue {result} {returned}, {i + 1}") for i in range(len(found))]


def _type(type_: object) -> str:
    """The LLVM type of a scalar operand."""
    assert isinstance(type_, Scalar)
    return abi.LLVM[type_.dtype]


class _Parameters:
    """What the function is given: for each register of the caller a name of its own; literals stay what they are."""

    def __init__(self, w: FunctionWriter) -> None:
        self.w = w
        self._names: dict[str, tuple[str, str]] = {}

    def of(self, piece: str, type_: str) -> str:
        if not piece.startswith("%"):
            return piece
        return self._names.setdefault(piece, (f"%p{len(self._names)}", type_))[0]

    def view(self, view: View) -> View:
        strides = tuple(self.of(stride, "i64") for stride in view.strides)
        return replace(view, data=self.of(view.data, "ptr"), strides=strides)

    def tell(self, inner: FunctionWriter) -> None:
        """What is known of the caller's arrays."""
        for piece, (name, _) in self._names.items():
            if piece in self.w.roots:
                inner.roots[name] = f"outside {self.w.roots[piece]}"
        inner.fresh.update(f"outside {root}" for root in self.w.fresh)

    def declared(self) -> Iterable[str]:
        return (f"{type_} {name}" for name, type_ in self._names.values())

    def given(self) -> Iterable[str]:
        return (f"{type_} {piece}" for piece, (_, type_) in self._names.items())

"""Stores of large results past the caches, by way of a buffer that stays in the nearest one.

    c[k] = a[k] + b[k]     becomes, for a strip of 512 elements,     buffer[k] = a[start + k] + b[start + k]
                                                                     pb.stream(c + start, buffer, bytes)

A store to memory that is in no cache reads the line first: of a map that writes as much as the last cache holds, that
is a part of the traffic which two cores then wait for.  Whether a block is large is known when it runs; where it is
not, the loop is the same and stores to where the elements belong.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from pullback.codegen import abi
from pullback.codegen.layout import View
from pullback.codegen.loops import vectors
from pullback.codegen.scalars import constant
from pullback.codegen.writer import FunctionWriter

if TYPE_CHECKING:
    from pullback.codegen.kernels import Kernel

__all__ = ["STREAM", "STREAMED", "is_large", "settle", "streamed", "targets"]

STREAMED = 512  # elements of a strip
_LARGE = 1 << 19  # bytes of a block from which on: there are up to 64 of them, and of a last cache some 32 MiB

Element = Callable[[dict[View, str], list[str]], Sequence[str]]  # (places, partial sums) -> next partial sums

STREAM = """
define internal void @pb.stream(ptr %to, ptr %from, i64 %bytes) nounwind {
entry:
  %address = ptrtoint ptr %to to i64
  %negative = sub i64 0, %address
  %gap = and i64 %negative, 63
  %head = call i64 @llvm.umin.i64(i64 %gap, i64 %bytes)
  call void @llvm.memcpy.p0.p0.i64(ptr %to, ptr %from, i64 %head, i1 false)
  %left = sub i64 %bytes, %head
  %whole = and i64 %left, -64
  %middle = add i64 %head, %whole
  %none = icmp eq i64 %whole, 0
  br i1 %none, label %tail, label %line
line:
  %k = phi i64 [ %head, %entry ], [ %next, %line ]
  %source = getelementptr i8, ptr %from, i64 %k
  %target = getelementptr i8, ptr %to, i64 %k
  %values = load <8 x i64>, ptr %source, align 1
  store <8 x i64> %values, ptr %target, align 64, !nontemporal !{i32 1}
  %next = add i64 %k, 64
  %more = icmp ult i64 %next, %middle
  br i1 %more, label %line, label %tail
tail:
  %rest = sub i64 %bytes, %middle
  %end = getelementptr i8, ptr %to, i64 %middle
  %last = getelementptr i8, ptr %from, i64 %middle
  call void @llvm.memcpy.p0.p0.i64(ptr %end, ptr %last, i64 %rest, i1 false)
  ret void
}
"""


def targets(kernel: Kernel) -> list[View]:
    """The arrays that are only stored to, element beside element."""
    stored = kernel.replacing | {number for view in kernel.new for number in kernel.writes[view]}
    return [
        view for view, numbers in kernel.writes.items()
        if len(numbers) == 1 and stored.issuperset(numbers) and view not in kernel.inputs
        and kernel.space.inner(view) != "0"
    ]  # fmt: skip


def is_large(w: FunctionWriter, kernel: Kernel, views: Sequence[View]) -> str:
    """Is the row of a block worth it."""
    widest = max(view.dtype.bytes for view in views)
    return w.set(f"icmp uge i64 {kernel.space.sizes[-1]}, {_LARGE // widest}")


def streamed(
    w: FunctionWriter, kernel: Kernel, views: Sequence[View], large: str, bases: dict[View, str], start: str, end: str,
    element: Element, together: int,
) -> list[str]:  # fmt: skip
    """One strip; `bases`: where the rows of the arrays that move begin.  The sums over the strip."""
    count = w.set(f"sub nuw nsw i64 {end}, {start}")

    def place(view: View, base: str, index: str) -> str:
        if kernel.space.inner(view) == "0":
            return base
        return w.set(f"getelementptr inbounds {abi.MEMORY[view.dtype]}, ptr {base}, i64 {index}")

    begin = {view: place(view, base, start) for view, base in bases.items()}
    buffers = {view: w.buffer(number, 8 * STREAMED) for number, view in enumerate(views)}
    used = dict(begin)
    for view, buffer in buffers.items():
        used[view] = w.set(f"select i1 {large}, ptr {buffer}, ptr {begin[view]}")

    def step(index: str, partials: list[str]) -> Sequence[str]:
        return element({view: place(view, base, index) for view, base in used.items()}, partials)

    types = [abi.LLVM[t.dtype] for t in kernel.totals]
    found = vectors(w, "0", count, types, [constant(0, t.dtype) for t in kernel.totals], step, together)
    out, done = w.label(), w.label()
    w.branch(large, out, done)
    w.begin(out)
    for view, buffer in buffers.items():
        size = w.set(f"mul nuw nsw i64 {count}, {view.dtype.bytes}")
        w.do(f"call void {w.module.helper('pb.stream')}(ptr {begin[view]}, ptr {buffer}, i64 {size})")
    w.jump(done)
    w.begin(done)
    return found


def settle(w: FunctionWriter) -> None:
    """What was streamed is seen by whoever is told that the block is done."""
    w.do("fence seq_cst")

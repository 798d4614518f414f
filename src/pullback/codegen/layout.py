"""Where the elements of an index space lie in the arrays that an `elementwise` visits.

    space (n0, n1), array f64[:] of n1        ->  strides (0, 8)
    all arrays row-major over the space       ->  one axis of n0*n1, stride 8

What is known from the text of the operands (the same name, a literal 1) is decided while compiling; the rest when the
kernel runs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from pullback.codegen.arrays import array_type, sizes_of, strides_of
from pullback.codegen.writer import FunctionWriter
from pullback.ir.node import Value
from pullback.types import DType

__all__ = ["Space", "View", "align", "disjoint", "unit_strides"]


@dataclass(frozen=True, slots=True)
class View:
    """An array seen from the space: byte strides per axis.  `exact`: known to be row-major over the whole space."""

    dtype: DType
    data: str
    strides: tuple[str, ...]
    exact: bool = field(default=False, compare=False)

    @property
    def still(self) -> bool:
        return all(s == "0" for s in self.strides)


def align(w: FunctionWriter, array: Value, sizes: Sequence[str]) -> View:
    """Align to the right; axes that are missing or of size 1 get the stride 0 unless the space has size 1 there too."""
    type_, own = array_type(array), sizes_of(w, array)
    missing = len(sizes) - type_.rank
    same = [own[i] == sizes[missing + i] for i in range(type_.rank)]
    exact = type_.contiguous and not missing and all(same)
    strides = ["0"] * missing
    for i, stride in enumerate(strides_of(w, array)):
        if same[i]:
            strides.append(stride)
        elif own[i] == "1":
            strides.append("0")
        else:
            agree = w.set(f"icmp eq i64 {own[i]}, {sizes[missing + i]}")
            strides.append(w.set(f"select i1 {agree}, i64 {stride}, i64 0"))
    return View(type_.dtype, w.only(array), tuple(strides), exact)


@dataclass(slots=True)
class Space:
    """The sizes of the axes still to be walked.  After `collapse` the last axis may stand for several."""

    sizes: list[str]
    flat: bool = False  # known to be one axis; views that move have stride = element size

    @property
    def rank(self) -> int:
        return len(self.sizes)

    def inner(self, view: View) -> str:
        """The stride along the last axis."""
        if self.flat:
            return "0" if view.still else str(view.dtype.bytes)
        return view.strides[-1]

    def collapse(self, w: FunctionWriter, views: Sequence[View]) -> None:
        """Join the last axes as far as every view runs on across them."""
        if self.rank < 2:
            return
        if all(view.exact or view.still for view in views):
            total = self.sizes[0]
            for size in self.sizes[1:]:
                total = w.multiply(total, size)
            self.sizes, self.flat = [total], True
            return
        joined = "true"
        for axis in range(self.rank - 2, -1, -1):
            last, size = self.sizes[-1], self.sizes[axis]
            conditions = [joined]
            for view in views:
                outer, inner = view.strides[axis], view.strides[-1]
                if not view.exact and not (outer == "0" and inner == "0"):
                    conditions.append(w.set(f"icmp eq i64 {outer}, {w.multiply(inner, last)}"))
            joined = conditions[0]
            for other in conditions[1:]:
                joined = w.set(f"and i1 {joined}, {other}")
            product = w.multiply(size, last)
            self.sizes[-1] = w.set(f"select i1 {joined}, i64 {product}, i64 {last}")
            self.sizes[axis] = w.set(f"select i1 {joined}, i64 1, i64 {size}")

    def nonempty(self, w: FunctionWriter) -> str:
        """An i1: does the space have elements."""
        flags = [w.set(f"icmp sgt i64 {size}, 0") for size in self.sizes]
        result = flags[0]
        for flag in flags[1:]:
            result = w.set(f"and i1 {result}, {flag}")
        return result


def unit_strides(w: FunctionWriter, space: Space, views: Sequence[View]) -> list[str]:
    """Conditions under which the elements of every row lie side by side, or are one element."""
    found: dict[str, None] = {}
    for view in views:
        stride, size = space.inner(view), str(view.dtype.bytes)
        if stride not in ("0", size):
            found[w.set(f"icmp eq i64 {stride}, {size}")] = None
    return list(found)


def disjoint(
    w: FunctionWriter, space: Space, views: Sequence[View], written: Sequence[View],
    together: Callable[[View, View], bool],
) -> list[str]:  # fmt: skip
    """Conditions under which no written array overlaps another one that is used `together` with it.

    There are none for pairs of which it is known.
    """
    bounds: dict[View, tuple[str, str]] = {}

    def ends(view: View) -> tuple[str, str]:
        if view not in bounds:
            bounds[view] = _ends(w, space, view)
        return bounds[view]

    conditions = []
    for i, target in enumerate(written):
        for other in views:
            if other == target or (other in written[:i]) or w.apart(target.data, other.data):
                continue
            if not together(target, other):
                continue
            (low, high), (other_low, other_high) = ends(target), ends(other)
            before = w.set(f"icmp ule ptr {high}, {other_low}")
            after = w.set(f"icmp ule ptr {other_high}, {low}")
            conditions.append(w.set(f"or i1 {before}, {after}"))
    return conditions


def _ends(w: FunctionWriter, space: Space, view: View) -> tuple[str, str]:
    """The addresses of the first byte and past the last one, for a space that is not empty."""
    low, high = view.data, view.data
    axes = [(space.sizes[-1], space.inner(view))]
    axes += [(size, view.strides[i]) for i, size in enumerate(space.sizes[:-1])]
    for size, stride in axes:
        if stride == "0":
            continue
        reach = w.multiply(w.set(f"sub i64 {size}, 1"), stride)
        if stride.isdigit():
            high = w.set(f"getelementptr i8, ptr {high}, i64 {reach}")
            continue
        below = w.intrinsic(f"call i64 @llvm.smin.i64(i64 {reach}, i64 0)")
        above = w.intrinsic(f"call i64 @llvm.smax.i64(i64 {reach}, i64 0)")
        low = w.set(f"getelementptr i8, ptr {low}, i64 {below}")
        high = w.set(f"getelementptr i8, ptr {high}, i64 {above}")
    return low, w.set(f"getelementptr i8, ptr {high}, i64 {view.dtype.bytes}")

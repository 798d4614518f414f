"""Functions of one line of numbers applied along axes of an array, by loops of the prelude.

    scan(cx, "cumsum_line", a, 1, out)       cumsum_line(a[i, :, j], out[i, :, j]) for all i, j
    fold(cx, "prod_line", a, (0, 1), F64)    out[k] = prod_line(the elements a[:, :, k])

The array is seen as a table (before, line, after), or (before, line) if the axes are the last ones, which costs no copy
where it lies row after row, or has at most two axes.
"""

from __future__ import annotations

from collections.abc import Sequence

from pullback.infer.calls import call
from pullback.infer.creation import empty
from pullback.infer.elementwise import array_sizes
from pullback.infer.engine import Frame
from pullback.infer.lattice import WEAK_INT
from pullback.infer.numpy.axes import expanded, moved
from pullback.infer.numpy.shapes import reshaped
from pullback.infer.registry import prelude
from pullback.infer.values import AV
from pullback.ir.node import Value
from pullback.types import Array, DType

__all__ = ["flat", "fold", "kept_sizes", "product", "scan", "table"]


def product(cx: Frame, sizes: Sequence[Value]) -> Value:
    """The product of sizes."""
    result = cx.e.integer(1)
    for number, size in enumerate(sizes):
        result = cx.e("mul", result, size) if number else size
    return result


def flat(cx: Frame, value: AV) -> AV:
    """The elements in one row, to be read."""
    assert isinstance(value.type, Array)
    if value.type.rank == 1:
        return value
    return reshaped(cx, value, [AV(WEAK_INT, (cx.e.integer(-1),), -1)], reading=True)


def table(cx: Frame, value: AV, axes: Sequence[int]) -> AV:
    """The array with some axes, in their order, as one line: see above.  It is to be read, or row after row."""
    assert isinstance(value.type, Array)
    rank, axes = value.type.rank, sorted(axes)
    if len(axes) == rank:
        return flat(cx, value)
    if axes[-1] - axes[0] >= len(axes):  # others stand between them
        others = [axis for axis in range(rank) if axis not in axes]
        value, axes = moved(cx, value, [*others, *axes]), list(range(len(others), rank))
    if rank == 2:
        return value if axes == [1] else expanded(cx, value, 0)
    sizes = array_sizes(cx, value)
    parts = [sizes[: axes[0]], sizes[axes[0] : axes[-1] + 1], sizes[axes[-1] + 1 :]]
    if not parts[2]:
        del parts[2]
    return reshaped(cx, value, [AV(WEAK_INT, (product(cx, part),)) for part in parts], reading=True)


def scan(
    cx: Frame, name: str, value: AV, axis: int, out: AV, extra: Sequence[AV] = (), *, columns: str = ""
) -> AV:
    """`out`, row after row, each line along the axis filled by a function of the prelude from that line of the array.

    columns: the function for a whole table (before, line, after), where neighbours in memory lie in different lines.
    """
    lines, targets = table(cx, value, [axis]), table(cx, out, [axis])
    function = prelude(cx, f"pullback.{name}")
    assert isinstance(lines.type, Array)
    if lines.type.rank == 1:
        call(cx, function, [lines, targets, *extra], {})
    elif lines.type.rank == 3 and columns:
        call(cx, prelude(cx, f"pullback.{columns}"), [lines, targets, *extra], {})
    else:
        loop = prelude(cx, f"pullback.scan_{'rows' if lines.type.rank == 2 else 'columns'}")
        call(cx, loop, [function, lines, targets, *extra], {})
    return out


def fold(
    cx: Frame, name: str, value: AV, axes: Sequence[int], dtype: DType, extra: Sequence[AV] = (), *, keep: bool = False,
    columns: str = "", dense: bool = False,
) -> AV:  # fmt: skip
    """A number for each line along the axes, by a function of the prelude; keep: the axes stay, with size 1.

    columns: the function for a whole table (before, line, after), where neighbours in memory lie in different lines.
    dense: the function has no derivative, and is much faster on elements that lie side by side.
    """
    lines, function = table(cx, value, axes), prelude(cx, f"pullback.{name}")
    assert isinstance(lines.type, Array) and isinstance(value.type, Array)
    dense = dense and not lines.type.contiguous
    if lines.type.rank == 1:
        first = [prelude(cx, "pullback.of_dense"), function] if dense else [function]
        found = call(cx, first[0], [*first[1:], lines, *extra], {})
        if not keep or cx.dead:
            return found
        fresh = empty(cx, [cx.e.integer(1)] * value.type.rank, dtype)
        cx.e("array_swap", fresh.value, *[cx.e.integer(0)] * value.type.rank, found.value)
        return fresh
    sizes = array_sizes(cx, lines)
    out = empty(cx, [sizes[0], *sizes[2:]], dtype)
    if lines.type.rank == 3 and columns:
        call(cx, prelude(cx, f"pullback.{columns}"), [lines, out, *extra], {})
    else:
        loop = "columns" if lines.type.rank == 3 else "dense" if dense else "rows"
        call(cx, prelude(cx, f"pullback.fold_{loop}"), [function, lines, out, *extra], {})
    return reshaped(cx, out, kept_sizes(cx, value, axes, keep=keep))


def kept_sizes(cx: Frame, value: AV, axes: Sequence[int], *, keep: bool) -> list[AV]:
    """The sizes that a reduction leaves; keep: with 1 for the reduced axes."""
    found: list[AV] = []
    for axis, size in enumerate(array_sizes(cx, value)):
        if axis not in axes:
            found.append(AV(WEAK_INT, (size,)))
        elif keep:
            found.append(AV(WEAK_INT, (cx.e.integer(1),), 1))
    return found

"""The same elements under another shape: reshape, ravel, transpose; np.outer.

    a.reshape(2, -1)     view_reshape of a contiguous array, else `reshape`
    a.T                  view_transpose
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from pullback.infer.creation import array_like, view_reversed
from pullback.infer.dispatch import dispatch
from pullback.infer.elementwise import array_sizes, product
from pullback.infer.engine import Frame
from pullback.infer.filling import copy, shaped
from pullback.infer.lattice import WEAK_INT
from pullback.infer.registry import HANDLERS, Handler
from pullback.infer.static import static_int, static_items
from pullback.infer.values import AV
from pullback.infer.views import array_of, integer
from pullback.ir.node import Value
from pullback.types import Array, Constant, List, Ref, Str, Tuple, show

__all__ = ["axis_of", "flattened", "in_columns", "reshaped"]


def _reshape(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    if len(given) == 1 and "shape" in keywords:
        given, keywords = [*given, keywords["shape"]], {k: v for k, v in keywords.items() if k != "shape"}
    if len(given) == 3 and isinstance(given[1].type, Tuple | List | Ref) and isinstance(given[2].type, Str):
        given, keywords = given[:2], {**keywords, "order": given[2]}
    if set(keywords) - {"order", "copy"} or len(given) < 2:
        raise cx.error("reshape takes the new sizes", ", ".join(keywords))
    subject, *sizes = given
    if len(sizes) == 1 and isinstance(sizes[0].type, Tuple | List | Ref):
        sizes = static_items(cx, sizes[0], "a shape")

    def rule(cx: Frame, operands: Sequence[AV]) -> AV:
        av = array_like(cx, operands[0])
        if in_columns(cx, keywords.get("order"), av):
            return view_reversed(cx, reshaped(cx, view_reversed(cx, av), sizes[::-1]))
        found = reshaped(cx, av, sizes)
        return copy(cx, found) if "copy" in keywords and keywords["copy"].type == Constant(True) else found

    return dispatch(cx, [subject], rule)


def reshaped(cx: Frame, subject: AV, sizes: Sequence[AV], *, whole: bool = False, reading: bool = False) -> AV:
    """The array under another shape; one size may be -1.  A view as in NumPy: see `shaped`.

    reading: the result is used up before anything is written, so that it makes no difference whether it is a view.
    """
    if not isinstance(subject.type, Array):
        raise cx.error(f"reshape of {show(subject.type)}", "an array is needed")
    e = cx.e
    if reading:
        subject = subject if subject.type.contiguous else copy(cx, subject, rows=True)
        assert isinstance(subject.type, Array)
        subject = AV(replace(subject.type, foreign=False), subject.values)
    total = e.integer(1)
    for size in array_sizes(cx, subject):
        total = e("mul", total, size)
    open_axis = [i for i, size in enumerate(sizes) if cx.number_of(size) == -1]
    if len(open_axis) > 1:
        raise cx.error("can only specify one unknown dimension")
    known = e.integer(1)
    numbers = [integer(cx, size) for size in sizes]
    for i, number in enumerate(numbers):
        known = known if i in open_axis else e("mul", known, number)
    given = [number for i, number in enumerate(numbers) if i not in open_axis]
    message = f"cannot reshape array of size {{0}} into shape {_wanted_shape(len(numbers), open_axis)}"

    def require(holds: Value) -> None:
        cx.check(holds, "ValueError", message, total, *given, shapes=True)

    if len(given) > 1:
        require(e("not_", product(cx, given)[1]))
    if open_axis:
        require(e("ne", known, e.integer(0)))
        missing = e("floordiv", total, known)
        numbers[open_axis[0]] = missing
        require(e("eq", e("mul", missing, known), total))
    else:
        require(e("eq", known, total))
    for number in numbers:
        cx.check(e("ge", number, e.integer(0)), "ValueError", "negative dimensions not allowed")
    return shaped(cx, subject, numbers, whole=whole)


def _wanted_shape(rank: int, open_axis: Sequence[int]) -> str:
    """NumPy's way to write a shape with an unknown size: not shown where it leads, else `newaxis`."""
    shown: list[str] = []
    for axis in range(rank):
        if axis not in open_axis:
            shown.append("{" + str(1 + axis - sum(i < axis for i in open_axis)) + "}")
        elif shown:
            shown.append("newaxis")
    return f"({','.join(shown)}{',' if rank == 1 else ''})"


def _ravel(copying: bool) -> Handler:
    def handler(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
        order = [*given[1:], *keywords.values()]
        if len(order) > 1 or set(keywords) - {"order"}:
            raise cx.error("ravel and flatten take nothing but an order", ", ".join(keywords))

        def rule(cx: Frame, operands: Sequence[AV]) -> AV:
            av = array_like(cx, operands[0])
            if in_columns(cx, order[0] if order else None, av):
                av = view_reversed(cx, av)
            return flattened(cx, av if not copying else copy(cx, av, rows=True))

        return dispatch(cx, given[:1], rule)

    return handler


def flattened(cx: Frame, subject: AV) -> AV:
    """All elements in a row: a view where the array is contiguous, else a copy."""
    return subject if _is_row(subject) else reshaped(cx, subject, [AV(WEAK_INT, (cx.e.integer(-1),), -1)], whole=True)


def _is_row(av: AV) -> bool:
    type_ = av.type
    return isinstance(type_, Array) and type_.rank == 1 and type_.contiguous and not type_.foreign and not type_.gaps


def in_columns(cx: Frame, order: AV | None, av: AV) -> bool:
    """Are the elements read column after column: with order "F", or "A" and "K" where they lie so."""
    written = "C" if order is None else getattr(order.type, "value", None)
    assert isinstance(av.type, Array)
    if written in ("C", "F"):
        return written == "F"
    if written in ("A", "K") and (av.type.row_major or av.type.columns):
        return av.type.columns and not av.type.row_major
    raise cx.error("the order of the elements is not known here", f"order={written!r}", "write order='C' or order='F'")


def _transpose(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    subject, *axes = given
    axes = [*axes, *keywords.values()]
    if len(axes) == 1 and isinstance(axes[0].type, Tuple | List | Ref):
        axes = static_items(cx, axes[0], "axes")

    def rule(cx: Frame, operands: Sequence[AV]) -> AV:
        av = array_like(cx, operands[0])
        assert isinstance(av.type, Array)
        perm = tuple(axis_of(cx, axis, av.type.rank) for axis in axes) or tuple(reversed(range(av.type.rank)))
        if sorted(perm) != list(range(av.type.rank)):
            raise cx.error("axes don't match array", show(av.type))
        ones = [av.type.is_one(axis) for axis in perm]
        return array_of(cx.e("view_transpose", av.value, perm=perm), av.type, ones, perm=perm)

    return dispatch(cx, [subject], rule)


def axis_of(cx: Frame, av: AV, rank: int) -> int:
    """An axis argument: an int known while compiling, counted from the start."""
    axis = static_int(cx, av)
    if not -rank <= axis < rank:
        raise cx.error(f"axis {axis} is out of bounds for array of dimension {rank}")
    return axis % rank


HANDLERS.update({
    "numpy.reshape": _reshape, "numpy.ravel": _ravel(False), "ndarray.flatten": _ravel(True),
    "numpy.transpose": _transpose,
})  # fmt: skip

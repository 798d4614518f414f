"""The same elements under another shape: reshape, ravel, transpose, diagonal, squeeze, expand_dims; np.outer.

    a.reshape(2, -1)     view_reshape of a contiguous array, else `reshape`
    a.T                  view_transpose
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from pullback.infer.arithmetic import binary
from pullback.infer.dispatch import dispatch
from pullback.infer.elementwise import array_sizes, product
from pullback.infer.engine import Frame
from pullback.infer.filling import copy, shaped
from pullback.infer.lattice import WEAK_INT
from pullback.infer.registry import HANDLERS, Handler
from pullback.infer.values import AV, items_of
from pullback.infer.views import array_of, integer
from pullback.ir.node import Value
from pullback.types import Array, ArrayRef, List, Tuple, show

__all__ = ["axis_of", "reshaped"]


def _reshape(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    _in_rows(cx, keywords.get("order"))
    if set(keywords) - {"order"} or len(given) < 2:
        raise cx.error("reshape takes the new sizes", ", ".join(keywords))
    subject, *sizes = given
    if len(sizes) == 1 and isinstance(sizes[0].type, Tuple | List):
        sizes = items_of(sizes[0])
    return dispatch(cx, [subject], lambda cx, operands: reshaped(cx, operands[0], sizes))


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
    open_axis = [i for i, size in enumerate(sizes) if cx.literal_of(size) == -1]
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
        _in_rows(cx, *order)

        def rule(cx: Frame, operands: Sequence[AV]) -> AV:
            subject = operands[0] if not copying else copy(cx, operands[0], rows=True)
            if _is_row(subject):
                return subject
            return reshaped(cx, subject, [AV(WEAK_INT, (cx.e.integer(-1),), -1)], whole=True)

        return dispatch(cx, given[:1], rule)

    return handler


def _is_row(av: AV) -> bool:
    return isinstance(av.type, Array) and av.type.rank == 1 and av.type.contiguous and not av.type.foreign


def _in_rows(cx: Frame, order: AV | None = None) -> None:
    """Refuse to read elements in another order than row after row."""
    if order is not None and getattr(order.type, "value", None) != "C":
        raise cx.error("only order='C' is supported", show(order.type), "transpose the array for order='F'")


def _transpose(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    subject, *axes = given
    axes = [*axes, *keywords.values()]
    if len(axes) == 1 and isinstance(axes[0].type, Tuple | List):
        axes = items_of(axes[0])

    def rule(cx: Frame, operands: Sequence[AV]) -> AV:
        (av,) = operands
        assert isinstance(av.type, Array)
        perm = tuple(axis_of(cx, axis, av.type.rank) for axis in axes) or tuple(reversed(range(av.type.rank)))
        if sorted(perm) != list(range(av.type.rank)):
            raise cx.error("axes don't match array", show(av.type))
        ones = [av.type.is_one(axis) for axis in perm]
        return array_of(cx.e("view_transpose", av.value, perm=perm), av.type, ones, perm=perm)

    return dispatch(cx, [subject], rule)


def axis_of(cx: Frame, av: AV, rank: int) -> int:
    """An axis argument: an int known while compiling, counted from the start."""
    axis = cx.literal_of(av)
    if not isinstance(axis, int):
        raise cx.error("an axis must be written as a number", show(av.type))
    if not -rank <= axis < rank:
        raise cx.error(f"axis {axis} is out of bounds for array of dimension {rank}")
    return axis % rank


def _diagonal(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    if len(given) != 1 or keywords:
        raise cx.error("only the main diagonal is supported", "", "index in a loop for other diagonals")

    def rule(cx: Frame, operands: Sequence[AV]) -> AV:
        (av,) = operands
        if not isinstance(av.type, Array) or av.type.rank != 2:
            raise cx.error(f"diagonal of {show(av.type)}", "a 2-D array is needed")
        view = cx.e("view_diagonal", av.value)
        assert isinstance(view.type, ArrayRef)
        return array_of(view, replace(av.type, readonly=True))

    return dispatch(cx, given, rule)


def _outer(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    def rule(cx: Frame, operands: Sequence[AV]) -> AV:
        for av in operands:
            if not isinstance(av.type, Array) or av.type.rank != 1:
                raise cx.error(f"np.outer takes 1-D arrays, not {show(av.type)}")
        a, b = operands
        assert isinstance(a.type, Array) and isinstance(b.type, Array)
        column = array_of(cx.e("view_expand", a.value, axis=1), a.type, (a.type.is_one(0), True))
        row = array_of(cx.e("view_expand", b.value, axis=0), b.type, (True, b.type.is_one(0)))
        return binary(cx, "*", column, row)

    return dispatch(cx, given, rule)


def _expand_dims(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    subject, axis = [*given, *keywords.values()]

    def rule(cx: Frame, operands: Sequence[AV]) -> AV:
        (av,) = operands
        assert isinstance(av.type, Array)
        return array_of(cx.e("view_expand", av.value, axis=axis_of(cx, axis, av.type.rank + 1)), av.type)

    return dispatch(cx, [subject], rule)


def _squeeze(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    arguments = [*given, *keywords.values()]
    if len(arguments) != 2:
        raise cx.error("np.squeeze needs an axis here", "which axes have size 1 is known only at run time")
    subject, axis = arguments

    def rule(cx: Frame, operands: Sequence[AV]) -> AV:
        (av,) = operands
        assert isinstance(av.type, Array)
        number = axis_of(cx, axis, av.type.rank)
        size = cx.e("array_size", av.value, axis=number)
        message = "cannot select an axis to squeeze out which has size not equal to one"
        cx.check(cx.e("eq", size, cx.e.integer(1)), "ValueError", message)
        return array_of(cx.e("view_index", av.value, cx.e.integer(0), axis=number), av.type)

    return dispatch(cx, [subject], rule)


HANDLERS.update({
    "numpy.reshape": _reshape, "numpy.ravel": _ravel(False), "ndarray.flatten": _ravel(True),
    "numpy.transpose": _transpose, "numpy.diagonal": _diagonal, "numpy.outer": _outer, "numpy.squeeze": _squeeze,
    "numpy.expand_dims": _expand_dims,
})  # fmt: skip

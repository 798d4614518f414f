"""np.max and np.min of float arrays: the values by loops without derivative, the derivative by elementwise passes.

    b = largest of a               one loop; nan wins
    w = 1 / sum(a == b)            the share of each that is equal to it
    r = attach(b, sum(where(a == b, a * w, 0)))         the value of b, the derivative of the sum

Both the count and the sum are array operations, which become vectors and join with what is around them; without a
derivative both are dead.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from pullback.infer.elementwise import elementwise
from pullback.infer.engine import Frame
from pullback.infer.numbers import as_number
from pullback.infer.numpy.along import fold
from pullback.infer.registry import HANDLERS, Handler
from pullback.infer.values import AV
from pullback.types import Array, DType, Number, Scalar

__all__ = ["extrema"]

_WORDS = {"max": "largest", "min": "smallest"}
Sum = Callable[[AV], AV]


def extrema(
    cx: Frame, kind: str, value: AV, axes: Sequence[int], total: Sum, start: float | None
) -> AV:
    """Along axes, which stay with size 1; a number along all of them.  `total` adds up in the same way.

    start: what a line without elements gives; None: an error.
    """
    assert isinstance(value.type, Array)
    dtype = value.type.dtype
    extra: list[AV] = []
    if start is not None:
        extra = [AV(Number(dtype, False), (cx.e.constant(start, Scalar(dtype)),))]
    best = _best(cx, kind, value, axes, extra)
    return _shared(cx, value, best, total) if dtype.is_float and not cx.dead else best


def _best(cx: Frame, kind: str, value: AV, axes: Sequence[int], extra: Sequence[AV]) -> AV:
    """The values.  Where neighbours in memory belong to different results, all results are found side by side."""
    assert isinstance(value.type, Array)
    word, suffix = _WORDS[kind], "_from" if extra else ""
    return fold(
        cx, f"{word}_line{suffix}", value, axes, value.type.dtype, extra, keep=len(axes) < value.type.rank,
        columns=f"{word}_columns{suffix}", dense=True,
    )  # fmt: skip


def _shared(cx: Frame, value: AV, best: AV, total: Sum) -> AV:
    """The best values, with the derivative shared evenly among the elements that are equal to them."""
    assert isinstance(value.type, Array)
    number = Number(value.type.dtype, weak=False)

    def hit(cx: Frame, items: Sequence[AV]) -> AV:
        x, most = (item.value for item in items)
        return AV(number, (cx.e("select", cx.e("eq", x, most), cx.e.like(1.0, x), cx.e.like(0.0, x)),))

    def inverse(cx: Frame, items: Sequence[AV]) -> AV:
        count = items[0].value
        return AV(number, (cx.e("stop", cx.e("div", cx.e.like(1.0, count), count)),))

    def part(cx: Frame, items: Sequence[AV]) -> AV:
        x, most, share = (item.value for item in items)
        return AV(number, (cx.e("select", cx.e("eq", x, most), cx.e("mul", x, share), cx.e.like(0.0, x)),))

    def attached(cx: Frame, items: Sequence[AV]) -> AV:
        most, parts = (item.value for item in items)
        return AV(number, (cx.e("attach", most, parts, cx.e.like(1.0, most)),))

    ties = total(elementwise(cx, [value, best], hit))
    share = elementwise(cx, [ties], inverse) if isinstance(ties.type, Array) else inverse(cx, [ties])
    parts = total(elementwise(cx, [value, best, share], part))
    return attached(cx, [best, parts]) if isinstance(best.type, Number) else elementwise(cx, [best, parts], attached)


def _joined(name: str, of_bools: str) -> Handler:
    def handler(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
        x, y = (as_number(cx, av) for av in given)
        assert isinstance(x.type, Number)
        return AV(x.type, (cx.e(of_bools if x.type.dtype is DType.BOOL else name, x.value, y.value),))

    return handler


HANDLERS.update({
    "pullback.larger": _joined("larger", "or_"), "pullback.smaller": _joined("smaller", "and_"),
})  # fmt: skip

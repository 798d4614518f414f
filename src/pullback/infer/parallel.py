"""prange: a range whose trips are independent.

    for i in pb.prange(n):      for{parallel} n: ...       passes.parallel proves it, and cuts the loop into blocks
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from pullback.infer.dispatch import dispatch
from pullback.infer.engine import Frame
from pullback.infer.loops import ITERATORS, Iterable, lazily, range_value
from pullback.infer.registry import HANDLERS
from pullback.infer.values import AV
from pullback.types import Iterator

__all__: list[str] = []


def _prange(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    if keywords or not 1 <= len(arguments) <= 3:
        count = len(arguments) + len(keywords)
        raise cx.type_error("prange() takes 1 to 3 ints by position", f"{count} are given", "as range does")

    def made(cx: Frame, operands: Sequence[AV]) -> AV:
        numbers = range_value(cx, operands)
        return AV(Iterator("prange", (numbers.type,)), numbers.values)

    return dispatch(cx, arguments, made)


def _steps(cx: Frame, parts: Sequence[AV]) -> Iterable:
    return replace(lazily(cx, parts[0]), attrs={"parallel": True})


HANDLERS["pullback.prange"] = _prange
ITERATORS["prange"] = _steps

"""stop_gradient: a value without its derivative, whatever it is made of.

    pb.stop_gradient((x, a, 3))     ->     (stop x, elementwise stop over a fresh copy of a, 3)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from pullback.infer.dispatch import dispatch
from pullback.infer.elementwise import elementwise
from pullback.infer.engine import Frame
from pullback.infer.registry import HANDLERS
from pullback.infer.values import AV, items_of
from pullback.types import Array, Constant, Dict, List, NoneType, Number, Record, Str, Tuple, Union, show

__all__ = ["stopped"]


def stopped(cx: Frame, av: AV) -> AV:
    """The value without derivative; arrays are copied, so that later writes of either do not meet."""
    match av.type:
        case Number(dtype, _):
            return AV(av.type, (cx.e("stop", av.value),)) if dtype.is_float else av
        case Array():
            return elementwise(cx, [av], lambda cx, items: stopped(cx, items[0]))
        case Tuple() | List() | Dict() | Record():
            items = [stopped(cx, item) for item in items_of(av)]
            kind = replace(av.type, items=tuple(item.type for item in items))
            return AV(kind, tuple(value for item in items for value in item.values))
        case Union():
            return dispatch(cx, [av], lambda cx, operands: stopped(cx, operands[0]))
        case Constant() | NoneType() | Str():
            return av
    raise cx.error(
        f"stop_gradient takes numbers, arrays, tuples, lists and dicts of them, not {show(av.type)}",
        "its derivative cannot be left out here", "apply it to the numbers and arrays that are read from it",
    )  # fmt: skip


def _stop_gradient(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    if len(arguments) != 1 or keywords:
        count = len(arguments) + len(keywords)
        raise cx.type_error("stop_gradient() takes one argument", f"{count} are given", "write stop_gradient(x)")
    return stopped(cx, arguments[0])


HANDLERS["pullback.stop_gradient"] = _stop_gradient

"""pb.checkpoint(f): calls of f that keep only their arguments for the reverse pass.

    pb.checkpoint(f)(x, a)                             ->     call{callee=f__1, checkpoint}(x, a)
    for i in pb.checkpointed(range(n), snapshots=9)    ->     for{snapshots=9} n
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from pullback.infer import derivatives
from pullback.infer.calls import CALLS, bind, call, specialized_for
from pullback.infer.derivatives import plain_target
from pullback.infer.engine import Frame
from pullback.infer.loops import ITERATORS, Iterable, lazily
from pullback.infer.registry import HANDLERS
from pullback.infer.values import AV
from pullback.prims.base import get
from pullback.types import Closure, Iterator, Never, NoneType, Range, Str, Transformed, show, slots

__all__ = ["CHECKPOINT"]

CHECKPOINT = "checkpoint"


def _checkpoint(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    if len(arguments) != 1 or keywords:
        raise cx.type_error("checkpoint() takes a function", f"{len(arguments) + len(keywords)} arguments are given",
                            "write checkpoint(f)(x)")  # fmt: skip
    (function,) = arguments
    return AV(Transformed(CHECKPOINT, function.type, ()), function.values)


def _call(cx: Frame, function: AV, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    """A call of a function that was checkpointed, or otherwise transformed."""
    assert isinstance(function.type, Transformed)
    if function.type.kind != CHECKPOINT:
        return derivatives.call_transformed(cx, function, arguments, keywords)
    inner = AV(function.type.function, function.values)
    if cx.session.backward is not None:
        return call(cx, inner, arguments, keywords)
    target = plain_target(cx, inner, len(arguments))
    if keywords and target is not inner:  # what is no plain function binds them itself
        return call(cx, inner, arguments, keywords)
    assert isinstance(target.type, Closure)
    if target.type.code.untyped.attrs.get("generator"):  # type: ignore[attr-defined]
        return call(cx, inner, arguments, keywords)
    spec, operands = specialized_for(cx, target, bind(cx, target, arguments, keywords))
    attrs = {"callee": spec.name, CHECKPOINT: True}
    op = cx.e.append(get("call"), operands, attrs=attrs, types=slots(spec.result))
    return cx.stop() if isinstance(spec.result, Never) else AV(spec.result, tuple(op.results))


def _checkpointed(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    given = dict(zip(("trips", "snapshots"), arguments, strict=False)) | dict(keywords)
    if "trips" not in given or len(given) != len(arguments) + len(keywords) or set(given) - {"trips", "snapshots"}:
        raise cx.type_error("checkpointed() takes a range, and snapshots=", f"{len(arguments)} arguments are given",
                            "write checkpointed(range(n), snapshots=20)")  # fmt: skip
    trips, wanted = given["trips"], given.get("snapshots")
    if not isinstance(trips.type, Range):
        raise cx.type_error(f"checkpointed() takes a range, not {show(trips.type)}", "other iterables have no count",
                            "write checkpointed(range(n))")  # fmt: skip
    number = 0
    if wanted is not None and not isinstance(wanted.type, NoneType):
        literal = cx.literal_of(wanted)
        if isinstance(literal, bool) or not isinstance(literal, int) or literal < 1:
            raise cx.type_error("checkpointed(): snapshots must be written as a literal, 1 or more",
                                f"this is {show(wanted.type)}", "write a number, such as snapshots=20")  # fmt: skip
        number = literal
    return AV(Iterator("checkpointed", (trips.type, Str(str(number)))), trips.values)


def _steps(cx: Frame, parts: Sequence[AV]) -> Iterable:
    trips, number = parts
    assert isinstance(number.type, Str)
    return replace(lazily(cx, trips), attrs={"snapshots": int(number.type.value)})


HANDLERS["pullback.checkpoint"] = _checkpoint
HANDLERS["pullback.checkpointed"] = _checkpointed
ITERATORS["checkpointed"] = _steps
CALLS[Transformed] = _call

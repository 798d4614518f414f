"""What makes lists and tuples: list(), tuple(), + and * of fixed ones, and what the prelude makes and fills them with.

    list(xs)         a list of fixed structure where the items are known one by one, else a row of a heap
    sized(n)         a row whose n items the prelude is about to set
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pullback.infer import lists
from pullback.infer.containers import message_of_value
from pullback.infer.dispatch import dispatch
from pullback.infer.displays import fixed_list
from pullback.infer.engine import Frame
from pullback.infer.heaps import kind_of
from pullback.infer.list_methods import as_kind, own_list
from pullback.infer.loops import MOST_UNROLLED, Iterable, iterable
from pullback.infer.numbers import as_number
from pullback.infer.protocols import has_special, iterated
from pullback.infer.registry import HANDLERS, Handler
from pullback.infer.static import MOST_TRIPS, ask_count, wants_fixed
from pullback.infer.values import AV, items_of
from pullback.ir.node import Value
from pullback.runtime.errors import REPR
from pullback.types import NONE, Dict, Iterator, List, Range, Str, Tuple, Union

__all__: list[str] = []

MOST_ITEMS = 256  # of a list that is repeated in place of its loop

def _joined(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    """xs + ys of two lists of fixed structure."""
    return fixed_list(cx, [item for av in arguments for item in items_of(av)])


def _repeated(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    """xs * n of a list or tuple of fixed structure."""
    sequence, times = arguments
    count = cx.number_of(times)
    if isinstance(count, int) and isinstance(sequence.type, List) and count * len(sequence.type.items) <= MOST_ITEMS:
        return fixed_list(cx, items_of(sequence) * count)
    return HANDLERS["list.__mul__"](cx, arguments, keywords)


def _made(kind: str) -> Handler:
    """list(iterable) and tuple(iterable)."""

    def handler(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
        if len(arguments) > 1 or keywords:
            raise cx.type_error(f"{kind}() takes at most 1 argument", "one iterable")
        if arguments and isinstance(arguments[0].type, Union):
            return dispatch(cx, arguments, lambda cx, operands: handler(cx, operands, keywords))
        if arguments and isinstance(arguments[0].type, Tuple) and has_special(cx, arguments[0].type, "__iter__"):
            return handler(cx, [iterated(cx, arguments[0])], keywords)
        items = _known_items(cx, arguments[0]) if arguments else []
        if items is None:
            if kind == "tuple" and kind_of(arguments[0].type) == "tuple":
                return arguments[0]
            if cx.op is not None and cx.op.attrs.get("listed"):  # nobody else has it
                return arguments[0] if kind == "list" else lists.frozen(cx, arguments[0])
            return as_kind(cx, own_list(cx, arguments[0]), kind)
        if kind == "list":
            return fixed_list(cx, items)
        return AV(Tuple(tuple(i.type for i in items)), tuple(v for i in items for v in i.values))

    return handler


def _known_items(cx: Frame, av: AV) -> Sequence[AV] | None:
    if isinstance(av.type, Tuple | List):
        return items_of(av)
    if isinstance(av.type, Range):
        return _of_range(cx, iterable(cx, av))
    if not isinstance(av.type, Str | Dict | Iterator):
        return None
    source = iterable(cx, av)
    return source.items if source.items is not None else _of_range(cx, source)


def _of_range(cx: Frame, source: Iterable) -> Sequence[AV] | None:
    """The items of a short range, or of what goes along one, if its length is known."""
    if source.count is None or source.element is None or source.tables:
        return None
    count = cx.definitions.number(source.count)
    if count is None or count > (MOST_TRIPS if wants_fixed(cx, cx.op) else MOST_UNROLLED):
        ask_count(cx, cx.op, source.count)
        return None
    return [source.element(cx, cx.e.integer(k)) for k in range(count)]


# ------------------------------------------------------------------------------------------------- intrinsics


def _sized(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    return lists.reserved(cx, lists.key_here(cx), as_number(cx, arguments[0]).value)


def _at(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    return lists.element(cx, arguments[0], arguments[1].value)


def _put_at(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    lists.put(cx, arguments[0], arguments[1].value, arguments[2])
    return AV(NONE)


def _raise_with(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    """raise_with(ok, exception, message, values...): {} in the message is repr() of the next value."""
    ok, exception, message, *values = arguments
    assert isinstance(exception.type, Str) and isinstance(message.type, Str)
    kind, written = exception.type.value, message.type.value

    def rule(cx: Frame, operands: Sequence[AV]) -> AV:
        text = REPR + written if written == "{}" else written
        payload: list[Value] = []
        for value in operands:
            shown, numbers = message_of_value(value)
            for k in reversed(range(len(numbers))):
                shown = shown.replace(f"{{{k}}}", f"{{{k + len(payload)}}}")
            payload += numbers
            text = text.replace("{}", shown, 1)
        cx.check(as_number(cx, ok).value, kind, text, *payload)
        return AV(NONE)

    return dispatch(cx, values, rule)


HANDLERS.update({
    "list.joined": _joined, "list.repeated": _repeated, "builtins.list": _made("list"),
    "builtins.tuple": _made("tuple"), "pullback.sized": _sized, "pullback.at": _at, "pullback.put_at": _put_at,
    "pullback.raise_with": _raise_with,
})  # fmt: skip

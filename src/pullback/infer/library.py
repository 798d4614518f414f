"""What is known of operator, collections.deque, heapq and bisect beyond the prelude.

    operator.add(x, y)            x + y
    operator.itemgetter(1)        a function value that knows its keys while compiling
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from pullback.infer import list_methods, lists
from pullback.infer.arithmetic import binary, unary
from pullback.infer.assign import delete_item, inplace, set_item
from pullback.infer.calls import call
from pullback.infer.engine import Frame
from pullback.infer.heaps import heap_of_type, write
from pullback.infer.indexing import subscript
from pullback.infer.lattice import WEAK_INT
from pullback.infer.loops import ITERABLES
from pullback.infer.numbers import as_number
from pullback.infer.registry import HANDLERS, Handler
from pullback.infer.structures import attribute
from pullback.infer.truth import compare, negate, truth
from pullback.infer.values import AV, items_of
from pullback.prims.prelude import FUNCTIONS
from pullback.types import NONE, Closure, NoneType, Str, Tuple

__all__: list[str] = []

_BINARY = {
    "add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%", "pow": "**", "matmul": "@",
    "and_": "&", "or_": "|", "xor": "^", "lshift": "<<", "rshift": ">>", "concat": "+",
}  # fmt: skip
_COMPARISONS = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "is_": "is", "is_not": "is not"}
_UNARY = {"neg": "-", "pos": "+", "invert": "~", "inv": "~"}


def _of(count: int, rule: Callable[..., AV]) -> Handler:
    """A function of `count` arguments by position."""

    def handler(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
        if len(arguments) != count or keywords:
            raise cx.type_error(f"this function takes {count} arguments ({len(arguments)} given)", "not these")
        return rule(cx, *arguments)

    return handler


def _setitem(cx: Frame, subject: AV, index: AV, value: AV) -> AV:
    set_item(cx, subject, index, value)
    return AV(NONE)


def _delitem(cx: Frame, subject: AV, index: AV) -> AV:
    delete_item(cx, subject, index)
    return AV(NONE)


def _contains(cx: Frame, container: AV, item: AV) -> AV:
    return compare(cx, "in", item, container)


# ------------------------------------------------------------------- itemgetter, attrgetter: keys as part of a type


def _getter(name: str) -> Handler:
    """itemgetter(k...), attrgetter(name...), methodcaller(name, ...) with keys that are written out."""

    def handler(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
        keys: list[str] = []
        for av in arguments:
            value = av.type.value if isinstance(av.type, Str) else cx.literal_of(av)
            if not isinstance(value, int | str):
                raise cx.error(f"operator.{name}: the keys must be written out", "this is not known while compiling",
                               "write a lambda: `lambda x: x[k]`")  # fmt: skip
            keys.append(f"{type(value).__name__} {value}")
        if not keys:
            raise cx.type_error(f"{name} expected at least 1 argument, got 0", "nothing to get")
        captured = Tuple(tuple(map(Str, keys)))
        return AV(Closure(f"operator.{name} of", (captured,), name))

    return handler


def _get_with(get: Callable[[Frame, AV, AV], AV]) -> Handler:
    def handler(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
        keys, subject = arguments
        found: list[AV] = []
        for key in items_of(keys):
            assert isinstance(key.type, Str)
            found.append(get(cx, subject, _key(cx, key.type.value)))
            if cx.dead:
                return found[-1]
        if len(found) == 1:
            return found[0]
        return AV(Tuple(tuple(f.type for f in found)), tuple(v for f in found for v in f.values))

    return handler


def _key(cx: Frame, text: str) -> AV:
    kind, _, value = text.partition(" ")
    if kind == "str":
        return AV(Str(value), (), value)
    return AV(WEAK_INT, (cx.e.integer(int(value)),), int(value))


def _dotted(cx: Frame, subject: AV, name: AV) -> AV:
    assert isinstance(name.type, Str)
    for part in name.type.value.split("."):
        subject = attribute(cx, subject, part)
        if cx.dead:
            break
    return subject


# ---------------------------------------------------------------------------------------------------------- deque


def _deque(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    """deque(iterable, maxlen)."""
    found = dict(zip(("iterable", "maxlen"), arguments, strict=False)) | dict(keywords)
    most = found.get("maxlen", AV(NONE))
    made = lists.reserved(cx, lists.key_here(cx), cx.e.integer(0), "deque")
    heap = heap_of_type(made.type)
    assert heap is not None
    limit = AV(WEAK_INT, (cx.e.integer(-1),)) if isinstance(most.type, NoneType) else as_number(cx, most)
    write(cx, heap, made.value, "most", limit)
    write(cx, heap, made.value, "front", AV(WEAK_INT, (cx.e.integer(0),)))
    if "iterable" in found:
        call(cx, attribute(cx, made, "extend"), [found["iterable"]], {})
    return made


def _append_item(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    lists.append(cx, *arguments)
    return AV(NONE)


def _get(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    return list_methods.item_of(cx, arguments[0], arguments[1], "deque index out of range")


HANDLERS.update({f"operator.{name}": _of(2, lambda cx, a, b, s=s: binary(cx, s, a, b)) for name, s in _BINARY.items()})
HANDLERS.update({
    f"operator.{name}": _of(2, lambda cx, a, b, s=s: compare(cx, s, a, b)) for name, s in _COMPARISONS.items()
})  # fmt: skip
HANDLERS.update({f"operator.{name}": _of(1, lambda cx, a, s=s: unary(cx, s, a)) for name, s in _UNARY.items()})
HANDLERS.update({
    f"operator.i{name}": _of(2, lambda cx, a, b, s=s: inplace(cx, s, a, b))
    for name, s in {"add": "+", "sub": "-", "mul": "*", "truediv": "/", "or": "|", "and": "&", "xor": "^"}.items()
})  # fmt: skip
HANDLERS.update({
    "operator.getitem": _of(2, subscript), "operator.setitem": _of(3, _setitem), "operator.delitem": _of(2, _delitem),
    "operator.contains": _of(2, _contains), "operator.truth": _of(1, truth),
    "operator.not_": _of(1, lambda cx, a: negate(cx, truth(cx, a))),
    "operator.abs": lambda cx, arguments, keywords: HANDLERS["builtins.abs"](cx, arguments, keywords),
    "operator.itemgetter": _getter("itemgetter"), "operator.attrgetter": _getter("attrgetter"),
    "operator.itemgetter of": _get_with(subscript), "operator.attrgetter of": _get_with(_dotted),
    "collections.deque": _deque, "deque.append_item": _append_item, "deque.__getitem__": _get,
})  # fmt: skip
for _name in ("__len__", "__bool__", "__setitem__", "__contains__", "compare ==", "compare !=", "__unpack__"):
    HANDLERS[f"deque.{_name}"] = HANDLERS[f"list.{_name}"]
for _name in ("append", "appendleft", "popleft", "pop", "extend", "extendleft", "rotate"):
    HANDLERS[f"deque.{_name}"] = (lambda name: lambda cx, arguments, keywords: call(
        cx, AV(Closure(cx.session.code_of(FUNCTIONS[f"deque.{name}"]), (), name)), arguments, keywords))(_name)
for _name in ("clear", "index", "count", "reverse", "insert", "remove"):
    HANDLERS[f"deque.{_name}"] = HANDLERS[f"list.{_name}"]
ITERABLES["deque"] = ITERABLES["list"]

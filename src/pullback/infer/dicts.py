"""Dicts that change: rows of three tables, of headers, entries and places of the index (`prims.prelude.dicts`).

    d = {}; d[k] = v          a row of a heap; Dict((), ()) as long as nothing changes it
    for k in d: ...           by number of entry; step by step where the loop changes the dict
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence

from pullback.infer import lists
from pullback.infer.calls import call
from pullback.infer.containers import changed, special
from pullback.infer.dispatch import dispatch
from pullback.infer.engine import Frame
from pullback.infer.given import reachable
from pullback.infer.heaps import Heap, allocate, each, heap_of, heap_of_type, kind_of, read, table_of, write
from pullback.infer.lattice import WEAK_BOOL, WEAK_INT
from pullback.infer.loops import ITERABLES, ITERATORS, Iterable, Steps
from pullback.infer.registry import HANDLERS, Handler, prelude
from pullback.infer.truth import negate
from pullback.infer.values import AV, items_of
from pullback.ir.node import Value
from pullback.types import (
    NONE,
    Constant,
    Dict,
    Iterator,
    Str,
    Tuple,
    Union,
    show,
)  # fmt: skip

__all__ = ["DICTS", "as_dict", "heap_of_dict", "is_dict", "make_dict", "run", "update"]

DICTS = ("dict", "defaultdict", "Counter", "OrderedDict")
VIEWS = ("keys", "values", "items")


def run(cx: Frame, name: str, *arguments: AV) -> AV:
    """A function of the prelude of dicts."""
    return call(cx, prelude(cx, f"pullback.dict_{name}"), arguments, {})


def make_dict(cx: Frame, key: Hashable, pairs: Sequence[tuple[AV, AV]], kind: str = "dict") -> AV:
    """A new dict of these entries."""
    heap = heap_of(cx, kind, key)
    made = AV(heap.type, (allocate(cx, heap),))
    zero = cx.e.integer(0)
    entries, places = heap_of(cx, "entries", (kind, key)), heap_of(cx, "places", (kind, key))
    fields = {"entries": AV(entries.type, (zero,)), "places": AV(places.type, (zero,))}
    fields |= {name: AV(WEAK_INT, (zero,)) for name in ("used", "live", "capacity", "size")}
    places.learn("entry", WEAK_INT)
    for name, value in fields.items():
        write(cx, heap, made.value, name, value)
    for item, value in pairs:
        run(cx, "set_item", made, item, value)
    return made


def heap_of_dict(av: AV) -> Heap:
    """The heap of a dict, or of an entry of one."""
    heap = heap_of_type(av.type)
    assert heap is not None
    return heap


def _entries(cx: Frame, av: AV) -> AV:
    return read(cx, heap_of_dict(av), av.value, "entries")


def _int_field(cx: Frame, av: AV, name: str) -> Value:
    return read(cx, heap_of_dict(av), av.value, name).value


def as_dict(cx: Frame, av: AV, key: Hashable, kind: str = "dict") -> AV:
    """A dict of fixed structure, or another kind of dict, as a new one in a heap."""
    made = make_dict(cx, key, [], kind)
    update(cx, [made, av], {})
    return made


FEW = 8  # entries that are searched one by one (`prims.prelude.dicts`)


def _indexed(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    """indexed(...): dicts given by Python, among the arguments and below them, come without an index: make those."""
    for heap in reachable([av.type for av in arguments]):
        if heap.kind in DICTS and heap_of_type(heap.known("entries")) is not None:
            each(cx, cx.e("table_length", table_of(cx, heap)), lambda k, heap=heap: _index(cx, AV(heap.type, (k,))))  # type: ignore[misc]
    return AV(NONE)


def _index(cx: Frame, av: AV) -> None:
    """An index for a dict of many entries that has none."""
    many = cx.e("gt", _int_field(cx, av, "used"), cx.e.integer(FEW))
    none = cx.e("eq", _int_field(cx, av, "size"), cx.e.integer(0))

    def make() -> list[AV]:
        run(cx, "index", av, AV(WEAK_INT, (_int_field(cx, av, "capacity"),)))
        return []

    cx.choose(cx.e("and_", many, none), make, list)


# ------------------------------------------------------------------------------------------------------ operators


def _len(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    return AV(WEAK_INT, (_int_field(cx, arguments[0], "live"),))


def _bool(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    return AV(WEAK_BOOL, (cx.e("gt", _int_field(cx, arguments[0], "live"), cx.e.integer(0)),))


def _through(name: str) -> Handler:
    """An operator or method that a function of the prelude is."""

    def handler(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
        return call(cx, prelude(cx, f"pullback.dict_{name}"), arguments, keywords)

    return handler


def _compare(operator: str) -> Handler:
    def handler(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
        a, b = arguments
        if not (is_dict(a) and is_dict(b)):
            return AV(Constant(operator == "!="), (), operator == "!=")
        key = lists.key_here(cx)
        a, b = (as_dict(cx, av, (key, side)) if isinstance(av.type, Dict) else av for side, av in enumerate((a, b)))
        same = run(cx, "equal", a, b)
        return same if operator == "==" or cx.dead else negate(cx, same)

    return handler


def is_dict(av: AV) -> bool:
    """Is it a dict of any kind."""
    return isinstance(av.type, Dict) or kind_of(av.type) in DICTS


def _or(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    """d | e: a new dict."""
    if not all(map(is_dict, arguments)):
        raise cx.type_error("unsupported operand types for |: a dict and something else", "both must be dicts")
    fresh = as_dict(cx, arguments[0], lists.key_here(cx))
    update(cx, [fresh, arguments[1]], {})
    return fresh


def _ror(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    return _or(cx, arguments[::-1], keywords)


def _ior(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    update(cx, arguments, keywords)
    return arguments[0]


# ------------------------------------------------------------------------------------- dicts of fixed structure


def _fixed(name: str, rule: Handler) -> Handler:
    """keys, values, items and get of a dict: of one of fixed structure, what is known while compiling."""

    def handler(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
        subject, *rest = arguments
        if isinstance(subject.type, Union):
            return dispatch(cx, [subject], lambda cx, operands: handler(cx, [*operands, *rest], keywords))
        if not isinstance(subject.type, Dict):
            return rule(cx, arguments, keywords)
        return _fixed_get(cx, arguments) if name == "get" else _fixed_view(name, arguments[0])

    return handler


def _fixed_get(cx: Frame, arguments: Sequence[AV]) -> AV:
    subject, key, *default = arguments
    assert isinstance(subject.type, Dict)
    if isinstance(key.type, Union):
        return dispatch(cx, [key], lambda cx, operands: _fixed_get(cx, [subject, *operands, *default]))
    if isinstance(key.type, Str) and key.type.value in subject.type.keys:
        return items_of(subject)[subject.type.keys.index(key.type.value)]
    if not isinstance(key.type, Str):
        changed(cx, subject, f"searched for {show(key.type)}: its keys are strings known while compiling")
    return default[0] if default else AV(NONE)


def _fixed_view(name: str, subject: AV) -> AV:
    assert isinstance(subject.type, Dict)
    items = items_of(subject)
    keys = [AV(Str(key), (), key) for key in subject.type.keys]
    chosen = keys if name == "keys" else items
    if name == "items":
        chosen = [AV(Tuple((k.type, v.type)), v.values) for k, v in zip(keys, items, strict=True)]
    return AV(Tuple(tuple(c.type for c in chosen)), tuple(v for c in chosen for v in c.values))


# ------------------------------------------------------------------------------------------------------ iteration

SIZE_CHANGED = "dictionary changed size during iteration"


def stepped(cx: Frame, av: AV, shown: Callable[[Frame, AV], AV], changed_size: str = SIZE_CHANGED) -> Iterable:
    """A loop over the entries; `shown` is what it sees of one."""
    run(cx, "compact", av)
    live, entries = _int_field(cx, av, "live"), _entries(cx, av)

    def element(cx: Frame, k: Value) -> AV:
        return shown(cx, AV(entries.type, (cx.e("add", entries.value, k),)))

    def more(cx: Frame, state: Sequence[AV]) -> Value:
        cx.check(cx.e("eq", _int_field(cx, av, "live"), live), "RuntimeError", changed_size)
        return cx.e("lt", state[0].value, _int_field(cx, av, "used"))

    def take(cx: Frame, state: Sequence[AV]) -> tuple[AV, list[AV]]:
        now, k = _entries(cx, av), state[0].value
        item = shown(cx, AV(now.type, (cx.e("add", now.value, k),)))
        after = AV(WEAK_INT, (cx.e("add", k, cx.e.integer(1)),))
        return item, [run(cx, "next_alive", av, after)]

    steps = Steps([AV(WEAK_INT, (cx.e.integer(0),))], more, take)
    back = Steps([AV(WEAK_INT, (cx.e("sub", live, cx.e.integer(1)),))], *_backwards(av, live, shown, changed_size))
    return Iterable(None, live, element, (str(heap_of_dict(av)),), steps, back)


def _backwards(
    av: AV, live: Value, shown: Callable[[Frame, AV], AV], changed_size: str
) -> tuple[Callable[[Frame, Sequence[AV]], Value], Callable[[Frame, Sequence[AV]], tuple[AV, list[AV]]]]:
    def more(cx: Frame, state: Sequence[AV]) -> Value:
        cx.check(cx.e("eq", _int_field(cx, av, "live"), live), "RuntimeError", changed_size)
        return cx.e("ge", state[0].value, cx.e.integer(0))

    def take(cx: Frame, state: Sequence[AV]) -> tuple[AV, list[AV]]:
        now, k = _entries(cx, av), state[0].value
        item = shown(cx, AV(now.type, (cx.e("add", now.value, k),)))
        return item, [AV(WEAK_INT, (cx.e("sub", k, cx.e.integer(1)),))]

    return more, take


def key_of(cx: Frame, entry: AV) -> AV:
    """What a loop over a dict sees."""
    return read(cx, heap_of_dict(entry), entry.value, "key")


def _value_of(cx: Frame, entry: AV) -> AV:
    return read(cx, heap_of_dict(entry), entry.value, "value")


def _pair_of(cx: Frame, entry: AV) -> AV:
    key, value = key_of(cx, entry), _value_of(cx, entry)
    return key if cx.dead else AV(Tuple((key.type, value.type)), (*key.values, *value.values))


_SHOWN = {"keys": key_of, "values": _value_of, "items": _pair_of}


def _view(name: str) -> Handler:
    """d.keys(), d.values(), d.items(): seen through to the dict."""

    def handler(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
        (subject,) = arguments
        return AV(Iterator(f"dict_{name}", (subject.type,)), subject.values)

    return handler


# -------------------------------------------------------------------------------------------------------- methods


def update(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    """d.update(other, **more)."""
    subject, *others = arguments
    for other in others:
        if isinstance(other.type, Dict):
            keys = [AV(Str(key), (), key) for key in other.type.keys]
            for key, value in zip(keys, items_of(other), strict=True):
                special(cx, "__setitem__", subject, key, value)
        else:
            run(cx, "update" if is_dict(other) else "update_pairs", subject, other)
        if cx.dead:
            return subject
    for name, value in keywords.items():
        special(cx, "__setitem__", subject, AV(Str(name), (), name), value)
    return AV(NONE)


def _pop(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    return run(cx, "pop" if len(arguments) == 2 else "pop_or", *arguments)


def _copy(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    (subject,) = arguments
    if isinstance(subject.type, Dict):
        sites = frozenset({("dict", lists.key_here(cx))})
        return AV(Dict(subject.type.keys, subject.type.items, sites), subject.values)
    kind = kind_of(subject.type)
    made = as_dict(cx, subject, lists.key_here(cx), kind)
    if kind == "defaultdict" and not cx.dead:
        write(cx, heap_of_dict(made), made.value, "factory", read(cx, heap_of_dict(subject), subject.value, "factory"))
    return made


def _clear(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    return run(cx, "clear", arguments[0])


def _on_heap(rule: Handler) -> Handler:
    """A method that changes the dict: one of fixed structure moves to a heap."""

    def handler(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
        subject, *rest = arguments
        if isinstance(subject.type, Union):
            return dispatch(cx, [subject], lambda cx, operands: handler(cx, [*operands, *rest], keywords))
        if isinstance(subject.type, Dict):
            changed(cx, subject)
        return rule(cx, arguments, keywords)

    return handler


CHANGING: dict[str, Handler] = {
    "update": update, "setdefault": _through("setdefault"), "pop": _pop, "popitem": _through("popitem"),
    "clear": _clear,
}  # fmt: skip
_OPERATORS: dict[str, Handler] = {
    "__len__": _len, "__bool__": _bool, "__getitem__": _through("get_item"), "__setitem__": _through("set_item"),
    "__delitem__": _through("delete"), "__contains__": _through("contains"), "__or__": _or, "__ror__": _ror,
    "__ior__": _ior, "compare ==": _compare("=="), "compare !=": _compare("!="), "get": _through("get"),
    "copy": _copy, **{name: _view(name) for name in VIEWS}, **CHANGING,
}  # fmt: skip
HANDLERS["pullback.indexed"] = _indexed
for _kind_name in DICTS:
    HANDLERS.update({f"{_kind_name}.{name}": rule for name, rule in _OPERATORS.items()})
    ITERABLES[_kind_name] = lambda cx, av: stepped(cx, av, key_of)
HANDLERS.update({f"dict.{name}": _on_heap(rule) for name, rule in CHANGING.items()})
HANDLERS.update({f"dict.{name}": _fixed(name, _OPERATORS[name]) for name in (*VIEWS, "get")})
HANDLERS.update({
    "defaultdict.__getitem__": _through("get_missing"), "Counter.__getitem__": _through("get_count"),
    "OrderedDict.move_to_end": _through("move_to_end"), "Counter.most_common": _through("most_common"),
    "Counter.total": _through("total"), "Counter.elements": _through("elements"),
})  # fmt: skip
ITERATORS.update({
    f"dict_{name}": (lambda shown: lambda cx, parts: stepped(cx, parts[0], shown))(_SHOWN[name]) for name in VIEWS
})  # fmt: skip

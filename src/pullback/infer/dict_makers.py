"""What makes dicts: displays, comprehensions, dict(), defaultdict, Counter and OrderedDict.

    {"a": x}         a dict of fixed structure where nothing changes it, else a row of a heap
    {k: x}           a row of a heap
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pullback.infer import lists
from pullback.infer.dicts import as_dict, heap_of_dict, is_dict, make_dict, run, update
from pullback.infer.displays import DISPLAYS, is_heap_site
from pullback.infer.engine import Frame
from pullback.infer.heaps import write
from pullback.infer.registry import HANDLERS, Handler
from pullback.infer.values import AV, items_of
from pullback.ir.node import Op
from pullback.types import NONE, Dict, Str

__all__: list[str] = []


def fixed_dict(cx: Frame, keys: Sequence[str], items: Sequence[AV]) -> AV:
    """A dict of these entries, made by the op being inferred: of fixed structure where nothing changes it."""
    if is_heap_site(cx, "dict", cx.op):
        pairs = [(AV(Str(key), (), key), item) for key, item in zip(keys, items, strict=True)]
        return make_dict(cx, lists.key_here(cx), pairs)
    kept = dict(zip(keys, items, strict=True))  # a repeated key keeps its last value
    type_ = Dict(tuple(kept), tuple(av.type for av in kept.values()), frozenset({("dict", lists.key_here(cx))}))
    return AV(type_, tuple(v for av in kept.values() for v in av.values))


def _display(cx: Frame, op: Op, operands: list[AV]) -> AV:
    """{"a": x}: keys written as strings."""
    keys = op.attrs["keys"]
    assert isinstance(keys, tuple)
    return fixed_dict(cx, keys, operands)


def _dict_of(cx: Frame, op: Op, operands: list[AV]) -> AV:
    """{k: x} of any keys, and dict comprehensions, which begin empty."""
    keys, items = operands[::2], operands[1::2]
    if operands and all(isinstance(key.type, Str) for key in keys):
        return fixed_dict(cx, [key.type.value for key in keys if isinstance(key.type, Str)], items)
    return make_dict(cx, lists.key_here(cx), list(zip(keys, items, strict=True)))


def _dict_star(cx: Frame, op: Op, operands: list[AV]) -> AV:
    """{**d, k: x}."""
    kinds, given = op.attrs["kinds"], list(operands)
    assert isinstance(kinds, tuple)
    parts = [(given.pop(0), None) if kind == "**" else (given.pop(0), given.pop(0)) for kind in kinds]
    fixed = all(isinstance(key.type, Dict if value is None else Str) for key, value in parts)
    if fixed:
        entries: dict[str, AV] = {}
        for key, value in parts:
            if isinstance(key.type, Dict):
                entries.update(zip(key.type.keys, items_of(key), strict=True))
            elif isinstance(key.type, Str) and value is not None:
                entries[key.type.value] = value
        return fixed_dict(cx, list(entries), list(entries.values()))
    made = make_dict(cx, lists.key_here(cx), [])
    for key, value in parts:
        if value is None:
            update(cx, [made, key], {})
        else:
            run(cx, "set_item", made, key, value)
    return made


def _made(kind: str) -> Handler:
    """dict(...), OrderedDict(...)."""

    def handler(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
        given = arguments[0] if arguments else AV(Dict((), ()))
        if kind == "dict" and isinstance(given.type, Dict):
            entries = dict(zip(given.type.keys, items_of(given), strict=True)) | dict(keywords)
            return fixed_dict(cx, list(entries), list(entries.values()))
        made = as_dict(cx, given, lists.key_here(cx), kind)
        if not cx.dead:
            update(cx, [made], keywords)
        return made

    return handler


def _defaultdict(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    if not arguments:
        raise cx.error("defaultdict() without a factory is a dict", "what is missing has no value", "write {}")
    factory, *others = arguments
    made = make_dict(cx, lists.key_here(cx), [], "defaultdict")
    write(cx, heap_of_dict(made), made.value, "factory", factory)
    update(cx, [made, *others], keywords)
    return made


def _counter(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    made = make_dict(cx, lists.key_here(cx), [], "Counter")
    _counted(cx, [made, *arguments], keywords)
    return made


def _counted(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    """Counter.update: counts add up."""
    made, *others = arguments
    for other in (*others, *([_keywords(keywords)] if keywords else ())):
        key = (lists.key_here(cx), "counts")
        source = as_dict(cx, other, key) if isinstance(other.type, Dict) else other
        run(cx, "add_counts" if is_dict(source) else "count_all", made, source)
    return AV(NONE)


def _keywords(keywords: Mapping[str, AV]) -> AV:
    type_ = Dict(tuple(keywords), tuple(av.type for av in keywords.values()))
    return AV(type_, tuple(v for av in keywords.values() for v in av.values))


def _joined(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    """d | e of two dicts of fixed structure."""
    entries: dict[str, AV] = {}
    for av in arguments:
        assert isinstance(av.type, Dict)
        entries.update(zip(av.type.keys, items_of(av), strict=True))
    return fixed_dict(cx, list(entries), list(entries.values()))


def _from_keys(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    """dict.fromkeys(keys, value)."""
    keys, *value = arguments
    made = make_dict(cx, lists.key_here(cx), [])
    run(cx, "from_keys", made, keys, value[0] if value else AV(NONE))
    return made


HANDLERS.update({
    "builtins.dict": _made("dict"), "collections.OrderedDict": _made("OrderedDict"),
    "collections.defaultdict": _defaultdict, "collections.Counter": _counter, "Counter.update": _counted,
    "builtins.dict.fromkeys": _from_keys, "dict.joined": _joined,
})  # fmt: skip
DISPLAYS.update({"py.dict": _display, "py.dict_of": _dict_of, "py.dict_star": _dict_star})

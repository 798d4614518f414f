"""copy.copy, copy.deepcopy, dataclasses.asdict and astuple.

    copy.copy(xs)            xs.copy(); of an object a new one with the same fields; what cannot change is itself
    copy.deepcopy(p)         everything below as well.  Two places that may hold one thing would have to share its copy:
                             where types do not rule that out, and in recursive data, it is refused
    dataclasses.asdict(p)    a dict of the fields, those of dataclasses inside too
"""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable, Mapping, Sequence

from pullback.infer.calls import call
from pullback.infer.classes import bound_member, instance_class, member
from pullback.infer.construct import fields_of
from pullback.infer.dict_makers import fixed_dict
from pullback.infer.dispatch import dispatch
from pullback.infer.displays import fixed_list
from pullback.infer.engine import Frame
from pullback.infer.heaps import allocate, heap_of_type, kind_of, read, write
from pullback.infer.leaves import has_objects
from pullback.infer.registry import HANDLERS
from pullback.infer.structures import attribute
from pullback.infer.values import AV, items_of
from pullback.runtime.boundary import RECORDS
from pullback.types import NEVER, Array, Complex, Dict, List, Record, Ref, Tuple, Type, Union, show

__all__: list[str] = []

_LISTS = ("list", "deque")
_DICTS = ("dict", "Counter", "OrderedDict", "defaultdict")
_COPIED = (*_LISTS[:1], *_DICTS, "set")  # kinds with a method `copy`
_FROZEN = ("tuple", "frozenset", *RECORDS)


def _is_fixed(type_: Type) -> bool:
    """Can nothing in a value of the type change."""
    match type_:
        case Array() | List() | Dict() | Complex(Array()) | Record():
            return False
        case Ref():
            return kind_of(type_) == "frozenset"
        case Tuple(items) | Union(items):
            return all(map(_is_fixed, items))
    return True


def _item_type(type_: Type) -> Type:
    """What is known of the items of a list in a heap."""
    heap = heap_of_type(type_)
    store = None if heap is None else heap_of_type(heap.known("items"))
    return NEVER if store is None else store.known("item")


def _copy(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    """copy.copy(x)"""
    if len(arguments) != 1 or keywords:
        raise cx.type_error("copy() takes 1 positional argument", f"{len(arguments) + len(keywords)} are given")
    return dispatch(cx, arguments, lambda cx, operands: _shallow(cx, operands[0]))


def _shallow(cx: Frame, av: AV) -> AV:
    kind = kind_of(av.type)
    if isinstance(av.type, Array | Complex) and not _is_fixed(av.type):
        return HANDLERS["numpy.copy"](cx, [av], {})
    if isinstance(av.type, List):
        return fixed_list(cx, items_of(av))
    if isinstance(av.type, Dict):
        return fixed_dict(cx, av.type.keys, items_of(av))
    if kind in _COPIED or isinstance(av.type, Record):
        return call(cx, attribute(cx, av, "copy"), [], {})
    if not isinstance(av.type, Ref) or kind in _FROZEN:
        return av
    cls = instance_class(av.type)
    if cls is None:
        raise cx.error(f"copy.copy of {show(av.type)} is not supported", "this cannot be copied here")
    found = member(cx, cls, "__copy__")
    if found is not None:
        return call(cx, bound_member(cx, av, cls, found, "__copy__"), [], {})
    return _with_fields(cx, av, lambda value: value)


def _with_fields(cx: Frame, av: AV, of: object) -> AV:
    """A new object whose fields are what `of` makes of the old ones."""
    heap = heap_of_type(av.type)
    assert heap is not None and callable(of)
    row = allocate(cx, heap)
    for name in list(heap.representative.fields):
        write(cx, heap, row, name, of(read(cx, heap, av.value, name)))
    return AV(heap.type, (row,))


# ---------------------------------------------------------------------------------------------------------- deeply


def _deepcopy(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    """copy.deepcopy(x)"""
    if len(arguments) != 1 or keywords:
        raise cx.error("deepcopy() takes one argument here", "a memo is of no use", "leave it out")
    _reject_shared(cx, arguments[0].type, set())
    return _deep(cx, arguments[0])


def _reject_shared(cx: Frame, type_: Type, met: set[Hashable]) -> None:
    """Guard: no two places in a value of the type can hold one thing that may change."""
    if _is_fixed(type_):
        return
    match type_:
        case Array(dtype, rank):
            _meet(cx, type_, ("array", dtype, rank), met)
        case Tuple(items) | List(items) | Dict(_, items) | Union(items):
            for item in items:
                _reject_shared(cx, item, met)
        case Ref():
            heap, kind = heap_of_type(type_), kind_of(type_)
            assert heap is not None
            _meet(cx, type_, heap, met)
            cls = instance_class(type_)
            if cls is not None and member(cx, cls, "__deepcopy__") is None:
                for name in list(heap.representative.fields):
                    _reject_shared(cx, heap.known(name), met)
            elif kind not in ("list", "set") or (kind == "list" and not _is_fixed(_item_type(type_))):
                raise _refused(cx, type_)
        case _:
            raise _refused(cx, type_)


def _meet(cx: Frame, type_: Type, key: Hashable, met: set[Hashable]) -> None:
    if key in met:
        raise _refused(cx, type_)
    met.add(key)


def _refused(cx: Frame, type_: Type) -> Exception:
    return cx.error(f"deepcopy of this is not supported: {show(type_)}",
                    "two places may hold one thing, whose copy they would have to share",
                    "write a function that makes the new objects")  # fmt: skip


def _deep(cx: Frame, av: AV) -> AV:
    return dispatch(cx, [av], lambda cx, operands: _deep_one(cx, operands[0]))


def _deep_one(cx: Frame, av: AV) -> AV:
    if cx.dead or _is_fixed(av.type):
        return av
    match av.type:
        case Tuple():
            parts = [_deep(cx, item) for item in items_of(av)]
            type_ = Tuple(tuple(part.type for part in parts), av.type.python)
            return AV(type_, tuple(v for part in parts for v in part.values))
        case List():
            return fixed_list(cx, [_deep(cx, item) for item in items_of(av)])
        case Dict(keys, _):
            return fixed_dict(cx, keys, [_deep(cx, item) for item in items_of(av)])
        case Ref() if instance_class(av.type) is not None:
            return _with_fields(cx, av, lambda value: _deep(cx, value))
    return _shallow(cx, av)


# ------------------------------------------------------------------------------------------------------ dataclasses


def _field_values(cx: Frame, name: str, av: AV) -> dict[str, AV]:
    cls = instance_class(av.type)
    if cls is None or not dataclasses.is_dataclass(cls):
        raise cx.type_error(f"{name}() should be called on dataclass instances", f"this is {show(av.type)}")
    heap = heap_of_type(av.type)
    if heap is not None and _recurs(av.type, ()):
        raise cx.error(f"{name}() of {cls.__name__} is not supported", "it holds objects of its own class",
                       "write out the fields")  # fmt: skip
    return {item.name: attribute(cx, av, item.name) for item in fields_of(cls)}


def _recurs(type_: Type, around: tuple[Type, ...]) -> bool:
    """May an object hold others of its class, at any depth."""
    match type_:
        case Ref():
            heap = heap_of_type(type_)
            assert heap is not None
            return type_ in around or any(_recurs(t, (*around, type_)) for t in heap.representative.fields.values())
        case Tuple(items) | List(items) | Dict(_, items) | Union(items):
            return any(_recurs(item, around) for item in items)
    return False


def _as_tuple(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    """dataclasses.astuple(obj)"""
    parts = [_plain(cx, "astuple", value) for value in _field_values(cx, "astuple", arguments[0]).values()]
    return AV(Tuple(tuple(part.type for part in parts)), tuple(v for part in parts for v in part.values))


def _as_dict(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    """dataclasses.asdict(obj)"""
    found = {key: _plain(cx, "asdict", value) for key, value in _field_values(cx, "asdict", arguments[0]).items()}
    return fixed_dict(cx, list(found), list(found.values()))


def _plain(cx: Frame, name: str, av: AV) -> AV:
    """What asdict or astuple makes of a field: dataclasses become dicts or tuples, of all else there is a deep copy."""

    def rule(cx: Frame, operands: Sequence[AV]) -> AV:
        (value,) = operands
        cls = instance_class(value.type)
        if cls is not None and dataclasses.is_dataclass(cls):
            return (_as_dict if name == "asdict" else _as_tuple)(cx, [value], {})
        match value.type:
            case Tuple(_, None):
                parts = [_plain(cx, name, item) for item in items_of(value)]
                return AV(Tuple(tuple(p.type for p in parts)), tuple(v for p in parts for v in p.values))
            case List():
                return fixed_list(cx, [_plain(cx, name, item) for item in items_of(value)])
            case Dict(keys, _):
                return fixed_dict(cx, keys, [_plain(cx, name, item) for item in items_of(value)])
        if _holds_objects(value.type):
            raise cx.error(f"{name}() of this is not supported: {show(value.type)}", "it may hold other objects",
                           "write out the fields")  # fmt: skip
        return _shallow(cx, value)

    return dispatch(cx, [av], rule)


def _holds_objects(type_: Type) -> bool:
    """Is it more than an array, or a list or set of what cannot change."""
    kind = kind_of(type_)
    if kind == "list":
        return not _is_fixed(_item_type(type_))
    return has_objects(type_) and kind not in ("set", "frozenset")


HANDLERS.update({
    "copy.copy": _copy, "copy.deepcopy": _deepcopy, "dataclasses.asdict": _as_dict, "dataclasses.astuple": _as_tuple,
})  # fmt: skip

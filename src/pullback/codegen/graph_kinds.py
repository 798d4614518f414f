"""How each kind of object enters its row and leaves it: the parts of `graphs` that know lists, dicts and so on.

    object    the fields of its class            list, tuple    items: rows of their own, side by side
    record2   the items of a tuple of two
    cell      what is in it                      dict           entries: key, value, alive, side by side
    set       slots, of which some are taken         deque, defaultdict, ...: see `graph_collections`

A rule writes text of a function with the parameters %graph, %row and %object (of exports also %known: the object was
given by Python and has a snapshot); a failure jumps to `miss`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pullback.codegen import abi, attributes
from pullback.codegen import support_graphs as at
from pullback.codegen.graph_collections import (
    enter_defaultdict,
    enter_deque,
    enter_ordered,
    enter_set,
    leave_deque,
    leave_set,
    made_defaultdict,
    made_deque,
    made_set,
)
from pullback.codegen.graph_dicts import enter_dict, leave_dict, made_dict
from pullback.runtime import layout
from pullback.runtime.boundary import RECORDS, HeapShape
from pullback.types import DType, Number, Type, Unbound, Union, slots

if TYPE_CHECKING:
    from pullback.codegen.graphs import Graph

__all__ = ["CONTENT", "INNER", "KINDS", "Kind"]

CONTENT = {
    **dict.fromkeys(("list", "tuple", "deque"), "items"), **dict.fromkeys(("set", "frozenset"), "table"),
    **dict.fromkeys(("dict", "defaultdict", "Counter", "OrderedDict"), "entries"),
}  # fmt: skip
"""The field that refers to the first row of what an object of a kind holds."""

INNER = ("items", "entries", "places", "slots")
"""Kinds of heaps that have no objects of their own."""

Rule = Callable[["Graph", int, HeapShape], None]


@dataclass(frozen=True, slots=True)
class Kind:
    """What is done with the objects of a kind; `made` gives a new one without content.  Without `enter`: only results
    are of this kind."""

    made: Callable[[Graph, int, HeapShape], str]
    leave: Rule
    enter: Rule | None = None


# ----------------------------------------------------------------------------------------------------------- objects


def _enter_object(g: Graph, number: int, shape: HeapShape) -> None:
    assert shape.python is not None
    for name, type_ in shape.fields:
        if not g.is_touched(shape, name):
            continue
        if _may_be_unset(type_):
            own = attributes.load_own(g.text, shape.python, name, "%object")
            g.store(number, name, "%row", _unpack_own(g, type_, own))
        else:
            value = attributes.load(g.text, shape.python, name, "%object", "miss")
            g.store(number, name, "%row", g.unpack(type_, value))


def _may_be_unset(type_: Type) -> bool:
    return any(isinstance(t, Unbound) for t in (type_.members if isinstance(type_, Union) else (type_,)))


def _unpack_own(g: Graph, type_: Type, value: str) -> list[str]:
    """The pieces of a field that may be unset, which is null."""
    text = g.text
    there, unset, after = (text.label() for _ in range(3))
    absent = text.set(f"icmp eq ptr {value}, null")
    if not isinstance(type_, Union):
        text.require(absent, "miss")
        return []
    types = abi.all_pieces(slots(type_))
    places = [text.slot(piece) for piece in types]
    text.branch(absent, unset, there)
    text.begin(there)
    for piece, found, place in zip(types, g.unpack(type_, value), places, strict=True):
        text.store(piece, found, place)
    text.jump(after)
    text.begin(unset)
    number = next(i for i, member in enumerate(type_.members) if isinstance(member, Unbound))
    for piece, place in zip(types, places, strict=True):
        text.store(piece, "zeroinitializer", place)
    text.store("i64", str(number), places[0])
    text.jump(after)
    text.begin(after)
    return [text.load(piece, place) for piece, place in zip(types, places, strict=True)]


def _leave_object(g: Graph, number: int, shape: HeapShape) -> None:
    text = g.text
    assert shape.python is not None
    for name, type_ in shape.fields:
        if not g.grows(shape) and not g.is_written(shape, name):
            continue
        new, known, put, after = (text.label() for _ in range(4))
        text.branch("%known", known, new)
        text.begin(known)
        if g.is_written(shape, name):
            text.branch(g.same(number, name, "%row"), after, put)
        else:
            text.jump(after)
        text.begin(new)
        text.jump(put)
        text.begin(put)
        if _is_float(type_):
            at = attributes.address(text, shape.python, name, "%object")
            _overwrite(g, at, g.load(number, name, "%row")[0][0], after)
        value = g.pack(number, name, "%row")
        there, unset = text.label(), text.label()
        text.branch(text.set(f"icmp eq ptr {value}, null"), unset, there)
        text.begin(unset)
        if _may_be_unset(type_):
            attributes.delete(text, name, "%object")
        text.jump(after)
        text.begin(there)
        attributes.store(text, shape.python, name, "%object", value, "miss")
        text.jump(after)
        text.begin(after)


def _is_float(type_: Type) -> bool:
    return isinstance(type_, Number) and type_.weak and type_.dtype is DType.F64


def _overwrite(g: Graph, place: str, value: str, done: str) -> None:
    """Where a float lies at the place that nobody else refers to, let it have a value; go on where there is none."""
    text = g.text
    there, ours, lone, put, other = (text.label() for _ in range(5))
    text.branch(text.set(f"icmp ne ptr {place}, null"), there, other)
    text.begin(there)
    old = text.load("ptr", place)
    text.branch(text.set(f"icmp ne ptr {old}, null"), ours, other)
    text.begin(ours)
    text.branch(text.is_(text.type_of(old), float), lone, other)
    text.begin(lone)
    text.branch(text.set(f"icmp eq i64 {text.load('i64', old)}, 1"), put, other)
    text.begin(put)
    text.store("double", value, old, layout.FLOAT_VALUE)
    text.jump(done)
    text.begin(other)


def _made_object(g: Graph, number: int, shape: HeapShape) -> str:
    return g.text.call("ptr", "PyType_GenericNew", f"ptr {g.text.symbol(shape.python)}", "ptr null", "ptr null")


# ------------------------------------------------------------------------------------------------------------- cells


def _enter_cell(g: Graph, number: int, shape: HeapShape) -> None:
    text = g.text
    value = text.load("ptr", "%object", layout.CELL_CONTENT)
    text.require(text.set(f"icmp ne ptr {value}, null"), "miss")
    g.store(number, "value", "%row", g.unpack(shape.type_of("value"), value))


def _leave_cell(g: Graph, number: int, shape: HeapShape) -> None:
    text = g.text
    known, put, after = (text.label() for _ in range(3))
    text.branch("%known", known, put)
    text.begin(known)
    text.branch(g.same(number, "value", "%row"), after, put)
    text.begin(put)
    value = g.pack(number, "value", "%row")
    status = text.call("i32", "PyCell_Set", "ptr %object", f"ptr {value}")
    text.call("void", "Py_DecRef", f"ptr {value}")
    text.require(text.set(f"icmp eq i32 {status}, 0"), "miss")
    text.jump(after)
    text.begin(after)


# ----------------------------------------------------------------------------------------------------------- globals


def _enter_globals(g: Graph, number: int, shape: HeapShape) -> None:
    text = g.text
    for name, type_ in shape.fields:
        if not g.is_touched(shape, name):
            continue
        value = text.call("ptr", "PyDict_GetItem", "ptr %object", f"ptr {text.symbol(attributes.interned(name))}")
        if _may_be_unset(type_):
            g.store(number, name, "%row", _unpack_own(g, type_, value))
        else:
            text.require(text.set(f"icmp ne ptr {value}, null"), "miss")
            g.store(number, name, "%row", g.unpack(type_, value))


def _leave_globals(g: Graph, number: int, shape: HeapShape) -> None:
    """Set the names that hold something else than before, and unset those that hold nothing any more."""
    text = g.text
    for name, type_ in shape.fields:
        if not g.is_written(shape, name):
            continue
        put, there, unset, after = (text.label() for _ in range(4))
        text.branch(g.same(number, name, "%row"), after, put)
        text.begin(put)
        value, key = g.pack(number, name, "%row"), f"ptr {text.symbol(attributes.interned(name))}"
        text.branch(text.set(f"icmp eq ptr {value}, null"), unset, there)
        text.begin(unset)
        if _may_be_unset(type_):
            text.call("i32", "PyDict_DelItem", "ptr %object", key)
        text.jump(after)
        text.begin(there)
        status = text.call("i32", "PyDict_SetItem", "ptr %object", key, f"ptr {value}")
        text.call("void", "Py_DecRef", f"ptr {value}")
        text.require(text.set(f"icmp eq i32 {status}, 0"), "miss")
        text.jump(after)
        text.begin(after)


# ------------------------------------------------------------------------------------------------------------- lists


def _enter_list(g: Graph, number: int, shape: HeapShape) -> None:
    text = g.text
    inner, items = g.content(shape)
    length = text.load("i64", "%object", layout.LENGTH)
    first = text.load("i64", g.record(inner), at.LENGTH)
    g.room(inner, text.set(f"add i64 {first}, {length}"))
    for name, value in (("items", first), ("length", length), ("capacity", length)):
        if name in dict(shape.fields):
            g.store(number, name, "%row", [value])
    if "item" not in dict(items.fields):
        return
    i, step, out = g.loop("0", length)
    value = text.load("ptr", text.set(f"getelementptr ptr, ptr {_first_item(g, shape)}, i64 {i}"))
    g.store(inner, "item", text.set(f"add i64 {first}, {i}"), g.unpack(items.type_of("item"), value))
    text.jump(step)
    text.begin(out)


def _first_item(g: Graph, shape: HeapShape) -> str:
    """The address of the items of the list or tuple %object."""
    if shape.kind == "tuple":
        return g.text.at("%object", layout.TUPLE_ITEMS)
    return g.text.load("ptr", "%object", layout.LIST_ITEMS)


def _leave_list(g: Graph, number: int, shape: HeapShape) -> None:
    text = g.text
    inner, items = g.content(shape)
    first, length = (g.load(number, name, "%row")[0][0] for name in ("items", "length"))
    whole, known, each, end = (text.label() for _ in range(4))
    kept = text.slot("i1")  # do the items that are there stay, unless they have changed
    text.store("i1", "%known", kept)
    if shape.kind == "tuple":  # never changed: only new ones come here
        text.jump(each)
    else:
        text.branch("%known", known, whole)
        text.begin(known)
        if g.changes_of(number):
            same = [g.same(number, name, "%row") for name in ("items", "length")]
            text.branch(text.set(f"and i1 {same[0]}, {same[1]}"), each, whole)
        else:
            text.jump(end)
        text.begin(whole)
        text.store("i1", "false", kept)
        _resize(g, length)
        text.jump(each)
    text.begin(each)
    i, step, out = g.loop("0", length if "item" in dict(items.fields) else "0")
    if "item" in dict(items.fields):
        row = text.set(f"add i64 {first}, {i}")
        _leave_item(g, shape, inner, row, i, text.load("i1", kept), step)
    text.jump(step)
    text.begin(out)
    text.jump(end)
    text.begin(end)


def _leave_item(g: Graph, shape: HeapShape, inner: int, row: str, i: str, kept: str, step: str) -> None:
    """Set one item of %object, unless it is kept and what it was."""
    text, items = g.text, g.boundary.heaps[inner]
    put, drop = text.label(), text.label()
    if shape.kind == "list" and g.changes_of(g.boundary.heaps.index(shape)):
        compare = text.label()
        text.branch(text.set(f"and i1 {g.is_given(inner, row)}, {kept}"), compare, put)
        text.begin(compare)
        text.branch(g.same(inner, "item", row), step, put)
    else:
        text.jump(put)
    text.begin(put)
    target = text.set(f"getelementptr ptr, ptr {_first_item(g, shape)}, i64 {i}")
    if shape.kind == "list" and _is_float(items.type_of("item")):
        _overwrite(g, target, g.load(inner, "item", row)[0][0], step)
    value = g.pack(inner, "item", row)
    target = text.set(f"getelementptr ptr, ptr {_first_item(g, shape)}, i64 {i}")
    old = text.load("ptr", target)
    text.store("ptr", value, target)
    text.branch(text.set(f"icmp eq ptr {old}, null"), step, drop)
    text.begin(drop)
    text.call("void", "Py_DecRef", f"ptr {old}")


def _resize(g: Graph, length: str) -> None:
    """Let the list %object have so many items, all None until they are set."""
    text = g.text
    fresh = text.call("ptr", "PyList_New", f"i64 {length}")
    text.require(text.set(f"icmp ne ptr {fresh}, null"), "miss")
    i, step, out = g.loop("0", length)
    none = text.symbol(None)
    text.call("void", "Py_IncRef", f"ptr {none}")
    data = text.load("ptr", fresh, layout.LIST_ITEMS)
    text.store("ptr", none, text.set(f"getelementptr ptr, ptr {data}, i64 {i}"))
    text.jump(step)
    text.begin(out)
    old = text.load("i64", "%object", layout.LENGTH)
    status = text.call("i32", "PyList_SetSlice", "ptr %object", "i64 0", f"i64 {old}", f"ptr {fresh}")
    text.call("void", "Py_DecRef", f"ptr {fresh}")
    text.require(text.set(f"icmp eq i32 {status}, 0"), "miss")


def _made_list(g: Graph, number: int, shape: HeapShape) -> str:
    if shape.kind == "list":
        return g.text.call("ptr", "PyList_New", "i64 0")
    length = g.load(number, "length", "%row")[0][0]
    return g.text.call("ptr", "PyTuple_New", f"i64 {length}")


def _enter_defaultdict(g: Graph, number: int, shape: HeapShape) -> None:
    enter_defaultdict(g, number, shape)
    enter_dict(g, number, shape)


# ----------------------------------------------------------------------------------------------------------- records


def _made_record(g: Graph, number: int, shape: HeapShape) -> str:
    """A tuple of as many items as the kind says, or a NamedTuple; all null until they are set."""
    count = f"i64 {RECORDS[shape.kind]}"
    if shape.python is None:
        return g.text.call("ptr", "PyTuple_New", count)
    return g.text.call("ptr", "PyType_GenericAlloc", f"ptr {g.text.symbol(shape.python)}", count)


def _leave_record(g: Graph, number: int, shape: HeapShape) -> None:
    text = g.text
    if layout.TUPLE_ITEMS > layout.LENGTH + 8:  # from 3.14 on a tuple keeps its hash; -1: not known yet
        text.store("i64", "-1", "%object", layout.LENGTH + 8)
    for name, _ in shape.fields:  # in the order in which they were learned
        value = g.pack(number, name, "%row")
        text.store("ptr", value, text.at("%object", layout.TUPLE_ITEMS + 8 * int(name)))


KINDS: dict[str, Kind] = {
    "object": Kind(_made_object, _leave_object, _enter_object),
    "cell": Kind(lambda g, number, shape: g.text.call("ptr", "PyCell_New", "ptr null"), _leave_cell, _enter_cell),
    "globals": Kind(lambda g, number, shape: "null", _leave_globals, _enter_globals),  # no code makes any
    "list": Kind(_made_list, _leave_list, _enter_list),
    "tuple": Kind(_made_list, _leave_list, _enter_list),
    "dict": Kind(made_dict, leave_dict, enter_dict),
    "set": Kind(made_set, leave_set, enter_set),
    "frozenset": Kind(made_set, leave_set, enter_set),
    "deque": Kind(made_deque, leave_deque, enter_deque),
    "Counter": Kind(made_dict, leave_dict, enter_dict),
    "OrderedDict": Kind(made_dict, leave_dict, enter_ordered),
    "defaultdict": Kind(made_defaultdict, leave_dict, _enter_defaultdict),
    **{kind: Kind(_made_record, _leave_record) for kind in RECORDS},
}

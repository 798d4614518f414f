"""How dicts enter their rows and leave them, and the keys of sets (see `graph_kinds`, `graph_collections`).

    {"a": 1.0}       entries: key, value, alive, in order of insertion
    {3, 5}           slots, of which some are taken
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Callable
from typing import TYPE_CHECKING

from pullback.codegen import support_graphs as at
from pullback.runtime.boundary import HeapShape

if TYPE_CHECKING:
    from pullback.codegen.graphs import Graph

__all__ = ["each_key", "enter_dict", "leave_dict", "made_dict", "store_entry", "store_header"]

_TAKEN = 1  # the state of a slot of a set that holds a key


# ------------------------------------------------------------------------------------------------------------- dicts


def enter_dict(g: Graph, number: int, shape: HeapShape) -> None:
    """The entries in order; the index, where there are many, is made by the program."""
    text = g.text
    inner, entries = g.content(shape)
    count = text.call("i64", "PyDict_Size", "ptr %object")
    first = store_header(g, number, shape, count)
    if not {"key", "value", "alive"} <= set(dict(entries.fields)):
        text.require(text.set(f"icmp eq i64 {count}, 0"), "miss")
        return
    position, key, value = text.slot("i64"), text.slot("ptr"), text.slot("ptr")
    text.store("i64", "0", position)
    i, step, out = g.loop("0", count)
    operands = ("ptr %object", f"ptr {position}", f"ptr {key}", f"ptr {value}")
    more = text.call("i32", "PyDict_Next", *operands)
    text.require(text.set(f"icmp ne i32 {more}, 0"), "miss")
    store_entry(g, inner, text.set(f"add i64 {first}, {i}"), text.load("ptr", key), text.load("ptr", value))
    text.jump(step)
    text.begin(out)


def store_header(g: Graph, number: int, shape: HeapShape, count: str) -> str:
    """What a dict of so many entries says of them; the row of the first."""
    text, (inner, _) = g.text, g.content(shape)
    first = text.load("i64", g.record(inner), at.LENGTH)
    g.room(inner, text.set(f"add i64 {first}, {count}"))
    given = {"entries": first, "places": "0", "used": count, "live": count, "capacity": count, "size": "0"}
    for name, value in given.items():
        if name in dict(shape.fields):
            g.store(number, name, "%row", [value])
    return first


def store_entry(g: Graph, inner: int, row: str, key: str, value: str, miss: str = "miss") -> None:
    """An entry in its row; `miss`: where to go if it does not fit."""
    entries = g.boundary.heaps[inner]
    for name, object_ in (("key", key), ("value", value)):
        g.store(inner, name, row, g.unpack(entries.type_of(name), object_, miss))
    g.store(inner, "alive", row, ["true"])


def leave_dict(g: Graph, number: int, shape: HeapShape) -> None:
    """Values that differ are set; where keys differ, all is made anew."""
    text = g.text
    inner, entries = g.content(shape)
    if not {"key", "value", "alive"} <= set(dict(entries.fields)):
        return
    first, used = (g.load(number, name, "%row")[0][0] for name in ("entries", "used"))
    kept = text.slot("i1")
    text.store("i1", "false", kept)
    known, whole, each = text.label(), text.label(), text.label()
    text.branch("%known", known, whole)
    text.begin(known)
    if g.changes_of(number):
        text.store("i1", _same_keys(g, number, inner, first, used), kept)
        text.branch(text.load("i1", kept), each, whole)
    else:
        text.jump("done")
    text.begin(whole)
    if shape.kind == "OrderedDict":
        cleared = text.call("ptr", "PyObject_CallOneArg", f"ptr {text.symbol(OrderedDict.clear)}", "ptr %object")
        text.require(text.set(f"icmp ne ptr {cleared}, null"), "miss")
        text.call("void", "Py_DecRef", f"ptr {cleared}")
    else:
        text.call("void", "PyDict_Clear", "ptr %object")
    text.jump(each)
    text.begin(each)
    i, step, out = g.loop("0", used)
    function = "PyObject_SetItem" if shape.kind == "OrderedDict" else "PyDict_SetItem"
    _leave_entry(g, inner, text.set(f"add i64 {first}, {i}"), text.load("i1", kept), step, function)
    text.jump(step)
    text.begin(out)
    text.jump("done")
    text.begin("done")


def _same_keys(g: Graph, number: int, inner: int, first: str, used: str) -> str:
    """An i1: are the entries those that were given, apart from values."""
    text = g.text
    result = text.slot("i1")
    same = [g.same(number, name, "%row") for name in ("entries", "used", "live")]
    both = text.set(f"and i1 {text.set(f'and i1 {same[0]}, {same[1]}')}, {same[2]}")
    text.store("i1", both, result)
    i, step, out = g.loop("0", text.set(f"select i1 {both}, i64 {used}, i64 0"))
    row = text.set(f"add i64 {first}, {i}")
    pair = [g.same(inner, name, row) for name in ("key", "alive")]
    now = text.set(f"and i1 {text.load('i1', result)}, {text.set(f'and i1 {pair[0]}, {pair[1]}')}")
    text.store("i1", now, result)
    text.jump(step)
    text.begin(out)
    return text.load("i1", result)


def _leave_entry(g: Graph, inner: int, row: str, kept: str, step: str, function: str) -> None:
    """Set one entry of %object, unless it is gone, or kept and what it was."""
    text = g.text
    alive, compare, put = text.label(), text.label(), text.label()
    flag = g.load(inner, "alive", row)
    text.branch(flag[0][0] if flag else "true", alive, step)  # without a column: nothing ever takes an entry away
    text.begin(alive)
    text.branch(kept, compare, put)
    text.begin(compare)
    text.branch(g.same(inner, "value", row), step, put)
    text.begin(put)
    key = g.pack(inner, "key", row)
    value = g.pack(inner, "value", row)  # if this fails the key stays alive: a failure here is one of memory
    status = text.call("i32", function, "ptr %object", f"ptr {key}", f"ptr {value}")
    for found in (key, value):
        text.call("void", "Py_DecRef", f"ptr {found}")
    text.require(text.set(f"icmp eq i32 {status}, 0"), "miss")


def made_dict(g: Graph, number: int, shape: HeapShape) -> str:
    """A dict, OrderedDict or Counter without entries."""
    if shape.kind == "dict":
        return g.text.call("ptr", "PyDict_New")
    kind = OrderedDict if shape.kind == "OrderedDict" else Counter
    return g.text.call("ptr", "PyObject_CallNoArgs", f"ptr {g.text.symbol(kind)}")


# -------------------------------------------------------------------------------------------------------------- sets


def each_key(g: Graph, number: int, shape: HeapShape, use: Callable[[str], None]) -> None:
    """For every key of a set: use(a new reference to it)."""
    text = g.text
    inner, slots = g.content(shape)
    if "key" not in dict(slots.fields):
        return
    first, mask = (g.load(number, name, "%row")[0][0] for name in ("table", "mask"))
    i, step, out = g.loop("0", text.set(f"add i64 {mask}, 1"))
    row = text.set(f"add i64 {first}, {i}")
    taken = text.label()
    text.branch(text.set(f"icmp eq i64 {g.load(inner, 'state', row)[0][0]}, {_TAKEN}"), taken, step)
    text.begin(taken)
    use(g.pack(inner, "key", row))
    text.jump(step)
    text.begin(out)

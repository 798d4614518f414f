"""How sets and the containers of `collections` enter their rows and leave them (see `graph_kinds`).

    {3, 5}, frozenset({3})              slots as CPython's own table has them, so that ints keep their order
    deque([1.0, 2.0], maxlen=5)         items as of a list, and the limit
    OrderedDict(), defaultdict(list)    entries as of a dict; what makes a missing value

What is written back is made anew as a whole, unless nothing has changed.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable
from typing import TYPE_CHECKING

from pullback.codegen import support_graphs as at
from pullback.codegen.graph_dicts import each_key, store_entry, store_header
from pullback.runtime import layout
from pullback.runtime.boundary import HeapShape

if TYPE_CHECKING:
    from pullback.codegen.graphs import Graph

__all__ = [
    "enter_defaultdict",
    "enter_deque",
    "enter_ordered",
    "enter_set",
    "leave_deque",
    "leave_set",
    "made_defaultdict",
    "made_deque",
    "made_set",
]  # fmt: skip

_TAKEN, _GONE = 1, 2  # states of slots


def _call(g: Graph, function: object, *arguments: str) -> str:
    """What a Python callable gives for some objects; null on failure."""
    text = g.text
    place = text.slot("ptr", max(1, len(arguments)))
    for i, argument in enumerate(arguments):
        text.store("ptr", argument, place, 8 * i)
    operands = (f"ptr {text.symbol(function)}", f"ptr {place}", f"i64 {len(arguments)}", "ptr null")
    return text.call("ptr", "PyObject_Vectorcall", *operands)


def _do(g: Graph, function: object, *arguments: str) -> None:
    """Call it for what it does."""
    found = _call(g, function, *arguments)
    g.text.require(g.text.set(f"icmp ne ptr {found}, null"), "miss")
    g.text.call("void", "Py_DecRef", f"ptr {found}")


def _with_list(g: Graph, made: str, body: Callable[[str], None]) -> None:
    """body(label to jump to where something does not fit), with a new list that goes away afterwards."""
    text = g.text
    none, wrong, end = (text.label() for _ in range(3))
    text.require(text.set(f"icmp ne ptr {made}, null"), none)
    body(wrong)
    text.call("void", "Py_DecRef", f"ptr {made}")
    text.jump(end)
    text.begin(none)
    text.call("void", "PyErr_Clear")
    text.jump("miss")
    text.begin(wrong)
    text.call("void", "Py_DecRef", f"ptr {made}")
    text.jump("miss")
    text.begin(end)


def _item(g: Graph, made: str, i: str) -> str:
    text = g.text
    data = text.load("ptr", made, layout.LIST_ITEMS)
    return text.load("ptr", text.set(f"getelementptr ptr, ptr {data}, i64 {i}"))


# ------------------------------------------------------------------------------------------------------------ deques


def enter_deque(g: Graph, number: int, shape: HeapShape) -> None:
    """The items, by way of a list of them."""
    text = g.text
    inner, items = g.content(shape)
    known = dict(shape.fields)
    made = text.call("ptr", "PySequence_List", "ptr %object")

    def body(wrong: str) -> None:
        length = text.load("i64", made, layout.LENGTH)
        first = text.load("i64", g.record(inner), at.LENGTH)
        g.room(inner, text.set(f"add i64 {first}, {length}"))
        given = {"items": first, "length": length, "capacity": length, "front": "0", "most": _limit(g)}
        for name, value in given.items():
            if name in known:
                g.store(number, name, "%row", [value])
        if "item" not in dict(items.fields):
            return
        i, step, out = g.loop("0", length)
        pieces = g.unpack(items.type_of("item"), _item(g, made, i), wrong)
        g.store(inner, "item", text.set(f"add i64 {first}, {i}"), pieces)
        text.jump(step)
        text.begin(out)

    _with_list(g, made, body)


def _limit(g: Graph) -> str:
    """The limit of the deque %object, -1 if it has none."""
    text = g.text
    found = text.call("ptr", "PyObject_GetAttr", "ptr %object", f"ptr {text.symbol('maxlen')}")
    text.require(text.set(f"icmp ne ptr {found}, null"), "miss")
    place, some, after = text.slot("i64"), text.label(), text.label()
    text.store("i64", "-1", place)
    text.branch(text.is_(found, None), after, some)
    text.begin(some)
    text.store("i64", text.call("i64", "PyLong_AsLongLong", f"ptr {found}"), place)
    text.jump(after)
    text.begin(after)
    text.call("void", "Py_DecRef", f"ptr {found}")
    return text.load("i64", place)


def leave_deque(g: Graph, number: int, shape: HeapShape) -> None:
    """All items anew, unless they are what they were."""
    text = g.text
    inner, items = g.content(shape)
    first, length = (g.load(number, name, "%row")[0][0] for name in ("items", "length"))
    whole, known, done = (text.label() for _ in range(3))
    text.branch("%known", known, whole)
    text.begin(known)
    if not g.changes_of(number):
        text.jump(done)
    else:
        same = [g.same(number, name, "%row") for name in ("items", "length")]
        result = text.slot("i1")
        text.store("i1", text.set(f"and i1 {same[0]}, {same[1]}"), result)
        if "item" in dict(items.fields):
            i, step, out = g.loop("0", text.set(f"select i1 {text.load('i1', result)}, i64 {length}, i64 0"))
            now = g.same(inner, "item", text.set(f"add i64 {first}, {i}"))
            text.store("i1", text.set(f"and i1 {text.load('i1', result)}, {now}"), result)
            text.jump(step)
            text.begin(out)
        text.branch(text.load("i1", result), done, whole)
    text.begin(whole)
    _do(g, deque.clear, "%object")
    if "item" in dict(items.fields):
        i, step, out = g.loop("0", length)
        value = g.pack(inner, "item", text.set(f"add i64 {first}, {i}"))
        _do(g, deque.append, "%object", value)
        text.call("void", "Py_DecRef", f"ptr {value}")
        text.jump(step)
        text.begin(out)
    text.jump(done)
    text.begin(done)


def made_deque(g: Graph, number: int, shape: HeapShape) -> str:
    """A deque without items, of the limit."""
    text = g.text
    most = g.load(number, "most", "%row")[0][0]
    made, free, limited, after = text.slot("ptr"), text.label(), text.label(), text.label()
    text.branch(text.set(f"icmp slt i64 {most}, 0"), free, limited)
    text.begin(free)
    text.store("ptr", _call(g, deque), made)
    text.jump(after)
    text.begin(limited)
    limit = text.call("ptr", "PyLong_FromLongLong", f"i64 {most}")
    text.store("ptr", _call(g, deque, text.symbol(()), limit), made)
    text.call("void", "Py_DecRef", f"ptr {limit}")
    text.jump(after)
    text.begin(after)
    return text.load("ptr", made)


# ------------------------------------------------------------------------------------------------------------- dicts


def enter_ordered(g: Graph, number: int, shape: HeapShape) -> None:
    """An OrderedDict, whose order only its methods know."""
    text = g.text
    inner, entries = g.content(shape)
    made = text.call("ptr", "PyMapping_Items", "ptr %object")

    def body(wrong: str) -> None:
        count = text.load("i64", made, layout.LENGTH)
        first = store_header(g, number, shape, count)
        if not {"key", "value", "alive"} <= set(dict(entries.fields)):
            text.require(text.set(f"icmp eq i64 {count}, 0"), wrong)
            return
        i, step, out = g.loop("0", count)
        pair = _item(g, made, i)
        key, value = (text.load("ptr", pair, layout.TUPLE_ITEMS + 8 * k) for k in range(2))
        store_entry(g, inner, text.set(f"add i64 {first}, {i}"), key, value, wrong)
        text.jump(step)
        text.begin(out)

    _with_list(g, made, body)


def enter_defaultdict(g: Graph, number: int, shape: HeapShape) -> None:
    """What makes missing values; the rest is as in dicts."""
    if "factory" not in dict(shape.fields):
        return
    text = g.text
    found = text.call("ptr", "PyObject_GetAttr", "ptr %object", f"ptr {text.symbol('default_factory')}")
    text.require(text.set(f"icmp ne ptr {found}, null"), "miss")
    text.call("void", "Py_DecRef", f"ptr {found}")  # the dict holds it
    g.store(number, "factory", "%row", g.unpack(shape.type_of("factory"), found))


def made_defaultdict(g: Graph, number: int, shape: HeapShape) -> str:
    """A defaultdict without entries."""
    text = g.text
    factory = g.pack(number, "factory", "%row")
    made = _call(g, defaultdict, factory)
    text.call("void", "Py_DecRef", f"ptr {factory}")
    return made


# -------------------------------------------------------------------------------------------------------------- sets


def enter_set(g: Graph, number: int, shape: HeapShape) -> None:
    """The slots as they are; if there are strings, whose hashes here are others, keys go where they are looked for."""
    text = g.text
    inner, slots = g.content(shape)
    used, mask = (text.load("i64", "%object", place) for place in (layout.SET_USED, layout.SET_MASK))
    count = text.set(f"add i64 {mask}, 1")
    first = text.load("i64", g.record(inner), at.LENGTH)
    g.room(inner, text.set(f"add i64 {first}, {count}"))
    moves = _has_strings(g, count)
    fill = text.set(f"select i1 {moves}, i64 {used}, i64 {text.load('i64', '%object', layout.SET_FILL)}")
    finger = text.set(f"select i1 {moves}, i64 0, i64 {text.load('i64', '%object', layout.SET_FINGER)}")
    values = {"table": first, "mask": mask, "fill": fill, "used": used, "finger": finger}
    for name, value in values.items():
        if name in dict(shape.fields):
            g.store(number, name, "%row", [value])
    if not {"key", "hash", "state"} <= set(dict(slots.fields)):
        text.require(text.set(f"icmp eq i64 {used}, 0"), "miss")
        return
    i, step, out = g.loop("0", count)
    key, hash_ = _slot(g, i)
    there, gone, left, taken = (text.label() for _ in range(4))
    text.branch(text.set(f"icmp eq ptr {key}, null"), step, there)
    text.begin(there)
    text.branch(text.set(f"icmp eq i64 {hash_}, -1"), gone, taken)  # no hash is -1
    text.begin(gone)
    text.branch(moves, step, left)
    text.begin(left)
    _store_slot(g, inner, text.set(f"add i64 {first}, {i}"), "-1", _GONE)
    text.jump(step)
    text.begin(taken)
    place, known = _place(g, inner, first, mask, moves, i, key, hash_)
    row = text.set(f"add i64 {first}, {place}")
    _store_slot(g, inner, row, known, _TAKEN)
    g.store(inner, "key", row, g.unpack(slots.type_of("key"), key))
    text.jump(step)
    text.begin(out)


def _slot(g: Graph, i: str) -> tuple[str, str]:
    """Key and hash of a slot of the set %object."""
    table = g.text.load("ptr", "%object", layout.SET_TABLE)
    slot = g.text.set(f"getelementptr [16 x i8], ptr {table}, i64 {i}")
    return g.text.load("ptr", slot), g.text.load("i64", slot, 8)


def _has_strings(g: Graph, count: str) -> str:
    """An i1: is a string among the keys of the set %object."""
    text = g.text
    result = text.slot("i1")
    text.store("i1", "false", result)
    i, step, out = g.loop("0", count)
    key, hash_ = _slot(g, i)
    there, look = text.label(), text.label()
    text.branch(text.set(f"icmp eq ptr {key}, null"), step, there)
    text.begin(there)
    text.branch(text.set(f"icmp eq i64 {hash_}, -1"), step, look)
    text.begin(look)
    found = text.is_(text.type_of(key), str)
    text.store("i1", text.set(f"or i1 {text.load('i1', result)}, {found}"), result)
    text.jump(step)
    text.begin(out)
    return text.load("i1", result)


def _place(
    g: Graph, inner: int, first: str, mask: str, moves: str, i: str, key: str, hash_: str
) -> tuple[str, str]:  # fmt: skip
    """Where a key goes among the slots, and its hash: those it has, or its own in a set that has strings."""
    text = g.text
    place, known = text.slot("i64"), text.slot("i64")
    text.store("i64", i, place)
    text.store("i64", hash_, known)
    moving, string, put, after = (text.label() for _ in range(4))
    text.branch(moves, moving, after)
    text.begin(moving)
    text.branch(text.is_(text.type_of(key), str), string, put)
    text.begin(string)
    word = text.call("i64", "pb.graph_text", "ptr %graph", f"ptr {key}")
    text.require(text.set(f"icmp ne i64 {word}, 0"), "miss")
    text.store("i64", word, known)
    text.jump(put)
    text.begin(put)
    states = text.at(g.place(inner, first), g.offset(g.boundary.heaps[inner], "state"))
    operands = (f"ptr {states}", f"i64 {g.row_size(inner)}", f"i64 {mask}", f"i64 {text.load('i64', known)}")
    text.store("i64", text.call("i64", "pb.set_place", *operands), place)
    text.jump(after)
    text.begin(after)
    return text.load("i64", place), text.load("i64", known)


def _store_slot(g: Graph, inner: int, row: str, hash_: str, state: int) -> None:
    g.store(inner, "hash", row, [hash_])
    g.store(inner, "state", row, [str(state)])


def leave_set(g: Graph, number: int, shape: HeapShape) -> None:
    """All keys anew, unless a set that was given has just these."""
    if shape.kind != "set":
        return
    text = g.text
    whole, known, done = (text.label() for _ in range(3))
    text.branch("%known", known, whole)
    text.begin(known)
    if g.changes_of(number):
        text.branch(_has_all(g, number, shape), done, whole)
    else:
        text.jump(done)
    text.begin(whole)
    text.require(text.set(f"icmp eq i32 {text.call('i32', 'PySet_Clear', 'ptr %object')}, 0"), "miss")
    each_key(g, number, shape, lambda key: _put(g, "PySet_Add", "%object", key))
    text.jump(done)
    text.begin(done)


def _has_all(g: Graph, number: int, shape: HeapShape) -> str:
    """An i1: has the set %object the keys of its row."""
    text = g.text
    size = text.call("i64", "PySet_Size", "ptr %object")
    used = g.load(number, "used", "%row")[0][0]
    result = text.slot("i1")
    text.store("i1", text.set(f"icmp eq i64 {size}, {used}"), result)

    def one(key: str) -> None:
        found = text.call("i32", "PySet_Contains", "ptr %object", f"ptr {key}")
        text.call("void", "Py_DecRef", f"ptr {key}")
        text.store("i1", text.set(f"and i1 {text.load('i1', result)}, {text.set(f'icmp eq i32 {found}, 1')}"), result)

    each_key(g, number, shape, one)
    return text.load("i1", result)


def _put(g: Graph, function: str, holder: str, key: str) -> None:
    status = g.text.call("i32", function, f"ptr {holder}", f"ptr {key}")
    g.text.call("void", "Py_DecRef", f"ptr {key}")
    g.text.require(g.text.set(f"icmp eq i32 {status}, 0"), "miss")


def made_set(g: Graph, number: int, shape: HeapShape) -> str:
    """A set without keys, or a frozenset of all."""
    text = g.text
    if shape.kind == "set":
        return text.call("ptr", "PySet_New", "ptr null")
    keys = text.call("ptr", "PyList_New", "i64 0")
    text.require(text.set(f"icmp ne ptr {keys}, null"), "miss")
    each_key(g, number, shape, lambda key: _put(g, "PyList_Append", keys, key))
    made = text.call("ptr", "PyFrozenSet_New", f"ptr {keys}")
    text.call("void", "Py_DecRef", f"ptr {keys}")
    return made

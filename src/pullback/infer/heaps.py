"""Heaps: where objects that change or are recursive live, and what is known of their fields.

    class Node: ...                        heap "node", fields value: float, next: None | Ref(node)
    n = Node(1.0, None)      ->            n = table_rows(t, 1); table_set{0}(t, n, 1.0); table_set{1}(t, n, 0) ...
    n.value += 2.0                         v = table_get{0}(t, n); table_set{0}(t, n, v + 2.0)

A reference is the number of a row of the heap's table, so identity is equality of integers, and `Ref(heap)` is one type
whatever the object holds: recursive data has a finite type.  What is known of a field is the join of everything that
was ever stored in it.  A heap only grows; when it grew while code was inferred, the session is inferred again with what
is known (`infer_entry`).  Lists, dicts and cells have a heap for each site that makes them; where two sites meet they
become one heap.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pullback.infer.asked import Ask, note
from pullback.infer.lattice import join, widen
from pullback.infer.values import AV, coerce
from pullback.ir.node import Value
from pullback.prims.base import get
from pullback.runtime.boundary import RECORDS
from pullback.runtime.fixed import Path, fix, fixed_leaves, loose, slot_at
from pullback.types import (
    I64,
    NEVER,
    UNBOUND,
    Closure,
    Dict,
    Iterator,
    List,
    Machine,
    Ref,
    Store,
    Transformed,
    Tuple,
    Type,
    Union,
    show,
    slots,
)  # fmt: skip

if TYPE_CHECKING:
    from pullback.infer.engine import Frame

__all__ = [
    "Heap", "allocate", "each", "heap_at", "heap_of", "heap_of_type", "is_object", "kind_of", "read", "skeleton",
    "table_of", "unify", "write",
]  # fmt: skip

_serial = itertools.count()


@dataclass(eq=False, slots=True)
class Heap:
    """What is known of objects of one class, or of one site that makes lists, dicts, sets or cells.

    kind: "object", "list", "dict", "set", "cell".  key: the class (and with what its objects are made), or the site.
    fields: the join of everything stored, in the order of the table's columns.  missed: fields that were read before
    anything was known of them.  complete: all fields were looked at, so that another one is news.  ready: of an object,
    the fields that are set before anybody can read them.  changes: how often something was learned that code inferred
    before did not know.
    """

    kind: str
    key: Hashable
    fields: dict[str, Type] = field(default_factory=dict)
    missed: set[str] = field(default_factory=set)
    complete: bool = False
    refused: dict[str, Exception] = field(default_factory=dict)  # fields of given objects that cannot be taken
    changes: int = 0
    number: int = field(default_factory=lambda: next(_serial))
    merged: Heap | None = None
    ready: frozenset[str] | None = None

    @property
    def representative(self) -> Heap:
        """The heap that this one has become."""
        heap = self
        while heap.merged is not None:
            heap = heap.merged
        return heap

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Heap) and self.representative is other.representative

    def __hash__(self) -> int:
        return hash((self.kind, self.python))  # equal ones may become one later

    def __str__(self) -> str:
        """The name of the table."""
        return self.representative.own_name

    @property
    def own_name(self) -> str:
        """The name of the table as long as the heap is none with another."""
        return f"{self.title}_{self.number}".replace(".", "_")

    @property
    def python(self) -> type | None:
        """The class of objects; None for other kinds."""
        found = self.key[0] if isinstance(self.key, tuple) and self.kind == "object" else self.key
        return found if isinstance(found, type) else None

    @property
    def title(self) -> str:
        """The kind as a user would name it."""
        if self.python is not None:
            return self.python.__name__
        return "tuple" if self.kind in RECORDS else self.kind

    @property
    def type(self) -> Ref:
        return Ref(self.representative)

    @property
    def columns(self) -> tuple[Machine, ...]:
        """The machine types of a row."""
        return tuple(slot for type_ in self.representative.fields.values() for slot in slots(type_))

    def known(self, name: str) -> Type:
        """What was stored in the field so far."""
        return self.representative.fields.get(name, NEVER)

    def learn(self, name: str, type_: Type) -> Type:
        """The field holds values of the type as well; what it may hold now."""
        heap = self.representative
        before = heap.fields.get(name)
        wider = type_ if before is None else _joined(before, type_)
        if wider != before:
            heap.fields[name] = wider
            if before is not None or name in heap.missed or heap.complete:
                heap.changes += 1
        return wider

    def forget(self, wrong: Callable[[Type], bool]) -> None:
        """Fields whose types are of an understanding that is over are learned anew."""
        for name in [name for name, type_ in self.fields.items() if wrong(type_)]:
            del self.fields[name]
            self.missed.add(name)

    def unite(self, other: Store) -> bool:
        """One heap of both where they meet in a join; objects of two classes stay apart."""
        if not isinstance(other, Heap) or (other.kind, other.python) != (self.kind, self.python):
            return False
        unify(self, other)
        return True


def _joined(before: Type, type_: Type) -> Type:
    """The join of what a field held and holds; numbers that code could be made for are data if they are several."""
    return before if before == type_ else join(loose(before), loose(type_))


def unify(a: Heap, b: Heap) -> Heap:
    """Two heaps of one kind met: from now on they are one, with the fields of both."""
    a, b = a.representative, b.representative
    if a is b:
        return a
    a, b = sorted((a, b), key=lambda heap: heap.number)
    b.merged = a
    a.changes += b.changes + 1
    a.missed |= b.missed
    a.ready = b.ready if a.ready is None else a.ready
    if a.kind == "object":
        for name in (a.fields.keys() ^ b.fields.keys()) - (a.ready or frozenset()):
            a.learn(name, UNBOUND)  # objects of the other heap do not have it
    for name, type_ in b.fields.items():
        a.learn(name, type_)
    return a


# ------------------------------------------------------------------------------------------------------ finding


def heap_of(cx: Frame, kind: str, key: Hashable) -> Heap:
    """The heap of a class or site, found or made; it outlives the restarts of inference."""
    heaps = cx.session.heaps
    found = heaps.get((kind, key))
    if found is None:
        found = heaps[kind, key] = Heap(kind, key)
    return found.representative


def heap_at(cx: Frame, kind: str) -> Heap:
    """The heap of what the op being inferred makes, one for each kind of call of the function around it."""
    return heap_of(cx, kind, (cx.code, cx.op, cx.skeleton, cx.seen_at))


def heap_of_type(type_: Type) -> Heap | None:
    """The heap a type refers to."""
    return type_.heap.representative if isinstance(type_, Ref) and isinstance(type_.heap, Heap) else None


def kind_of(type_: Type) -> str:
    """The kind of the heap a type refers to; "" for what is no reference."""
    heap = heap_of_type(type_)
    return heap.kind if heap is not None else ""


def is_object(type_: Type) -> bool:
    """Does the type refer to objects of a class, which NamedTuples are not."""
    return kind_of(type_) == "object"


def skeleton(types: Sequence[Type]) -> tuple[Hashable, ...]:
    """The types without the sites in them, so that a function that makes objects for objects it made has few sites."""
    return tuple(map(_skeleton, types))


def _skeleton(type_: Type) -> Hashable:
    match type_:
        case Ref():
            heap = heap_of_type(type_)
            return heap and (heap.kind, heap.python)
        case Tuple(items) | List(items) | Union(items) | Iterator(_, items):
            return type(type_), getattr(type_, "kind", None), skeleton(items)
        case Dict(keys, items):
            return Dict, keys, skeleton(items)
        case Closure(code, captured, _):
            return Closure, code, skeleton(captured)
        case Transformed(kind, function, options):
            return Transformed, kind, _skeleton(function), options
        case _:
            return type_


# ------------------------------------------------------------------------------------------------------ access


def table_of(cx: Frame, heap: Heap) -> Value:
    """The heap's table, as the function being inferred receives it."""
    return cx.table(str(heap))


def allocate(cx: Frame, heap: Heap, count: Value | None = None) -> Value:
    """A new row, or the first of `count` new rows; all fields are zero."""
    return cx.e("table_rows", table_of(cx, heap), count if count is not None else cx.e.integer(1))


def read(cx: Frame, heap: Heap, row: Value, name: str) -> AV:
    """The field of a row.  Where nothing is known of the field, the path ends: it is inferred again with what is."""
    type_ = heap.known(name)
    if type_ == NEVER:
        heap.representative.missed.add(name)
        cx.check(cx.e.boolean(False), "AttributeError", f"'{heap.title}' object has no attribute '{name}'")
        return cx.stop()
    table = table_of(cx, heap)
    first = _column(heap, name)
    values = [
        cx.e.append(get("table_get"), [table, row], attrs={"column": first + i, "type": slot}, types=[slot]).result
        for i, slot in enumerate(slots(type_))
    ]
    for _, leaf, slot in fixed_leaves(type_):
        known = cx.e("eq", values[slot], cx.e.like(leaf.value, values[slot]))
        message = f"the field '{name}' of {heap.title} is not {leaf.value}, which the code is made for"
        cx.check(known, "ValueError", message)
    return cx.stated(AV(loose(type_), tuple(values)), type_)


def write(cx: Frame, heap: Heap, row: Value, name: str, av: AV) -> None:
    """Store into the field of a row."""
    av = cx.storable(av)
    if av.type == NEVER:
        return
    wide = widen(av.type, cx.session.families)
    av = av if wide == av.type else coerce(cx.e, av, wide)
    added = _with_numbers(cx, heap, name, av)
    if cx.grows(_joined(heap.known(name), added)):
        what = f"the field '{name}' of {heap.title}" if heap.kind == "object" else f"what this {heap.title} holds"
        raise cx.error(f"{what} has a structure that grows without end", f"this is {show(av.type)}",
                       "make it a list and append, or an object that refers to the one before")  # fmt: skip
    type_ = heap.learn(name, added)
    table = table_of(cx, heap)
    first = _column(heap, name)
    for i, value in enumerate(coerce(cx.e, av, loose(type_)).values):
        cx.e.append(get("table_set"), [table, row, value], attrs={"column": first + i}, types=())


def _with_numbers(cx: Frame, heap: Heap, name: str, av: AV) -> Type:
    """The type of what is stored in a field, with the numbers that are asked for."""
    asked = cx.session.asked.paths_of("field", (heap.python, name)) if heap.kind == "object" else ()
    found: dict[Path, int] = {}
    for path in sorted(asked):
        slot = slot_at(av.type, path)
        number = None if slot is None else cx.definitions.number(av.values[slot])
        if number is not None:
            found[path] = number
        elif slot is not None:
            note(cx, Ask("field", (heap.python, name), path), av.values[slot])
    return fix(av.type, found)


def _column(heap: Heap, name: str) -> int:
    """The first column of a field."""
    fields = heap.representative.fields
    before = list(fields)[: list(fields).index(name)]
    return sum(len(slots(fields[other])) for other in before)


def each(cx: Frame, count: Value, body: Callable[[Value], None]) -> None:
    """for k in range(count): body(k)"""
    k = Value(I64, "k")

    def run() -> list[AV]:
        body(k)
        return []

    branch = cx.branch(run)
    branch.block.params = [k]
    cx.e.append(get("for"), [count], blocks=[branch.block], types=())

"""What Python passes, as abstract types: numbers and fixed structures by value, objects and long lists as references.

    class Tree: value, left, right            heap Tree: value: float, left: None | Ref(Tree), right: None | Ref(Tree)
    f(tree)                                   Ref(Tree)
    f([0.5] * 1000), f(xs) that appends       Ref(list), items: float

The walk visits every object once, whatever refers to it, and without recursion.  What it finds of the fields joins what
the heaps know already; compiled code checks each object against that (`codegen.graphs`), so an object with another kind
of content comes here again.
"""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Hashable, Mapping, Sequence
from enum import Enum
from types import CellType, FunctionType
from typing import Any

import numpy as np

from pullback.diagnostic import CompileError
from pullback.infer.advice import is_foreign
from pullback.infer.engine import Code, Frame
from pullback.infer.heaps import Heap, heap_of
from pullback.infer.lattice import WEAK_INT
from pullback.infer.sites import Changed
from pullback.prims.stated import stated
from pullback.runtime.boundary import MOST_NESTED, Refusal, Resolve, Unsupported, abstract
from pullback.runtime.fixed import fix, slot_at, value_at
from pullback.runtime.objects import attributes, is_user_object
from pullback.types import (
    UNBOUND,
    Closure,
    Constant,
    Dict,
    DType,
    List,
    Number,
    Text,
    Tuple,
    Type,
)  # fmt: skip

__all__ = ["Importer", "cell_key", "imported", "imported_names"]

MOST_FIXED = 16
"""Items of one type in a list of fixed structure; longer ones are rows of a heap."""

MOST_KEYS = 64
"""Keys of a dict of fixed structure."""

MOST_LEVELS = 4
"""Levels of lists in lists that have heaps of their own; deeper ones share that of the last."""

_ROWS = ("field", "item")
"""How the sites of lists begin that stand in rows: these lists are always rows themselves."""

_PLAIN = (float, bool, type(None))
_COLLECTIONS: dict[type, str] = {
    set: "set", frozenset: "frozenset", deque: "deque", defaultdict: "defaultdict", Counter: "Counter",
    OrderedDict: "OrderedDict",
}  # fmt: skip

Site = tuple[Any, ...]

def imported(cx: Frame, value: object, where: str, site: Site, resolve: Resolve) -> Type:
    """The type of a value that Python passes; see `Importer.type_of`."""
    return _importer(cx).type_of(value, where, site, resolve)


def imported_names(
    cx: Frame, values: Mapping[str, object], names: Sequence[str], heap: Heap, resolve: Resolve
) -> None:
    """Learn what a module holds under names, in a heap with a field for each of them."""
    _importer(cx).names(values, names, heap, resolve)


def _importer(cx: Frame) -> Importer:
    found = cx.session.importer
    if not isinstance(found, Importer):
        found = cx.session.importer = Importer(cx)
    return found


class Importer:
    """A walk over what a call passes.  Every object is visited once, also when inference starts again."""

    def __init__(self, cx: Frame) -> None:
        self.cx = cx
        self.resolve: Resolve | None = None
        self.known = cx.session.imported
        self.met: dict[tuple[str, Hashable], None] = dict.fromkeys(
            (heap.kind, heap.key) for _, heap in self.known.values()
        )
        self.fixed: dict[int, tuple[object, Hashable]] = {}  # lists and dicts of fixed structure, and their sites
        self.open: set[int] = set()  # lists whose items are being looked at
        self.counts: dict[Heap, int] = {}  # objects of a class, and in how many of them a field is set
        self.set_in: dict[tuple[Heap, str], int] = {}
        self.seen: set[tuple[Heap, str, type]] = set()  # what fields have held
        self.waiting: deque[tuple[Callable[..., None], tuple[Any, ...]]] = deque()

    def type_of(self, value: object, where: str, site: Site, resolve: Resolve) -> Type:
        """The type of a value; `where` is how messages write it, `site` names the lists and dicts in it.  `resolve`
        gives the types of functions, classes and the like."""
        self.resolve = resolve
        found = self._type(value, where, site, 0)
        self._finish()
        return found

    def names(self, values: Mapping[str, object], names: Sequence[str], heap: Heap, resolve: Resolve) -> None:
        """The fields of a heap from what a module holds under their names; some may not be set."""
        self.resolve = resolve
        for name in names:
            known = self._field(values[name], name, ("field", "global", name)) if name in values else UNBOUND
            heap.learn(name, known)
        self._finish()

    def _finish(self) -> None:
        """Look at all that was met and not yet looked at."""
        while self.waiting:
            visit, arguments = self.waiting.popleft()
            visit(*arguments)
        self._note_unset()

    def _note_unset(self) -> None:
        """What only some objects of a class have is not set in others."""
        for heap, objects in self.counts.items():
            for name in list(heap.fields):
                if self.set_in.get((heap, name), 0) < objects:
                    heap.learn(name, UNBOUND)

    def _type(self, value: object, where: str, site: Site, depth: int) -> Type:
        kind = type(value)
        if id(value) in self.known:
            return self.known[id(value)][1].type
        if kind is list:
            return self._list(value, where, site, depth)
        if kind is dict:
            return self._dict(value, where, site, depth)
        if kind in _COLLECTIONS:
            return self._collection(value, where, site)
        if kind is tuple or (issubclass(kind, tuple) and hasattr(kind, "_fields")):
            return self._tuple(value, where, site, depth)
        if isinstance(value, Enum) and self.resolve is not None:
            return self._resolved(value)
        if is_user_object(value):
            return self._object(value)
        if kind is CellType:
            return self._cell(value, where)
        if isinstance(value, FunctionType) and value.__closure__ and self._is_generic(value):
            return self._closure(value, where, site, depth)
        return abstract(value, self._resolved, where)

    # ------------------------------------------------------------------------------------------------- functions

    def _resolved(self, value: object) -> Type:
        """The type of a function, class or the like; it is known also when the objects that hold it are not looked at
        again."""
        assert self.resolve is not None
        found = self.resolve(value)
        self.cx.session.resolved[id(value)] = found, value
        return found

    def _closure(self, value: FunctionType, where: str, site: Site, depth: int) -> Type:
        """A function with captured variables: these are values as others are, so that one code does for all functions
        made from it."""
        assert self.resolve is not None
        codes, key = self.cx.session.codes, ("imported", value.__code__, id(value.__globals__))
        code = codes.get(key)
        if code is None:
            code = codes[key] = Code(self.cx.session.parse(value), value.__globals__)
        if code.untyped.attrs.get("captures") != value.__code__.co_freevars or code.untyped.attrs.get("cells"):
            return self._resolved(value)
        inner = self._nest(where, depth)
        names = zip(value.__code__.co_freevars, value.__closure__ or (), strict=True)
        captured = tuple(self._type(c.cell_contents, f"{where}.{name}", (*site, name), inner) for name, c in names)
        captured = tuple(Number(DType.BOOL) if isinstance(t, Constant) else t for t in captured)
        found = Closure(code, captured, value.__name__)
        self.cx.session.resolved[id(value)] = found, value
        return found

    def _heap(self, kind: str, key: Hashable) -> Heap:
        self.met[kind, key] = None
        return heap_of(self.cx, kind, key)

    def _is_generic(self, value: FunctionType) -> bool:
        """Can a function be known by its code and what it captured: it has no defaults, does not capture itself, and
        nothing assigns its variables."""
        cells = value.__closure__ or ()
        try:
            contents = [cell.cell_contents for cell in cells]
        except ValueError:  # a variable that is not set yet
            return False
        shared = any(("cell", cell_key(cell)) in self.cx.session.heaps for cell in cells)
        plain = not value.__defaults__ and not value.__kwdefaults__ and not is_foreign(value) and not shared
        plain = plain and stated(value) is None  # a rule is found by the function object
        return plain and not any(isinstance(item, FunctionType) for item in contents)

    def _cell(self, value: Any, where: str) -> Type:
        heap = self._heap("cell", cell_key(value))
        self.known[id(value)] = value, heap
        heap.learn("value", self._field(value.cell_contents, where, ("field", "cell")))
        return heap.type

    # ----------------------------------------------------------------------------------------- fixed structures

    def _nest(self, where: str, depth: int) -> int:
        if depth == MOST_NESTED:
            reason = f"nested more than {MOST_NESTED} levels deep, or holds itself"
            raise Unsupported(where.partition("[")[0], reason, "pass flatter data")
        return depth + 1

    def _tuple(self, value: Any, where: str, site: Site, depth: int) -> Type:
        inner = self._nest(where, depth)
        items = tuple(self._type(item, f"{where}[{i}]", (*site, i), inner) for i, item in enumerate(value))
        return Tuple(items, None if type(value) is tuple else type(value))

    # ------------------------------------------------------------------------------------------------------ dicts

    def _dict(self, value: Any, where: str, site: Site, depth: int) -> Type:
        plain = all(type(key) is str for key in value) and len(value) <= MOST_KEYS
        if ("dict", site) in self.cx.session.heaps or not plain:
            return self._dict_heap(value, where, site)
        inner = self._nest(where, depth)
        self.fixed.setdefault(id(value), (value, ("dict", site)))
        items = tuple(self._type(item, f"{where}[{k!r}]", (*site, k), inner) for k, item in value.items())
        return Dict(tuple(value), items, frozenset({("dict", site)}))

    def _dict_heap(self, value: Any, where: str, site: Site, kind: str = "dict") -> Type:
        """A dict that compiled code keeps as rows."""
        if id(value) in self.fixed:
            raise Changed([self.fixed[id(value)][1]])
        heap = self._heap(kind, site)
        entries, places = self._heap("entries", (kind, site)), self._heap("places", (kind, site))
        self.known[id(value)] = value, heap
        heap.learn("entries", entries.type)
        heap.learn("places", places.type)
        for name in ("used", "live", "capacity", "size"):
            heap.learn(name, WEAK_INT)
        places.learn("entry", WEAK_INT)
        self.waiting.append((self._entries, (value, entries, where, site)))
        return heap.type

    def _entries(self, value: Any, heap: Heap, where: str, site: Site) -> None:
        inner = _inner(site)
        for key, item in value.items():
            if not _is_key(key):
                reason = f"a dict with the key {key!r}: the keys must be strings, numbers, enums or tuples of them"
                raise Unsupported(where, reason, "use such keys, or pass a list or a tuple")
            heap.learn("key", self._field(key, where, inner))
            heap.learn("value", self._field(item, f"{where}[{key!r}]", inner))
        heap.learn("alive", Number(DType.BOOL))

    # ------------------------------------------------------------------------------------------------------ lists

    def _list(self, value: Any, where: str, site: Site, depth: int) -> Type:
        if site[0] in _ROWS or ("list", site) in self.cx.session.heaps or _is_long(value):
            return self._list_heap(value, where, site)
        inner = self._nest(where, depth)
        if id(value) in self.open:
            raise Changed([self.fixed[id(value)][1]])  # it holds itself
        self.fixed.setdefault(id(value), (value, ("list", site)))
        self.open.add(id(value))
        items = tuple(self._type(item, f"{where}[{i}]", (*site, i), inner) for i, item in enumerate(value))
        self.open.remove(id(value))
        return List(items, frozenset({("list", site)}))

    def _list_heap(self, value: Any, where: str, site: Site, kind: str = "list") -> Type:
        """A list or deque that compiled code keeps as rows."""
        if id(value) in self.fixed:  # what was met as a fixed structure elsewhere is a reference there as well
            raise Changed([self.fixed[id(value)][1]])
        heap = self._heap(kind, site)
        items = self._heap("items", (kind, site))
        self.known[id(value)] = value, heap
        heap.learn("items", items.type)
        heap.learn("length", WEAK_INT)
        heap.learn("capacity", WEAK_INT)
        self.waiting.append((self._items, (value, items, where, site)))
        return heap.type

    def _items(self, value: Any, heap: Heap, where: str, site: Site) -> None:
        inner = _inner(site)
        if _are_plain(value):
            value = list({type(item): item for item in value}.values())  # one of each type tells all
        for i, item in enumerate(value):
            heap.learn("item", self._field(item, f"{where}[{i}]", inner))

    # ------------------------------------------------------------------------------------------------ collections

    def _collection(self, value: Any, where: str, site: Site) -> Type:
        """Sets and the containers of `collections`, which are always rows."""
        kind = _COLLECTIONS[type(value)]
        if kind in ("set", "frozenset"):
            return self._set(value, where, site, kind)
        if kind == "deque":
            found = self._list_heap(value, where, site, kind)
            for name in ("front", "most"):
                self.known[id(value)][1].learn(name, WEAK_INT)
            return found
        found = self._dict_heap(value, where, site, kind)
        if kind == "defaultdict":
            self.known[id(value)][1].learn("factory", self._field(value.default_factory, where, _inner(site)))
        return found

    def _set(self, value: Any, where: str, site: Site, kind: str) -> Type:
        heap, slots = self._heap(kind, site), self._heap("slots", (kind, site))
        self.known[id(value)] = value, heap
        heap.learn("table", slots.type)
        for name in ("mask", "fill", "used", "finger"):
            heap.learn(name, WEAK_INT)
        self.waiting.append((self._keys, (value, slots, where, site)))
        return heap.type

    def _keys(self, value: Any, heap: Heap, where: str, site: Site) -> None:
        kinds = set(map(type, value))
        if not kinds <= {int, bool, str}:  # the hashes of others are not CPython's
            reason = "a set whose items are not all ints or strings"
            raise Unsupported(where, reason, f"pass list({where}), and write set(...) in the function")
        for kind in kinds:
            heap.learn("key", Text() if kind is str else WEAK_INT if kind is int else Number(DType.BOOL))
        for item in (item for item in value if not _fit([item])):
            self._field(item, where, _inner(site))  # says that it is too large
        for name in ("hash", "state"):
            heap.learn(name, WEAK_INT)

    def _field(self, value: object, where: str, site: Site) -> Type:
        """The type of what stands in a row."""
        found = self._type(value, where, site, 0)
        return Number(DType.BOOL) if isinstance(found, Constant) else found

    # ---------------------------------------------------------------------------------------------------- objects

    def _object(self, value: object) -> Type:
        heap = self._heap("object", self._key(value))
        self.known[id(value)] = value, heap
        self.waiting.append((self._attributes, (value, heap)))
        return heap.type

    def _key(self, value: object) -> Hashable:
        """Objects of one class lie in one heap; where numbers in them must be known, those with the same numbers do."""
        kind: Any = type(value)
        asked = self.cx.session.asked.fields.get(kind)
        if asked is None:
            return kind  # type: ignore[no-any-return]
        return kind, tuple(self._numbers(type(value), name, item) for name, item in attributes(value) if name in asked)

    def _numbers(self, kind: type, name: str, item: object) -> Hashable:
        """The numbers in a field that are asked for, as they tell heaps apart."""
        paths = self.cx.session.asked.paths_of("field", (kind, name))
        return name, type(item), tuple((path, value_at(item, path)) for path in sorted(paths))

    def _with_numbers(self, kind: type, name: str, type_: Type, item: object) -> Type:
        """The type of a field with the numbers in it that are asked for."""
        paths = self.cx.session.asked.paths_of("field", (kind, name))
        numbers = {path: value_at(item, path) for path in paths if slot_at(type_, path) is not None}
        return fix(type_, {path: number for path, number in numbers.items() if number is not None})

    def _attributes(self, value: object, heap: Heap) -> None:
        kind = type(value)
        self.counts[heap] = self.counts.get(heap, 0) + 1
        for name, item in attributes(value):
            self.set_in[heap, name] = self.set_in.get((heap, name), 0) + 1
            if self._tells_nothing(heap, name, item):
                continue
            try:
                found = self._field(item, f"{kind.__name__}.{name}", ("field", kind, name))
            except (Refusal, CompileError) as error:  # it matters where the program reads the field
                heap.representative.refused[name] = error
            else:
                heap.learn(name, self._with_numbers(kind, name, found, item))
                self.seen.add((heap, name, type(item)))

    def _tells_nothing(self, heap: Heap, name: str, item: Any) -> bool:
        """Has a value of this kind been seen in the field, which tells all of others."""
        kind, asked = type(item), self.cx.session.asked.fields
        if (heap, name, kind) not in self.seen or (heap.python in asked and name in asked[heap.python]):
            return False
        if kind is int:
            return bool(-(2**63) <= item < 2**63)
        if is_user_object(item):
            if kind in asked:
                return False  # objects of one class lie in several heaps
            if id(item) not in self.known:
                self._object(item)
            return True
        return kind in _PLAIN


def cell_key(cell: CellType) -> Hashable:
    """The site of a cell of Python's that compiled code assigns."""
    return "python", id(cell)


def _inner(site: Site) -> Site:
    """The site of lists and dicts in a list or dict."""
    level = site[1] if site[0] == "item" else 0
    return site if level == MOST_LEVELS else ("item", level + 1, site)


def _is_key(key: object) -> bool:
    if type(key) is tuple:
        return all(map(_is_key, key))
    return key is None or type(key) in (str, int, float, bool) or isinstance(key, Enum | np.generic)


def _is_long(value: list[object]) -> bool:
    return len(value) > MOST_FIXED and len(set(map(type, value))) == 1


def _are_plain(value: list[object]) -> bool:
    """Are these numbers, of which one of each type tells all."""
    return len(value) > MOST_FIXED and set(map(type, value)) <= {float, int, bool} and _fit(value)


def _fit(value: list[Any]) -> bool:
    return all(-(2**63) <= item < 2**63 for item in value if type(item) is int)

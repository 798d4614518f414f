"""Sites of lists and dicts: the places in the source that make one.

    xs = [1.0, 2.0]          List((float, float), sites={this literal}): the items are machine values of their own
    xs.append(x)             Changed({this literal}): inference starts again, and the literal makes a row of a heap

A list or dict that nothing changes is a fixed structure, as tuples are.  The first change of it that inference meets
ends that for all sites that may have made it; `infer_entry` notes them and infers anew.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence

from pullback.ir.node import Function, Op, Value
from pullback.types import Closure, Dict, Iterator, List, Transformed, Tuple, Type, Union, rebuilt

__all__ = ["OTHER", "CallWanted", "Changed", "ShadowsWanted", "changing", "like_sites", "sites_in", "without_sites"]

CHANGERS = frozenset({
    "append", "extend", "insert", "pop", "remove", "clear", "sort", "reverse", "popleft", "appendleft", "update",
    "setdefault", "popitem", "add", "discard",
})  # fmt: skip
_WRITES = ("py.setitem", "py.delitem", "py.inplace_item")
_MAKERS = ("py.list", "py.dict", "py.dict_of", "py.set")


class Changed(Exception):
    """What these sites make is changed: they are heaps from now on.  Each is (kind, key), as heaps are found."""

    def __init__(self, sites: Iterable[Hashable]) -> None:
        super().__init__()
        self.sites = frozenset(sites)


class ShadowsWanted(Exception):
    """A program that is differentiated by closures writes to arrays, or stores some: these get shadows in derivatives.

    overwrites: it writes to some.  outside: to some that it finds in globals, cells and defaults.
    """

    def __init__(self, *, overwrites: bool, outside: bool = False) -> None:
        super().__init__()
        self.overwrites = overwrites
        self.outside = outside


class CallWanted(Exception):
    """A loop that is differentiated by closures must be a call of its body: what it steps through pushes."""

    def __init__(self, loop: Op) -> None:
        super().__init__()
        self.loop = loop


def sites_in(types: Sequence[Type]) -> frozenset[Hashable]:
    """The sites of all lists and dicts in the types."""
    found: set[Hashable] = set()
    for type_ in types:
        match type_:
            case List(items, sites) | Dict(_, items, sites):
                found |= sites | sites_in(items)
            case Tuple(items) | Union(items) | Iterator(_, items) | Closure(_, items, _):
                found |= sites_in(items)
            case Transformed(_, function, _):
                found |= sites_in((function,))
    return frozenset(found)


OTHER = ("other", ("other",))
"""Among the sites of a type: these lists or dicts are not those that the sites made, but like them."""


def like_sites(type_: Type) -> Type:
    """The type of a list made after another one's structure, as gradients are.  What changes it asks for rows, and for
    that the other one must have rows as well."""
    if isinstance(type_, List) and type_.sites:
        return List(type_.items, type_.sites | {OTHER})
    return type_


def without_sites(type_: Type) -> Type:
    """The type as Python sees it: a list is a list, whatever made it."""
    match type_:
        case Tuple(items):
            return rebuilt(type_, tuple(map(without_sites, items)))
        case List(items, _):
            return List(tuple(map(without_sites, items)))
        case Dict(keys, items, _):
            return Dict(keys, tuple(map(without_sites, items)))
        case Union(members):
            return Union(tuple(map(without_sites, members)))
        case _:
            return type_


def changing(function: Function) -> frozenset[Op]:
    """The literals of an untyped function that are changed in it, as far as its names show: a guess, to save time."""
    found = function.attrs.get("changing")
    if found is None:
        found = function.attrs["changing"] = _Names(function).changed()
    assert isinstance(found, frozenset)
    return found


class _Names:
    """Values that may be the same object: united where control merges them, and where closures capture them."""

    def __init__(self, function: Function) -> None:
        self.parents: dict[Value, Value] = {}
        self.makers: list[Op] = []
        self.subjects: list[Value] = []
        self._visit(function)

    def changed(self) -> frozenset[Op]:
        subjects = set(map(self._root, self.subjects))
        return frozenset(op for op in self.makers if self._root(op.result) in subjects)

    def _root(self, value: Value) -> Value:
        while value in self.parents:
            value = self.parents[value]
        return value

    def _unite(self, these: Sequence[Value], those: Sequence[Value]) -> None:
        for x, y in zip(these, those, strict=False):
            x, y = self._root(x), self._root(y)
            if x is not y:
                self.parents[x] = y

    def _visit(self, function: Function) -> None:
        for op in function.body.walk():
            self._op(op)

    def _op(self, op: Op) -> None:
        if op.name in _MAKERS:
            self.makers.append(op)
        elif op.name in _WRITES or (op.name == "py.attribute" and op.attrs["name"] in CHANGERS):
            self.subjects.append(op.operands[0])
        elif op.name in ("py.check_bound", "py.cell", "py.cell_get"):
            self._unite(op.results, op.operands)
        elif op.name == "py.cell_set":
            self._unite(op.operands[:1], op.operands[1:])
        elif op.name == "if":
            for block in op.blocks:
                self._unite(op.results, block.results)
        elif op.name in ("py.while", "py.for"):
            self._loop(op)
        elif op.name == "py.closure" and isinstance(op.attrs["function"], Function):
            inner = op.attrs["function"]
            self._visit(inner)
            self._unite(inner.body.params, op.operands[: len(inner.attrs.get("captures", ()))])  # type: ignore[arg-type]

    def _loop(self, op: Op) -> None:
        """Carried values: what they start with, are in each block, and end as."""
        counted = op.name == "py.for"
        start = op.operands[1:] if counted else op.operands
        self._unite(op.results, start)
        for block in op.blocks:
            self._unite(block.params[1 if counted else 0 :], start)
        flag = 1 if op.attrs.get("breaks") else 0
        self._unite(op.blocks[-1].results[flag:], start)

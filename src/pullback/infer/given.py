"""What is known of the lists, dicts and objects that Python passes: before a walk over them, and for the boundary.

    recall, remember       what walks of earlier calls found joins what this one finds (see `imports`)
    reachable, shapes      the heaps behind types, as the boundary describes them
    given_sites            results that are what Python passed
"""

from __future__ import annotations

from collections.abc import Collection, Hashable

from pullback.infer.engine import Frame
from pullback.infer.heaps import Heap, heap_of, heap_of_type
from pullback.infer.imports import Importer
from pullback.infer.sites import OTHER, sites_in
from pullback.runtime.boundary import HeapShape
from pullback.types import (
    BoxedFunction,
    Builtin,
    Class,
    Closure,
    Dict,
    Iterator,
    List,
    Member,
    Module,
    Ref,
    Transformed,
    Tuple,
    Type,
    Union,
    rebuilt,
    union_of,
)  # fmt: skip

__all__ = ["Known", "given_sites", "reachable", "recall", "remember", "shapes"]

_GIVEN = ("argument", "hidden")
"""How the sites of lists and dicts begin that Python passes, or that globals and cells hold."""

Known = dict[tuple[str, Hashable], dict[str, Type]]
"""What earlier walks found of heaps, by kind and key; references in it are to heaps of earlier sessions."""


def given_sites(result: Type) -> list[Hashable]:
    """The sites of lists and dicts in a result that Python may have passed, where all they hold is of one type: those
    need not stay fixed structures.  (Of others a new one with the same content is returned.)"""
    found: list[Hashable] = []
    match result:
        case List(items, sites) | Dict(_, items, sites):
            if len(set(items)) < 2 and OTHER not in sites:
                found += [site for site in sites if isinstance(site, tuple) and site[1][0] in _GIVEN]
            found += [site for item in items for site in given_sites(item)]
        case Tuple(items) | Union(items):
            found += [site for item in items for site in given_sites(item)]
    return found


def recall(cx: Frame, known: Known) -> None:
    """Let the heaps of this session hold what earlier calls passed, so that one code soon takes whatever comes."""
    for (kind, key), fields in known.items():
        heap = heap_of(cx, kind, key)
        for name, type_ in fields.items():
            if not any(site in cx.session.heaps for site in sites_in((type_,))):
                heap.learn(name, _moved(cx, type_))


def remember(cx: Frame, known: Known) -> None:
    """Note what the walks of this session found."""
    importer, asked = cx.session.importer, cx.session.asked.fields
    if isinstance(importer, Importer):
        for kind, key in importer.met:
            heap = heap_of(cx, kind, key)
            if heap.python not in asked:  # what is with other numbers lies in another heap
                known[kind, key] = {name: type_ for name, type_ in heap.fields.items() if _is_data(type_, asked, set())}


def _parts(type_: Type) -> tuple[Type, ...]:
    return type_.members if isinstance(type_, Union) else type_.items if isinstance(type_, Tuple | List | Dict) else ()


def _is_data(type_: Type, asked: Collection[type], met: set[Heap]) -> bool:
    """Does the type say the same in another session, with all that it refers to: what is known of a list, but not of
    its items, would let lists of any items pass.  asked: classes whose heaps are told apart by numbers."""
    if isinstance(type_, Closure | BoxedFunction | Transformed | Iterator | Builtin | Module | Class | Member):
        return False  # the objects that these stand for are those of one call
    heap = heap_of_type(type_)
    if heap is None or heap in met:
        return all(_is_data(part, asked, met) for part in _parts(type_))
    met.add(heap)
    return heap.python not in asked and all(_is_data(part, asked, met) for part in heap.fields.values())


def _moved(cx: Frame, type_: Type) -> Type:
    """The type with references to the heaps of this session."""
    heap = heap_of_type(type_)
    if heap is not None:
        return heap_of(cx, heap.kind, heap.key).type
    parts = tuple(_moved(cx, part) for part in _parts(type_))
    if isinstance(type_, Union):
        return union_of(*parts)
    return rebuilt(type_, parts) if isinstance(type_, Tuple | List | Dict) else type_


# ------------------------------------------------------------------------------------------------------- shapes


def reachable(types: list[Type]) -> list[Heap]:
    """The heaps that types refer to, directly or through what lies in them."""
    found: list[Heap] = []
    waiting = list(types)
    while waiting:
        type_ = waiting.pop()
        match type_:
            case Ref():
                heap = heap_of_type(type_)
                assert heap is not None
                if heap not in found:
                    found.append(heap)
                    waiting += heap.fields.values()
            case Tuple(items) | List(items) | Dict(_, items) | Iterator(_, items) | Union(items) | Closure(_, items):
                waiting += items
    return sorted(found, key=lambda heap: heap.number)


def shapes(heaps: list[Heap], passed: set[str]) -> tuple[HeapShape, ...]:
    """The heaps as the boundary describes them; `passed`: tables that the entry takes as parameters."""
    return tuple(
        HeapShape(
            heap, heap.kind, str(heap), tuple(heap.fields.items()), heap.python,
            str(heap) in passed,
        )
        for heap in heaps
    )  # fmt: skip

"""Memory asked for some rows before it is needed: objects behind rows lie anywhere, and so do the floats in them.

    row i         is written back                                  row i + 8     the floats in its fields are fetched
    row i + 16    the places of these fields are                   row i + 24    the object is

Only what a program may change is looked at, in two fields of a class at most.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pullback.codegen import attributes
from pullback.codegen import support_graphs as at
from pullback.runtime.boundary import HeapShape

if TYPE_CHECKING:
    from pullback.codegen.graphs import Graph

__all__ = ["fetch", "fetch_objects"]

_FLOATS, _PLACES, _OBJECTS = 8, 16, 24  # rows ahead
_FIELDS = 2  # of a class; what lies side by side is fetched by the first


def fetch(g: Graph, address: str) -> None:
    """Ask for memory at an address, which may be any."""
    g.text.call("void", "llvm.prefetch.p0", f"ptr {address}", "i32 0", "i32 3", "i32 1")


def fetch_objects(g: Graph, number: int, row: str) -> None:
    """In a loop over the rows that were given of a heap: fetch what later trips need."""
    shape = g.boundary.heaps[number]
    if shape.kind != "object":
        return
    last = g.text.set(f"sub i64 {g.text.load('i64', g.record(number), at.GIVEN)}, 1")
    fetch(g, _later(g, number, row, last, _OBJECTS))
    for name in [name for name, _ in shape.fields if g.is_written(shape, name)][:_FIELDS]:
        fetch(g, _place(g, shape, name, _later(g, number, row, last, _PLACES)))
        place = _place(g, shape, name, _later(g, number, row, last, _FLOATS))
        fetch(g, g.text.load("ptr", place))


def _later(g: Graph, number: int, row: str, last: str, ahead: int) -> str:
    """The object behind a later row."""
    text = g.text
    wanted = text.call("i64", "llvm.smin.i64", f"i64 {text.set(f'add i64 {row}, {ahead}')}", f"i64 {last}")
    return g.object_of(number, wanted)


def _place(g: Graph, shape: HeapShape, name: str, value: str) -> str:
    """Where an object has a field, or some other address that may be read."""
    assert shape.python is not None
    found = attributes.address(g.text, shape.python, name, value)
    known = g.text.set(f"icmp ne ptr {found}, null")
    return g.text.set(f"select i1 {known}, ptr {found}, ptr %graph")

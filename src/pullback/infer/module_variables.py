"""Globals that compiled code assigns: what a module holds under such names is a row of a heap during the call.

    count = 0
    def f(x):                              n = table_get{count}(module, row)
        global count; count += 1     ->    table_set{count}(module, row, n + 1)

The row is filled from the module's dictionary when Python calls, and what differs is written back at the end, after an
exception too; so every read of such a name, anywhere in the program, sees what was assigned last.  Globals that nothing
assigns stay what `names` makes of them: constants and hidden arguments.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pullback.infer.engine import Code, Frame, Session
from pullback.infer.heaps import Heap, heap_of, read, write
from pullback.infer.imports import imported_names
from pullback.infer.sites import Changed
from pullback.infer.values import AV
from pullback.ir.node import Function, Value
from pullback.prims.base import get
from pullback.runtime.boundary import Hidden, Resolve
from pullback.types import slots

__all__ = ["assign_global", "assigned_globals", "hold_globals", "note_globals", "present_global"]

_MARK = "global"  # the kind of the sites of assigned names


def assigned_globals(cx: Frame, known: dict[str, Any]) -> tuple[str, ...]:
    """The names of a module's globals that the program assigns, as far as was seen."""
    keys = (key for kind, key in cx.session.heaps if kind == _MARK)
    return tuple(sorted(key[1] for key in keys if isinstance(key, tuple) and key[0] == id(known)))


def note_globals(session: Session, code: Code, function: Function) -> None:
    """Mark the reads of such names, for J: what they give may have a sensitivity."""
    assigned = {key[1] for kind, key in session.heaps if kind == _MARK and isinstance(key, tuple)
                and key[0] == id(code.globals)}  # fmt: skip
    for op in function.body.walk():
        if op.name == "py.global" and op.attrs.get("name") in assigned:
            op.attrs["assigned"] = True


def hold_globals(cx: Frame, known: dict[str, Any], names: tuple[str, ...], values: Mapping[str, Any],
                 resolve: Resolve) -> None:  # fmt: skip
    """Let these names, and what they held at some moment, be an input of the compilation."""
    for name in names:
        heap_of(cx, _MARK, (id(known), name))
    _place(cx, known, names, values, resolve)


def present_global(cx: Frame, known: dict[str, Any], name: str, resolve: Resolve) -> AV | None:
    """The value of a global that the program assigns, `Unbound` perhaps among its types; None for any other."""
    if name not in assigned_globals(cx, known):
        return None
    heap, row = _row(cx, known, resolve)
    return read(cx, heap, row, name)


def assign_global(cx: Frame, known: dict[str, Any], name: str, value: AV, resolve: Resolve) -> None:
    """Assign the global, or unset it."""
    if name not in assigned_globals(cx, known):
        raise Changed([(_MARK, (id(known), name))])  # whoever else reads it must see it change
    heap, row = _row(cx, known, resolve)
    write(cx, heap, row, name, value)


def _row(cx: Frame, known: dict[str, Any], resolve: Resolve) -> tuple[Heap, Value]:
    """The row of a module's globals."""
    names = assigned_globals(cx, known)
    where = (id(known), names)
    if where not in cx.session.hidden:
        values = cx.session.held.read("globals", known, names)
        assert isinstance(values, dict)
        _place(cx, known, names, values, resolve)
    type_ = cx.session.hidden[where].type
    op = cx.e.append(get("hidden"), (), attrs={"key": where}, types=slots(type_), names=["globals"])
    return heap_of(cx, "globals", id(known)), op.result


def _place(cx: Frame, known: dict[str, Any], names: tuple[str, ...], values: Mapping[str, Any],
           resolve: Resolve) -> None:  # fmt: skip
    heap = heap_of(cx, "globals", id(known))
    imported_names(cx, values, names, heap, resolve)
    cx.session.hidden[id(known), names] = Hidden(heap.type, "globals", known, names)

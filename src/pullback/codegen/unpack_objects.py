"""Objects, strings and unions of either: the part of `unpack` for values whose class decides what they are.

    Ref(Tree)           exact class: the number of the row (see `graphs`); whether its fields fit is looked at later
    Text                the address of the string of this call that equals it
    Union(None, Ref)    the first member that fits, as tag and payload
"""

from __future__ import annotations

import types as python_types
from collections import Counter, OrderedDict, defaultdict, deque
from typing import TYPE_CHECKING

from pullback.codegen import abi
from pullback.runtime.boundary import HeapShape
from pullback.types import Ref, Unbound, Union, slot_positions, slots

if TYPE_CHECKING:
    from pullback.codegen.unpack import Unpacker

__all__ = ["reference", "string", "union"]

_CLASSES = {
    "list": list, "tuple": tuple, "dict": dict, "cell": python_types.CellType, "globals": dict,
    "set": set, "frozenset": frozenset,
    "deque": deque, "defaultdict": defaultdict, "Counter": Counter, "OrderedDict": OrderedDict,
}  # fmt: skip


def _class_of(shape: HeapShape) -> type:
    """The class of the objects of a heap."""
    return _CLASSES[shape.kind] if shape.python is None else shape.python


def reference(u: Unpacker, type_: Ref, value: str) -> str:
    """The row of an object; whether its content fits is looked at later."""
    text = u.text
    number = u.boundary.heap_of(type_)
    u.require_type(_class_of(u.boundary.heaps[number]), value)
    function = "pb.graph_meet" if u.once else "pb.graph_enter"
    row = text.call("i64", function, f"ptr {u.graph}", f"i64 {number}", f"ptr {value}")
    text.require(text.set(f"icmp sge i64 {row}, 0"), u.miss)
    return row


def string(u: Unpacker, value: str) -> str:
    """The address of the string of this call that equals a string."""
    text = u.text
    u.require_type(str, value)
    word = text.call("i64", "pb.graph_text", f"ptr {u.graph}", f"ptr {value}")
    text.require(text.set(f"icmp ne i64 {word}, 0"), u.miss)
    return word


def union(u: Unpacker, type_: Union, value: str) -> list[str]:
    """Tag and payload of the first member that fits; a member that is not set is none."""
    text, miss = u.text, u.miss
    pieces = abi.all_pieces(slots(type_))
    places = [text.slot(piece) for piece in pieces]
    for piece, place in zip(pieces[1:], places[1:], strict=True):
        text.store(piece, "zeroinitializer", place)
    widths = [len(abi.pieces(slot)) for slot in slots(type_)]
    starts = [sum(widths[:i]) for i in range(len(widths))]
    after = text.label()
    direct = u.once
    members = [(i, member) for i, member in enumerate(type_.members) if not isinstance(member, Unbound)]
    for number, member in members:
        u.miss = text.label() if number != members[-1][0] else miss
        u.once = direct
        found = u.value(member, value, True)
        targets = [starts[k] + i for k in slot_positions(type_, member) for i in range(widths[k])]
        for target, piece in zip(targets, found, strict=True):
            text.store(pieces[target], piece, places[target])
        text.store("i64", str(number), places[0])
        text.jump(after)
        if u.miss != miss:
            text.begin(u.miss)
    u.miss = miss
    text.begin(after)
    return [text.load(piece, place) for piece, place in zip(pieces, places, strict=True)]

"""Boxes (immutable heap records, mutable shadows) and residual buffers.

    b = box{name, variant}(v...)              a new record; layout Program.layouts[name][variant]
    v... = unbox{name, variant}(b)            all its slots (attrs types = their machine types)
    b = box_null{name}()                      no record: the placeholder of a value that is never read
    t = box_tag(b)                            its variant, i64
    v = slot_get{slot, type}(s)               one slot of a mutable record (a shadow), as it is now
    slot_inc{slot}(s, v)                      s.slot += v
    buf = buffer{element}(capacity)           empty; capacity is a hint (i64)
    buffer_put(buf, i, v)                     element i := v; grows when i is past the capacity; each i written once,
                                              in order
    v = buffer_get(buf, i)                    element i
    acc = buffer_zeros{element}(n)            n zeros, an accumulator: buffer_get / buffer_inc
    buffer_inc(acc, i, v)                     element i += v
    free(x)                                   x (buffer or array) is not used any more; of an owner: one owner less
    o = array_owner(a)                        the owner of a fresh array's memory, made once, right after the array
    array_retain(o)                           one owner more; the memory goes when each of them has been freed

Owners are made by the last pass (passes.ownership) and have the type OWNER; box_null makes one that owns nothing, and
`free` of a buffer of owners frees each of them.
"""

from __future__ import annotations

from collections.abc import Sequence

from pullback.prims.base import Attrs, Prim, register
from pullback.types import I64, ArrayRef, Box, Buffer, Machine, Scalar

__all__ = ["OWNER", "PRIMS"]

OWNER = Box("pb.owner")


def _box(operands: Sequence[Machine], attrs: Attrs) -> tuple[Machine, ...]:
    return (Box(str(attrs["name"])),)


def _unbox(operands: Sequence[Machine], attrs: Attrs) -> tuple[Machine, ...]:
    if list(operands) != [Box(str(attrs["name"]))]:
        raise TypeError(f"unbox of {attrs['name']}")
    types = attrs["types"]
    assert isinstance(types, tuple)
    return types


def _tag(operands: Sequence[Machine], attrs: Attrs) -> tuple[Machine, ...]:
    return (I64,)


def _slot_get(operands: Sequence[Machine], attrs: Attrs) -> tuple[Machine, ...]:
    type_ = attrs["type"]
    assert isinstance(type_, Machine)
    return (type_,)


def _nothing(operands: Sequence[Machine], attrs: Attrs) -> tuple[Machine, ...]:
    return ()


def _buffer(operands: Sequence[Machine], attrs: Attrs) -> tuple[Machine, ...]:
    if list(operands) != [I64]:
        raise TypeError("a capacity is needed")
    element = attrs["element"]
    assert isinstance(element, Machine)
    return (Buffer(element),)


def _element(operands: Sequence[Machine]) -> Machine:
    if len(operands) < 2 or not isinstance(operands[0], Buffer) or operands[1] != I64:
        raise TypeError("a buffer and an index are needed")
    return operands[0].element


def _buffer_get(operands: Sequence[Machine], attrs: Attrs) -> tuple[Machine, ...]:
    return (_element(operands),)


def _buffer_put(operands: Sequence[Machine], attrs: Attrs) -> tuple[Machine, ...]:
    if _element(operands) != operands[2]:
        raise TypeError("the element's type differs from the buffer's")
    return ()


def _buffer_inc(operands: Sequence[Machine], attrs: Attrs) -> tuple[Machine, ...]:
    if not isinstance(operands[2], Scalar):
        raise TypeError("only numbers are accumulated")
    return _buffer_put(operands, attrs)


def _owner(operands: Sequence[Machine], attrs: Attrs) -> tuple[Machine, ...]:
    if len(operands) != 1 or not isinstance(operands[0], ArrayRef):
        raise TypeError("an array is needed")
    return (OWNER,)


def _retain(operands: Sequence[Machine], attrs: Attrs) -> tuple[Machine, ...]:
    if list(operands) != [OWNER]:
        raise TypeError("an owner is needed")
    return ()


_STRUCTURAL = "structural"
_READ, _WRITE, _ALLOCATE = frozenset({"read"}), frozenset({"write"}), frozenset({"allocate"})

PRIMS = tuple(
    register(p)
    for p in (
        Prim(name="box", doc="a new record", infer=_box, derivative=_STRUCTURAL, effects=_ALLOCATE),
        Prim(name="box_null", doc="a null reference", infer=_box, derivative=_STRUCTURAL),
        Prim(name="unbox", doc="the slots of an immutable record", infer=_unbox, derivative=_STRUCTURAL),
        Prim(name="box_tag", doc="the variant of a record", infer=_tag, derivative=_STRUCTURAL),
        Prim(name="slot_get", doc="a slot of a mutable record", infer=_slot_get, derivative=_STRUCTURAL, effects=_READ),
        Prim(name="slot_inc", doc="add to a slot", infer=_nothing, derivative=_STRUCTURAL, effects=_WRITE),
        Prim(name="buffer", doc="an empty buffer", infer=_buffer, derivative=_STRUCTURAL, effects=_ALLOCATE),
        Prim(name="buffer_put", doc="write an element once", infer=_buffer_put, derivative=_STRUCTURAL, effects=_WRITE),
        Prim(name="buffer_get", doc="read an element", infer=_buffer_get, derivative=_STRUCTURAL, effects=_READ),
        Prim(name="buffer_zeros", doc="an accumulator of zeros", infer=_buffer, derivative=_STRUCTURAL,
             effects=_ALLOCATE),
        Prim(name="buffer_inc", doc="add to an element", infer=_buffer_inc, derivative=_STRUCTURAL, effects=_WRITE),
        Prim(name="free", doc="give memory back", infer=_nothing, derivative=_STRUCTURAL, effects=_WRITE),
        Prim(name="let_go", doc="a buffer in which an array was found needs it no more", infer=_nothing,
             derivative=_STRUCTURAL, effects=_WRITE),
        Prim(name="array_owner", doc="who frees an array", infer=_owner, derivative=_STRUCTURAL),
        Prim(name="array_retain", doc="one owner more", infer=_retain, derivative=_STRUCTURAL, effects=_WRITE),
    )
)  # fmt: skip

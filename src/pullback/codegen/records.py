"""Boxes and buffers in memory.

A box is its variant's number (i64) followed by the pieces of its slots, each aligned to its size.  A buffer is a header
{ptr data, i64 capacity} and, apart from it, the elements, each a record of its pieces.  The header of a buffer that is
never stored, passed on or carried lies on the stack, where LLVM turns it into registers.

    for k in n: ... buffer_put(buf, k, v)     ->     room for n elements is made before the loop; the put is one store
"""

from __future__ import annotations

from collections.abc import Sequence

from pullback.codegen import abi
from pullback.codegen.templates import FAST
from pullback.codegen.writer import CONTEXT, HEADER, LIKELY, RECORD, STORED, UNLIKELY, FunctionWriter, machine
from pullback.diagnostic import InternalError
from pullback.ir.node import Block, Op, Value
from pullback.prims.data import OWNER
from pullback.types import Buffer, DType, Machine, Scalar, Table

__all__ = ["RULES", "add_to", "free_held", "load_pieces", "local_buffers", "reserve", "store_pieces"]

_HEADER_SIZE = 16
_MEMORY_TYPES = {"i1": "i8"}


def store_pieces(w: FunctionWriter, value: Value, places: tuple[int, ...], base: str, kind: str) -> None:
    """Write the pieces of a value to their places behind an address; `kind` marks the memory."""
    for type_, piece, place in zip(abi.pieces(machine(value)), w.pieces[value], places, strict=True):
        w.store_piece(type_, piece, w.offset(base, place), kind)


def load_pieces(w: FunctionWriter, type_: Machine, places: tuple[int, ...], base: str, kind: str) -> list[str]:
    """Read the pieces of a value of the type."""
    types = zip(abi.pieces(type_), places, strict=True)
    return [w.load_piece(piece, w.offset(base, place), kind) for piece, place in types]


def add_to(w: FunctionWriter, dtype: DType, pointer: str, value: str, kind: str) -> None:
    """Add to a number in memory."""
    w.store(dtype, plus(w, dtype, w.load(dtype, pointer, kind), value), pointer, kind)


def plus(w: FunctionWriter, dtype: DType, x: str, y: str) -> str:
    """x + y; of bools, x or y."""
    operation = f"fadd {FAST if w.fast else ''}" if dtype.is_float else "add " if dtype.is_int else "or "
    return w.set(f"{operation}{abi.LLVM[dtype]} {x}, {y}")


# ------------------------------------------------------------------------------------------------------- boxes


def _layout(w: FunctionWriter, name: str, variant: object) -> abi.Record:
    try:
        types = w.module.program.layouts[name][int(str(variant))]
    except (KeyError, IndexError):
        raise InternalError(f"box {name} has no variant {variant}") from None
    return w.module.record(types, 8)


def _box(w: FunctionWriter, op: Op) -> None:
    layout = _layout(w, str(op.attrs["name"]), op.attrs["variant"])
    pointer = _room(w, layout.size)
    w.do(f"store i64 {op.attrs['variant']}, ptr {pointer}{RECORD}")
    for value, places in zip(op.operands, layout.offsets, strict=True):
        store_pieces(w, value, places, pointer, RECORD)
    w.pieces[op.result] = (pointer,)


def _room(w: FunctionWriter, size: int) -> str:
    """Room for a record; all go at the end of the outermost call."""
    size = -(-size // 8) * 8
    place, end = w.offset("%context", abi.ROOM), w.offset("%context", abi.ROOM_END)
    found = w.set(f"load ptr, ptr {place}{CONTEXT}")
    following = w.set(f"getelementptr i8, ptr {found}, i64 {size}")
    enough = w.set(f"icmp ule ptr {following}, {w.set(f'load ptr, ptr {end}{CONTEXT}')}")
    full, fine, after = w.label(), w.label(), w.label()
    w.branch(enough, fine, full, LIKELY)
    w.begin(full)
    more = w.set(f"call noalias ptr {w.module.helper('pb.records')}(ptr %context, i64 {size})")
    w.failures.append((str(abi.NO_MEMORY), full))
    w.branch(w.set(f"icmp eq ptr {more}, null"), "fail", after, UNLIKELY)
    w.begin(fine)
    w.do(f"store ptr {following}, ptr {place}{CONTEXT}")
    w.jump(after)
    w.begin(after)
    return w.phis(["ptr"], (fine, [found]), (full, [more]))[0]


def _room_now(w: FunctionWriter, op: Op) -> None:
    w.pieces[op.result] = (w.set(f"load i64, ptr {w.offset('%context', abi.ROOM)}{CONTEXT}"),)


def _cut(w: FunctionWriter, op: Op) -> None:
    """Back to where the room was; if that was in another chunk, to the start of this one, which is all newer."""
    place = w.offset("%context", abi.ROOM)
    end = w.set(f"load i64, ptr {w.offset('%context', abi.ROOM_END)}{CONTEXT}")
    size = w.set(f"load i64, ptr {w.offset('%context', abi.CHUNK)}{CONTEXT}")
    start, room = w.set(f"sub i64 {end}, {size}"), w.only(op.operands[0])
    here = w.set(f"icmp ule i64 {w.set(f'sub i64 {room}, {start}')}, {size}")
    w.do(f"store i64 {w.set(f'select i1 {here}, i64 {room}, i64 {start}')}, ptr {place}{CONTEXT}")


def _unbox(w: FunctionWriter, op: Op) -> None:
    layout = _layout(w, str(op.attrs["name"]), op.attrs["variant"])
    pointer = w.only(op.operands[0])
    for value, places in zip(op.results, layout.offsets, strict=True):
        w.pieces[value] = tuple(load_pieces(w, machine(value), places, pointer, RECORD))


def _box_tag(w: FunctionWriter, op: Op) -> None:
    w.pieces[op.result] = (w.set(f"load i64, ptr {w.only(op.operands[0])}{RECORD}"),)


def _slot(w: FunctionWriter, op: Op) -> tuple[int, ...]:
    box, slot = op.operands[0].type, op.attrs["slot"]
    assert isinstance(slot, int)
    return _layout(w, getattr(box, "name", str(box)), op.attrs.get("variant", 0)).offsets[slot]


def _slot_get(w: FunctionWriter, op: Op) -> None:
    pointer = w.only(op.operands[0])
    w.pieces[op.result] = tuple(load_pieces(w, machine(op.result), _slot(w, op), pointer, RECORD))


def _slot_inc(w: FunctionWriter, op: Op) -> None:
    pointer, value = op.operands
    if not isinstance(value.type, Scalar):
        raise InternalError(f"slot_inc of {value.type}")
    (place,) = _slot(w, op)
    add_to(w, value.type.dtype, w.offset(w.only(pointer), place), w.only(value), RECORD)


# ----------------------------------------------------------------------------------------------------- buffers


def _element(value: Value) -> Machine:
    if not isinstance(value.type, Buffer):
        raise InternalError(f"{value!r} is not a buffer")
    return value.type.element


def _kind(buffer: Value) -> str:
    """Elements of buffers of owners are null until they are put."""
    return "owners" if _element(buffer) == OWNER else "buffer"


def _element_size(w: FunctionWriter, buffer: Value) -> int:
    return w.module.record((_element(buffer),)).size


def reserve(w: FunctionWriter, body: Block, n: str) -> None:
    """Before a `for` of n trips: make room in the buffers that its body fills at the index of the trip.

    The index may also be the sum of the trip's and one from outside; these go up by one from put to put.
    """
    done: set[tuple[Value, Value]] = set()
    sums = {op.results[0]: op.operands for op in body.ops if op.prim.name == "add"}
    for op in _straight(body):
        if op.prim.name != "buffer_put" or op.operands[0] not in w.pieces:
            continue
        buffer, index = op.operands[:2]
        if index is not body.params[0]:
            first = _other(sums.get(index, ()), body.params[0])
            if first is None or first not in w.pieces:
                continue
            w.reserved.add(op)
            if (buffer, index) not in done:
                _grow(w, buffer, w.set(f"sub i64 {w.add(w.only(first), n)}, 1"))
        else:
            w.reserved.add(op)
            if (buffer, index) not in done and w.capacities.get(buffer) != n:
                helper, size = w.module.helper(f"pb.{_kind(buffer)}_reserve"), _element_size(w, buffer)
                status = w.set(f"call i32 {helper}(ptr %context, ptr {w.only(buffer)}, i64 {n}, i64 {size})")
                w.fail_if(w.set(f"icmp ne i32 {status}, 0"), status)
        done.add((buffer, index))


def _other(pair: Sequence[Value], value: Value) -> Value | None:
    """The operand beside the value."""
    if value not in pair:
        return None
    return pair[1] if pair[0] is value else pair[0]


def _straight(block: Block) -> list[Op]:
    """The ops of a block and of the arms of its ifs."""
    found = []
    for op in block.ops:
        found.append(op)
        if op.prim.name == "if":
            for arm in op.blocks:
                found += _straight(arm)
    return found


_BUFFER_OPS = frozenset({"buffer_put", "buffer_get", "buffer_inc", "free"})


def local_buffers(body: Block) -> set[Value]:
    """Buffers that are made in the body and used by nothing but the ops of buffers."""
    made: set[Value] = set()
    escaped: set[Value] = set(body.results)
    for op in body.walk():
        if op.prim.name in ("buffer", "buffer_zeros"):
            made.add(op.results[0])
        escaped.update(op.operands[op.prim.name in _BUFFER_OPS :])
        for block in op.blocks:
            escaped.update(block.results)
    return made - escaped


def _new_buffer(w: FunctionWriter, op: Op, zeroed: bool) -> None:
    n, size = w.only(op.operands[0]), _element_size(w, op.result)
    if not n.isdigit():
        n = w.intrinsic(f"call i64 @llvm.smax.i64(i64 {n}, i64 0)")
    header = w.stack(f"[{_HEADER_SIZE} x i8], align 8") if op.result in w.local else w.allocate(str(_HEADER_SIZE))
    bytes_ = w.set(f"mul i64 {n}, {size}")
    if not n.isdigit():
        # More elements than memory has addresses: ask for more bytes than there are.
        bytes_ = w.set(f"select i1 {w.set(f'icmp ult i64 {n}, {2**62 // size}')}, i64 {bytes_}, i64 -1")
    data = w.allocate(bytes_, zeroed or _kind(op.result) == "owners")
    w.do(f"store ptr {data}, ptr {header}{HEADER}")
    w.do(f"store i64 {n}, ptr {w.offset(header, 8)}{HEADER}")
    w.pieces[op.result] = (header,)
    w.capacities[op.result] = w.only(op.operands[0])


def _address(w: FunctionWriter, buffer: Value, index: str) -> str:
    """Of an element."""
    data = w.set(f"load ptr, ptr {w.only(buffer)}{HEADER}")
    element = _element(buffer)
    if isinstance(element, Scalar):
        return w.set(f"getelementptr inbounds {abi.MEMORY[element.dtype]}, ptr {data}, i64 {index}")
    size = _element_size(w, buffer)
    return w.set(f"getelementptr inbounds [{size} x i8], ptr {data}, i64 {index}")


def _places(w: FunctionWriter, buffer: Value) -> tuple[int, ...]:
    return w.module.record((_element(buffer),)).offsets[0]


def _buffer_put(w: FunctionWriter, op: Op) -> None:
    buffer, index, value = op.operands
    if op not in w.reserved:
        _grow(w, buffer, w.only(index))
    store_pieces(w, value, _places(w, buffer), _address(w, buffer, w.only(index)), STORED)


def _grow(w: FunctionWriter, buffer: Value, index: str) -> None:
    header = w.only(buffer)
    capacity = w.set(f"load i64, ptr {w.offset(header, 8)}{HEADER}")
    full, after = w.label(), w.label()
    w.branch(w.set(f"icmp sge i64 {index}, {capacity}"), full, after, UNLIKELY)
    w.begin(full)
    helper, size = w.module.helper(f"pb.{_kind(buffer)}_grow"), _element_size(w, buffer)
    status = w.set(f"call i32 {helper}(ptr %context, ptr {header}, i64 {index}, i64 {size})")
    w.failures.append((status, full))
    w.branch(w.set(f"icmp ne i32 {status}, 0"), "fail", after, UNLIKELY)
    w.begin(after)


def _buffer_get(w: FunctionWriter, op: Op) -> None:
    buffer, index = op.operands
    address = _address(w, buffer, w.only(index))
    w.pieces[op.result] = tuple(load_pieces(w, machine(op.result), _places(w, buffer), address, STORED))


def _buffer_inc(w: FunctionWriter, op: Op) -> None:
    buffer, index, value = op.operands
    element = _element(buffer)
    if not isinstance(element, Scalar):
        raise InternalError(f"buffer_inc of {element}")
    add_to(w, element.dtype, _address(w, buffer, w.only(index)), w.only(value), STORED)


def _free(w: FunctionWriter, op: Op) -> None:
    (value,) = op.operands
    helper, pointer = w.module.helper("pb.free"), w.only(value)
    if isinstance(value.type, Table):  # the header is on the stack
        free_held(w, value.type, pointer)
        w.do(f"call void {helper}(ptr %context, ptr {w.set(f'load ptr, ptr {pointer}{HEADER}')})")
        return
    if isinstance(value.type, Buffer):
        data = w.set(f"load ptr, ptr {pointer}{HEADER}")
        if _kind(value) == "owners":
            count = w.set(f"load i64, ptr {w.offset(pointer, 8)}{HEADER}")
            w.do(f"call void {w.module.helper('pb.free_owners')}(ptr %context, ptr {data}, i64 {count}, i64 8)")
        w.do(f"call void {helper}(ptr %context, ptr {data})")
    if value not in w.local:
        w.do(f"call void {helper}(ptr %context, ptr {pointer})")


def free_held(w: FunctionWriter, table: Table, header: str, start: str = "0") -> None:
    """One owner less for each array that a table owns, from a row on."""
    (columns,) = w.module.program.layouts[table.name]
    layout = w.module.record(columns)
    for type_, places in zip(columns, layout.offsets, strict=True):
        if type_ == OWNER:
            data = w.set(f"load ptr, ptr {header}{HEADER}")
            first = w.offset(w.offset(data, w.multiply(start, str(layout.size))), places[0])
            count = w.set(f"sub i64 {w.set(f'load i64, ptr {w.offset(header, 16)}{HEADER}')}, {start}")
            operands = f"ptr %context, ptr {first}, i64 {count}, i64 {layout.size}"
            w.do(f"call void {w.module.helper('pb.free_owners')}({operands})")


def _null(w: FunctionWriter, op: Op) -> None:
    w.pieces[op.result] = ("null",)


def _owner(w: FunctionWriter, op: Op) -> None:
    """An allocation and its header are found by the address of its first byte."""
    w.pieces[op.result] = (w.only(op.operands[0]),)


def _retain(w: FunctionWriter, op: Op) -> None:
    w.do(f"call void {w.module.helper('pb.retain')}(ptr {w.only(op.operands[0])})")


RULES = {
    "array_owner": _owner,
    "array_retain": _retain,
    "box": _box,
    "box_null": _null,
    "record_room": _room_now,
    "record_cut": _cut,
    "unbox": _unbox,
    "box_tag": _box_tag,
    "slot_get": _slot_get,
    "slot_inc": _slot_inc,
    "buffer": lambda w, op: _new_buffer(w, op, False),
    "buffer_zeros": lambda w, op: _new_buffer(w, op, True),
    "buffer_get": _buffer_get,
    "buffer_put": _buffer_put,
    "buffer_inc": _buffer_inc,
    "free": _free,
    "let_go": lambda w, op: None,  # what holds the array frees it
}

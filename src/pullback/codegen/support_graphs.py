"""The part of the native library that knows Python objects by identity while compiled code works on their copies.

A graph is a record on the stack of an entry: a hash map from the address of an object to its row, and for each heap the
table of the rows and the objects behind them.  `codegen.graphs` writes what fills and reads the rows.

    pb.graph_enter(graph, heap, object) -> row      found, or the next row: then the object is kept alive
                                           OTHER    the object has a row of another heap; NO_MEMORY
    pb.graph_meet(graph, heap, object) -> row       the same for an object in a field of another: if nothing else refers
                                                    to it, it is not met again, and the map need not know it
    pb.graph_place(graph, heap, row) -> address     of the object behind a row; null: none yet.  Null: no memory
    pb.graph_note(graph, heap, row, object) -> i32  the object, a new one, is what stands behind a row from now on
    pb.graph_keep(graph, object) -> i32             keeps an array alive that a row refers to
    pb.graph_push(graph, heap, row) -> i32          an object waits; pb.graph_pop(graph) gives the last one, or -1

What lets go of it all is in `support_holding`.

All memory comes from the context and ends with the call.
"""

from __future__ import annotations

from pullback.codegen import abi

__all__ = [
    "CONTEXT", "COUNT", "GIVEN", "GRAPHS", "HANDED", "HEAPS", "HEAP_SIZE", "KEPT", "KEPT_COUNT", "LENGTH",
    "NO_ROW", "OBJECTS", "OTHER", "PENDING", "PENDING_COUNT", "SNAPSHOT", "TABLE", "first_places", "first_size",
    "graph_size", "zeroed_size",
]  # fmt: skip

# Byte offsets in a graph.  KEPT: arrays that rows refer to.  PENDING: objects that have not been looked at yet, and new
# ones whose content is not there yet, each row * 65536 + heap.  HANDED: see `support_arrays`.
(MAP, MASK, USED, CONTEXT, KEPT, KEPT_ROOM, KEPT_COUNT, PENDING, PENDING_ROOM, PENDING_COUNT, HANDED, HEAPS) = (
    8 * i for i in range(12)
)
# In the record of a heap.  It begins with the header of the table (see `tables`).  COUNT: rows with a place for their
# object.  GIVEN: rows of objects given by Python.  SNAPSHOT: these as they were.
TABLE, CAPACITY, LENGTH, OBJECTS, ROOM, COUNT, GIVEN, SNAPSHOT, HEAP_SIZE = (8 * i for i in range(9))

NO_ROW, OTHER = -1, -2  # pb.graph_enter failed: no memory; a row of another heap

_FIRST = 64  # entries of the smallest map


def graph_size(heaps: int) -> int:
    """Bytes of a graph."""
    return HEAPS + HEAP_SIZE * heaps


_ENTRIES, _OBJECTS, _WAITING = 32, 4, 16  # that a graph has room for at first


def first_places(heaps: int) -> list[tuple[int, int, int]]:
    """Where a graph keeps the address of room that it has at first, how much that is (of the map: less 1), and where
    the room lies behind the graph."""
    objects = 16 * _ENTRIES
    waiting = objects + 8 * _OBJECTS * heaps
    vectors = [(HEAPS + HEAP_SIZE * k + OBJECTS, _OBJECTS, objects + 8 * _OBJECTS * k) for k in range(heaps)]
    return [(MAP, _ENTRIES - 1, 0), *vectors, (PENDING, _WAITING, waiting)]


def zeroed_size(heaps: int) -> int:
    """Bytes of a graph and its first room that must be zero."""
    return graph_size(heaps) + 16 * _ENTRIES + 8 * _OBJECTS * heaps


def first_size(heaps: int) -> int:
    """Bytes of a graph and its first room."""
    return zeroed_size(heaps) + 8 * _WAITING


GRAPHS = f"""
; makes room for one more pointer in a vector {{ptr data, i64 room}} that holds `count`
define internal i32 @pb.vector_room(ptr %context, ptr %vector, i64 %count) nounwind {{
  %at = getelementptr i8, ptr %vector, i64 8
  %room = load i64, ptr %at
  %full = icmp uge i64 %count, %room
  br i1 %full, label %grow, label %fine
grow:
  %more = call i64 @llvm.smax.i64(i64 %count, i64 4)
  %twice = shl i64 %more, 1
  %bytes = shl i64 %twice, 3
  %data = call ptr @pb.alloc_zeroed(ptr %context, i64 %bytes)
  %none = icmp eq ptr %data, null
  br i1 %none, label %bad, label %copy
copy:
  %old = load ptr, ptr %vector
  %used = shl i64 %room, 3
  call void @llvm.memcpy.p0.p0.i64(ptr %data, ptr %old, i64 %used, i1 false)
  store ptr %data, ptr %vector
  store i64 %twice, ptr %at
  br label %fine
fine:
  ret i32 {abi.FINE}
bad:
  ret i32 {abi.NO_MEMORY}
}}

; where the map has the object, or has room for it.  Objects that lie side by side have places side by side: programs
; mostly go from one to the next.
define internal ptr @pb.graph_slot(ptr %map, i64 %mask, ptr %object) nounwind memory(argmem: read) {{
entry:
  %bits = ptrtoint ptr %object to i64
  %near = lshr i64 %bits, 4
  %far = lshr i64 %bits, 18
  %spread = mul i64 %far, -7046029254386353131
  %high = lshr i64 %spread, 20
  %first = add i64 %near, %high
  br label %loop
loop:
  %i = phi i64 [ %first, %entry ], [ %i1, %next ]
  %number = and i64 %i, %mask
  %place = getelementptr {{ptr, i64}}, ptr %map, i64 %number
  %known = load ptr, ptr %place
  %same = icmp eq ptr %known, %object
  %empty = icmp eq ptr %known, null
  %stop = or i1 %same, %empty
  br i1 %stop, label %out, label %next
next:
  %i1 = add i64 %i, 1
  br label %loop
out:
  ret ptr %place
}}

; makes room for one more object in the map
define internal i32 @pb.graph_room(ptr %graph) nounwind {{
entry:
  %at.mask = getelementptr i8, ptr %graph, i64 {MASK}
  %at.used = getelementptr i8, ptr %graph, i64 {USED}
  %at.context = getelementptr i8, ptr %graph, i64 {CONTEXT}
  %map = load ptr, ptr %graph
  %mask = load i64, ptr %at.mask
  %used = load i64, ptr %at.used
  %twice = shl i64 %used, 1
  %full = icmp uge i64 %twice, %mask
  br i1 %full, label %grow, label %fine
grow:
  %fresh = icmp eq ptr %map, null
  %size = add i64 %mask, 1
  %more = shl i64 %size, 2
  %wanted = select i1 %fresh, i64 {_FIRST}, i64 %more
  %bytes = shl i64 %wanted, 4
  %context = load ptr, ptr %at.context
  %new = call ptr @pb.alloc_zeroed(ptr %context, i64 %bytes)
  %none = icmp eq ptr %new, null
  br i1 %none, label %bad, label %move
move:
  %mask1 = sub i64 %wanted, 1
  store ptr %new, ptr %graph
  store i64 %mask1, ptr %at.mask
  br i1 %fresh, label %fine, label %loop
loop:
  %i = phi i64 [ 0, %move ], [ %i1, %step ]
  %place = getelementptr {{ptr, i64}}, ptr %map, i64 %i
  %object = load ptr, ptr %place
  %unused = icmp eq ptr %object, null
  br i1 %unused, label %step, label %put
put:
  %there = call ptr @pb.graph_slot(ptr %new, i64 %mask1, ptr %object)
  %pair = load {{ptr, i64}}, ptr %place
  store {{ptr, i64}} %pair, ptr %there
  br label %step
step:
  %i1 = add i64 %i, 1
  %end = icmp ugt i64 %i1, %mask
  br i1 %end, label %fine, label %loop
fine:
  ret i32 {abi.FINE}
bad:
  ret i32 {abi.NO_MEMORY}
}}

define internal ptr @pb.graph_heap(ptr %graph, i64 %heap) nounwind memory(none) {{
  %bytes = mul i64 %heap, {HEAP_SIZE}
  %offset = add i64 %bytes, {HEAPS}
  %record = getelementptr i8, ptr %graph, i64 %offset
  ret ptr %record
}}

define i64 @pb.graph_enter(ptr %graph, i64 %heap, ptr %object) nounwind {{
  %room = call i32 @pb.graph_room(ptr %graph)
  %failed = icmp ne i32 %room, {abi.FINE}
  br i1 %failed, label %bad, label %look
look:
  %at.mask = getelementptr i8, ptr %graph, i64 {MASK}
  %map = load ptr, ptr %graph
  %mask = load i64, ptr %at.mask
  %place = call ptr @pb.graph_slot(ptr %map, i64 %mask, ptr %object)
  %known = load ptr, ptr %place
  %second = getelementptr i8, ptr %place, i64 8
  %new = icmp eq ptr %known, null
  br i1 %new, label %add, label %old
old:
  %code = load i64, ptr %second
  %row = ashr i64 %code, 16
  %owner = and i64 %code, 65535
  %fits = icmp eq i64 %owner, %heap
  %found = select i1 %fits, i64 %row, i64 {OTHER}
  ret i64 %found
add:
  %record = call ptr @pb.graph_heap(ptr %graph, i64 %heap)
  %at.count = getelementptr i8, ptr %record, i64 {COUNT}
  %count = load i64, ptr %at.count
  %status = call i32 @pb.graph_note(ptr %graph, i64 %heap, i64 %count, ptr %object)
  %full = icmp ne i32 %status, {abi.FINE}
  br i1 %full, label %bad, label %wait
wait:
  call void @pb.own(ptr %object)
  %waits = call i32 @pb.graph_push(ptr %graph, i64 %heap, i64 %count)
  %many = icmp ne i32 %waits, {abi.FINE}
  br i1 %many, label %bad, label %note
note:
  %high = shl i64 %count, 16
  %code1 = or i64 %high, %heap
  store ptr %object, ptr %place
  store i64 %code1, ptr %second
  %at.used = getelementptr i8, ptr %graph, i64 {USED}
  %used = load i64, ptr %at.used
  %used1 = add i64 %used, 1
  store i64 %used1, ptr %at.used
  ret i64 %count
bad:
  ret i64 {NO_ROW}
}}

; one that a field or an item refers to, which are read once.  (If a union tries several members, the object may get
; two rows: one that nothing refers to, and the one that counts.)
define i64 @pb.graph_meet(ptr %graph, i64 %heap, ptr %object) nounwind {{
  %references = load i64, ptr %object
  %lone = icmp eq i64 %references, 1
  br i1 %lone, label %add, label %shared
shared:
  %found = tail call i64 @pb.graph_enter(ptr %graph, i64 %heap, ptr %object)
  ret i64 %found
add:
  %record = call ptr @pb.graph_heap(ptr %graph, i64 %heap)
  %at.count = getelementptr i8, ptr %record, i64 {COUNT}
  %count = load i64, ptr %at.count
  %status = call i32 @pb.graph_note(ptr %graph, i64 %heap, i64 %count, ptr %object)
  %full = icmp ne i32 %status, {abi.FINE}
  br i1 %full, label %bad, label %hold
hold:
  call void @pb.own(ptr %object)
  %waits = call i32 @pb.graph_push(ptr %graph, i64 %heap, i64 %count)
  %many = icmp ne i32 %waits, {abi.FINE}
  br i1 %many, label %bad, label %fine
fine:
  ret i64 %count
bad:
  ret i64 {NO_ROW}
}}

; is the object one that has a row
define i1 @pb.graph_knows(ptr %graph, ptr %object) nounwind {{
  %at.mask = getelementptr i8, ptr %graph, i64 {MASK}
  %map = load ptr, ptr %graph
  %none = icmp eq ptr %map, null
  br i1 %none, label %no, label %look
look:
  %mask = load i64, ptr %at.mask
  %place = call ptr @pb.graph_slot(ptr %map, i64 %mask, ptr %object)
  %known = load ptr, ptr %place
  %there = icmp ne ptr %known, null
  ret i1 %there
no:
  ret i1 false
}}

define ptr @pb.graph_place(ptr %graph, i64 %heap, i64 %row) nounwind {{
  %record = call ptr @pb.graph_heap(ptr %graph, i64 %heap)
  %at.count = getelementptr i8, ptr %record, i64 {COUNT}
  %vector = getelementptr i8, ptr %record, i64 {OBJECTS}
  %at.room = getelementptr i8, ptr %record, i64 {ROOM}
  %context.at = getelementptr i8, ptr %graph, i64 {CONTEXT}
  %context = load ptr, ptr %context.at
  %count = load i64, ptr %at.count
  %more = add i64 %row, 1
  %count1 = call i64 @llvm.smax.i64(i64 %count, i64 %more)
  %room = load i64, ptr %at.room
  %short = icmp uge i64 %row, %room
  br i1 %short, label %grow, label %fine
grow:
  %status = call i32 @pb.vector_room(ptr %context, ptr %vector, i64 %row)
  %bad = icmp ne i32 %status, {abi.FINE}
  br i1 %bad, label %nothing, label %fine
fine:
  store i64 %count1, ptr %at.count
  %data = load ptr, ptr %vector
  %place = getelementptr ptr, ptr %data, i64 %row
  ret ptr %place
nothing:
  ret ptr null
}}

define i32 @pb.graph_note(ptr %graph, i64 %heap, i64 %row, ptr %object) nounwind {{
  %place = call ptr @pb.graph_place(ptr %graph, i64 %heap, i64 %row)
  %none = icmp eq ptr %place, null
  br i1 %none, label %bad, label %fine
fine:
  store ptr %object, ptr %place
  ret i32 {abi.FINE}
bad:
  ret i32 {abi.NO_MEMORY}
}}

define i32 @pb.graph_keep(ptr %graph, ptr %object) nounwind {{
  %context.at = getelementptr i8, ptr %graph, i64 {CONTEXT}
  %vector = getelementptr i8, ptr %graph, i64 {KEPT}
  %at.count = getelementptr i8, ptr %graph, i64 {KEPT_COUNT}
  %context = load ptr, ptr %context.at
  %count = load i64, ptr %at.count
  %status = call i32 @pb.vector_room(ptr %context, ptr %vector, i64 %count)
  %bad = icmp ne i32 %status, {abi.FINE}
  br i1 %bad, label %out, label %put
put:
  %data = load ptr, ptr %vector
  %place = getelementptr ptr, ptr %data, i64 %count
  store ptr %object, ptr %place
  call void @pb.own(ptr %object)
  %more = add i64 %count, 1
  store i64 %more, ptr %at.count
  br label %out
out:
  ret i32 %status
}}

define i32 @pb.graph_push(ptr %graph, i64 %heap, i64 %row) nounwind {{
  %context.at = getelementptr i8, ptr %graph, i64 {CONTEXT}
  %vector = getelementptr i8, ptr %graph, i64 {PENDING}
  %at.count = getelementptr i8, ptr %graph, i64 {PENDING_COUNT}
  %context = load ptr, ptr %context.at
  %count = load i64, ptr %at.count
  %status = call i32 @pb.vector_room(ptr %context, ptr %vector, i64 %count)
  %bad = icmp ne i32 %status, {abi.FINE}
  br i1 %bad, label %out, label %put
put:
  %data = load ptr, ptr %vector
  %place = getelementptr i64, ptr %data, i64 %count
  %high = shl i64 %row, 16
  %code = or i64 %high, %heap
  store i64 %code, ptr %place
  %more = add i64 %count, 1
  store i64 %more, ptr %at.count
  br label %out
out:
  ret i32 %status
}}

define i64 @pb.graph_pop(ptr %graph) nounwind {{
  %vector = getelementptr i8, ptr %graph, i64 {PENDING}
  %at.count = getelementptr i8, ptr %graph, i64 {PENDING_COUNT}
  %count = load i64, ptr %at.count
  %none = icmp eq i64 %count, 0
  br i1 %none, label %nothing, label %some
some:
  %less = sub i64 %count, 1
  store i64 %less, ptr %at.count
  %data = load ptr, ptr %vector
  %place = getelementptr i64, ptr %data, i64 %less
  %code = load i64, ptr %place
  ret i64 %code
nothing:
  ret i64 -1
}}
"""

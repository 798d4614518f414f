"""What a graph keeps alive during a call, and images for longer: a part of the native library (see `support_graphs`).

    pb.graph_text(graph, object) -> address         the string of this call that equals a string (`runtime.texts`)
    pb.set_place(states, size, mask, hash) -> place where a key goes in a set (`prims.prelude.sets`): slots of some size
    pb.graph_drop(graph, heaps)                     lets go of all objects and arrays
    pb.image_dropped(capsule)                       the end of an image of a packed object (see `images`)
"""

from __future__ import annotations

from pullback.codegen import abi
from pullback.codegen.support_graphs import CONTEXT, COUNT, KEPT, KEPT_COUNT, OBJECTS

__all__ = ["HOLDING"]

_AHEAD = 8  # objects whose counts are fetched before they are needed

HOLDING = f"""
; the address of the string of the call that equals a string; 0 on failure
define i64 @pb.graph_text(ptr %graph, ptr %object) nounwind {{
  %arguments = alloca [2 x ptr]
  %context.at = getelementptr i8, ptr %graph, i64 {CONTEXT}
  %context = load ptr, ptr %context.at
  %at.texts = getelementptr i8, ptr %context, i64 {abi.TEXTS}
  %known = load ptr, ptr %at.texts
  %fresh = icmp eq ptr %known, null
  br i1 %fresh, label %make, label %ask
make:
  %made = call ptr @PyObject_Vectorcall(ptr @pb.new_texts, ptr null, i64 0, ptr null)
  %none = icmp eq ptr %made, null
  br i1 %none, label %failed, label %keep
keep:
  store ptr %made, ptr %at.texts
  br label %ask
ask:
  %texts = phi ptr [ %known, %0 ], [ %made, %keep ]
  store ptr %texts, ptr %arguments
  %second = getelementptr i8, ptr %arguments, i64 8
  store ptr %object, ptr %second
  %number = call ptr @PyObject_Vectorcall(ptr @pb.keep_text, ptr %arguments, i64 2, ptr null)
  %no = icmp eq ptr %number, null
  br i1 %no, label %failed, label %take
take:
  %address = call i64 @PyLong_AsLongLong(ptr %number)
  call void @Py_DecRef(ptr %number)
  ret i64 %address
failed:
  call void @PyErr_Clear()
  ret i64 0
}}

define i64 @pb.set_place(ptr %states, i64 %size, i64 %mask, i64 %hash) nounwind memory(argmem: read) {{
entry:
  %start = and i64 %hash, %mask
  br label %jump
jump:
  %place = phi i64 [ %start, %entry ], [ %place1, %onward ]
  %rest = phi i64 [ %hash, %entry ], [ %rest1, %onward ]
  %far = add i64 %place, 9
  %inside = icmp ule i64 %far, %mask
  %last = select i1 %inside, i64 %far, i64 %place
  br label %look
look:
  %k = phi i64 [ %place, %jump ], [ %k1, %next ]
  %offset = mul i64 %k, %size
  %at = getelementptr i8, ptr %states, i64 %offset
  %state = load i64, ptr %at
  %empty = icmp eq i64 %state, 0
  br i1 %empty, label %found, label %next
next:
  %k1 = add i64 %k, 1
  %more = icmp ule i64 %k1, %last
  br i1 %more, label %look, label %onward
onward:
  %rest1 = lshr i64 %rest, 5
  %five = mul i64 %place, 5
  %one = add i64 %five, 1
  %sum = add i64 %one, %rest1
  %place1 = and i64 %sum, %mask
  br label %jump
found:
  ret i64 %k
}}

define internal void @pb.drop_objects(ptr %data, i64 %count) nounwind {{
entry:
  %last = sub i64 %count, 1
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %i1, %step ]
  %done = icmp uge i64 %i, %count
  br i1 %done, label %out, label %look
look:
  %later = add i64 %i, {_AHEAD}
  %soon = call i64 @llvm.smin.i64(i64 %later, i64 %last)
  %soon.at = getelementptr ptr, ptr %data, i64 %soon
  %soon.object = load ptr, ptr %soon.at
  call void @llvm.prefetch.p0(ptr %soon.object, i32 1, i32 3, i32 1)
  %place = getelementptr ptr, ptr %data, i64 %i
  %object = load ptr, ptr %place
  %none = icmp eq ptr %object, null
  br i1 %none, label %step, label %drop
drop:
  store ptr null, ptr %place
  call void @pb.drop(ptr %object)
  br label %step
step:
  %i1 = add i64 %i, 1
  br label %loop
out:
  ret void
}}

; the end of an image of a packed object (see `images`)
define void @pb.image_dropped(ptr %capsule) nounwind {{
  %block = call ptr @PyCapsule_GetPointer(ptr %capsule, ptr null)
  %at.count = getelementptr i8, ptr %block, i64 8
  %count = load i64, ptr %at.count
  %at.heaps = getelementptr i8, ptr %block, i64 24
  %heaps = load i64, ptr %at.heaps
  %bytes = mul i64 %heaps, 16
  %offset = add i64 %bytes, 32
  %first = getelementptr i8, ptr %block, i64 %offset
  call void @pb.drop_objects(ptr %first, i64 %count)
  call void @PyMem_RawFree(ptr %block)
  ret void
}}

define void @pb.graph_drop(ptr %graph, i64 %heaps) nounwind {{
entry:
  %at.kept = getelementptr i8, ptr %graph, i64 {KEPT}
  %at.count = getelementptr i8, ptr %graph, i64 {KEPT_COUNT}
  %kept = load ptr, ptr %at.kept
  %count = load i64, ptr %at.count
  call void @pb.drop_objects(ptr %kept, i64 %count)
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %i1, %step ]
  %done = icmp uge i64 %i, %heaps
  br i1 %done, label %out, label %step
step:
  %record = call ptr @pb.graph_heap(ptr %graph, i64 %i)
  %at.objects = getelementptr i8, ptr %record, i64 {OBJECTS}
  %at.rows = getelementptr i8, ptr %record, i64 {COUNT}
  %objects = load ptr, ptr %at.objects
  %rows = load i64, ptr %at.rows
  call void @pb.drop_objects(ptr %objects, i64 %rows)
  %i1 = add i64 %i, 1
  br label %loop
out:
  ret void
}}
"""

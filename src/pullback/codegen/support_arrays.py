"""The part of the native library that makes NumPy arrays of results, as LLVM text.

    pb.array(context, handed, candidates, count, data, type, item, rank, sizes, steps) -> object

    pb.whole(candidates, count, data, rank, sizes, steps) -> the structured array that is exactly this one, or null

pb.array gives, for memory described by data, sizes and steps (in bytes),

    the caller's array itself, if one of the candidates is exactly this array
    a view of a candidate, if the memory lies inside it
    an array over native memory, whose block then belongs to a capsule (its base) and is freed with it
    a copy, for memory of any other kind (constants of the code)

`handed` lists the blocks given away in this call: a count, then (block, capsule) pairs.  `pb.settle` unlinks them from
the context and frees the others.
"""

from __future__ import annotations

import numpy as np

from pullback.codegen import abi
from pullback.runtime import layout

__all__ = ["ARRAYS", "handed_size"]


def handed_size(arrays: int) -> int:
    """Bytes of the record `handed` for a result of so many arrays."""
    return 8 + 16 * arrays


ARRAYS = f"""
@pb.blocks = global i64 0
@pb.block_name = internal constant [15 x i8] c"pullback.block\\00"

define internal void @pb.block_dropped(ptr %capsule) nounwind {{
  %block = call ptr @PyCapsule_GetPointer(ptr %capsule, ptr @pb.block_name)
  %before = load i64, ptr @pb.blocks
  %after = sub i64 %before, 1
  store i64 %after, ptr @pb.blocks
  call void @pb.release(ptr %block)
  ret void
}}

; the block of the context's list that holds an address
define internal ptr @pb.find(ptr %context, ptr %address) nounwind {{
entry:
  %head = getelementptr i8, ptr %context, i64 {abi.LIST}
  %first = load ptr, ptr %head
  br label %loop
loop:
  %block = phi ptr [ %first, %entry ], [ %next, %step ]
  %none = icmp eq ptr %block, null
  br i1 %none, label %out, label %look
look:
  %p3 = getelementptr i8, ptr %block, i64 -8
  %size = load i64, ptr %p3
  %end = getelementptr i8, ptr %block, i64 %size
  %from = icmp uge ptr %address, %block
  %to = icmp ult ptr %address, %end
  %inside = and i1 %from, %to
  %start = icmp eq ptr %address, %block
  %found = or i1 %inside, %start
  br i1 %found, label %out, label %step
step:
  %p0 = getelementptr i8, ptr %block, i64 -32
  %next = load ptr, ptr %p0
  br label %loop
out:
  ret ptr %block
}}

; bytes from the lowest element to the end of the highest one, and from the lowest to the first; none if there are none
define internal {{i64, i64}} @pb.extent(i64 %rank, i64 %item, ptr %sizes, ptr %steps) nounwind {{
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %i1, %next ]
  %above = phi i64 [ %item, %entry ], [ %above1, %next ]
  %below = phi i64 [ 0, %entry ], [ %below1, %next ]
  %done = icmp eq i64 %i, %rank
  br i1 %done, label %out, label %look
look:
  %ps = getelementptr i64, ptr %sizes, i64 %i
  %size = load i64, ptr %ps
  %pt = getelementptr i64, ptr %steps, i64 %i
  %step = load i64, ptr %pt
  %empty = icmp eq i64 %size, 0
  br i1 %empty, label %nothing, label %next
next:
  %last = sub i64 %size, 1
  %reach = mul i64 %last, %step
  %up = call i64 @llvm.smax.i64(i64 %reach, i64 0)
  %down = call i64 @llvm.smin.i64(i64 %reach, i64 0)
  %above1 = add i64 %above, %up
  %below1 = sub i64 %below, %down
  %i1 = add i64 %i, 1
  br label %loop
out:
  %all = add i64 %above, %below
  %r1 = insertvalue {{i64, i64}} poison, i64 %all, 0
  %r2 = insertvalue {{i64, i64}} %r1, i64 %below, 1
  ret {{i64, i64}} %r2
nothing:
  ret {{i64, i64}} zeroinitializer
}}

; is the object exactly this array?  A step matters only along an axis of several elements of an array that has any.
define internal i1 @pb.same(ptr %object, ptr %data, i32 %type, i64 %rank, ptr %sizes, ptr %steps, i1 %empty) nounwind {{
entry:
  %p.data = getelementptr i8, ptr %object, i64 {layout.ARRAY_DATA}
  %data1 = load ptr, ptr %p.data
  %p.rank = getelementptr i8, ptr %object, i64 {layout.ARRAY_RANK}
  %rank1 = load i32, ptr %p.rank
  %rank2 = zext i32 %rank1 to i64
  %p.descr = getelementptr i8, ptr %object, i64 {layout.ARRAY_DESCR}
  %descr = load ptr, ptr %p.descr
  %p.type = getelementptr i8, ptr %descr, i64 {layout.DESCR_TYPE_NUMBER}
  %type1 = load i32, ptr %p.type
  %p.sizes = getelementptr i8, ptr %object, i64 {layout.ARRAY_SIZES}
  %sizes1 = load ptr, ptr %p.sizes
  %p.steps = getelementptr i8, ptr %object, i64 {layout.ARRAY_STRIDES}
  %steps1 = load ptr, ptr %p.steps
  %e1 = icmp eq ptr %data1, %data
  %e2 = icmp eq i64 %rank2, %rank
  %e3 = icmp eq i32 %type1, %type
  %e4 = and i1 %e1, %e2
  %e5 = and i1 %e4, %e3
  br i1 %e5, label %loop, label %no
loop:
  %i = phi i64 [ 0, %entry ], [ %i1, %look ]
  %done = icmp eq i64 %i, %rank
  br i1 %done, label %yes, label %look
look:
  %q0 = getelementptr i64, ptr %sizes, i64 %i
  %q1 = getelementptr i64, ptr %sizes1, i64 %i
  %q2 = getelementptr i64, ptr %steps, i64 %i
  %q3 = getelementptr i64, ptr %steps1, i64 %i
  %size = load i64, ptr %q0
  %size1 = load i64, ptr %q1
  %step = load i64, ptr %q2
  %step1 = load i64, ptr %q3
  %f1 = icmp eq i64 %size, %size1
  %f2 = icmp eq i64 %step, %step1
  %f3 = icmp ult i64 %size, 2
  %f6 = or i1 %f3, %empty
  %f4 = or i1 %f2, %f6
  %f5 = and i1 %f1, %f4
  %i1 = add i64 %i, 1
  br i1 %f5, label %loop, label %no
yes:
  ret i1 true
no:
  ret i1 false
}}

; does the memory of the array `object` hold the address?
define internal i1 @pb.inside(ptr %object, ptr %address) nounwind {{
  %p.data = getelementptr i8, ptr %object, i64 {layout.ARRAY_DATA}
  %data = load ptr, ptr %p.data
  %p.rank = getelementptr i8, ptr %object, i64 {layout.ARRAY_RANK}
  %rank = load i32, ptr %p.rank
  %wide = zext i32 %rank to i64
  %p.sizes = getelementptr i8, ptr %object, i64 {layout.ARRAY_SIZES}
  %sizes = load ptr, ptr %p.sizes
  %p.steps = getelementptr i8, ptr %object, i64 {layout.ARRAY_STRIDES}
  %steps = load ptr, ptr %p.steps
  %p.descr = getelementptr i8, ptr %object, i64 {layout.ARRAY_DESCR}
  %descr = load ptr, ptr %p.descr
  %p.item = getelementptr i8, ptr %descr, i64 {layout.DESCR_ITEM}
  %short = load i32, ptr %p.item
  %own = zext i32 %short to i64
  %extent = call {{i64, i64}} @pb.extent(i64 %wide, i64 %own, ptr %sizes, ptr %steps)
  %bytes = extractvalue {{i64, i64}} %extent, 0
  %before = extractvalue {{i64, i64}} %extent, 1
  %negative = sub i64 0, %before
  %low = getelementptr i8, ptr %data, i64 %negative
  %high = getelementptr i8, ptr %low, i64 %bytes
  %from = icmp uge ptr %address, %low
  %to = icmp ult ptr %address, %high
  %both = and i1 %from, %to
  ret i1 %both
}}

; a view of memory that `base` keeps alive; takes over the reference to base
define internal ptr @pb.view(ptr %data, i32 %type, i64 %rank, ptr %sizes, ptr %steps, i32 %flags, ptr %base) nounwind {{
  %short = trunc i64 %rank to i32
  %array = call ptr @PyArray_New(ptr @pb.ndarray, i32 %short, ptr %sizes, i32 %type, ptr %steps, ptr %data,
    i32 0, i32 %flags, ptr null)
  %failed = icmp eq ptr %array, null
  br i1 %failed, label %drop, label %fine
drop:
  call void @Py_DecRef(ptr %base)
  ret ptr null
fine:
  %status = call i32 @PyArray_SetBaseObject(ptr %array, ptr %base)
  %bad = icmp ne i32 %status, 0
  br i1 %bad, label %undo, label %out
undo:
  call void @Py_DecRef(ptr %array)
  ret ptr null
out:
  ret ptr %array
}}

; a capsule that frees the block: one for each block, however many results lie in it.  A new reference.
define internal ptr @pb.keeper(ptr %handed, ptr %block) nounwind {{
entry:
  %count = load i64, ptr %handed
  %pairs = getelementptr i8, ptr %handed, i64 8
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %i1, %step ]
  %pair = getelementptr {{ptr, ptr}}, ptr %pairs, i64 %i
  %second = getelementptr i8, ptr %pair, i64 8
  %done = icmp eq i64 %i, %count
  br i1 %done, label %new, label %look
look:
  %known = load ptr, ptr %pair
  %same = icmp eq ptr %known, %block
  br i1 %same, label %old, label %step
step:
  %i1 = add i64 %i, 1
  br label %loop
old:
  %capsule0 = load ptr, ptr %second
  call void @Py_IncRef(ptr %capsule0)
  ret ptr %capsule0
new:
  %capsule = call ptr @PyCapsule_New(ptr %block, ptr @pb.block_name, ptr @pb.block_dropped)
  %failed = icmp eq ptr %capsule, null
  br i1 %failed, label %out, label %note
note:
  store ptr %block, ptr %pair
  store ptr %capsule, ptr %second
  %more = add i64 %count, 1
  store i64 %more, ptr %handed
  %before = load i64, ptr @pb.blocks
  %after = add i64 %before, 1
  store i64 %after, ptr @pb.blocks
  br label %out
out:
  ret ptr %capsule
}}

; the candidate that is a structured array in this memory (borrowed), or null
define ptr @pb.whole(ptr %candidates, i64 %count, ptr %data, i64 %rank, ptr %sizes, ptr %steps) nounwind {{
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %i1, %next ]
  %done = icmp eq i64 %i, %count
  br i1 %done, label %out, label %look
look:
  %place = getelementptr ptr, ptr %candidates, i64 %i
  %candidate = load ptr, ptr %place
  %is = call i1 @pb.same(ptr %candidate, ptr %data, i32 {np.dtype("V1").num}, i64 %rank, ptr %sizes, ptr %steps,
    i1 false)
  br i1 %is, label %out, label %next
next:
  %i1 = add i64 %i, 1
  br label %loop
out:
  %found = phi ptr [ null, %loop ], [ %candidate, %look ]
  ret ptr %found
}}

; steps may be null, for a contiguous result
define ptr @pb.array(ptr %context, ptr %handed, ptr %candidates, i64 %count, ptr %data, i32 %type, i64 %item,
    i64 %rank, ptr %sizes, ptr %given) nounwind {{
entry:
  %own = alloca [64 x i64]
  %strided = icmp ne ptr %given, null
  br i1 %strided, label %ready, label %fill
fill:
  %j = phi i64 [ %rank, %entry ], [ %j1, %fill.next ]
  %step = phi i64 [ %item, %entry ], [ %step1, %fill.next ]
  %filled = icmp eq i64 %j, 0
  br i1 %filled, label %ready, label %fill.next
fill.next:
  %j1 = sub i64 %j, 1
  %fs = getelementptr i64, ptr %sizes, i64 %j1
  %size = load i64, ptr %fs
  %ft = getelementptr i64, ptr %own, i64 %j1
  store i64 %step, ptr %ft
  %step1 = mul i64 %step, %size
  br label %fill
ready:
  %steps = phi ptr [ %given, %entry ], [ %own, %fill ]
  %extent = call {{i64, i64}} @pb.extent(i64 %rank, i64 %item, ptr %sizes, ptr %steps)
  %bytes = extractvalue {{i64, i64}} %extent, 0
  %empty = icmp eq i64 %bytes, 0
  br label %same
same:
  %i = phi i64 [ 0, %ready ], [ %i1, %same.next ]
  %done = icmp eq i64 %i, %count
  br i1 %done, label %other, label %same.look
same.look:
  %pc = getelementptr ptr, ptr %candidates, i64 %i
  %candidate = load ptr, ptr %pc
  %is = call i1 @pb.same(ptr %candidate, ptr %data, i32 %type, i64 %rank, ptr %sizes, ptr %steps, i1 %empty)
  br i1 %is, label %found, label %same.next
same.next:
  %i1 = add i64 %i, 1
  br label %same
found:
  call void @Py_IncRef(ptr %candidate)
  ret ptr %candidate
other:
  %short = trunc i64 %rank to i32
  br i1 %empty, label %nothing, label %inside
nothing:
  %array0 = call ptr @PyArray_New(ptr @pb.ndarray, i32 %short, ptr %sizes, i32 %type, ptr null, ptr null,
    i32 0, i32 0, ptr null)
  ret ptr %array0
inside:
  %k = phi i64 [ 0, %other ], [ %k1, %inside.next ]
  %done2 = icmp eq i64 %k, %count
  br i1 %done2, label %native, label %inside.look
inside.look:
  %pd = getelementptr ptr, ptr %candidates, i64 %k
  %owner = load ptr, ptr %pd
  %in = call i1 @pb.inside(ptr %owner, ptr %data)
  br i1 %in, label %part, label %inside.next
inside.next:
  %k1 = add i64 %k, 1
  br label %inside
part:
  %p.flags = getelementptr i8, ptr %owner, i64 {layout.ARRAY_FLAGS}
  %flags = load i32, ptr %p.flags
  %writeable = and i32 %flags, {layout.WRITEABLE}
  call void @Py_IncRef(ptr %owner)
  %array1 = call ptr @pb.view(ptr %data, i32 %type, i64 %rank, ptr %sizes, ptr %steps, i32 %writeable, ptr %owner)
  ret ptr %array1
native:
  %block = call ptr @pb.find(ptr %context, ptr %data)
  %foreign = icmp eq ptr %block, null
  br i1 %foreign, label %copy, label %hand
hand:
  %capsule = call ptr @pb.keeper(ptr %handed, ptr %block)
  %failed = icmp eq ptr %capsule, null
  br i1 %failed, label %bad, label %wrap
wrap:
  %array2 = call ptr @pb.view(ptr %data, i32 %type, i64 %rank, ptr %sizes, ptr %steps,
    i32 {layout.WRITEABLE}, ptr %capsule)
  ret ptr %array2
copy:
  %array3 = call ptr @PyArray_New(ptr @pb.ndarray, i32 %short, ptr %sizes, i32 %type, ptr %steps, ptr %data,
    i32 0, i32 0, ptr null)
  %failed3 = icmp eq ptr %array3, null
  br i1 %failed3, label %bad, label %copied
copied:
  %array4 = call ptr @PyArray_NewCopy(ptr %array3, i32 0)
  call void @Py_DecRef(ptr %array3)
  ret ptr %array4
bad:
  ret ptr null
}}

; memory handed to Python leaves the context, the rest is freed
define void @pb.settle(ptr %context, ptr %handed) nounwind {{
entry:
  %none = icmp eq ptr %handed, null
  br i1 %none, label %rest, label %some
some:
  %count = load i64, ptr %handed
  %pairs = getelementptr i8, ptr %handed, i64 8
  br label %loop
loop:
  %i = phi i64 [ 0, %some ], [ %i1, %step ]
  %done = icmp eq i64 %i, %count
  br i1 %done, label %rest, label %step
step:
  %pair = getelementptr {{ptr, ptr}}, ptr %pairs, i64 %i
  %block = load ptr, ptr %pair
  call void @pb.detach(ptr %context, ptr %block)
  %i1 = add i64 %i, 1
  br label %loop
rest:
  call void @pb.drop_texts(ptr %context)
  call void @pb.free_all(ptr %context)
  ret void
}}
"""

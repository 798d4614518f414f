"""LLVM text of where memory comes from: blocks that were given back, kept for the next requests.

    pb.take    a block, kept or new    pb.with_header    how large it is
    pb.give    one back                pb.begin          where the data begin in it

Large allocations begin at places of a page that differ from one to the next, and from where malloc begins (as NumPy's
arrays do): a processor compares the lowest 12 bits of the address of a load with those of stores under way, and a loop
over arrays that begin at about the same place of a page waits for stores to arrays that it does not read, up to half
of its time.
"""

from __future__ import annotations

__all__ = ["POOL"]

_POOLED_FROM, _POOLED_TO, _POOL_LIMIT = 1 << 7, 128 << 20, 128 << 20
_PAGE, _SPREAD_FROM, _FIRST_PLACE, _PLACES, _STRIDE = 4096, 1 << 15, 0x400, 8, 0x180  # in bytes; how many places
# Size classes: four to each power of two.  The lock is held for a few instructions.
POOL = f"""
@pb.pool = internal global [128 x ptr] zeroinitializer
@pb.pooled = internal global i64 0
@pb.lock = internal global i32 0

define internal {{i64, i64}} @pb.size_class(i64 %total) alwaysinline nounwind memory(none) {{
  %less = sub i64 %total, 1
  %zeros = call i64 @llvm.ctlz.i64(i64 %less, i1 false)
  %shift = sub i64 61, %zeros
  %unit = shl i64 1, %shift
  %mask = sub i64 %unit, 1
  %up = add i64 %total, %mask
  %parts = lshr i64 %up, %shift
  %rounded = shl i64 %parts, %shift
  %four = shl i64 %shift, 2
  %index = add i64 %four, %parts
  %one = insertvalue {{i64, i64}} poison, i64 %index, 0
  %both = insertvalue {{i64, i64}} %one, i64 %rounded, 1
  ret {{i64, i64}} %both
}}

define internal i64 @pb.with_header(i64 %bytes) alwaysinline nounwind memory(none) {{
  %large = icmp uge i64 %bytes, {_SPREAD_FROM}
  %more = select i1 %large, i64 {_PAGE + 64}, i64 128
  %total = add i64 %bytes, %more
  ret i64 %total
}}

define internal ptr @pb.begin(ptr %raw, i64 %bytes, i64 %number) alwaysinline nounwind memory(none) {{
  %turn = and i64 %number, {_PLACES - 1}
  %along = mul i64 %turn, {_STRIDE}
  %place = add i64 %along, {_FIRST_PLACE}
  %large = icmp uge i64 %bytes, {_SPREAD_FROM}
  %mask = select i1 %large, i64 {_PAGE - 1}, i64 63
  %address = ptrtoint ptr %raw to i64
  %headed = add i64 %address, 40
  %far = sub i64 %place, %headed
  %gap = and i64 %far, %mask
  %offset = add i64 %gap, 40
  %data = getelementptr i8, ptr %raw, i64 %offset
  ret ptr %data
}}

define internal void @pb.acquire() alwaysinline nounwind {{
entry:
  br label %try
try:
  %held = atomicrmw xchg ptr @pb.lock, i32 1 acquire
  %busy = icmp ne i32 %held, 0
  br i1 %busy, label %try, label %done
done:
  ret void
}}

define internal i1 @pb.is_pooled(i64 %total) alwaysinline nounwind memory(none) {{
  %past = sub i64 %total, {_POOLED_FROM}
  %pooled = icmp ule i64 %past, {_POOLED_TO - _POOLED_FROM}
  ret i1 %pooled
}}

define internal ptr @pb.take(i64 %total, i1 %zeroed) alwaysinline nounwind {{
  %pooled = call i1 @pb.is_pooled(i64 %total)
  br i1 %pooled, label %look, label %fresh
look:
  %class = call {{i64, i64}} @pb.size_class(i64 %total)
  %index = extractvalue {{i64, i64}} %class, 0
  %rounded = extractvalue {{i64, i64}} %class, 1
  %place = getelementptr [128 x ptr], ptr @pb.pool, i64 0, i64 %index
  call void @pb.acquire()
  %found = load ptr, ptr %place
  %none = icmp eq ptr %found, null
  br i1 %none, label %missed, label %hit
hit:
  %next = load ptr, ptr %found
  store ptr %next, ptr %place
  %kept = load i64, ptr @pb.pooled
  %rest = sub i64 %kept, %rounded
  store i64 %rest, ptr @pb.pooled
  store atomic i32 0, ptr @pb.lock release, align 4
  br i1 %zeroed, label %clear, label %done
clear:
  call void @llvm.memset.p0.i64(ptr %found, i8 0, i64 %total, i1 false)
  br label %done
missed:
  store atomic i32 0, ptr @pb.lock release, align 4
  br label %fresh
fresh:
  %size = phi i64 [ %total, %0 ], [ %rounded, %missed ]
  br i1 %zeroed, label %zeros, label %any
zeros:
  %z = call ptr @calloc(i64 1, i64 %size)
  call void @pb.advise(ptr %z, i64 %size)
  ret ptr %z
any:
  %a = call ptr @malloc(i64 %size)
  call void @pb.advise(ptr %a, i64 %size)
  ret ptr %a
done:
  ret ptr %found
}}

define internal void @pb.give(ptr %raw, i64 %total) alwaysinline nounwind {{
  %pooled = call i1 @pb.is_pooled(i64 %total)
  br i1 %pooled, label %look, label %release
look:
  %class = call {{i64, i64}} @pb.size_class(i64 %total)
  %index = extractvalue {{i64, i64}} %class, 0
  %rounded = extractvalue {{i64, i64}} %class, 1
  %place = getelementptr [128 x ptr], ptr @pb.pool, i64 0, i64 %index
  call void @pb.acquire()
  %kept = load i64, ptr @pb.pooled
  %sum = add i64 %kept, %rounded
  %fits = icmp ule i64 %sum, {_POOL_LIMIT}
  br i1 %fits, label %keep, label %full
keep:
  store i64 %sum, ptr @pb.pooled
  %next = load ptr, ptr %place
  store ptr %next, ptr %raw
  store ptr %raw, ptr %place
  store atomic i32 0, ptr @pb.lock release, align 4
  ret void
full:
  store atomic i32 0, ptr @pb.lock release, align 4
  br label %release
release:
  call void @free(ptr %raw)
  ret void
}}
"""

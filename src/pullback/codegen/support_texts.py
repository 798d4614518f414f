"""How compiled code asks for strings: a part of the native library, as LLVM text.

    pb.text_call(context, spec, bytes of spec, words) -> status

takes operands from the context's payload and leaves the result in its first word.  It calls `runtime.texts.dispatch`,
on the caller's stack where the program runs on a private one.  The first call of a context makes its `Texts`, and a
block of memory, so that the context is settled at the end.
"""

from __future__ import annotations

from pullback.codegen import abi
from pullback.prims.text import MOST_CELLS

__all__ = ["TEXTS"]

_FIRST = 2  # arguments of `dispatch` before the words


def _boxing() -> str:
    return f"""  br label %loop
loop:
  %i = phi i64 [ 0, %ready ], [ %i1, %box ]
  %boxed_all = icmp eq i64 %i, %count
  br i1 %boxed_all, label %ask, label %box
box:
  %word_at = getelementptr i64, ptr %payload, i64 %i
  %word = load i64, ptr %word_at
  %number = call ptr @PyLong_FromLongLong(i64 %word)
  %place_number = add i64 %i, {_FIRST}
  %place = getelementptr ptr, ptr %arguments, i64 %place_number
  store ptr %number, ptr %place
  %i1 = add i64 %i, 1
  br label %loop"""


TEXTS = f"""
define internal void @pb.text_run(ptr %record) nounwind noinline {{
  %arguments = alloca [{_FIRST + MOST_CELLS} x ptr]
  %context = load ptr, ptr %record
  call void @pb.hold(ptr %context)
  %spec_at = getelementptr i8, ptr %record, i64 8
  %spec = load ptr, ptr %spec_at
  %size_at = getelementptr i8, ptr %record, i64 16
  %size = load i64, ptr %size_at
  %count_at = getelementptr i8, ptr %record, i64 24
  %count = load i64, ptr %count_at
  %payload = getelementptr i8, ptr %context, i64 {abi.PAYLOAD}
  %texts_at = getelementptr i8, ptr %context, i64 {abi.TEXTS}
  %known = load ptr, ptr %texts_at
  %fresh = icmp eq ptr %known, null
  br i1 %fresh, label %make, label %named
make:
  %made = call ptr @PyObject_Vectorcall(ptr @pb.new_texts, ptr %arguments, i64 0, ptr null)
  %none = icmp eq ptr %made, null
  br i1 %none, label %failed, label %keep
keep:
  store ptr %made, ptr %texts_at
  %block = call ptr @pb.alloc(ptr %context, i64 8)
  br label %named
named:
  %texts = phi ptr [ %known, %0 ], [ %made, %keep ]
  store ptr %texts, ptr %arguments
  %name = call ptr @PyUnicode_FromStringAndSize(ptr %spec, i64 %size)
  %nameless = icmp eq ptr %name, null
  br i1 %nameless, label %failed, label %ready
ready:
  %name_at = getelementptr ptr, ptr %arguments, i64 1
  store ptr %name, ptr %name_at
{_boxing()}
ask:
  %given = add i64 %count, {_FIRST}
  %answer = call ptr @PyObject_Vectorcall(ptr @pb.text_dispatch, ptr %arguments, i64 %given, ptr null)
  br label %drop
drop:
  %j = phi i64 [ 1, %ask ], [ %j1, %dropping ]
  %dropped = icmp eq i64 %j, %given
  br i1 %dropped, label %look, label %dropping
dropping:
  %old_at = getelementptr ptr, ptr %arguments, i64 %j
  %old = load ptr, ptr %old_at
  call void @Py_DecRef(ptr %old)
  %j1 = add i64 %j, 1
  br label %drop
look:
  %no_answer = icmp eq ptr %answer, null
  br i1 %no_answer, label %failed, label %take
take:
  %value = call i64 @PyLong_AsLongLong(ptr %answer)
  call void @Py_DecRef(ptr %answer)
  store i64 %value, ptr %payload
  store i64 {abi.FINE}, ptr %size_at
  ret void
failed:
  store i64 {abi.EXCEPTION}, ptr %size_at
  ret void
}}

define i32 @pb.text_call(ptr %context, ptr %spec, i64 %size, i64 %count) nounwind noinline {{
  %record = alloca [4 x i64], align 16
  store ptr %context, ptr %record
  %spec_at = getelementptr i8, ptr %record, i64 8
  store ptr %spec, ptr %spec_at
  %size_at = getelementptr i8, ptr %record, i64 16
  store i64 %size, ptr %size_at
  %count_at = getelementptr i8, ptr %record, i64 24
  store i64 %count, ptr %count_at
  %stack_at = getelementptr i8, ptr %context, i64 {abi.CALLER_STACK}
  %caller = load ptr, ptr %stack_at
  %here = icmp eq ptr %caller, null
  br i1 %here, label %direct, label %switched
direct:
  call void @pb.text_run(ptr %record)
  br label %done
switched:
  %below = getelementptr i8, ptr %caller, i64 -256
  %top = call ptr @llvm.ptrmask.p0.i64(ptr %below, i64 -64)
  call void @pb.on_stack(ptr %top, ptr @pb.text_run, ptr %record)
  br label %done
done:
  %status = load i64, ptr %size_at
  %short = trunc i64 %status to i32
  ret i32 %short
}}

; gives back the strings of a context
define internal void @pb.drop_texts(ptr %context) nounwind {{
  %texts_at = getelementptr i8, ptr %context, i64 {abi.TEXTS}
  %texts = load ptr, ptr %texts_at
  %none = icmp eq ptr %texts, null
  br i1 %none, label %out, label %some
some:
  store ptr null, ptr %texts_at
  call void @Py_DecRef(ptr %texts)
  br label %out
out:
  ret void
}}
"""

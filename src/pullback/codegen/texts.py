"""Strings: every op is a call of `pb.text_call` with a specification and machine words.

    t = text_call{function: "format", ...}(x)    ->    words into the context's payload;  @pb.text_call(context, spec)
"""

from __future__ import annotations

from pullback.codegen import abi
from pullback.codegen.arrays import sizes_of, strides_of
from pullback.codegen.scalars import cast
from pullback.codegen.writer import CONTEXT, FunctionWriter, machine
from pullback.ir.node import Op, Value
from pullback.runtime.texts import specification
from pullback.types import ArrayRef, DType, Scalar

__all__ = ["RULES"]

_SYMBOL = "@pb.text_call"
_DECLARATION = f"declare i32 {_SYMBOL}(ptr, ptr, i64, i64) nounwind"
_LETTERS = {DType.F64: "d", DType.BOOL: "b"}


def _text(w: FunctionWriter, op: Op) -> None:
    cells = [cell for value in op.operands for cell in _cells(w, value)]
    for i, cell in enumerate(cells):
        w.do(f"store i64 {cell}, ptr {w.offset('%context', abi.PAYLOAD + 8 * i)}{CONTEXT}")
    kinds = op.attrs["kinds"]
    assert isinstance(kinds, tuple)
    spec = specification(str(op.attrs["function"]), kinds, _result_kind(op), str(op.attrs.get("constant", "")))
    w.module.declare(_SYMBOL, _DECLARATION)
    name, size = _constant(w, spec)
    status = w.set(f"call i32 {_SYMBOL}(ptr %context, ptr {name}, i64 {size}, i64 {len(cells)})")
    w.fail_if(w.set(f"icmp ne i32 {status}, 0"), status)
    if op.results:
        found = w.set(f"load i64, ptr {w.offset('%context', abi.PAYLOAD)}{CONTEXT}")
        w.pieces[op.result] = (_narrowed(w, op.result, found),)


def _result_kind(op: Op) -> str:
    """How the result is handed over; a string and an int are both an i64."""
    if not op.results:
        return ""
    if op.attrs.get("text"):
        return "t"
    type_ = machine(op.result)
    assert isinstance(type_, Scalar)
    return _LETTERS.get(type_.dtype, "i")


def _cells(w: FunctionWriter, value: Value) -> list[str]:
    type_ = machine(value)
    if isinstance(type_, ArrayRef):
        return [w.set(f"ptrtoint ptr {w.only(value)} to i64"), *sizes_of(w, value), *strides_of(w, value)]
    assert isinstance(type_, Scalar)
    piece = w.only(value)
    if type_.dtype.is_float:
        return [w.set(f"bitcast double {cast(w, piece, type_.dtype, DType.F64)} to i64")]
    return [cast(w, piece, type_.dtype, DType.I64)]


def _narrowed(w: FunctionWriter, result: Value, word: str) -> str:
    type_ = machine(result)
    assert isinstance(type_, Scalar)
    if type_.dtype is DType.BOOL:
        return w.set(f"trunc i64 {word} to i1")
    if type_.dtype is DType.F64:
        return w.set(f"bitcast i64 {word} to double")
    return word


def _constant(w: FunctionWriter, text: str) -> tuple[str, int]:
    """A constant of the module with the bytes of a text."""
    data = text.encode()
    name = w.module.bytes(data)
    return name, len(data)


RULES = {"text_call": _text, "text_effect": _text}

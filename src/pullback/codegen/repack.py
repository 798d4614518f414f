"""From machine values to Python objects: the end of an entry.

    Number(f64) -> float      Number(f64, weak=False) -> np.float64      Array -> ndarray      Union -> by its tag
    Tuple, List, Dict         made first and put where they belong, then filled: on a failure the root frees everything

An array that lies in an argument's memory comes back as that argument or as a view of it; native memory is handed over
without a copy (`support_arrays`).
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pullback.codegen.native import Text
from pullback.diagnostic import CompileError, Diagnostic, InternalError, Span
from pullback.runtime import layout
from pullback.runtime.boundary import ABSENT, Boundary
from pullback.types import (
    Array,
    Constant,
    Dict,
    DType,
    List,
    Never,
    NoneType,
    Number,
    Str,
    Tuple,
    Type,
    Union,
    show,
    slot_positions,
    slots,
)

__all__ = ["Packer", "array_count"]

_STORED = {DType.I32: "i32", DType.I64: "i64", DType.F32: "float", DType.F64: "double"}


def array_count(type_: Type) -> int:
    """How many arrays a value of the type may hold, at most."""
    match type_:
        case Array():
            return 1
        case Tuple(items) | List(items) | Dict(_, items):
            return sum(map(array_count, items))
        case Union(members):
            return sum(map(array_count, members))
    return 0


@dataclass(frozen=True, slots=True)
class Arrays:
    """What `pb.array` needs: the context, the record of handed blocks, and the caller's arrays."""

    context: str
    handed: str
    candidates: str
    count: int


@dataclass(slots=True)
class Packer:
    """Writes the construction of a result into `text`; failures (an exception is set) jump to `failed`."""

    text: Text
    boundary: Boundary
    arrays: Arrays
    span: Span
    failed: str = "unpacked"

    def put(self, type_: Type, values: Sequence[Sequence[str]], place: str) -> None:
        """Make the object of machine values (one sequence of pieces per slot) and store it at an address."""
        match type_:
            case Number():
                self._store(self._number(type_, values[0][0]), place)
            case Array():
                self._store(self._array(type_, values[0]), place)
            case Tuple(items):
                self._tuple(items, values, place)
            case List(items):
                self._list(items, values, place)
            case Dict(keys, items):
                self._dict(keys, items, values, place)
            case Union():
                self._union(type_, values, place)
            case Constant(value):
                self._constant(value, place)
            case NoneType():
                self._constant(None, place)
            case Str(content):
                self._constant(content, place)
            case Never():
                raise InternalError(f"{self.boundary.name}: a value of no type")
            case _:
                self._constant(self._object_of(type_), place)

    def _store(self, value: str, place: str) -> None:
        text = self.text
        text.require(text.set(f"icmp ne ptr {value}, null"), self.failed)
        text.store("ptr", value, place)

    def _object_of(self, type_: Type) -> object:
        known = self.boundary.object_of(type_)
        if known is ABSENT or slots(type_):
            title = f"{self.boundary.name} returns a {show(type_)}, which cannot leave compiled code"
            hint = "return numbers, arrays, or tuples, lists or dicts of them"
            raise CompileError(Diagnostic(title, self.span, help=hint))
        return known

    def _constant(self, value: object, place: str) -> None:
        text = self.text
        symbol = text.symbol(value)
        text.call("void", "Py_IncRef", f"ptr {symbol}")
        text.store("ptr", symbol, place)

    # --------------------------------------------------------------------------------------------------- numbers

    def _number(self, type_: Number, value: str) -> str:
        if type_.dtype is DType.BOOL:
            return self._bool((True, False) if type_.weak else (np.True_, np.False_), value)
        if not type_.weak:
            return self._strong(type_.dtype, value)
        if type_.dtype is DType.F64:
            return self.text.call("ptr", "PyFloat_FromDouble", f"double {value}")
        if type_.dtype is DType.I64:
            return self.text.call("ptr", "PyLong_FromLongLong", f"i64 {value}")
        raise InternalError(f"{self.boundary.name}: a Python number of dtype {type_.dtype}")

    def _bool(self, pair: tuple[object, object], value: str) -> str:
        text = self.text
        yes, no = (text.symbol(item) for item in pair)
        chosen = text.set(f"select i1 {value}, ptr {yes}, ptr {no}")
        text.call("void", "Py_IncRef", f"ptr {chosen}")
        return chosen

    def _strong(self, dtype: DType, value: str) -> str:
        """A NumPy scalar: its type's allocator, then the value."""
        text = self.text
        kind = text.symbol(layout.NUMPY_SCALARS[dtype])
        made = text.call("ptr", f"pb.new.{dtype.value}", f"ptr {kind}", "i64 0")
        text.require(text.set(f"icmp ne ptr {made}, null"), self.failed)
        text.store(_STORED[dtype], value, made, layout.NUMPY_VALUE)
        return made

    # ---------------------------------------------------------------------------------------- arrays, containers

    def _array(self, type_: Array, pieces: Sequence[str]) -> str:
        text = self.text
        descr = np.dtype(layout.NUMPY_SCALARS[type_.dtype])
        sizes, steps = "null", "null"
        if type_.rank:
            sizes = self._vector(pieces[1 : 1 + type_.rank])
            if not type_.contiguous:
                steps = self._vector(pieces[1 + type_.rank :])
        known = self.arrays
        return text.call(
            "ptr",
            "pb.array",
            *(f"ptr {known.context}", f"ptr {known.handed}", f"ptr {known.candidates}", f"i64 {known.count}"),
            *(f"ptr {pieces[0]}", f"i32 {descr.num}", f"i64 {descr.itemsize}"),
            *(f"i64 {type_.rank}", f"ptr {sizes}", f"ptr {steps}"),
        )

    def _vector(self, values: Sequence[str]) -> str:
        place = self.text.slot("i64", len(values))
        for i, value in enumerate(values):
            self.text.store("i64", value, place, 8 * i)
        return place

    def _made(self, function: str, *arguments: str) -> str:
        return self.text.call("ptr", function, *arguments)

    def _tuple(self, items: Sequence[Type], values: Sequence[Sequence[str]], place: str) -> None:
        made = self._made("PyTuple_New", f"i64 {len(items)}")
        self._store(made, place)
        self._fill(items, values, made, layout.TUPLE_ITEMS)

    def _list(self, items: Sequence[Type], values: Sequence[Sequence[str]], place: str) -> None:
        made = self._made("PyList_New", f"i64 {len(items)}")
        self._store(made, place)
        if items:
            self._fill(items, values, self.text.load("ptr", made, layout.LIST_ITEMS), 0)

    def _fill(self, items: Sequence[Type], values: Sequence[Sequence[str]], first: str, offset: int) -> None:
        position = 0
        for i, item in enumerate(items):
            count = len(slots(item))
            self.put(item, values[position : position + count], self.text.at(first, offset + 8 * i))
            position += count

    def _dict(self, keys: Sequence[str], items: Sequence[Type], values: Sequence[Sequence[str]], place: str) -> None:
        """The values wait in a tuple at the dict's place until all of them are there."""
        text = self.text
        self._tuple(items, values, place)
        waiting = text.load("ptr", place)
        table = self._made("PyDict_New")
        text.require(text.set(f"icmp ne ptr {table}, null"), self.failed)
        worst = "0"
        for i, key in enumerate(keys):
            value = text.load("ptr", waiting, layout.TUPLE_ITEMS + 8 * i)
            name = text.symbol(sys.intern(key))
            status = text.call("i32", "PyDict_SetItem", f"ptr {table}", f"ptr {name}", f"ptr {value}")
            worst = text.set(f"or i32 {worst}, {status}")
        text.store("ptr", table, place)
        text.call("void", "Py_DecRef", f"ptr {waiting}")
        text.require(text.set(f"icmp eq i32 {worst}, 0"), self.failed)

    def _union(self, type_: Union, values: Sequence[Sequence[str]], place: str) -> None:
        text = self.text
        labels, after, wrong = [text.label() for _ in type_.members], text.label(), text.label()
        cases = " ".join(f"i64 {i}, label %{label}" for i, label in enumerate(labels))
        text.do(f"switch i64 {values[0][0]}, label %{wrong} [ {cases} ]")
        for member, label in zip(type_.members, labels, strict=True):
            text.begin(label)
            self.put(member, [values[i] for i in slot_positions(type_, member)], place)
            text.jump(after)
        text.begin(wrong)
        message = text.symbol(f"{self.boundary.name}: the tag of a union is out of range")
        text.call("void", "PyErr_SetObject", f"ptr {text.symbol(SystemError)}", f"ptr {message}")
        text.jump(self.failed)
        text.begin(after)

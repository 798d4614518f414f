"""From machine values to Python objects: the end of an entry.

    Number(f64) -> float      Number(f64, weak=False) -> np.float64      Array -> ndarray      Union -> by its tag
    Ref                       the object behind the row (see `graphs`)
    Tuple, List, Dict         made first and put where they belong, then filled: on a failure the root frees everything

An array that lies in an argument's memory comes back as that argument or as a view of it; native memory is handed over
without a copy (`support_arrays`).
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pullback.codegen.abi import MEMORY
from pullback.codegen.native import Text
from pullback.codegen.support_graphs import KEPT, KEPT_COUNT
from pullback.diagnostic import CompileError, Diagnostic, InternalError, Span
from pullback.runtime import layout
from pullback.runtime.boundary import ABSENT, Boundary
from pullback.runtime.closures import Maker
from pullback.runtime.structured import RecordMaker, leaves, leaves_of
from pullback.types import (
    Array,
    Class,
    Closure,
    Complex,
    Constant,
    Dict,
    DType,
    Fixed,
    List,
    Member,
    Never,
    NoneType,
    Number,
    PackedComplex,
    Record,
    Ref,
    Str,
    Transformed,
    Tuple,
    Type,
    Unbound,
    Union,
    show,
    slot_positions,
    slots,
)
from pullback.types import Text as TextType

__all__ = ["Packer", "array_count"]


def array_count(type_: Type) -> int:
    """How many arrays a value of the type may hold, at most."""
    match type_:
        case Array() | PackedComplex():
            return 1
        case Record():
            return sum(1 for _ in leaves_of(type_))
        case Tuple(items) | List(items) | Dict(_, items):
            return sum(map(array_count, items))
        case Union(members):
            return sum(map(array_count, members))
        case Closure() | Transformed():
            return sum(map(array_count, captured_types(type_)))
    return 0


def captured_types(type_: Type) -> tuple[Type, ...]:
    """What a function, perhaps transformed, has captured."""
    while isinstance(type_, Transformed):
        type_ = type_.function
    return type_.captured if isinstance(type_, Closure) else ()


@dataclass(frozen=True, slots=True)
class Arrays:
    """What `pb.array` needs: the context, the record of handed blocks, and the caller's arrays."""

    context: str
    handed: str
    candidates: str
    count: int | str


@dataclass(slots=True)
class Packer:
    """Writes the construction of a result into `text`; failures (an exception is set) jump to `failed`."""

    text: Text
    boundary: Boundary
    arrays: Arrays
    span: Span
    failed: str = "unpacked"
    graph: str = ""
    inside: bool = False  # what is made stays in an object: a function that came from Python may be one like it

    def put(self, type_: Type, values: Sequence[Sequence[str]], place: str) -> None:
        """Make the object of machine values (one sequence of pieces per slot) and store it at an address."""
        match type_:
            case Number():
                self._store(self._number(type_, values[0][0]), place)
            case Fixed(_, of):
                self.put(of, values, place)
            case Array():
                self._store(self._array(type_, values[0]), place)
            case Complex(Number() as part, _):
                self._store(self._complex(part, values[0][0], values[1][0]), place)
            case PackedComplex(array, None):
                self._store(self._complex_array(array, values[0]), place)
            case PackedComplex(array, real):
                self._whole_complex(array, real, values, place)
            case Record():
                self._record(type_, values, place)
            case Tuple(items, python):
                self._tuple(items, values, place, python)
            case Member(python) | Class(python):
                self._constant(python, place)
            case List(items):
                self._list(items, values, place)
            case Dict(keys, items):
                self._dict(keys, items, values, place)
            case Union():
                self._union(type_, values, place)
            case Ref():
                self._store(self._reference(type_, values[0][0]), place)
            case Unbound():
                self.text.store("ptr", "null", place)
            case Constant(value):
                self._constant(value, place)
            case NoneType():
                self._constant(None, place)
            case Str(content):
                self._constant(content, place)
            case TextType():
                self.text.call("void", "Py_IncRef", f"ptr {self._pointer(values[0][0])}")
                self.text.store("i64", values[0][0], place)
            case Closure() | Transformed() if (maker := self._maker(type_)) is not None:
                self._made_function(maker, type_, values, place)
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

    def _pointer(self, word: str) -> str:
        return self.text.set(f"inttoptr i64 {word} to ptr")

    def _reference(self, type_: Ref, row: str) -> str:
        """The object behind a row (see `graphs`)."""
        number = self.boundary.heap_of(type_)
        return self.text.set(f"call ptr @pb.reference.{number}(ptr {self.graph}, i64 {row})")

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
        text.store(MEMORY[dtype], value, made, layout.NUMPY_VALUE)
        return made

    def _complex(self, part: Number, real: str, imag: str) -> str:
        text = self.text
        if part.weak:
            return text.call("ptr", "PyComplex_FromDoubles", f"double {real}", f"double {imag}")
        kind = text.symbol(layout.COMPLEX_SCALARS[part.dtype])
        made = text.call("ptr", f"pb.new.complex.{part.dtype.value}", f"ptr {kind}", "i64 0")
        text.require(text.set(f"icmp ne ptr {made}, null"), self.failed)
        for i, value in enumerate((real, imag)):
            text.store(MEMORY[part.dtype], value, made, layout.NUMPY_VALUE + i * part.dtype.bytes)
        return made

    def _whole_complex(self, pairs: Array, real: Array | None, values: Sequence[Sequence[str]], place: str) -> None:
        """The array that a real part belongs to, where a flag says so, or the one of pairs."""
        assert real is not None
        text = self.text
        there, made, after = text.label(), text.label(), text.label()
        text.branch(values[1][0], there, made)
        text.begin(there)
        pieces, rank = values[2], real.rank
        steps = [] if real.contiguous else pieces[1 + rank :]
        self._store(self._complex_array(pairs, pieces[: 1 + rank], steps), place)
        text.jump(after)
        text.begin(made)
        self._store(self._complex_array(pairs, values[0]), place)
        text.jump(after)
        text.begin(after)

    def _complex_array(self, pairs: Array, pieces: Sequence[str], strides: Sequence[str] = ()) -> str:
        """An array of pairs as one of complex numbers, without its last axis; strides: if it is not contiguous."""
        descr = np.dtype(layout.COMPLEX_SCALARS[pairs.dtype])
        rank, known = pairs.rank - 1, self._known_arrays()
        sizes = self._vector(pieces[1 : 1 + rank]) if rank else "null"
        steps = self._vector(strides) if strides else "null"
        made = self.text.call(
            "ptr",
            "pb.array",
            *(f"ptr {known.context}", f"ptr {known.handed}", f"ptr {known.candidates}", f"i64 {known.count}"),
            *(f"ptr {pieces[0]}", f"i32 {descr.num}", f"i64 {descr.itemsize}"),
            *(f"i64 {rank}", f"ptr {sizes}", f"ptr {steps}"),
        )
        return self._kept(made) if self.graph else made

    # ---------------------------------------------------------------------------------------- arrays, containers

    def _array(self, type_: Array, pieces: Sequence[str]) -> str:
        text = self.text
        descr = np.dtype(layout.NUMPY_SCALARS[type_.dtype])
        sizes, steps = "null", "null"
        if type_.rank:
            sizes = self._vector(pieces[1 : 1 + type_.rank])
            if not type_.contiguous:
                steps = self._vector(pieces[1 + type_.rank :])
        known = self._known_arrays()
        made = text.call(
            "ptr",
            "pb.array",
            *(f"ptr {known.context}", f"ptr {known.handed}", f"ptr {known.candidates}", f"i64 {known.count}"),
            *(f"ptr {pieces[0]}", f"i32 {descr.num}", f"i64 {descr.itemsize}"),
            *(f"i64 {type_.rank}", f"ptr {sizes}", f"ptr {steps}"),
        )
        return self._kept(made) if self.graph else made

    def _record(self, type_: Record, values: Sequence[Sequence[str]], place: str) -> None:
        """A structured array: that of the caller which it is, or what its fields are put together to."""
        text, rank, known = self.text, type_.rank, self._known_arrays()
        parts, first = list(leaves_of(type_)), next(leaves(type_.layout))
        made = self._made("PyTuple_New", f"i64 {1 + len(parts)}")
        self._store(made, place)
        start = text.at(values[0][0], -first.offset)
        sizes, steps = self._vector(values[0][1 : 1 + rank]), self._vector(self._steps(parts[0], values[0]))
        given = (f"ptr {known.candidates}", f"i64 {known.count}", f"ptr {start}", f"i64 {rank}")
        whole = text.call("ptr", "pb.whole", *given, f"ptr {sizes}", f"ptr {steps}")
        none = text.set(f"icmp eq ptr {whole}, null")
        whole = text.set(f"select i1 {none}, ptr {text.symbol(None)}, ptr {whole}")
        text.call("void", "Py_IncRef", f"ptr {whole}")
        text.store("ptr", whole, made, layout.TUPLE_ITEMS)
        self._fill(parts, values, made, layout.TUPLE_ITEMS + 8)
        self._through(text.symbol(RecordMaker(type_.layout, rank, type_.single)), place)

    def _steps(self, type_: Array, pieces: Sequence[str]) -> Sequence[str]:
        """The strides of an array; of one without gaps they do not matter here, for it is none of Python's."""
        return ["0"] * type_.rank if type_.contiguous else pieces[1 + type_.rank :]

    def _known_arrays(self) -> Arrays:
        """The arrays of the caller, and where there is a graph those made before: one array has one object."""
        if not self.graph:
            return self.arrays
        text, old = self.text, self.arrays
        data, count = (text.load(t, self.graph, place) for t, place in (("ptr", KEPT), ("i64", KEPT_COUNT)))
        return Arrays(old.context, old.handed, data, count)

    def _kept(self, made: str) -> str:
        text = self.text
        text.require(text.set(f"icmp ne ptr {made}, null"), self.failed)
        status = text.call("i32", "pb.graph_keep", f"ptr {self.graph}", f"ptr {made}")
        text.require(text.set(f"icmp eq i32 {status}, 0"), self.failed)
        return made

    def _vector(self, values: Sequence[str]) -> str:
        place = self.text.slot("i64", len(values))
        for i, value in enumerate(values):
            self.text.store("i64", value, place, 8 * i)
        return place

    def _made(self, function: str, *arguments: str) -> str:
        return self.text.call("ptr", function, *arguments)

    def _tuple(
        self, items: Sequence[Type], values: Sequence[Sequence[str]], place: str, python: type | None = None
    ) -> None:
        if python is None:
            made = self._made("PyTuple_New", f"i64 {len(items)}")
        else:
            made = self._made("PyType_GenericAlloc", f"ptr {self.text.symbol(python)}", f"i64 {len(items)}")
        self._store(made, place)
        if python is not None and layout.TUPLE_ITEMS > layout.LENGTH + 8:
            self.text.store("i64", "-1", made, layout.LENGTH + 8)  # no hash is known yet
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

    def _maker(self, type_: Type) -> Maker | None:
        """What makes a function of the type, if the code does."""
        known = self.boundary.object_of(type_)
        if isinstance(known, Maker) or not (self.inside and slots(type_)):
            return known if isinstance(known, Maker) else None
        return next((v for t, v in self.boundary.objects if t == type_ and isinstance(v, Maker)), None)

    def _made_function(self, maker: Maker, type_: Type, values: Sequence[Sequence[str]], place: str) -> None:
        """What the function captured waits in a tuple at its place, which the maker then takes."""
        self._tuple(captured_types(type_), values, place)
        self._through(self.text.symbol(maker), place)

    def _through(self, maker: str, place: str) -> None:
        """What a maker makes of the tuple in its place."""
        text = self.text
        waiting = text.load("ptr", place)
        arguments = text.slot("ptr")
        text.store("ptr", waiting, arguments)
        made = text.call("ptr", "PyObject_Vectorcall", f"ptr {maker}", f"ptr {arguments}", "i64 1", "ptr null")
        text.store("ptr", made, place)
        text.call("void", "Py_DecRef", f"ptr {waiting}")
        text.require(text.set(f"icmp ne ptr {made}, null"), self.failed)

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

"""From Python objects to machine values: the checks and loads at the beginning of an entry.

    Number(f64)                exact float: its value               Number(f64, weak=False)   exact np.float64
    Fixed(2, Number(i64))      exact int, and this one
    Array(f64, 1, True)        exact ndarray of that dtype, rank and contiguity: data, size
    Record                     exact ndarray of that structured dtype: a view of each field
    Tuple((...)), List, Dict   exact type, length (and keys, in order), then the items
    None, str, functions       identity, or equal strings
    Ref                        exact class: the number of the row of the object (see `graphs`)
    Union                      the first member that fits, as tag and payload

Whatever does not fit jumps to the block `miss`; nothing is changed before the last check has passed.
"""

from __future__ import annotations

import struct
import sys
import types as python_types
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TypeGuard

import numpy as np

from pullback.codegen import abi
from pullback.codegen.abi import MEMORY
from pullback.codegen.native import Text
from pullback.codegen.unpack_objects import reference, string, union
from pullback.diagnostic import InternalError
from pullback.runtime import layout
from pullback.runtime.boundary import ABSENT, Boundary, Guard, Hidden, class_dict
from pullback.runtime.closures import FunctionMaker, TransformMaker
from pullback.runtime.structured import leaves, leaves_of
from pullback.types import (
    Array,
    BoxedFunction,
    Closure,
    Complex,
    Constant,
    Dict,
    DType,
    Fixed,
    List,
    NoneType,
    Number,
    Record,
    Ref,
    Str,
    Transformed,
    Tuple,
    Type,
    Unbound,
    Union,
    slots,
)
from pullback.types import Text as TextType

__all__ = ["Unpacker"]

_EXACT = {DType.F64: float, DType.I64: int}
_EQUAL = 2  # Py_EQ


@dataclass(slots=True)
class Unpacker:
    """Writes checks into `text`.

    arrays: the ndarray objects met; results may be them or views of them.
    borrowed: those reached through something that Python code could change during the call; they need a reference.
    graph: the graph of an entry that takes objects, "" for others.  There it keeps all arrays.
    fixed: lists and dicts of fixed structure.
    once: this is a field or an item of an object, which is read once.
    """

    text: Text
    boundary: Boundary
    miss: str = "miss"
    graph: str = ""
    arrays: list[str] = field(default_factory=list)
    borrowed: list[str] = field(default_factory=list)
    fixed: list[str] = field(default_factory=list)
    once: bool = False

    def value(self, type_: Type, value: str, changeable: bool = False) -> list[str]:
        """The pieces of a value of that type; `changeable`: the caller does not hold the object itself."""
        if not isinstance(type_, Ref | Union):
            self.once = False  # what several fields may hold is read several times, with all inside
        if isinstance(type_, Closure | Transformed) and self._is_made(type_):
            self.text.require("false", self.miss)
            return ["zeroinitializer" for _ in abi.all_pieces(slots(type_))]
        match type_:
            case Complex(Number(dtype, weak), _):
                return self._complex(dtype, weak, value)
            case Complex(Array() as part, _):
                return self._complex_array(part, value, changeable)
            case Number(dtype, weak):
                return [self._weak(dtype, value) if weak else self._strong(dtype, value)]
            case Fixed(known, of):
                return [self._fixed(known, of, value)]
            case Array():
                return self._array(type_, value, changeable)
            case Record():
                return self._record(type_, value, changeable)
            case Tuple(items):
                return self._items(type_.python or tuple, items, value, changeable)
            case List(items):
                return self._items(list, items, value, True)
            case Dict(keys, items):
                return self._dict(keys, items, value)
            case Str(content):
                self._string(content, value)
            case Constant(known):
                self._identity(known, value)
            case NoneType():
                self._identity(None, value)
            case Closure():
                return self._closure(type_, value)
            case Ref():
                return [reference(self, type_, value)]
            case TextType():
                return [string(self, value)]
            case Union():
                return union(self, type_, value)
            case BoxedFunction() | Unbound():
                raise InternalError(f"{self.boundary.name}: an argument of type {type_}")
            case _:
                self._identity(self._object_of(type_), value)
                if slots(type_):
                    raise InternalError(f"{self.boundary.name}: an argument of type {type_} holds values")
        return []

    def _is_made(self, type_: Type) -> bool:
        """Does only the code make such functions: those that come from Python are of other types."""
        return isinstance(self.boundary.object_of(type_), FunctionMaker | TransformMaker)

    def fine(self, status: str) -> None:
        """Miss unless a status is 0."""
        self.text.require(self.text.set(f"icmp eq i32 {status}, 0"), self.miss)

    def require_type(self, kind: type, value: str) -> None:
        """Miss unless an object is of exactly this class."""
        self._type(kind, value)

    # --------------------------------------------------------------------------------------------------- numbers

    def _type(self, kind: type, value: str) -> None:
        text = self.text
        text.require(text.is_(text.type_of(value), kind), self.miss)

    def _identity(self, known: object, value: str) -> None:
        self.text.require(self.text.is_(value, known), self.miss)

    def _weak(self, dtype: DType, value: str) -> str:
        text = self.text
        if dtype is DType.BOOL:
            true = text.is_(value, True)
            either = text.set(f"or i1 {true}, {text.is_(value, False)}")
            text.require(either, self.miss)
            return true
        if dtype not in _EXACT:
            raise InternalError(f"{self.boundary.name}: a Python number of dtype {dtype}")
        self._type(_EXACT[dtype], value)
        if dtype is DType.F64:
            return text.load("double", value, layout.FLOAT_VALUE)
        return self._integer(value)

    def _fixed(self, known: int, of: Number, value: str) -> str:
        """The number that the code is made for."""
        (piece,) = self.value(of, value)
        wanted = ("true" if known else "false") if of.dtype is DType.BOOL else str(known)
        kind = "i1" if of.dtype is DType.BOOL else f"i{8 * of.dtype.bytes}"
        self.text.require(self.text.set(f"icmp eq {kind} {piece}, {wanted}"), self.miss)
        return piece

    def _integer(self, value: str) -> str:
        """The value of an exact int; one beyond 64 bits misses, so that Python code refuses it by name."""
        text = self.text
        beyond = text.slot("i32")
        number = text.call("i64", "PyLong_AsLongLongAndOverflow", f"ptr {value}", f"ptr {beyond}")
        flag = text.load("i32", beyond)
        text.require(text.set(f"icmp eq i32 {flag}, 0"), self.miss)
        return number

    def _strong(self, dtype: DType, value: str) -> str:
        self._type(layout.NUMPY_SCALARS[dtype], value)
        if dtype is DType.BOOL:
            byte = self.text.load("i8", value, layout.NUMPY_VALUE)
            return self.text.set(f"icmp ne i8 {byte}, 0")
        return self.text.load(MEMORY[dtype], value, layout.NUMPY_VALUE)

    # ------------------------------------------------------------------------------------------ arrays, containers

    def _complex(self, dtype: DType, weak: bool, value: str) -> list[str]:
        """Both parts of a complex number."""
        text = self.text
        if weak:
            self._type(complex, value)
            return [text.call("double", f"PyComplex_{part}AsDouble", f"ptr {value}") for part in ("Real", "Imag")]
        self._type(layout.COMPLEX_SCALARS[dtype], value)
        return [text.load(MEMORY[dtype], value, layout.NUMPY_VALUE + i * dtype.bytes) for i in (0, 1)]

    def _complex_array(self, part: Array, value: str, changeable: bool) -> list[str]:
        """A complex array as two views of its memory."""
        descr = np.dtype(layout.COMPLEX_SCALARS[part.dtype])
        real = self._array(part, value, changeable, descr)
        return [*real, self.text.at(real[0], part.dtype.bytes), *real[1:]]

    def _record(self, type_: Record, value: str, changeable: bool) -> list[str]:
        """A structured array as views of its memory, one for each field; these lie where the dtype has them."""
        text, found = self.text, list(leaves_of(type_))
        outer = replace(found[0], rank=type_.rank, ones=found[0].ones[: type_.rank])
        self._is_array(outer, value, layout.WRITEABLE | (layout.C_CONTIGUOUS if outer.rows else 0))
        descr = text.load("ptr", value, layout.ARRAY_DESCR)
        slow, after = text.label(), text.label()
        usual = text.is_(descr, type_.layout)
        text.do(f"br i1 {usual}, label %{after}, label %{slow}, !prof !100000")
        text.begin(slow)
        known = text.symbol(type_.layout)
        same = text.call("i32", "PyObject_RichCompareBool", f"ptr {descr}", f"ptr {known}", f"i32 {_EQUAL}")
        text.branch(text.set(f"icmp eq i32 {same}, 1"), after, self.miss)
        text.begin(after)
        self._keep(value, changeable)
        data, *steps = self._pieces(outer, value)
        sizes, strides = steps[: type_.rank], steps[type_.rank :]
        pieces: list[str] = []
        for leaf in leaves(type_.layout):
            inner = [*map(str, leaf.shape)], [*map(str, leaf.steps)]
            pieces += [text.at(data, leaf.offset), *sizes, *inner[0], *strides, *inner[1]]
        return pieces

    def _is_array(self, type_: Array, value: str, flags: int) -> None:
        """Miss unless a value is an ndarray of this rank, with these flags of those that it must have."""
        text = self.text
        self._type(np.ndarray, value)
        rank = text.load("i32", value, layout.ARRAY_RANK)
        found = text.load("i32", value, layout.ARRAY_FLAGS)
        needed = flags & ~(layout.WRITEABLE if type_.readonly else 0)
        present = text.set(f"icmp eq i32 {text.set(f'and i32 {found}, {flags}')}, {needed}")
        ranked = text.set(f"icmp eq i32 {rank}, {type_.rank}")
        text.require(text.set(f"and i1 {ranked}, {present}"), self.miss)

    def _keep(self, value: str, changeable: bool) -> None:
        """Note an array: what is returned may be it, or a view of it."""
        if self.graph:
            self.fine(self.text.call("i32", "pb.graph_keep", f"ptr {self.graph}", f"ptr {value}"))
        else:
            self.arrays.append(value)
            if changeable:
                self.borrowed.append(value)

    def _array(self, type_: Array, value: str, changeable: bool, descr: np.dtype | None = None) -> list[str]:
        """descr: of the elements, where it is not that of the type."""
        whole = type_.contiguous or type_.rows  # the parts of contiguous complex numbers have gaps
        needed = layout.ALIGNED | layout.WRITEABLE | (layout.C_CONTIGUOUS if whole else 0)
        self._is_array(type_, value, needed)
        self._dtype(type_.dtype, self.text.load("ptr", value, layout.ARRAY_DESCR), descr)
        self._keep(value, changeable)
        return self._pieces(type_, value)

    def _pieces(self, type_: Array, value: str) -> list[str]:
        """Data, sizes and strides of an ndarray; which of its axes have size 1 is part of the type."""
        text = self.text
        pieces = [text.load("ptr", value, layout.ARRAY_DATA)]
        if type_.rank:
            places = [layout.ARRAY_SIZES] if type_.contiguous else [layout.ARRAY_SIZES, layout.ARRAY_STRIDES]
            for place in places:
                vector = text.load("ptr", value, place)
                pieces += [text.load("i64", vector, 8 * axis) for axis in range(type_.rank)]
        self._ones(type_, pieces[1 : 1 + type_.rank])
        return pieces

    def _ones(self, type_: Array, sizes: Sequence[str]) -> None:
        """Which axes have size 1 is part of the type."""
        text = self.text
        for axis, size in enumerate(sizes):
            known = type_.is_one(axis)
            if known is not None:
                text.require(text.set(f"icmp {'eq' if known else 'ne'} i64 {size}, 1"), self.miss)

    def _dtype(self, dtype: DType, descr: str, wanted: np.dtype | None = None) -> None:
        """The usual descriptor object, or (slower) another one of the same representation in native byte order."""
        text = self.text
        slow, after = text.label(), text.label()
        usual = text.is_(descr, wanted or np.dtype(layout.NUMPY_SCALARS[dtype]))
        text.do(f"br i1 {usual}, label %{after}, label %{slow}, !prof !100000")
        text.begin(slow)
        number = text.load("i32", descr, layout.DESCR_TYPE_NUMBER)
        order = text.load("i8", descr, layout.DESCR_BYTEORDER)
        fits = text.set(f"icmp ne i8 {order}, {ord('>')}")
        known = "false"
        for accepted in layout.numpy_type_numbers(dtype) if wanted is None else (wanted.num,):
            known = text.set(f"or i1 {known}, {text.set(f'icmp eq i32 {number}, {accepted}')}")
        text.branch(text.set(f"and i1 {fits}, {known}"), after, self.miss)
        text.begin(after)

    def _items(self, kind: type, items: tuple[Type, ...], value: str, changeable: bool) -> list[str]:
        text = self.text
        self._type(kind, value)
        if kind is list:
            self.fixed.append(value)
        length = text.load("i64", value, layout.LENGTH)
        text.require(text.set(f"icmp eq i64 {length}, {len(items)}"), self.miss)
        if not items:
            return []
        first, offset = value, layout.TUPLE_ITEMS
        if kind is list:
            first, offset = text.load("ptr", value, layout.LIST_ITEMS), 0
        pieces: list[str] = []
        for i, item in enumerate(items):
            pieces += self.value(item, text.load("ptr", first, offset + 8 * i), changeable)
        return pieces

    def _dict(self, keys: tuple[str, ...], items: tuple[Type, ...], value: str) -> list[str]:
        text = self.text
        self._type(dict, value)
        self.fixed.append(value)
        size = text.call("i64", "PyDict_Size", f"ptr {value}")
        text.require(text.set(f"icmp eq i64 {size}, {len(keys)}"), self.miss)
        if not keys:
            return []
        position, key_slot, value_slot = text.slot("i64"), text.slot("ptr"), text.slot("ptr")
        text.store("i64", "0", position)
        pieces: list[str] = []
        for key, item in zip(keys, items, strict=True):
            operands = (f"ptr {value}", f"ptr {position}", f"ptr {key_slot}", f"ptr {value_slot}")
            more = text.call("i32", "PyDict_Next", *operands)
            text.require(text.set(f"icmp ne i32 {more}, 0"), self.miss)
            found = text.load("ptr", value_slot)
            self._string(key, text.load("ptr", key_slot))
            pieces += self.value(item, found, True)
        return pieces

    def _string(self, content: str, value: str) -> None:
        """The same string object, which is usual for names, or an equal one."""
        text = self.text
        known = _interned(content)
        other, after = text.label(), text.label()
        text.do(f"br i1 {text.is_(value, known)}, label %{after}, label %{other}, !prof !100000")
        text.begin(other)
        self._type(str, value)
        order = text.call("i32", "PyUnicode_Compare", f"ptr {value}", f"ptr {text.symbol(known)}")
        text.branch(text.set(f"icmp eq i32 {order}, 0"), after, self.miss)
        text.begin(after)

    # ------------------------------------------------------------------------------------------------- functions

    def _object_of(self, type_: Type) -> object:
        known = self.boundary.object_of(type_)
        if known is ABSENT:
            raise InternalError(f"{self.boundary.name}: no object is given for {type_}")
        return known

    def _closure(self, type_: Closure, value: str) -> list[str]:
        """A Python function: this one, or another made from the same code, globals and (no) defaults.

        Its captured values are read from its cells, in the order of the code's free variables; if they are not part of
        its type, they are those of this one function.
        """
        known = self._object_of(type_)
        several = {id(v): v for given, v in self.boundary.objects if given == type_}
        if len(several) > 1 and not slots(type_):  # a function, and what jit made of it, have one type
            hit = "false"
            for other in several.values():
                hit = self.text.set(f"or i1 {hit}, {self.text.is_(value, other)}")
            self.text.require(hit, self.miss)
            return []
        if not _is_plain_function(known) or (known.__closure__ and not type_.captured):
            self._identity(known, value)
            if slots(type_):
                raise InternalError(f"{self.boundary.name}: captured values of {known!r}")
            return []
        text = self.text
        self._type(python_types.FunctionType, value)
        parts = {"PyFunction_GetCode": known.__code__, "PyFunction_GetGlobals": known.__globals__}
        for function, part in parts.items():
            self._identity(part, text.call("ptr", function, f"ptr {value}"))
        for function in ("PyFunction_GetDefaults", "PyFunction_GetKwDefaults"):
            found = text.call("ptr", function, f"ptr {value}")
            text.require(text.set(f"icmp eq ptr {found}, null"), self.miss)
        return self._captured(type_, known, value)

    def _captured(self, type_: Closure, known: python_types.FunctionType, value: str) -> list[str]:
        if not type_.captured:
            return []
        if len(type_.captured) != len(known.__code__.co_freevars):
            raise InternalError(f"{self.boundary.name}: {known!r} has other captured values than {type_}")
        text = self.text
        cells = text.call("ptr", "PyFunction_GetClosure", f"ptr {value}")
        pieces: list[str] = []
        for i, item in enumerate(type_.captured):
            cell = text.load("ptr", cells, layout.TUPLE_ITEMS + 8 * i)
            pieces += self.value(item, self._present(text.load("ptr", cell, layout.CELL_CONTENT)), True)
        return pieces

    # --------------------------------------------------------------------------------------- globals, cells, guards

    def hidden(self, hidden: Hidden) -> list[str]:
        """The pieces of a value read at this call."""
        return self.value(hidden.type, self._present(self._read(hidden)), hidden.kind not in ("constant", "globals"))

    def _present(self, value: str) -> str:
        self.text.require(self.text.set(f"icmp ne ptr {value}, null"), self.miss)
        return value

    def _read(self, place: Hidden | Guard) -> str:
        """What is in the place now, or null."""
        text = self.text
        match place.kind:
            case "constant" | "globals":
                return text.symbol(place.container)
            case "cell":
                return text.load("ptr", text.symbol(place.container), layout.CELL_CONTENT)
            case "global":
                assert isinstance(place.key, str)
                return self._lookup(text.symbol(place.container), place.key)
            case "class":
                assert isinstance(place.container, type) and isinstance(place.key, str)
                return self._lookup(text.symbol(class_dict(place.container)), place.key)
            case "code":
                return text.call("ptr", "PyFunction_GetCode", f"ptr {text.symbol(place.container)}")
            case "default":
                assert isinstance(place.key, int)
                return self._default(text.symbol(place.container), place.key)
            case "keyword":
                assert isinstance(place.key, str)
                table = text.call("ptr", "PyFunction_GetKwDefaults", f"ptr {text.symbol(place.container)}")
                return self._lookup(self._present(table), place.key)
        raise InternalError(f"{self.boundary.name}: a place of kind {place.kind!r}")

    def _lookup(self, table: str, key: str) -> str:
        return self.text.call("ptr", "PyDict_GetItem", f"ptr {table}", f"ptr {self.text.symbol(_interned(key))}")

    def _default(self, function: str, index: int) -> str:
        text = self.text
        values = self._present(text.call("ptr", "PyFunction_GetDefaults", f"ptr {function}"))
        length = text.load("i64", values, layout.LENGTH)
        text.require(text.set(f"icmp sgt i64 {length}, {index}"), self.miss)
        return text.load("ptr", values, layout.TUPLE_ITEMS + 8 * index)

    def guard(self, guard: Guard) -> None:
        """Miss unless the place holds what is expected."""
        text = self.text
        found, expected = self._read(guard), guard.expected
        if expected is ABSENT:
            text.require(text.set(f"icmp eq ptr {found}, null"), self.miss)
            return
        self._present(found)
        if type(expected) is str:
            self._string(expected, found)
        elif type(expected) is int and -(2**63) <= expected < 2**63:
            self._type(int, found)
            text.require(text.set(f"icmp eq i64 {self._integer(found)}, {expected}"), self.miss)
        elif type(expected) is float:
            self._type(float, found)
            bits = text.load("i64", found, layout.FLOAT_VALUE)
            (known,) = struct.unpack("<q", struct.pack("<d", expected))
            text.require(text.set(f"icmp eq i64 {bits}, {known}"), self.miss)
        else:
            self._identity(expected, found)


def _interned(content: str) -> str:
    """The one object for equal strings: the one that names in code are."""
    return sys.intern(content)


def _is_plain_function(value: object) -> TypeGuard[python_types.FunctionType]:
    """A function of Python without defaults."""
    return isinstance(value, python_types.FunctionType) and not value.__defaults__ and not value.__kwdefaults__

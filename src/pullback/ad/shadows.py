"""Shadows and tangents of references: their types, layouts, zeros and sums.

A shadow (reverse mode) or tangent (forward mode) of a reference is a reference to memory of its own with the same
structure, without what has no derivative:

    f64[:]                                ->  f64[:]
    box node = (f64, i64, box node)       ->  box node' = (f64, box node')       layouts are made on demand
    table t = (f64, i64, f64[:])          ->  table t' = (f64, f64[:])           its twin, with the same rows
    buffer<f64>                           ->  buffer<f64>
    i64[:], buffer<i64>                   ->  none
"""

from __future__ import annotations

from collections.abc import Sequence

from pullback.diagnostic import InternalError
from pullback.ir.node import Block, Program, Value
from pullback.prims.array import elementwise_types
from pullback.prims.base import Emitter, get
from pullback.types import I64, ArrayRef, Box, Buffer, Machine, Scalar, Table

__all__ = [
    "ShadowTypes", "add_buffer_into", "add_into", "array_sizes", "coerce", "copy_array", "elementwise",
    "is_float_scalar", "make_record", "new_table", "open_record", "scalar_zero", "zero_array",
]  # fmt: skip

PRIME = "'"


def is_float_scalar(type_: Machine | None) -> bool:
    """A value whose tangent is a number."""
    return isinstance(type_, Scalar) and type_.dtype.is_float


class ShadowTypes:
    """Types of shadows.  Layouts of shadow boxes are added to `program.layouts`."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self._content: dict[str, bool] = {}

    def machine(self, type_: Machine | None) -> Machine | None:
        """The type of the shadow of a value of this type; None if it has none."""
        match type_:
            case Scalar(dtype) | ArrayRef(dtype, _, _):
                return type_ if dtype.is_float else None
            case Box(name):
                return Box(self.box(name)) if self.has_content(name) else None
            case Table(name):
                return Table(self.box(name)) if self.has_content(name) else None
            case Buffer(element):
                inner = self.machine(element)
                return None if inner is None else Buffer(inner)
        return None

    def mirrored(self, type_: Machine | None) -> bool:
        """References whose shadows are made by the forward sweep: records, and buffers and tables of references."""
        if isinstance(type_, Table):
            (columns,) = self.program.layouts[type_.name]
            return any(not isinstance(column, Scalar) and self.carries(column) for column in columns)
        return isinstance(type_, Box) or (isinstance(type_, Buffer) and not isinstance(type_.element, Scalar))

    def carries(self, type_: Machine | None) -> bool:
        """Can a value of this type have a derivative.  Makes no layout: records may still be under way."""
        while isinstance(type_, Buffer):
            type_ = type_.element
        if isinstance(type_, Box | Table):
            return self.has_content(type_.name)
        return type_ is not None and type_.dtype.is_float

    def has_content(self, name: str) -> bool:
        """Does a record of this name hold floats, directly or through what it refers to."""
        if name not in self._content:
            seen: set[str] = set()
            found = self._reaches_float(name, seen)
            if not all(self.program.layouts[reached] for reached in seen):
                return found  # a layout is not known yet: it belongs to a derivation under way
            self._content[name] = found
        return self._content[name]

    def _reaches_float(self, name: str, seen: set[str]) -> bool:
        seen.add(name)
        for variant in self.program.layouts[name]:
            for slot in variant:
                while isinstance(slot, Buffer):
                    slot = slot.element
                if isinstance(slot, Box | Table):
                    if slot.name not in seen and self._reaches_float(slot.name, seen):
                        return True
                elif slot.dtype.is_float:
                    return True
        return False

    def box(self, name: str) -> str:
        """The name of the shadow's layout, which is made on the first demand."""
        shadow = name + PRIME
        if shadow not in self.program.layouts:
            self.program.layouts[shadow] = []
            self._content[shadow] = True
            for variant in self.program.layouts[name]:
                types = [self.machine(slot) for slot in variant]
                self.program.layouts[shadow].append(tuple(t for t in types if t is not None))
        return shadow

    def positions(self, name: str, variant: int) -> list[int | None]:
        """Per slot of the record, the slot of its shadow."""
        self.box(name)
        places: list[int | None] = []
        count = 0
        for slot in self.program.layouts[name][variant]:
            has = self.machine(slot) is not None
            places.append(count if has else None)
            count += has
        return places

    def columns(self, type_: Machine | None) -> range:
        """The columns of a table, if it is one."""
        return range(len(self.program.layouts[type_.name][0])) if isinstance(type_, Table) else range(0)

    def column_type(self, table: Value, column: int) -> Machine:
        """The type of a column of a table."""
        assert isinstance(table.type, Table)
        return self.program.layouts[table.type.name][0][column]

    def column(self, table: Value, column: int) -> int:
        """The column of the twin for a column that carries derivative."""
        assert isinstance(table.type, Table)
        place = self.positions(table.type.name, 0)[column]
        assert place is not None
        return place

    def original(self, name: str) -> bool:
        """Is this a record of values (not a shadow): nothing changes it after it was made."""
        return not name.endswith(PRIME)


# -------------------------------------------------------------------------------------------- emitting for arrays


def array_type(value: Value) -> ArrayRef:
    """The type of an array value."""
    if not isinstance(value.type, ArrayRef):
        raise InternalError(f"{value!r} is not an array")
    return value.type


def array_sizes(e: Emitter, array: Value) -> list[Value]:
    """Its sizes, read from the reference."""
    return [e("array_size", array, axis=axis) for axis in range(array_type(array).rank)]


def zero_array(e: Emitter, type_: ArrayRef, sizes: Sequence[Value]) -> Value:
    """A fresh array of zeros (contiguous)."""
    return e("array_zeros", *sizes, dtype=type_.dtype)


def scalar_zero(e: Emitter, type_: Machine | None) -> Value:
    """The constant 0 of a scalar type."""
    assert isinstance(type_, Scalar)
    return e.constant(0, type_)


def coerce(e: Emitter, value: Value, type_: Machine | None) -> Value:
    """The same array as a value of `type_`, which may know less about its strides."""
    if value.type == type_:
        return value
    if isinstance(type_, ArrayRef) and isinstance(value.type, ArrayRef):
        return copy_array(e, value) if type_.contiguous else e("view_relax", value)
    raise InternalError(f"a value of type {value.type} cannot stand for {type_}")


def elementwise(
    e: Emitter, sizes: Sequence[Value], inputs: Sequence[Value], targets: Sequence[Value], block: Block,
    outputs: Sequence[str],
) -> list[Value]:  # fmt: skip
    """Append an `elementwise` op; its results."""
    types = elementwise_types(len(sizes), outputs, [v.type for v in block.results])
    attrs: dict[str, object] = {"rank": len(sizes), "outputs": tuple(outputs), "targets": len(targets)}
    op = e.append(get("elementwise"), [*sizes, *inputs, *targets], attrs=attrs, blocks=[block], types=types)
    return op.results


def copy_array(e: Emitter, array: Value, sizes: Sequence[Value] | None = None) -> Value:
    """A fresh contiguous copy."""
    param = Value(Scalar(array_type(array).dtype))
    return elementwise(e, sizes or array_sizes(e, array), [array], [], Block([param], [], [param]), ["new"])[0]


def make_record(e: Emitter, name: str, variant: object, slots: Sequence[Value]) -> Value:
    """Append a `box` op."""
    return e.append(get("box"), slots, attrs={"name": name, "variant": variant}).result


def open_record(e: Emitter, record: Value, variant: object, types: Sequence[Machine]) -> list[Value]:
    """Append an `unbox` op; the slots."""
    assert isinstance(record.type, Box)
    attrs: dict[str, object] = {"name": record.type.name, "variant": variant, "types": tuple(types)}
    return e.append(get("unbox"), [record], attrs=attrs).results


def new_table(e: Emitter, type_: Machine | None, rows: Value | None = None) -> Value:
    """A table, with rows of zeros."""
    assert isinstance(type_, Table)
    made = e("table", name=type_.name)
    if rows is not None:
        e.op("table_rows", made, rows)
    return made


def add_into(e: Emitter, target: Value, array: Value) -> None:
    """target += array, of the same sizes."""
    param = Value(Scalar(array_type(array).dtype))
    elementwise(e, array_sizes(e, array), [array], [target], Block([param], [], [param]), ["inc"])


def add_buffer_into(e: Emitter, target: Value, buffer: Value, length: Value) -> None:
    """target[i] += buffer[i] for every i, of numbers."""
    body = Emitter(Block([Value(I64, "i")]), e.span)
    index = body.block.params[0]
    body.op("buffer_inc", target, index, body("buffer_get", buffer, index))
    e.append(get("for"), [length], blocks=[body.block], types=[])



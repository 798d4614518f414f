"""Tangents and cotangents as programs give them, slot by slot, as the ops of `ad` take them.

    pull(1.0)                           a cotangent must be like the result
    result: float or complex            it is compared with what the result is in this call; a real one is a complex one
                                        without an imaginary part, but not the other way round
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pullback.diagnostic import CompileTypeError
from pullback.infer.complexes import complex_of, halves, imaginary, pair_of
from pullback.infer.elementwise import array_sizes
from pullback.infer.engine import Frame
from pullback.infer.filling import copy
from pullback.infer.lattice import join
from pullback.infer.numbers import as_number, convert
from pullback.infer.values import AV, choose_value, coerce, items_of, members, zero
from pullback.ir.node import Value
from pullback.types import (
    Array,
    ArrayRef,
    Complex,
    Dict,
    List,
    Machine,
    Number,
    Record,
    Scalar,
    Tuple,
    Type,
    Union,
    is_float,
    show,
    slot_positions,
    slots,
    tag_count,
)  # fmt: skip

__all__ = ["cotangent_slots", "float_sizes", "same_size", "tags_of", "tangent_slots", "unlike"]


def unlike(cx: Frame, what: str, wanted: Type, given: Type) -> CompileTypeError:
    """A tangent is as its primal, a cotangent as the result."""
    of = "primal" if what == "tangent" else "result"
    return cx.type_error(f"a {what} of {show(wanted)} cannot be {show(given)}", f"the {what} must be like the {of}",
                         f"pass a {what} of the same structure, shape and dtype: {show(wanted)}")  # fmt: skip


def _parts(cx: Frame, what: str, wanted: Type, given: AV) -> tuple[AV, AV | None]:
    """What is given for a complex number or array, which may be real."""
    if not isinstance(as_number(cx, given).type, Complex | Number | Array):
        raise unlike(cx, what, wanted, given.type)
    return pair_of(cx, given)


def tangent_slots(cx: Frame, primal: AV, tangent: AV | None) -> list[Value | None]:
    """Tangent values slot by slot; None where there is none (ints, or no tangent given)."""
    if tangent is None:
        return [None] * len(primal.values)
    match primal.type:
        case Number(dtype, _):
            number = as_number(cx, tangent)
            if not dtype.is_float:
                return [None]
            if not isinstance(number.type, Number):
                raise unlike(cx, "tangent", primal.type, tangent.type)
            return [convert(cx, number, dtype)]
        case Array(dtype, rank, _):
            if not dtype.is_float:
                return [None]
            if not isinstance(tangent.type, Array) or (tangent.type.dtype, tangent.type.rank) != (dtype, rank):
                raise unlike(cx, "tangent", primal.type, tangent.type)
            _same_shape(cx, primal, tangent)
            return [tangent.value]
        case Complex():
            (a, b), (da, db) = halves(primal), _parts(cx, "tangent", primal.type, tangent)
            found = tangent_slots(cx, a, da)
            return [*found, *tangent_slots(cx, b, db if db is not None else imaginary(cx, da))]
        case Tuple() | List() | Dict() | Record():
            if type(tangent.type) is not type(primal.type) or not _alike(primal.type, tangent.type):
                raise unlike(cx, "tangent", primal.type, tangent.type)
            pairs = zip(items_of(primal), items_of(tangent), strict=True)
            return [slot for p, t in pairs for slot in tangent_slots(cx, p, t)]
        case Union():
            return _of_union(cx, primal.type, tangent, iter(tags_of(primal)), "tangent")
        case _:
            return [None] * len(primal.values)


def cotangent_slots(
    cx: Frame, out: Type, cotangent: AV, tags: Iterator[Value] | None = None, what: str = "cotangent"
) -> list[Value | None]:
    """Cotangents slot by slot for a result of type `out`; None for what is no float.

    tags: of the result (see `tags_of`).  Where they are not known, a union takes what is coerced to it.
    """
    match out:
        case Number(dtype, _):
            number = as_number(cx, cotangent)
            if not dtype.is_float:
                return [None]
            if not isinstance(number.type, Number):
                raise unlike(cx, what, out, cotangent.type)
            return [convert(cx, number, dtype)]
        case Array(dtype, rank, _):
            if not dtype.is_float:
                return [None]
            if not isinstance(cotangent.type, Array) or (cotangent.type.dtype, cotangent.type.rank) != (dtype, rank):
                raise unlike(cx, what, out, cotangent.type)
            return [cotangent.value]
        case Complex(real, imag):
            a, b = _parts(cx, what, out, cotangent)
            b = imaginary(cx, a) if b is None else b
            return [*cotangent_slots(cx, real, a, None, what), *cotangent_slots(cx, imag, b, None, what)]
        case Tuple(items) | List(items) | Dict(_, items) | Record(_, items):
            if type(cotangent.type) is not type(out) or not _alike(out, cotangent.type):
                raise unlike(cx, what, out, cotangent.type)
            pairs = zip(items, items_of(cotangent), strict=True)
            return [slot for t, c in pairs for slot in cotangent_slots(cx, t, c, tags, what)]
        case Union():
            return _of_union(cx, out, cotangent, tags, what)
        case _:
            return [None] * len(slots(out))


def tags_of(av: AV) -> list[Value]:
    """Which members the unions in a value are, in the order in which `cotangent_slots` meets them."""
    match av.type:
        case Union():
            return [av.values[0], *(tag for member in members(av) for tag in tags_of(member))]
        case Tuple() | List() | Dict() | Record():
            return [tag for item in items_of(av) for tag in tags_of(item)]
    return []


@dataclass(frozen=True, slots=True)
class _Fit:
    """Something given that belongs to a member of a union: when it is this, and its slots."""

    member: Type
    condition: Value
    values: Sequence[Value | None]


def _of_union(cx: Frame, union: Union, given: AV, tags: Iterator[Value] | None, what: str) -> list[Value | None]:
    """The slots of a union: those of the member that the value is, to which what is given must belong."""
    if tags is None:
        return _coerced(cx, union, given, what)
    tag, fits, choices = next(tags), list[_Fit](), members(given)
    for number, member in enumerate(union.members):
        inner = [next(tags) for _ in range(tag_count(member))]
        is_member = cx.e("eq", tag, cx.e.integer(number))
        for choice, one in enumerate(choices):
            with contextlib.suppress(CompileTypeError):
                found = cotangent_slots(cx, member, one, iter(inner), what)
                fits.append(_Fit(member, _both(cx, is_member, given, choice), found))
    if not fits:
        raise unlike(cx, what, union, given.type)
    if len(fits) < len(union.members) * len(choices):
        of = "primal" if what == "tangent" else "result"
        fitting = functools.reduce(lambda x, y: cx.e("or_", x, y), (fit.condition for fit in fits))
        cx.check(fitting, "TypeError", f"the {what} is not of the type of the {of}: {show(given.type)}")
    return _merged(cx, union, fits)


def _both(cx: Frame, is_member: Value, given: AV, choice: int) -> Value:
    if not isinstance(given.type, Union):
        return is_member
    return cx.e("and_", is_member, cx.e("eq", given.values[0], cx.e.integer(choice)))


def _merged(cx: Frame, union: Union, fits: Sequence[_Fit]) -> list[Value | None]:
    """Slots of the union: those of whichever fits, and placeholders where the others have theirs."""
    wanted = slots(union)
    merged = [zero(cx.e, machine) if is_float(machine) else None for machine in wanted]
    for fit in fits:
        for position, value in zip(slot_positions(union, fit.member), fit.values, strict=True):
            other = merged[position]
            if value is not None and other is not None:
                merged[position] = choose_value(cx.e, fit.condition, _as_machine(cx, value, wanted[position]), other)
    return merged


def _as_machine(cx: Frame, value: Value, machine: Machine) -> Value:
    """The value in the layout of a slot that unions share."""
    if not isinstance(machine, ArrayRef) or value.type == machine:
        return value
    assert isinstance(value.type, ArrayRef)
    kind = Array(machine.dtype, machine.rank, value.type.contiguous)
    return _laid_out(cx, AV(kind, (value,)), Array(machine.dtype, machine.rank, machine.contiguous)).value


def _coerced(cx: Frame, union: Union, given: AV, what: str) -> list[Value | None]:
    """Slots for a union of which it is not known what it is: what is given, in the type of the union."""
    number = as_number(cx, given)
    if isinstance(number.type, Number):
        machines = slots(union)
        return [convert(cx, number, m.dtype) if isinstance(m, Scalar) and is_float(m) else None for m in machines]
    laid_out = _as_member(cx, given, union)
    if join(union, laid_out.type) != union:
        raise unlike(cx, what, union, given.type)
    same = coerce(cx.e, laid_out, union)
    return [value if is_float(_some(value)) else None for value in same.values]


def _as_member(cx: Frame, given: AV, union: Union) -> AV:
    """An array, real or complex, laid out in memory as that member of a union is which it belongs to."""
    found = next((member for member in union.members if _same_arrays(given.type, member)), None)
    return given if found is None else _laid_out(cx, given, found)


def _same_arrays(given: Type, wanted: Type) -> bool:
    match given, wanted:
        case Array(dtype, rank), Array(other, axes):
            return (dtype, rank) == (other, axes)
        case Complex(real), Complex(other):
            return _same_arrays(real, other)
    return False


def _laid_out(cx: Frame, given: AV, wanted: Type) -> AV:
    if isinstance(wanted, Complex):
        parts = zip(halves(given), (wanted.real, wanted.imag), strict=True)
        return complex_of(*(_laid_out(cx, part, one) for part, one in parts))
    assert isinstance(given.type, Array) and isinstance(wanted, Array)
    strided = wanted.contiguous and not given.type.contiguous
    return coerce(cx.e, copy(cx, given, rows=True) if strided else given, wanted)


def _alike(model: Type, given: Type) -> bool:
    """Have two structures of one class as many items, and structured arrays one dtype."""
    if isinstance(model, Record) and isinstance(given, Record):
        return (model.layout, model.rank) == (given.layout, given.rank)
    return len(getattr(model, "items")) == len(getattr(given, "items"))  # noqa: B009


def _same_shape(cx: Frame, primal: AV, tangent: AV) -> None:
    for m, n in zip(array_sizes(cx, primal), array_sizes(cx, tangent), strict=True):
        same_size(cx, m, n)


def same_size(cx: Frame, size: Value, given: Value) -> None:
    """A ValueError where the given one is another."""
    message = "a tangent or cotangent must have the shape of its value: {0} != {1}"
    cx.check(cx.e("eq", size, given), "ValueError", message, given, size)


def float_sizes(cx: Frame, values: Sequence[Value]) -> list[Value]:
    """The sizes of the float arrays among machine values, axis by axis."""
    found: list[Value] = []
    for value in values:
        if isinstance(value.type, ArrayRef) and value.type.dtype.is_float:
            found += array_sizes(cx, AV(Array(value.type.dtype, value.type.rank, value.type.contiguous), (value,)))
    return found


def _some(value: Value) -> Machine:
    assert value.type is not None
    return value.type

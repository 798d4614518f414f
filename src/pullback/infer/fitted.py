"""What a derivative rule returns, in the types that the function it is for says it has.

    a jvp rule of f(float) -> float returns (1, dx)          1.0, dx
    a backward rule of f(float, array) returns (c, None)     c, zeros of the shape of the array
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence

from pullback.diagnostic import CompileTypeError
from pullback.infer.binding import pack_tuple
from pullback.infer.cotangents import cotangent_slots
from pullback.infer.dispatch import dispatch
from pullback.infer.elementwise import array_sizes
from pullback.infer.engine import Frame
from pullback.infer.filling import copy
from pullback.infer.lattice import join
from pullback.infer.numbers import as_number, convert
from pullback.infer.values import AV, coerce, items_of
from pullback.ir.node import Value
from pullback.types import (
    Array,
    ArrayRef,
    Closure,
    Complex,
    Constant,
    Dict,
    List,
    Machine,
    NoneType,
    Number,
    Scalar,
    Str,
    Tuple,
    Type,
    Union,
    is_float,
    show,
    slots,
)  # fmt: skip

__all__ = ["by_value", "differentiable", "fitted", "gradients", "own", "tangent_machine"]


def differentiable(type_: Type) -> bool:
    """Numbers and arrays, and fixed structures of them: what a tangent or cotangent has the structure of."""
    match type_:
        case Number() | Array() | Constant() | NoneType() | Str():
            return True
        case Complex(real, imag):
            return differentiable(real) and differentiable(imag)
        case Tuple(items) | List(items) | Dict(_, items) | Union(items):
            return all(map(differentiable, items))
    return False


def by_value(type_: Type) -> bool:
    """As `differentiable`, and functions: what can be kept from the forward to the backward function of a rule."""
    match type_:
        case Closure(_, captured, _):
            return all(map(by_value, captured))
        case Tuple(items) | List(items) | Dict(_, items) | Union(items):
            return all(map(by_value, items))
    return differentiable(type_)


def tangent_machine(machine: Machine) -> Machine:
    """The type in which a rule is given, and gives, the tangent or cotangent of a value."""
    return ArrayRef(machine.dtype, machine.rank, True) if isinstance(machine, ArrayRef) else machine


def fitted(cx: Frame, title: str, given: AV, wanted: Type) -> AV:
    """The result of a rule as one of the function.  `title` begins the message where it is none."""
    if given.type == wanted:
        return given
    if isinstance(given.type, Union) and not isinstance(wanted, Union):
        return dispatch(cx, [given], lambda cx, one: fitted(cx, title, one[0], wanted))
    match wanted:
        case Number(dtype, _):
            number = as_number(cx, given)
            if isinstance(number.type, Number) and _casts(number.type, wanted):
                return AV(wanted, (convert(cx, number, dtype),))
        case Array(dtype, rank, contiguous):
            if isinstance(given.type, Array) and (given.type.dtype, given.type.rank) == (dtype, rank):
                _keep_ones(cx, given, wanted)
                strided = contiguous and not given.type.contiguous
                value = copy(cx, given, rows=True).value if strided else given.value
                relaxed = value if contiguous or value.type == ArrayRef(dtype, rank, False) else None
                return AV(wanted, (relaxed or cx.e("view_relax", value),))
        case Tuple(items) | List(items) | Dict(_, items):
            if _same_structure(given.type, wanted):
                parts = [fitted(cx, title, p, t) for p, t in zip(items_of(given), items, strict=True)]
                return AV(wanted, pack_tuple(parts).values)
        case _ if join(wanted, given.type) == wanted:
            return coerce(cx.e, given, wanted)
    raise cx.type_error(f"{title} {show(given.type)}, the function returns {show(wanted)}",
                        "the rule must return what the function returns",
                        "return a value of the same structure, dtype and rank")  # fmt: skip


def _casts(given: Number, wanted: Number) -> bool:
    """A Python number fits any float, a whole one any number; others must be of the dtype."""
    if given.dtype is wanted.dtype:
        return True
    return given.weak and (wanted.dtype.is_float or not given.dtype.is_float)


def _same_structure(given: Type, wanted: Type) -> bool:
    match given, wanted:
        case Dict(keys), Dict(other):
            return keys == other
        case (Tuple(items), Tuple(others)) | (List(items), List(others)):
            return len(items) == len(others)
    return False


def _keep_ones(cx: Frame, given: AV, wanted: Array) -> None:
    """Axes of which the function's type says that they are 1, or not, are so in what the rule returns."""
    assert isinstance(given.type, Array)
    sizes = array_sizes(cx, given)
    for axis, size in enumerate(sizes):
        known = wanted.is_one(axis)
        if known is not None and given.type.is_one(axis) is not known:
            right = cx.e("eq", size, cx.e.integer(1))
            message = "a rule must return an array of the shape that the function returns; axis {0} has size {1}"
            cx.check(right if known else cx.e("not_", right), "ValueError", message, cx.e.integer(axis), size)


def own(cx: Frame, results: Sequence[Value], given: Sequence[Value]) -> list[Value]:
    """The results, of which arrays share no memory with what is given, nor with one another."""
    known = [v for v in given if isinstance(v.type, ArrayRef)]
    found: list[Value] = []
    for value in results:
        if isinstance(value.type, ArrayRef):
            value = _apart(cx, value, known)
            known.append(value)
        found.append(value)
    return found


def _apart(cx: Frame, value: Value, others: Sequence[Value]) -> Value:
    """The array, or a copy where it may share memory with another."""
    assert isinstance(value.type, ArrayRef)
    others = [v for v in others if isinstance(v.type, ArrayRef) and v.type.dtype == value.type.dtype]
    if not others:
        return value
    meets = cx.e("array_overlap", others[0], value)
    for other in others[1:]:
        meets = cx.e("or_", meets, cx.e("array_overlap", other, value))
    kind = Array(value.type.dtype, value.type.rank, value.type.contiguous)

    def copied() -> list[AV]:
        fresh = copy(cx, AV(kind, (value,)), rows=True)
        return [AV(kind, (fresh.value if kind.contiguous else cx.e("view_relax", fresh.value),))]

    (found,) = cx.choose(meets, copied, lambda: [AV(kind, (value,))])
    return found.value


def gradients(
    cx: Frame, title: str, wanted: Sequence[tuple[str, Type]], given: Sequence[AV], sizes: Sequence[Value]
) -> list[Value]:
    """Cotangents of the float slots of arguments (name and type) as a rule returned them; None stands for zero.

    The tangent of a result is one too: it is like the result, which has no name.

    `sizes`: of all float arrays among the slots, axis by axis.
    """
    left = iter(sizes)
    found: list[Value] = []
    for (name, type_), av in zip(wanted, given, strict=True):
        for machine, value in zip(slots(type_), _cotangent(cx, title, name, type_, av), strict=True):
            if is_float(machine):
                extent = [next(left) for _ in range(machine.rank)] if isinstance(machine, ArrayRef) else []
                found.append(_whole(cx, name, machine, value, extent))
    return found


def _cotangent(cx: Frame, title: str, name: str, type_: Type, given: AV) -> list[Value | None]:
    """The tangent or cotangent of a value, or of a part of it, slot by slot; None for zeros."""
    if isinstance(given.type, NoneType):
        return [None] * len(slots(type_))
    if isinstance(type_, Tuple | List | Dict) and _same_structure(given.type, type_):
        pairs = zip(type_.items, items_of(given), strict=True)
        return [value for kind, part in pairs for value in _cotangent(cx, title, name, kind, part)]
    if isinstance(type_, Number) and isinstance(given.type, Union):  # a Python number or one of NumPy's
        kind = Number(type_.dtype, False)

        def number(cx: Frame, one: Sequence[AV]) -> AV:
            (value,) = _cotangent(cx, title, name, type_, one[0])
            return AV(kind, (cx.e.constant(0, slots(kind)[0]) if value is None else value,))

        return [dispatch(cx, [given], number).value]
    if not isinstance(type_, Tuple | List | Dict):
        with contextlib.suppress(CompileTypeError):
            return cotangent_slots(cx, type_, given)
    raise cx.type_error(f"{title} {show(given.type)} {_as_what(name)}, which is {show(type_)}",
                        "it must be of the same structure, shape and dtype", f"return {show(type_)}")  # fmt: skip


def _as_what(name: str) -> str:
    return f"as the cotangent of '{name}'" if name else "as the tangent of its result"


def _whole(cx: Frame, name: str, machine: Machine, value: Value | None, sizes: Sequence[Value]) -> Value:
    """The cotangent of one slot, of the shape of its argument; zeros where there is none."""
    if isinstance(machine, Scalar):
        return cx.e.constant(0, machine) if value is None else value
    assert isinstance(machine, ArrayRef)
    if value is None:
        return cx.e("array_zeros", *sizes, dtype=machine.dtype)
    kind = Array(machine.dtype, machine.rank, isinstance(value.type, ArrayRef) and value.type.contiguous)
    array = AV(kind, (value,))
    for axis, (size, n) in enumerate(zip(sizes, array_sizes(cx, array), strict=True)):
        what = f"cotangent of '{name}'" if name else "tangent of a result"
        message = f"a derivative rule must give the {what} its shape: in axis {axis} it has size {{0}}, not {{1}}"
        cx.check(cx.e("eq", size, n), "ValueError", message, n, size)
    return array.value if kind.contiguous else copy(cx, array, rows=True).value

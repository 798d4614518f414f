"""Abstract values: a type together with the machine values that represent it, and how they convert.

    AV(Tuple((float, int)), (%x: f64, %n: i64))
    join(float, np.float64)  ->  Union(float, np.float64): a tag and one shared f64 slot
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pullback.diagnostic import InternalError
from pullback.infer.lattice import family_of, join
from pullback.ir.node import Block, Value
from pullback.prims.base import Emitter, get
from pullback.types import (
    Array,
    ArrayRef,
    Box,
    BoxedFunction,
    Buffer,
    Closure,
    Constant,
    Dict,
    DType,
    Iterator,
    List,
    Machine,
    Never,
    Number,
    Scalar,
    Slice,
    Transformed,
    Tuple,
    Type,
    Unbound,
    Union,
    slot_positions,
    slots,
)  # fmt: skip

__all__ = ["AV", "MISSING", "coerce", "items_of", "members", "narrow", "zero"]

MISSING = object()  # AV.literal of a value that is not written as a literal


@dataclass(frozen=True, slots=True, eq=False)
class AV:
    """An abstract value.  `literal`: the Python constant it was written as, if it was."""

    type: Type
    values: tuple[Value, ...] = ()
    literal: object = MISSING

    def __post_init__(self) -> None:
        if len(self.values) != len(slots(self.type)):
            raise InternalError(f"{len(self.values)} values for {self.type}")

    @property
    def value(self) -> Value:
        """The only machine value."""
        (value,) = self.values
        return value


def items_of(av: AV) -> list[AV]:
    """The items of a fixed structure, each with its own machine values."""
    assert isinstance(av.type, Tuple | List | Dict | Iterator | Slice | Closure)
    parts = {Iterator: "parts", Slice: "parts", Closure: "captured"}.get(type(av.type), "items")
    items: list[AV] = []
    position = 0
    for type_ in getattr(av.type, parts):
        width = len(slots(type_))
        items.append(AV(type_, av.values[position : position + width]))
        position += width
    return items


def members(av: AV) -> list[AV]:
    """One abstract value per alternative; a value that is not a union is its only one."""
    if not isinstance(av.type, Union):
        return [av]
    return [narrow(av, member) for member in av.type.members]


def narrow(av: AV, member: Type) -> AV:
    """The union's value seen as one member."""
    assert isinstance(av.type, Union)
    return AV(member, tuple(av.values[i] for i in slot_positions(av.type, member)))


# ----------------------------------------------------------------------------------------------------- coerce


def zero(e: Emitter, machine: Machine) -> Value:
    """A placeholder of the machine type for a slot that is not read on this path."""
    match machine:
        case Scalar():
            return e.constant(0, machine)
        case ArrayRef(dtype, rank, contiguous):
            fresh = e("array_zeros", *[e.integer(0)] * rank, dtype=dtype)
            return fresh if contiguous else e("view_relax", fresh)
        case Box(name):
            return e("box_null", name=name)
        case Buffer(element):
            return e("buffer", e.integer(0), element=element)


def coerce(e: Emitter, av: AV, target: Type) -> AV:
    """The same Python value represented as `target`, a type that `join` made from the value's own."""
    source = av.type
    if source == target:
        return av
    if isinstance(source, Never):
        return AV(target, tuple(zero(e, slot) for slot in slots(target)))
    if isinstance(target, Union):
        return _into_union(e, av, target)
    if isinstance(target, BoxedFunction):
        return _into_box(e, av, target)
    match source, target:
        case Constant(value), Number(DType.BOOL, True):
            return AV(target, (e.boolean(value),))
        case Array(), Array():
            if slots(source) == slots(target):
                return AV(target, av.values)
            return AV(target, (e("view_relax", av.value),))
        case Tuple(), Tuple(inner) if len(source.items) == len(inner):
            return _structure(e, av, target, inner)
        case List(), List(inner) if len(source.items) == len(inner):
            return _structure(e, av, target, inner)
        case Dict(), Dict(_, inner):
            return _structure(e, av, target, inner)
        case (Slice(), Slice(inner)) | (Iterator(), Iterator(_, inner)) | (Closure(), Closure(_, inner, _)):
            return _structure(e, av, target, inner)
        case Transformed(_, function, _), Transformed(_, wanted, _):
            return AV(target, coerce(e, AV(function, av.values), wanted).values)
        case Unbound(), Unbound():
            return AV(target)
        case _:
            raise InternalError(f"no conversion from {source} to {target}")


def _structure(e: Emitter, av: AV, target: Type, inner: Sequence[Type]) -> AV:
    parts = [coerce(e, item, wanted) for item, wanted in zip(items_of(av), inner, strict=True)]
    return AV(target, tuple(value for part in parts for value in part.values))


def _into_box(e: Emitter, av: AV, target: BoxedFunction) -> AV:
    """A closure, or a union of closures, as a reference."""
    if isinstance(av.type, Union):
        choices = [_into_box(e, member, target) for member in members(av)]
        result = choices[-1].value
        for number in reversed(range(len(choices) - 1)):
            result = _choose(e, e("eq", av.values[0], e.integer(number)), choices[number].value, result)
        return AV(target, (result,))
    if av.type == target:
        return av
    if not isinstance(av.type, Closure):
        raise InternalError(f"no conversion from {av.type} to {target}")
    family = family_of(target)
    family.add(av.type)
    variant = family.index(av.type)
    assert variant is not None
    inner = _structure(e, av, family.members[variant], family.members[variant].captured)
    return AV(target, (e("box", *inner.values, name=str(family), variant=variant),))


def _fits(source: Type, target: Type) -> bool:
    return join(source, target) == target


def _into_union(e: Emitter, av: AV, target: Union) -> AV:
    if isinstance(av.type, Union):
        return _between_unions(e, av, target)
    index = next((i for i, member in enumerate(target.members) if _fits(av.type, member)), None)
    if index is None:
        raise InternalError(f"{av.type} is no member of {target}")
    inner = coerce(e, av, target.members[index])
    return AV(target, (e.integer(index), *_spread(e, inner, target)))


def _spread(e: Emitter, av: AV, union: Union) -> tuple[Value, ...]:
    """The payload of the union for one member: its values in place, placeholders elsewhere."""
    payload: list[Value | None] = [None] * (len(slots(union)) - 1)
    for position, value in zip(slot_positions(union, av.type), av.values, strict=True):
        payload[position - 1] = value
    machines = slots(union)[1:]
    return tuple(v if v is not None else zero(e, machines[i]) for i, v in enumerate(payload))


def _between_unions(e: Emitter, av: AV, target: Union) -> AV:
    assert isinstance(av.type, Union)
    alternatives = []
    for member in members(av):
        into = _into_union(e, member, target)
        alternatives.append(into)
    tag = av.values[0]
    result = list(alternatives[-1].values)
    for i in reversed(range(len(alternatives) - 1)):
        chosen = e("eq", tag, e.integer(i))
        for k, value in enumerate(alternatives[i].values):
            result[k] = _choose(e, chosen, value, result[k])
    return AV(target, tuple(result))


def _choose(e: Emitter, condition: Value, x: Value, y: Value) -> Value:
    if x is y:
        return x
    if isinstance(x.type, Scalar):
        return e("select", condition, x, y)
    assert x.type is not None
    return e.append(get("if"), [condition], blocks=[Block([], [], [x]), Block([], [], [y])], types=[x.type]).result


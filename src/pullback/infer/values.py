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
    I64,
    ZERO,
    Array,
    ArrayRef,
    Box,
    BoxedFunction,
    Buffer,
    Caught,
    Closure,
    Complex,
    Constant,
    Dict,
    DType,
    Environment,
    Iterator,
    List,
    Machine,
    Never,
    Number,
    Record,
    Ref,
    Scalar,
    Shadowed,
    Slice,
    Str,
    Table,
    Tame,
    Text,
    Transformed,
    Tuple,
    Type,
    Unbound,
    Union,
    Zero,
    slot_positions,
    slots,
)  # fmt: skip

__all__ = ["AV", "MISSING", "choose_value", "coerce", "items_of", "members", "narrow", "pair_of_shadowed",
           "zero"]  # fmt: skip

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
    assert isinstance(av.type, Tuple | List | Dict | Iterator | Slice | Closure | Record)
    parts = {Iterator: "parts", Slice: "parts", Closure: "captured"}.get(type(av.type), "items")
    items: list[AV] = []
    position = 0
    for type_ in getattr(av.type, parts):
        width = len(slots(type_))
        items.append(AV(type_, av.values[position : position + width]))
        position += width
    return items


def pair_of_shadowed(av: AV) -> tuple[AV, AV]:
    """The array and its shadow."""
    assert isinstance(av.type, Shadowed)
    half = len(slots(av.type.primal))
    return AV(av.type.primal, av.values[:half]), AV(av.type.shadow, av.values[half:])


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
        case Table():
            raise InternalError("a reference to a table is no part of a value")


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
    if isinstance(source, Union) and isinstance(target, Text):
        return _one_of_texts(e, av, target)
    if isinstance(source, Zero):
        return _from_zero(e, target)
    if isinstance(source, Union):
        return _to_one(e, av, target)
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
        case Record(), Record(_, inner):
            return _structure(e, av, target, inner)
        case (Slice(), Slice(inner)) | (Iterator(), Iterator(_, inner)) | (Closure(), Closure(_, inner, _)):
            return _structure(e, av, target, inner)
        case Transformed(_, function, _), Transformed(_, wanted, _):
            return AV(target, coerce(e, AV(function, av.values), wanted).values)
        case Tame(), Number():
            return AV(target, av.values)
        case Unbound(), Unbound():
            return AV(target)
        case Str(value), Text():
            attrs: dict[str, object] = {"function": "value", "kinds": (), "type": I64, "constant": value, "text": True}
            return AV(target, (e.append(get("text_call"), (), attrs=attrs, types=[I64]).result,))
        case Complex(real, _), Complex(first, second):
            half = len(slots(real))
            parts = (AV(real, av.values[:half]), AV(source.imag, av.values[half:]))
            found = [coerce(e, part, wanted) for part, wanted in zip(parts, (first, second), strict=True)]
            return AV(target, tuple(value for part in found for value in part.values))
        case Shadowed(), Shadowed(primal, shadow):
            pair = zip(pair_of_shadowed(av), (primal, shadow), strict=True)
            return AV(target, tuple(v for one, wanted in pair for v in coerce(e, one, wanted).values))
        case Caught(), Caught():
            return AV(target, av.values)
        case Ref(), Ref():
            return AV(target, av.values)  # one heap now
        case _:
            raise InternalError(f"no conversion from {source} to {target}")


def _to_one(e: Emitter, av: AV, target: Type) -> AV:
    """A union all of whose members are represented in one type: a sensitivity that may be zero."""
    choices = [coerce(e, member, target).values for member in members(av)]
    result = list(choices[-1])
    for number in reversed(range(len(choices) - 1)):
        chosen = e("eq", av.values[0], e.integer(number))
        result = [choose_value(e, chosen, x, y) for x, y in zip(choices[number], result, strict=True)]
    return AV(target, tuple(result))


def _from_zero(e: Emitter, target: Type) -> AV:
    """The sensitivity zero in the type of others."""
    match target:
        case Number() | Tame():
            return AV(target, (e.constant(0, slots(target)[0]),))
        case Tuple(items) | Closure(Environment(), items):
            return AV(target, tuple(v for item in items for v in coerce(e, AV(ZERO), item).values))
    raise InternalError(f"no zero of {target}")


def _structure(e: Emitter, av: AV, target: Type, inner: Sequence[Type]) -> AV:
    parts = [coerce(e, item, wanted) for item, wanted in zip(items_of(av), inner, strict=True)]
    return AV(target, tuple(value for part in parts for value in part.values))


def _into_box(e: Emitter, av: AV, target: BoxedFunction) -> AV:
    """A closure, or a union of closures, as a reference."""
    if isinstance(av.type, Union):
        choices = [_into_box(e, member, target) for member in members(av)]
        result = choices[-1].value
        for number in reversed(range(len(choices) - 1)):
            result = choose_value(e, e("eq", av.values[0], e.integer(number)), choices[number].value, result)
        return AV(target, (result,))
    if av.type == target:
        return av
    if isinstance(av.type, Zero):
        av = AV(Closure(Environment(ZERO), (), "nothing"))
    if not isinstance(av.type, Closure):
        raise InternalError(f"no conversion from {av.type} to {target}")
    family = family_of(target)
    family.add(av.type)
    variant = family.index(av.type)
    assert variant is not None
    inner = _structure(e, av, family.members[variant], family.members[variant].captured)
    return AV(target, (e("box", *inner.values, name=str(family), variant=variant),))


def _one_of_texts(e: Emitter, av: AV, target: Text) -> AV:
    """A string that is one of several as a run-time one."""
    choices = [coerce(e, member, target).value for member in members(av)]
    result = choices[-1]
    for number in reversed(range(len(choices) - 1)):
        result = choose_value(e, e("eq", av.values[0], e.integer(number)), choices[number], result)
    return AV(target, (result,))


def _fits(source: Type, target: Type) -> bool:
    return join(target, source) == target  # in this order: members of unions inside keep theirs


def _into_union(e: Emitter, av: AV, target: Union) -> AV:
    if isinstance(av.type, Union):
        return _between_unions(e, av, target)
    exact = [i for i, member in enumerate(target.members) if member == av.type]
    index = next((i for i, member in enumerate(target.members) if _fits(av.type, member)), None)
    index = exact[0] if exact else index
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
            result[k] = choose_value(e, chosen, value, result[k])
    return AV(target, tuple(result))


def choose_value(e: Emitter, condition: Value, x: Value, y: Value) -> Value:
    """The machine value of one of two alternatives."""
    if x is y:
        return x
    if isinstance(x.type, Scalar):
        return e("select", condition, x, y)
    assert x.type is not None
    return e.append(get("if"), [condition], blocks=[Block([], [], [x]), Block([], [], [y])], types=[x.type]).result


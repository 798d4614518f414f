"""Values and sensitivities taken apart into one for each machine value, and put together again.

    flat:                 a value of ((float, int), array)            ->    (float, int, array)
    flat_sensitivity:     the sensitivity of such a value             ->    (float, zero, array)
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from pullback.diagnostic import InternalError
from pullback.infer.dispatch import dispatch
from pullback.infer.engine import Code, Frame
from pullback.infer.lattice import join
from pullback.infer.sensitivities import (
    UNLIKE,
    add,
    environment,
    impossible,
    kind_of,
    opened,
    pack,
    part,
    sensitive,
    zero,
)
from pullback.infer.shadowed import (
    holds_shadowed,
    inner_array,
    inside,
    inside_types,
    pair,
    rebuilt_as,
    tracks,
    with_array,
)  # fmt: skip
from pullback.infer.shadowed_unions import halves, joined
from pullback.infer.structures import restrict
from pullback.infer.values import AV, coerce, items_of, pair_of_shadowed
from pullback.types import (
    Array,
    ArrayRef,
    BoxedFunction,
    Closure,
    Complex,
    Dict,
    Iterator,
    List,
    Number,
    Range,
    Scalar,
    Shadowed,
    Slice,
    Tame,
    Transformed,
    Tuple,
    Type,
    Union,
    Zero,
    is_float,
    show,
    slot_positions,
    slots,
)  # fmt: skip

__all__ = ["flat", "flat_sensitivity", "is_mixed", "leaves", "regrouped", "regrouped_sensitivity"]


def leaves(cx: Frame, type_: Type) -> list[Type]:
    """A type of its own for each machine value of a type."""
    match type_:
        case Number(dtype):
            return [Number(dtype, weak=False)]  # one kind, so that what branches choose from them is one number
        case Array() | BoxedFunction() | Tame() | Shadowed():
            return [type_]
        case Closure() if is_opaque(cx, type_):
            return [type_]
        case Tuple(items) | List(items) | Dict(_, items) | Iterator(_, items) | Closure(_, items, _):
            return [leaf for item in items for leaf in leaves(cx, item)]
        case Slice(items):
            return [leaf for item in items for leaf in leaves(cx, item)]
        case Complex(real, imag):
            return [leaf for item in (real, imag) for leaf in leaves(cx, item)]
        case Transformed(_, function, _):
            return leaves(cx, function)
        case Range() | Union():
            return [_leaf(cx, type_, machine) for machine in slots(type_)]
    if slots(type_) and not sensitive(type_) and all(isinstance(machine, Scalar) for machine in slots(type_)):
        return [_leaf(cx, type_, machine) for machine in slots(type_)]
    if slots(type_):
        raise cx.error(f"{show(type_)} has no backpropagator in the formulation by closures",
                       "this cannot be differentiated by closures",
                       "differentiate it in the default formulation")  # fmt: skip
    return []


def _leaf(cx: Frame, type_: Type, machine: object) -> Type:
    match machine:
        case Scalar(dtype):
            return Number(dtype, weak=False)
        case ArrayRef(dtype, rank, contiguous):
            return Array(dtype, rank, contiguous)
    raise cx.error(f"{show(type_)} has no backpropagator in the formulation by closures",
                   "this cannot be differentiated by closures",
                   "differentiate it in the default formulation")  # fmt: skip


def flat(cx: Frame, value: AV, type_: Type) -> AV:
    """The machine values as a tuple."""
    if holds_shadowed(value.type):
        return pack(_units(cx, value, type_))
    found = leaves(cx, type_)
    return AV(Tuple(tuple(found)), value.values)


def _units(cx: Frame, value: AV, type_: Type) -> list[AV]:
    """The machine values, arrays with their shadows.  `type_`: the value's without shadows."""
    if isinstance(value.type, Shadowed) or is_opaque(cx, value.type):
        return [value]
    if not holds_shadowed(value.type):
        return [AV(t, (v,)) for t, v in zip(leaves(cx, type_), value.values, strict=True)]
    if isinstance(value.type, Union) and isinstance(type_, Union):
        found = [half if holds_shadowed(half.type) else coerce(cx.e, half, type_) for half in halves(cx, value)]
        both = zip(*(_units(cx, half, type_) for half in found), strict=True)
        return [pair(p, s) if tracks(p.type) else p for p, s in both]
    if type(value.type) is not type(type_):
        raise _no_backpropagator(cx, type_)
    pairs = zip(inside(value), inside_types(type_), strict=True)
    return [unit for item, kind in pairs for unit in _units(cx, item, kind)]


def is_opaque(cx: Frame, type_: Type) -> bool:
    """A backpropagator, where arrays have shadows: only its own code knows which of them it captured."""
    known = isinstance(type_, Closure) and isinstance(type_.code, Code) and type_.code.untyped.attrs.get("derivative")
    return cx.session.shadowed and bool(known) and bool(slots(type_))


def _no_backpropagator(cx: Frame, type_: Type) -> Exception:
    return cx.error(f"{show(type_)} has no backpropagator in the formulation by closures, where arrays are written",
                    "this cannot be differentiated by closures",
                    "differentiate it in the default formulation")  # fmt: skip


def regrouped(cx: Frame, parts: Sequence[AV], type_: Type) -> AV:
    """A value of the type from its machine values."""
    wanted = leaves(cx, type_)
    if any(holds_shadowed(av.type) for av in parts):
        return _of_units(cx, list(parts), type_)
    values = [coerce(cx.e, av, leaf).values if isinstance(leaf, BoxedFunction) else av.values
              for av, leaf in zip(parts, wanted, strict=True)]  # fmt: skip
    return AV(type_, tuple(v for found in values for v in found))


def _of_units(cx: Frame, parts: list[AV], type_: Type) -> AV:
    """A value of the first of the parts, which are used up."""
    if isinstance(type_, Array | Shadowed) and isinstance(parts[0].type, Shadowed):
        taken = parts.pop(0)
        return coerce(cx.e, taken, with_array(taken.type, inner_array(type_)))
    if is_opaque(cx, type_):
        return parts.pop(0)
    if inside_types(type_) and not isinstance(type_, Union):
        return rebuilt_as(type_, [_of_units(cx, parts, item) for item in inside_types(type_)])
    count = len(leaves(cx, type_))
    own, parts[:] = parts[:count], parts[count:]
    if not any(isinstance(part.type, Shadowed) for part in own):
        return regrouped(cx, own, type_)
    if not isinstance(type_, Union):
        raise _no_backpropagator(cx, type_)
    both = ([pair_of_shadowed(p)[n] if isinstance(p.type, Shadowed) else p for p in own] for n in range(2))
    return joined(cx, *(_of_units(cx, half, type_) for half in both))


def flat_sensitivity(cx: Frame, whole: AV, type_: Type, level: int = 0, value: AV | None = None) -> list[AV]:
    """The sensitivity of a value of the type, one for each of its machine values.

    level: of a sensitivity of such a value, or of one of that.  value: itself, for unions of unlike kinds of values.
    """
    if isinstance(whole.type, Zero) or not sensitive(type_):
        return [zero()] * len(leaves(cx, type_))
    match type_:
        case Number() | Array() | Tame():
            return [_matching(cx, whole, type_)]
        case Closure() if is_opaque(cx, type_):
            return [whole]
        case BoxedFunction():
            return [whole]
        case Transformed(_, function, _):
            return flat_sensitivity(cx, whole, function, level, None if value is None else inside(value)[0])
        case Tuple(items) | List(items) | Dict(_, items) | Iterator(_, items):
            parts = [part(cx, whole, i) for i in range(len(items))]
        case Complex(real, imag):  # of a tuple of its parts
            return flat_sensitivity(cx, whole, Tuple((real, imag)), level)
        case Closure(code, items):
            parts = opened(cx, whole, kind_of(code, level), len(items))
        case Union():
            if value is not None and is_mixed(type_):
                return _flat_mixed(cx, whole, type_, level, value)
            return _flat_union(cx, whole, type_)
        case _:
            raise InternalError(f"no sensitivity of {show(type_)}")
    values = [None] * len(items) if value is None else inside(value)
    return [leaf for item, s, v in zip(items, parts, values, strict=True)
            for leaf in flat_sensitivity(cx, s, item, level, v)]  # fmt: skip


def _flat_union(cx: Frame, whole: AV, type_: Union) -> list[AV]:
    """Of a union of numbers and of what has no sensitivity: the number's own, in its slot."""
    _only_numbers(cx, type_)
    found: list[AV] = []
    for machine in slots(type_):
        if not is_float(machine):
            found.append(zero())
            continue
        wanted = _leaf(cx, type_, machine)
        found.append(dispatch(cx, [whole], lambda cx, one, w=wanted: one[0] if _same_leaf(one[0].type, w) else zero()))  # type: ignore[misc]
    return found


def _flat_mixed(cx: Frame, whole: AV, type_: Union, level: int, value: AV) -> list[AV]:
    """Of a union of unlike kinds of values: the value says which of them its sensitivity is of."""

    def rule(cx: Frame, one: Sequence[AV]) -> AV:
        found, kind = [zero()] * len(slots(type_)), _member(cx, type_, one[0].type)
        own = flat_sensitivity(cx, whole, kind, level, one[0])
        for place, leaf in zip(slot_positions(type_, kind), own, strict=True):
            found[place] = leaf
        return pack(found)

    return items_of(dispatch(cx, [value], rule))


def _member(cx: Frame, type_: Union, kind: Type) -> Type:
    """The member of a union that a value is; more may be known of its arrays than the union says."""
    alike = [kind] if kind in type_.members else [m for m in type_.members if _outline(m) == _outline(kind)]
    if len(alike) == 1:
        return alike[0]
    raise _unlike(cx, type_)


def _outline(type_: Type) -> Hashable:
    match type_:
        case Closure(code):
            return code
        case Number(dtype):
            return dtype
        case Array(dtype, rank):
            return dtype, rank
    return type(type_), tuple(map(_outline, inside_types(type_)))


def is_mixed(type_: Type) -> bool:
    """Is there a union whose members have sensitivities of unlike structure, such as functions and numbers."""
    if isinstance(type_, Union):
        return not all(isinstance(member, Number | Array) or not sensitive(member) for member in type_.members)
    return any(map(is_mixed, inside_types(type_)))


def _matching(cx: Frame, whole: AV, leaf: Type) -> AV:
    """The sensitivity of a value that is known to be a number or array of that kind."""
    if not isinstance(whole.type, Union):
        return whole if isinstance(whole.type, Zero) or _same_leaf(whole.type, leaf) else _vanished(cx, whole)
    found = restrict(cx, whole, tuple(t for t in whole.type.members if isinstance(t, Zero) or _same_leaf(t, leaf)))
    if not isinstance(found.type, Union):
        return found
    merged = found.type.members[0]
    for member in found.type.members[1:]:
        merged = join(merged, member)
    return coerce(cx.e, found, merged)


def _vanished(cx: Frame, whole: AV) -> AV:
    """A sensitivity of another kind of number: there it is zero, which took the type of what it was merged with."""
    if not isinstance(whole.type, Number | Tame):
        return impossible(cx)
    cx.check(cx.e("eq", whole.value, cx.e.like(0.0, whole.value)), "SystemError", UNLIKE)
    return zero()


def _same_leaf(type_: Type, leaf: Type) -> bool:
    match type_, leaf:
        case (Number(x) | Tame(x)), (Number(y) | Tame(y)):
            return x == y
        case Array(x, rank), Array(y, other):
            return (x, rank) == (y, other)
    return False


def _only_numbers(cx: Frame, type_: Union) -> None:
    if is_mixed(type_):
        raise _unlike(cx, type_)


def _unlike(cx: Frame, type_: Type) -> Exception:
    return cx.error(f"{show(type_)} has no backpropagator in the formulation by closures",
                    "these types have sensitivities of unlike structure",
                    "differentiate it in the default formulation")  # fmt: skip


def regrouped_sensitivity(
    cx: Frame, parts: Sequence[AV], type_: Type, level: int = 0, value: AV | None = None
) -> AV:
    """The sensitivity of a value of the type from those of its machine values; `value` as in `flat_sensitivity`."""
    if all(isinstance(p.type, Zero) for p in parts) or not sensitive(type_):
        return zero()
    match type_:
        case Number() | Array() | BoxedFunction() | Tame():
            return parts[0]
        case Closure() if is_opaque(cx, type_):
            return parts[0]
        case Transformed(_, function, _):
            return regrouped_sensitivity(cx, parts, function, level, None if value is None else inside(value)[0])
        case Tuple(items) | List(items) | Dict(_, items) | Iterator(_, items):
            return pack(_regrouped_items(cx, parts, items, level, value))
        case Complex(real, imag):
            return pack(_regrouped_items(cx, parts, (real, imag), level, None))
        case Closure(code, items):
            return environment(kind_of(code, level), _regrouped_items(cx, parts, items, level, value))
        case Union() if value is not None and is_mixed(type_):

            def rule(cx: Frame, one: Sequence[AV]) -> AV:
                kind = _member(cx, type_, one[0].type)
                own = [parts[place] for place in slot_positions(type_, kind)]
                return regrouped_sensitivity(cx, own, kind, level, one[0])

            return dispatch(cx, [value], rule)
        case Union():
            _only_numbers(cx, type_)
            total = zero()  # only that of the number which the value is can be other than zero
            for part_, machine in zip(parts, slots(type_), strict=True):
                total = add(cx, total, part_) if is_float(machine) else total
            return total
    raise InternalError(f"no sensitivity of {show(type_)}")


def _regrouped_items(
    cx: Frame, parts: Sequence[AV], items: Sequence[Type], level: int, value: AV | None
) -> list[AV]:
    found: list[AV] = []
    position = 0
    for item, own in zip(items, [None] * len(items) if value is None else inside(value), strict=True):
        width = len(leaves(cx, item))
        found.append(regrouped_sensitivity(cx, parts[position : position + width], item, level, own))
        position += width
    return found

"""Sensitivities as abstract values: what `py.sum`, `py.part`, `py.environment` and their like mean for types.

    of a float or an array             a number or an array of the same dtype
    of a tuple, list or dict           a tuple
    of a function                      Closure(Environment(function), sensitivities of what it captured)
    of anything else, and where        Zero, which takes no machine value: what is never added up costs nothing
    nothing depends on a value

An environment is of the kind of closures, so that those of recursive functions become references to boxes like the
functions themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence

from pullback.diagnostic import InternalError
from pullback.infer.binding import pack_tuple as pack
from pullback.infer.dispatch import dispatch
from pullback.infer.elementwise import array_sizes, elementwise
from pullback.infer.engine import Code, Frame
from pullback.infer.lattice import WEAK_BOOL, family_of
from pullback.infer.shadowed import inside
from pullback.infer.structures import restrict
from pullback.infer.values import AV, coerce, items_of
from pullback.types import (
    ZERO,
    Array,
    ArrayRef,
    BoxedFunction,
    Closure,
    Complex,
    Dict,
    Environment,
    Iterator,
    List,
    Number,
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
    slots,
)  # fmt: skip

__all__ = [
    "UNLIKE", "add", "arity", "environment", "filled", "impossible", "injected", "is_environment", "kind_of", "opened",
    "pack",
    "part", "sensitive", "unboxed", "zero",
]  # fmt: skip

UNLIKE = "sensitivities of unlike structure meet here"
_STRUCTURES = Tuple | List | Dict | Iterator | Slice | Closure


def zero() -> AV:
    """No sensitivity."""
    return AV(ZERO)


def kind_of(code: Hashable, level: int = 0) -> Hashable:
    """By what environments of functions of that code are told from others; `level`: those of their sensitivities."""
    if level > 0:
        return ("sensitivity", kind_of(code, level - 1))
    if isinstance(code, Code):
        return code.untyped.attrs.get("root", code.untyped)
    return ("sensitivity", _bare_kind(code.of)) if isinstance(code, Environment) else code


def _bare_kind(of: Hashable) -> Hashable:
    """Without what tells apart where the links of a loop were made."""
    return of[:2] if isinstance(of, tuple) and of[0] == "link" else of


def sensitive(type_: Type) -> bool:
    """Can a value of the type have a sensitivity."""
    match type_:
        case Number(dtype) | Array(dtype) | Tame(dtype):
            return dtype.is_float
        case Transformed(_, function, _):
            return sensitive(function)
        case BoxedFunction():
            return True
        case Shadowed():
            return False  # its elements have, in the shadow
        case Union(kinds):
            return any(map(sensitive, kinds))
        case Tuple(items) | List(items) | Dict(_, items) | Iterator(_, items) | Closure(_, items, _):
            return any(map(sensitive, items))
        case _:
            return any(map(is_float, slots(type_)))


# ------------------------------------------------------------------------------------------- parts and environments


def impossible(cx: Frame) -> AV:
    """Where types meet that never do when the code runs: references are opened for every kind that may stand there."""
    cx.check(cx.e.boolean(False), "SystemError", UNLIKE)
    cx.stop()
    return zero()


def part(cx: Frame, whole: AV, index: int) -> AV:
    """One of a tuple's sensitivities, or one item of a tuple that is known to be one."""
    if isinstance(whole.type, Union):
        return dispatch(cx, [whole], lambda cx, operands: part(cx, operands[0], index))
    if isinstance(whole.type, Zero):
        return whole
    items = items_of(whole) if isinstance(whole.type, _STRUCTURES) else []
    return items[index] if index < len(items) else impossible(cx)


def arity(cx: Frame, type_: Type) -> int:
    """How many items the sensitivity of a value of the type has."""
    match type_:
        case Tuple(items) | List(items) | Dict(_, items) | Iterator(_, items):
            return len(items)
        case Slice():
            return 3
        case Union(kinds) if len({arity(cx, kind) for kind in kinds if not isinstance(kind, Zero)}) == 1:
            return next(arity(cx, kind) for kind in kinds if not isinstance(kind, Zero))
        case Zero():
            return 0
    raise InternalError(f"{show(type_)} has no parts")


def injected(item: AV, index: int, count: int) -> AV:
    """The sensitivity of a tuple of which only one item has one."""
    if isinstance(item.type, Zero):
        return item
    return pack([item if i == index else zero() for i in range(count)]) if count else zero()


def environment(of: Hashable, items: Sequence[AV]) -> AV:
    """The sensitivities of what a function captured."""
    type_ = Closure(Environment(of), tuple(item.type for item in items), "environment")
    return AV(type_, tuple(v for item in items for v in item.values))


def _is_kind(type_: Type, of: Hashable) -> bool:
    return isinstance(type_, Closure) and isinstance(type_.code, Environment) and _same_kind(type_.code.of, of)


def _same_kind(a: Hashable, b: Hashable) -> bool:
    """Kinds of the links of one loop are one: where they were made is told apart only to keep types apart."""
    if isinstance(a, tuple) and isinstance(b, tuple) and a[0] == b[0]:
        return _same_kind(a[1], b[1]) if a[0] == "sensitivity" else a[:2] == b[:2]
    return a == b


def opened(cx: Frame, whole: AV, of: Hashable, count: int) -> list[AV]:
    """The items of an environment of that kind; other kinds cannot be met where it is opened."""
    match whole.type:
        case Zero():
            return [zero()] * count
        case BoxedFunction():
            return _opened_box(cx, whole, of, count)
        case Closure() if _is_kind(whole.type, of):
            return items_of(whole)
        case Union(kinds):
            known = tuple(t for t in kinds if _is_kind(t, of) or isinstance(t, Zero | BoxedFunction))
            if not known:
                return [impossible(cx)] * count
            found = restrict(cx, whole, known)
            if isinstance(found.type, Union) and found.type.members == known:
                return items_of(dispatch(cx, [found], lambda cx, one: pack(opened(cx, one[0], of, count))))
            return opened(cx, found, of, count)
    return [impossible(cx)] * count


def _variants(whole: AV, wanted: Callable[[Closure], bool]) -> list[int]:
    assert isinstance(whole.type, BoxedFunction)
    return [number for number, member in enumerate(family_of(whole.type).members) if wanted(member)]


def unboxed(cx: Frame, whole: AV, number: int) -> AV:
    """What a reference holds that is of that variant."""
    assert isinstance(whole.type, BoxedFunction)
    family = family_of(whole.type)
    member = family.members[number]
    attrs: dict[str, object] = {
        "name": str(family), "variant": number, "types": tuple(s for t in member.captured for s in slots(t)),
    }  # fmt: skip
    found = cx.e.op("unbox", whole.value, **attrs)
    return AV(member, tuple(found.results))


def _opened_box(cx: Frame, whole: AV, of: Hashable, count: int) -> list[AV]:
    found = _variants(whole, lambda member: _is_kind(member, of))
    nothing = _variants(whole, lambda member: _is_kind(member, ZERO))
    if not found and not nothing:
        return [impossible(cx)] * count
    tag = cx.e("box_tag", whole.value)

    def rest(left: list[int]) -> list[AV]:
        if not left:
            cx.check(cx.e("eq", tag, cx.e.integer(nothing[0])), "SystemError", UNLIKE)
            return [zero()] * count
        if len(left) == 1 and not nothing:
            return items_of(unboxed(cx, whole, left[0]))
        hit = cx.e("eq", tag, cx.e.integer(left[0]))
        return cx.choose(hit, lambda: items_of(unboxed(cx, whole, left[0])), lambda: rest(left[1:]))

    return rest(found)


def is_environment(cx: Frame, whole: AV, of: Hashable) -> bool | AV:
    """Is the value an environment of that kind: known, or a condition (of weak bools)."""
    match whole.type:
        case Union():
            return dispatch(cx, [whole], lambda cx, one: _as_bool(cx, is_environment(cx, one[0], of)))
        case BoxedFunction():
            condition = cx.e.boolean(False)
            for number in _variants(whole, lambda member: _is_kind(member, of)):
                hit = cx.e("eq", cx.e("box_tag", whole.value), cx.e.integer(number))
                condition = cx.e("or_", condition, hit)
            return AV(WEAK_BOOL, (condition,))
    return _is_kind(whole.type, of)


def _as_bool(cx: Frame, found: bool | AV) -> AV:
    return found if isinstance(found, AV) else AV(WEAK_BOOL, (cx.e.boolean(found),))


# ----------------------------------------------------------------------------------------------------------- sums


def add(cx: Frame, a: AV, b: AV, *, inside: bool = False) -> AV:
    """a + b.  `inside`: references are opened here; elsewhere a function does that, which may call itself."""
    for x, y in ((a, b), (b, a)):
        if isinstance(x.type, Zero):
            return y
    if isinstance(a.type, BoxedFunction) or isinstance(b.type, BoxedFunction):
        return _add_boxes(cx, a, b) if inside else cx.session.backward.add(cx, a, b)  # type: ignore[union-attr]
    match a.type, b.type:
        case (Union(), _) | (_, Union()):
            return dispatch(cx, [a, b], lambda cx, pair: add(cx, *pair))
        case (Number(dtype) | Tame(dtype)), (Number(other) | Tame(other)) if dtype == other:
            both = isinstance(a.type, Tame) and isinstance(b.type, Tame)
            kind = Tame(dtype) if both else Number(dtype, weak=False)
            return AV(kind, (cx.e("accumulate", a.value, b.value),))
        case (Number() | Tame()), (Number() | Tame()):
            return _add_unlike(cx, a, b)
        case Array(), Array():
            return elementwise(cx, [a, b], lambda cx, items: add(cx, *items))
        case (Tuple(p), Tuple(q)) if len(p) == len(q):
            return pack([add(cx, *pair) for pair in zip(items_of(a), items_of(b), strict=True)])
        case Closure(Environment(of), p), Closure(Environment(same), q) if of == same and len(p) == len(q):
            return environment(of, [add(cx, *pair) for pair in zip(items_of(a), items_of(b), strict=True)])
    return impossible(cx)


def _add_unlike(cx: Frame, a: AV, b: AV) -> AV:
    """Of a value that is one of two kinds of number: one of the two is zero, which took the type of another branch."""

    def first() -> list[AV]:
        cx.check(cx.e("eq", b.value, cx.e.like(0.0, b.value)), "SystemError", UNLIKE)
        return [a]

    return cx.choose(cx.e("eq", a.value, cx.e.like(0.0, a.value)), lambda: [b], first)[0]


def _add_boxes(cx: Frame, a: AV, b: AV) -> AV:
    """The sum of two references: of one kind, or one of them nothing."""
    reference = a.type if isinstance(a.type, BoxedFunction) else b.type
    assert isinstance(reference, BoxedFunction)
    a, b = (coerce(cx.e, av, reference) for av in (a, b))
    family = family_of(reference)
    kinds = [n for n, member in enumerate(family.members) if not _is_kind(member, ZERO)]
    nothing = _variants(a, lambda member: _is_kind(member, ZERO))
    tag = cx.e("box_tag", a.value)

    def both(number: int) -> AV:
        cx.check(cx.e("eq", cx.e("box_tag", b.value), cx.e.integer(number)), "SystemError", UNLIKE)
        total = add(cx, unboxed(cx, a, number), unboxed(cx, b, number))
        family.add(total.type)  # type: ignore[arg-type]
        return coerce(cx.e, total, reference)

    def rest(left: list[int]) -> AV:
        if len(left) == 1:
            return both(left[0])
        hit = cx.e("eq", tag, cx.e.integer(left[0]))
        return cx.choose(hit, lambda: [both(left[0])], lambda: [rest(left[1:])])[0]

    if not nothing:
        return rest(kinds)
    absent = cx.e("eq", tag, cx.e.integer(nothing[0]))

    def second() -> AV:
        other = cx.e("eq", cx.e("box_tag", b.value), cx.e.integer(nothing[0]))
        return cx.choose(other, lambda: [a], lambda: [rest(kinds)])[0]

    return cx.choose(absent, lambda: [b], lambda: [second()])[0]


def filled(cx: Frame, sensitivity: AV, value: AV) -> AV:
    """Zeros in the shape of the value, where it holds arrays and the sensitivity is zero."""
    if cx.session.shadowed or not any(isinstance(slot, ArrayRef) and is_float(slot) for slot in slots(value.type)):
        return sensitivity  # where arrays have shadows, they have no sensitivity as values
    if isinstance(sensitivity.type, Union):
        return dispatch(cx, [sensitivity], lambda cx, one: filled(cx, one[0], value))
    match value.type:
        case Array(dtype, rank) if isinstance(sensitivity.type, Zero):
            zeros = cx.e("array_zeros", *array_sizes(cx, value), dtype=dtype)
            return AV(Array(dtype, rank, True, ones=value.type.ones), (zeros,))
        case Tuple() | List() | Dict() | Iterator() | Complex():
            parts = inside(value)
            items = [part(cx, sensitivity, i) for i in range(len(parts))]
            return pack([filled(cx, s, v) for s, v in zip(items, parts, strict=True)])
        case Closure(code):
            parts = items_of(value)
            items = opened(cx, sensitivity, kind_of(code), len(parts))
            return environment(kind_of(code), [filled(cx, s, v) for s, v in zip(items, parts, strict=True)])
    return sensitivity

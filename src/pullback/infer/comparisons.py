"""Comparisons of objects: special methods, the ones that dataclass writes, and identity.

    a < b       a.__lt__(b), or b.__gt__(a) where that is missing or gives NotImplemented
    a == b      the same; without any the identity.  a != b is not a == b, unless there is a __ne__
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from dataclasses import dataclass

from pullback.infer.binding import pack_tuple
from pullback.infer.classes import instance_class, is_generated
from pullback.infer.engine import Frame
from pullback.infer.heaps import is_object
from pullback.infer.lattice import WEAK_BOOL
from pullback.infer.objects import object_attribute
from pullback.infer.protocols import NOT_IMPLEMENTED, call_special, first_implemented, reflected_first, special_method
from pullback.infer.values import AV, members
from pullback.ir.node import Value
from pullback.types import Constant, Ref, Type, Union, show, slots

__all__ = ["Logic", "compare_objects", "is_constant_union", "same_member", "same_object"]

_METHODS = {"==": "__eq__", "!=": "__ne__", "<": "__lt__", "<=": "__le__", ">": "__gt__", ">=": "__ge__"}
_SWAPPED = {"==": "==", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}


@dataclass(frozen=True, slots=True)
class Logic:
    """Comparison of any values, truth and negation."""

    compare: Callable[[Frame, str, AV, AV], AV]
    truth: Callable[[Frame, AV], AV]
    negate: Callable[[Frame, AV], AV]


def compare_objects(cx: Frame, operator: str, a: AV, b: AV, logic: Logic) -> AV | None:
    """`a operator b` where one is an object; None where it has no meaning of its own."""
    swapped = _SWAPPED[operator]
    objects = is_object(a.type) or is_object(b.type)
    if not objects and not any(special_method(cx, av.type, _METHODS[operator]) for av in (a, b)):
        return None
    attempts = [lambda: _attempt(cx, operator, a, b, logic), lambda: _attempt(cx, swapped, b, a, logic)]
    if reflected_first(cx, a.type, b.type, _METHODS[swapped]):
        attempts.reverse()
    if operator in ("==", "!="):
        attempts.append(lambda: same_object(cx, a, b, wanted=operator == "=="))
    found = first_implemented(cx, attempts)
    if found is None:
        title = f"'{operator}' not supported between instances of '{show(a.type)}' and '{show(b.type)}'"
        raise cx.error(title, "these have no order", f"define {_METHODS[operator]}", raised=("TypeError", title))
    return found


def _attempt(cx: Frame, operator: str, a: AV, b: AV, logic: Logic) -> AV | None:
    found = special_method(cx, a.type, _METHODS[operator])
    if found is None:
        return _unequal(cx, a, b, logic) if operator == "!=" else None
    if is_generated(found[1]) and dataclasses.is_dataclass(found[0]):
        return _fields(cx, operator, found[0], a, b, logic)
    return call_special(cx, _METHODS[operator], a, b)


def _unequal(cx: Frame, a: AV, b: AV, logic: Logic) -> AV | None:
    """The default of !=: not ==."""
    equal = first_implemented(cx, [lambda: _attempt(cx, "==", a, b, logic)])
    return None if equal is None else logic.negate(cx, logic.truth(cx, equal))


def _fields(cx: Frame, operator: str, cls: type, a: AV, b: AV, logic: Logic) -> AV:
    """The comparison that dataclass writes: of the fields, in order, of objects of the same class."""
    if instance_class(a.type) is not instance_class(b.type):
        return AV(NOT_IMPLEMENTED)
    names = [item.name for item in dataclasses.fields(cls) if item.compare]
    sides = []
    for subject in (a, b):
        values = [object_attribute(cx, subject, name) for name in names]
        sides.append(pack_tuple([value for value in values if value is not None]))
    return logic.compare(cx, operator, *sides)


def same_object(cx: Frame, a: AV, b: AV, *, wanted: bool = True) -> AV:
    """a is b (or is not), for references and for what is known while compiling."""
    if a.type == b.type and isinstance(a.type, Ref):
        return AV(WEAK_BOOL, (cx.e("eq" if wanted else "ne", a.value, b.value),))
    if a.type == b.type and slots(a.type):
        raise cx.error(f"`is` between {show(a.type)} and {show(b.type)} has no fixed answer",
                       "identity of numbers and arrays is not tracked", "compare with ==")  # fmt: skip
    found = (a.type == b.type) is wanted
    return AV(Constant(found), (), found)


def same_member(cx: Frame, a: AV, b: AV, *, wanted: bool = True) -> AV:
    """The same where unions are among them: by their tags, and of references the rows."""
    result = cx.e.boolean(False)
    for x in members(a):
        for y in members(b):
            same = same_object(cx, x, y)
            if not same.values and not same.literal:
                continue
            both = [_is_member(cx, a, x.type), _is_member(cx, b, y.type), *same.values]
            result = cx.e("or_", result, functools.reduce(lambda p, q: cx.e("and_", p, q), filter(None, both)))
    return AV(WEAK_BOOL, (result if wanted else cx.e("not_", result),))


def _is_member(cx: Frame, av: AV, type_: Type) -> Value | None:
    """Whether a union is of this member; None for what is no union."""
    if not isinstance(av.type, Union):
        return None
    return cx.e("eq", av.values[0], cx.e.integer(av.type.members.index(type_)))


def is_constant_union(type_: Type) -> bool:
    """A union of things that are known while compiling: members of enums, classes, None."""
    return isinstance(type_, Union) and not any(slots(m) for m in type_.members)

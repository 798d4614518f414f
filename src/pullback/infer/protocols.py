"""Operators of user classes: the special methods that Python would call, found on the class while compiling.

    a + b       a.__add__(b), or b.__radd__(a) where that is missing or gives NotImplemented
    a += b      a.__iadd__(b), or the same as a + b
    len(a)      a.__len__();   if a: ...  a.__bool__(), or a.__len__() != 0
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from typing import Any

from pullback.infer.binding import pack_tuple
from pullback.infer.calls import call
from pullback.infer.classes import bound_member, instance_class, member
from pullback.infer.dispatch import dispatch
from pullback.infer.engine import Frame
from pullback.infer.enums import enum_members
from pullback.infer.heaps import is_object
from pullback.infer.lattice import WEAK_BOOL
from pullback.infer.narrowing import without
from pullback.infer.numbers import convert, python_int
from pullback.infer.registry import HANDLERS, prelude
from pullback.infer.values import AV
from pullback.types import Builtin, Class, Constant, DType, Member, Number, Ref, Type, Union, show

__all__ = [
    "NOT_IMPLEMENTED", "Attempt", "binary_method", "binary_of_whole", "call_special", "first_implemented",
    "has_special", "inplace_method", "is_left_operand", "is_of_user", "iterated", "object_truth",
    "reflected_first", "special_method", "unary_method",
]  # fmt: skip

NOT_IMPLEMENTED = Builtin("builtins.NotImplemented")
_NAMES = {
    "+": "add", "-": "sub", "*": "mul", "/": "truediv", "//": "floordiv", "%": "mod", "**": "pow", "@": "matmul",
    "&": "and", "|": "or", "^": "xor", "<<": "lshift", ">>": "rshift",
}  # fmt: skip
_UNARY = {"-": "__neg__", "+": "__pos__", "~": "__invert__"}
_HEAP_TYPE = 1 << 9

Attempt = Callable[[], AV | None]


def special_method(cx: Frame, type_: Type, name: str) -> tuple[type, Any] | None:
    """The special method that the user's class of a value has; what `object` and Enum have does not count."""
    cls = instance_class(type_)
    found = member(cx, cls, name) if cls is not None else None
    if found is None or not is_of_user(found[0]):
        return None
    if isinstance(type_, Member) and found[0].__module__ == "enum":
        return None
    return found if found[1] is not None else None


def is_of_user(cls: type) -> bool:
    """Is the class written in Python, not one of C."""
    return bool(cls.__flags__ & _HEAP_TYPE)


def has_special(cx: Frame, type_: Type, name: str) -> bool:
    """Has the user's class of a value such a method?"""
    return special_method(cx, type_, name) is not None


def call_special(cx: Frame, name: str, subject: AV, *arguments: AV) -> AV | None:
    """subject.name(*arguments), looked up on the class; None where it has no such method."""
    found = special_method(cx, subject.type, name)
    if found is None:
        return None
    cls = instance_class(subject.type)
    assert cls is not None
    return call(cx, bound_member(cx, subject, cls, found, name), list(arguments), {})


def first_implemented(cx: Frame, attempts: Sequence[Attempt]) -> AV | None:
    """The result of the first attempt that gives one: not None, and at run time not NotImplemented."""
    for position, attempt in enumerate(attempts):
        result = attempt()
        if result is None or result.type == NOT_IMPLEMENTED:
            continue
        if cx.dead or not (isinstance(result.type, Union) and NOT_IMPLEMENTED in result.type.members):
            return result
        return _unless_implemented(cx, result, attempts[position + 1 :])
    return None


def _unless_implemented(cx: Frame, result: AV, others: Sequence[Attempt]) -> AV:
    """The result, or what the other attempts give where it turns out to be NotImplemented."""
    assert isinstance(result.type, Union)

    def other() -> list[AV]:
        found = first_implemented(cx, others)
        if found is None:
            cx.check(cx.e.boolean(False), "TypeError", "the operation is not implemented for these objects")
            return [cx.stop()]
        return [found]

    missing = cx.e("eq", result.values[0], cx.e.integer(result.type.members.index(NOT_IMPLEMENTED)))
    (chosen,) = cx.choose(missing, other, lambda: [without(cx, result, lambda type_: type_ == NOT_IMPLEMENTED)])
    return chosen


def reflected_first(cx: Frame, a: Type, b: Type, name: str) -> bool:
    """Is b of a subclass of a's class that has its own version of the reflected method?"""
    left, right = instance_class(a), instance_class(b)
    if left is None or right is None or right is left or not issubclass(right, left):
        return False
    mine, other = member(cx, left, name), member(cx, right, name)
    return other is not None and (mine is None or mine[1] is not other[1])


def binary_method(cx: Frame, operator: str, a: AV, b: AV) -> AV | None:
    """`a operator b` by special methods; None where neither operand has any."""
    name, reflected = f"__{_NAMES[operator]}__", f"__r{_NAMES[operator]}__"
    if not has_special(cx, a.type, name) and not has_special(cx, b.type, reflected):
        return None
    if isinstance(a.type, Number) and not a.type.weak:
        wide = DType.F64 if a.type.dtype.is_float else a.type.dtype if a.type.dtype is DType.BOOL else DType.I64
        value = python_int(cx, a) if wide is DType.I64 else convert(cx, a, wide)
        a = AV(Number(wide), (value,))  # NumPy hands on what .item() gives
    attempts: list[Attempt] = [lambda: call_special(cx, name, a, b)]
    if instance_class(a.type) is not instance_class(b.type):
        attempts.append(lambda: call_special(cx, reflected, b, a))
    if reflected_first(cx, a.type, b.type, reflected):
        attempts.reverse()
    found = first_implemented(cx, attempts)
    if found is None:
        title = f"unsupported operand type(s) for {operator}: '{show(a.type)}' and '{show(b.type)}'"
        raise cx.error(title, "the special methods give NotImplemented", raised=("TypeError", title))
    return found


def is_left_operand(cx: Frame, a: AV, operator: str, b: Type) -> bool:
    """Has `a` the special method of the operator, and no right operand one that goes first?"""
    name, reflected = f"__{_NAMES[operator]}__", f"__r{_NAMES[operator]}__"
    others = b.members if isinstance(b, Union) else (b,)
    return has_special(cx, a.type, name) and not any(reflected_first(cx, a.type, other, reflected) for other in others)


def binary_of_whole(cx: Frame, operator: str, a: AV, b: AV, rule: Callable[[Frame, Sequence[AV]], AV]) -> AV:
    """`a operator b` by a's method, given b as it is, of whichever type; by `rule` for each type if that gives up."""
    trial = cx.branch(lambda: [call_special(cx, f"__{_NAMES[operator]}__", a, b) or AV(NOT_IMPLEMENTED)])
    (result,) = trial.results
    types = result.type.members if isinstance(result.type, Union) else (result.type,)
    if NOT_IMPLEMENTED in types:
        return dispatch(cx, [a, b], rule)
    cx.e.block.ops += trial.block.ops
    cx.dead = cx.dead or trial.dead
    return result


def inplace_method(cx: Frame, operator: str, a: AV, b: AV) -> AV | None:
    """`a operator= b` by a.__iadd__ and the like; None where there is no such method."""
    name = f"__i{_NAMES[operator]}__"
    if not has_special(cx, a.type, name):
        return None
    return first_implemented(cx, [lambda: call_special(cx, name, a, b), lambda: binary_method(cx, operator, a, b)])


def unary_method(cx: Frame, operator: str, a: AV) -> AV | None:
    """-a, +a, ~a by a special method."""
    return call_special(cx, _UNARY[operator], a)


def object_truth(cx: Frame, subject: AV) -> AV | None:
    """bool(subject) of an object, by __bool__ or __len__; None for other values."""
    if instance_class(subject.type) is None:
        return None
    found = call_special(cx, "__bool__", subject)
    if found is not None:
        if not cx.dead and found.type not in (WEAK_BOOL, Constant(True), Constant(False)):
            title = f"__bool__ should return bool, returned {show(found.type)}"
            raise cx.error(title, "the result is no bool", raised=("TypeError", title))
        return found
    length = call_special(cx, "__len__", subject)
    if length is not None:
        return length if cx.dead else AV(WEAK_BOOL, (cx.e("ne", length.value, cx.e.like(0, length.value)),))
    return AV(Constant(True), (), True) if isinstance(subject.type, Ref) else None


def iterated(cx: Frame, subject: AV) -> AV:
    """What a loop over an object runs over; other values themselves."""
    if isinstance(subject.type, Class) and issubclass(subject.type.python, Enum):
        return pack_tuple(enum_members(subject.type.python))
    if not is_object(subject.type) and not has_special(cx, subject.type, "__iter__"):
        return subject
    found = call_special(cx, "__iter__", subject)
    if found is not None:
        if not has_special(cx, found.type, "__next__"):
            return found
        return call(cx, prelude(cx, "pullback.iterate"), [found], {})
    if has_special(cx, subject.type, "__getitem__"):
        return call(cx, prelude(cx, "pullback.iterate_items"), [subject], {})
    return subject


def _iter(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    """iter(x): what runs over x, once."""
    if len(arguments) != 1 or keywords:
        raise cx.error("iter() of a function is not supported", "a sentinel is given", "write a while loop")

    def rule(cx: Frame, operands: Sequence[AV]) -> AV:
        inner = iterated(cx, operands[0])
        if cx.dead or has_special(cx, inner.type, "__next__"):
            return inner
        return HANDLERS["iterator.__new__"](cx, [inner], {})

    return dispatch(cx, arguments, rule)


HANDLERS["builtins.iter"] = _iter

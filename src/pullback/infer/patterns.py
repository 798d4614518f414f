"""What `match` asks of its subject (see front/matching.py).

    case [x, y]:            py.is_sequence{least: 2, most: 2}: tuples, lists and ranges of two items
    case {"k": v}:          py.is_mapping
    case Point(x, y):       py.match_position{position: 0}(subject, Point): the attribute Point.__match_args__[0]
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Sequence

from pullback.infer.calls import call_builtin
from pullback.infer.classes import member
from pullback.infer.dicts import DICTS
from pullback.infer.dispatch import dispatch
from pullback.infer.engine import Fact, Frame
from pullback.infer.heaps import kind_of
from pullback.infer.lattice import WEAK_BOOL
from pullback.infer.numbers import as_number
from pullback.infer.structures import attribute
from pullback.infer.values import AV
from pullback.ir.node import Op
from pullback.runtime.boundary import RECORDS
from pullback.types import Builtin, Class, Constant, Dict, List, Range, Tuple, Type, Union, show

__all__ = ["is_mapping", "is_sequence", "match_position", "match_rest"]

_WHOLE = ("bool", "bytearray", "bytes", "dict", "float", "frozenset", "int", "list", "set", "str", "tuple")


def is_sequence(cx: Frame, op: Op, operands: Sequence[AV]) -> AV:
    """May a pattern of that many items be taken from the subject?"""
    least, most = op.attrs["least"], op.attrs["most"]
    assert isinstance(least, int) and (most is None or isinstance(most, int))

    def settled(type_: Type) -> bool | None:
        if isinstance(type_, Tuple | List):
            return least <= len(type_.items) and (most is None or len(type_.items) <= most)
        kind = kind_of(type_)
        if kind in RECORDS:
            return least <= RECORDS[kind] and (most is None or RECORDS[kind] <= most)
        return None if isinstance(type_, Range) or kind in ("list", "tuple", "deque") else False

    def fits(cx: Frame, operands: Sequence[AV]) -> AV:
        known = settled(operands[0].type)
        if known is not None:
            return AV(Constant(known), (), known)
        length = call_builtin(cx, "builtins.len", operands, {}).value
        found = cx.e("ge", length, cx.e.integer(least))
        if most is not None:
            found = cx.e("and_", found, cx.e("le", length, cx.e.integer(most)))
        return AV(WEAK_BOOL, (found,))

    return _asked(cx, op, operands[0], settled, fits)


def is_mapping(cx: Frame, op: Op, operands: Sequence[AV]) -> AV:
    """Is the subject a dict?"""

    def settled(type_: Type) -> bool:
        return isinstance(type_, Dict) or kind_of(type_) in DICTS

    return _asked(cx, op, operands[0], settled, lambda cx, operands: constant(settled(operands[0].type)))


def constant(value: bool) -> AV:
    return AV(Constant(value), (), value)


def _asked(
    cx: Frame, op: Op, subject: AV, settled: Callable[[Type], bool | None],
    rule: Callable[[Frame, Sequence[AV]], AV],
) -> AV:  # fmt: skip
    """The answer for each member of a union, and what it tells of the subject."""
    if not isinstance(subject.type, Union):
        return rule(cx, [subject])
    answers = {type_: settled(type_) for type_ in subject.type.members}
    if len(set(answers.values())) == 1 and None not in answers.values():
        return constant(bool(next(iter(answers.values()))))
    result = as_number(cx, dispatch(cx, [subject], rule))
    holds = tuple(type_ for type_, answer in answers.items() if answer is not False)
    fails = tuple(type_ for type_, answer in answers.items() if answer is not True)
    cx.facts[result.value] = Fact(op.operands[0], holds, fails)
    return result


def match_position(cx: Frame, op: Op, operands: Sequence[AV]) -> AV:
    """The value that a positional sub-pattern of a class pattern looks at."""
    subject, kind = operands
    position = op.attrs["position"]
    assert isinstance(position, int)
    if isinstance(kind.type, Builtin) and kind.type.name.removeprefix("builtins.") in _WHOLE:
        if position > 0:
            raise _too_many(cx, kind.type.name.removeprefix("builtins."), 1)
        return subject
    if not isinstance(kind.type, Class):
        raise cx.type_error("called match pattern must be a class", f"this is {show(kind.type)}", "name a class")
    cls = kind.type.python
    found = member(cx, cls, "__match_args__")
    names = found[1] if found is not None else ()
    if not isinstance(names, tuple) or len(names) <= position:
        base = next((b.__name__ for b in cls.__mro__ if b.__module__ == builtins.__name__ and b.__name__ in _WHOLE), "")
        if found is None and base and position == 0:
            return subject
        raise _too_many(cx, cls.__name__, len(names))
    return attribute(cx, subject, names[position])


def _too_many(cx: Frame, name: str, count: int) -> Exception:
    title = f"{name}() accepts {count} positional sub-pattern{'' if count == 1 else 's'}"
    return cx.type_error(title, "there are more here", "name the attributes: Point(x=..., y=...)")


def match_rest(cx: Frame, op: Op, operands: Sequence[AV]) -> AV:
    """What `**rest` in a mapping pattern is: a new dict without the keys."""
    subject, *keys = operands
    wanted = AV(Tuple(tuple(key.type for key in keys)), tuple(v for key in keys for v in key.values))
    return call_builtin(cx, "pullback.match_rest", [subject, wanted], {})

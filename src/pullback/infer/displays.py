"""Displays and comprehensions: lists, dicts and sets where they are written.

    [x, y]               a list of fixed structure; a row of a heap where the list is changed somewhere
    [f(x) for x in xs]   l = py.list{growing}(); for x in xs: py.append(l, f(x))

What a comprehension makes stays a fixed structure as long as its items come one after the other; the first that is
added in a loop or a branch moves it to a heap, made just before that loop or branch.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field

from pullback.infer import lists
from pullback.infer.assign import delete_item
from pullback.infer.calls import call
from pullback.infer.containers import special
from pullback.infer.engine import Frame
from pullback.infer.joined_tuples import is_of_run_time
from pullback.infer.lattice import WEAK_INT
from pullback.infer.loops import iterable
from pullback.infer.protocols import has_special
from pullback.infer.registry import HANDLERS, prelude
from pullback.infer.sites import Changed, changing
from pullback.infer.static import ask_around
from pullback.infer.values import AV, items_of
from pullback.ir.node import Op
from pullback.prims.base import Emitter
from pullback.types import Dict, List, Str, Tuple

__all__ = ["DISPLAYS", "fixed_list", "is_heap_site"]


@dataclass(eq=False, slots=True)
class Growing:
    """A comprehension under way: where it began, and its items so far while they come one by one."""

    emitter: Emitter
    key: Hashable
    made: Op
    loops: int  # around the comprehension
    conditions: int
    items: list[AV] = field(default_factory=list)


def is_heap_site(cx: Frame, kind: str, op: Op | None = None) -> bool:
    """Does the op being inferred make something that is changed: as far as was seen, or as names around it show."""
    here = op is not None and op in changing(cx.code.untyped)
    return here or (kind, lists.key_here(cx)) in cx.session.heaps


def fixed_list(cx: Frame, items: Sequence[AV]) -> AV:
    """A list of these items, made by the op being inferred: of fixed structure where nothing changes it."""
    if is_heap_site(cx, "list", cx.op):
        return lists.make(cx, lists.key_here(cx), items)
    type_ = List(tuple(i.type for i in items), frozenset({("list", lists.key_here(cx))}))
    return AV(type_, tuple(v for i in items for v in i.values))


def _list(cx: Frame, op: Op, operands: list[AV]) -> AV:
    found = fixed_list(cx, operands)
    if op.attrs.get("growing") and isinstance(found.type, List):
        cx.growing[op.result] = Growing(cx.e, lists.key_here(cx), op, len(cx.loops), len(cx.conditions))
    return found


def _append(cx: Frame, op: Op, operands: list[AV]) -> list[AV]:
    """py.append(l, x): the next item of a comprehension."""
    target, item = operands
    growing = cx.growing.get(op.operands[0])
    if isinstance(target.type, List):
        if not isinstance(growing, Growing):  # its loop became a function of its own
            raise Changed(target.type.sites)
        if growing.emitter.block is cx.e.block:
            growing.items.append(item)
            type_ = List((*target.type.items, item.type), target.type.sites)
            cx.env[op.operands[0]] = AV(type_, (*target.values, *item.values))
            return []
        ask_around(cx, growing.made, cx.loops[growing.loops :], cx.conditions[growing.conditions :])
        target = cx.env[op.operands[0]] = _moved(cx, growing)
    lists.append(cx, target, item)
    return []


def _moved(cx: Frame, growing: Growing) -> AV:
    """The list in a heap, made where the comprehension has come to in its own block."""
    inner, cx.e = cx.e, growing.emitter
    try:
        return lists.make(cx, growing.key, growing.items)
    finally:
        cx.e = inner


# ---------------------------------------------------------------------------------------------------------- stars


def _sequence_star(cx: Frame, op: Op, operands: list[AV]) -> AV:
    """[*xs, y], (*xs, y), {*xs, y}."""
    kind, stars = str(op.attrs["kind"]), op.attrs["stars"]
    assert isinstance(stars, tuple)
    items = _spread(cx, operands, stars) if kind != "set" else None
    if items is not None and not (kind == "tuple" and is_of_run_time(cx, len(items))):
        if kind == "list":
            return fixed_list(cx, items)
        return AV(Tuple(tuple(i.type for i in items)), tuple(v for i in items for v in i.values))
    if kind == "set":
        made = HANDLERS["builtins.set"](cx, [], {})
        add: Callable[[AV], object] = lambda item: special(cx, "add", made, item)  # noqa: E731
    else:
        made = lists.make(cx, lists.key_here(cx), [])
        add = lambda item: lists.append(cx, made, item)  # noqa: E731
    for operand, star in zip(operands, stars, strict=True):
        if star:
            name = "pullback.set_update" if kind == "set" else "list.extend"
            _extend(cx, name, made, operand)
        else:
            add(operand)
        if cx.dead:
            return made
    return lists.frozen(cx, made) if kind == "tuple" else made


def _extend(cx: Frame, name: str, made: AV, operand: AV) -> None:
    if name in HANDLERS:
        HANDLERS[name](cx, [made, operand], {})
    else:
        call(cx, prelude(cx, name), [made, operand], {})


def _spread(cx: Frame, operands: Sequence[AV], stars: Sequence[bool]) -> list[AV] | None:
    """All items where their number is known while compiling."""
    found: list[AV] = []
    for operand, star in zip(operands, stars, strict=True):
        if not star:
            found.append(operand)
            continue
        if isinstance(operand.type, Tuple) and has_special(cx, operand.type, "__iter__"):
            return None
        if not isinstance(operand.type, Tuple | List | Dict | Str):
            return None
        items = iterable(cx, operand).items
        if items is None:
            items = items_of(operand)
        found += items
    return found


def _unpack_star(cx: Frame, op: Op, operands: list[AV]) -> list[AV]:
    """a, *b, c = x."""
    (subject,) = operands
    before, after = op.attrs["before"], op.attrs["after"]
    assert isinstance(before, int) and isinstance(after, int)
    if isinstance(subject.type, Tuple | List | Dict):
        return _unpack_fixed(cx, _spread(cx, [subject], [True]) or [], before, after)
    if not lists.is_sequence(subject.type):
        subject = call(cx, prelude(cx, "pullback.as_list"), [subject], {})
        if cx.dead:
            return [subject] * len(op.results)
    count, wanted = lists.length(cx, subject), cx.e.integer(before + after)
    message = f"not enough values to unpack (expected at least {before + after}, got {{0}})"
    cx.check(cx.e("ge", count, wanted), "ValueError", message, count)
    start = lists.first_item(cx, subject)
    leading = [lists.element(cx, start, cx.e.integer(k)) for k in range(before)]
    first_after = cx.e("sub", count, cx.e.integer(after))
    low, high = AV(WEAK_INT, (cx.e.integer(before),)), AV(WEAK_INT, (first_after,))
    middle = call(cx, prelude(cx, "pullback.list_part"), [subject, low, high], {})
    trailing = [lists.element(cx, start, cx.e("add", first_after, cx.e.integer(k))) for k in range(after)]
    return [*leading, middle, *trailing]


def _unpack_fixed(cx: Frame, items: Sequence[AV], before: int, after: int) -> list[AV]:
    if len(items) < before + after:
        raise cx.error(f"not enough values to unpack (expected at least {before + after}, got {len(items)})",
                       "there are fewer items than names",
                       raised=("ValueError", f"not enough values to unpack (expected at least {before + after}, "
                                             f"got {len(items)})"))  # fmt: skip
    last = len(items) - after
    return [*items[:before], fixed_list(cx, items[before:last]), *items[last:]]


def _delitem(cx: Frame, op: Op, operands: list[AV]) -> list[AV]:
    """del x[index]."""
    delete_item(cx, *operands)
    return []


DISPLAYS: dict[str, Callable[[Frame, Op, list[AV]], AV | list[AV]]] = {
    "py.list": _list, "py.append": _append, "py.sequence_star": _sequence_star, "py.unpack_star": _unpack_star,
    "py.delitem": _delitem,
}  # fmt: skip

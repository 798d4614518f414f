"""Sets and frozensets: rows of two tables, of headers and slots (`prims.prelude.sets`).

    s = {1, 2}; s.add(3)      a row of a heap
    s | t, s & t, s <= t      functions of the prelude, in the order in which CPython's own would build the result
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence

from pullback.infer import lists
from pullback.infer.calls import call
from pullback.infer.displays import DISPLAYS
from pullback.infer.engine import Frame
from pullback.infer.heaps import Heap, allocate, heap_of, heap_of_type, kind_of, read, write
from pullback.infer.lattice import WEAK_BOOL, WEAK_INT
from pullback.infer.loops import ITERABLES, Iterable, Steps, iterable
from pullback.infer.numbers import as_number
from pullback.infer.registry import HANDLERS, Handler, prelude
from pullback.infer.values import AV
from pullback.ir.node import Op, Value
from pullback.types import NONE, Constant, Iterator, Ref, Type, show

__all__ = ["SETS", "make_set"]

SETS = ("set", "frozenset")
CHANGED = "Set changed size during iteration"


def run(cx: Frame, name: str, *arguments: AV) -> AV:
    """A function of the prelude of sets."""
    return call(cx, prelude(cx, f"pullback.set_{name}"), arguments, {})


def make_set(cx: Frame, key: Hashable, items: Sequence[AV] = (), kind: str = "set") -> AV:
    """A new set of these items."""
    made = _empty(cx, heap_of(cx, kind, key), heap_of(cx, "slots", (kind, key)))
    for item in items:
        run(cx, "add", made, item)
    return made


def _empty(cx: Frame, heap: Heap, slots: Heap) -> AV:
    made = AV(heap.type, (allocate(cx, heap),))
    for name in ("hash", "state"):
        slots.learn(name, WEAK_INT)
    table = allocate(cx, slots, cx.e.integer(8))
    write(cx, heap, made.value, "table", AV(slots.type, (table,)))
    for name, value in (("mask", 7), ("fill", 0), ("used", 0), ("finger", 0)):
        write(cx, heap, made.value, name, AV(WEAK_INT, (cx.e.integer(value),)))
    return made


def is_set(type_: Type) -> bool:
    """Is this a set or frozenset."""
    return kind_of(type_) in SETS


def _heap(av: AV) -> Heap:
    heap = heap_of_type(av.type)
    assert heap is not None
    return heap


def _int_field(cx: Frame, av: AV, name: str) -> Value:
    return read(cx, _heap(av), av.value, name).value


def _filled(cx: Frame, made: AV, source: AV) -> AV:
    """The set after the items of an iterable are added."""
    found = None if isinstance(source.type, Ref) else iterable(cx, source).items
    if found is not None:
        for item in found:
            run(cx, "add", made, item)
    else:
        run(cx, "merge" if is_set(source.type) else "update", made, source)
    return made


def _as_set(cx: Frame, av: AV, number: int = 0) -> AV:
    """Any iterable as a set; a set is itself."""
    return av if is_set(av.type) else _filled(cx, make_set(cx, (lists.key_here(cx), "set", number)), av)


# --------------------------------------------------------------------------------------------------------- makers


def _display(cx: Frame, op: Op, operands: list[AV]) -> AV:
    """{x, y}, and set comprehensions, which begin empty."""
    return make_set(cx, lists.key_here(cx), operands)


def _add(cx: Frame, op: Op, operands: list[AV]) -> list[AV]:
    """py.add(s, x): the next item of a comprehension."""
    run(cx, "add", *operands)
    return []


def _made(kind: str) -> Handler:
    """set(iterable) and frozenset(iterable)."""

    def handler(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
        if len(arguments) > 1 or keywords:
            raise cx.type_error(f"{kind} expected at most 1 argument, got {len(arguments)}", "one iterable")
        if arguments and kind == "frozenset" and kind_of(arguments[0].type) == "frozenset":
            return arguments[0]
        made = make_set(cx, lists.key_here(cx), (), kind)
        return _filled(cx, made, arguments[0]) if arguments else made

    return handler


def _new_set(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    """new_set(s): in the heaps of s, so that a chain of operators needs no more code."""
    heap = _heap(arguments[0])
    slots = heap_of_type(heap.known("table"))
    assert slots is not None
    return _empty(cx, heap, slots)


# ------------------------------------------------------------------------------------------------------ operators


def _len(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    return AV(WEAK_INT, (_int_field(cx, arguments[0], "used"),))


def _bool(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    return AV(WEAK_BOOL, (cx.e("gt", _int_field(cx, arguments[0], "used"), cx.e.integer(0)),))


def _operator(name: str, symbol: str, *, in_place: bool = False) -> Handler:
    """s | t and so on: both must be sets."""

    def handler(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
        a, b = arguments
        if not (is_set(b.type) or _is_keys(b.type)):
            said = f"unsupported operand type(s) for {symbol}: '{show(a.type)}' and '{show(b.type)}'"
            title = f"unsupported operand types for {symbol}: {show(a.type)} and {show(b.type)}"
            raise cx.error(title, "both must be sets", "convert with set(...)", raised=("TypeError", said))
        result = run(cx, name, a, _as_set(cx, b))
        return a if in_place and not cx.dead else result

    return handler


def _is_keys(type_: Type) -> bool:
    return isinstance(type_, Iterator) and type_.kind == "dict_keys"


def _method(name: str) -> Handler:
    """A method that takes any iterables, one after the other."""

    def handler(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
        result, *others = arguments
        if not others:
            return run(cx, "copy", result)
        for number, other in enumerate(others):
            result = run(cx, name, result, _as_set(cx, other, number))
        return result

    return handler


def _update(name: str) -> Handler:
    """A method that changes the set by any iterables."""

    def handler(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
        subject, *others = arguments
        for number, other in enumerate(others):
            if name == "merge":
                _filled(cx, subject, other)
            else:
                run(cx, name, subject, _as_set(cx, other, number))
        return AV(NONE)

    return handler


def _through(name: str) -> Handler:
    return lambda cx, arguments, keywords: run(cx, name, *arguments)


def _compare(operator: str) -> Handler:
    def handler(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
        a, b = arguments
        if not is_set(b.type):
            if operator in ("==", "!="):
                return AV(Constant(operator == "!="), (), operator == "!=")
            title = f"'{operator}' not supported between instances of '{show(a.type)}' and '{show(b.type)}'"
            raise cx.error(title, "both must be sets", raised=("TypeError", title))
        small, large = (b, a) if operator in (">", ">=") else (a, b)
        inside = as_number(cx, run(cx, "within", small, large)).value
        if operator in ("<=", ">="):
            return AV(WEAK_BOOL, (inside,))
        same = cx.e("eq", _int_field(cx, a, "used"), _int_field(cx, b, "used"))
        both = cx.e("and_", inside, same if operator in ("==", "!=") else cx.e("not_", same))
        return AV(WEAK_BOOL, (cx.e("not_", both) if operator == "!=" else both,))

    return handler


def _superset(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    return run(cx, "within", _as_set(cx, arguments[1]), arguments[0])


def _iter(cx: Frame, av: AV) -> Iterable:
    """Slot after slot; the size may not change meanwhile."""
    used = _int_field(cx, av, "used")

    def more(cx: Frame, state: Sequence[AV]) -> Value:
        cx.check(cx.e("eq", _int_field(cx, av, "used"), used), "RuntimeError", CHANGED)
        return cx.e("le", state[0].value, _int_field(cx, av, "mask"))

    def take(cx: Frame, state: Sequence[AV]) -> tuple[AV, list[AV]]:
        table, k = read(cx, _heap(av), av.value, "table"), state[0].value
        key = read(cx, _heap(table), cx.e("add", table.value, k), "key")
        after = AV(WEAK_INT, (cx.e("add", k, cx.e.integer(1)),))
        return key, [run(cx, "next_taken", av, after)]

    first = run(cx, "next_taken", av, AV(WEAK_INT, (cx.e.integer(0),)))
    return Iterable(None, steps=Steps([first], more, take))


_READING: dict[str, Handler] = {
    "__len__": _len, "__bool__": _bool, "__contains__": _through("contains"), "__or__": _operator("union", "|"),
    "__and__": _operator("intersection", "&"), "__sub__": _operator("difference", "-"),
    "__xor__": _operator("symmetric", "^"), "copy": _through("copy"), "union": _method("union"),
    "intersection": _method("intersection"), "difference": _method("difference"),
    "symmetric_difference": _method("symmetric"), "issubset": _method("within"), "issuperset": _superset,
    "isdisjoint": _method("disjoint"), **{f"compare {op}": _compare(op) for op in ("==", "!=", "<", "<=", ">", ">=")},
}  # fmt: skip
_CHANGING: dict[str, Handler] = {
    "__ior__": _operator("merge", "|=", in_place=True),
    "__iand__": _operator("intersection_update", "&=", in_place=True),
    "__isub__": _operator("difference_update", "-=", in_place=True),
    "__ixor__": _operator("symmetric_update", "^=", in_place=True), "add": _through("add"),
    "discard": _through("discard"), "remove": _through("remove"), "pop": _through("pop"), "clear": _through("clear"),
    "update": _update("merge"), "difference_update": _update("difference_update"),
    "intersection_update": _update("intersection_update"),
    "symmetric_difference_update": _update("symmetric_update"),
}  # fmt: skip
_step: Callable[[Frame, AV], Iterable] = _iter
for _kind in SETS:
    HANDLERS.update({f"{_kind}.{name}": rule for name, rule in _READING.items()})
    ITERABLES[_kind] = _step
HANDLERS.update({f"set.{name}": rule for name, rule in _CHANGING.items()})
HANDLERS.update({
    "builtins.set": _made("set"), "builtins.frozenset": _made("frozenset"), "pullback.new_set": _new_set,
})  # fmt: skip
DISPLAYS.update({"py.set": _display, "py.add": _add})

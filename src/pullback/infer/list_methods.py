"""Methods and operators of lists and run-time tuples: which function of the prelude does what.

    xs.insert(0, x)      call(pullback.list_insert, xs, 0, x)
    xs[1:3]              call(pullback.list_slice, xs, 1, 3, None)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pullback.infer import lists
from pullback.infer.calls import call, call_builtin
from pullback.infer.containers import changed
from pullback.infer.dispatch import dispatch
from pullback.infer.displays import fixed_list
from pullback.infer.engine import Frame
from pullback.infer.heaps import kind_of
from pullback.infer.lattice import WEAK_BOOL, WEAK_INT
from pullback.infer.loops import ITERABLES, Iterable, Steps
from pullback.infer.numbers import as_number
from pullback.infer.protocols import iterated
from pullback.infer.registry import HANDLERS, Handler, prelude
from pullback.infer.static import known_numbers
from pullback.infer.truth import compare, constant, negate, truth
from pullback.infer.values import AV, items_of
from pullback.infer.views import checked_index
from pullback.ir.node import Value
from pullback.runtime.boundary import RECORDS
from pullback.types import (
    NONE,
    Constant,
    List,
    NoneType,
    Number,
    Ref,
    Slice,
    Tuple,
    Union,
    show,
)  # fmt: skip

__all__ = ["LIST_METHODS", "as_kind", "item_of", "own_list", "sorted_list"]

MOST_ITEMS = 256  # of a list that is repeated in place of its loop


def run(cx: Frame, name: str, *arguments: AV) -> AV:
    """A function of the prelude of lists."""
    return call(cx, prelude(cx, f"pullback.{name}"), arguments, {})



def _number(cx: Frame, value: int) -> AV:
    return AV(WEAK_INT, (cx.e.integer(value),), value)


# ---------------------------------------------------------------------------------------------------- operators


def _len(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    return AV(WEAK_INT, (lists.length(cx, arguments[0]),))


def _bool(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    return AV(WEAK_BOOL, (cx.e("gt", lists.length(cx, arguments[0]), cx.e.integer(0)),))


def _getitem(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    subject, index = arguments
    if isinstance(index.type, Slice):
        return as_kind(cx, run(cx, "list_slice", subject, *items_of(index)), kind_of(subject.type))
    return item_of(cx, subject, index, f"{kind_of(subject.type)} index out of range")


def item_of(cx: Frame, subject: AV, index: AV, message: str) -> AV:
    """The item at a checked index."""
    k = checked_index(cx, _index(cx, subject, index), lists.length(cx, subject), "IndexError", message)
    return lists.element(cx, lists.first_item(cx, subject), k)


def _index(cx: Frame, subject: AV, index: AV) -> AV:
    found = as_number(cx, index)
    if not isinstance(found.type, Number) or found.type.dtype.is_float:
        word = kind_of(subject.type)
        raise cx.type_error(f"{word} indices must be integers or slices, not {show(index.type)}", "no index of a list")
    return found


def _setitem(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    subject, index, value = arguments
    if isinstance(index.type, Slice):
        return run(cx, "list_set_slice", subject, *items_of(index), own_list(cx, value))
    k = checked_index(cx, _index(cx, subject, index), lists.length(cx, subject), "IndexError",
                      "list assignment index out of range")  # fmt: skip
    lists.put(cx, lists.first_item(cx, subject), k, value)
    return AV(NONE)


def _delitem(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    subject, index = arguments
    if isinstance(index.type, Slice):
        return run(cx, "list_delete_slice", subject, *items_of(index))
    return run(cx, "list_delete", subject, _index(cx, subject, index))


def _unpack(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    """a, b = xs."""
    subject, wanted = arguments
    count, expected = lists.length(cx, subject), wanted.literal
    assert isinstance(expected, int)
    few = f"not enough values to unpack (expected {expected}, got {{0}})"
    cx.check(cx.e("ge", count, wanted.value), "ValueError", few, count)
    cx.check(cx.e("eq", count, wanted.value), "ValueError", f"too many values to unpack (expected {expected})")
    start = lists.first_item(cx, subject)
    found = [lists.element(cx, start, cx.e.integer(k)) for k in range(expected)]
    if cx.dead:
        return found[-1]
    return AV(Tuple(tuple(i.type for i in found)), tuple(v for i in found for v in i.values))


def _refused_write(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    raise cx.type_error("'tuple' object does not support item assignment", "a tuple cannot be changed",
                        "use a list")  # fmt: skip


def _contains(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    return run(cx, "list_contains", *arguments)


def own_list(cx: Frame, value: AV) -> AV:
    """The items of an iterable in a list of their own."""
    if isinstance(value.type, Tuple | List):
        return lists.make(cx, (lists.key_here(cx), "own"), items_of(value))
    return run(cx, "list_copy", value) if lists.is_sequence(value.type) else run(cx, "as_list", value)


def _add(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    a, b = arguments
    kinds = {_kind(a), _kind(b)}
    if len(kinds) != 1:
        word, other = _kind(a), _kind(b)
        raise cx.type_error(f'can only concatenate {word} (not "{other or show(b.type)}") to {word}',
                            "both must be of one kind")  # fmt: skip
    key, kind = lists.key_here(cx), kinds.pop()
    a, b = (_of_run_time(cx, av, (key, side), kind) for side, av in enumerate((a, b)))
    found = run(cx, "list_concatenated", a, b)
    return as_kind(cx, found, kind)


def _radd(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    return _add(cx, arguments[::-1], keywords)


def _kind(av: AV) -> str:
    kind = {List: "list", Tuple: "tuple"}.get(type(av.type)) or kind_of(av.type)
    return "tuple" if kind in RECORDS else kind


def _of_run_time(cx: Frame, av: AV, key: object, kind: str) -> AV:
    return av if isinstance(av.type, Ref) else lists.make(cx, key, items_of(av), kind)


def as_kind(cx: Frame, av: AV, kind: str) -> AV:
    """A fresh list as a tuple, where that is wanted."""
    return lists.frozen(cx, av) if kind == "tuple" and av.values else av


def _mul(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    a, b = arguments
    sequence, count = (a, b) if lists.is_sequence(a.type) or isinstance(a.type, Tuple | List) else (b, a)
    kind = _kind(sequence)
    sequence = _of_run_time(cx, sequence, (lists.key_here(cx), 0), kind)
    return as_kind(cx, run(cx, "list_repeated", sequence, as_number(cx, count)), kind)


def _iadd(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    _extend(cx, arguments, keywords)
    return arguments[0]


def _imul(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    run(cx, "list_repeat_in_place", arguments[0], as_number(cx, arguments[1]))
    return arguments[0]


def _compare(operator: str) -> Handler:
    def handler(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
        a, b = arguments
        if _kind(a) != _kind(b):
            if operator not in ("==", "!="):
                raise cx.type_error(f"'{operator}' not supported between instances of '{show(a.type)}' and "
                                    f"'{show(b.type)}'", "these have no order")  # fmt: skip
            return AV(Constant(operator == "!="), (), operator == "!=")
        if any(isinstance(av.type, Tuple | List) and not av.type.items for av in arguments):
            return _with_empty(cx, operator, a, b)
        if operator in ("==", "!="):
            return _equality(cx, operator, a, b)
        first, second = (a, b) if operator in ("<", "<=") else (b, a)
        last = operator in ("<=", ">=")
        return run(cx, "list_less", first, second, AV(Constant(last), (), last))

    return handler


def _with_empty(cx: Frame, operator: str, a: AV, b: AV) -> AV:
    """A comparison where one side is known to be empty: the lengths decide."""
    first, second = (call_builtin(cx, "builtins.len", [av], {}) for av in (a, b))
    return compare(cx, operator, first, second)


def _equality(cx: Frame, operator: str, a: AV, b: AV) -> AV:
    same = run(cx, "list_equal", a, b)
    return same if operator == "==" or cx.dead else negate(cx, same)


def _iter(cx: Frame, av: AV) -> Iterable:
    """A list in a loop: its length is read anew in every trip of one that may change it."""
    start = lists.first_item(cx, av)
    zero, one = cx.e.integer(0), cx.e.integer(1)

    def take(cx: Frame, state: Sequence[AV], step: str = "add") -> tuple[AV, list[AV]]:
        k = state[0].value
        item = lists.element(cx, lists.first_item(cx, av), k)
        return item, [AV(WEAK_INT, (cx.e(step, k, one),))]

    def more(cx: Frame, state: Sequence[AV]) -> Value:
        return cx.e("lt", state[0].value, lists.length(cx, av))

    def more_back(cx: Frame, state: Sequence[AV]) -> Value:
        return cx.e("and_", cx.e("ge", state[0].value, zero), more(cx, state))

    count = lists.length(cx, av)
    forth = Steps([AV(WEAK_INT, (zero,))], more, take)
    last = AV(WEAK_INT, (cx.e("sub", count, one),))
    back = Steps([last], more_back, lambda cx, state: take(cx, state, "sub"))
    return Iterable(
        None, count, lambda cx, k: lists.element(cx, start, k), (str(lists.heap_behind(av)),), forth, back
    )  # fmt: skip


# ------------------------------------------------------------------------------------------------------ methods


def _append(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    lists.append(cx, *arguments)
    return AV(NONE)


def _extend(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    subject, other = arguments
    if isinstance(other.type, Tuple):
        other = iterated(cx, other)  # a NamedTuple may have an __iter__ of its own
    if isinstance(other.type, Tuple | List):
        for item in items_of(other):
            lists.append(cx, subject, item)
        return AV(NONE)
    run(cx, "list_extend_sequence" if lists.is_sequence(other.type) else "list_extend", subject, other)
    return AV(NONE)


def _pop(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    subject, *index = arguments
    if not index or cx.literal_of(index[0]) == -1:
        return run(cx, "list_pop_last", subject)
    return run(cx, "list_pop", subject, as_number(cx, index[0]))


def _sort(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    (subject,) = arguments
    sort_by(cx, subject, keywords)
    return AV(NONE)


def sort_by(cx: Frame, subject: AV, keywords: Mapping[str, AV]) -> None:
    """Sort a list in place by key= and reverse=."""
    unknown = set(keywords) - {"key", "reverse"}
    if unknown:
        raise cx.type_error(f"sort() got an unexpected keyword argument '{unknown.pop()}'", "key= and reverse= exist")
    key = keywords.get("key")
    given = key is not None and not isinstance(key.type, NoneType)
    assert key is not None or not given
    keys = run(cx, "list_keys", subject, key) if given else subject  # type: ignore[arg-type]
    reverse = truth(cx, keywords["reverse"]) if "reverse" in keywords else AV(Constant(False), (), False)
    if not cx.dead:
        run(cx, "list_sort", subject, keys, reverse)


def _numbers(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> list[int] | None:
    """Ints that are known, or must be, in order."""
    reverse = keywords.get("reverse", constant(False)).type
    if len(arguments) != 1 or set(keywords) - {"reverse"} or not isinstance(reverse, Constant):
        return None
    given = arguments[0]
    if not isinstance(given.type, Tuple | List) or any(item != WEAK_INT for item in given.type.items):
        return None
    numbers = known_numbers(cx, cx.op, items_of(given))
    return None if numbers is None else sorted(numbers, reverse=reverse.value)


def sorted_list(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    """sorted(iterable, key=, reverse=)."""
    if (numbers := _numbers(cx, arguments, keywords)) is not None:
        return fixed_list(cx, [AV(WEAK_INT, (cx.e.integer(number),)) for number in numbers])
    fresh = own_list(cx, arguments[0])
    if cx.dead:
        return fresh
    sort_by(cx, fresh, keywords)
    return fresh


def _method(name: str, least: int, most: int) -> Handler:
    """A method that a function of the prelude is; its last arguments may be left out."""

    def handler(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
        given = len(arguments) - 1
        if keywords or not least <= given <= most:
            short = name.rpartition("_")[2]
            title = f"{short}() takes {least if least == most else f'{least} to {most}'} arguments ({given} given)"
            raise cx.type_error(title, "not the arguments of this method")
        return run(cx, name, *arguments)

    return handler


def _on_heap(rule: Handler) -> Handler:
    """A method that changes the list: one of fixed structure moves to a heap."""

    def handler(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
        subject, *rest = arguments
        if isinstance(subject.type, Union):
            return dispatch(cx, [subject], lambda cx, operands: handler(cx, [*operands, *rest], keywords))
        if isinstance(subject.type, List):
            changed(cx, subject)
        return rule(cx, arguments, keywords)

    return handler


def _copy(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    (subject,) = arguments
    if isinstance(subject.type, List):
        return AV(List(subject.type.items, frozenset({("list", lists.key_here(cx))})), subject.values)
    return run(cx, "list_copy", subject)


CHANGING: dict[str, Handler] = {
    "append": _append, "extend": _extend, "insert": _method("list_insert", 2, 2), "pop": _pop,
    "remove": _method("list_remove", 1, 1), "reverse": _method("list_reverse", 0, 0),
    "clear": _method("list_clear", 0, 0), "sort": _sort,
}  # fmt: skip
READING: dict[str, Handler] = {
    "index": _method("list_index", 1, 3), "count": _method("list_count", 1, 1), "copy": _copy,
}
LIST_METHODS = frozenset((*CHANGING, *READING))
_COMMON: dict[str, Handler] = {
    "__len__": _len, "__bool__": _bool, "__getitem__": _getitem, "__contains__": _contains, "__add__": _add,
    "__mul__": _mul, "__unpack__": _unpack,
    **{f"compare {op}": _compare(op) for op in ("==", "!=", "<", "<=", ">", ">=")},
}  # fmt: skip
ITERABLES.update({"list": _iter, "tuple": _iter})
HANDLERS.update({f"{kind}.{name}": rule for kind in lists.SEQUENCES for name, rule in _COMMON.items()})
HANDLERS.update({f"list.{name}": _on_heap(rule) for name, rule in CHANGING.items()})
HANDLERS.update({f"list.{name}": rule for name, rule in READING.items()})
HANDLERS.update({
    "list.__setitem__": _setitem, "list.__delitem__": _delitem, "list.__iadd__": _iadd, "list.__imul__": _imul,
    "tuple.__setitem__": _refused_write, "tuple.__delitem__": _refused_write,
    "tuple.index": _method("tuple_index", 1, 3), "tuple.count": _method("list_count", 1, 1),
    "list.__radd__": _radd, "tuple.__radd__": _radd, "list.__rmul__": _mul, "tuple.__rmul__": _mul,
    "builtins.sorted": sorted_list,
})  # fmt: skip

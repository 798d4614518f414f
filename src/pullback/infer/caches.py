"""functools.cache and lru_cache: what stands for the cache of a function outside, and by which keys nothing is kept.

    @lru_cache(maxsize=None)
    def f(n): ...                 f(3)   ->   cached(known, f, 3), where `known` is an empty dict when Python calls
    differentiated(key)           the floats that a key is made of, asked one by one
    repeated(again, ...)          a call that Python would not repeat

What is called once more than Python would call it may do nothing but compute.  That is known once everything is
inferred: where it does something else, differentiation refuses the key.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence

from pullback.infer.calls import call, call_builtin
from pullback.infer.classes import instance_class, member
from pullback.infer.dicts import make_dict
from pullback.infer.dispatch import dispatch
from pullback.infer.engine import Frame
from pullback.infer.heaps import Heap, heap_of, heap_of_type, read, table_of, write
from pullback.infer.lattice import WEAK_BOOL
from pullback.infer.literals import literal
from pullback.infer.registry import HANDLERS, prelude
from pullback.infer.repeated import repeats
from pullback.infer.values import AV, items_of
from pullback.ir.node import Value
from pullback.types import Constant, Dict, List, Ref, Scalar, Str, Tuple, Type, Union, is_float

__all__: list[str] = []


def _outside(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    """A call of what a decorator outside made: of the function, with the size that its cache is limited to."""
    function, size, *given = arguments
    known = _known(cx, function.type)
    if not isinstance(size.type, Str):
        return call(cx, prelude(cx, "pullback.cached"), [known, function, *given], keywords)
    most = literal(cx, int(size.type.value))
    return call(cx, prelude(cx, "pullback.cached_last"), [known, most, function, *given], keywords)


def _known(cx: Frame, function: Type) -> AV:
    """The dict of the function: in the only row of a table, which is made when it is first asked for."""
    heap = heap_of(cx, "cache", function)
    table, first = table_of(cx, heap), cx.e.integer(0)

    def make() -> list[AV]:
        cx.e("table_rows", table, cx.e.integer(1), numbered=True)
        write(cx, heap, first, "known", make_dict(cx, ("cache", function), []))
        return []

    cx.choose(cx.e("eq", cx.e("table_length", table), first), make, list)
    return read(cx, heap, first, "known")


def _differentiated(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    """differentiated(values...): floats that keys are compared by."""
    found = _any(cx, [_asked(cx, av, ()) for av in arguments])
    if found is None:
        return AV(Constant(False), (), False)
    if cx.session.backward is not None:
        return AV(Constant(True), (), True)  # closures do not know what they are differentiated by
    return AV(WEAK_BOOL, (found,))


def _any(cx: Frame, asked: Iterable[Value | None]) -> Value | None:
    found = [value for value in asked if value is not None]
    return functools.reduce(lambda x, y: cx.e("or_", x, y), found) if found else None


def _asked(cx: Frame, av: AV, around: tuple[Heap, ...]) -> Value | None:
    """Is anything differentiated by a float in the value; None where there are none.

    What is known of memory is known of all rows of a table, so that one of them is asked.
    """
    match av.type:
        case Ref():
            return _asked_behind(cx, av, around)
        case Tuple() | List() | Dict():
            return _any(cx, [_asked(cx, item, around) for item in items_of(av)])
        case Union(members) if any(isinstance(member, Ref | Tuple) for member in members):
            found = dispatch(cx, [av], lambda cx, given: _as_bool(cx, _asked(cx, given[0], around)))
            return found.value if found.values else None
    floats = [v for v in av.values if isinstance(v.type, Scalar) and is_float(v.type)]
    return _any(cx, [cx.e("differentiated", value) for value in floats])


def _as_bool(cx: Frame, value: Value | None) -> AV:
    return AV(WEAK_BOOL, (cx.e.boolean(False) if value is None else value,))


def _asked_behind(cx: Frame, av: AV, around: tuple[Heap, ...]) -> Value | None:
    """`_asked` of a reference: things without an equality of their own are keys by their identity."""
    heap = heap_of_type(av.type)
    cls = instance_class(av.type)
    if heap is None or heap in around or (cls is not None and member(cx, cls, "__eq__") is None):
        return None
    if heap.kind in ("tuple", "frozenset"):
        return _asked_inside(cx, av, (*around, heap))
    return _any(cx, [_asked(cx, read(cx, heap, av.value, name), (*around, heap)) for name in list(heap.fields)])


def _asked_inside(cx: Frame, items: AV, around: tuple[Heap, ...]) -> Value | None:
    """`_asked` of one item, if there is any."""
    nothing = _as_bool(cx, None)

    def first() -> list[AV]:
        item = call_builtin(cx, "builtins.next", [call_builtin(cx, "builtins.iter", [items], {})], {})
        return [_as_bool(cx, _asked(cx, item, around))]

    (found,) = cx.choose(call_builtin(cx, "builtins.bool", [items], {}).value, first, lambda: [nothing])
    return found.value


def _repeated(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    """repeated(again, known, function, arguments, named)"""
    _, known, function, given, named = arguments
    assert isinstance(named.type, Dict)
    keywords = dict(zip(named.type.keys, items_of(named), strict=True))
    return repeats(cx, _tables(cx, known), lambda: call(cx, function, items_of(given), keywords))


def _tables(cx: Frame, known: AV) -> Iterable[str]:
    """The tables that a cache lies in."""
    heap = heap_of_type(known.type)
    inner = [] if heap is None else [heap_of_type(heap.known(name)) for name in ("entries", "places")]
    outside = [other for (kind, _), other in cx.session.heaps.items() if kind == "cache"]
    return [str(found) for found in (heap, *inner, *outside) if found is not None]


HANDLERS.update({
    "pullback.cached_outside": _outside, "pullback.differentiated": _differentiated, "pullback.repeated": _repeated,
})  # fmt: skip

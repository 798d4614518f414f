"""Generators that are kept, or advanced from more than one place: objects that give one value at a time.

    g = gen(x)                         g = Resumed(gen'(x)), where gen' makes the function that is called for a value
    a = next(g); b = next(g)    ->     a = g.resume(None); b = g.resume(None)

A generator that one loop runs through pushes its values (`generators`), which costs nothing.  Which it is, is seen in
the function that has it: a generator that is handed on once has not begun yet.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from types import MethodType

from pullback.diagnostic import CompileError
from pullback.infer.calls import call, call_bound
from pullback.infer.dispatch import dispatch
from pullback.infer.engine import Code, Frame
from pullback.infer.heaps import Heap, heap_of, heap_of_type, read, table_of, write
from pullback.infer.lattice import WEAK_INT
from pullback.infer.registry import HANDLERS, prelude
from pullback.infer.uses import stored_in, uses_of
from pullback.infer.values import AV, items_of
from pullback.ir.node import Block, Function, Op, Value
from pullback.prims.prelude.resumed import Manager, Resumed
from pullback.types import NONE, Builtin, Class, Closure, Iterator, Type

__all__ = ["begun", "can_begin", "drop_own", "entered", "is_begun", "kept", "managed", "stored"]


def kept(cx: Frame, value: Value, av: AV) -> AV:
    """The value of a name, a generator perhaps, in the form that its uses want."""
    if not isinstance(av.type, Iterator) or av.type.kind != "generator" or cx.dead:
        return av
    function = cx.code.untyped
    is_kept = uses_of(function).get(value, 0) > 1 or value in stored_in(function)
    return begun(cx, av) if is_kept and _resumed(cx, av) is not None else av


def stored(cx: Frame, av: AV) -> AV:
    """The value, a generator perhaps, as it is kept in memory."""
    is_generator = isinstance(av.type, Iterator) and av.type.kind == "generator" and not cx.dead
    return begun(cx, av) if is_generator and _resumed(cx, av) is not None else av


def can_begin(cx: Frame, generator: AV) -> bool:
    """Can it be advanced step by step: does it not yield where that is not supported."""
    try:
        return _resumed(cx, generator) is not None
    except CompileError:
        return False


def is_begun(type_: Type) -> bool:
    """Is it a generator as an object?"""
    heap = heap_of_type(type_)
    return heap is not None and heap.python is Resumed


def entered(cx: Frame, op: Op, operands: Sequence[AV]) -> AV:
    """What `with` is given: a generator as an object with __enter__ and __exit__, where it cannot be pushed: it catches
    what the body raises, or (stepped) the body itself is left and entered again."""
    return dispatch(cx, operands, lambda cx, given: _entered(cx, given[0], stepped=bool(op.attrs["stepped"])))


def _entered(cx: Frame, manager: AV, *, stepped: bool) -> AV:
    if not isinstance(manager.type, Iterator) or manager.type.kind != "context":
        return manager
    function = manager.type.parts[0]
    catches = isinstance(function, Closure) and isinstance(function.code, Code)
    catches = catches and bool(function.code.untyped.attrs.get("catches"))  # type: ignore[union-attr]
    if not stepped and not catches:
        return manager
    return managed(cx, begun(cx, AV(Iterator("generator", manager.type.parts), manager.values)))


def managed(cx: Frame, steps: AV) -> AV:
    """The manager that contextlib.contextmanager makes of a generator that is an object."""
    return steps if cx.dead else call(cx, AV(Class(Manager)), [steps], {})


def begun(cx: Frame, generator: AV) -> AV:
    """A generator as an object."""
    function, *arguments = items_of(generator)
    code = _resumed(cx, generator)
    if code is None:
        raise cx.error("a generator is kept here", "it is advanced from several places",
                       "step through it in one loop, or make a list of it: list(...)")  # fmt: skip
    assert isinstance(function.type, Closure)
    maker = AV(Closure(code, function.type.captured, function.type.name), function.values)
    resume = call_bound(cx, maker, arguments)
    return resume if cx.dead else call(cx, AV(Class(Resumed)), [resume], {})


def _resumed(cx: Frame, generator: AV) -> Code | None:
    """The code of the function that is called instead of a generator function."""
    function = items_of(generator)[0]
    code = function.type.code if isinstance(function.type, Closure) else None
    make = code.untyped.attrs.get("resumed") if isinstance(code, Code) else None
    if not isinstance(code, Code) or not isinstance(make, MethodType) or cx.session.backward is not None:
        return None
    key = ("resumed", code)
    found = cx.session.codes.get(key)
    if found is None:
        found = cx.session.codes[key] = replace(code, untyped=_made(make))
    return found


@lru_cache(maxsize=256)
def _made(make: Callable[[], Function]) -> Function:
    """The same function for every compilation."""
    return make()


def drop_own(cx: Frame, body: Block) -> None:
    """At the end of a function: generators end that only a variable of it has."""
    if cx.dead or (_WAITING, _WAITING) not in cx.session.heaps:
        return
    for op in body.ops:
        for value in op.results:
            av = cx.env.get(value)
            if av is not None and value.name and is_begun(av.type) and _is_own(cx, value):
                call(cx, prelude(cx, "pullback.dropped"), [av], {})


_STEPS = ("send", "throw", "close", "__next__")


def _is_own(cx: Frame, value: Value) -> bool:
    """Is a generator only advanced: neither kept nor given to other functions."""
    function = cx.code.untyped
    if value in function.body.results:
        return False
    for op in function.body.walk():
        if any(value in block.results for block in op.blocks):
            return False
        if value in op.operands and not _advances(cx, op, value):
            return False
    return True


def _advances(cx: Frame, op: Op, value: Value) -> bool:
    if op.name == "py.attribute":
        return op.attrs["name"] in _STEPS
    if op.name == "py.for":
        return op.operands[0] is value and op.operands.count(value) == 1
    called = cx.env.get(op.operands[0])
    return op.name == "py.call" and called is not None and called.type == Builtin("builtins.next")


def _waiting(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    """waiting(by): so many more generators stand at a `yield` inside `try`.  The count is the only row of a table."""
    (by,) = arguments
    heap = heap_of(cx, _WAITING, _WAITING)
    row = _row(cx, heap)
    write(cx, heap, row, "count", AV(WEAK_INT, (cx.e("add", read(cx, heap, row, "count").value, by.value),)))
    return AV(NONE)


_WAITING = "waiting"


def _row(cx: Frame, heap: Heap) -> Value:
    table, first = table_of(cx, heap), cx.e.integer(0)
    heap.learn("count", WEAK_INT)

    def make() -> list[AV]:
        cx.e("table_rows", table, cx.e.integer(1), numbered=True)
        return []

    cx.choose(cx.e("eq", cx.e("table_length", table), first), make, list)
    return first


def _ended(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    """At the end of a call: where a generator still stands inside `try`, Python would have run what stands in `finally`
    when the last reference went.  Nothing here tells when that is, so it must have been closed."""
    if (_WAITING, _WAITING) not in cx.session.heaps or cx.dead:
        return AV(NONE)
    heap = heap_of(cx, _WAITING, _WAITING)
    count = read(cx, heap, _row(cx, heap), "count").value
    cx.check(cx.e("eq", count, cx.e.integer(0)), "RuntimeError", _LEFT_OPEN)
    return AV(NONE)


_LEFT_OPEN = "a generator was left at a `yield` inside `try` or `with`: end it by close()"


def _object(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    """What a call of a generator function is in one that is kept itself."""
    return call(cx, AV(Class(Resumed)), arguments, keywords)


HANDLERS.update({"pullback.resumed": _object, "pullback.waiting": _waiting, "pullback.ended": _ended})

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
from pullback.infer.engine import Code, Frame
from pullback.infer.registry import HANDLERS
from pullback.infer.uses import stored_in, uses_of
from pullback.infer.values import AV, items_of
from pullback.ir.node import Function, Value
from pullback.prims.prelude.resumed import Resumed
from pullback.types import Class, Closure, Iterator

__all__ = ["begun", "can_begin", "kept", "stored"]


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


def begun(cx: Frame, generator: AV) -> AV:
    """A generator as an object."""
    function, *arguments = items_of(generator)
    code = _resumed(cx, generator)
    assert isinstance(function.type, Closure) and code is not None
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


def _object(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    """What a call of a generator function is in one that is kept itself."""
    return call(cx, AV(Class(Resumed)), arguments, keywords)


HANDLERS["pullback.resumed"] = _object

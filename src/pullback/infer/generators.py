"""Generators: a call of a generator function keeps the arguments; what consumes it pushes (see front/generators.py).

    for x in gen(n):             body: a function of (x, state) that yields (go on, state)
        total += x         ->    go, value, (total,) = gen(n, body, (total,))

The body of the loop becomes a closure over the values that it reads; what the loop carries is the state.  A generator
has one consumer: Python's would be found used up by a second one, ours would begin anew, so that is refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from pullback.infer.calls import call, call_bound, call_builtin
from pullback.infer.dispatch import dispatch
from pullback.infer.engine import Code, Frame
from pullback.infer.heaps import kind_of
from pullback.infer.interleaving import beside, collected_apart
from pullback.infer.protocols import call_special, has_special, iterated
from pullback.infer.registry import HANDLERS
from pullback.infer.resumed import begun, can_begin, is_begun, managed
from pullback.infer.uses import KEEPS, uses_of
from pullback.infer.values import AV, items_of
from pullback.ir.node import Block, Function, Op, Value
from pullback.prims.base import get
from pullback.types import Closure, Constant, Iterator, Tuple, Type, Union, show

__all__ = [
    "check_once", "collected", "delegate", "is_once", "is_pushed", "itself", "loop_over", "nests",
]  # fmt: skip

_ONCE = ("generator", "context", "enumerate", "zip", "reversed", "iter")  # kinds of iterators that are used up


def is_pushed(type_: Type) -> bool:
    """Is it a generator, or counts or pairs what one gives?"""
    return isinstance(type_, Iterator) and (
        type_.kind == "generator" or (type_.kind in ("enumerate", "zip") and any(map(is_pushed, type_.parts)))
    )


def nests(cx: Frame, op: Op, type_: Type) -> bool:
    """Would each level of a recursive generator wrap the consumer of the one around it?  Then a list is made first."""
    if not any(value.name == "the consumer" for value in _free(op.blocks[0])):
        return False
    running = {spec.code for spec in cx.session.order if spec.running}
    return any(isinstance(part, Closure) and part.code in running for part in _generators_in(type_))


def _generators_in(type_: Type) -> Iterable[Type]:
    """The generator functions of a generator, and of what counts or pairs generators."""
    if isinstance(type_, Iterator):
        yield from type_.parts[:1] if type_.kind == "generator" else ()
        for part in type_.parts:
            yield from _generators_in(part)


def loop_over(cx: Frame, op: Op, subject: AV, start: Sequence[AV]) -> list[AV]:
    """`for` over a generator."""
    code, free = _consumer(cx, op)
    captured = [itself(cx) if value is code.untyped.attrs["itself"] else _captured(cx, value) for value in free]
    type_ = Closure(code, tuple(av.type for av in captured), code.name)
    consumer = AV(type_, tuple(v for av in captured for v in av.values))
    found = _push(cx, subject, consumer, _tuple(start))
    return [cx.stop() for _ in start] if found is None else items_of(found[2])


def delegate(cx: Frame, op: Op, operands: Sequence[AV]) -> AV:
    """`yield from`: the consumer is handed on to a generator; other iterables are stepped through."""

    def rule(cx: Frame, operands: Sequence[AV]) -> AV:
        subject, consumer, state = operands
        subject = iterated(cx, subject)
        found = _push(cx, subject, consumer, state) if is_pushed(subject.type) else None
        if cx.dead:
            return cx.stop()
        return _tuple(found) if found else call_builtin(cx, "pullback.delegate", operands, {})

    subject, consumer, state = operands
    return dispatch(cx, [subject], lambda cx, inner: rule(cx, [*inner, consumer, state]))


def collected(cx: Frame, generator: AV) -> AV:
    """A list of all that the generator gives."""
    return call_builtin(cx, "pullback.collect", [generator], {})


def _push(cx: Frame, generator: AV, consumer: AV, state: AV) -> list[AV] | None:
    """Run the generator to its end, or to where the consumer stops it; None if that is never reached."""
    assert isinstance(generator.type, Iterator)
    parts = items_of(generator)
    if generator.type.kind == "enumerate":
        parts = items_of(call_builtin(cx, "pullback.enumerate", parts, {}))
    elif generator.type.kind == "zip":
        parts = items_of(_zipped(cx, parts))
    function, *arguments = parts
    if generator.type.kind == "zip":
        result = beside(cx, lambda: call_bound(cx, function, [*arguments, consumer, state]))
    else:
        result = call_bound(cx, function, [*arguments, consumer, state])
    return None if cx.dead else items_of(result)


def _zipped(cx: Frame, parts: Sequence[AV]) -> AV:
    """zip(...) as a generator: one of its parts pushes, the rows of the others are in lists before it and after it.

    Of several generators each takes its turn.
    """
    pushed = [part for part in parts if is_pushed(part.type)]
    if len(pushed) > 1 and all(can_begin(cx, _plain(cx, part)) for part in pushed):
        return _in_turns(cx, parts)
    position = next(i for i, part in enumerate(parts) if is_pushed(part.type))
    waiting = collected_apart(cx, [p for p in parts[position + 1 :] if is_pushed(p.type)], lambda p: collected(cx, p))
    lists = iter(waiting)
    before, rest = parts[:position], parts[position + 1 :]
    after = [next(lists) if is_pushed(part.type) else part for part in rest]
    kind = {(False, False): "alone", (False, True): "first", (True, False): "last", (True, True): "later"}
    rows = [[collected(cx, call_builtin(cx, "builtins.zip", group, {}))] if group else [] for group in (before, after)]
    name = f"pullback.zip_{kind[bool(before), bool(after)]}"
    return call_builtin(cx, name, [*rows[0], parts[position], *rows[1]], {})


def _in_turns(cx: Frame, parts: Sequence[AV]) -> AV:
    """A generator, or a sequence, and iterators that are asked after it."""

    def advanced(part: AV) -> AV:
        return begun(cx, _plain(cx, part)) if is_pushed(part.type) else call_builtin(cx, "builtins.iter", [part], {})

    simple = not is_pushed(parts[0].type) or parts[0].type.kind == "generator"  # type: ignore[union-attr]
    first = parts[0] if simple else advanced(parts[0])
    others = _tuple([advanced(part) for part in parts[1:]])
    return call_builtin(cx, "pullback.zip_in_turns", [first, others], {})


def _plain(cx: Frame, part: AV) -> AV:
    """A generator; what counts or pairs generators as one."""
    assert isinstance(part.type, Iterator)
    if part.type.kind == "enumerate":
        return call_builtin(cx, "pullback.enumerate", items_of(part), {})
    return _zipped(cx, items_of(part)) if part.type.kind == "zip" else part


def _tuple(items: Sequence[AV]) -> AV:
    return AV(Tuple(tuple(item.type for item in items)), tuple(v for item in items for v in item.values))


def _next(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    """next(iterator, default): of an iterator that nothing else uses."""
    if keywords or not 1 <= len(arguments) <= 2:
        raise cx.type_error("next() takes an iterator and perhaps a default", "these are other arguments")
    subject = arguments[0]
    if isinstance(subject.type, Union):
        return dispatch(cx, [subject], lambda cx, operands: _next(cx, [operands[0], *arguments[1:]], {}))
    if is_once(subject.type):
        return call_builtin(cx, "pullback.next" if len(arguments) == 1 else "pullback.next_or", arguments, {})
    if kind_of(subject.type) == "iterator":
        return HANDLERS["iterator.__next__"](cx, arguments, {})
    found = call_special(cx, "__next__", subject) if len(arguments) == 1 else None
    if len(arguments) == 2 and has_special(cx, subject.type, "__next__"):
        return call_builtin(cx, "pullback.next_else", arguments, {})
    if found is None:
        title = f"'{show(subject.type)}' object is not an iterator"
        raise cx.error(title, "next() takes an iterator", "index it, or loop over it", raised=("TypeError", title))
    return found


HANDLERS["builtins.next"] = _next


# ------------------------------------------------------------------------------------------ context managers


def _contextmanager(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    """contextlib.contextmanager(f): what makes managers of f's generators."""
    (function,) = arguments
    return AV(Closure("contextlib.context", (function.type,), "contextmanager"), function.values)


def _manager(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    function, *rest = arguments
    made = call(cx, function, rest, keywords)
    if is_begun(made.type):
        return managed(cx, made)
    if not isinstance(made.type, Iterator):
        raise cx.error("contextmanager() takes a generator function", "this function has no `yield`", "yield one value")
    return AV(Iterator("context", made.type.parts), made.values)


def _wraps(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    """functools.wraps(f): what gives a function the name of f."""
    (wrapped, *_) = arguments
    return AV(Closure("functools.wrapper", (wrapped.type,), "wraps"), wrapped.values)


def _wrapper(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    wrapped, function = arguments
    name = getattr(wrapped.type, "name", "")
    if not isinstance(function.type, Closure) or not name:
        return function
    return AV(replace(function.type, name=name), function.values)


HANDLERS["functools.wraps"] = _wraps
HANDLERS["functools.wrapper"] = _wrapper
HANDLERS["contextlib.contextmanager"] = _contextmanager
HANDLERS["contextlib.context"] = _manager


def is_context(cx: Frame, op: Op, operands: Sequence[AV]) -> AV:
    """Is it a generator that `with` runs to its end?"""
    (subject,) = operands
    found = isinstance(subject.type, Iterator) and subject.type.kind == "context"
    return AV(Constant(found), (), found)


def pushed(cx: Frame, op: Op, operands: Sequence[AV]) -> AV:
    """The generator of a context manager."""
    (subject,) = operands
    assert isinstance(subject.type, Iterator)
    return AV(Iterator("generator", subject.type.parts), subject.values)


# ------------------------------------------------------------------------------------------------ consumers


def _captured(cx: Frame, value: Value) -> AV:
    found = cx.env[value]
    if is_once(found.type):
        raise cx.error(
            "an iterator is used inside a loop over a generator", "it would be used up in the first trip",
            "make the iterator inside the loop, or a list of it before",
        )  # fmt: skip
    return found


def itself(cx: Frame) -> AV:
    """The closure that is running: in the body of a loop that was made a function, the one around."""
    holder = cx.code.untyped.attrs.get("itself")
    found = cx.env[holder] if isinstance(holder, Value) else cx.self_av
    assert found is not None
    return found


def _consumer(cx: Frame, op: Op) -> tuple[Code, list[Value]]:
    """The body of a `for` as a function, and the values from around that it reads; the same at every call."""
    key = ("consumer", op)
    code = cx.session.codes.get(key)
    if code is None:
        untyped = _outlined(cx, op)
        code = cx.session.codes[key] = Code(untyped, cx.code.globals)
    count = len(code.untyped.body.params) - 2
    return code, code.untyped.body.params[:count]


def _outlined(cx: Frame, op: Op) -> Function:
    body = op.blocks[0]
    guards = {inner.attrs["guard"] for inner in body.walk() if inner.name == "py.try"}
    if any(inner.name == "py.mark" and inner.attrs["guard"] not in guards for inner in body.walk()):
        raise cx.error(
            "a handler reads a variable that this loop over a generator changes", "the iterable hides a builtin name",
            "give the generator a name of its own",
        )  # fmt: skip
    element, *carried = body.params
    state = Value(None, "state")
    free = _free(body)
    holder = Value(None, "itself") if any(inner.name == "py.self" for inner in body.walk()) else None
    free += [holder] if holder is not None else []
    unpack = Op(get("py.unpack"), [state], carried, {"count": len(carried)}, span=op.span)
    results = list(body.results)
    tail: list[Op] = []

    def add(name: str, operands: Sequence[Value], **attrs: object) -> Value:
        tail.append(Op(get(name), operands, [Value()], attrs, span=op.span))
        return tail[-1].result

    go = results.pop(0) if op.attrs.get("breaks") else add("py.const", (), value=True)
    result = add("py.tuple", [go, add("py.tuple", results)])
    attrs: dict[str, object] = {
        "python_name": cx.code.untyped.attrs.get("python_name"),
        "qualified_name": cx.code.untyped.attrs.get("qualified_name"),
        "captures": tuple(value.name for value in free),
        "cells": (),
        "parameters": (("element", "positional", False), ("state", "positional", False)),
        "generator": False,
        "itself": holder,
    }
    block = Block([*free, element, state], [unpack, *body.ops, *tail], [result])
    return Function(cx.code.untyped.name, block, op.span, attrs)


def _free(block: Block) -> list[Value]:
    """Values that the block reads and does not define."""
    own = set(block.params)
    for op in block.walk():
        own.update(op.results)
        own.update(param for inner in op.blocks for param in inner.params)
    used = [v for op in block.walk() for v in (*op.operands, *(r for inner in op.blocks for r in inner.results))]
    return list(dict.fromkeys(v for v in [*used, *block.results] if v not in own))


# ------------------------------------------------------------------------------------------------- used once


def is_once(type_: Type) -> bool:
    """Is it an iterator that is used up, or a tuple or union with one?"""
    match type_:
        case Iterator(kind, _):
            return kind in _ONCE
        case Tuple(items) | Union(items):
            return any(map(is_once, items))
        case _:
            return False


def check_once(cx: Frame, op: Op, value: Value) -> None:
    """Refuse a second use of an iterator: of Python's, nothing is left then."""
    if op.name in ("py.is_context", "py.pushed"):
        return
    if op.name not in KEEPS:
        raise cx.error(
            "an iterator is kept here", "it would be used up by the first that steps through it",
            "make a list of it: list(...)",
        )  # fmt: skip
    if uses_of(cx.code.untyped).get(value, 0) > 1:
        raise cx.error(
            "an iterator is used twice", "Python's is used up by the first that steps through it",
            "make a list of it: list(...), or make the iterator anew",
        )  # fmt: skip

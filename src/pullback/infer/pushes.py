"""Generators in J: a loop over one is a loop over a list of all that it gives.

    for x in gen(n): body       ->      l = []; gen(n) pushes into l; for x in l: body

Where neither the loop nor the generator changes anything, nobody sees that the generator runs to its end first.  Where
one does, for the other may read it, and where the loop may end before, the generator pushes into a function made of the
loop's body (`called`).
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Mapping, Sequence
from types import BuiltinFunctionType, ModuleType

import numpy as np

from pullback.infer.calls import call_bound
from pullback.infer.dispatch import dispatch
from pullback.infer.engine import Code, Frame
from pullback.infer.generators import is_pushed
from pullback.infer.loops import lazily
from pullback.infer.made import function
from pullback.infer.protocols import iterated
from pullback.infer.sites import CallWanted
from pullback.infer.values import AV
from pullback.ir.build import Builder
from pullback.ir.node import Block, Op, Value
from pullback.prims.base import get
from pullback.types import (
    NONE,
    Array,
    Closure,
    Iterator,
    List,
    Number,
    Range,
    Ref,
    Shadowed,
    Str,
    Tuple,
    Type,
)  # fmt: skip

__all__ = ["begin", "collecting", "delegating", "push", "reject_pushed"]

_HELP = "make a list of what it gives, or differentiate it in the default formulation"
_CHANGES = frozenset({
    "py.setitem", "py.inplace_item", "py.delitem", "py.setattr", "py.delattr", "py.cell_set", "py.inplace", "py.raise",
    "py.call_star", "py.delegate", "py.try", "py.assert",
})  # fmt: skip


def push(cx: Frame, op: Op, operands: Sequence[AV]) -> AV:
    """py.push(f, arguments..., consumer, state): what a generator function returns of a call with its consumer."""
    target, *arguments = operands
    return call_bound(cx, target, arguments)


def collecting(cx: Frame, subject: AV, loop: Op) -> Code | None:
    """The function that makes a list of what a generator gives; None of anything else."""
    if not isinstance(subject.type, Iterator):
        return None
    if subject.type.kind in _IN_PARTS:
        raise CallWanted(loop)
    given, counted = subject.type, subject.type.kind == "enumerate"
    if counted and isinstance(given.parts[0], Iterator):
        given = given.parts[0]
    if given.kind == "zip" and is_pushed(given):
        if not _is_alone(cx, given, loop):
            raise _refused(cx, "in zip() with others or with lists that may change")
        raise CallWanted(loop)
    if given.kind != "generator":
        return None
    inner = given.parts[0]
    assert isinstance(inner, Closure) and isinstance(inner.code, Code)
    kept = any(isinstance(type_, Closure) and _is_keeping(cx, type_.code) for type_ in cx.parameters)
    quiet = _is_quiet(cx.code, loop.blocks[0], kept=kept) and _is_quiet(inner.code, inner.code.untyped.body, kept=True)
    if _is_running(cx, inner.code) and kept:  # each level of it would wrap the consumer of the one around it
        if not quiet:
            raise _refused(cx, "that calls itself and changes something")
    elif not quiet or loop.attrs.get("breaks"):
        raise CallWanted(loop)
    return _code(cx, len(given.parts), counted=counted)


def _is_alone(cx: Frame, zipped: Iterator, loop: Op) -> bool:
    """Is one part of a zip a generator, and does nobody see that the others are read before it begins?"""
    pushed = [part for part in zipped.parts if is_pushed(part)]
    (first, *more) = pushed
    if more or not isinstance(first, Iterator) or first.kind != "generator":
        return False
    if all(_is_steady(cx, part) for part in zipped.parts if part is not first):
        return True
    inner = first.parts[0]
    assert isinstance(inner, Closure) and isinstance(inner.code, Code)
    return _is_quiet(cx.code, loop.blocks[0], kept=False) and _is_quiet(inner.code, inner.code.untyped.body, kept=True)


def _is_steady(cx: Frame, type_: Type) -> bool:
    """Does it give the same elements whenever it is read: nothing changes it."""
    match type_:
        case Tuple() | List() | Range() | Str():
            return True
        case Array() | Shadowed():
            return not cx.session.overwrites
        case Iterator("enumerate" | "zip" | "reversed", parts):
            return all(_is_steady(cx, part) or isinstance(part, Number) for part in parts)
    return False


# How the parts of such an iterator are stepped through, as functions of the parts, the consumer and the state.
_IN_PARTS = {
    "map": "pullback.delegate_map", "chain": "pullback.delegate_chain", "repeat": "pullback.delegate_repeat",
    "zip_longest": "pullback.delegate_longest",
}  # fmt: skip


def delegating(cx: Frame, subject: AV) -> Code:
    """A function of what is stepped through, a consumer of its elements and a state: whether it came to its end, what a
    generator returns, and the state then."""
    kind = subject.type.kind if isinstance(subject.type, Iterator) else ""
    if isinstance(subject.type, Ref):
        reject_pushed(cx, subject)
    count = len(subject.type.parts) if isinstance(subject.type, Iterator) else 0
    counted = kind == "enumerate" and is_pushed(subject.type)
    parts_of = subject.type.parts if isinstance(subject.type, Iterator) and kind == "zip" else ()
    pushed = tuple(i for i, part in enumerate(parts_of) if is_pushed(part))
    key = ("delegating", kind, counted, count, pushed)
    found = cx.session.codes.get(key)
    if found is None:
        params = [Value(None, name) for name in ("subject", "the consumer", "state")]
        builder = Builder(Block(params))

        def emit(op: str, /, *operands: Value, **attrs: object) -> Value:
            return builder.append_untyped(get(f"py.{op}"), operands, attrs=attrs).result

        parts = [emit("part", params[0], index=i) for i in range(count)]
        if kind == "generator":
            result = emit("push", *parts, *params[1:])
        elif counted:
            made = emit("call", emit("builtin", name="pullback.enumerate"), *parts, keywords=())
            result = emit("delegate", made, *params[1:])
        elif pushed:
            result = emit("delegate", _zipped(emit, parts, pushed[0]), *params[1:])
        else:
            given = emit("tuple", *parts) if kind in _IN_PARTS else params[0]
            name = _IN_PARTS.get(kind, "pullback.delegate")
            result = emit("call", emit("builtin", name=name), given, *params[1:], keywords=())
        found = cx.session.codes[key] = Code(function("delegate", params, builder, [result]), {})
    return found


def _zipped(emit: Callable[..., Value], parts: Sequence[Value], place: int) -> Value:
    """zip(...) with a generator at that place as a generator, of it and of the rows of the others."""

    def rows(group: Sequence[Value]) -> list[Value]:
        if not group:
            return []
        whole = emit("call", emit("builtin", name="builtins.zip"), *group, keywords=())
        return [emit("call", emit("builtin", name="pullback.collect"), whole, keywords=())]

    before, after = rows(parts[:place]), rows(parts[place + 1 :])
    kind = {(0, 0): "alone", (0, 1): "first", (1, 0): "last", (1, 1): "later"}[len(before), len(after)]
    name = emit("builtin", name=f"pullback.zip_{kind}")
    return emit("call", name, *before, parts[place], *after, keywords=())


def begin(cx: Frame, op: Op, operands: Sequence[AV]) -> AV:
    """py.stepped of what a loop steps through as it is: what happens when the loop begins happens already here."""

    def one(cx: Frame, found: Sequence[AV]) -> AV:
        lazily(cx, found[0])
        return AV(NONE)

    dispatch(cx, operands[:1], one)
    return operands[0]


def reject_pushed(cx: Frame, subject: AV) -> None:
    """Guard: what would make a loop over a generator, or call a method of the user's, has no rule."""
    branch = cx.branch(lambda: [iterated(cx, subject)])
    if is_pushed(subject.type) or branch.results[0] is not subject:
        raise cx.error(
            "a loop over this has no backpropagator in the formulation by closures",
            "generators in zip(), and objects with __iter__, cannot be differentiated by closures", _HELP,
        )  # fmt: skip


def _refused(cx: Frame, why: str) -> Exception:
    return cx.error(f"a loop over a generator, {why}, has no backpropagator in the formulation by closures",
                    "this cannot be differentiated by closures", _HELP)  # fmt: skip


def _is_running(cx: Frame, code: Code) -> bool:
    """Is the generator function running."""
    return any(spec.running and (spec.code.primal or spec.code) == code for spec in cx.session.order)


def _is_keeping(cx: Frame, code: object) -> bool:
    """Is it the consumer that makes a list."""
    return isinstance(code, Code) and (code.primal or code) is cx.session.codes.get("keep")


def _is_quiet(code: Code, block: Block, *, kept: bool) -> bool:
    """Does nobody see when the code runs: it only computes, as far as its ops show.

    kept: its consumer, if it is a generator, makes a list.
    """
    names = (code.primal or code).globals
    makers = {v: op for op in block.walk() for v in op.results}
    for op in block.walk():
        if op.name in _CHANGES:
            return False
        if op.name not in ("py.call", "py.with_back") or (kept and op.operands[0].name == "the consumer"):
            continue
        if not _is_plain(op, makers, names):
            return False
    return True


def _is_plain(op: Op, makers: Mapping[Value, Op], names: Mapping[str, object]) -> bool:
    """A call of a function of math, NumPy or builtins that changes nothing."""
    made = makers.get(op.operands[0])
    if made is not None and made.name == "py.attribute":
        above = makers.get(made.operands[0])
        found = names.get(str(above.attrs["name"])) if above is not None and above.name == "py.global" else None
        return isinstance(found, ModuleType) and found.__name__ in ("math", "numpy", "cmath")
    if made is None or made.name != "py.global":
        return False
    name = str(made.attrs["name"])
    value = names.get(name, vars(builtins).get(name))
    return value is not print and isinstance(value, BuiltinFunctionType | type | np.ufunc) and not _is_user(value)


def _is_user(value: object) -> bool:
    return isinstance(value, type) and value.__module__ not in ("builtins", "numpy")


def _code(cx: Frame, count: int, *, counted: bool) -> Code:
    """A function of the generator, or (`counted`) of what enumerate makes of it."""
    key = ("collecting", count, counted)
    found = cx.session.codes.get(key)
    if found is None:
        subject = Value(None, "generator")
        builder = Builder(Block([subject]))

        def emit(op: str, /, *operands: Value, **attrs: object) -> Value:
            return builder.append_untyped(get(f"py.{op}"), operands, attrs=attrs).result

        generator = emit("part", subject, index=0) if counted else subject
        parts = [emit("part", generator, index=i) for i in range(count)]
        made = emit("list", growing=True)
        emit("push", *parts, emit("function_of", code=_keep(cx)), made)
        if counted:
            start = emit("part", subject, index=1)
            made = emit("call", emit("builtin", name="builtins.enumerate"), made, start, keywords=())
        found = cx.session.codes[key] = Code(function("collect", [subject], builder, [made]), {})
    return found


def _keep(cx: Frame) -> Code:
    """The consumer (x, l): l.append(x); return True, l."""
    found = cx.session.codes.get("keep")
    if found is None:
        item, kept = Value(None, "x"), Value(None, "l")
        builder = Builder(Block([item, kept]))
        builder.append_untyped(get("py.append"), [kept, item], results=0)
        going = builder.append_untyped(get("py.const"), (), attrs={"value": True}).result
        result = builder.append_untyped(get("py.tuple"), [going, kept]).result
        made = function("keep", [item, kept], builder, [result])
        del made.attrs["bare"]
        found = cx.session.codes["keep"] = Code(made, {})
    return found

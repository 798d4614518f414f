"""The entry of a compilation: a function that takes what Python passes and calls what the user asked for.

    jit(f)(x, y)                    entry(x, y): f(x, y)
    grad(f)(x)                      entry(x): grad(f)(x)
    jvp(f, (x,), (t,))              entry(x, t): jvp(f, (x,), (t,))
    vjp(f, x) and its pullback      entry(x): f(x)     entry(x, c): vjp(f, x)[1](c)
"""

from __future__ import annotations

import linecache
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from types import FunctionType, MethodType
from typing import Any

from pullback.diagnostic import UNKNOWN, CompileError, InternalError, Span
from pullback.infer.asked import Demanded
from pullback.infer.catching import settle
from pullback.infer.engine import Code, Frame, Session, deep_recursion
from pullback.infer.given import given_sites, reachable, recall, remember, shapes
from pullback.infer.hidden import Outside, thread_hidden
from pullback.infer.imports import imported
from pullback.infer.interleaving import reject_interleaved
from pullback.infer.lattice import depth
from pullback.infer.names import constant_type, hold, holds_values
from pullback.infer.repeated import note_effects
from pullback.infer.returned import hands_out_generators, objects_behind, objects_put
from pullback.infer.ruled import complete
from pullback.infer.sites import CallWanted, Changed, ShadowsWanted, without_sites
from pullback.infer.static import fixed_argument
from pullback.ir.build import Builder
from pullback.ir.node import Block, Function, Program, Value
from pullback.prims.base import get
from pullback.runtime import generators
from pullback.runtime.boundary import Boundary, Refusal
from pullback.runtime.callobject import transform_of
from pullback.runtime.packing import Packed
from pullback.runtime.request import Request
from pullback.types import (
    NONE,
    Builtin,
    Constant,
    DType,
    Number,
    Type,
    slots,
)  # fmt: skip

__all__ = ["Entry", "Request", "infer_entry"]


MOST_RESTARTS = 60


@dataclass(frozen=True, slots=True, eq=False)
class Entry:
    """A typed Program with the boundary through which Python calls its entry."""

    program: Program
    boundary: Boundary


def infer_entry(session: Session, request: Request) -> Entry:
    """Infer everything reached from the request's function with the types of its arguments.

    Code may be inferred before all that families and heaps hold is known: then inference starts again with what is.  An
    error may vanish with more knowledge, so after one that leaves anything to learn the next passes are lenient (the
    path of an op without meaning ends there); when they have settled, the last one is not.
    """
    settled, rounds = False, 0
    while rounds < MOST_RESTARTS:
        changes, asks = session.changes, len(session.asked.asks)
        entry, error = _attempt(session, request)
        rounds += len(session.asked.asks) == asks  # what is asked for goes up a chain of calls, one at a time
        if session.changes != changes:
            session = session.restarted(lenient=session.lenient or error is not None)
        elif error is not None and (settled or session.lenient or not session.heaps):
            raise error
        elif error is not None:
            session = session.restarted(lenient=True)  # more may be known once the rest has been seen
        elif session.passed_over:
            session, settled = session.restarted(), True
        else:
            assert entry is not None
            return entry
    raise InternalError(f"{request.function!r}: what families and heaps hold does not settle")


def _attempt(session: Session, request: Request) -> tuple[Entry | None, Exception | None]:
    """One pass, and the error that ended it."""
    session.grown.clear()
    try:
        return _infer_once(session, request), None
    except Changed as found:
        session.change(found.sites)
        return None, None
    except Demanded as found:
        session.ask(found.asks)
        return None, None
    except ShadowsWanted as found:
        session.want_shadows(overwrites=found.overwrites, outside=found.outside)
        return None, None
    except CallWanted as found:
        session.call(found.loop)
        return None, None
    except (CompileError, InternalError) as error:
        return None, error


def _infer_once(session: Session, request: Request) -> Entry | None:
    """None where more became known than code that was made before it knows."""
    changes = session.changes
    with deep_recursion():
        root = session.frame(session, Code(Function("entry", Block()), {}))
        request = replace(request, span=_definition(session, request.function))
        root.e.span = request.span or UNKNOWN
        objects: list[tuple[Type, object]] = []
        recall(root, request.known)
        types = tuple(
            _argument_type(root, value, where, objects)
            for value, where in zip(request.arguments, _places(request), strict=True)
        )
        session.given_depth = max(map(depth, types), default=0)
        for place, value in request.held.values:
            hold(root, place, value)
        code = session.entry = session.entry or Code(_ENTRIES[request.kind](request), {})
        types = tuple(
            fixed_argument(root, code, 2 + i, type_, value, whole=i in request.static)
            for i, (type_, value) in enumerate(zip(types, request.arguments, strict=True))
        )
        function: Type = NONE
        if not holds_values(request.function):
            found = constant_type(root, request.function, getattr(request.function, "__name__", "function"))
            assert found is not None
            function = found
        helper = Builtin({"jvp": "pullback.jvp", "pullback": "pullback.vjp"}.get(request.kind, "pullback.jit"))
        spec = session.specialize(code, (function, helper, *types), request.span or root.span)
        ruled = complete(session)
        if returned := given_sites(spec.result):
            raise Changed(returned)  # what Python passed is what it gets back: the object, by its row
        remember(root, request.known)
    if session.changes != changes:
        return None
    outside = [*types, *(hidden.type for hidden in session.hidden.values())]
    name, span = getattr(request.function, "__name__", "the function"), request.span or Span("", 0)
    behind = objects_behind(
        [spec.result, *(t for heap in reachable([spec.result]) for t in heap.fields.values())], name, span
    )
    known = {type_ for type_, _ in (*objects, *session.objects, *session.resolved.values())}
    fields = [type_ for heap in reachable(outside) for type_ in heap.fields.values()]
    behind += objects_put(fields, known, name, span)
    program = session.program(spec.name)
    settle(session, program)
    heaps = reachable([*outside, spec.result])
    held = reachable([hidden.type for hidden in session.hidden.values()])
    if hands_out_generators(heaps, held, name, span):
        translating = generators.guard()
        session.guards[id(translating.container), translating.key] = translating
    passed = {str(heap) for heap in heaps}
    order = {where: slots(hidden.type) for where, hidden in session.hidden.items()}
    seen = Outside(
        {name: [str(heap) for heap in reachable(list(types))] for name, types in ruled.items()},
        {where: [str(heap) for heap in reachable([hidden.type])] for where, hidden in session.hidden.items()},
    )
    taken = thread_hidden(program, order, passed, seen)
    reject_interleaved(program)
    note_effects(program)
    name = getattr(request.function, "__name__", "function")
    given = len(request.held.values)
    hidden = tuple(session.hidden.values())
    boundary = Boundary(
        name=name, parameters=(*request.names, *(f"held{i}" for i in range(given))),
        params=(*types, *(place.type for place in hidden[:given])), hidden=hidden[given:],
        guards=tuple(session.guards.values()), result=without_sites(spec.result), keyword_only=request.keyword_only,
        objects=(*objects, *session.objects, *session.resolved.values(), *behind), heaps=shapes(heaps, taken),
        packed=tuple(i for i, value in enumerate(request.arguments) if isinstance(value, Packed)),
        classes=tuple({heap.python: None for heap in session.heaps.values() if heap.python is not None}),
    )  # fmt: skip
    return Entry(program, boundary)


def _definition(session: Session, function: Any) -> Span | None:
    """Where the function that a request is about is defined: errors that concern its arguments point there."""
    while not isinstance(function, FunctionType):
        transform = transform_of(function)
        if transform is None:
            return _method_head(function) if isinstance(function, MethodType) else None
        function = transform[1]
    return session.code_of(function).untyped.span


def _method_head(method: MethodType) -> Span | None:
    """The first line of a bound method."""
    code = getattr(method.__func__, "__code__", None)
    if code is None:
        return None
    text = linecache.getline(code.co_filename, code.co_firstlineno).rstrip()
    start = len(text) - len(text.lstrip())
    return Span(code.co_filename, code.co_firstlineno, start, code.co_firstlineno, len(text.encode()), code.co_name)


def _places(request: Request) -> list[tuple[str, str]]:
    """How messages speak of each argument: what it is, and how to write it."""
    name = getattr(request.function, "__name__", "function")
    count = len(request.names)
    if request.kind == "jvp":
        half = count // 2
        return [(f"jvp of {name}(): the ", f"{kind}[{i}]") for kind in ("primals", "tangents") for i in range(half)]
    found = [(f"{name}(): the argument ", given) for given in request.names]
    if request.kind == "pullback":
        found[-1] = (f"pullback of {name}(): the ", "cotangent")
    return found


def _argument_type(root: Frame, value: Any, place: tuple[str, str], objects: list[tuple[Type, object]]) -> Type:
    what, written = place

    def resolve(inner: object) -> Type:
        found = constant_type(root, inner, f"{what}{written}")
        if found is None:
            raise TypeError(f"{what}{written}: {type(inner).__name__} objects cannot be passed to compiled code")
        objects.append((found, inner))
        return found

    site = ("argument", written)
    if isinstance(value, Packed):
        value, site = value.object, ("field", "packed")  # its lists are rows
    try:
        found = imported(root, value, written, site, resolve)
    except Refusal as error:
        kind = OverflowError if isinstance(error, OverflowError) else TypeError
        raise kind(f"{what}{error}") from None
    return Number(DType.BOOL) if isinstance(found, Constant) else found


# ------------------------------------------------------------------------------------------- bodies of entries


def _function(request: Request, body: Callable[[Builder, Value, Value, list[Value]], Value]) -> Function:
    function, helper = Value(None, "function"), Value(None, "helper")
    params = [Value(None, name) for name in request.names]
    builder = Builder(Block([function, helper, *params]), request.span or Span("", 0))
    target = function
    if holds_values(request.function):  # it is read as what is found in globals is
        target = builder.append_untyped(get("py.object"), (), attrs={"value": request.function}).result
    indexed = builder.append_untyped(get("py.builtin"), (), attrs={"name": "pullback.indexed"}).result
    _call(builder, indexed, params)
    builder.block.results = [body(builder, target, helper, params)]
    parameters = tuple((name, "positional", False) for name in request.names)
    attrs: dict[str, object] = {"python_name": "entry", "captures": ("function", "helper"), "parameters": parameters}
    return Function("entry", builder.block, builder.span, attrs)


def _call(builder: Builder, function: Value, arguments: Sequence[Value], keywords: tuple[str, ...] = ()) -> Value:
    op = builder.append_untyped(get("py.call"), [function, *arguments], attrs={"keywords": keywords})
    return op.result


def _tuple(builder: Builder, items: Sequence[Value]) -> Value:
    return builder.append_untyped(get("py.tuple"), items).result


def _packed(builder: Builder, result: Value) -> Value:
    """Complex arrays of a result as NumPy keeps them; no generator is left where something is still to be done."""
    ended = builder.append_untyped(get("py.builtin"), (), attrs={"name": "pullback.ended"}).result
    _call(builder, ended, [])
    packer = builder.append_untyped(get("py.builtin"), (), attrs={"name": "pullback.returned"}).result
    return _call(builder, packer, [result])


def _plain(request: Request) -> Function:
    keywords = request.names[len(request.names) - request.keyword_only :] if request.keyword_only else ()
    return _function(request, lambda b, function, helper, params: _packed(b, _call(b, function, params, keywords)))


def _jvp(request: Request) -> Function:
    half = len(request.names) // 2

    def body(b: Builder, function: Value, helper: Value, params: list[Value]) -> Value:
        return _packed(b, _call(b, helper, [function, _tuple(b, params[:half]), _tuple(b, params[half:])]))

    return _function(request, body)


def _pullback(request: Request) -> Function:
    def body(b: Builder, function: Value, helper: Value, params: list[Value]) -> Value:
        pair = _call(b, helper, [function, *params[:-1]])
        unpacked = b.append_untyped(get("py.unpack"), [pair], attrs={"count": 2}, results=2)
        return _packed(b, _call(b, unpacked.results[1], params[-1:]))

    return _function(request, body)


_ENTRIES = {"call": _plain, "jvp": _jvp, "pullback": _pullback}

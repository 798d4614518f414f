"""`try` in inference: which exceptions a handler may be given, and of what types the variables are that it sees.

    try: x = f(y)              the body first; what its checks and callees may raise are the members of the handler's
    except E as e: ...         exception (types.Caught); a variable has the join of the types that it has at the marks

An operation that has no meaning, so that Python would raise there, is a CompileError, unless a handler around takes
what Python raises: then the path goes on in that handler.  What a function still being inferred raises is known only
afterwards: `settle` compares, and the session is inferred again if something was missing.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

from pullback.analysis.raises import Raises, failure_of
from pullback.diagnostic import CompileError, Diagnostic
from pullback.infer.dispatch import dispatch
from pullback.infer.engine import BUILTINS, Code, Frame, Session
from pullback.infer.exceptions import is_instance, kinds_of, raise_value, reraise
from pullback.infer.lattice import join
from pullback.infer.values import AV, coerce
from pullback.ir.node import Block, Op, Program, Value
from pullback.prims.base import Emitter, get
from pullback.prims.exceptions import name_of, takes
from pullback.runtime.boundary import ABSENT
from pullback.types import EXCEPTION, NONE, Caught, Failure, NoneType, Str, Type, show, slots

__all__ = ["CATCHING", "raise_assertion", "raise_instead", "settle"]

EVERYTHING = ("BaseException",)


@dataclass(frozen=True, slots=True, repr=False)
class Statement:
    """A `try` of the source, in whatever specialization."""

    code: Code
    op: Op

    def __repr__(self) -> str:
        return f"{self.code.name}:{self.op.span.line}"


# ------------------------------------------------------------------------------------------------ the statement


def _try(cx: Frame, op: Op, start: list[AV]) -> list[AV]:
    """py.try: the body, then the handler with what the body may raise."""
    kinds = _resolved(cx, op.attrs["kinds"])
    key = Statement(cx.code, op)
    number = cx.session.new_guard()
    around = cx.guards.get(op.attrs["guard"])
    cx.guards[op.attrs["guard"]] = number
    cx.session.catching.append(kinds)
    try:
        body = cx.branch(lambda: cx.run(op.blocks[0], [])[0])
    finally:
        cx.session.catching.pop()
        if around is not None:
            cx.guards[op.attrs["guard"]] = around
    types = _settle_marks(cx, body.block, number, [av.type for av in start])
    kinds = kinds or EVERYTHING
    failures = _raised_in(cx, body.block, kinds, key)
    if failures is None:
        _remove_marks(body.block, number)
        cx.e.block.ops += body.block.ops
        cx.dead = cx.dead or body.dead
        return body.results
    exception = AV(Caught(failures), (Value(EXCEPTION, "exception"),))
    seen = [cx.fresh(type_, name) for type_, name in zip(types, _names(op), strict=True)]
    handler = cx.branch(lambda: cx.run(op.blocks[1], [exception, *seen])[0])
    handler.block.params = [v for av in (exception, *seen) for v in av.values]
    joined = [join(x.type, y.type) for x, y in zip(body.results, handler.results, strict=True)]
    blocks = [cx.close(body, joined), cx.close(handler, joined)]
    inits = [v for av, type_ in zip(start, types, strict=True) for v in coerce(cx.e, av, type_).values]
    attrs: dict[str, object] = {"guard": number, "kinds": kinds, "key": key, "members": failures}
    machine = [m for type_ in joined for m in slots(type_)]
    made = cx.e.append(get("try"), inits, attrs=attrs, blocks=blocks, types=machine)
    cx.dead = cx.dead or (body.dead and handler.dead)
    return cx.split(joined, made.results)


def _names(op: Op) -> tuple[str, ...]:
    names = op.attrs["names"]
    assert isinstance(names, tuple)
    return names


def _resolved(cx: Frame, names: object) -> tuple[str, ...]:
    """The classes that the handlers take, by name; everything where that is not known.  A `finally` takes none."""
    if not isinstance(names, tuple):
        return EVERYTHING
    found: list[str] = []
    for name in names:
        value = cx.session.held.read("global", cx.code.globals, name)
        value = BUILTINS.get(name) if value is ABSENT else value
        for kind in value if isinstance(value, tuple) else (value,):
            if not (isinstance(kind, type) and issubclass(kind, BaseException)):
                return EVERYTHING
            found.append(name_of(kind))
    return tuple(found)


def _raised_in(cx: Frame, body: Block, kinds: tuple[str, ...], key: Hashable) -> tuple[Failure, ...] | None:
    """What the handler may be given; None if nothing can be raised."""
    functions = {spec.name: spec.function for spec in cx.session.order if spec.function is not None}
    raises = Raises(functions, [body])
    found = dict(cx.session.handled.get(key, {}))
    found.update((failure_of(site), None) for site in raises.of_block(body) if takes(kinds, site.exception))
    for inner in body.walk():
        if inner.name == "reraise" and inner.operands[0] not in raises.kept:  # of a handler around this `try`
            members = inner.attrs["members"]
            assert isinstance(members, tuple)
            found.update((failure, None) for failure in members if takes(kinds, failure.kind))
    return tuple(found) if found or raises.unknown else None


def settle(session: Session, program: Program) -> None:
    """Note what handlers are given; if they were inferred with something else, the session is inferred again."""
    _refuse_changed(session, program)
    tries = [op for function in program.functions.values() for op in function.body.walk() if op.name == "try"]
    if not tries:
        return
    raises = Raises(program.functions)
    actual: dict[Hashable, dict[Failure, None]] = {}
    for op in tries:
        found = {failure_of(site): None for site in raises.caught.get(op, {})}
        actual.setdefault(op.attrs["key"], {}).update(found)
        session.newly_handled += len(found.keys() - set(op.attrs["members"]))  # type: ignore[call-overload]
    for key, known in session.handled.items():
        session.newly_handled += len(known.keys() - actual.get(key, {}).keys())  # found before types were known better
    session.handled = actual


def _refuse_changed(session: Session, program: Program) -> None:
    """What Python is to see of an exception was noted when it was raised first."""
    if not session.changed_exceptions:
        return
    for function in program.functions.values():
        for op in function.body.walk():
            members = op.attrs["members"] if op.name == "reraise" else ()
            assert isinstance(members, tuple)
            changed = next((m for m in members if m.kind in session.changed_exceptions), None)
            if changed is not None:
                title = f"{show(changed)} is raised again, and its attributes are set outside of __init__"
                help = "raise a new exception, or set the attributes in __init__"
                raise CompileError(Diagnostic(title, op.span, "Python would see those of its first raise", help))


# ------------------------------------------------------------------------------------------------------- marks


def _mark(cx: Frame, op: Op, operands: list[AV]) -> list[AV]:
    """py.mark: the variable's value now; its place among the handler's parameters is known at the body's end."""
    (av,) = operands
    attrs = {"guard": cx.guards[op.attrs["guard"]], "slot": op.attrs["slot"], "type": av.type}
    cx.e.append(get("mark"), av.values, attrs=attrs, types=())
    return []


def _settle_marks(cx: Frame, body: Block, guard: int, types: list[Type]) -> list[Type]:
    """The types of the handler's variables; every mark is made to give a value of that type."""
    marks = [op for op in body.walk() if op.name == "mark" and op.attrs["guard"] == guard]
    for op in marks:
        slot = op.attrs["slot"]
        assert isinstance(slot, int)
        types[slot] = join(types[slot], op.attrs["type"])  # type: ignore[arg-type]
    types = cx.widened(types) if marks else types
    if marks:
        _convert_marks(body, guard, types)
    return types


def _convert_marks(block: Block, guard: int, types: Sequence[Type]) -> None:
    ops: list[Op] = []
    for op in block.ops:
        for inner in op.blocks:
            _convert_marks(inner, guard, types)
        if op.name == "mark" and op.attrs["guard"] == guard:
            slot = op.attrs["slot"]
            assert isinstance(slot, int)
            e = Emitter(Block(), op.span)
            av = AV(op.attrs["type"], tuple(op.operands))  # type: ignore[arg-type]
            op.operands = list(coerce(e, av, types[slot]).values)
            before = tuple(machine for type_ in types[:slot] for machine in slots(type_))
            op.attrs = {"guard": guard, "before": before}
            ops += e.block.ops
        ops.append(op)
    block.ops = ops


def _remove_marks(block: Block, guard: int) -> None:
    block.ops = [op for op in block.ops if not (op.name == "mark" and op.attrs["guard"] == guard)]
    for op in block.ops:
        for inner in op.blocks:
            _remove_marks(inner, guard)


# ---------------------------------------------------------------------------------------------------- handlers


def _catches(cx: Frame, op: Op, operands: list[AV]) -> AV:
    """py.catches: is the exception of one of the classes; where it is, fewer failures are left."""
    exception, kinds = operands
    names = kinds_of(cx, kinds)
    if names is None:
        title = "catching classes that do not inherit from BaseException is not allowed"
        raise cx.error(title, f"this is {show(kinds.type)}", "name an exception class, or a tuple of them",
                       raised=("TypeError", title))  # fmt: skip
    return is_instance(cx, exception, names, op.operands[0])


def _reraise(cx: Frame, op: Op, operands: list[AV]) -> AV:
    return reraise(cx, operands[0])


def _resume(cx: Frame, op: Op, operands: list[AV]) -> list[AV]:
    """py.resume: raise what is pending, if anything is; kept in memory it is what the exception held."""

    def rule(cx: Frame, given: Sequence[AV]) -> AV:
        (pending,) = given
        return AV(NONE) if isinstance(pending.type, NoneType) else raise_value(cx, pending)

    dispatch(cx, operands, rule)
    return []


def _raise(cx: Frame, op: Op, operands: list[AV]) -> AV:
    return raise_value(cx, *operands)


def raise_assertion(cx: Frame, condition: Value, message: AV | None) -> None:
    """AssertionError unless the condition holds."""
    if message is None:
        cx.check(condition, "AssertionError", "")
    elif isinstance(message.type, Str) and message.type.value:
        cx.check(condition, "AssertionError", message.type.value)
    else:
        failure = Failure("AssertionError", (message.type,))
        attrs: dict[str, object] = {"exception": "AssertionError", "message": "", "failure": failure}
        cx.e.append(get("check"), [condition, *message.values], attrs=attrs, types=())


def raise_instead(cx: Frame, error: CompileError) -> bool:
    """Where Python would raise what a handler around takes, do that in place of an error."""
    raised = error.diagnostic.raised
    if raised is None:
        return False
    if not any(takes(kinds, raised[0]) for kinds in cx.session.catching) and not _asks_arguments(cx):
        return False
    place = error.diagnostic.span
    around, cx.e.span = cx.e.span, place if place.line else cx.e.span
    cx.check(cx.e.boolean(False), *raised)
    cx.e.span = around
    cx.stop()
    return True


def _asks_arguments(cx: Frame) -> bool:
    """Is it about the arguments of a caught exception?  How many there are depends on which check failed."""
    op = cx.op
    if op is None or op.name not in ("py.subscript", "py.unpack"):
        return False
    made = (other for other in cx.code.untyped.body.walk() if op.operands[0] in other.results)
    return any(
        other.name == "py.attribute" and other.attrs["name"] == "args"
        and isinstance(cx.env[other.operands[0]].type, Caught)
        for other in made
    )  # fmt: skip


CATCHING: dict[str, Callable[[Frame, Op, list[AV]], AV | list[AV]]] = {
    "py.try": _try, "py.mark": _mark, "py.catches": _catches, "py.reraise": _reraise, "py.resume": _resume,
    "py.raise": _raise,
}  # fmt: skip

"""One handler per op of untyped IR: what the op means for the abstract values it is given."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from typing import Any

from pullback.diagnostic import InternalError
from pullback.infer import arithmetic, assign, calls, indexing, loops, structures, truth
from pullback.infer.advice import nearest
from pullback.infer.engine import Fact, Frame
from pullback.infer.lattice import ELLIPSIS, WEAK_FLOAT, WEAK_INT
from pullback.infer.names import captured_values, constant_type, global_value, object_value
from pullback.infer.values import AV
from pullback.ir.node import Function, Op
from pullback.types import (
    F64,
    I64,
    NONE,
    UNBOUND,
    Closure,
    Constant,
    Dict,
    List,
    Module,
    Slice,
    Str,
    Tuple,
    Unbound,
    Union,
)  # fmt: skip

__all__ = ["Inference"]


class Inference(Frame):
    """A frame in which every op of untyped IR has its meaning."""

    def captured_values(self) -> list[AV]:
        return captured_values(self)

    def infer_op(self, op: Op) -> None:
        handler = _HANDLERS.get(op.name)
        if handler is None:
            raise InternalError(f"no meaning for {op.name}")
        results = handler(self, op, [self.env[v] for v in op.operands])
        if self.dead:
            return
        found = results if isinstance(results, list) else [results]
        self.env.update(zip(op.results, found, strict=True))


def literal(cx: Frame, value: object) -> AV:
    """A constant written in the source."""
    if value is None:
        return AV(NONE)
    if isinstance(value, bool):
        return AV(Constant(value), (), value)
    if isinstance(value, int):
        if not -(2**63) <= value < 2**63:
            raise cx.error(f"the integer {value} does not fit 64 bits", "compiled ints have 64 bits")
        return _number(cx, AV(WEAK_INT, (cx.e.constant(value, I64),), value))
    if isinstance(value, float):
        return _number(cx, AV(WEAK_FLOAT, (cx.e.constant(value, F64),), value))
    if isinstance(value, str):
        return AV(Str(value), (), value)
    if value is Ellipsis:
        return AV(ELLIPSIS, (), Ellipsis)
    raise cx.error(f"constants of type {type(value).__name__} are not supported", "int, float, bool, str and None are")


def _number(cx: Frame, av: AV) -> AV:
    cx.literals[av.value] = av.literal
    return av


def _const(cx: Frame, op: Op, operands: list[AV]) -> AV:
    return literal(cx, op.attrs["value"])


def _global(cx: Frame, op: Op, operands: list[AV]) -> AV:
    return global_value(cx, str(op.attrs["name"]))


def _import(cx: Frame, op: Op, operands: list[AV]) -> AV:
    module = sys.modules.get(str(op.attrs["module"]))
    if module is None:  # importing it now would run its code before the line is reached, and only once
        raise cx.error(
            f"the module {op.attrs['module']} has not been imported yet", "compiled code cannot load modules",
            "import it at the top of the file",
        )  # fmt: skip
    name = op.attrs.get("name")
    if not name:
        return AV(Module(module.__name__))
    return module_attribute(cx, module, str(name))


def _attribute(cx: Frame, op: Op, operands: list[AV]) -> AV:
    (subject,) = operands
    name = str(op.attrs["name"])
    if isinstance(subject.type, Module):
        return module_attribute(cx, importlib.import_module(subject.type.name), name)
    return structures.attribute(cx, subject, name)


def module_attribute(cx: Frame, module: Any, name: str) -> AV:
    """A constant, function or submodule of a module.  math and numpy never change; other modules are guarded."""
    held = cx.session.held
    if not held.knows(vars(module), name) and not hasattr(module, name):
        raise cx.error(
            f"module {module.__name__} has no attribute '{name}'", f"{module.__name__}.{name} does not exist",
            nearest(name, dir(module), f"{module.__name__}."),
        )  # fmt: skip
    value = held.read("global", vars(module), name) if held.knows(vars(module), name) else getattr(module, name)
    if isinstance(value, int | float) and not isinstance(value, bool) and module.__name__ in ("math", "numpy"):
        return literal(cx, value)
    if module.__name__ in ("math", "numpy"):
        constant = constant_type(cx, value, f"{module.__name__}.{name}")
        if constant is not None:
            return AV(constant)
    return object_value(cx, value, "global", vars(module), name, f"{module.__name__}.{name}")


def _closure(cx: Frame, op: Op, operands: list[AV]) -> AV:
    function = op.attrs["function"]
    assert isinstance(function, Function)
    code = cx.session.local_code(cx.code, function)
    type_ = Closure(code, tuple(av.type for av in operands), code.name)
    return AV(type_, tuple(v for av in operands for v in av.values))


def _self(cx: Frame, op: Op, operands: list[AV]) -> AV:
    assert cx.self_av is not None
    return cx.self_av


def _tuple(cx: Frame, op: Op, operands: list[AV]) -> AV:
    return AV(Tuple(tuple(av.type for av in operands)), tuple(v for av in operands for v in av.values))


def _list(cx: Frame, op: Op, operands: list[AV]) -> AV:
    return AV(List(tuple(av.type for av in operands)), tuple(v for av in operands for v in av.values))


def _dict(cx: Frame, op: Op, operands: list[AV]) -> AV:
    keys = op.attrs["keys"]
    assert isinstance(keys, tuple)
    kept = dict(zip(keys, operands, strict=True))  # a repeated key keeps its last value
    type_ = Dict(tuple(kept), tuple(av.type for av in kept.values()))
    return AV(type_, tuple(v for av in kept.values() for v in av.values))


def _slice(cx: Frame, op: Op, operands: list[AV]) -> AV:
    lo, hi, step = operands
    return AV(Slice((lo.type, hi.type, step.type)), tuple(v for av in operands for v in av.values))


def _unbound(cx: Frame, op: Op, operands: list[AV]) -> AV:
    return AV(UNBOUND)


def _check_bound(cx: Frame, op: Op, operands: list[AV]) -> AV:
    """Reading a name that may be unset: UnboundLocalError on the paths where it is."""
    (subject,) = operands
    name = op.attrs["name"]
    exception = "NameError" if op.attrs.get("free") else "UnboundLocalError"
    where = "free variable" if op.attrs.get("free") else "local variable"
    message = f"cannot access {where} '{name}' where it is not associated with a value"
    if op.attrs.get("free"):
        message += " in enclosing scope"
    if isinstance(subject.type, Unbound):
        cx.check(cx.e.boolean(False), exception, message)
        return cx.stop()
    if not isinstance(subject.type, Union) or UNBOUND not in subject.type.members:
        return subject
    index = subject.type.members.index(UNBOUND)
    cx.check(cx.e("ne", subject.values[0], cx.e.integer(index)), exception, message)
    return structures.without(cx, subject, lambda member: isinstance(member, Unbound))


def _truth(cx: Frame, op: Op, operands: list[AV]) -> AV:
    return truth.truth(cx, operands[0], op.operands[0])


def _if(cx: Frame, op: Op, operands: list[AV]) -> list[AV]:
    (condition,) = operands
    then, other = op.blocks
    if isinstance(condition.type, Constant):
        results, dead = cx.run(then if condition.type.value else other, [])
        cx.dead = cx.dead or dead
        return results
    fact = cx.facts.get(condition.value)

    def side(holds: bool) -> Callable[[], list[AV]]:
        return lambda: _under(cx, fact, holds, lambda: cx.run(then if holds else other, [])[0])

    return cx.choose(condition.value, side(True), side(False))


def _under(cx: Frame, fact: Fact | None, holds: bool, body: Callable[[], list[AV]]) -> list[AV]:
    """Run `body` where the fact is known: its subject has fewer types."""
    if fact is None:
        return body()
    saved = cx.env[fact.subject]
    possible = fact.holds if holds else fact.fails
    cx.env[fact.subject] = structures.restrict(cx, saved, possible)
    try:
        return body()
    finally:
        cx.env[fact.subject] = saved


def _raise(cx: Frame, op: Op, operands: list[AV]) -> AV:
    exception, message = structures.exception_of(cx, operands[0])
    cx.check(cx.e.boolean(False), exception, message)
    return cx.stop()


def _assert(cx: Frame, op: Op, operands: list[AV]) -> list[AV]:
    condition, *rest = operands
    message = structures.message_of(cx, rest[0]) if rest else ""
    if isinstance(condition.type, Constant):
        if condition.type.value:
            return []
        cx.check(cx.e.boolean(False), "AssertionError", message)
        cx.stop()
        return []
    cx.check(condition.value, "AssertionError", message)
    return []


def _unpack(cx: Frame, op: Op, operands: list[AV]) -> list[AV]:
    return structures.unpack(cx, operands[0], len(op.results))


def _binary(cx: Frame, op: Op, operands: list[AV]) -> AV:
    return arithmetic.binary(cx, str(op.attrs["operator"]), *operands)


def _inplace(cx: Frame, op: Op, operands: list[AV]) -> AV:
    return assign.inplace(cx, str(op.attrs["operator"]), *operands)


def _setitem(cx: Frame, op: Op, operands: list[AV]) -> list[AV]:
    assign.set_item(cx, *operands)
    return []


def _inplace_item(cx: Frame, op: Op, operands: list[AV]) -> list[AV]:
    assign.inplace_item(cx, str(op.attrs["operator"]), *operands)
    return []


def _unary(cx: Frame, op: Op, operands: list[AV]) -> AV:
    if op.attrs["operator"] == "not":
        return truth.negate(cx, truth.truth(cx, operands[0], op.operands[0]))
    return arithmetic.unary(cx, str(op.attrs["operator"]), operands[0])


def _compare(cx: Frame, op: Op, operands: list[AV]) -> AV:
    return truth.compare(cx, str(op.attrs["operator"]), operands[0], operands[1], op.operands[0])


def _subscript(cx: Frame, op: Op, operands: list[AV]) -> AV:
    return indexing.subscript(cx, operands[0], operands[1])


def _call(cx: Frame, op: Op, operands: list[AV]) -> AV:
    names = op.attrs.get("keywords") or ()
    assert isinstance(names, tuple)
    function, *arguments = operands
    count = len(arguments) - len(names)
    cx.argument_values = op.operands[1:]
    return calls.call(cx, function, arguments[:count], dict(zip(names, arguments[count:], strict=True)))


def _while(cx: Frame, op: Op, operands: list[AV]) -> list[AV]:
    return loops.while_loop(cx, op, operands)


def _for(cx: Frame, op: Op, operands: list[AV]) -> list[AV]:
    return loops.for_loop(cx, op, operands)


_HANDLERS: dict[str, Callable[[Frame, Op, list[AV]], AV | list[AV]]] = {
    "py.const": _const, "py.global": _global, "py.import": _import, "py.attribute": _attribute, "py.closure": _closure,
    "py.self": _self, "py.tuple": _tuple, "py.list": _list, "py.dict": _dict, "py.slice": _slice,
    "py.unbound": _unbound, "py.check_bound": _check_bound, "py.truth": _truth, "if": _if, "py.raise": _raise,
    "py.assert": _assert, "py.unpack": _unpack, "py.binary": _binary,
    "py.inplace": _inplace, "py.setitem": _setitem, "py.inplace_item": _inplace_item,
    "py.unary": _unary,
    "py.compare": _compare, "py.subscript": _subscript, "py.call": _call, "py.while": _while, "py.for": _for,
}  # fmt: skip

"""One handler per op of untyped IR: what the op means for the abstract values it is given."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Sequence
from typing import Any

from pullback.diagnostic import CompileError, InternalError
from pullback.infer import (
    arithmetic,
    assign,
    backward,
    calls,
    catching,
    cells,
    exceptions,
    generators,
    gradients,
    indexing,
    local_classes,
    loops,
    nested_tuples,
    patterns,
    resumed,
    stars,
    structures,
    truth,
)
from pullback.infer.advice import nearest
from pullback.infer.displays import DISPLAYS
from pullback.infer.engine import Fact, Frame
from pullback.infer.lattice import WEAK_BOOL
from pullback.infer.literals import literal
from pullback.infer.names import captured_values, constant_type, global_value, object_value, set_global
from pullback.infer.object_writes import delete_attribute, set_attribute
from pullback.infer.shadowed import bare
from pullback.infer.texts import fstring
from pullback.infer.values import AV
from pullback.ir.node import Block, Function, Op, Value
from pullback.types import (
    NEVER,
    UNBOUND,
    Builtin,
    Closure,
    Constant,
    Module,
    Slice,
    show,
)  # fmt: skip

__all__ = ["Inference"]


# What reads arrays and gives nothing that has a sensitivity: shadows are nothing to it.
_READING = frozenset({
    "py.compare", "py.truth", "py.fstring", "py.assert", "py.raise", "py.is_sequence", "py.is_mapping",
})  # fmt: skip


class Inference(Frame):
    """A frame in which every op of untyped IR has its meaning."""

    def captured_values(self) -> list[AV]:
        return captured_values(self)

    def infer_op(self, op: Op) -> None:
        handler = _HANDLERS.get(op.name)
        if handler is None:
            raise InternalError(f"no meaning for {op.name}")
        around, self.op = self.op, op
        try:
            operands = [self.env[v] for v in op.operands]
            if self.session.shadowed and op.name in _READING:
                operands = [bare(av) for av in operands]
            for value, av in zip(op.operands, operands, strict=True):
                if generators.is_once(av.type) and not self.code.untyped.attrs.get("derivative"):
                    generators.check_once(self, op, value)
            results = handler(self, op, operands)
        except CompileError as error:
            if catching.raise_instead(self, error):
                return
            if not self.session.lenient:
                raise
            results = self.pass_over(error)
        finally:
            self.op = around
        if self.dead:
            return
        found = results if isinstance(results, list) else [results]
        for value, av in zip(op.results, found, strict=True):
            self.env[value] = resumed.kept(self, value, av)

    def storable(self, av: AV) -> AV:
        return exceptions.stored(self, resumed.stored(self, av))

    def run(self, block: Block, arguments: Sequence[AV]) -> tuple[list[AV], bool]:
        if block is self.code.untyped.body:
            arguments = [resumed.kept(self, v, av) for v, av in zip(block.params, arguments, strict=True)]
            found, dead = super().run(block, arguments)
            resumed.drop_own(self, block)
            return found, dead or self.dead
        return super().run(block, arguments)


def _const(cx: Frame, op: Op, operands: list[AV]) -> AV:
    return literal(cx, op.attrs["value"])


def _global(cx: Frame, op: Op, operands: list[AV]) -> AV:
    return global_value(cx, str(op.attrs["name"]))


def _global_set(cx: Frame, op: Op, operands: list[AV]) -> list[AV]:
    set_global(cx, str(op.attrs["name"]), operands[0])
    return []


def _object(cx: Frame, op: Op, operands: list[AV]) -> AV:
    value: Any = op.attrs["value"]
    return object_value(cx, value, "constant", value, None, getattr(value, "__name__", type(value).__name__))


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
    return structures.attribute(cx, subject, str(op.attrs["name"]))


def _of_module(cx: Frame, subject: AV, name: str) -> AV:
    assert isinstance(subject.type, Module)
    return module_attribute(cx, importlib.import_module(subject.type.name), name)


structures.ATTRIBUTES[Module] = _of_module


STEADY = frozenset({
    "math", "cmath", "numpy", "numpy.fft", "numpy.linalg", "scipy", "scipy.linalg", "scipy.special",
})  # fmt: skip
"""Modules whose functions and constants are taken to be what they are while compiling."""


def module_attribute(cx: Frame, module: Any, name: str) -> AV:
    """A constant, function or submodule of a module.  Those of `STEADY` never change; other modules are guarded."""
    held = cx.session.held
    if not held.knows(vars(module), name) and not hasattr(module, name):
        raise cx.error(
            f"module {module.__name__} has no attribute '{name}'", f"{module.__name__}.{name} does not exist",
            nearest(name, dir(module), f"{module.__name__}."),
            raised=("AttributeError", f"module '{module.__name__}' has no attribute '{name}'"),
        )  # fmt: skip
    value = held.read("global", vars(module), name) if held.knows(vars(module), name) else getattr(module, name)
    if isinstance(value, int | float) and not isinstance(value, bool) and module.__name__ in STEADY:
        return literal(cx, value)
    if module.__name__ in STEADY:
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
    return generators.itself(cx)


def _tuple(cx: Frame, op: Op, operands: list[AV]) -> AV:
    return nested_tuples.tuple_of(cx, operands)


def _slice(cx: Frame, op: Op, operands: list[AV]) -> AV:
    lo, hi, step = operands
    return AV(Slice((lo.type, hi.type, step.type)), tuple(v for av in operands for v in av.values))


def _unbound(cx: Frame, op: Op, operands: list[AV]) -> AV:
    return AV(NEVER if op.attrs.get("dead") else UNBOUND)


def _check_bound(cx: Frame, op: Op, operands: list[AV]) -> AV:
    """Reading a name that may be unset: UnboundLocalError on the paths where it is."""
    return cells.bound(cx, operands[0], str(op.attrs["name"]), free=bool(op.attrs.get("free")))


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

    cx.conditions.append(condition.value)
    try:
        results = cx.choose(condition.value, side(True), side(False))
    finally:
        cx.conditions.pop()
    for result, *sides in zip(results, then.results, other.results, strict=True):
        if result.type == WEAK_BOOL and not cx.dead:
            _conclude(cx, result.value, fact, *(cx.env.get(value) for value in sides))
    return results


def _conclude(cx: Frame, result: Value, fact: Fact | None, then: AV | None, other: AV | None) -> None:
    """Where `a and b` holds, both do; where `a or b` does not, neither does; `a and True` is a."""
    conjunction = other is not None and other.type == Constant(False)
    if not conjunction and not (then is not None and then.type == Constant(True)):
        return
    second = then if conjunction else other
    if fact is not None and second is not None and second.type == Constant(conjunction):
        cx.facts.setdefault(result, fact)
        return
    inner = cx.facts.get(second.value) if second is not None and len(second.values) == 1 else None
    known: list[Fact] = []
    for found in (fact, inner):
        for one in (found, *found.also) if found is not None else ():
            every = tuple(dict.fromkeys((*one.holds, *one.fails)))
            known.append(Fact(one.subject, *((one.holds, every) if conjunction else (every, one.fails))))
    if known:
        first, *more = known
        cx.facts.setdefault(result, Fact(first.subject, first.holds, first.fails, tuple(more)))


def _under(cx: Frame, fact: Fact | None, holds: bool, body: Callable[[], list[AV]]) -> list[AV]:
    """Run `body` where the fact is known: its subject has fewer types."""
    if fact is None:
        return body()
    saved = dict[Value, AV]()
    for one in (fact, *fact.also):
        if one.subject in cx.env:
            present = cx.env[one.subject]
            saved.setdefault(one.subject, present)
            cx.env[one.subject] = structures.restrict(cx, present, one.holds if holds else one.fails)
    try:
        return body()
    finally:
        cx.env.update(saved)


def _assert(cx: Frame, op: Op, operands: list[AV]) -> list[AV]:
    condition, *rest = operands
    message = rest[0] if rest else None
    if isinstance(condition.type, Constant):
        if not condition.type.value:
            catching.raise_assertion(cx, cx.e.boolean(False), message)
            cx.stop()
        return []
    catching.raise_assertion(cx, condition.value, message)
    return []


def _unpack(cx: Frame, op: Op, operands: list[AV]) -> list[AV]:
    (subject,) = operands
    if generators.is_pushed(subject.type):
        subject = generators.collected(cx, subject)
    return [cx.stop() for _ in op.results] if cx.dead else structures.unpack(cx, subject, len(op.results))


def _binary(cx: Frame, op: Op, operands: list[AV]) -> AV:
    return arithmetic.binary(cx, str(op.attrs["operator"]), *operands)


def _inplace(cx: Frame, op: Op, operands: list[AV]) -> AV:
    return assign.inplace(cx, str(op.attrs["operator"]), *operands)


def _setitem(cx: Frame, op: Op, operands: list[AV]) -> list[AV]:
    assign.set_item(cx, *operands)
    return []


def _setattr(cx: Frame, op: Op, operands: list[AV]) -> list[AV]:
    set_attribute(cx, operands[0], str(op.attrs["name"]), operands[1])
    return []


def _delattr(cx: Frame, op: Op, operands: list[AV]) -> list[AV]:
    delete_attribute(cx, operands[0], str(op.attrs["name"]))
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
    if op.attrs.get("listed") and function.type not in _TAKERS:
        raise cx.error("a generator expression for a function that hides a builtin", f"this is {show(function.type)}",
                       "give the function another name, or write a list: [...]")  # fmt: skip
    cx.argument_values = op.operands[1:]
    if op.attrs.get("bound"):  # an argument for each parameter, whatever its kind
        return calls.call_bound(cx, function, arguments)
    return calls.call(cx, function, arguments[:count], dict(zip(names, arguments[count:], strict=True)))


# What the front end gives the list that a generator expression makes, in its place.
_TAKERS = tuple(Builtin(f"builtins.{name}") for name in ("tuple", "list", "sorted"))


def _while(cx: Frame, op: Op, operands: list[AV]) -> list[AV]:
    return loops.while_loop(cx, op, operands)


def _for(cx: Frame, op: Op, operands: list[AV]) -> list[AV]:
    return loops.for_loop(cx, op, operands)


_HANDLERS: dict[str, Callable[[Frame, Op, list[AV]], AV | list[AV]]] = {
    **DISPLAYS, **catching.CATCHING, **backward.MEANINGS, **gradients.MEANINGS,
    "py.const": _const, "py.global": _global, "py.global_set": _global_set,
    "py.builtin": lambda cx, op, operands: AV(Builtin(str(op.attrs["name"]))),
    "py.import": _import, "py.attribute": _attribute, "py.closure": _closure,
    "py.self": _self, "py.tuple": _tuple, "py.slice": _slice,
    "py.unbound": _unbound, "py.check_bound": _check_bound, "py.truth": _truth, "if": _if,
    "py.assert": _assert, "py.unpack": _unpack, "py.binary": _binary,
    "py.inplace": _inplace, "py.setitem": _setitem, "py.inplace_item": _inplace_item,
    "py.unary": _unary,
    "py.call_star": stars.call_star, "py.object": _object,
    "py.setattr": _setattr, "py.delattr": _delattr,
    "py.cell": cells.cell, "py.cell_get": cells.cell_get, "py.cell_set": cells.cell_set,
    "py.class": local_classes.class_statement, "py.own_class": local_classes.own_class,
    "py.delegate": generators.delegate, "py.entered": resumed.entered,
    "py.is_context": generators.is_context, "py.pushed": generators.pushed,
    "py.is_sequence": patterns.is_sequence, "py.is_mapping": patterns.is_mapping,
    "py.match_position": patterns.match_position, "py.match_rest": patterns.match_rest,
    "py.fstring": lambda cx, op, operands: fstring(cx, op, operands),
    "py.compare": _compare, "py.subscript": _subscript, "py.call": _call, "py.while": _while, "py.for": _for,
}  # fmt: skip

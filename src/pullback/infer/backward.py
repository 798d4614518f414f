"""The meaning of the ops that backpropagators are made of, and of derivatives that are asked for by closures.

    grad(f)(x)      ->      v, b = with_back(call)(f, x);  gradient_like(part 1 of b(seed(v)), x)
    vjp(f, x)       ->      v, a function that passes a cotangent to b
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass

from pullback.analysis.effects import VIEWS
from pullback.infer import carried, shadow_ops, stored
from pullback.infer import machine_values as machine
from pullback.infer import sensitivities as s
from pullback.infer.calls import call, specialized_for
from pullback.infer.dispatch import dispatch
from pullback.infer.engine import Code, Frame
from pullback.infer.lattice import WEAK_BOOL, join
from pullback.infer.made import function
from pullback.infer.outside import all_outside, dressed_given, dressed_outside, noted
from pullback.infer.pushes import begin, push
from pullback.infer.rules import derived, with_back
from pullback.infer.shadowed import bare, holds_shadowed
from pullback.infer.sites import ShadowsWanted
from pullback.infer.spelled import captured
from pullback.infer.statements import statement
from pullback.infer.values import AV, coerce, items_of, zero
from pullback.ir.build import Builder
from pullback.ir.node import Block, Function, Op, Program, Value
from pullback.ir.walk import clone_block
from pullback.prims.base import get
from pullback.types import (
    Array,
    ArrayRef,
    Closure,
    Constant,
    DType,
    List,
    Machine,
    Number,
    Scalar,
    Str,
    Tame,
    Tuple,
    Type,
    Union,
    Zero,
    is_float,
    slots,
)  # fmt: skip

__all__ = ["MEANINGS", "Backward"]

Meaning = Callable[[Frame, Op, list[AV]], AV | list[AV]]


@dataclass(frozen=True, slots=True)
class Backward:
    """What inference asks of derivatives by closures (`engine.Backward`)."""

    transform: Callable[[Function], Function]
    plain: Callable[[Program], None]  # makes flags of exceptions that are caught

    def add(self, cx: Frame, a: AV, b: AV) -> AV:
        """A call of a function that opens the references and adds what they hold."""
        code = cx.session.codes.get("sum of references")
        if code is None:
            params = [Value(None, "a"), Value(None, "b")]
            builder = Builder(Block(params))
            total = builder.append_untyped(get("py.sum"), params, attrs={"inside": True})
            code = Code(function("add", params, builder, total.results), {})
            cx.session.codes["sum of references"] = code
        return call(cx, AV(Closure(code, (), "add")), [a, b], {})

    def outside(self, cx: Frame, where: Hashable, av: AV) -> AV:
        """What was found outside, its arrays with shadows."""
        return dressed_outside(cx, where, av)

    def reject_unnoticed(self, cx: Frame) -> None:
        """Guard: in a function with a backpropagator, nothing is stored without one."""
        if stored.stores_unnoticed(cx, cx.e.block):
            raise cx.error("what is stored here has no backpropagator in the formulation by closures",
                           "something in this function changes what is stored",
                           "differentiate it in the default formulation", span=cx.code.untyped.span)  # fmt: skip


# ------------------------------------------------------------------------------------------------- the ops one by one


def _with_back(cx: Frame, op: Op, operands: list[AV]) -> list[AV]:
    order, attributes = op.attrs["order"], op.attrs["attributes"]
    assert isinstance(order, int) and isinstance(attributes, Mapping)
    operation = str(op.attrs["operation"])
    return with_back(cx, operation, attributes, operands, order, len(op.results) - order)


def _code(op: Op) -> Code:
    code = op.attrs["code"]
    assert isinstance(code, Code)
    return code


def _apply(cx: Frame, op: Op, operands: list[AV]) -> AV:
    return call(cx, AV(Closure(_code(op), (), _code(op).name)), operands, {})


def _function_of(cx: Frame, op: Op, operands: list[AV]) -> AV:
    return AV(Closure(_code(op), (), _code(op).name))


def _derived(cx: Frame, op: Op, operands: list[AV]) -> AV:
    code = derived(cx, _code(op), 1)
    type_ = Closure(code, tuple(av.type for av in operands), code.name)
    return AV(type_, tuple(v for av in operands for v in av.values))


_LINEAR = frozenset({"neg", "cast", "add", "accumulate", "sub"})
_VANISHING = frozenset({"mul", "zmul", "neg", "cast"})  # zero where any operand is


def _prim(cx: Frame, op: Op, operands: list[AV]) -> AV | list[AV]:
    """A primitive on machine values; products of zero are zero without one."""
    name, types, results = str(op.attrs["name"]), op.attrs["types"], op.attrs["results"]
    attributes = op.attrs["attributes"]
    assert isinstance(types, tuple) and isinstance(results, tuple) and isinstance(attributes, Mapping)
    if "memory" in op.attrs:
        return _stored(cx, op, operands, types)
    if any(isinstance(type_, ArrayRef) for type_ in (*types, *results)):
        return _on_arrays(cx, op, operands, types, results)
    nothing = [isinstance(av.type, Zero) for av in operands]
    if any(nothing) and name in _VANISHING:
        return s.zero()
    if name == "select" and all(nothing[1:]):
        return s.zero()
    if name in ("add", "accumulate") and any(nothing):
        return s.add(cx, *operands)
    if name == "sub" and nothing[1]:
        return operands[0]
    if "finite" in attributes:
        return _share(cx, name, operands, types, attributes)
    values = [_machine(cx, av, type_) for av, type_ in zip(operands, types, strict=True)]
    made = cx.e.append(get(name), values, attrs=dict(attributes), types=results)
    tame = name in _LINEAR and all(isinstance(av.type, Tame) for av in operands)
    found = [AV(Tame(_scalar(v.type)) if tame else _of_machine(v.type), (v,)) for v in made.results]
    return found[0] if len(found) == 1 else found


def _on_arrays(
    cx: Frame, op: Op, operands: list[AV], types: tuple[Machine, ...], results: tuple[Machine, ...]
) -> AV | list[AV]:
    """A primitive on arrays; the shadow of a constant one is zero, which nothing is added to."""
    if any(isinstance(av.type, Union) and isinstance(type_, ArrayRef)
           for av, type_ in zip(operands, types, strict=True)):  # fmt: skip
        whole = dispatch(cx, operands, lambda cx, one: _packed(_on_arrays(cx, op, list(one), types, results)))
        return items_of(whole) if len(results) != 1 and not cx.dead else whole
    name, attributes, block = str(op.attrs["name"]), op.attrs["attributes"], op.attrs.get("block")
    assert isinstance(attributes, Mapping)
    pairs = zip(operands, types, strict=True)
    nothing = [isinstance(av.type, Zero) and isinstance(type_, ArrayRef) for av, type_ in pairs]
    if any(nothing):
        if name == "array_swap" or attributes.get("outputs") == ("new", "set"):
            if not cx.session.outside:
                raise ShadowsWanted(overwrites=True, outside=True)
            raise cx.error("a change of an array from outside has no backpropagator in the formulation by closures",
                           "the differentiated function found this array in a global",
                           "pass it as an argument, or differentiate in the default formulation")  # fmt: skip
        if name in VIEWS or name == "array_get":
            return s.zero()
        if name != "elementwise" or (nothing[-1] and attributes["targets"]):
            return []
        operands = _filled_in(cx, operands, types, int(attributes["rank"]))
    if name == "array_inc" and isinstance(operands[-1].type, Zero):
        return []
    values = [_machine(cx, av, type_) for av, type_ in zip(operands, types, strict=True)]
    blocks = [clone_block(block, {})] if isinstance(block, Block) else []
    made = cx.e.append(get(name), values, attrs=dict(attributes), blocks=blocks, types=results)
    found = [AV(_of_machine(v.type), (v,)) for v in made.results]
    return found[0] if len(found) == 1 else found


def _filled_in(cx: Frame, operands: list[AV], types: tuple[Machine, ...], rank: int) -> list[AV]:
    """What a pass over memory reads, with zeros for shadows that there are none of."""
    sizes = [av.value for av in operands[:rank]]

    def whole(av: AV, type_: Machine) -> AV:
        if not isinstance(av.type, Zero) or not isinstance(type_, ArrayRef):
            return av
        zeros = cx.e("array_zeros", *sizes, dtype=type_.dtype)
        return AV(_of_machine(zeros.type), (zeros,))

    return [whole(av, type_) for av, type_ in zip(operands, types, strict=True)]


def _packed(found: AV | list[AV]) -> AV:
    return found if isinstance(found, AV) else s.pack(found)


def _stored(cx: Frame, op: Op, operands: list[AV], types: tuple[Machine, ...]) -> AV | list[AV]:
    """A primitive on a table; to add nothing is nothing."""
    if op.attrs["name"] == "table_inc" and isinstance(operands[1].type, Zero):
        return []
    pairs = zip(operands, types, strict=True)
    values = [_no_shadow(cx, type_) if isinstance(av.type, Zero) and isinstance(type_, ArrayRef)
              else _machine(cx, av, type_) for av, type_ in pairs]  # fmt: skip
    found = [AV(_of_machine(v.type), (v,)) for v in stored.access(cx, op, values)]
    return found[0] if len(found) == 1 else found


def _no_shadow(cx: Frame, type_: ArrayRef) -> Value:
    """What a mirror holds for a constant array: one without elements."""
    empty = cx.e("array_zeros", *[cx.e.integer(0)] * type_.rank, dtype=type_.dtype)
    return empty if empty.type == type_ else cx.e("view_relax", empty)


def _twins(cx: Frame, op: Op, operands: list[AV]) -> list[AV]:
    stored.twins(cx, op)
    return []


def _as_made(cx: Frame, op: Op, operands: list[AV]) -> AV:
    return operands[-1]


def _share(
    cx: Frame, name: str, operands: list[AV], types: tuple[Machine, ...], attributes: Mapping[str, object]
) -> AV:
    """A partial times a sensitivity; where neither can be infinite or nan, a plain product."""
    slope, given = operands
    finite = bool(attributes["finite"]) or isinstance(slope.type, Tame)
    strong = not (finite and isinstance(given.type, Tame))
    values = [_machine(cx, av, type_) for av, type_ in zip(operands, types, strict=True)]
    result = cx.e("zmul" if strong and name == "zmul" else "mul", *values)
    wild = not isinstance(given.type, Tame) or (not finite and bool(attributes["steep"]))
    return AV(_of_machine(result.type) if wild else Tame(_scalar(result.type)), (result,))


def _scalar(machine: Machine | None) -> DType:
    assert isinstance(machine, Scalar)
    return machine.dtype


def _machine(cx: Frame, av: AV, wanted: Machine) -> Value:
    if isinstance(av.type, Zero | Constant):
        return coerce(cx.e, av, _of_machine(wanted) if isinstance(av.type, Zero) else WEAK_BOOL).value
    if isinstance(wanted, ArrayRef) and av.value.type != wanted:
        return cx.e("view_relax", av.value)
    return av.value


def _of_machine(machine: Machine | None) -> Type:
    if isinstance(machine, ArrayRef):
        return Array(machine.dtype, machine.rank, machine.contiguous)
    assert isinstance(machine, Scalar)
    return Number(machine.dtype, weak=False)


def _back_of(cx: Frame, op: Op, operands: list[AV]) -> AV:
    """The sensitivities of the operands of an operation as a whole, by its own adjoint."""
    *given, sensitivity = operands
    spec, values = specialized_for(cx, AV(Closure(_code(op), (), _code(op).name)), given)
    wrt = tuple(i for i, value in enumerate(values) if value.type is not None and is_float(value.type))
    outputs = slots(spec.result)
    nothing = s.pack([s.zero() for _ in given])
    if isinstance(sensitivity.type, Zero) or not wrt or not any(map(is_float, outputs)):
        return nothing
    # What it computes is needed for the shapes of cotangents only: the pull does it again, and passes merge the two.
    forward = cx.e.append(get("call"), values, attrs={"callee": spec.name}, types=outputs)
    cotangents = _cotangents(cx, sensitivity, AV(spec.result, tuple(forward.results)))
    places = tuple(cotangents)
    if not places:
        return nothing
    attrs: dict[str, object] = {"callee": spec.name, "wrt": wrt, "outputs": places, "seeded": True}
    found = [_gradient_slot(values[i]) for i in wrt]
    request = cx.e.append(get("value_and_grad"), [*values, *cotangents.values()], attrs=attrs, types=[*outputs, *found])
    parts = dict(zip(wrt, request.results[len(outputs) :], strict=True))
    position, shares = 0, []
    for av in given:
        kinds = machine.leaves(cx, av.type)
        leaves = [_leaf(parts.get(position + i), kind) for i, kind in enumerate(kinds)]
        shares.append(machine.regrouped_sensitivity(cx, leaves, av.type))
        position += len(kinds)
    return s.pack(shares)


def _gradient_slot(value: Value) -> Machine:
    assert value.type is not None
    return ArrayRef(value.type.dtype, value.type.rank, True) if isinstance(value.type, ArrayRef) else value.type


def _leaf(value: Value | None, kind: Type) -> AV:
    """The gradient by one machine value as a sensitivity."""
    if value is None:
        return s.zero()
    if isinstance(kind, Array):
        return AV(Array(kind.dtype, kind.rank, True, ones=kind.ones), (value,))
    return AV(_of_machine(value.type), (value,))


def _cotangents(cx: Frame, sensitivity: AV, result: AV) -> dict[int, Value]:
    """Those of the floats among the machine values of a result that have one, by number."""
    found: dict[int, Value] = {}
    leaves = machine.flat_sensitivity(cx, sensitivity, result.type)
    for place, (leaf, value) in enumerate(zip(leaves, result.values, strict=True)):
        if value.type is None or not is_float(value.type) or isinstance(leaf.type, Zero):
            continue
        whole = s.filled(cx, leaf, AV(_of_machine(value.type), (value,)))  # zero on some paths only
        found[place] = zero(cx.e, value.type) if isinstance(whole.type, Zero) else whole.value
    return found


def _zero(cx: Frame, op: Op, operands: list[AV]) -> AV:
    return s.zero()


def _sum(cx: Frame, op: Op, operands: list[AV]) -> AV:
    return s.add(cx, *operands, inside=bool(op.attrs.get("inside")))


def _index(op: Op) -> int:
    index = op.attrs["index"]
    assert isinstance(index, int)
    return index


def _part(cx: Frame, op: Op, operands: list[AV]) -> AV:
    return s.part(cx, operands[0], _index(op))


def _arity(cx: Frame, op: Op, operands: list[AV]) -> AV:
    return dispatch(cx, operands, lambda cx, one: AV(Str(str(s.arity(cx, one[0].type)))))


def _injected(cx: Frame, op: Op, operands: list[AV]) -> AV:
    counts = operands[1].type
    kinds = counts.members if isinstance(counts, Union) else (counts,)
    known = {int(kind.value) for kind in kinds if isinstance(kind, Str)} - {0}  # 0: there it is zero as a whole
    if len(known) > 1:
        return dispatch(cx, [operands[1], operands[0]], lambda cx, one: _injected(cx, op, [one[1], one[0]]))
    return s.injected(operands[0], _index(op), max(known, default=0))


def _of(op: Op) -> Hashable:
    of = op.attrs["of"]
    assert isinstance(of, Hashable)
    return of


def _outline(type_: Type) -> Hashable:
    """The functions among arguments; what they captured may change while recursive types settle."""
    match type_:
        case Closure(code):
            return code
        case Tuple(items) | List(items):
            return tuple(map(_outline, items))
    return type(type_).__name__


def _environment(cx: Frame, op: Op, operands: list[AV]) -> AV:
    of = _of(op)
    if isinstance(of, tuple) and of[0] == "link":
        level = cx.code.level if cx.session.shadowed else 0
        of = (*of, level, tuple(map(_outline, cx.parameters)))  # a kind of links per kind of arguments
    return s.environment(of, operands)


def _opened(cx: Frame, op: Op, operands: list[AV]) -> list[AV]:
    # A function of a module has captured nothing, its version here holds places for defaults.
    return s.opened(cx, operands[0], _of(op), len(op.results))[: len(op.results)]


def _is_environment(cx: Frame, op: Op, operands: list[AV]) -> AV:
    found = s.is_environment(cx, operands[0], _of(op))
    return found if isinstance(found, AV) else AV(Constant(found), (), found)


def _filled(cx: Frame, op: Op, operands: list[AV]) -> AV:
    return s.filled(cx, *operands)


def _type(op: Op) -> Type:
    type_ = op.attrs["type"]
    return type_  # type: ignore[return-value]


def _level(op: Op) -> int:
    level = op.attrs.get("level", 0)
    assert isinstance(level, int)
    return level


def _flat(cx: Frame, op: Op, operands: list[AV]) -> AV:
    if holds_shadowed(operands[0].type):
        return machine.flat(cx, operands[0], _type(op))
    join(operands[0].type, _type(op))  # what the function with a backpropagator makes lies where the function's does
    return machine.flat(cx, coerce(cx.e, operands[0], _type(op)), _type(op))


def _regrouped(cx: Frame, op: Op, operands: list[AV]) -> AV:
    return machine.regrouped(cx, operands, _type(op))


def _flat_sensitivity(cx: Frame, op: Op, operands: list[AV]) -> AV:
    return s.pack(machine.flat_sensitivity(cx, operands[0], _type(op), _level(op), _value(op, operands)))


def _value(op: Op, operands: list[AV]) -> AV | None:
    """The value that a sensitivity is of, without shadows; None where nobody asks for it."""
    return bare(operands[1]) if len(operands) > 1 and machine.is_mixed(_type(op)) else None


def _regrouped_sensitivity(cx: Frame, op: Op, operands: list[AV]) -> AV:
    count = len(machine.leaves(cx, _type(op)))
    parts = [s.part(cx, operands[0], i) for i in range(count)]
    return machine.regrouped_sensitivity(cx, parts, _type(op), _level(op), _value(op, operands))


MEANINGS: dict[str, Meaning] = {
    "py.with_back": _with_back, "py.apply": _apply, "py.function_of": _function_of, "py.derived": _derived,
    "py.prim": _prim, "py.back_of": _back_of, "py.zero": _zero, "py.sum": _sum, "py.part": _part, "py.arity": _arity,
    "py.injected": _injected, "py.environment": _environment, "py.opened": _opened,
    "py.is_environment": _is_environment, "py.filled": _filled, "py.flat": _flat, "py.regrouped": _regrouped,
    "py.flat_sensitivity": _flat_sensitivity, "py.regrouped_sensitivity": _regrouped_sensitivity,
    "py.statement": statement, "py.twins": _twins, "py.as_made": _as_made, "py.push": push,
    "py.stepped": begin, "py.outside": all_outside, "py.noted": noted, "py.dressed": dressed_given,
    "py.captured": captured, **shadow_ops.MEANINGS, **carried.MEANINGS,
}  # fmt: skip

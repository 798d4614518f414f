"""grad, value_and_grad and vjp by closures: functions of untyped IR around `with_back`.

    def grad_of(f, x):                          def vjp_of(f, x):
        v, b = with_back(call)(f, x)                v, b = with_back(call)(f, x)
        t = b(seed(v))                              def pull(c):
        return gradient_like(part 1 of t, x)            return gradient_like(part 1 of b(cotangent(c, v)), x),
                                                    return v, pull
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from pullback.infer import machine_values as machine
from pullback.infer import sensitivities as s
from pullback.infer.binding import pack_tuple
from pullback.infer.calls import call, specialized_for
from pullback.infer.cotangents import cotangent_slots, tags_of
from pullback.infer.derivatives import (
    BY_CLOSURES,
    argument_positions,
    bound_to,
    float_slots,
    is_single,
    like_primal,
    no_pair,
    not_scalar,
    plain_target,
    target_of,
)  # fmt: skip
from pullback.infer.dispatch import dispatch
from pullback.infer.engine import Code, Frame
from pullback.infer.filling import copy
from pullback.infer.graphs import Cotangents, Graph
from pullback.infer.jacobians import KINDS, derivatives_code
from pullback.infer.leaves import float_columns, has_objects, is_direct
from pullback.infer.made import back_function, function
from pullback.infer.planting import concerned, lift
from pullback.infer.rules import TARGETS
from pullback.infer.shadow_ops import check_apart, gradient_of
from pullback.infer.shadowed import bare, holds_shadowed, inside, rebuilt_as
from pullback.infer.spelled import spelled
from pullback.infer.values import AV, items_of
from pullback.infer.wrappers import collects
from pullback.ir.build import Builder
from pullback.ir.node import Block, Function, Op, Value
from pullback.prims.base import get
from pullback.types import (
    Array,
    ArrayRef,
    Builtin,
    Closure,
    Constant,
    Dict,
    List,
    Number,
    Shadowed,
    Tame,
    Transformed,
    Tuple,
    Type,
    Union,
    Zero,
    is_float,
    slots,
)  # fmt: skip

__all__ = ["MEANINGS"]

Emit = Callable[..., Value]


def _emitter(builder: Builder) -> Emit:
    def emit(name: str, /, *operands: Value, **attrs: object) -> Value:
        return builder.append_untyped(get(f"py.{name}"), operands, attrs=attrs).result

    return emit


def _with_back(builder: Builder, params: Sequence[Value]) -> list[Value]:
    """The value of the first called with the others, and the backpropagator."""
    attrs: dict[str, object] = {"operation": "py.call", "attributes": {"keywords": (), "bound": True}, "order": 1}
    return builder.append_untyped(get("py.with_back"), params, attrs=attrs, results=2).results


@dataclass(frozen=True, slots=True)
class _Places:
    """Which arguments a gradient is taken by.  objects: those that hold objects; direct: those with floats outside."""

    positions: tuple[int, ...]
    objects: tuple[int, ...]
    direct: tuple[int, ...]


def _places(bound: Sequence[AV], positions: Sequence[int]) -> _Places:
    kinds = {p: bound[p].type for p in positions}
    objects = tuple(p for p, kind in kinds.items() if has_objects(kind) and concerned([kind]))
    direct = tuple(p for p, kind in kinds.items() if p not in objects or float_columns(kind))
    return _Places(tuple(positions), objects, direct)


def _gradient_code(
    cx: Frame, kind: str, name: str, places: _Places, count: int, *, single: bool, has_aux: bool
) -> Code:
    """A function of f and its arguments."""
    key = ("gradient", cx.session.shadowed, kind, name, places, count, single, has_aux)
    if key not in cx.session.codes:
        params = [Value(None, "f"), *(Value(None, f"x{i}") for i in range(count))]
        builder = Builder(Block(params))
        emit = _emitter(builder)
        given, _ = _begin(cx, builder, params)
        graph = Graph.begin(cx, builder, params, places.objects)
        value, back = _with_back(builder, given)
        seed = emit("seed", value, kind=kind, name=name, has_aux=has_aux)
        builder.append_untyped(get("py.twins"), (), attrs={"path": (0,)}, results=0)
        parts = emit("call", back, seed, keywords=())
        found = {
            i: _gradient(builder, cx, emit("part", parts, index=1 + i), params[1 + i], given[1 + i])
            for i in places.direct
        }
        if graph is not None:
            found |= graph.gradients(cx, builder, places.objects, found)
        if cx.session.shadowed:
            value = emit("primal", value)
        wanted = [found[i] for i in places.positions]
        result = wanted[0] if single else emit("tuple", *wanted)
        if kind == "value_and_grad":
            result = emit("tuple", value, result)
        elif has_aux:
            result = emit("tuple", result, emit("part", value, index=1))
        cx.session.codes[key] = Code(function(f"{kind}_of", params, builder, [result]), {})
    return cx.session.codes[key]


def _begin(cx: Frame, builder: Builder, given: Sequence[Value]) -> tuple[Sequence[Value], list[Value]]:
    """What is given with shadows, and (where the program writes to some) arrays from outside, before anything is done.

    Mirrors are made for what the function stores.
    """
    if not cx.session.shadowed:
        return given, []
    emit = _emitter(builder)
    builder.append_untyped(get("py.twins"), (), attrs={"path": (0,), "mirrors": True}, results=0)
    if not cx.session.outside:
        return [emit("dressed", value) for value in given], []
    whole = emit("apply", *given, code=_dressing(cx, len(given)))
    outside, *dressed = (emit("part", whole, index=i) for i in range(1 + len(given)))
    return dressed, [outside]


def _dressing(cx: Frame, count: int) -> Code:
    """What is outside and what is given, with shadows.  A function of its own, for it reads mirrors, which the one that
    makes them cannot."""
    key = ("dressing", count)
    if key not in cx.session.codes:
        params = [Value(None, f"x{i}") for i in range(count)]
        builder = Builder(Block(params))
        emit = _emitter(builder)
        found = [emit("outside"), *(emit("dressed", param) for param in params)]
        builder.append_untyped(get("py.noted"), params, results=0)
        cx.session.codes[key] = Code(function("dressing", params, builder, [emit("tuple", *found)]), {})
    return cx.session.codes[key]


def _gradient(builder: Builder, cx: Frame, part: Value, param: Value, given: Value) -> Value:
    """What the user gets; of arrays with shadows that is a copy of these."""
    emit = _emitter(builder)
    if cx.session.shadowed:
        part = emit("copied", emit("sum", part, emit("shadows", given)))
    return emit("gradient_like", part, param)


def _gradient_call(cx: Frame, type_: Transformed, target: AV, bound: Sequence[AV]) -> tuple[Code, list[AV]]:
    """The function that computes a gradient, and its operands."""
    assert isinstance(target.type, Closure)
    options = dict(type_.options)
    places = _places(bound, argument_positions(cx, target, options, len(bound)))
    below, given = bare(target), [bare(av) for av in bound]
    float_slots(cx, below, given, places.direct, 0)  # refuses arguments without floats
    spec, _ = specialized_for(cx, below, given)  # what has no meaning in the function is refused in its own words
    check_apart(cx, spec, [below, *given])
    code = _gradient_code(cx, type_.kind, target.type.name, places, len(bound), single=is_single(options),
                          has_aux=bool(options.get("has_aux")))  # fmt: skip
    return code, [target, *bound]


def _grad(cx: Frame, type_: Transformed, target: AV, bound: Sequence[AV]) -> AV:
    options = dict(type_.options)
    positions = argument_positions(cx, target, options, len(bound))
    types = [bound[position].type for position in positions]
    if concerned(types) and is_direct(types) and not options.get("has_aux"):
        return _by_leaves(cx, type_, target, bound, positions)
    code, operands = _gradient_call(cx, type_, target, bound)
    return call(cx, AV(Closure(code, (), code.name)), operands, {})


def _by_leaves(cx: Frame, type_: Transformed, target: AV, bound: Sequence[AV], positions: Sequence[int]) -> AV:
    """A gradient by the floats in objects of which there is one for each class: a function of these floats."""
    options = dict(type_.options)
    lifted = lift(cx, target, bound, positions)
    stated = (("argnums", tuple(lifted.positions)),)
    inner = replace(type_, kind="value_and_grad", function=lifted.target.type, options=stated)
    code, operands = _gradient_call(cx, inner, lifted.target, lifted.bound)
    found = call(cx, AV(Closure(code, (), code.name)), operands, {})
    if cx.dead:
        return found
    value, parts = items_of(found)
    gradients = lifted.gradients(cx, positions, items_of(parts), [])
    result = gradients[0] if is_single(options) else pack_tuple(gradients)
    return pack_tuple([value, result]) if type_.kind == "value_and_grad" else result


def _grad_with_back(
    cx: Frame, callee: AV, arguments: Sequence[AV], names: tuple[str, ...]
) -> tuple[Code, list[AV]] | None:
    """What stands for grad(f)(x), and its operands."""
    type_ = callee.type
    assert isinstance(type_, Transformed)
    inner, first = AV(type_.function, callee.values), len(arguments) - len(names)
    target, bound = target_of(cx, inner, arguments[:first], dict(zip(names, arguments[first:], strict=True)))
    written = _jacobian_code if type_.kind in KINDS else lambda *given: _gradient_call(*given)[0]
    code = written(cx, type_, target, bound)
    if names or len(bound) != len(arguments) or collects(inner.type):
        return spelled(cx, code, [], inner, target, bound, len(arguments), names)
    return code, [inner, *bound]  # not a wrapper of it: its sensitivity is the callee's


def _jacobian_code(cx: Frame, type_: Transformed, target: AV, bound: Sequence[AV]) -> Code:
    """What stands for jacobian(f) and its kind: the same code each time for the same types."""
    options, below = dict(type_.options), [bare(av) for av in (target, *bound)]
    key = ("jacobian of", type_.kind, type_.options, tuple(av.type for av in below))
    if key not in cx.session.codes:
        positions, single = argument_positions(cx, target, options, len(bound)), is_single(options)
        cx.session.codes[key] = derivatives_code(cx, type_.kind, below[0], below[1:], positions, single=single)
    return cx.session.codes[key]


@dataclass(frozen=True, slots=True)
class _Pulled:
    """What a pullback is of: objects: arguments that refer to objects; returns: the result does."""

    count: int
    has_aux: bool
    objects: tuple[int, ...]
    returns: bool


def _vjp_code(cx: Frame, kind: _Pulled) -> Code:
    key = ("vjp", cx.session.shadowed, kind)
    if key not in cx.session.codes:
        params = [Value(None, "vjp"), Value(None, "f"), *(Value(None, f"x{i}") for i in range(kind.count))]
        builder = Builder(Block(params))
        emit = _emitter(builder)
        # Where arrays have shadows, what the reverse reads is copied anyway, and f may change its arguments.
        kept = params[1:] if cx.session.shadowed else [emit("kept", param) for param in params[1:]]
        given, outside = _begin(cx, builder, kept)
        graph = Graph.begin(cx, builder, kept, kind.objects)
        value, back = _with_back(builder, given)
        out = emit("part", value, index=0) if kind.has_aux else value
        result = Cotangents.begin(cx, builder, out) if kind.returns else None
        captured = [back, value, *kept[1:], *(given if cx.session.shadowed else ())]
        captured += outside
        captured += [walk for walks in (graph, result) if walks is not None for walk in walks.values]
        pull = emit("closure", *captured, function=_pull(cx, kind, len(captured)))
        if cx.session.shadowed:
            value = emit("primal", value)
        parts = [emit("part", value, index=i) for i in range(2)] if kind.has_aux else [value]
        pair = emit("tuple", parts[0], pull, *parts[1:])
        cx.session.codes[key] = Code(function("vjp_of", params, builder, [pair]), {})
    return cx.session.codes[key]


def _pull(cx: Frame, kind: _Pulled, captured: int) -> Function:
    """What back and value, the arguments, (where arrays have shadows) the function and arguments with these, (where it
    writes to arrays from outside) all of those, and walks over objects make of a cotangent."""
    inside = [Value(None, f"c{i}") for i in range(captured)]
    given = Value(None, "d")
    builder = Builder(Block([*inside, given]))
    emit = _emitter(builder)
    walks = inside[captured - 2 * (bool(kind.objects) + kind.returns) :]
    back, value, primals = *inside[:2], inside[2 : 2 + kind.count]
    dressed = inside[2 + kind.count : captured - len(walks)]
    graph = Graph(*walks[:2]) if kind.objects else None
    result = Cotangents(*walks[-2:]) if kind.returns else None
    for one in dressed:
        builder.append_untyped(get("py.cleared"), [emit("shadows", one)], results=0)
    if graph is not None:
        graph.clear(cx, builder)
    builder.append_untyped(get("py.twins"), (), attrs={"path": (0,)}, results=0)
    if result is not None:
        given = result.give(cx, builder, emit("part", value, index=0) if kind.has_aux else value, given)
    cotangent = emit("cotangent", given, value, has_aux=kind.has_aux)
    if cx.session.shadowed:
        builder.append_untyped(get("py.increased"), [emit("shadows", value), cotangent], results=0)
        cotangent = emit("numbers", cotangent)
    parts = emit("call", back, cotangent, keywords=())
    found = {
        i: _gradient(builder, cx, emit("part", parts, index=1 + i), x, with_shadows)
        for i, (x, with_shadows) in enumerate(zip(primals, dressed[1 : 1 + kind.count] or primals, strict=True))
    }
    if graph is not None:
        found |= graph.gradients_again(cx, builder, kind.objects, found)
    builder.block.results = [emit("tuple", *found.values())]
    return back_function("pull", builder.block, tuple(v.name for v in inside))


def _vjp(cx: Frame, target: AV, bound: Sequence[AV], has_aux: bool) -> AV:
    code = _vjp_code(cx, _pulled(cx, target, bound, has_aux=has_aux))
    return call(cx, AV(Closure(code, (), "vjp")), [AV(Builtin("pullback.vjp")), target, *bound], {})


def _vjp_with_back(
    cx: Frame, callee: AV, arguments: Sequence[AV], names: tuple[str, ...]
) -> tuple[Code, list[AV]] | None:
    if names or not arguments:
        return None
    target = plain_target(cx, arguments[0], len(arguments) - 1)
    bound = bound_to(cx, target, arguments[1:], {})
    code = _vjp_code(cx, _pulled(cx, target, bound, has_aux=False))
    if len(bound) != len(arguments) - 1 or collects(arguments[0].type):
        return spelled(cx, code, [callee], arguments[0], target, bound, len(arguments) - 1, ())
    function = arguments[0] if isinstance(arguments[0].type, Transformed) else target  # whose sensitivity it is
    return code, [callee, function, *bound]


def _pulled(cx: Frame, target: AV, bound: Sequence[AV], *, has_aux: bool) -> _Pulled:
    below, *given = [bare(av) for av in (target, *bound)]
    spec = specialized_for(cx, below, given)[0]
    check_apart(cx, spec, [below, *given])
    out = spec.result.items[0] if has_aux and isinstance(spec.result, Tuple) else spec.result
    objects = tuple(i for i, av in enumerate(given) if has_objects(av.type) and concerned([av.type]))
    return _Pulled(len(bound), has_aux, objects, has_objects(out) and concerned([out]))


BY_CLOSURES["grad"] = _grad
BY_CLOSURES["vjp"] = _vjp
TARGETS[Transformed] = _grad_with_back
TARGETS["pullback.vjp"] = _vjp_with_back


# ------------------------------------------------------------------------------------------------ the ops one by one


def _loss(cx: Frame, op: Op, value: AV) -> tuple[AV, bool]:
    """The part of a result that is differentiated, and whether it is the first of a pair."""
    if not op.attrs.get("has_aux"):
        return value, False
    if not isinstance(value.type, Tuple) or len(value.type.items) != 2:
        raise no_pair(cx, AV(Closure("", (), str(op.attrs.get("name", "the function")))), value.type)
    return items_of(value)[0], True


def _seed(cx: Frame, op: Op, operands: list[AV]) -> AV:
    loss, paired = _loss(cx, op, operands[0])
    kinds = loss.type.members if isinstance(loss.type, Union) else (loss.type,)
    numbers = all(isinstance(kind, Number | Constant) for kind in kinds)
    if not numbers or not any(map(is_float, slots(loss.type))):
        raise not_scalar(cx, str(op.attrs["kind"]), str(op.attrs["name"]), loss.type)
    seed = dispatch(cx, [loss], lambda cx, one: _one(cx, one[0].type))
    return s.injected(seed, 0, 2) if paired else seed


def _one(cx: Frame, kind: Type) -> AV:
    """The sensitivity 1 of a number; none of an int."""
    if not isinstance(kind, Number) or not kind.dtype.is_float:
        return s.zero()
    return AV(Tame(kind.dtype), (cx.e.constant(1.0, slots(kind)[0]),))


def _gradient_like(cx: Frame, op: Op, operands: list[AV]) -> AV:
    sensitivity, primal = operands
    if cx.session.shadowed:
        return gradient_of(cx, sensitivity, primal, lambda tree, value: _of_numbers(cx, tree, value))
    return _of_numbers(cx, sensitivity, primal)


def _of_numbers(cx: Frame, sensitivity: AV, primal: AV) -> AV:
    whole = s.filled(cx, sensitivity, primal)
    given = [_given(cx, leaf) for leaf in machine.flat_sensitivity(cx, whole, primal.type)]
    return like_primal(cx, primal, given)


def _given(cx: Frame, leaf: AV) -> Value | None:
    if isinstance(leaf.type, Zero):
        return None
    return copy(cx, leaf, rows=True).value if isinstance(leaf.type, Array) else leaf.value


def _cotangent(cx: Frame, op: Op, operands: list[AV]) -> AV:
    given, value = operands
    out, paired = _loss(cx, op, value)
    sensitivity = _cotangent_of(cx, given, out)
    return s.injected(sensitivity, 0, 2) if paired else sensitivity


def _cotangent_of(cx: Frame, given: AV, out: AV) -> AV:
    if holds_shadowed(out.type):
        cotangent_slots(cx, bare(out).type, bare(given))  # refuses what does not fit
        if isinstance(out.type, Shadowed):
            return given
        items = zip(inside(given), inside(out), strict=True)
        return s.pack([_cotangent_of(cx, *pair) for pair in items])
    kinds = machine.leaves(cx, out.type)
    found = [
        s.zero() if value is None else AV(_canonical(kind, value), (value,))
        for value, kind in zip(cotangent_slots(cx, out.type, given, iter(tags_of(out))), kinds, strict=True)
    ]
    return machine.regrouped_sensitivity(cx, found, out.type)


def _canonical(kind: Type, value: Value) -> Type:
    """The type of a sensitivity of one machine value."""
    if isinstance(kind, Array):
        assert isinstance(value.type, ArrayRef)
        return Array(kind.dtype, kind.rank, value.type.contiguous, ones=kind.ones)
    return Tame(kind.dtype) if isinstance(kind, Number) else kind


def _kept(cx: Frame, op: Op, operands: list[AV]) -> AV:
    return _copied(cx, operands[0])


def _copied(cx: Frame, value: AV) -> AV:
    """The value with its arrays copied: who asked for a pullback may change them before it is called."""
    match value.type:
        case Array():
            return copy(cx, value)
        case Tuple() | List() | Dict() | Closure():
            return rebuilt_as(value.type, [_copied(cx, item) for item in items_of(value)])
    return value


MEANINGS: Mapping[str, Callable[[Frame, Op, list[AV]], AV]] = {
    "py.seed": _seed, "py.gradient_like": _gradient_like, "py.cotangent": _cotangent, "py.kept": _kept,
}  # fmt: skip

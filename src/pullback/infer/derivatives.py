"""grad, value_and_grad, vjp, jvp inside compiled code: from abstract values to the ops that `ad` expands.

    pb.grad(f)(x, n)     ->     value, g = value_and_grad{callee=f__1, wrt=(0,), outputs=(0,)}(x, n);  result g
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from pullback.diagnostic import CompileTypeError
from pullback.infer import by_objects
from pullback.infer.calls import CALLS, bind, specialized_for
from pullback.infer.complexes import complex_of, halves
from pullback.infer.cotangents import cotangent_slots, float_sizes, same_size, tags_of, tangent_slots, unlike
from pullback.infer.elementwise import array_sizes
from pullback.infer.engine import Code, Frame, Specialization
from pullback.infer.jacobians import KINDS, derivatives_by
from pullback.infer.lattice import WEAK_INT
from pullback.infer.numbers import as_number
from pullback.infer.planting import concerned, lift_gradient
from pullback.infer.registry import HANDLERS, Handler
from pullback.infer.sites import like_sites
from pullback.infer.static import static_int
from pullback.infer.table_gradients import twin_name
from pullback.infer.values import AV, items_of, zero
from pullback.infer.wrappers import as_closure, collects
from pullback.ir.node import Op, Value
from pullback.prims.base import get
from pullback.runtime.fixed import is_static
from pullback.types import (
    Array,
    ArrayRef,
    Box,
    Closure,
    Complex,
    Constant,
    Dict,
    DType,
    List,
    Machine,
    Never,
    NoneType,
    Number,
    Pullback,
    Record,
    Scalar,
    Str,
    Table,
    Transformed,
    Tuple,
    Type,
    Union,
    is_float,
    rebuilt,
    show,
    slots,
    tag_count,
)  # fmt: skip

__all__ = [
    "BY_CLOSURES", "argument_positions", "bound_to", "call_pullback", "call_transformed",
    "float_slots", "is_single", "jvp", "like_primal", "no_pair", "not_scalar", "plain_target", "target_of", "transform",
    "vjp",
]  # fmt: skip

# What takes the place of requests where derivatives are closures; the room's module for them puts it here.
BY_CLOSURES: dict[str, Callable[..., AV]] = {}


def transform(cx: Frame, kind: str, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    """pb.grad(f, argnums, has_aux, argnames=...) as a value."""
    names = ("argnums", "has_aux", "argnames")
    if not arguments:
        raise cx.type_error(f"{kind}() needs a function", "no argument is given", f"write {kind}(f)(x)")
    function, *rest = arguments
    given = dict(zip(names, rest, strict=False)) | dict(keywords)
    options = {name: _static(cx, av, name) for name, av in given.items()}
    return AV(Transformed(kind, function.type, tuple(sorted(options.items()))), function.values)


def _static(cx: Frame, av: AV, name: str) -> object:
    if isinstance(av.type, Constant):
        return av.type.value
    literal = cx.literal_of(av)
    if isinstance(literal, int | str):
        return literal
    if isinstance(av.type, NoneType):
        return None
    if isinstance(av.type, Str):
        return av.type.value
    if isinstance(av.type, Tuple | List):
        return tuple(_static(cx, item, name) for item in items_of(av))
    if is_static(av.type):
        return static_int(cx, av, name)
    raise cx.error(f"{name} must be known while compiling", f"this is {show(av.type)}",
                   f"write a number, such as {name}=0")  # fmt: skip


# ------------------------------------------------------------------------------------------- grad and friends


def call_transformed(cx: Frame, function: AV, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    """grad(f)(...) or value_and_grad(f)(...)."""
    assert isinstance(function.type, Transformed)
    kind, options = function.type.kind, dict(function.type.options)
    target, bound = target_of(cx, AV(function.type.function, function.values), arguments, keywords)
    positions = argument_positions(cx, target, options, len(bound))
    if kind in KINDS:
        return derivatives_by(cx, kind, target, bound, positions, single=is_single(options))
    if cx.session.backward is not None:
        return BY_CLOSURES["grad"](cx, function.type, target, bound)
    has_aux = bool(options.get("has_aux"))
    if concerned([bound[position].type for position in positions]):
        lifted = lift_gradient(cx, target, bound, positions)
        value, found, twins = _value_and_gradients(
            cx, kind, lifted.target, lifted.bound, lifted.positions, has_aux, lifted.tables
        )
        gradients = [] if cx.dead else lifted.gradients(cx, positions, found, twins)
    else:
        value, gradients, _ = _value_and_gradients(cx, kind, target, bound, positions, has_aux)
    if cx.dead:
        return value
    result = gradients[0] if is_single(options) else _pack(gradients)
    if kind == "value_and_grad":
        return _pack([value, result])
    return _pack([result, items_of(value)[1]]) if has_aux else result


def _value_and_gradients(
    cx: Frame, kind: str, target: AV, bound: Sequence[AV], positions: Sequence[int], has_aux: bool,
    tables: tuple[str, ...] = (),
) -> tuple[AV, list[AV], list[Value]]:  # fmt: skip
    """The value of a call, its gradients by the arguments at some positions, and by tables (`table_gradients`)."""
    spec, operands = specialized_for(cx, target, bound)
    if isinstance(spec.result, Never):
        return _only_raises(cx, spec, operands), [], []
    first = len(target.values)
    wrt = float_slots(cx, target, bound, positions, first)
    outputs = _outputs(cx, kind, target, spec, has_aux)
    twins = [Table(twin_name(name)) for name in tables]
    types = [*slots(spec.result), *(_gradient_slot(operands[i]) for i in wrt), *twins]
    attrs: dict[str, object] = {"callee": spec.name, "wrt": tuple(wrt), "outputs": outputs}
    if tables:
        attrs["tables"] = tables
    op = cx.e.append(get("value_and_grad"), operands, attrs=attrs, types=types)
    width = len(slots(spec.result))
    value = AV(spec.result, tuple(op.results[:width]))
    end = len(op.results) - len(tables)
    slot_gradients = dict(zip(wrt, op.results[width:end], strict=True))
    return value, _gradients(cx, bound, positions, first, slot_gradients), op.results[end:]


def _only_raises(cx: Frame, spec: Specialization, operands: Sequence[Value]) -> AV:
    """The call of a function that never returns."""
    cx.e.append(get("call"), operands, attrs={"callee": spec.name}, types=())
    return cx.stop()


def is_single(options: Mapping[str, object]) -> bool:
    """One gradient, not a tuple of them: one number or one name was asked for."""
    if options.get("argnames"):
        return isinstance(options["argnames"], str) and "argnums" not in options
    return isinstance(options.get("argnums", 0), int)


def plain_target(cx: Frame, function: AV, count: int) -> AV:
    """A function to differentiate: a closure, or a wrapper around what is not one (a builtin, another transform)."""
    if isinstance(function.type, Closure) and isinstance(function.type.code, Code) and not collects(function.type):
        return function
    return as_closure(cx, function, count)


def target_of(
    cx: Frame, function: AV, arguments: Sequence[AV], keywords: Mapping[str, AV]
) -> tuple[AV, list[AV]]:
    """The function to differentiate and its arguments, bound as the plain function at the bottom binds them."""
    bottom = function.type
    while isinstance(bottom, Transformed):
        bottom = bottom.function
    if isinstance(bottom, Closure) and isinstance(bottom.code, Code) and not collects(bottom):
        bound = bound_to(cx, AV(bottom, function.values), arguments, keywords)
        return plain_target(cx, function, len(bound)), bound
    target = as_closure(cx, function, len(arguments), tuple(keywords))
    return target, bound_to(cx, target, arguments, keywords)


def bound_to(cx: Frame, target: AV, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> list[AV]:
    """The arguments of a call, one per parameter; known bools as numbers."""
    return [as_number(cx, av) if isinstance(av.type, Constant) else av for av in bind(cx, target, arguments, keywords)]


def argument_positions(cx: Frame, target: AV, options: Mapping[str, object], count: int) -> list[int]:
    """The arguments that `argnums` and `argnames` name."""
    assert isinstance(target.type, Closure)
    parameters = target.type.code.untyped.attrs["parameters"]  # type: ignore[attr-defined]
    names = [name for name, _, _ in parameters]
    given = options.get("argnums", 0)
    wanted = list(given) if isinstance(given, tuple) else [given]
    argnames = options.get("argnames")
    if argnames:
        extra = list(argnames) if isinstance(argnames, tuple) else [argnames]
        unknown = [n for n in extra if n not in names]
        if unknown:
            help = f"its parameters are {', '.join(names)}" if names else "it has no parameters"
            raise cx.type_error(f"argnames: {target.type.name}() has no parameter '{unknown[0]}'", help)
        wanted = ([] if "argnums" not in options else wanted) + [names.index(str(n)) for n in extra]
    positions: list[int] = []
    for number in wanted:
        if not isinstance(number, int) or not -count <= number < count:
            taken = {0: "no arguments", 1: "one argument, number 0"}.get(count, f"{count} arguments, from number 0")
            raise cx.type_error(f"argnums: {target.type.name}() has no argument number {number}",
                                f"it takes {taken}")  # fmt: skip
        positions.append(number % count)
    return positions


def float_slots(cx: Frame, target: AV, bound: Sequence[AV], positions: Sequence[int], first: int) -> list[int]:
    """The float slots of the differentiated arguments, as indices of the callee's parameters."""
    assert isinstance(target.type, Closure)
    parameters = target.type.code.untyped.attrs["parameters"]  # type: ignore[attr-defined]
    starts: list[int] = []
    total = first
    for av in bound:
        starts.append(total)
        total += len(av.values)
    wrt: list[int] = []
    for position in positions:
        found = [starts[position] + i for i, m in enumerate(slots(bound[position].type)) if is_float(m)]
        if not found:
            name = parameters[position][0]
            raise cx.type_error(
                f"grad of {target.type.name}() with respect to '{name}': {show(bound[position].type)} has no float",
                *_float_instead(name, bound[position].type),
            )  # fmt: skip
        wrt += found
    return list(dict.fromkeys(wrt))


def _float_instead(name: str, type_: Type) -> tuple[str, str]:
    """Label and help for an argument without floats."""
    if isinstance(type_, Array):
        label = "integers and bools have no derivative"
        return label, f"pass {name}.astype(np.float64), or choose another argument with argnums"
    if slots(type_) and not isinstance(type_, Closure):
        label = "integers and bools have no derivative"
        return label, f"pass a float for '{name}', e.g. 3.0 instead of 3, or choose another argument with argnums"
    return "there is nothing to differentiate by", "choose another argument with argnums"


def no_pair(cx: Frame, target: AV, result: Type) -> CompileTypeError:
    """The error for has_aux=True of a function that does not return a pair."""
    assert isinstance(target.type, Closure)
    return cx.type_error(f"has_aux=True: {target.type.name}() must return (value, aux)", f"it returns {show(result)}",
                         "write return value, aux, or leave out has_aux")  # fmt: skip


def not_scalar(cx: Frame, kind: str, name: str, loss: Type) -> CompileTypeError:
    """The error for the gradient of something that is not one float."""
    members = loss.members if isinstance(loss, Union) else (loss,)
    if any(isinstance(m, NoneType) for m in members):
        help = "let every path end with `return` and a float"
    elif isinstance(loss, Number | Constant):
        help = "return a float: the derivative of a whole number is zero or undefined"
    else:
        help = "reduce it (np.sum, an element), use has_aux=True for extra results, or vjp for other shapes"
    title = f"{kind} of {name}(): the result must be one float, it is {show(loss)}"
    return cx.type_error(title, "a gradient needs a function with one float as its result", help)


def _outputs(cx: Frame, kind: str, target: AV, spec: Specialization, has_aux: bool) -> tuple[int, ...]:
    """The result slots that receive cotangent 1; the result must be one float."""
    assert isinstance(target.type, Closure)
    loss = spec.result
    if has_aux:
        if not isinstance(loss, Tuple) or len(loss.items) != 2:
            raise no_pair(cx, target, spec.result)
        loss = loss.items[0]
    members = loss.members if isinstance(loss, Union) else (loss,)
    numbers = all(isinstance(m, Number | Constant) for m in members)
    if not numbers or not any(is_float(m) for m in slots(loss)):
        raise not_scalar(cx, kind, target.type.name, loss)
    return tuple(i for i, m in enumerate(slots(loss)) if is_float(m))


def _gradient_slot(operand: Value) -> Machine:
    if isinstance(operand.type, ArrayRef):
        return ArrayRef(operand.type.dtype, operand.type.rank, True)
    return _some(operand)


def _some(value: Value) -> Machine:
    assert value.type is not None
    return value.type


def _gradients(
    cx: Frame, bound: Sequence[AV], positions: Sequence[int], first: int, found: Mapping[int, Value]
) -> list[AV]:
    starts: list[int] = []
    total = first
    for av in bound:
        starts.append(total)
        total += len(av.values)
    result: list[AV] = []
    for position in positions:
        av = bound[position]
        given = [found.get(starts[position] + i) for i in range(len(av.values))]
        result.append(like_primal(cx, av, given))
    return result


def like_primal(cx: Frame, primal: AV, given: Sequence[Value | None]) -> AV:
    """A gradient of the structure of its primal: floats from `given`, typed zeros for ints and bools.

    By a complex value it is df/da + i df/db, the direction of steepest ascent.
    """
    match primal.type:
        case Number(dtype, weak):
            if given[0] is not None:
                return AV(primal.type, (given[0],))
            kind = WEAK_INT if weak and dtype is DType.BOOL else primal.type
            return AV(kind, (cx.e.constant(0, slots(kind)[0]),))
        case Array(dtype, rank, _):
            if given[0] is not None:
                return AV(Array(dtype, rank, True, ones=primal.type.ones), (given[0],))
            zeros = cx.e("array_zeros", *array_sizes(cx, primal), dtype=dtype)
            return AV(Array(dtype, rank, True, ones=primal.type.ones), (zeros,))
        case Complex():
            return _like_complex(cx, primal, given)
        case Tuple() | List() | Dict() | Record():
            return _like_items(cx, primal, given)
        case Union():
            # The tag says of which type the value was; ints of the payload are typed zeros.
            tag, *payload = primal.values
            values = [g if g is not None else _zero_int(cx, v) for g, v in zip(given[1:], payload, strict=True)]
            kinds = slots(primal.type)[1:]
            return AV(primal.type, (tag, *(_as_slot(cx, v, m) for v, m in zip(values, kinds, strict=True))))
        case _:
            return primal


def _as_slot(cx: Frame, value: Value, slot: Machine) -> Value:
    """A fresh array is contiguous, the place of a union that it belongs to may be for any."""
    relaxed = isinstance(slot, ArrayRef) and value.type != slot
    return cx.e("view_relax", value) if relaxed else value


def _zero_int(cx: Frame, value: Value) -> Value:
    return cx.e.like(0, value) if isinstance(value.type, Scalar) else value


def _like_complex(cx: Frame, primal: AV, given: Sequence[Value | None]) -> AV:
    half = len(given) // 2
    pairs = zip(halves(primal), (given[:half], given[half:]), strict=True)
    real, imag = (like_primal(cx, part, values) for part, values in pairs)
    return complex_of(real, imag)


def _like_items(cx: Frame, primal: AV, given: Sequence[Value | None]) -> AV:
    found: list[AV] = []
    position = 0
    for item in items_of(primal):
        width = len(item.values)
        found.append(like_primal(cx, item, given[position : position + width]))
        position += width
    types = tuple(p.type for p in found)
    values = tuple(v for p in found for v in p.values)
    if isinstance(primal.type, Dict):
        return AV(Dict(primal.type.keys, types), values)
    assert isinstance(primal.type, Tuple | List | Record)
    return AV(like_sites(rebuilt(primal.type, types)), values)


def _pack(items: Sequence[AV]) -> AV:
    return AV(Tuple(tuple(i.type for i in items)), tuple(v for i in items for v in i.values))


# ------------------------------------------------------------------------------------------------ jvp and vjp


def jvp(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    """pb.jvp(f, primals, tangents) -> (out, tangent)."""
    given = dict(zip(("fun", "primals", "tangents"), arguments, strict=False)) | dict(keywords)
    if set(given) != {"fun", "primals", "tangents"}:
        raise cx.type_error(
            "jvp() takes a function, a tuple of primals and a tuple of tangents", f"{len(given)} arguments are given",
            "write jvp(f, (x, y), (dx, dy))",
        )
    primals, tangents = _sequence(cx, given["primals"], "primals"), _sequence(cx, given["tangents"], "tangents")
    if len(primals) != len(tangents):
        raise cx.type_error(f"jvp(): {len(primals)} primals but {len(tangents)} tangents", "one tangent per primal")
    target = plain_target(cx, given["fun"], len(primals))
    bound = bound_to(cx, target, primals, {})
    result = specialized_for(cx, target, bound)[0].result
    types = [av.type for av in bound[: len(tangents)]]
    if not concerned([*types, result]):
        return _jvp(cx, target, bound, tangents)
    return by_objects.jvp(cx, target, bound, tangents, result, _jvp)


def _jvp(
    cx: Frame, target: AV, bound: Sequence[AV], tangents: Sequence[AV], tables: tuple[str, ...] = (),
    twins: Sequence[Value] = (),
) -> AV:  # fmt: skip
    """(value, tangent) of a call; arguments without a tangent are defaults.  `twins`: tangents of tables."""
    spec, operands = specialized_for(cx, target, bound)
    if isinstance(spec.result, Never):
        return _only_raises(cx, spec, operands)
    first = len(target.values)
    wrt = [i for i in range(first, len(operands)) if is_float(_some(operands[i]))]
    # defaults take no tangent
    pieces: list[Value | None] = []
    for position, av in enumerate(bound):
        tangent = tangents[position] if position < len(tangents) else None
        pieces += tangent_slots(cx, av, tangent)
    used = [i for i in wrt if pieces[i - first] is not None]
    values = [v for v in (pieces[i - first] for i in used) if v is not None]
    results = slots(spec.result)
    types = [*results, *(_tangent_machine(m) for m in results if is_float(m))]
    attrs: dict[str, object] = {"callee": spec.name, "wrt": tuple(used)}
    if tables:
        attrs["tables"] = tables
    op = cx.e.append(get("jvp"), [*operands, *values, *twins], attrs=attrs, types=types)
    out = AV(spec.result, tuple(op.results[: len(results)]))
    floats = iter(op.results[len(results) :])
    slot_tangents = [next(floats) if is_float(m) else None for m in results]
    return _pack([out, like_primal(cx, out, slot_tangents)])


def _tangent_machine(machine: Machine) -> Machine:
    return ArrayRef(machine.dtype, machine.rank, True) if isinstance(machine, ArrayRef) else machine


def _sequence(cx: Frame, av: AV, name: str) -> list[AV]:
    if not isinstance(av.type, Tuple | List):
        raise cx.type_error(f"{name} must be a tuple, one entry per argument, not {show(av.type)}",
                            "jvp(f, primals, tangents)", f"write ({name.rstrip('s')},)")  # fmt: skip
    return items_of(av)


def vjp(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    """pb.vjp(f, *primals) -> (out, pullback); with has_aux=True (out, pullback, aux)."""
    has_aux = "has_aux" in keywords and bool(_static(cx, keywords["has_aux"], "has_aux"))
    if not arguments or set(keywords) - {"has_aux"}:
        raise cx.type_error("vjp() takes a function, its arguments and has_aux", "", "write vjp(f, x, y)")
    target = plain_target(cx, arguments[0], len(arguments) - 1)
    bound = bound_to(cx, target, arguments[1:], {})
    if cx.session.backward is not None:
        return BY_CLOSURES["vjp"](cx, target, bound, has_aux)
    count = len(arguments) - 1
    result = specialized_for(cx, target, bound)[0].result
    if has_aux and not (isinstance(result, Never) or (isinstance(result, Tuple) and len(result.items) == 2)):
        raise no_pair(cx, target, result)
    if concerned([*(av.type for av in bound[:count]), result]):
        found = by_objects.vjp(cx, target, bound, count, result, _vjp)
    else:
        found = _vjp(cx, target, bound, count)
    if cx.dead or not has_aux:
        return found
    out, pull = items_of(found)
    value, aux = items_of(out)
    return _pack([value, pull, aux])


def _vjp(cx: Frame, target: AV, bound: Sequence[AV], count: int, tables: tuple[str, ...] = ()) -> AV:
    """(value, pullback) of a call; the arguments after the first `count` are defaults.  `tables`: see `pulled`."""
    spec, operands = specialized_for(cx, target, bound)
    if isinstance(spec.result, Never):
        return _only_raises(cx, spec, operands)
    first, given = len(target.values), bound[:count]
    end = first + sum(len(av.values) for av in given)  # defaults take no cotangent
    wrt = tuple(i for i in range(first, end) if is_float(_some(operands[i])))
    box = cx.session.unique(f"residuals_{spec.name}")
    attrs: dict[str, object] = {"callee": spec.name, "wrt": wrt, "box": box}
    if tables:
        attrs["tables"] = tables
    op = cx.e.append(get("vjp"), operands, attrs=attrs, types=[*slots(spec.result), Box(box)])
    out = AV(spec.result, tuple(op.results[:-1]))
    gradient_type = Tuple(tuple(_gradient_type(av.type) for av in given))
    kind = Pullback(box, spec.name, wrt, spec.result, gradient_type)
    pull = AV(kind, (op.results[-1], *float_sizes(cx, op.results[:-1]), *tags_of(out)))
    return _pack([out, pull])


def _gradient_type(type_: Type) -> Type:
    """The type of a gradient with respect to an argument."""
    match type_:
        case Number(DType.BOOL, True):
            return WEAK_INT
        case Array(dtype, rank, _):
            return Array(dtype, rank, True, ones=type_.ones)
        case Complex(real, imag):
            return Complex(_gradient_type(real), _gradient_type(imag))
        case Tuple(items) | List(items) | Record(_, items):
            return like_sites(rebuilt(type_, tuple(map(_gradient_type, items))))
        case Dict(keys, items):
            return Dict(keys, tuple(map(_gradient_type, items)))
        case _:
            return type_


def call_pullback(cx: Frame, function: AV, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    """pull(cotangent) -> one gradient per primal."""
    if len(arguments) != 1 or keywords:
        raise cx.type_error("a pullback takes one cotangent, of the structure of the result",
                            f"{len(arguments) + len(keywords)} arguments are given")  # fmt: skip
    return pulled(cx, function, arguments[0])[0]


def pulled(cx: Frame, function: AV, cotangent: AV, tables: tuple[str, ...] = ()) -> tuple[AV, list[Value]]:
    """The gradients that a pullback gives, and those by tables that it was made for (`table_gradients`)."""
    kind = function.type
    assert isinstance(kind, Pullback)
    out_type = kind.result
    wanted = slots(out_type)
    sizes, tags = _split(function.values[1:], tag_count(out_type))
    cotangents = cotangent_slots(cx, out_type, cotangent, iter(tags))
    floats = [c for c, m in zip(cotangents, wanted, strict=True) if is_float(m)]
    missing = [i for i, c in enumerate(floats) if c is None]
    if missing:
        raise unlike(cx, "cotangent", out_type, cotangent.type)
    for given, size in zip(float_sizes(cx, [c for c in floats if c is not None]), sizes, strict=True):
        same_size(cx, size, given)
    gradient_slots = slots(kind.gradients)
    found_types = [m for m in gradient_slots if is_float(m)]
    attrs: dict[str, object] = {"callee": kind.callee, "wrt": kind.wrt, "box": kind.box}
    if tables:
        attrs["tables"] = tables
    operands = [function.values[0], *(c for c in floats if c is not None)]
    types = [*found_types, *(Table(twin_name(name)) for name in tables)]
    op: Op = cx.e.append(get("pullback"), operands, attrs=attrs, types=types)
    values = iter(op.results)
    rest = [next(values) if is_float(m) else _typed_zero(cx, m) for m in gradient_slots]
    return AV(kind.gradients, tuple(rest)), op.results[len(found_types) :]


def _split(values: Sequence[Value], last: int) -> tuple[Sequence[Value], Sequence[Value]]:
    end = len(values) - last
    return values[:end], values[end:]


def _typed_zero(cx: Frame, machine: Machine) -> Value:
    return zero(cx.e, machine)


def _transform(kind: str) -> Handler:
    return lambda cx, arguments, keywords: transform(cx, kind, arguments, keywords)


HANDLERS.update({
    "pullback.grad": _transform("grad"), "pullback.value_and_grad": _transform("value_and_grad"), "pullback.jvp": jvp,
    "pullback.vjp": vjp, **{f"pullback.{kind}": _transform(kind) for kind in KINDS},
    "pullback.jit": lambda cx, arguments, keywords: arguments[0],
})  # fmt: skip
HANDLERS["pullback.by_objects"] = lambda cx, arguments, keywords: by_objects.pull(cx, arguments, keywords, pulled)
CALLS[Transformed] = call_transformed
CALLS[Pullback] = call_pullback

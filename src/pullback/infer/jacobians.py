"""jacobian, jacfwd, jacrev and hessian: a loop over directions for each part of the result and of the argument.

    pb.jacobian(f, argnums=1)(a, x)     ->     jacobian_of(lambda x: f(a, x), x), a function of the prelude
    x a dict, f(x) a tuple              ->     a tuple of dicts of arrays, as in JAX
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pullback.diagnostic import CompileError
from pullback.infer.calls import call, specialized_for
from pullback.infer.changes import alters
from pullback.infer.engine import Code, Frame
from pullback.infer.registry import prelude
from pullback.infer.values import AV, items_of
from pullback.infer.wrappers import as_closure
from pullback.ir.build import Builder
from pullback.ir.node import Block, Function, Value
from pullback.prims.base import get
from pullback.types import (
    Array,
    Closure,
    Constant,
    Dict,
    List,
    Never,
    Number,
    Transformed,
    Tuple,
    Type,
    Union,
    show,
)  # fmt: skip

__all__ = ["KINDS", "derivatives_by"]

KINDS = ("hessian", "jacobian", "jacfwd", "jacrev")


def derivatives_by(
    cx: Frame, kind: str, target: AV, bound: Sequence[AV], positions: Sequence[int], *, single: bool
) -> AV:
    """What `kind` of the function is: the structure of the result, in it the arguments chosen, in it their structures.

    single: by one argument, otherwise a tuple of them; hessians in all pairs.
    """
    spec, _ = specialized_for(cx, target, bound)
    result = spec.result
    if isinstance(result, Never):
        return cx.stop()
    if (_parts(result) > 1 or sum(_parts(bound[position].type) for position in positions) > 1) and alters(cx, spec):
        raise cx.error(f"{kind} of a function that changes what it is given, or draws numbers",
                       "it would be called again for each part of the result and of the arguments",
                       "let it change copies, or differentiate one array by one array")  # fmt: skip
    if isinstance(result, Tuple | List | Dict) and kind != "hessian":
        names = result.keys if isinstance(result, Dict) else range(len(result.items))
        functions = [_made(cx, ("part", name), [target], _part(name), len(bound)) for name in names]
        parts = [derivatives_by(cx, kind, f, bound, positions, single=single) for f in functions]
        return _structure_like(result, parts)
    if kind != "hessian" or single:
        found = [_by_argument(cx, kind, target, bound, position) for position in positions]
        return found[0] if single else _packed(found)
    rows: list[AV] = []
    for position in positions:
        gradient = _gradient_by(cx, target, position, len(bound))
        rows.append(_packed([_by_argument(cx, "jacfwd", gradient, bound, other) for other in positions]))
    return _packed(rows)


def _parts(type_: Type) -> int:
    """How many floats and arrays a structure has."""
    return sum(map(_parts, type_.items)) if isinstance(type_, Tuple | List | Dict) else 1


def _by_argument(cx: Frame, kind: str, target: AV, bound: Sequence[AV], position: int) -> AV:
    others = [av for i, av in enumerate(bound) if i != position]
    function = _made(cx, ("fix", len(bound), position), [target, *others], _call_with(position))
    return _of_structure(cx, kind, function, bound[position])


def _of_structure(cx: Frame, kind: str, function: AV, x: AV) -> AV:
    """By each item of a structure, as the same structure."""
    match x.type:
        case Tuple() | List() | Dict():
            items = items_of(x)
            parts: list[AV] = []
            for i, item in enumerate(items):
                rest = items[:i] + items[i + 1 :]
                key = ("item", type(x.type).__name__, x.type.keys if isinstance(x.type, Dict) else len(items), i)
                inner = _made(cx, key, [function, *rest], _rebuild(x.type, i))
                parts.append(_of_structure(cx, kind, inner, item))
            return _structure_like(x.type, parts)
        case Number() | Array() if x.type.dtype.is_float:
            return _of_leaf(cx, kind, function, x)
    raise _no_float(cx, kind, x.type)


def _no_float(cx: Frame, kind: str, type_: Type) -> CompileError:
    return cx.type_error(f"{kind} with respect to {show(type_)}", "there is no derivative by this",
                         "choose an argument of floats with argnums")  # fmt: skip


def _of_leaf(cx: Frame, kind: str, function: AV, x: AV) -> AV:
    """By a float or an array; the result is no structure."""
    spec, _ = specialized_for(cx, function, [x])
    result = spec.result
    if not _differentiable(result):
        raise cx.type_error(f"{kind} of a function that returns {show(result)}", "only floats have derivatives",
                            "return floats, arrays of floats, or structures of them")  # fmt: skip
    if kind == "hessian" and isinstance(result, Array):
        raise cx.type_error("hessian of a function whose result is not one float", f"it returns {show(result)}",
                            "write jacobian(grad(...)), or choose one element of the result")  # fmt: skip
    if isinstance(x.type, Array) and alters(cx, spec):  # it must be called once only, not for each direction
        kind = "reverse_hessian" if kind == "hessian" else "jacrev"
    return call(cx, prelude(cx, f"pullback.{kind}_of"), [function, x], {})


def _differentiable(type_: Type) -> bool:
    """A float, an array of floats, or a number that is a float on some paths."""
    if isinstance(type_, Union):
        numbers = all(isinstance(member, Number | Constant) for member in type_.members)
        return numbers and any(map(_differentiable, type_.members))
    return isinstance(type_, Number | Array) and type_.dtype.is_float


def _structure_like(model: Tuple | List | Dict, parts: Sequence[AV]) -> AV:
    types, values = tuple(p.type for p in parts), tuple(v for p in parts for v in p.values)
    match model:
        case Dict(keys, _):
            return AV(Dict(keys, types), values)
        case List():
            return AV(List(types), values)
    return AV(Tuple(types), values)


def _packed(items: Sequence[AV]) -> AV:
    return AV(Tuple(tuple(i.type for i in items)), tuple(v for i in items for v in i.values))


# ------------------------------------------------------------------------------------ functions around the function

Body = Callable[[Builder, Value, list[Value], list[Value]], Value]


def _made(cx: Frame, key: tuple[object, ...], captured: Sequence[AV], body: Body, params: int = 1) -> AV:
    """A closure over captured values, the first of which is a function."""
    key = ("jacobian", *key, len(captured), params)
    code = cx.session.codes.get(key)
    if code is None:
        captures = [Value(None, f"c{i}") for i in range(len(captured))]
        xs = [Value(None, f"x{i}") for i in range(params)]
        builder = Builder(Block([*captures, *xs]))
        builder.block.results = [body(builder, captures[0], captures[1:], xs)]
        attrs: dict[str, object] = {
            "python_name": "function", "captures": tuple(v.name for v in captures),
            "parameters": tuple((v.name, "positional", False) for v in xs),
        }  # fmt: skip
        code = cx.session.codes[key] = Code(Function("function", builder.block, attrs=attrs), {})
    name = captured[0].type.name if isinstance(captured[0].type, Closure) else "function"
    type_ = Closure(code, tuple(av.type for av in captured), name)
    return AV(type_, tuple(v for av in captured for v in av.values))


def _call(builder: Builder, function: Value, arguments: Sequence[Value]) -> Value:
    return builder.append_untyped(get("py.call"), [function, *arguments], attrs={"keywords": ()}).result


def _call_with(position: int) -> Body:
    """lambda x: f(..., x, ...)"""
    def body(builder: Builder, function: Value, others: list[Value], xs: list[Value]) -> Value:
        return _call(builder, function, [*others[:position], *xs, *others[position:]])

    return body


def _rebuild(model: Tuple | List | Dict, position: int) -> Body:
    """lambda x: f((..., x, ...))"""
    def body(builder: Builder, function: Value, others: list[Value], xs: list[Value]) -> Value:
        items = [*others[:position], *xs, *others[position:]]
        if isinstance(model, Dict):
            whole = builder.append_untyped(get("py.dict"), items, attrs={"keys": model.keys}).result
        else:
            kind = "py.tuple" if isinstance(model, Tuple) else "py.list"
            whole = builder.append_untyped(get(kind), items).result
        return _call(builder, function, [whole])

    return body


def _part(name: object) -> Body:
    """lambda x, ...: f(x, ...)[name]"""
    def body(builder: Builder, function: Value, others: list[Value], xs: list[Value]) -> Value:
        key = builder.append_untyped(get("py.const"), [], attrs={"value": name}).result
        return builder.append_untyped(get("py.subscript"), [_call(builder, function, xs), key]).result

    return body



def _gradient_by(cx: Frame, target: AV, position: int, count: int) -> AV:
    """The gradient by one argument as a closure of all of them."""
    return as_closure(cx, AV(Transformed("grad", target.type, (("argnums", position),)), target.values), count)

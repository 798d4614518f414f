"""jacobian, jacfwd, jacrev and hessian: a loop over directions for each part of the result and of the argument.

    pb.jacobian(f, argnums=1)(a, x)     ->     jacobian_of(lambda x: f(a, x), x), a function of the prelude
    x a dict, f(x) a tuple              ->     a tuple of dicts of arrays, as in JAX
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pullback.diagnostic import CompileError
from pullback.infer.calls import call, specialized_for
from pullback.infer.changes import alters
from pullback.infer.engine import Code, Frame
from pullback.infer.made import function
from pullback.infer.registry import prelude
from pullback.infer.values import AV, items_of
from pullback.infer.wrappers import as_closure
from pullback.ir.build import Builder
from pullback.ir.node import Block, Function, Value
from pullback.prims.base import get
from pullback.types import (
    NONE,
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

__all__ = ["KINDS", "derivatives_by", "derivatives_code"]

KINDS = ("hessian", "jacobian", "jacfwd", "jacrev")
Body = Callable[[Builder, Value, list[Value], list[Value]], Value]
_TUPLE = Tuple(())


def derivatives_by(
    cx: Frame, kind: str, target: AV, bound: Sequence[AV], positions: Sequence[int], *, single: bool
) -> AV:
    """What `kind` of the function is: the structure of the result, in it the arguments chosen, in it their structures.

    single: by one argument, otherwise a tuple of them; hessians in all pairs.
    """
    found = _derivatives(_Maker(cx), kind, _Part(target), [_Part(av) for av in bound], positions, single=single)
    return cx.stop() if found is None else found.av


def derivatives_code(
    cx: Frame, kind: str, target: AV, bound: Sequence[AV], positions: Sequence[int], *, single: bool
) -> Code:
    """The same as a function of untyped IR, from the function and its arguments, by reverse mode alone."""
    params = [Value(None, "f"), *(Value(None, f"x{i}") for i in range(len(bound)))]
    builder = Builder(Block(params), cx.span)
    first, *given = (_Part(av, value) for av, value in zip((target, *bound), params, strict=True))
    found = _derivatives(_Writer(cx, builder), kind, first, given, positions, single=single)
    result = _call(builder, params[0], params[1:]) if found is None else found.value
    return Code(function(f"{kind}_of", params, builder, [result]), {})


@dataclass(frozen=True, slots=True)
class _Part:
    """An abstract value; where a function of untyped IR is written, with what holds it there."""

    av: AV
    written: Value | None = None

    @property
    def value(self) -> Value:
        assert self.written is not None
        return self.written


class _Maker:
    """Does at once what derivatives of structures are made of."""

    forward = True

    def __init__(self, cx: Frame) -> None:
        self.cx = cx

    def made(self, key: tuple[object, ...], captured: Sequence[_Part], body: Body, params: int = 1) -> _Part:
        """A closure over captured values, the first of which is a function."""
        return _Part(_made(self.cx, key, [part.av for part in captured], body, params))

    def items(self, whole: _Part) -> list[_Part]:
        return [_Part(av) for av in items_of(whole.av)]

    def structure(self, model: Tuple | List | Dict, parts: Sequence[_Part]) -> _Part:
        return _Part(_structure_like(model, [part.av for part in parts]))

    def gradient(self, target: _Part, position: int, count: int) -> _Part:
        """The gradient by one argument as a closure of all of them."""
        type_ = Transformed("grad", target.av.type, (("argnums", position),))
        return _Part(as_closure(self.cx, AV(type_, target.av.values), count))

    def leaf(self, name: str, target: _Part, x: _Part) -> _Part:
        """A function of the prelude, of a function of one float or array."""
        return _Part(call(self.cx, prelude(self.cx, f"pullback.{name}_of"), [target.av, x.av], {}))


class _Writer(_Maker):
    """Writes it in untyped IR; its abstract values say what is to be written, and nothing is done."""

    forward = False

    def __init__(self, cx: Frame, builder: Builder) -> None:
        super().__init__(cx)
        self.builder = builder

    def made(self, key: tuple[object, ...], captured: Sequence[_Part], body: Body, params: int = 1) -> _Part:
        av = super().made(key, captured, body, params).av
        assert isinstance(av.type, Closure) and isinstance(av.type.code, Code)
        return _Part(av, self._one("closure", captured, function=av.type.code.untyped))

    def items(self, whole: _Part) -> list[_Part]:
        return [_Part(av, self._one("part", [whole], index=i)) for i, av in enumerate(items_of(whole.av))]

    def structure(self, model: Tuple | List | Dict, parts: Sequence[_Part]) -> _Part:
        if isinstance(model, Dict):
            return _Part(AV(NONE), self._one("dict", parts, keys=model.keys))
        return _Part(AV(NONE), self._one("list" if isinstance(model, List) else "tuple", parts))

    def gradient(self, target: _Part, position: int, count: int) -> _Part:
        made, number = self._one("builtin", (), name="pullback.grad"), self._one("const", (), value=position)
        written = _call(self.builder, made, [target.value, number])
        return _Part(super().gradient(target, position, count).av, written)

    def leaf(self, name: str, target: _Part, x: _Part) -> _Part:
        made = self._one("builtin", (), name=f"pullback.{name}_of")
        return _Part(AV(NONE), _call(self.builder, made, [target.value, x.value]))

    def _one(self, name: str, parts: Sequence[_Part], /, **attrs: object) -> Value:
        return self.builder.append_untyped(get(f"py.{name}"), [part.value for part in parts], attrs=attrs).result


def _derivatives(
    maker: _Maker, kind: str, target: _Part, bound: Sequence[_Part], positions: Sequence[int], *, single: bool
) -> _Part | None:
    """None where the function never returns."""
    cx, types = maker.cx, [part.av.type for part in bound]
    spec, _ = specialized_for(cx, target.av, [part.av for part in bound])
    result = spec.result
    if isinstance(result, Never):
        return None
    if (_parts(result) > 1 or sum(_parts(types[position]) for position in positions) > 1) and alters(cx, spec):
        raise cx.error(f"{kind} of a function that changes what it is given, or draws numbers",
                       "it would be called again for each part of the result and of the arguments",
                       "let it change copies, or differentiate one array by one array")  # fmt: skip
    if isinstance(result, Tuple | List | Dict) and kind != "hessian":
        names = result.keys if isinstance(result, Dict) else range(len(result.items))
        functions = [maker.made(("part", name), [target], _part(name), len(bound)) for name in names]
        parts = [_derivatives(maker, kind, f, bound, positions, single=single) for f in functions]
        return maker.structure(result, [part for part in parts if part is not None])
    if kind != "hessian" or single:
        found = [_by_argument(maker, kind, target, bound, position) for position in positions]
        return found[0] if single else maker.structure(_TUPLE, found)
    rows: list[_Part] = []
    for position in positions:
        gradient = maker.gradient(target, position, len(bound))
        row = [_by_argument(maker, "jacfwd", gradient, bound, other) for other in positions]
        rows.append(maker.structure(_TUPLE, row))
    return maker.structure(_TUPLE, rows)


def _parts(type_: Type) -> int:
    """How many floats and arrays a structure has."""
    return sum(map(_parts, type_.items)) if isinstance(type_, Tuple | List | Dict) else 1


def _by_argument(maker: _Maker, kind: str, target: _Part, bound: Sequence[_Part], position: int) -> _Part:
    others = [part for i, part in enumerate(bound) if i != position]
    fixed = maker.made(("fix", len(bound), position), [target, *others], _call_with(position))
    return _of_structure(maker, kind, fixed, bound[position])


def _of_structure(maker: _Maker, kind: str, target: _Part, x: _Part) -> _Part:
    """By each item of a structure, as the same structure."""
    type_ = x.av.type
    match type_:
        case Tuple() | List() | Dict():
            items = maker.items(x)
            parts: list[_Part] = []
            for i, item in enumerate(items):
                rest = items[:i] + items[i + 1 :]
                key = ("item", type(type_).__name__, type_.keys if isinstance(type_, Dict) else len(items), i)
                inner = maker.made(key, [target, *rest], _rebuild(type_, i))
                parts.append(_of_structure(maker, kind, inner, item))
            return maker.structure(type_, parts)
        case Number() | Array() if type_.dtype.is_float:
            return _of_leaf(maker, kind, target, x)
    raise _no_float(maker.cx, kind, type_)


def _no_float(cx: Frame, kind: str, type_: Type) -> CompileError:
    return cx.type_error(f"{kind} with respect to {show(type_)}", "there is no derivative by this",
                         "choose an argument of floats with argnums")  # fmt: skip


def _of_leaf(maker: _Maker, kind: str, target: _Part, x: _Part) -> _Part:
    """By a float or an array; the result is no structure."""
    cx = maker.cx
    spec, _ = specialized_for(cx, target.av, [x.av])
    result = spec.result
    if not _differentiable(result):
        raise cx.type_error(f"{kind} of a function that returns {show(result)}", "only floats have derivatives",
                            "return floats, arrays of floats, or structures of them")  # fmt: skip
    if kind == "hessian" and isinstance(result, Array):
        raise cx.type_error("hessian of a function whose result is not one float", f"it returns {show(result)}",
                            "write jacobian(grad(...)), or choose one element of the result")  # fmt: skip
    # What changes something must be called once only, not for each direction.
    if not maker.forward or (isinstance(x.av.type, Array) and alters(cx, spec)):
        kind = "reverse_hessian" if kind == "hessian" else "jacrev"
    return maker.leaf(kind, target, x)


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


# ------------------------------------------------------------------------------------ functions around the function

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

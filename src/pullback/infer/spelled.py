"""Derivatives that are called with keywords, or without what has a default, in derivatives by closures.

    grad(f)(x, k=y)     the code for f's parameters in turn, and a function that binds the operands as f does:

    def grad_called(f, x, y):                       f's own default z is one of the values that it captured
        return grad_of(f, x, y, py.captured(f))     J of py.captured gives it a sensitivity

Defaults of functions of modules are constants, and operands after all others.
"""

from __future__ import annotations

from collections.abc import Sequence

from pullback.infer.adapted import places_of
from pullback.infer.engine import Code, Frame
from pullback.infer.made import function
from pullback.infer.sensitivities import kind_of
from pullback.infer.values import AV, items_of
from pullback.ir.build import Builder
from pullback.ir.node import Block, Op, Value
from pullback.prims.base import get
from pullback.types import Closure, Transformed, Type

__all__ = ["captured", "spelled"]


def spelled(
    cx: Frame, code: Code, head: Sequence[AV], callee: AV, target: AV, bound: Sequence[AV], count: int,
    names: tuple[str, ...],
) -> tuple[Code, list[AV]]:  # fmt: skip
    """A function of (head..., callee, the operands in the order of the call), and its operands.

    code: of (head..., target, one operand per parameter of the target); target: the callee or a wrapper of it.
    """
    bottom = _bottom(callee.type)
    assert isinstance(target.type, Closure) and isinstance(target.type.code, Code)
    parameters = target.type.code.untyped.attrs["parameters"]
    assert isinstance(parameters, tuple)
    places = [place for place, _ in places_of(parameters, count, names)]
    missing = [i for i in range(len(bound)) if i not in places]
    own = isinstance(bottom, Closure) and isinstance(bottom.code, Code) and bottom.code.python is None
    key = ("spelled", code, len(head), target.type.code, _kind(bottom), tuple(places), own)
    if key not in cx.session.codes:
        given = [Value(None, f"h{i}") for i in range(len(head))]
        params = [*given, Value(None, "f"), *(Value(None, f"x{i}") for i in range(len(bound)))]
        builder = Builder(Block(params), cx.span)
        f, operands = params[len(head)], dict(zip([*places, *missing], params[len(head) + 1 :], strict=True))
        if own and missing:
            operands |= _defaults(builder, f, bottom, missing)  # type: ignore[arg-type]
        inner = f
        if target.type != callee.type:
            attrs: dict[str, object] = {"function": target.type.code.untyped}
            inner = builder.append_untyped(get("py.closure"), [f], attrs=attrs).result
        ordered = [operands[i] for i in range(len(bound))]
        found = builder.append_untyped(get("py.apply"), [*given, inner, *ordered], attrs={"code": code})
        cx.session.codes[key] = Code(function(code.name, params, builder, found.results), {})
    return cx.session.codes[key], [*head, callee, *(bound[i] for i in (*places, *missing))]


def _defaults(builder: Builder, f: Value, bottom: Closure, missing: Sequence[int]) -> dict[int, Value]:
    """The defaults that a local function captured."""
    assert isinstance(bottom.code, Code)
    parameters = bottom.code.untyped.attrs["parameters"]
    assert isinstance(parameters, tuple)
    having = [i for i, (_, _, has_default) in enumerate(parameters) if has_default]
    total, found = len(bottom.captured), dict[int, Value]()
    for i in missing:
        attrs: dict[str, object] = {
            "index": total - len(having) + having.index(i), "count": total, "of": kind_of(bottom.code),
        }  # fmt: skip
        found[i] = builder.append_untyped(get("py.captured"), [f], attrs=attrs).result
    return found


def _bottom(type_: Type) -> Type:
    while isinstance(type_, Transformed):
        type_ = type_.function
    return type_


def _kind(bottom: Type) -> object:
    return (bottom.code, len(bottom.captured)) if isinstance(bottom, Closure) else None


def captured(cx: Frame, op: Op, operands: list[AV]) -> AV:
    """py.captured: one of the values that a function captured."""
    (av,) = operands
    index = op.attrs["index"]
    assert isinstance(index, int)
    return items_of(AV(_bottom(av.type), av.values))[index]

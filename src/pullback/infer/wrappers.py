"""Functions made around callables that are not plain functions, so that they can be differentiated or be an entry.

    grad(grad(f))       the inner grad(f) becomes   def wrapper(x, ...): return captured(x, ...)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from pullback.infer.binding import COLLECTED
from pullback.infer.bound import Application
from pullback.infer.engine import Code, Frame
from pullback.infer.values import AV
from pullback.ir.build import Builder
from pullback.ir.node import Block, Function, Value
from pullback.prims.base import get
from pullback.types import Builtin, Closure, Transformed, Type

__all__ = ["as_closure", "collects", "wrapper_code"]


def as_closure(cx: Frame, function: AV, count: int, keywords: Sequence[str] = ()) -> AV:
    """A closure of `count` parameters, and others for `keywords`, that captures the callable and passes them on."""
    known = known_parameters(function.type)
    more = (Parameter(f"x{i}", "positional", False) for i in range(len(known), count))
    first = (*known, *more)[:count]
    names = {parameter.name for parameter in first}
    parameters = (*first, *(Parameter(name, "keyword_only", False) for name in keywords if name not in names))
    key = ("wrapper", parameters)
    code = cx.session.codes.get(key)
    if code is None:
        code = Code(wrapper_code(parameters), {})
        cx.session.codes[key] = code
    return AV(Closure(code, (function.type,), _shown(function.type)), function.values)


def collects(type_: Type) -> bool:
    """Does the function take *args or **kwargs, so that a call decides how many arguments it has?"""
    if not isinstance(type_, Closure) or not isinstance(type_.code, Code):
        return False
    parameters = type_.code.untyped.attrs["parameters"]
    assert isinstance(parameters, tuple)
    return any(kind in COLLECTED for _, kind, _ in parameters)


def _shown(type_: Type) -> str:
    """How messages call a callable."""
    match type_:
        case Transformed(kind, function, _):
            return f"{kind} of {_shown(function)}"
        case Closure(_, _, name):
            return name
        case Builtin(name):
            return name.removeprefix("builtins.")
    return "the function"


class Parameter(NamedTuple):
    """How a parameter is called and passed, as functions note it."""

    name: str
    kind: str
    has_default: bool


def known_parameters(type_: Type) -> tuple[Parameter, ...]:
    """The parameters of the function inside, where it has any; a wrapper is given them all."""
    while isinstance(type_, Transformed):
        type_ = type_.function
    if not isinstance(type_, Closure):
        return ()
    if isinstance(type_.code, Application):
        inner, *given = type_.captured
        named = type_.code.keywords
        rest = known_parameters(inner)[len(given) - len(named) :]
        return tuple(parameter for parameter in rest if parameter.name not in named)
    if not isinstance(type_.code, Code):
        return ()
    parameters = type_.code.untyped.attrs["parameters"]
    assert isinstance(parameters, tuple)
    found = tuple(Parameter(name, kind, False) for name, kind, _ in parameters if kind not in COLLECTED)
    return tuple(p for p in found if p.kind != "keyword_only") if collects(type_) else found


def wrapper_code(parameters: tuple[Parameter, ...]) -> Function:
    """Untyped IR of `lambda a, *, b: function(a, b=b)` with `function` captured."""
    block = Block()
    function = Value(None, "function")
    params = [Value(None, name) for name, _, _ in parameters]
    keywords = tuple(name for name, kind, _ in parameters if kind == "keyword_only")
    builder = Builder(block)
    op = builder.append_untyped(get("py.call"), [function, *params], attrs={"keywords": keywords})
    block.params = [function, *params]
    block.results = [op.result]
    attrs: dict[str, object] = {"python_name": "wrapper", "captures": ("function",), "parameters": parameters}
    return Function("wrapper", block, attrs=attrs)

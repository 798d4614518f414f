"""Functions made around callables that are not plain functions, so that they can be differentiated or be an entry.

    grad(grad(f))       the inner grad(f) becomes   def wrapper(x, ...): return captured(x, ...)
"""

from __future__ import annotations

from pullback.infer.engine import Code, Frame
from pullback.infer.values import AV
from pullback.ir.build import Builder
from pullback.ir.node import Block, Function, Value
from pullback.prims.base import get
from pullback.types import Builtin, Closure, Transformed, Type

__all__ = ["as_closure", "wrapper_code"]


def as_closure(cx: Frame, function: AV, count: int | None = None) -> AV:
    """A closure that captures the callable and passes its arguments on."""
    known = parameter_names(function.type)
    if count is None:
        names = known or ("x0",)
    else:
        names = (*known, *(f"x{i}" for i in range(len(known), count)))[:count]
    key = ("wrapper", names)
    code = cx.session.codes.get(key)
    if code is None:
        code = Code(wrapper_code(names), {})
        cx.session.codes[key] = code
    return AV(Closure(code, (function.type,), _shown(function.type)), function.values)


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


def parameter_names(type_: Type) -> tuple[str, ...]:
    """Names of the parameters of the function inside, where it has any."""
    while isinstance(type_, Transformed):
        type_ = type_.function
    if isinstance(type_, Closure) and isinstance(type_.code, Code):
        parameters = type_.code.untyped.attrs["parameters"]
        assert isinstance(parameters, tuple)
        return tuple(name for name, _, _ in parameters)
    return ()


def wrapper_code(names: tuple[str, ...]) -> Function:
    """Untyped IR of `lambda *names: function(*names)` with `function` captured."""
    block = Block()
    function = Value(None, "function")
    params = [Value(None, name) for name in names]
    builder = Builder(block)
    op = builder.append_untyped(get("py.call"), [function, *params], attrs={"keywords": ()})
    block.params = [function, *params]
    block.results = [op.result]
    parameters = tuple((name, "positional", False) for name in names)
    attrs: dict[str, object] = {"python_name": "wrapper", "captures": ("function",), "parameters": parameters}
    return Function("wrapper", block, attrs=attrs)

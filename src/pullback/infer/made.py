"""Functions of untyped IR that inference makes for derivatives, and how they are kept."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from pullback.infer.engine import Code, Frame
from pullback.ir.build import Builder
from pullback.ir.node import Block, Function, Value

__all__ = ["back_function", "function", "preset"]


def back_function(name: str, block: Block, captures: tuple[str, ...]) -> Function:
    """A backpropagator: what it captured, then one sensitivity."""
    attrs: dict[str, object] = {
        "python_name": name, "captures": captures, "parameters": (("d", "positional", False),), "self_name": None,
        "derivative": True,
    }  # fmt: skip
    return Function(name, block, attrs=attrs)


def function(name: str, params: Sequence[Value], builder: Builder, results: Sequence[Value]) -> Function:
    """A function without captured values whose backpropagator answers for its parameters alone."""
    builder.block.results = list(results)
    parameters = tuple((f"x{i}", "positional", False) for i in range(len(params)))
    attrs: dict[str, object] = {
        "python_name": name, "captures": (), "parameters": parameters, "bare": True, "derivative": True,
    }  # fmt: skip
    return Function(name, builder.block, builder.span, attrs)


def preset(cx: Frame, key: Hashable, primal: Function, block: Block) -> Code:
    """The code of a function whose version with a backpropagator is given, not made by J."""
    code = Code(primal, {})
    attrs = {**primal.attrs, "root": primal}
    cx.session.codes[key] = code
    cx.session.codes["with_back", code] = Code(Function(primal.name, block, primal.span, attrs), {}, None, code)
    return code

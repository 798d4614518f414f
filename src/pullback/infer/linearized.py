"""hvp and linearize in compiled code, by vjp and jvp.

    out, lin = linearize(f, x)      out, pull = vjp(f, x);  lin = lambda t: vjp(pull, out)[1]((t,))[0]

A pullback is linear in its cotangent, so its own pullback, at any point, is the tangent map; what it needs of f's run
is kept in the record of the first vjp.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pullback.infer.derivatives import jvp, vjp
from pullback.infer.engine import Code, Frame
from pullback.infer.registry import HANDLERS
from pullback.infer.values import AV, items_of
from pullback.ir.build import Builder
from pullback.ir.node import Block, Function, Value
from pullback.prims.base import get
from pullback.types import Builtin, Closure, List, Transformed, Tuple

__all__: list[str] = []


def _hvp(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    """hvp(f, primals, tangents): forward over reverse."""
    given = dict(zip(("fun", "primals", "tangents"), arguments, strict=False)) | dict(keywords)
    if set(given) != {"fun", "primals", "tangents"} or not isinstance(given["primals"].type, Tuple | List):
        raise cx.type_error("hvp() takes a function, a tuple of primals and a tuple of tangents", "this call does not",
                            "write hvp(f, (x,), (dx,))")  # fmt: skip
    function, count = given["fun"], len(given["primals"].type.items)
    gradient = AV(Transformed("grad", function.type, (("argnums", tuple(range(count))),)), function.values)
    pair = jvp(cx, [gradient, given["primals"], given["tangents"]], {})
    if cx.dead:
        return pair
    tangent = items_of(pair)[1]
    return items_of(tangent)[0] if count == 1 else tangent


def _linearize(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    """linearize(f, *primals): the value and the tangent map at the primals."""
    if not arguments or keywords:
        raise cx.type_error("linearize() takes a function and its arguments", "this call does not",
                            "write linearize(f, x, y)")  # fmt: skip
    pair = vjp(cx, arguments, {})
    if cx.dead:
        return pair
    out, pull = items_of(pair)
    count = len(arguments) - 1
    code = cx.session.codes.get(("linear", count))
    if code is None:
        code = cx.session.codes["linear", count] = Code(_tangent_map(count), {})
    captured = (AV(Builtin("pullback.vjp")), pull, out)
    linear = Closure(code, tuple(av.type for av in captured), "linear map")
    return AV(Tuple((out.type, linear)), (*out.values, *(v for av in captured for v in av.values)))


def _tangent_map(count: int) -> Function:
    """Untyped IR of `lambda *t: vjp(pull, out)[1](t)[0]`, of `count` tangents."""
    captures = [Value(None, name) for name in ("vjp", "pull", "out")]
    tangents = [Value(None, f"t{i}") for i in range(count)]
    builder = Builder(Block([*captures, *tangents]))

    def call(*operands: Value) -> Value:
        return builder.append_untyped(get("py.call"), operands, attrs={"keywords": ()}).result

    pair = builder.append_untyped(get("py.unpack"), [call(*captures)], attrs={"count": 2}, results=2)
    found = call(pair.results[1], builder.append_untyped(get("py.tuple"), tangents).result)
    first = builder.append_untyped(get("py.const"), [], attrs={"value": 0}).result
    builder.block.results = [builder.append_untyped(get("py.subscript"), [found, first]).result]
    attrs: dict[str, object] = {
        "python_name": "linear map", "captures": ("vjp", "pull", "out"),
        "parameters": tuple((value.name, "positional", False) for value in tangents),
    }  # fmt: skip
    return Function("linear", builder.block, attrs=attrs)


HANDLERS.update({"pullback.hvp": _hvp, "pullback.linearize": _linearize})

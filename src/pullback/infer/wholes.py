"""Operations that J takes as a whole: their backpropagators are their own adjoints (`py.back_of`).

    v, b = with_back(solve)(a, c)      v = solve(a, c);  b(d) = back_of{solve}(a, c, d)

Of arrays with shadows it keeps copies, adds what `back_of` gives to the shadows, and lays a fresh shadow beside the
result, which must be new memory.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence

from pullback.infer.engine import Code, Frame
from pullback.infer.machine_values import leaves
from pullback.infer.made import back_function, function, preset
from pullback.infer.values import AV, MISSING, items_of
from pullback.ir.build import Builder
from pullback.ir.node import Block, Function, Value
from pullback.prims.base import get
from pullback.types import Constant, Number, Slice, Str, Tuple

__all__ = ["as_whole", "key_of", "with_shadows"]


def key_of(
    cx: Frame, operation: str, attributes: Mapping[str, object], operands: Sequence[AV]
) -> tuple[Hashable, ...]:
    """What the code of an operation depends on: types, and what is written as a literal."""
    literals = tuple(repr(av.literal) if av.literal is not MISSING else None for av in operands)
    items = tuple(repr(cx.literal_at(v)) for av in operands for v in av.values)
    stated = tuple(sorted(attributes.items(), key=lambda item: item[0]))
    return operation, stated, tuple(av.type for av in operands), literals, items


def as_whole(
    cx: Frame, operation: str, attributes: Mapping[str, object], operands: Sequence[AV], count: int
) -> Code:
    """The operation as one function; its backpropagator is its own adjoint (`py.back_of`)."""
    key = ("whole", cx.span, *key_of(cx, operation, attributes, operands))
    if key in cx.session.codes:
        return cx.session.codes[key]
    for av in operands:
        leaves(cx, av.type)  # refuse what has no sensitivity here
    params = [Value(None, f"x{i}") for i in range(len(operands))]
    builder = Builder(Block(params), cx.span)
    given = [_baked(cx, builder, av, param) for av, param in zip(operands, params, strict=True)]
    op = builder.append_untyped(get(operation), given, attrs=dict(attributes), results=count)
    results = op.results if count == 1 else builder.append_untyped(get("py.tuple"), op.results).results
    primal = function(operation.removeprefix("py."), params, builder, results)

    params = [Value(None, f"x{i}") for i in range(len(operands))]
    outer = Builder(Block(params), cx.span)
    code = preset(cx, key, primal, outer.block)
    value = outer.append_untyped(get("py.apply"), params, attrs={"code": code}).result
    inside, given_back = [Value(None, v.name) for v in params], Value(None, "d")
    back = Builder(Block([*inside, given_back]), cx.span)
    found = back.append_untyped(get("py.back_of"), [*inside, given_back], attrs={"code": code})
    back.block.results = found.results
    undo = back_function(primal.name, back.block, tuple(v.name for v in inside))
    closure = outer.append_untyped(get("py.closure"), params, attrs={"function": undo}).result
    outer.block.results = [outer.append_untyped(get("py.tuple"), [value, closure]).result]
    return code


def _baked(cx: Frame, builder: Builder, av: AV, param: Value) -> Value:
    """The operand, with what is written as a literal written again: it may have to be known while compiling."""
    literal = cx.literal_of(av) if isinstance(av.type, Number | Constant | Str) else None
    if isinstance(literal, bool | int | float | str):
        return builder.append_untyped(get("py.const"), (), attrs={"value": literal}).result
    if isinstance(av.type, Slice | Tuple) and av.values:
        if isinstance(av.type, Tuple) and av.type.python is not None:
            return param
        items: list[Value] = []
        for index, item in enumerate(items_of(av)):
            inner = builder.append_untyped(get("py.part"), [param], attrs={"index": index}).result
            items.append(_baked(cx, builder, item, inner))
        name = "py.slice" if isinstance(av.type, Slice) else "py.tuple"
        return builder.append_untyped(get(name), items).result
    return param


def with_shadows(cx: Frame, code: Code, count: int) -> Code:
    """An operation as a whole on arrays with shadows: of the arrays as they are when it runs.

    In a further derivative it is once more an operation on arrays with shadows.
    """
    key = ("with shadows", code)
    if key in cx.session.codes:
        return cx.session.codes[key]
    params = [Value(None, f"x{i}") for i in range(count)]
    builder = Builder(Block(params), cx.span)
    made_of_both = preset(cx, key, code.untyped, builder.block)

    def emit(name: str, operands: Sequence[Value] = (), /, **attrs: object) -> Value:
        return builder.append_untyped(get(f"py.{name}"), operands, attrs=attrs).result

    bare = [emit("primal", [v]) for v in params]
    found = emit("apply", bare, code=made_of_both)
    builder.append_untyped(get("py.fresh"), [found, *bare], results=0)
    made = emit("dressed", [found])
    captured = [*(emit("copied", [v]) for v in bare), *(emit("shadows", [v]) for v in params), emit("shadows", [made])]
    undo = _undoing(cx, code, count)
    closure = emit("closure", captured, function=undo)
    builder.block.results = [emit("tuple", [made, closure])]
    return made_of_both


def _undoing(cx: Frame, code: Code, count: int) -> Function:
    """From the sensitivity of the result, whose arrays have theirs in their shadows, to those of the operands."""
    kept, into, own, given = ([Value() for _ in range(n)] for n in (count, count, 1, 1))
    captured = [*kept, *into, *own]
    for number, value in enumerate(captured):
        value.name = f"c{number}"
    builder = Builder(Block([*captured, *given]), cx.span)

    def emit(name: str, operands: Sequence[Value], results: int = 1, /, **attrs: object) -> list[Value]:
        return builder.append_untyped(get(f"py.{name}"), operands, attrs=attrs, results=results).results

    whole = emit("sum", [*given, *own])
    parts = emit("back_of", [*kept, *whole], code=code)
    emit("cleared", own, 0)
    shares = [emit("part", parts, index=i)[0] for i in range(count)]
    for target, share in zip(into, shares, strict=True):
        emit("increased", [target, share], 0)
    builder.block.results = emit("tuple", [emit("numbers", [share])[0] for share in shares])
    return back_function(code.name, builder.block, tuple(v.name for v in captured))

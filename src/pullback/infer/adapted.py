"""Calls whose operands are not one per parameter in turn: what binding did is undone by the backpropagator.

    f(x, k=y)       (environment, da, dk, dz) of f's parameters a, k, z = default    ->    (environment with dz, dx, dy)
"""

from __future__ import annotations

from collections.abc import Sequence

from pullback.infer.engine import Code, Frame
from pullback.infer.made import back_function, function, preset
from pullback.infer.sensitivities import kind_of
from pullback.ir.build import Builder
from pullback.ir.node import Block, Function, Value
from pullback.prims.base import get
from pullback.types import Closure

__all__ = ["adapted", "places_of"]


def adapted(cx: Frame, callee: Closure, count: int, names: tuple[str, ...]) -> Code:
    """f(x, *, k=...) as a function of what f captured and the operands; its backpropagator undoes what binding did."""
    code, captured = callee.code, len(callee.captured)
    assert isinstance(code, Code)
    key = ("adapted", code, captured, count, names)
    found = cx.session.codes.get(key)
    if found is None:
        params = [*(Value(None, f"c{i}") for i in range(captured)), *(Value(None, f"x{i}") for i in range(count))]
        builder = Builder(Block(params))
        attrs: dict[str, object] = {"code": code, "of": kind_of(code)}
        inner = builder.append_untyped(get("py.derived"), params[:captured], attrs=attrs).result
        pair = builder.append_untyped(get("py.call"), [inner, *params[captured:]], attrs={"keywords": names}).result
        value, back = (builder.append_untyped(get("py.part"), [pair], attrs={"index": i}).result for i in range(2))
        undo = _unbinding(code, captured, count, names)
        closure = builder.append_untyped(get("py.closure"), [back], attrs={"function": undo}).result
        builder.block.results = [builder.append_untyped(get("py.tuple"), [value, closure]).result]
        primal = function(code.name, params, Builder(Block(params)), [])
        primal.attrs["grouped"] = (captured, kind_of(code))
        found = preset(cx, key, primal, builder.block)
    return found


def _unbinding(code: Code, captured: int, count: int, names: tuple[str, ...]) -> Function:
    """From sensitivities of (environment, parameters...) to those of (f, operands...)."""
    parameters = code.untyped.attrs["parameters"]
    assert isinstance(parameters, tuple)
    back, given = Value(None, "back"), Value(None, "d")
    builder = Builder(Block([back, given]))

    def emit(name: str, operands: Sequence[Value], results: int = 1, **attrs: object) -> list[Value]:
        return list(builder.append_untyped(get(f"py.{name}"), operands, attrs=attrs, results=results).results)

    (parts,) = emit("call", [back, given], keywords=())
    shares = [emit("part", [parts], index=i)[0] for i in range(len(parameters) + 1)]
    places = places_of(parameters, count, names)
    results = [
        shares[1 + place] if item is None else emit("part", [shares[1 + place]], index=item)[0]
        for place, item in places
    ]
    used = {place for place, _ in places}
    environment = shares[0]
    defaults = [i for i, (_, _, has_default) in enumerate(parameters) if has_default]
    if code.python is None and any(i not in used for i in defaults):
        items = emit("opened", [environment], captured, of=kind_of(code))
        for slot, parameter in zip(range(captured - len(defaults), captured), defaults, strict=True):
            if parameter not in used:
                (items[slot],) = emit("sum", [items[slot], shares[1 + parameter]])
        (environment,) = emit("environment", items, of=kind_of(code))
    builder.block.results = emit("tuple", [environment, *results])
    return back_function("unbound", builder.block, ("back",))


def places_of(
    parameters: Sequence[tuple[str, str, bool]], count: int, names: tuple[str, ...]
) -> list[tuple[int, int | None]]:
    """Where binding puts each operand: the number of the parameter, and of the item in one that collects."""
    by_position = [i for i, (_, kind, _) in enumerate(parameters) if kind in ("positional_only", "positional")]
    by_name = {name: i for i, (name, kind, _) in enumerate(parameters) if kind in ("positional", "keyword_only")}
    collects = {kind: i for i, (_, kind, _) in enumerate(parameters)}
    places: list[tuple[int, int | None]] = []
    for position in range(count - len(names)):
        if position < len(by_position):
            places.append((by_position[position], None))
        else:
            places.append((collects["var_positional"], position - len(by_position)))
    more = 0
    for name in names:
        if name in by_name:
            places.append((by_name[name], None))
        else:
            places.append((collects["var_keyword"], more))
            more += 1
    return places

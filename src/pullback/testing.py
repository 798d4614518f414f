"""Hooks of the test suite: run a function on the reference interpreter or natively, with all passes or with none.

    run(f, (2.0,), engine="interp", passes=False)                   the value
    gradient(f, (2.0,), (0,), mode="fr", direction=[1.0], ...)      Hessian times direction, one entry per argnum

Users call none of this: the interpreter cannot be reached from the api.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pullback import api, interp, pipeline
from pullback.diagnostic import InternalError
from pullback.prims.scalar import NUMPY_DTYPES
from pullback.types import (
    Array,
    Constant,
    Dict,
    List,
    NoneType,
    Number,
    Str,
    Tuple,
    Type,
    Union,
    slot_positions,
    slots,
)  # fmt: skip

__all__ = ["compilations", "flatten", "gradient", "run", "unflatten"]


def compilations() -> int:
    """How many specializations this process has compiled."""
    return api.compilations()


def flatten(type_: Type, value: Any) -> list[Any]:
    """The machine values of a Python object of that abstract type."""
    match type_:
        case Number(dtype, _):
            return [NUMPY_DTYPES[dtype](value)]
        case Array():
            return [value]
        case Tuple(items) | List(items):
            return [m for t, v in zip(items, value, strict=True) for m in flatten(t, v)]
        case Dict(keys, items):
            return [m for k, t in zip(keys, items, strict=True) for m in flatten(t, value[k])]
        case _:
            return []


def unflatten(type_: Type, values: Sequence[Any]) -> Any:
    """The Python object that machine values stand for."""
    match type_:
        case Number(dtype, weak):
            return values[0].item() if weak else NUMPY_DTYPES[dtype](values[0])
        case Constant(value) | Str(value):
            return value
        case NoneType():
            return None
        case Array():
            return values[0]
        case Tuple(items) | List(items) | Dict(_, items):
            return _structure(type_, items, values)
        case Union(members):
            member = members[int(values[0])]
            return unflatten(member, [values[i] for i in slot_positions(type_, member)])
    raise InternalError(f"no Python object for {type_}")


def _structure(type_: Tuple | List | Dict, items: Sequence[Type], values: Sequence[Any]) -> Any:
    found: list[Any] = []
    position = 0
    for item in items:
        width = len(slots(item))
        found.append(unflatten(item, values[position : position + width]))
        position += width
    if isinstance(type_, Dict):
        return dict(zip(type_.keys, found, strict=True))
    return tuple(found) if isinstance(type_, Tuple) else found


def call(kind: str, function: Any, arguments: Sequence[Any], *, engine: str, passes: bool) -> Any:
    """The result of a request on the chosen engine."""
    options = pipeline.Options(passes=passes, verify=True)
    names = tuple(f"x{i}" for i in range(len(arguments)))
    request = pipeline.Request(kind, function, tuple(arguments), names)
    if engine == "native":
        return api.call_once(request, options)
    lowered = pipeline.lower(request, options)
    boundary = lowered.entry.boundary
    machine = [m for t, v in zip(boundary.params, arguments, strict=True) for m in flatten(t, v)]
    for hidden in boundary.hidden:
        from pullback.runtime.boundary import read

        machine += flatten(hidden.type, read(hidden.kind, hidden.container, hidden.key))
    with np.errstate(all="ignore"):
        return unflatten(boundary.result, interp.run(lowered.program, machine))


def run(function: Any, arguments: Sequence[Any], *, engine: str, passes: bool) -> Any:
    """The value."""
    return call("call", function, arguments, engine=engine, passes=passes)


def _fill(model: Any, numbers: list[float]) -> Any:
    if isinstance(model, dict):
        return {key: _fill(item, numbers) for key, item in model.items()}
    if isinstance(model, tuple | list):
        return type(model)(_fill(item, numbers) for item in model)
    if isinstance(model, np.ndarray):
        if model.dtype.kind != "f":
            return np.zeros_like(model)
        return np.array([numbers.pop(0) for _ in range(model.size)], model.dtype).reshape(model.shape)
    if isinstance(model, float | np.floating):
        return type(model)(numbers.pop(0))
    return type(model)(0) if isinstance(model, int | np.generic) else model


def _copied(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _copied(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return type(value)(_copied(item) for item in value)
    return value.copy() if isinstance(value, np.ndarray) else value


def _count(model: Any) -> int:
    if isinstance(model, dict):
        return sum(map(_count, model.values()))
    if isinstance(model, tuple | list):
        return sum(map(_count, model))
    if isinstance(model, np.ndarray):
        return model.size if model.dtype.kind == "f" else 0
    return int(isinstance(model, float | np.floating))


def _leaves(value: Any, model: Any) -> list[float]:
    if isinstance(model, dict):
        return [leaf for key in model for leaf in _leaves(value[key], model[key])]
    if isinstance(model, tuple | list):
        return [leaf for v, m in zip(value, model, strict=True) for leaf in _leaves(v, m)]
    if isinstance(model, np.ndarray):
        return [float(v) for v in np.ravel(value)] if model.dtype.kind == "f" else []
    return [float(value)] if isinstance(model, float | np.floating) else []


def _tangents(arguments: Sequence[Any], argnums: Sequence[int], direction: Sequence[float]) -> list[Any]:
    numbers = list(direction)
    chosen = {position: _fill(arguments[position], numbers) for position in argnums}
    return [chosen.get(i, _fill(a, [0.0] * _count(a))) for i, a in enumerate(arguments)]


def gradient(
    function: Any, arguments: Sequence[Any], argnums: tuple[int, ...], *, mode: str, direction: Sequence[float] = (),
    cotangent: Any = None, engine: str, passes: bool,
) -> list[Any]:  # fmt: skip
    """Per argnum, the gradient ("r", "f") or the Hessian times `direction` ("rr", "fr", "rf", "ff", outer first)."""
    run_call = _Runner(engine, passes)
    return _MODES[mode](run_call, function, tuple(arguments), argnums, list(direction), cotangent)


class _Runner:
    def __init__(self, engine: str, passes: bool) -> None:
        self.engine, self.passes = engine, passes

    def __call__(self, kind: str, function: Any, arguments: Sequence[Any]) -> Any:
        return call(kind, function, arguments, engine=self.engine, passes=self.passes)


def _reverse(run_call: _Runner, f: Any, args: Any, argnums: Any, direction: Any, cotangent: Any) -> list[Any]:
    if cotangent is None:
        return list(run_call("call", api.grad(f, argnums), args))
    gradients = run_call("pullback", f, (*args, cotangent))
    return [gradients[position] for position in argnums]


def _forward(run_call: _Runner, f: Any, args: Any, argnums: Any, direction: Any, cotangent: Any) -> list[Any]:
    count = sum(_count(args[p]) for p in argnums)
    numbers: list[float] = []
    for row in np.eye(count).tolist():
        # A fresh copy each time: the function may write into its arguments.
        out, tangent = run_call("jvp", f, (*_copied(args), *_tangents(args, argnums, row)))
        moved = _leaves(tangent, out)
        weights = [1.0] * len(moved) if cotangent is None else _leaves(cotangent, out)
        numbers.append(sum(w * m for w, m in zip(weights, moved, strict=True)))
    return [_fill(args[p], numbers) for p in argnums]


def _forward_reverse(run_call: _Runner, f: Any, args: Any, argnums: Any, direction: Any, cotangent: Any) -> list[Any]:
    _, tangent = run_call("jvp", api.grad(f, argnums), (*args, *_tangents(args, argnums, direction)))
    return list(tangent)


def _reverse_reverse(run_call: _Runner, f: Any, args: Any, argnums: Any, direction: Any, cotangent: Any) -> list[Any]:
    moved = _tangents(args, argnums, direction)
    gradients = run_call("pullback", api.grad(f, argnums), (*args, tuple(moved[p] for p in argnums)))
    return [gradients[p] for p in argnums]


def _along(function: Any, args: Any, moved: Sequence[Any]) -> Any:
    """x -> directional derivative of the function along `moved`, as a plain function of as many parameters."""
    names = ", ".join(f"x{i}" for i in range(len(args)))
    tangents = ", ".join(f"t{i}" for i in range(len(args)))
    source = f"def make(jvp, function, {tangents}):\n    def along({names}):\n"
    source += f"        return jvp(function, ({names},), ({tangents},))[1]\n    return along\n"
    return api.from_source(source, "make")(api.jvp, function, *moved)


def _reverse_forward(run_call: _Runner, f: Any, args: Any, argnums: Any, direction: Any, cotangent: Any) -> list[Any]:
    along = _along(f, args, _tangents(args, argnums, direction))
    return list(run_call("call", api.grad(along, argnums), args))


def _forward_forward(run_call: _Runner, f: Any, args: Any, argnums: Any, direction: Any, cotangent: Any) -> list[Any]:
    along = _along(f, args, _tangents(args, argnums, direction))
    return _forward(run_call, along, args, argnums, direction, None)


_MODES = {
    "r": _reverse, "f": _forward, "fr": _forward_reverse, "rr": _reverse_reverse, "rf": _reverse_forward,
    "ff": _forward_forward,
}  # fmt: skip

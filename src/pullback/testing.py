"""Hooks of the test suite: run a function on the reference interpreter or natively, with all passes or with none.

    run(f, (2.0,), engine="interp", passes=False)                   the value
    gradient(f, (2.0,), (0,), mode="fr", direction=[1.0], ...)      Hessian times direction, one entry per argnum

Users call none of this: the interpreter cannot be reached from the api.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pullback import api, interp, pipeline
from pullback.diagnostic import InternalError
from pullback.prims.scalar import NUMPY_DTYPES
from pullback.runtime.objects import attributes, is_user_object
from pullback.runtime.structured import RecordMaker
from pullback.runtime.texts import Texts
from pullback.types import (
    Array,
    Class,
    Complex,
    Constant,
    Dict,
    DType,
    Fixed,
    List,
    Member,
    NoneType,
    Number,
    PackedComplex,
    Record,
    Str,
    Text,
    Tuple,
    Type,
    Union,
    slot_positions,
    slots,
)  # fmt: skip

__all__ = ["call", "compilations", "flatten", "gradient", "interpreted", "run", "unflatten"]


def compilations() -> int:
    """How many specializations this process has compiled."""
    return api.compilations()


def flatten(type_: Type, value: Any) -> list[Any]:
    """The machine values of a Python object of that abstract type."""
    match type_:
        case Number(dtype, _):
            return [NUMPY_DTYPES[dtype](value)]
        case Fixed(_, of):
            return flatten(of, value)
        case Array():
            return [value]
        case Complex(real, imag):
            return [*flatten(real, value.real), *flatten(imag, value.imag)]
        case Record(names, items):
            return [m for name, t in zip(names, items, strict=True) for m in flatten(t, value[name])]
        case Tuple(items) | List(items):
            return [m for t, v in zip(items, value, strict=True) for m in flatten(t, v)]
        case Dict(keys, items):
            return [m for k, t in zip(keys, items, strict=True) for m in flatten(t, value[k])]
        case _:
            return []


def _joined(pairs: Any) -> Any:
    """Complex numbers of pairs, infinities too."""
    made = np.empty_like(pairs[..., 0], np.complex64 if pairs.dtype == np.float32 else np.complex128)
    made.real, made.imag = pairs[..., 0], pairs[..., 1]
    return made


def unflatten(type_: Type, values: Sequence[Any], texts: Texts) -> Any:
    """The Python object that machine values stand for."""
    match type_:
        case Number(dtype, weak):
            return values[0].item() if weak else NUMPY_DTYPES[dtype](values[0])
        case Constant(value) | Str(value) | Member(value) | Class(value):
            return value
        case Complex(Number(dtype, weak), _):
            number = complex(values[0], values[1])
            return number if weak else np.complex64(number) if dtype is DType.F32 else np.complex128(number)
        case PackedComplex(_, real) if real is not None and values[1]:
            part = values[2]
            pairs = np.lib.stride_tricks.as_strided(part, (*part.shape, 2), (*part.strides, part.itemsize))
            return _joined(pairs)
        case PackedComplex():
            return _joined(values[0])
        case Text():
            return texts.at(int(values[0]))
        case NoneType():
            return None
        case Array():
            return values[0]
        case Record():
            return RecordMaker(type_.layout, type_.rank, type_.single)((None, *values))
        case Tuple(items) | List(items) | Dict(_, items):
            return _structure(type_, items, values, texts)
        case Union(members):
            member = members[int(values[0])]
            return unflatten(member, [values[i] for i in slot_positions(type_, member)], texts)
    raise InternalError(f"no Python object for {type_}")


def _structure(
    type_: Tuple | List | Dict, items: Sequence[Type], values: Sequence[Any], texts: Texts
) -> Any:
    found: list[Any] = []
    position = 0
    for item in items:
        width = len(slots(item))
        found.append(unflatten(item, values[position : position + width], texts))
        position += width
    if isinstance(type_, Dict):
        return dict(zip(type_.keys, found, strict=True))
    if isinstance(type_, List):
        return found
    return tuple(found) if type_.python is None else tuple.__new__(type_.python, found)


def call(
    kind: str, function: Any, arguments: Sequence[Any], *, engine: str, passes: bool, formulation: str = "ssa"
) -> Any:
    """The result of a request on the chosen engine."""
    options = pipeline.Options(passes=passes, verify=True, formulation=formulation)
    names = tuple(f"x{i}" for i in range(len(arguments)))
    request = pipeline.Request(kind, function, tuple(arguments), names)
    if engine == "native":
        return api.call_once(request, options)
    return interpreted(pipeline.lower(request, options), arguments)


def interpreted(lowered: pipeline.Lowered, arguments: Sequence[Any]) -> Any:
    """The result of lowered code for arguments of the types it was lowered for, by the interpreter."""
    boundary = lowered.entry.boundary
    machine = [m for t, v in zip(boundary.params, arguments, strict=True) for m in flatten(t, v)]
    for hidden in boundary.hidden:
        from pullback.runtime.boundary import read

        machine += flatten(hidden.type, read(hidden.kind, hidden.container, hidden.key))
    with np.errstate(all="ignore"):
        texts = Texts()
        return unflatten(boundary.result, interp.run(lowered.program, machine, texts), texts)


def run(function: Any, arguments: Sequence[Any], *, engine: str, passes: bool) -> Any:
    """The value."""
    return call("call", function, arguments, engine=engine, passes=passes)


def _parts(value: Any) -> list[tuple[Any, Any]] | None:
    """Keys and parts of a structure or object; None for a leaf."""
    if isinstance(value, dict):
        return list(value.items())
    if isinstance(value, tuple | list):
        return list(enumerate(value))
    return list(attributes(value)) if is_user_object(value) else None


def _mapped(leaf: Callable[[Any], Any], value: Any, known: dict[int, Any] | None = None) -> Any:
    """The structure with a function applied to its leaves; an object met twice stays one object."""
    known = {} if known is None else known
    if id(value) in known:
        return known[id(value)][1]
    parts = _parts(value)
    if parts is None:
        return leaf(value)
    if isinstance(value, tuple):
        return tuple.__new__(type(value), [_mapped(leaf, item, known) for _, item in parts])
    made = object.__new__(type(value)) if is_user_object(value) else type(value)()
    known[id(value)] = value, made
    for key, item in parts:
        moved = _mapped(leaf, item, known)
        if isinstance(made, list):
            made.append(moved)
        elif isinstance(made, dict):
            made[key] = moved
        else:
            object.__setattr__(made, key, moved)
    return made


def _flat(value: Any) -> list[Any]:
    """The leaves in order, those of an object met twice once."""
    found: list[Any] = []
    _mapped(found.append, value)
    return found


def _fill(model: Any, numbers: list[float], known: dict[int, Any] | None = None) -> Any:
    def leaf(value: Any) -> Any:
        if isinstance(value, np.ndarray):
            if value.dtype.kind != "f":
                return np.zeros_like(value)
            return np.array([numbers.pop(0) for _ in range(value.size)], value.dtype).reshape(value.shape)
        if isinstance(value, float | np.floating):
            return type(value)(numbers.pop(0))
        return type(value)(0) if type(value) in (int, bool) or isinstance(value, np.generic) else value

    return _mapped(leaf, model, known)


def _copied(value: Any) -> Any:
    return _mapped(lambda leaf: leaf.copy() if isinstance(leaf, np.ndarray) else leaf, value)


def _is_float(leaf: Any) -> bool:
    return leaf.dtype.kind == "f" if isinstance(leaf, np.ndarray) else isinstance(leaf, float | np.floating)


def _count(model: Any) -> int:
    return sum(np.size(leaf) for leaf in _flat(model) if _is_float(leaf))


def _leaves(value: Any, model: Any) -> list[float]:
    pairs = zip(_flat(value), _flat(model), strict=True)
    return [float(number) for leaf, like in pairs if _is_float(like) for number in np.ravel(leaf)]


def _tangents(arguments: Sequence[Any], argnums: Sequence[int], direction: Sequence[float]) -> list[Any]:
    numbers = list(direction)
    known: dict[int, Any] = {}  # arguments may share objects: so do their tangents
    chosen = {position: _fill(arguments[position], numbers, known) for position in argnums}
    return [chosen[i] if i in chosen else _fill(a, [0.0] * _count(a), known) for i, a in enumerate(arguments)]


def gradient(
    function: Any, arguments: Sequence[Any], argnums: tuple[int, ...], *, mode: str, direction: Sequence[float] = (),
    cotangent: Any = None, engine: str, passes: bool, formulation: str = "ssa",
) -> list[Any]:  # fmt: skip
    """Per argnum, the gradient ("r", "f") or the Hessian times `direction` ("rr", "fr", "rf", "ff", outer first)."""
    run_call = _Runner(engine, passes, formulation)
    return _MODES[mode](run_call, function, tuple(arguments), argnums, list(direction), cotangent)


class _Runner:
    def __init__(self, engine: str, passes: bool, formulation: str) -> None:
        self.engine, self.passes, self.formulation = engine, passes, formulation

    def __call__(self, kind: str, function: Any, arguments: Sequence[Any]) -> Any:
        return call(
            kind, function, arguments, engine=self.engine, passes=self.passes, formulation=self.formulation
        )


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

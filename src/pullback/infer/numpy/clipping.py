"""np.clip and the method `clip`: bounds of which either may be None, and an array for the result.

    np.clip(x, 0.0, None)          x where x > 0.0 or x is nan, else 0.0

At a bound the derivative is the bound's, unlike that of a maximum, where both have a share.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from pullback.infer.arguments import arguments_of
from pullback.infer.calls import INTERCEPT, call_builtin
from pullback.infer.complex_extrema import within
from pullback.infer.complex_functions import holds_complex
from pullback.infer.creation import array_or_number, dtype_of
from pullback.infer.dispatch import dispatch
from pullback.infer.engine import Frame
from pullback.infer.lists import is_array_like
from pullback.infer.numbers import convert
from pullback.infer.numpy.axes import is_none
from pullback.infer.numpy.numpy_functions import common, map_numbers
from pullback.infer.numpy.outputs import stored_whole
from pullback.infer.numpy.ufuncs import in_dtype, outs_of, stored_in
from pullback.infer.registry import HANDLERS
from pullback.infer.values import AV
from pullback.ir.node import Value
from pullback.prims.scalar import NUMPY_DTYPES
from pullback.types import Array, DType, Number, show

__all__: list[str] = []

_NAMES = ("a", "a_min", "a_max", "out", "where", "casting", "dtype")
_SHORT = {"min": "a_min", "max": "a_max"}
_UFUNC = np._core.umath.clip  # type: ignore[attr-defined]  # whose casting NumPy checks


def _clip(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    renamed = {_SHORT.get(key, key): av for key, av in keywords.items()}
    found = arguments_of(cx, "numpy.clip", _NAMES, given, renamed)
    if "a" not in found:
        raise cx.type_error("np.clip takes an array and two bounds")
    bounds = [name for name in ("a_min", "a_max") if not is_none(found, name)]
    inputs = [found["a"], *(found[name] for name in bounds)]
    options = {name: found[name] for name in ("where", "casting") if not is_none(found, name)}
    outs = outs_of(found.get("out"))
    if not is_none(found, "dtype"):
        inputs = [_as_dtype(cx, av, dtype_of(cx, found["dtype"])) for av in inputs]
    if any(holds_complex(av.type) for av in inputs):
        return _complex_clipped(cx, found, bounds, options)
    if not outs and not options:
        return _clipped(cx, inputs, bounds)

    def rule(cx: Frame, operands: Sequence[AV]) -> AV:
        return stored_in(cx, _UFUNC, _clipped(cx, operands, bounds), operands, outs, options)

    return dispatch(cx, inputs, rule)


def _complex_clipped(cx: Frame, found: Mapping[str, AV], bounds: Sequence[str], options: Mapping[str, AV]) -> AV:
    if options or not is_none(found, "dtype"):
        raise cx.error("np.clip of complex numbers takes bounds and out=", ", ".join(options) or "dtype=",
                       "clip, then choose or convert")  # fmt: skip

    def rule(cx: Frame, operands: Sequence[AV]) -> AV:
        given = dict(zip(("a", *bounds), map(_operand(cx), operands), strict=True))
        if not any(holds_complex(av.type) for av in operands):  # one of several types
            return call_builtin(cx, "numpy.clip", [], {**found, **given})
        made = within(cx, given["a"], given.get("a_min"), given.get("a_max"))
        return made if is_none(found, "out") else stored_whole(cx, "clip", found["out"], made)

    return dispatch(cx, [found["a"], *(found[name] for name in bounds)], rule)


def _operand(cx: Frame) -> Callable[[AV], AV]:
    """Sequences as arrays."""
    return lambda av: call_builtin(cx, "numpy.asarray", [av], {}) if is_array_like(av.type) else av


def _as_dtype(cx: Frame, av: AV, dtype: DType) -> AV:
    """An array or a bound in the dtype that is asked for."""
    wanted = np.dtype(NUMPY_DTYPES[dtype])
    av = array_or_number(cx, av)
    assert isinstance(av.type, Array | Number)
    own = np.dtype(NUMPY_DTYPES[av.type.dtype])
    if not np.can_cast(own, wanted, casting="same_kind"):
        title = f"Cannot cast ufunc 'clip' input from {own!r} to {wanted!r} with casting rule 'same_kind'"
        raise cx.error(title, show(av.type), raised=("TypeError", title))
    return in_dtype(cx, av, wanted)


def _clipped(cx: Frame, inputs: Sequence[AV], bounds: Sequence[str]) -> AV:
    def rule(cx: Frame, operands: Sequence[AV]) -> AV:
        kind = common(cx, operands)
        x, *limits = (convert(cx, av, kind.dtype) for av in operands)
        for name, limit in zip(bounds, limits, strict=True):
            x = _bounded(cx, name == "a_min", kind.dtype.is_float, x, limit)
        return AV(kind, (x,))

    return map_numbers(cx, inputs, rule)


def _bounded(cx: Frame, below: bool, floats: bool, x: Value, bound: Value) -> Value:
    """x where it is inside the bound or nan, else the bound, which then has the derivative: at the bound x gets 0."""
    if not floats:
        return cx.e("maximum" if below else "minimum", x, bound)
    inside = cx.e("gt" if below else "lt", x, bound)
    return cx.e("select", cx.e("or_", inside, cx.e("isnan", x)), x, bound)


def _intercept(cx: Frame, name: str, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV | None:
    """np.clip of complex numbers; None for all other calls."""
    if name != "numpy.clip" or not any(holds_complex(av.type) for av in (*given, *keywords.values())):
        return None
    return _clip(cx, given, keywords)


INTERCEPT.insert(0, _intercept)
HANDLERS["numpy.clip"] = _clip

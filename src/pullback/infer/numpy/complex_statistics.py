"""Medians, averages, differences and interpolation of complex numbers.

    np.median(z)               of each line, sorted, the middle or the mean of the two in the middle
    np.average(z, weights=w)   sum(z * w) / sum(w), where the weights may be complex too
    np.gradient(z), np.interp(x, xp, z), np.ediff1d(z), np.histogram(x, weights=z)      of both parts: all are linear
    np.trapezoid(z, x=w)       bilinear
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pullback.infer.arithmetic import binary
from pullback.infer.binding import pack_tuple
from pullback.infer.calls import INTERCEPT, call, call_builtin
from pullback.infer.complex_functions import holds_complex, of_parts, stored_parts
from pullback.infer.complexes import complex_of, halves
from pullback.infer.creation import empty
from pullback.infer.dispatch import dispatch
from pullback.infer.elementwise import array_sizes
from pullback.infer.engine import Frame
from pullback.infer.lattice import WEAK_INT
from pullback.infer.numbers import as_number
from pullback.infer.numpy.axes import expanded, is_none, rank_of
from pullback.infer.numpy.complex_calls import Found, Row, Rule, as_complex_array, take_complex
from pullback.infer.numpy.contract import elementwise_of_parts, product_of_parts
from pullback.infer.numpy.quantiles import asked, in_shape, line_rows
from pullback.infer.numpy.reductions import flag, reduction_axes
from pullback.infer.numpy.statistics import weights_like
from pullback.infer.registry import prelude
from pullback.infer.values import AV, items_of
from pullback.types import Array, Complex, Constant, DType, Union, show

__all__: list[str] = []


def _call(cx: Frame, name: str, *given: AV, **keywords: AV) -> AV:
    return call_builtin(cx, f"numpy.{name}", given, keywords)


def _dtype(av: AV) -> DType:
    assert isinstance(av.type, Array)
    return av.type.dtype


# ---------------------------------------------------------------------------------------------------------- medians


def _median(*, skip_nan: bool) -> Rule:
    def rule(cx: Frame, found: Found) -> AV:
        value = as_complex_array(cx, found["a"])
        alone = rank_of(halves(value)[0]) == 0
        given = [asked(cx, part, found) for part in halves(value)]
        (first, axes, keep), tables = given[0], [line_rows(cx, part, axes) for part, axes, _ in given]
        lines = [empty(cx, array_sizes(cx, table), _dtype(table)) for table in tables]
        columns = [expanded(cx, table, 2) for table in (*tables, *lines)]
        call(cx, prelude(cx, "pullback.complex_sort_columns"), columns, {})
        outs = [empty(cx, array_sizes(cx, table)[:1], _dtype(table)) for table in tables]
        skip = AV(Constant(skip_nan), (), skip_nan)
        call(cx, prelude(cx, "pullback.complex_median_rows"), [*lines, *outs, skip], {})
        return complex_of(*(in_shape(cx, out, (), first, axes, keep and not alone) for out in outs))

    return rule


# --------------------------------------------------------------------------------------------------------- averages


def _average(cx: Frame, found: Found) -> AV:
    value = call_builtin(cx, "numpy.asarray", [found["a"]], {})
    shape = halves(value)[0] if isinstance(value.type, Complex) else value
    axes = reduction_axes(cx, found.get("axis"), rank_of(shape))
    options = {name: found[name] for name in ("axis", "keepdims") if name in found}
    if is_none(found, "weights"):
        mean = _call(cx, "mean", value, **options)
        return pack_tuple([mean, _counted(cx, shape, mean, axes)]) if flag(cx, found, "returned") else mean
    given = not is_none(found, "axis")
    weights = call_builtin(cx, "numpy.asarray", [found["weights"]], {})
    weights = elementwise_of_parts(cx, weights, lambda cx, part: weights_like(cx, shape, part, axes, given=given))
    scale = _call(cx, "sum", weights, **options)
    none = _call(cx, "any", _call(cx, "equal", scale, _int(cx)))
    words = "Weights sum to zero, can't be normalized"
    cx.check(cx.e("not_", as_number(cx, none).value), "ZeroDivisionError", words)
    mean = binary(cx, "/", _call(cx, "sum", _call(cx, "multiply", value, weights), **options), scale)
    if not flag(cx, found, "returned") or cx.dead:
        return mean
    return pack_tuple([mean, binary(cx, "+", _zeros(cx, mean), scale)])


def _zeros(cx: Frame, mean: AV) -> AV:
    return _call(cx, "zeros_like", mean) if isinstance(halves(mean)[0].type, Array) else binary(cx, "*", mean, _int(cx))


def _int(cx: Frame, number: int = 0) -> AV:
    return AV(WEAK_INT, (cx.e.integer(number),), number)


def _counted(cx: Frame, value: AV, mean: AV, axes: Sequence[int]) -> AV:
    """How many elements each mean is of, like the means."""
    count = cx.e.integer(1)
    for axis in axes:
        count = cx.e("mul", count, cx.e("array_size", value.value, axis=axis))
    return binary(cx, "+", _zeros(cx, mean), AV(WEAK_INT, (count,)))


# ------------------------------------------------------------------------------------------------ what is linear


def _ediff1d(cx: Frame, found: Found) -> AV:
    if not holds_complex(found["ary"].type):
        name = next(name for name in ("to_begin", "to_end") if name in found and holds_complex(found[name].type))
        title = f"dtype of `{name}` must be compatible with input `ary` under the `same_kind` rule."
        raise cx.type_error(title, show(found[name].type))
    ends = {name: stored_parts(cx, found[name]) for name in ("to_begin", "to_end") if not is_none(found, name)}
    parts = halves(as_complex_array(cx, found["ary"]))
    return complex_of(*(_call(cx, "ediff1d", part, **{name: pair[k] for name, pair in ends.items()})
                        for k, part in enumerate(parts)))  # fmt: skip


def _interp(cx: Frame, found: Found) -> AV:
    ends = {name: stored_parts(cx, found[name]) for name in ("left", "right") if not is_none(found, name)}
    rest = {name: found[name] for name in ("period",) if name in found}
    parts = halves(as_complex_array(cx, found["fp"]))
    results = [_call(cx, "interp", found["x"], found["xp"], part, **rest,
                     **{name: pair[k] for name, pair in ends.items()}) for k, part in enumerate(parts)]  # fmt: skip
    return complex_of(*results)


def _trapezoid(cx: Frame, found: Found) -> AV:
    rest = {name: found[name] for name in ("axis",) if name in found}
    width = "dx" if is_none(found, "x") else "x"
    if width not in found:
        return elementwise_of_parts(cx, as_complex_array(cx, found["y"]),
                                    lambda cx, part: _call(cx, "trapezoid", part, **rest))  # fmt: skip
    pair = [call_builtin(cx, "numpy.asarray", [found["y"]], {}), found[width]]
    if width == "x":
        pair[1] = call_builtin(cx, "numpy.asarray", [pair[1]], {})
    return product_of_parts(cx, pair[0], pair[1],
                            lambda cx, y, x: _call(cx, "trapezoid", y, **{width: x}, **rest))  # fmt: skip


def _histogram(cx: Frame, found: Found) -> AV:
    """The edges do not depend on the weights."""
    rest = {name: av for name, av in found.items() if name != "weights"}
    parts = halves(as_complex_array(cx, found["weights"]))
    real, imag = (items_of(_call(cx, "histogram", **rest, weights=part)) for part in parts)
    return pack_tuple([complex_of(real[0], imag[0]), real[1]])


def _gradient(cx: Frame, name: str, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV | None:
    """np.gradient of complex values; None for real ones."""
    if name != "numpy.gradient" or not given or not holds_complex(given[0].type):
        return None
    if any(holds_complex(av.type) for av in given[1:]):
        raise cx.error("np.gradient takes real distances", "these are complex", "divide by them")
    if isinstance(given[0].type, Union):
        return dispatch(cx, given[:1], lambda cx, one: call_builtin(cx, name, [*one, *given[1:]], keywords))
    parts = halves(as_complex_array(cx, given[0]))
    return of_parts(*(call_builtin(cx, name, [part, *given[1:]], keywords) for part in parts))


_MEDIAN = ("a", "axis", "out", "overwrite_input", "keepdims")
_HISTOGRAM = ("a", "bins", "range", "density", "weights")
_ROWS: dict[str, Row] = {
    "median": (_MEDIAN, "a", _median(skip_nan=False)), "nanmedian": (_MEDIAN, "a", _median(skip_nan=True)),
    "average": (("a", "axis", "weights", "returned", "keepdims"), ("a", "weights"), _average),
    "ediff1d": (("ary", "to_end", "to_begin"), ("ary", "to_end", "to_begin"), _ediff1d),
    "interp": (("x", "xp", "fp", "left", "right", "period"), ("fp",), _interp),
    "trapezoid": (("y", "x", "dx", "axis"), ("y", "x", "dx"), _trapezoid),
    "trapz": (("y", "x", "dx", "axis"), ("y", "x", "dx"), _trapezoid),
    "histogram": (_HISTOGRAM, ("weights",), _histogram),
}  # fmt: skip
take_complex(_ROWS)
INTERCEPT.insert(0, _gradient)

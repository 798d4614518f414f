"""Medians, quantiles and percentiles: lines are sorted, as far as it matters; the prelude reads between two places.

    np.quantile(a, q, axis=1)    out[k, i]: between s[j] and s[j + 1], s the sorted row i and j about q[k] * (n - 1)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from pullback.infer.calls import call
from pullback.infer.creation import array_like, empty
from pullback.infer.elementwise import array_sizes, ordered_as, require_equal
from pullback.infer.engine import Frame
from pullback.infer.lattice import WEAK_INT
from pullback.infer.numbers import convert, promote
from pullback.infer.numpy.along import kept_sizes, table
from pullback.infer.numpy.axes import axes_of, expanded, is_none, moved, rank_of, spread
from pullback.infer.numpy.reductions import flag, of_arrays, reduction_axes
from pullback.infer.numpy.shapes import reshaped
from pullback.infer.numpy.sorting import sorted_lines
from pullback.infer.numpy.sums import cast_to, each
from pullback.infer.registry import HANDLERS, prelude
from pullback.infer.values import AV
from pullback.ir.node import Value
from pullback.types import Array, Constant, DType, Number, Scalar, Str, show

__all__ = ["asked", "in_shape", "line_rows"]

TAKEN = ("inverted_cdf", "closest_observation", "lower", "higher", "nearest")  # elements as they are
BETWEEN = (
    "averaged_inverted_cdf", "interpolated_inverted_cdf", "hazen", "weibull", "linear", "median_unbiased",
    "normal_unbiased", "midpoint",
)  # fmt: skip
Rule = Callable[[Frame, AV, Mapping[str, AV]], AV]


def line_rows(cx: Frame, value: AV, axes: Sequence[int]) -> AV:
    """A table whose rows are the lines along axes."""
    assert isinstance(value.type, Array)
    rank = value.type.rank
    others = [axis for axis in range(rank) if axis not in axes]
    value = moved(cx, value, [*others, *axes])
    rows = table(cx, value, range(len(others), rank))
    return expanded(cx, rows, 0) if rank_of(rows) == 1 else rows


def _sorted_rows(cx: Frame, value: AV, axes: Sequence[int], q: AV) -> AV:
    """The same, sorted; for one quantile only about its place."""
    if isinstance(q.type, Number):
        return sorted_lines(cx, line_rows(cx, value, axes), 1, near=AV(Number(q.type.dtype, weak=False), q.values))
    return sorted_lines(cx, line_rows(cx, value, axes), 1)


def _weights(cx: Frame, weights: AV, value: AV, axes: Sequence[int] | None) -> AV:
    """The weights as float64 in the shape of the array; those of one line, along the axes named, serve all lines."""
    weights = cast_to(cx, array_like(cx, weights), DType.F64)
    sizes = array_sizes(cx, value)
    words = "Shape of weights must be consistent with shape of a along specified axis."
    if rank_of(weights) == rank_of(value):
        for m, n in zip(array_sizes(cx, weights), sizes, strict=True):
            require_equal(cx, m, n, words)
        return weights
    if axes is None:
        words = "Axis must be specified when shapes of a and weights differ."
        raise cx.error(words, show(weights.type), raised=("TypeError", words))
    if rank_of(weights) != len(axes):
        raise cx.error(words, show(weights.type), raised=("ValueError", words))
    for m, axis in zip(array_sizes(cx, weights), axes, strict=True):
        require_equal(cx, m, sizes[axis], words)
    weights = moved(cx, weights, sorted(range(len(axes)), key=lambda k: axes[k]))
    for axis in range(rank_of(value)):
        weights = weights if axis in axes else expanded(cx, weights, axis)
    return spread(cx, weights, sizes)


def asked(cx: Frame, value: AV, found: Mapping[str, AV]) -> tuple[AV, tuple[int, ...], bool]:
    """The array, the axes, and whether they stay."""
    if not is_none(found, "out"):
        raise cx.error("quantiles with out= are not supported", "", "assign: out[:] = np.quantile(...)")
    axes = reduction_axes(cx, found.get("axis"), rank_of(value) if isinstance(value.type, Array) else 0)
    value = array_like(cx, value)
    if rank_of(value) == 0:
        value, axes = expanded(cx, value, 0), (0,)
    return value, axes, flag(cx, found, "keepdims")


def in_shape(cx: Frame, out: AV, front: Sequence[Value], value: AV, axes: Sequence[int], keep: bool) -> AV:
    """What was found, in the shape of the quantiles and of what the reduction leaves; a number if that is none."""
    rest = kept_sizes(cx, value, axes, keep=keep)
    sizes = [*(AV(WEAK_INT, (size,)) for size in front), *rest]
    assert isinstance(out.type, Array)
    if not sizes:
        return AV(Number(out.type.dtype, False), (cx.e("array_get", out.value, *[cx.e.integer(0)] * out.type.rank),))
    return ordered_as(reshaped(cx, out, sizes), [value])


def _floats(cx: Frame, value: AV) -> AV:
    assert isinstance(value.type, Array)
    return cast_to(cx, value, value.type.dtype if value.type.dtype.is_float else DType.F64)


def _median(*, skip_nan: bool) -> Rule:
    def rule(cx: Frame, value: AV, found: Mapping[str, AV]) -> AV:
        alone = isinstance(value.type, Number)
        value, axes, keep = asked(cx, value, found)
        half = AV(Number(DType.F64, False), (cx.e.constant(0.5, Scalar(DType.F64)),))
        rows = _sorted_rows(cx, _floats(cx, value), axes, half)
        if cx.dead:
            return rows
        assert isinstance(rows.type, Array)
        out = empty(cx, array_sizes(cx, rows)[:1], rows.type.dtype)
        out = call(cx, prelude(cx, "pullback.median_rows"), [rows, out, _bool(skip_nan)], {})
        return in_shape(cx, out, (), value, axes, keep and not alone)

    return rule


def _bool(value: bool) -> AV:
    return AV(Constant(value), (), value)


def _quantile(name: str, percent: bool, *, skip_nan: bool) -> Rule:
    def rule(cx: Frame, value: AV, found: Mapping[str, AV]) -> AV:
        method = getattr(found["method"].type, "value", None) if "method" in found else "linear"
        if method not in (*TAKEN, *BETWEEN):
            title = f"{method!r} is not a valid method. Use one of: {', '.join((*BETWEEN, *TAKEN))}"
            raise cx.error(title, f"np.{name} knows no such method", raised=("ValueError", title))
        weights = None if is_none(found, "weights") else found["weights"]
        if weights is not None and method != "inverted_cdf":
            title = f"Only method 'inverted_cdf' supports weights. Got: {method}."
            raise cx.error(title, "", "add method='inverted_cdf'", raised=("ValueError", title))
        alone = isinstance(value.type, Number)
        value, axes, keep = asked(cx, value, found)
        assert isinstance(value.type, Array)
        q = found["q"] if isinstance(found["q"].type, Number) else array_like(cx, found["q"])
        q = _fractions(cx, q, value.type.dtype, percent)
        assert isinstance(q.type, Array | Number)
        dtype = value.type.dtype
        if method in BETWEEN:
            value = _floats(cx, value)
            dtype = _dtype(value, q)
        line = _line(cx, q)
        if weights is not None:
            named = None if is_none(found, "axis") else axes_of(cx, found["axis"], rank_of(value))
            shares = _weights(cx, weights, value, named)
            rows, shares = line_rows(cx, value, axes), line_rows(cx, shares, axes)
            out = empty(cx, [cx.e("array_size", line.value, axis=0), array_sizes(cx, rows)[0]], dtype)
            out = call(cx, prelude(cx, "pullback.weighted_rows"), [rows, shares, line, out, _bool(skip_nan)], {})
        else:
            rows = _sorted_rows(cx, value, axes, q)
            if cx.dead:
                return rows
            loop = prelude(cx, f"pullback.{'taken' if method in TAKEN else 'quantile'}_rows")
            out = empty(cx, [cx.e("array_size", line.value, axis=0), array_sizes(cx, rows)[0]], dtype)
            out = call(cx, loop, [rows, line, out, AV(Str(str(method)), (), method), _bool(skip_nan)], {})
        if cx.dead:
            return out
        front = array_sizes(cx, q) if isinstance(q.type, Array) else []
        return in_shape(cx, out, front, value, axes, keep and not alone)

    return rule


def _dtype(value: AV, q: AV) -> DType:
    assert isinstance(value.type, Array) and isinstance(q.type, Array | Number)
    kind = q.type if isinstance(q.type, Number) else Number(q.type.dtype, False)
    return promote(Number(value.type.dtype, False), kind).dtype


def _fractions(cx: Frame, q: AV, dtype: DType, percent: bool) -> AV:
    """The quantiles as fractions from 0 to 1."""
    assert isinstance(q.type, Array | Number)
    if isinstance(q.type, Array) and q.type.rank > 2:
        raise cx.error("q must be a scalar or 1d", show(q.type), raised=("ValueError", "q must be a scalar or 1d"))
    wanted = q.type.dtype if q.type.dtype.is_float else DType.F64
    weak = isinstance(q.type, Number) and q.type.weak
    if weak:
        wanted = dtype if dtype.is_float else DType.F64

    def rule(cx: Frame, items: Sequence[AV]) -> AV:
        x = convert(cx, items[0], wanted)
        x = cx.e("div", x, cx.e.like(100.0, x)) if percent else x
        return AV(Number(wanted, False), (x,))

    result = each(cx, [q], rule)
    words = "Percentiles must be in the range [0, 100]" if percent else "Quantiles must be in the range [0, 1]"
    line = _line(cx, result)
    call(cx, prelude(cx, "pullback.check_fractions"), [line, AV(Str(words), (), words)], {})
    return AV(Number(wanted, weak and wanted is DType.F64), result.values) if weak else result


def _line(cx: Frame, q: AV) -> AV:
    """The quantiles in one row."""
    if isinstance(q.type, Array):
        return reshaped(cx, q, [AV(WEAK_INT, (cx.e.integer(-1),), -1)], reading=True)
    assert isinstance(q.type, Number)
    fresh = empty(cx, [cx.e.integer(1)], q.type.dtype)
    cx.e("array_swap", fresh.value, cx.e.integer(0), q.value)
    return fresh


_NAMES = ("a", "q", "axis", "out", "overwrite_input", "method", "keepdims", "weights")
_MEDIAN = ("a", "axis", "out", "overwrite_input", "keepdims")
for _prefix, _skip in (("", False), ("nan", True)):
    HANDLERS[f"numpy.{_prefix}median"] = of_arrays(f"numpy.{_prefix}median", _MEDIAN, _median(skip_nan=_skip))
    for _name, _percent in (("quantile", False), ("percentile", True)):
        _full = f"{_prefix}{_name}"
        HANDLERS[f"numpy.{_full}"] = of_arrays(f"numpy.{_full}", _NAMES, _quantile(_full, _percent, skip_nan=_skip))

"""Averages with weights, ranges, counts, covariances, and the reductions that pass over nan.

    np.average(a, weights=w)    sum(a * w) / sum(w)
    np.nanmean(a)               the mean where a is not nan
    np.cov(m)                   the product of the centred rows with themselves
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from pullback.infer.arithmetic import binary
from pullback.infer.calls import call, call_builtin
from pullback.infer.complexes import halves
from pullback.infer.creation import arguments_of, array_like
from pullback.infer.dispatch import dispatch
from pullback.infer.elementwise import array_sizes, elementwise, require_equal
from pullback.infer.engine import Frame
from pullback.infer.lattice import WEAK_FLOAT, WEAK_INT
from pullback.infer.numbers import as_number, convert, promote
from pullback.infer.numpy.axes import expanded, is_none, moved, pack, part, rank_of
from pullback.infer.numpy.contract import elementwise_of_parts
from pullback.infer.numpy.reductions import flag, of_arrays, reduced, reduction_axes
from pullback.infer.numpy.sums import Reduction, cast_to, each, total
from pullback.infer.numpy.ufuncs import kept_in
from pullback.infer.registry import HANDLERS, prelude
from pullback.infer.truth import truth
from pullback.infer.values import AV
from pullback.types import Array, Complex, DType, NoneType, Number, Scalar, Tuple, show

__all__ = ["weights_like"]

Rule = Callable[[Frame, AV, Mapping[str, AV]], AV]


# ------------------------------------------------------------------------------------------------- passing over nan


def _known(cx: Frame, value: AV) -> AV | None:
    """Where the elements are no nan; None where none can be."""
    assert isinstance(value.type, Array)
    if not value.type.dtype.is_float:
        return None

    def item(cx: Frame, items: Sequence[AV]) -> AV:
        return AV(Number(DType.BOOL, False), (cx.e("not_", cx.e("isnan", items[0].value)),))

    return elementwise(cx, [value], item)


def _passing(kind: str) -> Rule:
    """A reduction of what is no nan (and is asked for by where=)."""

    def rule(cx: Frame, value: AV, found: Mapping[str, AV]) -> AV:
        axes = reduction_axes(cx, found.get("axis"), rank_of(value) if isinstance(value.type, Array) else 0)
        value = array_like(cx, value)
        if kind in ("max", "min") and not is_none(found, "where") and is_none(found, "initial"):
            title = (f"reduction operation 'f{kind}' does not have an identity, so to use a where mask one has to "
                     "specify 'initial'")  # fmt: skip
            raise cx.error(title, "no element may count", "give initial=", raised=("ValueError", title))
        mask = _known(cx, value)
        if not is_none(found, "where"):
            asked = found["where"]
            mask = asked if mask is None else call_builtin(cx, "numpy.logical_and", [mask, asked], {})
        asked_for = Reduction(kind, axes, flag(cx, found, "keepdims"), mask, found)
        if kind in ("max", "min"):
            return _extremum(cx, value, asked_for)
        if kind in ("argmax", "argmin"):
            return _place(cx, value, asked_for)
        return reduced(cx, value, asked_for)

    return rule


def _none_known(cx: Frame, value: AV, mask: AV, asked: Reduction, keep: bool) -> AV:
    """Of each line, has it elements of which none counts."""

    def item(cx: Frame, items: Sequence[AV]) -> AV:
        chosen = as_number(cx, truth(cx, items[1])).value
        return AV(Number(DType.I64, False), (cx.e("select", chosen, cx.e.integer(1), cx.e.integer(0)),))

    count = total(cx, elementwise(cx, [value, mask], item), asked.axes, keep=keep)

    def none(cx: Frame, items: Sequence[AV]) -> AV:
        return AV(Number(DType.BOOL, False), (cx.e("eq", items[0].value, cx.e.integer(0)),))

    return each(cx, [count], none)


def _extremum(cx: Frame, value: AV, asked: Reduction) -> AV:
    """nan for lines of nothing but nan; lines without elements are an error."""
    if asked.mask is None:
        return reduced(cx, value, asked)
    _require_some(cx, value, asked)
    assert isinstance(value.type, Array)
    if not is_none(asked.found, "initial"):
        return reduced(cx, value, asked)
    low = _float(cx, "-inf" if asked.kind == "max" else "inf")
    found = reduced(cx, value, replace(asked, found={**asked.found, "initial": low}))
    if cx.dead:
        return found
    empty = _none_known(cx, value, asked.mask, asked, asked.keep)

    def item(cx: Frame, items: Sequence[AV]) -> AV:
        x = items[0].value
        return AV(items[0].type, (cx.e("select", as_number(cx, items[1]).value, cx.e.like(float("nan"), x), x),))

    return each(cx, [found, empty], item)


def _float(cx: Frame, text: str) -> AV:
    return AV(Number(DType.F64), (cx.e.constant(float(text), Scalar(DType.F64)),))


def _require_some(cx: Frame, value: AV, asked: Reduction) -> None:
    e, count, rest = cx.e, cx.e.integer(1), cx.e.integer(1)
    for axis, size in enumerate(array_sizes(cx, value)):
        if axis in asked.axes:
            count = e("mul", count, size)
        else:
            rest = e("mul", rest, size)
    some = e("or_", e("ne", count, e.integer(0)), e("eq", rest, e.integer(0)))
    if is_none(asked.found, "initial"):
        words = f"zero-size array to reduction operation f{asked.kind} which has no identity"
        cx.check(some, "ValueError", words)


def _place(cx: Frame, value: AV, asked: Reduction) -> AV:
    if asked.mask is None:
        return reduced(cx, value, asked)
    low = float("-inf" if asked.kind == "argmax" else "inf")

    def item(cx: Frame, items: Sequence[AV]) -> AV:
        x = items[0].value
        return AV(items[0].type, (cx.e("select", cx.e("isnan", x), cx.e.like(low, x), x),))

    found = reduced(cx, elementwise(cx, [value], item), replace(asked, mask=None))
    if cx.dead:
        return found
    bad = _none_known(cx, value, asked.mask, asked, False)
    bad = call_builtin(cx, "numpy.any", [bad], {}) if isinstance(bad.type, Array) else bad
    cx.check(cx.e("not_", as_number(cx, bad).value), "ValueError", "All-NaN slice encountered")
    return found


# ------------------------------------------------------------------------------------------------------ averages


def _average(cx: Frame, value: AV, found: Mapping[str, AV]) -> AV:
    value = array_like(cx, value)
    assert isinstance(value.type, Array)
    axes, keep = reduction_axes(cx, found.get("axis"), value.type.rank), flag(cx, found, "keepdims")
    if is_none(found, "weights"):
        mean = reduced(cx, value, Reduction("mean", axes, keep, None, {}))
        if not flag(cx, found, "returned") or cx.dead:
            return mean
        return pack([mean, _counted(cx, value, mean, axes)])
    weights = weights_like(cx, value, array_like(cx, found["weights"]), axes, given=not is_none(found, "axis"))
    assert isinstance(weights.type, Array)
    kind = promote(Number(value.type.dtype, False), Number(weights.type.dtype, False)).dtype
    kind = kind if value.type.dtype.is_float else promote(Number(kind, False), Number(DType.F64, False)).dtype
    value, weights = cast_to(cx, value, kind), cast_to(cx, weights, kind)
    scale = total(cx, weights, axes, keep=keep)
    zero = call_builtin(cx, "numpy.any", [each(cx, [scale], _is_zero)], {})
    cx.check(cx.e("not_", as_number(cx, zero).value), "ZeroDivisionError", "Weights sum to zero, can't be normalized")
    mean = binary(cx, "/", total(cx, binary(cx, "*", value, weights), axes, keep=keep), scale)
    if not flag(cx, found, "returned") or cx.dead:
        return mean
    if isinstance(mean.type, Array):  # the sums of weights, one for each mean
        scale = binary(cx, "+", scale, binary(cx, "*", mean, AV(WEAK_INT, (cx.e.integer(0),), 0)))
    return pack([mean, scale])


def _is_zero(cx: Frame, items: Sequence[AV]) -> AV:
    x = items[0].value
    return AV(Number(DType.BOOL, False), (cx.e("eq", x, cx.e.like(0.0, x)),))


def _counted(cx: Frame, value: AV, mean: AV, axes: Sequence[int]) -> AV:
    """How many elements each mean is of, like the means."""
    count = cx.e.integer(1)
    for axis in axes:
        count = cx.e("mul", count, cx.e("array_size", value.value, axis=axis))

    def item(cx: Frame, items: Sequence[AV]) -> AV:
        assert isinstance(items[0].type, Number)
        return AV(items[0].type, (convert(cx, items[1], items[0].type.dtype),))

    return each(cx, [mean, AV(WEAK_INT, (count,))], item)


def weights_like(cx: Frame, value: AV, weights: AV, axes: Sequence[int], *, given: bool) -> AV:
    """Weights of the array's rank: those of the axes alone get the others."""
    sizes, own = array_sizes(cx, value), array_sizes(cx, weights)
    if len(own) == len(sizes):
        words = ("Shape of weights must be consistent with shape of a along specified axis." if given else
                 "Axis must be specified when shapes of a and weights differ.")  # fmt: skip
        same = cx.e.boolean(True)
        for m, n in zip(sizes, own, strict=True):
            same = cx.e("and_", same, cx.e("eq", m, n))
        cx.check(same, "ValueError" if given else "TypeError", words)
        return weights
    if not given:
        title = "Axis must be specified when shapes of a and weights differ."
        raise cx.error(title, show(weights.type), raised=("TypeError", title))
    words = "Shape of weights must be consistent with shape of a along specified axis."
    if len(own) != len(axes):
        raise cx.error(words, show(weights.type), raised=("ValueError", words))
    for axis, size in zip(axes, own, strict=True):
        require_equal(cx, sizes[axis], size, words)
    for axis in range(len(sizes)):
        weights = weights if axis in axes else expanded(cx, weights, axis)
    return weights


def _ptp(cx: Frame, value: AV, found: Mapping[str, AV]) -> AV:
    options = {name: av for name, av in found.items() if name not in ("a", "out")}
    high, low = (call_builtin(cx, f"numpy.{name}", [value], options) for name in ("max", "min"))
    return high if cx.dead else kept_in(cx, found, binary(cx, "-", high, low))


def _count_nonzero(cx: Frame, value: AV, found: Mapping[str, AV]) -> AV:
    axes = reduction_axes(cx, found.get("axis"), rank_of(value) if isinstance(value.type, Array) else 0)
    value = cast_to(cx, cast_to(cx, array_like(cx, value), DType.BOOL), DType.I64)
    return total(cx, value, axes, keep=flag(cx, found, "keepdims"))


# ------------------------------------------------------------------------------------------------------ covariances


def _variables(cx: Frame, av: AV, rowvar: bool) -> AV:
    """A table of floats or complex numbers whose rows are the variables."""
    av = call_builtin(cx, "numpy.asarray", [av], {})
    rank = rank_of(_first_part(av))
    if rank > 2:
        title = "m has more than 2 dimensions"
        raise cx.error(title, show(av.type), raised=("ValueError", title))

    def table(cx: Frame, part: AV) -> AV:
        part = cast_to(cx, part, DType.F64)
        while rank_of(part) < 2:
            part = expanded(cx, part, 0)
        return part if rowvar or rank < 2 else moved(cx, part, [1, 0])

    return elementwise_of_parts(cx, av, table)


def _first_part(av: AV) -> AV:
    """The real part, whose shape is that of the whole."""
    return halves(av)[0] if isinstance(av.type, Complex) else av


def _cov(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    names = ("m", "y", "rowvar", "bias", "ddof", "fweights", "aweights", "dtype")
    found = arguments_of(cx, "numpy.cov", names, given, keywords)
    if not is_none(found, "dtype"):
        raise cx.error("np.cov: dtype= is not supported", "covariances are float64 here", "convert the result")

    def rule(cx: Frame, found: Mapping[str, AV]) -> AV:
        result = _covariance(cx, found)
        return result if cx.dead else _squeezed(cx, result, found)

    return _of_each(cx, found, rule)


def _of_each(cx: Frame, found: Mapping[str, AV], rule: Callable[[Frame, Mapping[str, AV]], AV]) -> AV:
    """A call of each of the types that the observations may be of: of complex ones the result is complex."""
    names = [name for name in ("m", "y") if name in found]
    return dispatch(cx, [found[name] for name in names],
                    lambda cx, operands: rule(cx, {**found, **dict(zip(names, operands, strict=True))}))  # fmt: skip


def _covariance(cx: Frame, found: Mapping[str, AV]) -> AV:
    rowvar = flag(cx, found, "rowvar", default=True)
    variables = _variables(cx, found["m"], rowvar)
    if not is_none(found, "y"):
        other = _variables(cx, found["y"], rowvar)
        both = AV(Tuple((variables.type, other.type)), (*variables.values, *other.values))
        variables = call_builtin(cx, "numpy.concatenate", [both], {})
    bias = flag(cx, found, "bias")
    ddof = AV(WEAK_INT, (cx.e.integer(int(not bias)),)) if is_none(found, "ddof") else found["ddof"]
    weights = _sample_weights(cx, found)
    degrees = _degrees(cx, ddof, weights, found)
    return call(cx, prelude(cx, "pullback.covariance"), [variables, weights, degrees], {})


def _sample_weights(cx: Frame, found: Mapping[str, AV]) -> AV:
    """The product of both kinds of weights, or None."""
    given = [found[name] for name in ("fweights", "aweights") if not is_none(found, name)]
    kinds = [cast_to(cx, array_like(cx, av), DType.F64) for av in given]
    if not kinds:
        return AV(NoneType())
    return kinds[0] if len(kinds) == 1 else binary(cx, "*", *kinds)


def _degrees(cx: Frame, ddof: AV, weights: AV, found: Mapping[str, AV]) -> AV:
    """What is taken off the number of observations: with weights of their quality, in proportion to them."""
    number = AV(Number(DType.F64, False), (convert(cx, as_number(cx, ddof), DType.F64),))
    if is_none(found, "aweights"):
        return number
    own = cast_to(cx, array_like(cx, found["aweights"]), DType.F64)
    squares = total(cx, binary(cx, "*", weights, own), [0], keep=False)
    return binary(cx, "*", number, binary(cx, "/", squares, total(cx, weights, [0], keep=False)))


def _squeezed(cx: Frame, result: AV, found: Mapping[str, AV]) -> AV:
    """The covariance of one variable is an array of rank 0."""
    first = _first_part(call_builtin(cx, "numpy.asarray", [found["m"]], {}))
    assert isinstance(first.type, Array)
    rowvar = flag(cx, found, "rowvar", default=True)
    single: bool | None = True
    if first.type.rank == 2:
        single = first.type.is_one(0 if rowvar else 1)
    if not is_none(found, "y"):
        single = False
    if single is None:
        size = cx.e("array_size", first.value, axis=0 if rowvar else 1)
        words = "a table of one variable must be written as an array of one axis"  # NumPy's result would have rank 0
        cx.check(cx.e("ne", size, cx.e.integer(1)), "ValueError", words)
    if not single:
        return result
    return elementwise_of_parts(cx, result, lambda cx, table: part(cx, part(cx, table, 0), 0))


def _corrcoef(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    found = arguments_of(cx, "numpy.corrcoef", ("x", "y", "rowvar"), given, keywords)
    found["m"] = found.pop("x")
    return _of_each(cx, found, _correlation)


def _correlation(cx: Frame, found: Mapping[str, AV]) -> AV:
    result = _covariance(cx, found)
    if cx.dead:
        return result
    single = _squeezed(cx, result, found)
    if rank_of(_first_part(single)) == 0:
        return binary(cx, "/", single, single)
    scaled = call(cx, prelude(cx, "pullback.scaled_covariance"), [result], {})
    ends = [AV(WEAK_FLOAT, (cx.e.constant(end),), end) for end in (-1.0, 1.0)]
    return elementwise_of_parts(cx, scaled, lambda cx, part: call_builtin(cx, "numpy.clip", [part, *ends], {}))


_SUM = ("a", "axis", "dtype", "out", "keepdims", "initial", "where")
_MEAN = ("a", "axis", "dtype", "out", "keepdims", "where")
_VAR = ("a", "axis", "dtype", "out", "ddof", "keepdims", "where", "mean", "correction")
_MAX = ("a", "axis", "out", "keepdims", "initial", "where")
_ROWS: dict[str, tuple[tuple[str, ...], Rule]] = {
    "nansum": (_SUM, _passing("sum")), "nanprod": (_SUM, _passing("prod")), "nanmean": (_MEAN, _passing("mean")),
    "nanvar": (_VAR, _passing("var")), "nanstd": (_VAR, _passing("std")), "nanmax": (_MAX, _passing("max")),
    "nanmin": (_MAX, _passing("min")), "nanargmax": (("a", "axis", "out", "keepdims"), _passing("argmax")),
    "nanargmin": (("a", "axis", "out", "keepdims"), _passing("argmin")),
    "average": (("a", "axis", "weights", "returned", "keepdims"), _average),
    "ptp": (("a", "axis", "out", "keepdims"), _ptp), "count_nonzero": (("a", "axis", "keepdims"), _count_nonzero),
}  # fmt: skip
HANDLERS.update({f"numpy.{name}": of_arrays(f"numpy.{name}", *row) for name, row in _ROWS.items()})
HANDLERS.update({"numpy.cov": _cov, "numpy.corrcoef": _corrcoef})

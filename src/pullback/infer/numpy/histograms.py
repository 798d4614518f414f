"""Counting into bins, and interpolation in a table.

    np.histogram(a, bins=10)     edges of equal distance between the extremes, then one pass that counts
    np.interp(x, xp, fp)         a binary search for each x
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pullback.infer.arithmetic import binary
from pullback.infer.calls import call, call_builtin
from pullback.infer.creation import arguments_of, array_like, empty
from pullback.infer.dispatch import dispatch
from pullback.infer.displays import fixed_list
from pullback.infer.elementwise import array_sizes, ordered_as, require_equal
from pullback.infer.engine import Frame
from pullback.infer.lattice import WEAK_INT
from pullback.infer.numbers import as_number, convert
from pullback.infer.numpy.along import flat
from pullback.infer.numpy.axes import expanded, is_none, pack, rank_of
from pullback.infer.numpy.reductions import flag
from pullback.infer.numpy.shapes import reshaped
from pullback.infer.numpy.sums import cast_to
from pullback.infer.registry import HANDLERS, prelude
from pullback.infer.values import AV, items_of
from pullback.infer.views import integer
from pullback.ir.node import Value
from pullback.types import Array, Constant, DType, List, Never, NoneType, Number, Str, Tuple, show

__all__: list[str] = []


RULES = ("auto", "fd", "doane", "scott", "stone", "rice", "sturges", "sqrt")  # that choose the number of bins


def _run(cx: Frame, name: str, *arguments: AV) -> AV:
    return call(cx, prelude(cx, f"pullback.{name}"), list(arguments), {})


def _float(cx: Frame, av: AV) -> AV:
    """A number as float64."""
    return AV(Number(DType.F64, False), (convert(cx, as_number(cx, av), DType.F64),))


# ---------------------------------------------------------------------------------------------------- interpolation


def _interp(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    found = arguments_of(cx, "numpy.interp", ("x", "xp", "fp", "left", "right", "period"), given, keywords)
    xp, fp = (cast_to(cx, array_like(cx, found[name]), DType.F64) for name in ("xp", "fp"))
    if rank_of(xp) != 1 or rank_of(fp) != 1:
        raise cx.error("np.interp takes lines of points", f"{show(xp.type)} and {show(fp.type)}",
                       raised=("ValueError", "object too deep for desired array"))  # fmt: skip
    ends = [AV(NoneType()) if is_none(found, name) else _float(cx, found[name]) for name in ("left", "right")]
    period = None if is_none(found, "period") else _float(cx, found["period"])
    if period is not None:
        some = cx.e("ne", period.value, cx.e.like(0.0, period.value))
        cx.check(some, "ValueError", "period must be a non-zero value")
        xp, fp = items_of(_run(cx, "periodic_points", xp, fp, period))
        ends = [AV(NoneType()), AV(NoneType())]

    def rule(cx: Frame, operands: Sequence[AV]) -> AV:
        x = operands[0] if isinstance(operands[0].type, Number) else array_like(cx, operands[0])
        if period is not None:
            x = binary(cx, "%", x, call_builtin(cx, "numpy.abs", [period], {}))
        array = cast_to(cx, array_like(cx, x), DType.F64)
        line = flat(cx, array)
        out = empty(cx, array_sizes(cx, line), DType.F64)
        _run(cx, "interp_rows", line, xp, fp, *ends, out)
        return _shaped(cx, out, x)

    return dispatch(cx, [found["x"]], rule)


def _shaped(cx: Frame, line: AV, model: AV) -> AV:
    """A row in the shape of the model; a number for a number or an array of rank 0."""
    assert isinstance(line.type, Array)
    if not isinstance(model.type, Array) or model.type.rank == 0:
        return AV(Number(line.type.dtype, False), (cx.e("array_get", line.value, cx.e.integer(0)),))
    if model.type.rank == 1:
        return line
    return ordered_as(reshaped(cx, line, [AV(WEAK_INT, (size,)) for size in array_sizes(cx, model)]), [model])


# ------------------------------------------------------------------------------------------------------ counting


def _bincount(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    found = arguments_of(cx, "numpy.bincount", ("x", "weights", "minlength"), given, keywords)
    x = array_like(cx, found["x"])
    assert isinstance(x.type, Array)
    if x.type.rank != 1:
        title = "object too deep for desired array"
        raise cx.error(title, show(x.type), raised=("ValueError", title))
    if x.type.dtype.is_float:
        title = "Cannot cast array data from dtype('float64') to dtype('int64') according to the rule 'safe'"
        raise cx.error(title, show(x.type), "convert with .astype(int)", raised=("TypeError", title))
    x = cast_to(cx, x, DType.I64)
    count = _run(cx, "bin_number", x)
    if cx.dead:
        return count
    size = integer(cx, count)
    if not is_none(found, "minlength"):
        least = integer(cx, found["minlength"])
        cx.check(cx.e("ge", least, cx.e.integer(0)), "ValueError", "'minlength' must not be negative")
        size = cx.e("maximum", size, least)
    if is_none(found, "weights"):
        return _run(cx, "bincount", x, empty(cx, [size], DType.I64, "array_zeros"))
    weights = cast_to(cx, array_like(cx, found["weights"]), DType.F64)
    return _run(cx, "bincount_weighted", x, weights, empty(cx, [size], DType.F64, "array_zeros"))


def _edges(
    cx: Frame, name: str, a: AV, bins: AV | None, bounds: AV | None, *, exact: bool = False
) -> tuple[AV, bool]:
    """The edges of the bins, and whether they are of equal width.

    exact: edges between given bounds stay float64, whatever is counted.
    """
    rule = bins.type.value if bins is not None and isinstance(bins.type, Str) else None
    if rule is not None and rule not in RULES:
        title = f"{rule!r} is not a valid estimator for `bins`"
        raise cx.error(title, f"{name} knows no such rule", f"write one of {', '.join(RULES)}",
                       raised=("ValueError", title))  # fmt: skip
    if bins is not None and not isinstance(bins.type, Number | Constant | Str):
        edges = array_like(cx, bins)
        if rank_of(edges) == 1:
            _run(cx, "check_edges", edges)
            return edges, False
        if rank_of(edges) > 1:
            title = "`bins` must be 1d, when an array"
            raise cx.error(title, show(edges.type), raised=("ValueError", title))
        bins = as_number(cx, edges)
    first, last = _outer(cx, a, bounds)
    given = bounds is not None and not isinstance(bounds.type, NoneType)
    if cx.dead:
        return first, True
    assert isinstance(a.type, Array)
    if not given and a.type.dtype.is_float:  # NumPy computes the edges from the extremes, in their dtype
        kind = a.type.dtype
        first, last = (AV(Number(kind, False), (convert(cx, as_number(cx, av), kind),)) for av in (first, last))
    if rule is not None:
        bins = _run(cx, "bins_by_rule", _subtractable(cx, a), first, last, AV(Constant(given), (), given),
                    AV(Str(rule), (), rule))  # fmt: skip
        if isinstance(bins.type, Never):
            return bins, True
    number = integer(cx, bins) if bins is not None else cx.e.integer(10)
    edges = _run(cx, "edges_between", first, last, AV(WEAK_INT, (number,)))
    if cx.dead or (exact and given) or not a.type.dtype.is_float:
        return edges, True
    return cast_to(cx, edges, a.type.dtype), True


def _subtractable(cx: Frame, a: AV) -> AV:
    """Whole numbers so wide that differences of them fit."""
    assert isinstance(a.type, Array)
    return a if a.type.dtype.is_float or a.type.dtype is DType.U64 else cast_to(cx, a, DType.I64)


def _outer(cx: Frame, a: AV, bounds: AV | None) -> tuple[AV, AV]:
    """The first and the last edge: as given, or the extremes; apart, if they are the same."""
    if bounds is not None and not isinstance(bounds.type, NoneType):
        parts = items_of(bounds) if isinstance(bounds.type, Tuple | List) else []
        if len(parts) != 2:
            raise cx.error("range is a pair of numbers", show(bounds.type), "write (low, high)")
        low, high = (_float(cx, part) for part in parts)
        words = "max must be larger than min in range parameter."
        cx.check(cx.e("le", low.value, high.value), "ValueError", words)
        pair = AV(Tuple((low.type, high.type)), (low.value, high.value))
        found = _run(cx, "apart", *items_of(pair))
    else:
        found = _run(cx, "extremes", cast_to(cx, a, a.type.dtype if a.type.dtype.is_float else DType.F64))  # type: ignore[union-attr]
    if cx.dead:
        return found, found
    low, high = items_of(found)
    return low, high


def _histogram(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    found = arguments_of(cx, "numpy.histogram", ("a", "bins", "range", "density", "weights"), given, keywords)

    def rule(cx: Frame, operands: Sequence[AV]) -> AV:
        a = flat(cx, array_like(cx, operands[0]))
        if "bins" in found and isinstance(found["bins"].type, Str) and not is_none(found, "weights"):
            title = "Automated estimation of the number of bins is not supported for weighted data"
            raise cx.error(title, show(found["bins"].type), "give their number", raised=("TypeError", title))
        edges, even = _edges(cx, "np.histogram", a, found.get("bins"), found.get("range"))
        if cx.dead:
            return edges
        even_ = AV(Constant(even), (), even)
        size = [cx.e("sub", cx.e("array_size", edges.value, axis=0), cx.e.integer(1))]
        if is_none(found, "weights"):
            counts = _run(cx, "count_bins", a, edges, empty(cx, size, DType.I64, "array_zeros"), even_)
        else:
            weights = flat(cx, _same_size(cx, operands[0], array_like(cx, found["weights"])))
            assert isinstance(weights.type, Array)
            out = empty(cx, size, weights.type.dtype, "array_zeros")
            counts = _run(cx, "weigh_bins", a, weights, edges, out, even_)
        if not is_none(found, "density") and flag(cx, found, "density"):
            widths = cast_to(cx, call_builtin(cx, "numpy.diff", [edges], {}), DType.F64)
            total = call_builtin(cx, "numpy.sum", [counts], {})
            counts = binary(cx, "/", binary(cx, "/", counts, widths), total)
        return pack([counts, edges])

    return dispatch(cx, [found["a"]], rule)


def _same_size(cx: Frame, a: AV, weights: AV) -> AV:
    a = array_like(cx, a)
    words = "weights should have the same shape as a."
    if rank_of(a) != rank_of(weights):
        raise cx.error(words, show(weights.type), raised=("ValueError", words))
    for m, n in zip(array_sizes(cx, a), array_sizes(cx, weights), strict=True):
        require_equal(cx, m, n, words)
    return weights


def _bin_edges(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    found = arguments_of(cx, "numpy.histogram_bin_edges", ("a", "bins", "range", "weights"), given, keywords)
    a = flat(cx, array_like(cx, found["a"]))
    return _edges(cx, "np.histogram_bin_edges", a, found.get("bins"), found.get("range"))[0]


def _histogram2d(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    names = ("x", "y", "bins", "range", "density", "weights")
    found = arguments_of(cx, "numpy.histogram2d", names, given, keywords)
    lines = [array_like(cx, found[name]) for name in ("x", "y")]
    first, second = (array_sizes(cx, line)[0] for line in lines)
    require_equal(cx, first, second, "x and y must have the same length.")
    counts, edges = _in_cells(cx, "np.histogram2d", lines, found)
    return counts if cx.dead else pack([counts, *edges])


def _histogramdd(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    names = ("sample", "bins", "range", "density", "weights")
    found = arguments_of(cx, "numpy.histogramdd", names, given, keywords)
    if not isinstance(found["sample"].type, Tuple | List):
        help = "give the coordinates one by one: np.histogramdd((x, y, z))"
        raise cx.error("how many axes the result has is not known while compiling", show(found["sample"].type), help)
    lines = [array_like(cx, line) for line in items_of(found["sample"])]
    counts, edges = _in_cells(cx, "np.histogramdd", lines, found)
    return counts if cx.dead else pack([counts, fixed_list(cx, edges)])


def _in_cells(cx: Frame, name: str, lines: Sequence[AV], found: Mapping[str, AV]) -> tuple[AV, list[AV]]:
    """The counts, an axis for each line of coordinates, and the edges."""
    bins = _for_each(found.get("bins"), len(lines))
    bounds = items_of(found["range"]) if not is_none(found, "range") else [None] * len(lines)
    places = empty(cx, array_sizes(cx, lines[0])[:1], DType.I64, "array_zeros")
    edges, sizes, whole = list[AV](), list[Value](), cx.e.integer(1)
    for line, number, ends in zip(lines, bins, bounds, strict=True):
        edges.append(_edges(cx, name, line, number, ends, exact=True)[0])
        if cx.dead:
            return edges[-1], edges
        places = _run(cx, "cell_step", line, edges[-1], places)
        sizes.append(cx.e("sub", cx.e("array_size", edges[-1].value, axis=0), cx.e.integer(1)))
        whole = cx.e("mul", whole, sizes[-1])
    out = empty(cx, [whole], DType.F64, "array_zeros")
    if is_none(found, "weights"):
        counts = _run(cx, "count_cells", places, out)
    else:
        counts = _run(cx, "weigh_cells", places, array_like(cx, found["weights"]), out)
    if cx.dead:
        return counts, edges
    counts = reshaped(cx, counts, [AV(WEAK_INT, (size,)) for size in sizes])
    return (_density(cx, counts, edges) if flag(cx, found, "density") else counts), edges


def _density(cx: Frame, counts: AV, edges: Sequence[AV]) -> AV:
    """Counts divided by their sum and the sizes of the cells."""
    total = call_builtin(cx, "numpy.sum", [counts], {})
    for axis, edge in enumerate(edges):
        widths = call_builtin(cx, "numpy.diff", [edge], {})
        for _ in range(len(edges) - 1 - axis):
            widths = expanded(cx, widths, rank_of(widths))
        counts = binary(cx, "/", counts, widths)
    return binary(cx, "/", counts, total)


def _for_each(bins: AV | None, count: int) -> list[AV | None]:
    """The bins of each axis: a number or edges for all, or one of them for each."""
    if bins is not None and isinstance(bins.type, Tuple | List) and len(items_of(bins)) == count:
        return list(items_of(bins))
    return [bins] * count


HANDLERS.update({
    "numpy.interp": _interp, "numpy.bincount": _bincount, "numpy.histogram": _histogram,
    "numpy.histogram_bin_edges": _bin_edges, "numpy.histogram2d": _histogram2d,
    "numpy.histogramdd": _histogramdd,
})  # fmt: skip

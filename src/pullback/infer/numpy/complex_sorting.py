"""Sorting and searching complex numbers: by their real parts, then by their imaginary parts; those with a nan last.

    np.sort(z)               the order is found from both parts by stable sorts; both are taken in it
    z.sort()                 the same, written back
    np.unique(z)             z at the first places of the runs of equal numbers in this order
    np.searchsorted(z, w)    of the numbers' ranks among all of both: ints, which are searched as real numbers are
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from pullback.infer.binding import pack_tuple
from pullback.infer.calls import INTERCEPT, call, call_builtin
from pullback.infer.complex_functions import holds_complex
from pullback.infer.complexes import complex_of, halves, imaginary
from pullback.infer.creation import arguments_of, array_like, empty
from pullback.infer.elementwise import array_sizes, ordered_as
from pullback.infer.engine import Frame
from pullback.infer.filling import fill, writable
from pullback.infer.indexing import subscript
from pullback.infer.lattice import WEAK_INT
from pullback.infer.numpy.along import flat
from pullback.infer.numpy.axes import is_none, rank_of
from pullback.infer.numpy.complex_calls import Found, Row, Rule, as_complex_array, lines_of, take_complex
from pullback.infer.numpy.joining import common_dtype, concatenated
from pullback.infer.numpy.reductions import flag
from pullback.infer.numpy.shapes import axis_of, reshaped
from pullback.infer.numpy.sorting import NAMED_RESULTS, check_kth, run, shaped_like
from pullback.infer.numpy.splitting import between
from pullback.infer.numpy.sums import cast_to
from pullback.infer.registry import HANDLERS, Handler, prelude
from pullback.infer.values import AV, items_of
from pullback.types import Array, Complex, Constant, DType, List, NoneType, Number, Tuple, show

__all__: list[str] = []


def _bool(value: bool) -> AV:
    return AV(Constant(value), (), value)


# ------------------------------------------------------------------------------------------------------------ sorts


def _parts(cx: Frame, found: Found) -> tuple[Sequence[AV], int]:
    """Both parts, and the axis to sort along."""
    parts: Sequence[AV] = halves(as_complex_array(cx, found["a"]))
    if rank_of(parts[0]) == 0:
        title = "axis -1 is out of bounds for array of dimension 0"
        raise cx.error(title, show(found["a"].type), raised=("AxisError", title))
    if "axis" not in found:
        return parts, rank_of(parts[0]) - 1
    if isinstance(found["axis"].type, NoneType):
        return [flat(cx, part) for part in parts], 0
    return parts, axis_of(cx, found["axis"], rank_of(parts[0]))


def _sort(cx: Frame, found: Found) -> AV:
    parts, axis = _parts(cx, found)
    out = [empty(cx, array_sizes(cx, part), part.type.dtype) for part in parts]  # type: ignore[union-attr]
    lines = [lines_of(cx, part, [axis]) for part in (*parts, *out)]
    call(cx, prelude(cx, "pullback.complex_sort_columns"), lines, {})
    return complex_of(*(ordered_as(made, [part]) for made, part in zip(out, parts, strict=True)))


def _argsort(cx: Frame, found: Found) -> AV:
    parts, axis = _parts(cx, found)
    out = empty(cx, array_sizes(cx, parts[0]), DType.I64)
    lines = [lines_of(cx, part, [axis]) for part in (*parts, out)]
    call(cx, prelude(cx, "pullback.complex_argsort_columns"), lines, {})
    return ordered_as(out, [parts[0]])


def _partition(rule: Rule) -> Rule:
    """Sorted wholly, which is one of the orders that are right."""

    def partitioned(cx: Frame, found: Found) -> AV:
        parts, axis = _parts(cx, found)
        check_kth(cx, parts[0], axis, found["kth"])
        return rule(cx, found)

    return partitioned


def _in_place(rule: Rule, names: Sequence[str]) -> Handler:
    """z.sort(), z.partition(k): the array takes the sorted elements."""

    def handler(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
        found = arguments_of(cx, "ndarray.sort", names, given, keywords)
        for part in halves(found["a"]):
            writable(cx, part)
        made = rule(cx, found)
        if not cx.dead:
            for part, new in zip(halves(found["a"]), halves(made), strict=True):
                fill(cx, part, new)
        return AV(NoneType())

    return handler


def _sort_complex(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    """Real numbers become complex128."""
    found = arguments_of(cx, "numpy.sort_complex", ("a",), given, keywords)
    if not isinstance(found["a"].type, Complex):
        real = cast_to(cx, array_like(cx, found["a"]), DType.F64)
        found["a"] = complex_of(real, imaginary(cx, real))
    return _sort(cx, found)


# ----------------------------------------------------------------------------------------------------- runs of equals


def _taken(cx: Frame, row: AV, places: AV) -> AV:
    return complex_of(*(subscript(cx, part, places) for part in halves(row)))


def _unique(cx: Frame, found: Found) -> AV:
    parts = halves(as_complex_array(cx, found["ar"]))
    if not is_none(found, "axis") and rank_of(parts[0]) > 1:
        raise cx.error("np.unique of complex numbers along an axis is not supported", "its rows have two parts",
                       "leave axis= out, or join the real and the imaginary parts side by side")  # fmt: skip
    row = complex_of(*(flat(cx, part) for part in parts))
    order = run(cx, "complex_order", *halves(row))
    starts = run(cx, "complex_run_starts", *halves(row), order, _bool(flag(cx, found, "equal_nan", default=True)))
    if cx.dead:
        return starts
    first = run(cx, "first_of_runs", order, starts)
    results = [_taken(cx, row, first)]
    if flag(cx, found, "return_index"):
        results.append(first)
    if flag(cx, found, "return_inverse"):
        model = parts[0] if rank_of(parts[0]) else halves(row)[0]
        results.append(shaped_like(cx, run(cx, "run_numbers", order, starts), model))
    if flag(cx, found, "return_counts"):
        results.append(run(cx, "lengths_of_runs", starts))
    return results[0] if len(results) == 1 else pack_tuple(results)


def _unique_values(cx: Frame, found: Found) -> AV:
    return _unique(cx, {"ar": found["x"], "equal_nan": _bool(False)})


def _unique_named(cls: type, wanted: Sequence[str]) -> Rule:
    """np.unique_counts and kin, which give a NamedTuple."""

    def rule(cx: Frame, found: Found) -> AV:
        given = {"ar": found["x"], "equal_nan": _bool(False), **dict.fromkeys(wanted, _bool(True))}
        made = _unique(cx, given)
        if cx.dead:
            return made
        assert isinstance(made.type, Tuple)
        return AV(replace(made.type, python=cls), made.values)

    return rule


# ------------------------------------------------------------------------------------------------ through the ranks


def _rows(cx: Frame, values: Sequence[AV]) -> list[AV]:
    """Numbers and arrays as complex rows of one dtype."""
    whole = [as_complex_array(cx, av) for av in values]
    dtype = common_dtype([halves(av)[0] for av in whole])
    return [complex_of(*(cast_to(cx, flat(cx, part), dtype) for part in halves(av))) for av in whole]


def _joined(cx: Frame, rows: Sequence[AV]) -> AV:
    """Rows one after the other."""
    return concatenated(cx, "numpy.concatenate", rows, 0, common_dtype(rows)) if len(rows) > 1 else rows[0]


def _both(cx: Frame, rows: Sequence[AV]) -> AV:
    return complex_of(*(_joined(cx, parts) for parts in zip(*map(halves, rows), strict=True)))


SORTED, IN_EACH, IN_ALL = range(3)
"""Which numbers with a nan have one rank: those that sort alike, those in one row, or all."""


def _ranks(cx: Frame, rows: Sequence[AV], nans: int) -> list[AV]:
    """For each row the ranks of its numbers among all: ints, the same for equal numbers."""
    sizes = [cx.e("array_size", halves(row)[0].value, axis=0) for row in rows]
    whole = _both(cx, rows)
    first = sizes[0] if nans == IN_EACH else cx.e("array_size", halves(whole)[0].value, axis=0)
    ranks = run(cx, "complex_ranks", *halves(whole), _bool(nans == SORTED), AV(WEAK_INT, (first,)))
    found, start = [], cx.e.integer(0)
    for size in sizes:
        stop = cx.e("add", start, size)
        found.append(between(cx, ranks, 0, AV(WEAK_INT, (start,)), AV(WEAK_INT, (stop,))))
        start = stop
    return found


def _searchsorted(cx: Frame, found: Found) -> AV:
    line, model = (as_complex_array(cx, found[name]) for name in ("a", "v"))
    if rank_of(halves(line)[0]) != 1:
        title = "object too deep for desired array"
        raise cx.error(title, show(line.type), "search in a line", raised=("ValueError", title))
    keys, wanted = _ranks(cx, _rows(cx, [line, model]), SORTED)
    options = {name: found[name] for name in ("side", "sorter") if name in found}
    single = isinstance(found["v"].type, Number | Constant) or (
        isinstance(found["v"].type, Complex) and not isinstance(halves(found["v"])[0].type, Array))  # fmt: skip
    wanted = shaped_like(cx, wanted, AV(NoneType()) if single else halves(model)[0])
    return call_builtin(cx, "numpy.searchsorted", [keys, wanted], options)


def _of_two(name: str) -> Rule:
    """np.union1d and kin: the numbers at the ranks that are found."""

    def rule(cx: Frame, found: Found) -> AV:
        rows = _rows(cx, [found["ar1"], found["ar2"]])
        ranks = _ranks(cx, rows, IN_ALL if name == "union1d" else IN_EACH)
        options = {"assume_unique": found["assume_unique"]} if "assume_unique" in found else {}
        chosen = call_builtin(cx, f"numpy.{name}", ranks, options)
        if cx.dead:
            return chosen
        places = subscript(cx, run(cx, "first_of_ranks", _joined(cx, ranks)), chosen)
        if name == "setdiff1d" and not holds_complex(found["ar1"].type):  # a part of it, in its dtype
            return subscript(cx, flat(cx, array_like(cx, found["ar1"])), places)
        return _taken(cx, _both(cx, rows), places)

    return rule


def _intersect1d(cx: Frame, found: Found) -> AV:
    rows = _rows(cx, [found["ar1"], found["ar2"]])
    ranks = _ranks(cx, rows, IN_EACH)
    parts = call_builtin(cx, "numpy.intersect1d", ranks, {"return_indices": _bool(True)})
    if cx.dead:
        return parts
    _, left, right = items_of(parts)
    common = _taken(cx, rows[0], left)
    return pack_tuple([common, left, right]) if flag(cx, found, "return_indices") else common


def _isin(cx: Frame, found: Found) -> AV:
    element = as_complex_array(cx, found["element"])
    ranks = _ranks(cx, _rows(cx, [element, found["test_elements"]]), IN_EACH)
    options = {name: found[name] for name in ("assume_unique", "invert") if name in found}
    sizes = [AV(WEAK_INT, (size,)) for size in array_sizes(cx, halves(element)[0])]
    return call_builtin(cx, "numpy.isin", [reshaped(cx, ranks[0], sizes), ranks[1]], options)


def _lexsort(cx: Frame, name: str, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV | None:
    """Each complex key by its ranks; None for keys that are real."""
    if name != "numpy.lexsort" or not any(holds_complex(av.type) for av in (*given, *keywords.values())):
        return None
    found = arguments_of(cx, "numpy.lexsort", ("keys", "axis"), given, keywords)
    if not isinstance(found["keys"].type, Tuple | List):
        raise cx.error("np.lexsort takes a tuple of complex keys here", show(found["keys"].type),
                       "write the keys in a tuple")  # fmt: skip
    keys = [_ranks(cx, _rows(cx, [av]), SORTED)[0] if holds_complex(av.type) else av for av in items_of(found["keys"])]
    rest = {key: av for key, av in found.items() if key != "keys"}
    return call_builtin(cx, "numpy.lexsort", [pack_tuple(keys)], rest)


_SORT, _KTH = ("a", "axis", "kind", "order", "stable"), ("a", "kth", "axis", "kind", "order")
_PAIR, _SETS = ("ar1", "ar2"), ("ar1", "ar2", "assume_unique")
_ROWS: dict[str, Row] = {
    "sort": (_SORT, "a", _sort), "argsort": (_SORT, "a", _argsort), "partition": (_KTH, "a", _partition(_sort)),
    "argpartition": (_KTH, "a", _partition(_argsort)), "searchsorted": (("a", "v", "side", "sorter"), "av",
                                                                        _searchsorted),
    "unique": (("ar", "return_index", "return_inverse", "return_counts", "axis", "equal_nan", "sorted"), ("ar",),
               _unique),
    "unique_values": (("x",), "x", _unique_values),
    "union1d": (_PAIR, _PAIR, _of_two("union1d")), "setdiff1d": (_SETS, _PAIR, _of_two("setdiff1d")),
    "setxor1d": (_SETS, _PAIR, _of_two("setxor1d")), "intersect1d": ((*_SETS, "return_indices"), _PAIR, _intersect1d),
    "isin": (("element", "test_elements", "assume_unique", "invert", "kind"), ("element", "test_elements"), _isin),
}  # fmt: skip
for _name, _class, _wanted in NAMED_RESULTS:
    _asked = [f"return_{part}" for part, named in zip(("index", "inverse", "counts"), _wanted, strict=True) if named]
    _ROWS[_name] = (("x",), "x", _unique_named(_class, _asked))
take_complex(_ROWS)
_METHODS = {"complex.sort": _in_place(_sort, _SORT), "complex.partition": _in_place(_partition(_sort), _KTH),
            "numpy.sort_complex": _sort_complex}  # fmt: skip
INTERCEPT[:0] = [_lexsort, lambda cx, name, given, keywords: (
    _METHODS[name](cx, given, keywords) if name in _METHODS else None)]  # fmt: skip
HANDLERS.update(_METHODS)

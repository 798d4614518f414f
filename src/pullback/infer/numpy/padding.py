"""np.pad: the inside is copied once, then each axis gets its margins, the earlier axes with theirs.

    np.pad(a, 1, mode="edge")      empty; o[1:-1] = a; pad_edge(o, 1, 1)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pullback.infer.calls import call
from pullback.infer.creation import empty
from pullback.infer.elementwise import array_sizes, ordered_as, require_room
from pullback.infer.engine import Frame
from pullback.infer.filling import fill
from pullback.infer.lattice import WEAK_INT
from pullback.infer.numpy.axes import moved_axis, of_array, rank_of
from pullback.infer.numpy.repeats import dtype_in
from pullback.infer.registry import HANDLERS, prelude
from pullback.infer.values import AV, items_of
from pullback.infer.views import array_of, integer
from pullback.ir.node import Value
from pullback.types import Array, Constant, Dict, List, NoneType, Str, Tuple, show

__all__: list[str] = []

Pair = tuple[AV, AV]
_MODES = {
    "constant": "constant", "edge": "edge", "reflect": "mirror", "symmetric": "mirror", "wrap": "wrap",
    "linear_ramp": "ramp", "mean": "mean", "median": "median", "maximum": "max", "minimum": "min", "empty": "",
}  # fmt: skip
_OPTIONS = {
    "constant": {"constant_values"}, "linear_ramp": {"end_values"}, "reflect": {"reflect_type"},
    "symmetric": {"reflect_type"}, "mean": {"stat_length"}, "median": {"stat_length"},
    "maximum": {"stat_length"}, "minimum": {"stat_length"},
}  # fmt: skip
_NAMES = ("array", "pad_width", "mode", "constant_values", "end_values", "reflect_type", "stat_length")


def _pad(cx: Frame, av: AV, found: Mapping[str, AV]) -> AV:
    given = found.get("mode")
    mode = "constant" if given is None else given.type.value if isinstance(given.type, Str) else ""
    if mode not in _MODES:
        help = "one of " + ", ".join(map(repr, _MODES))
        raise cx.error(f"mode '{mode}' of np.pad is not supported", "known are those below", help)
    more = set(found) - {"array", "pad_width", "mode"} - _OPTIONS.get(mode, set())
    if more:
        title = f"unsupported keyword arguments for mode '{mode}': {more}"
        raise cx.error(title, "this mode has no such argument", raised=("ValueError", title))
    widths = _pairs(cx, found["pad_width"], rank_of(av))
    sides = [(_width(cx, low), _width(cx, high)) for low, high in widths]
    sizes = array_sizes(cx, av)
    total = [cx.e("add", cx.e("add", low, size), high) for (low, high), size in zip(sides, sizes, strict=True)]
    require_room(cx, total, dtype_in(av))
    out = empty(cx, total, dtype_in(av))
    fill(cx, _inside(cx, out, sides, sizes, 0), av)
    for axis in range(rank_of(av)):
        _pad_axis(cx, out, axis, mode, (sides, sizes), found)
    return ordered_as(out, [av])


def _width(cx: Frame, av: AV) -> Value:
    number = integer(cx, av)
    cx.check(cx.e("ge", number, cx.e.integer(0)), "ValueError", "index can't contain negative values")
    return number


def _inside(
    cx: Frame, out: AV, sides: Sequence[tuple[Value, Value]], sizes: Sequence[Value], first: int
) -> AV:
    """The view without the margins of the axes from `first` on."""
    assert isinstance(out.type, Array)
    value = out.value
    for axis in range(first, out.type.rank):
        value = cx.e("view_slice", value, sides[axis][0], sizes[axis], cx.e.integer(1), axis=axis, unit=True)
    return array_of(value, out.type)


def _pad_axis(
    cx: Frame, out: AV, axis: int, mode: str, layout: tuple[Sequence[tuple[Value, Value]], Sequence[Value]],
    found: Mapping[str, AV],
) -> None:  # fmt: skip
    sides, sizes = layout
    if mode == "empty":
        return
    low, high = sides[axis]
    e, zero = cx.e, cx.e.integer(0)
    if mode != "constant":
        none = e("and_", e("eq", low, zero), e("eq", high, zero))
        message = f"can't extend empty axis {axis} using modes other than 'constant' or 'empty'"
        cx.check(e("or_", none, e("ne", sizes[axis], zero)), "ValueError", message)
    view = moved_axis(cx, _inside(cx, out, sides, sizes, axis + 1), axis, 0)
    extra = _extra(cx, mode, axis, rank_of(out), sizes[axis], found)
    name = _MODES[mode]
    if name == "mirror" and _is_odd(cx, found):
        name = "odd"
    if name in ("ramp", "mean", "median"):
        extra.append(AV(Constant(dtype_in(out).is_int)))
    arguments = [view, AV(WEAK_INT, (low,)), AV(WEAK_INT, (high,)), *extra]
    some = e("or_", e("gt", low, zero), e("gt", high, zero))

    def run() -> list[AV]:
        call(cx, prelude(cx, f"pullback.pad_{name}"), arguments, {})
        return []

    cx.choose(some, run, list)


def _extra(cx: Frame, mode: str, axis: int, rank: int, size: Value, found: Mapping[str, AV]) -> list[AV]:
    """What a mode takes besides the widths, of one axis."""
    zero = AV(WEAK_INT, (cx.e.integer(0),), 0)
    match mode:
        case "constant" | "linear_ramp":
            values = found.get("constant_values" if mode == "constant" else "end_values", zero)
            return list(_pairs(cx, values, rank)[axis])
        case "reflect" | "symmetric":
            return [AV(Constant(mode == "symmetric"))]
        case "mean" | "median" | "maximum" | "minimum":
            if "stat_length" not in found or isinstance(found["stat_length"].type, NoneType):
                return [AV(WEAK_INT, (size,))] * 2
            return [_stat_length(cx, mode, av, size) for av in _pairs(cx, found["stat_length"], rank)[axis]]
    return []


def _stat_length(cx: Frame, mode: str, av: AV, size: Value) -> AV:
    number = integer(cx, av)
    if mode not in ("mean", "median"):
        message = "stat_length of 0 yields no value for padding"
        cx.check(cx.e("gt", number, cx.e.integer(0)), "ValueError", message)
    return AV(WEAK_INT, (cx.e("minimum", number, size),))


def _is_odd(cx: Frame, found: Mapping[str, AV]) -> bool:
    kind = getattr(found["reflect_type"].type, "value", None) if "reflect_type" in found else "even"
    if kind not in ("even", "odd"):
        raise cx.error("reflect_type is 'even' or 'odd'", show(found["reflect_type"].type))
    return kind == "odd"


def _pairs(cx: Frame, av: AV, rank: int) -> list[Pair]:
    """One pair for each axis: of a number, (number,), a pair for all, a pair for each, or a dict by axis."""
    if isinstance(av.type, Dict):
        raise cx.error("np.pad with a dict of widths is not supported", show(av.type), "write a pair for each axis")
    if not isinstance(av.type, Tuple | List):
        return [(av, av)] * rank
    items = items_of(av)
    if not any(isinstance(item.type, Tuple | List) for item in items):
        if len(items) not in (1, 2):
            raise _no_fit(cx, av, rank)
        return [(items[0], items[-1])] * rank
    pairs = [_pair(cx, item, av, rank) for item in items]
    if len(pairs) not in (1, rank):
        raise _no_fit(cx, av, rank)
    return pairs * (rank if len(pairs) == 1 else 1)


def _pair(cx: Frame, item: AV, whole: AV, rank: int) -> Pair:
    if not isinstance(item.type, Tuple | List) or len(items_of(item)) not in (1, 2):
        raise _no_fit(cx, whole, rank)
    found = items_of(item)
    return found[0], found[-1]


def _no_fit(cx: Frame, av: AV, rank: int) -> Exception:
    title = f"operands could not be broadcast together with remapped shapes: a pair for each of {rank} axes is needed"
    return cx.error(title, show(av.type), raised=("ValueError", title))


HANDLERS["numpy.pad"] = of_array("numpy.pad", _NAMES, _pad)

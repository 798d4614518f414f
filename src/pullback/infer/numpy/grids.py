"""Arrays made from a rule for their places: eye, tri, diag, meshgrid, indices, and index arrays of such places.

    np.eye(3, k=1)            zeros, then a loop of the prelude along the diagonal
    np.meshgrid(x, y)         each axis broadcast into a fresh array
    np.tril_indices(n)        the places where np.tri(n) is true
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from pullback.infer.binding import pack_tuple
from pullback.infer.calls import call, call_builtin
from pullback.infer.creation import arguments_of, array_like, array_or_number, cast, dtype_of, empty, sizes_of
from pullback.infer.dispatch import dispatch
from pullback.infer.elementwise import array_sizes, require_room
from pullback.infer.engine import Frame
from pullback.infer.fancy import true_places, unraveled
from pullback.infer.filling import copy, writable
from pullback.infer.lattice import WEAK_INT
from pullback.infer.numbers import as_number
from pullback.infer.numpy.axes import expanded, is_none, of_array, rank_of, several, spread
from pullback.infer.numpy.repeats import dtype_in, spread_to, weak
from pullback.infer.numpy.shapes import flattened, reshaped
from pullback.infer.registry import HANDLERS, Handler, prelude
from pullback.infer.static import static_flag, static_int
from pullback.infer.values import AV
from pullback.infer.views import integer
from pullback.ir.node import Value
from pullback.types import NONE, Array, Constant, DType, Number, Scalar, Str, show

__all__ = ["placed", "ramp"]


def _zero(cx: Frame) -> AV:
    return AV(WEAK_INT, (cx.e.integer(0),), 0)


def _square(cx: Frame, found: Mapping[str, AV], dtype: DType) -> AV:
    """Zeros of N rows and M columns, of as many columns as rows if M is not given."""
    rows = found["N"]
    columns = rows if is_none(found, "M") else found["M"]
    shape = pack_tuple([as_number(cx, rows), as_number(cx, columns)])
    return empty(cx, sizes_of(cx, shape, dtype), dtype, "array_zeros")


def _made(name: str, loop: str) -> Handler:
    def handler(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
        names = ("n", "dtype") if name == "identity" else ("N", "M", "k", "dtype")
        found = arguments_of(cx, f"numpy.{name}", names, given, keywords)
        if "n" in found:
            found["N"] = found.pop("n")
        if "N" not in found:
            raise cx.type_error(f"{name}() missing 1 required positional argument: 'N'")
        fresh = _square(cx, found, dtype_of(cx, found.get("dtype")))
        return call(cx, prelude(cx, f"pullback.{loop}"), [fresh, found.get("k", _zero(cx))], {})

    return handler


def _triangle(lower: bool) -> Callable[[Frame, AV, Mapping[str, AV]], AV]:
    """np.tril and np.triu: of the last two axes, what lies outside is 0."""

    def rule(cx: Frame, av: AV, found: Mapping[str, AV]) -> AV:
        if rank_of(av) == 0:
            title = "tuple index out of range"
            raise cx.error("a triangle of a number has no meaning", show(av.type), raised=("IndexError", title))
        rows, columns = array_sizes(cx, av)[-2:] if rank_of(av) > 1 else array_sizes(cx, av) * 2
        mask = empty(cx, [rows, columns], DType.BOOL, "array_zeros")
        k = found.get("k", _zero(cx))
        if not lower:
            k = call_builtin(cx, "operator.sub", [k, AV(WEAK_INT, (cx.e.integer(1),), 1)], {})
        mask = call(cx, prelude(cx, "pullback.set_triangle"), [mask, k], {})
        none = AV(Number(dtype_in(av), False), (cx.e.constant(0, Scalar(dtype_in(av))),))
        return call_builtin(cx, "numpy.where", [mask, *((av, none) if lower else (none, av))], {})

    return rule


def _diag(cx: Frame, av: AV, found: Mapping[str, AV]) -> AV:
    k = found.get("k", _zero(cx))
    if rank_of(av) == 2:
        return call_builtin(cx, "numpy.diagonal", [av, k], {})
    if rank_of(av) != 1:
        title = "Input must be 1- or 2-d."
        raise cx.error(title, show(av.type), raised=("ValueError", title))
    size = cx.e("add", array_sizes(cx, av)[0], cx.e("abs", integer(cx, k)))
    require_room(cx, [size, size], dtype_in(av))
    fresh = empty(cx, [size, size], dtype_in(av), "array_zeros")
    return call(cx, prelude(cx, "pullback.put_diagonal"), [fresh, av, k], {})


def _diagflat(cx: Frame, av: AV, found: Mapping[str, AV]) -> AV:
    return _diag(cx, flattened(cx, raised_row(cx, av)), found)


def raised_row(cx: Frame, av: AV) -> AV:
    """An array of at least one axis."""
    return expanded(cx, av, 0) if rank_of(av) == 0 else av


def _fill_diagonal(cx: Frame, av: AV, found: Mapping[str, AV]) -> AV:
    if not isinstance(found["a"].type, Array) or rank_of(av) < 2:
        title = "array must be at least 2-d"
        raise cx.error(title, show(found["a"].type), raised=("ValueError", title))
    writable(cx, av)
    wrap = "wrap" in found and static_flag(cx, found["wrap"], "wrap")
    values = copy(cx, flattened(cx, raised_row(cx, array_like(cx, as_number(cx, found["val"])))))
    sizes = array_sizes(cx, av)
    for size in sizes[1:] if rank_of(av) > 2 else ():
        message = "All dimensions of input must be of equal length"
        cx.check(cx.e("eq", size, sizes[0]), "ValueError", message, shapes=True)
    name = "fill_diagonal" if rank_of(av) == 2 else "fill_diagonals"
    extra = [AV(Constant(wrap), (), wrap)] if rank_of(av) == 2 else []
    call(cx, prelude(cx, f"pullback.{name}"), [av, values, *extra], {})
    return AV(NONE)


# --------------------------------------------------------------------------------------------------------- grids


def ramp(cx: Frame, size: Value, dtype: DType) -> AV:
    """0, 1, 2, ... in a dtype."""
    found = call_builtin(cx, "numpy.arange", [weak(size)], {})
    return found if dtype is DType.I64 else cast(cx, found, dtype)


def placed(cx: Frame, av: AV, axis: int, rank: int) -> AV:
    """A row as the given axis of an array, whose other axes have size 1."""
    for k in range(rank):
        if k != axis:
            av = expanded(cx, av, k)
    return av


def _in_a_row(cx: Frame, av: AV) -> AV:
    """All elements in a row: the array itself where they are, else as `reshape` gives them."""
    return av if rank_of(av) == 1 else reshaped(cx, av, [AV(WEAK_INT, (cx.e.integer(-1),), -1)])


def _meshgrid(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    found = arguments_of(cx, "numpy.meshgrid", ("copy", "sparse", "indexing"), (), keywords)
    indexing = found["indexing"].type.value if "indexing" in found and isinstance(found["indexing"].type, Str) else "xy"
    if indexing not in ("xy", "ij"):
        title = "Valid values for `indexing` are 'xy' and 'ij'."
        raise cx.error(title, show(found["indexing"].type), raised=("ValueError", title))
    sparse = "sparse" in found and static_flag(cx, found["sparse"], "sparse")
    copying = "copy" not in found or static_flag(cx, found["copy"], "copy")

    def rule(cx: Frame, operands: Sequence[AV]) -> AV:
        rows = [_in_a_row(cx, raised_row(cx, array_like(cx, as_number(cx, av)))) for av in operands]
        order = list(range(len(rows)))
        if indexing == "xy" and len(rows) > 1:
            order[0], order[1] = 1, 0
        sizes = [array_sizes(cx, rows[k])[0] for k in order]
        axes = [placed(cx, row, order.index(k), len(rows)) for k, row in enumerate(rows)]
        if sparse:
            return pack_tuple([copy(cx, av) if copying else av for av in axes])
        return pack_tuple([spread_to(cx, av, sizes) if copying else spread(cx, av, sizes) for av in axes])

    return dispatch(cx, given, rule)


def _index_grids(cx: Frame, shape: AV, dtype: DType) -> list[AV]:
    """For each axis its index at every place."""
    sizes = sizes_of(cx, shape, dtype)
    return [spread_to(cx, placed(cx, ramp(cx, size, dtype), k, len(sizes)), sizes) for k, size in enumerate(sizes)]


def _indices(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    found = arguments_of(cx, "numpy.indices", ("dimensions", "dtype", "sparse"), given, keywords)
    dtype = dtype_of(cx, found.get("dtype"), DType.I64)
    if "sparse" in found and static_flag(cx, found["sparse"], "sparse"):
        sizes = sizes_of(cx, found["dimensions"], dtype)
        return pack_tuple([placed(cx, ramp(cx, size, dtype), k, len(sizes)) for k, size in enumerate(sizes)])
    grids = _index_grids(cx, found["dimensions"], dtype)
    if not grids:
        return empty(cx, [cx.e.integer(0)], dtype)
    return call_builtin(cx, "numpy.stack", [pack_tuple(grids)], {})


def _fromfunction(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    more = dict(keywords)
    dtype = dtype_of(cx, more.pop("dtype", None))
    function, shape = given
    return call(cx, function, _index_grids(cx, shape, dtype), more)


def _ix(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    arguments_of(cx, "numpy.ix_", (), (), keywords)
    found: list[AV] = []
    for number, av in enumerate(given):
        row = array_like(cx, av)
        if rank_of(row) != 1:
            title = "Cross index must be 1 dimensional"
            raise cx.error(title, show(row.type), raised=("ValueError", title))
        row = true_places(cx, row)[0] if dtype_in(row) is DType.BOOL else row
        found.append(placed(cx, row, number, len(given)))
    return pack_tuple(found)


# ------------------------------------------------------------------------------------------- arrays of such places


def _diag_indices(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    found = arguments_of(cx, "numpy.diag_indices", ("n", "ndim"), given, keywords)
    count = static_int(cx, found["ndim"], "ndim") if "ndim" in found else 2
    row = ramp(cx, integer(cx, found["n"]), DType.I64)
    return pack_tuple([row] * count)


def _diag_indices_from(cx: Frame, av: AV, found: Mapping[str, AV]) -> AV:
    sizes = array_sizes(cx, av)
    if len(sizes) < 2:
        title = "input array must be at least 2-d"
        raise cx.error(title, show(av.type), raised=("ValueError", title))
    for size in sizes[1:]:
        message = "All dimensions of input must be of equal length"
        cx.check(cx.e("eq", size, sizes[0]), "ValueError", message, shapes=True)
    return pack_tuple([ramp(cx, sizes[0], DType.I64)] * len(sizes))


def _triangle_places(cx: Frame, rows: AV, columns: AV, k: AV, lower: bool) -> AV:
    fresh = empty(cx, sizes_of(cx, pack_tuple([rows, columns]), DType.BOOL), DType.BOOL, "array_zeros")
    if not lower:
        k = call_builtin(cx, "operator.sub", [k, AV(WEAK_INT, (cx.e.integer(1),), 1)], {})
    mask = call(cx, prelude(cx, "pullback.set_triangle"), [fresh, k], {})
    if not lower:
        mask = call_builtin(cx, "numpy.logical_not", [mask], {})
    return pack_tuple(true_places(cx, mask))


def _triangle_indices(lower: bool) -> Handler:
    name = "tril_indices" if lower else "triu_indices"

    def handler(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
        found = arguments_of(cx, f"numpy.{name}", ("n", "k", "m"), given, keywords)
        rows = as_number(cx, found["n"])
        columns = rows if is_none(found, "m") else as_number(cx, found["m"])
        return _triangle_places(cx, rows, columns, found.get("k", _zero(cx)), lower)

    return handler


def _triangle_indices_from(lower: bool) -> Callable[[Frame, AV, Mapping[str, AV]], AV]:
    def rule(cx: Frame, av: AV, found: Mapping[str, AV]) -> AV:
        if rank_of(av) != 2:
            title = "input array must be 2-d"
            raise cx.error(title, show(av.type), raised=("ValueError", title))
        rows, columns = (weak(size) for size in array_sizes(cx, av))
        return _triangle_places(cx, rows, columns, found.get("k", _zero(cx)), lower)

    return rule


def _unravel_index(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    found = arguments_of(cx, "numpy.unravel_index", ("indices", "shape", "order"), given, keywords)
    sizes = [integer(cx, size) for size in several(cx, found["shape"], "a shape")]
    flip = _is_columns(cx, found)
    places = array_like(cx, as_number(cx, found["indices"]))
    total = cx.e.integer(1)
    for size in sizes:
        total = cx.e("mul", total, size)
    bad = call(cx, prelude(cx, "pullback.no_start"), [flattened(cx, raised_row(cx, places)), weak(total)], {})
    first = integer(cx, bad)
    inside = cx.e("and_", cx.e("ge", first, cx.e.integer(0)), cx.e("lt", first, total))
    some = cx.e("or_", inside, cx.e("eq", cx.e.integer(0), first))
    cx.check(some, "ValueError", "index {0} is out of bounds for array with size {1}", first, total)
    if dtype_in(places) is not DType.I64:
        places = cast(cx, places, DType.I64)
    number = as_number(cx, places)
    indices = unraveled(cx, number, sizes[::-1] if flip else sizes)
    return pack_tuple(indices[::-1] if flip else indices)


def _is_columns(cx: Frame, found: Mapping[str, AV]) -> bool:
    order = found["order"].type.value if "order" in found and isinstance(found["order"].type, Str) else "C"
    if order not in ("C", "F"):
        raise cx.error("order is 'C' or 'F'", show(found["order"].type))
    return order == "F"


def _ravel_multi_index(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    names = ("multi_index", "dims", "mode", "order")
    found = arguments_of(cx, "numpy.ravel_multi_index", names, given, keywords)
    sizes = [integer(cx, size) for size in several(cx, found["dims"], "the sizes")]
    if isinstance(found["multi_index"].type, Array):
        raise cx.error("np.ravel_multi_index takes a tuple of index arrays", show(found["multi_index"].type),
                       "write tuple(index), or the rows one by one")  # fmt: skip
    parts = several(cx, found["multi_index"], "the indices")
    if len(parts) != len(sizes):
        title = f"parameter multi_index must be a sequence of length {len(sizes)}"
        raise cx.error(title, f"{len(parts)} are given", raised=("ValueError", title))
    mode = found["mode"].type.value if "mode" in found and isinstance(found["mode"].type, Str) else "raise"
    pairs = list(zip([_numbers(cx, part) for part in parts], sizes, strict=True))
    result: AV | None = None
    for part, size in pairs[::-1] if _is_columns(cx, found) else pairs:
        index = _bounded(cx, part, weak(size), mode)
        if result is not None:
            scaled = call_builtin(cx, "operator.mul", [result, weak(size)], {})
            index = call_builtin(cx, "operator.add", [scaled, index], {})
        result = index
    assert result is not None
    number = as_number(cx, result)
    return AV(Number(DType.I64, False), number.values) if isinstance(number.type, Number) else number


def _numbers(cx: Frame, av: AV) -> AV:
    return array_or_number(cx, av)


def _bounded(cx: Frame, index: AV, size: AV, mode: str) -> AV:
    if mode == "wrap":
        return call_builtin(cx, "operator.mod", [index, size], {})
    if mode == "clip":
        last = AV(WEAK_INT, (cx.e("sub", size.value, cx.e.integer(1)),))
        return call_builtin(cx, "numpy.clip", [index, _zero(cx), last], {})
    row = flattened(cx, raised_row(cx, array_like(cx, index)))
    bad = integer(cx, call(cx, prelude(cx, "pullback.no_start"), [row, size], {}))
    inside = cx.e("and_", cx.e("ge", bad, cx.e.integer(0)), cx.e("lt", bad, size.value))
    nothing = cx.e("eq", cx.e("array_size", row.value, axis=0), cx.e.integer(0))
    cx.check(cx.e("or_", inside, nothing), "ValueError", "invalid entry in coordinates array")
    return index


HANDLERS.update({
    "numpy.eye": _made("eye", "set_diagonal"), "numpy.identity": _made("identity", "set_diagonal"),
    "numpy.tri": _made("tri", "set_triangle"), "numpy.tril": of_array("numpy.tril", ("m", "k"), _triangle(True)),
    "numpy.triu": of_array("numpy.triu", ("m", "k"), _triangle(False)),
    "numpy.diag": of_array("numpy.diag", ("v", "k"), _diag),
    "numpy.diagflat": of_array("numpy.diagflat", ("v", "k"), _diagflat),
    "numpy.fill_diagonal": of_array("numpy.fill_diagonal", ("a", "val", "wrap"), _fill_diagonal),
    "numpy.meshgrid": _meshgrid, "numpy.indices": _indices, "numpy.fromfunction": _fromfunction, "numpy.ix_": _ix,
    "numpy.diag_indices": _diag_indices,
    "numpy.diag_indices_from": of_array("numpy.diag_indices_from", ("arr",), _diag_indices_from),
    "numpy.tril_indices": _triangle_indices(True), "numpy.triu_indices": _triangle_indices(False),
    "numpy.tril_indices_from": of_array("numpy.tril_indices_from", ("arr", "k"), _triangle_indices_from(True)),
    "numpy.triu_indices_from": of_array("numpy.triu_indices_from", ("arr", "k"), _triangle_indices_from(False)),
    "numpy.unravel_index": _unravel_index, "numpy.ravel_multi_index": _ravel_multi_index,
})  # fmt: skip

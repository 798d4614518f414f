"""np.linalg.norm and what is made of it: vector_norm, matrix_norm, cond.

norm(x)                     sqrt(sum(x * x)), one pass; its derivative at 0 is 0, by the strong zero of sqrt
norm(a, 1, axis=(0, 1))     the largest sum of a column: sums and maxima along axes
norm(a, "nuc")              singular values
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from pullback.infer.arithmetic import binary
from pullback.infer.calls import call_builtin
from pullback.infer.complexes import single
from pullback.infer.creation import arguments_of
from pullback.infer.dispatch import dispatch
from pullback.infer.elementwise import array_sizes, elementwise
from pullback.infer.engine import Frame
from pullback.infer.lattice import WEAK_FLOAT, WEAK_INT
from pullback.infer.linear import joined, product_of
from pullback.infer.numpy.axes import expanded, moved, rank_of
from pullback.infer.numpy.contract import elementwise_of_parts
from pullback.infer.numpy.linalg import matrices, real_part
from pullback.infer.numpy.shapes import axis_of
from pullback.infer.registry import HANDLERS, Handler
from pullback.infer.static import static_int
from pullback.infer.values import AV, MISSING, items_of
from pullback.runtime.fixed import is_static
from pullback.types import Array, Complex, Constant, List, NoneType, Number, Str, Tuple, show

__all__: list[str] = []

Order = float | str | None


def _norm(name: str, names: Sequence[str] = ("x", "ord", "axis", "keepdims", "check_finite")) -> Handler:
    def handler(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
        found = arguments_of(cx, name, names, given, keywords)
        subject = found.get("x", found.get("a"))
        if subject is None:
            raise cx.type_error(f"{name}() takes an array")
        order, keep = _order(cx, found.get("ord")), _flag(cx, found.get("keepdims"))

        def rule(cx: Frame, operands: Sequence[AV]) -> AV:
            (x,) = matrices(cx, operands)
            return _of_axes(cx, x, order, found.get("axis"), keep)

        return dispatch(cx, [subject], rule)

    return handler


def _order(cx: Frame, av: AV | None) -> Order | AV:
    """The order where it is known; a number that only the run knows is one of a vector."""
    if av is None or isinstance(av.type, NoneType):
        return None
    if isinstance(av.type, Str):
        return av.type.value
    known = cx.literal_of(av)
    if isinstance(known, int | float) and known is not MISSING:
        return float(known)
    if isinstance(av.type, Number):
        return av
    raise cx.error("np.linalg.norm: the order must be a number, a string or None", show(av.type))


def _flag(cx: Frame, av: AV | None) -> bool:
    if av is None:
        return False
    if not isinstance(av.type, Constant):
        raise cx.error("keepdims must be written as True or False", show(av.type))
    return av.type.value


def _of_axes(cx: Frame, x: AV, order: Order | AV, axis: AV | None, keep: bool) -> AV:
    rank = rank_of(real_part(x))
    if axis is None or isinstance(axis.type, NoneType):
        if order is None or (order in ("f", "fro") and rank == 2) or (order == 2.0 and rank == 1):
            return _kept(cx, _root_of_squares(cx, _flat(cx, x), 0), list(range(rank)), keep)
        axes = list(range(rank))
    else:
        parts = items_of(axis) if isinstance(axis.type, Tuple | List) else [axis]
        axes = [axis_of(cx, part, rank) for part in parts]
    if len(axes) == 1:
        return _kept(cx, _of_vectors(cx, x, order, axes[0]), axes, keep)
    if len(axes) == 2:
        if axes[0] == axes[1]:
            raise cx.error("Duplicate axes given.", "", raised=("ValueError", "Duplicate axes given."))
        return _kept(cx, _of_matrices(cx, x, order, axes), axes, keep)
    raise cx.error("Improper number of dimensions to norm.", f"{len(axes)} axes",
                   raised=("ValueError", "Improper number of dimensions to norm."))  # fmt: skip


def _flat(cx: Frame, x: AV) -> AV:
    """All elements in one axis, to be read only."""
    if rank_of(real_part(x)) == 1:
        return x
    return elementwise_of_parts(cx, x, lambda cx, v: joined(cx, v, [product_of(cx, array_sizes(cx, v))]))


def _kept(cx: Frame, result: AV, axes: Sequence[int], keep: bool) -> AV:
    if not keep:
        return result
    if isinstance(result.type, Number):
        result = call_builtin(cx, "numpy.asarray", [result], {})
    for axis in sorted(axes):
        result = expanded(cx, result, axis)
    return result


# ---------------------------------------------------------------------------------------------------------- vectors


def _number(cx: Frame, value: float) -> AV:
    return AV(WEAK_FLOAT, (cx.e.constant(value),), value)


def _reduce(cx: Frame, name: str, x: AV, axis: int) -> AV:
    return call_builtin(cx, f"numpy.{name}", [x], {"axis": AV(WEAK_INT, (cx.e.integer(axis),), axis)})


def _squares(cx: Frame, x: AV) -> AV:
    """|x|**2 of every element."""
    if not isinstance(x.type, Complex):
        return binary(cx, "*", x, x)
    return single(cx, _halves(x), lambda e, p: e("add", e("mul", p[0], p[0]), e("mul", p[1], p[1])))


def _halves(x: AV) -> list[AV]:
    assert isinstance(x.type, Complex)
    half = len(x.values) // 2
    return [AV(x.type.real, x.values[:half]), AV(x.type.imag, x.values[half:])]


def _sizes(cx: Frame, x: AV) -> AV:
    return call_builtin(cx, "numpy.abs", [x], {})


def _root_of_squares(cx: Frame, x: AV, axis: int) -> AV:
    return call_builtin(cx, "numpy.sqrt", [_reduce(cx, "sum", _squares(cx, x), axis)], {})


def _of_vectors(cx: Frame, x: AV, order: Order | AV, axis: int) -> AV:
    if isinstance(order, str):
        title = f"Invalid norm order '{order}' for vectors"
        raise cx.error(title, "", raised=("ValueError", title))
    if order is None or order == 2.0:
        return _root_of_squares(cx, x, axis)
    if isinstance(order, AV):
        return _power_sum(cx, x, order, axis)
    if order == math.inf:
        return _reduce(cx, "max", _sizes(cx, x), axis)
    if order == -math.inf:
        return _reduce(cx, "min", _sizes(cx, x), axis)
    if order == 0.0:
        real = real_part(x)
        assert isinstance(real.type, Array)
        dtype, sizes = real.type.dtype, _sizes(cx, x)

        def item(cx: Frame, items: Sequence[AV]) -> AV:
            one, zero = cx.e.like(1.0, items[0].value), cx.e.like(0.0, items[0].value)
            return AV(Number(dtype, False), (cx.e("select", cx.e("ne", items[0].value, zero), one, zero),))

        return _reduce(cx, "sum", elementwise(cx, [sizes], item), axis)
    if order == 1.0:
        return _reduce(cx, "sum", _sizes(cx, x), axis)
    return _power_sum(cx, x, _number(cx, order), axis)


def _power_sum(cx: Frame, x: AV, order: AV, axis: int) -> AV:
    total = _reduce(cx, "sum", call_builtin(cx, "numpy.power", [_sizes(cx, x), order], {}), axis)
    return call_builtin(cx, "numpy.power", [total, binary(cx, "/", _number(cx, 1.0), order)], {})


# --------------------------------------------------------------------------------------------------------- matrices


def _of_matrices(cx: Frame, x: AV, order: Order | AV, axes: Sequence[int]) -> AV:
    row, column = axes
    first, second = (row - (row > column), column - (column > row))
    if isinstance(order, AV) and is_static(order.type):
        order = float(static_int(cx, order, "the order of a matrix norm"))
    if isinstance(order, AV):
        raise cx.error("np.linalg.norm: the order of a matrix norm must be written out", "only the run knows it")
    if order is None or order in ("f", "fro"):
        low, high = sorted(axes)
        return call_builtin(cx, "numpy.sqrt", [_reduce(cx, "sum", _reduce(cx, "sum", _squares(cx, x), high), low)], {})
    if order in (1.0, -1.0):
        return _reduce(cx, "max" if order > 0 else "min", _reduce(cx, "sum", _sizes(cx, x), row), second)
    if order in (math.inf, -math.inf):
        return _reduce(cx, "max" if order > 0 else "min", _reduce(cx, "sum", _sizes(cx, x), column), first)
    if order in (2.0, -2.0, "nuc"):
        rank = rank_of(real_part(x))
        perm = [axis for axis in range(rank) if axis not in axes] + [row, column]
        turned = elementwise_of_parts(cx, x, lambda cx, v: moved(cx, v, perm))
        values = call_builtin(cx, "numpy.linalg.svdvals", [turned], {})
        kind = {2.0: "max", -2.0: "min", "nuc": "sum"}[order]
        return _reduce(cx, kind, values, rank - 2)
    title = "Invalid norm order for matrices."
    raise cx.error(title, f"the order is {order!r}", raised=("ValueError", title))


def _matrix_norm(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    found = arguments_of(cx, "numpy.linalg.matrix_norm", ("x", "keepdims", "ord"), given, keywords)
    order = _order(cx, found["ord"]) if "ord" in found else "fro"

    def rule(cx: Frame, operands: Sequence[AV]) -> AV:
        (x,) = matrices(cx, operands)
        rank = rank_of(real_part(x))
        return _kept(cx, _of_matrices(cx, x, order, (rank - 2, rank - 1)), (rank - 2, rank - 1),
                     _flag(cx, found.get("keepdims")))  # fmt: skip

    return dispatch(cx, [found["x"]], rule)


def _vector_norm(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    found = arguments_of(cx, "numpy.linalg.vector_norm", ("x", "axis", "keepdims", "ord"), given, keywords)
    order = _order(cx, found["ord"]) if "ord" in found else 2.0
    keep, axis = _flag(cx, found.get("keepdims")), found.get("axis")

    def rule(cx: Frame, operands: Sequence[AV]) -> AV:
        (x,) = matrices(cx, operands)
        rank = rank_of(real_part(x))
        if axis is None or isinstance(axis.type, NoneType):
            return _kept(cx, _of_vectors(cx, _flat(cx, x), order, 0), range(rank), keep)
        if isinstance(axis.type, Tuple | List):
            axes = [axis_of(cx, part, rank) for part in items_of(axis)]
            return _kept(cx, _over_several(cx, x, order, axes), axes, keep)
        place = axis_of(cx, axis, rank)
        return _kept(cx, _of_vectors(cx, x, order, place), [place], keep)

    return dispatch(cx, [found["x"]], rule)


def _over_several(cx: Frame, x: AV, order: Order | AV, axes: Sequence[int]) -> AV:
    """The axes joined to one, the last."""
    rank = rank_of(real_part(x))
    others = [axis for axis in range(rank) if axis not in axes]

    def turned(cx: Frame, v: AV) -> AV:
        view = moved(cx, v, [*others, *axes])
        sizes = array_sizes(cx, view)
        return joined(cx, view, [*sizes[: len(others)], product_of(cx, sizes[len(others) :])])

    return _of_vectors(cx, elementwise_of_parts(cx, x, turned), order, len(others))


def _cond(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    found = arguments_of(cx, "numpy.linalg.cond", ("x", "p"), given, keywords)
    order = _order(cx, found.get("p"))

    def rule(cx: Frame, operands: Sequence[AV]) -> AV:
        (x,) = matrices(cx, operands)
        rank = rank_of(real_part(x))
        if rank < 2:
            call_builtin(cx, "numpy.linalg.svdvals", [x], {})
            return cx.stop()
        if order is None or order in (2.0, -2.0):
            values = call_builtin(cx, "numpy.linalg.svdvals", [x], {})
            ends = [_reduce(cx, kind, values, rank - 2) for kind in ("max", "min")]
            return binary(cx, "/", *(ends if order != -2.0 else ends[::-1]))
        axes = (rank - 2, rank - 1)
        both = [_of_matrices(cx, m, order, axes) for m in (x, call_builtin(cx, "numpy.linalg.inv", [x], {}))]
        return binary(cx, "*", *both)

    return dispatch(cx, [found["x"]], rule)


HANDLERS.update({
    "numpy.linalg.norm": _norm("numpy.linalg.norm"), "numpy.linalg.matrix_norm": _matrix_norm,
    "numpy.linalg.vector_norm": _vector_norm, "numpy.linalg.cond": _cond,
    "scipy.linalg.norm": _norm("scipy.linalg.norm", ("a", "ord", "axis", "keepdims", "check_finite")),
})  # fmt: skip

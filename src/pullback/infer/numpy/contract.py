"""Products of arrays with axes chosen to be summed over: np.dot, inner, tensordot, outer, vdot, kron, vecdot, trace.

np.tensordot(a, b, axes)    both as tables, rows of the kept axes by columns of the summed ones: one matrix product
np.kron(a, b)               a and b with axes of size 1 between each other's, one elementwise product, a reshape
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from pullback.infer.arithmetic import binary
from pullback.infer.calls import call, call_builtin
from pullback.infer.complexes import complex_of, conjugate, halves, pair_of
from pullback.infer.creation import arguments_of, array_like, empty
from pullback.infer.dispatch import dispatch
from pullback.infer.elementwise import array_sizes
from pullback.infer.engine import Frame
from pullback.infer.filling import shaped
from pullback.infer.lattice import WEAK_INT
from pullback.infer.linear import common_dtype, inner, joined, matmul, matrix_product, of_bools, product_of
from pullback.infer.lists import is_array_like
from pullback.infer.numbers import as_number
from pullback.infer.numpy.axes import expanded, moved, moved_axis, part, rank_of
from pullback.infer.numpy.shapes import axis_of
from pullback.infer.registry import HANDLERS, Handler, prelude
from pullback.infer.static import static_int
from pullback.infer.values import AV, items_of
from pullback.types import Array, Complex, List, Number, Tuple, show

__all__ = ["contracted", "elementwise_of_parts", "product_of_parts"]

Product = Callable[[Frame, AV, AV], AV]


# ------------------------------------------------------------------------------------------------- complex numbers


def elementwise_of_parts(cx: Frame, av: AV, function: Callable[[Frame, AV], AV]) -> AV:
    """A linear function with real coefficients: of both parts of a complex array."""
    if not isinstance(av.type, Complex):
        return function(cx, av)
    real, imag = halves(av)
    return complex_of(function(cx, real), function(cx, imag))


def product_of_parts(cx: Frame, x: AV, y: AV, product: Product) -> AV:
    """A bilinear function, of the parts where one of the two is complex."""
    if not isinstance(x.type, Complex) and not isinstance(y.type, Complex):
        return product(cx, x, y)
    (a, b), (c, d) = pair_of(cx, x), pair_of(cx, y)

    def term(p: AV | None, q: AV | None) -> AV | None:
        return None if p is None or q is None else product(cx, p, q)

    def total(operator: str, p: AV | None, q: AV | None) -> AV:
        if p is None or q is None:
            found = q if p is None else p
            assert found is not None
            return found
        return binary(cx, operator, p, q)

    return complex_of(total("-", term(a, c), term(b, d)), total("+", term(a, d), term(b, c)))


def _both(name: str, product: Product) -> Handler:
    """A handler of two arrays and nothing else."""

    def handler(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
        found = arguments_of(cx, name, ("a", "b"), given, keywords)
        if len(found) != 2:
            raise cx.type_error(f"{name}() takes 2 arrays ({len(found)} given)")
        return dispatch(
            cx, [found["a"], found["b"]],
            lambda cx, pair: _numpys(cx, product_of_parts(cx, _plain(cx, pair[0]), _plain(cx, pair[1]), product)),
        )  # fmt: skip

    return handler


def _plain(cx: Frame, av: AV) -> AV:
    """A number, or an array of at least one axis; lists and tuples become arrays."""
    if is_array_like(av.type):
        av = array_like(cx, av)
    return elementwise_of_parts(cx, av, as_number)


def _numpys(cx: Frame, av: AV) -> AV:
    """A product of Python's numbers as a number of NumPy's."""
    kind = av.type.real if isinstance(av.type, Complex) else av.type
    if not isinstance(kind, Number) or not kind.weak:
        return av
    strong = replace(kind, weak=False)
    return AV(Complex(strong, strong) if isinstance(av.type, Complex) else strong, av.values)


def _is_number(av: AV) -> bool:
    return not isinstance(av.type, Array)


# ----------------------------------------------------------------------------------------------------- contraction


def contracted(cx: Frame, a: AV, b: AV, a_axes: Sequence[int], b_axes: Sequence[int], batch: int = 0) -> AV:
    """The sum of products over pairs of axes of equal sizes; the first `batch` axes of both stay, and agree.

    The axes of the result: those of the batch, the others of a, the others of b.  A number where none is left.
    """
    a, b, bools = common_dtype(cx, a, b)
    rest = [[axis for axis in range(batch, rank_of(av)) if axis not in axes] for av, axes in ((a, a_axes), (b, b_axes))]
    if not batch and not rest[0] and not rest[1]:
        return of_bools(cx, inner(cx, moved(cx, a, list(a_axes)), moved(cx, b, list(b_axes))), bools)
    lead = list(range(batch))
    left, right = moved(cx, a, [*lead, *rest[0], *a_axes]), moved(cx, b, [*lead, *b_axes, *rest[1]])
    sizes, others = array_sizes(cx, left), array_sizes(cx, right)
    first, second = sizes[batch : batch + len(rest[0])], others[batch + len(b_axes) :]
    kept = [product_of(cx, sizes[:batch])] if batch else []
    inside = product_of(cx, sizes[batch + len(rest[0]) :])
    left = joined(cx, left, [*kept, product_of(cx, first), inside])
    right = joined(cx, right, [*kept, inside, product_of(cx, second)])
    table = matrix_product(cx, left, right)
    return of_bools(cx, shaped(cx, table, [*sizes[:batch], *first, *second]), bools)


def _dot(cx: Frame, a: AV, b: AV) -> AV:
    """The last axis of a with the last but one of b; numbers multiply."""
    if _is_number(a) or _is_number(b):
        return binary(cx, "*", a, b)
    if rank_of(a) <= 2 and rank_of(b) <= 2:
        return matmul(cx, a, b, dot=True)
    return _over(cx, a, b, rank_of(a) - 1, max(rank_of(b) - 2, 0))


def _inner(cx: Frame, a: AV, b: AV) -> AV:
    """The last axes of both."""
    if _is_number(a) or _is_number(b):
        return binary(cx, "*", a, b)
    if rank_of(a) <= 2 and rank_of(b) <= 2:
        return matmul(cx, a, moved(cx, b, list(reversed(range(rank_of(b))))), dot=True)
    last = rank_of(b) - 1
    if last:
        b = moved_axis(cx, b, last, last - 1)
    return _over(cx, a, b, rank_of(a) - 1, max(last - 1, 0))


def _over(cx: Frame, a: AV, b: AV, axis: int, other: int) -> AV:
    """A contraction of one pair of axes, of which np.dot says what does not fit."""
    m, n = array_sizes(cx, a), array_sizes(cx, b)
    texts = ["(" + ",".join(f"{{{first + i}}}" for i in range(len(s))) + ("," if len(s) == 1 else "") + ")"
             for first, s in ((0, m), (len(m), n))]  # fmt: skip
    message = (f"shapes {texts[0]} and {texts[1]} not aligned: {{{axis}}} (dim {axis}) "
               f"!= {{{len(m) + other}}} (dim {other})")  # fmt: skip
    cx.check(cx.e("eq", m[axis], n[other]), "ValueError", message, *m, *n, shapes=True)
    return contracted(cx, a, b, [axis], [other])


def _tensordot(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    found = arguments_of(cx, "numpy.tensordot", ("a", "b", "axes"), given, keywords)

    def rule(cx: Frame, operands: Sequence[AV]) -> AV:
        a, b = (array if isinstance(array.type, Complex) else array_like(cx, array) for array in operands)
        whole = product_of_parts(cx, a, b, lambda cx, x, y: _tensor_product(cx, x, y, found.get("axes")))
        return elementwise_of_parts(cx, whole, _kept)

    return dispatch(cx, [found["a"], found["b"]], rule)


def _tensor_product(cx: Frame, a: AV, b: AV, axes: AV | None) -> AV:
    first, second = _pairs_of_axes(cx, axes, rank_of(a), rank_of(b))
    m, n = array_sizes(cx, a), array_sizes(cx, b)
    for axis, other in zip(first, second, strict=True):
        cx.check(cx.e("eq", m[axis], n[other]), "ValueError", "shape-mismatch for sum", shapes=True)
    return contracted(cx, a, b, first, second)


def _pairs_of_axes(cx: Frame, axes: AV | None, rank: int, other: int) -> tuple[list[int], list[int]]:
    if axes is not None and isinstance(axes.type, Tuple | List):
        if len(axes.type.items) != 2:
            raise cx.error("np.tensordot takes a number of axes, or two lists of them", show(axes.type))
        pair = [[axis_of(cx, part, r) for part in _parts(av)]
                for av, r in zip(items_of(axes), (rank, other), strict=True)]  # fmt: skip
        if len(pair[0]) != len(pair[1]):
            raise cx.error("np.tensordot: lists of axes of different lengths", show(axes.type),
                           raised=("ValueError", "shape-mismatch for sum"))  # fmt: skip
        return pair[0], pair[1]
    count = 2 if axes is None else static_int(cx, axes, "axes")
    if count > min(rank, other):
        raise cx.error(f"np.tensordot sums over {count} axes, of arrays of {rank} and {other}", "",
                       raised=("ValueError", "shape-mismatch for sum"))  # fmt: skip
    return list(range(rank - count, rank)), list(range(count))


def _parts(av: AV) -> list[AV]:
    return items_of(av) if isinstance(av.type, Tuple | List) else [av]


def _kept(cx: Frame, av: AV) -> AV:
    """A number as an array without axes, which is what NumPy gives here."""
    if not isinstance(av.type, Number):
        return av
    fresh = empty(cx, [], av.type.dtype)
    cx.e("array_swap", fresh.value, av.value)
    return fresh


# --------------------------------------------------------------------------------------------------- other products


def _flat(cx: Frame, av: AV) -> AV:
    """All elements, to be read only."""
    if _is_number(av):
        assert isinstance(av.type, Number)
        av = _kept(cx, av)
    sizes = array_sizes(cx, av)
    return av if len(sizes) == 1 else joined(cx, av, [product_of(cx, sizes)])


def _outer(cx: Frame, a: AV, b: AV) -> AV:
    return binary(cx, "*", expanded(cx, _flat(cx, a), 1), expanded(cx, _flat(cx, b), 0))


def _dot_flat(cx: Frame, a: AV, b: AV) -> AV:
    x, y = _flat(cx, a), _flat(cx, b)
    (m,), (n,) = array_sizes(cx, x), array_sizes(cx, y)
    cx.check(cx.e("eq", m, n), "ValueError", "cannot reshape array of size {1} into shape ({0},)", m, n, shapes=True)
    x, y, bools = common_dtype(cx, x, y)
    return of_bools(cx, inner(cx, x, y), bools)


def _conjugated(name: str, product: Product) -> Handler:
    plain = _both(name, product)

    def handler(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
        found = arguments_of(cx, name, ("a", "b"), given, keywords)
        return dispatch(cx, [found["a"], found["b"]], lambda cx, pair: plain(cx, [conjugate(cx, pair[0]), pair[1]], {}))

    return handler


def _kron(cx: Frame, a: AV, b: AV) -> AV:
    if _is_number(a) or _is_number(b):
        return binary(cx, "*", a, b)
    rank = max(rank_of(a), rank_of(b))
    for _ in range(rank - rank_of(a)):
        a = expanded(cx, a, 0)
    for _ in range(rank - rank_of(b)):
        b = expanded(cx, b, 0)
    sizes = [cx.e("mul", x, y) for x, y in zip(array_sizes(cx, a), array_sizes(cx, b), strict=True)]
    for axis in range(rank):
        a, b = expanded(cx, a, 2 * axis + 1), expanded(cx, b, 2 * axis)
    return shaped(cx, binary(cx, "*", a, b), sizes)


def _vecdot(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    """The sum over an axis of conj(a) * b, which broadcast."""
    found = arguments_of(cx, "numpy.vecdot", ("x1", "x2", "axis"), given, keywords)

    def rule(cx: Frame, operands: Sequence[AV]) -> AV:
        a, b = operands
        last = [array_sizes(cx, halves(av)[0] if isinstance(av.type, Complex) else av)[-1] for av in operands]
        if "axis" not in found:
            message = ("vecdot: Input operand 1 has a mismatch in its core dimension 0, with gufunc signature "
                       "(n),(n)->() (size {1} is different from {0})")  # fmt: skip
            cx.check(cx.e("eq", last[0], last[1]), "ValueError", message, *last, shapes=True)
        axis = found.get("axis", _minus_one(cx))
        return call_builtin(cx, "numpy.sum", [binary(cx, "*", conjugate(cx, a), b)], {"axis": axis})

    return dispatch(cx, [_plain(cx, found["x1"]), _plain(cx, found["x2"])], rule)


def _minus_one(cx: Frame) -> AV:
    return AV(WEAK_INT, (cx.e.integer(-1),), -1)


def _trace(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    found = arguments_of(cx, "numpy.trace", ("a", "offset", "axis1", "axis2", "dtype"), given, keywords)
    dtype = {key: found.pop(key) for key in ("dtype",) if key in found}

    def rule(cx: Frame, operands: Sequence[AV]) -> AV:
        def part(cx: Frame, av: AV) -> AV:
            rest = {key: value for key, value in found.items() if key != "a"}
            return call_builtin(cx, "numpy.diagonal", [array_like(cx, av)], rest)

        diagonal = elementwise_of_parts(cx, operands[0], part)
        return call_builtin(cx, "numpy.sum", [diagonal], {"axis": _minus_one(cx), **dtype})

    return dispatch(cx, [found["a"]], rule)


def _cross(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    """The vectors stand along the last axes of the operands, and of the result, unless other axes are named."""
    found = arguments_of(cx, "numpy.cross", ("a", "b", "axisa", "axisb", "axisc", "axis"), given, keywords)
    axes = [found.get("axis", found.get(name)) for name in ("axisa", "axisb", "axisc")]

    def rule(cx: Frame, operands: Sequence[AV]) -> AV:
        pair = []
        for av, axis in zip(operands, axes[:2], strict=True):
            array = array_like(cx, av)
            rank = rank_of(array)
            pair.append(moved_axis(cx, array, axis_of(cx, axis, rank), rank - 1) if axis is not None else array)
        if all(_is_pair(cx, av) for av in pair):
            return call_builtin(cx, "numpy.asarray", [call(cx, prelude(cx, "pullback.cross_plane"), pair, {})], {})
        result = call(cx, prelude(cx, "pullback.cross_last"), pair, {})
        if axes[2] is None or cx.dead:
            return result
        rank = rank_of(result)
        return moved_axis(cx, result, rank - 1, axis_of(cx, axes[2], rank))

    return dispatch(cx, [found["a"], found["b"]], rule)


def _is_pair(cx: Frame, av: AV) -> bool:
    """Is it known while compiling that the last axis has 2 elements: of a new array, or a reshaped one."""
    rank, made = rank_of(av), cx.definitions.maker(av.value)
    first = {"array_empty": 0, "array_zeros": 0, "elementwise": 0, "view_reshape": 1, "reshape": 1}
    if made is None or made.name not in first or rank == 0:
        return False
    return cx.definitions.number(made.operands[first[made.name] + rank - 1]) == 2


def _correlate(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    """Of complex rows the second is conjugated."""
    found = arguments_of(cx, "numpy.correlate", ("a", "v", "mode"), given, keywords)
    mode = {"mode": found["mode"]} if "mode" in found else {}

    def rule(cx: Frame, operands: Sequence[AV]) -> AV:
        a, v = operands
        return product_of_parts(cx, _plain(cx, a), _plain(cx, conjugate(cx, v)), lambda cx, x, y: call(
            cx, prelude(cx, "pullback.correlate_real"), [x, y], mode))  # fmt: skip

    return dispatch(cx, [found["a"], found["v"]], rule)


def _with_vectors(name: str, vectors: str) -> Handler:
    """np.matvec and np.vecmat: a vector along the last axis beside every matrix."""

    def handler(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
        found = arguments_of(cx, name, ("x1", "x2"), given, keywords)

        def rule(cx: Frame, operands: Sequence[AV]) -> AV:
            one, other = (_plain(cx, av) for av in operands)
            if vectors == "second":
                column = elementwise_of_parts(cx, other, lambda cx, x: expanded(cx, x, rank_of(x)))
                return _without_axis(cx, product_of_parts(cx, one, column, matmul), -1)
            row = elementwise_of_parts(cx, conjugate(cx, one), lambda cx, x: expanded(cx, x, rank_of(x) - 1))
            return _without_axis(cx, product_of_parts(cx, row, other, matmul), -2)

        return dispatch(cx, [found["x1"], found["x2"]], rule)

    return handler


def _without_axis(cx: Frame, av: AV, axis: int) -> AV:
    return elementwise_of_parts(cx, av, lambda cx, x: part(cx, x, rank_of(x) + axis))


HANDLERS.update({
    "numpy.matvec": _with_vectors("numpy.matvec", "second"), "numpy.vecmat": _with_vectors("numpy.vecmat", "first"),
    "numpy.cross": _cross, "numpy.correlate": _correlate,
    "numpy.dot": _both("numpy.dot", _dot), "numpy.inner": _both("numpy.inner", _inner),
    "numpy.tensordot": _tensordot, "numpy.outer": _both("numpy.outer", _outer),
    "numpy.vdot": _conjugated("numpy.vdot", _dot_flat), "numpy.kron": _both("numpy.kron", _kron),
    "numpy.vecdot": _vecdot, "numpy.trace": _trace,
})  # fmt: skip

"""Matrix products: `@` and np.matmul of every rank, on the 2-D `matmul` primitive and its views.

a @ b            2-D: one product
a @ b            (..., n, k) @ (k, m): the rows of all matrices are one table, so it is one product too
a @ b            (..., n, k) @ (..., k, m): a loop of the prelude over the leading axes, which broadcast
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pullback.infer.calls import call
from pullback.infer.elementwise import array_sizes, elementwise, require_equal, shape_text
from pullback.infer.engine import Frame
from pullback.infer.filling import copy, shaped
from pullback.infer.lattice import known_ones
from pullback.infer.numbers import convert, promote
from pullback.infer.registry import HANDLERS, prelude
from pullback.infer.values import AV
from pullback.infer.views import array_of
from pullback.ir.node import Value
from pullback.types import NONE, Array, ArrayRef, DType, Number, show

__all__ = ["common_dtype", "inner", "joined", "matmul", "matrix_product", "of_bools", "product_of"]

_SIGNATURE = "with signature (n?,k),(k,m?)->(n?,m?)"
_GUFUNC = _SIGNATURE.replace("with", "with gufunc")


def matmul(cx: Frame, a: AV, b: AV, *, dot: bool = False) -> AV:
    """a @ b; dot: of ranks 1 and 2, with the messages of np.dot."""
    if not isinstance(a.type, Array) or not isinstance(b.type, Array) or 0 in (a.type.rank, b.type.rank):
        raise _no_scalars(cx, a, b)
    if DType.F16 in (kinds := {a.type.dtype, b.type.dtype}) and kinds <= {DType.F16, DType.I8, DType.U8, DType.BOOL}:
        found = matmul(cx, _in(cx, a, DType.F32), _in(cx, b, DType.F32), dot=dot)
        return _in(cx, found, DType.F16)
    a, b, bools = common_dtype(cx, a, b)
    assert isinstance(a.type, Array) and isinstance(b.type, Array)
    m, n = array_sizes(cx, a), array_sizes(cx, b)
    message = _dot_mismatch(m, n) if dot else _mismatch(m, n)
    require_equal(cx, m[-1], n[max(b.type.rank - 2, 0)], message, *m, *n)
    if a.type.rank == 1 and b.type.rank == 1:
        return of_bools(cx, inner(cx, a, b), bools)
    left = _expanded(cx, a, 0) if a.type.rank == 1 else a
    right = _expanded(cx, b, 1) if b.type.rank == 1 else b
    whole = matrix_product(cx, left, right)
    assert isinstance(whole.type, Array)
    for given, place in ((a, 2), (b, 1)):
        if given.type.rank == 1:  # type: ignore[union-attr]
            whole = _first(cx, whole, whole.type.rank - place)
    return of_bools(cx, whole, bools)


def matrix_product(cx: Frame, a: AV, b: AV) -> AV:
    """The products of matrices that stand in the last two axes, of one dtype; the other axes broadcast."""
    assert isinstance(a.type, Array) and isinstance(b.type, Array)
    if a.type.rank == b.type.rank == 2:
        return _fresh(_product(cx, a.value, b.value), [a.type.is_one(0), b.type.is_one(1)])
    if b.type.rank == 2:
        sizes = array_sizes(cx, a)
        rows = joined(cx, a, [product_of(cx, sizes[:-1]), sizes[-1]])
        table = AV(Array(a.type.dtype, 2, True), (_product(cx, rows.value, b.value),))
        ones = [a.type.is_one(axis) for axis in range(a.type.rank - 1)]
        return shaped(cx, table, [*sizes[:-1], array_sizes(cx, b)[1]], [*ones, b.type.is_one(1)])
    return _stacked(cx, a, b)


def _stacked(cx: Frame, a: AV, b: AV) -> AV:
    """A loop over the leading axes, after they are found to broadcast."""
    assert isinstance(a.type, Array) and isinstance(b.type, Array)
    m, n = array_sizes(cx, a), array_sizes(cx, b)
    rank = max(len(m), len(n))
    whole = [_expanded_to(cx, av, rank) for av in (a, b)]
    message = _lead_mismatch(m, n)
    lead, ones = [], list[bool | None]()
    for axis in range(rank - 2):
        size, one = _broadcast_axis(cx, whole[0], whole[1], axis, message, [*m, *n])
        lead.append(size)
        ones.append(one)
    out = AV(Array(a.type.dtype, rank, True), (cx.e("array_zeros", *lead, m[-2], n[-1], dtype=a.type.dtype),))
    filled = call(cx, prelude(cx, "pullback.matmul_stack"), [*whole, out], {})
    return _fresh(filled.value, [*ones, a.type.is_one(len(m) - 2), b.type.is_one(len(n) - 1)])


def _broadcast_axis(
    cx: Frame, a: AV, b: AV, axis: int, message: str, payload: Sequence[Value]
) -> tuple[Value, bool | None]:
    """The size of a leading axis of the result, and whether it is 1."""
    assert isinstance(a.type, Array) and isinstance(b.type, Array)
    e, x, y = cx.e, cx.e("array_size", a.value, axis=axis), cx.e("array_size", b.value, axis=axis)
    one, other = a.type.is_one(axis), b.type.is_one(axis)
    if other or one:
        return (x, one) if other else (y, other)
    fits = e("eq", x, y)
    for size, known in ((x, one), (y, other)):
        if known is None:
            fits = e("or_", fits, e("eq", size, e.integer(1)))
    cx.check(fits, "ValueError", message, *payload, shapes=True)
    if one is False or other is False:
        return (x if one is False else y), False
    return e("select", e("eq", x, e.integer(1)), y, x), None


def _expanded(cx: Frame, av: AV, axis: int) -> AV:
    assert isinstance(av.type, Array)
    ones = [av.type.is_one(k) for k in range(av.type.rank)]
    ones.insert(axis, True)
    return array_of(cx.e("view_expand", av.value, axis=axis), av.type, ones)


def _expanded_to(cx: Frame, av: AV, rank: int) -> AV:
    assert isinstance(av.type, Array)
    for _ in range(rank - av.type.rank):
        av = _expanded(cx, av, 0)
    return av


def _first(cx: Frame, av: AV, axis: int) -> AV:
    """Without an axis of size 1."""
    assert isinstance(av.type, Array)
    ones = [av.type.is_one(k) for k in range(av.type.rank) if k != axis]
    return array_of(cx.e("view_index", av.value, cx.e.integer(0), axis=axis), av.type, ones)


def joined(cx: Frame, av: AV, sizes: Sequence[Value]) -> AV:
    """The elements under another shape, to be read only: a view of a contiguous array, else a copy."""
    assert isinstance(av.type, Array)
    av = av if av.type.contiguous else copy(cx, av, rows=True)
    return AV(Array(av.type.dtype, len(sizes), True), (cx.e("view_reshape", av.value, *sizes),))  # type: ignore[union-attr]


def product_of(cx: Frame, sizes: Sequence[Value]) -> Value:
    """The product of sizes of an array that exists."""
    total = sizes[0] if sizes else cx.e.integer(1)
    for size in sizes[1:]:
        total = cx.e("mul", total, size)
    return total


def _product(cx: Frame, left: Value, right: Value) -> Value:
    """A 2-D product: the primitive for floats, plain loops for ints."""
    assert isinstance(left.type, ArrayRef) and isinstance(right.type, ArrayRef)
    if left.type.dtype.is_float:
        return cx.e("matmul", left, right)
    sizes = cx.e("array_size", left, axis=0), cx.e("array_size", right, axis=1)
    out = cx.e("array_zeros", *sizes, dtype=left.type.dtype)
    arrays = [AV(Array(left.type.dtype, 2, m.type.contiguous), (m,)) for m in (left, right, out)]  # type: ignore[union-attr]
    return call(cx, prelude(cx, "pullback.matmul_loops"), arrays, {}).value


def _add_product(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    """out += a @ b, by the primitive for floats, by loops for ints."""
    out, a, b = arguments
    assert isinstance(out.type, Array)
    if out.type.dtype.is_float:
        cx.e.op("matmul_inc", out.value, a.value, b.value)
    else:
        call(cx, prelude(cx, "pullback.matmul_loops"), [a, b, out], {})
    return AV(NONE)


def _fresh(value: Value, ones: Sequence[bool | None]) -> AV:
    assert isinstance(value.type, ArrayRef)
    return AV(Array(value.type.dtype, value.type.rank, value.type.contiguous, ones=known_ones(ones)), (value,))


def inner(cx: Frame, a: AV, b: AV) -> AV:
    """The sum of the products of the elements, of two arrays of one shape and dtype."""

    def times(cx: Frame, items: Sequence[AV]) -> AV:
        x, y = items
        return AV(x.type, (cx.e("mul", x.value, y.value),))

    return elementwise(cx, [a, b], times, output="sum")


def common_dtype(cx: Frame, a: AV, b: AV) -> tuple[AV, AV, bool]:
    """Both in the dtype of their product; of bools in int64 (the flag tells it), where a sum is not 0 if any is."""
    assert isinstance(a.type, Array) and isinstance(b.type, Array)
    bools = a.type.dtype is b.type.dtype is DType.BOOL
    result = DType.I64 if bools else promote(Number(a.type.dtype, False), Number(b.type.dtype, False)).dtype

    return _in(cx, a, result), _in(cx, b, result), bools


def _in(cx: Frame, av: AV, dtype: DType) -> AV:
    """A number or an array in a dtype."""

    def item(cx: Frame, items: Sequence[AV]) -> AV:
        return AV(Number(dtype, False), (convert(cx, items[0], dtype),))

    if not isinstance(av.type, Array):
        return item(cx, [av])
    return av if av.type.dtype is dtype else elementwise(cx, [av], item)


def of_bools(cx: Frame, av: AV, bools: bool) -> AV:
    """Counts as bools, where the operands were."""
    if not bools:
        return av

    def item(cx: Frame, items: Sequence[AV]) -> AV:
        return AV(Number(DType.BOOL, False), (cx.e("ne", items[0].value, cx.e.like(0, items[0].value)),))

    return elementwise(cx, [av], item) if isinstance(av.type, Array) else item(cx, [av])


# ------------------------------------------------------------------------------------------------------ messages


def _no_scalars(cx: Frame, a: AV, b: AV) -> Exception:
    ranks = [av.type.rank if isinstance(av.type, Array) else 0 for av in (a, b)]
    which = ranks.index(0) if 0 in ranks else 0
    raised = (f"matmul: Input operand {which} does not have enough dimensions (has 0, gufunc core {_SIGNATURE} "
              "requires 1)")  # fmt: skip
    title = f"@ takes arrays, not {show(a.type)} and {show(b.type)}"
    return cx.error(title, "matmul has no meaning for scalars", "use *", raised=("ValueError", raised))


def _mismatch(m: Sequence[Value], n: Sequence[Value]) -> str:
    """NumPy's message for `@`; {0}, {1}, ... stand for the sizes of both."""
    second = len(m) + max(len(n) - 2, 0)
    return (f"matmul: Input operand 1 has a mismatch in its core dimension 0, {_GUFUNC} "
            f"(size {{{second}}} is different from {{{len(m) - 1}}})")  # fmt: skip


def _lead_mismatch(m: Sequence[Value], n: Sequence[Value]) -> str:
    """NumPy's message for leading axes that do not broadcast."""
    total = len(m) + len(n)
    shapes = [(shape_text(first, count), first, count - 2) for first, count in ((0, len(m)), (len(m), len(n)))]
    kept = [(text, "(" + "".join(f"{{{first + i}}}," for i in range(lead)) + "newaxis,newaxis)")
            for text, first, lead in shapes]  # fmt: skip
    return ("operands could not be broadcast together with remapped shapes [original->remapped]: "
            + "".join(f"{text}->{short} " for text, short in kept)
            + f" and requested shape ({{{len(m) - 2}}},{{{total - 1}}})")  # fmt: skip


def _dot_mismatch(m: Sequence[Value], n: Sequence[Value]) -> str:
    """NumPy's message for np.dot."""
    texts = [shape_text(0, len(m)), shape_text(len(m), len(n))]
    axis = max(len(n) - 2, 0)
    dims = f"{{{len(m) - 1}}} (dim {len(m) - 1}) != {{{len(m) + axis}}} (dim {axis})"
    return f"shapes {texts[0]} and {texts[1]} not aligned: {dims}"


HANDLERS["pullback.add_product"] = _add_product

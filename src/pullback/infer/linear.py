"""Matrix products: `@`, np.matmul (np.dot of arrays) for ranks 1 and 2, on the 2-D `matmul` primitive and its views."""

from __future__ import annotations

from collections.abc import Sequence

from pullback.infer.calls import call
from pullback.infer.elementwise import array_sizes, elementwise, require_equal
from pullback.infer.engine import Frame
from pullback.infer.lattice import known_ones
from pullback.infer.numbers import convert, promote
from pullback.infer.registry import prelude
from pullback.infer.values import AV
from pullback.ir.node import Value
from pullback.types import Array, ArrayRef, DType, Number, show

__all__ = ["matmul"]


def matmul(cx: Frame, a: AV, b: AV, *, dot: bool = False) -> AV:
    """a @ b, or np.dot(a, b)."""
    if not isinstance(a.type, Array) or not isinstance(b.type, Array) or 0 in (a.type.rank, b.type.rank):
        raise cx.error(
            f"@ takes arrays, not {show(a.type)} and {show(b.type)}", "matmul has no meaning for scalars", "use *"
        )
    if a.type.rank > 2 or b.type.rank > 2:
        raise cx.error("@ of arrays of rank above 2 is not supported", f"ranks {a.type.rank} and {b.type.rank}",
                       "loop over the leading axes")  # fmt: skip
    a, b = _common_dtype(cx, a, b)
    assert isinstance(a.type, Array) and isinstance(b.type, Array)
    m, n = array_sizes(cx, a), array_sizes(cx, b)
    require_equal(cx, m[-1], n[0], _dot_mismatch(m, n) if dot else _mismatch(m, n), *m, *n)
    if a.type.rank == 1 and b.type.rank == 1:
        return _inner(cx, a, b)
    left = cx.e("view_expand", a.value, axis=0) if a.type.rank == 1 else a.value
    right = cx.e("view_expand", b.value, axis=1) if b.type.rank == 1 else b.value
    ones = [a.type.is_one(0)] * (a.type.rank - 1)
    ones += [b.type.is_one(1)] if b.type.rank == 2 else []
    product = _product(cx, left, right)
    zero = cx.e.integer(0)
    if a.type.rank == 1:
        product = cx.e("view_index", product, zero, axis=0)
    elif b.type.rank == 1:
        product = cx.e("view_index", product, zero, axis=1)
    return _array(cx, product, ones)


def _product(cx: Frame, left: Value, right: Value) -> Value:
    """A 2-D product: the primitive for floats, plain loops for ints."""
    assert isinstance(left.type, ArrayRef) and isinstance(right.type, ArrayRef)
    if left.type.dtype.is_float:
        return cx.e("matmul", left, right)
    sizes = cx.e("array_size", left, axis=0), cx.e("array_size", right, axis=1)
    out = cx.e("array_zeros", *sizes, dtype=left.type.dtype)
    arrays = [AV(Array(left.type.dtype, 2, m.type.contiguous), (m,)) for m in (left, right, out)]  # type: ignore[union-attr]
    return call(cx, prelude(cx, "pullback.matmul_loops"), arrays, {}).value


def _array(cx: Frame, value: Value, ones: Sequence[bool | None]) -> AV:
    assert isinstance(value.type, ArrayRef)
    return AV(Array(value.type.dtype, value.type.rank, value.type.contiguous, ones=known_ones(ones)), (value,))


def _inner(cx: Frame, a: AV, b: AV) -> AV:
    def product(cx: Frame, items: Sequence[AV]) -> AV:
        x, y = items
        return AV(x.type, (cx.e("mul", x.value, y.value),))

    return elementwise(cx, [a, b], product, output="sum")


def _common_dtype(cx: Frame, a: AV, b: AV) -> tuple[AV, AV]:
    assert isinstance(a.type, Array) and isinstance(b.type, Array)
    result = promote(Number(a.type.dtype, False), Number(b.type.dtype, False)).dtype
    if result is DType.BOOL:
        raise cx.error("products of bool arrays are not supported")

    def cast(av: AV) -> AV:
        assert isinstance(av.type, Array)
        if av.type.dtype is result:
            return av

        def item(cx: Frame, items: Sequence[AV]) -> AV:
            return AV(Number(result, False), (convert(cx, items[0], result),))

        return elementwise(cx, [av], item)

    return cast(a), cast(b)


def _mismatch(m: Sequence[Value], n: Sequence[Value]) -> str:
    """NumPy's message for `@`; {0}, {1}, ... stand for the sizes of both."""
    return (
        "matmul: Input operand 1 has a mismatch in its core dimension 0, with gufunc signature (n?,k),(k,m?)->(n?,m?) "
        f"(size {{{len(m)}}} is different from {{{len(m) - 1}}})"
    )


def _dot_mismatch(m: Sequence[Value], n: Sequence[Value]) -> str:
    """NumPy's message for np.dot."""
    parts = []
    number = 0
    for shape in (m, n):
        inner = ",".join("{" + str(number + i) + "}" for i in range(len(shape)))
        number += len(shape)
        parts.append(f"({inner}{',' if len(shape) == 1 else ''})")
    inner_dimension = "{" + str(len(m) - 1) + "}", "{" + str(len(m)) + "}"
    dims = f"{inner_dimension[0]} (dim {len(m) - 1}) != {inner_dimension[1]} (dim 0)"
    return f"shapes {parts[0]} and {parts[1]} not aligned: {dims}"

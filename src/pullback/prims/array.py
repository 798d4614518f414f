"""Arrays: reading, views, and the two closed families `elementwise` and `matmul`.

    n = array_size{axis}(a)                        i64
    v = array_get(a, i, j, ...)                    element; indices are in range (checked before)
    array_inc(s, i, j, ..., v)                     s[i, j, ...] += v
    old = array_swap(a, i, j, ..., v)              a[i, j, ...] = v; the result is what stood there before
    a = array_empty{dtype}(n, ...)                 fresh, contiguous, not set
    a = array_zeros{dtype}(n, ...)                 fresh, contiguous, zero
    v = view_index{axis}(a, i)                     rank - 1: the given axis fixed at i
    v = view_expand{axis}(a)                       rank + 1: a new axis of size 1
    v = view_transpose{perm}(a)
    v = view_slice{axis, unit}(a, start, count, step)   elements start, start + step, ... (count of them, all in range)
                                                   along an axis; unit=True: the step is the constant 1
    v = view_reshape{given}(a, n, ...)             the same elements of a contiguous array under another shape; given:
                                                   "whole" of one that `array_contiguous`, "fits" that `array_fits`
    p = array_contiguous(a)                        bool: is it contiguous, whatever its type says; (a, b), the parts of
                                                   complex numbers: are these, each part beside the other or apart
    p = array_fits(a, n, ...)                      bool: do strides exist with which it has this shape
    v = reshape{whole, foreign, readonly}(a, n, ...)   what NumPy's reshape gives: a view where there can be one (whole:
                                                   where it is contiguous), a copy elsewhere; with the attribute spread
                                                   a copy broadcast to the sizes; with part=0 or 1 it is that part of
                                                   complex numbers, whose parts are the last two operands; see
                                                   `passes.reshapes`
    v = view_diagonal(a)                           the main diagonal of the last two axes, as the last axis
    v = view_relax(a)                              the same array, its type no longer says that it is contiguous
    p = array_overlap(a, b)                        bool: may they share memory; `ranges`: do their addresses meet
    p = array_beside(a, b)                         bool: does each element of b lie right behind its counterpart in a
    p = array_same(a, b)                           bool: do they share their first element's address

    r... = elementwise{rank, outputs, targets}(size_0..size_{rank-1}, inputs..., targets...) { block }

`elementwise` visits every index of the space (sizes) in row-major order.  The block takes one scalar per input (a
scalar operand is passed as it is; an array operand is aligned to the right and read with stride 0 along axes where its
size is 1) and yields one scalar per output.  outputs[k] is
    "new"  a fresh contiguous array of the space's shape receives the value;         a result
    "sum"  the values are added up, starting from 0;                                 a result, scalar
    "inc"  the value is added to the target's element (targets are aligned as inputs are, so a target with an axis of
           size 1 or of lower rank receives the sum).  No result.
    "set"  the value replaces the target's element; such a target has exactly the space's shape.  No result.
`targets` = number of "inc" and "set" outputs; their targets are the last operands, in the order of those outputs.
An input may be the same view as a "set" target (a *= b): each element is read before it is written.  An input that
overlaps a "set" target in another way gives undefined values; whoever builds the op copies first.
Sizes of arrays other than 1 agree with the space (checked before).

    c = matmul(a, b)                               2-D by 2-D, fresh
    matmul_inc(s, a, b)                            s += a @ b, all 2-D
"""

from __future__ import annotations

from collections.abc import Sequence

from pullback.prims.base import Attrs, Prim, register
from pullback.types import BOOL, I64, ArrayRef, DType, Machine, Scalar

__all__ = ["PRIMS", "elementwise_types"]


def _array(operand: Machine) -> ArrayRef:
    if not isinstance(operand, ArrayRef):
        raise TypeError(f"an array is needed, not {operand}")
    return operand


def _size(operands: Sequence[Machine], attrs: Attrs) -> tuple[Machine, ...]:
    array, axis = _array(operands[0]), attrs["axis"]
    if not isinstance(axis, int) or not 0 <= axis < array.rank:
        raise TypeError(f"axis {axis} of a rank-{array.rank} array")
    return (I64,)


def _element(operands: Sequence[Machine]) -> Scalar:
    array = _array(operands[0])
    if list(operands[1 : 1 + array.rank]) != [I64] * array.rank:
        raise TypeError(f"{array.rank} int indices are needed")
    return Scalar(array.dtype)


def _get(operands: Sequence[Machine], attrs: Attrs) -> tuple[Machine, ...]:
    element = _element(operands)
    if len(operands) != 1 + _array(operands[0]).rank:
        raise TypeError("one index per axis is needed")
    return (element,)


def _inc(operands: Sequence[Machine], attrs: Attrs) -> tuple[Machine, ...]:
    if operands[-1] != _element(operands):
        raise TypeError("the value's dtype differs from the array's")
    return ()


def _swap(operands: Sequence[Machine], attrs: Attrs) -> tuple[Machine, ...]:
    return (Scalar(_array(operands[0]).dtype),) if _inc(operands, attrs) == () else ()


def _fresh(operands: Sequence[Machine], attrs: Attrs) -> tuple[Machine, ...]:
    if any(operand != I64 for operand in operands):
        raise TypeError("sizes are ints")
    dtype = attrs["dtype"]
    assert isinstance(dtype, DType)
    return (ArrayRef(dtype, len(operands), True),)


def _view_index(operands: Sequence[Machine], attrs: Attrs) -> tuple[Machine, ...]:
    array = _array(operands[0])
    # Fixing the leading axis of a contiguous array leaves a contiguous one.
    return (ArrayRef(array.dtype, array.rank - 1, array.contiguous and attrs["axis"] == 0),)


def _view_expand(operands: Sequence[Machine], attrs: Attrs) -> tuple[Machine, ...]:
    array = _array(operands[0])
    return (ArrayRef(array.dtype, array.rank + 1, array.contiguous),)


def _view_transpose(operands: Sequence[Machine], attrs: Attrs) -> tuple[Machine, ...]:
    array = _array(operands[0])
    return (ArrayRef(array.dtype, array.rank, array.contiguous and array.rank < 2),)


def _view_slice(operands: Sequence[Machine], attrs: Attrs) -> tuple[Machine, ...]:
    array = _array(operands[0])
    if list(operands[1:]) != [I64] * 3:
        raise TypeError("start, count and step are ints")
    # Whole rows of a contiguous array are contiguous.
    return (ArrayRef(array.dtype, array.rank, array.contiguous and attrs["axis"] == 0 and bool(attrs.get("unit"))),)


def _reshape(operands: Sequence[Machine], attrs: Attrs) -> tuple[Machine, ...]:
    array = _array(operands[0])
    if any(operand != I64 for operand in operands[1:]):
        raise TypeError("an array and its new sizes are needed")
    return (ArrayRef(array.dtype, len(operands) - 1, array.contiguous or bool(attrs.get("whole"))),)


def _reshape_part(operands: Sequence[Machine], attrs: Attrs) -> tuple[Machine, ...]:
    """One part of complex numbers may have strides of its own where the numbers are contiguous."""
    if "part" not in attrs:
        return _reshape(operands, attrs)
    return _reshape(operands[:-2], {})


def _view_reshape(operands: Sequence[Machine], attrs: Attrs) -> tuple[Machine, ...]:
    array, given = _array(operands[0]), attrs.get("given")
    if not array.contiguous and given is None:
        raise TypeError("a contiguous array is needed")
    return _reshape(operands, {"whole": given == "whole"})


def _fits(operands: Sequence[Machine], attrs: Attrs) -> tuple[Machine, ...]:
    _reshape(operands, attrs)
    return (BOOL,)


def _view_diagonal(operands: Sequence[Machine], attrs: Attrs) -> tuple[Machine, ...]:
    array = _array(operands[0])
    if array.rank < 2:
        raise TypeError("an array of two axes at least is needed")
    return (ArrayRef(array.dtype, array.rank - 1, False),)


def _view_relax(operands: Sequence[Machine], attrs: Attrs) -> tuple[Machine, ...]:
    array = _array(operands[0])
    return (ArrayRef(array.dtype, array.rank, False),)


def _same(operands: Sequence[Machine], attrs: Attrs) -> tuple[Machine, ...]:
    return (BOOL,)


def elementwise_types(
    rank: int, outputs: Sequence[str], results: Sequence[Machine | None]
) -> tuple[Machine, ...]:
    """Types of the results of an `elementwise` whose block yields values of types `results`."""
    types: list[Machine] = []
    for kind, result in zip(outputs, results, strict=True):
        if not isinstance(result, Scalar):
            raise TypeError("an elementwise block yields scalars")
        if kind == "new":
            types.append(ArrayRef(result.dtype, rank, True))
        elif kind == "sum":
            types.append(result)
    return tuple(types)


def _stated(operands: Sequence[Machine], attrs: Attrs) -> tuple[Machine, ...]:
    raise TypeError("elementwise: result types are given by elementwise_types")


def _matmul(operands: Sequence[Machine], attrs: Attrs) -> tuple[Machine, ...]:
    a, b = _array(operands[0]), _array(operands[1])
    if a.rank != 2 or b.rank != 2 or a.dtype != b.dtype:
        raise TypeError("matmul takes two 2-D arrays of one dtype")
    return (ArrayRef(a.dtype, 2, True),)


def _matmul_inc(operands: Sequence[Machine], attrs: Attrs) -> tuple[Machine, ...]:
    _matmul(operands[1:], attrs)
    if _array(operands[0]).rank != 2:
        raise TypeError("matmul_inc adds to a 2-D array")
    return ()


_STRUCTURAL = "structural"
_READ, _WRITE, _ALLOCATE = frozenset({"read"}), frozenset({"read", "write"}), frozenset({"allocate"})
_READ_ALLOCATE = frozenset({"read", "allocate"})

PRIMS = tuple(
    register(p)
    for p in (
        Prim(name="array_size", doc="size of an axis", infer=_size),
        Prim(name="array_get", doc="an element", infer=_get, derivative=_STRUCTURAL, effects=_READ),
        Prim(name="array_inc", doc="add to an element", infer=_inc, derivative=_STRUCTURAL, effects=_WRITE),
        Prim(name="array_swap", doc="replace an element, yielding the old one", infer=_swap, derivative=_STRUCTURAL,
             effects=_WRITE),
        Prim(name="array_empty", doc="a fresh array, not set", infer=_fresh, derivative=_STRUCTURAL, effects=_ALLOCATE),
        Prim(name="array_zeros", doc="a fresh array of zeros", infer=_fresh, derivative=_STRUCTURAL, effects=_ALLOCATE),
        Prim(name="view_index", doc="one index along an axis", infer=_view_index, derivative=_STRUCTURAL),
        Prim(name="view_expand", doc="a new axis of size 1", infer=_view_expand, derivative=_STRUCTURAL),
        Prim(name="view_transpose", doc="axes permuted", infer=_view_transpose, derivative=_STRUCTURAL),
        Prim(name="view_slice", doc="a slice along an axis", infer=_view_slice, derivative=_STRUCTURAL),
        Prim(name="view_reshape", doc="another shape", infer=_view_reshape, derivative=_STRUCTURAL),
        Prim(name="view_diagonal", doc="the main diagonal", infer=_view_diagonal, derivative=_STRUCTURAL),
        Prim(name="view_relax", doc="forget contiguity", infer=_view_relax, derivative=_STRUCTURAL),
        Prim(name="reshape", doc="another shape, by a view or a copy", infer=_reshape_part, derivative=_STRUCTURAL,
             effects=_READ_ALLOCATE),
        Prim(name="array_contiguous", doc="is contiguous", infer=_same),
        Prim(name="array_fits", doc="can have this shape", infer=_fits),
        Prim(name="array_overlap", doc="may they share memory", infer=_same),
        Prim(name="array_same", doc="same first address", infer=_same),
        Prim(name="array_beside", doc="element by element right behind the other", infer=_same),
        Prim(name="elementwise", doc="one pass over an index space", infer=_stated, derivative=_STRUCTURAL,
             effects=frozenset({"read", "write", "allocate"})),
        Prim(name="matmul", doc="a @ b", infer=_matmul, derivative=_STRUCTURAL, effects=_READ_ALLOCATE),
        Prim(name="matmul_inc", doc="s += a @ b", infer=_matmul_inc, derivative=_STRUCTURAL, effects=_WRITE),
    )
)  # fmt: skip

"""Elements, views and fresh arrays.

    v = array_get(a, i, j)        f64[:,:]c:  load double at data + 8*(i*n1 + j);  strided: data + i*s0 + j*s1
    v = view_index{axis: 0}(a, i)             data + i*s0, sizes and strides of the other axes
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from pullback.codegen import abi
from pullback.codegen.records import plus
from pullback.codegen.writer import ELEMENT, FunctionWriter
from pullback.diagnostic import InternalError
from pullback.ir.node import Op, Value
from pullback.types import ArrayRef, DType

__all__ = ["RULES", "array_type", "fresh", "sizes_of", "strides_of"]


def array_type(value: Value) -> ArrayRef:
    """The type of an array value."""
    if not isinstance(value.type, ArrayRef):
        raise InternalError(f"{value!r} is not an array")
    return value.type


def sizes_of(w: FunctionWriter, value: Value) -> list[str]:
    """The sizes, as operands."""
    return list(w.pieces[value][1 : 1 + array_type(value).rank])


def strides_of(w: FunctionWriter, value: Value) -> list[str]:
    """The byte strides, as operands; those of a contiguous array are computed from its sizes."""
    type_ = array_type(value)
    if not type_.contiguous:
        return list(w.pieces[value][1 + type_.rank :])
    return row_major(w, type_.dtype, sizes_of(w, value))


def row_major(w: FunctionWriter, dtype: DType, sizes: Sequence[str]) -> list[str]:
    """Byte strides of a contiguous array of those sizes."""
    strides, stride = [], str(dtype.bytes)
    for i in range(len(sizes) - 1, -1, -1):
        strides.append(stride)
        if i:
            stride = w.multiply(stride, sizes[i])
    return strides[::-1]


def fresh(w: FunctionWriter, dtype: DType, sizes: Sequence[str], zeroed: bool = False) -> str:
    """Memory for a contiguous array; where the sizes are negative or too large for memory there is none."""
    total, excess = str(dtype.bytes), []
    for size in sizes:
        if size.isdigit() and total.isdigit():
            total = str(int(size) * int(total))
            continue
        product = w.intrinsic(f"call {{i64, i1}} @llvm.umul.with.overflow.i64(i64 {size}, i64 {total})")
        total = w.set(f"extractvalue {{i64, i1}} {product}, 0")
        excess.append(w.set(f"extractvalue {{i64, i1}} {product}, 1"))
    for flag in excess:
        total = w.set(f"select i1 {flag}, i64 -1, i64 {total}")
    return w.allocate(total, zeroed)


def element(w: FunctionWriter, array: Value, indices: Sequence[str]) -> str:
    """The address of an element."""
    type_, data = array_type(array), w.pieces[array][0]
    if not type_.rank:
        return data
    if not type_.contiguous:
        terms = [w.multiply(i, s) for i, s in zip(indices, strides_of(w, array), strict=True)]
        total = terms[0]
        for term in terms[1:]:
            total = w.add(total, term)
        return w.offset(data, total)
    position = indices[0]
    for index, size in zip(indices[1:], sizes_of(w, array)[1:], strict=True):
        position = w.add(w.multiply(position, size), index)
    return w.set(f"getelementptr inbounds {abi.MEMORY[type_.dtype]}, ptr {data}, i64 {position}")


def _size(w: FunctionWriter, op: Op) -> None:
    axis = op.attrs["axis"]
    assert isinstance(axis, int)
    w.pieces[op.result] = (sizes_of(w, op.operands[0])[axis],)


def _get(w: FunctionWriter, op: Op) -> None:
    array, *indices = op.operands
    pointer = element(w, array, w.flat(indices))
    w.pieces[op.result] = (w.load(array_type(array).dtype, pointer, ELEMENT),)


def _inc(w: FunctionWriter, op: Op) -> None:
    w.module.adds_in_place |= w.depth > 0
    array, *indices, value = op.operands
    dtype, pointer = array_type(array).dtype, element(w, array, w.flat(indices))
    w.store(dtype, plus(w, dtype, w.load(dtype, pointer, ELEMENT), w.only(value)), pointer, ELEMENT)


def _swap(w: FunctionWriter, op: Op) -> None:
    array, *indices, value = op.operands
    dtype, pointer = array_type(array).dtype, element(w, array, w.flat(indices))
    w.pieces[op.result] = (w.load(dtype, pointer, ELEMENT),)
    w.store(dtype, w.only(value), pointer, ELEMENT)


def _fresh(w: FunctionWriter, op: Op) -> None:
    sizes = w.flat(op.operands)
    data = fresh(w, array_type(op.result).dtype, sizes, op.name == "array_zeros")
    w.pieces[op.result] = (data, *sizes)


def _view(w: FunctionWriter, op: Op, data: str, sizes: list[str], strides: list[str]) -> None:
    contiguous = array_type(op.result).contiguous
    root = w.roots.get(w.only(op.operands[0]))
    if root is not None:
        w.roots[data] = root
    w.pieces[op.result] = (data, *sizes) if contiguous else (data, *sizes, *strides)


def _wrapped(w: FunctionWriter, x: str, y: str) -> str:
    """A product for a stride that may be out of all bounds where the axis has one element or none."""
    return w.multiply(x, y) if "0" in (x, y) or "1" in (x, y) else w.set(f"mul i64 {x}, {y}")


def _view_index(w: FunctionWriter, op: Op) -> None:
    array, index = op.operands
    axis = op.attrs["axis"]
    assert isinstance(axis, int)
    sizes, strides = sizes_of(w, array), strides_of(w, array)
    data = w.offset(w.only(array), w.multiply(w.only(index), strides[axis]))
    _view(w, op, data, sizes[:axis] + sizes[axis + 1 :], strides[:axis] + strides[axis + 1 :])


def _view_expand(w: FunctionWriter, op: Op) -> None:
    (array,) = op.operands
    axis = op.attrs["axis"]
    assert isinstance(axis, int)
    sizes = sizes_of(w, array)
    strides = strides_of(w, array)
    # The stride of an axis of size 1 is never used; this one keeps a contiguous array so for others' tests too.
    stride = _wrapped(w, sizes[axis], strides[axis]) if axis < len(sizes) else str(array_type(array).dtype.bytes)
    _view(w, op, w.only(array), sizes[:axis] + ["1"] + sizes[axis:], strides[:axis] + [stride] + strides[axis:])


def _view_transpose(w: FunctionWriter, op: Op) -> None:
    (array,) = op.operands
    order = op.attrs["perm"]
    assert isinstance(order, tuple)
    sizes, strides = sizes_of(w, array), strides_of(w, array)
    _view(w, op, w.only(array), [sizes[i] for i in order], [strides[i] for i in order])


def _view_slice(w: FunctionWriter, op: Op) -> None:
    array, *numbers = op.operands
    start, count, step = w.flat(numbers)
    axis = op.attrs["axis"]
    assert isinstance(axis, int)
    sizes, strides = sizes_of(w, array), strides_of(w, array)
    data = w.offset(w.only(array), w.multiply(start, strides[axis]))
    stride = strides[axis] if op.attrs.get("unit") else _wrapped(w, step, strides[axis])
    sizes[axis], strides[axis] = count, stride
    _view(w, op, data, sizes, strides)


def _view_reshape(w: FunctionWriter, op: Op) -> None:
    array, *numbers = op.operands
    sizes = w.flat(numbers)
    strides = [] if array_type(op.result).contiguous else _fitting_strides(w, array, sizes)
    _view(w, op, w.only(array), sizes, strides)


def _products(w: FunctionWriter, sizes: Sequence[str]) -> list[str]:
    """For each axis, how many elements one step along it passes when they are counted row after row."""
    found = ["1"]
    for size in reversed(sizes[1:]):
        found.insert(0, w.multiply(size, found[0]))
    return found[: len(sizes)]


def _fitting_strides(w: FunctionWriter, array: Value, sizes: Sequence[str]) -> list[str]:
    """Strides of the new axes: each lies within an old one, or within old ones that are one in memory."""
    old = list(zip(_products(w, sizes_of(w, array)), strides_of(w, array), strict=True))
    found = []
    for step in _products(w, sizes):
        stride = str(array_type(array).dtype.bytes)
        for passed, known in reversed(old):  # the last one that a step does not leave, sizes of 0 and 1 aside
            inside = w.set(f"icmp ule i64 {passed}, {step}")
            scaled = w.set(f"sdiv i64 {w.multiply(step, known)}, {w.intrinsic(_at_least_one(passed))}")
            stride = w.set(f"select i1 {inside}, i64 {scaled}, i64 {stride}")
        found.append(stride)
    return found


def _at_least_one(number: str) -> str:
    return f"call i64 @llvm.smax.i64(i64 {number}, i64 1)"


def _array_contiguous(w: FunctionWriter, op: Op) -> None:
    """Each axis of more than one element has the stride of a contiguous array; or an axis is empty."""
    array, item = op.operands[0], array_type(op.operands[0]).dtype.bytes
    expected = str(item)
    if len(op.operands) > 1:
        expected = w.set(f"select i1 {_beside(w, *op.operands)}, i64 {2 * item}, i64 {item}")
    sizes = sizes_of(w, array)
    result, empty = "true", "false"
    for size, stride in reversed(list(zip(sizes, strides_of(w, array), strict=True))):
        single, same = w.set(f"icmp eq i64 {size}, 1"), w.set(f"icmp eq i64 {stride}, {expected}")
        result = w.set(f"and i1 {result}, {w.set(f'or i1 {single}, {same}')}")
        empty = w.set(f"or i1 {empty}, {w.set(f'icmp eq i64 {size}, 0')}")
        expected = w.multiply(expected, size)
    w.pieces[op.result] = (w.set(f"or i1 {result}, {empty}"),)


def _beside(w: FunctionWriter, array: Value, other: Value) -> str:
    """An i1: does each element of the other array lie right behind its counterpart."""
    start, behind = (w.set(f"ptrtoint ptr {w.only(v)} to i64") for v in (array, other))
    result = w.set(f"icmp eq i64 {w.set(f'sub i64 {behind}, {start}')}, {array_type(array).dtype.bytes}")
    for stride, own in zip(strides_of(w, array), strides_of(w, other), strict=True):
        result = _all(w, f"icmp eq i64 {stride}, {own}", f"icmp eq i1 {result}, true")
    return result


def _array_beside(w: FunctionWriter, op: Op) -> None:
    w.pieces[op.result] = (_beside(w, *op.operands),)


def _array_fits(w: FunctionWriter, op: Op) -> None:
    """Where two axes are not one in memory, the new shape must have a border too."""
    array, *numbers = op.operands
    borders = _products(w, w.flat(numbers))
    sizes = sizes_of(w, array)
    steps = _products(w, sizes)
    result, inner, expected = "true", "false", "0"
    for size, stride, step in reversed(list(zip(sizes, strides_of(w, array), steps, strict=True))):
        single = w.set(f"icmp eq i64 {size}, 1")
        fine = w.set(f"or i1 {single}, {w.set(f'xor i1 {inner}, true')}")
        fine = w.set(f"or i1 {fine}, {w.set(f'icmp eq i64 {stride}, {expected}')}")
        for border in borders:
            fine = w.set(f"or i1 {fine}, {w.set(f'icmp eq i64 {border}, {step}')}")
        result = w.set(f"and i1 {result}, {fine}")
        inner = w.set(f"or i1 {inner}, {w.set(f'xor i1 {single}, true')}")
        expected = w.set(f"select i1 {single}, i64 {expected}, i64 {w.multiply(stride, size)}")
    empty = "false"
    for size in sizes:
        empty = w.set(f"or i1 {empty}, {w.set(f'icmp eq i64 {size}, 0')}")
    w.pieces[op.result] = (w.set(f"or i1 {result}, {empty}"),)


def _view_diagonal(w: FunctionWriter, op: Op) -> None:
    (array,) = op.operands
    *sizes, rows, columns = sizes_of(w, array)
    *strides, first, second = strides_of(w, array)
    size = w.intrinsic(f"call i64 @llvm.smin.i64(i64 {rows}, i64 {columns})")
    _view(w, op, w.only(array), [*sizes, size], [*strides, w.add(first, second)])


def _view_relax(w: FunctionWriter, op: Op) -> None:
    (array,) = op.operands
    _view(w, op, w.only(array), sizes_of(w, array), strides_of(w, array))


def _reach(w: FunctionWriter, array: Value) -> tuple[str, str, list[str]]:
    """The addresses of the first byte and past the last one, and flags: is an axis empty."""
    low = high = w.only(array)
    empty = []
    for size, stride in zip(sizes_of(w, array), strides_of(w, array), strict=True):
        empty.append(w.set(f"icmp sle i64 {size}, 0"))
        reach = _wrapped(w, w.set(f"sub i64 {size}, 1"), stride)
        low = w.offset(low, w.intrinsic(f"call i64 @llvm.smin.i64(i64 {reach}, i64 0)"))
        high = w.offset(high, w.intrinsic(f"call i64 @llvm.smax.i64(i64 {reach}, i64 0)"))
    return low, w.offset(high, str(array_type(array).dtype.bytes)), empty


def _overlap(w: FunctionWriter, op: Op) -> None:
    a, b = op.operands
    (low, high, empty), (other_low, other_high, other_empty) = _reach(w, a), _reach(w, b)
    meets = w.set(f"icmp ult ptr {low}, {other_high}")
    result = w.set(f"and i1 {meets}, {w.set(f'icmp ult ptr {other_low}, {high}')}")
    for flag in (*empty, *other_empty):
        result = w.set(f"select i1 {flag}, i1 false, i1 {result}")
    if not op.attrs.get("ranges") and not array_type(a).contiguous and not array_type(b).contiguous:
        result = _unless_interleaved(w, a, b, result)
    w.pieces[op.result] = (result,)


_MOST_AXES = 3  # of arrays that are compared step by step: the text grows with the cube


def _unless_interleaved(w: FunctionWriter, a: Value, b: Value, meets: str) -> str:
    """An i1: do the address ranges meet, and the elements are not those of two fields of the same records."""
    axes = [[_Axis(n, s) for n, s in zip(sizes_of(w, v), strides_of(w, v), strict=True)] for v in (a, b)]
    if not all(0 < len(own) <= _MOST_AXES for own in axes):
        return meets
    look, done, before = w.label(), w.label(), w.block
    w.branch(meets, look, done)
    w.begin(look)
    start, other = (w.set(f"ptrtoint ptr {w.only(v)} to i64") for v in (a, b))
    items = [str(array_type(v).dtype.bytes) for v in (a, b)]
    apart = _interleaved(w, w.set(f"sub i64 {other}, {start}"), axes, items, levels=2)
    shared, last = w.set(f"xor i1 {apart}, true"), w.block
    w.jump(done)
    w.begin(done)
    (result,) = w.phis(["i1"], (before, ["false"]), (last, [shared]))
    return result


@dataclass(frozen=True, slots=True)
class _Axis:
    """An axis of an array; `counts`: an i1, is it one of those that are looked at."""

    size: str
    stride: str
    counts: str = "true"


def _interleaved(w: FunctionWriter, gap: str, axes: Sequence[list[_Axis]], items: Sequence[str], levels: int) -> str:
    """An i1: no element of the one array is one of the other, which begins `gap` bytes later.

    Let every element lie at a multiple of a step m past one of a few (a block): where the blocks of the two do not
    meet, counted modulo m, no elements do; nor where they do meet in one period and are interleaved there.  As m, each
    stride of the first array is tried.
    """
    apart = "false"
    for axis in axes[0]:
        m = w.intrinsic(f"call i64 @llvm.abs.i64(i64 {axis.stride}, i1 false)")
        m = w.intrinsic(f"call i64 @llvm.umax.i64(i64 {m}, i64 1)")
        blocks = [[_inside(w, one, m) for one in own] for own in axes]
        (low, extent), (other_low, other_extent) = (_block(w, *pair) for pair in zip(blocks, items, strict=True))
        shift = w.set(f"sub i64 {other_low}, {low}")
        g = w.set(f"srem i64 {w.set(f'add i64 {gap}, {shift}')}, {m}")
        g = w.set(f"select i1 {w.set(f'icmp slt i64 {g}, 0')}, i64 {w.set(f'add i64 {g}, {m}')}, i64 {g}")
        rest = w.set(f"sub i64 {m}, {g}")
        found = _all(w, f"icmp sge i64 {g}, {extent}", f"icmp sge i64 {rest}, {other_extent}")
        if levels > 1 and len(axes[0]) > 1:
            behind = _all(w, f"icmp sge i64 {rest}, {other_extent}", f"icmp sge i64 {m}, {extent}")
            ahead = _all(w, f"icmp sge i64 {g}, {extent}", f"icmp sge i64 {m}, {other_extent}")
            here = w.set(f"select i1 {behind}, i64 {g}, i64 {w.set(f'sub i64 {g}, {m}')}")
            inner = _interleaved(w, w.set(f"sub i64 {here}, {shift}"), blocks, items, levels - 1)
            one_period = w.set(f"or i1 {behind}, {ahead}")
            found = w.set(f"or i1 {found}, {w.set(f'and i1 {one_period}, {inner}')}")
        apart = w.set(f"or i1 {apart}, {found}")
    return apart


def _all(w: FunctionWriter, *tests: str) -> str:
    result = "true"
    for test in tests:
        result = w.set(f"and i1 {result}, {w.set(test)}")
    return result


def _inside(w: FunctionWriter, axis: _Axis, m: str) -> _Axis:
    """The axis, which counts where its stride is no multiple of m."""
    odd = w.set(f"icmp ne i64 {w.set(f'srem i64 {axis.stride}, {m}')}, 0")
    return replace(axis, counts=w.set(f"and i1 {axis.counts}, {odd}"))


def _block(w: FunctionWriter, axes: Sequence[_Axis], item: str) -> tuple[str, str]:
    """Where the elements of the axes that count begin, from where the array does, and how many bytes they take."""
    low, extent = "0", item
    for axis in axes:
        reach = _wrapped(w, w.set(f"sub i64 {axis.size}, 1"), axis.stride)
        reach = w.set(f"select i1 {axis.counts}, i64 {reach}, i64 0")
        low = w.set(f"add i64 {low}, {w.intrinsic(f'call i64 @llvm.smin.i64(i64 {reach}, i64 0)')}")
        extent = w.set(f"add i64 {extent}, {w.intrinsic(f'call i64 @llvm.abs.i64(i64 {reach}, i1 false)')}")
    return low, extent


def _same(w: FunctionWriter, op: Op) -> None:
    a, b = op.operands
    w.pieces[op.result] = (w.set(f"icmp eq ptr {w.only(a)}, {w.only(b)}"),)


RULES = {
    "array_size": _size,
    "array_get": _get,
    "array_inc": _inc,
    "array_empty": _fresh,
    "array_zeros": _fresh,
    "view_index": _view_index,
    "view_expand": _view_expand,
    "array_swap": _swap,
    "view_transpose": _view_transpose,
    "view_slice": _view_slice,
    "view_reshape": _view_reshape,
    "view_diagonal": _view_diagonal,
    "view_relax": _view_relax,
    "array_contiguous": _array_contiguous,
    "array_fits": _array_fits,
    "array_overlap": _overlap,
    "array_same": _same,
    "array_beside": _array_beside,
}

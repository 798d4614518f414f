"""Writing into arrays: a[i] = v, a[1:3] = b, a += b, a[i] += v.

    a[i, j] = v        array_swap
    a[1:-1] = b        elementwise "set" on the view; b is copied first where it may overlap it
    a += b             elementwise "set" on a itself; the name keeps the same array
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from pullback.infer.arithmetic import METHODS, binary, number_binary
from pullback.infer.calls import call
from pullback.infer.complexes import halves, pair_of
from pullback.infer.containers import changed, special
from pullback.infer.dispatch import dispatch
from pullback.infer.elementwise import array_sizes, broadcast, shape_text
from pullback.infer.engine import Frame
from pullback.infer.fancy import set_fancy, set_mask_parts
from pullback.infer.filling import apart, element, fill, writable, write
from pullback.infer.indexing import subscript
from pullback.infer.lattice import ELLIPSIS, WEAK_FLOAT, WEAK_INT
from pullback.infer.lists import is_array_like
from pullback.infer.numbers import as_number, convert, fitted, is_same_kind, promote, python_int
from pullback.infer.protocols import inplace_method
from pullback.infer.registry import HANDLERS
from pullback.infer.structures import attribute
from pullback.infer.values import AV, items_of
from pullback.infer.views import (
    checked_index,
    element_indices,
    fancy_parts,
    holds_scalar_arrays,
    index_parts,
    integer,
    is_element,
    view,
)
from pullback.types import (
    NONE,
    Array,
    Builtin,
    Complex,
    Constant,
    Dict,
    DType,
    List,
    Number,
    Record,
    Ref,
    Tuple,
    Type,
    show,
)

__all__ = ["ITEMS", "delete_item", "inplace", "inplace_item", "set_item"]


# How items of values of other types are set.
ITEMS: dict[type[Type], Callable[[Frame, AV, AV, AV], None]] = {}


def set_item(cx: Frame, subject: AV, index: AV, value: AV) -> None:
    """subject[index] = value."""

    def rule(cx: Frame, operands: Sequence[AV]) -> AV:
        _set_item(cx, operands[0], AV(operands[1].type, operands[1].values, index.literal), operands[2])
        return AV(Tuple(()))

    dispatch(cx, [subject, index, value], rule)


def _set_item(cx: Frame, subject: AV, index: AV, value: AV) -> None:
    if isinstance(subject.type, Ref) and special(cx, "__setitem__", subject, index, value) is not None:
        return
    if isinstance(subject.type, Complex):
        _set_complex(cx, subject, index, value)
        return
    if type(subject.type) in ITEMS:
        ITEMS[type(subject.type)](cx, subject, index, value)
        return
    if isinstance(subject.type, List | Dict):
        changed(cx, subject)
    writable(cx, subject)
    if cx.dead:
        return
    parts = index_parts(cx, subject, index)
    several = fancy_parts(parts) or not is_element(subject, parts)
    if several and is_array_like(value.type):
        value = call(cx, AV(Builtin("numpy.array")), [value], {"dtype": attribute(cx, subject, "dtype")})
    if fancy_parts(parts):
        set_fancy(cx, subject, parts, value)
        return
    if is_element(subject, parts):
        indices = element_indices(cx, subject, parts)
        cx.e("array_swap", subject.value, *indices, element(cx, subject, value))
        return
    fill(cx, view(cx, subject, parts), value)


def _set_complex(cx: Frame, subject: AV, index: AV, value: AV) -> None:
    """An item or view of a complex array: both parts."""
    real, imag = pair_of(cx, value)
    if set_mask_parts(cx, halves(subject), index, (real, imag)):
        return
    for target, part in zip(halves(subject), (real, imag), strict=True):
        _set_item(cx, target, index, part if part is not None else AV(WEAK_FLOAT, (cx.e.constant(0.0),), 0.0))


def delete_item(cx: Frame, subject: AV, index: AV) -> None:
    """del subject[index]."""

    def rule(cx: Frame, operands: Sequence[AV]) -> AV:
        target, where = operands[0], AV(operands[1].type, operands[1].values, index.literal)
        if isinstance(target.type, List | Dict):
            changed(cx, target)
        if special(cx, "__delitem__", target, where) is None:
            raise cx.type_error(f"{show(target.type)} does not support item deletion", "lists and dicts do")
        return AV(Tuple(()))

    dispatch(cx, [subject, index], rule)


# ------------------------------------------------------------------------------------------- augmented assignment


def inplace(cx: Frame, operator: str, subject: AV, value: AV) -> AV:
    """subject operator= value: arrays change in place, everything else is rebound."""

    def rule(cx: Frame, operands: Sequence[AV]) -> AV:
        target, other = operands
        if (isinstance(target.type, List) and operator in ("+", "*")) or (
            isinstance(target.type, Dict) and operator == "|"
        ):  # fmt: skip
            changed(cx, target)
        if (found := inplace_method(cx, operator, target, other)) is not None:
            return found
        if isinstance(target.type, Ref):
            method = f"__i{METHODS[operator]}__"
            if (found := special(cx, method, target, other)) is not None:
                return found
        if isinstance(target.type, Complex) and isinstance(target.type.real, Array):
            _set_complex(cx, target, AV(ELLIPSIS, (), Ellipsis), binary(cx, operator, target, other))
            return target
        if not isinstance(target.type, Array):
            return binary(cx, operator, target, other)
        _inplace_array(cx, operator, target, other)
        return target

    return dispatch(cx, [subject, value], rule)


def _inplace_array(cx: Frame, operator: str, target: AV, value: AV) -> None:
    assert isinstance(target.type, Array)
    value = as_number(cx, value)
    writable(cx, target)
    if operator == "@":
        fill(cx, target, binary(cx, "@", target, value))
        return
    if not isinstance(value.type, Array | Number | Constant):
        raise cx.error(f"unsupported operand types for {operator}=: {show(target.type)} and {show(value.type)}")
    _same_kind(cx, operator, target.type, value)
    if isinstance(value.type, Array):
        _require_room(cx, target, value)
        value = apart(cx, target, value)
    value = fitted(cx, [target, value])[1]
    write(cx, target, [target, value], lambda cx, items: number_binary(cx, operator, *items))


def _require_room(cx: Frame, target: AV, value: AV) -> None:
    """The shape that both broadcast to must be the target's own."""
    assert isinstance(target.type, Array) and isinstance(value.type, Array)
    if value.type.rank > target.type.rank:
        raise cx.error(
            f"could not broadcast an array of rank {value.type.rank} into one of rank {target.type.rank}",
            f"{show(value.type)} into {show(target.type)}",
        )
    shape = [extent.size for extent in broadcast(cx, (target, value), (target, value, target))]
    m = array_sizes(cx, target)
    wrong = (f"non-broadcastable output operand with shape {shape_text(0, len(m))} doesn't match the broadcast shape "
             f"{shape_text(len(m), len(m))}")  # fmt: skip
    for size, common in zip(m, shape, strict=True):
        if size is not common:
            cx.check(cx.e("eq", size, common), "ValueError", wrong, *m, *shape, shapes=True)


def _same_kind(cx: Frame, operator: str, target: Array, value: AV) -> None:
    """NumPy's casting rule of in-place operators: the result must be of the target's kind."""
    assert isinstance(value.type, Array | Number)
    weak = isinstance(value.type, Number) and value.type.weak
    kind = promote(Number(target.dtype, False), Number(value.type.dtype, weak)).dtype
    if operator == "/" and not kind.is_float:
        kind = DType.F64
    if kind is DType.BOOL and operator in ("//", "%", "**", "<<", ">>"):
        kind = DType.I8
    if not is_same_kind(kind, target.dtype):
        title = (f"Cannot cast ufunc '{_UFUNCS[operator]}' output from dtype('{kind.title}') to "
                 f"dtype('{target.dtype.title}') with casting rule 'same_kind'")  # fmt: skip
        raise cx.error(title, "an array keeps its dtype when it is changed in place", f"write `a = a {operator} b`",
                       raised=("TypeError", title))  # fmt: skip


_UFUNCS = {
    "+": "add", "-": "subtract", "*": "multiply", "/": "divide", "//": "floor_divide", "%": "remainder", "**": "power",
    "&": "bitwise_and", "|": "bitwise_or", "^": "bitwise_xor", "<<": "left_shift", ">>": "right_shift",
}  # fmt: skip


def inplace_item(cx: Frame, operator: str, subject: AV, index: AV, old: AV, value: AV) -> None:
    """subject[index] operator= value, where `old` is the item that was read: a view changes in place."""

    def rule(cx: Frame, operands: Sequence[AV]) -> AV:
        target, where, item, other = operands
        where = AV(where.type, where.values, index.literal)
        if isinstance(target.type, Ref | List | Dict | Record) and not isinstance(item.type, Array):
            _set_item(cx, target, where, inplace(cx, operator, item, other))
            return AV(Tuple(()))
        if isinstance(target.type, Complex):
            _set_complex(cx, target, where, binary(cx, operator, item, other))
            return AV(Tuple(()))
        held = isinstance(target.type, Dict | List | Ref | Record) and isinstance(item.type, Array)
        if not held and not isinstance(target.type, Array):
            writable(cx, target)
        copied = not held and (holds_scalar_arrays(where) or fancy_parts(index_parts(cx, target, where)))
        copied = copied or (isinstance(target.type, Array) and target.type.flat)
        if held or (isinstance(item.type, Array) and not copied):
            # What a dict or list holds stays the same array.
            _inplace_array(cx, operator, item, other)
        else:
            _set_item(cx, target, where, binary(cx, operator, item, other))
        return AV(Tuple(()))

    dispatch(cx, [subject, index, old, value], rule)


def _fill_method(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    """a.fill(value)."""
    subject, value = arguments
    writable(cx, subject)
    fill(cx, subject, value)
    return AV(NONE)


def _item_method(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    """a.item(i, j): a Python number."""
    subject, *index = arguments
    if isinstance(subject.type, Number):
        return _python_number(cx, subject)
    if isinstance(subject.type, Array) and (not index or len(index) == 1 < subject.type.rank):
        index = _single_place(cx, subject, index)
    where = AV(Tuple(tuple(i.type for i in index)), tuple(v for i in index for v in i.values))
    found = subscript(cx, subject, where)
    if not isinstance(found.type, Number):
        raise cx.error("item() takes as many indices as the array has axes here", show(subject.type))
    return _python_number(cx, found)


def _single_place(cx: Frame, subject: AV, index: Sequence[AV]) -> list[AV]:
    """The indices of the only element, or of an element counted row after row."""
    if isinstance(index[0].type, Tuple) if index else False:
        return items_of(index[0])
    e, sizes, total = cx.e, array_sizes(cx, subject), cx.e.integer(1)
    for size in sizes:
        total = e("mul", total, size)
    if not index:
        message = "can only convert an array of size 1 to a Python scalar"
        cx.check(e("eq", total, e.integer(1)), "ValueError", message)
        return [AV(WEAK_INT, (e.integer(0),), 0)] * len(sizes)
    message = "index {0} is out of bounds for size {1}"
    place = checked_index(cx, index[0], total, "IndexError", message, integer(cx, index[0]), total)
    found: list[AV] = []
    for size in reversed(sizes[1:]):
        found.insert(0, AV(WEAK_INT, (e("mod", place, size),)))
        place = e("floordiv", place, size)
    return [AV(WEAK_INT, (place,)), *found]


def _python_number(cx: Frame, found: AV) -> AV:
    """A number of NumPy as one of Python."""
    assert isinstance(found.type, Number)
    dtype = found.type.dtype
    if dtype.is_int:
        return AV(Number(DType.I64), (python_int(cx, found),))
    wide = DType.F64 if dtype.is_float else dtype
    return AV(Number(wide, weak=True), (convert(cx, found, wide),))


HANDLERS["ndarray.fill"] = _fill_method
HANDLERS["ndarray.item"] = _item_method

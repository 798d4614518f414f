"""Where NumPy gives a complex array itself, a view of it or a copy: what both parts decide together.

    np.asarray(z)            z itself
    z.ravel()                a view where the numbers lie in a row, which neither part knows alone: see `reshape`
    np.asarray(x, complex)   of a real array always a new one
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from pullback.infer import lists
from pullback.infer.arguments import arguments_of
from pullback.infer.binding import pack_tuple
from pullback.infer.calls import INTERCEPT, call, call_builtin
from pullback.infer.complex_functions import holds_complex, stored_parts, wanted_parts
from pullback.infer.complexes import complex_of, halves, imaginary
from pullback.infer.creation import empty, view_reversed
from pullback.infer.dispatch import dispatch
from pullback.infer.elementwise import array_sizes
from pullback.infer.engine import Frame
from pullback.infer.filling import copy, shaped
from pullback.infer.lattice import WEAK_INT
from pullback.infer.numpy.axes import expanded, rank_of
from pullback.infer.numpy.conversions import in_order
from pullback.infer.numpy.shapes import in_columns
from pullback.infer.registry import prelude
from pullback.infer.static import static_flag, static_int
from pullback.infer.structures import COMPLEX_GETTERS
from pullback.infer.values import AV, items_of
from pullback.types import Array, Builtin, Complex, Constant, DType, List, NoneType, Number, Tuple, Type, Union, show

__all__: list[str] = []

_Both = Callable[[Frame, AV], AV]


def _each(cx: Frame, value: AV, function: _Both) -> AV:
    """A function of both parts of a complex array."""
    return complex_of(*(function(cx, part) for part in halves(value)))


def _is_array(value: AV) -> bool:
    return isinstance(value.type, Complex) and isinstance(value.type.real, Array)


def _dtype(value: AV) -> DType:
    part = value.type.real if isinstance(value.type, Complex) else value.type
    assert isinstance(part, Array | Number)
    return part.dtype


# ------------------------------------------------------------------------------------------------- arrays of values

_NAMES = {
    "array": ("object", "dtype", "copy", "order", "subok", "ndmin"), "asarray": ("a", "dtype", "order", "copy"),
    "asanyarray": ("a", "dtype", "order", "copy"), "require": ("a", "dtype", "requirements"),
    "asfortranarray": ("a", "dtype"), "ascontiguousarray": ("a", "dtype"), "copy": ("a", "order", "subok"),
}  # fmt: skip
_ORDERS = {"numpy.asfortranarray": "F", "numpy.ascontiguousarray": "C", "complex.copy": "C"}


def _conversion(cx: Frame, name: str, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    """np.array and kin of complex numbers, or of real ones in a complex dtype."""
    short = name.rpartition(".")[2]
    found = arguments_of(cx, name, _NAMES[short], given, keywords)
    subject = found[_NAMES[short][0]]
    copying: Type = Constant(True) if short in ("array", "copy") else NoneType()
    copying = found["copy"].type if "copy" in found else copying
    order = getattr(found["order"].type, "value", None) if "order" in found else _ORDERS.get(name)
    least = static_int(cx, found["ndmin"], "ndmin") if "ndmin" in found else int(short == "ascontiguousarray")

    def rule(cx: Frame, operands: Sequence[AV]) -> AV:
        real = not holds_complex(operands[0].type) and not _holds(operands[0])
        if real and wanted_parts(found.get("dtype")) is None:  # one of several types
            return call_builtin(cx, name, operands, {key: av for key, av in found.items() if av is not subject})
        made = _array(cx, operands[0], found.get("dtype"), copying)
        if order in ("C", "F") and _is_array(made) and rank_of(halves(made)[0]) > 1:
            made = complex_of(*in_order(cx, halves(made), order == "F", copied=made is not operands[0]))
        while _is_array(made) and rank_of(halves(made)[0]) < least:
            made = _each(cx, made, lambda cx, part: expanded(cx, part, 0))
        return made

    return dispatch(cx, [subject], rule)


def _of_list(cx: Frame, value: AV) -> AV:
    """A complex array of a list of run-time length: of numbers, or of rows."""
    item = lists.item_type(value)
    members = item.members if isinstance(item, Union) else (item,)
    kinds = [member.real if isinstance(member, Complex) else member for member in members]
    count = lists.length(cx, value)
    if any(isinstance(kind, Array) for kind in kinds):
        cx.check(cx.e("gt", count, cx.e.integer(0)), "ValueError", "the shape of an array of no rows is not known")
        row = lists.element(cx, lists.first_item(cx, value), cx.e.integer(0))
        if not _is_array(row):
            raise cx.error("an array of rows of which some are complex is not supported", show(item),
                           "make all of them complex")  # fmt: skip
        sizes, dtype, name = [count, *array_sizes(cx, halves(row)[0])], _dtype(row), "rows"
    else:
        single = all(isinstance(kind, Number) and not kind.weak and kind.dtype is DType.F32 for kind in kinds)
        sizes, dtype, name = [count], DType.F32 if single else DType.F64, "numbers"
    parts = [empty(cx, sizes, dtype) for _ in range(2)]
    call(cx, prelude(cx, f"pullback.fill_complex_{name}"), [*parts, value], {})
    return complex_of(*parts)


def _holds(value: AV) -> bool:
    """Is it a list of run-time length of complex numbers or arrays."""
    return lists.is_sequence(value.type) and holds_complex(lists.item_type(value))


def _array(cx: Frame, value: AV, dtype: AV | None, copying: Type) -> AV:
    """A complex array of a value: the value itself where it is one and need not be copied."""
    if _holds(value):
        value, copying = _of_list(cx, value), NoneType()
    wanted = wanted_parts(dtype)
    if wanted is None and dtype is not None and not isinstance(dtype.type, NoneType):  # a real dtype
        real = halves(value)[0] if isinstance(value.type, Complex) else stored_parts(cx, value)[0]
        return call_builtin(cx, "numpy.array", [real], {"dtype": dtype})
    if _is_array(value) and wanted in (None, _dtype(value)):
        return _each(cx, value, copy) if copying == Constant(True) else value
    if copying == Constant(False):
        title = "Unable to avoid copy while creating an array as requested."
        raise cx.error(title, show(value.type), "leave copy=False out", raised=("ValueError", title))
    named = {} if wanted is None else {"dtype": AV(Builtin(f"numpy.{wanted.title}"))}
    if holds_complex(value.type):
        parts = stored_parts(cx, value)
        return complex_of(*(call_builtin(cx, "numpy.array", [part], named) for part in parts))
    real = call_builtin(cx, "numpy.array", [value], named)
    return complex_of(real, imaginary(cx, real))


def _as_dtype(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV | None:
    """z.astype(dtype, copy=False): the array itself where it has the dtype; None where a new one is made."""
    kept = keywords.get("copy")
    if kept is None or static_flag(cx, kept, "copy"):
        return None
    dtype = keywords.get("dtype", given[1] if len(given) > 1 else None)
    same = isinstance(given[0].type, Complex) and wanted_parts(dtype) is _dtype(given[0])
    return given[0] if same else None


def _astype(cx: Frame, name: str, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    found = _as_dtype(cx, given, keywords)
    if found is not None:
        return found
    return call_builtin(cx, "numpy.astype", given, {key: av for key, av in keywords.items() if key != "copy"})


# --------------------------------------------------------------------------------------------------------- in a row


def _ravel(cx: Frame, name: str, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    found = arguments_of(cx, "numpy.ravel", ("a", "order"), given, keywords)

    def rule(cx: Frame, operands: Sequence[AV]) -> AV:
        value = operands[0] if _is_array(operands[0]) else _array(cx, operands[0], None, Constant(True))
        parts = list(halves(value))
        if in_columns(cx, found.get("order"), parts[0]):
            parts = [view_reversed(cx, part) for part in parts]
        return complex_of(*(_row(cx, part, parts) for part in parts))

    return dispatch(cx, [found["a"]], rule)


def _row(cx: Frame, part: AV, parts: Sequence[AV]) -> AV:
    """All elements of one of the parts in a row."""
    total = cx.e.integer(1)
    for size in array_sizes(cx, part):
        total = cx.e("mul", total, size)
    return shaped(cx, part, [total], whole=True, parts=parts)


# ------------------------------------------------------------------------------------------------------------ others


def _unstack(cx: Frame, name: str, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    real, imag = (call_builtin(cx, "numpy.unstack", [part, *given[1:]], keywords) for part in halves(given[0]))
    if not isinstance(real.type, Tuple | List):
        raise cx.error("np.unstack of a complex array whose size is known only at run time is not supported",
                       "each item would be a pair of arrays", "write a loop over the array")  # fmt: skip
    return pack_tuple([complex_of(*pair) for pair in zip(items_of(real), items_of(imag), strict=True)])


def _stack(cx: Frame, name: str, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    """np.stack of a list of run-time length."""
    found = arguments_of(cx, "numpy.stack", ("arrays", "axis"), given, keywords)
    made = _of_list(cx, found["arrays"])
    if "axis" not in found:
        return made
    first = AV(WEAK_INT, (cx.e.integer(0),), 0)
    return _each(cx, made, lambda cx, part: call_builtin(
        cx, "numpy.ascontiguousarray", [call_builtin(cx, "numpy.moveaxis", [part, first, found["axis"]], {})], {}
    ))  # fmt: skip


_RULES: dict[str, Callable[[Frame, str, Sequence[AV], Mapping[str, AV]], AV]] = {
    **dict.fromkeys(_NAMES, _conversion), "astype": _astype, "ravel": _ravel, "unstack": _unstack, "stack": _stack,
}  # fmt: skip
_OF_REAL = frozenset({"array", "asarray", "asanyarray", "ascontiguousarray", "asfortranarray"})


def _intercept(cx: Frame, name: str, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV | None:
    """A call that has a rule here; None for all others."""
    module, _, short = name.rpartition(".")
    if module not in ("numpy", "complex") or short not in _RULES or not given:
        return None
    if short == "stack":
        return _stack(cx, name, given, keywords) if _holds(given[0]) else None
    if holds_complex(given[0].type) or (short in _OF_REAL and _holds(given[0])):
        if short == "astype" and "copy" not in keywords:
            return None
        return _RULES[short](cx, name, given, keywords)
    if short not in _OF_REAL:
        return None
    dtype = keywords.get("dtype", given[1] if len(given) > 1 else None)
    return _RULES[short](cx, name, given, keywords) if wanted_parts(dtype) is not None else None


def _item_size(cx: Frame, subject: AV) -> AV:
    size = 2 * _dtype(subject).bytes
    return AV(WEAK_INT, (cx.e.integer(size),), size)


def _bytes(cx: Frame, subject: AV) -> AV:
    size = call_builtin(cx, "numpy.size", [subject], {})
    return AV(WEAK_INT, (cx.e("mul", size.value, _item_size(cx, subject).value),))


INTERCEPT.insert(0, _intercept)
COMPLEX_GETTERS.update({"itemsize": _item_size, "nbytes": _bytes})

"""Making arrays: zeros, ones, empty, full, arange, *_like; arrays of the numbers in sequences."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from pullback.infer import lists
from pullback.infer.arguments import Arguments, arguments_of
from pullback.infer.arithmetic import DIVISION
from pullback.infer.calls import call
from pullback.infer.dispatch import dispatch
from pullback.infer.dtypes import element_dtype, numpy_dtype
from pullback.infer.elementwise import array_sizes, elementwise, made_like, ordered_as, require_room
from pullback.infer.engine import Frame
from pullback.infer.filling import copy, element, fill
from pullback.infer.lattice import WEAK_INT, known_ones
from pullback.infer.numbers import as_number, convert, promote
from pullback.infer.registry import HANDLERS, Handler, prelude
from pullback.infer.static import static_items
from pullback.infer.values import AV, MISSING, items_of
from pullback.infer.views import array_of, integer
from pullback.ir.node import Value
from pullback.types import (
    NEVER,
    Array,
    Builtin,
    DType,
    List,
    NoneType,
    Number,
    Range,
    Ref,
    Scalar,
    Tuple,
    Union,
    show,
)  # fmt: skip

__all__ = [
    "Arguments", "arguments_of", "array_like", "array_or_number", "cast", "copied", "dtype_of", "empty", "sizes_of",
    "view_reversed",
]  # fmt: skip


def dtype_of(cx: Frame, av: AV | None, default: DType = DType.F64) -> DType:
    """The dtype an argument names; None or absent: the default."""
    if av is None or isinstance(av.type, NoneType):
        return default
    found = element_dtype(numpy_dtype(av.type))
    if found is None:
        raise cx.error(f"the dtype {show(av.type)} is not supported", "", "those of numbers in native byte order are")
    return found


def sizes_of(cx: Frame, shape: AV, dtype: DType) -> list[Value]:
    """A shape argument (an int or a tuple of ints) as machine ints: not negative, and not too large together."""
    parts = static_items(cx, shape, "a shape") if isinstance(shape.type, Tuple | List | Ref) else [shape]
    sizes = [integer(cx, part) for part in parts]
    for size in sizes:
        cx.check(cx.e("ge", size, cx.e.integer(0)), "ValueError", "negative dimensions are not allowed")
    require_room(cx, sizes, dtype)
    return sizes


def empty(cx: Frame, sizes: Sequence[Value], dtype: DType, name: str = "array_empty") -> AV:
    """A fresh array of these sizes."""
    ones = known_ones([_is_one(cx, size) for size in sizes])
    return AV(Array(dtype, len(sizes), True, ones=ones), (cx.e(name, *sizes, dtype=dtype),))


def _is_one(cx: Frame, size: Value) -> bool | None:
    """Is a size 1, where that is known: from the program, or as the size of another array's axis."""
    number = cx.literals.get(size)
    if number is None:
        number = cx.definitions.number(size)
    if isinstance(number, int):
        return number == 1
    return False if size in cx.not_one else None


def filled(cx: Frame, sizes: Sequence[Value], dtype: DType, number: AV) -> AV:
    """A fresh array with every element set to a number: a Python int must fit, all else is cast as C does it."""
    fresh = empty(cx, sizes, dtype)
    literal = number.literal if dtype.is_float or isinstance(number.literal, int) else MISSING
    value = AV(Number(dtype, False), (element(cx, fresh, number, exact=number.type == WEAK_INT),), literal)
    return elementwise(cx, [value], lambda cx, items: items[0], output="set", target=fresh)


def _constant(cx: Frame, number: float, dtype: DType) -> AV:
    return AV(Number(dtype, False), (cx.e.constant(number, Scalar(dtype)),))


def _made(name: str, number: float | None) -> Handler:
    """np.zeros, np.ones, np.empty."""

    def handler(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
        found = arguments_of(cx, name, ("shape", "dtype", "order"), given, keywords)
        if "shape" not in found:
            raise cx.type_error(f"{name}() missing required argument 'shape'")

        def rule(cx: Frame, operands: Sequence[AV]) -> AV:
            dtype = dtype_of(cx, found.get("dtype"))
            sizes = sizes_of(cx, operands[0], dtype)
            return _laid_out(cx, sizes, _order_of(cx, found, "C"), lambda sizes: _numbered(cx, sizes, dtype, number))

        return dispatch(cx, [found["shape"]], rule)

    return handler


def _numbered(cx: Frame, sizes: Sequence[Value], dtype: DType, number: float | None) -> AV:
    if number is None:
        return empty(cx, sizes, dtype)
    if number == 0.0:
        return empty(cx, sizes, dtype, "array_zeros")
    return filled(cx, sizes, dtype, _constant(cx, number, dtype))


def _made_like(name: str, number: float | None) -> Handler:
    """np.zeros_like, np.ones_like, np.empty_like."""

    def handler(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
        found = arguments_of(cx, name, ("a", "dtype", "order", "subok", "shape"), given, keywords)

        def rule(cx: Frame, operands: Sequence[AV]) -> AV:
            model = array_like(cx, operands[0])
            dtype = dtype_of(cx, found.get("dtype"), _dtype(model))
            return _like(cx, model, found, dtype, lambda sizes: _numbered(cx, sizes, dtype, number))

        return dispatch(cx, [found["a"]], rule)

    return handler


def _order_of(cx: Frame, found: Mapping[str, AV], usual: str) -> str:
    """The order of the elements that is asked for."""
    if "order" not in found:
        return usual
    order = getattr(found["order"].type, "value", None)
    if order not in ("C", "F", "A", "K"):
        raise cx.error("order must be one of 'C', 'F', 'A', or 'K'", show(found["order"].type))
    return str(order)


def _laid_out(cx: Frame, sizes: Sequence[Value], order: str, make: Callable[[Sequence[Value]], AV]) -> AV:
    """A fresh array row after row, or column after column; `make` gives one row after row."""
    return view_reversed(cx, make(sizes[::-1])) if order == "F" and len(sizes) > 1 else make(sizes)


def _like(
    cx: Frame, model: AV, found: Mapping[str, AV], dtype: DType, make: Callable[[Sequence[Value]], AV]
) -> AV:  # fmt: skip
    """A fresh array like a model: of its shape, if no other is given, and in its order."""
    order = _order_of(cx, found, "K")
    if "shape" not in found or isinstance(found["shape"].type, NoneType):
        return made_like(cx, model, make) if order in ("K", "A") else _laid_out(cx, array_sizes(cx, model), order, make)
    sizes = sizes_of(cx, found["shape"], dtype)
    made = _laid_out(cx, sizes, order, make)
    assert isinstance(model.type, Array)
    return ordered_as(made, [model]) if order in ("K", "A") and len(sizes) == model.type.rank else made


def array_like(cx: Frame, av: AV) -> AV:
    """An array as it is; what NumPy makes an array of as that array."""
    return av if isinstance(av.type, Array) else _as_array(cx, av, None)


def array_or_number(cx: Frame, av: AV) -> AV:
    """What NumPy makes an array of as that array; else a number, or the array it is."""
    return _as_array(cx, av, None) if lists.is_array_like(av.type) else as_number(cx, av)


def _dtype(av: AV) -> DType:
    assert isinstance(av.type, Array)
    return av.type.dtype


def _full(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    found = arguments_of(cx, "numpy.full", ("shape", "fill_value", "dtype", "order"), given, keywords)

    def rule(cx: Frame, operands: Sequence[AV]) -> AV:
        value = as_number(cx, operands[1])
        value = value if isinstance(value.type, Number) else array_like(cx, value)
        assert isinstance(value.type, Number | Array)
        dtype = dtype_of(cx, found.get("dtype"), value.type.dtype)
        sizes = sizes_of(cx, operands[0], dtype)
        return _filled(cx, dtype, value, lambda make: _laid_out(cx, sizes, _order_of(cx, found, "C"), make))

    return dispatch(cx, [found["shape"], found["fill_value"]], rule)


def _full_like(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    names = ("a", "fill_value", "dtype", "order", "subok", "shape")
    found = arguments_of(cx, "numpy.full_like", names, given, keywords)
    model = array_like(cx, found["a"])
    dtype = dtype_of(cx, found.get("dtype"), _dtype(model))

    def rule(cx: Frame, operands: Sequence[AV]) -> AV:
        return _filled(cx, dtype, as_number(cx, operands[0]), lambda make: _like(cx, model, found, dtype, make))

    return dispatch(cx, [found["fill_value"]], rule)


def _filled(cx: Frame, dtype: DType, value: AV, lay_out: Callable[[Callable[[Sequence[Value]], AV]], AV]) -> AV:
    """A fresh array with every element set to a number, or to the array that a value is, broadcast.

    lay_out: makes an array in the order asked for by what makes one of given sizes, which may be in another order.
    """
    if isinstance(value.type, Number):
        return lay_out(lambda sizes: filled(cx, sizes, dtype, value))
    fresh = lay_out(lambda sizes: empty(cx, sizes, dtype))
    fill(cx, fresh, array_like(cx, value))
    return fresh


# ----------------------------------------------------------------------------------------------- arange, linspace

_BOOLS = "arange() is only supported for booleans when the result has at most length 2."
_TOO_LONG = "Maximum allowed size exceeded"


def _arange(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    extra = dict(keywords)
    dtype = extra.pop("dtype", None)
    if extra or not 1 <= len(given) <= 3:
        raise cx.error("np.arange takes 1 to 3 numbers and dtype here", ", ".join(extra))

    def rule(cx: Frame, operands: Sequence[AV]) -> AV:
        numbers = [as_number(cx, av) for av in operands]
        zero, one = AV(WEAK_INT, (cx.e.integer(0),), 0), AV(WEAK_INT, (cx.e.integer(1),), 1)
        start, stop, step = (
            (zero, numbers[0], one) if len(numbers) == 1 else (numbers[0], numbers[1], [*numbers, one][2])
        )
        kind = WEAK_INT
        for av in numbers:
            if not isinstance(av.type, Number):
                raise cx.error(f"np.arange takes numbers, not {show(av.type)}")
            kind = promote(kind, av.type)
        if kind.dtype.is_float:
            return _float_range(cx, start, stop, step, dtype_of(cx, dtype, kind.dtype))
        return _int_range(cx, start, stop, step, dtype_of(cx, dtype, DType.I64))

    return dispatch(cx, given, rule)


def _ramp(cx: Frame, count: Value, start: Value, step: Value, dtype: DType) -> AV:
    """Element k is start + k * step."""
    require_room(cx, [count], dtype, _TOO_LONG)
    if dtype is DType.BOOL:
        cx.check(cx.e("le", count, cx.e.integer(2)), "TypeError", _BOOLS)
    fresh = empty(cx, [count], dtype)
    numbers = [AV(Number(v.type.dtype, False), (v,)) for v in (start, step) if isinstance(v.type, Scalar)]
    return call(cx, prelude(cx, "pullback.ramp"), [fresh, *numbers], {})


def _int_range(cx: Frame, start: AV, stop: AV, step: AV, dtype: DType) -> AV:
    e = cx.e
    a, b, s = (convert(cx, av, DType.I64) for av in (start, stop, step))
    zero = e.integer(0)
    cx.check(e("ne", s, zero), "ZeroDivisionError", "division by zero")
    cx.check(e("not_", e("sub_overflows", b, a)), "ValueError", _TOO_LONG)
    if step.literal == 1:
        return _ramp(cx, e("maximum", e("sub", b, a), zero), a, s, dtype)
    down = e("lt", s, zero)
    cx.check(e("not_", e("and_", down, e("sub_overflows", a, b))), "ValueError", _TOO_LONG)
    count = e("maximum", e("neg", e("floordiv", e("sub", a, b), s)), zero)  # rounded up
    away = e("xor_", down, e("lt", b, a))
    return _ramp(cx, e("select", away, zero, count), a, s, dtype)


def _float_range(cx: Frame, start: AV, stop: AV, step: AV, dtype: DType) -> AV:
    """NumPy's: ceil((stop - start) / step) elements, start + k * (the rounded step)."""
    e = cx.e
    a, b, s = (convert(cx, av, DType.F64) for av in (start, stop, step))
    zero, one = e.like(0.0, a), e.like(1.0, a)
    cx.check(e("ne", s, zero), "ZeroDivisionError", DIVISION["/", True])
    gap = e("sub", b, a)
    parts = e("div", gap, s)
    # A quotient that underflows to 0 is still a step, if it goes the right way.
    tiny = e("and_", e("eq", parts, zero), e("ne", gap, zero))
    length = e("select", tiny, e("maximum", e("copysign", one, parts), zero), e("ceil", parts))
    cx.check(e("not_", e("isnan", length)), "ValueError", "arange: cannot compute length")
    cx.check(e("lt", e("abs", length), e.like(2.0**63, length)), "ValueError", _TOO_LONG)
    count = e("maximum", e("cast", length, to=DType.I64), e.integer(0))
    rounded = e("sub", e("add", a, s), a)
    finite = e("select", e("isfinite", rounded), rounded, zero)  # infinite: the start is the only element
    return _ramp(cx, count, a, finite, dtype)


def view_reversed(cx: Frame, av: AV) -> AV:
    """The view with its axes in reverse order."""
    assert isinstance(av.type, Array)
    perm = tuple(reversed(range(av.type.rank)))
    return array_of(cx.e("view_transpose", av.value, perm=perm), av.type, tuple(reversed(av.type.ones)), perm=perm)


def copied(cx: Frame, value: AV, dtype: AV | None) -> AV:
    """A fresh array of what a value is, in a dtype if one is named."""
    if isinstance(value.type, Array):
        return cast(cx, value, dtype_of(cx, dtype, value.type.dtype))
    return _as_array(cx, value, dtype)


def cast(cx: Frame, value: AV, dtype: DType) -> AV:
    """A fresh copy in a dtype."""
    assert isinstance(value.type, Array)
    if value.type.dtype is dtype:
        return copy(cx, value)
    wanted = AV(replace(value.type, dtype=dtype), value.values)

    def item(cx: Frame, items: Sequence[AV]) -> AV:
        return AV(Number(dtype, False), (element(cx, wanted, items[0], exact=False),))

    return elementwise(cx, [value], item)


def _leaves(cx: Frame, value: AV) -> tuple[list[int], list[AV]]:
    """Shape and numbers of nested tuples and lists."""
    if not isinstance(value.type, Tuple | List):
        return [], [as_number(cx, value)]
    parts = [_leaves(cx, item) for item in items_of(value)]
    if not parts:
        return [0], []
    if any(shape != parts[0][0] for shape, _ in parts):
        raise cx.error("setting an array element with a sequence", "the nested sequences differ in length")
    return [len(parts), *parts[0][0]], [leaf for _, leaves in parts for leaf in leaves]


def _as_array(cx: Frame, value: AV, dtype: AV | None) -> AV:
    """An array of the numbers in nested tuples and lists; of rows where the leaves are arrays."""
    if lists.is_sequence(value.type):
        return _of_run_time(cx, value, dtype)
    if isinstance(value.type, Range):
        fresh = empty(cx, [lists.range_length(cx, value)], dtype_of(cx, dtype, DType.I64))
        return call(cx, prelude(cx, "pullback.fill_from"), [fresh, value], {})
    shape, leaves = _leaves(cx, value)
    if any(isinstance(leaf.type, Array) for leaf in leaves):
        rows = call(cx, AV(Builtin("numpy.stack")), [value], {})
        wanted = dtype_of(cx, dtype, _dtype(rows))
        return rows if wanted is _dtype(rows) else cast(cx, rows, wanted)
    kind: Number | None = None
    for leaf in leaves:
        if not isinstance(leaf.type, Number):
            return _as_array_of_unions(cx, shape, leaves, dtype)
        kind = leaf.type if kind is None else _both(kind, leaf.type)
    element_type = dtype_of(cx, dtype, kind.dtype if kind is not None else DType.F64)
    fresh = empty(cx, [cx.e.integer(n) for n in shape], element_type)
    for number, leaf in enumerate(leaves):
        item = element(cx, fresh, leaf, exact=_is_item(shape, leaf))
        cx.e("array_swap", fresh.value, *_position(cx, number, shape), item)
    return fresh


def _of_run_time(cx: Frame, value: AV, dtype: AV | None) -> AV:
    """An array of a list of run-time length: of numbers, or of rows of them."""
    found = lists.item_type(value)
    count = lists.length(cx, value)
    if found == NEVER:
        return empty(cx, [count], dtype_of(cx, dtype, DType.F64))
    rows = [found] if not isinstance(found, Union) else list(found.members)
    if all(isinstance(row, Number) for row in rows):
        kind = rows[0]
        for row in rows[1:]:
            kind = _both(kind, row)  # type: ignore[arg-type]
        fresh = empty(cx, [count], dtype_of(cx, dtype, kind.dtype))  # type: ignore[union-attr]
        return call(cx, prelude(cx, "pullback.fill_from"), [fresh, value], {})
    return _of_rows(cx, value, count, dtype)


def _of_rows(cx: Frame, value: AV, count: Value, dtype: AV | None) -> AV:
    """The first row, where there is one, tells the shape of all; the array of none is flat, which cannot be said."""
    start = lists.first_item(cx, value)

    cx.check(cx.e("gt", count, cx.e.integer(0)), "ValueError", "the shape of an array of no rows is not known")
    row = array_like(cx, lists.element(cx, start, cx.e.integer(0)))
    if cx.dead:
        return row
    sizes = [count, *array_sizes(cx, row)]
    fresh = empty(cx, sizes, dtype_of(cx, dtype, _dtype(row)))
    return call(cx, prelude(cx, "pullback.fill_rows"), [fresh, value], {})


def _is_item(shape: Sequence[int], leaf: AV) -> bool:
    """Is a leaf converted as an item is: all but a NumPy scalar that is the whole array."""
    return bool(shape) or not isinstance(leaf.type, Number) or leaf.type.weak


def _as_array_of_unions(cx: Frame, shape: Sequence[int], leaves: Sequence[AV], dtype: AV | None) -> AV:
    """Leaves that may be a Python or a NumPy float have one machine form."""

    def rule(cx: Frame, operands: Sequence[AV]) -> AV:
        for leaf in operands:
            if not isinstance(leaf.type, Number):
                raise cx.error(f"an array cannot hold {show(leaf.type)}", "numbers are needed")
        kind = operands[0].type
        assert isinstance(kind, Number)
        for leaf in operands[1:]:
            assert isinstance(leaf.type, Number)
            kind = _both(kind, leaf.type)
        fresh = empty(cx, [cx.e.integer(n) for n in shape], dtype_of(cx, dtype, kind.dtype))
        for number, leaf in enumerate(operands):
            item = element(cx, fresh, leaf, exact=_is_item(shape, leaf))
            cx.e("array_swap", fresh.value, *_position(cx, number, shape), item)
        return fresh

    return dispatch(cx, leaves, rule)


def _both(a: Number, b: Number) -> Number:
    if a.dtype is DType.BOOL and b.dtype is DType.BOOL:
        return a
    return promote(Number(a.dtype, False), Number(b.dtype, False))


def _position(cx: Frame, number: int, shape: Sequence[int]) -> list[Value]:
    indices: list[int] = []
    for size in reversed(shape):
        indices.append(number % size)
        number //= size
    return [cx.e.integer(i) for i in reversed(indices)]


HANDLERS.update({
    "numpy.zeros": _made("numpy.zeros", 0.0), "numpy.ones": _made("numpy.ones", 1.0),
    "numpy.empty": _made("numpy.empty", None), "numpy.zeros_like": _made_like("numpy.zeros_like", 0.0),
    "numpy.ones_like": _made_like("numpy.ones_like", 1.0), "numpy.empty_like": _made_like("numpy.empty_like", None),
    "numpy.full": _full, "numpy.full_like": _full_like,
    "numpy.arange": _arange,
})  # fmt: skip

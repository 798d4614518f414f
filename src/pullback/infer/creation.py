"""Making arrays: zeros, ones, empty, full, arange, linspace, eye, array, *_like, copy, astype."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from pullback.infer import lists
from pullback.infer.arithmetic import DIVISION
from pullback.infer.calls import call
from pullback.infer.dispatch import dispatch
from pullback.infer.elementwise import array_sizes, elementwise, made_like, require_room
from pullback.infer.engine import Frame
from pullback.infer.filling import copy, element, shaped
from pullback.infer.lattice import WEAK_FLOAT, WEAK_INT, known_ones
from pullback.infer.numbers import as_number, convert, promote
from pullback.infer.registry import HANDLERS, Handler, prelude
from pullback.infer.values import AV, MISSING, items_of
from pullback.infer.views import array_of, integer
from pullback.ir.node import Value
from pullback.types import (
    NEVER,
    Array,
    Builtin,
    Constant,
    DType,
    List,
    NoneType,
    Number,
    Scalar,
    Tuple,
    Union,
    show,
)  # fmt: skip

__all__ = ["arguments_of", "cast", "dtype_of", "empty", "sizes_of"]

_DTYPES = {
    "builtins.float": DType.F64, "builtins.int": DType.I64, "builtins.bool": DType.BOOL, "numpy.float64": DType.F64,
    "numpy.float32": DType.F32, "numpy.int64": DType.I64, "numpy.int32": DType.I32, "numpy.bool_": DType.BOOL,
    "numpy.double": DType.F64, "numpy.single": DType.F32, "numpy.intp": DType.I64,
}  # fmt: skip
_TEXTS = {"float64": DType.F64, "f8": DType.F64, "float": DType.F64, "float32": DType.F32, "f4": DType.F32,
          "int64": DType.I64, "i8": DType.I64, "int": DType.I64, "int32": DType.I32, "i4": DType.I32,
          "bool": DType.BOOL}  # fmt: skip


def dtype_of(cx: Frame, av: AV | None, default: DType = DType.F64) -> DType:
    """The dtype an argument names; None or absent: the default."""
    if av is None or isinstance(av.type, NoneType):
        return default
    name = getattr(av.type, "name", None) if isinstance(av.type, Builtin) else getattr(av.type, "value", None)
    found = _DTYPES.get(str(name)) or _TEXTS.get(str(name))
    if found is None:
        raise cx.error(f"the dtype {show(av.type)} is not supported", "", "bool, int32, int64, float32 and float64 are")
    return found


def arguments_of(
    cx: Frame, name: str, names: Sequence[str], given: Sequence[AV], keywords: Mapping[str, AV]
) -> dict[str, AV]:
    """Arguments by parameter name; unknown keywords are refused."""
    if len(given) > len(names):
        raise cx.type_error(f"{name}() takes at most {len(names)} arguments here ({len(given)} given)")
    found = dict(zip(names, given, strict=False))
    for key, av in keywords.items():
        if key not in names or key in found:
            raise cx.error(f"{name}: the argument {key}= is not supported here", "known are " + ", ".join(names))
        found[key] = av
    return found


def sizes_of(cx: Frame, shape: AV, dtype: DType) -> list[Value]:
    """A shape argument (an int or a tuple of ints) as machine ints: not negative, and not too large together."""
    parts = items_of(shape) if isinstance(shape.type, Tuple | List) else [shape]
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
        found = arguments_of(cx, name, ("shape", "dtype"), given, keywords)
        if "shape" not in found:
            raise cx.type_error(f"{name}() missing required argument 'shape'")

        def rule(cx: Frame, operands: Sequence[AV]) -> AV:
            dtype = dtype_of(cx, found.get("dtype"))
            return _numbered(cx, sizes_of(cx, operands[0], dtype), dtype, number)

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
        found = arguments_of(cx, name, ("a", "dtype"), given, keywords)

        def rule(cx: Frame, operands: Sequence[AV]) -> AV:
            model = _array_like(cx, operands[0])
            dtype = dtype_of(cx, found.get("dtype"), _dtype(model))
            return made_like(cx, model, lambda sizes: _numbered(cx, sizes, dtype, number))

        return dispatch(cx, [found["a"]], rule)

    return handler


def _array_like(cx: Frame, av: AV) -> AV:
    return av if isinstance(av.type, Array) else _as_array(cx, av, None)


def _dtype(av: AV) -> DType:
    assert isinstance(av.type, Array)
    return av.type.dtype


def _full(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    found = arguments_of(cx, "numpy.full", ("shape", "fill_value", "dtype"), given, keywords)

    def rule(cx: Frame, operands: Sequence[AV]) -> AV:
        number = as_number(cx, operands[1])
        if not isinstance(number.type, Number):
            raise cx.error(f"np.full takes a number, not {show(number.type)}")
        dtype = dtype_of(cx, found.get("dtype"), number.type.dtype)
        return filled(cx, sizes_of(cx, operands[0], dtype), dtype, number)

    return dispatch(cx, [found["shape"], found["fill_value"]], rule)


def _full_like(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    found = arguments_of(cx, "numpy.full_like", ("a", "fill_value", "dtype"), given, keywords)
    model = _array_like(cx, found["a"])
    dtype = dtype_of(cx, found.get("dtype"), _dtype(model))
    return dispatch(
        cx, [found["fill_value"]],
        lambda cx, operands: made_like(cx, model, lambda sizes: filled(cx, sizes, dtype, operands[0])),
    )  # fmt: skip


def _eye(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    found = arguments_of(cx, "numpy.eye", ("N", "M", "k", "dtype"), given, keywords)
    if "k" in found and cx.literal_of(found["k"]) != 0:
        raise cx.error("np.eye with k is not supported yet", "", "write the diagonal in a loop")
    columns = found.get("M", found["N"])
    columns = found["N"] if isinstance(columns.type, NoneType) else columns
    dtype = dtype_of(cx, found.get("dtype"))
    sizes = sizes_of(cx, AV(Tuple((found["N"].type, columns.type)), (*found["N"].values, *columns.values)), dtype)
    fresh = empty(cx, sizes, dtype, "array_zeros")
    return call(cx, prelude(cx, "pullback.set_diagonal"), [fresh], {})


# ----------------------------------------------------------------------------------------------- arange, linspace

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


def _linspace(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    found = arguments_of(cx, "numpy.linspace", ("start", "stop", "num", "endpoint", "dtype"), given, keywords)
    number = found.get("num", AV(WEAK_INT, (cx.e.integer(50),), 50))
    endpoint = found["endpoint"].type if "endpoint" in found else Constant(True)
    if not isinstance(endpoint, Constant):
        raise cx.error("np.linspace: endpoint must be written as True or False")
    return call(
        cx, prelude(cx, "pullback.linspace"),
        [_float(cx, found["start"]), _float(cx, found["stop"]), number, AV(endpoint, (), endpoint.value)], {},
    )  # fmt: skip


def _float(cx: Frame, av: AV) -> AV:
    def rule(cx: Frame, operands: Sequence[AV]) -> AV:
        return AV(WEAK_FLOAT, (convert(cx, as_number(cx, operands[0]), DType.F64),))

    return dispatch(cx, [av], rule)


# --------------------------------------------------------------------------------------------- array, copy, astype


def _array(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    found = arguments_of(cx, "numpy.array", ("object", "dtype", "copy"), given, keywords)
    if "copy" in found and found["copy"].type != Constant(True):
        raise cx.error("np.array copies here", "only copy=True is supported", "write np.asarray(...)")
    return dispatch(cx, [found["object"]], lambda cx, operands: _copied(cx, operands[0], found.get("dtype")))


def _copied(cx: Frame, value: AV, dtype: AV | None) -> AV:
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


def _asarray(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    found = arguments_of(cx, "numpy.asarray", ("a", "dtype"), given, keywords)

    def rule(cx: Frame, operands: Sequence[AV]) -> AV:
        (value,) = operands
        if isinstance(value.type, Array) and dtype_of(cx, found.get("dtype"), value.type.dtype) is value.type.dtype:
            return value
        return _copied(cx, value, found.get("dtype"))

    return dispatch(cx, [found["a"]], rule)


def _as_rows(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    """np.ascontiguousarray: the array itself where it is contiguous, of at least one axis."""

    def rule(cx: Frame, operands: Sequence[AV]) -> AV:
        (value,) = operands
        assert isinstance(value.type, Array)
        if value.type.rank == 0:
            return array_of(cx.e("view_expand", value.value, axis=0), value.type, (True,))
        return shaped(cx, value, array_sizes(cx, value), value.type.ones, whole=True)

    return dispatch(cx, [_asarray(cx, given, keywords)], rule)


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
    row = _array_like(cx, lists.element(cx, start, cx.e.integer(0)))
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


def _copier(name: str, usual: str) -> Handler:
    """np.copy, which keeps the order of the elements, and the method, which lays them out row after row."""

    def handler(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
        found = arguments_of(cx, name, ("a", "order"), given, keywords)
        order = getattr(found["order"].type, "value", None) if "order" in found else usual
        if order not in ("C", "K"):
            raise cx.error(f"{name} takes order='C' or order='K' here", "", "write .T.copy().T for order='F'")

        def rule(cx: Frame, operands: Sequence[AV]) -> AV:
            whole = isinstance(operands[0].type, Array) and order == "C"
            return copy(cx, operands[0], rows=True) if whole else _copied(cx, operands[0], None)

        return dispatch(cx, [found["a"]], rule)

    return handler


def _astype(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    found = arguments_of(cx, "astype", ("a", "dtype"), given, keywords)
    return dispatch(cx, [found["a"]], lambda cx, operands: _cast_any(cx, operands[0], dtype_of(cx, found["dtype"])))


def _cast_any(cx: Frame, value: AV, dtype: DType) -> AV:
    if isinstance(value.type, Array):
        return cast(cx, value, dtype)
    return AV(Number(dtype, False), (convert(cx, value, dtype),))


HANDLERS.update({
    "numpy.zeros": _made("numpy.zeros", 0.0), "numpy.ones": _made("numpy.ones", 1.0),
    "numpy.empty": _made("numpy.empty", None), "numpy.zeros_like": _made_like("numpy.zeros_like", 0.0),
    "numpy.ones_like": _made_like("numpy.ones_like", 1.0), "numpy.empty_like": _made_like("numpy.empty_like", None),
    "numpy.full": _full, "numpy.full_like": _full_like, "numpy.eye": _eye, "numpy.identity": _eye,
    "numpy.arange": _arange, "numpy.linspace": _linspace, "numpy.array": _array, "numpy.asarray": _asarray,
    "numpy.ascontiguousarray": _as_rows, "numpy.copy": _copier("np.copy", "K"), "ndarray.copy": _copier("copy", "C"),
    "ndarray.astype": _astype,
})  # fmt: skip

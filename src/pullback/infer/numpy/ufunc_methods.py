"""Methods of ufuncs: reduce, accumulate, outer, at, reduceat.

    np.hypot.reduce(a, axis=1)     a loop of the prelude over the axis, which calls np.hypot
    np.add.at(a, i, b)             a[i[k]] = a[i[k]] + b[k], one after the other
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from pullback.infer.arguments import arguments_of
from pullback.infer.calls import call, call_builtin
from pullback.infer.complexes import halves, pair_of
from pullback.infer.creation import array_like, array_or_number, dtype_of, empty
from pullback.infer.dispatch import dispatch
from pullback.infer.elementwise import array_sizes
from pullback.infer.engine import Frame
from pullback.infer.fancy import apply_at
from pullback.infer.filling import copy, fill, writable
from pullback.infer.lattice import WEAK_FLOAT, WEAK_INT
from pullback.infer.numbers import as_number
from pullback.infer.numpy.axes import axes_of, expanded, is_none, moved_axis, rank_of
from pullback.infer.numpy.contract import elementwise_of_parts
from pullback.infer.numpy.outputs import stored_whole
from pullback.infer.numpy.shapes import axis_of
from pullback.infer.numpy.ufuncs import DTYPES, UFUNCS, in_dtype, kept_in, outs_of, require_cast
from pullback.infer.registry import HANDLERS, Handler, prelude
from pullback.infer.static import static_flag
from pullback.infer.values import AV
from pullback.infer.views import fancy_parts, index_parts, integer, view
from pullback.ir.node import Value
from pullback.prims.scalar import NUMPY_DTYPES
from pullback.types import (
    NONE,
    Array,
    Builtin,
    Complex,
    Constant,
    DType,
    NoneType,
    Number,
    Scalar,
    Str,
    show,
)

__all__: list[str] = []

_KNOWN = {
    "add": "sum", "multiply": "prod", "maximum": "max", "minimum": "min", "logical_and": "all", "logical_or": "any",
}  # fmt: skip
_RUNNING = {"add": "cumsum", "multiply": "cumprod"}


def _reduce(short: str) -> Handler:
    name, ufunc = f"numpy.{short}.reduce", UFUNCS[short]

    def handler(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
        names = ("array", "axis", "dtype", "out", "keepdims", "initial", "where")
        found = arguments_of(cx, name, names, given, keywords)

        def rule(cx: Frame, operands: Sequence[AV]) -> AV:
            value = operands[0] if isinstance(operands[0].type, Complex) else array_like(cx, operands[0])
            first = AV(WEAK_INT, (cx.e.integer(0),), 0)
            if short in _KNOWN:
                more = {key: av for key, av in found.items() if key not in ("array", "out")}
                more.setdefault("axis", first)
                return _kept(cx, name, found, call_builtin(cx, f"numpy.{_KNOWN[short]}", [value], more))
            return _kept(cx, name, found, _folded(cx, ufunc, value, found))

        return dispatch(cx, [found["array"]], rule)

    return handler


def _real(av: AV) -> AV:
    """The array, or its real part."""
    return halves(av)[0] if isinstance(av.type, Complex) else av


def _axes_count(av: AV) -> int:
    return rank_of(_real(av)) if isinstance(_real(av).type, Array) else 0


def _first(cx: Frame, value: AV, axis: int) -> AV:
    """The view with an axis in front."""
    return elementwise_of_parts(cx, value, lambda cx, part: moved_axis(cx, part, axis, 0))


def _whole(cx: Frame, av: AV) -> AV:
    """An array, of what is no complex number."""
    return av if isinstance(av.type, Complex) else array_like(cx, av)


def _kept(cx: Frame, name: str, found: Mapping[str, AV], result: AV) -> AV:
    """The result, or the array `out` with the result in it."""
    if is_none(found, "out") or not isinstance(result.type, Complex):
        return kept_in(cx, found, result)
    (out,) = outs_of(found["out"])
    return stored_whole(cx, name, out, result)


def _folded(cx: Frame, ufunc: np.ufunc, value: AV, found: Mapping[str, AV]) -> AV:
    """The reduction by a loop that calls the ufunc, one axis after the other."""
    if "where" in found:
        raise cx.error(f"where= of np.{ufunc.__name__}.reduce is not supported", "", "use np.where on the array first")
    rank = _axes_count(value)
    none = "axis" in found and isinstance(found["axis"].type, NoneType)
    axes = list(range(rank)) if none else axes_of(cx, found["axis"], rank) if "axis" in found else [0]
    if len(axes) > 1 and ufunc.identity is None and ufunc.__name__ not in _REORDERABLE:
        title = f"reduction operation '{ufunc.__name__}' is not reorderable, so at most one axis may be specified"
        raise cx.error(title, show(value.type), raised=("ValueError", title))
    value = _same_dtype(cx, ufunc, value, found)
    if rank == 0:
        return value
    keep = "keepdims" in found and static_flag(cx, found["keepdims"], "keepdims")
    for axis in sorted(axes, reverse=True):
        value = _fold_axis(cx, ufunc, _first(cx, elementwise_of_parts(cx, value, array_like), axis), found)
    if not keep:
        return value

    def again(cx: Frame, part: AV) -> AV:
        part = array_like(cx, part)
        for axis in sorted(axes):
            part = expanded(cx, part, axis)
        return part

    return elementwise_of_parts(cx, value, again)


_REORDERABLE = frozenset({"fmax", "fmin", "maximum", "minimum"})


def _same_dtype(cx: Frame, ufunc: np.ufunc, value: AV, found: Mapping[str, AV]) -> AV:
    """The elements in the dtype of the results, in which the ufunc goes on."""
    if isinstance(value.type, Complex):
        if not is_none(found, "dtype"):
            return call_builtin(cx, "numpy.astype", [value, found["dtype"]], {})
        if not any(loop.endswith("->D") for loop in ufunc.types):
            title = f"np.{ufunc.__name__}.reduce of complex numbers is not supported"
            raise cx.error(title, "the results are of another dtype", "write a loop")
        return value
    assert isinstance(value.type, Array)
    own = np.dtype(NUMPY_DTYPES[value.type.dtype])
    if not is_none(found, "dtype"):
        return in_dtype(cx, value, np.dtype(NUMPY_DTYPES[dtype_of(cx, found["dtype"])]))
    if ufunc.__name__.startswith("logical"):
        return in_dtype(cx, value, np.dtype(np.bool_))
    try:
        loop = ufunc.resolve_dtypes((own, own, None))
        if ufunc.__name__ in _RUNNING and own.kind in "bi":
            loop = (np.dtype(np.int64),) * 3
        if loop[2] != loop[0]:
            raise TypeError(f"the resolved dtypes are not compatible with {ufunc.__name__}.accumulate or .reduce")
    except TypeError as error:
        raise cx.error(str(error), show(value.type), raised=("TypeError", str(error))) from None
    return in_dtype(cx, value, loop[2])


def _fold_axis(cx: Frame, ufunc: np.ufunc, value: AV, found: Mapping[str, AV]) -> AV:
    """The first axis folded away."""
    function, line = AV(Builtin(f"numpy.{ufunc.__name__}")), _real(value)
    start = found.get("initial")
    if start is not None and isinstance(start.type, NoneType):
        start = None
    identity = ufunc.identity
    empty_too = start is not None or identity is not None
    if not empty_too:
        size = cx.e("array_size", line.value, axis=0)
        message = f"zero-size array to reduction operation {ufunc.__name__} which has no identity"
        cx.check(cx.e("gt", size, cx.e.integer(0)), "ValueError", message)
    out = _empty(cx, value, array_sizes(cx, line)[1:])
    if start is None and identity is not None:
        number = float(identity)
        start = AV(WEAK_FLOAT, (cx.e.constant(number),), number)
    if start is not None:
        call_builtin(cx, "numpy.copyto", [out, start], {"casting": AV(Str("unsafe"))})
    whole = AV(Constant(not is_none(found, "initial")))
    call(cx, prelude(cx, "pullback.fold"), [function, value, out, whole], {})
    return elementwise_of_parts(cx, out, as_number)


def _empty(cx: Frame, model: AV, sizes: Sequence[Value]) -> AV:
    """A fresh array of the model's dtype."""

    def one(cx: Frame, part: AV) -> AV:
        assert isinstance(part.type, Array)
        return empty(cx, sizes, part.type.dtype)

    return elementwise_of_parts(cx, model, one)


def _accumulate(short: str) -> Handler:
    name, ufunc = f"numpy.{short}.accumulate", UFUNCS[short]

    def handler(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
        found = arguments_of(cx, name, ("array", "axis", "dtype", "out"), given, keywords)

        def rule(cx: Frame, operands: Sequence[AV]) -> AV:
            value = _whole(cx, operands[0])
            axis = axis_of(cx, found["axis"], _axes_count(value)) if "axis" in found else 0
            value = _same_dtype(cx, ufunc, value, found)
            out = elementwise_of_parts(cx, value, lambda cx, part: copy(cx, part, rows=True))
            function = AV(Builtin(f"numpy.{short}"))
            call(cx, prelude(cx, "pullback.accumulate"), [function, _first(cx, out, axis)], {})
            return _kept(cx, name, found, out)

        return dispatch(cx, [found["array"]], rule)

    return handler


def _outer(short: str) -> Handler:
    name = f"numpy.{short}"

    def handler(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
        if len(given) != 2:
            raise cx.type_error(f"{name}.outer() takes 2 arrays ({len(given)} given)")

        def rule(cx: Frame, operands: Sequence[AV]) -> AV:
            a, b = (array_like(cx, av) for av in operands)
            for _ in range(rank_of(b)):
                a = expanded(cx, a, rank_of(a))
            return call_builtin(cx, name, [a, b], keywords)

        return dispatch(cx, given, rule)

    return handler


def _at(short: str) -> Handler:
    name, ufunc = f"numpy.{short}", UFUNCS[short]

    def handler(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
        if len(given) != ufunc.nin + 1 or keywords:
            raise cx.type_error(f"{name}.at() takes {ufunc.nin + 1} arguments ({len(given)} given)")

        def rule(cx: Frame, operands: Sequence[AV]) -> AV:
            subject, *values = operands
            if isinstance(subject.type, Complex) and short in ("add", "subtract"):
                for part, value in zip(halves(subject), pair_of(cx, values[0]), strict=True):
                    if value is not None:
                        handler(cx, [part, given[1], value], {})
                return AV(NONE)
            if not isinstance(subject.type, Array):
                raise cx.type_error("first operand must be array", show(subject.type))
            writable(cx, subject)
            _at_index(cx, ufunc, subject, given[1], [_as_operand(cx, av) for av in values])
            return AV(NONE)

        return dispatch(cx, [given[0], *given[2:]], rule)

    return handler


def _as_operand(cx: Frame, av: AV) -> AV:
    return array_or_number(cx, av)


def _at_index(cx: Frame, ufunc: np.ufunc, subject: AV, index: AV, values: Sequence[AV]) -> None:
    function = AV(Builtin(f"numpy.{ufunc.__name__}"))
    parts = index_parts(cx, subject, index)
    if fancy_parts(parts):
        values = [array_like(cx, av) for av in values]
        require_cast(cx, ufunc, _sample(cx, ufunc, subject, values), subject, "same_kind")
        apply_at(cx, function, subject, parts, values[0] if values else None)
        return
    part = view(cx, subject, parts)
    result = call(cx, function, [part, *values], {})
    require_cast(cx, ufunc, result, subject, "same_kind")
    fill(cx, part, result, exact=False)


def _sample(cx: Frame, ufunc: np.ufunc, subject: AV, values: Sequence[AV]) -> AV:
    """A number of the dtype that the ufunc gives for these operands."""
    types = [np.dtype(NUMPY_DTYPES[av.type.dtype]) for av in (subject, *values)]  # type: ignore[union-attr]
    try:
        loop = ufunc.resolve_dtypes((*types, *(None,) * ufunc.nout))
    except TypeError as error:
        raise cx.error(str(error), show(subject.type), raised=("TypeError", str(error))) from None
    dtype = DTYPES.get(loop[ufunc.nin], DType.F64)
    return AV(Number(dtype, False), (cx.e.constant(0, Scalar(dtype)),))


def _reduceat(short: str) -> Handler:
    name, ufunc = f"numpy.{short}.reduceat", UFUNCS[short]

    def handler(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
        found = arguments_of(cx, name, ("array", "indices", "axis", "dtype", "out"), given, keywords)

        def rule(cx: Frame, operands: Sequence[AV]) -> AV:
            value, index = _whole(cx, operands[0]), array_like(cx, operands[1])
            axis = axis_of(cx, found["axis"], _axes_count(value)) if "axis" in found else 0
            value = _same_dtype(cx, ufunc, value, found)
            sizes = array_sizes(cx, _real(value))
            sizes[axis] = array_sizes(cx, index)[0]
            out = _empty(cx, value, sizes)
            size = cx.e("array_size", _real(value).value, axis=axis)
            bad = integer(cx, call(cx, prelude(cx, "pullback.no_start"), [index, AV(WEAK_INT, (size,))], {}))
            inside = cx.e("and_", cx.e("ge", bad, cx.e.integer(0)), cx.e("lt", bad, size))
            nothing = cx.e("eq", sizes[axis], cx.e.integer(0))
            message = f"index {{0}} out-of-bounds in {short}.reduceat [0, {{1}})"
            cx.check(cx.e("or_", inside, nothing), "IndexError", message, bad, size)
            views = [_first(cx, value, axis), index, _first(cx, out, axis)]
            call(cx, prelude(cx, "pullback.reduceat"), [AV(Builtin(f"numpy.{short}")), *views], {})
            return _kept(cx, name, found, out)

        return dispatch(cx, [found["array"], found["indices"]], rule)

    return handler


_TWO = [name for name, ufunc in UFUNCS.items() if ufunc.nin == 2 and ufunc.nout == 1]
HANDLERS.update({f"numpy.{name}.reduce": _reduce(name) for name in _TWO})
HANDLERS.update({f"numpy.{name}.accumulate": _accumulate(name) for name in _TWO})
HANDLERS.update({f"numpy.{name}.outer": _outer(name) for name in _TWO})
HANDLERS.update({f"numpy.{name}.reduceat": _reduceat(name) for name in _TWO})
HANDLERS.update({f"numpy.{name}.at": _at(name) for name, ufunc in UFUNCS.items() if ufunc.nout == 1})

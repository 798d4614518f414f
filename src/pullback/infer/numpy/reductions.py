"""Reductions along axes, with keepdims, where, initial, dtype and out: what is handed to the prelude, in which dtype.

    np.sum(a)              one elementwise pass with output "sum"
    np.sum(a, axis=1)      elementwise "inc" into zeros of shape (n, 1), then the axis is dropped
    np.prod(a, axis=0)     the prelude's loop over the lines of a along that axis
    np.sum(a, where=m)     the same of where(m, a, 0)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from pullback.infer.creation import arguments_of, array_like, dtype_of
from pullback.infer.dispatch import dispatch
from pullback.infer.elementwise import array_sizes, ordered_as, require_equal, shape_text
from pullback.infer.engine import Frame
from pullback.infer.filling import writable, write
from pullback.infer.heaps import kind_of
from pullback.infer.lists import is_array_like
from pullback.infer.numbers import as_number, convert
from pullback.infer.numpy.along import fold
from pullback.infer.numpy.array_extrema import extrema
from pullback.infer.numpy.axes import expanded, is_none, rank_of
from pullback.infer.numpy.shapes import axis_of
from pullback.infer.numpy.sums import (
    Reduction,
    cast_to,
    ddof_of,
    dropped,
    each,
    kept,
    masked,
    mean_of,
    number_of,
    std_of,
    sum_of,
    total,
    var_of,
    with_initial,
)
from pullback.infer.registry import HANDLERS, Handler
from pullback.infer.static import static_flag, static_items
from pullback.infer.truth import truth
from pullback.infer.values import AV
from pullback.types import Array, Constant, DType, List, NoneType, Number, Ref, Tuple, show

__all__ = [
    "accumulated", "flag", "of_arrays", "reduced", "reduction_axes", "stored", "summed_in",
]  # fmt: skip

_IN_SINGLE = ("sum", "prod", "mean", "var", "std", "max", "min")  # of float16: in float32, rounded once at the end
_PARAMETERS = {
    "sum": ("a", "axis", "dtype", "out", "keepdims", "initial", "where"),
    "mean": ("a", "axis", "dtype", "out", "keepdims", "where"),
    "var": ("a", "axis", "dtype", "out", "ddof", "keepdims", "where", "mean", "correction"),
    "max": ("a", "axis", "out", "keepdims", "initial", "where"),
    "any": ("a", "axis", "out", "keepdims", "where"),
    "argmax": ("a", "axis", "out", "keepdims"),
}  # fmt: skip
_PARAMETERS |= {"prod": _PARAMETERS["sum"], "std": _PARAMETERS["var"], "min": _PARAMETERS["max"],
                "all": _PARAMETERS["any"], "argmin": _PARAMETERS["argmax"]}  # fmt: skip


def of_arrays(name: str, names: Sequence[str], rule: Callable[[Frame, AV, Mapping[str, AV]], AV]) -> Handler:
    """A handler of a function of an array, or of what NumPy makes one of; numbers come as they are."""

    def handler(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
        found = arguments_of(cx, name, names, given, keywords)
        if names[0] not in found:
            raise cx.type_error(f"{name}() missing 1 required positional argument: '{names[0]}'")

        def one(cx: Frame, operands: Sequence[AV]) -> AV:
            (value,) = operands
            if is_array_like(value.type):
                value = array_like(cx, value)
            value = as_number(cx, value)
            if cx.dead:
                return value
            if not isinstance(value.type, Array | Number):
                title = f"{name.replace('numpy', 'np')} of {show(value.type)} is not supported"
                raise cx.error(title, "arrays are reduced")
            return rule(cx, value, found)

        return dispatch(cx, [found[names[0]]], one)

    return handler


def _reduction(kind: str) -> Callable[[Frame, AV, Mapping[str, AV]], AV]:
    def rule(cx: Frame, value: AV, found: Mapping[str, AV]) -> AV:
        if isinstance(value.type, Number):
            reduction_axes(cx, found.get("axis"), 0)
            if all(is_none(found, name) for name in ("where", "initial", "out", "mean")):
                return _of_number(cx, kind, value, found)
            value = array_like(cx, value)
        axes = reduction_axes(cx, found.get("axis"), rank_of(value))
        mask = None if is_none(found, "where") else found["where"]
        if mask is not None and isinstance(mask.type, Tuple | List):
            mask = array_like(cx, mask)
        if mask is not None and mask.type == Constant(True):
            mask = None
        return reduced(cx, value, Reduction(kind, axes, flag(cx, found, "keepdims"), mask, found))

    return rule


def reduced(cx: Frame, value: AV, asked: Reduction) -> AV:
    """The reduction of an array, put into `out` if that is given."""
    kind, rank = asked.kind, rank_of(value)
    if kind in ("argmax", "argmin") and not is_none(asked.found, "axis") and len(asked.axes) > 1:
        raise cx.error(f"np.{kind} takes one axis", "", "reshape, so that the axes become one")
    if asked.mask is not None:
        _check_mask(cx, value, asked.mask)
    value = _prepared(cx, kind, value, asked.found)
    if rank and not asked.axes:  # over none of the axes: over a new one of size 1
        mask = asked.mask
        if mask is not None and isinstance(mask.type, Array):
            mask = expanded(cx, mask, rank_of(mask))
        value, asked = expanded(cx, value, rank), replace(asked, axes=(rank,), keep=False, mask=mask)
    assert isinstance(value.type, Array)
    short = kind in _IN_SINGLE and value.type.dtype is DType.F16
    result = _RULES[kind](cx, cast_to(cx, value, DType.F32) if short else value, asked)
    if cx.dead:
        return result
    if short:
        result = each(cx, [result], lambda cx, items: number_of(convert(cx, items[0], DType.F16)))
    result = ordered_as(result, [value]) if isinstance(result.type, Array) else result
    if is_none(asked.found, "out"):
        return result
    return stored(cx, asked.found["out"], result, places=kind in ("argmax", "argmin"))


def _check_mask(cx: Frame, value: AV, mask: AV) -> None:
    """The argument `where` must fit the array, not the array it."""
    if not isinstance(mask.type, Array):
        return
    if mask.type.rank > rank_of(value):
        title = "input operand has more dimensions than allowed by the axis remapping"
        raise cx.error(title, show(mask.type), "where= has the shape of the array", raised=("ValueError", title))
    own, sizes = array_sizes(cx, mask), array_sizes(cx, value)
    words = (f"non-broadcastable operand with shape {shape_text(0, len(sizes))} doesn't match the shape "
             f"{shape_text(len(sizes), len(own))} of where=")  # fmt: skip
    for m, n in zip(own, sizes[len(sizes) - len(own) :], strict=True):
        fits = cx.e("or_", cx.e("eq", m, n), cx.e("eq", m, cx.e.integer(1)))
        cx.check(fits, "ValueError", words, *sizes, *own, shapes=True)


def _of_number(cx: Frame, kind: str, number: AV, found: Mapping[str, AV]) -> AV:
    """The reduction of a single number."""
    assert isinstance(number.type, Number)
    dtype = number.type.dtype
    if kind in ("any", "all"):
        return AV(Number(DType.BOOL, False), as_number(cx, truth(cx, number)).values)
    if kind in ("argmax", "argmin"):
        return AV(Number(DType.I64, False), (cx.e.integer(0),))
    dtype = _wanted(cx, kind, dtype, found)
    value = convert(cx, number, dtype)
    if kind in ("var", "std"):
        less = convert(cx, as_number(cx, ddof_of(cx, found)), dtype)
        one, zero = cx.e.like(1.0, value), cx.e.like(0.0, value)
        value = cx.e("div", cx.e("sub", value, value), cx.e("maximum", cx.e("sub", one, less), zero))
    return AV(Number(dtype, False), (value,))


def flag(cx: Frame, found: Mapping[str, AV], name: str, default: bool = False) -> bool:
    """An argument that must be True or False while compiling."""
    if name not in found:
        return default
    return static_flag(cx, found[name], name)


def reduction_axes(cx: Frame, axis: AV | None, rank: int) -> tuple[int, ...]:
    """The axes that an argument names, in order: all of them for None.  A number may be asked for its axis 0."""
    if axis is None or isinstance(axis.type, NoneType):
        return tuple(range(rank))
    if isinstance(axis.type, List) or kind_of(axis.type) == "list":
        title = "'list' object cannot be interpreted as an integer"
        raise cx.error(title, "axes are a tuple", "write (0, 1), or tuple(...)", raised=("TypeError", title))
    parts = static_items(cx, axis, "axis") if isinstance(axis.type, Tuple | Ref) else [axis]
    if rank == 0 and not isinstance(axis.type, Tuple) and cx.literal_of(axis) in (0, -1):
        return ()
    axes = tuple(sorted(axis_of(cx, part, rank) for part in parts))
    if len(set(axes)) != len(axes):
        title = "duplicate value in 'axis'"
        raise cx.error(title, show(axis.type), raised=("ValueError", title))
    return axes


def accumulated(dtype: DType) -> DType:
    """The dtype in which NumPy adds up and multiplies numbers of a dtype."""
    if dtype.is_float:
        return dtype
    return DType.U64 if dtype.is_unsigned else DType.I64


def summed_in(cx: Frame, dtype: DType, found: Mapping[str, AV]) -> DType:
    """The dtype in which numbers of a dtype are added up or multiplied: as asked for, or as `out` has it."""
    if is_none(found, "dtype") and not is_none(found, "out"):
        out = found["out"].type
        if isinstance(out, Array) and (out.dtype.is_float or not dtype.is_float):
            return out.dtype
    return dtype_of(cx, found.get("dtype"), accumulated(dtype))


def _wanted(cx: Frame, kind: str, dtype: DType, found: Mapping[str, AV]) -> DType:
    """The dtype NumPy reduces in."""
    if kind in ("any", "all"):
        return DType.BOOL
    if kind in ("sum", "prod"):
        return summed_in(cx, dtype, found)
    if kind in ("mean", "var", "std"):
        wanted = summed_in(cx, dtype if dtype.is_float else DType.F64, found)
        if not wanted.is_float:
            raise cx.error(f"np.{kind} with an int dtype is not supported", "means are floats", "convert the result")
        return wanted
    return dtype


def _prepared(cx: Frame, kind: str, value: AV, found: Mapping[str, AV]) -> AV:
    assert isinstance(value.type, Array)
    return cast_to(cx, value, _wanted(cx, kind, value.type.dtype, found))


# --------------------------------------------------------------------------------------------- products and extremes


def _by_lines(name: str, other: float | None = None) -> Callable[[Frame, AV, Reduction], AV]:
    """A function of the prelude for each line; `other` takes the place of what does not count."""

    def rule(cx: Frame, value: AV, asked: Reduction) -> AV:
        if other is not None:
            value = masked(cx, value, asked.mask, other)
        assert isinstance(value.type, Array)
        dtype = DType.I64 if asked.kind in ("argmax", "argmin") else value.type.dtype
        columns, dense = f"{asked.kind}_columns", asked.kind != "prod"
        found = fold(cx, name, value, asked.axes, dtype, keep=asked.keep, columns=columns, dense=dense)
        return with_initial(cx, "mul", found, asked) if asked.kind == "prod" else found

    return rule


def lowest(kind: str, dtype: DType) -> float:
    """What is never larger (kind "max") or smaller than a number of the dtype."""
    if dtype.is_float:
        return -float("inf") if kind == "max" else float("inf")
    if dtype is DType.BOOL:
        return kind == "min"
    return dtype.limits[kind == "min"]


def _extremum(cx: Frame, value: AV, asked: Reduction) -> AV:
    assert isinstance(value.type, Array)
    start: float | None = lowest(asked.kind, value.type.dtype)
    if is_none(asked.found, "initial") and asked.mask is None:
        start = None
    elif is_none(asked.found, "initial") and "where" in asked.found:
        title = (f"reduction operation '{asked.kind}imum' does not have an identity, so to use a where mask one has to "
                 "specify 'initial'")  # fmt: skip
        raise cx.error(title, "no element may count", "give initial=", raised=("ValueError", title))
    if start is not None:
        value = masked(cx, value, asked.mask, start)
    alone = len(asked.axes) == rank_of(value)
    found = extrema(cx, asked.kind, value, asked.axes, lambda part: total(cx, part, asked.axes, keep=not alone), start)
    if cx.dead:
        return found
    if alone and asked.keep:
        found = kept(cx, found, value)
    elif not alone and not asked.keep:
        found = dropped(cx, found, asked.axes)
    return with_initial(cx, f"{asked.kind}imum", found, asked)


_RULES: dict[str, Callable[[Frame, AV, Reduction], AV]] = {
    "sum": sum_of, "mean": mean_of, "var": var_of, "std": std_of, "prod": _by_lines("prod_line", 1),
    "any": _by_lines("any_line", 0), "all": _by_lines("all_line", 1), "argmax": _by_lines("argmax_line"),
    "argmin": _by_lines("argmin_line"), "max": _extremum, "min": _extremum,
}  # fmt: skip


# -------------------------------------------------------------------------------------------------------------- out


def stored(cx: Frame, out: AV, result: AV, *, places: bool = False) -> AV:
    """`out`, which takes the result: an array of its shape, of a dtype of its kind (places: of its dtype)."""
    if not isinstance(out.type, Array):
        raise cx.type_error("return arrays must be of ArrayType", show(out.type))
    rank = rank_of(result) if isinstance(result.type, Array) else 0
    if out.type.rank != rank:
        title = f"the output has {out.type.rank} dimensions, the result {rank}"
        raise cx.error(title, show(out.type), "make `out` of the shape of the result")
    assert isinstance(result.type, Array | Number)
    kinds = [av.type.dtype for av in (result, out) if isinstance(av.type, Array | Number)]
    if (places and kinds[1] is not kinds[0]) or (kinds[0].is_float and not kinds[1].is_float):
        raise cx.type_error(f"Cannot cast the result from {show(result.type)} to {show(out.type)}",
                            "out= has another kind of dtype")  # fmt: skip
    writable(cx, out)
    if isinstance(result.type, Array):
        for m, n in zip(array_sizes(cx, out), array_sizes(cx, result), strict=True):
            require_equal(cx, m, n, "output parameter for reduction operation has a wrong size")
    write(cx, out, [result], lambda cx, items: items[0])
    return out


HANDLERS.update({
    f"numpy.{kind}": of_arrays(f"numpy.{kind}", names, _reduction(kind)) for kind, names in _PARAMETERS.items()
})  # fmt: skip
HANDLERS.update({
    "numpy.amax": of_arrays("numpy.amax", _PARAMETERS["max"], _reduction("max")),
    "numpy.amin": of_arrays("numpy.amin", _PARAMETERS["min"], _reduction("min")),
})  # fmt: skip

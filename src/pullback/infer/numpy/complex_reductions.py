"""Reductions and running sums of complex arrays, and of real ones in a complex dtype.

    np.sum(z, initial=1j)      of both parts, each with its part of what they begin with
    z.prod(axis=0)             a loop of the prelude over pairs
    z.var()                    z.real.var() + z.imag.var()
    np.nanmean(z)              of parts that are nan where either is
    np.max(z)                  the element at the index that a loop finds: by real parts, then by imaginary ones
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from pullback.infer.arguments import arguments_of
from pullback.infer.arithmetic import binary
from pullback.infer.binding import pack_tuple
from pullback.infer.calls import INTERCEPT, call, call_builtin
from pullback.infer.complex_functions import stored_parts, wanted_parts
from pullback.infer.complexes import complex_of, halves, imaginary
from pullback.infer.creation import array_like, dtype_of, empty
from pullback.infer.dispatch import dispatch
from pullback.infer.elementwise import array_sizes, ordered_as
from pullback.infer.engine import Frame
from pullback.infer.lattice import WEAK_FLOAT, WEAK_INT
from pullback.infer.numbers import as_number
from pullback.infer.numpy.along import flat, kept_sizes, table
from pullback.infer.numpy.axes import expanded, is_none
from pullback.infer.numpy.outputs import stored_whole
from pullback.infer.numpy.reductions import flag, reduction_axes
from pullback.infer.numpy.shapes import axis_of, reshaped
from pullback.infer.registry import prelude
from pullback.infer.values import AV
from pullback.ir.node import Value
from pullback.types import Array, Complex, Constant, DType, NoneType, Number

__all__: list[str] = []

Found = Mapping[str, AV]
Rule = Callable[[Frame, AV, Found], AV]

_SUM = ("a", "axis", "dtype", "out", "keepdims", "initial", "where")
_MEAN = ("a", "axis", "dtype", "out", "keepdims", "where")
_VAR = ("a", "axis", "dtype", "out", "ddof", "keepdims", "where", "mean", "correction")
_MAX = ("a", "axis", "out", "keepdims", "initial", "where")
_RUN = ("a", "axis", "dtype", "out")


def _rank(av: AV) -> int:
    return av.type.rank if isinstance(av.type, Array) else 0


def _dtype(av: AV) -> DType:
    assert isinstance(av.type, Array | Number)
    return av.type.dtype


def _int(cx: Frame, number: int) -> AV:
    return AV(WEAK_INT, (cx.e.integer(number),), number)


def _call(cx: Frame, name: str, *given: AV, **keywords: AV) -> AV:
    return call_builtin(cx, f"numpy.{name}", given, keywords)


def _real_dtype(found: Found) -> bool:
    """Is a dtype of real numbers named."""
    return not is_none(found, "dtype") and wanted_parts(found["dtype"]) is None


def _by_parts(name: str) -> Rule:
    """Both parts alike; numbers among the arguments have parts too."""

    def rule(cx: Frame, z: AV, found: Found) -> AV:
        given = dict(found)
        starts = stored_parts(cx, given.pop("initial")) if not is_none(given, "initial") else ()
        given.pop("initial", None)
        return complex_of(*(
            _call(cx, name, part, **given, **({"initial": starts[k]} if starts else {}))
            for k, part in enumerate(halves(z))
        ))  # fmt: skip

    return rule


# ------------------------------------------------------------------------------------------------------- products


def _lines(cx: Frame, part: AV, axes: Sequence[int]) -> AV:
    """A table (before, line, after)."""
    found = table(cx, part, axes)
    if _rank(found) == 1:
        found = expanded(cx, found, 0)
    return expanded(cx, found, 2) if _rank(found) == 2 else found


def _prod(cx: Frame, z: AV, found: Found) -> AV:
    if not is_none(found, "where"):
        z = _call(cx, "where", found["where"], z, _int(cx, 1))
    parts, rank = halves(z), _rank(halves(z)[0])
    axes = reduction_axes(cx, found.get("axis"), rank)
    if rank == 0:
        result = call_builtin(cx, f"numpy.complex{128 if _dtype(parts[0]) is DType.F64 else 64}", [z], {})
    elif not axes:
        result = _call(cx, "copy", z)
    else:
        lines = [_lines(cx, part, axes) for part in parts]
        sizes = array_sizes(cx, lines[0])
        out = [empty(cx, [sizes[0], sizes[2]], _dtype(part)) for part in parts]
        call(cx, prelude(cx, "pullback.complex_prod_lines"), [*lines, *out], {})
        kept = kept_sizes(cx, parts[0], axes, keep=flag(cx, found, "keepdims"))
        made = [as_number(cx, reshaped(cx, part, kept)) for part in out]
        result = complex_of(*(ordered_as(one, [part]) for one, part in zip(made, parts, strict=True)))
    return result if is_none(found, "initial") else binary(cx, "*", result, found["initial"])


def _cumprod(cx: Frame, z: AV, found: Found) -> AV:
    parts: Sequence[AV] = [expanded(cx, part, 0) if _rank(part) == 0 else part for part in halves(z)]
    if is_none(found, "axis"):
        parts, axis = [flat(cx, part) for part in parts], 0
    else:
        axis = axis_of(cx, found["axis"], _rank(parts[0]))
    out = [empty(cx, array_sizes(cx, part), _dtype(part)) for part in parts]
    lines = [_lines(cx, part, [axis]) for part in (*parts, *out)]
    call(cx, prelude(cx, "pullback.complex_cumprod_lines"), lines, {})
    return complex_of(*(ordered_as(result, [part]) for result, part in zip(out, parts, strict=True)))


def _cumulative_prod(cx: Frame, z: AV, found: Found) -> AV:
    """np.cumulative_prod: with include_initial= a 1 comes first."""
    rank = _rank(halves(z)[0])
    if is_none(found, "axis") and rank > 1:
        title = "For arrays which have more than one dimension ``axis`` argument is required."
        raise cx.error(title, "", "write axis=...", raised=("ValueError", title))
    axis = 0 if is_none(found, "axis") else axis_of(cx, found["axis"], rank)
    made = _cumprod(cx, z, {"axis": _int(cx, axis)})
    if not flag(cx, found, "include_initial"):
        return made
    width = [[_int(cx, int(k == axis)), _int(cx, 0)] for k in range(rank)]
    pairs = [pack_tuple(pair) for pair in width]
    return _call(cx, "pad", made, pack_tuple(pairs), constant_values=_int(cx, 1))


# -------------------------------------------------------------------------------------------------------- variances


def _spread(name: str, join: Callable[[Frame, AV, AV], AV]) -> Rule:
    """np.var and np.std, from those of the parts."""

    def rule(cx: Frame, z: AV, found: Found) -> AV:
        given = dict(found)
        means = stored_parts(cx, given.pop("mean")) if not is_none(given, "mean") else ()
        given.pop("mean", None)
        more = [{"mean": mean} for mean in means] or [{}, {}]
        return join(cx, *(_call(cx, name, part, **given, **own) for part, own in zip(halves(z), more, strict=True)))

    return rule


def _spread_in_real(cx: Frame, name: str, z: AV, dtype: AV, found: Found) -> AV:
    """With a real dtype NumPy takes the mean in it, so without its imaginary part, and the squares as ever."""
    if not dtype_of(cx, dtype).is_float:
        raise cx.error(f"np.{name} of complex numbers in a dtype of ints is not supported", "it would cut off digits",
                       "leave dtype= out, and convert the result")  # fmt: skip
    given = {**found, "dtype": dtype}
    if is_none(given, "mean"):
        zero = AV(WEAK_FLOAT, (cx.e.constant(0.0),), 0.0)
        means: Sequence[AV | None] = [None, zero]
    else:
        means = stored_parts(cx, given["mean"])
    given.pop("mean", None)
    shares = [_call(cx, name, part, **given, **({} if mean is None else {"mean": mean}))
              for part, mean in zip(halves(z), means, strict=True)]  # fmt: skip
    return (_hypot if name.endswith("std") else _plus)(cx, *shares)


def _plus(cx: Frame, x: AV, y: AV) -> AV:
    return binary(cx, "+", x, y)


def _hypot(cx: Frame, x: AV, y: AV) -> AV:
    return _call(cx, "hypot", x, y)


# ----------------------------------------------------------------------------------------------------------- nans


def _is_nan(cx: Frame, z: AV) -> AV:
    return _call(cx, "isnan", z)


def _with_nans(cx: Frame, z: AV) -> AV:
    """Both parts nan where either is."""
    nan = AV(WEAK_FLOAT, (cx.e.constant(math.nan),), math.nan)
    missing = _is_nan(cx, z)
    return complex_of(*(_call(cx, "where", missing, nan, part) for part in halves(z)))


def _after(prepare: Callable[[Frame, AV], AV], rule: Rule) -> Rule:
    return lambda cx, z, found: rule(cx, prepare(cx, z), found)


def _ones_for_nans(cx: Frame, z: AV) -> AV:
    return _call(cx, "where", _is_nan(cx, z), _int(cx, 1), z)


# ------------------------------------------------------------------------------------------------------- the largest


def _place(name: str, largest: bool, skip: bool) -> Rule:
    """np.argmax and kin: the index along an axis, or in the row of all elements."""

    def rule(cx: Frame, z: AV, found: Found) -> AV:
        parts, rank = list(halves(z)), _rank(halves(z)[0])
        if is_none(found, "axis") or rank == 0:
            axes = tuple(range(rank))
        else:
            axes = (axis_of(cx, found["axis"], rank),)
        lines = [_lines(cx, *_seen(cx, part, axes)) for part in parts]
        index = _indices(cx, name, lines, largest=largest, skip=skip)
        kept = kept_sizes(cx, parts[0], axes, keep=flag(cx, found, "keepdims"))
        return as_number(cx, reshaped(cx, index, kept))

    return rule


def _nan_place(name: str, largest: bool) -> Rule:
    """np.nanargmax and kin: as in NumPy, infinity stands for what has a nan."""
    place = _place(name, largest, False)

    def rule(cx: Frame, z: AV, found: Found) -> AV:
        missing = _is_nan(cx, z)
        axis = {"axis": found["axis"]} if "axis" in found else {}
        gone = as_number(cx, _call(cx, "any", _call(cx, "all", missing, **axis)))
        some = _call(cx, "size", z)
        cx.check(cx.e("or_", cx.e("not_", gone.value), cx.e("eq", some.value, cx.e.integer(0))), "ValueError",
                 "All-NaN slice encountered")  # fmt: skip
        least = -math.inf if largest else math.inf
        end = AV(WEAK_FLOAT, (cx.e.constant(least),), least)
        return place(cx, _call(cx, "where", missing, end, z), found)

    return rule


def _indices(cx: Frame, name: str, lines: Sequence[AV], *, largest: bool, skip: bool) -> AV:
    """For each line the place of what comes last, or first; a table (before, after)."""
    sizes = array_sizes(cx, lines[0])
    what = "attempt to get {0} of an empty sequence" if name.startswith("arg") else (
        "zero-size array to reduction operation {0} which has no identity")  # fmt: skip
    some = cx.e("or_", cx.e("gt", sizes[1], cx.e.integer(0)), _nothing(cx, sizes))
    cx.check(some, "ValueError", what.replace("{0}", name))
    out = empty(cx, [sizes[0], sizes[2]], DType.I64)
    flags = [AV(Constant(largest), (), largest), AV(Constant(skip), (), skip)]
    call(cx, prelude(cx, "pullback.complex_place_lines"), [*lines, out, *flags], {})
    return out


def _nothing(cx: Frame, sizes: Sequence[Value]) -> Value:
    zero = cx.e.integer(0)
    return cx.e("or_", cx.e("eq", sizes[0], zero), cx.e("eq", sizes[2], zero))


def _extreme(name: str, largest: bool, skip: bool) -> Rule:
    """np.max and kin: the elements at these places."""

    def rule(cx: Frame, z: AV, found: Found) -> AV:
        starts = () if is_none(found, "initial") else stored_parts(cx, found["initial"])
        if not is_none(found, "where"):
            if not starts:
                title = f"reduction operation '{name}' does not have an identity, so to use a where mask one has to "
                raise cx.error(f"{title}specify 'initial'", "", "write initial=...", raised=("ValueError", title))
            z = _call(cx, "where", found["where"], z, found["initial"])
        parts, rank = halves(z), _rank(halves(z)[0])
        axes = reduction_axes(cx, found.get("axis"), rank)
        if not axes and not starts:
            return complex_of(*(_call(cx, "copy", part) if rank else as_number(cx, part) for part in parts))
        lines = [_lines(cx, *_seen(cx, part, axes)) for part in parts]
        if starts:
            lines = [_begun(cx, line, start) for line, start in zip(lines, starts, strict=True)]
        index = _indices(cx, name, lines, largest=largest, skip=skip)
        kept = kept_sizes(cx, parts[0], axes, keep=flag(cx, found, "keepdims")) if rank else []
        return complex_of(*(
            ordered_as(as_number(cx, reshaped(cx, _taken(cx, line, index), kept)), [part])
            for line, part in zip(lines, parts, strict=True)
        ))  # fmt: skip

    return rule


def _seen(cx: Frame, part: AV, axes: Sequence[int]) -> tuple[AV, Sequence[int]]:
    """An array and at least one axis of it, a new one of size 1 where none is given."""
    part = array_like(cx, part)
    return (part, axes) if axes else (expanded(cx, part, _rank(part)), [_rank(part)])


def _begun(cx: Frame, line: AV, start: AV) -> AV:
    """Lines that begin with a number."""
    sizes = array_sizes(cx, line)
    longer = empty(cx, [sizes[0], cx.e("add", sizes[1], cx.e.integer(1)), sizes[2]], _dtype(line))
    call(cx, prelude(cx, "pullback.begin_lines"), [line, start, longer], {})
    return longer


def _taken(cx: Frame, line: AV, index: AV) -> AV:
    """The element of each line at its index."""
    out = empty(cx, array_sizes(cx, index), _dtype(line))
    call(cx, prelude(cx, "pullback.take_lines"), [line, index, out], {})
    return out


def _ptp(cx: Frame, z: AV, found: Found) -> AV:
    high, low = (_call(cx, name, z, **found) for name in ("max", "min"))
    return binary(cx, "-", high, low)


# ------------------------------------------------------------------------------------------------------------ calls


_RULES: dict[str, tuple[Sequence[str], Rule]] = {
    "sum": (_SUM, _by_parts("sum")), "mean": (_MEAN, _by_parts("mean")), "cumsum": (_RUN, _by_parts("cumsum")),
    "prod": (_SUM, _prod), "cumprod": (_RUN, _cumprod),
    "cumulative_sum": (("x", "axis", "dtype", "out", "include_initial"), _by_parts("cumulative_sum")),
    "cumulative_prod": (("x", "axis", "dtype", "out", "include_initial"), _cumulative_prod),
    "var": (_VAR, _spread("var", _plus)), "std": (_VAR, _spread("std", _hypot)),
    "nansum": (_SUM, _after(_with_nans, _by_parts("nansum"))),
    "nanmean": (_MEAN, _after(_with_nans, _by_parts("nanmean"))),
    "nanvar": (_VAR, _after(_with_nans, _spread("nanvar", _plus))),
    "nanstd": (_VAR, _after(_with_nans, _spread("nanstd", _hypot))),
    "nancumsum": (_RUN, _after(_with_nans, _by_parts("nancumsum"))),
    "nanprod": (_SUM, _after(_ones_for_nans, _prod)), "nancumprod": (_RUN, _after(_ones_for_nans, _cumprod)),
    "max": (_MAX, _extreme("maximum", True, False)), "min": (_MAX, _extreme("minimum", False, False)),
    "amax": (_MAX, _extreme("maximum", True, False)), "amin": (_MAX, _extreme("minimum", False, False)),
    "nanmax": (_MAX, _extreme("fmax", True, True)), "nanmin": (_MAX, _extreme("fmin", False, True)),
    "argmax": (("a", "axis", "out", "keepdims"), _place("argmax", True, False)),
    "argmin": (("a", "axis", "out", "keepdims"), _place("argmin", False, False)),
    "nanargmax": (("a", "axis", "out", "keepdims"), _nan_place("argmax", True)),
    "nanargmin": (("a", "axis", "out", "keepdims"), _nan_place("argmin", False)),
    "ptp": (("a", "axis", "out", "keepdims"), _ptp),
}  # fmt: skip
_OF_SQUARES = frozenset({"var", "std", "nanvar", "nanstd"})


def _reduced(cx: Frame, short: str, z: AV, found: dict[str, AV]) -> AV:
    dtype, out = found.pop("dtype", None), found.pop("out", None)
    named = dtype is not None and not isinstance(dtype.type, NoneType)
    if named and short in _OF_SQUARES and wanted_parts(dtype) is None:
        assert dtype is not None
        result = _spread_in_real(cx, short, z, dtype, found)
        return result if out is None or isinstance(out.type, NoneType) else stored_whole(cx, short, out, result)
    if named:
        assert dtype is not None
        z = _call(cx, "astype", z, dtype)
    result = _RULES[short][1](cx, z, found) if isinstance(z.type, Complex) else _call(cx, short, z, **found)
    if named and not isinstance(result.type, Complex) and isinstance(z.type, Complex) and short in _OF_SQUARES:
        result = complex_of(result, imaginary(cx, result))
    return result if out is None or isinstance(out.type, NoneType) else stored_whole(cx, short, out, result)


def _intercept(cx: Frame, name: str, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV | None:
    """A call that has a rule here; None for all others."""
    module, _, short = name.rpartition(".")
    if module not in ("numpy", "complex", "ndarray") or short not in _RULES or not given:
        return None
    names, _ = _RULES[short]
    place = names.index("dtype") if "dtype" in names else len(given)
    dtype = keywords.get("dtype", given[place] if len(given) > place else None)
    if not isinstance(given[0].type, Complex) and wanted_parts(dtype) is None:
        return None
    found = dict(arguments_of(cx, f"numpy.{short}", names, given, keywords))
    subject = found.pop(names[0])

    def rule(cx: Frame, operands: Sequence[AV]) -> AV:
        z = operands[0] if isinstance(operands[0].type, Complex) else array_like(cx, operands[0])
        return _reduced(cx, short, z, dict(found))

    return dispatch(cx, [subject], rule)


INTERCEPT.insert(0, _intercept)

"""Running sums and products, differences, gradients and the trapezoidal rule along an axis.

    np.cumsum(a, axis=1)      the prelude's loop over the lines of a along that axis
    np.diff(a, axis=0)        a[1:] - a[:-1]
    np.gradient(a, h)         differences of second order inside, of first or second order at the ends
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from pullback.infer.arithmetic import binary
from pullback.infer.calls import call_builtin
from pullback.infer.creation import array_like, empty
from pullback.infer.elementwise import array_sizes, elementwise, ordered_as
from pullback.infer.engine import Frame
from pullback.infer.filling import write
from pullback.infer.lattice import WEAK_FLOAT, WEAK_INT
from pullback.infer.numbers import as_number
from pullback.infer.numpy.along import flat, scan
from pullback.infer.numpy.axes import expanded, is_none, known_int, of_array, pack, rank_of
from pullback.infer.numpy.joining import common_dtype, concatenated
from pullback.infer.numpy.reductions import flag, reduction_axes, stored, summed_in
from pullback.infer.numpy.shapes import axis_of
from pullback.infer.numpy.splitting import between
from pullback.infer.numpy.sums import cast_to, total
from pullback.infer.registry import HANDLERS
from pullback.infer.values import AV
from pullback.types import Array, DType, Number, Scalar, show

__all__: list[str] = []

Rule = Callable[[Frame, AV, Mapping[str, AV]], AV]


def _literal(cx: Frame, number: int) -> AV:
    return AV(WEAK_INT, (cx.e.integer(number),), number)


def _float(cx: Frame, number: float) -> AV:
    return AV(WEAK_FLOAT, (cx.e.constant(number, Scalar(DType.F64)),), number)


def _refused(cx: Frame, title: str, label: str) -> Exception:
    return cx.error(title, label, raised=("ValueError", title))


# ---------------------------------------------------------------------------------------------- running sums, products


def _cumulative(name: str, *, skip_nan: float | None = None) -> Rule:
    """skip_nan: what takes the place of nan."""

    def rule(cx: Frame, av: AV, found: Mapping[str, AV]) -> AV:
        assert isinstance(av.type, Array)
        dtype = av.type.dtype
        if skip_nan is not None and dtype.is_float:
            av = _without_nan(cx, av, skip_nan)
        av = cast_to(cx, av, summed_in(cx, dtype, found))
        if is_none(found, "axis"):
            av, axis = flat(cx, av), 0
        else:
            av = expanded(cx, av, 0) if rank_of(av) == 0 else av
            axis = axis_of(cx, found["axis"], rank_of(av))
        result = _scanned(cx, name, av, axis)
        return result if is_none(found, "out") else stored(cx, found["out"], result)

    return rule


def _scanned(cx: Frame, name: str, av: AV, axis: int) -> AV:
    assert isinstance(av.type, Array)
    out = empty(cx, array_sizes(cx, av), av.type.dtype)
    return ordered_as(scan(cx, f"{name}_line", av, axis, out, columns=f"{name}_columns"), [av])


def _without_nan(cx: Frame, av: AV, other: float) -> AV:
    def item(cx: Frame, items: Sequence[AV]) -> AV:
        x = items[0].value
        return AV(items[0].type, (cx.e("select", cx.e("isnan", x), cx.e.like(other, x), x),))

    return elementwise(cx, [av], item)


def _array_api(name: str, start: int) -> Rule:
    """np.cumulative_sum and np.cumulative_prod: an axis must be given, unless there is but one."""

    def rule(cx: Frame, av: AV, found: Mapping[str, AV]) -> AV:
        if is_none(found, "axis") and rank_of(av) != 1:
            title = "For arrays which have more than one dimension ``axis`` argument is required."
            raise _refused(cx, title, show(av.type))
        assert isinstance(av.type, Array)
        axis = 0 if is_none(found, "axis") else axis_of(cx, found["axis"], rank_of(av))
        dtype = summed_in(cx, av.type.dtype, found)
        av = cast_to(cx, av, dtype)
        if flag(cx, found, "include_initial"):
            sizes = [cx.e.integer(1) if k == axis else size for k, size in enumerate(array_sizes(cx, av))]
            first = empty(cx, sizes, dtype)
            write(cx, first, [_literal(cx, start)], lambda cx, items: items[0])
            av = concatenated(cx, "numpy.concatenate", [first, av], axis, dtype)
        result = _scanned(cx, name, av, axis)
        return result if is_none(found, "out") else stored(cx, found["out"], result)

    return rule


# ------------------------------------------------------------------------------------------------------ differences


def _neighbours(cx: Frame, av: AV, axis: int) -> tuple[AV, AV]:
    """All but the first, and all but the last, along an axis."""
    return between(cx, av, axis, _literal(cx, 1), None), between(cx, av, axis, None, _literal(cx, -1))


def _difference(cx: Frame, av: AV, axis: int) -> AV:
    assert isinstance(av.type, Array)
    after, before = _neighbours(cx, av, axis)
    if av.type.dtype is DType.BOOL:
        return call_builtin(cx, "numpy.not_equal", [after, before], {})
    return binary(cx, "-", after, before)


def _beside(cx: Frame, av: AV, axis: int, other: AV) -> AV:
    """What is put before or after an array along an axis: numbers become of size 1 there."""
    other = array_like(cx, other)
    if rank_of(other):
        return other
    number = as_number(cx, other)
    assert isinstance(number.type, Number)
    sizes = [cx.e.integer(1) if k == axis else size for k, size in enumerate(array_sizes(cx, av))]
    fresh = empty(cx, sizes, number.type.dtype)
    write(cx, fresh, [number], lambda cx, items: items[0])
    return fresh


def _diff(cx: Frame, av: AV, found: Mapping[str, AV]) -> AV:
    times = known_int(cx, found, "n", 1)
    if times < 0:
        raise _refused(cx, f"order must be non-negative but got {times}", "")
    if times == 0:
        return av
    if rank_of(av) == 0:
        raise _refused(cx, "diff requires input that is at least one dimensional", show(av.type))
    axis = axis_of(cx, found["axis"], rank_of(av)) if "axis" in found else rank_of(av) - 1
    parts = [av]
    if not is_none(found, "prepend"):
        parts.insert(0, _beside(cx, av, axis, found["prepend"]))
    if not is_none(found, "append"):
        parts.append(_beside(cx, av, axis, found["append"]))
    if len(parts) > 1:
        av = concatenated(cx, "numpy.concatenate", parts, axis, common_dtype(parts))
    for _ in range(times):
        av = _difference(cx, av, axis)
    return av


def _ediff1d(cx: Frame, av: AV, found: Mapping[str, AV]) -> AV:
    assert isinstance(av.type, Array)
    result = _difference(cx, flat(cx, av), 0)
    parts = [result]
    for name in ("to_begin", "to_end"):
        if is_none(found, name):
            continue
        other = array_like(cx, found[name])
        assert isinstance(other.type, Array)
        if other.type.dtype.is_float and not av.type.dtype.is_float:
            title = f"dtype of `{name}` must be compatible with input `ary` under the `same_kind` rule."
            raise cx.type_error(title, show(other.type))
        parts.insert(0 if name == "to_begin" else len(parts), cast_to(cx, flat(cx, other), av.type.dtype))
    return result if len(parts) == 1 else concatenated(cx, "numpy.concatenate", parts, 0, av.type.dtype)


# ------------------------------------------------------------------------------------------------------ trapezoids


def _trapezoid(cx: Frame, av: AV, found: Mapping[str, AV]) -> AV:
    assert isinstance(av.type, Array)
    axis = axis_of(cx, found["axis"], rank_of(av)) if "axis" in found else rank_of(av) - 1
    after, before = _neighbours(cx, av, axis)
    double = binary(cx, "*", _steps(cx, av, axis, found), binary(cx, "+", after, before))
    return total(cx, binary(cx, "/", double, _float(cx, 2.0)), [axis], keep=False)


def _steps(cx: Frame, av: AV, axis: int, found: Mapping[str, AV]) -> AV:
    """The widths of the trapezoids."""
    if is_none(found, "x"):
        return found.get("dx", _float(cx, 1.0))
    x = array_like(cx, found["x"])
    if rank_of(x) != 1:
        return _difference(cx, x, axis_of(cx, _literal(cx, axis), rank_of(x)))
    steps = _difference(cx, x, 0)
    for other in range(rank_of(av)):
        steps = steps if other == axis else expanded(cx, steps, other)
    return steps


# ------------------------------------------------------------------------------------------------------ gradient


def _gradient(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    names = set(keywords) - {"axis", "edge_order"}
    if names or not given:
        raise cx.type_error(f"gradient() got an unexpected keyword argument '{min(names)}'" if names else
                            "gradient() missing 1 required positional argument: 'f'")  # fmt: skip
    av = array_like(cx, given[0])
    assert isinstance(av.type, Array)
    av = cast_to(cx, av, av.type.dtype if av.type.dtype.is_float else DType.F64)
    axes = reduction_axes(cx, keywords.get("axis"), rank_of(av))
    spacings = list(given[1:])
    if not spacings:
        spacings = [_float(cx, 1.0)] * len(axes)
    elif len(spacings) == 1 and len(axes) > 1 and rank_of(array_like(cx, spacings[0])) == 0:
        spacings *= len(axes)
    if len(spacings) != len(axes):
        raise cx.type_error("invalid number of arguments", f"{len(axes)} axes and {len(spacings)} spacings")
    order = known_int(cx, keywords, "edge_order", 1)
    if order > 2:
        raise _refused(cx, "'edge_order' greater than 2 not supported", "")
    results = [_along(cx, av, axis, spacing, order) for axis, spacing in zip(axes, spacings, strict=True)]
    return results[0] if len(results) == 1 else pack(results)


def _along(cx: Frame, av: AV, axis: int, spacing: AV, order: int) -> AV:
    """One axis: weights of neighbours, which depend on the widths of the gaps, times differences of them."""
    sizes = array_sizes(cx, av)
    message = ("Shape of array too small to calculate a numerical gradient, at least (edge_order + 1) elements are "
               "required.")  # fmt: skip
    cx.check(cx.e("ge", sizes[axis], cx.e.integer(order + 1)), "ValueError", message)
    gaps = array_like(cx, spacing)
    if rank_of(gaps) > 1:
        raise _refused(cx, "distances must be either scalars or 1d", show(gaps.type))
    if rank_of(gaps) == 1:
        same = cx.e("eq", cx.e("array_size", gaps.value, axis=0), sizes[axis])
        cx.check(same, "ValueError", "when 1d, distances must match the length of the corresponding dimension")
    assert isinstance(av.type, Array)
    out = empty(cx, sizes, av.type.dtype)
    name = f"gradient_{'even' if rank_of(gaps) == 0 else 'uneven'}_{order}"
    step = as_number(cx, gaps) if rank_of(gaps) == 0 else gaps
    return ordered_as(scan(cx, name, av, axis, out, [step]), [av])


_CUMULATIVE = ("a", "axis", "dtype", "out")
_ARRAY_API = ("x", "axis", "dtype", "out", "include_initial")
_ROWS: dict[str, tuple[tuple[str, ...], Rule]] = {
    "cumsum": (_CUMULATIVE, _cumulative("cumsum")), "cumprod": (_CUMULATIVE, _cumulative("cumprod")),
    "nancumsum": (_CUMULATIVE, _cumulative("cumsum", skip_nan=0)),
    "nancumprod": (_CUMULATIVE, _cumulative("cumprod", skip_nan=1)),
    "cumulative_sum": (_ARRAY_API, _array_api("cumsum", 0)), "cumulative_prod": (_ARRAY_API, _array_api("cumprod", 1)),
    "diff": (("a", "n", "axis", "prepend", "append"), _diff), "ediff1d": (("ary", "to_end", "to_begin"), _ediff1d),
    "trapezoid": (("y", "x", "dx", "axis"), _trapezoid),
}  # fmt: skip
HANDLERS.update({f"numpy.{name}": of_array(f"numpy.{name}", *row) for name, row in _ROWS.items()})
HANDLERS["numpy.trapz"] = HANDLERS["numpy.trapezoid"]
HANDLERS["numpy.gradient"] = _gradient

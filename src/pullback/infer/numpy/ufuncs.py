"""Keywords of ufuncs: out, where, dtype, casting.  Their methods are in `ufunc_methods`.

    np.add(a, b, out=c)            c[...] = np.add(a, b), after NumPy's checks of shape and casting
    np.sin([0.5, 1.0])             np.sin(np.array([0.5, 1.0]))

Which dtypes a ufunc computes in, and what it refuses to cast, NumPy itself is asked while compiling.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pullback.infer.calls import INTERCEPT, call_builtin
from pullback.infer.creation import array_or_number, cast, dtype_of
from pullback.infer.dispatch import dispatch
from pullback.infer.elementwise import array_sizes, broadcast, shape_text
from pullback.infer.engine import Frame
from pullback.infer.filling import apart, fill, writable, write
from pullback.infer.lattice import WEAK_INT
from pullback.infer.lists import is_array_like
from pullback.infer.numbers import as_number, convert
from pullback.infer.numpy.axes import is_none
from pullback.infer.registry import HANDLERS
from pullback.infer.values import AV, items_of
from pullback.prims.scalar import NUMPY_DTYPES
from pullback.types import (
    NONE,
    Array,
    Complex,
    Constant,
    DType,
    NoneType,
    Number,
    Str,
    Tuple,
    show,
)

__all__ = ["DTYPES", "UFUNCS", "in_dtype", "kept_in", "outs_of", "require_cast", "stored_in"]

UFUNCS: dict[str, np.ufunc] = {
    name: found for name, found in vars(np).items() if isinstance(found, np.ufunc) and found.signature is None
}
_KEYWORDS = frozenset({"out", "where", "dtype", "casting", "order", "subok"})
DTYPES = {np.dtype(kind): dtype for dtype, kind in NUMPY_DTYPES.items()}
_PYTHON = {DType.BOOL: bool, DType.I64: int, DType.F64: float}


# ----------------------------------------------------------------------------------------------------- keywords


def _with_keywords(cx: Frame, name: str, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV | None:
    """A call of a ufunc with keywords or with an array for the result; None for all others."""
    module, _, short = name.rpartition(".")
    ufunc = UFUNCS.get(short) if module == "numpy" else None
    maps = module == "numpy" and (ufunc is not None or short in _LIKE_UFUNCS)
    if maps and any(is_array_like(av.type) for av in arguments):
        arguments = [HANDLERS["numpy.array"](cx, [av], {}) if is_array_like(av.type) else av for av in arguments]
        return call_builtin(cx, name, arguments, keywords)
    if ufunc is None or (not keywords and len(arguments) <= ufunc.nin) or len(arguments) < ufunc.nin:
        return None
    unknown = set(keywords) - _KEYWORDS
    if unknown or len(arguments) > ufunc.nin + ufunc.nout:
        return None
    given = {key: av for key, av in keywords.items() if not _is_default(key, av)}
    outs = list(arguments[ufunc.nin :]) or outs_of(given.pop("out", None))
    inputs = list(arguments[: ufunc.nin])
    if ufunc.nout > 1 and (outs or "where" in given):
        raise cx.error(f"{name}: out= and where= are not supported, it has two results", "", "assign the results")

    def rule(cx: Frame, operands: Sequence[AV]) -> AV:
        return _called(cx, name, ufunc, operands, outs, given)

    return dispatch(cx, inputs, rule)


_LIKE_UFUNCS = ("where", "clip", "fix", "real", "imag", "angle")


def _is_default(key: str, av: AV) -> bool:
    return isinstance(av.type, NoneType) or (key == "where" and av.type == Constant(True)) or key in ("order", "subok")


def outs_of(out: AV | None) -> list[AV]:
    """The arrays for results that are given: one, or some of a tuple."""
    if out is None:
        return []
    found = items_of(out) if isinstance(out.type, Tuple) else [out]
    return [av for av in found if not isinstance(av.type, NoneType)]


def _called(
    cx: Frame, name: str, ufunc: np.ufunc, inputs: Sequence[AV], outs: Sequence[AV], given: Mapping[str, AV]
) -> AV:  # fmt: skip
    if "dtype" in given:
        casting = _casting(cx, given.get("casting"))
        inputs = _prepared(cx, ufunc, inputs, dtype_of(cx, given["dtype"]), casting)
    return stored_in(cx, ufunc, call_builtin(cx, name, inputs, {}), inputs, outs, given)


def stored_in(
    cx: Frame, ufunc: np.ufunc, result: AV, inputs: Sequence[AV], outs: Sequence[AV], given: Mapping[str, AV]
) -> AV:  # fmt: skip
    """The result, or the array for it with the result in it, where the mask is true."""
    casting = _casting(cx, given.get("casting"))
    if not outs:
        return result if "where" not in given else _masked(cx, given["where"], result)
    (out,) = outs
    if isinstance(out.type, Complex) or isinstance(result.type, Complex):
        return _into_complex(cx, out, result, given)
    if not isinstance(out.type, Array):
        raise cx.type_error("return arrays must be of ArrayType", show(out.type))
    writable(cx, out, "output array is read-only")
    require_cast(cx, ufunc, result, out, casting)
    _require_shape(cx, [*inputs, *([given["where"]] if "where" in given else [])], out)
    _store(cx, out, result, given.get("where"))
    return out


def _casting(cx: Frame, av: AV | None) -> Any:
    """The casting rule that is named, one of NumPy's."""
    if av is None:
        return "same_kind"
    if not isinstance(av.type, Str) or av.type.value not in ("no", "equiv", "safe", "same_kind", "unsafe"):
        raise cx.error("casting must be one of 'no', 'equiv', 'safe', 'same_kind', or 'unsafe'", show(av.type))
    return av.type.value


def _numpy_type(av: AV) -> Any:
    """What NumPy resolves dtypes by: a dtype, or a Python type for a weak number."""
    av_type = av.type
    if isinstance(av_type, Constant):
        return bool
    if isinstance(av_type, Number) and av_type.weak:
        return _PYTHON[av_type.dtype]
    assert isinstance(av_type, Number | Array)
    return np.dtype(NUMPY_DTYPES[av_type.dtype])


def _prepared(cx: Frame, ufunc: np.ufunc, inputs: Sequence[AV], dtype: DType, casting: Any) -> list[AV]:
    """The inputs in the dtypes of the loop that gives this dtype."""
    if any(isinstance(av.type, Complex) for av in inputs):
        raise cx.error("dtype= is not supported for complex inputs", "", "convert with .astype(...)")
    wanted = np.dtype(NUMPY_DTYPES[dtype])
    signature = (None,) * ufunc.nin + (wanted,) * ufunc.nout
    types = (*map(_numpy_type, inputs), *(None,) * ufunc.nout)
    try:
        loop = ufunc.resolve_dtypes(types, signature=signature, casting=casting)
    except TypeError as error:
        raise cx.error(str(error), "NumPy refuses this too", raised=("TypeError", str(error))) from None
    return [in_dtype(cx, av, loop[k]) for k, av in enumerate(inputs)]


def in_dtype(cx: Frame, av: AV, wanted: np.dtype[Any]) -> AV:
    """A number or an array in another dtype."""
    dtype = DTYPES.get(wanted)
    if dtype is None:
        raise cx.error(f"numbers of dtype {wanted} are not supported", show(av.type))
    if isinstance(av.type, Array):
        return av if av.type.dtype is dtype else cast(cx, av, dtype)
    return AV(Number(dtype, False), (convert(cx, av, dtype),), av.literal)


def require_cast(cx: Frame, ufunc: np.ufunc, result: AV, out: AV, casting: Any) -> None:
    """Refuse a result that the casting rule does not let into the array `out`."""
    source, target = (np.dtype(NUMPY_DTYPES[av.type.dtype]) for av in (result, out))  # type: ignore[union-attr]
    if not np.can_cast(source, target, casting=casting):
        name, rule = ufunc.__name__, f"with casting rule '{casting}'"
        title = f"Cannot cast ufunc '{name}' output from {source!r} to {target!r} {rule}"
        help = "give an array of another dtype, or casting='unsafe'"
        raise cx.error(title, "an array keeps its dtype", help, raised=("TypeError", title))


def _require_shape(cx: Frame, inputs: Sequence[AV], out: AV) -> None:
    """The shape that all broadcast to must be that of `out`."""
    arrays = [av for av in inputs if isinstance(av.type, Array)]
    shape = [extent.size for extent in broadcast(cx, [*arrays, out], [*arrays, out])]
    sizes = array_sizes(cx, out)
    message = (f"non-broadcastable output operand with shape {shape_text(0, len(sizes))} doesn't match the broadcast "
               f"shape {shape_text(len(sizes), len(shape))}")  # fmt: skip
    if len(shape) != len(sizes):
        title = f"an array of {len(sizes)} axes does not hold a result of {len(shape)}"
        raise cx.error(title, show(out.type), raised=("ValueError", "non-broadcastable output operand"))
    for size, common in zip(sizes, shape, strict=True):
        if size is not common:
            cx.check(cx.e("eq", size, common), "ValueError", message, *sizes, *shape, shapes=True)


def _store(cx: Frame, out: AV, result: AV, where: AV | None) -> None:
    """out[...] = result, where the mask is true."""
    if where is None:
        fill(cx, out, result, exact=False)
        return
    mask = array_or_number(cx, where)
    if isinstance(mask.type, Array):
        mask = apart(cx, out, mask)

    def choose(cx: Frame, items: Sequence[AV]) -> AV:
        condition, new, old = items
        assert isinstance(old.type, Number)
        value = convert(cx, new, old.type.dtype)
        return AV(old.type, (cx.e("select", condition.value, value, old.value),))

    write(cx, out, [mask, as_number(cx, result), out], choose)


def _store_handler(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    """target[...] = value, where a mask is true."""
    target, value, *where = given
    _store(cx, target, value, where[0] if where else None)
    return AV(NONE)


def _masked(cx: Frame, where: AV, result: AV) -> AV:
    """Without an array for the result what is left out is not set in NumPy; here it is 0."""
    zero = AV(WEAK_INT, (cx.e.integer(0),), 0)
    return call_builtin(cx, "numpy.where", [where, result, zero], {})


def _into_complex(cx: Frame, out: AV, result: AV, given: Mapping[str, AV]) -> AV:
    if not isinstance(out.type, Complex):
        title = f"Cannot cast ufunc output from complex numbers to {show(out.type)} with casting rule 'same_kind'"
        raise cx.error(title, "an array keeps its dtype", "give a complex array, or take np.real of the result",
                       raised=("TypeError", title))  # fmt: skip
    where = {key: av for key, av in given.items() if key == "where"}
    HANDLERS["numpy.copyto"](cx, [out, result], where)
    return out


def kept_in(cx: Frame, found: Mapping[str, AV], result: AV) -> AV:
    """The result, or the array `out` with the result in it."""
    if is_none(found, "out"):
        return result
    (out,) = outs_of(found["out"])
    writable(cx, out, "output array is read-only")
    fill(cx, out, result, exact=False)
    return out


HANDLERS["pullback.store"] = _store_handler
INTERCEPT.insert(0, _with_keywords)

"""out= of products, and of all functions of complex arrays.  The result is computed first, so it may be an operand.

    np.dot(a, b, out=c)      c[...] = np.dot(a, b); the dtype and the shape of c must be those of the result
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pullback.infer.calls import INTERCEPT, call_builtin
from pullback.infer.complex_functions import holds_complex
from pullback.infer.complexes import halves, pair_of
from pullback.infer.elementwise import array_sizes, shape_text
from pullback.infer.engine import Frame
from pullback.infer.lattice import WEAK_INT
from pullback.infer.numpy import contract, einsum, numpy_functions, quantiles
from pullback.infer.numpy.ufuncs import UFUNCS
from pullback.infer.registry import HANDLERS, Handler
from pullback.infer.values import AV
from pullback.ir.node import Value
from pullback.prims.scalar import NUMPY_DTYPES
from pullback.types import NONE, Array, Complex, Number, show

__all__ = ["stored_whole"]

_MAKERS = (contract, einsum, numpy_functions, quantiles)  # of the handlers that follow

# How many arrays come before a positional `out`, and what dtypes it may have (`casting` of np.can_cast).
_PRODUCTS = {
    "matmul": (2, "same_kind"), "matvec": (2, "same_kind"), "vecmat": (2, "same_kind"), "vecdot": (2, "same_kind"),
    "outer": (2, "same_kind"), "dot": (2, "no"), "einsum": (None, "safe"), "trace": (None, "same_kind"),
    **dict.fromkeys(("median", "nanmedian", "percentile", "nanpercentile", "quantile", "nanquantile"),
                    (None, "same_kind")),
}  # fmt: skip


def _with_out(name: str, product: Handler, count: int | None, casting: str) -> Handler:
    def handler(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
        out = keywords.get("out")
        if out is None and count is not None and len(given) == count + 1:
            given, out = given[:count], given[count]
        rest = {key: av for key, av in keywords.items() if key != "out"}
        if out is None or out.type == NONE:
            return product(cx, given, rest)
        return stored_whole(cx, name, out, call_builtin(cx, f"numpy.{name}", given, rest), casting)

    return handler


def stored_whole(cx: Frame, name: str, out: AV, result: AV, casting: str = "same_kind") -> AV:
    """`out` with the result in it."""
    target = _real(out)
    if not isinstance(target.type, Array):
        raise cx.type_error("return arrays must be of ArrayType", show(out.type))
    _require_dtype(cx, name, out, result, casting)
    sizes, wanted = array_sizes(cx, target), _sizes(cx, _real(result))
    if len(sizes) != len(wanted):
        title = f"np.{name}: out= has {len(sizes)} axes, the result {len(wanted)}"
        raise cx.error(title, show(out.type), "make it of the shape of the result", raised=("ValueError", title))
    shapes = shape_text(0, len(sizes)), shape_text(len(sizes), len(sizes))
    for m, n in zip(sizes, wanted, strict=True):
        message = f"np.{name}: out= has the shape {shapes[0]}, the result {shapes[1]}"
        cx.check(cx.e("eq", m, n), "ValueError", message, *sizes, *wanted, shapes=True)
    for part, value in zip(
        halves(out) if isinstance(out.type, Complex) else [out], _parts(cx, out, result), strict=True
    ):
        HANDLERS["pullback.store"](cx, [part, value], {})
    return out if sizes or name != "dot" else result  # np.dot never returns an array without axes


def _parts(cx: Frame, out: AV, result: AV) -> list[AV]:
    """The result as `out` takes it: both parts of a complex one."""
    if not isinstance(out.type, Complex):
        return [result]
    real, imag = pair_of(cx, result)
    return [real, AV(WEAK_INT, (cx.e.integer(0),), 0) if imag is None else imag]


def _require_dtype(cx: Frame, name: str, out: AV, result: AV, casting: str) -> None:
    source, target = _dtype(result), _dtype(out)
    if not np.can_cast(source, target, casting=casting):  # type: ignore[arg-type]
        title = f"np.{name}: cannot cast the result from {source!r} to {target!r} with casting rule '{casting}'"
        raised = "ValueError" if casting == "no" else "TypeError"
        raise cx.error(title, "an array keeps its dtype", "give it the dtype of the result", raised=(raised, title))


def _real(av: AV) -> AV:
    return halves(av)[0] if isinstance(av.type, Complex) else av


def _sizes(cx: Frame, av: AV) -> list[Value]:
    return list(array_sizes(cx, av)) if isinstance(av.type, Array) else []


def _dtype(av: AV) -> np.dtype[Any]:
    real = _real(av).type
    assert isinstance(real, Array | Number)
    dtype = np.dtype(NUMPY_DTYPES[real.dtype])
    return np.result_type(dtype, np.complex64) if isinstance(av.type, Complex) else dtype


def _intercept(cx: Frame, name: str, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV | None:
    """A function, of complex arrays, that is no ufunc: its rule knows no array for the result."""
    module, _, short = name.rpartition(".")
    out = keywords.get("out")
    if module == "numpy.fft" and out is not None and out.type != NONE:
        rest = {key: av for key, av in keywords.items() if key != "out"}
        return stored_whole(cx, short, out, call_builtin(cx, name, given, rest))
    if module not in ("numpy", "complex") or short in UFUNCS or short in _PRODUCTS or out is None or out.type == NONE:
        return None
    if not any(holds_complex(av.type) for av in given):
        return None
    rest = {key: av for key, av in keywords.items() if key != "out"}
    return stored_whole(cx, short, out, call_builtin(cx, name, given, rest))


INTERCEPT.insert(0, _intercept)
HANDLERS.update({
    f"numpy.{name}": _with_out(name, HANDLERS[f"numpy.{name}"], *how) for name, how in _PRODUCTS.items()
})  # fmt: skip

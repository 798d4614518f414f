"""Questions about dtypes, answered while compiling: result_type, promote_types, can_cast, issubdtype.

    np.result_type(a, np.float32)      of an array of int32: float64
    np.issubdtype(a.dtype, np.floating)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pullback.infer.complexes import halves
from pullback.infer.creation import arguments_of
from pullback.infer.dtypes import dtype_value, numpy_dtype
from pullback.infer.engine import Frame
from pullback.infer.registry import HANDLERS
from pullback.infer.values import AV, items_of
from pullback.prims.scalar import NUMPY_DTYPES
from pullback.types import Array, Builtin, Complex, Constant, DType, Number, Str, Tuple, show

__all__: list[str] = []

_WEAK: dict[DType, Any] = {DType.BOOL: True, DType.I64: 1, DType.F64: 1.0}


def _asked(cx: Frame, av: AV) -> Any:
    """What NumPy is asked about instead of a value or the name of a dtype."""
    match av.type:
        case Constant():
            return True
        case Number(dtype, weak):
            return _WEAK[dtype] if weak else np.dtype(NUMPY_DTYPES[dtype])
        case Array(dtype):
            return np.dtype(NUMPY_DTYPES[dtype])
        case Complex():
            part = _asked(cx, halves(av)[0])
            return np.result_type(part, np.complex64) if isinstance(part, np.dtype) else 1j
    found = numpy_dtype(av.type)
    if found is None:
        raise cx.error(f"{show(av.type)} is neither a number nor a dtype", "arrays, numbers and dtypes are")
    return found


def _result_type(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    if keywords or not given:
        raise cx.type_error("np.result_type takes arrays and dtypes", ", ".join(keywords))
    return dtype_value(np.result_type(*(_asked(cx, av) for av in given)))


def _promote_types(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    found = arguments_of(cx, "numpy.promote_types", ("type1", "type2"), given, keywords)
    return dtype_value(np.promote_types(*(np.dtype(_asked(cx, av)) for av in found.values())))


def _answer(value: bool) -> AV:
    return AV(Constant(value), (), value)


def _can_cast(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    found = arguments_of(cx, "numpy.can_cast", ("from_", "to", "casting"), given, keywords)
    casting: Any = getattr(found["casting"].type, "value", "") if "casting" in found else "safe"
    try:
        return _answer(bool(np.can_cast(_asked(cx, found["from_"]), _asked(cx, found["to"]), casting)))
    except (TypeError, ValueError) as error:
        raise cx.error(str(error), "NumPy refuses this too", raised=(type(error).__name__, str(error))) from None


def _is_sub_dtype(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    found = arguments_of(cx, "numpy.issubdtype", ("arg1", "arg2"), given, keywords)
    kinds = [_kind(cx, av) for av in found.values()]
    return _answer(bool(np.issubdtype(*kinds)))


def _kind(cx: Frame, av: AV) -> Any:
    """A dtype, or an abstract kind of numbers as np.floating."""
    if isinstance(av.type, Builtin) and av.type.name.startswith("numpy."):
        found = getattr(np, av.type.name.removeprefix("numpy."), None)
        if isinstance(found, type) and issubclass(found, np.generic):
            return found
    return _asked(cx, av) if not isinstance(av.type, Str) else np.dtype(av.type.value)


def _is_dtype(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    """np.isdtype(dtype, kind): the kinds of the array API by name, dtypes, or a tuple of them."""
    found = arguments_of(cx, "numpy.isdtype", ("dtype", "kind"), given, keywords)
    kind = found["kind"]
    wanted = tuple(map(_named_kind, items_of(kind))) if isinstance(kind.type, Tuple) else _named_kind(kind)
    try:
        return _answer(bool(np.isdtype(np.dtype(_asked(cx, found["dtype"])), wanted)))
    except (TypeError, ValueError) as error:
        raise cx.error(str(error), "NumPy refuses this too", raised=(type(error).__name__, str(error))) from None


def _named_kind(av: AV) -> Any:
    return av.type.value if isinstance(av.type, Str) else numpy_dtype(av.type)


HANDLERS.update({
    "numpy.result_type": _result_type, "numpy.promote_types": _promote_types, "numpy.can_cast": _can_cast,
    "numpy.issubdtype": _is_sub_dtype, "numpy.isdtype": _is_dtype,
})  # fmt: skip

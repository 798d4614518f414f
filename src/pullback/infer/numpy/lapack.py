"""The intrinsic `lapack(routine, operands..., flag=...)` of the prelude: the primitive of that name, on arrays.

lu, pivots, info = lapack("getrf", a.T)     operands that are not contiguous are copied, complex ones made pairs
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pullback.infer.calls import call_builtin
from pullback.infer.complexes import complex_of, halves
from pullback.infer.creation import empty, sizes_of
from pullback.infer.engine import Frame
from pullback.infer.filling import copy
from pullback.infer.lattice import WEAK_INT
from pullback.infer.numbers import python_int
from pullback.infer.registry import HANDLERS
from pullback.infer.values import AV
from pullback.infer.views import array_of
from pullback.ir.node import Value
from pullback.prims.lapack import ROUTINES
from pullback.types import Array, ArrayRef, Complex, Constant, DType, Number, PackedComplex, Scalar, Str, Tuple

__all__: list[str] = []


def _lapack(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    name, *operands = arguments
    assert isinstance(name.type, Str)
    flags = {key: _flag(av) for key, av in keywords.items()}
    pairs = isinstance(operands[0].type, Complex)
    if pairs:
        flags["complex"] = True
    routine = ROUTINES[name.type.value]
    given = [_operand(cx, av, letter) for av, letter in zip(operands, routine.operands, strict=True)]
    op = cx.e.op("lapack", *given, routine=name.type.value, **flags)
    letters = [result[0] for result in routine.results(flags)]
    results = [_result(cx, v, pairs and letter in "MV") for v, letter in zip(op.results, letters, strict=True)]
    if len(results) == 1:
        return results[0]
    return AV(Tuple(tuple(av.type for av in results)), tuple(v for av in results for v in av.values))


def _flag(av: AV) -> object:
    assert isinstance(av.type, Constant | Str)
    return av.type.value


def _operand(cx: Frame, av: AV, letter: str) -> Value:
    if letter == "N":
        return python_int(cx, av)
    if isinstance(av.type, Complex):
        av = call_builtin(cx, "pullback.packed", [av], {})
        assert isinstance(av.type, PackedComplex)
        return av.value
    assert isinstance(av.type, Array)
    return (av if av.type.contiguous else copy(cx, av, rows=True)).value


def _result(cx: Frame, value: Value, pair: bool) -> AV:
    if isinstance(value.type, Scalar):
        if value.type.dtype is DType.I64:
            return AV(WEAK_INT, (value,))
        return AV(Number(value.type.dtype, False), (value,))
    assert isinstance(value.type, ArrayRef)
    whole = AV(Array(value.type.dtype, value.type.rank, True), (value,))
    if not pair:
        return whole
    model, last = Array(value.type.dtype, value.type.rank), value.type.rank - 1
    return complex_of(*(array_of(cx.e("view_index", value, cx.e.integer(i), axis=last), model) for i in range(2)))


def _zeros_of(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    """Zeros of a shape, in the dtype of a real or complex array."""
    shape, model = arguments
    real = halves(model)[0] if isinstance(model.type, Complex) else model
    assert isinstance(real.type, Array)
    parts = [empty(cx, sizes_of(cx, shape, real.type.dtype), real.type.dtype, "array_zeros")
             for _ in range(2 if isinstance(model.type, Complex) else 1)]  # fmt: skip
    return complex_of(*parts) if len(parts) == 2 else parts[0]


HANDLERS.update({"pullback.lapack": _lapack, "pullback.zeros_of": _zeros_of})

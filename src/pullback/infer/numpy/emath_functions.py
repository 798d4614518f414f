"""numpy.emath and scipy.special.lambertw: functions whose results may be complex where the arguments are real.

    np.emath.sqrt(z)        np.sqrt(z) of complex z
    np.emath.sqrt(x)        refused: NumPy gives real numbers, or complex ones, by the values of x
    lambertw(x)             complex128, whatever x is
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pullback.infer.arguments import arguments_of
from pullback.infer.calls import call, call_builtin
from pullback.infer.complex_functions import holds_complex
from pullback.infer.complexes import complex_of, halves
from pullback.infer.creation import empty
from pullback.infer.dispatch import dispatch
from pullback.infer.elementwise import array_sizes, ordered_as
from pullback.infer.engine import Frame
from pullback.infer.lattice import WEAK_FLOAT, WEAK_INT
from pullback.infer.numbers import as_number
from pullback.infer.numpy.along import flat
from pullback.infer.numpy.complex_calls import as_complex_array
from pullback.infer.numpy.shapes import reshaped
from pullback.infer.numpy.sums import cast_to
from pullback.infer.registry import HANDLERS, Handler, prelude
from pullback.infer.values import AV
from pullback.types import Array, Constant, DType, Number, Type, show

__all__: list[str] = []

_PLAIN = ("sqrt", "log", "log2", "log10", "arccos", "arcsin", "arctanh")


def _complex_function(name: str, parameters: Sequence[str]) -> Handler:
    """A function of numpy.emath where its result is complex for certain."""

    def handler(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
        found = arguments_of(cx, f"numpy.emath.{name}", parameters, given, keywords)
        values = [found[parameter] for parameter in parameters]

        def rule(cx: Frame, operands: Sequence[AV]) -> AV:
            if not any(holds_complex(av.type) for av in operands):
                raise cx.error(f"np.emath.{name}() of real numbers is not supported",
                               "whether its result is complex depends on their values",
                               "add 0j to the argument, or where the result is real use numpy's own function")
            operands = [call_builtin(cx, "numpy.asarray", [av], {}) for av in operands]
            if name == "logn":
                logs = [call_builtin(cx, "numpy.log", [av], {}) for av in operands[::-1]]
                return call_builtin(cx, "numpy.divide", logs, {})
            return call_builtin(cx, f"numpy.{name}", operands, {})

        return dispatch(cx, values, rule)

    return handler


def _is_whole(kind: Type) -> bool:
    return isinstance(kind, Number | Constant) and not (isinstance(kind, Number) and kind.dtype.is_float)


def _lambertw(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    found = arguments_of(cx, "scipy.special.lambertw", ("z", "k", "tol"), given, keywords)
    branch = found.get("k", AV(WEAK_INT, (cx.e.integer(0),), 0))
    tolerance = found.get("tol", AV(WEAK_FLOAT, (cx.e.constant(1e-8),), 1e-8))
    if not _is_whole(branch.type):
        raise cx.error("the branch of lambertw must be one int", f"this is {show(branch.type)}",
                       "call it for each branch")  # fmt: skip

    def rule(cx: Frame, operands: Sequence[AV]) -> AV:
        parts = [cast_to(cx, part, DType.F64) for part in halves(as_complex_array(cx, operands[0]))]
        rows = [flat(cx, part) for part in parts]
        outs = [empty(cx, array_sizes(cx, row), DType.F64) for row in rows]
        call(cx, prelude(cx, "pullback.lambertw_all"),
             [complex_of(*rows), as_number(cx, branch), as_number(cx, tolerance), complex_of(*outs)], {})  # fmt: skip
        assert isinstance(parts[0].type, Array)
        if parts[0].type.rank == 0:
            zero = cx.e.integer(0)
            return complex_of(*(AV(Number(DType.F64, False), (cx.e("array_get", out.value, zero),)) for out in outs))
        sizes = [AV(WEAK_INT, (size,)) for size in array_sizes(cx, parts[0])]
        return complex_of(*(ordered_as(reshaped(cx, out, sizes), [part])
                            for out, part in zip(outs, parts, strict=True)))  # fmt: skip

    return dispatch(cx, [found["z"]], rule)


_EMATH = {**{name: _complex_function(name, ("x",)) for name in _PLAIN}, "power": _complex_function("power", "xp"),
          "logn": _complex_function("logn", "nx")}  # fmt: skip
# The functions of numpy.emath are those of numpy.lib.scimath.
HANDLERS.update({f"numpy.lib.scimath.{name}": handler for name, handler in _EMATH.items()})
HANDLERS["scipy.special.lambertw"] = _lambertw

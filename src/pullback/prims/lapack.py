"""The primitive `lapack`: one factorisation or triangular solve by LAPACK, of copies, with fresh results.

    lu, pivots, info = lapack{routine: "getrf"}(a)           info: LAPACK's, 0 where all went well
    x = lapack{routine: "getrs", transposed: False}(lu, pivots, b)

LAPACK stores matrices column after column.  Here a matrix is the row-major array of its transpose: an operand `a` of
shape (n, m) stands for an m by n matrix, so whoever builds the op passes `a.T` and reads results through `.T`.  Complex
matrices have a last axis of size 2 for real and imaginary parts.  Pivots count from 1, as LAPACK's.

The op itself has no derivative: what it computes is used as it is inside functions that state their own (see
`prelude.factors`).  `ROUTINES` tells for each routine what it takes and gives; the interpreter runs it with SciPy.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pullback.prims.base import Attrs, Prim, register
from pullback.types import F32, F64, I64, ArrayRef, DType, Machine

__all__ = ["PRIMS", "ROUTINES", "Routine", "is_complex", "run"]


@dataclass(frozen=True, slots=True)
class Routine:
    """Operands and results as letters, and what the interpreter does.

    M matrix, V vector of its dtype, R vector of real numbers, P vector of int32 pivots, N int64, S real number.
    `results` may depend on the attributes; they come with their sizes: m, n rows and columns of the first operand, k
    the smaller, r the columns of the last operand, c the number that is an operand.  `impl(find, attrs, *operands)`:
    operands and results are matrices as LAPACK has them, `find` gives SciPy's function for the dtype.
    """

    operands: str
    results: Callable[[Attrs], tuple[str, ...]]
    impl: Callable[..., Sequence[Any]]


def is_complex(op_operands: Sequence[Machine], attrs: Attrs) -> bool:
    """Are the matrices complex."""
    return bool(attrs.get("complex"))


# --------------------------------------------------------------------------------------------- run by the interpreter


def _getrf(f: Callable[[str], Any], attrs: Attrs, a: Any) -> Sequence[Any]:
    lu, pivots, info = f("getrf")(a)
    return lu, pivots + 1, info


def _getrs(f: Callable[[str], Any], attrs: Attrs, lu: Any, pivots: Any, b: Any) -> Sequence[Any]:
    trans = {False: 0, True: 1}[bool(attrs["transposed"])]
    return (f("getrs")(lu, pivots - 1, b, trans=trans)[0] if b.size else b,)


def _potrf(f: Callable[[str], Any], attrs: Attrs, a: Any) -> Sequence[Any]:
    return f("potrf")(a, lower=1, clean=0)  # type: ignore[no-any-return]


def _geqrf(f: Callable[[str], Any], attrs: Attrs, a: Any) -> Sequence[Any]:
    return f("geqrf")(a)[:2]  # type: ignore[no-any-return]


def _orgqr(f: Callable[[str], Any], attrs: Attrs, a: Any, tau: Any, columns: Any) -> Sequence[Any]:
    import numpy as np

    whole = np.zeros((a.shape[0], int(columns)), a.dtype, order="F")
    kept = min(int(columns), a.shape[1])
    whole[:, :kept] = a[:, :kept]
    return f("ungqr" if attrs.get("complex") else "orgqr")(whole, tau)[:1]  # type: ignore[no-any-return]


def _gesdd(f: Callable[[str], Any], attrs: Attrs, a: Any) -> Sequence[Any]:
    vectors = attrs["job"] != "N"
    u, s, vt, info = f("gesdd")(a, compute_uv=int(vectors), full_matrices=int(attrs["job"] == "A"))
    return (u, s, vt, info) if vectors else (s, info)


def _syevd(f: Callable[[str], Any], attrs: Attrs, a: Any) -> Sequence[Any]:
    vectors = bool(attrs["vectors"])
    function = f("heevd" if attrs.get("complex") else "syevd")
    w, v, info = function(a, compute_v=int(vectors), lower=int(bool(attrs["lower"])))
    return (w, v, info) if vectors else (w, info)


def _geev(f: Callable[[str], Any], attrs: Attrs, a: Any) -> Sequence[Any]:
    vectors = bool(attrs["vectors"])
    found = f("geev")(a, compute_vl=0, compute_vr=int(vectors))
    *values, _, vr, info = found
    return (*values, vr, info) if vectors else (*values, info)


def _trtrs(f: Callable[[str], Any], attrs: Attrs, a: Any, b: Any) -> Sequence[Any]:
    lower, trans, unit = (int(bool(attrs[name])) for name in ("lower", "transposed", "unit"))
    if not b.size:
        return b, 0
    return f("trtrs")(a, b, lower=lower, trans=trans, unitdiag=unit)  # type: ignore[no-any-return]


def _gees(f: Callable[[str], Any], attrs: Attrs, a: Any) -> Sequence[Any]:
    t, _, *_, z, _, info = f("gees")(lambda *x: None, a)
    return t, z, info


def _trsyl(f: Callable[[str], Any], attrs: Attrs, a: Any, b: Any, c: Any) -> Sequence[Any]:
    flags = {"trana": "T" if attrs["left"] else "N", "tranb": "T" if attrs["right"] else "N"}
    return f("trsyl")(a, b, c, **flags)  # type: ignore[no-any-return]


def _always(*results: str) -> Callable[[Attrs], tuple[str, ...]]:
    return lambda attrs: results


def _singular(attrs: Attrs) -> tuple[str, ...]:
    if attrs["job"] == "N":
        return "R:k", "N"
    full = attrs["job"] == "A"
    return ("M:mm" if full else "M:mk"), "R:k", ("M:nn" if full else "M:kn"), "N"


def _symmetric(attrs: Attrs) -> tuple[str, ...]:
    return ("R:m", "M:mm", "N") if attrs["vectors"] else ("R:m", "N")


def _general(attrs: Attrs) -> tuple[str, ...]:
    values = ("V:m",) if attrs.get("complex") else ("V:m", "V:m")
    return (*values, "M:mm", "N") if attrs["vectors"] else (*values, "N")


ROUTINES: Mapping[str, Routine] = {
    "getrf": Routine("M", _always("M:mn", "P:k", "N"), _getrf),
    "getrs": Routine("MPM", _always("M:nr"), _getrs),
    "potrf": Routine("M", _always("M:mm", "N"), _potrf),
    "geqrf": Routine("M", _always("M:mn", "V:k"), _geqrf),
    "orgqr": Routine("MVN", _always("M:mc"), _orgqr),
    "gesdd": Routine("M", _singular, _gesdd),
    "syevd": Routine("M", _symmetric, _syevd),
    "geev": Routine("M", _general, _geev),
    "trtrs": Routine("MM", _always("M:nr", "N"), _trtrs),
    "gees": Routine("M", _always("M:mm", "M:mm", "N"), _gees),
    "trsyl": Routine("MMM", _always("M:mr", "S", "N"), _trsyl),
}
"""What the routines of LAPACK are here."""


def run(operands: Sequence[Any], attrs: Mapping[str, Any]) -> list[Any]:
    """The results of the op, of NumPy arrays: computed by SciPy's LAPACK."""
    import numpy as np
    from scipy.linalg import lapack

    routine = ROUTINES[str(attrs["routine"])]
    first = operands[0].dtype
    kind = np.dtype({"f4": "c8", "f8": "c16"}[first.str[1:]]) if attrs.get("complex") else first

    def outer(value: Any, letter: str) -> Any:
        if letter == "N":
            return np.int64(value)
        if letter == "S":
            return first.type(value)
        if letter == "P":
            return np.ascontiguousarray(value, np.int32)
        made = np.array(np.asarray(value, first if letter == "R" else kind).T, order="C", copy=True)
        return made.view(first).reshape((*made.shape, 2)) if attrs.get("complex") and letter != "R" else made

    def inner(value: Any, letter: str) -> Any:
        if letter in "NP":
            return value
        if attrs.get("complex") and letter != "R":
            value = np.ascontiguousarray(value).view(kind)[..., 0]
        return np.array(value.T, order="F", copy=True)

    given = [inner(value, letter) for value, letter in zip(operands, routine.operands, strict=True)]
    prefix = {"f4": "s", "f8": "d", "c8": "c", "c16": "z"}[kind.str[1:]]
    results = routine.results(attrs)
    if given[0].size:
        found = routine.impl(lambda name: getattr(lapack, prefix + name), attrs, *given)
    else:
        found = [_of_nothing(result, _sizes(given)) for result in results]
    return [outer(v, result[0]) for v, result in zip(found, results, strict=True)]


def _sizes(given: Sequence[Any]) -> dict[str, int]:
    """The letters of sizes, of operands as LAPACK has them."""
    m, n = given[0].shape
    columns = int(given[-1]) if _is_number(given[-1]) else given[-1].shape[-1]
    return {"m": m, "n": n, "k": min(m, n), "r": columns, "c": columns}


def _is_number(value: Any) -> bool:
    """Is an operand a number, not an array."""
    return not getattr(value, "shape", ())


def _of_nothing(result: str, known: Mapping[str, int]) -> Any:
    """A result of a matrix without elements; the columns of `orgqr` are those of an identity."""
    import numpy as np

    if ":" not in result:
        return 1 if result == "S" else 0
    shape = [known[letter] for letter in result[2:]]
    return np.eye(shape[0], shape[1]) if len(shape) == 2 else np.zeros(shape)


# ------------------------------------------------------------------------------------------------------------ types


def _infer(operands: Sequence[Machine], attrs: Attrs) -> tuple[Machine, ...]:
    routine = ROUTINES[str(attrs["routine"])]
    first = operands[0]
    if not isinstance(first, ArrayRef) or not first.dtype.is_float:
        raise TypeError("lapack takes matrices of floats")
    more = int(is_complex(operands, attrs))
    for operand, letter in zip(operands, routine.operands, strict=True):
        if operand != _type(letter, first.dtype, more):
            raise TypeError(f"{attrs['routine']}: an operand is {operand}")
    return tuple(_type(result[0], first.dtype, more) for result in routine.results(attrs))


def _type(letter: str, dtype: DType, more: int) -> Machine:
    match letter:
        case "N":
            return I64
        case "S":
            return F32 if dtype is DType.F32 else F64
        case "P":
            return ArrayRef(DType.I32, 1, True)
        case "M":
            return ArrayRef(dtype, 2 + more, True)
        case "V":
            return ArrayRef(dtype, 1 + more, True)
    return ArrayRef(dtype, 1, True)


PRIMS = (
    register(Prim(name="lapack", doc="a factorisation by LAPACK", infer=_infer,
                  effects=frozenset({"read", "allocate"}))),
)  # fmt: skip

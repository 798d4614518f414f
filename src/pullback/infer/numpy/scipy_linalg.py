"""scipy.linalg: arguments that only tell how to work are left out, matrices become floats, finiteness is checked.

scipy.linalg.lu(a, permute_l=True)      the function of the prelude with that result
scipy.linalg.lu_solve((lu, piv), b)     pullback.lu_solve(lu, piv, b)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from pullback.infer.calls import call
from pullback.infer.complexes import complex_of, conjugate, halves
from pullback.infer.creation import arguments_of, array_like
from pullback.infer.dispatch import dispatch
from pullback.infer.engine import Frame
from pullback.infer.numpy.linalg import matrices
from pullback.infer.registry import HANDLERS, Handler, prelude
from pullback.infer.values import AV, items_of
from pullback.types import NEVER, Array, Complex, Constant, List, Tuple, show

__all__: list[str] = []

_WITHOUT_MEANING = ("overwrite_a", "overwrite_b", "overwrite_ab", "lwork")
# Parameters in SciPy's order: matrices first.
_PARAMETERS: dict[str, tuple[str, ...]] = {
    "inv": ("a", "overwrite_a", "check_finite"),
    "det": ("a", "overwrite_a", "check_finite"),
    "solve": ("a", "b", "lower", "overwrite_a", "overwrite_b", "check_finite", "assume_a", "transposed"),
    "solve_triangular": ("a", "b", "trans", "lower", "unit_diagonal", "overwrite_b", "check_finite"),
    "lu_factor": ("a", "overwrite_a", "check_finite"),
    "lu": ("a", "permute_l", "overwrite_a", "check_finite", "p_indices"),
    "cholesky": ("a", "lower", "overwrite_a", "check_finite"),
    "cho_factor": ("a", "lower", "overwrite_a", "check_finite"),
    "solve_sylvester": ("a", "b", "q"),
    "expm": ("A",),
    "solveh_banded": ("ab", "b", "overwrite_ab", "overwrite_b", "lower", "check_finite"),
    "svd": ("a", "full_matrices", "compute_uv", "overwrite_a", "check_finite"),
    "svdvals": ("a", "overwrite_a", "check_finite"),
    "qr": ("a", "overwrite_a", "lwork", "mode"),
    "pinv": ("a", "rtol", "check_finite"),
    "eigvalsh": ("a", "lower", "overwrite_a", "check_finite"),
}
_ONE_BY_POSITION = ("pinv", "eigvalsh")
_UNCHECKED = ("solve_sylvester", "expm")
_BY_COLUMNS = ("solve_triangular", "lu_factor", "cholesky", "cho_factor", "svd", "qr", "pinv")


def _by_columns(av: AV) -> AV:
    """Matrices that SciPy returns column after column, which shows where they are reshaped and then written."""
    match av.type:
        case Array(rank=rank) if rank > 1:
            return AV(replace(av.type, foreign=True), av.values)
        case Complex():
            return complex_of(*map(_by_columns, halves(av)))
        case Tuple():
            parts = [_by_columns(item) for item in items_of(av)]
            return AV(replace(av.type, items=tuple(part.type for part in parts)), av.values)
    return av


def _is_true(found: Mapping[str, AV], name: str, default: bool) -> bool:
    av = found.get(name)
    return default if av is None or not isinstance(av.type, Constant) else av.type.value


def _checked(cx: Frame, name: str, found: Mapping[str, AV], arrays: Sequence[AV]) -> None:
    if name in _UNCHECKED or not _is_true(found, "check_finite", True):
        return
    for array in arrays:
        if not cx.dead:
            call(cx, prelude(cx, "pullback.require_finite"), [array], {})


def _function(name: str) -> Handler:
    names = _PARAMETERS[name]
    subjects = [n for n in names if n in ("a", "ab", "b", "q", "A")]

    def handler(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
        found = arguments_of(cx, f"scipy.linalg.{name}", names, given, keywords)
        missing = [n for n in subjects if n not in found]
        if missing:
            raise cx.type_error(f"scipy.linalg.{name}() missing required argument '{missing[0]}'")
        if name in _ONE_BY_POSITION and len(given) > 1:
            raise cx.error(f"scipy.linalg.{name} of more than one matrix is not supported", "the second argument")

        def rule(cx: Frame, operands: Sequence[AV]) -> AV:
            arrays = matrices(cx, operands)
            if name == "solve_sylvester" and any(isinstance(av.type, Complex) for av in arrays):
                raise cx.error("solve_sylvester of complex matrices is not supported", "real ones are")
            _checked(cx, name, found, arrays)
            if cx.dead:
                return AV(NEVER)
            if name == "lu":
                return call(cx, prelude(cx, f"pullback.{_form_of_lu(found)}"), arrays, {})
            rest = {k: v for k, v in found.items()
                    if k not in subjects and k not in _WITHOUT_MEANING and k != "check_finite"}  # fmt: skip
            result = call(cx, prelude(cx, f"scipy.linalg.{name}"), arrays, rest)
            return _by_columns(result) if name in _BY_COLUMNS else result

        return dispatch(cx, [found[n] for n in subjects], rule)

    return handler


def _eigh(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    """The eigenvalues alone: which signs SciPy's driver gives the vectors is not known."""
    only = {"eigvals_only": keywords["eigvals_only"]} if "eigvals_only" in keywords else {}
    if not _is_true(only, "eigvals_only", False):
        raise cx.error("scipy.linalg.eigh with eigenvectors is not supported", "their signs are those of its driver",
                       "write numpy.linalg.eigh(a), or eigvals_only=True")  # fmt: skip
    rest = {name: av for name, av in keywords.items() if name != "eigvals_only"}
    return HANDLERS["scipy.linalg.eigvalsh"](cx, given, rest)


def _form_of_lu(found: Mapping[str, AV]) -> str:
    if _is_true(found, "permute_l", False):
        return "lu_permuted"
    return "lu_indices" if _is_true(found, "p_indices", False) else "lu"


def _pair(cx: Frame, name: str, av: AV) -> list[AV]:
    if not isinstance(av.type, Tuple | List) or len(av.type.items) != 2:
        raise cx.error(f"scipy.linalg.{name} takes a pair, as the factorisation gave it", show(av.type))
    return items_of(av)


def _lu_solve(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    found = arguments_of(
        cx, "scipy.linalg.lu_solve", ("lu_and_piv", "b", "trans", "overwrite_b", "check_finite"), given, keywords
    )
    lu, pivots = _pair(cx, "lu_solve", found["lu_and_piv"])
    trans = {"trans": found["trans"]} if "trans" in found else {}

    def rule(cx: Frame, operands: Sequence[AV]) -> AV:
        factor, b = matrices(cx, [operands[0], operands[2]])
        _checked(cx, "lu_solve", found, [factor, b])
        if cx.dead:
            return AV(NEVER)
        pivots = array_like(cx, operands[1])
        return _by_columns(call(cx, prelude(cx, "pullback.lu_solve"), [factor, pivots, b], trans))

    return dispatch(cx, [lu, pivots, found["b"]], rule)


def _cho_solve(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    found = arguments_of(
        cx, "scipy.linalg.cho_solve", ("c_and_lower", "b", "overwrite_b", "check_finite"), given, keywords
    )
    c, lower = _pair(cx, "cho_solve", found["c_and_lower"])
    if not isinstance(lower.type, Constant):
        raise cx.error("scipy.linalg.cho_solve: which triangle it is must be known while compiling", show(lower.type),
                       "write True or False for lower")  # fmt: skip

    def rule(cx: Frame, operands: Sequence[AV]) -> AV:
        factor, b = matrices(cx, operands)
        _checked(cx, "cho_solve", found, [factor, b])
        if cx.dead:
            return AV(NEVER)
        return _by_columns(call(cx, prelude(cx, "pullback.cho_solve"), [factor, b, lower], {}))

    return dispatch(cx, [c, found["b"]], rule)


def _solve_banded(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    names = ("l_and_u", "ab", "b", "overwrite_ab", "overwrite_b", "check_finite")
    found = arguments_of(cx, "scipy.linalg.solve_banded", names, given, keywords)
    widths = _pair(cx, "solve_banded", found["l_and_u"])

    def rule(cx: Frame, operands: Sequence[AV]) -> AV:
        arrays = matrices(cx, operands)
        _require_table(cx, "solve_banded", arrays[0])
        _checked(cx, "solve_banded", found, arrays)
        if cx.dead:
            return AV(NEVER)
        return _by_columns(call(cx, prelude(cx, "pullback.solve_banded"), [*widths, *arrays], {}))

    return dispatch(cx, [found["ab"], found["b"]], rule)


def _require_table(cx: Frame, name: str, av: AV) -> None:
    part = halves(av)[0] if isinstance(av.type, Complex) else av
    if not isinstance(part.type, Array) or part.type.rank != 2:
        raise cx.error(f"scipy.linalg.{name} takes the diagonals as rows of one table", show(av.type))


def _solve_toeplitz(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    """c_or_cr: the first column and row, or the column alone, of which the row is the conjugate."""
    found = arguments_of(cx, "scipy.linalg.solve_toeplitz", ("c_or_cr", "b", "check_finite"), given, keywords)
    first = found["c_or_cr"]
    pair = _pair(cx, "solve_toeplitz", first) if isinstance(first.type, Tuple) else [first]

    def rule(cx: Frame, operands: Sequence[AV]) -> AV:
        arrays = matrices(cx, operands)
        if len(arrays) == 2:
            arrays.insert(1, conjugate(cx, arrays[0]))
        _checked(cx, "solve_toeplitz", found, arrays)
        if cx.dead:
            return AV(NEVER)
        return call(cx, prelude(cx, "pullback.solve_toeplitz"), arrays, {})

    return dispatch(cx, [*pair, found["b"]], rule)


HANDLERS.update({f"scipy.linalg.{name}": _function(name) for name in _PARAMETERS})
HANDLERS.update({
    "scipy.linalg.lu_solve": _lu_solve, "scipy.linalg.cho_solve": _cho_solve, "scipy.linalg.eigh": _eigh,
    "scipy.linalg.solve_banded": _solve_banded, "scipy.linalg.solve_toeplitz": _solve_toeplitz,
})  # fmt: skip

"""numpy.linalg and scipy.linalg: matrices become floats of one dtype, and go to the prelude's functions.

np.linalg.inv(ints)          inv(ints as float64)
np.linalg.solve(a, b)        of matrices with a dtype in common, stacks with leading axes of one rank
np.linalg.eig(real)          eig_real, whose result is real or complex, as it turns out
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence

import numpy as np

from pullback.infer.calls import call, call_builtin
from pullback.infer.complexes import complex_of, halves, imaginary
from pullback.infer.creation import arguments_of, array_like, cast
from pullback.infer.dispatch import dispatch
from pullback.infer.elementwise import array_sizes
from pullback.infer.engine import Frame
from pullback.infer.lattice import WEAK_INT
from pullback.infer.numbers import promote
from pullback.infer.numpy.axes import expanded, rank_of
from pullback.infer.numpy.contract import elementwise_of_parts
from pullback.infer.registry import HANDLERS, Handler, prelude
from pullback.infer.values import AV, items_of
from pullback.ir.node import Value
from pullback.prims.prelude import FUNCTIONS
from pullback.types import Array, Complex, DType, List, Number, Tuple, Type, Union, show

__all__ = ["matrices", "real_part"]


def matrices(cx: Frame, given: Sequence[AV]) -> list[AV]:
    """Arrays of one float dtype, all complex if one is."""
    arrays = [_array(cx, av) for av in given]
    kind = Number(DType.F64 if not _dtype(arrays[0]).is_float else _dtype(arrays[0]), False)
    for av in arrays[1:]:
        kind = promote(kind, Number(_dtype(av) if _dtype(av).is_float else DType.F64, False))
    if kind.dtype is DType.F16:
        title = "array type float16 is unsupported in linalg"
        raise cx.error(title, "LAPACK has no half precision", "write .astype(np.float32)", raised=("TypeError", title))
    if any(isinstance(av.type, Complex) for av in arrays):
        arrays = [av if isinstance(av.type, Complex) else complex_of(av, imaginary(cx, av))
                  for av in (_floats(cx, av, kind.dtype) for av in arrays)]  # fmt: skip
    return [_floats(cx, av, kind.dtype) for av in arrays]


def real_part(av: AV) -> AV:
    """The array, or the real part of a complex one."""
    return halves(av)[0] if isinstance(av.type, Complex) else av


def _array(cx: Frame, av: AV) -> AV:
    if not isinstance(av.type, Complex):
        return array_like(cx, av)
    if not isinstance(av.type.real, Array):
        raise cx.error("a complex number is no matrix", show(av.type))
    return av


def _dtype(av: AV) -> DType:
    type_ = real_part(av).type
    assert isinstance(type_, Array)
    return type_.dtype


def _floats(cx: Frame, av: AV, dtype: DType) -> AV:
    return elementwise_of_parts(cx, av, lambda cx, x: x if _dtype(x) is dtype else cast(cx, x, dtype))


def _of_matrices(name: str, names: Sequence[str] = ("a",), aliases: Mapping[str, str] | None = None) -> Handler:
    """A handler whose first arguments are matrices; all others go on as they are.  aliases: keywords of other names."""

    def handler(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
        rest = {(aliases or {}).get(k, k): v for k, v in keywords.items()}
        subjects = list(given[: len(names)])
        subjects += [rest.pop(key) for key in names[len(subjects) :] if key in rest]
        if len(subjects) != len(names):
            raise cx.type_error(f"{name}() takes {len(names)} arrays", f"{len(subjects)} are given")
        others = given[len(names) :]
        return dispatch(cx, subjects, lambda cx, found: call(
            cx, prelude(cx, name), [*matrices(cx, found), *others], rest))  # fmt: skip

    return handler


# ------------------------------------------------------------------------------------------------------------ solve


def _solve(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    if len(given) + len(keywords) != 2 or set(keywords) - {"a", "b"}:
        raise cx.type_error("numpy.linalg.solve() takes a and b")
    pair = [*given, *(keywords[key] for key in ("a", "b")[len(given) :])]
    return dispatch(cx, pair, lambda cx, found: _solved(cx, *matrices(cx, found)))


def _solved(cx: Frame, a: AV, b: AV) -> AV:
    call(cx, prelude(cx, "pullback.require_square"), [a], {})
    if cx.dead:
        return cx.stop()
    rank, other = rank_of(real_part(a)), rank_of(real_part(b))
    if other == 0:
        title = "solve: Input operand 1 does not have enough dimensions"
        raise cx.error(title, show(b.type), raised=("ValueError", title))
    m, n = array_sizes(cx, real_part(a)), array_sizes(cx, real_part(b))
    name, shapes = ("solve1", "(m,m),(m)->(m)") if other == 1 else ("solve", "(m,m),(m,n)->(m,n)")
    message = (f"{name}: Input operand 1 has a mismatch in its core dimension 0, with gufunc signature {shapes} "
               "(size {1} is different from {0})")  # fmt: skip
    rows = n[0] if other == 1 else n[-2]
    cx.check(cx.e("eq", m[-1], rows), "ValueError", message, m[-1], rows, shapes=True)
    if rank == 2 and other <= 2:
        return call(cx, prelude(cx, "pullback.solve_one"), [a, b], {})
    return _stacked(cx, a, b, m, n)


def _stacked(cx: Frame, a: AV, b: AV, m: Sequence[Value], n: Sequence[Value]) -> AV:
    """Leading axes that broadcast; a vector b is one for all matrices."""
    vector = len(n) == 1
    lead_a, lead_b = m[:-2], () if vector else n[:-2]
    count = max(len(lead_a), len(lead_b))
    lead = []
    for axis in range(count):
        sizes = [shape[axis - count + len(shape)] for shape in (lead_a, lead_b) if axis - count + len(shape) >= 0]
        size = sizes[0]
        if len(sizes) == 2:
            one = [cx.e("eq", s, cx.e.integer(1)) for s in sizes]
            fits = cx.e("or_", cx.e("eq", *sizes), cx.e("or_", *one))
            cx.check(fits, "ValueError", "operands could not be broadcast together: {0} and {1} matrices", *sizes,
                     shapes=True)  # fmt: skip
            size = cx.e("select", one[0], sizes[1], sizes[0])
        lead.append(size)
    both = [_expanded_to(cx, a, count + 2), _expanded_to(cx, b, count + (1 if vector else 2))]
    shape = [AV(WEAK_INT, (size,)) for size in (*lead, *(n[-1:] if vector else n[-2:]))]
    whole = AV(Tuple((WEAK_INT,) * len(shape)), tuple(s.value for s in shape))
    out = call_builtin(cx, "pullback.zeros_of", [whole, a], {})
    return call(cx, prelude(cx, "pullback.solve_stack"), [*both, out], {})


def _expanded_to(cx: Frame, av: AV, rank: int) -> AV:
    while rank_of(real_part(av)) < rank:
        av = elementwise_of_parts(cx, av, lambda cx, x: expanded(cx, x, 0))
    return av


# ------------------------------------------------------------------------------------------------- eig, multi_dot


def _by_kind(name: str, real: str, complex_: str) -> Handler:
    def handler(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
        subject = [*given, *(keywords[key] for key in ("a",) if key in keywords)]
        if len(subject) != 1 or set(keywords) - {"a"}:
            raise cx.type_error(f"{name}() takes one array")

        def rule(cx: Frame, operands: Sequence[AV]) -> AV:
            (a,) = matrices(cx, operands)
            return call(cx, prelude(cx, complex_ if isinstance(a.type, Complex) else real), [a], {})

        return dispatch(cx, subject, rule)

    return handler


def _multi_dot(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    """Three matrices in the cheaper order; more from the left, or from a vector at the right end."""
    if len(given) != 1 or keywords or not isinstance(given[0].type, Tuple | List):
        raise cx.error("np.linalg.multi_dot takes a tuple or list of arrays here", "", "write the arrays in a tuple")
    arrays = items_of(given[0])
    if len(arrays) < 2:
        raise cx.error("Expecting at least two arrays.", "", raised=("ValueError", "Expecting at least two arrays."))

    def dot(x: AV, y: AV) -> AV:
        return call_builtin(cx, "numpy.dot", [x, y], {})

    ranks = [rank_of(real_part(av)) if isinstance(av.type, Array | Complex) else 0 for av in arrays]
    if len(arrays) == 3 and ranks == [2, 2, 2]:
        (m, k), (_, n) = (array_sizes(cx, real_part(av)) for av in arrays[:2])
        last = array_sizes(cx, real_part(arrays[2]))[1]
        e = cx.e
        left = e("add", e("mul", e("mul", m, k), n), e("mul", e("mul", m, n), last))
        right = e("add", e("mul", e("mul", k, n), last), e("mul", e("mul", m, k), last))
        a, b, c = arrays
        return cx.choose(e("lt", left, right), lambda: [dot(dot(a, b), c)], lambda: [dot(a, dot(b, c))])[0]
    if ranks[-1] == 1 and ranks[0] != 1:
        total = arrays[-1]
        for av in reversed(arrays[:-1]):
            total = dot(av, total)
        return total
    total = arrays[0]
    for av in arrays[1:]:
        total = dot(total, av)
    return total


def _forwarded(name: str) -> Handler:
    return lambda cx, given, keywords: call_builtin(cx, name, given, keywords)


def _last_axes(name: str) -> Handler:
    """np.linalg.trace and diagonal: of the last two axes."""

    def handler(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
        axes = {key: AV(WEAK_INT, (cx.e.integer(n),), n) for key, n in (("axis1", -2), ("axis2", -1))}
        return call_builtin(cx, name, given, {**keywords, **axes})

    return handler


def _named(name: str, class_name: str, handler: Handler) -> Handler:
    """The results as NumPy's named tuple of that name."""

    def wrapped(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
        found = handler(cx, given, keywords)
        if any(getattr(av.type, "value", None) == "raw" for av in (*given[1:], *keywords.values())):
            return found  # of qr
        module = inspect.unwrap(np.linalg.eigh).__globals__
        return AV(_as_class(found.type, module[class_name]), found.values)

    return wrapped


def _as_class(type_: Type, python: type) -> Type:
    match type_:
        case Tuple(items) if len(items) == len(getattr(python, "_fields", ())):
            return Tuple(items, python)
        case Union(members):
            return Union(tuple(_as_class(member, python) for member in members))
    return type_


def _matrix_power(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    found = arguments_of(cx, "numpy.linalg.matrix_power", ("a", "n"), given, keywords)
    n = cx.literal_of(found["n"])
    target = "matrix_power"
    if isinstance(n, int):
        target = "first_power" if n == 1 else "positive_power" if n >= 0 else "negative_power"

    def rule(cx: Frame, operands: Sequence[AV]) -> AV:
        a, n = operands
        a = a if isinstance(a.type, Complex) else array_like(cx, a)
        return call(cx, prelude(cx, f"pullback.{target}"), [a, n], {})

    return dispatch(cx, [found["a"], found["n"]], rule)


_PLAIN = ("det", "slogdet", "inv", "pinv", "cholesky", "qr", "svd", "svdvals", "eigh", "eigvalsh", "matrix_rank",
          "tensorinv")  # fmt: skip
_RENAMED: dict[str, Mapping[str, str]] = {"matrix_rank": {"A": "a"}, "svdvals": {"x": "a"}}

HANDLERS.update({
    **{f"numpy.linalg.{name}": _of_matrices(f"numpy.linalg.{name}", aliases=_RENAMED.get(name)) for name in _PLAIN},
    "numpy.linalg.lstsq": _of_matrices("numpy.linalg.lstsq", ("a", "b")),
    "numpy.linalg.tensorsolve": _of_matrices("numpy.linalg.tensorsolve", ("a", "b")),
    "numpy.linalg.solve": _solve, "numpy.linalg.multi_dot": _multi_dot,
    "numpy.linalg.eig": _by_kind("numpy.linalg.eig", "pullback.eig_real", "pullback.eig_complex"),
    "numpy.linalg.eigvals": _by_kind("numpy.linalg.eigvals", "pullback.eigvals_real", "pullback.eigvals_complex"),
    "numpy.linalg.trace": _last_axes("numpy.trace"), "numpy.linalg.diagonal": _last_axes("numpy.diagonal"),
    **{f"numpy.linalg.{name}": _forwarded(f"numpy.{name}")
       for name in ("matmul", "outer", "cross", "tensordot", "vecdot", "matrix_transpose")},
})  # fmt: skip
HANDLERS["numpy.linalg.matrix_power"] = _matrix_power
for _name, _class in (("slogdet", "SlogdetResult"), ("qr", "QRResult"), ("svd", "SVDResult"), ("eigh", "EighResult"),
                      ("eig", "EigResult")):  # fmt: skip
    _public = f"numpy.linalg.{_name}"
    HANDLERS[_public] = _named(_public, _class, HANDLERS[_public])
assert all(f"numpy.linalg.{name}" in FUNCTIONS for name in _PLAIN)

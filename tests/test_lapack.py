"""The primitive `lapack`: native code and the interpreter agree with SciPy for every routine and dtype."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg

from pullback.prims.lapack import ROUTINES
from pullback.prims.prelude.intrinsics import lapack
from pullback.testing import run

RNG = np.random.default_rng(11)
A, B, C = (RNG.standard_normal(shape) for shape in ((4, 4), (4, 2), (2, 2)))
TALL, WIDE = RNG.standard_normal((5, 3)), RNG.standard_normal((3, 5))


def lu(a):
    packed, pivots, info = lapack("getrf", a.T)
    return packed.T, pivots, info


def solve(a, b):
    packed, pivots, _ = lapack("getrf", a.T)
    return lapack("getrs", packed, pivots, b.T, transposed=False).T


def solve_turned(a, b):
    packed, pivots, _ = lapack("getrf", a.T)
    return lapack("getrs", packed, pivots, b.T, transposed=True).T


def cholesky(a):
    factor, info = lapack("potrf", (a @ np.conj(a.T)).T)
    return factor.T, info


def qr(a):
    packed, tau = lapack("geqrf", a.T)
    return packed.T, tau, lapack("orgqr", packed, tau, min(a.shape[0], a.shape[1])).T


def all_columns(a):
    packed, tau = lapack("geqrf", a.T)
    return lapack("orgqr", packed, tau, a.shape[0]).T


def svd_thin(a):
    u, s, vh, info = lapack("gesdd", a.T, job="S")
    return u.T, s, vh.T, info


def svd_full(a):
    u, s, vh, info = lapack("gesdd", a.T, job="A")
    return u.T, s, vh.T, info


def svd_values(a):
    return lapack("gesdd", a.T, job="N")


def eigh(a):
    w, v, info = lapack("syevd", a.T, vectors=True, lower=True)
    return w, v.T, info


def eigvalsh(a):
    return lapack("syevd", a.T, vectors=False, lower=False)


def eig(a):
    return lapack("geev", a.T, vectors=True)


def eigvals(a):
    return lapack("geev", a.T, vectors=False)


def triangle(a, b):
    x, info = lapack("trtrs", a.T, b.T, lower=True, transposed=False, unit=False)
    return x.T, info


def triangle_turned(a, b):
    x, info = lapack("trtrs", a.T, b.T, lower=False, transposed=True, unit=True)
    return x.T, info


def schur(a):
    return lapack("gees", a.T)


def sylvester(a, b, c):
    return lapack("trsyl", np.triu(a).T, np.triu(b).T, c.T, left=False, right=True)


PROGRAMS = [
    (lu, (A,)), (lu, (TALL,)), (lu, (WIDE,)), (solve, (A, B)), (solve_turned, (A, B)), (cholesky, (A,)), (qr, (A,)),
    (qr, (TALL,)), (qr, (WIDE,)), (all_columns, (TALL,)), (svd_thin, (TALL,)), (svd_full, (WIDE,)),
    (svd_values, (TALL,)), (eigh, (A,)), (eigvalsh, (A,)), (eig, (A,)), (eigvals, (A,)), (triangle, (A, B)),
    (triangle_turned, (A, B)),
]  # fmt: skip
REAL = [(schur, (A,)), (sylvester, (A, C, B))]
SLOW = pytest.mark.slow
DTYPES = ("float64", "complex64", pytest.param("float32", marks=SLOW), pytest.param("complex128", marks=SLOW))


def given(arguments, dtype):
    """The arguments in a dtype; complex ones get an imaginary part."""
    if dtype.startswith("complex"):
        arguments = [a + 1j * a[::-1, ::-1] for a in arguments]
    return [a.astype(dtype) for a in arguments]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("program", "arguments"), PROGRAMS, ids=lambda x: getattr(x, "__name__", ""))
def test_interpreter_and_native_code_agree(program, arguments, dtype):
    values = given(arguments, dtype)
    both = [run(program, values, engine=engine, passes=True) for engine in ("interpreter", "native")]
    compare(*both, dtype)


@pytest.mark.parametrize("dtype", [DTYPES[0], DTYPES[2]])
@pytest.mark.parametrize(("program", "arguments"), REAL, ids=lambda x: getattr(x, "__name__", ""))
def test_real_routines(program, arguments, dtype):
    values = given(arguments, dtype)
    both = [run(program, values, engine=engine, passes=True) for engine in ("interpreter", "native")]
    compare(*both, dtype)


def compare(one, other, dtype):
    for x, y in zip(*(v if isinstance(v, tuple) else (v,) for v in (one, other)), strict=True):
        assert np.asarray(x).dtype == np.asarray(y).dtype
        assert np.shape(x) == np.shape(y)
        np.testing.assert_allclose(x, y, rtol=0, atol=1e-4 if dtype in ("float32", "complex64") else 1e-12)


def test_all_routines_are_tried():
    source = "".join(path.__code__.co_consts.__repr__() for path, _ in (*PROGRAMS, *REAL))
    assert {name for name in ROUTINES if f"'{name}'" in source} == set(ROUTINES)


@pytest.mark.parametrize("engine", ["interpreter", "native"])
def test_against_scipy(engine):
    packed, pivots, info = run(lu, [A], engine=engine, passes=True)
    wanted, exchanged = scipy.linalg.lu_factor(A)
    np.testing.assert_allclose(packed, wanted, atol=1e-14)
    assert (pivots - 1).tolist() == exchanged.tolist()
    assert info == 0
    np.testing.assert_allclose(run(solve, [A, B], engine=engine, passes=True), np.linalg.solve(A, B), atol=1e-13)


@pytest.mark.parametrize("engine", ["interpreter", "native"])
def test_what_goes_wrong_is_told(engine):
    assert run(lu, [np.ones((3, 3))], engine=engine, passes=True)[2] == 2  # the second pivot is 0
    assert run(cholesky, [np.zeros((2, 2))], engine=engine, passes=True)[1] == 1


@pytest.mark.parametrize("engine", ["interpreter", "native"])
def test_nothing_is_changed_and_views_are_read(engine):
    whole = RNG.standard_normal((8, 8))
    view, kept = whole[::-2, 1::2], whole.copy()
    x = run(solve, [view, B], engine=engine, passes=True)
    np.testing.assert_allclose(view @ x, B, atol=1e-12)
    assert np.array_equal(whole, kept)

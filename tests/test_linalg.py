"""Linear algebra where tables do not reach: singular and degenerate matrices, errors, loops, composition, sharing.

What holds for every function is in surface_rows/linalg.py and surface_rows/products.py.
"""

from __future__ import annotations

import traceback

import numpy as np
import pytest
import scipy.linalg

import pullback as pb
from pullback import testing

RNG = np.random.default_rng(5)
A = RNG.standard_normal((4, 4))
SPD = A @ A.T + np.eye(4)


def differences(function, x, h=1e-6):
    """The gradient by central differences."""
    slopes = np.zeros_like(x)
    for place in np.ndindex(*x.shape):
        step = np.zeros_like(x)
        step[place] = h
        slopes[place] = (function(x + step) - function(x - step)) / (2 * h)
    return slopes


# ----------------------------------------------------------------------------------------------- singular matrices


def determinant(a):
    return np.linalg.det(a)


def cofactors(a):
    n = len(a)
    minors = [[np.linalg.det(np.delete(np.delete(a, i, 0), j, 1)) for j in range(n)] for i in range(n)]
    return np.array(minors) * (-1.0) ** np.add.outer(np.arange(n), np.arange(n))


SINGULAR = {
    "rank 2 of 3": np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]]),
    "exactly singular": np.array([[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [0.0, 1.0, 1.0]]),
    "rank 1": np.ones((3, 3)),
    "zero": np.zeros((3, 3)),
    "nearly singular": np.array([[1.0, 2.0], [1.0, 2.0 + 1e-13]]),
    "regular": np.array([[2.0, 1.0], [0.5, 3.0]]),
    "one": np.array([[0.0]]),
}


@pytest.mark.parametrize("matrix", SINGULAR.values(), ids=SINGULAR)
def test_the_derivative_of_a_determinant_is_its_cofactors(matrix):
    np.testing.assert_allclose(pb.grad(determinant)(matrix), cofactors(matrix), atol=1e-12)
    direction = np.arange(matrix.size, dtype=float).reshape(matrix.shape) + 1.0
    wanted = (cofactors(matrix + 1e-4 * direction) - cofactors(matrix - 1e-4 * direction)) / 2e-4
    np.testing.assert_allclose(pb.hvp(determinant, (matrix,), (direction,)), wanted, atol=1e-6)


# -------------------------------------------------------------------------------------------------- degenerate spectra


def power_of_spectrum(a):
    """The trace of a**3, by eigenvalues."""
    return np.sum(np.linalg.eigvalsh(a) ** 3)


def rebuilt(a):
    """The matrix itself, from what `eigh` makes of it, weighted."""
    w, v = np.linalg.eigh(a)
    return np.sum((v * w) @ v.T * np.arange(9.0).reshape(3, 3))


def energy_of_singular_values(a):
    u, s, vh = np.linalg.svd(a, full_matrices=False)
    return np.sum(s**2)


def test_coinciding_eigenvalues():
    matrix = np.diag([2.0, 2.0, 5.0])
    np.testing.assert_allclose(pb.grad(power_of_spectrum)(matrix), np.diag([12.0, 12.0, 75.0]))
    turn = np.linalg.qr(RNG.standard_normal((3, 3)))[0]
    turned = turn @ matrix @ turn.T
    wanted = 3.0 * np.tril(2.0 * turned @ turned) - 3.0 * np.diag(np.diag(turned @ turned))
    np.testing.assert_allclose(pb.grad(power_of_spectrum)(turned), wanted, atol=1e-10)
    assert np.all(np.isfinite(pb.grad(rebuilt)(matrix)))


def test_coinciding_singular_values():
    np.testing.assert_allclose(pb.grad(energy_of_singular_values)(np.eye(3)), 2.0 * np.eye(3))
    np.testing.assert_allclose(pb.grad(energy_of_singular_values)(np.ones((3, 2))), 2.0 * np.ones((3, 2)), atol=1e-12)


def norms(a):
    return np.linalg.norm(a) + np.linalg.norm(a, axis=0).sum() + np.linalg.norm(a, 3, axis=1).sum()


def test_norms_at_zero_have_the_derivative_zero():
    assert np.array_equal(pb.grad(norms)(np.zeros((2, 3))), np.zeros((2, 3)))
    value, tangent = pb.jvp(norms, (np.zeros((2, 3)),), (np.ones((2, 3)),))
    assert (value, tangent) == (0.0, 0.0)
    half = np.array([[0.0, 3.0], [0.0, 4.0]])
    np.testing.assert_allclose(pb.grad(norms)(half)[:, 0], 0.0)


# ------------------------------------------------------------------------------------------------------- triangles


def factor_sum(a):
    return np.sum(np.linalg.cholesky(a) * np.arange(16.0).reshape(4, 4))


def eigen_sum(a):
    return np.sum(np.linalg.eigh(a, UPLO="U").eigenvalues ** 2)


def test_only_the_triangle_that_is_read_has_a_derivative():
    """As NumPy's functions of the single elements: an element that is not read has derivative 0."""
    np.testing.assert_allclose(pb.grad(factor_sum)(SPD), differences(factor_sum, SPD), atol=1e-6)
    np.testing.assert_allclose(pb.grad(eigen_sum)(SPD), differences(eigen_sum, SPD), rtol=1e-6, atol=1e-5)
    assert np.array_equal(np.triu(pb.grad(factor_sum)(SPD), 1), np.zeros((4, 4)))


# ---------------------------------------------------------------------------------------------------------- errors


def solved_twice(a, b):
    x = np.linalg.solve(a, b)
    return np.linalg.solve(a - a, x)  # the line that fails


def caught(a):
    try:
        return np.linalg.cholesky(a)[0, 0]
    except np.linalg.LinAlgError:
        return -1.0


def test_errors_have_the_users_line_and_can_be_caught():
    with pytest.raises(np.linalg.LinAlgError, match="Singular matrix") as found:
        pb.jit(solved_twice)(np.eye(2), np.ones(2))
    frame = traceback.extract_tb(found.value.__traceback__)[-1]
    assert frame.line is not None
    assert "the line that fails" in frame.line
    assert pb.jit(caught)(-np.eye(2)) == -1.0
    assert pb.jit(caught)(4.0 * np.eye(2)) == 2.0
    assert pb.grad(caught)(-np.eye(2)).tolist() == [[0.0, 0.0], [0.0, 0.0]]
    assert pb.grad(caught)(4.0 * np.eye(2)).tolist() == [[0.25, 0.0], [0.0, 0.0]]


def test_what_is_not_known_while_compiling_is_refused():
    with pytest.raises(pb.CompileError, match="known while compiling"):
        pb.jit(lambda a, c: scipy.linalg.cho_solve((a, a[0, 0] > c), a))(SPD, 1.0)
    with pytest.raises(pb.CompileError, match="order of a matrix norm"):
        pb.jit(lambda a, p: np.linalg.norm(a, p, axis=(0, 1)))(SPD, 1.0)
    with pytest.raises(pb.CompileError, match="never appeared"):
        pb.jit(lambda a: np.einsum("ij,jk->iz", a, a))(A)
    with pytest.raises(pb.CompileError, match="complex matrices"):
        pb.jit(lambda a: scipy.linalg.solve_sylvester(a, a, a))(A + 1j)


# ------------------------------------------------------------------------------------------------------- composition


def kalman(x, p, f, q, h, r, zs):
    """A filter: products, solves and determinants in a loop, with matrices that are carried."""
    total = 0.0
    for z in zs:
        x = f @ x
        p = f @ p @ f.T + q
        s = h @ p @ h.T + r
        gain = np.linalg.solve(s, h @ p).T
        gap = z - h @ x
        total += gap @ np.linalg.solve(s, gap) + np.linalg.slogdet(s)[1]
        x = x + gain @ gap
        p = p - gain @ h @ p
    return total


def newton(a):
    """The square root of a matrix, by a closure in a while loop that stops by a norm."""
    y, z = a.copy(), np.eye(a.shape[0])

    def step(y, z):
        return 0.5 * (y + np.linalg.inv(z)), 0.5 * (z + np.linalg.inv(y))

    while np.linalg.norm(y @ y - a) > 1e-11:
        y, z = step(y, z)
    return np.sum(y * y * y)


def written(a):
    """Results are written through views, and read by a factorisation again."""
    x = np.linalg.inv(a)
    x[0] *= 2.0
    view = x[:, 1]
    view[...] = view + 1.0
    q, r = np.linalg.qr(x)
    return np.sum(np.abs(r)) + np.einsum("ij,ij->", x, x)


@pytest.mark.parametrize("function", [newton, written], ids=lambda f: f.__name__)
def test_programs(function):
    start = SPD / 4.0
    assert pb.jit(function)(start) == pytest.approx(function(start), rel=1e-10)
    np.testing.assert_allclose(pb.grad(function)(start), differences(function, start), rtol=1e-5, atol=1e-5)


def test_a_filter():
    n, m = 3, 2
    given = [RNG.standard_normal(n), np.eye(n), 0.5 * RNG.standard_normal((n, n)), 0.1 * np.eye(n),
             RNG.standard_normal((m, n)), np.eye(m), RNG.standard_normal((6, m))]  # fmt: skip
    assert pb.jit(kalman)(*given) == pytest.approx(kalman(*given), rel=1e-12)
    slope = pb.grad(kalman, 2)(*given)
    wanted = differences(lambda f: kalman(*given[:2], f, *given[3:]), given[2])
    np.testing.assert_allclose(slope, wanted, rtol=1e-6, atol=1e-6)


def spectral(a):
    w = np.linalg.eigvals(a)
    return np.sum(np.abs(w) ** 2)


@pytest.mark.parametrize("matrix", [A, SPD, np.array([[0.0, 1.0], [-1.0, 0.0]])], ids=["mixed", "real", "imaginary"])
def test_eigenvalues_are_real_or_complex_as_it_turns_out(matrix):
    values = pb.jit(lambda a: np.linalg.eigvals(a))(matrix)
    wanted = np.linalg.eigvals(matrix)
    assert values.dtype == wanted.dtype
    np.testing.assert_allclose(np.sort_complex(values), np.sort_complex(wanted), atol=1e-12)
    np.testing.assert_allclose(pb.grad(spectral)(matrix), differences(spectral, matrix), rtol=1e-6, atol=1e-6)


def test_derivatives_of_factorisations_give_back_the_matrix():
    """d(q r) = da, whatever the factors are, in both modes."""
    direction = RNG.standard_normal((5, 3))
    matrix = RNG.standard_normal((5, 3))
    for mode in ("reduced", "complete"):

        def product(a, mode=mode):
            q, r = np.linalg.qr(a, "reduced") if mode == "reduced" else np.linalg.qr(a, "complete")
            return q @ r

        _, tangent = pb.jvp(product, (matrix,), (direction,))
        np.testing.assert_allclose(tangent, direction, atol=1e-12)


def many(a, b):
    x = np.linalg.solve(a, b)
    stack = np.stack((a, a.T))
    w, v = np.linalg.eigh(a @ a.T)
    return x @ x + np.linalg.slogdet(a)[1] + np.sum((stack @ stack) ** 2) + np.sum(w**2) + np.linalg.norm(v * w)


def test_the_formulations_agree():
    given = (A + 3.0 * np.eye(4), A[0])
    slopes = [
        testing.gradient(many, given, (0, 1), mode="r", engine="interp", passes=True, formulation=formulation)
        for formulation in ("ssa", "closures")
    ]
    for one, other in zip(*slopes, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-10)


# -------------------------------------------------------------------------------------------------- small and large


def of_matrix(a, b):
    return np.linalg.solve(a, b), np.linalg.inv(a), np.linalg.det(a), np.linalg.slogdet(a)[1]


def loss_of_matrix(a, b):
    return np.sum(np.linalg.solve(a, b) ** 2) + np.sum(np.linalg.inv(a) ** 3) + np.linalg.det(a) ** 2


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.complex128])
def test_systems_of_every_size(dtype):
    """Up to 8 rows they are solved without LAPACK; pivots move rows in all of them."""
    compiled, close = pb.jit(of_matrix), {"rtol": 2e-4 if dtype is np.float32 else 1e-10}
    for n in (1, 2, 3, 5, 8, 9, 12):
        a = RNG.standard_normal((4, n, n)).astype(dtype)
        a[1] = np.eye(n)[::-1]
        a[2] = np.tril(a[2])[::-1] + 3 * np.eye(n, dtype=dtype)[::-1]
        a[3] += 3 * np.eye(n, dtype=dtype)
        for b in (RNG.standard_normal((4, n, 1)).astype(dtype), RNG.standard_normal((4, n, 6)).astype(dtype)):
            for found, wanted in zip(compiled(a, b), of_matrix(a, b), strict=True):
                np.testing.assert_allclose(found, wanted, atol=close["rtol"] * np.abs(wanted).max(), **close)
                assert found.dtype == wanted.dtype


def test_small_systems_have_derivatives_of_any_order():
    a, b = RNG.standard_normal((3, 3)) + 3 * np.eye(3), RNG.standard_normal(3)
    np.testing.assert_allclose(pb.grad(loss_of_matrix)(a, b), differences(lambda a: loss_of_matrix(a, b), a), rtol=1e-5)
    direction = RNG.standard_normal((3, 3))
    steps = [pb.grad(loss_of_matrix)(a + h * direction, b) for h in (1e-5, -1e-5)]
    found = pb.hvp(lambda a: loss_of_matrix(a, b), (a,), (direction,))
    np.testing.assert_allclose(found, (steps[0] - steps[1]) / 2e-5, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("n", [1, 2, 4, 9])
def test_singular_systems_raise_as_in_numpy(n):
    a = np.ones((n, n)) if n > 1 else np.zeros((1, 1))
    for function in (lambda a: np.linalg.inv(a), lambda a: np.linalg.solve(a, a)):
        with pytest.raises(np.linalg.LinAlgError, match="Singular matrix"):
            pb.jit(function)(a)
    assert pb.jit(determinant)(a) == 0.0

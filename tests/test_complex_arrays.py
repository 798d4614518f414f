"""Complex arrays of both precisions: value and dtype as NumPy's, derivatives against differences."""

from __future__ import annotations

import cmath
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pullback as pb
from surface_turn import SEED
from test_dtypes import compiled, interpreted, outcome

Program = Callable[..., Any]


def parts_written(z: Any, w: Any) -> Any:
    u = z.copy()
    u.real[0, 0] = 7
    u.imag[1] = 2
    u.real *= 2
    v = z.copy()
    v.real = 1
    v.imag = w.real
    v[0, 1] = 3
    return u, u.real, u.imag, v


def items_written(z: Any, w: Any) -> Any:
    u = z.copy()
    u[0] = w[1]
    u[1, 1] = 3
    u[:, 0] += 1j
    u[np.array([0, 1])] *= 2
    u[u.real > 2] = 0
    u /= 2
    u -= w
    u *= w
    v = z.copy()
    v.fill(1 + 1j)
    return u, v


def polynomial(z: Any, w: Any) -> Any:
    total = 0j
    for row in z:
        for x in row:
            total = total * x + 1
    return total


PROGRAMS: list[Program] = [
    lambda z, w: (z.sum(), z.mean(), z.prod(), z.sum(axis=0), z.mean(axis=1, keepdims=True), z.prod(axis=0)),
    lambda z, w: (z.prod(axis=1, keepdims=True), np.prod(z, axis=(0, 1)), z[:, :0].prod(axis=1), np.prod(z[0, 0])),
    lambda z, w: (np.cumsum(z), np.cumprod(z), np.diff(z), np.cumsum(z, axis=0), np.cumprod(z, axis=0)),
    lambda z, w: (z.var(), z.std(), np.var(z, axis=0), z.std(axis=1, ddof=1, keepdims=True)),
    lambda z, w: (z == w, z != w, z == 1, (z == z).all(), np.isnan(z), np.isfinite(z), np.any(z), np.nonzero(z)),
    lambda z, w: (z.dtype == np.complex64, z.dtype == complex, z.dtype.itemsize, z.dtype == "complex128",
                  z[0, 0].dtype == z.dtype),
    lambda z, w: (z.astype(np.complex64), z.astype(complex), z.astype("c8"), z.real.astype(complex), z.astype(bool),
                  z.real.astype(np.complex64), np.arange(3).astype("complex128"), z.astype(z.dtype),
                  z.astype(np.float32)),
    lambda z, w: (np.zeros(2, z.dtype), np.ones((2, 1), z.dtype), np.full(2, 1j, z.dtype), np.empty(0, z.dtype),
                  np.zeros_like(z), np.ones_like(z), np.full_like(z, 2), np.array([1, 2j]),
                  np.array([1, 2], dtype=z.dtype)),
    lambda z, w: (np.eye(2, dtype=z.dtype), np.arange(3, dtype=z.dtype), np.full(3, 2 + 1j), np.full(2, z[0, 0])),
    parts_written, items_written, polynomial,
    lambda z, w: (np.exp(z), np.log(z), np.sqrt(z), np.sin(z), np.cos(z), np.tan(z), np.sinh(z), np.tanh(z)),
    lambda z, w: (np.arcsin(z), np.arccos(z), np.arctan(z), np.arcsinh(z), np.arccosh(z), np.arctanh(z)),
    lambda z, w: (np.log2(z), np.log10(z), np.exp2(z), np.expm1(z), np.log1p(z), np.reciprocal(z), np.sign(z)),
    lambda z, w: (np.abs(z), np.angle(z), np.conj(z), z.conjugate(), np.real(z), np.imag(z), np.square(z)),
    lambda z, w: (z @ w.T, np.dot(z, w.T), np.outer(z[0], w[0]), np.vdot(z, w), np.inner(z, w), np.trace(z)),
    lambda z, w: (z / w, 1 / z, z / 2, z / w.real, z**2, z**-3, z**0.5, z**w, 2**z),
    lambda z, w: (z + w.real, z * 2, z * 2.0, z * 1j, z + np.float32(1), z + np.float64(1), z * np.arange(3), 1j + z,
                  np.complex64(1j) * z, z - np.ones(3, "f4"), np.float16(2) * z, np.ones(3, "f2") * 1j,
                  np.ones(3, "u1") * z),
    lambda z, w: (z.T, z.reshape(-1), z.ravel(), z[::-1], z[:, 1], np.concatenate((z, w)), z.flatten()),
    lambda z, w: (z[np.array([1, 0])], z[z.real > 0], z.take([0, 1], axis=1), np.where(z.real > 0, z, w)),
    lambda z, w: (z[0, 0], z[0, 1].real, z.item(0), complex(z[0, 1]), abs(z[1, 1]), z[0, 0] * 2, z[0, 0] == w[0, 0]),
]  # fmt: skip


def drawn(name: str, seed: int = 3) -> np.ndarray[Any, Any]:
    rng = np.random.default_rng(seed)
    return (rng.normal(size=(2, 3)) + 1j * rng.normal(size=(2, 3))).astype(name)


def close(actual: Any, expected: Any, name: str) -> None:
    """The dtypes are NumPy's; numbers within 1e-12, or 1e-5 of complex64."""
    if isinstance(expected, tuple):
        for a, b in zip(actual, expected, strict=True):
            close(a, b, name)
        return
    a, b = np.asarray(actual), np.asarray(expected)
    assert a.dtype == b.dtype and a.shape == b.shape, (actual, expected)
    tolerance = 2e-5 if name == "complex64" else 1e-12
    np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance)


NAMES = ("complex64", "complex128")


@pytest.mark.parametrize("number", range(len(PROGRAMS)))
def test_values(number: int) -> None:
    name = NAMES[(SEED + number) % 2]
    given = drawn(name), drawn(name, 4)
    expected = outcome(PROGRAMS[number], *given)
    close(interpreted(PROGRAMS[number], *given), expected, name)
    if number % 5 == SEED % 5:
        close(compiled(PROGRAMS[number], *given), expected, name)


@pytest.mark.slow
@pytest.mark.parametrize("number", range(len(PROGRAMS)))
def test_values_compiled(number: int) -> None:
    for name in NAMES:
        given = drawn(name), drawn(name, 4)
        close(compiled(PROGRAMS[number], *given), outcome(PROGRAMS[number], *given), name)


ELEMENTARY = (
    "exp", "log", "sqrt", "sin", "cos", "tan", "sinh", "cosh", "tanh", "arcsin", "arccos", "arctan", "arcsinh",
    "arccosh", "arctanh", "log2", "log10", "exp2", "expm1", "log1p", "reciprocal", "square",
)  # fmt: skip
EDGES = [0.0, -0.0, 1.0, -1.0, 0.5, 2.0, -2.0, 1e-10, 1e10, -3.5, 1e-300]


def function(name: str) -> Program:
    made: Program = pb.api.from_source(f"import numpy as np\ndef f(z):\n    return np.{name}(z)\n", "f")
    return made


@pytest.mark.parametrize("name", ELEMENTARY[:-1])
def test_special_values_and_cuts(name: str) -> None:
    """The side of a cut is told by the sign of a zero; nothing is lost near branch points."""
    z = np.array([complex(a, b) for a in EDGES for b in EDGES])
    f = function(name)
    with np.errstate(all="ignore"):
        expected = f(z)
    found = interpreted(f, z)
    for a, b in ((found.real, expected.real), (found.imag, expected.imag)):
        sized = np.isfinite(expected) & (b != 0)
        np.testing.assert_array_equal(np.signbit(a[sized]), np.signbit(b[sized]))
    fine = np.isfinite(expected)
    error = np.abs(found[fine] - expected[fine]) / np.maximum(np.abs(expected[fine]), 1e-300)
    if name == "log1p":  # where NumPy loses digits of 1 + z
        error = error[np.abs(z[fine]) > 1e-9]
    assert np.max(error) < 1e-13
    np.testing.assert_array_equal(np.isfinite(found), fine)


TURN = [pytest.param(name, marks=[] if k % 5 == SEED % 5 else [pytest.mark.slow]) for k, name in enumerate(ELEMENTARY)]


@pytest.mark.parametrize("name", TURN)
def test_elementary_derivatives(name: str) -> None:
    """f'(z) t by forward mode, conj(f'(z)) c by reverse mode, and the derivative of both again."""
    f = function(name)
    z, t = np.array([0.6 + 0.7j, 2.5 if name == "arccosh" else 0.5, 0.4j, 1.0 + 1.0j, -1.3 - 0.4j]), 0.3 - 0.8j
    h = 1e-3 * t
    slope = (8 * (f(z + h) - f(z - h)) - (f(z + 2 * h) - f(z - 2 * h))) / 12e-3
    direction = np.full(5, t)
    _, tangent = pb.jvp(f, (z,), (direction,))
    np.testing.assert_allclose(tangent, slope, rtol=1e-8, atol=1e-9)
    c = np.array([1 + 2j, -0.5j, 0.3 + 0j, 2 - 1j, 1j])
    (cotangent,) = pb.vjp(f, z)[1](c)
    np.testing.assert_allclose(cotangent, np.conj(slope / t) * c, rtol=1e-8, atol=1e-9)
    loss = lambda z: np.sum(np.abs(f(z)) ** 2)  # noqa: E731
    second = pb.hvp(loss, (z,), (direction,))
    gap = [pb.grad(loss)(z + k * h) for k in (1, -1, 2, -2)]
    expected = (8 * (gap[0] - gap[1]) - (gap[2] - gap[3])) / 12e-3
    np.testing.assert_allclose(second, expected, rtol=1e-6, atol=1e-6)


LOSSES: list[Program] = [
    lambda z: np.abs(z.prod()), lambda z: np.sum(np.abs(np.cumprod(z, axis=1))), lambda z: z.var() + z.std(),
    lambda z: np.abs(np.prod(z, axis=0)).sum(), lambda z: np.real(z.astype(np.complex64).sum()) + (z @ z.T).imag.sum(),
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(LOSSES)))
def test_reductions_derivatives(number: int) -> None:
    loss, z, h = LOSSES[number], drawn("complex128"), 1e-5
    found = pb.grad(loss)(z)
    single = number == 4
    for at in ((0, 0), (1, 2)):
        for unit in (1, 1j):
            step = np.zeros_like(z)
            step[at] = unit * (1e-2 if single else h)
            slope = (loss(z + step) - loss(z - step)) / (2 * abs(step[at]))
            actual = found[at].real if unit == 1 else found[at].imag
            np.testing.assert_allclose(actual, slope, rtol=1e-4 if single else 1e-7, atol=1e-4 if single else 1e-7)
    small = pb.grad(loss)(z.astype(np.complex64))
    assert small.dtype == np.complex64
    np.testing.assert_allclose(small, found, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("name", ["asin", "acos", "atan", "asinh", "acosh", "atanh", "log10"])
def test_cmath(name: str) -> None:
    f: Program = pb.api.from_source(f"import cmath\ndef f(z):\n    return cmath.{name}(z)\n", "f")
    for z in (0.3 + 0.4j, -1.5 + 0j, -2.5 - 0.5j, 3 - 0j):
        found = pb.jit(f)(z)
        assert type(found) is complex and cmath.isclose(found, f(z), rel_tol=1e-14)


def by_mask(z: Any, c: Any, m: Any, v: Any) -> Any:
    z[m] = z[m] ** 2 + c[m]
    picked = z[m]
    z[m] = v
    z[m] = z[m] * picked
    z[m] = z[::-1][m]
    return z


@pytest.mark.parametrize("dtype", ["complex128", "complex64"])
@pytest.mark.parametrize("shape", [(7,), (3, 5), (2, 3, 4)])
def test_masks_take_and_set_both_parts(dtype: str, shape: tuple[int, ...]) -> None:
    rng = np.random.default_rng(3)
    z, c = (rng.standard_normal(shape) + 1j * rng.standard_normal(shape) for _ in range(2))
    z, c, m = z.astype(dtype), c.astype(dtype), rng.random(shape) > 0.4
    values = (rng.standard_normal(m.sum()) + 1j).astype(dtype)
    for given in (z, np.asfortranarray(z), np.repeat(z, 2, axis=-1)[..., ::2]):
        for v in (values, values[:1], values.real.copy(), values.astype("complex64")):
            found, wanted = pb.jit(by_mask)(given.copy(), c, m, v), by_mask(given.copy(), c, m, v)
            np.testing.assert_allclose(found, wanted, rtol=1e-5 if dtype == "complex64" else 1e-12)
            assert found.dtype == wanted.dtype
    with pytest.raises(ValueError, match="cannot assign"):
        pb.jit(by_mask)(z.copy(), c, m, np.zeros(m.sum() + 1, dtype))
    with pytest.raises(IndexError, match="boolean index did not match"):
        pb.jit(by_mask)(z.copy(), c, np.ones(np.array(shape) + 1, bool), values)


def masked_loss(x: Any, y: Any, m: Any) -> Any:
    z = x + 1j * y
    w = z.copy()
    w[m] = w[m] ** 2 + z[m] * 2j
    w[m] = w[m] * z[m]
    return np.sum(np.abs(w) ** 2)


def test_derivatives_through_masks_of_complex_arrays() -> None:
    rng, h = np.random.default_rng(4), 1e-6
    x, y, m = rng.standard_normal((3, 4)), rng.standard_normal((3, 4)), rng.random((3, 4)) > 0.4
    first, second = pb.grad(masked_loss, argnums=(0, 1))(x, y, m)
    for at in np.ndindex(3, 4):
        step = np.zeros((3, 4))
        step[at] = h
        slopes = [(masked_loss(x + step, y, m) - masked_loss(x - step, y, m)) / (2 * h),
                  (masked_loss(x, y + step, m) - masked_loss(x, y - step, m)) / (2 * h)]  # fmt: skip
        np.testing.assert_allclose([first[at], second[at]], slopes, rtol=1e-5, atol=1e-6)
    direction = rng.standard_normal((3, 4))
    bent = pb.hvp(lambda x: masked_loss(x, y, m), (x,), (direction,))
    ends = [pb.grad(masked_loss)(x + k * h * direction, y, m) for k in (1, -1)]
    np.testing.assert_allclose(bent, (ends[0] - ends[1]) / (2 * h), rtol=1e-4, atol=1e-5)


def _of_a_list(x):
    numbers, rows = [], []
    for k in range(len(x)):
        numbers.append(complex(x[k], 2.0 * x[k]))
        rows.append(x * (1.0 + 1j * x[k]))
    return np.array(numbers), np.asarray(rows), np.stack(rows, axis=1), np.array([v * 2.0 for v in x], dtype=complex)


def _size_of_a_list(x):
    numbers, rows, _, _ = _of_a_list(x)
    return np.sum(np.abs(numbers) ** 2 * x) + np.sum((rows * rows).imag)


def test_arrays_of_lists_of_complex_numbers_and_rows():
    x = np.array([0.5, 1.5, -2.0])
    for found, expected in zip(pb.jit(_of_a_list)(x), _of_a_list(x), strict=True):
        assert found.dtype == expected.dtype
        np.testing.assert_array_equal(found, expected)
    with pytest.raises(ValueError, match="no rows"):
        pb.jit(lambda x: np.array([x * 1j for _ in range(0 * len(x))]))(x)
    # 5 x**3, and 2 x[i]**2 x[k]
    slope = 15.0 * x**2 + 4.0 * x * np.sum(x) + 2.0 * np.sum(x**2)
    np.testing.assert_allclose(pb.grad(_size_of_a_list)(x), slope, rtol=1e-13)
    np.testing.assert_allclose(pb.jvp(_size_of_a_list, (x,), (np.ones(3),))[1], np.sum(slope), rtol=1e-13)
    second = np.diag(30.0 * x + 4.0 * np.sum(x)) + 4.0 * np.add.outer(x, x)
    np.testing.assert_allclose(pb.hessian(_size_of_a_list)(x), second, rtol=1e-12)


ONE_OF_TWO: list[Program] = [
    lambda y: (np.asarray(y), np.array(y), np.array(y, ndmin=2), np.median(y), np.average(y, weights=np.arange(4))),
    lambda y: (np.cov(y), np.corrcoef(y, y[::-1]), np.gradient(y), np.interp(1.5, np.arange(4), y), np.trapezoid(y)),
    lambda y: (np.sort(y), np.unique(y), np.maximum(y, 0.5), np.clip(y, -0.5, 1), np.partition(y, 1)[1], np.exp(y)),
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(ONE_OF_TWO)))
def test_values_that_are_complex_or_real(number: int) -> None:
    """The run tells which: of real ones the results are real."""
    program = ONE_OF_TWO[number]
    f = pb.api.from_source("def make(g):\n    def f(z, flag):\n        return g(z if flag else z.real)\n    return f\n",
                           "make")(program)  # fmt: skip
    z = drawn("complex128")[:, :2].ravel()
    for flag in (True, False):
        close(pb.jit(f)(z, flag), f(z, flag), "complex128")


def numbers_listed(z: Any) -> Any:
    xs = []
    for v in z[0]:
        xs.append(v * 2)
    return np.sum(xs), np.sort(xs), np.median(xs), np.maximum(xs, 1), np.average(xs, weights=xs), z.tolist()[0][1]


def changed_in_place(z: Any) -> Any:
    row = z.reshape(-1)
    row[::2].sort()
    z[1].sort()
    return z, row


@pytest.mark.parametrize("program", [numbers_listed, changed_in_place])
def test_lists_of_numbers_and_sorts_through_views(program: Program) -> None:
    for name in NAMES:
        given, own = drawn(name), drawn(name)
        close(pb.jit(program)(given), program(own), name)
        np.testing.assert_array_equal(given, own)


def _refusals():
    z = np.arange(3) + 1j
    yield lambda: pb.jit(lambda z: np.var(z, dtype=int))(z), "in a dtype of ints"
    yield lambda: pb.jit(lambda z: np.pad(z, 1, mode="maximum"))(z), "the largest, smallest or middle"


@pytest.mark.parametrize("case", [0, 1])
def test_what_numpy_gives_by_chance_is_refused(case):
    call, words = list(_refusals())[case]
    with pytest.raises(pb.CompileError, match=words):
        call()

"""Complex numbers and arrays: values as CPython's and NumPy's, gradients as PyTorch defines them (df/da + i df/db)."""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pullback as pb
from pullback import testing

Z, W = 1.5 - 0.5j, -0.3 + 2j
A, B = np.array([1 + 1j, 2 - 1j, 0.5j]), np.array([1 - 1j, 2 + 3j, 1.0])


def arithmetic(z: Any, w: Any, x: Any) -> Any:
    return (
        z * w + z / w - x * z + 2, abs(z), z.real, z.imag, z.conjugate(), z == w, z != w, z == z + 0, -z, +z, x / w,
        w / x, 3 * z, 1 / z, bool(z), z**2, z**-3, z**0, z**w, z**2.5, x**z,
    )  # fmt: skip


def functions(z: Any) -> Any:
    return (
        cmath.exp(z), cmath.log(z), cmath.sqrt(z), cmath.sin(z), cmath.cos(z), cmath.tan(z), cmath.sinh(z),
        cmath.cosh(z), cmath.tanh(z), cmath.phase(z), cmath.polar(z), cmath.rect(2.0, 0.5), complex(1, 2),
        complex(z.imag), complex(z, z), cmath.pi, isinstance(z, complex),
    )  # fmt: skip


def text(z: Any) -> Any:
    return str(z), f"{z:.2f} and {z!r}", f"{[z]}"


def arrays(z: Any, w: Any) -> Any:
    y = z * w + np.exp(1j * z.real)
    y[0] = 3 - 2j
    y[1:] *= 2j
    y[2] += 1
    u = np.zeros(3, dtype=complex)
    for i in range(3):
        u[i] = y[i] * (1 + i * 1j)
    total = 0j
    for item in u:
        total += item
    return (
        y, u, total, np.sum(y), np.mean(y), np.abs(y), np.angle(y), y.T, len(y), y.shape, y.ndim, np.dot(z, w),
        np.vdot(z, w), np.conj(z), y.real.copy(), y[::-1], np.array([1j, 2, 3.5]), np.ones(2, np.complex128) * 2,
        np.outer(z, w), np.concatenate((z, w[:1])), y.reshape(3, 1), np.where(y.real > 0, y, 0), z == w, np.sqrt(z),
        np.zeros((2, 0), complex), np.full(2, 1 + 1j), z @ w, 2.0 * z, z / 2, np.real(y), np.imag(w),
    )  # fmt: skip


def single_precision(x: Any) -> Any:
    z = np.float32(x) * np.complex64(1 + 2j)
    a = np.zeros(3, np.complex64)
    a[:] = z
    v = a[1:]
    v *= 2
    return a, z, np.complex128(z), complex(z), np.complex64(x)


def join(flag: bool, x: Any) -> Any:
    z = x if flag else x * 1j
    return z * z, z + 1


CASES: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    (arithmetic, (Z, W, 2.0)), (arithmetic, (W, Z, 0.5)), (arithmetic, (np.complex128(Z), W, 2.0)),
    (functions, (Z,)), (functions, (W,)), (functions, (-1.5 + 0j,)), (functions, (-0.5 - 3j,)),
    (text, (Z,)), (text, (np.complex128(W),)), (arrays, (A, B)), (arrays, (A[::-1], B)),
    (arrays, (A.astype(np.complex64), B.astype(np.complex64))), (single_precision, (0.7,)),
    (join, (True, 2.0)), (join, (False, 2.0)),
]  # fmt: skip


def assert_alike(actual: Any, expected: Any, tolerance: float) -> None:
    assert type(actual) is type(expected), (actual, expected)
    if isinstance(expected, tuple):
        for a, b in zip(actual, expected, strict=True):
            assert_alike(a, b, tolerance)
    elif isinstance(expected, str):
        assert actual == expected
    else:
        assert getattr(actual, "dtype", None) == getattr(expected, "dtype", None), (actual, expected)
        np.testing.assert_allclose(actual, expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize(("function", "arguments"), CASES)
def test_values(function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    expected = function(*arguments)
    single = function is single_precision or any(getattr(a, "dtype", None) == np.complex64 for a in arguments)
    tolerance = 2e-6 if single else 1e-14
    assert_alike(pb.jit(function)(*arguments), expected, tolerance)
    if not single:
        found = testing.run(function, arguments, engine="interp", passes=True)
        for a, b in zip(found, expected, strict=True):
            np.testing.assert_equal(np.shape(a), np.shape(b))
            if not isinstance(b, str):
                np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize(
    ("function", "argument", "error", "message"),
    [
        (lambda z: 1 / z, 0j, ZeroDivisionError, ""), (lambda z: z**-1, 0j, ZeroDivisionError, ""),
        (cmath.log, 0j, ValueError, "math domain error"), (cmath.exp, 1000 + 0j, OverflowError, "math range error"),
        (lambda z: z**z, 0j, None, ""), (lambda z: z < 1, Z, TypeError, ""), (lambda z: z // 2, Z, TypeError, ""),
        (lambda z: z % 2, Z, TypeError, ""),
        (abs, complex(1.7e308, 1.7e308), OverflowError, "absolute value too large"),
    ],
)  # fmt: skip
def test_errors(function: Callable[..., Any], argument: Any, error: Any, message: str) -> None:
    if error is None:
        assert pb.jit(function)(argument) == function(argument)
        return
    with pytest.raises(error):
        function(argument)
    with pytest.raises(error, match=message or None):
        pb.jit(function)(argument)


def test_gradients_point_uphill() -> None:
    assert pb.grad(lambda z: abs(z) ** 2)(3 + 4j) == pytest.approx(6 + 8j)
    holomorphic = lambda z: (z * z * cmath.exp(z)).real  # noqa: E731
    assert pb.grad(holomorphic)(Z) == pytest.approx(((2 * Z + Z * Z) * cmath.exp(Z)).conjugate())
    value, pull = pb.vjp(lambda z: z * z, Z)
    assert value == pytest.approx(Z * Z)
    for c in (1 + 0j, 2j, 0.5 - 1j):
        assert pull(c)[0] == pytest.approx((2 * Z).conjugate() * c)
    assert pb.jvp(lambda z: z**3, (Z,), (1j,)) == pytest.approx((Z**3, 3 * Z**2 * 1j))
    found = pb.grad(lambda z: np.sum(np.abs(np.exp(z) * z) ** 2))(A)
    expected = 2 * (np.exp(A) * A) * np.conj(np.exp(A) * (A + 1))
    np.testing.assert_allclose(found, expected, rtol=1e-13)


MAPS: list[tuple[Callable[[Any], Any], Callable[[complex], complex]]] = [
    (cmath.exp, cmath.exp), (cmath.log, lambda z: 1 / z), (cmath.sqrt, lambda z: 0.5 / cmath.sqrt(z)),
    (cmath.sin, cmath.cos), (cmath.cos, lambda z: -cmath.sin(z)), (cmath.tan, lambda z: 1 + cmath.tan(z) ** 2),
    (cmath.sinh, cmath.cosh), (cmath.cosh, cmath.sinh), (cmath.tanh, lambda z: 1 - cmath.tanh(z) ** 2),
    (lambda z: z**3, lambda z: 3 * z**2), (lambda z: z**-2, lambda z: -2 * z**-3),
    (lambda z: z ** (1 + 2j), lambda z: (1 + 2j) * z**2j), (lambda z: z**2.5, lambda z: 2.5 * z**1.5),
    (lambda z: (2 + 1j) / z, lambda z: -(2 + 1j) / z**2), (lambda z: z / (1 + z), lambda z: 1 / (1 + z) ** 2),
    (lambda z: 2.0 / z, lambda z: -2 / z**2),
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(MAPS)))
@pytest.mark.parametrize("z", [Z, W, -1.25 + 0.75j])
def test_derivatives_of_holomorphic_functions(number: int, z: complex) -> None:
    function, derivative = MAPS[number]
    expected = derivative(z)
    assert pb.jvp(function, (z,), (1 + 0j,))[1] == pytest.approx(expected, rel=1e-12)
    assert pb.vjp(function, z)[1](1 + 0j)[0] == pytest.approx(expected.conjugate(), rel=1e-12)
    # second order: the derivative of the derivative along a real line
    step = 1e-5
    second = (derivative(z + step) - derivative(z - step)) / (2 * step)
    line = lambda t: pb.jvp(function, (z + t,), (1 + 0j,))[1]  # noqa: E731
    assert pb.jvp(line, (0.0,), (1.0,))[1] == pytest.approx(second, rel=1e-8)


def wave(k: float, phase: Any, n: int) -> float:
    """Interference of n sources: a real function of reals through complex arithmetic and mutation."""
    field = np.zeros(4, dtype=complex)
    for j in range(n):
        for i in range(4):
            field[i] += cmath.exp(1j * (k * i * j + phase[j])) / (1 + j)
    return np.sum(np.abs(field) ** 2)


def test_reals_through_complex_arithmetic() -> None:
    phase = np.array([0.1, -0.4, 0.9])
    gradient = pb.grad(wave, (0, 1))(0.7, phase, 3)
    h = 1e-6
    assert gradient[0] == pytest.approx((wave(0.7 + h, phase, 3) - wave(0.7 - h, phase, 3)) / (2 * h), rel=1e-7)
    for i in range(3):
        moved = np.eye(3)[i] * h
        slope = (wave(0.7, phase + moved, 3) - wave(0.7, phase - moved, 3)) / (2 * h)
        assert gradient[1][i] == pytest.approx(slope, rel=1e-6)
    second = pb.hessian(wave)(0.7, phase, 3)
    slope = (pb.grad(wave)(0.7 + h, phase, 3) - pb.grad(wave)(0.7 - h, phase, 3)) / (2 * h)
    assert second == pytest.approx(slope, rel=1e-6)


def changes(z: Any) -> Any:
    z[0] = 2j
    z[1:] *= 1j
    return np.sum(z)


def test_writes_reach_the_callers_array() -> None:
    ours, theirs = A.copy(), A.copy()
    assert pb.jit(changes)(ours) == changes(theirs)
    np.testing.assert_array_equal(ours, theirs)


def test_a_global_complex_number_is_read_at_call_time() -> None:
    global FACTOR
    FACTOR = 2j
    compiled = pb.jit(lambda x: x * FACTOR)
    assert compiled(2.0) == 4j
    FACTOR = 1 + 0j
    assert compiled(2.0) == 2 + 0j
    assert math.isclose(abs(compiled(1.0)), 1.0)


FACTOR = 2j

"""The discrete Fourier transform of `prelude.fourier`: lengths of all kinds, accuracy, derivatives, and what it costs.

Transforms along axes with norms are rows of `surface_rows/fft.py`.
"""

from __future__ import annotations

import numpy as np
import pytest

import pullback as pb
from pullback.prims.prelude import fourier

# 1, powers of 2, mixed radices, primes with a stage, a large prime factor, a large prime, and a long one.
LENGTHS = [1, 2, 3, 4, 5, 7, 8, 12, 15, 16, 31, 37, 60, 64, 74, 97, 128, 243, 360, 509, 1000, 4096]


def fft(x):
    return np.fft.fft(x)


def power(x):
    """The sum of the squares of the transform: n times that of x, by Parseval."""
    return np.sum(np.abs(np.fft.fft(x)) ** 2)


def smooth_power(x):
    return np.sum(np.sin(np.real(np.fft.fft(x)))) + np.sum(np.imag(np.fft.rfft(x)) ** 3)


@pytest.fixture(scope="module")
def compiled():
    return pb.jit(fft)


def draw(n: int, rows: int = 0) -> np.ndarray:
    rng = np.random.default_rng(n)
    shape = (rows, n) if rows else (n,)
    return rng.normal(size=shape) + 1j * rng.normal(size=shape)


def exact(x: np.ndarray) -> np.ndarray:
    """By the definition, in long double."""
    n = x.shape[-1]
    turns = (np.outer(np.arange(n), np.arange(n)) % n).astype(np.longdouble) / n
    angle = 2 * np.arctan2(np.longdouble(0), np.longdouble(-1)) * turns
    re, im = x.real.astype(np.longdouble), x.imag.astype(np.longdouble)
    c, s = np.cos(angle), np.sin(angle)
    return (re @ c + im @ s) + 1j * (im @ c - re @ s)


@pytest.mark.parametrize("n", LENGTHS)
def test_every_length(n: int, compiled) -> None:
    x = draw(n)
    wanted = exact(x) if n <= 509 else np.fft.fft(x)
    limit = 4e-16 * (1 + np.log2(n)) * np.max(np.abs(wanted))
    assert np.max(np.abs(compiled(x) - wanted)) <= limit


@pytest.mark.slow
@pytest.mark.parametrize("n", [8, 15, 37])
def test_single_precision_stays_single(n: int) -> None:
    x = draw(n).astype(np.complex64)
    found = pb.jit(fft)(x)
    assert found.dtype == np.complex64
    wanted = exact(x)
    assert np.max(np.abs(found - wanted)) <= 3e-7 * (1 + np.log2(n)) * np.max(np.abs(wanted))


@pytest.mark.parametrize("n", [6, 37])
def test_derivatives(n: int) -> None:
    x, t = draw(n).real, draw(n).imag
    np.testing.assert_allclose(pb.grad(power)(x), 2 * n * x, rtol=1e-12)
    np.testing.assert_allclose(pb.hvp(power, (x,), (t,)), 2 * n * t, rtol=1e-12)
    h = 1e-6
    difference = (smooth_power(x + h * t) - smooth_power(x - h * t)) / (2 * h)
    value, forward = pb.jvp(smooth_power, (x,), (t,))
    assert value == pytest.approx(smooth_power(x), rel=1e-12)
    assert forward == pytest.approx(difference, rel=1e-6)
    assert np.dot(pb.grad(smooth_power)(x), t) == pytest.approx(forward, rel=1e-11)


def test_the_plain_algorithm_in_python() -> None:
    """The prelude's functions run in Python too."""
    for n in (1, 6, 20, 37):
        x = draw(n, 3).T
        for sign in (-1, 1):
            re, im = fourier.dft(x.real, x.imag, sign)
            wanted = np.fft.fft(x, axis=0) if sign < 0 else np.fft.ifft(x, axis=0) * n
            np.testing.assert_allclose(re + 1j * im, wanted, atol=1e-13 * n)


@pytest.mark.parametrize("n", [0, -3])
def test_a_length_below_one_is_refused(n: int) -> None:
    def program(x, n):
        return np.fft.fft(x, n)

    with pytest.raises(ValueError, match=rf"Invalid number of FFT data points \({n}\) specified"):
        pb.jit(program)(draw(4), n)


def test_an_unknown_norm_is_refused() -> None:
    def program(x):
        return np.fft.fft(x, norm="unit")

    with pytest.raises(ValueError, match="Invalid norm value unit"):
        pb.jit(program)(draw(4))


@pytest.mark.slow
def test_an_axis_that_is_an_argument() -> None:
    def program(x, axis):
        return np.fft.rfft(x, axis=axis)

    x = draw(4, 6).real
    for axis in (0, 1, -1):
        np.testing.assert_allclose(pb.jit(program)(x, axis), program(x, axis), atol=1e-14)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", [(3, 2), (3, 4, 2)])
def test_derivatives_over_all_axes(shape: tuple[int, ...], dtype: type) -> None:
    """By Parseval.  Several functions call one that hands arrays on: all passes see calls and functions that agree."""

    def program(x):
        return np.sum(np.abs(np.fft.fftn(x)) ** 2)

    x = np.random.default_rng(1).normal(size=shape).astype(dtype)
    np.testing.assert_allclose(pb.grad(program)(x), 2 * x.size * x, rtol=1e-4 if dtype is np.float32 else 1e-12)

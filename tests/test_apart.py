"""Elementwise work on elements that lie apart in memory: every other one, columns, parts of complex numbers.

Functions that are dear are computed as vectors there too, some elements at a time: lengths around that number.
"""

from __future__ import annotations

import numpy as np
import pytest

import pullback as pb

RNG = np.random.default_rng(8)
LENGTHS = (1, 2, 7, 127, 128, 129, 700)


def dear(x, y):
    z = np.exp(x) * np.sqrt(np.abs(y)) + np.hypot(x, y)
    return z, z < 2.0, np.sum(np.tanh(x) * y), np.sin(x).astype(np.float32)


def apart(a):
    """The same elements, apart."""
    return np.repeat(a, 3, axis=-1)[..., ::3]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_dear_functions_of_elements_apart(dtype):
    compiled, tolerance = pb.jit(dear), 1e-13 if dtype is np.float64 else 2e-5
    for n in LENGTHS:
        x, y = RNG.standard_normal((2, 3, n)).astype(dtype)
        for given in ((apart(x), y), (apart(x), apart(y)), (x.T, apart(y.T)), (apart(x)[:1], y), (apart(x), y[:, :1])):
            for found, wanted in zip(compiled(*given), dear(*given), strict=True):
                np.testing.assert_allclose(found, wanted, rtol=tolerance, atol=tolerance * n)
                assert found.dtype == wanted.dtype


def in_place(a, b):
    a[::2] = np.exp(-a[::2])
    a[1::2] += np.sqrt(np.abs(a[1::2]))
    b[:, 1] = np.log1p(np.abs(b[:, 0]))
    b[:, 0] *= np.cos(b[:, 1])
    b[1:, 2] = np.exp(b[:-1, 2])
    return np.sum(np.exp(b[:, ::2]), axis=0), np.sum(np.exp(b[:, ::2]), axis=1), np.sum(np.exp(a[::3]))


def test_writes_to_elements_apart():
    compiled = pb.jit(in_place)
    for n in LENGTHS:
        a, b = RNG.standard_normal(n), RNG.standard_normal((n, 3)) * 0.1
        mine, theirs = (a.copy(), b.copy()), (a.copy(), b.copy())
        for found, wanted in zip((*compiled(*mine), *mine), (*in_place(*theirs), *theirs), strict=True):
            np.testing.assert_allclose(found, wanted, rtol=1e-13)


def of_complex(z, w):
    return np.abs(z) < 1.0, np.exp(z * w) - 2j * w, np.sum(np.abs(z * w + z) ** 2), z * w + 1.0, np.sqrt(z.imag + 9)


@pytest.mark.parametrize("dtype", [np.complex128, np.complex64])
def test_chains_of_complex_numbers(dtype):
    compiled, tolerance = pb.jit(of_complex), 1e-12 if dtype is np.complex128 else 1e-4
    for n in LENGTHS:
        z, w = (0.3 * (RNG.standard_normal((2, 2, n)) + 1j * RNG.standard_normal((2, 2, n)))).astype(dtype)
        for given in ((z, w), (z[:, ::-1], w), (np.asfortranarray(z), w), (z[:1], w)):
            for found, wanted in zip(compiled(*given), of_complex(*given), strict=True):
                np.testing.assert_allclose(found, wanted, rtol=tolerance, atol=tolerance)
                assert found.dtype == wanted.dtype


def loss(x):
    return np.sum(np.exp(x) * np.sqrt(1.0 + x**2)) + np.sum(np.abs(np.exp(1j * x) * (x + 2j)))


def test_derivatives_of_elements_apart():
    for n in (3, 130):
        x = RNG.standard_normal(n)
        root, size = np.sqrt(1 + x**2), np.sqrt(x**2 + 4)
        slope = np.exp(x) * (root + x / root) + x / size
        bend = np.exp(x) * (root + 2 * x / root + 1 / root**3) + 4 / size**3
        for given in (x, apart(x)):
            np.testing.assert_allclose(pb.grad(loss)(given), slope, rtol=1e-12)
            np.testing.assert_allclose(pb.hvp(loss, (given,), (np.ones(n),)), bend, rtol=1e-11)

"""Programs of many kernels call them as functions, those that are alike as one; few trips stand one after the other."""

import re

import numpy as np
import pytest

import pullback as pb
from pullback import pipeline
from pullback.codegen import emit, kernel_functions

RNG = np.random.default_rng(20261205)
LENGTHS = [0, 1, 3, 8, 9, 40, 600]


def mixed(a, b):
    """Kernels of all kinds: fresh, in place, shifted, strided, sums of all and of rows, broadcast, conditions."""
    a, b = a.copy(), b.copy()
    s = 0.0
    for _ in range(2):
        a = a + b
        s += np.sum(np.sin(a[::2]) * b[::2])
        b[1:] *= 1.0 + 0.1 * a[:-1]
        a[:-1] += 0.5 * b[1:]
        s += np.sum(b * a)
        a = np.cos(a) * b
        a[::-1] -= 0.25 * b
        s += np.sum(np.where(a > 0.0, a * a, 0.5 * a))
    m = a[:, None] * b[None, :]
    m[:, :1] += 2.0 * a[:, None]
    return s + np.sum(np.sum(m, axis=1) * np.exp(-a * a)) + np.sum(np.tanh(np.sum(m, axis=0)))


def weighted(a, b):
    return np.sum(pb.grad(mixed)(a, b) * np.cos(np.arange(a.size)))


def differences(function, a, step=1e-6):
    moved = step * np.eye(a.size)
    return np.array([(function(a + row) - function(a - row)) / (2 * step) for row in moved])


@pytest.mark.parametrize("length", LENGTHS)
def test_values_are_numpys(length: int) -> None:
    a, b = RNG.normal(size=(2, length))
    np.testing.assert_allclose(pb.jit(mixed)(a, b), mixed(a, b), rtol=1e-12, atol=1e-14)


def test_derivatives_of_both_orders() -> None:
    a, b = RNG.normal(size=(2, 7))
    np.testing.assert_allclose(pb.grad(mixed)(a, b), differences(lambda x: mixed(x, b), a), rtol=1e-6, atol=1e-7)
    found = pb.grad(weighted)(a, b)
    np.testing.assert_allclose(found, differences(lambda x: float(weighted(x, b)), a), rtol=1e-5, atol=1e-5)


def test_the_bits_are_those_of_kernels_in_place(monkeypatch: pytest.MonkeyPatch) -> None:
    a, b = RNG.normal(size=(2, 1000))
    apart = pb.value_and_grad(mixed)(a, b)
    monkeypatch.setattr(kernel_functions, "_MANY", 1000)

    def again(a, b):
        return mixed(a, b)

    together = pb.value_and_grad(again)(a, b)
    assert apart[0] == together[0]
    assert np.array_equal(apart[1], together[1])


def alike(a):
    a[1:] += a[:-1]
    a[:-1] *= a[1:]
    a[1:] += a[:-1]
    a[:-1] *= a[1:]
    a[1:] += a[:-1]
    a[:-1] *= a[1:]
    return a[0]


def small(x):
    a = np.array([x, 2.0 * x, 3.0])
    for k in range(2):
        a[k:] = a[k:] * x
        a[1:] += x
    return a[0] + a[1] * a[2] + len(a[k:])


def text_of(function, *arguments):
    names = function.__code__.co_varnames[: len(arguments)]
    return emit.emit_program(pipeline.lower(pipeline.Request("call", function, arguments, names)).program).definitions


def test_kernels_that_are_alike_are_one_function(monkeypatch: pytest.MonkeyPatch) -> None:
    a = RNG.normal(size=9)
    assert "@pb.kernel" not in text_of(alike, a)  # there are few
    in_place = text_of(alike, a)
    monkeypatch.setattr(kernel_functions, "_MANY", 4)
    text = text_of(alike, a)
    assert len(re.findall(r"^define .*@pb\.kernel\.\d+\(", text, re.M)) == 3  # one copies
    assert len(re.findall(r"call .*@pb\.kernel\.\d+\(", text)) == 12
    assert len(text) < 0.6 * len(in_place)


def test_a_kernel_that_fails_fails_its_caller(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel_functions, "_MANY", 0)

    def powers(a, n):
        return np.sum(a**n)

    a = np.array([1, 2, 3])
    assert pb.jit(powers)(a, np.int64(2)) == 14
    with pytest.raises(ValueError, match="negative"):
        pb.jit(powers)(a, np.int64(-2))


def test_few_trips_of_known_number_are_no_loop() -> None:
    text = text_of(small, 0.5)
    assert "llvm.umin" not in text  # no strips
    assert pb.jit(small)(0.5) == small(0.5)
    np.testing.assert_allclose(pb.grad(small)(0.5), differences(lambda x: small(x[0]), np.array([0.5]))[0], rtol=1e-7)

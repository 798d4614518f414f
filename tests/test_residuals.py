"""What explain says of residuals, and that as much is kept as it says."""

from __future__ import annotations

import math

import numpy as np

import pullback as pb
from pullback import cli


def garch(theta, xs):
    variance, total = 1.0, 0.0
    for x in xs:
        variance = theta[0] + theta[1] * variance + theta[2] * x * x
        total += math.log(variance) + x * x / variance
    return total


def powers(x, n):
    r = 1.0
    for _ in range(n):
        r *= x
    return r


def linear(x, n):
    total = 0.0
    for k in range(n):
        total = 0.5 * total + k * x
    return total


def kept(function, *arguments):
    lowered = pb.grad(function).lower(*arguments)
    return [(r.value, r.depth, r.size) for r in lowered.residuals]


def test_numbers_a_trip():
    assert kept(powers, 1.5, 10) == [("r", 1, "8 bytes a trip")]
    assert kept(linear, 1.5, 10) == []
    assert len(kept(garch, (0.1, 0.5, 0.2), np.ones(4))) == 1


def test_the_text_names_line_value_size_and_reason():
    text = str(pb.explain(powers, residuals=True)(1.5, 10))
    assert "r, in a loop: 8 bytes a trip" in text
    assert "r *= x" in text or "for _ in range(n)" in text
    assert "carried from trip to trip" in text and "needed by" in text
    assert str(pb.explain(pb.grad(powers), residuals=True)(1.5, 10)) == text
    assert "nothing is kept" in str(pb.explain(linear, residuals=True)(1.5, 10))


def test_arrays_and_inner_loops():
    def f(u, n):
        for _ in range(n):
            u = np.sin(u) * u
            for i in range(n):
                u = u + i * u * u
        return np.sum(u)

    found = kept(f, np.ones(4), 5)
    assert {depth for _, depth, _ in found} == {1, 2}
    assert all("array of rank 1" in size for _, _, size in found)


def waves(a, first, last):
    total = 0.0
    for k in range(first, last):
        total += np.sum(np.sin(a * k) * np.exp(a))
    return total


def columns(a):
    out = np.ones((len(a), len(a)))
    for k in range(1, len(a)):
        out[:, k] = out[:, k - 1] * a
    return np.sum(out * out)


def test_loops_that_end_before_they_begin_keep_nothing():
    a = np.array([0.3, 0.7])
    for last in (5, 3, 2, -4):
        slope = sum((k * np.cos(a * k) + np.sin(a * k)) * np.exp(a) for k in range(3, last)) + 0 * a
        np.testing.assert_allclose(pb.grad(waves)(a, 3, last), slope, rtol=1e-12)
        second = pb.jacfwd(pb.grad(waves))(a, 3, last)
        bend = sum((2 * k * np.cos(a * k) + (1 - k * k) * np.sin(a * k)) * np.exp(a) for k in range(3, last)) + 0 * a
        np.testing.assert_allclose(second, np.diag(bend), rtol=1e-12)
        np.testing.assert_allclose(pb.jacrev(pb.grad(waves))(a, 3, last), np.diag(bend), rtol=1e-12)
    assert pb.grad(columns)(np.zeros(0)).shape == (0,)


def newton(b, x):
    for _ in range(3):  # as many trips as the arrays that they carry have elements
        p = np.exp(-x @ b)
        b = b + ((x.T * p) @ x + np.eye(3)) @ b
    return np.sum(b**2)


def test_sizes_that_are_the_number_of_trips():
    b, x = np.array([0.1, -0.2, 0.05]), np.cos(np.arange(12.0)).reshape(4, 3)
    steps = 1e-6 * np.eye(3)
    slope = [(newton(b + h, x) - newton(b - h, x)) / 2e-6 for h in steps]
    np.testing.assert_allclose(pb.grad(newton)(b, x), slope, rtol=1e-6)
    bend = [(pb.grad(newton)(b + h, x) - pb.grad(newton)(b - h, x)) / 2e-6 for h in steps]
    np.testing.assert_allclose(pb.hessian(newton)(b, x), bend, rtol=1e-5)


def test_as_much_is_kept_as_it_says():
    n = 10_000
    gradient = pb.grad(powers)
    gradient(1.0, 3)
    pb.stats(reset=True)
    gradient(1.0, n)
    assert 8 * n <= pb.stats().bytes_allocated < 8 * n + 4096


def test_on_the_command_line(tmp_path, capsys):
    file = tmp_path / "model.py"
    file.write_text("def powers(x, n):\n    r = 1.0\n    for _ in range(n):\n        r *= x\n    return r\n")
    assert cli.main(["explain", f"{file}:powers", "1.5", "10", "--residuals"]) == 0
    assert "8 bytes a trip" in capsys.readouterr().out



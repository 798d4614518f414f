"""Recurrences that run ahead of what is computed from them: the same bits, and exceptions where they were."""

import math

import numpy as np
import pytest

import pullback as pb
from pullback import pipeline
from pullback.passes import outrun

RNG = np.random.default_rng(7)
LENGTHS = (0, 1, 2, 63, 64, 65, 96, 127, 200)


def likelihood(a, b, c, x):
    h, total = 1.0, 0.0
    for t in range(1, len(x)):
        h = a + b * x[t - 1] * x[t - 1] + c * h
        total += math.log(h) + x[t] * x[t] / h
    return total + h


def two_chains(a, b, c, x):
    """Two numbers that go ahead, and a count; a sum that is taken from; the old value in what follows."""
    p, q, steps, up, down = a, b, 0, 0.0, 0.0
    for t in range(len(x)):
        following = p * c + q * 0.25
        down -= math.exp(-p * p) * x[t]
        q = 0.25 * q + 0.3 * following
        up += math.sin(following) + math.sqrt(q * q + 1.0)
        p = following
        steps += 2
    return up + down + p * steps


def fed_back(a, b, c, x):
    """The sum is part of the recurrence: nothing goes ahead."""
    h, total = a, 0.0
    for t in range(len(x)):
        h = c * h + 0.001 * total
        total += math.exp(-h * h) * x[t] * b
    return total


FUNCTIONS = [likelihood, two_chains, fed_back]


def without(monkeypatch):
    monkeypatch.setattr(pipeline, "_LAST", tuple(run for run in pipeline._LAST if run is not outrun.run))


def loops(function, *arguments):
    lines = function.lower(*arguments).stages["passes again"].splitlines()
    return sum("for " in line.split("#")[0] for line in lines)


def test_which_loops_are_cut(monkeypatch):
    given = 0.1, 0.2, 0.7, np.ones(5)
    cut = [loops(pb.jit(f), *given) for f in FUNCTIONS]
    without(monkeypatch)
    plain = [loops(pb.jit(f), *given) for f in FUNCTIONS]
    assert [a - b for a, b in zip(cut, plain, strict=True)] == [3, 3, 0]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_the_same_bits(function, monkeypatch):
    def again(a, b, c, x):
        return function(a, b, c, x)

    numbers = (0, 1, 2, 3)
    ours = pb.jit(function), pb.grad(function, argnums=numbers)
    found = []
    for n in LENGTHS:
        x = RNG.standard_normal(n)
        found.append((x, ours[0](0.1, 0.2, 0.7, x), ours[1](0.1, 0.2, 0.7, x)))
        assert found[-1][1] == pytest.approx(function(0.1, 0.2, 0.7, x), rel=1e-12)
    without(monkeypatch)
    plain = pb.jit(again), pb.grad(again, argnums=numbers)
    for x, value, slopes in found:
        assert plain[0](0.1, 0.2, 0.7, x) == value
        for one, other in zip(plain[1](0.1, 0.2, 0.7, x), slopes, strict=True):
            assert np.array_equal(one, other)


@pytest.mark.parametrize("function", FUNCTIONS[:2], ids=lambda f: f.__name__)
def test_second_order(function):
    x, step = RNG.standard_normal(70), 1e-6
    at, along = (0.1, 0.2, 0.7, x), (1.0, 0.5, -0.3, np.cos(np.arange(70.0)))
    gradient, curved = pb.grad(function, argnums=(0, 1, 2, 3)), pb.hvp(function, at, along)
    up, down = (gradient(*(p + s * step * d for p, d in zip(at, along, strict=True))) for s in (1, -1))
    for found, one, other in zip(curved, up, down, strict=True):
        np.testing.assert_allclose(found, (one - other) / (2 * step), rtol=1e-5, atol=1e-5)


def logs(c, x):
    h, total = 1.0, 0.0
    for t in range(len(x)):
        h = c * h + x[t]
        total += math.log(h)
    return total, h


def beyond(c, x):
    h, total = 1.0, 0.0
    for t in range(len(x)):
        h = c * h + x[t]
        total += math.log(h + x[t + 3] * 0.0)
    return total, h


def outcome(function, *arguments):
    try:
        return function(*arguments)
    except (ValueError, IndexError) as error:
        return type(error), str(error)


@pytest.mark.parametrize("function", [logs, beyond], ids=lambda f: f.__name__)
def test_the_trip_that_fails_raises(function):
    compiled = pb.jit(function)
    for place in (0, 5, 31, 32, 63, 64, 99, None):
        x = RNG.random(100) + 0.5
        if place is not None:
            x[place] = -7.0 - place
            x[(place + 20) % 100] = -90.0
        found, wanted = outcome(compiled, 0.3, x), outcome(function, 0.3, x)
        assert found == (wanted if isinstance(wanted[0], type) else pytest.approx(wanted, rel=1e-12))

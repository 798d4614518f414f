"""Random programs over small arrays, which live in registers, against CPython and dual numbers on every engine."""

import itertools

import numpy as np
import pytest

import oracle
import pullback as pb
from mutating import derivative
from pullback import api, testing
from random_small import source

ARGUMENTS = ((0.4, 0.7, 3), (0.4, -0.3, 0), (-0.6, 0.2, 1))
SEEDS = [*range(8), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(8, 120))]
MODES = ("rr", "fr", "rf")


def close(found, wanted, relative):
    np.testing.assert_allclose(np.array(found, float), np.array(wanted, float), rtol=relative, atol=relative)


@pytest.mark.parametrize("seed", SEEDS)
def test_values_and_gradients(seed):
    f = api.from_source(source(seed), "f")
    for arguments in ARGUMENTS:
        close(pb.jit(f)(*arguments), f(*arguments), 1e-10)
        wanted = oracle.gradient(f, arguments, (0, 1))
        for mode in "rf":
            close(derivative(f, arguments, (0, 1), mode, [], "compiled")[0], wanted, 1e-8)


@pytest.mark.parametrize(
    ("seed", "mode"),
    [pytest.param(s, m, marks=[] if s < 2 and m != "rf" else pytest.mark.slow) for s in range(24) for m in MODES],
)
def test_second_derivatives(seed, mode):
    f = api.from_source(source(seed), "f")
    along = [[1.0, -0.5]]
    wanted = oracle.along_all(f, ARGUMENTS[0], (0, 1), along)
    close(derivative(f, ARGUMENTS[0], (0, 1), mode, along, "compiled")[0], wanted, 1e-7)


@pytest.mark.parametrize(
    ("seed", "engine"),
    [
        pytest.param(s, e, marks=[] if s < 2 else pytest.mark.slow)
        for s, e in itertools.product(range(24), ("interpreter", "plain"))
    ],
)
def test_engines_agree(seed, engine):
    f = api.from_source(source(seed), "f")
    arguments = ARGUMENTS[0]
    name, passes = {"interpreter": ("interp", True), "plain": ("native", False)}[engine]
    close(testing.run(f, arguments, engine=name, passes=passes), f(*arguments), 1e-10)
    wanted = oracle.gradient(f, arguments, (0, 1))
    close(derivative(f, arguments, (0, 1), "r", [], engine)[0], wanted, 1e-8)

"""Shadows of arrays that objects and cells held before a derivative began (`ad.given_rows`)."""

import numpy as np
import pytest

import pullback as pb
from given_rows_programs import CASES, REFUSED

X = 1.5


def given():
    return np.array([1.0, 2.0, 3.0])


@pytest.mark.parametrize("name", CASES)
def test_value_and_derivatives(name):
    """The inner derivative, and those of it in both modes."""
    function, expected, slope = CASES[name]
    assert pb.jit(function)(X, given()) == pytest.approx(expected(X), rel=1e-14)
    assert pb.grad(function)(X, given()) == pytest.approx(slope, rel=1e-14)
    value, tangent = pb.jvp(function, (X, given()), (1.0, np.zeros(3)))
    assert (value, tangent) == pytest.approx((expected(X), slope), rel=1e-14)


@pytest.mark.parametrize("name", REFUSED)
def test_what_shares_memory_is_an_error(name):
    with pytest.raises(ValueError, match="cannot differentiate: an array that an object held before"):
        pb.jit(REFUSED[name])(X, given())

"""The promise that functions are within 2.5 units in the last place, against a table of true values (`accuracy_table`).

A table's value is the true one rounded, so what is more than two places from it is more than 1.5 off, and what is
within two is within 2.5.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
import scipy.special as sp

import pullback as pb
from accuracy_table import read_table
from test_elementary import NUMPY, TYPES, argument_types, compiled

PLACES = 2
TABLE = read_table()
PRIMITIVES = [name for name in TABLE if "." not in name]


def places_off(got: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """How many floats got is away, in spacings of the wanted value."""
    with np.errstate(invalid="ignore"):
        off = abs(got - wanted) / np.spacing(abs(wanted))
    return np.where(np.isnan(off), np.inf, off)


def rows_for(name: str, dtype: str) -> np.ndarray:
    """The table's rows whose numbers are of the dtype and whose value is normal in it."""
    rows, limit = TABLE[name], np.finfo(NUMPY[dtype])
    value = abs(rows[:, -1])
    fits = (value < limit.max) & (value > limit.tiny)
    return rows[fits & (rows[:, :-1].astype(NUMPY[dtype]) == rows[:, :-1]).all(axis=1)]


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("vectorize", [False, True], ids=["scalar", "vector"])
def test_functions_are_within_two_and_a_half_places(dtype: str, vectorize: bool) -> None:
    wrong = []
    for name in PRIMITIVES:
        rows = rows_for(name, dtype)
        assert len(rows) >= 4, name
        kinds = [np.int64 if kind == "i64" else NUMPY[dtype] for kind in argument_types(name, dtype)]
        arguments = [column.astype(kind) for column, kind in zip(rows.T, kinds, strict=False)]
        off = places_off(compiled(vectorize)(name, dtype, *arguments), rows[:, -1].astype(NUMPY[dtype]))
        if off.max() > PLACES:
            wrong.append((name, rows[off.argmax()], off.max()))
    assert not wrong


PUBLIC = {
    "numpy.logaddexp": np.logaddexp, "numpy.sinc": np.sinc, "scipy.special.zeta": lambda s: sp.zeta(s),
    "lgamma": lambda x: sp.gammaln(x), "polygamma": lambda n, x: sp.polygamma(n, x), "digamma": lambda x: sp.psi(x),
    "gamma": lambda x: sp.gamma(x), "ndtr": lambda x: sp.ndtr(x), "log_ndtr": lambda x: sp.log_ndtr(x),
    "i0": np.i0, "pow": np.power, "hurwitz": lambda s, q: sp.zeta(s, q), "sigmoid": lambda x: sp.expit(x),
}  # fmt: skip


@cache
def compiled_public(name: str) -> object:
    return pb.jit(PUBLIC[name])


@pytest.mark.slow
@pytest.mark.parametrize("name", PUBLIC)
def test_public_functions_are_so_in_programs(name: str) -> None:
    """As loops over arrays and called with numbers."""
    function = compiled_public(name)
    rows = rows_for(name, "f64")
    columns = list(rows.T[:-1])
    if name == "polygamma":
        columns[0] = columns[0].astype(np.int64)
    assert places_off(function(*columns), rows[:, -1]).max() <= PLACES
    for point in rows[:4]:
        first = int(point[0]) if name == "polygamma" else float(point[0])
        assert places_off(function(first, *map(float, point[1:-1])), point[-1]) <= PLACES


def test_the_comparison_sees_an_error_of_three_places() -> None:
    wanted = np.array([1.0, -3.7, 1e-300])
    off = places_off(wanted + 3 * np.spacing(wanted), wanted)
    np.testing.assert_array_equal(off, 3.0)
    assert places_off(np.array([np.nan]), np.array([1.0]))[0] == np.inf

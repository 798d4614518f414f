"""Where NumPy gives a view, a write is seen through it, and through a copy not: real and complex arrays alike.

Each expression `v` of an array `a` is taken, `a` is written, then `v`, and both are looked at after each write.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pullback as pb
from pullback import api
from surface_turn import in_turn

EXPRESSIONS = (
    "a.reshape(6)", "a.reshape(3, 2)", "a.ravel()", "a.T", "a.real", "a.T.imag", "np.real(a)", "np.imag(a)", "a[None]",
    "a[1:2].ravel()", "a[:, 1:].ravel()", "a.T.ravel()", "a.ravel(order='F')", "a.conj()", "np.conj(a)", "+a",
    "np.positive(a)", "np.asarray(a)", "np.asanyarray(a)", "np.require(a)", "np.ascontiguousarray(a)",
    "np.ascontiguousarray(a.T)", "np.asfortranarray(a)", "np.asfortranarray(a.T)", "np.asarray(a, order='C')",
    "np.asarray(a, order='F')", "np.asarray(a, dtype=complex)", "np.asarray(a.real, dtype=complex)",
    "np.array(a, copy=None)", "np.array(a, ndmin=3, copy=None)", "np.array(a, dtype=np.complex64)",
    "a.astype(a.dtype, copy=False)", "a.astype(np.float64, copy=False)", "a.astype(np.complex128, copy=False)",
    "np.einsum('ii->i', a[:, :2])", "np.einsum('ij->ji', a)", "np.linalg.matrix_power(a[:, :2], 1)",
    "np.linalg.matrix_power(a[:, :2], a.ndim)", "np.block(a)", "np.real_if_close(a)", "np.rot90(a, 2)",
    "np.meshgrid(a[0], a[1], indexing='ij', copy=False, sparse=True)[1]", "np.split(a, 3, axis=1)[1]", "np.diag(a, 1)",
    "a.reshape(2, 3).ravel()", "a.reshape(3, 2).T.ravel()", "a.reshape(2, 3).T.reshape(6)", "a.real.ravel()",
    "np.ascontiguousarray(a.real)", "np.asarray(a.imag, order='C')", "a.real[1:].ravel()", "np.real(a).reshape(6)",
    "a.real[:1, :1].ravel()", "a.copy()", "np.copy(a, order='F')", "a[0]",
)  # fmt: skip
PROGRAM = """
import numpy as np

def program(x):
    a = {made}
    v = {expression}
    a[...] = a * 2 + 1
    first = np.array(v)
    v[...] = v * 3 + 10
    return first, np.array(a), np.array(v)

def reading(x):
    a = {made}
    v = {expression}
    a[...] = a * 2 + 1
    return np.array(v)
"""
MADE = ("x", "x * 1", "x.reshape(3, 2).T", "x[::-1, ::-1]")


def _argument(dtype: Any) -> np.ndarray:
    real = np.arange(6.0).reshape(2, 3) - 2
    return real + 1j * (real[::-1] + 0.5) if dtype is complex else real


def _outcome(function: Any, argument: np.ndarray) -> tuple[Any, np.ndarray]:
    try:
        return function(argument), argument
    except ValueError as error:
        return str(error), argument


def _same(found: Any, expected: Any) -> None:
    if isinstance(expected, tuple):
        for one, other in zip(found, expected, strict=True):
            _same(one, other)
    elif isinstance(expected, str):
        assert found == expected
    else:
        assert found.dtype == expected.dtype
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("dtype", [float, complex])
@pytest.mark.parametrize("expression", in_turn(EXPRESSIONS, 4))
def test_writes_are_seen_through_views_only(expression: str, dtype: Any) -> None:
    for made in MADE if dtype is complex else MADE[:3]:
        source = PROGRAM.format(made=made, expression=expression)
        for name in ("program", "reading"):
            function = api.from_source(source, name)
            expected, wanted = _outcome(function, _argument(dtype))
            found, argument = _outcome(pb.jit(function), _argument(dtype))
            _same(found, expected)
            np.testing.assert_array_equal(argument, wanted)
            if not isinstance(expected, str):
                break  # what cannot be written is only read


def _itself(z: Any) -> Any:
    return z


def _parts(z: Any) -> Any:
    z[0, 0] = 7
    return {"all": z, "some": (z.T, z[1], z.real), "new": z * 2}


@pytest.mark.parametrize("layout", [lambda z: z, np.asfortranarray, lambda z: z[:, ::-1], lambda z: z[:, :1]])
def test_a_complex_argument_is_returned_itself_and_as_views(layout: Any) -> None:
    argument = layout(_argument(complex))
    assert pb.jit(_itself)(argument) is argument
    expected = _parts(argument.copy())
    found = pb.jit(_parts)(argument)
    assert found["all"] is argument
    assert all(np.shares_memory(part, argument) for part in found["some"])
    assert not np.shares_memory(found["new"], argument)
    _same((*found["some"], found["new"]), (*expected["some"], expected["new"]))
    found["some"][0][0, 0] = -1
    assert argument[0, 0] == -1


def test_a_read_only_complex_argument_stays_read_only() -> None:
    argument = _argument(complex)
    argument.setflags(write=False)
    found = pb.jit(lambda z: z[1:])(argument)
    assert np.shares_memory(found, argument) and not found.flags.writeable


def _energy(z: Any) -> Any:
    y = z * z
    row = y.ravel()
    row[1:] += row[:-1] * 0.5
    parts = np.ascontiguousarray(y.real)
    parts[0] *= 3.0
    return np.sum(y.real**2) + np.sum(parts * y.imag)


def test_derivatives_through_rows_of_complex_arrays() -> None:
    z, t = _argument(complex), _argument(complex)[::-1].copy()
    slope = np.sum(np.real(np.conj(pb.grad(_energy)(z)) * t))
    differences = (_energy(z + 1e-6 * t) - _energy(z - 1e-6 * t)) / 2e-6
    assert abs(slope - differences) <= 1e-6 * abs(differences)
    assert abs(pb.jvp(_energy, (z,), (t,))[1] - slope) <= 1e-12 * abs(slope)
    second = pb.hvp(_energy, (z,), (t,))
    near = (pb.grad(_energy)(z + 1e-6 * t) - pb.grad(_energy)(z - 1e-6 * t)) / 2e-6
    np.testing.assert_allclose(second, near, rtol=1e-5, atol=1e-5)


def _writes_by_flat(a: Any) -> Any:
    row = a.flat
    part = row[1:3]
    part[0] = 10.0
    row[0] = 5.0
    a.flat[1:3] += 2.0
    a.flat[[3, 4]] *= 3.0
    total = 0.0
    for x in a.flat:
        total = total * 0.5 + x
    return total + np.sum(part) * row[1]


def test_a_write_to_a_slice_of_flat_is_not_seen_in_the_array() -> None:
    a, b = np.arange(6.0).reshape(2, 3), np.arange(6.0).reshape(2, 3)
    assert pb.jit(_writes_by_flat)(a) == _writes_by_flat(b) and a.tolist() == b.tolist()
    g, e = pb.grad(_writes_by_flat)(np.arange(6.0).reshape(2, 3)), 1e-6 * np.eye(6).reshape(6, 2, 3)
    base = np.arange(6.0).reshape(2, 3)
    steps = [(_writes_by_flat(base + d) - _writes_by_flat(base - d)) / 2e-6 for d in e]
    assert np.allclose(g.ravel(), steps, atol=1e-7)

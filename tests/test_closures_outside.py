"""J of programs that write to arrays found in globals, cells, defaults and classes, and that assign globals.

Against differences of the programs themselves, and in second order against the SSA adjoint; what is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import pullback as pb
from pullback import testing
from surface_turn import in_turn

G, H = np.array([1.0, 2.0, 3.0]), np.array([0.5, -1.0, 2.0])
SAME, PART = G, G[1:]
ROWS = [np.array([1.0, 2.0, 3.0]), np.array([0.3, 0.2, 0.1])]
A = np.array([0.3, -1.2, 0.8])
DIRECTION = [1.0, -0.5, 0.25]
total = 0.0


class Kept:
    buffer = np.array([1.0, 2.0])

    def put(self, v):
        self.buffer[0] = v
        return self.buffer[0] * v


def overwrites(a):
    G[0] = a[0]
    return G[0] * a[1] * G[2]


def accumulates(a):
    for i in range(3):
        H[i] += a[i] * H[(i + 1) % 3]
    return np.sum(H * H)


def has_a_default(a, buffer=np.zeros(3)):
    buffer[0] = a[0] * a[1]
    buffer[1] += buffer[0] * a[2]
    return np.sum(buffer * buffer)


def under_two_names(a):
    G[0] = a[0]
    return SAME[0] * a[1]


def in_a_list(a):
    ROWS[0][1] = a[0] * a[1]
    return np.sum(ROWS[0] * ROWS[1]) * a[2]


def as_a_whole(a):
    G[:] += a
    np.multiply(G, a, out=H)
    return np.sum(H * G)


def puts(i, v):
    G[i] = v


def in_a_callee(a):
    puts(0, a[0])
    puts(1, a[1] * G[0])
    return G[1] * a[2] + G[0]


def in_a_class(a):
    return Kept().put(a[0]) * a[1]


def made() -> Any:
    buffer = np.array([1.0, 2.0, 3.0])

    def in_a_cell(a):
        buffer[0] = a[0] * a[2]

        def inner(k):
            buffer[k] *= a[k]

        inner(1)
        return np.sum(buffer * buffer)

    return in_a_cell


in_a_cell = made()


def in_an_inner_gradient(a):
    def f(y):
        G[0] = y * a[0]
        return G[0] ** 3 * G[1]

    return pb.grad(f)(a[1]) * a[2]


def in_a_pullback_called_twice(a):
    def f(v):
        G[0] = v[0] * G[1]
        return G[0] * v * G[2]

    out, pull = pb.vjp(f, a * a)
    return np.sum(pull(out)[0]) + np.sum(pull(2.0 * out)[0] * a)


def assigns(a):
    global total
    total = 1.0

    def inner(k):
        global total
        total = total * a[0] + k

    for i in range(3):
        inner(a[i])
    return total * a[1]


PROGRAMS = [
    overwrites, accumulates, has_a_default, under_two_names, in_a_list, as_a_whole, in_a_callee, in_a_class, in_a_cell,
    in_an_inner_gradient, in_a_pullback_called_twice, assigns,
]  # fmt: skip
STATE = [G, H, *ROWS, Kept.buffer, has_a_default.__defaults__[0], in_a_cell.__closure__[0].cell_contents]
BEFORE = [array.copy() for array in STATE]


@pytest.fixture(autouse=True)
def before() -> Iterator[None]:
    reset()
    yield
    reset()


def reset() -> None:
    for array, content in zip(STATE, BEFORE, strict=True):
        array[...] = content


def derivative(function: Callable[..., Any], mode: str, formulation: str, at: Any = A) -> Any:
    reset()
    (found,) = testing.gradient(function, (at.copy(),), (0,), mode=mode, direction=DIRECTION if len(mode) > 1 else (),
                                engine="native", passes=True, formulation=formulation)  # fmt: skip
    return found


def differences(function: Callable[..., Any]) -> Any:
    found = []
    for step in np.eye(3) * 1e-5:
        both = []
        for point in (A + step, A - step):
            reset()
            both.append(function(point))
        found.append((both[0] - both[1]) / 2e-5)
    return np.array(found)


@pytest.mark.parametrize("function", PROGRAMS, ids=lambda f: f.__name__)
def test_gradient(function: Callable[..., Any]) -> None:
    actual = derivative(function, "r", "closures")
    left = [array.copy() for array in STATE]
    if function not in (in_an_inner_gradient, in_a_pullback_called_twice):
        np.testing.assert_allclose(actual, differences(function), rtol=1e-6, atol=1e-8)
        reset()
        function(A.copy())
        for array, content in zip(STATE, left, strict=True):
            np.testing.assert_allclose(array, content, err_msg="what it leaves in the arrays")
    if function is not under_two_names:  # the SSA adjoint refuses that
        np.testing.assert_allclose(actual, derivative(function, "r", "ssa"), rtol=1e-10)


@pytest.mark.parametrize("mode", ["rr", "fr"])
@pytest.mark.parametrize("function", in_turn([f for f in PROGRAMS if f is not under_two_names], 4))
def test_second_derivative(function: Callable[..., Any], mode: str) -> None:
    np.testing.assert_allclose(derivative(function, mode, "closures"), derivative(function, "fr", "ssa"), rtol=1e-9)


def test_second_derivative_under_two_names() -> None:
    np.testing.assert_allclose(derivative(under_two_names, "rr", "closures"), [-0.5, 1.0, 0.0])


def test_a_derivative_by_an_array_that_is_outside_as_well() -> None:
    """It has one shadow, under both names."""

    def f(x: Any) -> Any:
        def inner(v: Any) -> Any:
            G[0] = v[1] * x
            return v[0] * v[2]

        return np.sum(pb.grad(inner)(G))

    found = testing.call("call", f, (0.7,), engine="native", passes=True, formulation="closures")
    assert found == pytest.approx(0.7 * (3.0 + 2.0))


def test_arrays_that_share_only_some_memory() -> None:
    """A view from outside would have a shadow of its own."""

    def f(a: Any) -> Any:
        G[1] = a[0]
        return PART[0] * a[1]

    with pytest.raises(ValueError, match="share memory"):
        derivative(f, "r", "closures")

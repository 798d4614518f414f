"""jacobian, hessian, linearize, hvp and stop_gradient: from Python and inside compiled code."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pullback as pb

X = np.array([0.5, -1.25, 2.0])
A = np.array([[1.0, 2.0, -1.0], [0.5, 0.0, 3.0]])


def field(x: Any) -> Any:
    return np.sin(x) * np.sum(x * x)


def jacobian_of_field(x: Any) -> Any:
    return np.diag(np.cos(x)) * np.sum(x * x) + np.outer(np.sin(x), 2 * x)


@pytest.mark.parametrize("kind", [pb.jacobian, pb.jacfwd, pb.jacrev])
def test_jacobians(kind: Callable[..., Any]) -> None:
    np.testing.assert_allclose(kind(field)(X), jacobian_of_field(X), rtol=1e-13)
    np.testing.assert_allclose(kind(lambda x: A @ x)(X), A, rtol=0)
    np.testing.assert_allclose(kind(lambda x: np.sum(x**3))(X), 3 * X**2, rtol=1e-14)
    np.testing.assert_allclose(kind(lambda t: X * t**2)(1.5), 3.0 * X, rtol=1e-15)
    assert kind(lambda t: t**3)(2.0) == pytest.approx(12.0)
    assert kind(lambda x, y: x * y * y, argnums=(0, 1))(2.0, 3.0) == (9.0, 12.0)


def test_single_precision_stays() -> None:
    x = X.astype(np.float32)
    found = pb.jacobian(field)(x)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, jacobian_of_field(X), rtol=1e-5)
    assert pb.jacobian(lambda x: A.astype(np.float32) @ x)(x).dtype == np.float32


@pytest.mark.parametrize("kind", [pb.jacobian, pb.jacfwd, pb.jacrev])
def test_structures(kind: Callable[..., Any]) -> None:
    found = kind(lambda d: (d["s"] * d["x"], d["s"]))({"s": 2.0, "x": X})
    np.testing.assert_array_equal(found[0]["s"], X)
    np.testing.assert_array_equal(found[0]["x"], 2.0 * np.eye(3))
    assert found[1]["s"] == 1.0
    np.testing.assert_array_equal(found[1]["x"], np.zeros(3))


def test_nothing_to_differentiate_by() -> None:
    assert pb.jacobian(field)(np.zeros(0)).shape == (0, 0)
    assert pb.hessian(lambda x: np.sum(x))(np.zeros(0)).shape == (0, 0)
    with pytest.raises(TypeError, match="there is no derivative by this"):
        pb.jacobian(lambda n: n * 1.0)(3)


def energy(a: Any, x: Any) -> Any:
    return a * np.sum(x**3) + a**2


def test_hessians_of_several_arguments() -> None:
    (aa, ax), (xa, xx) = pb.hessian(energy, (0, 1))(2.0, X)
    assert aa == 2.0
    np.testing.assert_allclose(ax, 3 * X**2)
    np.testing.assert_allclose(xa, 3 * X**2)
    np.testing.assert_allclose(xx, np.diag(12.0 * X), atol=1e-15)


def inside(x: Any) -> Any:
    return np.sum(pb.hessian(lambda y: np.sum(y**4))(x) @ x) + np.sum(pb.jacobian(lambda y: y * y)(x))


def test_inside_compiled_code() -> None:
    assert pb.jit(inside)(X) == pytest.approx(np.sum(12 * X**3 + 2 * X))
    np.testing.assert_allclose(pb.grad(inside)(X), 36 * X**2 + 2)
    np.testing.assert_allclose(pb.hessian(inside)(X), np.diag(72 * X), atol=1e-12)


def newton(start: float, target: float) -> float:
    x = start
    for _ in range(30):
        f = lambda t: t**3 * t - target * t  # noqa: E731
        x = x - pb.grad(f)(x) / pb.hessian(f)(x)
    return x


def test_newton_on_an_inner_gradient() -> None:
    """At the minimum 4 x^3 = target."""
    assert pb.jit(newton)(2.0, 3.0) == pytest.approx((3 / 4) ** (1 / 3))
    assert pb.grad(newton, 1)(2.0, 3.0) == pytest.approx((3 / 4) ** (1 / 3) / 9.0)


def two(x: Any, y: float) -> Any:
    return np.sin(x) * y, y * y


def test_linearize() -> None:
    value, linear = pb.linearize(two, X, 2.0)
    np.testing.assert_allclose(value[0], np.sin(X) * 2.0)
    for direction in (np.ones(3), X):
        found = linear(direction, 0.5)
        np.testing.assert_allclose(found[0], np.cos(X) * 2.0 * direction + np.sin(X) * 0.5)
        assert found[1] == 2.0
    with pytest.raises(TypeError, match="takes 2 tangents"):
        linear(X)


def test_linearize_keeps_the_state_in_which_it_was_made() -> None:
    x = X.copy()
    _, linear = pb.linearize(field, x)
    x[:] = 0.0
    np.testing.assert_allclose(linear(np.ones(3)), jacobian_of_field(X) @ np.ones(3))


def linearized(x: Any) -> Any:
    value, linear = pb.linearize(lambda u, s: np.sin(u) * s, x, 2.0)
    x[0] = 7.0  # the linear map is of x as it was
    return np.sum(linear(np.ones(3), 0.5)) + np.sum(value)


def test_linearize_inside() -> None:
    expected = np.sum(np.cos(X) * 2.0 + np.sin(X) * 0.5) + np.sum(np.sin(X) * 2.0)
    assert pb.jit(linearized)(X.copy()) == pytest.approx(expected)
    np.testing.assert_allclose(pb.grad(linearized)(X.copy()), -np.sin(X) * 2.0 + np.cos(X) * 0.5 + np.cos(X) * 2.0)


def product_inside(x: Any) -> Any:
    return np.sum(pb.hvp(lambda y: np.sum(y**3), (x,), (x,)))


def test_hvp_inside() -> None:
    assert pb.jit(product_inside)(X) == pytest.approx(np.sum(6 * X**2))
    np.testing.assert_allclose(pb.grad(product_inside)(X), 12 * X)


def stopped(x: float, a: Any) -> Any:
    y, b, (n, c) = pb.stop_gradient((x, a, [3, {"c": x}]))
    b[0] = 100.0  # a copy
    return x * y * n * np.sum(a * b) + c["c"] * math.sin(x)


def test_stop_gradient() -> None:
    a = np.array([1.0, 2.0])
    assert pb.jit(stopped)(2.0, a.copy()) == stopped(2.0, a.copy()) == 2.0 * 2.0 * 3 * 104.0 + 2.0 * math.sin(2.0)
    by_x, by_a = pb.grad(stopped, (0, 1))(2.0, a.copy())
    assert by_x == pytest.approx(2.0 * 3 * 104.0 + 2.0 * math.cos(2.0))
    np.testing.assert_allclose(by_a, 12.0 * np.array([100.0, 2.0]))
    assert pb.grad(pb.grad(stopped))(2.0, a.copy()) == pytest.approx(-2.0 * math.sin(2.0))
    assert pb.jvp(stopped, (2.0, a.copy()), (1.0, np.zeros(2)))[1] == pytest.approx(by_x)


# ------------------------------------------------------------------------------- functions that change what they see

MOVE = np.array([0.3, 0.2, -0.5])
SHARED = np.ones(3)


class Box:
    """What a function changes."""

    def __init__(self, content: Any) -> None:
        self.content = content


def cubes_of_array(x: Any, a: Any) -> Any:
    a += x
    return a**3


def cubes_of_box(x: Any, box: Any) -> Any:
    box.content = box.content + x
    return box.content**3


def cubes_of_global(x: Any, start: Any) -> Any:
    SHARED[:] = SHARED + x
    return SHARED**3


def cubes_of_list(x: Any, items: Any) -> Any:
    items.append(x * 1.0)
    return (items[0] + items[-1]) ** 3


@pytest.mark.parametrize("kind", [pb.jacobian, pb.jacfwd, pb.jacrev])
@pytest.mark.parametrize(
    ("cubes", "given"),
    [
        (cubes_of_array, lambda: np.ones(3)), (cubes_of_box, lambda: Box(np.ones(3))), (cubes_of_global, lambda: 1.0),
        (cubes_of_list, lambda: [np.ones(3)]),
    ],
)  # fmt: skip
def test_a_function_that_changes_things_is_called_once(kind: Any, cubes: Any, given: Any) -> None:
    ours, theirs = given(), given()
    SHARED[:] = 1.0
    cubes(MOVE, theirs)
    SHARED[:] = 1.0
    np.testing.assert_allclose(kind(cubes)(MOVE, ours), np.diag(3 * (1 + MOVE) ** 2), rtol=1e-14)
    after, wanted = (getattr(v, "content", v) for v in (ours, theirs))
    np.testing.assert_allclose(after, wanted, rtol=1e-14)
    SHARED[:] = 1.0
    curvature = pb.hessian(lambda x, v: np.sum(cubes(x, v)))(MOVE, given())
    np.testing.assert_allclose(curvature, np.diag(6 * (1 + MOVE)), rtol=1e-14)
    SHARED[:] = 1.0
    curvature = kind(pb.grad(lambda x, v: np.sum(cubes(x, v))))(MOVE, given())
    np.testing.assert_allclose(curvature, np.diag(6 * (1 + MOVE)), rtol=1e-14)


def test_a_function_that_draws_numbers_is_called_once() -> None:
    def f(x: Any, rng: Any) -> Any:
        return np.sum(x * rng.normal(size=3)) ** 2

    ours, theirs = np.random.default_rng(4), np.random.default_rng(4)
    z = theirs.normal(size=3)
    np.testing.assert_allclose(pb.hessian(f)(MOVE, ours), 2 * np.outer(z, z), rtol=1e-14)
    assert ours.random() == theirs.random()

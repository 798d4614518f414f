"""Transforms of what is not a bare function: decorated, wrapped, builtin, pickled, with keyword-only parameters."""

from __future__ import annotations

import functools
import gc
import math
import pickle
import weakref
from typing import Any

import numpy as np
import pytest

import pullback as pb
from pullback import testing


def twice(function: Any) -> Any:
    @functools.wraps(function)
    def wrapper(x: Any) -> Any:
        return function(x) * 2

    return wrapper


class Twice:
    def __init__(self, function: Any) -> None:
        functools.update_wrapper(self, function)
        self.function = function

    def __call__(self, x: Any) -> Any:
        return self.function(x) * 2


@twice
@pb.jit
def doubled(x: Any) -> Any:
    return x * x * x


def test_a_decorator_over_jit_counts() -> None:
    """functools.wraps copies the attributes of the call object to the wrapper."""
    assert doubled(2.0) == pb.jit(doubled)(2.0) == 16.0
    assert pb.grad(doubled)(2.0) == 24.0
    assert pb.grad(lambda x: doubled(x) + x)(2.0) == 25.0


def test_an_object_around_jit_is_not_taken_for_what_it_wraps() -> None:
    around = Twice(pb.jit(lambda x: x * x))
    assert pb.jit(around)(3.0) == around(3.0) == 18.0
    assert pb.grad(lambda x: around(x))(3.0) == 12.0


def with_keyword(function: Any) -> Any:
    @functools.wraps(function)
    def wrapper(x: Any, *, k: Any = 2.0) -> Any:
        return function(x, k)

    return wrapper


@with_keyword
def product(x: Any, k: Any) -> Any:
    return x * k


def test_a_wrapper_keeps_its_own_parameters() -> None:
    assert pb.jit(product)(3.0) == 6.0
    assert pb.jit(product)(3.0, k=4.0) == 12.0
    assert pb.grad(product)(3.0, k=5.0) == 5.0


def test_code_kept_for_one_builtin_is_not_taken_for_another(tmp_path: Any, monkeypatch: Any) -> None:
    monkeypatch.setenv("PULLBACK_CACHE_DIR", str(tmp_path))
    for _ in range(2):
        for function in (math.sin, math.cos, float, abs, math.exp):
            assert pb.jit(function)(0.5) == pytest.approx(function(0.5), rel=1e-15)
    with pytest.raises(pb.CompileError):
        pb.jit(Twice)(0.5)
    assert pb.jit(functools.lru_cache(lambda x: x * x))(0.5) == 0.25


def cubic(x: Any, k: Any) -> Any:
    return x * x * x * k * k


def test_one_name_gives_one_gradient() -> None:
    assert pb.grad(cubic, argnames="k")(2.0, 3.0) == 48.0
    assert pb.grad(cubic, argnames=("k",))(2.0, 3.0) == (48.0,)
    assert pb.grad(cubic, argnames=["k", "x"])(2.0, 3.0) == (48.0, 108.0)
    assert pb.grad(cubic, argnums=1, argnames="x")(2.0, 3.0) == (48.0, 108.0)
    assert pb.value_and_grad(cubic, argnames="k")(2.0, 3.0) == (72.0, 48.0)
    assert pb.jit(lambda x: pb.grad(cubic, argnames="k")(x, 3.0))(2.0) == 48.0


def reciprocal(x: Any) -> Any:
    return 1.0 / x


def test_pickling_keeps_every_setting() -> None:
    """Wrapped objects are not found under their name, so they are made again from what they were made of."""
    by_name = pb.grad(cubic, argnames="k")
    assert pickle.loads(pickle.dumps(by_name))(2.0, 3.0) == by_name(2.0, 3.0) == 48.0
    unchecked = pb.jit(reciprocal, error_model="numpy")
    assert pickle.loads(pickle.dumps(unchecked))(0.0) == math.inf
    assert pickle.loads(pickle.dumps(pb.grad(unchecked)))(0.0) == -math.inf
    unbounded = pickle.loads(pickle.dumps(pb.jit(reciprocal, boundscheck=False, fastmath=True)))
    assert not unbounded.options.boundscheck
    assert unbounded.options.fastmath


def shaped(s: Any, m: Any = 2.0, *, n: Any = 3, z: Any = 1.5) -> Any:
    return s**n * m * z


def test_higher_orders_of_defaults_and_keywords() -> None:
    second = pb.grad(pb.grad(shaped))
    assert second(2.0) == second(s=2.0) == 36.0
    assert second(2.0, n=2) == 6.0
    assert second(2.0, z=1.0, m=1.0) == 12.0
    assert pb.grad(second)(2.0, n=4, z=1.0) == 96.0
    assert pb.grad(pb.grad(shaped), argnames="z")(2.0) == 24.0
    assert pb.jvp(pb.grad(shaped), (2.0,), (1.0,)) == (36.0, 36.0)


def test_higher_orders_of_defaults_and_keywords_inside_compiled_code() -> None:
    def nested(x: Any) -> Any:
        return pb.grad(pb.grad(shaped))(x, z=2.0) + pb.grad(pb.grad(shaped, argnums=1))(x, z=x)

    assert nested(2.0) == pb.jit(nested)(2.0) == 72.0
    assert pb.grad(nested)(2.0) == 60.0


@pytest.mark.parametrize(
    "call", [lambda f: f(), lambda f: f(2.0, 3.0, 4.0), lambda f: f(2.0, q=1), lambda f: f(2.0, s=1.0)]
)
def test_arguments_that_do_not_fit_are_refused_in_the_names_of_the_function(call: Any) -> None:
    second = pb.grad(pb.grad(shaped))
    with pytest.raises(TypeError, match=r"shaped\(\)"):
        call(second)
    with pytest.raises(pb.CompileError, match=r"shaped\(\)"):
        pb.jit(lambda x: call(second) + x)(1.0)


# ------------------------------------------------------------------------------------------- code that is shared


def cubed(x):
    return x * x * x


@pytest.mark.parametrize(
    "transform",
    [
        pb.jit, pb.grad, pb.value_and_grad, lambda f: pb.grad(pb.grad(f)), lambda f: pb.grad(pb.jit(f)),
        lambda f: lambda x: pb.vjp(pb.grad(f), x)[1](1.0), lambda f: lambda x: pb.jvp(pb.grad(f), (x,), (1.0,)),
    ],
)  # fmt: skip
def test_objects_of_the_same_kind_are_compiled_once(transform):
    first = transform(cubed)(2.0)
    count = testing.compilations()
    assert [transform(cubed)(2.0) for _ in range(3)] == [first] * 3
    assert testing.compilations() == count
    made = transform(cubed)
    assert np.allclose(np.array(made(np.float32(2.0)), float), np.array(first, float))  # another type: other code
    assert testing.compilations() > count


def test_code_is_not_shared_where_it_differs():
    def quotient(x):
        return 1.0 / x

    assert pb.jit(quotient)(2.0) == 0.5
    assert pb.jit(quotient, error_model="numpy")(0.0) == math.inf
    with pytest.raises(ZeroDivisionError):
        pb.jit(quotient)(0.0)
    assert pb.grad(lambda x: x * x)(3.0) == 6.0 and pb.grad(lambda x: x * 2.0)(3.0) == 2.0
    assert pb.grad(cubed, 0)(2.0) == 12.0 and pb.grad(cubed, (0,))(2.0) == (12.0,)
    assert [pb.grad(scaled_by(s))(1.0) for s in (2.0, 3.0)] == [2.0, 3.0]
    quotient.__code__ = cubed.__code__
    assert pb.jit(quotient)(2.0) == 8.0


def scaled_by(s):
    return lambda x: x * s


def test_shared_code_goes_with_its_function():
    def f(x):
        return x * 2.0

    pb.grad(f)(1.0)
    gone = weakref.ref(f)
    del f
    gc.collect()
    assert gone() is None


def _rebound(u: Any) -> Any:
    """A closure reads the argument, whose name stands for another array later: it lives in a cell."""
    v = u.copy()

    def square(i: int) -> Any:
        return u[i] * u[i]

    for _ in range(2):
        for i in range(len(u)):
            u[i] = square(i)
        u, v = v, u
    return np.sum(u * v)


class _Holder:
    def __init__(self, x: Any) -> None:
        self.x = x


def _held(u: Any) -> Any:
    holder = _Holder(u)
    for i in range(len(u)):
        holder.x[i] = holder.x[i] * u[i] * u[i]
    return np.sum(u * u)


@pytest.mark.parametrize("function", [_rebound, _held])
def test_jacobians_of_functions_that_change_what_they_keep(function: Any) -> None:
    """They are called once: another call would see changed elements."""
    u = np.array([1.1, 0.9, 1.3])

    def wanted(k: int, order: int) -> Any:
        power = 4 if function is _rebound else 6
        return power * u[k] ** (power - 1) if order == 1 else power * (power - 1) * u[k] ** (power - 2)

    first = [wanted(k, 1) for k in range(3)]
    second = np.diag([wanted(k, 2) for k in range(3)])
    for transform in (pb.grad, pb.jacobian, pb.jacfwd, pb.jacrev):
        np.testing.assert_allclose(transform(function)(u.copy()), first, rtol=1e-12)
    for transform in (pb.hessian, lambda f: pb.jacfwd(pb.grad(f)), lambda f: pb.jacfwd(pb.jacfwd(f))):
        np.testing.assert_allclose(transform(function)(u.copy()), second, rtol=1e-12, atol=1e-13)

"""Ints and bools that become known while compiling because something asks for them: axes, ranks, keepdims, bounds.

Every program of `static_programs` against Python: value, type, dtype and shape in the interpreter, a rotating part of
them compiled (the seed is `surface_turn.SEED`), first derivatives in both modes, second ones too.  Then how many
versions there are and why, what is kept on disk, and `jit(static_argnums=)`.
"""

from __future__ import annotations

import functools
import logging
import random
import subprocess
import sys
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import adapter
import pullback as pb
from static_programs import ROWS, Row, called, captured, chain, norm, others, total
from surface_turn import SEED

CASES = [(row, given) for row in ROWS for given in row.runs]
NAMES = [f"{row.name}-{number}" for number, (row, _) in enumerate(CASES)]
cases = pytest.mark.parametrize("row, given", CASES, ids=NAMES)
TURN = random.Random(SEED).sample(range(len(CASES)), 6)


def array(row: Row, dtype: str = "float64") -> np.ndarray:
    rng = np.random.default_rng(zlib.crc32(row.name.encode()))
    return rng.uniform(0.2, 1.0, row.shape).astype(dtype)


def check(found: Any, wanted: Any, single: bool = False) -> None:
    assert type(found) is type(wanted), (found, wanted)
    assert np.shape(found) == np.shape(wanted)
    if isinstance(wanted, np.ndarray | np.generic):
        assert found.dtype == wanted.dtype
    single = single or np.asarray(wanted).dtype == np.float32
    np.testing.assert_allclose(found, wanted, rtol=2e-6 if single else 1e-12)


@cases
def test_values_in_the_interpreter(row: Row, given: tuple[Any, ...]) -> None:
    with np.errstate(all="ignore"):
        check(adapter.value(row.function, (array(row), *given), "interpreter"), row.function(array(row), *given))


@pytest.mark.parametrize("number", TURN, ids=[NAMES[number] for number in TURN])
def test_values_compiled(number: int) -> None:
    row, given = CASES[number]
    for dtype in ("float64", "float32"):
        with np.errstate(all="ignore"):
            found, wanted = (f(array(row, dtype), *given) for f in (pb.jit(row.function), row.function))
            check(found, wanted, single=dtype == "float32")


@pytest.mark.slow
@cases
def test_every_value_compiled(row: Row, given: tuple[Any, ...]) -> None:
    with np.errstate(all="ignore"):
        check(pb.jit(row.function)(array(row), *given), row.function(array(row), *given))


# ------------------------------------------------------------------------------------------------- derivatives


def loss(function: Any) -> Any:
    """The sum of squares of what a function gives."""

    def squares(a, *given):
        return 1.0 * np.sum(function(a, *given) ** 2)  # some give ints

    return squares


def slope(function: Any, a: np.ndarray, along: np.ndarray, step: float = 1e-5) -> Any:
    return (function(a + step * along) - function(a - step * along)) / (2 * step)


def differentiated(row: Row, given: tuple[Any, ...], second: bool) -> None:
    a, function = array(row), loss(row.function)
    rng = np.random.default_rng(1)
    along, other = rng.uniform(-1.0, 1.0, (2, *row.shape))
    with np.errstate(all="ignore"):
        wanted = slope(lambda x: function(x, *given), a, along)
    gradient = adapter.derivative(function, (a, *given), (0,), "r", [], "interpreter")
    forward = adapter.derivative(function, (a, *given), (0,), "f", [], "interpreter")
    np.testing.assert_allclose(np.dot(gradient, along.ravel()), wanted, rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(forward, gradient, rtol=1e-9, atol=1e-12)
    if not second:
        return

    def first(x: np.ndarray) -> np.ndarray:
        return np.array(adapter.derivative(function, (x, *given), (0,), "r", [], "interpreter"))

    bent = adapter.derivative(function, (a, *given), (0,), "fr", list(other.ravel()), "interpreter")
    np.testing.assert_allclose(bent, slope(first, a, other), rtol=1e-4, atol=1e-6)


SMOOTH = [number for number, (row, _) in enumerate(CASES) if 0 not in row.shape]


@pytest.mark.parametrize("number", random.Random(SEED).sample(SMOOTH, 8))
def test_derivatives(number: int) -> None:
    differentiated(*CASES[number], second=number % 5 == 0)


@pytest.mark.slow
@pytest.mark.parametrize("number", SMOOTH, ids=[NAMES[number] for number in SMOOTH])
def test_every_derivative(number: int) -> None:
    differentiated(*CASES[number], second=True)


def test_derivatives_by_every_way_of_the_api() -> None:
    a = np.random.default_rng(0).random((3, 4))
    function = loss(total)
    wanted = 2.0 * np.broadcast_to(a.sum(axis=1, keepdims=True), a.shape)
    for found in (
        pb.grad(function)(a, 1), pb.jit(pb.grad(function))(a, 1), pb.value_and_grad(function)(a, 1)[1],
        pb.vjp(function, a, 1)[1](1.0)[0], pb.grad(pb.jit(function, static_argnums=1))(a, 1),
        pb.jit(pb.grad(function), static_argnums=1)(a, 1), pb.grad(lambda x: function(x, 1))(a),
        pb.jit(lambda x, axis: pb.grad(function)(x, axis))(a, 1), pb.jacrev(function)(a, 1), pb.jacfwd(function)(a, 1),
    ):  # fmt: skip
        np.testing.assert_allclose(found, wanted, rtol=1e-13)
    along = np.ones_like(a)
    assert np.isclose(pb.jvp(function, (a, 1), (along, 0))[1], wanted.sum())
    assert np.isclose(pb.linearize(lambda x: function(x, 1), a)[1](along), wanted.sum())
    assert pb.hessian(function)(a, 1).shape == (3, 4, 3, 4)
    assert pb.jacobian(total)(a, 0).shape == (4, 3, 4)
    twice = pb.grad(lambda x, axis: np.sum(pb.grad(function)(x, axis) ** 2))
    np.testing.assert_allclose(twice(a, 1), 16.0 * wanted, rtol=1e-12)


@pytest.mark.parametrize("function", [total, norm, captured, chain, called], ids=lambda function: function.__name__)
def test_backpropagators_as_closures(function: Any) -> None:
    from pullback import testing

    a = np.random.default_rng(0).uniform(0.2, 1.0, (2, 3, 4))
    if function is called:
        given, squares = (a,), lambda a: np.sum(called(a) ** 2)
    else:
        given, squares = (a, 1), lambda a, axis: np.sum(function(a, axis) ** 2)
    (found,) = testing.gradient(
        squares, given, (0,), mode="r", engine="interp", passes=False, formulation="closures"
    )  # fmt: skip
    (wanted,) = testing.gradient(squares, given, (0,), mode="r", engine="interp", passes=False)
    np.testing.assert_allclose(found, wanted, rtol=1e-12)


# ---------------------------------------------------------------------------------------------------- versions


@pytest.fixture
def log(caplog: pytest.LogCaptureFixture) -> Any:
    caplog.set_level(logging.INFO, logger="pullback")
    return lambda: [record.getMessage().partition(" s: ")[2] for record in caplog.records]


def test_one_version_for_each_number_that_must_be_known(log: Any) -> None:
    a = np.ones((2, 3, 4))
    f = pb.jit(lambda a, axis, scale: a.sum(axis=axis) * scale)
    for axis in (0, 1, 0, (0, 2), (0, 1), 1):
        assert f(a, axis, 3).shape == a.sum(axis=axis).shape and f(a, axis, 4).shape == a.sum(axis=axis).shape
    assert f.specializations == (
        "float64[:, :, :], int 0, int", "float64[:, :, :], int 1, int", "float64[:, :, :], (int 0, int 2), int",
        "float64[:, :, :], (int 0, int 1), int",
    )  # fmt: skip
    assert log() == [
        "axis: int 0 -> int 1", "axis: int 1 -> (int 0, int 2)", "axis: (int 0, int 2) -> (int 0, int 1)",
    ]  # fmt: skip


def test_numbers_that_nothing_asks_for_stay_data() -> None:
    def count(n):
        return 1 if n < 2 else n * count(n - 1)

    f = pb.jit(lambda n, k: count(n) + (3 if k == 3 else 4))
    for n in range(8):
        assert f(n, n) == count(n) + (3 if n == 3 else 4)
    assert f.specializations == ("int, int",)


def test_only_the_call_that_needs_it_is_made_for_the_number() -> None:
    def scaled(a, n):
        return a * n

    f = pb.jit(lambda a, n: total(scaled(a, n), 0) * n)
    for n in range(4):
        np.testing.assert_array_equal(f(np.ones((2, 3)), n), np.full(3, 2.0 * n * n))
    assert len(f.specializations) == 1


def test_a_global_and_a_cell_and_a_default_that_change(monkeypatch: pytest.MonkeyPatch) -> None:
    a = np.ones((2, 3))
    scope: dict[str, Any] = {"AXIS": 0}
    made = pb.api.from_source("def f(a, axes=(0,)):\n    return a.sum(axis=AXIS) + a.sum(axis=axes).sum()\n", "f")
    function = type(made)(made.__code__, scope, "f", made.__defaults__)
    f = pb.jit(function)
    for axis in (0, 1, 0):
        scope["AXIS"] = axis
        np.testing.assert_array_equal(f(a), a.sum(axis=axis) + 6.0)
    function.__defaults__ = ((1,),)
    np.testing.assert_array_equal(f(a), a.sum(axis=0) + 6.0)
    del scope["AXIS"]
    with pytest.raises(pb.CompileError, match="name 'AXIS' is not defined"):
        f(a)

    def around():
        axis = 0

        def turn():
            nonlocal axis
            axis = 1 - axis

        return turn, lambda a: a.sum(axis=axis)

    turn, g = around()
    compiled = pb.jit(g)
    for size in (3, 2, 3):
        assert compiled(a).shape == (size,)
        turn()


def test_a_pullback_is_of_the_number_it_was_made_with() -> None:
    scope: dict[str, Any] = {"AXIS": 0, "np": np}
    made = pb.api.from_source("def f(a):\n    return np.sum(a.sum(axis=AXIS) ** 2)\n", "f")
    a = np.arange(6.0).reshape(2, 3)
    _, back = pb.vjp(type(made)(made.__code__, scope, "f"), a)
    scope["AXIS"] = 1
    np.testing.assert_array_equal(back(1.0)[0], 2.0 * np.broadcast_to(a.sum(axis=0), a.shape))


def test_ints_beside_bools_and_numpy_ints() -> None:
    f = pb.jit(lambda a, keep: a.sum(axis=0, keepdims=keep))
    a = np.ones((2, 3))
    for keep in (True, False, 1, 0, np.True_):
        assert f(a, keep).shape == a.sum(axis=0, keepdims=bool(keep)).shape
    assert f.specializations[:2] == ("float64[:, :], bool True", "float64[:, :], bool False")


def test_the_program_shows_no_loop_over_axes() -> None:
    text = str(pb.explain(lambda a: sum(np.sum(a.sum(axis=i)) for i in range(a.ndim)))(np.ones((2, 3))))
    assert "axis" in text


# ------------------------------------------------------------------------------------------------------- on disk

KEPT = """
import numpy as np

AXES = (0,)


def f(a, axis):
    return a.sum(axis=axis)


def g(a):
    return a.sum(axis=AXES)


def h(a, n):
    return a * n
"""
RUN = """
import sys
import numpy as np, pullback as pb
from pullback.codegen import build
import kept_numbers as k
compiled = []
real = build.build
build.build = lambda *given: compiled.append(1) or real(*given)
a = np.arange(12.0).reshape(3, 4)
f, g, h = pb.jit(k.f), pb.jit(k.g), pb.jit(k.h)
for axis in map(int, sys.argv[1]):
    assert np.array_equal(f(a, axis), a.sum(axis=axis))
    k.AXES = (axis,)
    assert np.array_equal(g(a), a.sum(axis=axis))
    assert np.array_equal(h(a, axis), a * axis)
print(len(compiled), *f.specializations)
"""


def test_later_processes_find_the_code_for_each_number(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "kept_numbers.py").write_text(KEPT)
    monkeypatch.setenv("PULLBACK_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("PYTHONPATH", ":".join([str(tmp_path), *sys.path]))

    def run(axes: str) -> str:
        command = [sys.executable, "-c", RUN, axes]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    zero, one = "float64[:, :], int 0", "float64[:, :], int 1"
    assert run("0") == f"3 {zero}"
    assert run("0") == f"0 {zero}"
    assert run("1") == f"2 {one}"
    assert run("01") == f"0 {zero} {one}"


# --------------------------------------------------------------------------------------------- static_argnums


def test_static_arguments() -> None:
    @functools.partial(pb.jit, static_argnums=1, static_argnames="double")
    def power(x, n, double=False):
        result = (x, x) if double else x
        return result if n == 0 else (n, result)

    for x, n, double in ((2.0, 0, False), (3.0, 0, False), (2.0, 0, True), (2.0, 1, False), (4.0, 1, True)):
        assert power(x, n, double) == power.__wrapped__(x, n, double)
        assert power(x, n=n, double=double) == power.__wrapped__(x, n, double)
    assert power.specializations == (
        "float, int 0, bool False", "float, int 0, bool True", "float, int 1, bool False", "float, int 1, bool True",
    )  # fmt: skip


def test_static_arguments_of_other_kinds() -> None:
    def apply(x, how):
        return how(x) if callable(how) else x if how in (None, "same") else x * how[0]

    f = pb.jit(apply, static_argnums=-1)
    for how in (None, "same", abs, (2, True), (3, True)):
        assert f(-2.0, how) == apply(-2.0, how)
    g = pb.jit(lambda *xs, scale: xs[0].sum(axis=scale), static_argnames=["scale"])
    assert g(np.ones((2, 3)), scale=1).shape == (2,) and g(np.ones((2, 3)), scale=0).shape == (3,)
    h = pb.jit(lambda x, s: x * s, static_argnums=(0, 1))  # floats stay data
    assert [h(2.0, 3.0), h(4.0, 3.0)] == [6.0, 12.0] and h.specializations == ("float, float",)


@pytest.mark.parametrize(
    "make, error, message",
    [
        (lambda: pb.jit(total, static_argnums=2), ValueError, "static_argnums has 2, but total() has 2 parameters"),
        (lambda: pb.jit(total, static_argnames="b"), ValueError, "static_argnames has 'b', but total() has no such"),
        (lambda: pb.jit(total, static_argnums="a"), TypeError, "static_argnums takes ints"),
        (lambda: pb.jit(others, static_argnums=1)(np.ones(2), [0]), ValueError, "the static argument 1 is a list"),
    ],
)
def test_static_arguments_are_looked_over(make: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error) as found:
        make()
    assert message in str(found.value)


def test_errors_of_calls_stay_those_of_python() -> None:
    f = pb.jit(norm)
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'axis'"):
        f(np.ones((2, 2)))
    with pytest.raises(OverflowError):
        f(np.ones((2, 2)), 2**70)
    with pytest.raises((pb.CompileError, ValueError), match="axis 5 is out of bounds"):
        f(np.ones((2, 2)), 5)

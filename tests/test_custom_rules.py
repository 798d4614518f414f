"""pb.custom_jvp, pb.custom_vjp: derivatives of functions with rules, in every mode and order, beside the plain ones."""

from __future__ import annotations

import functools
import importlib.util
import math
import os
import pickle
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pullback as pb
from pullback import testing
from rule_programs import ROWS, Row
from surface_turn import SEED

X = np.array([0.7, 0.4, 0.9, -0.3])
V = np.array([0.5, -1.0, 0.3, 0.8])

ORDERS: dict[str, Callable[[Any], Any]] = {
    "value": lambda f: f,
    "r": lambda f: lambda x: pb.grad(f)(x),
    "f": lambda f: lambda x: pb.jvp(f, (x,), (V,))[1],
    "rr": lambda f: lambda x: pb.grad(lambda x: np.sum(pb.grad(f)(x) * V))(x),
    "fr": lambda f: lambda x: pb.jvp(pb.grad(f), (x,), (V,))[1],
    "rf": lambda f: lambda x: pb.grad(lambda x: pb.jvp(f, (x,), (V,))[1])(x),
    "ff": lambda f: lambda x: pb.jvp(lambda x: pb.jvp(f, (x,), (V,))[1], (x,), (V,))[1],
    "rrr": lambda f: lambda x: pb.grad(lambda x: np.sum(pb.grad(lambda x: np.sum(pb.grad(f)(x) * V))(x) * V))(x),
}
KINDS = ("jvp", "vjp", "both")
ENGINES = (("interp", True), ("interp", False), ("native", True), ("native", False))


@functools.cache
def wanted(name: str, order: str) -> Any:
    row = next(row for row in ROWS if row.name == name)
    return testing.run(ORDERS[order](row.program(row.plain)), (X,), engine="interp", passes=True)


def cases() -> list[Any]:
    """Every row, order and kind of rule, each on one engine; one in a hundred, by turns, in `make test`."""
    found: list[Any] = []
    for i, row in enumerate(ROWS):
        for j, order in enumerate(ORDERS):
            for k, kind in enumerate(KINDS):
                for n, (engine, passes) in enumerate(ENGINES):
                    turn = (97 * i + 29 * j + 5 * k + n + SEED) % 96
                    name = f"{row.name}-{order}-{kind}-{engine}-{'passes' if passes else 'plain'}"
                    large = order == "rrr" and not passes  # long to compile
                    if large and engine == "native":
                        continue
                    marks = [] if turn == 0 and not large else [pytest.mark.slow]
                    found.append(pytest.param(row, order, kind, engine, passes, id=name, marks=marks))
    return found


@pytest.mark.parametrize(("row", "order", "kind", "engine", "passes"), cases())
def test_agrees_with_the_plain_function(row: Row, order: str, kind: str, engine: str, passes: bool) -> None:
    function = ORDERS[order](row.program(row.ruled(kind)))
    found = testing.run(function, (X,), engine=engine, passes=passes)
    tolerance = 1e-5 if row.name.startswith("float32") else 1e-11
    np.testing.assert_allclose(found, wanted(row.name, order), rtol=tolerance, atol=tolerance)
    assert np.asarray(found).dtype == np.asarray(wanted(row.name, order)).dtype


def rotating(rows: list[Row], every: int) -> list[Any]:
    """The rows; `make test` has one in `every`, by turns."""
    marks = [() if (i + SEED) % every == 0 else (pytest.mark.slow,) for i in range(len(rows))]
    return [pytest.param(row, id=row.name, marks=mark) for row, mark in zip(rows, marks, strict=True)]


@pytest.mark.parametrize("row", rotating(ROWS, 7))
def test_halves_of_one_rule_fit_together(row: Row) -> None:
    """<y, Jx> = <J'y, x>, J by the jvp rule alone and J' by the vjp rule alone, and each by its own transpose."""
    found: list[Any] = []
    for kind in ("jvp", "vjp"):
        function = row.program(row.ruled(kind))
        found += [pb.jvp(function, (X,), (V,))[1], np.sum(pb.grad(function)(X) * V)]
    tolerance = 1e-5 if row.name.startswith("float32") else 1e-12
    np.testing.assert_allclose(found, found[0], rtol=tolerance)


# -------------------------------------------------------------------------------------- the rule is what is used


@pb.custom_jvp
def doubled(x: Any) -> Any:
    return math.sin(x)


@doubled.defjvp
def doubled_jvp(primals: Any, tangents: Any) -> Any:
    (x,), (dx,) = primals, tangents
    return doubled(x), 2.0 * math.cos(x) * dx


@pb.custom_vjp
def root(x: Any) -> Any:
    if x < 0.0:
        raise ValueError("negative")
    return math.sqrt(x)


def root_forward(x: Any) -> Any:
    y = root(x)
    return y, y


def root_backward(y: Any, c: Any) -> Any:
    return (5.0 * c / y,)


root.defvjp(root_forward, root_backward)


@pytest.mark.parametrize("passes", [True, False])
def test_false_rules_show(passes: bool) -> None:
    """Rules that are not the true derivatives: what is found is theirs, to the second order."""
    run = functools.partial(testing.run, engine="interp", passes=passes)
    assert run(lambda x: pb.grad(doubled)(x), (0.3,)) == pytest.approx(2 * math.cos(0.3))
    assert run(lambda x: pb.jvp(doubled, (x,), (1.0,))[1], (0.3,)) == pytest.approx(2 * math.cos(0.3))
    assert run(lambda x: pb.grad(pb.grad(doubled))(x), (0.3,)) == pytest.approx(-2 * math.sin(0.3))
    product = run(lambda x: pb.grad(lambda x: doubled(x) * x)(x), (0.3,))
    assert product == pytest.approx(0.6 * math.cos(0.3) + math.sin(0.3))
    assert run(lambda x: pb.grad(root)(x), (4.0,)) == 2.5
    assert run(lambda x: doubled(x), (0.3,)) == math.sin(0.3)


def test_by_the_api() -> None:
    assert doubled(0.3) == pb.jit(doubled)(0.3) == math.sin(0.3)
    slope = pytest.approx(2 * math.cos(0.3))
    assert pb.grad(doubled)(0.3) == slope and pb.jvp(doubled, (0.3,), (1.0,))[1] == slope
    assert pb.vjp(doubled, 0.3)[1](1.0)[0] == slope and pb.linearize(doubled, 0.3)[1](1.0) == slope
    assert pb.grad(pb.jit(doubled))(0.3) == slope and pb.grad(functools.partial(doubled))(0.3) == slope
    assert pb.hessian(doubled)(0.3) == pytest.approx(-2 * math.sin(0.3))
    mapped = pb.grad(lambda x: sum(map(doubled, (x, 2.0 * x))))(0.3)
    assert mapped == pytest.approx(2 * math.cos(0.3) + 4 * math.cos(0.6))
    assert pb.grad(lambda f, x: f(x=x), 1)(doubled, 0.3) == slope
    pull = pb.vjp(lambda x: doubled(x) * x, 0.3)[1]
    assert pull(2.0)[0] == 2 * pull(1.0)[0] == 2 * pb.grad(lambda x: doubled(x) * x)(0.3)


def test_in_parallel_loops() -> None:
    def total(x: Any) -> Any:
        found = 0.0
        for i in pb.prange(x.shape[0]):
            found += doubled(x[i])
        return found

    np.testing.assert_allclose(pb.grad(pb.jit(total, parallel=True))(X), 2 * np.cos(X))


def test_exceptions_pass_through() -> None:
    def caught(x: Any) -> Any:
        try:
            return root(x) * x
        except ValueError:
            return -x

    for engine, passes in ENGINES[:3]:
        gradient = functools.partial(testing.run, lambda x: pb.grad(caught)(x), engine=engine, passes=passes)
        assert gradient((-2.0,)) == -1.0 and gradient((4.0,)) == 2.0 + 10.0
    tangent = lambda x: pb.jvp(caught, (x,), (1.0,))[1]  # noqa: E731
    assert testing.run(tangent, (-2.0,), engine="interp", passes=True) == -1.0
    assert testing.run(tangent, (4.0,), engine="interp", passes=True) == 12.0
    assert pb.grad(pb.grad(caught))(-2.0) == 0.0
    with pytest.raises(ValueError, match="negative"):
        pb.grad(root)(-1.0)


def test_a_result_without_cotangent_calls_no_rule() -> None:
    @pb.custom_vjp
    def pair(x: Any) -> Any:
        return x * 2.0, 0.0

    def backward(kept: Any, c: Any) -> Any:
        return (1.0 / kept,)  # would raise

    pair.defvjp(lambda x: ((x * 2.0, 0.0), 0.0), backward)
    assert pb.grad(lambda x: x * 3.0 if pair(x)[0] > 1.0 else x)(2.0) == 3.0
    assert pb.grad(lambda x: pair(x)[0] if x < 0.0 else x)(2.0) == 1.0
    with pytest.raises(ZeroDivisionError):
        pb.grad(lambda x: pair(x)[0])(2.0)


def test_functions_made_by_functions() -> None:
    def make(k: Any) -> Any:
        @pb.custom_jvp
        def times(x: Any) -> Any:
            return k * x

        @times.defjvp
        def _(primals: Any, tangents: Any) -> Any:
            return times(primals[0]), 2.0 * k * tangents[0]

        return times

    three, five = make(3.0), make(5.0)
    assert pb.grad(three)(1.0) == 6.0 and pb.grad(five)(1.0) == 10.0
    assert pb.grad(lambda x: three(x) + five(x))(1.0) == 16.0
    assert pb.hessian(lambda x: three(x) * five(x))(1.0) == 2 * 6.0 * 10.0


def test_values_from_outside_are_read_at_every_call() -> None:
    factors = [1.0, 2.0]

    @pb.custom_vjp
    def times(x: Any) -> Any:
        return x * factors[0]

    times.defvjp(lambda x: (times(x), None), lambda kept, c: (c * factors[1],))
    gradient = pb.grad(times)
    assert gradient(1.0) == 2.0 and pb.jvp(times, (1.0,), (1.0,)) == (1.0, 2.0)
    factors[1] = 7.0
    assert gradient(1.0) == 7.0 and pb.jvp(times, (1.0,), (1.0,)) == (1.0, 7.0)
    assert pb.vjp(times, 1.0)[1](2.0) == (14.0,)


def test_methods() -> None:
    class Spring:
        def __init__(self, k: float) -> None:
            self.k = k

        @functools.partial(pb.custom_jvp, nondiff_argnums=(0,))
        def force(self, x: Any) -> Any:
            return self.k * x

        @force.defjvp
        def force_jvp(self, primals: Any, tangents: Any) -> Any:
            return self.k * primals[0], 3.0 * self.k * tangents[0]

    spring = Spring(2.0)
    assert spring.force(1.5) == 3.0
    assert pb.grad(spring.force)(1.0) == 6.0 == pb.grad(lambda x, s: s.force(x))(1.0, spring)


def test_an_implicit_function() -> None:
    """nondiff_argnums with a function: the derivative of a fixed point, without the iterations."""

    @functools.partial(pb.custom_vjp, nondiff_argnums=(0,))
    def fixed_point(f: Any, a: Any, x: Any) -> Any:
        for _ in range(60):
            x = f(a, x)
        return x

    def forward(f: Any, a: Any, x: Any) -> Any:
        y = fixed_point(f, a, x)
        return y, (a, y)

    def backward(f: Any, kept: Any, c: Any) -> Any:
        a, y = kept
        total = c
        for _ in range(60):
            total = c + pb.vjp(lambda y: f(a, y), y)[1](total)[0]
        return pb.vjp(lambda a: f(a, y), a)[1](total)[0], None

    fixed_point.defvjp(forward, backward)

    def square_root(a: Any) -> Any:
        return fixed_point(lambda a, x: 0.5 * (x + a / x), a, 1.0)

    assert pb.grad(square_root)(2.0) == pytest.approx(0.5 / math.sqrt(2.0))
    assert pb.grad(pb.grad(square_root))(2.0) == pytest.approx(-0.25 * 2.0**-1.5)
    assert pb.jvp(square_root, (2.0,), (1.0,))[1] == pytest.approx(0.5 / math.sqrt(2.0))


# ------------------------------------------------------------------------------------------------------- arrays


@pb.custom_vjp
def clipped(x: Any) -> Any:
    """The identity, whose cotangents are kept within 1."""
    return x


clipped.defvjp(lambda x: (x, None), lambda kept, c: (np.clip(c, -1.0, 1.0),))


def test_what_is_returned_is_an_array_of_its_own() -> None:
    def program(x: Any) -> Any:
        y = clipped(x)
        y[0] = 5.0
        return np.sum(y * x)

    for run in (program, pb.jit(program), lambda x: pb.value_and_grad(program)(x)[0]):
        given = X.copy()
        assert run(given) == pytest.approx(5.0 * X[0] + np.sum(X[1:] ** 2))
        np.testing.assert_array_equal(given, X)
    gradient = pb.grad(lambda x: np.sum(clipped(x) * 3.0))(X)
    np.testing.assert_array_equal(gradient, np.ones(4))


def test_shapes_of_a_rule_are_checked_when_it_runs() -> None:
    @pb.custom_vjp
    def halved(x: Any) -> Any:
        return np.sum(x)

    halved.defvjp(lambda x: (np.sum(x), x), lambda x, c: (x[1:] * c,))
    with pytest.raises(ValueError, match="cotangent of 'x' its shape: in axis 0 it has size 3, not 4"):
        pb.grad(halved)(X)

    @pb.custom_jvp
    def kept(x: Any) -> Any:
        return x * 1.0

    kept.defjvp(lambda primals, tangents: (primals[0], tangents[0][1:]))
    with pytest.raises(ValueError, match="tangent of a result its shape: in axis 0 it has size 3, not 4"):
        pb.jvp(kept, (X,), (V,))


def test_results_that_are_one_array_become_two() -> None:
    @pb.custom_vjp
    def twice(x: Any) -> Any:
        return x, x

    twice.defvjp(lambda x: ((x, x), None), lambda kept, c: (c[0] + c[1],))

    def program(x: Any) -> Any:
        a, b = twice(x)
        a[0] = 3.0
        return np.sum(a * b)

    value, gradient = pb.value_and_grad(program)(X.copy())
    assert value == pytest.approx(program(X.copy())) == pb.jit(program)(X.copy())
    np.testing.assert_allclose(gradient, [3.0, *(2.0 * X[1:])])


def test_arguments_of_several_types() -> None:
    @pb.custom_jvp
    def power(x: Any, y: Any) -> Any:
        return x * x if y is None else x * y

    @power.defjvp
    def _(primals: Any, tangents: Any) -> Any:
        (x, y), (dx, dy) = primals, tangents
        if y is None:
            return x * x, 2.0 * x * dx
        return x * y, dx * y + x * dy

    either = pb.grad(lambda x, given: power(x, x if given else None) * x)
    assert either(3.0, True) == either(3.0, False) == 27.0
    assert pb.hessian(lambda x: power(x, None) + power(x, x))(3.0) == 4.0


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_dtypes(dtype: Any) -> None:
    given = X.astype(dtype)
    assert pb.grad(lambda x: np.sum(clipped(x) * x))(given).dtype == dtype
    assert pb.jvp(clipped, (given,), (given,))[1].dtype == dtype
    assert pb.grad(lambda x: np.sum(clipped(x)))(given[:0]).shape == (0,)


# ---------------------------------------------------------------------------------------------------- the objects


def test_for_python_it_is_the_function() -> None:
    @pb.custom_jvp
    def twice(x: Any, *, by: Any = 2.0) -> Any:
        """Doc."""
        return x * by

    assert twice(3.0) == 6.0 and twice(3.0, by=5.0) == 15.0
    assert twice.__name__ == "twice" and twice.__doc__ == "Doc." and "derivative rule" in repr(twice)
    assert pickle.loads(pickle.dumps(doubled)) is doubled

    def plain(x: Any) -> Any:
        return x * x

    ruled = pb.custom_jvp(plain)
    ruled.defjvp(lambda primals, tangents: (plain(primals[0]), 7.0 * tangents[0]))
    assert pb.grad(ruled)(1.0) == 7.0 and pb.grad(plain)(1.0) == 2.0


def test_misuse() -> None:
    with pytest.raises(TypeError, match="takes a function written in Python"):
        pb.custom_jvp(math.sin)
    with pytest.raises(ValueError, match="takes 1 arguments"):
        pb.custom_vjp(lambda x: x, nondiff_argnums=(3,))
    ruled = pb.custom_jvp(lambda x: x)
    with pytest.raises(TypeError, match="is a function"):
        ruled.defjvp(3)
    ruled.defjvp(lambda primals, tangents: (primals[0], tangents[0]))
    with pytest.raises(ValueError, match="already"):
        ruled.defjvp(lambda primals, tangents: (primals[0], tangents[0]))


PROGRAM = """
import math
import pullback as pb

@pb.custom_jvp
def f(x):
    return math.sin(x)

@f.defjvp
def rule(primals, tangents):
    return f(primals[0]), RULE * tangents[0]

gradient = pb.grad(f)
print(gradient(0.5))
"""


def test_code_kept_on_disk_is_for_its_rule(tmp_path: Path) -> None:
    """Another process does not take the code of the first where the rule is another one."""

    def run(rule: str) -> list[str]:
        file = tmp_path / "program.py"
        file.write_text(PROGRAM.replace("RULE", rule))
        environment = dict(os.environ, PULLBACK_CACHE_DIR=str(tmp_path / "cache"))
        done = subprocess.run(
            [sys.executable, str(file)], env=environment, capture_output=True, text=True, check=True, timeout=120
        )
        return done.stdout.split()

    assert [run(rule)[0] for rule in ("2.0", "3.0")] == ["2.0", "3.0"]


def test_the_page_of_rules_runs(tmp_path: Path) -> None:
    text = (Path(__file__).resolve().parents[1] / "docs" / "rules.md").read_text()
    program = "".join(re.findall(r"```python\n(.*?)```", text, re.DOTALL))
    names = iter(("first", "second", "implicit"))
    path = tmp_path / "rules.py"
    path.write_text(re.sub(r"^pb\.grad", lambda found: f"{next(names)} = {found[0]}", program, flags=re.MULTILINE))
    spec = importlib.util.spec_from_file_location("rules", path)
    assert spec is not None and spec.loader is not None
    page = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(page)
    weight = 1.0 / (1.0 + math.exp(-3.0))
    assert page.first == pytest.approx(weight) and page.second == pytest.approx(weight * (1.0 - weight))
    assert page.implicit == pytest.approx(0.5 / math.sqrt(2.0))
    kept = page.clipped
    assert pb.grad(lambda x: 5.0 * kept(x))(2.0) == 1.0

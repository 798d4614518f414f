"""The second formulation of reverse mode: J, by which functions return their value and a backpropagator closure.

The programs of the suite through it, in first and second order, against dual numbers; mixtures with forward mode,
native code, captured variables at several orders; what it refuses; and how little is left of it after optimisation.
"""

from __future__ import annotations

import collections
import math
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import adapter
import oracle
import pullback as pb
import test_feature_table as feature_tests
import test_programs as suite
from closures_pushed import PUSHED, ZIPPED
from compare import assert_gradient, assert_same
from pullback import testing
from pullback.api import grad
from pullback.diagnostic import CompileError
from pullback.pipeline import Lowered, Options, Request, lower
from surface_turn import in_turn, pairs_in_turn

FORMULATION = "closures"


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield


def gradient(
    function: Callable[..., Any], arguments: tuple[Any, ...], argnums: tuple[int, ...] = (0,), *, mode: str = "r",
    engine: str = "interp", passes: bool = True, direction: Any = (), cotangent: Any = None,
    formulation: str = FORMULATION,
) -> list[Any]:  # fmt: skip
    """The float leaves of the gradient, or of the Hessian times the direction."""
    found = testing.gradient(
        function, arguments, argnums, mode=mode, direction=direction, cotangent=cotangent, engine=engine,
        passes=passes, formulation=formulation,
    )  # fmt: skip
    return adapter.leaves(found, arguments, argnums)


# --------------------------------------------------------------------------------------------- the suite's programs


def check_gradient(name: str, rows: slice, **how: Any) -> None:
    program = suite.PROGRAMS[name]
    for arguments, expected, cotangent in suite.gradients(name)[rows]:
        actual = gradient(program.function, arguments, program.argnums, cotangent=cotangent, **how)
        relative = suite.relative(program, arguments)
        assert_gradient(actual, expected, relative=relative, scale=program.scale, where=f"{name}{arguments}")


def check_second(name: str, mode: str, rows: slice) -> None:
    program = suite.PROGRAMS[name]
    for arguments, direction, expected in suite.hessian_products(name)[rows]:
        actual = gradient(program.function, arguments, program.argnums, mode=mode, direction=direction)
        relative = suite.relative(program, arguments)
        assert_gradient(actual, expected, relative=relative, scale=program.scale, where=f"{name}{arguments}")


@pytest.mark.parametrize("name", in_turn(suite.DIFFERENTIABLE, 2))
def test_gradient(name: str) -> None:
    check_gradient(name, slice(0, 1))


@pytest.mark.slow
@pytest.mark.parametrize("name", suite.DIFFERENTIABLE)
def test_gradient_of_all_arguments(name: str) -> None:
    check_gradient(name, slice(1, None))


SECOND = [name for name in suite.SMOOTH if name.startswith(("calls.", "logic.", "structures."))]


@pytest.mark.parametrize("name", [n for n in SECOND if not n.endswith(("mutual_recursion", "data_dependent_depth"))])
def test_second_derivative(name: str) -> None:
    """J of J."""
    check_second(name, "rr", slice(0, 1))


@pytest.mark.slow
@pytest.mark.parametrize("mode", adapter.SECOND_ORDER[:3])
@pytest.mark.parametrize("name", suite.SMOOTH)
def test_second_derivative_of_all(name: str, mode: str) -> None:
    check_second(name, mode, slice(0, None))


ELSEWHERE = (
    "calls.tree_recursion", "calls.cps_factorial", "calls.choose_closure", "loops.break_and_continue",
    "loops.iterate_rows", "tuples.carried_nested", "arrays.quadratic_form", "structures.single_precision_record",
)  # fmt: skip


@pytest.mark.parametrize("name", ELSEWHERE)
def test_native(name: str) -> None:
    check_gradient(name, slice(0, 1), engine="native")


@pytest.mark.parametrize("name", ELSEWHERE)
def test_without_passes(name: str) -> None:
    check_gradient(name, slice(0, 1), passes=False)


@pytest.mark.parametrize("mode", ["fr", "rf"])
@pytest.mark.parametrize("name", ["calls.cps_power", "calls.closure_made_in_loop", "loops.loop_break"])
def test_mixed_with_forward_mode(name: str, mode: str) -> None:
    check_second(name, mode, slice(0, 1))


# ------------------------------------------------------------------------------------------------ several orders


def captured_at_each_level(x: float) -> Any:
    def outer(y: float) -> Any:
        def inner(z: float) -> Any:
            return x * y * z * z

        return pb.grad(inner)(y) * x

    return pb.grad(outer)(x)


def force(potential: Callable[[float], float], x: float, steps: int) -> float:
    velocity = 0.0
    for _ in range(steps):
        velocity = velocity - 0.1 * pb.grad(potential)(x)
        x = x + 0.1 * velocity
    return x


def particle(k: float) -> float:
    return force(lambda q: 0.5 * k * q * q + 0.1 * math.sin(q), 1.0, 4)


def grows(x: float, n: int) -> Any:
    """A local closure that captures the last one, called at the end."""
    f: Any = lambda y: y  # noqa: E731
    for i in range(n):

        def link(y: float, g: Any = f, i: int = i) -> Any:
            return math.sin(g(y) * x + i)

        f = link
    return f(x)


def third(x: float) -> Any:
    return pb.grad(pb.grad(lambda y: y**4 * x if y > 0.0 else y))(x)


@pytest.mark.parametrize(
    ("function", "arguments"),
    [(captured_at_each_level, (1.3,)), (particle, (1.7,)), (third, (1.2,)), (grows, (0.8, 3))],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_orders_do_not_mix(function: Callable[..., float], arguments: tuple[Any, ...]) -> None:
    for mode in ("r", "rr"):
        direction = [1.0] if mode == "rr" else []
        actual = gradient(function, arguments, mode=mode, direction=direction)
        expected = gradient(function, arguments, mode=mode, direction=direction, formulation="ssa")
        assert_gradient(actual, [float(e) for e in expected], where=mode)


def keywords(x: float, scale: float) -> Any:
    def local(a: float, *rest: float, k: float = scale, **more: float) -> float:
        return a * rest[0] * k + more["z"]

    return local(x, x * x, z=x * scale) + local(x, x, k=x, z=scale)


def test_arguments_of_all_kinds() -> None:
    x, scale = 1.5, 0.7
    actual = gradient(keywords, (x, scale), (0, 1))
    assert_gradient(actual, [3 * x**2 * scale + scale + 3 * x**2, x**3 + x + 1.0])


def test_single_precision_stays() -> None:
    def loss(a: Any) -> Any:
        return np.sum(np.tanh(a) * a)

    a = np.array([0.5, -1.5], np.float32)
    (actual,) = testing.gradient(loss, (a,), (0,), mode="r", engine="interp", passes=True, formulation=FORMULATION)
    (expected,) = testing.gradient(loss, (a,), (0,), mode="r", engine="interp", passes=True)
    assert actual.dtype == np.float32
    np.testing.assert_allclose(actual, expected, rtol=1e-6)


def uses_twice(a: Any) -> Any:
    """Equal partials and multiples of one value meet in sums: at kinks and at poles too."""
    x, y = a[0], a[1]
    total = np.hypot(x, y) * x - np.hypot(x, y) * y * 3.0 + max(x, x) * y - min(y, y)
    total += x * 0.5 + x * 0.25 + (x + x) * 1.5 + np.sqrt(x) * 0.0 + np.sqrt(x) * 0.0 * y
    return total + np.sum(np.sign(a) * a + a**0 + a**2 + a**2.0) + np.sum(a[:, None] * a * a + a[:, None])


def chooses_an_array(a: Any) -> Any:
    b = a if a[0] > 0.25 else a * 2.0 if a[1] > 0.0 else a + np.zeros(2)
    c = b * b if a[1] > 0.0 else b
    return np.sum(c * b * a) + b[0] + np.sum(b, axis=0)


@pytest.mark.parametrize("dtype", in_turn([np.float64, np.float32], 2))
@pytest.mark.parametrize("function", [uses_twice, chooses_an_array], ids=lambda f: f.__name__)
def test_what_several_uses_of_a_value_give_it(function: Callable[..., Any], dtype: Any) -> None:
    relative = 1e-12 if dtype is np.float64 else 2e-6
    for point in ([0.0, 0.75], [0.2, -0.1]):
        for mode in ("r", "rr"):
            argument, direction = np.array(point, dtype), [] if mode == "r" else [1.0, -0.5]
            found = [
                testing.gradient(function, (argument,), (0,), mode=mode, direction=direction, engine="interp",
                                 passes=True, formulation=formulation)[0]
                for formulation in (FORMULATION, "ssa")
            ]  # fmt: skip
            assert found[0].dtype == found[1].dtype == dtype
            np.testing.assert_allclose(found[0], found[1], rtol=relative, atol=relative)


def test_exceptions_are_those_of_the_function() -> None:
    def fails(x: float) -> float:
        return math.log(x) / (x - 2.0)

    for x, kind in ((-1.0, ValueError), (2.0, ZeroDivisionError)):
        with pytest.raises(kind):
            gradient(fails, (x,))


def test_the_value_beside_the_gradient() -> None:
    def loss(x: float, n: int) -> float:
        total = 0.0
        for i in range(n):
            total += math.sin(x * i) if i % 2 else x
        return total

    actual = testing.call(
        "call", pb.value_and_grad(loss), (0.4, 5), engine="interp", passes=True, formulation=FORMULATION
    )
    expected = pb.value_and_grad(loss)(0.4, 5)
    assert_same(actual[0], expected[0], operations=20)
    assert_gradient([actual[1]], [expected[1]])


# ------------------------------------------------------------------------------------------------- what is stored


class Point:
    def __init__(self, v: float, w: float = 1.0) -> None:
        self.v = v
        self.w = w

    def moved(self, by: float) -> float:
        self.v = self.v * by + self.w
        return self.v


def changes_captured(x: float, n: int) -> float:
    total = x

    def add(y: float) -> None:
        nonlocal total
        total = math.sin(total) * y + total

    for k in range(n):
        add(x * k)
    return total * total


def two_names(x: float, n: int) -> float:
    p = Point(x, x * x)
    q = p
    q.moved(2.0)
    p.w = p.v * q.w
    return p.moved(x) * q.v


def overwrites(x: float, n: int) -> float:
    """What was there before has no share in the result any more, what a branch leaves alone has one."""
    p = Point(x)
    y = p.v * x
    p.v = 3.0
    if x > 0.5:
        p.v = p.v * y
    p.w = p.v
    p.v = 0.0
    return p.w * x + p.v


def appends(x: float, n: int) -> float:
    found = [x]
    for i in range(n):
        found.append(found[-1] * x + i)
        found[0] = found[0] * 0.5 + x
    found.insert(1, x * x)
    found.reverse()
    return sum(found) * found[1] + found.pop() * len(found)


def comprehends(x: float, n: int) -> float:
    rows = [[x * i, x * x] for i in range(n)]
    rows[0][1] += x
    return sum(row[0] * row[1] * rows[0][1] for row in rows)


def fills_dict(x: float, n: int) -> float:
    found = {0: x}
    for k in range(1, n):
        found[k] = found.get(k - 1, 0.5) * x + k
    del found[0]
    return sum(math.sin(v) * (k + 1) for k, v in found.items())


def generates(x: float, n: int) -> float:
    state = [x]

    def steps() -> Iterator[float]:
        for k in range(n):
            state[0] = state[0] * x + k
            yield state[0] * 0.5

    total = 0.0
    for i, value in enumerate(steps()):
        total = total * x + value * i
    return total + state[0]


class Link:
    def __init__(self, value: float, rest: Link | None) -> None:
        self.value = value
        self.rest = rest


def folds(x: float, n: int) -> float:
    chain = None
    for k in range(n):
        chain = Link(x * k + 0.5, chain)

    def fold(link: Link | None) -> float:
        return x if link is None else math.sin(link.value) * fold(link.rest)

    return fold(chain)


def inner_gradient(x: float, n: int) -> float:
    """A derivative of a function that changes what it captured, in a loop: neither order sees what the other added."""
    weights = [x, 2.0]

    def loss(y: float) -> float:
        weights[1] = weights[1] * y
        return weights[0] * weights[1] * y

    for _ in range(n):
        weights[0] = weights[0] - 0.1 * pb.grad(loss)(weights[0])
    return weights[0] * weights[1]


STORED = (
    changes_captured, two_names, overwrites, appends, comprehends, fills_dict, generates, folds, inner_gradient,
)  # fmt: skip


@pytest.mark.parametrize("function", STORED, ids=lambda f: f.__name__)
def test_what_is_stored(function: Callable[..., float]) -> None:
    """Objects, cells, lists, dicts and generators: sensitivities of cells lie in twins of their tables."""
    arguments = (0.7, 3)
    (expected,) = oracle.along_all(function, arguments, (0,), [])
    for passes in (True, False):
        assert_gradient(gradient(function, arguments, passes=passes), [expected], where=f"{passes=}")


@pytest.mark.parametrize("function", [two_names, changes_captured, folds], ids=lambda f: f.__name__)
def test_second_derivative_of_what_is_stored(function: Callable[..., float]) -> None:
    expected = oracle.along_all(function, (0.7, 2), (0,), [[1.0]])
    twice = testing.call("call", pb.grad(pb.grad(function)), (0.7, 2), engine="interp", passes=True,
                         formulation=FORMULATION)  # fmt: skip
    assert_gradient([twice], expected)


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["rr", "fr", "rf", "rrr"])
@pytest.mark.parametrize("function", STORED, ids=lambda f: f.__name__)
def test_higher_derivatives_of_what_is_stored(function: Callable[..., float], mode: str) -> None:
    expected = oracle.along_all(function, (0.7, 2), (0,), [[1.0]] * (len(mode) - 1))
    derived = feature_tests.derivative_of(mode, function)
    actual = testing.call("call", derived, (0.7, 2), engine="interp", passes=True, formulation=FORMULATION)
    assert_gradient([actual], expected, relative=1e-8)


def test_a_pullback_is_called_twice() -> None:
    """What one call of a pullback left in the twins is not seen by the next."""

    def twice(x: float) -> Any:
        _, pull = pb.vjp(lambda y: appends(y, 3), x)
        return pull(1.0)[0] + pull(2.0)[0]

    expected = 3.0 * pb.grad(appends)(0.7, 3)
    actual = testing.call("call", twice, (0.7,), engine="interp", passes=True, formulation=FORMULATION)
    assert_gradient([actual], [expected])


def test_gradient_by_an_object() -> None:
    def loss(p: Point) -> float:
        p.v = p.v * p.w
        return p.v * p.w + math.sin(p.v)

    found = testing.call("call", pb.grad(loss), (Point(1.5, 2.0),), engine="native", passes=True,
                         formulation=FORMULATION)  # fmt: skip
    v = 3.0
    assert_gradient([found.v, found.w], [(2.0 + math.cos(v)) * 2.0, (2.0 + math.cos(v)) * 1.5 + v])


def test_reading_elements_costs_no_length() -> None:
    """Of a loop that reads an array, nothing in the reverse loop runs over the array."""

    def reads(a: Any, n: int) -> float:
        total = 0.0
        for i in range(n):
            total += a[i] * a[i - 1] * math.sin(total)
        for x in a:
            total = total * x
        return total

    a = np.array([0.5, 1.5, 0.7])
    request = Request("call", grad(reads), (a, 3), ("a", "n"))
    found = lower(request, Options(formulation=FORMULATION)).program
    loops = [op for f in found.functions.values() for op in f.body.walk() if op.name in ("while", "for")]
    inside = {op.name for loop in loops for block in loop.blocks for op in block.walk()}
    assert "array_inc" in inside
    assert not inside & {"elementwise", "array_zeros"}
    (actual,) = testing.call("call", grad(reads, (0,)), (a, 3), engine="interp", passes=True, formulation=FORMULATION)
    np.testing.assert_allclose(actual, pb.grad(reads)(a, 3), rtol=1e-12)


# ------------------------------------------------------------------------------------------- loops that are calls


@pytest.mark.parametrize(("function", "mode"), pairs_in_turn(PUSHED, {"r": 1, "rr": 3}))
def test_loops_over_what_pushes(function: Callable[..., float], mode: str) -> None:
    """Where a list of all elements would change what happens, or has no end."""
    direction = [1.0] if len(mode) > 1 else []
    expected = oracle.along_all(function, (1.2,), (0,), [direction] if direction else [])
    assert_gradient(gradient(function, (1.2,), mode=mode, direction=direction), expected)


@pytest.mark.parametrize("mode", ["r", pytest.param("rr", marks=pytest.mark.slow)])
@pytest.mark.parametrize("function", ZIPPED, ids=lambda f: f.__name__)
def test_loops_over_a_generator_in_zip(function: Callable[..., float], mode: str) -> None:
    test_loops_over_what_pushes(function, mode)


# ----------------------------------------------------------------------------------------------------- refusals


def pairs_of_generators(x: float) -> float:
    def steps(start: float) -> Iterator[float]:
        yield start
        yield x * x

    total = 0.0
    for y, k in zip(steps(x), steps(2.0)):
        total += y * k
    return total


def test_refusals() -> None:
    """What has no rule is not done silently."""
    with pytest.raises(CompileError) as caught:
        gradient(pairs_of_generators, (2.0,))
    found = caught.value.diagnostic
    assert "formulation by closures" in found.title
    assert found.span.line
    gradient(pairs_of_generators, (2.0,), formulation="ssa")


# -------------------------------------------------------------------------------------------- what is left of it


def lowered(name: str, formulation: str) -> Lowered:
    program = suite.PROGRAMS[name]
    arguments = suite.differentiable_runs(program)[0]
    names = tuple(f"x{i}" for i in range(len(arguments)))
    request = Request("call", grad(program.function, argnums=program.argnums), arguments, names)
    return lower(request, Options(formulation=formulation), keep=True)


def operations(found: Lowered) -> collections.Counter[str]:
    """How often there is each op."""
    return collections.Counter(op.name for function in found.program.functions.values() for op in function.body.walk())


def is_loop_free(found: Lowered) -> bool:
    """No loop and no recursion, in what the program calls either."""
    text = found.stages["front"]
    return "py.for" not in text and "py.while" not in text and "call" not in operations(found)


MOST = 1.1
LEFT = {"box", "unbox", "box_tag", "call", "box_null"}


def test_nothing_of_the_closures_is_left() -> None:
    """Over all loop-free programs: no box, no tag, no call; and how many operations there are."""
    checked, wrong, total, least = 0, [], 0, 0
    for name in suite.SMOOTH:
        ssa = lowered(name, "ssa")
        if not is_loop_free(ssa):
            continue
        counts, expected = operations(lowered(name, FORMULATION)), operations(ssa)
        ratio = sum(counts.values()) / sum(expected.values())
        checked += 1
        total, least = total + sum(counts.values()), least + sum(expected.values())
        if LEFT & set(counts) - set(expected) or ratio > MOST:
            wrong.append((name, round(ratio, 2), LEFT & set(counts)))
    assert not wrong
    assert checked > 200
    assert total <= least


def test_second_order_of_a_recursive_function_that_raises() -> None:
    """Whether its result is one known number was looked for in itself, without end."""

    def by_callee(x: float, n: int) -> float:
        def check(a: float, k: int) -> float:
            if a > 3.0:
                raise OverflowError(k)
            return check(a * x + 1.0, k + 1) if k < n else a

        try:
            return check(x, 0)
        except (OverflowError, KeyError) as error:
            return x * error.args[0] + 1.0

    how: Any = {"mode": "rr", "direction": (1.0,), "passes": True, "engine": "interp"}
    found = [testing.gradient(by_callee, (0.7, 5), (0,), formulation=f, **how) for f in ("closures", "ssa")]
    assert np.allclose(*found, rtol=1e-12)

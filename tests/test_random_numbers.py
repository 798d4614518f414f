"""Random numbers in compiled code: the streams are NumPy's, and numbers move with their parameters as they should.

Rows are in `random_number_rows`.  A few in turn are drawn under `make test`, all with the slow tests
(`PULLBACK_SURFACE_SEED` chooses the turn).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal, localcontext
from typing import Any

import numpy as np
import pytest
from scipy import optimize, special

import pullback as pb
from pullback.prims.prelude import random_tables
from pullback.prims.prelude.random_slopes import beta_moved, gamma_moved, wald_moved
from random_number_rows import DRAWS, FAILING, MOVED
from surface_turn import SEED

Program = Callable[..., Any]


def _in_turn(rows: list[Any], count: int) -> list[Any]:
    """Each row once: some of them in every run, the others with the slow tests."""
    chosen = {(SEED * count + k) % len(rows) for k in range(count)}
    return [pytest.param(row, id=str(i), marks=() if i in chosen else pytest.mark.slow) for i, row in enumerate(rows)]


def _program(draw: Program) -> Program:
    def program(seed: Any) -> Any:
        r = np.random.default_rng(seed)
        return draw(r), r.random()

    return program


def _same(found: Any, wanted: Any) -> None:
    assert type(found) is type(wanted)
    found, wanted = np.asarray(found), np.asarray(wanted)
    assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
    np.testing.assert_allclose(found, wanted, rtol=2e-14, atol=0)  # logarithms and powers round otherwise than NumPy's


@pytest.mark.parametrize("draw", _in_turn(DRAWS, 5))
def test_draws_are_numpys(draw: Program) -> None:
    program = _program(draw)
    compiled = pb.jit(program)
    for seed in (12345, 7):
        found, wanted = compiled(seed), program(seed)
        assert found[1] == wanted[1]  # as many bits were used
        _same(found[0], wanted[0])


def _bits(seed: Any) -> Any:
    r = np.random.default_rng(seed)
    return r.random(3), r.integers(0, 1000, 3), r.standard_normal(), r.integers(0, 2**50), r.spawn(1)[0].random()


SEEDS = [0, 1, 2**32 - 1, 2**32, 2**63 - 1, np.int64(5), [1, 2, 3], np.arange(7), np.array([2**40, 0, 5, 6, 7, 8])]


def test_seeds() -> None:
    compiled = pb.jit(_bits)
    for seed in SEEDS:
        for found, wanted in zip(compiled(seed), _bits(seed), strict=True):
            np.testing.assert_array_equal(found, wanted)
    with pytest.raises(ValueError, match="expected non-negative integer"):
        compiled(-1)


def test_long_streams() -> None:
    """Every layer of the ziggurats, their wedges and their tails."""

    def program(seed: int, n: int) -> Any:
        r = np.random.default_rng(seed)
        return r.standard_normal(n), r.standard_exponential(n)

    for found, wanted in zip(pb.jit(program)(3, 200_000), program(3, 200_000), strict=True):
        # Beyond the last edge a logarithm decides how far.
        np.testing.assert_allclose(found, wanted, rtol=4e-16, atol=0)
        assert np.mean(found != wanted) < 1e-3


@pytest.mark.parametrize("draw", _in_turn(FAILING, 3))
def test_errors_are_numpys(draw: Program) -> None:
    program = _program(draw)
    with pytest.raises((ValueError, OverflowError, TypeError)) as wanted:
        program(1)
    with pytest.raises(wanted.type) as found:
        pb.jit(program)(1)
    assert str(found.value).partition("\n")[0] == str(wanted.value)


# ----------------------------------------------------------------------------------------------------- derivatives


def _measured(draw: Program) -> Program:
    def measured(a: float, b: float) -> Any:
        return np.sum(np.sin(draw(np.random.default_rng(5), a, b)))

    return measured


@pytest.mark.parametrize("row", _in_turn(MOVED, 2))
def test_numbers_move_with_their_parameters(row: tuple[Program, float, float]) -> None:
    draw, a, b = row
    measured, h = _measured(draw), 1e-5
    gradient = pb.grad(measured, (0, 1))
    for k, slope in enumerate(gradient(a, b)):
        da, db = (h, 0.0) if k == 0 else (0.0, h)
        assert math.isclose(
            slope, (measured(a + da, b + db) - measured(a - da, b - db)) / (2 * h), rel_tol=1e-6, abs_tol=1e-8
        )
    _, tangent = pb.jvp(measured, (a, b), (0.4, -0.9))
    assert math.isclose(tangent, 0.4 * gradient(a, b)[0] - 0.9 * gradient(a, b)[1], rel_tol=1e-10, abs_tol=1e-12)
    _, along = pb.jvp(gradient, (a, b), (0.4, -0.9))
    ahead, behind = gradient(a + 0.4 * h, b - 0.9 * h), gradient(a - 0.4 * h, b + 0.9 * h)
    np.testing.assert_allclose(along, (np.array(ahead) - behind) / (2 * h), rtol=1e-5, atol=1e-6)


def _gamma_at(chance: float, a: float) -> Any:
    """The number that a gamma variable of shape a is below with that chance."""
    return special.gammaincinv(a, chance)


def _central(f: Program, x: float, h: float) -> Any:
    """The derivative to the fourth order of h."""
    return (8 * (f(x + h) - f(x - h)) - (f(x + 2 * h) - f(x - 2 * h))) / (12 * h)


@pytest.mark.parametrize(("a", "part"), [(0.05, 3e-5), (0.8, 1e-3), (2.5, 1e-3), (40.0, 1e-3), (3000.0, 1e-3)])
def test_gamma_numbers_move_at_fixed_chance(a: float, part: float) -> None:
    slope = pb.grad(gamma_moved, 1)
    bend = pb.grad(lambda x, a: pb.jvp(gamma_moved, (x, a), (0.0, 1.0))[1], 1)
    for chance in (1e-3, 0.3, 0.5, 0.9):
        x = _gamma_at(chance, a)
        wanted = _central(lambda s, p=chance: _gamma_at(p, s), a, part * a)
        assert math.isclose(slope(x, a), wanted, rel_tol=1e-7)
        h = 10.0 * part * a
        second = (_gamma_at(chance, a + h) - 2 * x + _gamma_at(chance, a - h)) / h**2
        assert math.isclose(bend(x, a), second, rel_tol=1e-2, abs_tol=1e-9 / a)
    upper = special.gammainccinv(a, 1e-10)
    far = _central(lambda s: special.gammainccinv(s, 1e-10), a, part * a)
    assert math.isclose(slope(upper, a), far, rel_tol=1e-7)


@pytest.mark.parametrize(("a", "b"), [(0.5, 0.7), (2.0, 3.0), (30.0, 1.5), (1.5, 80.0)])
def test_beta_numbers_move_at_fixed_chance(a: float, b: float) -> None:
    slope = pb.grad(beta_moved, (1, 2))
    for chance in (0.02, 0.4, 0.95):
        x = special.betaincinv(a, b, chance)
        by_a, by_b = slope(x, a, b)
        assert math.isclose(by_a, _central(lambda s, p=chance: special.betaincinv(s, b, p), a, 1e-3 * a), rel_tol=1e-6)
        assert math.isclose(by_b, _central(lambda s, p=chance: special.betaincinv(a, s, p), b, 1e-3 * b), rel_tol=1e-6)


def _wald_at(chance: float, mean: float, scale: float) -> Any:
    """The number that a Wald variable is below with that chance."""

    def below(x: float) -> Any:
        root = math.sqrt(scale / x)
        beyond = math.exp(2.0 * scale / mean) * special.ndtr(-root * (x / mean + 1.0))
        return special.ndtr(root * (x / mean - 1.0)) + beyond - chance

    return optimize.brentq(below, 1e-6, 1e3, xtol=1e-15, rtol=1e-14)


@pytest.mark.parametrize(("mean", "scale"), [(1.0, 2.0), (0.7, 0.2), (3.0, 60.0)])
def test_wald_numbers_move_at_fixed_chance(mean: float, scale: float) -> None:
    slope = pb.grad(wald_moved, (1, 2))
    bend = pb.grad(lambda x, m, s: pb.jvp(wald_moved, (x, m, s), (0.0, 1.0, 0.0))[1], 2)
    for chance in (0.05, 0.5, 0.9):
        x = _wald_at(chance, mean, scale)
        by_mean, by_scale = slope(x, mean, scale)
        wanted = _central(lambda m, p=chance: _wald_at(p, m, scale), mean, 1e-3 * mean)
        assert math.isclose(by_mean, wanted, rel_tol=1e-7)
        wanted = _central(lambda s, p=chance: _wald_at(p, mean, s), scale, 1e-3 * scale)
        assert math.isclose(by_scale, wanted, rel_tol=1e-7)

        def along(s: float, p: float = chance) -> Any:
            return slope(_wald_at(p, mean, s), mean, s)[0]

        assert math.isclose(bend(x, mean, scale), _central(along, scale, 1e-3 * scale), rel_tol=1e-7)


MADE_OF_GAMMAS: list[Program] = [
    lambda r, a: r.chisquare(a),
    lambda r, a: r.standard_t(a, 3),
    lambda r, a: r.f(a, 2 * a, 3),
    lambda r, a: r.beta(a, 2.0, 3),
    lambda r, a: r.dirichlet([a, 1.0, 2.0])[0],
    lambda r, a: r.standard_gamma(a * np.ones((2, 2))),
    lambda r, a: r.standard_gamma(a, out=np.zeros((2, 2))),
    lambda r, a: r.wald(a, 2.0, 3) + r.wald(1.0, a),
]


@pytest.mark.parametrize("draw", _in_turn(MADE_OF_GAMMAS, 1))
def test_modes_agree_on_what_is_made_of_gamma_numbers(draw: Program) -> None:
    def measured(a: float) -> Any:
        return np.sum(np.tanh(draw(np.random.default_rng(8), a)))

    slope = pb.grad(measured)(1.7)
    assert slope != 0.0
    assert math.isclose(slope, pb.jvp(measured, (1.7,), (1.0,))[1], rel_tol=1e-12)
    bend = pb.grad(pb.grad(measured))(1.7)
    assert math.isclose(bend, pb.jvp(pb.grad(measured), (1.7,), (1.0,))[1], rel_tol=1e-9)


class Counter:
    def __init__(self, r: Any, mean: float) -> None:
        self.r, self.mean, self.other = r, mean, mean

    def draw(self) -> Any:
        return self.r.poisson(self.mean)


def _of_a_counter(x: float, stopped: bool) -> Any:
    counter = Counter(np.random.default_rng(3), x)
    if stopped:
        counter.mean = 3.0
    return counter.other * counter.draw()


REFUSED: list[Program] = [
    lambda x: x * np.random.default_rng(3).poisson(x),
    lambda x: x * np.sum(np.random.default_rng(3).binomial(5, x * np.array([0.3, 0.2]))),
    lambda x: x * np.random.default_rng(3).choice(3, p=np.array([0.3, 0.2, 0.5]) * x),
    lambda x: np.random.default_rng(3).vonmises(0.0, x),
    lambda x: np.random.default_rng(3).noncentral_chisquare(2.0, x),
    lambda x: x * np.random.default_rng(3).integers(0, 5.0 * x),
    lambda x: Counter(np.random.default_rng(3), x).draw() * x,
]
ALLOWED: list[tuple[Program, float]] = [
    (lambda x: x * np.random.default_rng(3).poisson(3.0), np.random.default_rng(3).poisson(3.0)),
    (lambda x: x * np.random.default_rng(3).poisson(pb.stop_gradient(x)), np.random.default_rng(3).poisson(1.0)),
    (lambda x: np.random.default_rng(3).choice(np.array([1.0, 2.0]) * x, p=[0.3, 0.7]), 1.0),
]


@pytest.mark.parametrize("program", _in_turn(REFUSED, 1))
def test_numbers_that_jump_have_no_derivative(program: Program) -> None:
    for derivative in (pb.grad(program), lambda x: pb.jvp(program, (x,), (1.0,))):
        with pytest.raises(pb.CompileError, match="no derivative by this parameter"):
            derivative(1.0)


@pytest.mark.parametrize(("program", "slope"), ALLOWED)
def test_other_parameters_keep_theirs(program: Program, slope: float) -> None:
    assert pb.grad(program)(1.0) == slope


def test_a_field_of_an_object_is_told_from_another() -> None:
    assert pb.grad(lambda x: _of_a_counter(x, True))(1.0) == np.random.default_rng(3).poisson(3.0)
    with pytest.raises(pb.CompileError, match="no derivative by this parameter"):
        pb.grad(lambda x: _of_a_counter(x, False))(1.0)


# ------------------------------------------------------------------------------------- objects, loops, recursion


class Walk:
    def __init__(self, r: Any, scale: float) -> None:
        self.r, self.scale = r, scale

    def step(self, x: Any) -> Any:
        return x + self.scale * self.r.normal()


def _of_an_object(m: float, seed: int) -> Any:
    walk, x = Walk(np.random.default_rng(seed), m), 0.1
    for _ in range(12):
        x = np.sin(walk.step(x))
    return x


def _product_tree(r: Any, m: float, depth: int) -> Any:
    if depth == 0 or r.random() < 0.1:
        return r.normal(m, 0.5)
    return _product_tree(r, m, depth - 1) * _product_tree(r, m, depth - 1)


def _of_recursion(m: float, seed: int) -> Any:
    return _product_tree(np.random.default_rng(seed), m, 3)


def _of_children(m: float, seed: int) -> Any:
    total = 0.0
    for r in np.random.default_rng(seed).spawn(3):
        total += np.sum(r.normal(m, 1, 3) ** 2)
    return total


def _squashed(x: Any, r: Any) -> Any:
    return np.tanh(x * r.normal(1.0, 0.2) + r.random())


def _of_checkpoints(m: float, seed: int) -> Any:
    r, x = np.random.default_rng(seed), m
    for _ in range(5):
        x = pb.checkpoint(_squashed)(x, r)
    return x * r.random()


def _of_shuffles(m: float, seed: int) -> Any:
    r = np.random.default_rng(seed)
    b, items = m * np.arange(6.0), [m, 2.0 * m, 3.0 * m]
    r.shuffle(b)
    r.shuffle(items)
    return np.sum(b[r.permutation(6)[:3]] * r.choice(b, 3)) + items[0] * items[1]


PROGRAMS = [_of_an_object, _of_recursion, _of_children, _of_checkpoints, _of_shuffles]


@pytest.mark.parametrize("program", _in_turn(PROGRAMS, 1))
def test_programs_with_generators(program: Program) -> None:
    m, h, seed = 0.7, 1e-5, 5
    assert math.isclose(pb.jit(program)(m, seed), program(m, seed), rel_tol=1e-13)
    gradient = pb.grad(program)
    assert math.isclose(
        gradient(m, seed), (program(m + h, seed) - program(m - h, seed)) / (2 * h), rel_tol=1e-6, abs_tol=1e-9
    )
    change = (gradient(m + h, seed) - gradient(m - h, seed)) / (2 * h)
    for second in (pb.grad(gradient)(m, seed), pb.jvp(lambda x: gradient(x, seed), (m,), (1.0,))[1]):
        assert math.isclose(second, change, rel_tol=1e-5, abs_tol=1e-7)


# --------------------------------------------------------------------------------------------- given by Python


def _drawn(x: float, r: Any) -> Any:
    return r.normal(x, 1.0) + r.integers(5) + r.spawn(1)[0].random()


def test_a_generator_given_goes_on_where_compiled_code_stopped() -> None:
    ours, theirs = np.random.default_rng(3), np.random.default_rng(3)
    for _ in range(3):
        assert pb.jit(_drawn)(1.0, ours) == _drawn(1.0, theirs)
        assert ours.random() == theirs.random()
    value, slope = pb.value_and_grad(_drawn)(1.0, r=ours)
    assert (value, slope) == (_drawn(1.0, theirs), 1.0)
    assert ours.bit_generator.state == theirs.bit_generator.state
    assert ours.spawn(1)[0].random() == theirs.spawn(1)[0].random()


def test_a_generator_given_twice_is_one() -> None:
    def both(r: Any, s: Any) -> Any:
        return r.random(), s.random(), r is s, isinstance(s, np.random.Generator)

    ours, theirs = np.random.default_rng(3), np.random.default_rng(3)
    assert pb.jit(both)(ours, ours) == both(theirs, theirs)


def test_a_generator_is_written_back_on_an_exception() -> None:
    def failing(r: Any) -> Any:
        r.random()
        raise ValueError("no more")

    ours, theirs = np.random.default_rng(3), np.random.default_rng(3)
    with pytest.raises(ValueError, match="no more"):
        pb.jit(failing)(ours)
    theirs.random()
    assert ours.random() == theirs.random()


@dataclass
class _Walk:
    rng: Any
    step: float
    past: Any = None


def _steps(walk: _Walk, more: Any, pair: Any, table: dict[str, Any]) -> float:
    total = walk.rng.normal() * walk.step + pair[0].random()
    for rng in more:
        total += rng.random()
    more.append(np.random.default_rng(7))
    walk.past = (walk.rng, more[-1].random())
    walk.rng = np.random.default_rng(3)
    return total + table["rng"].normal() + walk.rng.random()


def test_generators_in_what_is_given() -> None:
    def given() -> Any:
        first = np.random.default_rng(1)
        return _Walk(first, 2.0), [np.random.default_rng(2)], (first, "a"), {"rng": np.random.default_rng(5)}

    ours, theirs = given(), given()
    assert pb.jit(_steps)(*ours) == _steps(*theirs)
    (walk, more, pair, table), (other, rest, twin, _) = ours, theirs
    assert walk.past[0] is pair[0]
    for mine, expected in ((walk.rng, other.rng), (pair[0], twin[0]), (more[0], rest[0]), (more[1], rest[1])):
        assert isinstance(mine, np.random.Generator)
        assert mine.bit_generator.state == expected.bit_generator.state
        assert mine.spawn(1)[0].random() == expected.spawn(1)[0].random()
    assert isinstance(table["rng"], np.random.Generator)


def test_derivatives_with_generators_in_objects() -> None:
    def loss(x: float, walk: _Walk) -> Any:
        return np.sum(x * walk.rng.normal(size=3)) ** 2

    slope = 2 * np.sum(np.random.default_rng(1).normal(size=3)) ** 2
    walk = _Walk(np.random.default_rng(1), 1.0)
    assert math.isclose(pb.grad(loss)(1.5, walk), 1.5 * slope, rel_tol=1e-14)
    assert isinstance(walk.rng, np.random.Generator)
    assert math.isclose(pb.hessian(loss)(1.5, _Walk(np.random.default_rng(1), 1.0)), slope, rel_tol=1e-14)


def _made(seed: int) -> Any:
    rng = np.random.default_rng(seed)
    rng.random()
    return rng, rng.spawn(2)[1]


def _put(walks: Any, seed: int) -> None:
    walks.append(np.random.default_rng(seed))


def test_generators_that_compiled_code_makes_are_numpys() -> None:
    for _ in range(2):
        for mine, expected in zip(pb.jit(_made)(4), _made(4), strict=True):
            assert mine.random() == expected.random()
            assert mine.spawn(1)[0].random() == expected.spawn(1)[0].random()
    put = pb.jit(_put)
    for walks in ([np.random.default_rng(1)], [], []):  # the last two fit code that is there by then
        put(walks, 8)
        assert walks[-1].random() == np.random.default_rng(8).random()


def test_generators_come_back_on_an_exception_too() -> None:
    def failing(walk: _Walk) -> None:
        walk.rng.random()
        walk.past = np.random.default_rng(3)
        raise ValueError("no more")

    first = np.random.default_rng(1)
    walk = _Walk(first, 1.0)
    with pytest.raises(ValueError, match="no more"):
        pb.jit(failing)(walk)
    theirs = np.random.default_rng(1)
    theirs.random()
    assert walk.rng is first
    assert first.random() == theirs.random()
    assert walk.past.random() == np.random.default_rng(3).random()


def test_other_bit_generators_are_refused() -> None:
    with pytest.raises(TypeError, match="MT19937 is not supported"):
        pb.jit(lambda r: r.random())(np.random.Generator(np.random.MT19937(3)))


# ---------------------------------------------------------------------------------------------------------- tables


def _edges(end: str, area: Callable[[Decimal], Decimal], f: Program, inverse: Program) -> list[float]:
    """The edges of 255 layers from the last down, in thirty digits."""
    with localcontext() as context:
        context.prec = 30
        x = Decimal(end)
        v, height = area(x), f(x)
        edges = [x]
        for _ in range(254):
            height += v / edges[0]
            edges.insert(0, inverse(height))
    return [float(edge) for edge in edges]


def _normal_area(r: Decimal) -> Decimal:
    """r f(r) and the tail, which is f(r) over a continued fraction."""
    below = r
    for k in range(400, 0, -1):
        below = r + Decimal(k) / below
    return (r + 1 / below) * (-r * r / 2).exp()


def test_edges_of_the_ziggurats() -> None:
    normal = _edges(
        "3.6541528853610087963519472518", _normal_area, lambda x: (-x * x / 2).exp(), lambda y: (-2 * y.ln()).sqrt()
    )
    np.testing.assert_allclose(random_tables.NORMAL_WIDTH[1:] * 2.0**52, normal, rtol=1e-13)
    fast = _edges(
        "7.6971174701310497140446280481", lambda r: (r + 1) * (-r).exp(), lambda x: (-x).exp(), lambda y: -y.ln()
    )
    np.testing.assert_allclose(random_tables.EXPONENTIAL_WIDTH[1:] * 2.0**53, fast, rtol=1e-12)

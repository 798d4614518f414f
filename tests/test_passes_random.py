"""Random typed programs keep their meaning, and their derivatives, under every pass and every order of passes."""

import random

import numpy as np
import pytest

from effort import calls_of
from meaning import NAMES, PASSES, agree, apply, copy_of, outcome
from programs_ir import random_program
from pullback import ad
from pullback.ir.node import Block, Function, Value
from pullback.ir.walk import count_ops
from pullback.prims import Emitter, get
from pullback.types import F64


def random_arguments(draw):
    def number():
        return draw.choice([0.0, -0.0, 1.0, -2.5, 3.25, float("inf"), float("nan"), draw.gauss(0, 3)])

    def integer():
        return draw.choice([0, 1, -1, 2, 3, 5, 2**63 - 1, -(2**63), draw.randint(-4, 6)])

    array = np.array([draw.gauss(0, 1) for _ in range(draw.randint(0, 5))])
    return [number(), number(), integer(), integer(), draw.random() < 0.5, array]


ROUND = "inline fold simplify cse dce bounds simplify licm simplify cse bounds counted unroll simplify cse dce".split()
ALL = [*ROUND, "split", "ownership"]
ORDERS = [[name] for name in NAMES] + [ALL, [*ALL, *ALL[:-1]], ["ownership", *ALL]]


def disagreements(seed, names, budget=60):
    draw = random.Random(seed)
    program = random_program(seed, budget)
    arguments = [random_arguments(draw) for _ in range(5)]
    expected = [outcome(program, list(values)) for values in arguments]
    changed = copy_of(program)
    apply(changed, *names)
    return [values for values, e in zip(arguments, expected, strict=True) if not agree(e, outcome(changed, values))]


@pytest.mark.parametrize("names", ORDERS, ids="-".join)
def test_random_programs_keep_their_meaning(names):
    for seed in range(40):
        assert disagreements(seed + 1000 * len(names), names) == [], seed


@pytest.mark.slow
@pytest.mark.parametrize("block", range(10))
def test_many_random_programs_keep_their_meaning(block):
    draw = random.Random(block)
    for seed in range(10_000 + 200 * block, 10_200 + 200 * block):
        names = draw.choices(NAMES, k=12)
        assert disagreements(seed, names, 100) == [], (seed, names)


def differentiated(program, mode):
    """The program of the value and the derivatives of its first result with respect to x and y."""
    main = program.functions["main"]
    params = [Value(v.type, v.name) for v in main.body.params]
    results = [v.type for v in main.body.results]
    block, attrs = Block(params), {"callee": "main", "wrt": (0, 1)}
    emit = Emitter(block)
    if mode == "reverse":
        types = [*results, F64, F64]
        op = emit.append(get("value_and_grad"), params, attrs={**attrs, "outputs": (0,)}, types=types)
        block.results = [op.results[0], *op.results[-2:]]
    else:
        one, types = emit.constant(1.0), [*results, F64, F64]
        op = emit.append(get("jvp"), [*params, one, one], attrs=attrs, types=types)
        block.results = [op.results[0], op.results[len(results)]]
    program.functions["derivative"] = Function("derivative", block)
    program.entry = "derivative"
    return program


def derivatives_that_differ(seed, mode):
    draw = random.Random(seed)
    program = differentiated(random_program(seed), mode)
    arguments = [[draw.gauss(0, 2), draw.gauss(0, 2), *random_arguments(draw)[2:]] for _ in range(5)]
    changed = copy_of(program)
    ad.expand(program)
    apply(changed, *ROUND)
    ad.expand(changed)
    apply(changed, *ALL)
    pairs = [(outcome(program, list(values)), outcome(changed, list(values))) for values in arguments]
    return [pair for pair in pairs if not agree(*pair, relative=1e-8)]


@pytest.mark.parametrize("mode", ["reverse", "forward"])
def test_passes_before_differentiation_keep_derivatives(mode):
    for seed in range(40):
        assert derivatives_that_differ(seed, mode) == [], seed


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["reverse", "forward"])
def test_passes_before_differentiation_keep_derivatives_of_many(mode):
    for seed in range(1000, 1400):
        assert derivatives_that_differ(seed, mode) == [], seed


def test_the_comparison_can_fail(monkeypatch):
    monkeypatch.setattr("pullback.passes.cse._key", lambda op: (op.name, len(op.operands), op.results[0].type))
    assert any(disagreements(seed, ["cse"]) for seed in range(40))


def test_a_lost_check_is_noticed(monkeypatch):
    monkeypatch.setattr("pullback.passes.dce._Sweep.keeps", lambda self, op: op in self.ops and op.name != "check")
    assert any(disagreements(seed, ["dce"]) for seed in range(40))


def test_spans_are_kept():
    program = random_program(7)
    apply(program, *ALL)
    for function in program.functions.values():
        for op in function.body.walk():
            assert op.span.line or op.name == "const", op


def test_passes_are_quick():
    programs = [random_program(seed, 120) for seed in range(10)]
    ops = sum(count_ops(f.body) for p in programs for f in p.functions.values())

    def run():
        for program in programs:
            apply_unchecked(program, ALL)

    assert calls_of(run) / ops < 80  # 47 are needed for all passes together


def apply_unchecked(program, names):
    for name in names:
        for function in list(program.functions.values()):
            PASSES[name].run(function, program)

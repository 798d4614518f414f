"""Random programs of typed IR: scalars and arrays through branches and loops, differentiated in every mixture."""

from __future__ import annotations

import itertools
import random

import numpy as np
import pytest

from pullback.ir.check import check_program
from pullback.ir.node import Program
from pullback.types import ArrayRef, DType
from test_ad import derivative, run
from typed import F64, I64, Code

VECTOR, MATRIX = ArrayRef(DType.F64, 1, True), ArrayRef(DType.F64, 2, True)
A = np.array([0.3, -0.7, 1.1])
W = np.array([[0.2, 0.5, -0.3], [0.1, -0.4, 0.6], [0.7, 0.2, 0.1]])


class Writer:
    """Writes one program: a state of three scalars and two arrays goes through random statements."""

    def __init__(self, seed):
        self.random, self.loops = random.Random(seed), 0
        self.code = c = Code("f", F64, VECTOR, MATRIX)
        x, self.a, self.w = c.params
        self.n = c.array_size(self.a, axis=0)
        scaled = c.map([self.n], [self.a, x], ["new"], lambda v, x: [v * x])
        state = [x, x * x, c.const(0.3), self.a, scaled[0]]
        for _ in range(self.random.randrange(2, 6)):
            state = self.statement(state, 0)
        total = state[0] * 0.5 + c.sin(state[1]) + c.sin(state[2])
        (dot,) = c.map([self.n], state[3:], ["sum"], lambda p, q: [p * q + c.sin(p)])
        self.program = Program({"f": c.done(total + dot * 0.3)}, "f")

    def scalar(self, state, depth=0):
        c, pick = self.code, self.random.random()
        again = lambda: self.scalar(state, depth + 1)
        if depth > 2 or pick < 0.35:
            if self.random.random() < 0.75:
                return self.random.choice(state[:3])
            return self.random.choice(state[3:])[self.random.randrange(3)]
        if pick < 0.55:
            return c.sin(again())
        if pick < 0.75:
            return (again() + again()) * 0.7
        if pick < 0.85:
            return c.sin(again()) * c.cos(again())
        if pick < 0.9:
            return c.sqrt(again() ** 2 + 0.5)
        if pick < 0.95:
            return c.exp(c.sin(again())) * 0.4
        return again() - again()

    def array(self, state):
        c, (p, q), z = self.code, self.random.choices(state[3:], k=2), self.random.choice(state[:3])
        if self.random.random() < 0.3:
            product = c.matmul(self.w, c.view_expand(p, axis=1))
            return c.map([self.n], [c.view_index(product, 0, axis=1)], ["new"], lambda p: [c.sin(p)])[0]
        bodies = (
            lambda p, q, z: [c.sin(p * z) + q],
            lambda p, q, z: [c.tanh(p) * q * 0.5 + z],
            lambda p, q, z: [p * 0.9 - q * z],
        )
        return c.map([self.n], [p, q, z], ["new"], self.random.choice(bodies))[0]

    def block(self, state, depth):
        for _ in range(self.random.randrange(1, 4)):
            state = self.statement(state, depth)
        return state

    def statement(self, state, depth):
        c, state, kind = self.code, list(state), self.random.randrange(11)
        if kind < 3:
            state[kind] = c.cos(self.scalar(state))
        elif kind < 6:
            state[3 + kind % 2] = self.array(state)
        elif kind < 7:
            (dot,) = c.map([self.n], state[3:], ["sum"], lambda p, q: [p * q * 0.3])
            state[self.random.randrange(3)] = c.sin(dot)
        elif depth < 3 and kind < 8:
            condition = c.gt(self.scalar(state, 1), c.const(self.random.choice([0.2, 0.0, 0.5, -0.3])))
            return c.if_(condition, lambda: self.block(state, depth + 1), lambda: self.block(state, depth + 1))
        elif depth < 3 and self.loops < 4:
            self.loops += 1
            return self.loop(state, depth, kind)
        return state

    def loop(self, state, depth, kind):
        c = self.code

        def body(*carried):
            after = self.block(carried, depth + 1)
            if self.random.random() < 0.3:
                after = [*after[:3], after[4], after[3]]
            return after

        if kind < 10:
            trips = self.random.choice([2, 3, self.n, c.cast(c.abs(state[0] * 2.0), to=DType.I64)])
            return c.for_(trips, state, lambda k, *carried: body(*carried))
        go = lambda i, first, *_: c.lt(i, c.const(4, I64)) & c.lt(c.sin(first), c.const(0.8))
        return c.while_([c.const(0, I64), *state], go, lambda i, *carried: [i + 1, *body(*carried)])[1:]


@pytest.mark.parametrize("seed", range(24))
def test_random(seed):
    source = Writer(seed).program
    check_program(source)
    arguments, step = [0.7, A, W], 1e-5
    at = lambda move: run(source, [0.7 + move, A, W])
    difference = (8 * (at(step) - at(-step)) - (at(2 * step) - at(-2 * step))) / (12 * step)
    for order in (1, 2) if seed % 4 else (1, 2, 3):
        mixtures = ["".join(p) for p in itertools.product("rf", repeat=order)]
        found = {modes: run(derivative(source, modes), arguments) for modes in [*mixtures, *["v"] * (order == 1)]}
        reference = found["f" * order]
        if order == 1:
            assert abs(reference - difference) <= 1e-5 * max(1.0, abs(reference))
        assert all(abs(v - reference) <= 1e-8 * max(1.0, abs(reference)) for v in found.values()), found

"""Linear inequalities over integers, and whether an element that is read is written again."""

from __future__ import annotations

import itertools
import random

import pytest

from pullback.analysis.alias import Aliases
from pullback.analysis.dependence import Dependence
from pullback.analysis.inequalities import ONE, impossible
from pullback.types import ArrayRef, DType
from typed import I64, Code

A1, A2 = ArrayRef(DType.F64, 1, True), ArrayRef(DType.F64, 2, True)


def test_no_integers():
    assert impossible([{"x": 2, ONE: -1}, {"x": -2, ONE: 1}])  # x = 1/2
    assert impossible([{"i": 1, "j": -1, ONE: -1}, {"j": 1, "k": -1}, {"k": 1, "i": -1}])
    assert not impossible([{"i": 1, "j": -1}, {"j": 1, "i": -1}])
    assert impossible([{"x": 1}], [[[{"x": -1, ONE: -1}], [{ONE: -1}]]])
    assert not impossible([{"x": 1}], [[[{"x": -1, ONE: -1}], [{"x": 1, ONE: -5}]]])


def test_never_denies_a_solution():
    """Random systems with a known solution."""
    numbers = random.Random(3)
    for _ in range(300):
        point = {name: numbers.randint(-4, 4) for name in "abcd"}
        rows = []
        for _ in range(numbers.randint(1, 7)):
            row = {name: numbers.randint(-3, 3) for name in "abcd"}
            value = sum(row[name] * point[name] for name in "abcd")
            rows.append({**row, ONE: numbers.randint(0, 2) - value})
        assert not impossible(rows)


def test_finds_all_contradictions_of_differences():
    """x - y <= c over few unknowns, against trying all values."""
    numbers = random.Random(4)
    for _ in range(200):
        rows = []
        for _ in range(5):
            x, y = numbers.sample("abc", 2)
            rows.append({x: -1, y: 1, ONE: numbers.randint(-3, 2)})
        found = any(
            all(sum(f * (1 if k == ONE else point[k]) for k, f in row.items()) >= 0 for row in rows)
            for values in itertools.product(range(-12, 13), repeat=2)
            for point in [dict(zip("abc", (0, *values), strict=True))]
        )
        assert impossible(rows) == (not found)


def reads(build, *types):
    """For every read of the program, in order: does the element keep its value."""
    code = Code("f", *types)
    build(code, *code.params)
    function = code.done()
    dependence = Dependence(Aliases(function, {}))
    return [dependence.final(op) for op in function.body.walk() if op.name == "array_get"]


def loop(c, n, body):
    c.for_(n, [], lambda k: [body(k), []][1])


@pytest.mark.parametrize(
    ("read", "write", "final"),
    [(-1, 0, True), (0, 0, False), (1, 0, False), (0, 1, True), (2, 1, False), (2, 2, False), (-3, 0, True)],
)
def test_shifted(read, write, final):
    """a[k + write] = a[k + read]: kept if no later trip writes it, nor this one after the read."""

    def build(c, a, n):
        loop(c, n, lambda k: c.array_swap(a, k + write, a[k + read]))

    assert reads(build, A1, I64) == [final]


def test_against_running_it():
    """All small cases of two loops and indices with offsets."""
    offsets = (-1, 0, 1)
    for r0, r1, w0, w1, triangle in itertools.product(offsets, offsets, offsets, offsets, (False, True)):

        def build(c, a, n):
            def outer(i):
                loop(c, i + 1 if triangle else n, lambda j: c.array_swap(a, i + w0, j + w1, a[i + r0, j + r1]))

            loop(c, n, outer)

        (final,) = reads(build, A2, I64)
        assert final == (not overwritten(r0, r1, w0, w1, triangle)), (r0, r1, w0, w1, triangle)


def overwritten(r0, r1, w0, w1, triangle, n=7):
    trips = [(i, j) for i in range(n) for j in range(i + 1 if triangle else n)]
    for place, (i, j) in enumerate(trips):
        if any((i + r0, j + r1) == (p + w0, q + w1) for p, q in trips[place:]):
            return True
    return False


def test_conditions_and_views():
    def build(c, a, n):
        def body(k):
            row = c.view_index(a, k, axis=0)
            c.if_(k > 0, lambda: [c.array_swap(row, k, a[k - 1, k - 1]), []][1], lambda: [])

        loop(c, n, body)

    assert reads(build, A2, I64) == [True]


def test_other_writes():
    """A write whose place is not known, and one through another name."""

    def unknown(c, a, b, n):
        loop(c, n, lambda k: c.array_swap(a, c.cast(b[k], to=DType.I64), a[k - 1]))

    def merged(c, a, b, n):
        (d,) = c.if_(n > 3, lambda: [a], lambda: [b])
        loop(c, n, lambda k: c.array_swap(d, k, a[k - 1]))

    assert False in reads(unknown, A1, A1, I64)
    assert reads(merged, A1, A1, I64) == [False]

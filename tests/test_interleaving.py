"""Generators run in turns with what consumes them: effects come in Python's order, or the program is refused."""

import itertools

import pytest

import pullback as pb


def told(out, name, n):
    for i in range(n):
        out.append(f"{name}{i}")
        yield 1.0 * i


def counted(n):
    k = 0
    while k < n:
        yield 2.0 * k
        k += 1


def added_up(out, n):
    total = 0.0
    for x in itertools.accumulate(told(out, "a", n)):
        out.append("body")
        total += x
    return total


def folded(out, n):
    total = 0.0
    for x in itertools.accumulate(told(out, "a", n), lambda a, b: a * b + 1.0):
        out.append("body")
        total += x
    return total


def in_pairs(out, n):
    total = 0.0
    for a, b in itertools.pairwise(told(out, "a", n)):
        out.append("body")
        total += a * b
    return total


def around(out, n):
    total, k = 0.0, 0
    for x in itertools.cycle(told(out, "a", n)):
        out.append("body")
        total += x
        k += 1
        if k > 2 * n:
            break
    return total


def beside_a_list(out, n):
    total = 0.0
    for a, b in zip(told(out, "a", n), [1.0, 2.0]):
        out.append("body")
        total += a * b
    return total


def one_that_only_computes(out, n):
    total = 0.0
    for a, b in zip(told(out, "a", n), counted(n + 3)):
        out.append("body")
        total += a * b
    return total


TURNS = [added_up, folded, in_pairs, around, beside_a_list, one_that_only_computes]


@pytest.mark.parametrize("function", TURNS, ids=lambda function: function.__name__)
def test_effects_come_in_order(function):
    for n in (1, 3):
        mine, theirs = ["start"], ["start"]
        assert pb.jit(function)(mine, n) == function(theirs, n)
        assert mine == theirs


def both_tell(out, n):
    return sum(a * b for a, b in zip(told(out, "a", n), told(out, "b", n)))


def both_tell_in_a_map(out, n):
    return sum(map(lambda a, b: a * b, told(out, "a", n), told(out, "b", n)))


def the_longest(out, n):
    total = 0.0
    for a, b in itertools.zip_longest(told(out, "a", n), counted(n), fillvalue=0.0):
        out.append("body")
        total += a * b
    return total


def read_what_the_body_writes(xs, n):
    for i, (a, b) in enumerate(zip(counted(n), (x for x in xs))):
        xs[i + 1] = a * b
    return sum(xs)


def one_may_raise(out, n):
    return sum(a * b for a, b in zip(counted(n), (1.0 / (3 - i) for i in range(n + 4))))


def one_may_raise_late(out, n):
    return sum(a * b for a, b in zip(counted(n), (1.0 / (n - i) for i in range(n + 4))))


def all_three_tell(out, n):
    total = 0.0
    for a, (k, b), c, d in zip(told(out, "a", n), enumerate(told(out, "b", n - 1)), [1.0] * n, told(out, "c", 9 * n)):
        out.append("body")
        total += a * b + c * d * k
    return total


IN_TURNS = [both_tell, both_tell_in_a_map, all_three_tell]


@pytest.mark.parametrize("function", IN_TURNS, ids=lambda function: function.__name__)
def test_zipped_generators_take_turns(function):
    for n in (1, 3):
        mine, theirs = ["start"], ["start"]
        assert pb.jit(function)(mine, n) == function(theirs, n)
        assert mine == theirs


def test_a_zipped_generator_is_not_asked_for_more_than_is_wanted():
    with pytest.raises(ZeroDivisionError):
        pb.jit(one_may_raise)([], 5)
    assert pb.jit(one_may_raise_late)([], 3) == one_may_raise_late([], 3)


def test_what_the_body_writes_is_read_in_turn():
    mine, theirs = [1.0] * 20, [1.0] * 20
    assert pb.jit(read_what_the_body_writes)(mine, 3) == read_what_the_body_writes(theirs, 3)
    assert mine == theirs


REFUSED = [the_longest]


@pytest.mark.parametrize("function", REFUSED, ids=lambda function: function.__name__)
def test_what_would_be_told_is_refused(function):
    with pytest.raises(pb.CompileError, match="before its time"):
        pb.jit(function)(["start"], 3)


def test_derivatives_of_running_totals():
    def total(x):
        return sum(a * b for a, b in zip(itertools.accumulate(x * i for i in range(4)), counted(4)))

    assert pb.jit(total)(1.5) == total(1.5)
    assert pb.grad(total)(1.5) == pytest.approx(total(1.0))

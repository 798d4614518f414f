"""copy.copy, copy.deepcopy, dataclasses.asdict and astuple, itertools.tee in compiled code."""

import copy
import dataclasses
import itertools
from collections import Counter, deque
from dataclasses import dataclass, field

import numpy as np
import pytest

import pullback as pb


@dataclass
class Inner:
    v: float
    w: list = field(default_factory=list)


@dataclass
class Outer:
    x: float
    inner: Inner
    a: np.ndarray


@dataclass
class Two:
    a: np.ndarray
    b: np.ndarray


@dataclass
class Link:
    value: float
    next: object = None


def shallow_object(p):
    q = copy.copy(p)
    q.x = 9.0
    q.inner.v = 7.0
    return p.x + q.x, p.inner.v, q.inner is p.inner


def deep_object(p):
    q = copy.deepcopy(p)
    q.x = 9.0
    q.inner.v = 7.0
    q.a[0] = 5.0
    q.inner.w.append(1.0)
    return p.x + q.x, p.inner.v, p.a[0], q.a[0], len(p.inner.w), len(q.inner.w)


def shallow_list(xs):
    ys = copy.copy(xs)
    ys.append(1.0)
    return len(xs), len(ys), sum(ys)


def deep_list(xs):
    ys = copy.deepcopy(xs)
    ys[0][0] = 5.0
    return xs[0][0], ys[0][0]


def arrays(a):
    b = copy.deepcopy(a)
    c = copy.copy(a)
    b[0] = 9.0
    c[1] = 4.0
    return a[0], a[1], b[0] + c[1]


def dicts(d):
    e = copy.deepcopy(d)
    e["a"][0] = 7.0
    f = copy.copy(d)
    f["z"] = [1.0]
    return d["a"][0], len(d), len(f)


def sets(s):
    t = copy.copy(s)
    t.add(99)
    u = copy.deepcopy(s)
    u.discard(1)
    return len(s), len(t), len(u)


def unchangeable(x):
    t = (x, "a", None)
    return copy.copy(t), copy.deepcopy(t), copy.deepcopy(x)


def as_dict(p):
    d = dataclasses.asdict(p)
    d["inner"]["v"] = 8.0
    d["a"][0] = 3.0
    return d, p.inner.v, p.a[0]


def as_tuple(p):
    return dataclasses.astuple(p)


def teed(n):
    a, b = itertools.tee(1.0 * i for i in range(n))
    next(b)
    return sum(x * y for x, y in zip(a, b))


def outer():
    return Outer(1.0, Inner(2.0, [3.0]), np.ones(3))


CASES = [
    (shallow_object, outer()), (deep_object, outer()), (shallow_list, [1.0, 2.0]), (shallow_list, [1.0] * 30),
    (deep_list, [[1.0, 2.0], [3.0]]), (arrays, np.ones(3)), (dicts, {"a": [1.0], "b": [2.0]}), (sets, {1, 2}),
    (unchangeable, 1.5), (as_dict, outer()), (as_tuple, outer()), (teed, 5),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[0].__name__}-{type(case[1]).__name__}")
def test_as_in_python(case):
    function, argument = case
    mine, theirs = copy.deepcopy(argument), copy.deepcopy(argument)
    found, known = pb.jit(function)(mine), function(theirs)
    assert repr(found) == repr(known)
    assert repr(mine) == repr(theirs)


def test_derivatives_through_copies():
    def loss(x):
        p = Outer(x, Inner(x * x, [x]), np.array([x, 2.0]))
        q = copy.deepcopy(p)
        q.a[1] = x * q.inner.v
        q.inner.w.append(q.a[1])
        p.x = 0.0
        d = dataclasses.asdict(q)
        return q.x * d["a"][1] + sum(d["inner"]["w"]) + dataclasses.astuple(p)[2][0]

    x = 1.3  # x**4 + (x + x**3) + x
    assert pb.grad(loss)(x) == pytest.approx(4 * x**3 + 1 + 3 * x**2 + 1)
    assert pb.grad(pb.grad(loss))(x) == pytest.approx(12 * x**2 + 6 * x)


def deep_two(p):
    return copy.deepcopy(p).a[0]


def deep_rows(xs):
    return copy.deepcopy(xs)[0][0]


def recursive(p):
    return dataclasses.asdict(p)["value"]


shared = np.ones(2)
REFUSED = [
    (deep_two, Two(shared, shared), "deepcopy of this"), (deep_rows, [[1.0]] * 20, "deepcopy of this"),
    (deep_two, Link(1.0, Link(2.0)), "deepcopy of this"), (recursive, Link(1.0, Link(2.0)), "asdict"),
    (shallow_list, deque([1.0]), "copy.copy of deque"), (deep_rows, Counter("a"), "deepcopy of this"),
]  # fmt: skip


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: f"{case[0].__name__}-{type(case[1]).__name__}")
def test_what_might_share_a_copy_is_refused(case):
    function, argument, message = case
    with pytest.raises(pb.CompileError, match=message):
        pb.jit(function)(argument)

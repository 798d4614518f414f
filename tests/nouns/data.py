"""Nouns of data: tuples, records, objects, None and unions, strings, enums, generators, complex numbers."""

from __future__ import annotations

import cmath
import contextlib
import dataclasses
import enum
import math
from collections import namedtuple
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from nouns import noun


@noun("tuple concatenation", args=[(0.7,)])
def tuple_concatenation(x):
    t = (x, 2.0) + (x * x,)
    t = t + (1.0,) * 2
    return t[0] * t[1] + t[2] * t[-1] * len(t)


@noun("tuple slices", args=[(0.7,)])
def tuple_slices(x):
    t = (x, x * x, 2.0, x + 1.0)
    return sum(t[1:]) * t[::-1][0] + sum(t[::2]) * t[-2:][0]


@noun("tuple index at run time", args=[(0.7, 1), (0.7, -1)])
def tuple_run_time_index(x, k):
    t = (x, x * x, math.sin(x))
    return t[k] * t[k - 1]


@noun("tuple comparison", args=[(0.7,), (2.7,)])
def tuple_comparison(x):
    y = x * x if (1, x) < (1, 2.0) else x
    return y * 2.0 if (x, 1.0) == (x, 1.0) and (x, 2) != (1.0, 2) else y


@noun("in a tuple", args=[(0.7, 2), (0.7, 5)])
def in_tuple(x, k):
    return x * x if k in (1, 2, 3) else (x if k not in (7, 8) and x in (x, 1.0) else 1.0)


class Point(NamedTuple):
    x: float
    y: float = 2.0

    def norm(self):
        return self.x * self.x + self.y * self.y


Pair = namedtuple("Pair", "left right")


@noun("NamedTuple", args=[(0.7,)])
def named_tuples(x):
    p = Point(x)
    q = p._replace(y=x * x)
    left, right = Pair(p.norm(), right=q[1])
    return left * right + q.norm() + p.y * len(q)


@dataclass(frozen=True)
class Frozen:
    a: float
    b: float = 0.5

    def value(self):
        return self.a * self.a * self.b


@noun("frozen dataclass", args=[(0.7,)])
def frozen_dataclasses(x):
    f = Frozen(x)
    g = Frozen(b=x, a=2.0)
    return f.value() + g.value() + (1.0 if f == Frozen(x, 0.5) else 0.0) * x


@dataclass
class State:
    position: float
    velocity: float = 0.0
    history: list = field(default_factory=list)
    energy: float = field(init=False)

    def __post_init__(self):
        self.energy = self.velocity**2 + self.position**2

    def step(self, h):
        self.history.append(self.position)
        self.velocity -= h * self.position
        self.position += h * self.velocity


@noun("mutable dataclass", args=[(0.7, 5)])
def mutable_dataclasses(x, n):
    s = State(x, 1.0)
    for _ in range(n):
        s.step(0.1 * x)
    return s.position * s.velocity


@noun("default factories", args=[(0.7,)])
def default_factories(x):
    a, b = State(x), State(2.0)
    a.step(0.5)
    a.step(0.5)
    b.step(x)
    return sum(a.history) * len(a.history) + b.history[0] * x


@noun("__post_init__", args=[(0.7,)])
def post_init(x):
    return State(x, x).energy * State(2.0, x).energy


@noun("dataclasses.replace", args=[(0.7,)])
def replaced(x):
    f = Frozen(x, 2.0)
    g = dataclasses.replace(f, b=x * x)
    return f.value() * g.value() + dataclasses.replace(g, a=1.0).value()


class Account:
    rate = 0.5

    def __init__(self, balance, name="a"):
        self.balance = balance
        self.name = name
        self.moves = 0

    def deposit(self, amount):
        self.balance += amount * self.rate
        self.moves += 1
        return self


@noun("plain class with __init__", args=[(0.7, 3)])
def plain_classes(x, n):
    account = Account(x)
    for i in range(n):
        account.deposit(x * i).deposit(1.0)
    return account.balance**2 + account.moves


@dataclass
class Inner:
    value: float
    pair: tuple


@dataclass
class Outer:
    first: Inner
    others: list
    table: dict


@noun("nesting to any depth", args=[(0.7,)])
def nested_objects(x):
    o = Outer(Inner(x, (x, 2.0)), [Inner(x * x, (1.0, [x, x])), Inner(2.0, (x, [1.0]))], {"k": (Inner(x, (x, x)), 3.0)})
    o.first.value *= 2.0
    o.others[0].pair[1][0] = x * 3.0
    o.table["k"][0].value += o.first.value
    return o.others[0].pair[1][0] * o.others[1].value + o.table["k"][0].value * o.first.pair[0]


@noun("attribute writes seen through every alias", args=[(0.7,)])
def aliased_attributes(x):
    a = Inner(x, (1.0, 2.0))
    b = a
    held = [a, Inner(2.0, (x, x))]
    table = {"a": b}
    b.value = x * x
    held[0].value += 1.0
    table["a"].pair = (x, x)
    return a.value * a.pair[0] + held[1].value * b.value


class Node:
    def __init__(self, value, left=None, right=None):
        self.value = value
        self.left = left
        self.right = right


def grow(x, depth):
    if depth == 0:
        return None
    return Node(x * depth, grow(x * 0.9, depth - 1), grow(x + 0.1, depth - 2) if depth > 1 else None)


def fold(node):
    if node is None:
        return 1.0
    return node.value * fold(node.left) + math.sin(fold(node.right))


@noun("trees with optional children", args=[(0.7, 4), (0.7, 0)])
def optional_trees(x, depth):
    return fold(grow(x, depth)) * x


@dataclass
class Bush:
    value: float
    children: list

    def total(self):
        return self.value + sum(child.total() * 0.5 for child in self.children)


@noun("trees with lists of children", args=[(0.7, 3)])
def bushes(x, depth):
    def plant(d):
        bush = Bush(x * d, [])
        for i in range(d):
            bush.children.append(plant(d - 1 - i // 2 * (d - 1)))
        return bush

    def plant_bounded(d):
        return Bush(x**d, [plant_bounded(d - 1) for _ in range(d)])

    return plant_bounded(depth).total() * x


@noun("nested tuples as trees", args=[(0.7, 4), (0.7, 0)])
def tuple_trees(x, depth):
    def build(d):
        return (x * d, build(d - 1), build(d - 1)) if d > 0 else None

    def total(tree):
        if tree is None:
            return x
        value, left, right = tree
        return value * total(left) + total(right)

    return total(build(depth))


class Branch(NamedTuple):
    weight: float
    left: "Branch | None" = None
    right: "Branch | None" = None

    def total(self):
        parts = [part.total() for part in (self.left, self.right) if part is not None]
        return self.weight * (1.0 + sum(parts))


@noun("NamedTuples as trees", args=[(0.7, 3), (0.7, 0)])
def named_trees(x, depth):
    def build(d):
        return Branch(x * d, build(d - 1), build(d - 1)._replace(weight=x)) if d > 0 else Branch(x * x)

    def leaves(tree):
        match tree:
            case Branch(weight, None, None):
                return weight
            case Branch(left=left, right=right):
                return leaves(left) + leaves(right) * x

    tree = build(depth)
    return tree.total() + leaves(tree) * (2.0 if tree == build(depth) and tree != build(0) else 1.0) + tree[0]


@noun("linked lists built in loops", args=[(0.7, 5), (0.7, 0)])
def linked_lists(x, n):
    head = None
    for i in range(n):
        head = Node(x * (i + 1), head)
    total = x
    node = head
    while node is not None:
        total = total * 0.5 + node.value * node.value
        node = node.left
    return total


@noun("None", args=[(0.7, True), (0.7, False)])
def using_none(x, flag):
    y = None
    if flag:
        y = x * x
    return x if y is None else y * 2.0


def optional_square(x):
    return x * x if x > 0.0 else None


@noun("Optional", args=[(0.7,), (-0.7,)])
def optionals(x):
    a, b = optional_square(x), optional_square(x + 1.0)
    total = 0.0
    for value in (a, b):
        if value is not None:
            total += value * x
    return total


@noun("unions refined by is None", args=[(0.7, 3), (0.7, 0)])
def refined_by_none(x, n):
    best = None
    for i in range(n):
        candidate = math.sin(x * i)
        if best is None or candidate > best:
            best = candidate
    return x if best is None else best * x


class Circle:
    def __init__(self, r):
        self.r = r


class Square:
    def __init__(self, side):
        self.side = side


@noun("unions refined by isinstance", args=[(0.7, 0), (0.7, 1)])
def refined_by_isinstance(x, k):
    shape = Circle(x) if k == 0 else Square(x * 2.0)
    if isinstance(shape, Circle):
        return math.pi * shape.r**2
    return shape.side**2


@noun("unions refined by truth tests", args=[(0.7, True), (0.7, False)])
def refined_by_truth(x, flag):
    node = Node(x) if flag else None
    name = "yes" if flag else ""
    y = node.value * x if node else x
    return y * 2.0 if name else y


@noun("unions refined by match", args=[(0.7, 0), (0.7, 1), (0.7, 2)])
def refined_by_match(x, k):
    shapes = (Circle(x), Square(x + 1.0), None)
    match shapes[k]:
        case Circle(r=r):
            return r * r
        case Square(side=side) if side > 0.0:
            return side * x
        case None:
            return x
        case _:
            return 0.0


@noun("match", args=[(0.7, 0), (0.7, 1), (0.7, 2), (0.7, 3)])
def matching(x, k):
    values = ((x, 2.0), [x, 1.0, x], {"scale": x, "other": 2.0}, Point(x, 3.0))
    match values[k]:
        case Point(a, b):
            return a * b
        case (a, b):
            return a * a * b
        case [first, *rest]:
            return first * sum(rest)
        case {"scale": s, **others}:
            return s**2 * len(others)
        case _:
            return 0.0


@noun("string equality", args=[(0.7, "a"), (0.7, "b")])
def string_equality(x, name):
    other = "a" if x > 0.0 else "c"
    return x * x if name == other else x if name != "c" else 1.0


@noun("in a string", args=[(0.7, "gelu-fast"), (0.7, "tanh")])
def in_string(x, name):
    return x * x if "fast" in name else math.tanh(x)


@noun("f-strings", args=[(0.7, 2), (0.7, 3)])
def f_strings(x, k):
    table = {"w2": x, "w3": x * x}
    return table[f"w{k}"] * (2.0 if f"{k}-{k + 1}" == "2-3" else 1.0)


@noun("dispatch on a string argument", args=[(0.7, "tanh"), (0.7, "relu"), (0.7, "none")])
def string_dispatch(x, activation):
    functions = {"tanh": math.tanh, "relu": lambda a: a if a > 0.0 else 0.0}
    y = x * x
    if activation == "none":
        return y
    return functions[activation](y) * x


class Mode(enum.Enum):
    SOFT = "soft"
    HARD = "hard"


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 3


@noun("enums", args=[(0.7, 0), (0.7, 1)])
def enums(x, k):
    mode = Mode.SOFT if k == 0 else Mode.HARD
    level = Level.HIGH if x > 0.0 else Level.LOW
    y = math.tanh(x) if mode is Mode.SOFT else x
    if mode.value == "hard" and level == Level.HIGH:
        y = y * y
    return y * level + sum(each.value for each in Level) * x


@noun("generators consumed in place", args=[(0.7, 4)])
def generators(x, n):
    def powers(k):
        y = x
        for i in range(k):
            yield y * i
            y = y * x
        yield from (x, 2.0)

    total = 0.0
    for value in powers(n):
        if value > 1.5:
            break
        total = total * 0.5 + value * x
    return total + sum(powers(2))


@noun("generator expressions", args=[(0.7, 4)])
def generator_expressions(x, n):
    total = sum(x**i * j for i in range(n) for j in range(i) if (i + j) % 2)
    return (
        total + max(x * i for i in (1, 2)) * (1.0 if any(x > k for k in range(3)) else 0.0) + len(list(i for i in "ab"))
    )


@noun("star unpacking", args=[(0.7,)])
def star_unpacking(x):
    first, *middle, last = (x, x * x, 2.0, 3.0 * x)
    head, *tail = [first, last]
    (a, *b), c = (x, 1.0, 2.0), x
    joined = [*middle, *tail, a]
    return first * last + sum(middle) * head + sum(b) * c + len(joined) * joined[-2]


@noun("walrus", args=[(0.7,), (3.7,)])
def walrus(x):
    y = x
    while (half := y * 0.5) > 0.2:
        y = half * math.cos(half)
    return (z := y + x) * z if (w := x - 1.0) < 0.0 else z * w if (z := x) else 1.0


@noun("del", args=[(0.7,)])
def deletions(x):
    values = [x, x * x, 2.0]
    table = {"a": x, "b": 3.0}
    y = x * 2.0
    z = y
    del y
    del values[0], table["a"]
    node = Node(x, 1.0)
    del node.left
    return sum(values) * z + len(table) * sum(table.values()) * node.value


class Scaled:
    def __init__(self, log, factor):
        self.log = log
        self.factor = factor

    def __enter__(self):
        self.log.append(1.0)
        return self.factor * 2.0

    def __exit__(self, kind, error, trace):
        self.log.append(self.factor)
        return False


@contextlib.contextmanager
def doubled(log, a):
    log.append(a)
    try:
        yield a * 2.0
    finally:
        log.append(a * a)


@noun("with", args=[(0.7,)])
def context_managers(x):
    log = []
    with Scaled(log, x) as f, doubled(log, f) as g:
        y = f * g
    with contextlib.nullcontext(x * y) as h:
        y = y + h
    return y * sum(log) * len(log)


@noun("complex scalars", args=[(0.7,), (-1.2,)], differences=True)
def complex_scalars(x):
    z = complex(x, 2.0) * (1.0 + 0.5j) + x**2 * 1j
    w = z * z.conjugate() / (3.0 - 1j) + cmath.exp(1j * x)
    return abs(w) ** 2 + w.real * z.imag


@noun("complex arrays", args=[(0.7,)], differences=True)
def complex_arrays(x):
    a = np.array([1.0 + 2.0j, 0.5j, x]) * x
    b = np.exp(1j * np.array([x, 2.0 * x, 0.0]))
    return np.sum(np.abs(a * b) ** 2) + (a @ b).real + np.sum(np.conj(a)).imag

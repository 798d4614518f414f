"""Nouns of the Python boundary: what Python gives is imported, changed in place, and given back with its identity."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import pullback as pb
from nouns import noun


@noun("list given by Python", args=lambda: [([0.7, 2.0, -1.0],), ([0.3],)])
def list_argument(values):
    total = 0.0
    for i, v in enumerate(values):
        total += v * v * (i + 1)
    return total


@noun("list written back", args=lambda: [([0.7, 2.0], 0.5)], argnums=(0, 1), interpreter=False)
def list_written(values, x):
    values.append(x * values[0])
    values[0] = x * 2.0
    return sum(v * v for v in values)


@noun("dict given by Python", args=lambda: [({"w": 0.7, "b": 2.0}, 3)])
def dict_argument(table, n):
    return table["w"] ** n + table["b"] * table["w"]


@noun("dict written back", args=lambda: [({1: 0.7, 5: 2.0}, 0.5)], argnums=(0, 1), interpreter=False)
def dict_written(table, x):
    table[1] = table[1] * x
    table[7] = x
    return sum(v * v * k for k, v in table.items())


@dataclass
class Weights:
    w: float
    b: float
    rows: tuple = (1.0, 2.0)


@noun("dataclass given by Python", args=lambda: [(Weights(0.7, 2.0), 1.5)], argnums=(0, 1), interpreter=False)
def dataclass_argument(weights, x):
    return math.tanh(weights.w * x + weights.b) * weights.rows[0] + weights.rows[1] * x


@noun("dataclass written back", args=lambda: [(Weights(0.7, 2.0), 1.5)], argnums=(0, 1), interpreter=False)
def dataclass_written(weights, x):
    weights.w = weights.w * x
    weights.b += weights.w
    return weights.w * weights.b


class Tree:
    def __init__(self, value, left=None, right=None):
        self.value = value
        self.left = left
        self.right = right


def given_tree():
    return [(Tree(0.7, Tree(2.0, None, Tree(0.3)), Tree(-1.0)), 0.5), (Tree(1.0), 0.5)]


def folded(tree, x):
    if tree is None:
        return x
    return tree.value * folded(tree.left, x) + math.sin(folded(tree.right, x))


@noun("tree given by Python", args=given_tree, argnums=(0, 1), interpreter=False)
def tree_argument(tree, x):
    return folded(tree, x)


@noun("tree written back", args=given_tree, argnums=(0, 1), interpreter=False)
def tree_written(tree, x):
    tree.value *= x
    tree.right = Tree(x, None, tree.left)
    return folded(tree, x)


def aliased():
    shared = [0.7, 2.0]
    weights = Weights(0.3, 1.0)
    return [(shared, shared, (weights, weights))]


@noun("identity and aliasing of arguments", args=aliased, argnums=(2,), interpreter=False)
def aliased_arguments(a, b, pair):
    a.append(pair[0].w)
    b[0] = b[2] * 2.0
    pair[1].w = pair[0].w * pair[0].b + a[0]
    same = 1.0 if a is b and pair[0] is pair[1] else 5.0
    return sum(a) * same * pair[0].w


@noun("object returned to Python", args=lambda: [(Weights(0.7, 2.0), 1.5)], argnums=(), interpreter=False)
def object_returned(weights, x):
    fresh = Weights(x, weights.w)
    weights.w = 9.0
    return weights, [fresh, fresh, None], {"x": x}


class Record(NamedTuple):
    a: float
    b: tuple


@noun("NamedTuple given by Python", args=lambda: [(Record(0.7, (2.0, 3)),)])
def named_tuple_argument(record):
    return record.a**2 * record.b[0] + record[1][1] * record.a


def callable_given():
    return [(Scale(0.7), 2.0)]


class Scale:
    def __init__(self, factor):
        self.factor = factor

    def __call__(self, x):
        return self.factor * x * x


@noun("callable object given by Python", args=callable_given, argnums=(0, 1), interpreter=False)
def callable_argument(scale, x):
    return scale(x) * scale.factor


@noun("closures returned to Python and called again later", args=[(0.7,)], argnums=(), interpreter=False)
def closure_returned(x):
    step = pb.jit(lambda a: lambda b: a * b + math.sin(a))(x)
    total = step(2.0) + step(3.0)
    return total + pb.grad(step)(1.5)


@noun("pb.pack", args=[(0.7,)], argnums=(), interpreter=False)
def packed(x):
    tree = Tree(x, Tree(2.0), Tree(x * x, None, Tree(0.5)))
    held = pb.pack(tree)
    total = pb.jit(folded)(held, 0.5) + pb.jit(folded)(held, 1.5)
    gradient = pb.grad(folded, argnums=1)(held, 0.5)
    return total + gradient

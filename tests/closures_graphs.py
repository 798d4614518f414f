"""Programs for J: gradients by trees and lists of objects, lists of functions of several kinds, Jacobians inside.

GRAPHS: function -> (arguments, argnums).  ORDERS: programs that dual numbers cannot run, compared with the SSA adjoint.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

import pullback as pb

Given = Callable[[], tuple[Any, ...]]
GRAPHS: dict[str, tuple[Callable[..., Any], Given, tuple[int, ...]]] = {}
ORDERS: dict[str, tuple[Callable[..., Any], Given, tuple[int, ...]]] = {}


def into(table: dict[str, Any], given: Given, argnums: tuple[int, ...] = (0,)) -> Callable[..., Any]:
    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        table[function.__name__] = (function, given, argnums)
        return function

    return register


class Node:
    def __init__(self, value, left=None, right=None):
        self.value = value
        self.left = left
        self.right = right


class Part:
    def __init__(self, weight, count):
        self.weight = weight
        self.count = count


class Layer:
    def __init__(self, w, b):
        self.w = w
        self.b = b


class Holder:
    def __init__(self, function):
        self.function = function


def array(*numbers):
    return np.array(numbers)


def tree():
    return (Node(1.2, Node(0.7), Node(-0.4, None, Node(2.0))),)


def parts():
    return ([Part(0.5, 2), Part(1.5, 1), Part(-0.7, 3)],)


def layers():
    return ([Layer(array(0.1, 0.2), array(0.3, -0.4)), Layer(array(0.5, 0.2), array(0.1, 0.6))], array(0.3, 0.7))


def number():
    return (0.7,)


def vector():
    return (array(0.3, -0.7, 1.1),)


def total(node):
    if node is None:
        return 0.0
    return node.value**3 + total(node.left) * node.value + total(node.right)


# ------------------------------------------------------------------------------------------------- trees and lists


@into(GRAPHS, tree)
def summed(node):
    return total(node)


@into(GRAPHS, tree)
def changed_tree(node):
    node.value = node.value * node.value
    node.left.value = node.left.value * node.value
    node.right = Node(node.value * 2.0, node.right)
    return total(node)


@into(GRAPHS, lambda: (tree()[0], Node(0.3)), (0, 1))
def two_trees(a, b):
    a.left.left = b
    return total(a) * total(b)


@into(GRAPHS, lambda: ((0.5, tree()[0]),))
def beside_a_number(pair):
    x, node = pair
    return total(node) * x * x


@into(GRAPHS, parts)
def a_list(given):
    result = 0.0
    for part in given:
        result = result * 0.5 + part.weight**3 * part.count
    return result


@into(GRAPHS, parts)
def changed_list(given):
    given[0], given[1] = given[1], given[0]
    given.append(Part(given[0].weight * given[1].weight, 2))
    given[1].weight *= 3.0
    result = 0.0
    for part in given:
        result = result * 0.5 + part.weight**3 * part.count
    return result


@into(GRAPHS, layers, (0, 1))
def a_network(given, x):
    for layer in given:
        x = np.tanh(layer.w * x + layer.b)
    return np.sum(x * x)


@into(GRAPHS, layers)
def arrays_rebound(given, x):
    given[0].w = given[1].b * given[0].w
    given[1].b = given[0].w * 2.0
    given[0], given[1] = given[1], given[0]
    return np.sum(given[0].w * given[1].b * given[0].b * x)


@into(GRAPHS, layers)
def arrays_written(given, x):
    given[0].w[0] = given[1].b[1] ** 2
    given[1].b[1] *= given[0].w[1]
    return np.sum(given[0].w * given[1].b * given[0].b * x)


def shared_nodes():
    leaf = Node(0.6)
    return (Node(1.1, leaf, Node(0.4, leaf, leaf)),)


@into(GRAPHS, shared_nodes)
def met_more_than_once(node):
    node.left.value *= node.right.left.value
    return total(node)


# ------------------------------------------------------------------------------------------- lists of several kinds


@into(GRAPHS, lambda: (0.7, 3))
def growing(x, n):
    functions = [lambda a: a * x]
    for i in range(n):
        if i % 2:
            functions.append(lambda a, k=i: a + k * x)
        else:
            functions.append(lambda a: math.exp(a * x * 0.1))
    y = x
    for function in functions:
        y = function(y)
    return y * functions[-1](1.0)


@into(GRAPHS, lambda: (0.7, 3))
def popped(x, n):
    functions = [lambda a: a * x, math.sin]
    functions.append(lambda a: a * a * x)
    first = functions.pop(0)
    functions[0] = first
    functions.insert(1, lambda a: math.cos(a * x) * x)
    return functions[0](functions[1](functions[2](x)))


@into(GRAPHS, lambda: (0.7, 3))
def numbers_and_pairs(x, n):
    values = [x * x]
    for i in range(n):
        values.append((x * i, x))
    result = 0.0
    for value in values:
        if isinstance(value, tuple):
            result += value[0] * value[1]
        else:
            result += value * x
    return result


@into(GRAPHS, lambda: (0.7, 3))
def functions_of_a_written_array(x, n):
    a = np.zeros(3)
    a[0] = x
    functions = [lambda v: v * a[0]]
    functions.append(lambda v: v * x + a[1])
    a[1] = x * x
    result = x
    for function in functions:
        result = function(result)
    a[0] = result * result
    return functions[0](result)


# ----------------------------------------------------------------------------------------- derivatives inside


@into(ORDERS, number)
def gradient_by_a_tree_inside(x):
    node = Node(x, Node(x * x), Node(2.0))
    found = pb.grad(total)(node)
    return found.value * found.left.value + found.right.value * x


@into(ORDERS, number)
def pullback_of_a_tree_called_twice(x):
    value, pull = pb.vjp(total, Node(x, Node(x * x)))
    first, second = pull(1.0)[0], pull(x)[0]
    return value * first.value + second.left.value * x


@into(ORDERS, number)
def pullback_of_recursion_over_objects(x):
    value, pull = pb.vjp(lambda y: total(Node(y, Node(y * y))), x)
    return value * pull(1.0)[0]


@into(ORDERS, vector)
def pullback_of_arrays_called_twice(v):
    def loss(layer):
        return np.sum(layer.w * layer.w * layer.b)

    value, pull = pb.vjp(loss, Layer(v, v * 2.0))
    first, second = pull(1.0)[0], pull(v[0])[0]
    return value + np.sum(first.w * second.b * v)


@into(ORDERS, number)
def pullback_of_an_object_that_is_made(x):
    value, pull = pb.vjp(lambda a: Node(a * a * x, Node(a)), x)
    (found,) = pull(Node(x, Node(1.0)))
    return found * value.value


@into(ORDERS, number)
def pullback_of_a_gradient(x):
    _, pull = pb.vjp(pb.grad(lambda a: a**4 * x), x)
    return x * pull(1.0)[0]


@into(ORDERS, number)
def jacobian_of_structures(x):
    found = pb.jacobian(lambda a, b: (a * b, {"s": math.sin(a), "q": a * a * b}), argnums=(0, 1))(x, x * x)
    return found[0][0] * found[1]["q"][1] + found[1]["s"][0]


@into(ORDERS, number)
def hessian_in_pairs(x):
    found = pb.hessian(lambda a, b: a * a * b * b * x, argnums=(0, 1))(x, 2.0 * x)
    return found[0][1] * found[1][0] + found[0][0] * x


@into(ORDERS, number)
def jacobian_by_a_dict(x):
    found = pb.jacfwd(lambda p: p["w"] * np.array([1.0, 2.0]) * p["b"])({"w": x, "b": x * x})
    return np.sum(found["w"] * found["b"])


@into(ORDERS, vector)
def jacobian_through_a_written_array(v):
    def scaled(a):
        b = a.copy()
        b[0] *= a[1]
        return b * a

    return np.sum(pb.jacrev(scaled)(v) ** 2)


@into(ORDERS, number)
def derivatives_of_numbers(x):
    return pb.hessian(lambda a: a**4 * x)(x) * pb.jacobian(lambda a: a * a)(x)


# ------------------------------------------------------------------------- derivatives called with names and defaults


def fixed(y, k=3.0, *more, z=2.0):
    return y**3 * k * k * z + sum(more) * y


@into(ORDERS, number)
def pullback_with_a_default(x):
    def g(y, k=x):
        return y * k * k

    out, pull = pb.vjp(g, 2.0)
    return out * x + pull(1.0)[0] * x


@into(ORDERS, number)
def gradient_with_names_and_defaults(x):
    def g(y, *, k=x):
        return y**3 * k * k

    return pb.grad(g)(x) * x + pb.grad(g)(y=x, k=2.0 * x)


@into(ORDERS, number)
def gradient_of_what_collects(x):
    return pb.grad(fixed)(x) * x + pb.grad(fixed)(x, z=x) * x + pb.grad(fixed)(x, x * x, 2.0 * x)


@into(ORDERS, number)
def hessian_with_a_default(x):
    def g(y, k=x):
        return y**3 * k * k

    return pb.hessian(g)(x, k=x * x) + pb.hessian(g)(x)

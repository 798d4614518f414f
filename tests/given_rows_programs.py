"""Derivatives, inside of a program, of functions that change arrays which objects and cells held before.

CASES: name -> (function, expected value and derivative by x); REFUSED: those that share memory without being the same.
"""

from __future__ import annotations

import numpy as np

import pullback as pb


class Held:
    def __init__(self, array):
        self.array = array


def one_cell(x, u):
    held = u

    def inner(z):
        held[0] = z
        return held[0] * held[2] * z

    held = u
    return pb.grad(inner)(x)


def one_cell_forward(x, u):
    held = u

    def inner(z):
        held[0] = z
        return held[0] * held[2] * z

    held = u
    return pb.jvp(inner, (x,), (1.0,))[1]


def cell_bound_again(x, u):
    held = u

    def inner(z):
        nonlocal held
        held[0] = z
        y = held[0] * held[2] * z
        held = held * 2.0
        return y

    total = pb.grad(inner)(x)
    return total + 0.0 * held[0]


def one_object(x, u):
    p = Held(u)

    def inner(z):
        p.array[0] = z
        return p.array[0] * p.array[2] * z

    return pb.grad(inner)(x)


def two_objects_of_one_array(x, u):
    p, q = Held(u), Held(u)

    def inner(z):
        p.array[0] = z
        return q.array[0] * p.array[2] * z

    return pb.grad(inner)(x)


def two_objects_of_one_array_that_change(x, u):
    p, q = Held(u), Held(u)

    def inner(z):
        p.array[0] = z
        y = q.array[0] * p.array[2] * z
        p.array = np.ones(3)
        q.array = np.zeros(3)
        return y

    return pb.grad(inner)(x)


def many_objects(x, u):
    held = [Held(u + k) for k in range(5)]

    def inner(z):
        total = 0.0
        for k in range(5):
            held[k].array[0] = z * k
            total += held[k].array[0] * held[k].array[2] * z
        return total

    return pb.grad(inner)(x)


def called(p, z):
    p.array[0] = z
    return p.array[0] * p.array[2] * z


def in_a_callee_that_recurses(x, u):
    p = Held(u)

    def inner(z, n):
        return called(p, z) if n == 0 else inner(z, n - 1)

    return pb.grad(inner)(x, 3)


def row_and_variable(x, u):
    p = Held(u)

    def inner(z):
        p.array[0] = z
        return u[0] * p.array[2] * z

    return pb.grad(inner)(x)


def two_cells(x, u):
    one = u
    other = u

    def inner(z):
        nonlocal one, other
        one[0] = z
        y = other[0] * one[2] * z
        one = np.ones(3)
        other = np.zeros(3)
        return y

    return pb.grad(inner)(x)


def row_and_a_view(x, u):
    p, q = Held(u), Held(u[0:2])

    def inner(z):
        p.array[0] = z
        return q.array[0] * p.array[2] * z

    return pb.grad(inner)(x)


# Each is z * 3 * z, and of five objects the sum over k of k * z * (3 + k) * z, differentiated once inside.
CASES = {
    function.__name__: (function, lambda x: 6.0 * x, 6.0)
    for function in (one_cell, one_cell_forward, cell_bound_again, one_object, two_objects_of_one_array,
                     two_objects_of_one_array_that_change, in_a_callee_that_recurses)
}  # fmt: skip
CASES["many_objects"] = (many_objects, lambda x: 120.0 * x, 120.0)
REFUSED = {function.__name__: function for function in (row_and_variable, two_cells, row_and_a_view)}

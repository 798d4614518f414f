"""Dicts and sets that Python gets, whose keys were made in compiled code: a key has its content before it is hashed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

import pullback as pb
from tuple_tree_programs import plain, tree

X = 0.75


@dataclass(frozen=True)
class Point:
    a: float
    b: float


class Numbered:
    def __init__(self, number):
        self.number = number

    def __hash__(self):
        return hash(self.number)

    def __eq__(self, other):
        return self.number == other.number


def of_run_time_length(x):
    found, path = {}, ()
    for k in range(3):
        path = path + (k * x,)
        found[path] = x
    return found, {path: 1.0}, {tuple([x * k for k in range(4)])}, [path], {(path, 1): path}


def starred(x):
    found, path = set(), ()
    for k in range(9):
        path = (*path, k)
        found.add(path)
    return found, frozenset(found), {frozenset([k for k in range(3)]): x}, {frozenset([path]): 1}


def nested(x):
    known = plain(1, x)
    return [known], {known: 1.0, plain(2, x): 2.0}, {tree(x): 3.0}, {known}, {(known, 1.0): [tree(x)]}


def objects(x):
    found = {(Point(x * k, 1.0), k): k * x for k in range(3)}
    points = set()
    for k in range(3):
        points.add(Point(x * k, 1.0))
    return found, points, {Numbered(k): x * k for k in range(3)}, {Point(x, 1.0): "a"}


@pytest.mark.parametrize("program", [of_run_time_length, starred, nested, objects], ids=lambda f: f.__name__)
def test_keys(program: Any) -> None:
    assert pb.jit(program)(X) == program(X)

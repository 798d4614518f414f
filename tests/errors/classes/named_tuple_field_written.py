"""Tuples never change."""

from typing import NamedTuple


class Point(NamedTuple):
    x: float


def f(x):
    point = Point(x)
    point.x = 1.0
    return point.x


ARGS = (2.0,)

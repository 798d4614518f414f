"""A frozen dataclass does not change."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Point:
    x: float


def f(x):
    point = Point(x)
    point.x = 2.0 * x
    return point.x


ARGS = (2.0,)

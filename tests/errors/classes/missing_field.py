"""A dataclass is made without one of its fields."""

from dataclasses import dataclass


@dataclass
class Point:
    x: float
    y: float


def f(x):
    return Point(x).x


ARGS = (2.0,)

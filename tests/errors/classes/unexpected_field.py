"""A dataclass is given a field that it does not have."""

from dataclasses import dataclass


@dataclass
class Point:
    width: float = 1.0


def f(x):
    return Point(widht=x).width


ARGS = (2.0,)

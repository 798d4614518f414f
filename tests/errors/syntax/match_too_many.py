"""A class pattern has as many positional parts as the class names."""

from dataclasses import dataclass


@dataclass
class Point:
    x: float
    y: float


def f(x):
    match Point(x, 2.0):
        case Point(a, b, c):
            return a * b * c
    return x


ARGS = (2.0,)

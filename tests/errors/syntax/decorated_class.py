"""A dataclass inside a function is a class inside a function."""

from dataclasses import dataclass


def f(x):
    @dataclass
    class Point:
        y: float

    return Point(x).y


ARGS = (2.0,)

"""asdict of a dataclass that holds objects."""

from dataclasses import asdict, dataclass


@dataclass
class Point:
    x: float


@dataclass
class Line:
    start: Point


def f(x):
    return asdict(Line(Point(x)))["start"]["x"]


ARGS = (2.0,)

"""A subclass of tuple."""

import collections

Point = collections.namedtuple("Point", "x y")


def f(p):
    return p.x * p.y


ARGS = (Point(1.0, 2.0),)

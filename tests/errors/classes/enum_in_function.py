"""A member of an enum in a function whose value only the run knows."""

from enum import Enum


def f(x):
    class Kind(Enum):
        SMALL = x
        LARGE = 2.0

    return Kind.LARGE.value


ARGS = (2.0,)

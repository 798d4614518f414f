"""A member that the enum does not have."""

from enum import Enum


class Color(Enum):
    RED = 1


def f(x):
    return x * Color.GREEN.value


ARGS = (2.0,)

"""Functions that programs of another file import."""

import math

RATE = 0.25


def softplus(x):
    """log(1 + exp(x))"""
    return math.log1p(math.exp(x))


def scaled(x, *, factor=1.0):
    """x * factor, squared"""
    return (x * factor) ** 2

"""A number of another library."""

from decimal import Decimal


def f(x):
    return x * x


ARGS = (Decimal("1.5"),)

"""A list as the default of a field of a dataclass in a function."""

from dataclasses import dataclass


def f(x):
    @dataclass
    class Model:
        rates: list = []

    return x


ARGS = (2.0,)

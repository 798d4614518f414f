"""Equal arguments of a cached function may have other derivatives, and what it does would be done for each."""

import functools


def f(x, y):
    asked = []

    @functools.cache
    def square(a):
        asked.append(a)
        return a * a

    return square(x) + square(y) + len(asked)


ARGS = (2.0, 2.0)
API = "grad"

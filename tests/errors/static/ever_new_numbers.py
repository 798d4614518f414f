"""A recursion that passes another number each time, where the number must be known."""

import numpy as np


def deeper(a, n):
    if np.sum(a) > 100.0:
        return np.sum(np.sum(a, axis=n % 2))
    return deeper(a * 1.5, n + 1)


def f(a):
    return deeper(a, 0)


ARGS = (np.ones((2, 3)),)

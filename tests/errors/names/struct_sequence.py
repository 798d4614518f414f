"""An object of a module."""

import sys


def f(x):
    return x * sys.float_info.max


ARGS = (2.0,)

"""A global array of the other byte order: arguments are copied, what is captured is not."""

import numpy as np

TABLE = np.zeros(2, ">f8")


def f(i):
    return TABLE[i]


ARGS = (0,)

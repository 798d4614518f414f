"""range() needs integers."""


def f(x):
    total = 0.0
    for i in range(x):
        total += 1.0
    return total


ARGS = (2.0,)

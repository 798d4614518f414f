"""zip() takes iterables."""


def f(x):
    total = x
    for a, b in zip(1, 2):
        total += a * b
    return total


ARGS = (2.0,)

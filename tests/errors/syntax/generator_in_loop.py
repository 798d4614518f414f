"""A generator made outside a loop would be used up in its first trip."""


def f(x):
    values = (x * i for i in range(3))
    total = 0.0
    for i in range(2):
        for v in values:
            total += v
    return total


ARGS = (2.0,)

"""range() takes ints."""


def f(x):
    total = x
    for i in range("3"):
        total += i
    return total


ARGS = (2.0,)

"""Generator expressions are not in the language yet."""


def f(x):
    return sum(x * i for i in range(3))


ARGS = (2.0,)

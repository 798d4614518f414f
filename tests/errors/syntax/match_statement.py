"""`match` is not in the language yet."""


def f(x, n):
    match n:
        case 0:
            return x
        case _:
            return x * x


ARGS = (2.0, 1)

"""`try` is not in the language yet."""


def f(x):
    try:
        return 1.0 / x
    except ZeroDivisionError:
        return 0.0


ARGS = (2.0,)

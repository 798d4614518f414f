"""An exception as a result."""


def f(x):
    try:
        return 1.0 / x
    except ZeroDivisionError as e:
        return e


ARGS = (2.0,)

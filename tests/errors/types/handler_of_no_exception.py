"""A handler takes exception classes."""


def f(x):
    try:
        return 1.0 / x
    except float:
        return 0.0


ARGS = (2.0,)

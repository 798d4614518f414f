"""A misspelt global."""

scale = 2.0


def f(x):
    return x * scael


ARGS = (2.0,)

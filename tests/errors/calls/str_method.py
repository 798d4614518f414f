"""A method of text."""


def f(x):
    return "a {}".format(x)


ARGS = (2.0,)

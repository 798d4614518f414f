"""Text cannot be computed."""


def f(x):
    label = f"x is {x}"
    return x


ARGS = (2.0,)

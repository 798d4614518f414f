"""A function has no text here."""


def f(x):
    return f"{abs}: {x}"


ARGS = (2.0,)

"""The keys of a dict are written out."""


def f(x):
    d = {"a": x}
    return {**d, "b": x}


ARGS = (2.0,)

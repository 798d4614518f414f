"""Dict comprehensions are not in the language yet."""


def f(x):
    d = {k: x for k in ("a", "b")}
    return d["a"]


ARGS = (2.0,)

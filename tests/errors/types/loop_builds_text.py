"""Text cannot be built up."""


def f(x):
    s = ""
    for _ in range(3):
        s = s + "a"
    return x


ARGS = (2.0,)

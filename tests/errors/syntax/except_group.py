"""Groups of exceptions are not in the language."""


def f(x):
    try:
        return x * x
    except* ValueError:
        x = 0.0
    return x


ARGS = (2.0,)

"""`**` takes a dict."""


def add(a, b):
    return a + b


def f(x):
    return add(**x)


ARGS = (2.0,)

"""A declared global that nothing sets."""


def f(x):
    global neverset
    return x * neverset


ARGS = (2.0,)

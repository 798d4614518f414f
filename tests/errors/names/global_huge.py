"""A global that is assigned holds an int of more than 64 bits."""

count = 2**70


def f(x):
    global count
    count = count + 1
    return x


ARGS = (2.0,)

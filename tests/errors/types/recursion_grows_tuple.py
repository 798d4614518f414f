"""A recursion that makes an ever longer tuple."""


def wrap(t, n):
    if n == 0:
        return t[0]
    return wrap((*t, 1.0), n - 1)


def f(x, n):
    return wrap((x,), n)


ARGS = (2.0, 3)

"""A recursion that makes an ever larger tuple."""


def wrap(t, n):
    if n == 0:
        return t
    return wrap((t, 1.0), n - 1)


def f(x, n):
    t = wrap(x, n)
    return x


ARGS = (2.0, 3)

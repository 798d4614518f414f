"""A loop that makes an ever larger tuple."""


def f(x, n):
    t = x
    for _ in range(n):
        t = (t, x)
    return x


ARGS = (2.0, 3)

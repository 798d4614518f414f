"""A loop that makes an ever deeper tuple, which is returned."""


def f(x, n):
    t = x
    for _ in range(n):
        t = (t, x)
    return t


ARGS = (2.0, 3)

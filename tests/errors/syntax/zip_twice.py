"""zip() is used up by the first that steps through it."""


def f(xs, ys):
    pairs = zip(xs, ys)
    total = 0.0
    for x, y in pairs:
        total += x * y
    for x, y in pairs:
        total += x * y
    return total


ARGS = ((1.0, 2.0), (3.0, 4.0))

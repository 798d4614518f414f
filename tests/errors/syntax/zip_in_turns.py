"""Python runs zipped generators in turns; compiled code runs all but one of them first."""


def squares(n):
    for i in range(n):
        print(i)
        yield i * i


def f(n):
    total = 0
    for a, b in zip(squares(n), squares(n)):
        total += a * b
    return total


ARGS = (3,)

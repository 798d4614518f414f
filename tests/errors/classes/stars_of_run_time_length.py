"""How many arguments a call has depends on run-time data."""


def total(first, *rest):
    for x in rest:
        first += x
    return first


def f(x, n):
    values = [x * i for i in range(n)]
    return total(*values, *values)


ARGS = (2.0, 3)

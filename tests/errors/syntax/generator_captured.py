"""A generator cannot be captured by a function, which may be called twice."""


def f(x):
    values = (x * i for i in range(3))

    def total():
        return sum(values)

    return total()


ARGS = (2.0,)

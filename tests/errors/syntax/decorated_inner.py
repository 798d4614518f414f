"""A decorator whose wrapper takes any arguments."""


def logged(g):
    def wrapper(*arguments):
        return g(*arguments)

    return wrapper


def f(x):
    @logged
    def g(y):
        return y * x

    return g(x)


ARGS = (2.0,)

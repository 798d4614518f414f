"""A function that calls a function made after it cannot leave compiled code."""


def f(x):
    def even(n):
        return True if n == 0 else odd(n - 1)

    def odd(n):
        return False if n == 0 else even(n - 1)

    return even


ARGS = (2.0,)

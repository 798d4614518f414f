"""A loop cannot assign a global."""

index = 0


def f(x):
    global index
    for index in range(3):
        x = x * x
    return x


ARGS = (2.0,)

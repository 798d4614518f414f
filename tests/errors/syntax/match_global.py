"""A pattern cannot bind a global."""

counter = 0.0


def f(x):
    global counter
    match x:
        case counter:
            return x * x


ARGS = (2.0,)

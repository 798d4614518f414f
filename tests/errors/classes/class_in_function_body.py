"""A `match` in the body of a class that a function makes."""


def f(x):
    class Model:
        match x:
            case 1.0:
                rate = 2.0
            case _:
                rate = 3.0

    return Model.rate * x


ARGS = (2.0,)

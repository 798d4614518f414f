"""__bool__ has to give a bool."""


class Model:
    def __init__(self, x):
        self.x = x

    def __bool__(self):
        return self.x


def f(x):
    return 1.0 if Model(x) else 2.0


ARGS = (2.0,)

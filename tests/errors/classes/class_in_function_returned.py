"""An object whose methods need variables of the call that made its class."""


def f(x):
    class Scaled:
        def __init__(self, value):
            self.value = value

        def total(self):
            return self.value * x

    return Scaled(x)


ARGS = (2.0,)

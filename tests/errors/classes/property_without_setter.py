"""A property that can only be read."""


class Model:
    def __init__(self, x):
        self.x = x

    @property
    def double(self):
        return 2.0 * self.x


def f(x):
    model = Model(x)
    model.double = x
    return model.x


ARGS = (2.0,)

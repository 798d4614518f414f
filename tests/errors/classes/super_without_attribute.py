"""No class above has the method."""


class Model:
    def value(self):
        return super().value()


def f(x):
    return Model().value() * x


ARGS = (2.0,)

"""An object that is called."""


class Scale:
    def __call__(self, x):
        return 2.0 * x


scale = Scale()


def f(x):
    return scale(x)


ARGS = (2.0,)

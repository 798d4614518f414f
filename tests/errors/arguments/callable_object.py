"""An object that can be called, as an argument."""


class Scale:
    def __call__(self, x):
        return 2.0 * x


def f(g):
    return g(1.0)


ARGS = (Scale(),)

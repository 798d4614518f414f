"""Objects without __lt__ have no order."""


class Model:
    def __init__(self, x):
        self.x = x


def f(x):
    return 1.0 if Model(x) < Model(1.0) else 2.0


ARGS = (2.0,)

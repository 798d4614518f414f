"""An object one of whose fields holds what compiled code does not take."""


class Model:
    def __init__(self):
        self.words = {"a", "b"}


def f(m):
    return len(m.words)


ARGS = (Model(),)

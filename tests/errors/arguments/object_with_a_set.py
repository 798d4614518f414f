"""An object one of whose fields holds what compiled code does not take."""


class Model:
    def __init__(self):
        self.words = {0.5, 1.5}


def f(m):
    return len(m.words)


ARGS = (Model(),)

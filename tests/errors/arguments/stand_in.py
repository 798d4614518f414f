"""An object that makes up its attributes."""


class Proxy:
    def __getattr__(self, name):
        return 1.0


def f(p):
    return p.x


ARGS = (Proxy(),)

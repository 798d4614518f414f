"""argnums past the last argument."""


def f(x):
    return x * x


ARGS = (2.0,)
API = "grad"
OPTIONS = {'argnums': 3}

"""argnums that is no int."""


def f(x):
    return x * x


ARGS = (2.0,)
API = "grad"
OPTIONS = {'argnums': 'x'}

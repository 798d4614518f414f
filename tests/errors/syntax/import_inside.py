"""A module that is loaded only when the line runs."""


def f(x):
    import no_such_module

    return no_such_module.scale * x


ARGS = (2.0,)

"""A dict whose keys are not text."""


def f(p):
    return p[0]


ARGS = ({0: 1.0},)

"""A dict whose keys are neither text nor numbers."""


def f(p):
    return len(p)


ARGS = ({b"a": 1.0},)

"""What a global holds after a call must be something that Python can have."""

steps = None


def f(x):
    global steps
    steps = range(3)
    return x * len(steps)


ARGS = (2.0,)

"""Lists and tuples do not mix in +."""


def f(x):
    xs = [x]
    xs.append(2.0)
    return (xs + (x,))[0]


ARGS = (1.0,)

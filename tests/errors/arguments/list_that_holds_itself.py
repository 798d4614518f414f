"""A container without an end."""


def f(items):
    return items[0]


LOOP = [1.0]
LOOP.append(LOOP)


ARGS = (LOOP,)

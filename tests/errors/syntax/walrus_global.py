"""`:=` in a comprehension cannot assign a global."""

last = 0.0


def f(x):
    global last
    return sum([last := x * i for i in range(3)])


ARGS = (2.0,)

"""A captured variable that is assigned again."""


def f(x):
    count = 0.0

    def step():
        nonlocal count
        count += x

    step()
    return count


ARGS = (2.0,)

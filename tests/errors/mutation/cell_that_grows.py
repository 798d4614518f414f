"""A captured variable that holds a longer tuple after every call."""


def f(x, n):
    kept = ()

    def keep():
        nonlocal kept
        kept = kept + (x,)

    for _ in range(n):
        keep()
    return x if kept else 0.0


ARGS = (2.0, 3)

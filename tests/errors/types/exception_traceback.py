"""What exceptions know of where they were raised."""


def f(x):
    try:
        return 1.0 / x
    except ZeroDivisionError as e:
        return 0.0 if e.__traceback__ is None else 1.0


ARGS = (2.0,)

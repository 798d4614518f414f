"""A class that is made inside."""


def f(x):
    Model = type("Model", (), {})  # noqa: N806
    return x if Model else 0.0


ARGS = (2.0,)

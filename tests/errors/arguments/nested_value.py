"""The message names the place inside an argument."""


def f(params):
    return params["w"][1] * 2.0


ARGS = ({"w": [1.0, b"x"]},)

"""Asynchronous iteration is not in the language."""


def f(x):
    values = (v async for v in x)
    return values


ARGS = ((2.0,),)

"""Coroutines are not in the language."""


async def f(x):
    return x * x


ARGS = (2.0,)

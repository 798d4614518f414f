import functools

import pullback as pb


@functools.partial(pb.custom_vjp, nondiff_argnums=(0,))
def apply(g, x):
    return g(x)


apply.defvjp(lambda g, x: (g(x), x), lambda g, x, c: (c * pb.grad(g)(x),))


def f(k):
    return apply(lambda x: k * x, 2.0)


API = "grad"
ARGS = (3.0,)

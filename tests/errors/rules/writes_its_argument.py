import numpy as np

import pullback as pb


@pb.custom_vjp
def shift(a):
    a[0] = 1.0
    return np.sum(a)


shift.defvjp(lambda a: (np.sum(a), a), lambda a, c: (c * np.ones(a.shape[0]),))


def f(a):
    return shift(a * 2.0)


API = "grad"
ARGS = (np.ones(3),)

import numpy as np

import pullback as pb


@pb.custom_jvp
def halved(a):
    return a * 0.5


@halved.defjvp
def halved_jvp(primals, tangents):
    return (primals[0] * 0.5).astype(np.float32), tangents[0] * 0.5


def f(a):
    return np.sum(halved(a))


API = "grad"
ARGS = (np.ones(3),)

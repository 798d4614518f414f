import numpy as np

import pullback as pb


@pb.custom_jvp
def halved(a):
    return a * 0.5


@halved.defjvp
def halved_jvp(primals, tangents):
    return halved(primals[0]), np.sum(tangents[0])


def f(a):
    return np.sum(halved(a))


API = "grad"
ARGS = (np.ones(3),)

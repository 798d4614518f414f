import numpy as np

import pullback as pb


@pb.custom_vjp
def total(a):
    return np.sum(a)


def forward(a):
    return np.sum(a), a


def backward(a, c):
    a[:] = c
    return (a,)


total.defvjp(forward, backward)


def f(a):
    return total(a * 2.0)


API = "grad"
ARGS = (np.ones(3),)

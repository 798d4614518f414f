"""Each part of the result would need a call of its own, and each call changes the list."""

import numpy as np

import pullback as pb


def step(x, seen):
    seen.append(1.0)
    return x * len(seen), np.sum(x)


def f(x, seen):
    return pb.jacobian(step)(x, seen)


ARGS = (np.ones(2), [1.0])

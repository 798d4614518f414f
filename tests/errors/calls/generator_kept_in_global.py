"""A generator in an object that a global holds: nobody could give it its new state."""

from dataclasses import dataclass

import numpy as np


@dataclass
class Walk:
    rng: object
    step: float


WALK = Walk(None, 1.0)


def f(seed):
    WALK.rng = np.random.default_rng(seed)
    return WALK.rng.random()


ARGS = (2,)

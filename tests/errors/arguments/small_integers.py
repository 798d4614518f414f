"""An array of bytes."""

import numpy as np


def f(image):
    return image[0]


ARGS = (np.zeros(2, np.uint8),)

"""Sliding windows are copied here, so the array must not change while they are in use."""

import numpy as np


def f(a):
    windows = np.lib.stride_tricks.sliding_window_view(a, 2)
    a[0] = 5.0
    return np.sum(windows)


ARGS = (np.arange(4.0),)

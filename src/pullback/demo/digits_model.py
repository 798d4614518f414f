"""A two-layer network for images of digits and its training, in plain NumPy.

Everything here is ordinary Python: it runs unchanged in CPython and compiled, where a whole epoch is one call.

    losses = pb.jit(train)(parameters, images, labels, order, batch, rate)       # `parameters` are changed in place

`parameters` are (w1, b1, w2, b2) of shapes (pixels, hidden), (hidden,), (hidden, classes), (classes,); `images` are one
row of pixels each, `labels` their classes as integers.
"""

import numpy as np

import pullback as pb


def scores(parameters, images):
    """One row of scores for each image; the largest is the guess."""
    w1, b1, w2, b2 = parameters
    return np.tanh(images @ w1 + b1) @ w2 + b2


def loss(parameters, images, labels):
    """Mean cross-entropy of the softmax of the scores."""
    s = scores(parameters, images)
    top = np.max(s, axis=1)
    normaliser = top + np.log(np.sum(np.exp(s - top[:, None]), axis=1))
    right = labels[:, None] == np.arange(s.shape[1])
    return np.mean(normaliser - np.sum(np.where(right, s, 0.0), axis=1))


def train(parameters, images, labels, order, batch, rate):
    """One epoch of gradient descent on minibatches, taken from `order`; the loss of each before its step.

    The parameters are updated in place. A last minibatch may be smaller than `batch`.
    """
    losses = np.zeros((len(order) + batch - 1) // batch)
    for k in range(len(losses)):
        rows = order[k * batch : (k + 1) * batch]
        value, slopes = pb.value_and_grad(loss)(parameters, images[rows], labels[rows])
        losses[k] = value
        for parameter, slope in zip(parameters, slopes, strict=True):
            parameter -= rate * slope
    return losses


def gradient_by_hand(parameters, images, labels):
    """Value and gradient of `loss` as one writes them without a compiler."""
    w1, b1, w2, b2 = parameters
    hidden = np.tanh(images @ w1 + b1)
    s = hidden @ w2 + b2
    s -= np.max(s, axis=1, keepdims=True)
    exponentials = np.exp(s)
    sums = np.sum(exponentials, axis=1)
    rows = np.arange(len(labels))
    value = np.mean(np.log(sums) - s[rows, labels])
    ds = exponentials / sums[:, None]
    ds[rows, labels] -= 1.0
    ds /= len(labels)
    dz = (ds @ w2.T) * (1.0 - hidden * hidden)
    return value, (images.T @ dz, np.sum(dz, axis=0), hidden.T @ ds, np.sum(ds, axis=0))

"""The recurrent networks, as a user writes them: plain Python and NumPy, which CPython runs unchanged.

pb.value_and_grad(lstm, argnums=(0, 1, 2, 3, 4))(wx, wh, b, wo, bo, symbols, following)
"""

from dataclasses import dataclass

import numpy as np


def sigmoid(x):
    """Between 0 and 1."""
    return 1 / (1 + np.exp(-x))


def cross_entropy(scores, labels):
    """Mean over rows of the negative logarithm of the softmax at the labels."""
    top = np.max(scores, axis=1)
    total = np.log(np.sum(np.exp(scores - top[:, None]), axis=1)) + top
    right = labels[:, None] == np.arange(scores.shape[1])
    return np.mean(total - np.sum(np.where(right, scores, 0), axis=1))


def rnn(wx, wh, b, wo, bo, symbols, following):
    """Cross-entropy of a character RNN; a row of `wx` for each symbol, states kept to be read out at once."""
    steps, batch = symbols.shape
    n = len(wh)
    h = np.zeros((batch, n), wh.dtype)
    states = np.empty((steps, batch, n), wh.dtype)
    for t in range(steps):
        h = np.tanh(wx[symbols[t]] + h @ wh + b)
        states[t] = h
    scores = states.reshape(steps * batch, n) @ wo + bo
    return cross_entropy(scores, following.reshape(steps * batch))


def lstm(wx, wh, b, wo, bo, symbols, following):
    """The same with an LSTM: gates in the order input, forget, candidate, output."""
    steps, batch = symbols.shape
    n = len(wh)
    h = np.zeros((batch, n), wh.dtype)
    c = np.zeros((batch, n), wh.dtype)
    states = np.empty((steps, batch, n), wh.dtype)
    for t in range(steps):
        gates = wx[symbols[t]] + h @ wh + b
        i, f, o = sigmoid(gates[:, :n]), sigmoid(gates[:, n : 2 * n]), sigmoid(gates[:, 3 * n :])
        c = f * c + i * np.tanh(gates[:, 2 * n : 3 * n])
        h = o * np.tanh(c)
        states[t] = h
    scores = states.reshape(steps * batch, n) @ wo + bo
    return cross_entropy(scores, following.reshape(steps * batch))


@dataclass
class Phrase:
    """A node of a parse tree: a word vector or two parts, and the label of the whole."""

    label: int
    word: "np.ndarray | None" = None
    left: "Phrase | None" = None
    right: "Phrase | None" = None


def encode(phrase, wl, bl, wi, bi, wo, bo):
    """State, memory and summed cross-entropy of a phrase: a TreeLSTM with a forget gate for each part."""
    n = len(wo)
    if phrase.left is None:
        gates = phrase.word @ wl + bl
        i, o, u = sigmoid(gates[:n]), sigmoid(gates[n : 2 * n]), np.tanh(gates[2 * n :])
        c = i * u
        loss = 0.0
    else:
        left, c_left, loss_left = encode(phrase.left, wl, bl, wi, bi, wo, bo)
        right, c_right, loss_right = encode(phrase.right, wl, bl, wi, bi, wo, bo)
        gates = np.concatenate((left, right)) @ wi + bi
        i, f, e = sigmoid(gates[:n]), sigmoid(gates[n : 2 * n]), sigmoid(gates[2 * n : 3 * n])
        o, u = sigmoid(gates[3 * n : 4 * n]), np.tanh(gates[4 * n :])
        c = i * u + f * c_left + e * c_right
        loss = loss_left + loss_right
    h = o * np.tanh(c)
    scores = h @ wo + bo
    top = np.max(scores)
    return h, c, loss + top + np.log(np.sum(np.exp(scores - top))) - scores[phrase.label]


def tree_lstm(wl, bl, wi, bi, wo, bo, tree):
    """Summed cross-entropy of the labels of all phrases of a tree."""
    return encode(tree, wl, bl, wi, bi, wo, bo)[2]

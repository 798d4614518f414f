"""The tree of the TreeLSTM for libraries that have no recursion: its nodes height after height.

levels().parts[0]          numbers of the left and the right parts of the nodes of height 1, which follow the words
"""

from dataclasses import dataclass

import numpy as np

import networks
from network_workloads import benchmark_tree

__all__ = ["Levels", "levels"]


@dataclass(frozen=True, slots=True)
class Levels:
    """Words first, then nodes by height; `labels` in that order."""

    words: np.ndarray
    labels: np.ndarray
    parts: list[tuple[np.ndarray, np.ndarray]]


def levels() -> Levels:
    """The tree of the benchmark."""
    by_height: dict[int, list[networks.Phrase]] = {}

    def height(phrase: networks.Phrase) -> int:
        found = 0 if phrase.left is None else 1 + max(height(phrase.left), height(phrase.right))
        by_height.setdefault(found, []).append(phrase)
        return found

    height(benchmark_tree())
    ordered = [phrase for _, phrases in sorted(by_height.items()) for phrase in phrases]
    number = {id(phrase): i for i, phrase in enumerate(ordered)}
    parts = [
        tuple(np.array([number[id(getattr(phrase, side))] for phrase in by_height[k]]) for side in ("left", "right"))
        for k in range(1, len(by_height))
    ]
    return Levels(
        np.array([phrase.word for phrase in by_height[0]]), np.array([phrase.label for phrase in ordered]), parts
    )

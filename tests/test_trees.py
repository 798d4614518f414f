"""Real parse trees (skipped where they are absent): a fold and a recursive network over trees of dataclass nodes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pullback as pb

FILE = Path(__file__).resolve().parents[2] / "shared" / "data" / "sst" / "array_trees.txt"
COUNT, WORDS, HIDDEN = 1101, 64, 4

pytestmark = pytest.mark.skipif(not FILE.exists(), reason="the trees are not here")


@dataclass
class Node:
    score: int
    word: int
    weight: float
    left: Node | None = None
    right: Node | None = None


def read_trees(count: int) -> list[Node]:
    """The first trees; per tree the file has a node count, scores, words, left and right children."""
    lines = FILE.read_text().split("\n")
    assert int(lines[0]) == COUNT
    return [built(*(list(map(int, lines[1 + 5 * k + i].split())) for i in range(1, 5)), 0) for k in range(count)]


def built(scores: list[int], words: list[int], left: list[int], right: list[int], at: int) -> Node:
    node = Node(scores[at], words[at] % WORDS if words[at] >= 0 else -1, 0.1 * scores[at] - 0.15)
    if left[at] >= 0:
        node.left = built(scores, words, left, right, left[at])
        node.right = built(scores, words, left, right, right[at])
    return node


def folded(node: Node | None, x: float) -> float:
    """A nonlinear fold: leaves by their weight, inner nodes by both children."""
    if node is None:
        return 0.5
    if node.left is None:
        return math.sin(node.weight * x + node.word)
    return math.tanh(folded(node.left, x) * x + folded(node.right, x) - node.weight)


def hidden(node: Node, p: Any) -> Any:
    """The state of a recursive network (Socher et al. 2013) at a node."""
    if node.left is None or node.right is None:
        return p["embedding"][node.word]
    return np.tanh(p["w"] @ hidden(node.left, p) + p["u"] @ hidden(node.right, p) + p["b"])


def loss(p: Any, tree: Node) -> Any:
    """Cross-entropy of the label at the root."""
    logits = p["out"] @ hidden(tree, p)
    return np.log(np.sum(np.exp(logits))) - logits[tree.score]


def parameters() -> dict[str, Any]:
    rng = np.random.default_rng(5)
    shapes = {"embedding": (WORDS, HIDDEN), "w": (HIDDEN, HIDDEN), "u": (HIDDEN, HIDDEN), "b": (HIDDEN,),
              "out": (5, HIDDEN)}  # fmt: skip
    return {name: rng.normal(0.0, 0.5, shape) for name, shape in shapes.items()}


def weights_of(node: Node | None) -> list[float]:
    return [] if node is None else [node.weight, *weights_of(node.left), *weights_of(node.right)]


def moved(node: Node | None, steps: list[float]) -> Node | None:
    """The tree with weights moved by `steps`, in the order of `weights_of`."""
    if node is None:
        return None
    weight = node.weight + steps.pop(0)
    return Node(node.score, node.word, weight, moved(node.left, steps), moved(node.right, steps))


def test_a_fold_and_its_gradients() -> None:
    trees = read_trees(25)
    for tree in trees:
        value, (by_tree, by_x) = pb.value_and_grad(folded, (0, 1))(tree, 0.7)
        assert value == pytest.approx(folded(tree, 0.7), rel=1e-13)
        h = 1e-6
        assert by_x == pytest.approx((folded(tree, 0.7 + h) - folded(tree, 0.7 - h)) / (2 * h), abs=1e-8)
        direction = [math.cos(3.0 * i) for i in range(len(weights_of(tree)))]
        along = [folded(moved(tree, [s * h * d for d in direction]), 0.7) for s in (1.0, -1.0)]
        slope = sum(g * d for g, d in zip(weights_of(by_tree), direction, strict=True))
        assert slope == pytest.approx((along[0] - along[1]) / (2 * h), abs=1e-8)
        assert isinstance(by_tree, Node) and by_tree.score == 0
    assert pb.hessian(folded, 1)(trees[0], 0.7) == pytest.approx(
        (pb.grad(folded, 1)(trees[0], 0.7 + 1e-5) - pb.grad(folded, 1)(trees[0], 0.7 - 1e-5)) / 2e-5, rel=1e-6
    )


def test_a_recursive_network() -> None:
    p = parameters()
    for tree in read_trees(6):
        value, gradient = pb.value_and_grad(loss)(p, tree)
        assert value == pytest.approx(loss(p, tree), rel=1e-12)
        direction = {name: np.cos(np.arange(a.size)).reshape(a.shape) for name, a in p.items()}
        h = 1e-6
        along = [loss({n: a + s * h * direction[n] for n, a in p.items()}, tree) for s in (1.0, -1.0)]
        slope = sum(float(np.sum(gradient[n] * direction[n])) for n in p)
        assert slope == pytest.approx((along[0] - along[1]) / (2 * h), rel=1e-6, abs=1e-8)


def test_one_compilation_for_all_trees() -> None:
    """After the first few shapes; the values are those of Python."""
    trees = read_trees(COUNT)
    p = parameters()
    fold, network = pb.jit(folded), pb.jit(loss)
    for tree in trees[:3]:
        fold(tree, 0.7)
        network(p, tree)
    known = len(fold.specializations), len(network.specializations)  # type: ignore[attr-defined]
    for k, tree in enumerate(trees):
        value = fold(tree, 0.7)
        if k % 20 == 0:
            assert value == pytest.approx(folded(tree, 0.7), rel=1e-12)
            assert network(p, tree) == pytest.approx(loss(p, tree), rel=1e-12)
    assert (len(fold.specializations), len(network.specializations)) == known  # type: ignore[attr-defined]

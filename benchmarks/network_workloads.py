"""The recurrent networks: the programs of `networks.py` beside C with the same OpenBLAS, which has gradients only."""

import sys
from functools import partial

import numpy as np

import networks
import pullback as pb
from build import SOURCES, load, one_thread_blas
from forms import BOTH, FLOAT, INT, POINTER, Form, Rules, Workload, address, jitted, made_like, symbol

sys.path.insert(0, str(SOURCES))
import nn_inputs

WORDS = 29


def _gradient(name: str, program: object, arguments: tuple, by_hand: object, count: int, rules: Rules) -> list[Form]:
    ours = pb.value_and_grad(jitted(program, rules), tuple(range(count)))
    return [Form(name, "gradient", lambda: ours(*arguments), by_hand, rules.build, rules.fastmath, tolerance=1e-4)]


def characters_forms(rules: Rules, name: str, program: object, weights: list[np.ndarray]) -> list[Form]:
    """20 sequences of 20 symbols out of 65, hidden 50, float32, by all five parameters."""
    rules = Rules(one_thread_blas(rules.build), rules.fastmath)
    run = symbol(load("nnc.c", rules.build), f"{name}_g", *(POINTER,) * 12, result=FLOAT)
    read, following = (np.ascontiguousarray(array, np.int64) for array in (nn_inputs.XI, nn_inputs.YI))
    made, into = made_like(*weights)
    given = (*map(address, (read, following, *weights)), *into)
    by_hand = lambda: (run(*given), made)  # noqa: E731
    return _gradient(name, program, (*weights, read, following), by_hand, len(weights), rules)


def tree_of(size: int, random: np.random.Generator) -> networks.Phrase:
    """A random binary tree with so many leaves."""
    label = int(random.integers(nn_inputs.TC))
    if size == 1:
        return networks.Phrase(label, random.standard_normal(nn_inputs.TX).astype(np.float32))
    left = int(random.integers(1, size))
    return networks.Phrase(label, None, tree_of(left, random), tree_of(size - left, random))


def benchmark_tree() -> networks.Phrase:
    """A tree of 29 words and 28 phrases of two parts."""
    return tree_of(WORDS, np.random.default_rng(58))


def in_order(tree: networks.Phrase) -> tuple[np.ndarray, ...]:
    """The tree as C takes it: parts before wholes; numbers of parts (-1 at leaves), words, labels."""
    nodes: list[tuple[int, int, np.ndarray, int]] = []

    def add(phrase: networks.Phrase) -> int:
        left, right = (-1, -1) if phrase.left is None else (add(phrase.left), add(phrase.right))
        word = np.zeros(nn_inputs.TX, np.float32) if phrase.word is None else phrase.word
        nodes.append((left, right, word, phrase.label))
        return len(nodes) - 1

    add(tree)
    left, right, words, labels = zip(*nodes, strict=True)
    return np.array(left, np.int32), np.array(right, np.int32), np.array(words), np.array(labels, np.int64)


def tree_forms(rules: Rules) -> list[Form]:
    """A tree of 29 words and 28 phrases of two parts, by all six parameters."""
    rules = Rules(one_thread_blas(rules.build), rules.fastmath)
    run = symbol(load("nnc.c", rules.build), "tree_g", INT, *(POINTER,) * 16, result=FLOAT)
    weights = nn_inputs.TP
    tree = benchmark_tree()
    arrays = in_order(tree)
    made, into = made_like(*weights)
    given = (len(arrays[0]), *map(address, (*arrays, *weights)), *into)
    by_hand = lambda: (run(*given), made, arrays)[:2]  # noqa: E731  (C reads the arrays: they have to live on)
    return _gradient("treelstm", networks.tree_lstm, (*weights, tree), by_hand, len(weights), rules)


NETWORK_WORKLOADS: dict[str, Workload] = {
    "rnn": Workload(partial(characters_forms, name="rnn", program=networks.rnn, weights=nn_inputs.RNN), BOTH),
    "lstm": Workload(partial(characters_forms, name="lstm", program=networks.lstm, weights=nn_inputs.LSTM), BOTH),
    "treelstm": Workload(tree_forms, BOTH),
}

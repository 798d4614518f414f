"""How many ops the programs of the benchmarks have after each stage, against `tests/node_counts.json`.

More ops are more time to compile, and mostly more to run: a change should be meant.  `--update-golden` writes the file
anew (in one process: without `-n`).
"""

import json
import re
from pathlib import Path

import numpy as np
import pytest

import pullback as pb
from benchmark_files import load

networks, programs = load("networks"), load("programs")
GOLDEN = Path(__file__).parent / "node_counts.json"
MATRIX, VECTOR, ONES = np.ones((4, 4)), np.arange(4.0), np.ones(4)
TABLE = np.array([[0, 1], [1, 0], [2, 1]])


def single(*shape):
    return np.ones(shape, np.float32)


def leaf(label):
    return networks.Phrase(label, single(3))


QUICK = {
    "logistic": (programs.logistic, (MATRIX, VECTOR, ONES), (0, 1)),
    "log_sum_exp": (programs.log_sum_exp, (VECTOR,), (0,)),
    "chain": (programs.chain, (VECTOR, ONES, VECTOR, ONES), (0, 1, 2, 3)),
    "cholesky": (programs.cholesky, (np.eye(4),), (0,)),
    "gauss_seidel": (programs.gauss_seidel, (MATRIX, MATRIX, 2, 0.9), (0, 3)),
}
SLOW = {
    "heat": (programs.heat, (MATRIX, MATRIX, 2, 0.1), (0, 3)),
    "heat_loops": (programs.heat_loops, (MATRIX, MATRIX, 2, 0.1), (0, 3)),
    "n_body": (programs.n_body, (MATRIX, MATRIX, ONES, MATRIX, 2, 0.1, 0.1), (0, 1, 2)),
    "hidden_markov": (programs.hidden_markov, (ONES, MATRIX, MATRIX, np.array([0, 1, 2])), (0, 1, 2)),
    "soft_dtw": (programs.soft_dtw, (VECTOR, ONES), (0, 1)),
    "network": (
        programs.network,
        (single(4, 3), single(3), single(3, 2), single(2), single(5, 4), np.array([0, 1, 1, 0, 1])),
        (0, 1, 2, 3),
    ),
    "rnn": (
        networks.rnn, (single(3, 4), single(4, 4), single(4), single(4, 3), single(3), TABLE, TABLE), (0, 1, 2, 3, 4)
    ),
    "lstm": (
        networks.lstm,
        (single(3, 16), single(4, 16), single(16), single(4, 3), single(3), TABLE, TABLE),
        (0, 1, 2, 3, 4),
    ),
    "tree_lstm": (
        networks.tree_lstm,
        (
            single(3, 12), single(12), single(8, 20), single(20), single(4, 5), single(5),
            networks.Phrase(0, None, leaf(1), leaf(2)),
        ),
        (0, 1, 2, 3, 4, 5),
    ),
}  # fmt: skip


def counted(function, arguments, argnums):
    """The number of ops after each stage: lines that define something or stand for an effect."""
    found = {}
    text = str(pb.explain(pb.value_and_grad(function, argnums))(*arguments))
    for title, body in re.findall(r"=+ \w+: ([\w ]+) =+\n(.*?)(?=\n=====|\Z)", text, re.DOTALL):
        lines = [line.strip() for line in body.splitlines()]
        words = ("def ", "yield", "return", "body ", "block", "then:", "else:", "cond", "layout", "box ", "table ", "#")
        found[title] = sum(bool(line) and not line.startswith(words) for line in lines)
    return found


CASES = [pytest.param(name, *case, id=name) for name, case in QUICK.items()]
CASES += [pytest.param(name, *case, id=name, marks=pytest.mark.slow) for name, case in SLOW.items()]


@pytest.mark.parametrize(("name", "function", "arguments", "argnums"), CASES)
def test_number_of_ops(name, function, arguments, argnums, update_golden):
    found = counted(function, arguments, argnums)
    golden = json.loads(GOLDEN.read_text()) if GOLDEN.exists() else {}
    if update_golden:
        golden[name] = found
        GOLDEN.write_text(json.dumps(golden, indent=1, sort_keys=True) + "\n")
        return
    assert found == golden[name]

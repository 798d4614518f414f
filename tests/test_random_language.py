"""Random programs of the whole language: CPython's values, exceptions and arguments left, and duals' derivatives.

`PULLBACK_SEED` chooses other programs than those of seed 0; the seeds are in the names of the tests.
"""

from __future__ import annotations

import os
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

import adapter
import oracle
import random_language
from language_minimise import kind, minimised
from language_scope import FEATURES
from random_language import Sample, checks_for, first_complaint, function_of, kept, kept_sample, pairs, sample

START = int(os.environ.get("PULLBACK_SEED", "0"))
QUICK, SLOW, BLOCK = 200, 2000, 10


def blocks(first: int, count: int) -> Any:
    starts = range(first, first + count, BLOCK)
    return pytest.mark.parametrize("start", [pytest.param(s, id=f"seeds {s} to {s + BLOCK - 1}") for s in starts])


def told(seed: int, *, thorough: bool) -> str:
    """Nothing, or the program of a seed with what is wrong."""
    made = sample(seed)
    found = first_complaint(made, checks_for(seed, thorough=thorough))
    return "" if found is None else f"seed {seed}: {found}\narguments {made.arguments}\n{made.source}"


@blocks(START, QUICK)
def test_programs(start: int) -> None:
    failures = [text for seed in range(start, start + BLOCK) if (text := told(seed, thorough=False))]
    assert not failures, "\n\n".join(failures)


@pytest.mark.slow
@blocks(START + 1_000_000, SLOW)
def test_many_programs(start: int) -> None:
    failures = [text for seed in range(start, start + BLOCK) if (text := told(seed, thorough=True))]
    assert not failures, "\n\n".join(failures)


def test_every_pair_of_features_meets_often_enough() -> None:
    found = pairs(range(START, START + 4000))
    rare = {pair: found[pair] for pair in combinations(sorted(FEATURES), 2) if found[pair] < 20}
    assert not rare


@pytest.mark.parametrize("path", kept(), ids=lambda path: path.stem)
def test_kept_program(path: Path) -> None:
    found = first_complaint(kept_sample(path), checks_for(0, thorough=True))
    assert found is None, f"{found}\n{path.read_text()}"


# --- the test itself ------------------------------------------------------------------------------------------------

SOUND = """import math
def program(x, u):
    u[0] = x * 3.0
    if x > 100.0:
        raise ValueError("large")
    return math.sin(x) * u[0]
"""


def of(source: str) -> Sample:
    import numpy as np

    arguments = (0.5, np.array([1.0, 2.0]))
    return Sample(0, source, function_of(source, "sound"), arguments, (0, 1), frozenset())


def test_a_sound_program_has_no_complaint() -> None:
    assert first_complaint(of(SOUND), checks_for(0, thorough=True)) is None


@pytest.mark.parametrize(
    ("wrong", "expected"),
    [
        (lambda run, f, given, engine: run(f, given, engine) * (1.0 + 1e-9), "wrong value in compiled"),
        (lambda run, f, given, engine: float(run(f, given, engine)), "wrong type in compiled"),
        (lambda run, f, given, engine: run(f, tuple(map(_copy, given)), engine), "wrong arguments left in compiled"),
        (lambda run, f, given, engine: 1 / 0, "wrong exception of value in compiled"),
    ],
)
def test_a_wrong_answer_is_seen(wrong: Any, expected: str, monkeypatch: Any) -> None:
    run = adapter.value
    monkeypatch.setattr(adapter, "value", lambda f, given, engine: wrong(run, f, given, engine))
    complaint = first_complaint(of(SOUND), [("value", "compiled")])
    assert complaint is not None and complaint.startswith(expected)


def _copy(value: Any) -> Any:
    return value.copy() if hasattr(value, "copy") else value


def test_a_wrong_derivative_is_seen(monkeypatch: Any) -> None:
    gradient = oracle.gradient
    monkeypatch.setattr(oracle, "gradient", lambda *given: [1.0000001 * g for g in gradient(*given)])
    complaint = first_complaint(of(SOUND), [("r", "compiled")])
    assert complaint is not None and complaint.startswith("wrong r in compiled")


def test_minimising_keeps_the_kind_of_failure() -> None:
    source = (
        "def program(x):\n    y = x\n    if x > 0:\n        for i in range(3):\n            y = bad(x)\n    return y\n"
    )
    ask = lambda text: "wrong value in compiled: 1" if "bad(" in text else None
    small, _ = minimised(source, "wrong value in compiled: 2", ask)
    assert small == "def program(x):\n    y = bad(x)\n    return y\n"
    assert kind("refusal of r in compiled: a") != kind("refusal of r in compiled: b")


def test_kept_programs_are_read_as_they_were_written(tmp_path: Path) -> None:
    import numpy as np

    path = tmp_path / "some.py"
    random_language.keep(path, "wrong value", SOUND, (0.5, np.array([1.0, 2.0])), (0, 1))
    made = kept_sample(path)
    assert made.argnums == (0, 1) and made.arguments[1].tolist() == [1.0, 2.0]
    assert made.function(0.5, np.array([1.0, 2.0])) == of(SOUND).function(0.5, np.array([1.0, 2.0]))

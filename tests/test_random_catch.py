"""Random programs about exceptions, as `test_random_programs` checks others."""

from __future__ import annotations

import random
import re
import warnings
from typing import Any

import numpy as np
import pytest

from random_catch import random_catch
from test_random_programs import Check

_FLOAT = re.compile(r"-?\d+\.\d+(e-?\d+)?")


class CatchCheck(Check):
    """Numbers in the text of an exception agree but for rounding.

    The line of an unset name does not count: CPython reports that of an instruction before.
    """

    def same_failure(self, actual: Any, engine: str) -> str | None:
        if actual[0] == "failure" and self.expected[0] == "failure":
            lines = engine == "compiled" and not issubclass(actual[1][0], NameError)
            found, wanted = (_rounded(outcome[1], lines) for outcome in (actual, self.expected))
            return None if found == wanted else f"{engine}: {actual!r} for {self.expected!r}"
        return super().same_failure(actual, engine)


def _rounded(failure: tuple[type, str, int], lines: bool) -> tuple[type, str, int]:
    text = _FLOAT.sub(lambda found: f"{float(found[0]):.8g}", failure[1])
    return failure[0], text, failure[2] if lines else 0


@pytest.fixture(autouse=True)
def quiet() -> Any:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield


def complaints(seed: int, *, thorough: bool) -> list[str]:
    """Everything wrong with the program of a seed."""
    sample = random_catch(seed)
    first, second = random.Random(seed).choice("rf"), random.Random(seed + 1).choice(["rr", "fr"])
    found: list[str | None] = []
    for position, arguments in enumerate(sample.arguments):
        check = CatchCheck(sample, arguments)
        found += [check.value("compiled"), check.derivative(first, "compiled")]
        if thorough or position == 0:
            found += [check.derivative(second, "compiled"), check.value("interpreter")]
        if thorough:
            found += [check.value("plain"), *(check.derivative(mode, "compiled") for mode in ("r", "f", "rr", "rf"))]
    return [text for text in found if text is not None]


def explain(seed: int, *, thorough: bool) -> str:
    """The program with its complaints, empty where there are none."""
    found = complaints(seed, thorough=thorough)
    sample = random_catch(seed)
    return "" if not found else "\n".join([f"seed {seed}, arguments {sample.arguments}", sample.source, *found])


@pytest.mark.parametrize("seed", range(24))
def test_random_catch(seed: int) -> None:
    problem = explain(seed, thorough=False)
    assert not problem, problem


@pytest.mark.slow
@pytest.mark.parametrize("block", range(20))
def test_many_random_catches(block: int) -> None:
    for seed in range(20_000 + 20 * block, 20_020 + 20 * block):
        problem = explain(seed, thorough=True)
        assert not problem, problem

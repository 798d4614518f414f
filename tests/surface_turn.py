"""The turn of tests that rotate: a new one each day, the same in all processes of a run."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from datetime import date
from typing import Any

import pytest

SEED = int(os.environ.get("PULLBACK_SURFACE_SEED", date.today().toordinal()))


def in_turn(values: Iterable[Any], share: int) -> list[Any]:
    """Parameters of a test: each of them has its turn every `share` days, and otherwise is slow."""
    return [
        pytest.param(value, id=_named(value), marks=() if (place + SEED) % share == 0 else pytest.mark.slow)
        for place, value in enumerate(values)
    ]


def pairs_in_turn(values: Iterable[Any], shares: Mapping[str, int]) -> list[Any]:
    """Pairs of a value and one of a few words (an engine, a mode), which says how many days make a turn.

    The days of a value are not the same for two words, so that each value has some of its pairs every day or two.
    """
    return [
        pytest.param(value, word, id=f"{_named(value)}-{word}",
                     marks=() if (place + later + SEED) % share == 0 else pytest.mark.slow)
        for place, value in enumerate(values)
        for later, (word, share) in enumerate(shares.items())
    ]  # fmt: skip


def _named(value: Any) -> str:
    return str(getattr(value, "__name__", value))

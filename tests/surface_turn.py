"""The turn of tests that rotate: a new one each day, the same in all processes of a run."""

from __future__ import annotations

import os
from collections.abc import Iterable
from datetime import date
from typing import Any

import pytest

SEED = int(os.environ.get("PULLBACK_SURFACE_SEED", date.today().toordinal()))


def in_turn(values: Iterable[Any], share: int) -> list[Any]:
    """Parameters of a test: each of them has its turn every `share` days, and otherwise is slow."""
    return [
        pytest.param(value, id=getattr(value, "__name__", str(value)),
                     marks=() if (place + SEED) % share == 0 else pytest.mark.slow)
        for place, value in enumerate(values)
    ]  # fmt: skip

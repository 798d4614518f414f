"""Reductions of arrays over all elements, in the accepted Python."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["FUNCTIONS"]


def mean(a: Any) -> Any:
    return np.sum(a) / a.size



FUNCTIONS: dict[str, Any] = {"numpy.mean": mean, "numpy.average": mean}

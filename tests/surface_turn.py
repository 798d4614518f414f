"""The turn of tests that rotate: a new one each day, the same in all processes of a run."""

from __future__ import annotations

import os
from datetime import date

SEED = int(os.environ.get("PULLBACK_SURFACE_SEED", date.today().toordinal()))

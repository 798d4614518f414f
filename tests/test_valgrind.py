"""Compiled code under valgrind: nothing is read or written outside of the memory it was given."""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parent / "valgrind_calls.py"
SECONDS = 1500  # some two minutes on an idle machine
# The first frame of an error that concerns us: code without a name, or what reads addresses for Python.
OURS = re.compile(r"at 0x\w+: (\?\?\?|\S+ \(cfield\.c|.*_ctypes)")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("valgrind") is None, reason="valgrind is not installed"),
    pytest.mark.skipif(platform.machine() != "x86_64", reason="the script compiles for x86-64"),
]


def errors(log: str) -> list[str]:
    """The memory errors of a log whose first frame is ours."""
    blocks = re.split(r"\n==\d+== \n", log)
    return [block for block in blocks if re.search(r"Invalid|Mismatched|Jump to", block) and OURS.search(block)]


def checked(tmp_path: Path, *arguments: str) -> tuple[str, list[str]]:
    """What the script prints under valgrind, and the errors; it has run without before, so that the cache is filled."""
    log = tmp_path / "valgrind.log"
    settings = {"PULLBACK_CACHE_DIR": str(tmp_path / "cache"), "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    command = [sys.executable, str(SCRIPT), *arguments]
    valgrind = ["valgrind", "--undef-value-errors=no", "--error-limit=no", f"--log-file={log}"]
    subprocess.run(command, env=os.environ | settings, check=True, capture_output=True, timeout=SECONDS)
    settings["PYTHONMALLOC"] = "malloc"
    run = subprocess.run(
        valgrind + command, env=os.environ | settings, check=True, capture_output=True, text=True, timeout=SECONDS
    )
    return run.stdout, errors(log.read_text())


def test_hostile_arrays_are_handled_within_bounds(tmp_path: Path) -> None:
    printed, found = checked(tmp_path)
    assert printed.splitlines()[-1] == "done 0"  # all calls were made and all memory given back
    assert not found, "\n\n".join(found)


def test_a_read_outside_of_an_array_is_found(tmp_path: Path) -> None:
    _, found = checked(tmp_path, "outside")
    assert any("Invalid read of size 8" in error and "after a block of size 8,000" in error for error in found)

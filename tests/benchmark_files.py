"""Modules of `benchmarks/` by their file, without its names on the path: some of them are names of helpers here too."""

import importlib.util
import sys
from pathlib import Path

FOLDER = Path(__file__).parent.parent / "benchmarks"


def load(name):
    """The module of benchmarks/<name>.py."""
    known = f"benchmarks_{name}"
    if known not in sys.modules:
        spec = importlib.util.spec_from_file_location(known, FOLDER / f"{name}.py")
        sys.modules[known] = module = importlib.util.module_from_spec(spec)  # dataclasses look there
        spec.loader.exec_module(module)
    return sys.modules[known]

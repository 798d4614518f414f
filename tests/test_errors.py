"""Golden error messages: each `errors/<topic>/<case>.py` is a program that must be refused, `<case>.err` what is said.

    def f(x):                       CompileError: ...
        with open("file"): ...        --> with_statement.py:5:5 in f
    ARGS = (2.0,)                   ...

`pytest tests/test_errors.py --update-golden` writes the `.err` files; read each by eye before it is committed.
"""

from __future__ import annotations

import importlib.util
import re
import traceback
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import pullback as pb

FOLDER = Path(__file__).parent / "errors"
CASES = sorted(FOLDER.glob("*/*.py"))


def load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"error_case_{path.parent.name}_{path.stem}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run(module: ModuleType) -> Any:
    """A case has its own `call()`, or `f` with ARGS, and by choice API (default "jit") and OPTIONS."""
    if hasattr(module, "call"):
        return module.call()
    api = getattr(pb, getattr(module, "API", "jit"))
    return api(module.f, **getattr(module, "OPTIONS", {}))(*module.ARGS)


def refusal(path: Path) -> str:
    """The kind and the whole text of the error, without folders and addresses."""
    module = load(path)
    try:
        with np.errstate(all="ignore"):
            result = run(module)
    except (pb.CompileError, TypeError, ValueError, OverflowError) as error:
        text = f"{type(error).__name__}: {error}\n{place_of(error, path)}"
    else:
        pytest.fail(f"{path.name} was accepted and gave {result!r}")
    text = re.sub(r"(?:/[\w.@+-]+)+/([\w.-]+\.py)", r"\1", text)
    return re.sub(r"0x[0-9a-f]{4,}", "0x...", text)


def place_of(error: BaseException, path: Path) -> str:
    """The line of the case at which compiled code raised the error; empty for errors that were raised before it ran."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    return f"  at {path.name}:{last.lineno}: {last.line}\n" if last.filename == str(path) else ""


@pytest.mark.parametrize("path", CASES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_golden_error(path: Path, update_golden: bool) -> None:
    actual = refusal(path)
    golden = path.with_suffix(".err")
    if update_golden:
        golden.write_text(actual)
    assert golden.exists(), f"no {golden.name}; the message is\n{actual}"
    assert actual == golden.read_text()


def test_there_are_enough_cases() -> None:
    assert len(CASES) >= 50
    assert not [path for path in FOLDER.glob("*/*.err") if not path.with_suffix(".py").exists()]


@pytest.mark.parametrize("path", CASES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_compile_errors_name_line_and_caret(path: Path) -> None:
    module = load(path)
    try:
        with np.errstate(all="ignore"):
            run(module)
    except pb.CompileError as error:
        if path.parent.name == "source":  # there is no line to show
            return
        text = str(error)
        assert re.search(r"-->.*:\d+:\d+", text), text
        assert "^" in text, text
    except (TypeError, ValueError, OverflowError):
        return

"""Makes the helpers of the tests importable, and adds `--update-golden`."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import surface_turn  # noqa: E402 (found only from here on)


def pytest_report_header() -> str:
    return f"turn of the tests that rotate: PULLBACK_SURFACE_SEED={surface_turn.SEED}"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="write the golden files anew; read each by eye")


# Files whose cases take long: under `make test` only these tests of them, on these engines, run.
SAMPLED = {"test_mutation.py": ("test_value_and_arguments", "test_gradient"), "test_ad_mutation.py": ()}
QUICK = ("compiled", "interpreter")


def is_sampled_out(item: pytest.Item) -> bool:
    """Left to `make test-all`."""
    file, _, rest = item.nodeid.removeprefix("tests/").partition("::")
    if file not in SAMPLED:
        return False
    return not (rest.startswith(SAMPLED[file]) and any(engine in rest for engine in QUICK)) if SAMPLED[file] else True


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the cases that are sampled out as slow."""
    for item in items:
        if is_sampled_out(item):
            item.add_marker(pytest.mark.slow)


def pytest_collection_finish() -> None:
    """Tens of thousands of cases never become garbage: collections during tests need not look at them."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    """What LLVM writes about code of ours (a loop that it could not vectorise as told) is a failure."""
    report = (yield).get_result()  # type: ignore[attr-defined]
    said = [text for name, text in report.sections if "stderr" in name and "<unknown>:0:0" in text]
    if report.when == "call" and report.passed and said:
        report.outcome, report.longrepr = "failed", f"LLVM wrote to the terminal: {said[0][:300]}"


@pytest.fixture
def update_golden(request: pytest.FixtureRequest) -> bool:
    return bool(request.config.getoption("--update-golden"))

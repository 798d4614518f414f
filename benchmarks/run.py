"""Run the workloads against hand-written C, interleaved in one process, after checking that the results agree.

    python benchmarks/run.py                      all of them
    python benchmarks/run.py --only lorenz garch  some
    python benchmarks/run.py --rounds 50

Prints a table (median time of one unit of work on each side, median ratio with its quartiles) and writes the same as
JSON into benchmarks/results/. Exit status 1 if any result differed or any workload failed.
"""

import argparse
import gc
import json
import math
import platform
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

import numpy as np

import pullback as pb
from build import STRICT, BuildError, compiler_version
from workloads import WORKLOADS, Form, sincos

RESULTS = Path(__file__).resolve().parent / "results"
HEADING = f"{'workload':10} {'form':9} {'compiled':>11} {'C':>11} {'ratio':>7}  {'quartiles':15} {'first call':>10}"
TOLERANCE = 1e-10
BATCH_SECONDS = 0.002


def main() -> int:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=[*WORKLOADS, "call"], metavar="NAME", help="workloads to run")
    parser.add_argument("--rounds", type=int, default=41, help="interleaved rounds for each form (default 41)")
    options = parser.parse_args()
    chosen = options.only or [*WORKLOADS, "call"]
    print(HEADING)
    try:
        rows = [row for name in chosen if name != "call" for row in measure_workload(name, options.rounds)]
    except BuildError as error:
        print(error, file=sys.stderr)
        return 2
    calls = call_times() if "call" in chosen else []
    write_results(rows, calls)
    return int(any("failed" in row for row in (*rows, *calls)))


def measure_workload(name: str, rounds: int) -> list[dict]:
    """Rows of one workload; a failure is a row too, so that the others are still measured."""
    rows = []
    try:
        forms = WORKLOADS[name]()
    except BuildError:
        raise
    except Exception as error:
        return [print_row({"workload": name, "kind": "", "failed": f"{type(error).__name__}: {error}"})]
    for form in forms:
        try:
            row = measure(form, rounds)
        except Exception as error:
            row = {"workload": name, "kind": form.kind, "failed": f"{type(error).__name__}: {error}"}
        rows.append(print_row(row))
    return rows


def measure(form: Form, rounds: int) -> dict:
    """Check that both sides agree, then time them in turn."""
    began = time.perf_counter()
    result = form.ours()
    first_call = time.perf_counter() - began
    difference = disagreement(flat(result), flat(form.by_hand()))
    if not difference <= TOLERANCE:
        raise AssertionError(f"results differ by {difference:.2e}, more than {TOLERANCE:.0e}")
    ours, by_hand = interleaved(form.ours, form.by_hand, rounds)
    low, middle, high = np.percentile(ours / by_hand, [25, 50, 75])
    return {
        "workload": form.workload,
        "kind": form.kind,
        "ours_seconds": float(np.median(ours)) / form.inner,
        "by_hand_seconds": float(np.median(by_hand)) / form.inner,
        "ratio": float(middle),
        "ratio_quartiles": [float(low), float(high)],
        "difference": difference,
        "first_call_seconds": first_call,
        "rounds": rounds,
    }


def interleaved(a: Callable[[], object], b: Callable[[], object], rounds: int) -> tuple[np.ndarray, np.ndarray]:
    """Seconds of one call of either, `rounds` times in turn, so that both see the same state of the machine."""
    a_count, b_count = batch_size(a), batch_size(b)
    times = np.empty((rounds, 2))
    collecting = gc.isenabled()
    gc.disable()
    try:
        for round_times in times:
            round_times[:] = seconds(a, a_count), seconds(b, b_count)
    finally:
        if collecting:
            gc.enable()
    return times[:, 0], times[:, 1]


def batch_size(call: Callable[[], object]) -> int:
    """How many calls fill a batch."""
    call()
    return max(1, round(BATCH_SECONDS / max(seconds(call, 3), 1e-9)))


def seconds(call: Callable[[], object], count: int) -> float:
    """Mean time of one call in a batch of `count`."""
    repeats = range(count)
    began = time.perf_counter()
    for _ in repeats:
        call()
    return (time.perf_counter() - began) / count


def flat(result: object) -> np.ndarray:
    """All numbers of a result in order."""
    if isinstance(result, tuple):
        return np.concatenate([flat(part) for part in result])
    return np.array(result, dtype=np.float64).ravel()


def disagreement(ours: np.ndarray, by_hand: np.ndarray) -> float:
    """Largest difference relative to the largest number of the result; inf where shapes differ or a number is nan."""
    if ours.shape != by_hand.shape or not np.all(np.isfinite(ours)):
        return math.inf
    return float(np.max(np.abs(ours - by_hand) / np.maximum(np.abs(by_hand), 1e-300)))


def call_times() -> list[dict]:
    """Nanoseconds of one call from Python, the loop around it taken off."""
    named = {
        "call of math.sqrt(float)": lambda: math.sqrt,
        "call of plain Python sin(cos(float))": lambda: sincos,
        "call of compiled sin(cos(float))": lambda: pb.jit(sincos),
        "call of its compiled gradient": lambda: pb.grad(sincos),
    }
    rows = []
    for name, make in named.items():
        try:
            row = {"call": name, "nanoseconds": call_nanoseconds(make())}
            print(f"{name:44} {row['nanoseconds']:9.1f} ns", flush=True)
        except Exception as error:
            row = {"call": name, "failed": f"{type(error).__name__}: {error}"}
            print(f"{name:44} {row['failed']}", flush=True)
        rows.append(row)
    return rows


def call_nanoseconds(function: Callable[[float], float], count: int = 100_000) -> float:
    """Best of nine batches, since whatever else runs only adds."""
    function(0.7)

    def batch(calls: bool) -> float:
        repeats = range(count)
        began = time.perf_counter()
        if calls:
            for _ in repeats:
                function(0.7)
        else:
            for _ in repeats:
                pass
        return time.perf_counter() - began

    return (min(batch(True) for _ in range(9)) - min(batch(False) for _ in range(9))) / count * 1e9


def print_row(row: dict) -> dict:
    """Print one row of the table as soon as it is known."""
    head = f"{row['workload']:10} {row['kind']:9}"
    if "failed" in row:
        print(f"{head} {row['failed']}", flush=True)
        return row
    low, high = row["ratio_quartiles"]
    ours, by_hand = duration(row["ours_seconds"]), duration(row["by_hand_seconds"])
    spread = f"{low:.2f} to {high:.2f}"
    first = f"{row['first_call_seconds'] * 1e3:.0f} ms"
    print(f"{head} {ours:>11} {by_hand:>11} {row['ratio']:7.2f}  {spread:15} {first:>10}", flush=True)
    return row


def duration(value: float) -> str:
    """A time with its unit."""
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if value >= scale:
            return f"{value / scale:.3g} {unit}"
    return f"{value / 1e-9:.3g} ns"


def write_results(rows: list[dict], calls: list[dict]) -> None:
    """One JSON file per run."""
    now = datetime.now(UTC)
    record = {
        "when": now.isoformat(timespec="seconds"),
        "machine": {"processor": processor(), "system": platform.platform(), "python": platform.python_version()},
        "versions": {name: version(name) for name in ("pullback", "numpy", "scipy", "llvmlite")},
        "c": {"compiler": compiler_version(), "flags": STRICT},
        "rows": rows,
        "calls": calls,
    }
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{now:%Y%m%d-%H%M%S}.json"
    path.write_text(json.dumps(record, indent=1) + "\n")
    print(f"wrote {path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path}")


def processor() -> str:
    """The processor's name, where the system tells it."""
    information = Path("/proc/cpuinfo")
    lines = information.read_text().splitlines() if information.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()


if __name__ == "__main__":
    sys.exit(main())

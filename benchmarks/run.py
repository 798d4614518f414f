"""Run the workloads against hand-written C, interleaved in one process, after checking that the results agree.

    python benchmarks/run.py                      all of them
    python benchmarks/run.py --only lorenz garch  some
    python benchmarks/run.py --rounds 50
    python benchmarks/run.py --fast               all of them with `fastmath=True` against C with -ffast-math

Prints a table (the rules of either side, median time of one unit of work, median ratio with its quartiles, ratio of the
best times, memory and elementwise loops of one call) and writes the same as JSON into benchmarks/results/. Exit status
1 if any result differed or any workload failed.
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
from array_workloads import ARRAY_WORKLOADS
from build import BUILDS, FAST, Build, BuildError, compiler_version
from forms import Form, Rules
from structure_workloads import STRUCTURE_WORKLOADS
from workloads import NUMBER_WORKLOADS, sincos

RESULTS = Path(__file__).resolve().parent / "results"
WORKLOADS = NUMBER_WORKLOADS | ARRAY_WORKLOADS | STRUCTURE_WORKLOADS
HEADING = (
    f"{'workload':10} {'form':9} {'rules':22} {'compiled':>10} {'C':>10} {'ratio':>6} {'best':>6}  {'quartiles':14} "
    f"{'first call':>10} {'peak':>8} {'kernels':>7}"
)
BATCH_SECONDS = 0.002


def main() -> int:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=[*WORKLOADS, "call"], metavar="NAME", help="workloads to run")
    parser.add_argument("--rounds", type=int, default=41, help="interleaved rounds for each form (default 41)")
    parser.add_argument("--fast", action="store_true", help="fastmath on our side and -ffast-math on the side of C")
    options = parser.parse_args()
    chosen = options.only or [*WORKLOADS, "call"]
    try:
        print_legend()
        asked = (Rules(FAST, fastmath=True),) if options.fast else None
        todo = [(name, rules) for name in chosen if name != "call" for rules in asked or WORKLOADS[name].rules]
        rows = [row for name, rules in todo for row in measure_workload(name, rules, options.rounds)]
    except BuildError as error:
        print(error, file=sys.stderr)
        return 2
    calls = call_times() if "call" in chosen else []
    write_results(rows, calls)
    return int(any("failed" in row for row in (*rows, *calls)))


def print_legend() -> None:
    """What the column `rules` says: ours (exact, or fastmath=True), then the build of C."""
    for build in BUILDS.values():
        print(f"C {build.name}: {' '.join(build.flags)}")
    print(f"C by {compiler_version()}; +BLAS: with the OpenBLAS of SciPy, one thread\n\n{HEADING}")


def measure_workload(name: str, rules: Rules, rounds: int) -> list[dict]:
    """Rows of one workload; a failure is a row too, so that the others are still measured."""
    rows = []
    try:
        forms = WORKLOADS[name].make(rules)
    except BuildError:
        raise
    except Exception as error:
        failed = {"workload": name, "kind": "", "failed": in_one_line(error)}
        return [print_row(failed | sides(rules.build, rules.fastmath))]
    for form in forms:
        try:
            row = measure(form, rounds)
        except Exception as error:
            row = {"workload": name, "kind": form.kind, "failed": in_one_line(error)}
        rows.append(print_row(row | sides(form.build, form.fastmath)))
    return rows


def in_one_line(error: Exception) -> str:
    """The kind of an error and the first line of what it says."""
    return f"{type(error).__name__}: {str(error).partition(chr(10))[0]}"


def sides(build: Build, fastmath: bool) -> dict:
    """Under which rules a row was measured."""
    return {"fastmath": fastmath, "c_build": build.name, "c_flags": build.flags, "c_link": build.link}


def measure(form: Form, rounds: int) -> dict:
    """Check that both sides agree, then time them in turn."""
    began = time.perf_counter()
    result = form.ours()
    first_call = time.perf_counter() - began
    difference = disagreement(parts(result), parts(form.by_hand()))
    if not difference <= form.tolerance:
        raise AssertionError(f"results differ by {difference:.2e}, more than {form.tolerance:.0e}")
    memory = memory_of(form.ours)
    ours, by_hand = interleaved(form.ours, form.by_hand, rounds)
    low, middle, high = np.percentile(ours / by_hand, [25, 50, 75])
    return {
        "workload": form.workload,
        "kind": form.kind,
        "ours_seconds": float(np.median(ours)) / form.inner,
        "by_hand_seconds": float(np.median(by_hand)) / form.inner,
        "ratio": float(middle),
        "ratio_quartiles": [float(low), float(high)],
        "ratio_of_best": float(np.min(ours) / np.min(by_hand)),
        "difference": difference,
        "first_call_seconds": first_call,
        "rounds": rounds,
        **memory,
    }


def memory_of(call: Callable[[], object]) -> dict:
    """What one call allocates, results included; the peak counts from the memory in use before it."""
    before = pb.stats(reset=True)
    result = call()
    after = pb.stats()
    del result
    return {
        "bytes_allocated": after.bytes_allocated,
        "allocations": after.allocations,
        "peak_bytes": after.peak_bytes - before.live_bytes,
        "kernels": after.kernels,
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


def parts(result: object) -> list[np.ndarray]:
    """The numbers and arrays of a result in order."""
    if isinstance(result, tuple):
        return [part for item in result for part in parts(item)]
    return [np.array(result, dtype=np.float64)]


def disagreement(ours: list[np.ndarray], by_hand: list[np.ndarray]) -> float:
    """Largest difference in any array, relative to the largest number in it; inf where shapes differ or one is nan."""
    if len(ours) != len(by_hand):
        return math.inf
    worst = 0.0
    for mine, theirs in zip(ours, by_hand, strict=True):
        if mine.size != theirs.size or not np.all(np.isfinite(mine)):
            return math.inf
        scale = max(float(np.max(np.abs(theirs))), 1e-300)
        worst = max(worst, float(np.max(np.abs(mine.ravel() - theirs.ravel()))) / scale)
    return worst


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
    rules = f"{'fastmath' if row['fastmath'] else 'exact'} / {row['c_build']}"
    head = f"{row['workload']:10} {row['kind']:9} {rules:22}"
    if "failed" in row:
        print(f"{head} {row['failed']}", flush=True)
        return row
    low, high = row["ratio_quartiles"]
    ours, by_hand = duration(row["ours_seconds"]), duration(row["by_hand_seconds"])
    spread = f"{low:.2f} to {high:.2f}"
    first = f"{row['first_call_seconds'] * 1e3:.0f} ms"
    times = f"{ours:>10} {by_hand:>10} {row['ratio']:6.2f} {row['ratio_of_best']:6.2f}  {spread:14} {first:>10}"
    print(f"{head} {times} {size(row['peak_bytes']):>8} {row['kernels']:7}", flush=True)
    return row


def size(count: int) -> str:
    """A number of bytes with its unit."""
    for unit, scale in (("MB", 1e6), ("kB", 1e3)):
        if count >= scale:
            return f"{count / scale:.3g} {unit}"
    return f"{count} B"


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
        "c": {"compiler": compiler_version()},
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

"""Run the workloads against hand-written C, and other libraries if asked, interleaved in one process.

    python benchmarks/run.py                      all of them against C
    python benchmarks/run.py --only lorenz garch  some
    python benchmarks/run.py --opponents          also JAX, PyTorch and Numba, where they are installed (or name some)
    python benchmarks/run.py --rounds 50
    python benchmarks/run.py --fast               all of them with `fastmath=True` against C with -ffast-math
    python benchmarks/run.py --growth --first     also growth with the number of trips, and first calls of new processes

Results are compared before they are timed.  Prints a table (the rules of either side, median time of one unit of work,
median ratio with its quartiles, ratio of the best times, memory and elementwise loops of one call) and how the run
stands against the bars; writes the same as JSON and pictures into benchmarks/results/ (`compare.py` sets two runs side
by side).  Exit status 1 if any result of ours differed or any workload failed.
"""

import argparse
import json
import platform
import resource
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from array_workloads import ARRAY_WORKLOADS
from build import BUILDS, FAST, Build, BuildError, compiler_version
from calls import call_times, node_times
from first_calls import first_calls
from forms import Rules
from growth import growth
from measure import measure
from neighbour_workloads import NEIGHBOUR_WORKLOADS
from network_workloads import NETWORK_WORKLOADS
from opponents import NAMES, Sides, available
from plots import draw
from report import bars, duration, heading, print_row
from structure_workloads import STRUCTURE_WORKLOADS
from workloads import NUMBER_WORKLOADS

RESULTS = Path(__file__).resolve().parent / "results"
WORKLOADS = NUMBER_WORKLOADS | ARRAY_WORKLOADS | NETWORK_WORKLOADS | NEIGHBOUR_WORKLOADS | STRUCTURE_WORKLOADS


def main() -> int:
    """Measure, print, write."""
    options = parsed()
    chosen = options.only or [*WORKLOADS, "call"]
    others, notes = available(NAMES if options.opponents == [] else options.opponents or [])
    print("\n".join(notes))
    try:
        print_legend(list(others))
        asked = (Rules(FAST, fastmath=True),) if options.fast else None
        todo = [(name, rules) for name in chosen if name != "call" for rules in asked or WORKLOADS[name].rules]
        rows = [row for name, rules in todo for row in measure_workload(name, rules, options.rounds, others)]
    except BuildError as error:
        print(error, file=sys.stderr)
        return 2
    record = {
        "rows": rows,
        "calls": [*call_times(), *node_times()] if "call" in chosen else [],
        "growth": growths() if options.growth else [],
        "first_calls": fresh_processes() if options.first else {},
        "bars": bars(rows),
        "left_out": notes,
    }
    print("\n".join(["", *record["bars"]]))
    write_results(record, list(others))
    return int(any("failed" in row for row in (*rows, *record["calls"])))


def parsed() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=[*WORKLOADS, "call"], metavar="NAME", help="workloads to run")
    parser.add_argument("--rounds", type=int, default=41, help="interleaved rounds for each form (default 41)")
    parser.add_argument("--fast", action="store_true", help="fastmath on our side and -ffast-math on the side of C")
    parser.add_argument("--opponents", nargs="*", choices=NAMES, metavar="LIBRARY", help=f"of {', '.join(NAMES)}")
    parser.add_argument("--growth", action="store_true", help="time over the number of trips")
    parser.add_argument("--first", action="store_true", help="first calls in new processes")
    return parser.parse_args()


def print_legend(others: list[str]) -> None:
    """What the column `rules` says: ours (exact, or fastmath=True), then the build of C."""
    for build in BUILDS.values():
        print(f"C {build.name}: {' '.join(build.flags)}")
    print(f"C by {compiler_version()}; +BLAS: with the OpenBLAS of SciPy, one thread")
    if others:
        print("other libraries: median time, and how many times ours it is")
    print(f"\n{heading(others)}")


def measure_workload(name: str, rules: Rules, rounds: int, others: Mapping[str, Sides]) -> list[dict]:
    """Rows of one workload; a failure is a row too, so that the others are still measured."""
    rows = []
    try:
        forms = WORKLOADS[name].make(rules)
    except BuildError:
        raise
    except Exception as error:
        failed = {"workload": name, "kind": "", "failed": in_one_line(error)}
        return [print_row(failed | sides(rules.build, rules.fastmath), list(others))]
    # Other libraries have one set of rules: they stand beside the first of ours.
    first = rules is WORKLOADS[name].rules[0] or rules.fastmath
    calls = {library: make(name) for library, make in others.items()} if first else {}
    for form in forms:
        try:
            row = measure(form, {k: found[form.kind] for k, found in calls.items() if form.kind in found}, rounds)
        except Exception as error:
            row = {"workload": name, "kind": form.kind, "failed": in_one_line(error)}
        rows.append(print_row(row | sides(form.build, form.fastmath), list(others)))
    return rows


def in_one_line(error: Exception) -> str:
    """The kind of an error and the first line of what it says."""
    return f"{type(error).__name__}: {str(error).partition(chr(10))[0]}"


def sides(build: Build, fastmath: bool) -> dict:
    """Under which rules a row was measured."""
    return {"fastmath": fastmath, "c_build": build.name, "c_flags": build.flags, "c_link": build.link}


def growths() -> list[dict]:
    """Measure growth, and print it."""
    curves = growth()
    for curve in curves:
        times = ", ".join(f"{n:.0e}: {duration(t)}" for n, t in zip(curve["trips"], curve["seconds"], strict=True))
        compiling = ", ".join(f"{n:.0e}: {duration(t)}" for n, t in curve["compile_seconds"])
        print(f"\ngrowth of `{curve['program']}`: slope {curve['slope']:.3f} from 1,000 trips on; {times}")
        print(
            f"compiling for the first call: {compiling}; for other sizes {curve['compilations_for_other_sizes']} times"
        )
    return curves


def fresh_processes() -> dict:
    """Measure first calls, and print them."""
    found = first_calls()
    for title, times in found.items():
        print(f"first call, {title}, value and gradient: " + ", ".join(f"{k} {duration(v)}" for k, v in times.items()))
    return found


def write_results(record: dict, others: list[str]) -> None:
    """One JSON file per run, and its pictures."""
    now = datetime.now(UTC)
    whole = {
        "when": now.isoformat(timespec="seconds"),
        "machine": {"processor": processor(), "system": platform.platform(), "python": platform.python_version()},
        "versions": {name: installed(name) for name in ("pullback", "numpy", "scipy", "llvmlite", *others)},
        "c": {"compiler": compiler_version()},
        "peak_resident_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
        **record,
    }
    RESULTS.mkdir(exist_ok=True)
    stem = f"{now:%Y%m%d-%H%M%S}"
    path = RESULTS / f"{stem}.json"
    path.write_text(json.dumps(whole, indent=1) + "\n")
    for written in (path, *draw(whole, RESULTS, stem)):
        print(f"wrote {written.relative_to(Path.cwd()) if written.is_relative_to(Path.cwd()) else written}")


def installed(package: str) -> str:
    """The version of a package, or that it is run from its source."""
    try:
        return version(package)
    except PackageNotFoundError:
        return "from source"


def processor() -> str:
    """The processor's name, where the system tells it."""
    information = Path("/proc/cpuinfo")
    lines = information.read_text().splitlines() if information.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()


if __name__ == "__main__":
    sys.exit(main())

"""Two runs side by side: `python benchmarks/compare.py [OLD.json NEW.json]`, by default the last two.

workload  form      rules            C: old    new  change     compiled: old      new
"""

import json
import sys
from pathlib import Path

from report import bar_rows, duration, geometric_mean

RESULTS = Path(__file__).resolve().parent / "results"
MUCH = 1.1


def main(arguments: list[str]) -> int:
    """Print the rows that both runs have; the ratios to C are what can be compared across machines."""
    paths = [Path(argument) for argument in arguments] or sorted(RESULTS.glob("*.json"))[-2:]
    if len(paths) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    old, new = (json.loads(path.read_text()) for path in paths)
    print(
        f"old: {paths[0].name} ({old['machine']['processor']})\nnew: {paths[1].name} ({new['machine']['processor']})\n"
    )
    print(f"{'workload':10} {'form':9} {'rules':22} {'ratio old':>9} {'new':>6} {'change':>7} {'old':>10} {'new':>10}")
    before = {_key(row): row for row in old["rows"] if "failed" not in row}
    after = {_key(row): row for row in new["rows"] if "failed" not in row}
    for key, row in after.items():
        if key in before:
            _line(before[key], row)
    _missing("only in the old run", before.keys() - after.keys())
    _missing("only in the new run", after.keys() - before.keys())
    both = [(before[key], row) for key, row in after.items() if key in before and row in bar_rows(after.values())]
    if both:
        means = (geometric_mean([max(pair[i]["ratio"], 0.9) for pair in both]) for i in (0, 1))
        print(
            f"\ngeometric means over {len(both)} gradients, clipped at 0.9: " + " -> ".join(f"{m:.3f}" for m in means)
        )
    return 0


def _key(row: dict) -> tuple[str, str, str, bool]:
    return row["workload"], row["kind"], row["c_build"], row["fastmath"]


def _line(old: dict, new: dict) -> None:
    change = new["ratio"] / old["ratio"]
    mark = " worse" if change > MUCH else " better" if change < 1 / MUCH else ""
    rules = f"{'fastmath' if new['fastmath'] else 'exact'} / {new['c_build']}"
    times = f"{duration(old['ours_seconds']):>10} {duration(new['ours_seconds']):>10}"
    print(
        f"{new['workload']:10} {new['kind']:9} {rules:22} {old['ratio']:9.2f} {new['ratio']:6.2f} {change:7.2f} "
        f"{times}{mark}"
    )


def _missing(title: str, keys: set) -> None:
    if keys:
        print(f"{title}: {', '.join(sorted(' '.join(map(str, key[:3])) for key in keys))}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

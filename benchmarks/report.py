"""What is printed: the table, and after it how the run stands against the bars.

against C       47 gradients: geometric mean 1.08 (bar 1.10), worst 1.31 of mlp1 (bar 1.25): missed
"""

from collections.abc import Iterable, Sequence

import numpy as np

__all__ = ["bars", "duration", "heading", "print_row", "size"]

# Rows of the first bar: strict code against strict C but for these, which are held against vector C or against BLAS.
FAST_ROWS = frozenset({"sincos", "lse100", "lse10000", "logreg", "mlp1", "mlp128", "rnn", "lstm"})
OTHER_ROWS = frozenset({
    "fold", "tree", "append", "closures", "chain", "treelstm", "masses", "thomas", "kmeans",
})  # fmt: skip
CLIP = 0.9
LABELS = {"jax": "JAX", "torch": "PyTorch", "numba": "Numba"}


def heading(others: Sequence[str]) -> str:
    """The names of the columns."""
    return (
        f"{'workload':10} {'form':9} {'rules':22} {'compiled':>10} {'C':>10} {'ratio':>6} {'best':>6}  "
        f"{'quartiles':14} {'first call':>10} {'peak':>8} {'kernels':>7}"
        + "".join(f" {LABELS[name]:>18}" for name in others)
    )


def print_row(row: dict, others: Sequence[str]) -> dict:
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
    sides = "".join(f" {_side(row['others'].get(name)):>18}" for name in others)
    print(f"{head} {times} {size(row['peak_bytes']):>8} {row['kernels']:7}{sides}", flush=True)
    return row


def _side(other: dict | None) -> str:
    if other is None:
        return "-"
    if "failed" in other:
        return other["failed"][:18]
    return f"{duration(other['seconds'])} ({other['times_ours']:.3g}x)"


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


def bars(rows: Iterable[dict]) -> list[str]:
    """One line for each bar that the rows speak of."""
    good = [row for row in rows if "failed" not in row]
    return [*_against_c(good), *_tree(good), *_against_jax(good), *_against_torch(good)]


def bar_rows(rows: Iterable[dict]) -> list[dict]:
    """The gradients that the bar against C is about."""
    return [row for row in rows if row["kind"] != "value" and row["workload"] not in OTHER_ROWS and _held(row)]


def _held(row: dict) -> bool:
    fast = row["c_build"].startswith("fast")
    return row["fastmath"] or fast == (row["workload"] in FAST_ROWS)


def _verdict(met: bool) -> str:
    return "met" if met else "MISSED"


def _against_c(rows: list[dict]) -> list[str]:
    found = bar_rows(rows)
    if not found:
        return []
    mean = geometric_mean([max(row["ratio"], CLIP) for row in found])
    worst = max(found, key=lambda row: row["ratio"])
    met = mean <= 1.1 and worst["ratio"] <= 1.25
    line = (
        f"against C       {len(found)} gradients: geometric mean {mean:.2f} (bar 1.10), worst {worst['ratio']:.2f} "
        f"of {worst['workload']} {worst['kind']} (bar 1.25): {_verdict(met)}"
    )
    above = [f"{row['workload']} {row['kind']} {row['ratio']:.2f}" for row in found if row["ratio"] > 1.25]
    return [line, *([f"                above 1.25: {', '.join(above)}"] if above else [])]


def _tree(rows: list[dict]) -> list[str]:
    found = [row["ratio"] for row in rows if row["workload"] == "treelstm" and row["c_build"].startswith("fast")]
    return [f"TreeLSTM        {found[0]:.2f} times C (bar 2): {_verdict(found[0] <= 2)}"] if found else []


def _sides(rows: list[dict], name: str) -> list[tuple[dict, dict]]:
    """Rows with the numbers of another library, each workload and form once."""
    found: dict[tuple[str, str], tuple[dict, dict]] = {}
    for row in rows:
        other = row["others"].get(name)
        if other is not None and "failed" not in other:
            found.setdefault((row["workload"], row["kind"]), (row, other))
    return list(found.values())


def _against_jax(rows: list[dict]) -> list[str]:
    found = [pair for pair in _sides(rows, "jax") if pair[1]["seconds"] * pair[0]["inner"] > 20e-6]
    if not found:
        return []
    times = [other["times_ours"] for _, other in found]
    row, worst = min(found, key=lambda pair: pair[1]["times_ours"])
    mean, least = geometric_mean(times), worst["times_ours"]
    return [
        f"against JAX     {len(found)} rows above 20 us: geometric mean {mean:.2f} times ours (bar 3), "
        f"least {least:.2f} of {row['workload']} {row['kind']} (bar 1): {_verdict(mean >= 3 and least >= 1)}"
    ]


def _against_torch(rows: list[dict]) -> list[str]:
    found = _sides(rows, "torch")
    if not found:
        return []
    row, worst = min(found, key=lambda pair: pair[1]["times_ours"])
    slow = [(r, o) for r, o in found if o["seconds"] > 100 * r["by_hand_seconds"]]
    short = [f"{r['workload']} {r['kind']} {o['times_ours']:.1f}" for r, o in slow if o["times_ours"] < 10]
    mean, least = geometric_mean([other["times_ours"] for _, other in found]), worst["times_ours"]
    return [
        f"against PyTorch {len(found)} rows: geometric mean {mean:.1f} times ours, least {least:.2f} of "
        f"{row['workload']} {row['kind']} (bar 1); {len(slow)} rows above 100 times C, {len(short)} of them under 10 "
        f"times ours{': ' if short else ''}{', '.join(short)}: {_verdict(least >= 1 and not short)}"
    ]


def geometric_mean(values: Sequence[float]) -> float:
    """Of positive numbers."""
    return float(np.exp(np.mean(np.log(values))))

"""Pictures of a run, where matplotlib is installed: ratios as bars, growth as curves on logarithmic axes."""

from collections.abc import Sequence
from pathlib import Path

from report import LABELS, bar_rows

__all__ = ["draw"]


def draw(record: dict, folder: Path, stem: str) -> list[Path]:
    """Write the pictures beside the JSON file; none without matplotlib."""
    try:
        import matplotlib
    except ImportError:
        print("no pictures: matplotlib is not installed")
        return []
    matplotlib.use("Agg")
    made = []
    rows = [row for row in record["rows"] if "failed" not in row]
    if rows:
        made.append(_ratios(rows, folder / f"{stem}-ratios.png"))
    if record.get("growth"):
        made.append(_growth(record["growth"], folder / f"{stem}-growth.png"))
    return made


def _ratios(rows: Sequence[dict], path: Path) -> Path:
    """Gradient time over that of each other side, one group for each workload."""
    from matplotlib import pyplot

    found = bar_rows(rows) or list(rows)
    names = [f"{row['workload']} {row['kind']}" if row["kind"] != "gradient" else row["workload"] for row in found]
    figure, axes = pyplot.subplots(figsize=(0.5 * len(found) + 3, 5), layout="constrained")
    marks = [("C", "o", [row["ratio"] for row in found])]
    for name, mark in (("jax", "s"), ("torch", "^"), ("numba", "d")):
        others = [row["others"].get(name, {}).get("times_ours") for row in found]
        if any(others):
            marks.append((LABELS[name], mark, [1 / times if times else None for times in others]))
    for label, mark, values in marks:
        places = [i for i, value in enumerate(values) if value is not None]
        axes.plot(places, [values[i] for i in places], mark, label=f"over {label}")
    axes.axhline(1.0, color="black", linewidth=0.8)
    axes.axhline(1.25, color="grey", linewidth=0.8, linestyle="--")
    axes.set(yscale="log", ylabel="time of the compiled gradient / time of the other side")
    axes.set_xticks(range(len(found)), names, rotation=60, ha="right")
    axes.legend()
    figure.savefig(path, dpi=120)
    pyplot.close(figure)
    return path


def _growth(curves: Sequence[dict], path: Path) -> Path:
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(6, 4.5), layout="constrained")
    for curve in curves:
        label = f"{curve['program']}: slope {curve['slope']:.2f}"
        axes.loglog(curve["trips"], curve["seconds"], "o-", label=label)
        sizes, compiling = zip(*curve["compile_seconds"], strict=True)
        axes.loglog(sizes, compiling, "x:", label=f"{curve['program']}: compiling")
    axes.set(xlabel="trips", ylabel="seconds", title="gradient of a loop")
    axes.legend()
    figure.savefig(path, dpi=120)
    pyplot.close(figure)
    return path

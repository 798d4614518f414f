"""Measuring one form: all sides are checked against each other, then timed in turn.

measure(form, {"jax": call}, rounds=41)        a row: times, ratios, memory, first call
"""

import gc
import math
import time
from collections.abc import Callable, Mapping

import numpy as np

import pullback as pb
from forms import Form

__all__ = ["disagreement", "measure", "memory_of", "parts", "seconds"]

Call = Callable[[], object]
BATCH_SECONDS = 0.002
# Of one opponent in one form: a side that takes long gets fewer rounds, at least one.
MOST_SECONDS = 6.0


def measure(form: Form, others: Mapping[str, Call], rounds: int) -> dict:
    """Check that all sides agree, then time them in turn."""
    began = time.perf_counter()
    result = form.ours()
    first_call = time.perf_counter() - began
    wanted = parts(form.by_hand())
    difference = disagreement(parts(result), wanted)
    if not difference <= form.tolerance:
        raise AssertionError(f"results differ by {difference:.2e}, more than {form.tolerance:.0e}")
    good, left_out = _checked(form, others, wanted)
    memory = memory_of(form.ours)
    times, worked = _interleaved({"ours": form.ours, "by_hand": form.by_hand, **good}, rounds)
    # Both run in this thread: its processor time leaves out what else the machine does meanwhile.
    ratios = worked["ours"] / worked["by_hand"]
    low, middle, high = np.percentile(ratios, [25, 50, 75])
    return {
        "workload": form.workload,
        "kind": form.kind,
        "ours_seconds": float(np.median(worked["ours"])) / form.inner,
        "by_hand_seconds": float(np.median(worked["by_hand"])) / form.inner,
        "ours_wall_seconds": float(np.median(times["ours"])) / form.inner,
        "ratio": float(middle),
        "ratio_quartiles": [float(low), float(high)],
        "ratio_of_best": float(np.min(worked["ours"]) / np.min(worked["by_hand"])),
        "difference": difference,
        "first_call_seconds": first_call,
        "rounds": rounds,
        "inner": form.inner,
        "others": {name: _other(times, name, form.inner) for name in good} | left_out,
        **memory,
    }


def _checked(form: Form, others: Mapping[str, Call], wanted: list[np.ndarray]) -> tuple[dict[str, Call], dict]:
    """The other sides that agree, and why the rest are left out."""
    good: dict[str, Call] = {}
    left_out = {}
    for name, call in others.items():
        try:
            difference = disagreement(parts(call()), wanted)
        except Exception as error:
            left_out[name] = {"failed": f"{type(error).__name__}: {error}".partition("\n")[0][:200]}
            continue
        if difference <= max(form.tolerance, 1e-9 if form.tolerance < 1e-6 else 0):
            good[name] = call
        else:
            left_out[name] = {"failed": f"differs by {difference:.1e}"}
    return good, left_out


def _other(times: Mapping[str, np.ndarray], name: str, inner: int) -> dict:
    """Median time of another side, and how many times ours that is."""
    ratios = times[name] / times["ours"]
    return {"seconds": float(np.nanmedian(times[name])) / inner, "times_ours": float(np.nanmedian(ratios))}


def memory_of(call: Call) -> dict:
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


def _interleaved(sides: Mapping[str, Call], rounds: int) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """Seconds of one call of each side, in turn, so that all see one machine; nan in rounds a side sits out.

    By the clock, and of them those that this thread was at work.
    """
    counts = {name: _batch_size(call) for name, call in sides.items()}
    times, worked = ({name: np.full(rounds, np.nan) for name in sides} for _ in range(2))
    spent = dict.fromkeys(sides, 0.0)
    collecting = gc.isenabled()
    gc.disable()
    try:
        for k in range(rounds):
            for name, call in sides.items():
                if k == 0 or name in ("ours", "by_hand") or spent[name] < MOST_SECONDS:
                    began = time.thread_time()
                    times[name][k] = seconds(call, counts[name])
                    worked[name][k] = (time.thread_time() - began) / counts[name]
                    spent[name] += times[name][k] * counts[name]
    finally:
        if collecting:
            gc.enable()
    return times, worked


def _batch_size(call: Call) -> int:
    """How many calls fill a batch."""
    one = seconds(call, 1)
    if one < BATCH_SECONDS:
        one = seconds(call, 3)
    return max(1, round(BATCH_SECONDS / max(one, 1e-9)))


def seconds(call: Call, count: int) -> float:
    """Mean time of one call in a batch of `count`."""
    repeats = range(count)
    began = time.perf_counter()
    for _ in repeats:
        call()
    return (time.perf_counter() - began) / count


def parts(result: object) -> list[np.ndarray]:
    """The numbers and arrays of a result in order."""
    if isinstance(result, tuple | list):
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

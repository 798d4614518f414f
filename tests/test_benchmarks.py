"""What surrounds the measurements: bars, comparison of runs, other libraries; the networks; trees of any shape."""

import json
import subprocess
import sys

import numpy as np
import pytest

import pullback as pb
from benchmark_files import FOLDER, load

report, networks, long_program = load("report"), load("networks"), load("long_program")


def row(workload, ratio, kind="gradient", build="strict", others=None):
    return {
        "workload": workload, "kind": kind, "c_build": build, "fastmath": False, "ratio": ratio, "inner": 1,
        "ours_seconds": ratio * 1e-3, "by_hand_seconds": 1e-3, "others": others or {},
    }  # fmt: skip


def side(times, ours=1e-3):
    return {"seconds": times * ours, "times_ours": times}


# ------------------------------------------------------------------------------------------------------------ bars


def test_ratios_below_the_clip_do_not_make_up_for_slow_rows():
    (first, second) = report.bars([row("garch", 0.1), row("heat", 1.3), row("heat", 5.0, kind="value")])
    assert f"geometric mean {np.sqrt(0.9 * 1.3):.2f}" in first and "MISSED" in first and "2 gradients" in first
    assert "heat gradient 1.30" in second
    assert "met" in report.bars([row("garch", 1.05)])[0]


def test_each_row_is_held_against_its_own_build():
    rows = [row("lse100", 9.0), row("lse100", 1.0, build="fast"), row("garch", 9.0, build="fast"), row("garch", 1.0)]
    assert "2 gradients: geometric mean 1.00" in report.bars(rows)[0]


def test_other_libraries():
    rows = [
        row("garch", 1.0, others={"jax": side(4.0), "torch": side(4000.0)}),
        row("heat", 1.0, others={"jax": side(2.0), "torch": side(0.5)}),
        row("lse100", 1.0, build="fast", others={"jax": {"failed": "no"}}),
    ]
    text = "\n".join(report.bars(rows))
    assert "against JAX     2 rows above 20 us: geometric mean 2.83 times ours (bar 3), least 2.00 of heat" in text
    assert (
        "least 0.50 of heat gradient (bar 1); 1 rows above 100 times C, 0 of them under 10 times ours: MISSED" in text
    )


def test_comparison_of_two_runs(tmp_path):
    for name, ratio in (("old", 1.0), ("new", 1.5)):
        rows = [row("garch", ratio), row("heat", 1.0), *([row("sdtw", 1.0)] if name == "old" else [])]
        record = {"machine": {"processor": "any"}, "rows": rows}
        (tmp_path / f"{name}.json").write_text(json.dumps(record))
    command = [sys.executable, str(FOLDER / "compare.py"), str(tmp_path / "old.json"), str(tmp_path / "new.json")]
    shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    (garch,) = (line for line in shown.splitlines() if line.startswith("garch"))
    assert "1.50" in garch and garch.endswith("worse")
    assert "only in the old run: sdtw gradient strict" in shown
    assert "1.000 -> 1.225" in shown


def test_a_library_that_is_not_there_is_left_out_with_a_word():
    code = (
        f"import sys; sys.path.insert(0, {str(FOLDER)!r}); sys.modules['torch'] = None\n"
        "from opponents import available\n"
        "print(*available(['torch']))"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert shown.startswith("{}") and "torch is left out: " in shown and "pip install" in shown


# -------------------------------------------------------------------------------------------------------- networks


def single(*shape):
    """Seeded by the shape; in double precision, so that differences tell."""
    return np.random.default_rng(sum(shape)).standard_normal(shape) / 2


TABLE = np.array([[0, 1], [2, 2], [1, 0]])


@pytest.mark.parametrize(("program", "width"), [(networks.rnn, 4), (networks.lstm, 16)], ids=["rnn", "lstm"])
def test_gradient_of_a_recurrent_network(program, width):
    weights = single(3, width), single(4, width), single(width), single(4, 3), single(3)
    compare(lambda *w: program(*w, TABLE, TABLE[::-1].copy()), program, (*weights, TABLE, TABLE[::-1].copy()), 5)


def compare(plain, program, arguments, count):
    """Every gradient in a direction, by differences of CPython's values."""
    value, slopes = pb.value_and_grad(program, tuple(range(count)))(*arguments)
    weights, h = arguments[:count], 1e-6
    assert value == pytest.approx(plain(*weights))
    for place, slope in enumerate(slopes):
        direction = np.cos(np.arange(slope.size)).reshape(slope.shape)
        ends = [
            plain(*weights[:place], weights[place] + sign * h * direction, *weights[place + 1 :]) for sign in (1, -1)
        ]
        assert np.sum(slope * direction) == pytest.approx((ends[0] - ends[1]) / (2 * h), rel=1e-5, abs=1e-8)


def grown(random, words):
    if words == 1:
        return networks.Phrase(int(random.integers(5)), random.standard_normal(3))
    left = int(random.integers(1, words))
    return networks.Phrase(int(random.integers(5)), None, grown(random, left), grown(random, words - left))


@pytest.mark.slow
def test_trees_of_any_shape_are_one_compilation():
    weights = single(3, 12), single(12), single(8, 20), single(20), single(4, 5), single(5)
    random = np.random.default_rng(0)
    trees = [grown(random, words) for words in (7, 1, 2, 30)]
    compare(lambda *w: networks.tree_lstm(*w, trees[0]), networks.tree_lstm, (*weights, trees[0]), 6)
    before = pb.stats().specializations
    slopes = pb.value_and_grad(networks.tree_lstm, tuple(range(6)))
    for tree in trees:
        assert slopes(*weights, tree)[0] == pytest.approx(networks.tree_lstm(*weights, tree))
    assert pb.stats().specializations - before <= 1


@pytest.mark.slow
def test_a_long_program():
    before = pb.stats().specializations
    value_and_slopes = pb.value_and_grad(long_program.cost, argnums=(0, 1, 2, 3))
    curvatures = pb.grad(pb.grad(long_program.cost), argnums=(0, 1, 2, 3))
    *point, most = long_program.ARGUMENTS
    for days in (most, 45):
        value, slopes = value_and_slopes(*point, days)
        assert value == pytest.approx(long_program.cost(*point, days), rel=1e-12)
        for k, (slope, curvature) in enumerate(zip(slopes, curvatures(*point, days), strict=True)):
            step = 1e-6 * point[k]
            above, below = ([x + move * (i == k) for i, x in enumerate(point)] for move in (step, -step))
            ends = [long_program.cost(*place, days) for place in (above, below)]
            assert slope == pytest.approx((ends[0] - ends[1]) / (2.0 * step), rel=1e-5)
            ends = [value_and_slopes(*place, days)[1][0] for place in (above, below)]
            assert curvature == pytest.approx((ends[0] - ends[1]) / (2.0 * step), rel=1e-5)
    assert pb.stats().specializations - before <= 2  # for any number of days


@pytest.mark.slow
def test_what_grows_is_compiled_once():
    code = (
        f"import json, sys; sys.path.insert(0, {str(FOLDER)!r})\n"
        "from growth import growth\nprint(json.dumps(growth(10_000)[0]))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    curve = json.loads(done.stdout)
    assert curve["compilations_for_other_sizes"] == 0
    assert [n for n, _ in curve["compile_seconds"]] == [100, 10_000]

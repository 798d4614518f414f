"""The README's quickstart runs and gives what its comments say."""

import importlib.util
import math
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def quickstart(tmp_path_factory):
    program, rule = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    program += rule.replace("pb.grad(pb.grad(log1pexp))", "bend = pb.grad(pb.grad(log1pexp))")
    path = tmp_path_factory.mktemp("readme") / "quickstart.py"
    path.write_text(program.replace("pb.grad(energy)(", "slopes = pb.grad(energy)("))
    spec = importlib.util.spec_from_file_location("quickstart", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_values(quickstart):
    assert quickstart.value == pytest.approx(math.sqrt(2.0), rel=1e-12)
    assert quickstart.slope == pytest.approx(0.5 / math.sqrt(2.0), rel=1e-10)
    assert quickstart.curvature == pytest.approx(-0.25 / 2.0**1.5, rel=1e-8)
    assert quickstart.bend == pytest.approx(0.045176659730912144, rel=1e-12)


def test_structure(quickstart):
    weights = {x: 1.0 / (1.0 + math.exp(-(0.3 * x - 1.0))) for x in (1.0, 2.0, 3.0)}
    expected = {"w": sum(x * w for x, w in weights.items()), "b": sum(weights.values())}
    assert quickstart.slopes == pytest.approx(expected, rel=1e-12)


def test_it_is_short():
    program, _ = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    assert len([line for line in program.splitlines() if line.strip()]) <= 20

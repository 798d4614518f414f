"""What is installed: names, versions, dependencies, data, and that everything a clone promises is there."""

import subprocess
import sys
import tomllib
import venv
import zipfile
from importlib.metadata import entry_points, metadata, requires
from pathlib import Path

import pytest

import pullback

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def names(requirements):
    return {requirement.partition(">")[0].partition("=")[0].strip() for requirement in requirements}


def test_base_dependencies_are_three():
    assert names(PROJECT["dependencies"]) == {"numpy", "scipy", "llvmlite"}
    assert names(r for r in requires("pullback") if "extra ==" not in r) == {"numpy", "scipy", "llvmlite"}


def test_extras():
    extras = PROJECT["optional-dependencies"]
    assert names(extras["demo"]) == {"scikit-learn", "matplotlib", "tqdm"}
    assert set(extras) == {"demo", "dev", "bench"}


def test_versions_agree():
    assert metadata("pullback")["Version"] == pullback.__version__
    assert f"## {pullback.__version__}" in (ROOT / "CHANGELOG.md").read_text()


def test_pythons():
    assert PROJECT["requires-python"] == ">=3.11,<3.15"


def test_the_command_is_installed():
    (command,) = entry_points(group="console_scripts", name="pullback")
    assert command.value == "pullback.cli:main"


def test_the_package_is_typed():
    assert (Path(pullback.__file__).parent / "py.typed").exists()


@pytest.mark.parametrize("target", ["setup", "demo", "test", "test-all", "bench", "clean"])
def test_make_knows_the_target(target):
    assert f"\n{target}:" in (ROOT / "Makefile").read_text()


def section(text, title):
    """Lines under a second-level heading."""
    lines = text.splitlines()
    start = lines.index(f"## {title}")
    end = next((i for i in range(start + 1, len(lines)) if lines[i].startswith("## ")), len(lines))
    return lines[start:end]


@pytest.mark.parametrize("title", ["Add a primitive", "Add a pass"])
def test_how_to_contribute_is_short(title):
    assert 5 < len(section((ROOT / "CONTRIBUTING.md").read_text(), title)) < 60


@pytest.mark.slow
def test_a_wheel_carries_the_data_and_runs(tmp_path):
    build = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", tmp_path, ROOT]
    subprocess.run(build, check=True)
    (wheel,) = tmp_path.glob("pullback-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        files = set(archive.namelist())
    assert {"pullback/demo/hudson_bay.csv", "pullback/py.typed", "pullback/cli.py"} <= files
    assert not any(name.endswith((".so", ".pyd")) for name in files)
    venv.create(tmp_path / "env", with_pip=True, symlinks=True)
    python = tmp_path / "env" / "bin" / "python"
    subprocess.run([python, "-m", "pip", "install", "--quiet", f"{wheel}[demo]"], check=True)
    done = subprocess.run([python, "-m", "pullback.cli", "demo"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "hudson_bay.png").exists()

"""The command line: what each command prints, and one line and status 2 for what cannot be done."""

import os
import subprocess
import sys

import numpy as np
import pytest

from pullback.cli import RequestError, main, parse_value
from pullback.codegen import cache
from pullback.demo.data import shipped_data

PROGRAM = '''
import math

def cube(x):
    return x**3

def first(values):
    return values[0] * 2.0

def wrong(x):
    return x.no_such_thing

class Model:
    def loss(x):
        return math.sin(x)

NUMBER = 3
'''


@pytest.fixture
def program(tmp_path):
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    return path


def test_explain_shows_the_users_line(program, capsys):
    assert main(["explain", f"{program}:cube", "2.0"]) == 0
    printed = capsys.readouterr().out
    assert "program.py" in printed
    assert "cube" in printed


def test_explain_takes_arrays_gradients_and_methods(program, capsys):
    assert main(["explain", f"{program}:first", "[1.0, 2.0]"]) == 0
    assert main(["explain", "--grad", f"{program}:cube", "2.0"]) == 0
    assert main(["explain", f"{program}:Model.loss", "2.0"]) == 0


def test_explain_of_a_program_in_error(program, capsys):
    assert main(["explain", f"{program}:wrong", "2.0"]) == 1
    printed = capsys.readouterr().err
    assert "program.py" in printed and "no_such_thing" in printed and "^" in printed


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["explain", "program.py"], "expected FILE.py:FUNCTION, found 'program.py'"),
        (["explain", "none.py:f"], "none.py: no such file"),
        (["explain", "program.py:none"], "program.py has no function 'none'"),
        (["explain", "program.py:NUMBER"], "'NUMBER' in program.py is not a function"),
        (["explain", "program.py:cube", "1 +"], "argument '1 +' is not a Python literal"),
        (["explain", "broken.py:f"], "broken.py: ZeroDivisionError while it was loaded: division by zero"),
        (["demo", "none.csv"], "none.csv: No such file or directory"),
        (["demo", "--output", "none/mine.png"], "none/mine.png: no such folder"),
    ],
)
def test_a_request_that_cannot_be_carried_out(program, monkeypatch, capsys, arguments, message):
    monkeypatch.chdir(program.parent)
    (program.parent / "broken.py").write_text("1 / 0\n")
    assert main(arguments) == 2
    assert capsys.readouterr().err == f"pullback: {message}\n"


def test_demo_writes_where_told_and_says_when_it_cannot(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    picture = tmp_path / "mine.png"
    assert main(["demo", str(shipped_data()), "--output", str(picture)]) == 0
    assert picture.exists()
    assert f"wrote {picture}" in capsys.readouterr().out
    assert main(["demo", "--output", str(tmp_path)]) == 2
    assert capsys.readouterr().err.endswith(f"pullback: {tmp_path}: Is a directory\n")


@pytest.mark.parametrize(
    ("text", "expected"),
    [("1.5", 1.5), ("-2", -2), ("True", True), ("(1, 2.0)", (1, 2.0)), ("None", None), ("'a'", "a")],
)
def test_literals(text, expected):
    value = parse_value(text)
    assert value == expected and type(value) is type(expected)


def test_lists_of_numbers_are_arrays():
    array = parse_value("[[1.0, 2.0], [3.0, 4.0]]")
    assert isinstance(array, np.ndarray) and array.shape == (2, 2) and array.dtype == np.float64
    pair = parse_value("([1, 2], {'a': [0.5], 'b': ['x', 1.0]})")
    assert pair[0].dtype == np.int64 and isinstance(pair[1]["a"], np.ndarray) and pair[1]["b"] == ["x", 1.0]
    ragged = parse_value("[[1.0], [2.0, 3.0]]")
    assert [part.shape for part in ragged] == [(1,), (2,)]
    with pytest.raises(RequestError):
        parse_value("__import__('os')")


def test_doctor_is_well(capsys):
    assert main(["doctor"]) == 0
    printed = capsys.readouterr().out
    for word in ("python", "numpy", "scipy", "llvmlite", "LLVM", "processor", "features", "cache", "self-test"):
        assert word in printed


def test_doctor_reports_a_wrong_result(monkeypatch, capsys):
    from pullback import doctor

    monkeypatch.setattr(doctor, "EXPECTED", (0.0, 0.0))
    assert main(["doctor"]) == 1
    assert "FAILED" in capsys.readouterr().out


def test_the_command_starts_without_compiling_anything():
    """`pullback --help` is quick: LLVM is not loaded for it."""
    code = """if True:
        import sys, pullback.cli
        try:
            pullback.cli.main(["--help"])
        except SystemExit:
            print("llvmlite" in sys.modules)"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=os.environ, check=True)
    assert done.stdout.splitlines()[-1] == "False"
    assert "doctor" in done.stdout


def test_no_command_is_an_error(capsys):
    with pytest.raises(SystemExit) as caught:
        main([])
    assert caught.value.code == 2


def test_cache_is_shown_and_cleared(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("PULLBACK_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("PULLBACK_CACHE_LIMIT", "3M")
    cache.store(cache.key("a"), bytes(99_968))
    cache.load(cache.key("a"))
    cache.load(cache.key("b"))
    assert main(["cache", "info"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        f"place    {tmp_path / 'cache'}",
        "entries  1",
        "size     0.1 MB, at most 3.1 MB",
        "found    1 times, and 1 times not",
    ]
    assert main(["cache", "clear"]) == 0
    assert capsys.readouterr().out == f"1 entries removed from {tmp_path / 'cache'}\n"
    assert main(["cache", "info"]) == 0 and "entries  0" in capsys.readouterr().out

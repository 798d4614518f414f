"""Python's own functions with every argument that they may be given: the value, and its kind, as CPython has them."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

import pullback as pb

HEAD = """import bisect, cmath, collections, copy, functools, heapq, itertools, math, operator, statistics, string
import numpy as np

"""
CALLS = (Path(__file__).parent / "optional_arguments.txt").read_text().splitlines()
TOGETHER = 6  # calls of one program


def compiled_from(text: str, path: Path) -> Any:
    path.write_text(HEAD + text)
    known: dict[str, Any] = {}
    exec(compile(path.read_text(), str(path), "exec"), known)
    return known["f"]


@pytest.mark.parametrize("first", range(0, len(CALLS), TOGETHER))
def test_as_in_python(first: int, tmp_path: Path) -> None:
    calls = ",\n            ".join(f"({call})" for call in CALLS[first : first + TOGETHER])
    text = f"def f(x):\n    xs = [1.0, x + 1.0]\n    return ({calls},)\n"
    function = compiled_from(text, tmp_path / "called.py")
    found = pb.jit(function)(0.5)
    for call, value, wanted in zip(CALLS[first:], found, function(0.5), strict=False):
        assert repr(value) == repr(wanted), call


def words(line: str, separator: str | None, most: int) -> Any:
    return line.split(separator, most), line.rsplit(separator, maxsplit=most), line.split(), line.splitlines()


def around(line: str, separator: str) -> Any:
    return line.partition(separator), line.rpartition(separator), [p for p in line.splitlines(True)]


def digits(x: float, n: int) -> Any:
    return round(x, n)


def letters(n: int) -> Any:
    return hex(n), oct(n), bin(n), ascii(str(n) + "\u00e9")


@pytest.mark.parametrize("line", ["a, b,c", "", "  x  y z ", "one\ntwo\r\n\nthree", ",,"])
def test_pieces_that_the_run_finds(line: str) -> None:
    def both(text: str, n: int) -> Any:
        line = text + ("!" if n > 99 else "")
        return (words(line, ",", n), words(line, None, n), words(line, text[:1] + ", "[len(text[:1]) :], n),
                around(line, ","))  # fmt: skip

    for n in (-1, 0, 1, 2, 100):
        assert pb.jit(both)(line, n) == both(line, n)


def test_an_empty_separator_is_an_error() -> None:
    for function in (lambda s: words("abc", s, 1), lambda s: around("abc", s)):
        with pytest.raises(ValueError, match="empty separator"):
            pb.jit(function)("")


def test_rounding_to_digits_that_the_run_decides() -> None:
    draw, rounded = random.Random(7), pb.jit(digits)
    for _ in range(3000):
        n = draw.randint(-8, 22)
        x = draw.choice([
            draw.uniform(4, 10) * 10.0 ** (15 - n), draw.gauss(0, 1) * 10.0 ** draw.randint(-8, 8),
            draw.randint(-1000, 1000) / 8, draw.randint(-(10**6), 10**6) + 0.5, draw.randint(-99999, 99999) * 50.0,
        ])  # fmt: skip
        assert repr(rounded(x, n)) == repr(round(x, n)), (x, n)
        k = draw.choice([draw.randint(-(10**9), 10**9), draw.randint(-500, 500) * 5, draw.randint(-(2**61), 2**61)])
        assert rounded(k, -abs(n)) == round(k, -abs(n)), (k, n)
    for x in (float("inf"), float("nan"), -0.0, -0.3):
        for n in (-30, -3, 0, 2, 20):
            assert repr(rounded(x, n)) == repr(round(x, n)), (x, n)


@pytest.mark.parametrize("n", [0, 12, 15])
def test_rounding_to_digits_that_are_written(n: int, tmp_path: Path) -> None:
    draw = random.Random(n)
    rounded = pb.jit(compiled_from(f"def f(x):\n    return round(x, {n})\n", tmp_path / "rounded.py"))
    for _ in range(1000):
        x = draw.uniform(1, 10) * 10.0 ** (15 - n + draw.randint(-3, 1))
        assert repr(rounded(x)) == repr(round(x, n)), x


@pytest.mark.parametrize("n", [0, 255, -255, 2**62])
def test_digits_in_other_bases(n: int) -> None:
    assert pb.jit(letters)(n) == letters(n)

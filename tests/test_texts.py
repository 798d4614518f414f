"""Strings at run time: f-strings, `str`, methods, comparisons, print; as in CPython, character by character."""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pullback as pb
from pullback import testing


def formats(x: float, n: int) -> str:
    return f"x={x:.3f} n={n!r:>5} {x} {n:+d}|{True} {None} {{}} {'q':>3}"


def computed_width(x: float, w: int) -> str:
    return f"{x:{w}.{2}f}|{x!s:>{w}}"


def conversions(x: float, n: int, k: Any, s: Any, a: Any) -> tuple[str, ...]:
    return str(x), repr(x), str(n), str(k), repr(k), str(s), f"{s:.2f}", str(a), f"{a} {(x, 1, 'q')} {[x, (n,)]}"


def grown(n: int) -> tuple[Any, ...]:
    s = ""
    for i in range(n):
        s = s + str(i) + ("," if i % 2 else ";")
    return s, len(s), s[2:7], s[-1:], s[::-1], s[:1], "3;" in s, s == "0;1,", s < "1", s * 2, bool(s)


def methods(word: str, n: int) -> tuple[Any, ...]:
    s = word.upper() + str(n)
    return (
        s, s.lower(), s.replace("A", "zz"), s.startswith("AB"), s.endswith(("9", "7")), s.find("C"), s.count("B"),
        s.zfill(9), s.isalnum(), s.strip("A7"), s.index("B"), "-".join((word, s, "x")), "%s=%d" % (s, n),
        "{} and {:>4}".format(s, n), s.center(11).title(),
    )  # fmt: skip


def parts(n: int) -> tuple[Any, ...]:
    line = f"{n} {n + 1}  {n + 2}"
    total = 0
    for piece in line.split():
        total += int(piece)
    words = "a,b,,c".split(",")
    return total, words, len(line.split(" ")), float(f"{n}.5")


def letters(n: int) -> tuple[Any, ...]:
    total, found = 0, ""
    for c in str(n):
        total += ord(c) - ord("0")
        found = chr(ord("a") + total % 26) + found
    return total, found, [c for c in "abc"]


def chosen(x: float) -> tuple[Any, ...]:
    kind = "up" if x > 0 else "down"
    if x > 10:
        kind = "far " + kind
    if kind == "up":
        return kind, x
    return kind + "!", -x


class Length:
    def __init__(self, metres: float) -> None:
        self.metres = metres

    def __format__(self, spec: str) -> str:
        return format(self.metres, spec or ".1f") + " m"

    def __repr__(self) -> str:
        return f"Length({self.metres})"


class Colour(enum.Enum):
    RED = 1


class Level(enum.IntEnum):
    HIGH = 7


def by_own_format(x: float, n: int) -> tuple[Any, ...]:
    a = Length(x)
    either = a if x > 1.0 else 3.0
    return (
        f"{a:.3f} {a} {a!r:>14} {a!r}", format(a, ".2e"), f"{a:.{n}f}", "{:.2f} {!r:>12} {}".format(a, a, a),
        f"{either:.2f}", f"{Colour.RED:>12} {Level.HIGH:03d} {Level.HIGH}", format(x, f".{n}f"),
    )  # fmt: skip


def in_base(word: str, base: int) -> int:
    return int(word, base) + int("11", 2) * 100000 + int("0x1f", base=16) + int("0b11", 0) + int("zz", 36)


def modulo(base: int, exponent: int, modulus: int) -> tuple[int, ...]:
    return pow(base, exponent, modulus), pow(base, exp=2, mod=7), pow(2, 10, None)


CASES: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    (formats, (1.5, 7)), (formats, (-0.1, -3)), (formats, (1e300, 0)), (formats, (float("nan"), 12)),
    (computed_width, (3.14159, 9)),
    (conversions, (0.1, 3, np.float64(0.1), np.float32(0.1), np.arange(4.0))),
    (conversions, (1e22, -3, np.float64(2.5), np.float32(7), np.array([[1.5, 2.0]]))),
    (grown, (0,)), (grown, (2,)), (grown, (13,)), (methods, ("abc", 7)), (parts, (5,)), (letters, (90817,)),
    (chosen, (1.0,)), (chosen, (-2.0,)), (chosen, (11.0,)), (by_own_format, (0.75, 3)), (by_own_format, (1.5, 1)),
    (in_base, ("101", 2)), (in_base, (" -7f_0", 16)), (in_base, ("z", 36)), (in_base, ("0o17", 0)),
    (modulo, (3, 5, 7)), (modulo, (-3, 5, -7)), (modulo, (2, 10**6, 10**9 + 7)), (modulo, (3, -2, -11)),
    (modulo, (5, 0, 1)),
    (modulo, (123456789123, 987654321987, 2**61 - 1)), (modulo, (10**18, 3, 9 * 10**18)), (modulo, (2, 62, 2**63 - 1)),
]  # fmt: skip


@pytest.mark.parametrize(("function", "arguments"), CASES)
def test_as_cpython(function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    expected = function(*arguments)
    assert pb.jit(function)(*arguments) == expected
    assert testing.run(function, arguments, engine="interp", passes=True) == expected


def noisy(x: float) -> float:
    print("x is", x, 3, None, sep=", ", end=";\n")
    total = 0.0
    for i in range(3):
        print(f"{i}: {total:.2e}")
        total += x * i
    print()
    return total * x


def test_print_is_pythons(capsys: Any) -> None:
    noisy(1.5)
    expected = capsys.readouterr().out
    pb.jit(noisy)(1.5)
    assert capsys.readouterr().out == expected


def spread(a: Any, n: int) -> None:
    xs = []
    for v in a:
        xs.append(float(v))
    print(*xs)
    print("x", *a, n, *xs, sep=", ", end="!\n")
    print("a", *xs[:0], "b", *range(n), sep="-" if n > 2 else "|")
    print(*a[:0], end="")
    print(*(v * 2 for v in xs), *{1: 2.5}, *[complex(v, 1) for v in xs], *"abc", sep="")
    print(*[(i, v) for i, v in enumerate(xs)], *a.astype("f4"), *(a > 0), sep="\t", flush=True)


@pytest.mark.parametrize("n", [0, 3])
def test_print_of_what_has_a_run_time_length(n: int, capsys: Any) -> None:
    given = np.array([1.5, -2.0, 1e-7])[:n]
    spread(given, n)
    expected = capsys.readouterr().out
    pb.jit(spread)(given, n)
    assert capsys.readouterr().out == expected


@pytest.mark.parametrize("derivative", [pb.grad(noisy), pb.grad(pb.grad(noisy)), pb.hessian(noisy)])
def test_a_derivative_prints_once(derivative: Callable[..., Any], capsys: Any) -> None:
    noisy(1.5)
    expected = capsys.readouterr().out
    derivative(1.5)
    assert capsys.readouterr().out == expected


def test_a_pullback_does_not_print_again(capsys: Any) -> None:
    value, pull = pb.vjp(noisy, 1.5)
    capsys.readouterr()
    assert pull(1.0) == (9.0,)
    assert capsys.readouterr().out == ""


def recursive(n: int) -> str:
    return "" if n == 0 else recursive(n - 1) + str(n % 10)


def test_on_the_stack_of_deep_recursion() -> None:
    assert pb.jit(recursive)(300) == recursive(300)


def test_nothing_is_kept_after_the_call() -> None:
    compiled = pb.jit(grown)
    compiled(20)
    before = pb.stats().live_bytes
    for _ in range(100):
        compiled(20)
    assert pb.stats().live_bytes == before


def number(word: str, n: int) -> float:
    return float(word + str(n))


def test_what_is_no_number() -> None:
    assert pb.jit(number)("1.", 5) == 1.5
    with pytest.raises(ValueError, match="could not convert string to float: 'a5'"):
        pb.jit(number)("a", 5)


@pytest.mark.parametrize(("word", "base"), [("12", 2), ("a", 10), ("", 16), ("1", 1), ("1", 37), ("z", 0)])
def test_what_is_no_number_in_a_base(word: str, base: int) -> None:
    with pytest.raises(ValueError) as expected:
        in_base(word, base)
    with pytest.raises(ValueError) as found:
        pb.jit(in_base)(word, base)
    assert str(found.value) == str(expected.value)


def test_more_than_64_bits() -> None:
    with pytest.raises(pb.CompileError, match="this int has more than 64 bits"):
        pb.jit(lambda: int("9" * 30))()
    assert pb.jit(lambda: int("-9223372036854775808"))() == -(2**63)


@pytest.mark.parametrize(("base", "exponent", "modulus"), [(2, -1, 4), (5, 3, 0)])
def test_no_power_by_a_modulus(base: int, exponent: int, modulus: int) -> None:
    with pytest.raises(ValueError) as expected:
        modulo(base, exponent, modulus)
    with pytest.raises(ValueError) as found:
        pb.jit(modulo)(base, exponent, modulus)
    assert str(found.value) == str(expected.value)


def beyond(n: int) -> str:
    return str(n)[7]


def test_an_index_beyond_the_end() -> None:
    assert pb.jit(beyond)(12345678) == "8"
    with pytest.raises(IndexError, match="string index out of range"):
        pb.jit(beyond)(123)

"""Random programs of the whole language: `sample(seed)`; as a command it hunts for failures and makes them small.

    python tests/random_language.py --count 500 --seed 7        prints each failure, minimised; exit status 1 if any
    python tests/random_language.py --count 500 --keep          and writes it into tests/kept

CPython on the same source says what a program means, dual numbers what its derivatives are. Every program is written
around a few wanted features, so that all pairs of features meet; the rest is chance.
"""

from __future__ import annotations

import argparse
import copy
import linecache
import random
import signal
import sys
import traceback
import types
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

import adapter
import oracle
from compare import assert_same
from duals import rounded
from language_arrays import COLUMNS, ROWS
from language_scope import FEATURES
from language_writer import Writer
from structures import leaves, mapped
from test_random_programs import close, nudged

MODES = ("r", "f", "rr", "fr")
KEPT = Path(__file__).with_name("kept")
SECONDS = 60  # of a processor, for all checks of one program


@dataclass(frozen=True, slots=True)
class Sample:
    """A program as text, as a function, with its arguments, those that hold floats, and the features in it."""

    seed: int
    source: str
    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    argnums: tuple[int, ...]
    features: frozenset[str]


def function_of(source: str, name: object) -> Callable[..., Any]:
    """The function ``program`` of the text, whose source the front end finds."""
    file = f"<random program {name}>"
    linecache.cache[file] = (len(source), None, source.splitlines(True), file)
    module = types.ModuleType(f"random_language_{name}")
    sys.modules[module.__name__] = module  # dataclasses look their module up
    exec(compile(source, file, "exec", dont_inherit=True), vars(module))
    return module.program  # type: ignore[no-any-return]


def written(seed: int) -> tuple[str, tuple[Any, ...], tuple[int, ...], frozenset[str]]:
    """Text, arguments, differentiable positions and features of a seed."""
    draw = random.Random(seed)
    kinds = {"x": "num"}
    kinds |= {"y": "num"} if draw.random() < 0.5 else {}
    kinds |= {"n": "int"} if draw.random() < 0.5 else {}
    kinds |= {"u": "array"} if draw.random() < 0.4 else {}
    kinds |= {"m": "matrix"} if draw.random() < 0.2 else {}
    wanted = draw.sample(FEATURES, draw.choice([5, 6, 7, 8]))
    writer = Writer(draw.randrange(2**40))
    source = writer.program(wanted, kinds, draw.choice([2, 4, 6]))
    make = {"num": lambda: draw.gauss(0, 1), "int": lambda: draw.randint(0, 4),
            "array": lambda: np.array([draw.gauss(0, 1) for _ in range(draw.randint(3, 4))]),
            "matrix": lambda: np.array([[draw.gauss(0, 1) for _ in range(COLUMNS)] for _ in range(ROWS)])}  # fmt: skip
    arguments = tuple(make[kind]() for kind in kinds.values())
    argnums = tuple(position for position, kind in enumerate(kinds.values()) if kind != "int")
    return source, arguments, argnums, frozenset(writer.used)


def sample(seed: int) -> Sample:
    """The program of a seed."""
    source, arguments, argnums, features = written(seed)
    return Sample(seed, source, function_of(source, seed), arguments, argnums, features)


def pairs(seeds: Sequence[int]) -> Counter[tuple[str, str]]:
    """How many of the programs have both features, for every pair."""
    found: Counter[tuple[str, str]] = Counter()
    for seed in seeds:
        found.update(combinations(sorted(written(seed)[3]), 2))
    return found


# --- one program against the oracle ---------------------------------------------------------------------------------


class Check:
    """One program against CPython and dual numbers; a complaint is a kind of failure and what was seen."""

    def __init__(self, sample: Sample) -> None:
        self.sample, self.function = sample, sample.function
        self.file = sample.function.__code__.co_filename
        self.differentiates = bool({"second order", "array gradient"} & sample.features)
        self.single = "float32" in sample.source
        size = 1e-6 if self.single else 1e-14
        self.moved = [nudged(sample.arguments, size), nudged(sample.arguments, -size)]
        self.kind, self.expected, self.left = self.reference(sample.arguments)

    def reference(self, arguments: tuple[Any, ...]) -> tuple[str, Any, Any]:
        """CPython's outcome and what it leaves of the arguments; duals say it of programs that differentiate."""
        if self.differentiates:
            run = lambda: oracle.plain(oracle.fresh(self.function)(*copied(arguments)))
            return (*outcome(run, self.file), None)
        given = copied(arguments)
        return (*outcome(lambda: self.function(*given), self.file), given)

    def value(self, engine: str) -> str | None:
        given = copied(self.sample.arguments)
        kind, actual = outcome(lambda: adapter.value(self.function, given, engine), self.file)
        if kind == "failure" or self.kind == "failure":
            lines = slice(0, 3 if engine == "compiled" else 2)  # only compiled code tells the user's line
            same = kind == self.kind and actual[lines] == self.expected[lines]
            return None if same else f"{category(kind, actual)} value in {engine}: {actual!r} for {self.expected!r}"
        if not self.stable():
            return None
        try:
            assert_same(mapped(zeroed, actual), mapped(zeroed, self.expected))
        except AssertionError as error:
            return f"wrong type in {engine}: {error}"
        if not self.agree(actual, self.expected, [self.reference(moved)[1] for moved in self.moved]):
            return f"wrong value in {engine}: {actual!r} for {self.expected!r}"
        if self.left is not None and engine == "compiled":
            others = [self.reference(moved)[2] for moved in self.moved]
            if not self.agree(given, self.left, others):
                return f"wrong arguments left in {engine}: {given!r} for {self.left!r}"
        return None

    def agree(self, actual: Any, expected: Any, others: list[Any]) -> bool:
        return close(floats(actual), floats(expected), [floats(other) for other in others], self.single)

    def stable(self) -> bool:
        """The same path and types for arguments a few roundings away."""
        results = [self.reference(moved) for moved in self.moved]
        return all(kind == self.kind and repr(mapped(zeroed, value)) == repr(mapped(zeroed, self.expected))
                   for kind, value, _ in results)  # fmt: skip

    def derivative(self, mode: str, engine: str) -> str | None:
        if self.kind == "failure" or not isinstance(self.expected, (float, np.floating)) or not self.stable():
            return None
        count = sum(oracle.leaf_count(argument) for argument in self.sample.arguments)
        direction = [1.0 - 0.375 * (position % 4) for position in range(count)]
        try:
            expected = self.duals(self.sample.arguments, mode, direction)
            others = [self.shaken(self.moved[side], mode, direction, units) for side, units in enumerate((1, -1))]
        except (OverflowError, ZeroDivisionError):  # a derivative that only the oracle's checked arithmetic refuses
            return None
        argnums = self.sample.argnums
        run = lambda: adapter.derivative(self.function, copied(self.sample.arguments), argnums, mode, direction, engine)
        kind, actual = outcome(run, self.file)
        if kind == "failure":
            return f"{category(kind, actual)} {mode} in {engine}: {actual!r}"
        if not close(actual, expected, others, self.single):
            return f"wrong {mode} in {engine}: {list(map(float, actual))} for {expected}"
        return None

    def shaken(self, moved: tuple[Any, ...], mode: str, direction: list[float], units: int) -> list[float]:
        with rounded(units * float(np.finfo(np.float32 if self.single else np.float64).eps)):
            return self.duals(moved, mode, direction)

    def duals(self, arguments: tuple[Any, ...], mode: str, direction: list[float]) -> list[float]:
        if len(mode) == 1:
            return oracle.gradient(self.function, copied(arguments), self.sample.argnums)
        return oracle.second(self.function, copied(arguments), self.sample.argnums, direction)


def copied(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    return copy.deepcopy(arguments)


def zeroed(leaf: Any) -> Any:
    return type(leaf)(0) if isinstance(leaf, (float, np.floating)) else None if isinstance(leaf, np.ndarray) else leaf


def floats(value: Any) -> list[float]:
    return [float(n) for leaf in leaves(value) for n in np.ravel(leaf) if isinstance(n, (float, np.floating))]


def outcome(call: Callable[[], Any], file: str) -> tuple[str, Any]:
    """("value", the result) or ("failure", (name of the exception, message, the user's line, where inside))."""
    try:
        with np.errstate(all="ignore"):
            return "value", call()
    except TimeoutError:
        raise
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)
        line = max((place for place, frame in enumerate(frames) if frame.filename == file), default=-1)
        last = frames[-1]
        inside = f"{Path(last.filename).name}:{last.lineno}" if "/pullback/" in last.filename else ""
        return "failure", (type(error).__name__, str(error), frames[line].lineno if line >= 0 else 0, inside)


def category(kind: str, actual: Any) -> str:
    names = {"CompileError": "refusal of", "CompileTypeError": "refusal of", "InternalError": "internal error in"}
    return names.get(actual[0], "wrong exception of") if kind == "failure" else "no exception of"


@contextmanager
def within(seconds: int) -> Iterator[None]:
    """TimeoutError after a while of this process's own time: a busy machine is no failure."""

    def late(*_: Any) -> None:
        raise TimeoutError(f"more than {seconds} s")

    before = signal.signal(signal.SIGPROF, late)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def first_complaint(sample: Sample, checks: Sequence[tuple[str, str]], seconds: int = SECONDS) -> str | None:
    """The first thing wrong: checks are ("value" or a mode, engine)."""
    with warnings.catch_warnings(), within(seconds):
        warnings.simplefilter("ignore")
        check = Check(sample)
        if check.kind == "failure" and check.expected[0] == "RecursionError":
            return None
        for what, engine in checks:
            found = check.value(engine) if what == "value" else check.derivative(what, engine)
            if found is not None:
                return found
    return None


def checks_for(seed: int, *, thorough: bool) -> list[tuple[str, str]]:
    """What to check of a program: one mode, and of every second one the value too; or all."""
    if thorough:
        rest = [(mode, "compiled") for mode in MODES] + [("value", "interpreter"), ("value", "plain"), ("fr", "plain")]
        return [("value", "compiled"), *rest]
    mode = (MODES[seed // 2 % 4], "compiled")
    return [mode] if seed % 2 else [("value", "compiled"), mode]


def complaint(seed: int, *, thorough: bool) -> str | None:
    """What is wrong with the program of a seed, if anything."""
    return first_complaint(sample(seed), checks_for(seed, thorough=thorough))


# --- the command ----------------------------------------------------------------------------------------------------


def examined(seed: int, thorough: bool) -> str | None:
    try:
        return complaint(seed, thorough=thorough)
    except TimeoutError as error:
        return f"timeout: {error}"


def judged(
    source: str, arguments: tuple[Any, ...], argnums: tuple[int, ...], features: frozenset[str], checks: Any
) -> Any:
    """A complaint about a text; None where CPython does not take it."""
    try:
        made = Sample(0, source, function_of(source, abs(hash(source))), arguments, argnums, features)
        return first_complaint(made, checks, seconds=6)  # a statement left out may leave an endless loop
    except TimeoutError:
        return "timeout"
    except Exception:
        return None


class Pool:
    """Worker processes, replaced when a program crashes one."""

    def __init__(self, jobs: int) -> None:
        self.jobs = jobs
        self.pool = ProcessPoolExecutor(jobs)

    def run(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """The answer of one call, or "crash"."""
        try:
            return self.pool.submit(function, *arguments).result(timeout=8 * SECONDS)
        except (BrokenProcessPool, TimeoutError):
            self.pool = ProcessPoolExecutor(self.jobs)
            return "crash"

    def map(self, seeds: Sequence[int], thorough: bool) -> Iterator[tuple[int, str | None]]:
        for start in range(0, len(seeds), 8 * self.jobs):
            chunk = seeds[start : start + 8 * self.jobs]
            futures = [self.pool.submit(examined, seed, thorough) for seed in chunk]
            try:
                yield from [(seed, future.result(timeout=8 * SECONDS)) for seed, future in zip(chunk, futures)]
            except (BrokenProcessPool, TimeoutError):
                self.pool = ProcessPoolExecutor(self.jobs)
                yield from [(seed, self.run(examined, seed, thorough)) for seed in chunk]


# --- programs that once failed --------------------------------------------------------------------------------------


def kept() -> list[Path]:
    return sorted(KEPT.glob("*.py"))


def keep(path: Path, told: str, source: str, arguments: tuple[Any, ...], argnums: tuple[int, ...]) -> None:
    """Write a program that failed, with what it takes to run it again."""
    lines = [f"# {told.splitlines()[0][:100]}", f"# arguments: {arguments!r}", f"# argnums: {argnums!r}"]
    path.write_text("\n".join(lines) + "\n" + source)


def kept_sample(path: Path) -> Sample:
    """The program of a file in `tests/kept`."""
    source = path.read_text()
    _, arguments, argnums = (line.partition(": ")[2] for line in source.splitlines()[:3])
    features = frozenset({"second order"} if "pb." in source.partition("def program")[2] else ())
    given = eval(arguments, {"array": np.array, "np": np, "float32": np.float32})
    return Sample(0, source, function_of(source, path.stem), given, eval(argnums), features)


def report(pool: Pool, seed: int, told: str, *, thorough: bool, minimise: bool, to: Path | None = None) -> str:
    """The failure with its program, made as small as is simple."""
    from language_minimise import minimised

    source, arguments, argnums, features = written(seed)
    if minimise:
        checks = checks_for(seed, thorough=thorough)
        ask = lambda text: pool.run(judged, text, arguments, argnums, features, checks)
        source, told = minimised(source, told, ask)
    if to is not None:
        keep(to / f"seed_{seed}.py", told, source, arguments, argnums)
    return f"seed {seed}: {told}\narguments {arguments!r}, argnums {argnums}\n{source}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--thorough", action="store_true")
    parser.add_argument("--raw", action="store_true", help="do not minimise")
    parser.add_argument("--keep", action="store_true", help="write each failure into tests/kept")
    parser.add_argument("--most", type=int, default=1000, help="stop after so many failures")
    options = parser.parse_args()
    pool, failures = Pool(options.jobs), Counter[str]()
    for seed, told in pool.map(range(options.seed, options.seed + options.count), options.thorough):
        if told is not None:
            failures[told.partition(":")[0]] += 1
            to = KEPT if options.keep else None
            print(report(pool, seed, told, thorough=options.thorough, minimise=not options.raw, to=to), flush=True)
            if failures.total() >= options.most:
                break
    print(f"{failures.total()} failures: {dict(failures.most_common())}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())

"""Classes and objects: programs through CPython, dual numbers, the interpreter and compiled code; guards; the boundary.

Fast: every program's compiled value, its gradient in reverse mode, and a second derivative in the interpreter. The
other modes are slow tests.
"""

from __future__ import annotations

import functools
import os
import subprocess
import sys
import textwrap
import traceback
from collections import namedtuple
from dataclasses import FrozenInstanceError, dataclass
from enum import Enum, Flag, IntFlag, auto
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import adapter
import object_algebra
import object_fields
import object_idioms
import object_pairs
import object_programs
import oracle
import pullback as pb
import random_objects
from compare import assert_gradient, assert_same

PROGRAMS = {**object_programs.PROGRAMS, **object_pairs.PROGRAMS, **object_idioms.PROGRAMS}
programs = pytest.mark.parametrize("name", PROGRAMS)
SLOW = pytest.mark.slow


def relative(arguments: tuple[Any, ...]) -> float:
    return 1e-5 if isinstance(arguments[0], np.float32) else 1e-9


@programs
@pytest.mark.parametrize("engine", ["compiled", *[pytest.param(name, marks=SLOW) for name in adapter.ENGINES[1:]]])
def test_value(name: str, engine: str) -> None:
    function, arguments = PROGRAMS[name]
    assert_same(adapter.value(function, arguments, engine), function(*arguments), operations=50)


@programs
@pytest.mark.parametrize(
    ("mode", "engine"),
    [
        ("r", "compiled"),
        *[pytest.param("f", engine, marks=SLOW) for engine in ("compiled", "interpreter")],
        pytest.param("r", "plain", marks=SLOW),
    ],
)
def test_gradient(name: str, mode: str, engine: str) -> None:
    function, arguments = PROGRAMS[name]
    expected = oracle.gradient(function, arguments, (0,))
    actual = adapter.derivative(function, arguments, (0,), mode, [1.0], engine)
    assert_gradient(actual, expected, relative=relative(arguments))


@pytest.mark.parametrize("name", [pytest.param(n, marks=SLOW) if n in object_idioms.PROGRAMS else n for n in PROGRAMS])
@pytest.mark.parametrize(
    ("mode", "engine"),
    [
        ("fr", "interpreter"),
        *[pytest.param(mode, "compiled", marks=SLOW) for mode in adapter.SECOND_ORDER],
        *[pytest.param(mode, "interpreter", marks=SLOW) for mode in ("rr", "rf", "ff")],
    ],
)
def test_second_derivative(name: str, mode: str, engine: str) -> None:
    function, arguments = PROGRAMS[name]
    expected = oracle.second(function, arguments, (0,), [1.0])
    actual = adapter.derivative(function, arguments, (0,), mode, [1.0], engine)
    assert_gradient(actual, expected, relative=relative(arguments))


# ------------------------------------------------------------------------------------------------------- guards


class Rated:
    rate = 2.0

    def scaled(self, x):
        return x * self.rate


class Derived(Rated):
    pass


def test_class_attributes_are_read_at_call_time(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = pb.jit(lambda x: Derived().scaled(x))
    assert compiled(3.0) == 6.0
    before = len(compiled.specializations)
    monkeypatch.setattr(Rated, "rate", 5.0)
    assert compiled(3.0) == 15.0
    assert len(compiled.specializations) == before


def test_a_changed_method_is_compiled_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = pb.jit(lambda x: Derived().scaled(x))
    assert compiled(3.0) == 6.0
    monkeypatch.setattr(Rated, "scaled", lambda self, x: x + 1.0)
    assert compiled(3.0) == 4.0
    monkeypatch.setattr(Derived, "scaled", lambda self, x: x + 2.0, raising=False)
    assert compiled(3.0) == 5.0


def test_code_with_classes_is_kept_for_later_processes(tmp_path: Path) -> None:
    source = """
        import sys
        import pullback as pb
        class Model:
            def __init__(self, x): self.x = x
            @property
            def square(self): return self.x * self.x
            def value(self): return self.square + 1.0
        def f(x): return Model(x).value()
        if __name__ == "__main__":
            import kept
            print(pb.jit(kept.f)(3.0), "pullback.pipeline" in sys.modules)
    """
    path = tmp_path / "kept.py"
    environment = {**os.environ, "PULLBACK_CACHE_DIR": str(tmp_path / "cache"), "PYTHONDONTWRITEBYTECODE": "1"}

    def run(text: str) -> str:
        path.write_text(textwrap.dedent(text))
        command = [sys.executable, str(path)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, cwd=tmp_path, check=True)
        return done.stdout.strip()

    assert run(source) == "10.0 True"
    assert run(source) == "10.0 False"
    assert run(source.replace("self.x * self.x", "self.x + self.x")) == "7.0 True"


# ---------------------------------------------------------------------------------------------------- the boundary


class Pair(NamedTuple):
    first: float
    second: Any = 2.0


Old = namedtuple("Old", "a b")  # noqa: PYI024


class Color(Enum):
    RED = 1
    GREEN = 2


def test_named_tuples_come_back_as_what_they_are() -> None:
    result = pb.jit(lambda x: [Pair(x, Old(x, 1)), {"k": Pair(x)}])(3.0)
    assert_same(result, [Pair(3.0, Old(3.0, 1)), {"k": Pair(3.0)}])
    assert hash(result[0]) == hash(Pair(3.0, Old(3.0, 1)))


def test_the_gradient_of_a_named_tuple_is_one() -> None:
    gradient = pb.grad(lambda p: p.first * p.second)(Pair(3.0, 4.0))
    assert_same(gradient, Pair(4.0, 3.0))


def test_enums_go_in_and_out() -> None:
    other = pb.jit(lambda c: Color.GREEN if c is Color.RED else Color.RED)
    assert other(Color.RED) is Color.GREEN
    assert other(Color.GREEN) is Color.RED


class Model:
    def __init__(self, w):
        self.w = w

    def loss(self, x, k=2.0):
        return self.w * x**2 * k

    def __call__(self, x):
        return self.w * x**3


MODEL = Model(3.0)


def test_bound_methods_partials_and_callable_objects_from_python(monkeypatch: pytest.MonkeyPatch) -> None:
    model = Model(3.0)
    assert pb.jit(model.loss)(2.0) == 24.0
    slope = pb.grad(model.loss)
    assert slope(2.0) == 24.0
    model.w = 1.0
    assert slope(2.0) == 8.0
    assert pb.grad(functools.partial(model.loss, k=3.0))(2.0) == 12.0
    assert pb.grad(model)(2.0) == 12.0
    compiled = pb.jit(lambda x: MODEL(x) + MODEL.loss(x))
    assert compiled(1.0) == 9.0
    monkeypatch.setattr(MODEL, "w", 1.0)
    assert compiled(1.0) == 3.0


@pytest.mark.parametrize("function", [object_idioms.default_obj, object_idioms.global_obj])
def test_objects_in_defaults_and_globals(function: Any) -> None:
    assert pb.jit(function)(1.3) == function(1.3)
    assert_gradient([pb.grad(function)(1.3)], oracle.gradient(function, (1.3,), (0,)))
    assert_gradient([pb.grad(pb.grad(function))(1.3)], oracle.second(function, (1.3,), (0,), [1.0]))


def test_a_function_with_stars_takes_keywords_from_python() -> None:
    def scaled(first, *rest, scale=2.0, **more):
        return (first + sum(rest)) * scale * more.get("extra", 1.0)

    compiled = pb.jit(scaled)
    for arguments, keywords in (((1.0,), {}), ((1.0, 2.0), {"scale": 3.0}), ((1.0, 2.0, 4.0), {"extra": 5.0})):
        assert_same(compiled(*arguments, **keywords), scaled(*arguments, **keywords))
        expected = scaled(1.0, **keywords)
        assert pb.grad(scaled)(*arguments, **keywords) == expected
    with pytest.raises(TypeError, match="missing required argument: 'first'"):
        compiled(scale=1.0)


class Shown:
    def __init__(self, x):
        self.x = x

    def __repr__(self):
        return f"Shown({self.x})"


@dataclass
class Written:
    x: float
    next: Any = None


def test_objects_as_text() -> None:
    def f(x: float) -> str:
        return f"{Shown(x)} {[Shown(x)]} {Written(x, Written(2.0))!r} {Pair(x)} {Color.RED} {Color.GREEN!r}"

    assert pb.jit(f)(1.5) == f(1.5)


# ---------------------------------------------------------------------------------------------------- what fails


class Partly:
    def __init__(self, x, flag):
        if flag:
            self.x = x


def partly(x, flag):
    return Partly(x, flag).x * 2.0


def test_a_field_that_is_not_set_raises_as_in_python() -> None:
    compiled = pb.jit(partly)
    assert compiled(2.0, True) == 4.0
    with pytest.raises(AttributeError, match="'Partly' object has no attribute 'x'") as caught:
        compiled(2.0, False)
    assert traceback.extract_tb(caught.value.__traceback__)[-1].name == "partly"


@pytest.mark.parametrize("function, arguments", [(f, given) for f, cases in object_fields.CASES for given in cases])
def test_fields_as_they_are_set_and_read(function: Any, arguments: tuple[Any, ...]) -> None:
    """The value, or the exception and its message, of programs in which it matters what is set when."""

    def outcome(run: Any) -> Any:
        try:
            return run(*arguments)
        except (AttributeError, ValueError) as error:
            return type(error).__name__, str(error).partition("\n")[0]

    assert outcome(pb.jit(function)) == outcome(function)


def test_a_deleted_field_is_gone() -> None:
    def f(x: float, flag: bool) -> float:
        p = Partly(x, True)
        if flag:
            del p.x
        return p.x if hasattr(p, "x") else -1.0

    compiled = pb.jit(f)
    assert (compiled(2.0, False), compiled(2.0, True)) == (2.0, -1.0)


def test_none_has_no_attributes() -> None:
    def f(x: float) -> float:
        model = Model(x) if x > 0.0 else None
        return model.w

    compiled = pb.jit(f)
    assert compiled(2.0) == 2.0
    with pytest.raises(AttributeError, match="'NoneType' object has no attribute 'w'"):
        compiled(-2.0)


@pytest.mark.parametrize("number", [1, 3])
def test_the_lookup_of_an_enum(number: int) -> None:
    compiled = pb.jit(lambda n: Color(n).value)
    if number == 1:
        assert compiled(number) == 1
    else:
        with pytest.raises(ValueError, match="3 is not a valid Color"):
            compiled(number)


class Mode(Flag):
    FAST = auto()
    LOUD = auto()


class Right(IntFlag):
    READ = 4
    WRITE = 2


def flagged(x: float, n: int) -> Any:
    mode = Mode(0)
    for i in range(n):
        if i % 2:
            mode |= Mode.FAST
        else:
            mode = mode ^ Mode.LOUD
    if Mode.FAST in mode:
        return 2.0 * x * x
    return 3.0 * x if mode else x * (5.0 if ~mode == Mode.FAST | Mode.LOUD else 7.0)


@pytest.mark.parametrize("n", [0, 1, 2, 3])
def test_flags_are_put_together(n: int) -> None:
    assert pb.jit(flagged)(1.5, n) == flagged(1.5, n)
    slope = (flagged(1.5 + 1e-6, n) - flagged(1.5 - 1e-6, n)) / 2e-6
    assert pb.grad(flagged)(1.5, n) == pytest.approx(slope, rel=1e-8)


@pytest.mark.parametrize("number", [0, 1, 2, 3, 4])
def test_the_lookup_of_flags(number: int) -> None:
    compiled = pb.jit(lambda n: (Mode(n), Mode.FAST in Mode(n)))
    if number < 4:
        assert compiled(number) == (Mode(number), Mode.FAST in Mode(number))
    else:
        with pytest.raises(ValueError):
            compiled(number)


def test_flags_come_and_go() -> None:
    def f(mode: Mode, right: Right) -> Any:
        return mode | Mode.LOUD, ~Right.READ, right | 8, right & Right.WRITE, int(right) + 1

    assert pb.jit(f)(Mode.FAST, Right.READ) == f(Mode.FAST, Right.READ)


@dataclass(frozen=True)
class Frozen:
    x: float


def test_frozen_is_frozen() -> None:
    def f(x: float) -> float:
        frozen = Frozen(x)
        frozen.x = 2.0
        return frozen.x

    with pytest.raises(FrozenInstanceError):
        f(1.0)
    with pytest.raises(pb.CompileError, match="cannot assign to field 'x'"):
        pb.jit(f)(1.0)


# -------------------------------------------------------------------------------------------------- what it costs


def test_local_objects_cost_nothing() -> None:
    from pullback import pipeline

    def f(x: float) -> float:
        model = Model(x)
        model.w = model.loss(x) + 1.0
        return model(x)

    lowered = pipeline.lower(pipeline.Request("call", f, (2.0,), ("x",)))
    names = [op.name for op in lowered.program.functions[lowered.program.entry].body.walk()]
    assert not [name for name in names if name.startswith("table")]


def test_recursive_types_need_few_specializations() -> None:
    from pullback import pipeline

    function, arguments = PROGRAMS["search_tree"]
    lowered = pipeline.lower(pipeline.Request("call", function, arguments, ("a", "n")), pipeline.Options(passes=False))
    assert len(lowered.program.functions) <= 12


def test_many_classes_in_one_recursion_compile_in_one_round() -> None:
    """Methods of ten classes that call one another: each is inferred a few times, not once per path."""
    import linecache

    from pullback import pipeline

    lines = ["class Base:", "    def __init__(self, a, b=None): self.a, self.b = a, b"]
    for i in range(10):
        lines += [f"class K{i}(Base):", "    def value(self, x):"]
        lines += [f"        return {i} * x + (self.b.value(x) if self.b else self.a)"]
    lines += ["def pick(k, a, b):", *[f"    if k == {i}: return K{i}(a, b)" for i in range(10)], "    return K0(a, b)"]
    lines += ["def f(a, n):", "    e = None", "    for i in range(n): e = pick(i, a, e)", "    return e.value(a)"]
    text = "\n".join(lines)
    linecache.cache["<many>"] = (len(text), None, text.splitlines(keepends=True), "<many>")
    scope: dict[str, Any] = {}
    exec(compile(text, "<many>", "exec"), scope)
    assert pb.jit(scope["f"])(0.5, 12) == scope["f"](0.5, 12)
    request = pipeline.Request("call", scope["f"], (0.5, 12), ("a", "n"))
    lowered = pipeline.lower(request, pipeline.Options(passes=False))
    assert len(lowered.program.functions) < 40


@pytest.mark.slow
def test_symbolic_algebra() -> None:
    function = object_algebra.slope_and_curvature
    assert_same(pb.jit(function)(0.7), function(0.7), operations=50)
    assert_gradient([pb.grad(function)(0.7)], oracle.gradient(function, (0.7,)))


# ---------------------------------------------------------------------------------------------- random programs


@pytest.mark.parametrize("seed", [*range(6), *[pytest.param(seed, marks=SLOW) for seed in range(6, 150)]])
def test_random_programs(seed: int) -> None:
    _, function = random_objects.program(seed)
    arguments = (0.7, -0.4)
    expected = function(*arguments)
    for engine in adapter.ENGINES:
        assert_same(adapter.value(function, arguments, engine), expected, operations=200)
    gradient = oracle.gradient(function, arguments, (0, 1))
    for mode in adapter.FIRST_ORDER:
        actual = adapter.derivative(function, arguments, (0, 1), mode, [1.0, 0.5], "compiled")
        assert_gradient(actual, gradient, relative=1e-8)

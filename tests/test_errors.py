"""Golden error messages: each `errors/<topic>/<case>.py` is a program that must be refused, `<case>.err` what is said.

    def f(x):                       CompileError: ...
        with open("file"): ...        --> with_statement.py:5:5 in f
    ARGS = (2.0,)                   ...

`pytest tests/test_errors.py --update-golden` writes the `.err` files; read each by eye before it is committed.
"""

from __future__ import annotations

import functools
import importlib.util
import linecache
import math
import pickle
import re
import traceback
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import pullback as pb

FOLDER = Path(__file__).parent / "errors"
CASES = sorted(FOLDER.glob("*/*.py"))


def load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"error_case_{path.parent.name}_{path.stem}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run(module: ModuleType) -> Any:
    """A case has its own `call()`, or `f` with ARGS, and by choice API (default "jit") and OPTIONS."""
    if hasattr(module, "call"):
        return module.call()
    api = getattr(pb, getattr(module, "API", "jit"))
    return api(module.f, **getattr(module, "OPTIONS", {}))(*module.ARGS)


def refusal(path: Path) -> str:
    """The kind and the whole text of the error, without folders and addresses."""
    module = load(path)
    try:
        with np.errstate(all="ignore"):
            result = run(module)
    except (pb.CompileError, TypeError, ValueError, OverflowError) as error:
        text = f"{type(error).__name__}: {error}\n{place_of(error, path)}"
    else:
        pytest.fail(f"{path.name} was accepted and gave {result!r}")
    text = re.sub(r"(?:/[\w.@+-]+)+/([\w.-]+\.py)", r"\1", text)
    return re.sub(r"0x[0-9a-f]{4,}", "0x...", text)


def place_of(error: BaseException, path: Path) -> str:
    """The line of the case at which compiled code raised the error; empty for errors that were raised before it ran."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    return f"  at {path.name}:{last.lineno}: {last.line}\n" if last.filename == str(path) else ""


@pytest.mark.parametrize("path", CASES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_golden_error(path: Path, update_golden: bool) -> None:
    actual = refusal(path)
    golden = path.with_suffix(".err")
    if update_golden:
        golden.write_text(actual)
    assert golden.exists(), f"no {golden.name}; the message is\n{actual}"
    assert actual == golden.read_text()


def test_there_are_enough_cases() -> None:
    assert len(CASES) >= 50
    assert not [path for path in FOLDER.glob("*/*.err") if not path.with_suffix(".py").exists()]


@pytest.mark.parametrize("path", CASES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_compile_errors_name_line_and_caret(path: Path) -> None:
    module = load(path)
    try:
        with np.errstate(all="ignore"):
            run(module)
    except pb.CompileError as error:
        if path.parent.name == "source":  # there is no line to show
            return
        text = str(error)
        assert re.search(r"-->.*:\d+:\d+", text), text
        assert "^" in text, text
    except (TypeError, ValueError, OverflowError):
        return


# ------------------------------------------------------------------------------- what no golden file can show


def from_text(text: str, name: str, file: str) -> Any:
    """A function as a notebook, a doctest or a prompt makes it: its text is found only through `linecache`."""
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    namespace: dict[str, Any] = {"math": math}
    exec(compile(text, file, "exec"), namespace)
    return namespace[name]


@pytest.mark.parametrize("file", ["<ipython-input-3-0a1b>", "/tmp/ipykernel_12/34.py", "<doctest model[1]>", "<stdin>"])
def test_functions_that_are_in_no_file(file: str) -> None:
    f = from_text("x0 = 1.0\ndef f(x):\n    return x * x + x0\n", "f", file)
    assert pb.grad(f)(3.0) == 6.0
    g = from_text("def g(x):\n    return x.foo\n", "g", file)
    with pytest.raises(pb.CompileError) as info:
        pb.jit(g)(3.0)
    assert f"--> {file}:2:12 in g" in str(info.value)
    assert "2 |     return x.foo" in str(info.value)


def test_the_traceback_has_no_frames_of_the_compiler() -> None:
    with pytest.raises(pb.CompileError) as info:
        pb.jit(lambda x: x.foo)(2.0)
    assert len(traceback.extract_tb(info.value.__traceback__)) == 2  # this one, and the one that it is called through
    assert info.value.__cause__ is None and info.value.__suppress_context__


def test_what_a_first_call_raises_has_no_frames_of_the_compiler() -> None:
    def second(u: Any, i: int) -> Any:
        return u[i] * 2.0

    f = pb.jit(lambda u: second(u, 5))
    places = []
    for _ in range(2):  # the second call goes to native code at once
        with pytest.raises(IndexError) as info:
            f(np.zeros(3))
        places.append([frame.name for frame in traceback.extract_tb(info.value.__traceback__)])
    first, again = places
    assert first == [first[0], "_miss", "second"] and again == [first[0], "second"]


def test_errors_of_types_are_type_errors() -> None:
    with pytest.raises(TypeError):
        pb.jit(lambda x: x + None)(2.0)
    with pytest.raises(TypeError):
        pb.jit(lambda x: math.sin(x, x))(2.0)


def dispatched(x):
    @functools.singledispatch
    def g(y):
        return y * x

    return g(x)


def test_the_insides_of_the_library_are_only_noted() -> None:
    with pytest.raises(pb.CompileError) as info:
        pb.jit(dispatched)(2.0)
    text = str(info.value)
    assert "singledispatch(), of Python's own library, cannot be compiled" in text
    assert "@functools.singledispatch\n" in text and "note: the reason stands at" in text


LONG = {
    "parentheses": "def f(x):\n    return " + "(" * 150 + "x" + ")" * 150 + "\n",
    "terms": "def f(x):\n    return " + " + ".join(["x"] * 900) + "\n",
    "signs": "def f(x):\n    return " + "-" * 400 + "x\n",
    "calls": "def f(x):\n    return " + "math.sin(" * 60 + "x" + ")" * 60 + "\n",
    "lines": "def f(x):\n    r = x\n" + "    r = r * 0.99 + x\n" * 500 + "    return r\n",
    "cases": "def f(x):\n    if x < 0.0:\n        return x\n"
    + "".join(f"    elif x < {i}.5:\n        return x * {i}.0\n" for i in range(150))
    + "    return 0.0\n",
    "levels": "def f(x):\n"
    + "".join("    " * (i + 1) + f"if x > {i}.0:\n" for i in range(60))
    + "    " * 61
    + "return x\n    return -x\n",
}


@pytest.mark.parametrize("shape", LONG)
def test_long_and_deep_functions(shape: str) -> None:
    f = from_text(LONG[shape], "f", f"<{shape}>")
    assert pb.jit(f)(20.25) == pytest.approx(f(20.25), rel=1e-12)


def test_three_hundred_parameters() -> None:
    names = ", ".join(f"a{i}" for i in range(300))
    f = from_text(f"def f({names}):\n    return a0 * a299\n", "f", "<parameters>")
    assert pb.grad(f)(*[3.0] * 300) == 3.0
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'a299'"):
        pb.jit(f)(*[3.0] * 299)


def test_names_that_the_compiler_uses_too() -> None:
    names = ["function", "helper", "value", "x0", "lambda_", "print"]
    text = f"def f({', '.join(names)}):\n    return {' * '.join(names)}\n"
    assert pb.grad(from_text(text, "f", "<names>"), argnums=(0, 5))(*[2.0] * 6) == (32.0, 32.0)


# ------------------------------------------------------------------------------------ shapes that do not fit


def in_a_branch(x, p):
    a = np.full(3, x)
    if p:
        a = a + np.ones(4)
    return np.sum(a)


def in_a_loop(x, n):
    a = np.full(3, x)
    for _ in range(n):
        a = a * np.ones(4)
    return np.sum(a)


def in_a_product(x, p):
    a = np.array([[x, 1.0], [2.0, x]])
    return np.sum(a @ np.ones((3, 2))) if p else np.sum(a @ a)


def after_a_return(x, n):
    if n == 0:
        return x
    return np.sum(np.zeros(3) + np.ones(4)) * x


def by_slices(x, n):
    a = np.full(5, x)
    return np.sum(a[:n] + a[: n + 1])


@pytest.mark.parametrize("f", [in_a_branch, in_a_loop, in_a_product, after_a_return, by_slices])
def test_shapes_are_compared_where_the_line_runs(f: Any) -> None:
    """Calls that do not get to the line, or to which it fits, are calls like others."""
    for n in (0, 1, 2, 5, 9):
        try:
            expected = f(1.5, n)
        except ValueError as error:
            for call in (pb.jit(f), pb.grad(f)):
                with pytest.raises(ValueError, match=re.escape(str(error).strip())) as info:
                    call(1.5, n)
                assert not isinstance(info.value, pb.CompileError)
        else:
            assert pb.jit(f)(1.5, n) == expected
            pb.check_grads(f, (1.5, n))


def test_a_certain_mismatch_is_a_value_error_too() -> None:
    def f(x):
        return np.zeros(3) * x + np.ones(4)

    for make in (lambda: pb.jit(f)(2.0), lambda: pb.jvp(f, (2.0,), (1.0,)), lambda: pb.vjp(f, 2.0)):
        with pytest.raises(ValueError) as info:
            make()
        assert isinstance(info.value, pb.CompileError)
        again = pickle.loads(pickle.dumps(info.value))
        assert type(again) is type(info.value) and str(again) == str(info.value)
    with pytest.raises(pb.CompileError, match="could not be broadcast"):
        pb.grad(lambda x: np.sum(f(x)))(2.0)

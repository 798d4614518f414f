"""What an earlier process left is used if nothing that matters has changed, and not if anything has.

Each case is a program, a change, and whether the code that was kept for the one serves the other; the value is always
that of Python.
"""

import importlib
import linecache
import sys
from dataclasses import dataclass, replace

import numpy as np
import pytest

import pullback as pb
from pullback import pipeline
from pullback.codegen import cache, manifest, target

MAIN = """
import math
import kept_helpers
from kept_helpers import scale as imported

RATE = 0.5
MODE = "sum"
SQUARED = True
LIMIT = None


def helper(x):
    return 2.0 * x + deeper(x)


def deeper(x):
    return 0.25 * x


def other(x):
    return 3.0 * x


def make(k, inner, word):
    def f(x, y=1.5, word_of_call="plain"):
        r = inner(x) * k + helper(x) * RATE + kept_helpers.shift(x) + imported(y)
        if MODE == "sum":
            r += abs(x)
        if SQUARED and LIMIT is None:
            r *= r
        if word == "twice":
            r *= 2.0
        if word_of_call == "minus":
            r = -r
        return math.sin(r)

    return f


f = make(3.0, other, "once")


def unused(x):
    return x


def total(a):
    r = 0.0
    for i in range(len(a)):
        r += float(a[i].sum()) if a.ndim > 1 else float(a[i])
    return r
"""
HELPERS = """
def scale(x):
    return 7.0 * x


def shift(x):
    return x + OFFSET


OFFSET = 1.0
"""


@pytest.fixture
def load(tmp_path, monkeypatch):
    """A function that imports the program anew, as another process would find it."""
    monkeypatch.setenv("PULLBACK_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.syspath_prepend(str(tmp_path))

    def fresh(main=MAIN, helpers=HELPERS):
        for name, text in (("kept_helpers", helpers), ("kept_main", main)):
            (tmp_path / f"{name}.py").write_text(text)
            sys.modules.pop(name, None)
        linecache.checkcache()
        importlib.invalidate_caches()
        return importlib.import_module("kept_main")

    yield fresh
    for name in ("kept_helpers", "kept_main"):
        sys.modules.pop(name, None)


@pytest.fixture
def compiled(monkeypatch):
    """The compilations that took place."""
    known, compile_entry = [], pipeline.compile_entry
    monkeypatch.setattr(pipeline, "compile_entry", lambda *given: known.append(given) or compile_entry(*given))
    return known


def changed(text, old, new):
    assert text.count(old) == 1, old
    return text.replace(old, new)


MATTER = {
    "the body": ("return math.sin(r)", "return math.cos(r)"),
    "the body, not its length": ("r += abs(x)", "r -= abs(x)"),
    "a helper": ("return 2.0 * x + deeper(x)", "return 2.5 * x + deeper(x)"),
    "the helper of a helper": ("0.25 * x", "0.75 * x"),
    "a captured function": ("make(3.0, other", "make(3.0, deeper"),
    "the body of a captured function": ("return 3.0 * x", "return 3.5 * x"),
    "a global that is another function": ("def unused(x):\n    return x", "helper = deeper\n"),
    "a global str": ('MODE = "sum"', 'MODE = "none"'),
    "a global bool": ("SQUARED = True", "SQUARED = False"),
    "a global None": ("LIMIT = None", "LIMIT = 1.0"),
    "a captured str": ('"once")', '"twice")'),
    "a default str": ('word_of_call="plain"', 'word_of_call="minus"'),
    "a global that hides a builtin": ("def unused(x):\n    return x", "def abs(x):\n    return 2.0 * x\n"),
    "the type of a global": ("RATE = 0.5", "RATE = 2"),
    "an imported function": ("import scale as imported", "import shift as imported"),
}


@pytest.mark.parametrize("change", MATTER)
def test_a_change_that_matters_is_compiled(load, compiled, change):
    main = load()
    assert pb.jit(main.f)(0.3) == pytest.approx(main.f(0.3), rel=1e-15)
    main = load(changed(MAIN, *MATTER[change]))
    assert pb.jit(main.f)(0.3) == pytest.approx(main.f(0.3), rel=1e-15)
    assert len(compiled) == 2
    main = load()
    assert pb.jit(main.f)(0.3) == pytest.approx(main.f(0.3), rel=1e-15)
    assert len(compiled) == 2


@pytest.mark.parametrize("change", [("return 7.0 * x", "return 8.0 * x"), ("return x + OFFSET", "return x - OFFSET")])
def test_a_helper_in_another_module_matters(load, compiled, change):
    for helpers in (HELPERS, changed(HELPERS, *change)):
        main = load(helpers=helpers)
        assert pb.grad(main.f)(0.3) == pytest.approx((main.f(0.3 + 1e-6) - main.f(0.3 - 1e-6)) / 2e-6, rel=1e-6)
    assert len(compiled) == 2


def test_what_does_not_matter_compiles_nothing(load, compiled):
    """Captured numbers are read when the function is called; other functions are not reached."""
    changes = [
        ("RATE = 0.5", "RATE = 0.75"),
        ("make(3.0", "make(4.0"),
        ("y=1.5", "y=2.5"),
        ("def unused(x):\n    return x", "def unused(x):\n    return x + 1"),
    ]
    main = load()
    pb.jit(main.f)(0.3)
    for change in changes:
        main = load(changed(MAIN, *change))
        assert pb.jit(main.f)(0.3) == pytest.approx(main.f(0.3), rel=1e-15)
        assert pb.jit(main.f)(0.6) == pytest.approx(main.f(0.6), rel=1e-15)
    main = load(helpers=changed(HELPERS, "OFFSET = 1.0", "OFFSET = 2.0"))
    assert pb.jit(main.f)(0.3) == pytest.approx(main.f(0.3), rel=1e-15)
    assert len(compiled) == 1


def test_arguments_are_part_of_the_key(load, compiled):
    """Type, dtype, rank, axes of size 1, contiguity, whether it may be written; never another size."""
    locked = np.ones(3)
    locked.setflags(write=False)
    arrays = [np.arange(3.0), np.arange(3, dtype=np.float32), np.arange(3), np.ones((3, 2)), np.ones((3, 1)),
              np.arange(6.0)[::2], np.ones((2, 3)).T, locked]  # fmt: skip
    for repeat in range(2):
        for a in arrays:
            main = load()
            assert pb.jit(main.total)(a) == main.total(a)
        assert len(compiled) == len(arrays), repeat
    main = load()
    assert pb.jit(main.total)(np.arange(50.0)) == 1225.0 and len(compiled) == len(arrays)
    for x in (1, 0.5, np.float64(0.5), np.float32(0.5), True):
        main = load()
        assert pb.jit(main.f)(x) == pytest.approx(float(main.f(x)), rel=1e-6)
    assert len(compiled) == len(arrays) + 5


def test_transformations_and_flags_are_part_of_the_key(load, compiled):
    makers = [
        *(pb.jit, pb.grad, pb.value_and_grad, pb.hessian, lambda f: pb.grad(f, (0,)), lambda f: pb.grad(pb.grad(f))),
        *(pb.jit(error_model="numpy"), pb.jit(boundscheck=False), pb.jit(fastmath=True)),
    ]
    for repeat in range(2):
        for make in makers:
            make(load().f)(0.3)
        assert len(compiled) == len(makers), repeat


@dataclass(frozen=True)
class Place:
    """Something that the key must hold, and how another one is pretended."""

    owner: object
    name: str
    value: object


def others():
    host = target.describe_target()
    hosts = {
        "LLVM": replace(host, llvm_version="1.0"),
        "llvmlite": replace(host, llvmlite_version="0.1"),
        "system": replace(host, triple="other"),
        "processor": replace(host, processor="other"),
        "features": replace(host, features=host.features[:-1]),
    }
    places = {name: Place(target, "describe_target", lambda value=value: value) for name, value in hosts.items()}
    return places | {
        "Python": Place(sys, "version", "3.99"),
        "NumPy": Place(np, "__version__", "9.9"),
        "pullback": Place(pb, "__version__", "9.9"),
        "the compiler's files": Place(cache, "compiler_fingerprint", lambda: "other"),
    }


@pytest.mark.parametrize("name", others())
def test_versions_and_the_processor_are_part_of_the_key(load, monkeypatch, name):
    main = load()
    known = manifest.request_key("call", main.f, (0.3,), "")
    other = others()[name]
    monkeypatch.setattr(other.owner, other.name, other.value)
    target.fingerprint.cache_clear()
    try:
        assert manifest.request_key("call", main.f, (0.3,), "") != known
    finally:
        monkeypatch.undo()
        target.fingerprint.cache_clear()


def test_an_edit_of_the_compiler_is_noticed(tmp_path, monkeypatch):
    """Sizes and times of all files of the package are what tells."""
    facts = cache.compiler_fingerprint.__wrapped__()
    package = tmp_path / "pullback"
    (package / "codegen").mkdir(parents=True)
    (package / "front.py").write_text("1")
    monkeypatch.setattr(cache, "__file__", str(package / "codegen" / "cache.py"))
    one = cache.compiler_fingerprint.__wrapped__()
    (package / "front.py").write_text("22")
    two = cache.compiler_fingerprint.__wrapped__()
    assert len({facts, one, two}) == 3 and cache.compiler_fingerprint.__wrapped__() == two

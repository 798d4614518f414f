"""The cache on disk: right answers whatever happens to the files; and what uses it."""

import math
import os
import subprocess
import sys
import threading
import time
import types
from pathlib import Path

import pytest

from pullback.codegen import cache, manifest
from pullback.codegen.build import Options, is_recursive
from pullback.ir.node import Block, Function, Op, Program
from pullback.runtime.boundary import Guard, Hidden
from test_boundary import FLOAT, entry, function


@pytest.fixture(autouse=True)
def directory(tmp_path, monkeypatch):
    monkeypatch.setenv("PULLBACK_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_what_is_stored_is_found():
    name = cache.key("a", b"b")
    assert cache.load(name) is None
    cache.store(name, b"code")
    assert cache.load(name) == b"code"
    cache.store(name, b"")
    assert cache.load(name) == b""
    found = cache.info()
    assert found.entries == 1 and found.bytes == 32 and found.directory == cache.directory()
    assert cache.clear() == 1 and cache.load(name) is None and cache.info().entries == 0


def test_keys_tell_parts_apart():
    assert (
        len({cache.key(), cache.key(""), cache.key("ab"), cache.key("a", "b"), cache.key("", "ab"), cache.key("ba")})
        == 6
    )
    assert cache.key("x") == cache.key(b"x")
    assert cache.compiler_fingerprint() == cache.compiler_fingerprint() != cache.key()


@pytest.mark.parametrize("damage", [b"", b"short", b"x" * 100])
def test_a_damaged_entry_is_removed(damage):
    name = cache.key("a")
    cache.store(name, b"code")
    (path,) = cache.directory().glob("??/*")
    path.write_bytes(damage)
    assert cache.load(name) is None and not path.exists()
    cache.store(name, b"code")
    assert cache.load(name) == b"code"


def test_a_flipped_bit_is_noticed():
    name = cache.key("a")
    cache.store(name, bytes(1000))
    (path,) = cache.directory().glob("??/*")
    data = bytearray(path.read_bytes())
    data[500] ^= 1
    path.write_bytes(data)
    assert cache.load(name) is None


def test_no_disk_is_no_error(directory, monkeypatch):
    name = cache.key("a")
    directory.write_text("a file where the directory should be")
    cache.store(name, b"code")
    assert cache.load(name) is None and cache.info().entries == 0 and cache.clear() == 0
    directory.unlink()

    def full(*arguments, **keywords):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    cache.store(name, b"code")
    assert cache.load(name) is None and list(directory.glob("??/*")) == []
    monkeypatch.undo()
    monkeypatch.setenv("PULLBACK_CACHE_DIR", "/proc/nowhere/at/all")
    cache.store(name, b"code")
    assert cache.load(name) is None


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="POSIX permissions")
def test_a_directory_open_to_others_is_not_used(directory):
    name = cache.key("a")
    cache.store(name, b"code")
    assert directory.stat().st_mode & 0o777 == 0o700
    directory.chmod(0o777)
    assert cache.load(name) is None


def test_the_oldest_entries_leave(monkeypatch, directory):
    monkeypatch.setenv("PULLBACK_CACHE_LIMIT", "10000")
    monkeypatch.setattr(cache, "_SWEEP_EVERY", 1000)
    names = [cache.key(str(i)) for i in range(12)]
    now = time.time()
    for i, name in enumerate(names):
        cache.store(name, bytes(1000))
        (path,) = directory.glob(f"??/{name}.pb")
        os.utime(path, (now - 1000 + i, now - 1000 + i))
    assert cache.info().bytes > 10_000
    cache._evict()
    left = [i for i, name in enumerate(names) if cache.load(name) is not None]
    assert left == list(range(5, 12)) and cache.info().bytes <= 7500


def test_use_keeps_an_entry_young(directory):
    name = cache.key("a")
    cache.store(name, b"code")
    (path,) = directory.glob("??/*.pb")
    os.utime(path, (1, 1))
    assert cache.load(name) == b"code" and time.time() - path.stat().st_mtime < 10


def test_writers_at_once():
    name = cache.key("a")
    faults = []

    def work(byte):
        for _ in range(50):
            cache.store(name, bytes([byte]) * 10_000)
            found = cache.load(name)
            if found is None or len(set(found)) != 1 or len(found) != 10_000:
                faults.append(found)

    workers = [threading.Thread(target=work, args=(byte,)) for byte in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert faults == [] and cache.info().entries == 1


def test_the_user_directory_of_each_system():
    def at(platform, **environment):
        return cache._user_cache(platform, environment, lambda: Path("/home/u"))

    assert at("linux") == Path("/home/u/.cache") == at("linux", XDG_CACHE_HOME="relative")
    assert at("linux", XDG_CACHE_HOME="/x") == Path("/x")
    assert at("darwin") == Path("/home/u/Library/Caches")
    assert at("win32", LOCALAPPDATA="/l") == Path("/l")
    assert at("win32") == Path("/home/u/AppData/Local")


RUN = """
import sys, time
sys.path.insert(0, sys.argv[1])
from test_boundary import SQUARE, FLOAT, entry, function
from pullback.codegen.build import Options
made = entry([FLOAT], FLOAT, SQUARE, options=Options())
assert function(made)(3.0) == 9.0
print(made.from_cache, sorted(made.timings))
"""


def test_a_second_process_does_not_run_llvm():
    def run():
        done = subprocess.run([sys.executable, "-c", RUN, str(Path(__file__).parent)], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert run().startswith("False")
    warm = run()
    assert warm.startswith("True") and "optimise" not in warm
    for path in cache.directory().glob("??/*"):
        path.write_bytes(b"damaged")
    assert run().startswith("False")


COMPILER = ("front", "infer", "ad", "passes", "codegen.emit", "pipeline")
USE = """
import sys
import pullback as pb
def loaded():
    return [name for name in sys.argv[2:] if f"pullback.{name}" in sys.modules]
assert not loaded() and "llvmlite" not in sys.modules, loaded()
sys.path.insert(0, sys.argv[1])
from functions_to_keep import area, noise, spread
import numpy as np
found = pb.grad(area)(3.0), pb.vjp(area, 2.0)[1](1.0), pb.jit(spread)(np.eye(2), {"w": 2.0})
print(pb.jit(noise)(3) > 0.0, *found, *loaded())
"""
KEPT = """
import math
import numpy as np


def area(r):
    return math.pi * r * r


def spread(a, more):
    return np.std(a @ a) * more["w"]


def noise(seed):
    return np.random.default_rng(seed).normal()
"""


def test_code_that_is_kept_needs_no_compiler(tmp_path):
    """Importing the package loads nothing of the compiler, nor does a call whose code an earlier process left."""
    (tmp_path / "functions_to_keep.py").write_text(KEPT)

    def run():
        command = [sys.executable, "-c", USE, str(tmp_path), *COMPILER]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout.split()

    values = ["True", str(2.0 * math.pi * 3.0), f"({4.0 * math.pi},)", "1.0"]
    assert run() == [*values, *COMPILER]
    assert run() == values


def test_options_are_part_of_the_key():
    assert repr(Options()) != repr(Options(fastmath=True))


class Call:
    name, effects = "call", frozenset()


def program(**calls):
    functions = {
        name: Function(name, Block(ops=[Op(Call(), attrs={"callee": callee}) for callee in callees]))
        for name, callees in calls.items()
    }
    return Program(functions, "f")


def test_recursion_is_found():
    assert not is_recursive(program(f="gh", g="hh", h=""))
    assert is_recursive(program(f="g", g="h", h="g"))
    assert is_recursive(program(f="gf", g=""))
    assert not is_recursive(program(f="g", g="", h="h"))
    assert not is_recursive(program(f="abc", a="", b="a", c="ab", d=""))


# ------------------------------------------------------------------------------------------------------ warm starts


PROGRAM = """
import numpy as np
rate = 0.5

def helper(x):
    return x

def make(k):
    def f(x):
        return helper(x) * k + rate
    return f

f = make(3.0)
"""


def program_module(monkeypatch, text=PROGRAM):
    module = types.ModuleType("warm_program")
    module.__file__ = "warm_program.py"
    exec(compile(text, "warm_program.py", "exec"), vars(module))
    monkeypatch.setitem(sys.modules, "warm_program", module)
    return module


def entry_for(module, **more):
    names = vars(module)
    guards = (
        Guard("global", names, "helper", module.helper),
        Guard("global", names, "np", module.np),
        *more.pop("guards", ()),
    )
    hidden = (Hidden(FLOAT, "cell", module.f.__closure__[0]), Hidden(FLOAT, "global", names, "rate"))
    body = "%y = fmul double %a0, %a1\n%z = fadd double %y, %a2\nRET double %z"
    return entry([FLOAT] * 3, FLOAT, body, guards=guards, hidden=hidden, **more)


def test_a_warm_start_finds_the_objects_again(monkeypatch):
    module = program_module(monkeypatch)
    key = manifest.request_key("call", module.f, (2.0,), "")
    assert manifest.load(key, module.f) is None
    manifest.save(key, module.f, entry_for(module))
    # The same program once more, as another process would have it.
    again = program_module(monkeypatch)
    assert manifest.request_key("call", again.f, (5.0,), "") == key
    loaded = manifest.load(key, again.f)
    f = function(loaded)
    assert f(2.0) == 6.5 and loaded.from_cache
    again.rate = 1.0
    assert f(2.0) == 7.0
    again.helper = again.make
    with pytest.raises(TypeError, match="no entry"):
        f(2.0)
    assert manifest.load(key, again.f) is None
    del again.helper
    assert manifest.load(key, again.f) is None


def test_the_key_tells_requests_apart(monkeypatch):
    module = program_module(monkeypatch)
    requests = [
        ("call", module.f, (2.0,), ""),
        ("jvp", module.f, (2.0,), ""),
        ("call", module.f, (2,), ""),
        ("call", module.f, (2.0,), "x"),
    ]
    requests += [("call", module.helper, (2.0,), ""), ("call", module.f, ([2.0],), "")]
    requests.append(("call", program_module(monkeypatch, "\n" + PROGRAM).f, (2.0,), ""))
    requests.append(("call", program_module(monkeypatch, PROGRAM.replace("* k", "* 2.0 * k")).f, (2.0,), ""))
    assert len({manifest.request_key(*request) for request in requests}) == len(requests)
    assert manifest.request_key("call", module.f, (module.helper,), "") is None
    assert manifest.request_key("call", module.f, (object(),), "") is None


def test_a_global_that_hides_a_builtin_is_another_program(monkeypatch):
    text = PROGRAM.replace("+ rate", "+ abs(rate)")
    keys = {
        manifest.request_key("call", program_module(monkeypatch, text + more).f, (2.0,), "")
        for more in ("", "abs = len\n", "other = len\n")
    }
    assert len(keys) == 2


def test_what_cannot_be_named_is_not_kept(monkeypatch):
    module = program_module(monkeypatch)
    module.thing = object()
    key = manifest.request_key("call", module.f, (2.0,), "")
    manifest.save(key, module.f, entry_for(module, guards=(Guard("global", vars(module), "thing", module.thing),)))
    assert manifest.load(key, module.f) is None and cache.info().entries == 0
    cache.store(key, b"not a pickle")
    assert manifest.load(key, module.f) is None

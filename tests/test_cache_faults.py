"""The cache under several processes, kills, and disks that are full or read-only: right answers, no bad entry."""

import hashlib
import os
import signal
import subprocess
import sys
import time

import pytest

import pullback as pb
from pullback.codegen import cache

PROGRAM = """
import math


def f(x, n):
    total = 0.0
    for i in range(n):
        total += math.sin(x * i) if i % 2 else x * i
    return total
"""
CALL = """
import sys
sys.path.insert(0, sys.argv[1])
import pullback as pb
from kept_program import f
if len(sys.argv) > 2:
    exec(sys.argv[2])
print(*pb.value_and_grad(f)(0.3, 5))
"""
ANSWER = "2.8788471162888225 8.8201663939376"


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """A directory with the program and with the package's bytecode, or each process would parse the whole package."""
    directory = tmp_path_factory.mktemp("program")
    (directory / "kept_program.py").write_text(PROGRAM)
    with pytest.MonkeyPatch.context() as monkeypatch:
        answer(starting(directory, directory / "cache", monkeypatch)())
    return directory


def starting(directory, place, monkeypatch):
    monkeypatch.setenv("PULLBACK_CACHE_DIR", str(place))
    monkeypatch.setenv("PYTHONPYCACHEPREFIX", str(directory / "bytecode"))
    monkeypatch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
    command = [sys.executable, "-c", CALL, str(directory)]
    return lambda *more: subprocess.Popen([*command, *more], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.fixture
def start(program, tmp_path, monkeypatch):
    """A function that starts a process which compiles and calls the program, with a cache of this test."""
    return starting(program, tmp_path / "cache", monkeypatch)


def answer(process):
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    return out.strip()


def entries():
    """All entries, each of which must be whole."""
    found = list(cache.directory().glob("??/*.pb"))
    for path in found:
        content = path.read_bytes()
        assert hashlib.sha256(content[32:]).digest() == content[:32], path
    return found


def test_eight_processes_compile_the_same_function(start):
    processes = [start() for _ in range(8)]
    assert {answer(process) for process in processes} == {ANSWER}
    kept = entries()
    assert kept and not list(cache.directory().glob("??/.new-*"))
    assert answer(start("import pullback.pipeline; del pullback.pipeline.compile_entry")) == ANSWER
    assert entries() == kept


STORE = """
from pullback.codegen import cache
print("ready", flush=True)
i = 0
while True:
    i += 1
    cache.store(cache.key(str(i % 7)), bytes([i % 251]) * (200_000 + i % 7))
"""


def test_killed_writers_leave_no_bad_entry(start):
    for moment in range(8):
        process = subprocess.Popen([sys.executable, "-c", STORE], stdout=subprocess.PIPE, text=True)
        process.stdout.readline()
        time.sleep(0.005 * moment)
        process.kill()
        process.wait()
        process.stdout.close()
        entries()
    for number in range(7):
        data = cache.load(cache.key(str(number)))
        assert data is None or (len(set(data)) == 1 and len(data) == 200_000 + number)
    left = list(cache.directory().glob("??/.new-*"))
    for path in left:
        os.utime(path, (1, 1))
    cache._evict()
    assert not list(cache.directory().glob("??/.new-*"))


@pytest.mark.skipif(not hasattr(signal, "SIGXFSZ"), reason="POSIX limits")
def test_a_disk_that_takes_no_more(start):
    """Files end after 4 kB, as on a full disk: the write fails in the middle."""
    limit = (
        "import resource, signal; sys.dont_write_bytecode = True; signal.signal(signal.SIGXFSZ, signal.SIG_IGN);"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))"
    )
    assert answer(start(limit)) == ANSWER
    assert all(path.stat().st_size <= 4096 for path in entries())
    assert not list(cache.directory().glob("??/.new-*"))
    assert answer(start()) == ANSWER and any(path.stat().st_size > 4096 for path in entries())


@pytest.mark.parametrize("there", [False, True])
def test_a_disk_that_cannot_be_written(start, monkeypatch, there):
    """No directory, file or time can be changed; what is there is used."""
    if there:
        assert answer(start()) == ANSWER
    kept = [(path, path.stat().st_mtime_ns) for path in cache.directory().glob("**/*")]
    read_only = (
        "import os, builtins, io; from pathlib import Path\n"
        "sys.dont_write_bytecode = True\n"
        "def refuse(*a, **k): raise OSError(30, 'Read-only file system')\n"
        "old, writing = io.open, set('wax+')\n"
        "def opened(file, mode='r', *a, **k): return refuse() if writing & set(mode) else old(file, mode, *a, **k)\n"
        "os.open = os.mkdir = os.replace = os.utime = os.unlink = refuse\n"
        "io.open = builtins.open = opened; Path.touch = Path.mkdir = refuse\n"
        + ("import pullback.pipeline; del pullback.pipeline.compile_entry" if there else "")
    )
    assert answer(start(read_only)) == ANSWER
    assert [(path, path.stat().st_mtime_ns) for path in cache.directory().glob("**/*")] == kept


def test_a_damaged_entry_is_made_anew(start):
    assert answer(start()) == ANSWER
    for path in entries():
        path.write_bytes(path.read_bytes()[:-1])
    assert answer(start()) == ANSWER
    assert entries()


@pytest.mark.parametrize("text, size", [("", 512 << 20), ("1000", 1000), ("3k", 3072), ("2M", 2 << 20), ("1G", 1 << 30),
                                        ("much", 512 << 20), ("-1", 512 << 20)])  # fmt: skip
def test_the_limit_is_settable(monkeypatch, text, size):
    monkeypatch.setenv("PULLBACK_CACHE_LIMIT", text)
    assert cache.limit() == size == cache.info().limit


def test_a_cache_above_its_limit_shrinks(monkeypatch, tmp_path):
    monkeypatch.setenv("PULLBACK_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("PULLBACK_CACHE_LIMIT", "100k")
    for i in range(300):
        cache.store(cache.key(str(i)), bytes(2000))
    assert cache.info().bytes < (100 << 10) + 64 * 2032
    swept = cache.directory() / "swept"
    os.utime(swept, (1, 1))
    cache.store(cache.key("one more"), bytes(2000))
    assert cache.info().bytes <= 100 << 10 and swept.stat().st_mtime > 1


def test_hits_are_counted_over_processes(start):
    assert cache.info().hits == 0
    answer(start())
    first = cache.info()
    answer(start())
    second = cache.info()
    assert first.misses == second.misses > 0 and second.hits > first.hits
    cache.clear()
    assert cache.info().hits == cache.info().misses == cache.info().entries == 0
    assert pb.grad(lambda x: x * x)(3.0) == 6.0

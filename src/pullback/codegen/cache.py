"""What was compiled once is kept on disk under the hash of everything it depends on.

    name = key("object", text, fingerprint())       a hash of the parts
    store(name, code)                               atomic; silently nothing on a full or read-only disk
    load(name)                                      the bytes, or None if absent, damaged or not readable

The directory is `$PULLBACK_CACHE_DIR`, or `pullback` in the user's cache directory.  An entry is a digest followed by
the bytes; a damaged one is removed and made anew.  The entries used longest ago leave when the total passes the limit,
`$PULLBACK_CACHE_LIMIT` bytes (200M and 2G may be written so).  Beside the entries lie the files `hits` and `misses`,
a byte for each: processes that append at the same time lose none.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

__all__ = ["Info", "clear", "compiler_fingerprint", "directory", "info", "key", "limit", "load", "oldest",
           "store"]  # fmt: skip

_LIMIT = 512 << 20
_DIGEST = 32
_SWEEP_EVERY = 64  # stores of a process between looks at the total size
_SWEPT, _SWEPT_AGE = "swept", 600.0  # the time of this file is that of the last look; how old it may get, seconds
_REFRESH = 24 * 3600.0  # how old a time of use may get, seconds
_SUFFIX = ".pb"
_COUNTS = ("misses", "hits")


@dataclass(frozen=True, slots=True)
class Info:
    """What the cache holds, and how often an entry was found or not, in all processes since it was cleared."""

    directory: Path
    entries: int
    bytes: int
    limit: int
    hits: int
    misses: int


_stores = 0  # of this process
_lock = threading.Lock()


def limit() -> int:
    """Bytes on disk above which old entries are removed."""
    chosen = os.environ.get("PULLBACK_CACHE_LIMIT", "").strip().upper()
    scale = {"K": 10, "M": 20, "G": 30}.get(chosen[-1:], 0)
    number = chosen[:-1] if scale else chosen
    return int(number) << scale if number.isdigit() else _LIMIT


def directory() -> Path:
    """Where entries are kept; it need not exist."""
    chosen = os.environ.get("PULLBACK_CACHE_DIR")
    if chosen:
        return Path(chosen).expanduser()
    return _user_cache(sys.platform, os.environ, Path.home) / "pullback"


def _user_cache(platform: str, environment: Mapping[str, str], home: Callable[[], Path]) -> Path:
    if platform == "win32":
        local = environment.get("LOCALAPPDATA")
        return Path(local) if local else home() / "AppData" / "Local"
    if platform == "darwin":
        return home() / "Library" / "Caches"
    chosen = environment.get("XDG_CACHE_HOME")
    # The XDG rules say that a relative path is to be ignored.
    return Path(chosen) if chosen and os.path.isabs(chosen) else home() / ".cache"


def key(*parts: str | bytes) -> str:
    """A name for what is made from the parts by this version of pullback, for these versions of Python and NumPy."""
    version = getattr(sys.modules["pullback"], "__version__", "")
    digest = hashlib.sha256()
    for part in (version, sys.version, np.__version__, *parts):
        data = part.encode() if isinstance(part, str) else part
        digest.update(len(data).to_bytes(8, "little"))
        digest.update(data)
    return digest.hexdigest()


@cache
def compiler_fingerprint() -> str:
    """A hash that changes with every edit of this package: part of the key of what is not keyed by generated code."""
    found: list[str] = []
    waiting = [str(Path(__file__).resolve().parents[1])]
    while waiting:  # by hand: this is a good part of a first call whose code is kept
        folder = waiting.pop()
        with os.scandir(folder) as entries:
            for entry in sorted(entries, key=lambda entry: entry.name):
                if entry.name.endswith(".py"):
                    facts = entry.stat()
                    found.append(f"{entry.name} {facts.st_size} {facts.st_mtime_ns}")
                elif entry.name != "__pycache__" and entry.is_dir():
                    found.append(f"{entry.name}/")
                    waiting.append(entry.path)
    return key(*found)


def _path(name: str) -> Path:
    return directory() / name[:2] / (name + _SUFFIX)


def load(name: str, *, counted: bool = True) -> bytes | None:
    """The bytes stored under a key, or None."""
    data = _read(name)
    if not counted:
        return data
    with contextlib.suppress(OSError, RuntimeError), (directory() / _COUNTS[data is not None]).open("ab") as count:
        count.write(b".")
    return data


def _read(name: str) -> bytes | None:
    with contextlib.suppress(OSError, RuntimeError):
        if not _trusted(directory()):
            return None
        path = _path(name)
        with path.open("rb") as file:
            content, used = file.read(), os.fstat(file.fileno()).st_mtime
        data = content[_DIGEST:]
        if hashlib.sha256(data).digest() != content[:_DIGEST]:
            path.unlink(missing_ok=True)
            return None
        if time.time() - used > _REFRESH:
            os.utime(path)
        return data
    return None


def oldest(names: Sequence[str]) -> str:
    """Of some keys the one that was used longest ago, or that holds nothing."""

    def used(name: str) -> float:
        with contextlib.suppress(OSError, RuntimeError):
            return _path(name).stat().st_mtime
        return 0.0

    return min(names, key=used)


def _trusted(root: Path) -> bool:
    """Code is run from here: the directory must be the user's own and not open to others for writing."""
    if not hasattr(os, "getuid"):
        return True
    facts = root.stat()
    return facts.st_uid == os.getuid() and not facts.st_mode & 0o022


def store(name: str, data: bytes) -> None:
    """Keep bytes under a key.  Whatever fails, the caller goes on without a cache."""
    global _stores
    with contextlib.suppress(OSError, RuntimeError):
        _write(name, data)
        with _lock:
            _stores += 1
            often = _stores % _SWEEP_EVERY == 0
        if often or _sweep_is_due():
            _evict()


def _sweep_is_due() -> bool:
    """Looking at every file takes a while: not in each process that stores something."""
    marker = directory() / _SWEPT
    try:
        return not 0.0 <= time.time() - marker.stat().st_mtime < _SWEPT_AGE
    except FileNotFoundError:
        return True


def _write(name: str, data: bytes) -> None:
    path = _path(name)
    directory().mkdir(mode=0o700, parents=True, exist_ok=True)
    path.parent.mkdir(mode=0o700, exist_ok=True)
    # A reader sees the old entry, the whole new one or none: never a part.
    handle, temporary = tempfile.mkstemp(prefix=".new-", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(hashlib.sha256(data).digest() + data)
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def _entries(root: Path) -> Iterator[tuple[float, int, Path]]:
    """Time of use, size and path of the files of the cache, leftovers of crashed writers included."""
    for path in root.glob("??/*"):
        if path.suffix == _SUFFIX or path.name.startswith(".new-"):
            with contextlib.suppress(OSError):
                facts = path.stat()
                yield facts.st_mtime, facts.st_size, path


def _evict() -> None:
    """Remove leftovers older than a day, then the entries used longest ago, down to three quarters of the limit."""
    with contextlib.suppress(OSError):
        (directory() / _SWEPT).touch()
    found = sorted(_entries(directory()))
    total, now, most = sum(size for _, size, _ in found), time.time(), limit()
    goal = most * 3 // 4 if total > most else total
    for used, size, path in found:
        stale = path.name.startswith(".new-") and now - used > _REFRESH
        if stale or total > goal:
            with contextlib.suppress(OSError):
                path.unlink()
                total -= size


def info() -> Info:
    """Number and size of the entries on disk, and how often they were found."""
    found = list(_entries(directory()))
    misses, hits = map(_count, _COUNTS)
    return Info(directory(), len(found), sum(size for _, size, _ in found), limit(), hits, misses)


def _count(name: str) -> int:
    with contextlib.suppress(OSError):
        return (directory() / name).stat().st_size
    return 0


def clear() -> int:
    """Remove every entry; how many there were."""
    removed = 0
    for _, _, path in list(_entries(directory())):
        with contextlib.suppress(OSError):
            path.unlink()
            removed += 1
    for name in (*_COUNTS, _SWEPT):
        with contextlib.suppress(OSError):
            (directory() / name).unlink(missing_ok=True)
    return removed
